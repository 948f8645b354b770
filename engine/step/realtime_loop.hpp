#pragma once

#include <array>
#include <cstdint>

#include "bristle/step/fixed_step.hpp"

namespace bristle {

/// How long steps took: counts in bins that grow by an eighth of an octave, from 10 ns to
/// 40 s. Nothing is allocated.
class StepTimes {
 public:
  static constexpr int bins = 256;

  void add(double seconds) noexcept;

  std::uint64_t count() const noexcept { return count_; }
  double mean() const noexcept {
    return count_ > 0 ? sum_ / static_cast<double>(count_) : 0;
  }
  double longest() const noexcept { return longest_; }
  /// The time within which a share p of all steps ended, to the width of a bin.
  double quantile(double p) const noexcept;
  const std::array<std::uint64_t, bins>& counts() const noexcept { return counts_; }
  /// Where a bin begins [s].
  static double bin_start(int bin) noexcept;

 private:
  std::array<std::uint64_t, bins> counts_{};
  std::uint64_t count_ = 0;
  double sum_ = 0;
  double longest_ = 0;
};

/// Steps a state once per tick of a control loop: bounded work, no allocation, no lock,
/// no exception. Keeps count of how long its steps took and of those that took longer
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
