#include "scene/units.hpp"

#include <array>
#include <charconv>
#include <numbers>

namespace bristle::scene {

namespace {

constexpr double degree = std::numbers::pi / 180;
constexpr std::array<Unit, 3> length{{{"m", 1}, {"mm", 1e-3}, {"cm", 1e-2}}};
constexpr std::array<Unit, 2> angle{{{"deg", degree}, {"rad", 1}}};
constexpr std::array<Unit, 3> time{{{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}}};
constexpr std::array<Unit, 2> mass{{{"kg", 1}, {"g", 1e-3}}};
constexpr std::array<Unit, 1> inertia{{{"kg_m2", 1}}};
constexpr std::array<Unit, 1> density{{{"kg_m3", 1}}};
constexpr std::array<Unit, 3> pressure{{{"Pa", 1}, {"MPa", 1e6}, {"GPa", 1e9}}};
constexpr std::array<Unit, 2> speed{{{"m_s", 1}, {"mm_s", 1e-3}}};
constexpr std::array<Unit, 2> angular_speed{{{"rad_s", 1}, {"deg_s", degree}}};
constexpr std::array<Unit, 1> acceleration{{{"m_s2", 1}}};
constexpr std::array<Unit, 2> force{{{"N", 1}, {"kN", 1e3}}};
constexpr std::array<Unit, 1> torque{{{"Nm", 1}}};
constexpr std::array<Unit, 4> joint_position{
    {{"m", 1}, {"deg", degree}, {"rad", 1}, {"mm", 1e-3}}};
constexpr std::array<Unit, 4> joint_speed{
    {{"m_s", 1}, {"deg_s", degree}, {"rad_s", 1}, {"mm_s", 1e-3}}};
constexpr std::array<Unit, 2> joint_force{{{"N", 1}, {"Nm", 1}}};
constexpr std::array<Unit, 2> joint_stiffness{{{"N_m", 1}, {"Nm_rad", 1}}};
constexpr std::array<Unit, 2> joint_damping{{{"N_s_m", 1}, {"Nm_s_rad", 1}}};
constexpr std::array<Unit, 2> joint_inertia{{{"kg", 1}, {"kg_m2", 1}}};
constexpr std::array<Unit, 2> frequency{{{"Hz", 2 * std::numbers::pi}, {"rad_s", 1}}};
constexpr std::array<Unit, 1> stiffness{{{"N_m", 1}}};
constexpr std::array<Unit, 1> damping{{{"N_s_m", 1}}};
constexpr std::array<Unit, 1> turn_stiffness{{{"Nm_rad", 1}}};
constexpr std::array<Unit, 1> turn_damping{{{"Nm_s_rad", 1}}};

}  // namespace

std::span<const Unit> units_of(Dimension dimension) {
  switch (dimension) {
    case Dimension::none:
      return {};
    case Dimension::length:
      return length;
    case Dimension::angle:
      return angle;
    case Dimension::time:
      return time;
    case Dimension::mass:
      return mass;
    case Dimension::inertia:
      return inertia;
    case Dimension::density:
      return density;
    case Dimension::pressure:
      return pressure;
    case Dimension::speed:
      return speed;
    case Dimension::angular_speed:
      return angular_speed;
    case Dimension::acceleration:
      return acceleration;
    case Dimension::force:
      return force;
    case Dimension::torque:
      return torque;
    case Dimension::joint_position:
      return joint_position;
    case Dimension::joint_speed:
      return joint_speed;
    case Dimension::joint_force:
      return joint_force;
    case Dimension::joint_stiffness:
      return joint_stiffness;
    case Dimension::joint_damping:
      return joint_damping;
    case Dimension::joint_inertia:
      return joint_inertia;
    case Dimension::frequency:
      return frequency;
    case Dimension::stiffness:
      return stiffness;
    case Dimension::damping:
      return damping;
    case Dimension::turn_stiffness:
      return turn_stiffness;
    case Dimension::turn_damping:
      return turn_damping;
  }
  return {};
}

std::string usual_key(std::string_view name, Dimension dimension) {
  std::string key(name);
  const auto units = units_of(dimension);
  if (!units.empty()) {
    key += '_';
    key += units.front().suffix;
  }
  return key;
}

std::optional<double> factor_of(std::string_view key, std::string_view name,
                                Dimension dimension) {
  const auto units = units_of(dimension);
  if (units.empty()) return key == name ? std::optional(1.0) : std::nullopt;
  if (key.size() <= name.size() + 1 || !key.starts_with(name) ||
      key[name.size()] != '_') {
    return std::nullopt;
  }
  const std::string_view suffix = key.substr(name.size() + 1);
  for (const Unit& unit : units) {
    if (unit.suffix == suffix) return unit.factor;
  }
  return std::nullopt;
}

std::optional<double> parse_time(std::string_view text) {
  double value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || !(value > 0) || !(value < 1e9)) return std::nullopt;
  std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  while (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
  for (const Unit& known : time) {
    if (known.suffix == unit) return value * known.factor;
  }
  return std::nullopt;
}

}  // namespace bristle::scene
