#pragma once

#include "bristle/geometry/closest.hpp"

// Two capsules: closest points of two segments (Ericson, Real-Time Collision Detection,
// 2005, § 5.1.9).

namespace bristle::geometry {

/// The contact of two spheres about p (on the axis of A) and q (on the axis of B).
template <Scalar T>
void add_ball_contact(const Vec3<T>& p, double radius_a, const Curvature<T>& curvature_a,
                      const Vec3<T>& q, double radius_b, const Curvature<T>& curvature_b,
                      const Vec3<T>& otherwise, std::uint32_t feature, double margin,
                      Contacts<T>& out) noexcept {
  const Vec3<T> n = unit_or(q - p, otherwise);
  const T depth = constant<T>(radius_a + radius_b) - dot(q - p, n);
  if (-value_of(depth) > margin) return;
  const Meeting<T> meeting = meet(curvature_a, curvature_b);
  out.add({.on_a = p + constant<T>(radius_a) * n,
           .on_b = q - constant<T>(radius_b) * n,
           .normal = n,
           .depth = depth,
           .radius = meeting.radius,
           .patch = meeting.patch,
           .feature = feature});
}

/// One contact (feature 0), or where the axes run side by side within half a degree, two:
/// at the ends of the stretch they have in common (features 1 to 4: the end of A or B
/// that bounds it).
template <Scalar T>
void capsule_against(const Capsule& a, const Transform<T>& pose_a, const Capsule& b,
                     const Transform<T>& pose_b, double margin,
                     Contacts<T>& out) noexcept {
  const Vec3<T> u = axis(pose_a, 2);
  const Vec3<T> v = axis(pose_b, 2);
  const T ha = constant<T>(a.half_length);
  const T hb = constant<T>(b.half_length);
  const Vec3<T> r = pose_b.p - pose_a.p;
  const T c = dot(u, v);
  const T ru = dot(r, u);
  const T rv = dot(r, v);
  const T sine2 = T(1) - c * c;
  const auto clamp = [](const T& x, const T& h) { return min(h, max(-h, x)); };
  const auto curvature = [](const T& at, const T& half, double radius,
                            const Vec3<T>& along) {
    const T k = T(1) / constant<T>(radius);
    return abs(at) < half ? Curvature<T>{T(0), k, along, false} : Curvature<T>::round(k);
  };
  // Where the axes intersect, any normal across both will do.
  const Vec3<T> aside = unit_or(cross(u, v), across(u));

  if (value_of(sine2) < Value<T>(1e-4)) {
    // Ends of B along the axis of A.
    const T sign = c < T(0) ? T(-1) : T(1);
    const T b_low = ru - hb;
    const T b_high = ru + hb;
    const bool low_is_b = b_low > -ha;
    const bool high_is_b = b_high < ha;
    const T low = low_is_b ? b_low : -ha;
    const T high = high_is_b ? b_high : ha;
    if (value_of(high - low) > 1e-6 * std::min(a.half_length, b.half_length)) {
      for (int end = 0; end < 2; ++end) {
        const T s = end == 0 ? low : high;
        // The same place on the axis of B, as the foot of the perpendicular.
        const T t = clamp(s * c - rv, hb);
        const T s2 = clamp(ru + t * c, ha);
        const bool of_b = end == 0 ? low_is_b : high_is_b;
        const bool first = of_b ? (end == 0) == (sign > T(0)) : end == 0;
        const auto feature = static_cast<std::uint32_t>((of_b ? 3 : 1) + (first ? 0 : 1));
        const T k1 = T(1) / constant<T>(a.radius);
        const T k2 = T(1) / constant<T>(b.radius);
        add_ball_contact(pose_a.p + s2 * u, a.radius, Curvature<T>{T(0), k1, u, false},
                         pose_b.p + t * v, b.radius, Curvature<T>{T(0), k2, u, false},
                         aside, feature, margin, out);
      }
      return;
    }
  }
  T s = T(0);
  if (value_of(sine2) > Value<T>(1e-12)) s = clamp((ru - rv * c) / sine2, ha);
  const T t = clamp(s * c - rv, hb);
  s = clamp(ru + t * c, ha);
  add_ball_contact(pose_a.p + s * u, a.radius, curvature(s, ha, a.radius, u),
                   pose_b.p + t * v, b.radius, curvature(t, hb, b.radius, v), aside, 0,
                   margin, out);
}

}  // namespace bristle::geometry
