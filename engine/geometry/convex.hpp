#pragma once

#include "bristle/geometry/contact_point.hpp"
#include "bristle/geometry/shapes.hpp"

// Distance and depth of two convex shapes through their support functions.
//
// With h(n) = max over A of a·n plus max over B of b·(−n), the depth is
//
//   δ = min over unit n of h(n),
//
// whether the shapes overlap (δ > 0) or not (δ < 0, minus the distance). Apart there is
// one minimum, and GJK finds it. Overlapping, B is first moved away along a normal to
// start from, so that GJK can be asked; the closest points then lead to a minimum near
// that normal. Deep inside, EPA says where to start. So the depth passes smoothly through
// 0.
//
// GJK only creeps along round surfaces. But all shapes here are sums of a polyhedron, an
// ellipsoid and a ball (a cylinder is a segment plus a disc), and h is smooth but for the
// polyhedra. So a few steps of GJK find which corners of the polyhedra meet, and Newton's
// method the normal for these.

namespace bristle::geometry {

/// A convex shape as a core and a radius around it: a capsule is a segment, a sphere a
/// point. Depth is measured between cores, and the radii added.
struct Core {
  const Shape* shape;
  Transform<double> pose;
  double radius = 0;  // around the core [m]
  double size = 1;    // a typical length [m]
  // The core is the sum of a polyhedron, a hull or else a box, and an ellipsoid.
  const ConvexHull* hull = nullptr;
  Vec3<double> box{0, 0, 0};    // half edges; a cylinder has (0, 0, half length) [m]
  Vec3<double> round{0, 0, 0};  // semi-axes; a cylinder has (radius, radius, 0) [m]
  bool rounded = false;         // has an ellipsoid
  /// A ball of this radius can roll everywhere inside the core: least curvature radius of
  /// an ellipsoid, (least semi-axis)²/(largest). As long as two shapes overlap by less
  /// than that, the depth has one minimum only, as if they were apart.
  double inner = 0;
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

/// The least depth of two cores; or, where that lies under −(margin and radii), any value
/// under it, without the points.
Separation separate(const Core& a, const Core& b, double margin) noexcept;

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
