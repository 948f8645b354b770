#pragma once

#include "bristle/geometry/closest.hpp"

// A half-space as body A against the other shapes as body B, and polyhedra in a
// cylindrical hollow: everything here is decided at the vertices, rims and end spheres of
// one body.

namespace bristle::geometry {

/// The contact of a half-space with a point b of body B, in world coordinates.
template <Scalar T>
ContactPoint<T> plane_contact(const Transform<T>& plane, const Vec3<T>& b,
                              const Curvature<T>& curvature,
                              std::uint32_t feature) noexcept {
  const Vec3<T> n = axis(plane, 2);
  const T height = dot(b - plane.p, n);
  const Meeting<T> meeting = meet(Curvature<T>::flat(), curvature);
  return {.on_a = b - height * n,
          .on_b = b,
          .normal = n,
          .depth = -height,
          .radius = meeting.radius,
          .patch = meeting.patch,
          .feature = feature};
}

/// Three or more vertices of one body on a plane are a face on a face.
template <Scalar T>
void mark_flat(Contacts<T>& out, int first) noexcept {
  if (out.count - first < 3) return;
  for (int i = first; i < out.count; ++i) {
    out[i].patch = Patch::flat;
    out[i].radius = T(std::numeric_limits<Value<T>>::infinity());
  }
}

/// A box: each vertex within the margin, up to the four of a face (feature: the vertex;
/// bit i is set on the positive side of axis i).
template <Scalar T>
void plane_against(const Plane&, const Transform<T>& pose_a, const Box& box,
                   const Transform<T>& pose_b, double margin, Contacts<T>& out) noexcept {
  const int first = out.count;
  const Vec3<T> half = constant<T>(box.half);
  const Vec3<T> down = turn_back(pose_b, -axis(pose_a, 2));
  // Of the two ends of each of the most upright edges, only the lower one counts.
  int upright = 0;
  for (int i = 1; i < 3; ++i) {
    if (abs(at(down, i)) > abs(at(down, upright))) upright = i;
  }
  for (int v = 0; v < 8; ++v) {
    const bool positive = ((v >> upright) & 1) != 0;
    if (positive != (at(down, upright) > T(0))) continue;
    const Vec3<T> x{(v & 1) != 0 ? half.x : -half.x, (v & 2) != 0 ? half.y : -half.y,
                    (v & 4) != 0 ? half.z : -half.z};
    const ContactPoint<T> contact = plane_contact(
        pose_a, place(pose_b, x), Curvature<T>::edge(), static_cast<std::uint32_t>(v));
    if (-value_of(contact.depth) <= margin) out.add(contact);
  }
  mark_flat(out, first);
}

/// A convex hull: its vertices within the margin; the deepest max_contacts of them.
template <Scalar T>
void plane_against(const Plane&, const Transform<T>& pose_a, const Convex& convex,
                   const Transform<T>& pose_b, double margin, Contacts<T>& out) noexcept {
  const int first = out.count;
  const ConvexHull& hull = *convex.hull;
  const Vec3<double> up = values(turn_back(pose_b, axis(pose_a, 2)));
  const double level =
      static_cast<double>(value_of(dot(pose_b.p - pose_a.p, axis(pose_a, 2))));
  for (std::size_t v = 0; v < hull.vertices.size(); ++v) {
    if (level + dot(hull.vertices[v], up) > margin) continue;
    out.add(plane_contact(pose_a, place(pose_b, constant<T>(hull.vertices[v])),
                          Curvature<T>::edge(), static_cast<std::uint32_t>(v)));
  }
  mark_flat(out, first);
}

/// A capsule: its two end spheres (features 0 and 1).
template <Scalar T>
void plane_against(const Plane&, const Transform<T>& pose_a, const Capsule& capsule,
                   const Transform<T>& pose_b, double margin, Contacts<T>& out) noexcept {
  const Vec3<T> n = axis(pose_a, 2);
  const T radius = constant<T>(capsule.radius);
  const T half = constant<T>(capsule.half_length);
  const int ends = capsule.half_length > 0 ? 2 : 1;
  for (int end = 0; end < ends; ++end) {
    const Vec3<T> centre = place(pose_b, Vec3<T>{T(0), T(0), end == 0 ? half : -half});
    const ContactPoint<T> contact =
        plane_contact(pose_a, centre - radius * n, Curvature<T>::round(T(1) / radius),
                      static_cast<std::uint32_t>(end));
    if (-value_of(contact.depth) <= margin) out.add(contact);
  }
}

template <Scalar T>
void plane_against(const Plane&, const Transform<T>& pose_a, const Ellipsoid& ellipsoid,
                   const Transform<T>& pose_b, double margin, Contacts<T>& out) noexcept {
  // The support point S² d/|S d| for the downward direction d.
  const Vec3<T> s = constant<T>(ellipsoid.semi_axes);
  const Vec3<T> d = turn_back(pose_b, -axis(pose_a, 2));
  const Vec3<T> scaled{s.x * d.x, s.y * d.y, s.z * d.z};
  const T k = T(1) / norm(scaled);
  const Vec3<T> x{k * s.x * scaled.x, k * s.y * scaled.y, k * s.z * scaled.z};
  const ContactPoint<T> contact =
      plane_contact(pose_a, place(pose_b, x), ellipsoid_curvature(ellipsoid, x, d), 0);
  if (-value_of(contact.depth) <= margin) out.add(contact);
}

/// A cylinder: the lowest point of each rim (features 0 and 4), and two more a third of a
/// turn from it on the lower rim (1, 2 or 5, 6). Lying it touches along a line, at its
/// two ends; standing it touches at three points of a rim.
template <Scalar T>
void plane_against(const Plane&, const Transform<T>& pose_a, const Cylinder& cylinder,
                   const Transform<T>& pose_b, double margin, Contacts<T>& out) noexcept {
  using N = Value<T>;
  const T radius = constant<T>(cylinder.radius);
  const T half = constant<T>(cylinder.half_length);
  const Vec3<T> down = turn_back(pose_b, -axis(pose_a, 2));
  const Vec3<T> level{down.x, down.y, T(0)};
  const T tilt =
      norm(level);  // sine of the angle between the axis and the plane's normal
  const Vec3<T> d =
      value_of(tilt) > N(1e-9) ? (T(1) / tilt) * level : Vec3<T>{T(1), T(0), T(0)};
  const Vec3<T> side{-d.y, d.x, T(0)};
  const int lower = down.z < T(0) ? 1 : 0;
  const int first = out.count;
  for (int cap = 0; cap < 2; ++cap) {
    const Vec3<T> centre{T(0), T(0), cap == 0 ? half : -half};
    const int points = cap == lower ? 3 : 1;
    for (int i = 0; i < points; ++i) {
      const T c = i == 0 ? T(1) : T(N(-0.5));
      const T s =
          i == 0 ? T(0) : T(N(i == 1 ? 0.86602540378443865 : -0.86602540378443865));
      const Vec3<T> x = centre + (radius * c) * d + (radius * s) * side;
      ContactPoint<T> contact =
          plane_contact(pose_a, place(pose_b, x), Curvature<T>::edge(),
                        static_cast<std::uint32_t>(4 * cap + i));
      if (-value_of(contact.depth) <= margin) out.add(contact);
    }
  }
  mark_flat(out, first);
  // Both rims and nothing else: a line, with the cylinder's own radius across it.
  if (out.count - first == 2 && out[first].feature % 4 == 0 &&
      out[first + 1].feature % 4 == 0) {
    for (int i = first; i < out.count; ++i) {
      out[i].patch = Patch::line;
      out[i].radius = radius;
    }
  }
}

// A body B in a cylindrical hollow A: the hollow's wall and ends against points of B. The
// distance from the axis is convex along a straight edge, so that the vertices decide.

/// One ball of body B (a vertex has radius 0) against the hollow. Features: wall 3k, ends
/// 3k + 1 and 3k + 2 for ball k.
template <Scalar T>
void cavity_against_ball(const Cavity& cavity, const Transform<T>& pose_a,
                         const Vec3<T>& b, double ball_radius,
                         const Curvature<T>& curvature, std::uint32_t ball, double margin,
                         Contacts<T>& out) noexcept {
  const Vec3<T> x = locate(pose_a, b);
  const T r = constant<T>(ball_radius);
  const auto report = [&](const T& gap, const Vec3<T>& outward, const Vec3<T>& on_wall,
                          const Curvature<T>& wall_curvature, std::uint32_t which) {
    if (value_of(gap) - ball_radius > margin) return;
    const Vec3<T> n = turn(pose_a, outward);  // out of the solid, into the hollow
    const Meeting<T> meeting = meet(wall_curvature, curvature);
    out.add({.on_a = place(pose_a, on_wall),
             .on_b = b - r * n,
             .normal = n,
             .depth = r - gap,
             .radius = meeting.radius,
             .patch = meeting.patch,
             .feature = 3 * ball + which});
  };
  const T wall = constant<T>(cavity.radius);
  const Vec3<T> radial{x.x, x.y, T(0)};
  const Vec3<T> e = unit_or(radial, Vec3<T>{T(1), T(0), T(0)});
  report(wall - norm(radial), -e, wall * e + Vec3<T>{T(0), T(0), x.z},
         Curvature<T>{T(0), T(-1) / wall, axis(pose_a, 2), false}, 0);
  if (!std::isfinite(cavity.half_length)) return;
  const T half = constant<T>(cavity.half_length);
  for (std::uint32_t end = 0; end < 2; ++end) {
    const T sign = end == 0 ? T(1) : T(-1);
    report(half - sign * x.z, Vec3<T>{T(0), T(0), -sign}, Vec3<T>{x.x, x.y, sign * half},
           Curvature<T>::flat(), 1 + end);
  }
}

template <Scalar T>
void cavity_against(const Cavity& cavity, const Transform<T>& pose_a, const Box& box,
                    const Transform<T>& pose_b, double margin,
                    Contacts<T>& out) noexcept {
  const Vec3<T> half = constant<T>(box.half);
  for (int v = 0; v < 8; ++v) {
    const Vec3<T> x{(v & 1) != 0 ? half.x : -half.x, (v & 2) != 0 ? half.y : -half.y,
                    (v & 4) != 0 ? half.z : -half.z};
    cavity_against_ball(cavity, pose_a, place(pose_b, x), 0, Curvature<T>::edge(),
                        static_cast<std::uint32_t>(v), margin, out);
  }
}

template <Scalar T>
void cavity_against(const Cavity& cavity, const Transform<T>& pose_a,
                    const Convex& convex, const Transform<T>& pose_b, double margin,
                    Contacts<T>& out) noexcept {
  for (std::size_t v = 0; v < convex.hull->vertices.size(); ++v) {
    cavity_against_ball(cavity, pose_a,
                        place(pose_b, constant<T>(convex.hull->vertices[v])), 0,
                        Curvature<T>::edge(), static_cast<std::uint32_t>(v), margin, out);
  }
}

template <Scalar T>
void cavity_against(const Cavity& cavity, const Transform<T>& pose_a,
                    const Capsule& capsule, const Transform<T>& pose_b, double margin,
                    Contacts<T>& out) noexcept {
  const T half = constant<T>(capsule.half_length);
  const Curvature<T> curvature = Curvature<T>::round(T(1) / constant<T>(capsule.radius));
  const std::uint32_t ends = capsule.half_length > 0 ? 2 : 1;
  for (std::uint32_t end = 0; end < ends; ++end) {
    const Vec3<T> centre = place(pose_b, Vec3<T>{T(0), T(0), end == 0 ? half : -half});
    cavity_against_ball(cavity, pose_a, centre, capsule.radius, curvature, end, margin,
                        out);
  }
}

/// f(φ) = B cos φ + C sin φ + D cos 2φ + E sin 2φ, of how far the points of a rim are
/// from an axis.
struct RimWave {
  double b, c, d, e;

  double value(double phi) const noexcept {
    return b * std::cos(phi) + c * std::sin(phi) + d * std::cos(2 * phi) +
           e * std::sin(2 * phi);
  }
  /// Newton's method for f′ = 0 from φ on, as long as f bends down.
  double maximum_near(double phi) const noexcept {
    for (int step = 0; step < 8; ++step) {
      const double slope = -b * std::sin(phi) + c * std::cos(phi) -
                           2 * d * std::sin(2 * phi) + 2 * e * std::cos(2 * phi);
      const double bend = -b * std::cos(phi) - c * std::sin(phi) -
                          4 * d * std::cos(2 * phi) - 4 * e * std::sin(2 * phi);
      if (!(bend < 0)) break;
      phi -= std::fmax(-0.2, std::fmin(0.2, slope / bend));
    }
    return phi;
  }
  /// Where the maxima are, the highest first: sampled, then Newton. Samples that differ
  /// by less than `tie` count as equal. Returns how many there are, one or two.
  int maxima(double tie, double (&phi)[2]) const noexcept {
    constexpr int samples = 16;
    constexpr double spacing = 2 * 3.14159265358979323846 / samples;
    double f[samples];
    int highest = 0;
    for (int i = 0; i < samples; ++i) {
      f[i] = value(i * spacing);
      if (f[i] > f[highest] + tie) highest = i;
    }
    int found = 0;
    for (int i = 0; i < samples && found < 2; ++i) {
      const int k = (highest + i) % samples;
      const double before = f[(k + samples - 1) % samples];
      const double after = f[(k + 1) % samples];
      if (i > 0 && (f[k] <= before || f[k] < after)) continue;
      phi[found++] = maximum_near(k * spacing);
    }
    return found;
  }
};

/// The wall against a peg: on each rim the points farthest from the axis, two at most
/// (features 64 + 2·rim + k). `pose` is the peg's in the hollow's axes.
template <Scalar T>
void cavity_wall_against(const Cavity& cavity, const Transform<T>& pose_a,
                         const Cylinder& cylinder, const Transform<T>& pose,
                         const Meeting<T>& meeting, double margin,
                         Contacts<T>& out) noexcept {
  const T r = constant<T>(cylinder.radius);
  const T wall = constant<T>(cavity.radius);
  const T half = constant<T>(cylinder.half_length);
  for (std::uint32_t rim = 0; rim < 2; ++rim) {
    const Vec3<T> c = pose.p + (rim == 0 ? half : -half) * pose.R.z;
    // ρ²(φ) = |c + r cos φ u + r sin φ v|² across the axis: ½ρ² = A + f(φ).
    const auto flat_dot = [](const Vec3<T>& a, const Vec3<T>& b) {
      return a.x * b.x + a.y * b.y;
    };
    const Vec3<T>& u = pose.R.x;
    const Vec3<T>& v = pose.R.y;
    const T quarter = constant<T>(0.25) * r * r;
    const auto number = [](const T& x) { return static_cast<double>(value_of(x)); };
    const RimWave wave{number(r * flat_dot(c, u)), number(r * flat_dot(c, v)),
                       number(quarter * (flat_dot(u, u) - flat_dot(v, v))),
                       number(T(2) * quarter * flat_dot(u, v))};
    double phi[2];
    const int found = wave.maxima(1e-14 * cylinder.radius * cylinder.radius, phi);
    for (int k = 0; k < found; ++k) {
      // ∂ρ/∂φ = 0 here, so that φ needs no derivatives for those of the depth.
      const Vec3<T> x = c + (r * constant<T>(std::cos(phi[k]))) * u +
                        (r * constant<T>(std::sin(phi[k]))) * v;
      const Vec3<T> radial{x.x, x.y, T(0)};
      const T gap = wall - norm(radial);
      if (value_of(gap) > margin) continue;
      const Vec3<T> w = unit_or(radial, Vec3<T>{T(1), T(0), T(0)});
      out.add({.on_a = place(pose_a, wall * w + Vec3<T>{T(0), T(0), x.z}),
               .on_b = place(pose_a, x),
               .normal = -turn(pose_a, w),
               .depth = -gap,
               .radius = meeting.radius,
               .patch = meeting.patch,
               .feature = 64 + 2 * rim + static_cast<std::uint32_t>(k)});
    }
  }
}

/// The closed ends against a peg, as planes that look into the hollow (features of the
/// plane + 16·(1 + end)).
template <Scalar T>
void cavity_ends_against(const Cavity& cavity, const Transform<T>& pose_a,
                         const Cylinder& cylinder, const Transform<T>& pose_b,
                         double margin, Contacts<T>& out) noexcept {
  for (std::uint32_t end = 0; end < 2; ++end) {
    const T sign = end == 0 ? T(-1) : T(1);
    const Transform<T> plane{
        {pose_a.R.x, sign * pose_a.R.y, sign * pose_a.R.z},
        place(pose_a, Vec3<T>{T(0), T(0), -sign * constant<T>(cavity.half_length)})};
    Contacts<T> on_end;
    plane_against(Plane{}, plane, cylinder, pose_b, margin, on_end);
    for (ContactPoint<T>& point : on_end) {
      point.feature += 16 * (1 + end);
      out.add(point);
    }
  }
}

/// A peg in a hollow.
template <Scalar T>
void cavity_against(const Cavity& cavity, const Transform<T>& pose_a,
                    const Cylinder& cylinder, const Transform<T>& pose_b, double margin,
                    Contacts<T>& out) noexcept {
  const Transform<T> pose = relative(pose_a, pose_b);
  const Vec3<T> lean{pose.R.z.x, pose.R.z.y, T(0)};
  const Curvature<T> side = norm(values(lean)) < 1e-3
                                ? Curvature<T>{T(0), T(1) / constant<T>(cylinder.radius),
                                               axis(pose_b, 2), false}
                                : Curvature<T>::edge();
  const Curvature<T> wall{T(0), T(-1) / constant<T>(cavity.radius), axis(pose_a, 2),
                          false};
  cavity_wall_against(cavity, pose_a, cylinder, pose, meet(wall, side), margin, out);
  if (std::isfinite(cavity.half_length)) {
    cavity_ends_against(cavity, pose_a, cylinder, pose_b, margin, out);
  }
}

}  // namespace bristle::geometry
