#pragma once

#include <limits>
#include <memory>

#include "bristle/step/stepper.hpp"

// The adaptive integrator: steps as long as the tolerance allows, and every touch,
// lift-off, end of clamp, stick/slip and other switch of a law located.
//
//   motion_ode        the motion as y′ = f(y), smooth between events
//   guards            the functions whose signs events change, as laws declare them
//   error_scales      scales that errors are measured by
//   switching_step    a step by one of two methods, and everything in between
//   event_location    the first event in it: t₀ < t* ≤ t₁
//   contact_time      the regularised time of a contact, from touch-down on; impact_plan
//   adaptive          the integrator made of these
//
// Constants say beside them where they are from. "Measured": by what factor evaluations
// change over 54 runs of scenes at tolerances of 1e-2 to 1e-9 (docs/decisions/
// adaptive-constants.md).

namespace bristle {

struct AdaptiveOptions {
  double rtol = 1e-6;        // of velocities, depths and bristles
  bool contact_time = true;  // dt = 2 s dη from touch-down on
  double longest_step = std::numeric_limits<double>::infinity();  // [s]
};

/// Steps states of one model, which must outlive it. Set-up and events may allocate.
class Adaptive final : public Stepper {
 public:
  explicit Adaptive(const Model& model, const AdaptiveOptions& options = {});
  Adaptive(Adaptive&&) noexcept;
  Adaptive& operator=(Adaptive&&) noexcept;
  ~Adaptive() override;

  StepStatus settle(State& state) override;
  StepStatus advance_to(State& state, double until,
                        const StepObserver& observer = {}) override;
  void restart() override;
  StepCounts counts() const noexcept override;
  std::string advice(const State& state) override;
  System& system() noexcept override;

 private:
  class Driver;
  std::unique_ptr<Driver> driver_;
  StepCounts before_;  // of drivers before the last restart
};

}  // namespace bristle
