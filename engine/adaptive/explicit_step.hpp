#pragma once

#include <array>

#include "bristle/adaptive/error_scales.hpp"

// One step of a smooth motion, of order 8 with an estimate of its error, and its dense
// output of order 7.

namespace bristle {

/// From y to end: what both methods of the adaptive integrator leave behind.
struct Step {
  using Vector = MotionOde::Vector;
  double h = 0;
  Vector y, end;
  Vector rate, end_rate;
};

/// |h λ| of the fastest motion that a step met; beyond 6 it is unstable. Where that
/// motion was smaller than the allowed error, the number is a rough one: where positions
/// must be far more accurate than velocities, as in flight between stiff contacts, it is
/// large although nothing is stiff. `forces` leaves that out.
struct Stiffness {
  double size;
  bool certain;
  double forces;  // by how accelerations and memory respond alone
};

class ExplicitStep {
 public:
  using Vector = Step::Vector;

  /// Tries a step from step.y, whose rate is known, and returns its error against `rtol`.
  double attempt(MotionOde& ode, ErrorScales& scales, double rtol, Step& step);
  /// The rate at the end of a step that was accepted, with the guards there.
  void complete(MotionOde& ode, Step& step);
  /// Readies interpolate() for the step: three more evaluations.
  void prepare(MotionOde& ode, const Step& step);
  /// y at a place of the step, 0 … 1.
  void interpolate(const Step& step, double place, Vector& y) const;
  double interpolate(const Step& step, double place, std::size_t i) const;
  /// The same as a polynomial Σ cₖ placeᵏ.
  void polynomial(const Step& step, std::size_t i, std::array<double, 8>& c) const;
  /// The largest |rate| of an entry among all evaluations of a step that was completed.
  double largest_rate(std::size_t i) const;
  Stiffness stiffness(const MotionOde& ode, const Step& step) const;
  /// The changes over the step, in units of the allowed error.
  double moved(const MotionOde& ode, const Step& step) const;
  double exponent() const { return 0.125; }

 private:
  void stage(const MotionOde& ode, const Step& step, std::size_t s);
  const double* k(std::size_t s) const { return k_.data() + s * stride_; }

  std::size_t stride_ = 0;
  Vector k_;  // rates of the stages
  Vector at_stage_, last_stage_;
  Vector error_5_, error_3_, allowed_;
  Vector between_;  // 4 numbers per entry of y
};

}  // namespace bristle
