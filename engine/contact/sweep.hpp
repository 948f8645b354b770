#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "bristle/geometry/clearance.hpp"
#include "bristle/geometry/pairs.hpp"
#include "bristle/spatial/motion.hpp"

// Conservative advancement (Mirtich 1996, Impulse-based Dynamic Simulation of Rigid Body
// Systems, § 2.3): where along a motion two shapes meet, without stepping over it.
//
// A plane with normal n keeps two shapes apart by a gap g. Along n their extents grow no
// faster than
//
//   c = n·(v_A − v_B) + |n × ω_A| r_A + |n × ω_B| r_B,
//
// and c itself no faster than C = |a_A| + |a_B| + r_A |α_A| + r_B |α_B|, the largest over
// the present stretch of motion. Until c τ + ½ C τ² = g they do not touch, and until that
// is g + tolerance they overlap by no more than the tolerance. Only motion along n
// counts: a shape that slides past is passed in few steps.

namespace bristle {

/// Pose and velocity of a shape, by the unit that places along the motion are in.
struct ShapeMotion {
  Transform<double> pose;
  Motion<double> velocity;  // of its frame
};

/// The most that a shape's motion changes along a stretch.
struct MotionBounds {
  double acceleration = 0;    // of the frame's origin
  double turning = 0;         // |ω|
  double turning_change = 0;  // |dω|
};

/// Two moving shapes.
struct SweptPair {
  const Shape* a;
  const Shape* b;
  double radius_a, radius_b;  // of balls about their frames that hold them [m]
  PairFunction<double> find;
  double tolerance;  // depth of an overlap that may be stepped over [m]
};

/// Where two shapes meet: not before `safe`, and at `at` they overlap.
struct Meeting {
  double safe = 0;
  double at = HUGE_VAL;  // infinite: nowhere
  bool found() const { return at < HUGE_VAL; }
};

namespace sweep {

/// The time that c τ + ½ C τ² takes to reach `room`, which is positive.
inline double reach_time(double room, double c, double C) {
  if (!(C > 0)) return c > 0 ? room / c : HUGE_VAL;
  const double root = std::sqrt(c * c + 2 * C * room);
  return c > 0 ? 2 * room / (c + root) : (root - c) / C;
}

/// c and C of a pair from a place on.
struct Rates {
  double c, C;
};

/// Along the normal of a plane between the shapes.
inline Rates along_normal(const SweptPair& pair, const Vec3<double>& n,
                          const ShapeMotion& a, const ShapeMotion& b,
                          const MotionBounds& of_a, const MotionBounds& of_b,
                          double stretch) {
  Rates rates{dot(n, a.velocity.linear - b.velocity.linear),
              of_a.acceleration + of_b.acceleration};
  const auto turn = [&](const Shape& shape, double radius, const ShapeMotion& motion,
                        const MotionBounds& bounds, const Vec3<double>& out) {
    if (!(bounds.turning > 0)) return;
    const Turning turning(shape, radius);
    rates.c += turning.rate(motion.pose, out, motion.velocity.angular);
    // The axis of turning changes as well, and with it how far points are from it.
    const double across = norm(cross(out, motion.velocity.angular));
    rates.C += turning.radius * bounds.turning_change * (1 + across * stretch / 3);
  };
  turn(*pair.a, pair.radius_a, a, of_a, n);
  turn(*pair.b, pair.radius_b, b, of_b, -n);
  return rates;
}

/// Of the distance of shape B from a surface A without a separating plane: as B's points
/// move in A's frame.
inline Rates in_frame_of_a(const Shape& shape_b, double radius_b, const ShapeMotion& a,
                           const ShapeMotion& b, const MotionBounds& of_a,
                           const MotionBounds& of_b, double stretch) {
  const Vec3<double> from = b.pose.p - a.pose.p;
  const Vec3<double> moving = b.velocity.linear - a.velocity.linear;
  const Vec3<double> turning = b.velocity.angular - a.velocity.angular;
  const double radius = Turning(shape_b, radius_b).radius;
  const double both = of_a.acceleration + of_b.acceleration;
  const double far = norm(from) + stretch * (norm(moving) + 0.5 * stretch * both);
  const double w = of_a.turning;
  const double fastest = norm(moving) + stretch * both + w * far;
  Rates rates{norm(moving - cross(a.velocity.angular, from)) + radius * norm(turning),
              both + (of_a.turning_change + w * w) * far + 2 * w * fastest};
  rates.C += radius * (of_a.turning_change + of_b.turning_change + w * of_b.turning);
  return rates;
}

/// Whether a shape is a surface, with a solid of any form behind it.
inline bool is_surface(const Shape& shape) {
  return std::isinf(thickness(shape)) && kind_of(shape) != ShapeKind::sphere;
}

/// From where a pair is, with a gap of `clear`, on over a stretch.
inline Rates rates_of(const SweptPair& pair, const Clearance& clear, const ShapeMotion& a,
                      const ShapeMotion& b, const MotionBounds& of_a,
                      const MotionBounds& of_b, double stretch) {
  // A plane that turns sweeps over everything: what counts is how the other moves in it.
  const auto turns = [](const Shape& shape, const MotionBounds& bounds) {
    return kind_of(shape) == ShapeKind::plane && bounds.turning > 0;
  };
  if (clear.has_plane() && !turns(*pair.a, of_a) && !turns(*pair.b, of_b)) {
    return along_normal(pair, clear.normal, a, b, of_a, of_b, stretch);
  }
  return is_surface(*pair.a)
             ? in_frame_of_a(*pair.b, pair.radius_b, a, b, of_a, of_b, stretch)
             : in_frame_of_a(*pair.a, pair.radius_a, b, a, of_b, of_a, stretch);
}

/// The most that a pair's distance can shrink over a stretch.
inline double approach_of(const SweptPair& pair, const ShapeMotion& a,
                          const ShapeMotion& b, const MotionBounds& of_a,
                          const MotionBounds& of_b, double stretch) {
  const auto way = [&](const Rates& r) { return stretch * (r.c + 0.5 * stretch * r.C); };
  if (is_surface(*pair.a)) {
    return way(in_frame_of_a(*pair.b, pair.radius_b, a, b, of_a, of_b, stretch));
  }
  if (is_surface(*pair.b)) {
    return way(in_frame_of_a(*pair.a, pair.radius_a, b, a, of_b, of_a, stretch));
  }
  return way({norm(a.velocity.linear - b.velocity.linear) +
                  Turning(*pair.a, pair.radius_a).radius * of_a.turning +
                  Turning(*pair.b, pair.radius_b).radius * of_b.turning,
              of_a.acceleration + of_b.acceleration});
}

/// Distance queries of a search, at most; beyond, it ends where it is.
inline constexpr int most_queries = 2000;
// Bounds over a stretch far longer than the advance that they allow are too wide:
// they are taken again over a shorter one.
inline constexpr double wide = 4, again = 2;
inline constexpr int most_tries = 16;

/// The largest depth of a pair's contact points. Where the shapes hardly touch, the
/// normal of their distance is known poorly, and that of a point may separate better.
inline double deepest(const SweptPair& pair, const ShapeMotion& a, const ShapeMotion& b,
                      Clearance& clear) {
  Contacts<double> found;
  found.radii = false;
  pair.find(*pair.a, a.pose, *pair.b, b.pose, pair.tolerance, found);
  double depth = -HUGE_VAL;
  for (const ContactPoint<double>& point : found) {
    depth = std::max(depth, point.depth);
    if (!clear.has_plane()) continue;
    const double gap = gap_along(*pair.a, a.pose, *pair.b, b.pose, point.normal);
    if (gap > clear.gap) clear = {gap, point.normal};
  }
  return depth;
}

/// How far from `place` on, with a gap, the pair cannot meet deeper than its tolerance.
template <class Path>
double advance(const SweptPair& pair, const Clearance& clear, const ShapeMotion& a,
               const ShapeMotion& b, Path& path, double place, double to) {
  const double room = std::max(clear.gap + pair.tolerance, 0.0);
  // The balls around them, which turning does not change.
  const Vec3<double> between = b.pose.p - a.pose.p;
  const double distance = norm(between);
  const double ball_room = distance - pair.radius_a - pair.radius_b + pair.tolerance;
  double stretch = to - place;
  for (int k = 0;; ++k) {
    MotionBounds of_a, of_b;
    path.bounds(place, place + stretch, of_a, of_b);
    const Rates rates = rates_of(pair, clear, a, b, of_a, of_b, stretch);
    double next = reach_time(room, rates.c, rates.C);
    if (ball_room > 0) {
      const double closing =
          dot(between, a.velocity.linear - b.velocity.linear) / distance;
      next = std::max(
          next, reach_time(ball_room, closing, of_a.acceleration + of_b.acceleration));
    }
    if (next >= stretch) return stretch;
    if (next * wide > stretch || k == most_tries) return next;
    stretch = std::max(again * next, stretch / 8);
  }
}

}  // namespace sweep

/// The first place in (from, to] where a pair that is apart, or touches, at `from` has
/// come to overlap; and on the way to it, or to the end, it overlaps nowhere by more than
/// the tolerance. A path says how the pair moves:
///
///   path.at(place, a, b)                     ShapeMotion of both
///   path.bounds(low, high, of_a, of_b)       MotionBounds of both in between
///
/// `queries` counts the distance queries.
template <class Path>
Meeting first_meeting(const SweptPair& pair, Path& path, double from, double to,
                      std::uint64_t& queries) {
  Meeting meeting{from, HUGE_VAL};
  double place = from;
  for (int k = 0; place < to; ++k) {
    ShapeMotion a, b;
    path.at(place, a, b);
    ++queries;
    // The largest distance that matters; surfaces need it as a search radius.
    double enough = HUGE_VAL;
    if (k == 0 || sweep::is_surface(*pair.a) || sweep::is_surface(*pair.b)) {
      MotionBounds of_a, of_b;
      path.bounds(place, to, of_a, of_b);
      enough = sweep::approach_of(pair, a, b, of_a, of_b, to - place);
    }
    Clearance clear = clearance(*pair.a, a.pose, *pair.b, b.pose, enough);
    if (clear.gap >= enough) return meeting;
    if (clear.gap < pair.tolerance) {
      const double depth = sweep::deepest(pair, a, b, clear);
      if (k > 0 && depth > 0.5 * pair.tolerance) {
        meeting.at = place;
        return meeting;
      }
      clear.gap = std::max(clear.gap, -0.5 * pair.tolerance);
    }
    if (clear.gap >= 0) meeting.safe = place;
    if (k == sweep::most_queries) {
      meeting.at = place;
      return meeting;
    }
    const double least = 1e-15 * std::max(place, to - from);
    place += std::max(sweep::advance(pair, clear, a, b, path, place, to), least);
  }
  return meeting;
}

}  // namespace bristle
