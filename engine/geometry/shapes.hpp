#pragma once

#include <string_view>
#include <variant>

#include "bristle/core/result.hpp"
#include "bristle/geometry/aabb.hpp"
#include "bristle/geometry/hull.hpp"
#include "bristle/geometry/pose.hpp"
#include "bristle/geometry/surface.hpp"

// Shapes are plain data, in the axes of their own pose. To add one: list it in Shape and
// ShapeKind, add its name, check and bounds in shapes.cpp, and write its pairs
// (pairs.hpp).

namespace bristle {

/// A ball about the origin; radius 0 is a point.
struct Sphere {
  double radius;  // [m], ≥ 0
};
/// The half-space z ≤ 0.
struct Plane {};
struct Box {
  Vec3<double> half;  // half of each edge [m], > 0
};
/// A solid cylinder along z.
struct Cylinder {
  double radius;       // [m], > 0
  double half_length;  // [m], > 0
};
/// The solid around a cylindrical hollow along z: bodies live inside the hollow. A finite
/// half_length closes it with flat ends, an infinite one leaves it open.
struct Cavity {
  double radius;       // [m], > 0
  double half_length;  // [m], > 0
};
/// All points within `radius` of a segment along z.
struct Capsule {
  double radius;       // [m], > 0
  double half_length;  // of the segment [m], ≥ 0
};
struct Ellipsoid {
  Vec3<double> semi_axes;  // [m], > 0
};
/// The large shapes are made at set-up (make_hull, make_mesh, make_height_field) and
/// owned by whoever set them up; a shape only refers to them.
struct Terrain {
  const HeightField* field;
};
struct Convex {
  const ConvexHull* hull;
};
struct Mesh {
  const TriangleMesh* mesh;
};

using Shape = std::variant<Sphere, Plane, Box, Cylinder, Cavity, Capsule, Ellipsoid,
                           Terrain, Convex, Mesh>;

/// The alternatives of Shape, in order.
enum class ShapeKind : int {
  sphere,
  plane,
  box,
  cylinder,
  cavity,
  capsule,
  ellipsoid,
  height_field,
  convex,
  mesh,
};
inline constexpr int shape_kinds = static_cast<int>(std::variant_size_v<Shape>);

inline ShapeKind kind_of(const Shape& shape) noexcept {
  return static_cast<ShapeKind>(shape.index());
}
std::string_view name_of(ShapeKind kind) noexcept;

/// The shape, or what is wrong with its numbers.
Result<Shape> checked(const Shape& shape);

/// A box around the shape, grown by `margin` [m]. Infinite for planes and cavities.
Aabb bounds(const Shape& shape, const Transform<double>& pose,
            double margin = 0) noexcept;

}  // namespace bristle
