#pragma once

#include "bristle/core/trigonometry.hpp"
#include "bristle/spatial/mat3.hpp"

namespace bristle {

/// A rotation as a unit quaternion; (1, 0, 0, 0) turns nothing, q and −q turn alike.
template <Scalar T>
struct Quaternion {
  T w, x, y, z;

  BRISTLE_INLINE static constexpr Quaternion identity() {
    return {T(1), T(0), T(0), T(0)};
  }
  /// Hamilton's product: first b, then a.
  BRISTLE_INLINE friend constexpr Quaternion operator*(const Quaternion& a,
                                                       const Quaternion& b) {
    return {a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
            a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
            a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
            a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
  }
  BRISTLE_INLINE friend constexpr Quaternion conjugate(const Quaternion& q) {
    return {q.w, -q.x, -q.y, -q.z};
  }
  BRISTLE_INLINE friend constexpr T norm2(const Quaternion& q) {
    return q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z;
  }
  BRISTLE_INLINE friend Quaternion normalised(const Quaternion& q) {
    const T k = T(1) / sqrt(norm2(q));
    return {k * q.w, k * q.x, k * q.y, k * q.z};
  }
  /// The rotation matrix of q/|q|: a rotation also where q has drifted from unit length.
  BRISTLE_INLINE friend constexpr Mat3<T> to_matrix(const Quaternion& q) {
    const T s = T(2) / norm2(q);
    const T sx = s * q.x, sy = s * q.y, sz = s * q.z;
    const T wx = sx * q.w, wy = sy * q.w, wz = sz * q.w;
    const T xx = sx * q.x, xy = sx * q.y, xz = sx * q.z;
    const T yy = sy * q.y, yz = sy * q.z, zz = sz * q.z;
    return {{T(1) - (yy + zz), xy + wz, xz - wy},
            {xy - wz, T(1) - (xx + zz), yz + wx},
            {xz + wy, yz - wx, T(1) - (xx + yy)}};
  }
};

/// exp(φ/2): the turn by |φ| about φ, to full precision also for small |φ|.
template <Scalar T>
BRISTLE_INLINE Quaternion<T> rotation_exp(const Vec3<T>& phi) {
  using N = Value<T>;
  const T angle2 = norm2(phi);
  // Below the limit, sin(θ/2)/θ = ½(1 − z/6 + z²/120) with z = θ²/4; what is cut off is
  // below the rounding of 1. The series also carries the derivatives at θ = 0.
  const auto small = angle2 < T(N(sizeof(N) == 4 ? 1e-2 : 1e-4));
  const T z = T(N(0.25)) * angle2;
  const T sine_series =
      T(N(0.5)) *
      (T(1) - z * (T(N(1.0 / 6)) - z * (T(N(1.0 / 120)) - z * T(N(1.0 / 5040)))));
  const T cosine_series =
      T(1) - z * (T(N(1.0 / 2)) - z * (T(N(1.0 / 24)) - z * T(N(1.0 / 720))));
  const T angle = sqrt(select(small, T(1), angle2));
  const SinCos<T> half = sincos(T(N(0.5)) * angle);
  const T s = select(small, sine_series, half.sin / angle);
  return {select(small, cosine_series, half.cos), s * phi.x, s * phi.y, s * phi.z};
}

/// 2 ln q: the rotation vector φ with exp(φ/2) = ±q, |φ| ≤ π.
template <Scalar T>
BRISTLE_INLINE Vec3<T> rotation_log(const Quaternion<T>& q) {
  using N = Value<T>;
  const T sign = select(q.w < T(0), T(-1), T(1));
  const T w = sign * q.w;
  const T sine2 = q.x * q.x + q.y * q.y + q.z * q.z;
  // θ/sin(θ/2) = 2 (1/w)(1 − u/3 + u²/5 − u³/7) with u = tan²(θ/2), for small angles
  const auto small = sine2 < T(N(sizeof(N) == 4 ? 1e-3 : 1e-5));
  const T safe_w = select(small, w, T(1));
  const T u = sine2 / (safe_w * safe_w);
  const T series = T(2) / safe_w *
                   (T(1) - u * (T(N(1.0 / 3)) - u * (T(N(1.0 / 5)) - u * T(N(1.0 / 7)))));
  const T sine = sqrt(select(small, T(1), sine2));
  const T k = sign * select(small, series, T(2) * atan2(sine, w) / sine);
  return {k * q.x, k * q.y, k * q.z};
}

/// q̇ = ½ (0, ω) q for an angular velocity in the axes of the fixed frame.
template <Scalar T>
BRISTLE_INLINE constexpr Quaternion<T> quaternion_rate(const Quaternion<T>& q,
                                                       const Vec3<T>& omega) {
  const T half = T(Value<T>(0.5));
  return Quaternion<T>{T(0), half * omega.x, half * omega.y, half * omega.z} * q;
}

/// The quaternion of a rotation matrix, w ≥ 0. For set-up: it branches.
inline Quaternion<double> from_matrix(const Mat3<double>& r) {
  Quaternion<double> q{};
  const double trace = r.x.x + r.y.y + r.z.z;
  if (trace > 0) {
    q = {1 + trace, r.y.z - r.z.y, r.z.x - r.x.z, r.x.y - r.y.x};
  } else if (r.x.x >= r.y.y && r.x.x >= r.z.z) {
    q = {r.y.z - r.z.y, 1 + r.x.x - r.y.y - r.z.z, r.x.y + r.y.x, r.z.x + r.x.z};
  } else if (r.y.y >= r.z.z) {
    q = {r.z.x - r.x.z, r.x.y + r.y.x, 1 + r.y.y - r.x.x - r.z.z, r.y.z + r.z.y};
  } else {
    q = {r.x.y - r.y.x, r.z.x + r.x.z, r.y.z + r.z.y, 1 + r.z.z - r.x.x - r.y.y};
  }
  q = normalised(q);
  return q.w < 0 ? Quaternion<double>{-q.w, -q.x, -q.y, -q.z} : q;
}

}  // namespace bristle
