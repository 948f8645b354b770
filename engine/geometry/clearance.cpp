#include "bristle/geometry/clearance.hpp"

#include <algorithm>
#include <cmath>

#include "bristle/geometry/convex.hpp"
#include "bristle/geometry/pairs.hpp"

namespace bristle {

namespace {

using V = Vec3<double>;
using geometry::Core;
using geometry::core_of;

bool is_convex(ShapeKind kind) {
  switch (kind) {
    case ShapeKind::sphere:
    case ShapeKind::box:
    case ShapeKind::cylinder:
    case ShapeKind::capsule:
    case ShapeKind::ellipsoid:
    case ShapeKind::convex:
      return true;
    case ShapeKind::plane:
    case ShapeKind::cavity:
    case ShapeKind::height_field:
    case ShapeKind::mesh:
      return false;
  }
  return false;
}

/// From a half-space to the lowest point of a convex shape above it.
Clearance over_plane(const Transform<double>& plane, const Core& core) {
  const V n = plane.R.z;
  return {dot(support(core, -n) - plane.p, n) - core.radius, n};
}

double least(double a, double b, double c) { return std::min(a, std::min(b, c)); }

struct Thickness {
  double operator()(const Sphere& s) const { return s.radius > 0 ? s.radius : HUGE_VAL; }
  double operator()(const Box& b) const { return least(b.half.x, b.half.y, b.half.z); }
  double operator()(const Cylinder& c) const { return std::min(c.radius, c.half_length); }
  double operator()(const Capsule& c) const { return c.radius; }
  double operator()(const Ellipsoid& e) const {
    return least(e.semi_axes.x, e.semi_axes.y, e.semi_axes.z);
  }
  double operator()(const Convex& c) const {
    double inner = HUGE_VAL;
    for (std::uint32_t f = 0; f < c.hull->face_count(); ++f) {
      inner =
          std::min(inner, c.hull->offsets[f] - dot(c.hull->normals[f], c.hull->centre));
    }
    return inner;
  }
  double operator()(const Plane&) const { return HUGE_VAL; }
  double operator()(const Cavity&) const { return HUGE_VAL; }
  double operator()(const Terrain&) const { return HUGE_VAL; }
  double operator()(const Mesh&) const { return HUGE_VAL; }
};

}  // namespace

Clearance clearance(const Shape& a, const Transform<double>& pose_a, const Shape& b,
                    const Transform<double>& pose_b, double limit) noexcept {
  const ShapeKind kind_a = kind_of(a), kind_b = kind_of(b);
  if (is_convex(kind_a) && is_convex(kind_b)) {
    const Core one = core_of(a, pose_a), two = core_of(b, pose_b);
    const geometry::Separation s = separate(one, two, limit);
    return {-s.depth - one.radius - two.radius, s.normal};
  }
  if (kind_a == ShapeKind::plane && is_convex(kind_b)) {
    return over_plane(pose_a, core_of(b, pose_b));
  }
  if (kind_b == ShapeKind::plane && is_convex(kind_a)) {
    const Clearance c = over_plane(pose_b, core_of(a, pose_a));
    return {c.gap, -c.normal};
  }
  Contacts<double> found;
  found.radii = false;
  pair_function<double>(kind_a, kind_b)(a, pose_a, b, pose_b, limit, found);
  double depth = -limit;
  for (const ContactPoint<double>& point : found) depth = std::max(depth, point.depth);
  return {-depth, {0, 0, 0}};
}

double gap_along(const Shape& a, const Transform<double>& pose_a, const Shape& b,
                 const Transform<double>& pose_b, const Vec3<double>& n) noexcept {
  // The farthest that a shape reaches in a direction, a half-space in that of its normal.
  const auto reach = [](const Shape& shape, const Transform<double>& pose, const V& d) {
    if (kind_of(shape) == ShapeKind::plane) {
      return dot(pose.R.z, d) == 1 ? dot(pose.p, d) : HUGE_VAL;
    }
    const Core core = core_of(shape, pose);
    return dot(support(core, d), d) + core.radius;
  };
  return -reach(b, pose_b, -n) - reach(a, pose_a, n);
}

double thickness(const Shape& shape) { return std::visit(Thickness{}, shape); }

Turning::Turning(const Shape& shape, double reach) noexcept : radius(reach) {
  switch (kind_of(shape)) {
    case ShapeKind::sphere:
      symmetry = Symmetry::ball;
      radius = 0;
      break;
    case ShapeKind::capsule:
      symmetry = Symmetry::axis;
      radius = std::get_if<Capsule>(&shape)->half_length;
      break;
    case ShapeKind::cylinder:
      symmetry = Symmetry::axis;
      break;
    case ShapeKind::box:
      half = std::get_if<Box>(&shape)->half;
      break;
    default:
      break;
  }
}

double Turning::rate(const Transform<double>& pose, const Vec3<double>& n,
                     const Vec3<double>& omega) const noexcept {
  if (symmetry == Symmetry::ball) return 0;
  // A point x moves along n at n·(ω × x) = x·(n × ω), and is no farther from the axis of
  // turning than the shape is.
  const double across = norm(cross(n, omega));
  if (symmetry == Symmetry::axis) {
    return radius * std::min(across, norm(cross(pose.R.z, omega)));
  }
  const double speed2 = norm2(omega);
  if (half.x == 0 || !(speed2 > 0)) return radius * across;
  const V axis = geometry::turn_back(pose, omega);
  // The corner that is nearest to a plane across the axis is farthest from the axis.
  const double x = std::abs(half.x * axis.x), y = std::abs(half.y * axis.y),
               z = std::abs(half.z * axis.z);
  const double along =
      least(std::abs(x + y - z), std::abs(x - y + z), std::abs(y + z - x));
  return across * std::sqrt(std::max(0.0, norm2(half) - along * along / speed2));
}

}  // namespace bristle
