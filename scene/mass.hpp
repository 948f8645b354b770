#pragma once

#include <optional>

#include "bristle/model/model.hpp"

namespace bristle::scene {

/// A solid of uniform density.
struct Solid {
  double mass = 0;
  Vec3<double> com{0, 0, 0};
  Sym3<double> inertia = Sym3<double>::zero();  // about the centre of mass
};

/// Of a shape in its own axes; nothing for planes and hollows, which have no end, and for
/// surfaces that enclose nothing.
std::optional<Solid> solid_of(const Shape& shape, double density);

/// The same seen from a frame in which the solid stands.
Solid moved(const Solid& solid, const Transform<double>& pose);

/// Both together.
Solid joined(const Solid& a, const Solid& b);

/// Whether some body can have this inertia about its centre of mass; points and sticks
/// can have zeros.
bool is_possible(const Sym3<double>& inertia);

}  // namespace bristle::scene
