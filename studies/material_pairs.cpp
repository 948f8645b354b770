#include "studies/material_pairs.hpp"

#include <cmath>
#include <cstdlib>

#include "bristle/laws/materials.hpp"
#include "bristle/laws/restitution.hpp"

namespace bristle::studies {

namespace {

const Material& material(std::string_view name) {
  const auto found = find_material(name);
  if (!found) std::abort();  // the table above names what there is
  return **found;
}

}  // namespace

PairContact contact_of(const MaterialPair& pair) {
  const Material &sphere = material(pair.sphere), &other = material(pair.other);
  const double radius =
      equivalent_radius(pair.radius, pair.spheres ? pair.radius : flat());
  const double ball = ball_mass(sphere, pair.radius);
  PairContact contact{};
  contact.stiffness = hertz_stiffness(equivalent_modulus(sphere, other), radius);
  contact.mass = pair.spheres ? reduced_mass(ball, ball) : ball;
  contact.damping = azad_featherstone_group(pair.restitution_assumed, true) *
                    std::pow(contact.mass, 0.4) * std::pow(contact.stiffness, 0.6);
  return contact;
}

}  // namespace bristle::studies
