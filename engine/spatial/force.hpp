#pragma once

#include "bristle/spatial/motion.hpp"

namespace bristle {

/// A force on a rigid body with its torque about a point.
template <Scalar T>
struct Force {
  Vec3<T> torque;  // [N m]
  Vec3<T> force;   // [N]

  BRISTLE_INLINE static constexpr Force zero() {
    return {{T(0), T(0), T(0)}, {T(0), T(0), T(0)}};
  }
  BRISTLE_INLINE friend constexpr Force operator-(const Force& a) {
    return {-a.torque, -a.force};
  }
  BRISTLE_INLINE friend constexpr Force operator+(const Force& a, const Force& b) {
    return {a.torque + b.torque, a.force + b.force};
  }
  BRISTLE_INLINE friend constexpr Force operator-(const Force& a, const Force& b) {
    return {a.torque - b.torque, a.force - b.force};
  }
  BRISTLE_INLINE friend constexpr Force operator*(const T& k, const Force& a) {
    return {k * a.torque, k * a.force};
  }
};

/// The same force, its torque about a point from which the present one lies at r.
template <Scalar T>
BRISTLE_INLINE constexpr Force<T> shifted_back(const Force<T>& f, const Vec3<T>& r) {
  return {f.torque + cross(r, f.force), f.force};
}

/// Power, when both are about the same point [W].
template <Scalar T>
BRISTLE_INLINE constexpr T dot(const Force<T>& f, const Motion<T>& m) {
  return dot(f.torque, m.angular) + dot(f.force, m.linear);
}

}  // namespace bristle
