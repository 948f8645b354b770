#pragma once

#include <span>
#include <vector>

#include "bristle/core/trigonometry.hpp"

namespace bristle {

/// From `begin` on, until the next piece begins, with s = t − begin:
/// value + rate s + ½ curvature s² + ⅙ jerk s³.
struct SignalPiece {
  double begin = 0;  // [s]
  double value = 0;
  double rate = 0;       // [1/s]
  double curvature = 0;  // [1/s²]
  double jerk = 0;       // [1/s³]
};

/// offset + slope t + amplitude sin(frequency t + phase) + pieces, and its derivatives: a
/// command that a scene can state. Anything else comes from outside, as a command per
/// step.
struct Signal {
  double offset = 0;
  double slope = 0;
  double amplitude = 0;
  double frequency = 0;  // [rad/s]
  double phase = 0;      // [rad]
  /// One after the other; before the first begins its first value, at rest.
  std::vector<SignalPiece> pieces{};
  double period = 0;  // > 0: after which the pieces begin anew [s]

  double value(double t) const noexcept {
    return offset + slope * t + amplitude * sincos(frequency * t + phase).sin +
           (pieces.empty() ? 0 : at(t).value);
  }
  double rate(double t) const noexcept {
    return slope + amplitude * frequency * sincos(frequency * t + phase).cos +
           (pieces.empty() ? 0 : at(t).rate);
  }
  double acceleration(double t) const noexcept {
    return -amplitude * frequency * frequency * sincos(frequency * t + phase).sin +
           (pieces.empty() ? 0 : at(t).curvature);
  }

 private:
  /// Value, rate and acceleration of the pieces at a time.
  SignalPiece at(double t) const noexcept;
};

/// How a signal gets from one value to the next.
enum class Interpolation : unsigned char {
  hold,    // it keeps each value until the next one's time
  linear,  // straight lines
  spline,  // a cubic spline, at rest at both ends; where it repeats, smooth there as well
};

/// The pieces that go through values at rising times, one time for each value, two or
/// more; after the last they stay there. `repeats`: the last time is where the pieces
/// begin anew (Signal::period is the time from the first to the last), so that the last
/// value is to be the first.
std::vector<SignalPiece> pieces_through(std::span<const double> times,
                                        std::span<const double> values, Interpolation how,
                                        bool repeats = false);

}  // namespace bristle
