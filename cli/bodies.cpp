#include "cli/bodies.hpp"

#include <fmt/format.h>

#include <cmath>

namespace bristle::cli {

bool Bodies::on_plane() const { return std::isinf(radius2); }

std::string Bodies::text() const {
  const std::string target =
      on_plane() ? fmt::format("a flat body of {}", other->name)
                 : fmt::format("a {} ball of radius {:g} mm", other->name, 1e3 * radius2);
  return fmt::format(
      "{} ball of radius {:g} mm on {}: {} {:.4g} g, E* {:.4g} GPa, Hertz k {:.4g} "
      "N/m^1.5",
      ball->name, 1e3 * radius, target, on_plane() ? "mass" : "reduced mass", 1e3 * mass,
      1e-9 * modulus, stiffness);
}

Json Bodies::json() const {
  return {{"ball", ball->name},
          {"other", other->name},
          {"radius_m", radius},
          {"radius2_m", on_plane() ? Json(nullptr) : Json(radius2)},
          {"equivalent_radius_m", contact_radius},
          {"equivalent_modulus_Pa", modulus},
          {"hertz_stiffness_N_per_m1.5", stiffness},
          {"mass_kg", mass}};
}

Result<Bodies> bodies_of(const Material& ball, const Material& other, double radius,
                         std::optional<double> radius2) {
  const bool sound = radius > 0 && std::isfinite(radius);
  if (!sound) {
    return Error{
        fmt::format("--radius {:g}: the ball's radius must be above 0 m", radius)};
  }
  const double second = radius2.value_or(flat());
  if (!(second > 0)) {
    return Error{fmt::format(
        "--radius2 {:g}: must be above 0 m; leave it out for a flat body", second)};
  }
  Bodies b{&ball, &other, radius, second, 0, 0, 0, ball_mass(ball, radius)};
  b.modulus = equivalent_modulus(ball, other);
  b.contact_radius = equivalent_radius(radius, second);
  b.stiffness = hertz_stiffness(b.modulus, b.contact_radius);
  if (!b.on_plane()) b.mass = reduced_mass(b.mass, ball_mass(other, second));
  return b;
}

Result<std::optional<Bodies>> read_bodies(const std::string& materials,
                                          std::optional<double> radius,
                                          std::optional<double> radius2) {
  using Found = std::optional<Bodies>;
  if (materials.empty()) {
    if (radius || radius2) {
      return Error{"--radius needs --materials, e.g. --materials steel,brass"};
    }
    return Found{};
  }
  const std::size_t comma = materials.find(',');
  if (comma == std::string::npos || materials.find(',', comma + 1) != std::string::npos) {
    return Error{fmt::format(
        "--materials {}: name two, the ball first, e.g. --materials steel,brass",
        materials)};
  }
  if (!radius) {
    return Error{"--materials needs --radius, the radius of the ball in metres"};
  }
  const auto ball = find_material(materials.substr(0, comma));
  if (!ball) return Error{ball.error()};
  const auto other = find_material(materials.substr(comma + 1));
  if (!other) return Error{other.error()};
  auto bodies = bodies_of(**ball, **other, *radius, radius2);
  if (!bodies) return Error{bodies.error()};
  return Found{*bodies};
}

}  // namespace bristle::cli
