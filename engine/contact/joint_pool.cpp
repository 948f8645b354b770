#include "bristle/contact/joint_pool.hpp"

#include <algorithm>
#include <utility>

namespace bristle {

namespace {

constexpr int lanes = ScalarTraits<NativePack<double>>::lanes;

std::size_t index(int i) { return static_cast<std::size_t>(i); }

/// Model::joint_rows by row, each block up to a multiple of the lanes; −1: padding.
struct JointLayout {
  std::vector<int> joint_of, begin;

  explicit JointLayout(const Model& model) {
    for (int b = 0; b < model.joint_blocks; ++b) {
      begin.push_back(static_cast<int>(joint_of.size()));
      const int end = model.joint_block_rows[index(b + 1)];
      for (int k = model.joint_block_rows[index(b)]; k < end; ++k) joint_of.push_back(k);
      while (joint_of.size() % lanes != 0) joint_of.push_back(-1);
    }
    begin.push_back(static_cast<int>(joint_of.size()));
  }
};

}  // namespace

const JointRow* joint_of_row(const Model& model, std::size_t row) {
  const JointLayout layout(model);
  const int joint = row < layout.joint_of.size() ? layout.joint_of[row] : -1;
  return joint < 0 ? nullptr : &model.joint_rows[index(joint)];
}

JointPool::JointPool(const Model& model, Team& team)
    : LawPool(model, model.joint_law_blocks(), team), model_(&model), couplings_(model) {
  JointLayout layout(model);
  joint_of_ = std::move(layout.joint_of);
  begin_ = std::move(layout.begin);
  for (std::size_t i = 0; i < joint_of_.size(); ++i) {
    const JointRow* row = joint(i);
    first_arm_.push_back(arms_.size());
    if (row == nullptr || row->coupling < 0) continue;
    arms_.resize(arms_.size() + model.couplings[index(row->coupling)].joints.size());
  }
  fit(make_state(model).joints);
}

void JointPool::measure_rows(const Placement& at) noexcept {
  if (joint_of_.empty()) return;
  couplings_.update(at.tree);
  const std::span<double> load = column(RowColumns::normal);
  for (std::size_t i = 0; i < joint_of_.size(); ++i) {
    const JointRow* joint = this->joint(i);
    if (joint == nullptr) {
      clear(i);
      continue;
    }
    if (joint->coupling >= 0) {
      measure_coupling(*joint, at, i);
      continue;
    }
    const double rate = at.v[index(joint->dof)];
    if (joint->is_limit) {
      const double position = at.q[index(model_->tree.dofs()[index(joint->dof)].q)];
      put(i, {joint->sign * (position - joint->bound), joint->sign * rate, {0, 0}}, 0);
    } else {
      put(i, {1, 0, {rate, 0}}, 0);
      load[i] = joint->load;
    }
  }
}

void JointPool::measure_coupling(const JointRow& row, const Placement& at,
                                 std::size_t i) noexcept {
  const std::size_t k = index(row.coupling);
  const double beyond = couplings_.value(k, at.q) - row.bound;
  put(i, {row.sign * beyond, row.sign * couplings_.rate(k, at.v), {0, 0}}, 0);
  std::size_t place = first_arm_[i];
  for (const DofWeight& j : couplings_.joints(k)) {
    arms_[place++] = {j.dof, -row.sign * j.weight};
  }
}

void JointPool::measure(const Placement& at, const LawRows&, std::span<const double>,
                        bool) noexcept {
  measure_rows(at);
}

void JointPool::measure_rates(const Placement& at, const LawRows& rows) noexcept {
  const std::span<double> rate = column(RowColumns::rate);
  const std::span<double> slip = column(RowColumns::slip_x);
  for (std::size_t i = 0; i < index(rows.count); ++i) {
    const JointRow* joint = this->joint(i);
    if (joint == nullptr) continue;
    if (joint->coupling >= 0) {
      rate[i] = joint->sign * couplings_.rate(index(joint->coupling), at.v);
    } else if (joint->is_limit) {
      rate[i] = joint->sign * at.v[index(joint->dof)];
    } else {
      slip[i] = at.v[index(joint->dof)];
    }
  }
}

void JointPool::settle(const AcceptedStep& step, const Workspace<double>& ws,
                       State& state, std::vector<Event>& events) noexcept {
  LawRows& rows = state.joints;
  if (joint_of_.empty()) return;
  const bool first = rows.count == 0;
  if (first) rows.begin = begin_;
  rows.count = static_cast<int>(joint_of_.size());
  measure_rows({ws, state.q, state.v});
  // Rows of joints follow their rates; the length of a path does to first order.
  double none = 0;
  const auto episodes_with = [&](double& regenerated) {
    return Episodes(step, layout(), model_->contact_ledger, rows, rows,
                    {state.works.limits, state.works.joint_friction, regenerated, none,
                     none, state.episodes, events});
  };
  Episodes of_joints = episodes_with(none);
  Episodes of_couplings = episodes_with(state.works.regenerated);
  const std::span<const double> depth = column(RowColumns::depth);
  const std::span<const double> rate = column(RowColumns::rate);
  const std::span<const double> slip = column(RowColumns::slip_x);
  for (int b = 0; b < model_->joint_blocks; ++b) {
    for (int i = begin_[index(b)]; i < begin_[index(b + 1)]; ++i) {
      const JointRow* row = joint(index(i));
      if (row == nullptr) continue;
      Episodes& episodes = row->coupling >= 0 ? of_couplings : of_joints;
      episodes.update(blocks()[index(b)],
                      {i, first ? -1 : i, b, RowChange::Fate::found, false},
                      {depth[index(i)], rate[index(i)], {slip[index(i)], 0}}, {});
    }
  }
  for (const int column : {MemoryLayout::turn, MemoryLayout::travel}) {
    const auto begin = rows.memory.begin() +
                       static_cast<std::ptrdiff_t>(index(column) * rows.capacity());
    std::fill(begin, begin + rows.count, 0.0);
  }
}

void JointPool::scatter_row(const Placement&, std::size_t i, double normal,
                            Vec2<double> across, const ForceSink& to) const noexcept {
  const JointRow* joint = this->joint(i);
  if (joint == nullptr) return;
  if (joint->coupling >= 0) {
    for (const DofWeight& j : couplings_.joints(index(joint->coupling))) {
      to.on_joints[index(j.dof)] -= j.weight * joint->sign * normal;
    }
    return;
  }
  to.on_joints[index(joint->dof)] += joint->is_limit ? -joint->sign * normal : across.x;
}

void JointPool::scatter(const Placement& at, const LawRows& rows,
                        const ForceSink& to) const noexcept {
  const std::span<const double> normal = column(RowColumns::normal);
  const std::span<const double> x = column(RowColumns::friction_x);
  for (std::size_t i = 0; i < index(rows.count); ++i) {
    scatter_row(at, i, normal[i], {x[i], 0}, to);
  }
}

int JointPool::jacobian(const Placement&, std::size_t i,
                        std::span<JacobianRow<double>> out) const noexcept {
  const JointRow* joint = this->joint(i);
  if (joint == nullptr) return 0;
  if (joint->coupling >= 0) {
    const std::size_t count = model_->couplings[index(joint->coupling)].joints.size();
    out[0] = row_of_joints<double>(std::span(arms_).subspan(first_arm_[i], count));
    return 1;
  }
  out[0] = row_of_joint<double>(joint->dof, joint->is_limit ? -joint->sign : 1.0);
  return 1;
}

int JointPool::dense_jacobian(const Tree& tree, const Placement& at, std::size_t i,
                              std::span<double> out, std::span<double>) const noexcept {
  JacobianRow<double> row;
  const int count = jacobian(at, i, std::span(&row, 1));
  if (count > 0) {
    dense_row(tree, at.tree, row, out.first(index(tree.velocity_count())));
  }
  return count;
}

}  // namespace bristle
