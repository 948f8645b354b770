#pragma once

#include "bristle/spatial/mat3.hpp"

namespace bristle {

/// The pose of a frame B in a frame A: R turns the axes of B into A, p is B's origin.
template <Scalar T>
struct Transform {
  Mat3<T> R = Mat3<T>::identity();
  Vec3<T> p{T(0), T(0), T(0)};

  /// X_AB · X_BC = X_AC
  BRISTLE_INLINE friend constexpr Transform operator*(const Transform& a,
                                                      const Transform& b) {
    return {a.R * b.R, a.p + a.R * b.p};
  }
  /// A point of B, seen from A.
  BRISTLE_INLINE friend constexpr Vec3<T> operator*(const Transform& a,
                                                    const Vec3<T>& point) {
    return a.p + a.R * point;
  }
  BRISTLE_INLINE friend constexpr Transform inverse(const Transform& a) {
    return {transpose(a.R), -transpose_times(a.R, a.p)};
  }
};

}  // namespace bristle
