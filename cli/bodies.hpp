#pragma once

#include <optional>
#include <string>

#include "bristle/laws/materials.hpp"
#include "cli/text.hpp"

namespace bristle::cli {

/// A ball and what it hits: a plane, or a second ball.
struct Bodies {
  const Material* ball;
  const Material* other;
  double radius;          // of the ball [m]
  double radius2;         // of the other; flat() for a plane [m]
  double modulus;         // E* [Pa]
  double contact_radius;  // R [m]
  double stiffness;       // Hertz's k [N/m^{3/2}]
  double mass;            // of the ball on a plane; reduced for two balls [kg]

  bool on_plane() const;
  std::string text() const;
  Json json() const;
};

Result<Bodies> bodies_of(const Material& ball, const Material& other, double radius,
                         std::optional<double> radius2);

/// From "steel,brass" and the radii as typed; empty when no materials are named.
Result<std::optional<Bodies>> read_bodies(const std::string& materials,
                                          std::optional<double> radius,
                                          std::optional<double> radius2);

}  // namespace bristle::cli
