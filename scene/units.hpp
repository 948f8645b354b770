#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace bristle::scene {

/// What a number in a file measures; the key that holds it ends in a unit.
enum class Dimension {
  none,  // a plain number: no unit
  length,
  angle,
  time,
  mass,
  inertia,
  density,
  pressure,
  speed,
  angular_speed,
  acceleration,
  force,
  torque,
  joint_position,   // of a joint: a length or an angle
  joint_speed,      // a speed or an angular speed
  joint_force,      // a force or a torque
  joint_stiffness,  // per length or angle
  joint_damping,    // per speed or angular speed
  joint_inertia,    // a mass or an inertia
  frequency,
  stiffness,  // of a spring that pulls
  damping,
  turn_stiffness,  // of one that turns
  turn_damping,
};

struct Unit {
  std::string_view suffix;  // "mm" of radius_mm
  double factor;            // to SI
};

/// The units of a dimension, the usual one first; empty for plain numbers.
std::span<const Unit> units_of(Dimension dimension);

/// "radius_m" of "radius" and length; the name itself of a plain number.
std::string usual_key(std::string_view name, Dimension dimension);

/// The factor of a key such as "radius_mm" that begins with this name, if its unit is
/// known.
std::optional<double> factor_of(std::string_view key, std::string_view name,
                                Dimension dimension);

/// Seconds of "1 ms", "0.5 s", "20 us"; nothing where it is no such thing.
std::optional<double> parse_time(std::string_view text);

}  // namespace bristle::scene
