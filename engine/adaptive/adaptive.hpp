#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>

#include "bristle/contact/event.hpp"
#include "bristle/step/system.hpp"

// The adaptive integrator: steps as long as the tolerance allows, and every touch,
// lift-off, end of clamp, stick/slip and other switch of a law located.
//
//   motion_ode        the motion as y′ = f(y), smooth between events
//   guards            the functions whose signs events change, as laws declare them
//   error_scales      what errors are measured by
//   switching_step    a step by one of two methods, and everything in between
//   event_location    the first event in it: t₀ < t* ≤ t₁
//   contact_time      the time that runs in a contact from touch-down on, and impact_plan
//   adaptive          all of it in turn
//
// Constants say beside them where they are from. "Measured": by what factor evaluations
// change over 54 runs of scenes at tolerances of 1e-2 to 1e-9 (docs/decisions/
// adaptive-constants.md).

namespace bristle {

struct AdaptiveOptions {
  double rtol = 1e-6;         // of velocities, depths and bristles
  bool contact_clock = true;  // dt = 2 s dη from touch-down on
  double longest_step = std::numeric_limits<double>::infinity();  // [s]
};

struct AdaptiveCounts {
  std::uint64_t steps = 0;  // accepted
  std::uint64_t rejected = 0;
  std::uint64_t evaluations = 0;     // of all forces and accelerations
  std::uint64_t implicit_steps = 0;  // among the accepted
  std::uint64_t looks = 0;           // at contacts only, to locate events
  std::uint64_t events = 0;
  std::uint64_t touches = 0;
};

/// Who wants to know what, on the way.
struct AdaptiveObserver {
  std::function<void(const State&, const Event&)> on_event{};
  /// Every so many seconds from the beginning on and before the end, between the steps
  /// where need be. The system is there, too, so that a ledger can be made.
  double sample_interval = 0;
  std::function<void(const State&)> on_sample{};
  /// After every step; false ends the run there, with StepStatus::ok.
  std::function<bool(const State&)> on_step{};
};

/// Steps states of one model, which must outlive it. Set-up and events may allocate.
class Adaptive {
 public:
  explicit Adaptive(const Model& model, const AdaptiveOptions& options = {});
  Adaptive(Adaptive&&) noexcept;
  Adaptive& operator=(Adaptive&&) noexcept;
  ~Adaptive();

  /// Goes on until a time, exactly.
  StepStatus advance_to(State& state, double until,
                        const AdaptiveObserver& observer = {});

  AdaptiveCounts counts() const noexcept;
  System& system() noexcept;

 private:
  class Driver;
  std::unique_ptr<Driver> driver_;
};

}  // namespace bristle
