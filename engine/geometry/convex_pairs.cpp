#include <algorithm>
#include <cmath>

#include "bristle/geometry/closest.hpp"
#include "bristle/geometry/convex.hpp"
#include "bristle/geometry/polyhedron.hpp"

namespace bristle::geometry {

namespace {

using V = Vec3<double>;

constexpr double facing = 0.966;  // cos 15°: a side this close to across n may carry

/// A face across the direction d (in the shape's axes), or an edge at the far end.
Side polyhedron_side(const Core& core, const V& d) noexcept {
  const Polyhedron polyhedron(*core.shape);
  const std::uint32_t f = polyhedron.face_towards(d);
  if (dot(polyhedron.normals[f], d) > facing) return polyhedron.side(f, core.pose);
  const double top = -polyhedron.lowest(-d);
  double flattest = std::sqrt(1 - facing * facing);
  const ConvexHull::Edge* found = nullptr;
  for (const ConvexHull::Edge& edge : polyhedron.edges) {
    const V& p = polyhedron.vertices[edge.from];
    const V& q = polyhedron.vertices[edge.to];
    const double length = norm(q - p);
    const double slope = std::fabs(dot(q - p, d)) / length;
    if (std::max(dot(p, d), dot(q, d)) < top - 1e-9 * polyhedron.size) continue;
    if (slope >= flattest) continue;
    flattest = slope;
    found = &edge;
  }
  return found != nullptr ? polyhedron.side(*found, core.pose) : Side{};
}

// Sines of the tilt of a cylinder's end against the face it lies on. Up to the first one
// the octagon of the end keeps its corners: the direction of the tilt of what stands is
// noise, and corners that follow it never come to rest. From the second one on a corner
// is at the end's far point, which rolls along the rim as the cylinder does.
constexpr double standing = 5e-3;
constexpr double rolling = 2e-2;
/// How much less deep than an end its octagon may be, over radius and tilt: 1 − cos 22.5°
/// for one end, twice that where two overlap.
constexpr double octagon_sagitta = 0.16;

/// The direction of a corner of an end: its far point, a fixed corner next to that, or
/// between the two. `numbered` is what the number of this corner is.
V corner_direction(double x, double y, double tilt, int& numbered) noexcept {
  numbered = 0;
  if (!(tilt > 0)) return {1, 0, 0};
  const V far{x / tilt, y / tilt, 0};
  if (tilt >= rolling) {
    numbered = 8;
    return far;
  }
  constexpr double h = 0.70710678118654752;
  constexpr V corners[8] = {{1, 0, 0},  {h, h, 0},   {0, 1, 0},  {-h, h, 0},
                            {-1, 0, 0}, {-h, -h, 0}, {0, -1, 0}, {h, -h, 0}};
  for (int i = 1; i < 8; ++i) {
    if (dot(corners[i], far) > dot(corners[numbered], far)) numbered = i;
  }
  const double t = std::clamp((tilt - standing) / (rolling - standing), 0.0, 1.0);
  const double follows = t * t * (3 - 2 * t);
  return unit_or((1 - follows) * corners[numbered] + follows * far, far);
}

/// An end, as an octagon, or a line along the mantle. Corners are numbered 0 … 7, 8 … 15
/// where they roll, and from 16 on at the other end.
Side cylinder_side(const Core& core, const V& d) noexcept {
  Side side;
  const auto& c = *std::get_if<Cylinder>(core.shape);
  const double tilt = std::sqrt(d.x * d.x + d.y * d.y);
  const double sign = d.z < 0 ? -1 : 1;
  if (std::fabs(d.z) > facing) {
    int numbered = 0;
    const V e = corner_direction(d.x, d.y, tilt, numbered);
    const V f{-e.y, e.x, 0};
    constexpr double h = 0.70710678118654752;
    constexpr double cosine[8] = {1, h, 0, -h, -1, -h, 0, h};
    constexpr double sine[8] = {0, h, 1, h, 0, -h, -1, -h};
    const int base = (sign < 0 ? 16 : 0) + (numbered < 8 ? 0 : 8);
    const int step = sign < 0 ? 7 : 1;  // counter-clockwise seen from outside
    for (int i = 0; i < 8; ++i) {
      const V x = (c.radius * cosine[i]) * e + (sign * c.radius * sine[i]) * f +
                  V{0, 0, sign * c.half_length};
      const int number = base + (numbered + step * i) % 8;
      side.add(place(core.pose, x), static_cast<std::uint32_t>(number));
    }
    side.normal = turn(core.pose, V{0, 0, sign});
  } else if (tilt > facing) {
    const V e{c.radius * d.x / tilt, c.radius * d.y / tilt, 0};
    side.add(place(core.pose, e + V{0, 0, c.half_length}), 32);
    side.add(place(core.pose, e - V{0, 0, c.half_length}), 33);
  }
  side.number_edges();
  return side;
}

/// The segment, where it lies across the direction.
Side capsule_side(const Core& core, const V& d) noexcept {
  Side side;
  const auto& c = *std::get_if<Capsule>(core.shape);
  if (d.x * d.x + d.y * d.y > facing * facing && c.half_length > 0) {
    side.add(place(core.pose, V{0, 0, c.half_length}), 0);
    side.add(place(core.pose, V{0, 0, -c.half_length}), 1);
  }
  side.number_edges();
  return side;
}

/// The side of a core towards `direction`, if one lies within about 15° of across it.
Side side_towards(const Core& core, const V& direction) noexcept {
  const V d = turn_back(core.pose, direction);
  switch (kind_of(*core.shape)) {
    case ShapeKind::box:
    case ShapeKind::convex:
      return polyhedron_side(core, d);
    case ShapeKind::cylinder:
      return cylinder_side(core, d);
    case ShapeKind::capsule:
      return capsule_side(core, d);
    default:
      return {};
  }
}

/// Curvature of a shape where its outward normal is `normal`, at a point of its surface.
Curvature<double> curvature_at(const Core& core, const V& point,
                               const V& normal) noexcept {
  constexpr double aligned = 1 - 1e-7;
  const V d = turn_back(core.pose, normal);
  switch (kind_of(*core.shape)) {
    case ShapeKind::sphere:
      return core.radius > 0 ? Curvature<double>::round(1 / core.radius)
                             : Curvature<double>::edge();
    case ShapeKind::box:
    case ShapeKind::convex: {
      const Polyhedron polyhedron(*core.shape);
      return dot(polyhedron.normals[polyhedron.face_towards(d)], d) > aligned
                 ? Curvature<double>::flat()
                 : Curvature<double>::edge();
    }
    case ShapeKind::cylinder: {
      const auto& c = *std::get_if<Cylinder>(core.shape);
      if (std::fabs(d.z) > aligned) return Curvature<double>::flat();
      if (std::fabs(d.z) > 1e-4) return Curvature<double>::edge();
      return {0, 1 / c.radius, axis(core.pose, 2), false};
    }
    case ShapeKind::capsule: {
      if (std::fabs(d.z) < 1e-7) return {0, 1 / core.radius, axis(core.pose, 2), false};
      return Curvature<double>::round(1 / core.radius);
    }
    case ShapeKind::ellipsoid: {
      const auto& e = *std::get_if<Ellipsoid>(core.shape);
      Curvature<double> c = ellipsoid_curvature(e, locate(core.pose, point), d);
      c.direction = turn(core.pose, c.direction);
      return c;
    }
    default:
      return Curvature<double>::flat();
  }
}

/// Two cores at their least depth, and the sides that they may carry with.
struct Approach {
  Core a, b;
  Separation found;
  V normal{};             // of the contact, from A into B
  double core_depth = 0;  // along it
  Side side_a, side_b;
  double missing = 0;  // that their manifold may be less deep

  Approach(const Shape& shape_a, const Transform<double>& pose_a, const Shape& shape_b,
           const Transform<double>& pose_b, double margin) noexcept
      : a(core_of(shape_a, pose_a)),
        b(core_of(shape_b, pose_b)),
        found(separate(a, b, margin)) {}

  double depth() const noexcept { return core_depth + a.radius + b.radius; }

  /// Ends of cylinders tilt against the face that they lie on. n is the normal of either
  /// face, and may be now one and now the other's.
  void lay_ends() noexcept {
    if (side_a.count < 3 || side_b.count < 3) return;
    const bool end_a = kind_of(*a.shape) == ShapeKind::cylinder;
    const bool end_b = kind_of(*b.shape) == ShapeKind::cylinder;
    if (!end_a && !end_b) return;
    const V across_a = side_a.normal, across_b = side_b.normal;
    if (-dot(across_a, across_b) < facing) return;
    if (end_a) side_a = side_towards(a, -across_b);
    if (end_b) side_b = side_towards(b, -across_a);
    const double tilt = norm(across_a + across_b);
    if (tilt < rolling) missing = octagon_sagitta * tilt * std::min(a.size, b.size);
  }

  /// A normal that is a face's own within round-off is that.
  void choose_sides() noexcept {
    const V n = found.normal;
    normal = n;
    core_depth = found.depth;
    side_a = side_towards(a, n);
    if (side_a.count > 1) side_b = side_towards(b, -n);
    lay_ends();
    const V straight = side_a.count > 2 && norm(side_a.normal - n) < 1e-5 ? side_a.normal
                       : side_b.count > 2 && norm(side_b.normal + n) < 1e-5
                           ? -side_b.normal
                           : n;
    if (norm(straight - n) > 0) {
      normal = straight;
      core_depth = dot(support(a, normal) - support(b, -normal), normal);
    }
  }

  /// All points of the sides' manifold along a direction. Which they are does not depend
  /// on the margin, so that the same contacts are found with any. A manifold that misses
  /// the deepest point is none; along a face's own normal that may be one that hangs over
  /// the face's edge.
  bool clip_completely(const V& along, Contacts<double>& several) const noexcept {
    const double deepest =
        clip_manifold(side_a, side_b, along, a.radius, b.radius, HUGE_VAL, several);
    const double size = std::min(a.size, b.size);
    const double closest = found.depth + a.radius + b.radius;
    return std::min(std::fabs(deepest - depth()), std::fabs(deepest - closest)) <
           1e-9 * size + missing;
  }

  /// Whether the sides carry, and with which points.
  bool find_manifold(Contacts<double>& several) const noexcept {
    const bool face_a = side_a.count > 2 && norm(side_a.normal - normal) < 1e-12;
    const bool face_b = side_b.count > 2 && norm(side_b.normal + normal) < 1e-12;
    const bool lines = side_a.count == 2 && side_b.count == 2;
    // Sides carry where one is a face across n, or both are lines.
    if (lines || (face_a && side_b.count > 1) || (face_b && side_a.count > 1)) {
      return clip_completely(normal, several) && several.count > 1;
    }
    if (!(depth() > 0) || side_a.count < 2 || side_b.count < 2) return false;
    // What leans over an edge is deepest there, with a normal of its own: the sides carry
    // as long as another point is inside.
    const double straight_a = side_a.count > 2 ? dot(side_a.normal, normal) : -1;
    const double straight_b = side_b.count > 2 ? -dot(side_b.normal, normal) : -1;
    const V along = straight_a >= straight_b ? side_a.normal : -side_b.normal;
    return std::max(straight_a, straight_b) > lying_cosine &&
           clip_completely(along, several) && several_inside(several);
  }
};

/// Adds the points of a manifold within the margin. Two of them lie on a line, which has
/// the radius of the surfaces.
void add_manifold(const Contacts<double>& several, const Meeting<double>& meeting,
                  double margin, Contacts<double>& out) noexcept {
  const bool line = several.count == 2;
  bool all = true;
  for (ContactPoint<double> point : several) {
    if (-point.depth > margin) {
      all = false;
      continue;
    }
    if (line) {
      point.patch = meeting.patch;
      point.radius = meeting.radius;
    }
    out.add(point);
  }
  if (all) out.dropped += several.dropped;
}

}  // namespace

void convex_against_convex(const Shape& a, const Transform<double>& pose_a,
                           const Shape& b, const Transform<double>& pose_b, double margin,
                           Contacts<double>& out) noexcept {
  Approach at(a, pose_a, b, pose_b, margin);
  const Separation& s = at.found;
  if (!(-s.depth - at.a.radius - at.b.radius <= margin)) return;
  at.choose_sides();
  const V& n = at.normal;
  const Meeting<double> meeting =
      meet(curvature_at(at.a, s.on_a, n), curvature_at(at.b, s.on_b, -n));
  if (Contacts<double> several; at.find_manifold(several)) {
    add_manifold(several, meeting, margin, out);
    return;
  }
  const V middle = 0.5 * (s.on_a + s.on_b);
  out.add({.on_a = middle + (0.5 * at.core_depth + at.a.radius) * n,
           .on_b = middle - (0.5 * at.core_depth + at.b.radius) * n,
           .normal = n,
           .depth = at.depth(),
           .radius = meeting.radius,
           .patch = meeting.patch,
           .feature = 0});
}

}  // namespace bristle::geometry
