#pragma once

#include "bristle/core/trigonometry.hpp"

namespace bristle {

/// offset + slope t + amplitude sin(frequency t + phase), and its derivatives: a command
/// that a scene can state. Anything else comes from outside, as a command per step.
struct Signal {
  double offset = 0;
  double slope = 0;
  double amplitude = 0;
  double frequency = 0;  // [rad/s]
  double phase = 0;      // [rad]

  double value(double t) const noexcept {
    return offset + slope * t + amplitude * sincos(frequency * t + phase).sin;
  }
  double rate(double t) const noexcept {
    return slope + amplitude * frequency * sincos(frequency * t + phase).cos;
  }
  double acceleration(double t) const noexcept {
    return -amplitude * frequency * frequency * sincos(frequency * t + phase).sin;
  }
};

}  // namespace bristle
