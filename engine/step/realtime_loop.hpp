#pragma once

#include <cstdint>

#include "bristle/step/fixed_step.hpp"

namespace bristle {

/// Steps a state once per tick of a control loop: bounded work, no allocation, no lock,
/// no exception. Counts the times that its steps took, and those that took longer
/// than the time they simulate.
class RealtimeLoop {
 public:
  explicit RealtimeLoop(const Model& model, const FixedStepOptions& options = {})
      : clock_(model, options) {}

  StepStatus step(State& state, Commands commands = {}) noexcept;

  FixedStep& clock() noexcept { return clock_; }
  const StepTimes& times() const noexcept { return times_; }
  std::uint64_t missed() const noexcept { return missed_; }  // deadlines

 private:
  FixedStep clock_;
  StepTimes times_;
  std::uint64_t missed_ = 0;
};

}  // namespace bristle
