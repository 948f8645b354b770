#pragma once

#include "bristle/geometry/contact_point.hpp"
#include "bristle/geometry/shapes.hpp"

// Distance and depth of two convex shapes through their support functions.
//
// With h(n) = max over A of a·n plus max over B of b·(−n), the depth is
//
//   δ = min over unit n of h(n),
//
// whether the shapes overlap (δ > 0) or not (δ < 0, minus the distance). Apart, GJK finds
// the minimum; overlapping, EPA finds it; and close to touching, where the direction
// between two almost coincident points says nothing, B is moved away along the normal
// found so far by a small length and GJK asked again: the closest points stay the same
// and their direction is well defined. So the depth passes smoothly through 0.

namespace bristle::geometry {

/// A convex shape as a core and a radius around it: a capsule is a segment, a sphere a
/// point. Depth is measured between cores, and the radii added.
struct Core {
  const Shape* shape;
  Transform<double> pose;
  double radius;  // around the core [m]
  double size;    // a typical length [m]
};

Core core_of(const Shape& shape, const Transform<double>& pose) noexcept;

/// A core's farthest point in a direction, in world coordinates.
Vec3<double> support(const Core& core, const Vec3<double>& direction) noexcept;

struct Separation {
  Vec3<double> normal;  // unit, from A into B
  double depth;         // δ of the cores: < 0 apart [m]
  Vec3<double> on_a;    // on the cores
  Vec3<double> on_b;
};

/// The least depth of two cores.
Separation separate(const Core& a, const Core& b) noexcept;

/// The side of a shape that faces a direction: a face, a line or nothing. What two shapes
/// lie on each other with.
struct Side {
  static constexpr int capacity = 32;
  Vec3<double> points[capacity];  // world; counter-clockwise about the normal
  std::uint32_t ids[capacity];
  int count = 0;
  Vec3<double> normal{};  // of a face, outward
};

/// The side of a core towards `direction`, if one lies within about 15° of across it.
Side side_towards(const Core& core, const Vec3<double>& direction) noexcept;

/// Contacts where side a of A and side b of B lie on each other along n (A into B): one
/// side clipped by the other. Adds the points with a depth over −margin and returns how
/// many. radius_a and radius_b are the radii around the cores.
int lay_together(const Side& a, const Side& b, const Vec3<double>& n, double radius_a,
                 double radius_b, double margin, Contacts<double>& out) noexcept;

/// Curvature of a shape where its outward normal is `normal`, at a point of its surface.
Curvature<double> curvature_at(const Core& core, const Vec3<double>& point,
                               const Vec3<double>& normal) noexcept;

/// Any two convex shapes: one contact, or several where sides lie on each other.
void convex_against_convex(const Shape& a, const Transform<double>& pose_a,
                           const Shape& b, const Transform<double>& pose_b, double margin,
                           Contacts<double>& out) noexcept;

/// Two polyhedra (box or convex hull) by the separating-axis test over faces and pairs of
/// edges, with one face clipped by the other.
void polyhedron_against_polyhedron(const Shape& a, const Transform<double>& pose_a,
                                   const Shape& b, const Transform<double>& pose_b,
                                   double margin, Contacts<double>& out) noexcept;

}  // namespace bristle::geometry
