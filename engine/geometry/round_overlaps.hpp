#pragma once

#include <numbers>

#include "bristle/geometry/overlap_moments.hpp"

// Spheres and ellipsoids: caps of a ball, and their affine images.

namespace bristle::geometry {

/// Integrals over a cap of height τ ≤ 2 of the unit ball.
template <Scalar T>
struct UnitCap {
  T volume;
  T depth;   // of the centroid below the section
  T across;  // ∫ x² dV across the axis
  T along;   // ∫ (z − z_c)² dV
};

template <Scalar T>
UnitCap<T> unit_cap(const T& t) {
  using N = Value<T>;
  const T pi = T(std::numbers::pi_v<N>);
  const T rest = T(1) / (T(3) - t);
  return {pi * t * t * (T(3) - t) * T(N(1.0 / 3)), t * (T(4) - t) * T(N(0.25)) * rest,
          pi * t * t * t * (T(20) - t * (T(15) - T(3) * t)) * T(N(1.0 / 60)),
          pi * square(t * t) * (T(40) - t * (T(24) - T(3) * t)) * T(N(1.0 / 240)) * rest};
}

/// A ball of this radius and centre, clipped by the half-space.
template <Scalar T>
Overlap<T> ball_overlap(const PlaneMeeting<T>& meeting, const T& r) noexcept {
  using N = Value<T>;
  Overlap<T> o = no_overlap(meeting);
  if (!(value_of(meeting.depth) > N(0) && value_of(r) > N(0))) return o;
  const T height = min(meeting.depth, T(2) * r);
  const T tau = height / r;
  const UnitCap<T> cap = unit_cap(tau);
  const Sym3<T> across = across_projection(meeting.normal);
  o.volume = r * r * r * cap.volume;
  o.centroid_depth = r * cap.depth + (meeting.depth - height);
  o.potential = o.volume * o.centroid_depth;
  o.moments = (square(r * r) * r * cap.across) * across;
  const T square_radius = height * (T(2) * r - height);
  o.area = T(std::numbers::pi_v<N>) * square_radius;
  o.area_moments = (T(N(0.25)) * o.area * square_radius) * across;
  return o;
}

template <Scalar T>
Overlap<T> overlap_of(const Plane&, const Transform<T>& plane, const Sphere& sphere,
                      const Transform<T>& pose) noexcept {
  const Vec3<T> n = axis(plane, 2);
  const T height = dot(pose.p - plane.p, n);
  const T r = constant<T>(sphere.radius);
  return ball_overlap<T>({n, r - height, pose.p - height * n}, r);
}

/// An ellipsoid is the image of the unit ball under x = c + R D u. With B = R D² Rᵀ and
/// the support h = √(n·B n), a cap along n is the image of a cap of height δ/h.
template <Scalar T>
Overlap<T> overlap_of(const Plane&, const Transform<T>& plane, const Ellipsoid& ellipsoid,
                      const Transform<T>& pose) noexcept {
  using N = Value<T>;
  const Vec3<T> n = axis(plane, 2);
  const Vec3<T> m = turn_back(pose, n);
  const Vec3<T> d = constant<T>(ellipsoid.semi_axes);
  const Vec3<T> Bn =
      turn(pose, Vec3<T>{d.x * d.x * m.x, d.y * d.y * m.y, d.z * d.z * m.z});
  const T h = sqrt(dot(n, Bn));
  const T height = dot(pose.p - plane.p, n);
  const Vec3<T> to_pole = (T(-1) / h) * Bn;  // from the centre to the deepest point
  const PlaneMeeting<T> meeting{n, h - height, pose.p + to_pole + (h - height) * n};
  Overlap<T> o = no_overlap(meeting);
  if (!(value_of(meeting.depth) > N(0))) return o;
  const T depth = min(meeting.depth, T(2) * h);
  const T tau = depth / h;
  const UnitCap<T> cap = unit_cap(tau);
  const T size = d.x * d.y * d.z;
  const Sym3<T> B = rotated(pose.R, Sym3<T>::diagonal(d.x * d.x, d.y * d.y, d.z * d.z));
  const Sym3<T> pole = outer(to_pole);
  const Vec3<T> sideways = to_pole + h * n;  // tangential part of to_pole
  o.volume = size * cap.volume;
  o.centroid_depth = h * cap.depth + (meeting.depth - depth);
  o.potential = o.volume * o.centroid_depth;
  // The cap's centroid is at 1 − τ + ζ/h along the pole; the foot lies at 1.
  o.centroid = meeting.foot + (cap.depth - tau) * sideways;
  o.moments = projected((size * cap.across) * (B - pole) + (size * cap.along) * pole, n);
  const T square_radius = tau * (T(2) - tau);
  o.area = T(std::numbers::pi_v<N>) * size * square_radius / h;
  o.area_centroid = meeting.foot - tau * sideways;
  o.area_moments = projected((T(N(0.25)) * o.area * square_radius) * (B - pole), n);
  return o;
}

/// (−ln(1 − x) − x − x²/2 − x³/3)/x⁴ for 0 ≤ x < 1.
template <Scalar T>
T log_tail(const T& x) {
  using N = Value<T>;
  if (value_of(x) < N(0.25)) {
    T sum = T(N(1.0 / 29));
    for (int n = 28; n >= 4; --n) sum = sum * x + T(N(1.0 / n));
    return sum;
  }
  const T x2 = x * x;
  return (-log(T(1) - x) - x - T(N(0.5)) * x2 - T(N(1.0 / 3)) * x2 * x) / (x2 * x2);
}

/// Two balls share two caps that meet in one disc; the section is that disc, and the
/// normal runs from centre to centre. V depends on the distance alone, so that W = ∫ V dδ
/// is a potential. A ball inside the other keeps its whole volume.
template <Scalar T>
Overlap<T> overlap_of(const Sphere& a, const Transform<T>& pose_a, const Sphere& b,
                      const Transform<T>& pose_b) noexcept {
  using N = Value<T>;
  const T ra = constant<T>(a.radius), rb = constant<T>(b.radius);
  const Vec3<T> along = pose_b.p - pose_a.p;
  const T distance = norm(along);
  const Vec3<T> n = unit_or(along, Vec3<T>{T(0), T(0), T(1)});
  const T depth = ra + rb - distance;
  Overlap<T> o = no_overlap<T>({n, depth, pose_a.p + (ra - T(N(0.5)) * depth) * n});
  const T small = min(ra, rb);
  if (!(value_of(depth) > N(0) && value_of(small) > N(0))) return o;
  const T pi = T(std::numbers::pi_v<N>);
  const T sum = ra + rb;
  const T height = min(depth, T(2) * small);
  const T d = sum - height;
  const auto cap = [&](const T& r, const T& other) {
    const T t = value_of(d) > N(0)
                    ? min(height * (T(2) * other - height) / (T(2) * d * r), T(2))
                    : T(1);  // two equal balls in one place
    return std::pair{t, unit_cap(t)};
  };
  const auto [ta, cap_a] = cap(ra, rb);
  const auto [tb, cap_b] = cap(rb, ra);
  const T ra3 = ra * ra * ra, rb3 = rb * rb * rb;
  const Sym3<T> across = across_projection(n);
  o.volume = ra3 * cap_a.volume + rb3 * cap_b.volume;
  // ∫ V dδ = π/12 ∫ (s − d)² (d² + 2 d s − 3 q)/d dd, s = r_a + r_b, q = (r_a − r_b)²
  const T q = square(ra - rb);
  const T x = height / sum;
  const T tail = value_of(d) > N(0) ? T(3) * q / sum * x * log_tail(x) : T(0);
  o.potential = pi * T(N(1.0 / 12)) * height * height * height *
                    (T(4) * ra * rb / sum - T(N(0.25)) * height - tail) +
                o.volume * (depth - height);
  o.centroid_depth = o.potential / o.volume;
  o.centroid = pose_a.p + (ra - ta * ra) * n;
  o.moments = (ra3 * ra * ra * cap_a.across + rb3 * rb * rb * cap_b.across) * across;
  const T square_radius = square(ra) * ta * (T(2) - ta);
  o.area = pi * square_radius;
  o.area_centroid = o.centroid;
  o.area_moments = (T(N(0.25)) * o.area * square_radius) * across;
  return o;
}

}  // namespace bristle::geometry
