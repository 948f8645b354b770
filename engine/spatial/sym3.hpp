#pragma once

#include "bristle/spatial/mat3.hpp"

namespace bristle {

/// A symmetric 3×3 matrix.
template <Scalar T>
struct Sym3 {
  T xx, yy, zz, xy, xz, yz;

  BRISTLE_INLINE static constexpr Sym3 zero() {
    return {T(0), T(0), T(0), T(0), T(0), T(0)};
  }
  BRISTLE_INLINE static constexpr Sym3 diagonal(const T& x, const T& y, const T& z) {
    return {x, y, z, T(0), T(0), T(0)};
  }

  BRISTLE_INLINE friend constexpr Sym3 operator+(const Sym3& a, const Sym3& b) {
    return {a.xx + b.xx, a.yy + b.yy, a.zz + b.zz, a.xy + b.xy, a.xz + b.xz, a.yz + b.yz};
  }
  BRISTLE_INLINE friend constexpr Sym3 operator-(const Sym3& a, const Sym3& b) {
    return {a.xx - b.xx, a.yy - b.yy, a.zz - b.zz, a.xy - b.xy, a.xz - b.xz, a.yz - b.yz};
  }
  BRISTLE_INLINE friend constexpr Sym3 operator*(const T& k, const Sym3& a) {
    return {k * a.xx, k * a.yy, k * a.zz, k * a.xy, k * a.xz, k * a.yz};
  }
  BRISTLE_INLINE friend constexpr Vec3<T> operator*(const Sym3& a, const Vec3<T>& v) {
    return {a.xx * v.x + a.xy * v.y + a.xz * v.z, a.xy * v.x + a.yy * v.y + a.yz * v.z,
            a.xz * v.x + a.yz * v.y + a.zz * v.z};
  }
  BRISTLE_INLINE friend constexpr T trace(const Sym3& a) { return a.xx + a.yy + a.zz; }
  BRISTLE_INLINE friend constexpr Mat3<T> full(const Sym3& a) {
    return {{a.xx, a.xy, a.xz}, {a.xy, a.yy, a.yz}, {a.xz, a.yz, a.zz}};
  }
};

/// u uᵀ
template <Scalar T>
BRISTLE_INLINE constexpr Sym3<T> outer(const Vec3<T>& u) {
  return {u.x * u.x, u.y * u.y, u.z * u.z, u.x * u.y, u.x * u.z, u.y * u.z};
}

/// The symmetric matrix u vᵀ when u and v are parallel.
template <Scalar T>
BRISTLE_INLINE constexpr Sym3<T> outer_parallel(const Vec3<T>& u, const Vec3<T>& v) {
  return {u.x * v.x, u.y * v.y, u.z * v.z, u.x * v.y, u.x * v.z, u.y * v.z};
}

/// −(v×)(v×) = |v|² 1 − v vᵀ: the inertia of a unit point mass at v.
template <Scalar T>
BRISTLE_INLINE constexpr Sym3<T> point_inertia(const Vec3<T>& v) {
  const T xx = v.x * v.x, yy = v.y * v.y, zz = v.z * v.z;
  return {yy + zz, xx + zz, xx + yy, -(v.x * v.y), -(v.x * v.z), -(v.y * v.z)};
}

/// R S Rᵀ
template <Scalar T>
BRISTLE_INLINE constexpr Sym3<T> rotated(const Mat3<T>& r, const Sym3<T>& s) {
  Mat3<T> t = r * full(s);  // its columns are R S eₖ
  return {t.x.x * r.x.x + t.y.x * r.y.x + t.z.x * r.z.x,
          t.x.y * r.x.y + t.y.y * r.y.y + t.z.y * r.z.y,
          t.x.z * r.x.z + t.y.z * r.y.z + t.z.z * r.z.z,
          t.x.x * r.x.y + t.y.x * r.y.y + t.z.x * r.z.y,
          t.x.x * r.x.z + t.y.x * r.y.z + t.z.x * r.z.z,
          t.x.y * r.x.z + t.y.y * r.y.z + t.z.y * r.z.z};
}

}  // namespace bristle
