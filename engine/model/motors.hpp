#pragma once

#include <algorithm>

#include "bristle/model/model.hpp"

// What a motor drives, a joint velocity or a coupling: how far and how fast that has
// moved, and the motor's force on it.

namespace bristle {

inline double travel(const Model& model, const Motor& motor,
                     std::span<const double> q) noexcept {
  if (motor.coupling < 0) return q[static_cast<std::size_t>(motor.q)];
  return model.couplings[static_cast<std::size_t>(motor.coupling)].value(q);
}

inline double travel_rate(const Model& model, const Motor& motor,
                          std::span<const double> v) noexcept {
  if (motor.coupling < 0) return v[static_cast<std::size_t>(motor.v)];
  return model.couplings[static_cast<std::size_t>(motor.coupling)].rate(v);
}

inline void add_motor_force(const Model& model, const Motor& motor, double force,
                            std::span<double> tau) noexcept {
  if (motor.coupling < 0) {
    tau[static_cast<std::size_t>(motor.v)] += force;
    return;
  }
  for (const DofWeight& j :
       model.couplings[static_cast<std::size_t>(motor.coupling)].joints) {
    tau[static_cast<std::size_t>(j.dof)] += j.weight * force;
  }
}

/// A force as far as the motor can give it.
inline double limited(const Motor& motor, double force) noexcept {
  return std::clamp(force, motor.least_force, motor.largest_force);
}
inline bool within_limits(const Motor& motor, double force) noexcept {
  return force >= motor.least_force && force <= motor.largest_force;
}

}  // namespace bristle
