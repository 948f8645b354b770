#pragma once

#include <optional>

#include "bristle/model/model.hpp"
#include "scene/solid.hpp"

namespace bristle::scene {

/// What a shape of uniform density weighs, in its own axes; nothing for planes and
/// hollows, which have no end, and for surfaces that enclose nothing.
std::optional<Solid> solid_of(const Shape& shape, double density);

}  // namespace bristle::scene
