#include "bristle/adaptive/impact_plan.hpp"

#include <algorithm>
#include <cmath>

namespace bristle {

namespace {

// Not to leap over a whole impact, which takes 2.5 in its own time and 2.94 in
// plain time (Hertz, elastic: 2 ∫ (1 − x⁵)^{−1/2} dx and 2 ∫ (1 − x^{5/2})^{−1/2} dx).
// Measured: 0.25 costs 2 % more, 1 costs 0.4 % less.
constexpr double longest = 0.5;
constexpr double shortest = 0.01;  // a few hundred steps: more are not remembered either
// Of the last step, where the impact ends: the error of order 8 is 0.65⁸, a thirtieth of
// the whole step's, and dense output there is as good as steps are (enough_for_cuts in
// switching_step.cpp). Measured: 0.33 to 1 are within 0.1 %.
constexpr double early = 0.65;
// The last step is planned a little beyond the end, so that an impact that takes up to a
// tenth of a step longer does not need another one. Measured: 0.6 to 2 are within
// 0.3 %.
constexpr double beyond = 1.1;
// Steps may be so much longer than ideal, where that saves one: 1.03⁸ is 1.27, between
// the safety of 0.9⁸ = 0.43 and an error that is not allowed. Measured: 0.98 to 1.08 are
// within 0.1 %, 1.3 costs 1 % more, 0.5 2 %.
constexpr double stretch = 1.03;

}  // namespace

void ImpactPlan::begin() {
  next_ = 0;
  sum_ = 0;
}

double ImpactPlan::next(double otherwise) const {
  if (next_ >= known_) return std::min(otherwise, longest);
  const double length = scale_ * lengths_[next_];
  return next_ + 1 == count_ ? beyond * early * length : length;
}

void ImpactPlan::note(double length, double part, double ideal) {
  if (next_ == lengths_.size()) return;
  ideal = std::clamp(ideal, shortest, longest);
  sum_ += part * length / ideal;
  lengths_[next_++] = ideal;
  known_ = std::max(known_, next_);
}

void ImpactPlan::end() {
  if (sum_ == 0) return;  // at once
  count_ = static_cast<std::size_t>(std::ceil(sum_ / stretch + 1 - early));
  scale_ = sum_ / (static_cast<double>(count_) - 1 + early);
}

}  // namespace bristle
