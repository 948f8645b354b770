#include "bristle/adaptive/impact_plan.hpp"

#include <algorithm>
#include <cmath>

namespace bristle {

namespace {

constexpr double longest = 0.5;    // not to leap over a whole impact
constexpr double shortest = 0.01;  // a hundred steps, which no impact takes
// Of the last step, where the impact ends: the error of order 8 is 0.65⁸, a thirtieth of
// the whole step's, and dense output there is as good as steps are (enough_for_cuts in
// switching_step.cpp).
constexpr double early = 0.65;
// The last step is planned a little beyond the end, so that a slightly longer impact does
// not need another one.
constexpr double beyond = 1.1;
// Steps may be so much longer than ideal, where that saves one: 1.03⁸ is 1.27, between
// the safety of 0.9⁸ = 0.43 and an error that is not allowed.
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
