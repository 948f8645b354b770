#pragma once

#include <functional>

#include "bristle/adaptive/motion_ode.hpp"

namespace bristle {

/// States every so many seconds, between the steps of an integrator.
class Sampler {
 public:
  using OnSample = std::function<void(const State&)>;

  /// From a time on; `interval` 0: none [s].
  void begin(double time, double interval) {
    begin_ = next_ = time;
    interval_ = interval;
    count_ = 0;
  }
  bool is_on() const { return interval_ > 0; }
  /// When the next sample is, and whether that is before a time: one at the very end of a
  /// run belongs to the run that continues from there.
  double next() const { return next_; }
  bool due_before(double time) const {
    return is_on() && next_ < time - same_instant * interval_;
  }
  /// Takes the sample at y, where the motion is at the next time.
  void take(MotionOde& ode, const MotionOde::Vector& y, const State& state,
            const OnSample& on_sample) {
    ode.observe(y, next_, state, sample_);
    tell(on_sample);
  }
  /// Room for the next sample, and the call that takes what was put there.
  State& room() { return sample_; }
  void tell(const OnSample& on_sample) {
    on_sample(sample_);
    next_ = begin_ + static_cast<double>(++count_) * interval_;
  }

 private:
  static constexpr double same_instant = 1e-9;  // of the interval: rounding of sums
  double begin_ = 0, next_ = 0, interval_ = 0;
  std::uint64_t count_ = 0;
  State sample_;
};

}  // namespace bristle
