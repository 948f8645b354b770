#pragma once

#include "bristle/core/vec.hpp"

namespace bristle {

/// A 3×3 matrix by its columns. For a rotation the columns are the axes of the turned
/// frame, so that R.z is where its z axis points.
template <Scalar T>
struct Mat3 {
  Vec3<T> x, y, z;

  BRISTLE_INLINE static constexpr Mat3 identity() {
    return {{T(1), T(0), T(0)}, {T(0), T(1), T(0)}, {T(0), T(0), T(1)}};
  }
  BRISTLE_INLINE static constexpr Mat3 zero() {
    return {{T(0), T(0), T(0)}, {T(0), T(0), T(0)}, {T(0), T(0), T(0)}};
  }

  BRISTLE_INLINE friend constexpr Mat3 operator+(const Mat3& a, const Mat3& b) {
    return {a.x + b.x, a.y + b.y, a.z + b.z};
  }
  BRISTLE_INLINE friend constexpr Mat3 operator-(const Mat3& a, const Mat3& b) {
    return {a.x - b.x, a.y - b.y, a.z - b.z};
  }
  BRISTLE_INLINE friend constexpr Mat3 operator*(const T& k, const Mat3& a) {
    return {k * a.x, k * a.y, k * a.z};
  }
  BRISTLE_INLINE friend constexpr Vec3<T> operator*(const Mat3& a, const Vec3<T>& v) {
    return {a.x.x * v.x + a.y.x * v.y + a.z.x * v.z,
            a.x.y * v.x + a.y.y * v.y + a.z.y * v.z,
            a.x.z * v.x + a.y.z * v.y + a.z.z * v.z};
  }
  BRISTLE_INLINE friend constexpr Mat3 operator*(const Mat3& a, const Mat3& b) {
    return {a * b.x, a * b.y, a * b.z};
  }
  /// aᵀ v
  BRISTLE_INLINE friend constexpr Vec3<T> transpose_times(const Mat3& a,
                                                          const Vec3<T>& v) {
    return {dot(a.x, v), dot(a.y, v), dot(a.z, v)};
  }
  /// aᵀ b
  BRISTLE_INLINE friend constexpr Mat3 transpose_times(const Mat3& a, const Mat3& b) {
    return {transpose_times(a, b.x), transpose_times(a, b.y), transpose_times(a, b.z)};
  }
  BRISTLE_INLINE friend constexpr Mat3 transpose(const Mat3& a) {
    return {{a.x.x, a.y.x, a.z.x}, {a.x.y, a.y.y, a.z.y}, {a.x.z, a.y.z, a.z.z}};
  }
};

/// v× : the matrix with (v×) u = v × u.
template <Scalar T>
BRISTLE_INLINE constexpr Mat3<T> cross_matrix(const Vec3<T>& v) {
  return {{T(0), v.z, -v.y}, {-v.z, T(0), v.x}, {v.y, -v.x, T(0)}};
}

}  // namespace bristle
