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
    : LawPool(model, model.joint_law_blocks(), team), model_(&model) {
  JointLayout layout(model);
  joint_of_ = std::move(layout.joint_of);
  begin_ = std::move(layout.begin);
  fit(make_state(model).joints);
}

void JointPool::measure_rows(std::span<const double> q,
                             std::span<const double> v) noexcept {
  const std::span<double> load = column(RowColumns::normal);
  for (std::size_t i = 0; i < joint_of_.size(); ++i) {
    const JointRow* joint = this->joint(i);
    if (joint == nullptr) {
      clear(i);
      continue;
    }
    const double rate = v[index(joint->dof)];
    if (joint->is_limit) {
      const double position = q[index(model_->tree.dofs()[index(joint->dof)].q)];
      put(i, {joint->sign * (position - joint->bound), joint->sign * rate, {0, 0}}, 0);
    } else {
      put(i, {1, 0, {rate, 0}}, 0);
      load[i] = joint->load;
    }
  }
}

void JointPool::measure(const Placement& at, const LawRows&, std::span<const double>,
                        bool) noexcept {
  measure_rows(at.q, at.v);
}

void JointPool::measure_rates(const Placement& at, const LawRows& rows) noexcept {
  const std::span<double> rate = column(RowColumns::rate);
  const std::span<double> slip = column(RowColumns::slip_x);
  for (std::size_t i = 0; i < index(rows.count); ++i) {
    const JointRow* joint = this->joint(i);
    if (joint == nullptr) continue;
    if (joint->is_limit) {
      rate[i] = joint->sign * at.v[index(joint->dof)];
    } else {
      slip[i] = at.v[index(joint->dof)];
    }
  }
}

void JointPool::settle(const AcceptedStep& step, State& state,
                       std::vector<Event>& events) noexcept {
  LawRows& rows = state.joints;
  if (joint_of_.empty()) return;
  const bool first = rows.count == 0;
  if (first) rows.begin = begin_;
  rows.count = static_cast<int>(joint_of_.size());
  measure_rows(state.q, state.v);
  for (const int column : {MemoryLayout::turn, MemoryLayout::travel}) {
    const auto begin = rows.memory.begin() +
                       static_cast<std::ptrdiff_t>(index(column) * rows.capacity());
    std::fill(begin, begin + rows.count, 0.0);
  }
  double none = 0;  // joint rows follow their rates
  Episodes episodes(step, layout(), model_->contact_ledger, rows, rows,
                    {state.works.limits, state.works.joint_friction, none, none, none,
                     state.episodes, events});
  const std::span<const double> depth = column(RowColumns::depth);
  const std::span<const double> rate = column(RowColumns::rate);
  const std::span<const double> slip = column(RowColumns::slip_x);
  for (int b = 0; b < model_->joint_blocks; ++b) {
    for (int i = begin_[index(b)]; i < begin_[index(b + 1)]; ++i) {
      if (joint(index(i)) == nullptr) continue;
      episodes.update(blocks()[index(b)],
                      {i, first ? -1 : i, b, RowChange::Fate::found, false},
                      {depth[index(i)], rate[index(i)], {slip[index(i)], 0}}, {});
    }
  }
}

void JointPool::scatter_row(const Placement&, std::size_t i, double normal,
                            Vec2<double> across, const ForceSink& to) const noexcept {
  const JointRow* joint = this->joint(i);
  if (joint == nullptr) return;
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
