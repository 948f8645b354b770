#include "bristle/adaptive/rows.hpp"

#include <algorithm>

namespace bristle {

namespace {

using detail::at;

std::size_t joint_rows(const State& state) { return at(state.joints.count); }

/// The rows that a row stands among, and its place there.
struct Where {
  const LawRows& rows;
  std::size_t i;
};
Where where(const State& state, std::size_t row) {
  const std::size_t joints = joint_rows(state);
  if (row < joints) return {state.joints, row};
  return {state.contacts, row - joints};
}

/// One row of columns.
void copy_row(std::span<const double> memory, int first, int fields, std::size_t stride,
              std::size_t row, std::vector<double>& to) {
  to.resize(at(fields));
  for (std::size_t k = 0; k < to.size(); ++k) {
    to[k] = memory[(at(first) + k) * stride + row];
  }
}

int index_or_none(std::span<const RowId> rows, std::span<const RowId>::iterator found) {
  return found == rows.end() ? -1 : static_cast<int>(found - rows.begin());
}

}  // namespace

void list_rows(const State& state, std::vector<RowId>& rows) {
  const std::size_t joints = joint_rows(state), contacts = at(state.contacts.count);
  rows.resize(joints + contacts);
  for (std::size_t i = 0; i < joints; ++i) {
    rows[i] = {no_shape, static_cast<std::uint32_t>(i), 0, state.joints.episode[i]};
  }
  for (std::size_t i = 0; i < contacts; ++i) {
    const ContactKey& key = state.contacts.key[i];
    rows[joints + i] = key.empty()
                           ? empty_row
                           : RowId{key.a, key.b, key.feature, state.contacts.episode[i]};
  }
}

void list_blocks(const State& state, std::vector<int>& begin) {
  begin.assign(state.joints.begin.begin(), state.joints.begin.end() - 1);
  for (const int first : state.contacts.begin) {
    begin.push_back(state.joints.count + first);
  }
}

int find_row(std::span<const RowId> rows, const RowId& row) {
  return index_or_none(rows, std::find_if(rows.begin(), rows.end(), [&](const RowId& r) {
                         return r.a == row.a && r.b == row.b && r.feature == row.feature;
                       }));
}

int find_episode(std::span<const RowId> rows, std::uint32_t episode) {
  return index_or_none(rows, std::find_if(rows.begin(), rows.end(), [&](const RowId& r) {
                         return r.episode == episode;
                       }));
}

std::uint32_t episode_of(const State& state, std::size_t row) {
  const auto [rows, i] = where(state, row);
  return rows.episode[i];
}

SettledRow motion_of(const State& state, std::size_t row) {
  const auto [rows, i] = where(state, row);
  return {rows.depth[i], rows.rate[i]};
}

double approach_speed(const State& state, std::size_t row) {
  const auto [rows, i] = where(state, row);
  return rows.approach[i];
}

PatchMotion<double> SunkOverlap::at(double wanted) const {
  Transform<double> sunk = pose_b;
  sunk.p = sunk.p - (wanted - depth) * normal;
  const Overlap<double> o =
      overlap_function<double>(kind_of(*a), kind_of(*b))(*a, pose_a, *b, sunk);
  return {o.volume, o.potential, o.area, 0};
}

NormalSlopes<double> RowLaws::linearise(double depth) {
  auto kin = Kinematics<double>::at(depth, 0.0);
  PatchMotion<double> patch;
  if (laws->volumetric) {
    patch = overlap.at(depth);
    kin.patch = &patch;
  }
  return normal_law(laws->normal)
      .linearise(laws->normal, {normal_memory.data(), 1}, 0, kin);
}

double RowLaws::stored(double depth) {
  if (laws->volumetric) {
    const VolumeLaw law =
        normal_law(laws->normal).volume(laws->normal, {normal_memory.data(), 1}, 0);
    return law.stiffness * overlap.at(depth).potential;
  }
  return normal_law(laws->normal)
      .stored(laws->normal, {normal_memory.data(), 1}, 0, depth);
}

FrictionSpring<double, 3> RowLaws::spring(double depth, double normal_force) {
  return friction_law(laws->friction)
      .spring(laws->friction, {friction_memory.data(), 1}, 0,
              Kinematics<double>::at(depth, 0.0), normal_force);
}

void laws_of(const System& system, const State& state, std::size_t row, RowLaws& laws) {
  const auto [rows, i] = where(state, row);
  const bool joint = row < joint_rows(state);
  const LawPool& pool =
      joint ? static_cast<const LawPool&>(system.pools.joints) : system.pools.points;
  laws.laws = &pool.laws_of(rows, i);
  copy_row(rows.memory, pool.layout().normal, normal_law(laws.laws->normal).fields,
           rows.capacity(), i, laws.normal_memory);
  copy_row(rows.memory, pool.layout().friction, friction_law(laws.laws->friction).fields,
           rows.capacity(), i, laws.friction_memory);
  if (!laws.laws->volumetric) return;
  const ContactKey& key = state.contacts.key[i];
  const auto pose = [&](const ModelShape& shape) {
    return system.tree.poses[at(shape.link)] * shape.in_link;
  };
  const ModelShape& a = system.model->shapes[key.a];
  const ModelShape& b = system.model->shapes[key.b];
  laws.overlap = {&a.shape, &b.shape,      pose(a),
                  pose(b),  rows.depth[i], system.pools.points.place(i).frame.n};
}

double friction_load(const System& system, const State& state, std::size_t row) {
  if (row >= joint_rows(state)) return 0;
  const JointRow* joint = system.pools.joints.joint(row);
  return joint == nullptr || joint->is_limit ? 0 : joint->load;
}

double inverse_mass(System& system, const State& state, std::size_t row,
                    std::span<double> scratch) {
  const Tree& tree = system.model->tree;
  if (row < joint_rows(state)) {
    const JointRow* joint = system.pools.joints.joint(row);
    if (joint == nullptr) return 0;
    if (joint->coupling >= 0) {
      JacobianRow<double> along;
      system.pools.joints.jacobian(system.placement(state.q, state.v), row,
                                   std::span(&along, 1));
      double mobility = 0;
      inverse_inertia<double>(tree, std::span(&along, 1), system.tree, scratch,
                              std::span(&mobility, 1));
      return mobility;
    }
    std::fill(scratch.begin(), scratch.end(), 0.0);
    scratch[at(joint->dof)] = 1;
    solve_mass<double>(tree, scratch, {}, system.tree, scratch);
    return scratch[at(joint->dof)];
  }
  const ContactPlace& place = system.pools.points.place(row - joint_rows(state));
  const JacobianRow<double> along_normal = row_at_point<double>(
      system.tree, place.link_a, place.link_b, place.point, place.frame.n);
  double result = 0;
  inverse_inertia<double>(tree, std::span(&along_normal, 1), system.tree, scratch,
                          std::span(&result, 1));
  return result;
}

}  // namespace bristle
