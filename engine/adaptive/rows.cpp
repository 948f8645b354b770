#include "bristle/adaptive/rows.hpp"

#include <algorithm>

namespace bristle {

namespace {

using detail::at;

std::size_t joint_rows(const Model& model, const State& state) {
  return at(state.contacts.begin[at(model.joint_blocks)]);
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

void list_rows(const Model& model, const State& state, std::vector<RowId>& rows) {
  const ContactRows& contacts = state.contacts;
  const std::size_t joints = joint_rows(model, state);
  rows.resize(at(contacts.count));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const ContactRow& row = contacts.rows[i];
    if (i < joints) {
      rows[i] = {no_shape, static_cast<std::uint32_t>(i), 0, row.episode};
    } else {
      rows[i] =
          row.a == no_shape ? empty_row : RowId{row.a, row.b, row.feature, row.episode};
    }
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
  return state.contacts.rows[row].episode;
}

RowMotion motion_of(const State& state, std::size_t row) {
  return {state.contacts.rows[row].depth, state.contacts.rows[row].rate};
}

void mark_row(State& state, std::size_t row, RowEvent event) {
  state.contacts.rows[row].event = static_cast<int>(event);
}

NormalSlopes<double> RowLaws::linearise(double depth) {
  return normal_law(laws->normal)
      .linearise(laws->normal, {normal_memory.data(), 1}, 0,
                 Kinematics<double>::at(depth, 0.0));
}

double RowLaws::stored(double depth) {
  return normal_law(laws->normal)
      .stored(laws->normal, {normal_memory.data(), 1}, 0, depth);
}

FrictionSpring<double> RowLaws::spring(double depth, double normal_force) {
  return friction_law(laws->friction)
      .spring(laws->friction, {friction_memory.data(), 1}, 0,
              Kinematics<double>::at(depth, 0.0), normal_force);
}

void laws_of(const System& system, const State& state, std::size_t row, RowLaws& laws) {
  const MemoryLayout& layout = system.contacts.layout;
  const std::size_t stride = system.contacts.capacity;
  std::size_t b = 0;
  while (at(state.contacts.begin[b + 1]) <= row) ++b;
  laws.laws = &system.model->blocks[b];
  const std::span<const double> memory = state.contacts.memory;
  copy_row(memory, layout.normal, normal_law(laws.laws->normal).fields, stride, row,
           laws.normal_memory);
  copy_row(memory, layout.friction, friction_law(laws.laws->friction).fields, stride, row,
           laws.friction_memory);
}

double friction_load(const Model& model, const State& state, std::size_t row) {
  if (row >= joint_rows(model, state)) return 0;
  const JointRow& joint = joint_row(model, state.contacts, row);
  return joint.is_limit ? 0 : joint.load;
}

double inverse_mass(System& system, const State& state, std::size_t row,
                    std::span<double> unit) {
  const Tree& tree = system.model->tree;
  if (row < joint_rows(*system.model, state)) {
    const JointRow& joint = joint_row(*system.model, state.contacts, row);
    std::fill(unit.begin(), unit.end(), 0.0);
    unit[at(joint.dof)] = 1;
    solve_mass<double>(tree, unit, {}, system.tree, unit);
    return unit[at(joint.dof)];
  }
  const RowPlace& place = system.contacts.places[row];
  const PushRow<double> push = push_at<double>(system.tree, place.link_a, place.link_b,
                                               place.point, place.frame.n);
  double result = 0;
  inverse_inertia<double>(tree, std::span(&push, 1), system.tree, unit,
                          std::span(&result, 1));
  return result;
}

}  // namespace bristle
