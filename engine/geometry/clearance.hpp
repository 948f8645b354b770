#pragma once

#include "bristle/geometry/shapes.hpp"

// How far two shapes are from touching, and how far turning carries their points: what
// bounds on their motion start from (contact/sweep.hpp).

namespace bristle {

/// Two shapes are at least `gap` apart. Where both are convex, or one is a plane, so are
/// two planes across `normal` that have the shapes on either side; `normal` is zero where
/// no plane is known.
struct Clearance {
  double gap;           // ≤ 0 where they touch or overlap [m]
  Vec3<double> normal;  // unit, from A into B; or zero

  bool has_plane() const { return norm2(normal) > 0; }
};

/// Of two shapes that can touch (pairs.hpp); where they are farther apart than `limit`, a
/// gap that may be smaller than it is, but not under the limit.
Clearance clearance(const Shape& a, const Transform<double>& pose_a, const Shape& b,
                    const Transform<double>& pose_b, double limit) noexcept;

/// The gap between two planes across n, a unit vector from A into B, that have two convex
/// shapes, or a plane and a convex one, on either side; −∞ where a plane lies otherwise.
double gap_along(const Shape& a, const Transform<double>& pose_a, const Shape& b,
                 const Transform<double>& pose_b, const Vec3<double>& n) noexcept;

/// The least half-thickness of a shape: the measure of passing through one another [m].
/// Infinite for points, and for shapes that are solid to infinity or surfaces only.
double thickness(const Shape& shape);

/// What turning about its frame's origin does to a shape: balls do not change, and
/// shapes of revolution about z do not where they turn about z.
struct Turning {
  enum class Symmetry : std::uint8_t { none, axis, ball };
  Symmetry symmetry = Symmetry::none;
  double radius;        // farthest point that turning moves from the origin [m]
  Vec3<double> half{};  // of a box, else zero

  explicit Turning(const Shape& shape, double reach) noexcept;

  /// How fast the shape's extent along n may grow while it turns at ω, in world axes.
  double rate(const Transform<double>& pose, const Vec3<double>& n,
              const Vec3<double>& omega) const noexcept;
};

}  // namespace bristle
