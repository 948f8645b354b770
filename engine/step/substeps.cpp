#include "bristle/step/substeps.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "bristle/step/time_scales.hpp"

namespace bristle {

SubstepControl::SubstepControl(Method method, double step, int most)
    : method_(method), step_(step), shortest_(step / std::max(most, 1)) {}

SubstepControl::Slopes SubstepControl::slopes_of(System& system, const State& state) {
  Slopes sums;
  const auto add = [&sums](LawPool& pool, const LawRows& rows) {
    pool.for_each_row(rows, pool.law_columns(rows.memory), [&](const LawRow& row) {
      if (!row.closed()) return;
      ++sums.closed;
      for (const double slope : row.stiffness()) sums.stiffness += slope;
      for (const double slope : row.damping()) sums.damping += slope;
    });
  };
  // Friction depends on the normal forces.
  contact_forces(system, {}, state, memory_of(state), rates_of(system.pools));
  add(system.pools.joints, state.joints);
  add(system.pools.points, state.contacts);
  return sums;
}

/// Within a fifth: steps are a tenth of what is stable, or a third of it.
bool SubstepControl::like(const Slopes& slopes) const noexcept {
  const auto close = [](double now, double then) {
    return now <= 1.2 * then && now >= 0.8 * then;
  };
  return known_ && slopes.closed == slopes_.closed &&
         close(slopes.stiffness, slopes_.stiffness) &&
         close(slopes.damping, slopes_.damping);
}

double SubstepControl::longest(System& system, const State& state, double ahead) {
  LawPool* const pools[] = {&system.pools.joints, &system.pools.points};
  PointPool& points = system.pools.points;
  depths_.clear();
  patches_.clear();
  for (LawPool* pool : pools) {
    const auto depth = pool->column(RowColumns::depth);
    const auto rate = pool->column(RowColumns::rate);
    depths_.insert(depths_.end(), depth.begin(), depth.end());
    for (std::size_t i = 0; i < depth.size(); ++i) {
      depth[i] += ahead * std::max(rate[i], 0.0);
    }
  }
  if (points.has_patches() && ahead > 0) {
    for (std::size_t i = 0; i < points.capacity(); ++i) {
      patches_.push_back(points.patch(i));
    }
    points.foresee_patches(state.contacts, ahead);
  }
  const double found = find_longest(system, state);
  auto kept = depths_.cbegin();
  for (LawPool* pool : pools) {
    for (double& depth : pool->column(RowColumns::depth)) depth = *kept++;
  }
  for (std::size_t i = 0; i < patches_.size(); ++i) points.put_patch(i, patches_[i]);
  return found;
}

double SubstepControl::find_longest(System& system, const State& state) {
  const Slopes slopes = slopes_of(system, state);
  if (like(slopes)) return longest_;
  const TimeScales scales = time_scales(system, state);
  known_ = true;
  slopes_ = slopes;
  const double wanted = scales.recommended_step(method_);
  longest_ = std::max(wanted, shortest_);
  const double needed = step_ / wanted;
  if (wanted < shortest_ && needed > needed_) {
    needed_ = needed;
    needed_at_ = state.time;
    needed_by_ = scales.fastest.empty() ? "a joint" : scales.fastest;
  }
  return longest_;
}

std::vector<std::string> SubstepControl::warnings() const {
  if (!(needed_ > 0)) return {};
  std::array<char, 160> text{};
  std::snprintf(text.data(), text.size(),
                " asked for %.0f substeps at %.6g s, and %.0f are allowed "
                "(most_substeps)",
                needed_, needed_at_, step_ / shortest_);
  return {needed_by_ + text.data()};
}

}  // namespace bristle
