#pragma once

#include "bristle/adaptive/implicit_step.hpp"

// A step of the motion with its dense output, by one of two methods: the explicit
// one, or where stability and not accuracy holds its steps back, the implicit one.

namespace bristle {

class SwitchingStep {
 public:
  using Vector = Step::Vector;

  /// Both must outlive it.
  SwitchingStep(MotionOde& ode, ErrorScales& scales, double rtol)
      : ode_(&ode), scales_(&scales), rtol_(rtol) {}

  /// The next step begins at the start of the motion. With `go_on` that is the end of the
  /// last step, whose rate is known.
  void begin(bool go_on);
  /// Whether the rate at the beginning is known; else call find_rate().
  bool knows_rate() const { return knows_rate_; }
  /// The rate at the beginning, with all contacts measured.
  void find_rate();

  /// Tries a step; whether its error is allowed.
  bool attempt(double length);
  /// How much longer the step may be, by its error.
  double change() const;
  /// By what factor to shorten a step that is not allowed.
  double shorter() const;
  /// The rate at the end of a step that was allowed, with all contacts measured.
  void complete();
  /// Ends the step at a place within it, 0 … 1; false where that does not succeed.
  /// `smooth`: nothing but what ends it there happens within the step.
  bool cut(double where, bool smooth);
  /// A step of no length.
  void stay() { step_.end = step_.y; }

  double rtol() const { return rtol_; }
  double length() const { return step_.h; }
  const Vector& y() const { return step_.y; }
  const Vector& end() const { return step_.end; }
  const Vector& rate() const { return step_.rate; }
  const Vector& end_rate() const { return step_.end_rate; }
  /// What the error of entry i may be in a step from y on.
  double allowed_error(std::size_t i);
  bool is_implicit() const { return implicit_now_; }

  /// y at a place of the step, 0 … 1.
  void interpolate(double where, Vector& y);
  double interpolate(double where, std::size_t i);
  /// Entry i as a polynomial Σ cₖ placeᵏ.
  void polynomial(std::size_t i, std::array<double, 8>& c);
  /// Whether that is a cubic, which takes no evaluations besides those of the step.
  bool between_by_cubic() const { return implicit_now_ || stability_.exceeded; }
  /// How much entry i changes within the step, by its rates in all evaluations: at most,
  /// as far as these tell.
  double largest_change(std::size_t i) const {
    return step_.h * explicit_.largest_rate(i);
  }
  /// The same for samples: as accurate as the ends of steps.
  void interpolate_sample(double where, Vector& y);

  /// After an accepted step of a length that is `planned` to be followed by another:
  /// which method goes on, and with what step. `whole`: it was not cut. After a touch or
  /// a lift-off the explicit method goes on.
  double choose_method(double length, double planned, bool whole, bool touch_or_leave);
  /// Other contacts act: stability has to be measured again.
  void forget_stability() { fastest_ = 0; }

 private:
  double try_step();
  void watch_stability();

  MotionOde* ode_;
  ErrorScales* scales_;
  double rtol_;
  ExplicitStep explicit_;
  ImplicitStep implicit_;
  Step step_;
  Vector at_cut_, allowed_;
  double error_ = 0;
  bool knows_rate_ = false;   // step_.rate belongs to step_.y
  bool dense_ready_ = false;  // explicit_.interpolate() is

  bool implicit_now_ = false;
  int stiff_steps_ = 0;         // that ask for the other method, in a row
  double explicit_length_ = 0;  // when the implicit method took over [s]
  double fastest_ = 0;          // |λ| seen last; 0: not known [1/s]
  struct Stability {
    Stiffness seen{};
    bool exceeded = false;  // the step is longer than stability allows
  } stability_;             // of the last explicit step

  // For samples: one half of the step, in a step of its own.
  ExplicitStep half_;
  Step half_step_;
  int half_known_ = -1;  // which half that is; −1: none
};

}  // namespace bristle
