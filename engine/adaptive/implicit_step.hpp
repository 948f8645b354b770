#pragma once

#include "bristle/adaptive/explicit_step.hpp"

// One step for contacts that last and are stiff: a Rosenbrock method of order 4,
// L-stable, so that bodies at rest cost next to nothing.

namespace bristle {

class ImplicitStep {
 public:
  using Vector = Step::Vector;

  double attempt(MotionOde& ode, ErrorScales& scales, double rtol, Step& step);
  void complete(MotionOde& ode, Step& step);
  /// Between the ends by a cubic.
  void interpolate(const Step& step, double place, Vector& y) const;
  double interpolate(const Step& step, double place, std::size_t i) const;
  /// The same as a polynomial Σ powersₖ placeᵏ.
  void polynomial(const Step& step, std::size_t i, std::array<double, 8>& powers) const;
  double exponent() const { return 0.25; }
  /// The step begins at another point.
  void forget() { known_ = false; }

 private:
  void differentiate(const MotionOde& ode, ErrorScales& scales, const Step& step);
  bool factorise(double h);
  void solve(Vector& x) const;

  bool known_ = false;                // jacobian_ belongs to where the step begins
  std::vector<std::size_t> unknown_;  // entries of y that are solved for
  Vector jacobian_;                   // of all rates by the unknowns, row by row
  Vector matrix_;                     // 1/(hγ) − J of the unknowns, then its factors
  std::vector<std::size_t> pivots_;
  std::vector<Vector> u_;
  Vector at_stage_, rate_, x_, error_, allowed_, scale_, slopes_;
};

}  // namespace bristle
