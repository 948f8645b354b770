#pragma once

#include "bristle/geometry/shapes.hpp"

// Rays against shapes: for range finders and for zones of touch sensors.

namespace bristle {

/// How far along a ray the surface of a shape first lies, from outside or from within
/// [m]; infinity where the ray does not meet it. `direction` has unit length; both in the
/// axes in which `pose` places the shape.
double ray_distance(const Shape& shape, const Transform<double>& pose,
                    const Vec3<double>& origin, const Vec3<double>& direction) noexcept;

}  // namespace bristle
