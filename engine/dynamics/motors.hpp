#pragma once

#include <algorithm>
#include <cmath>

#include "bristle/dynamics/coupling_motion.hpp"

// What a motor drives, a joint velocity or a coupling: how far and how fast that has
// moved, and the motor's force on it. Couplings are where CouplingMotion has them.

namespace bristle {

inline double travel(const CouplingMotion& couplings, const Motor& motor,
                     std::span<const double> q) noexcept {
  if (motor.coupling < 0) return q[static_cast<std::size_t>(motor.q)];
  return couplings.value(static_cast<std::size_t>(motor.coupling), q);
}

inline double travel_rate(const CouplingMotion& couplings, const Motor& motor,
                          std::span<const double> v) noexcept {
  if (motor.coupling < 0) return v[static_cast<std::size_t>(motor.v)];
  return couplings.rate(static_cast<std::size_t>(motor.coupling), v);
}

inline void add_motor_force(const CouplingMotion& couplings, const Motor& motor,
                            double force, std::span<double> tau) noexcept {
  if (motor.coupling < 0) {
    tau[static_cast<std::size_t>(motor.v)] += force;
    return;
  }
  for (const DofWeight& j : couplings.joints(static_cast<std::size_t>(motor.coupling))) {
    tau[static_cast<std::size_t>(j.dof)] += j.weight * force;
  }
}

/// What a motor is told: the part of its force that does not follow from where it is.
inline double told(const Motor& motor, const MotorCommand& command) noexcept {
  if (motor.kind == MotorKind::torque) return command.torque;
  return motor.kp * command.target + motor.kd * command.target_rate + command.torque;
}

/// c of its lag after a time in which what it is told goes from f0 to f1, evenly.
inline double lag_after(const MotorLag& lag, double c, double f0, double f1,
                        double time) noexcept {
  if (!(time > 0)) return std::clamp(c, lag.least, lag.largest);
  double next = 0;
  if (lag.kind == LagKind::filter) {
    const double behind = lag.time * (f1 - f0) / time;
    next = f1 - behind + (c - f0 + behind) * std::exp(-time / lag.time);
  } else {
    next = c + (0.5 * (f0 + f1) - lag.base) * time;
  }
  return std::clamp(next, lag.least, lag.largest);
}

/// A force as far as the motor can give it.
inline double limited(const Motor& motor, double force) noexcept {
  return std::clamp(force, motor.least_force, motor.largest_force);
}
inline bool within_limits(const Motor& motor, double force) noexcept {
  return force >= motor.least_force && force <= motor.largest_force;
}

}  // namespace bristle
