#include "bristle/adaptive/switching_step.hpp"

#include <algorithm>
#include <cmath>

namespace bristle {

namespace {

// Of the longest step that the error allows (Hairer, Nørsett & Wanner 1993, § II.4, take
// 0.8 or 0.9). Measured: 0.63 costs 50 % more evaluations, more than 1 never ends.
constexpr double safety = 0.9;
// Where the error is zero: 0.9 · 1e-12^(−1/8) = 28 is more than a step may grow.
constexpr double least_error = 1e-12;
// A step that fails is tried again with at least this part of its length (there, § II.4:
// facmin between 0.2 and 0.5); where it met no number, with a tenth. Measured: 0.02 to
// 0.28 and 0.01 to 0.3 are within 0.3 %.
constexpr double least_change = 0.2, no_number = 0.1;

// The implicit method takes over after so many explicit steps in a row at |h λ| beyond
// this: a quarter of what stability allows, since a step that is bounded by accuracy
// rarely comes near. Measured: 0.75 to 4.5 are within 1 %, 15 is never reached and costs
// twice as much. A change of method costs a Jacobian: 4 steps in a row cost 6 % more
// than 8, 16 to 24 cost 2 to 4 % less but keep what has come to rest waiting.
constexpr double stiff_enough = 1.5;
constexpr int patience = 8;
// At once where a planned implicit step is shorter than half of what the explicit method
// took: a step of the one costs 6 evaluations and a Jacobian, of the other 12. Measured:
// 0.35 to 1.5 are within 2 %, 0.05 costs 9 % more, 5 twice as much.
constexpr double implicit_loses = 0.5;
// Or where rounding hides stiffness: steps that do not grow, by less than the safety
// factor would explain, although y moves by less than so many allowed errors. Measured on
// bodies at rest: 0.3 to 30 errors are within 0.6 %.
constexpr double does_not_grow = 1.5, at_rest = 3;

// Explicit steps are planned no longer than this |h λ| of what was seen last, and a
// little longer each time that nothing is seen. The method is stable up to 6
// (explicit_step.hpp). Where nothing moves, longer steps would end well, but rounding
// grows within them. Measured: 2.5 costs 6 % more; forgetting must be more than 1, 1.7
// and beyond cost 2 %.
constexpr double stable = 5, forgetting = 1.2;

// Of samples: dense output of order 7 is off by up to 30 times what the error of the step
// is (interpolate_sample); so far below what is allowed it is good enough all the same.
constexpr double enough_for_samples = 1e-3;
// Where a step is cut: at an error above a thirtieth, for the same reason, the cut is
// taken again, as a step of its own. Measured: 0.003 to 0.3 are within 0.1 %, and the
// accuracy of runs is the same.
constexpr double enough_for_cuts = 0.03;
// And where the fastest motion turns by more than a radian within the step. Measured: 0.1
// costs 0.6 % more, 0.5 to 10 are within 0.2 %.
constexpr double smooth_enough = 1;
constexpr double shortest = 1e-300;  // h must not be zero

}  // namespace

void SwitchingStep::begin(bool go_on) {
  knows_rate_ = go_on;
  if (go_on) std::swap(step_.rate, step_.end_rate);
  implicit_.forget();
  const Vector& start = ode_->start();
  step_.y.resize(std::max(step_.y.size(), ode_->size()));
  std::copy(start.begin(), start.end(), step_.y.begin());
}

void SwitchingStep::find_rate() {
  step_.rate.resize(step_.y.size());
  ode_->rates(step_.y, step_.rate.data(), true);
  implicit_.forget();
  knows_rate_ = true;
}

double SwitchingStep::try_step() {
  return implicit_now_ ? implicit_.attempt(*ode_, *scales_, rtol_, step_)
                       : explicit_.attempt(*ode_, *scales_, rtol_, step_);
}

bool SwitchingStep::attempt(double length) {
  step_.h = length;
  error_ = try_step();
  if (!all_finite(std::span(step_.end).first(ode_->core()))) error_ = HUGE_VAL;
  return error_ <= 1;
}

double SwitchingStep::allowed_error(std::size_t i) {
  scales_->allowances(rtol_, step_.y, allowed_);
  return allowed_[i];
}

double SwitchingStep::change() const {
  const double exponent = implicit_now_ ? implicit_.exponent() : explicit_.exponent();
  return safety * std::pow(std::max(error_, least_error), -exponent);
}

double SwitchingStep::shorter() const {
  return std::isfinite(error_) ? std::max(least_change, change()) : no_number;
}

void SwitchingStep::complete() {
  if (implicit_now_) {
    implicit_.complete(*ode_, step_);
  } else {
    explicit_.complete(*ode_, step_);
    watch_stability();
  }
  dense_ready_ = false;
  half_known_ = -1;
}

void SwitchingStep::watch_stability() {
  const Stiffness seen = explicit_.stiffness(*ode_, step_);
  const bool stiff = seen.certain && seen.size > stiff_enough;
  if (stiff) fastest_ = seen.size / step_.h;
  const bool exceeded = step_.h * fastest_ > stable || seen.size > 2 * stable;
  stability_ = {seen, !ode_->by_clock() && exceeded};
  if (!stiff) fastest_ /= forgetting;
}

bool SwitchingStep::cut(double where, bool smooth) {
  // What lies between may be less accurate than the end of a step: where the motion is
  // stiff, or something else happens as well. Again then, and exactly to there.
  const bool rough = error_ > enough_for_cuts || !smooth;
  if (implicit_now_ || rough || stability_.seen.size > smooth_enough) {
    step_.h = std::max(where * step_.h, shortest);
    return try_step() <= 1;
  }
  interpolate(where, at_cut_);
  step_.end = at_cut_;
  return all_finite(std::span(step_.end).first(ode_->core()));
}

void SwitchingStep::interpolate(double where, Vector& y) {
  if (between_by_cubic()) {
    implicit_.interpolate(step_, where, y);
    return;
  }
  if (!dense_ready_) explicit_.prepare(*ode_, step_);
  dense_ready_ = true;
  explicit_.interpolate(step_, where, y);
}

double SwitchingStep::interpolate(double where, std::size_t i) {
  if (between_by_cubic()) return implicit_.interpolate(step_, where, i);
  if (!dense_ready_) explicit_.prepare(*ode_, step_);
  dense_ready_ = true;
  return explicit_.interpolate(step_, where, i);
}

void SwitchingStep::polynomial(std::size_t i, std::array<double, 8>& c) {
  if (between_by_cubic()) {
    implicit_.polynomial(step_, i, c);
    return;
  }
  if (!dense_ready_) explicit_.prepare(*ode_, step_);
  dense_ready_ = true;
  explicit_.polynomial(step_, i, c);
}

/// Within a step as long as its error allows, order 7 is far less accurate than order 8
/// at its end (30 times the tolerance in a swing of a pendulum): from two steps of half
/// the length, 256 times less far off. The run itself ignores it.
void SwitchingStep::interpolate_sample(double where, Vector& y) {
  const bool stiff = stability_.exceeded && stability_.seen.forces > stable;
  const bool good = error_ < enough_for_samples && !stability_.exceeded;
  if (implicit_now_ || stiff || ode_->by_clock() || good) {
    interpolate(where, y);
    return;
  }
  const int half = where < 0.5 ? 0 : 1;
  while (half_known_ < half) {
    if (half_known_ < 0) {
      half_step_.h = 0.5 * step_.h;
      half_step_.y = step_.y;
      half_step_.rate = step_.rate;
    } else {
      std::swap(half_step_.y, half_step_.end);
      std::swap(half_step_.rate, half_step_.end_rate);
    }
    half_.attempt(*ode_, *scales_, rtol_, half_step_);
    half_.complete(*ode_, half_step_);
    half_.prepare(*ode_, half_step_);
    ++half_known_;
  }
  half_.interpolate(half_step_, 2 * where - half, y);
}

double SwitchingStep::choose_method(double length, double planned, bool whole,
                                    bool touch_or_leave) {
  if (implicit_now_) {
    // Explicitly again where the implicit method gains nothing, at once where it loses.
    stiff_steps_ = length < explicit_length_ ? stiff_steps_ + 1 : 0;
    if (whole && planned < implicit_loses * explicit_length_) {
      planned = explicit_length_;
      stiff_steps_ = patience;
    }
  } else if (!ode_->by_clock() && whole) {
    const bool rests =
        planned < does_not_grow * length && explicit_.moved(*ode_, step_) < at_rest;
    stiff_steps_ = stability_.seen.size > stiff_enough || rests ? stiff_steps_ + 1 : 0;
  }
  if (touch_or_leave) {
    implicit_now_ = false;
    stiff_steps_ = 0;
  } else if (stiff_steps_ >= patience) {
    if (!implicit_now_) explicit_length_ = planned;
    implicit_now_ = !implicit_now_;
    stiff_steps_ = 0;
  }
  if (!implicit_now_ && !ode_->by_clock() && fastest_ > 0) {
    planned = std::min(planned, stable / fastest_);
  }
  return planned;
}

}  // namespace bristle
