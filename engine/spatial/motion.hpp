#pragma once

#include "bristle/core/vec.hpp"

namespace bristle {

/// A velocity or an acceleration of a rigid body, about a point of it: turning, and the
/// movement of that point. Accelerations are those of the material point, not the
/// "spatial" ones (Featherstone 2008, § 2.11): no velocity terms are folded in.
template <Scalar T>
struct Motion {
  Vec3<T> angular;  // [rad/s], [rad/s²]
  Vec3<T> linear;   // [m/s], [m/s²]

  BRISTLE_INLINE static constexpr Motion zero() {
    return {{T(0), T(0), T(0)}, {T(0), T(0), T(0)}};
  }
  BRISTLE_INLINE friend constexpr Motion operator+(const Motion& a, const Motion& b) {
    return {a.angular + b.angular, a.linear + b.linear};
  }
  BRISTLE_INLINE friend constexpr Motion operator-(const Motion& a, const Motion& b) {
    return {a.angular - b.angular, a.linear - b.linear};
  }
  BRISTLE_INLINE friend constexpr Motion operator*(const T& k, const Motion& a) {
    return {k * a.angular, k * a.linear};
  }
};

/// The velocity at a point that lies r from the present one: v + ω × r. For an
/// acceleration the centripetal part ω × (ω × r) comes on top.
template <Scalar T>
BRISTLE_INLINE constexpr Motion<T> shifted(const Motion<T>& m, const Vec3<T>& r) {
  return {m.angular, m.linear + cross(m.angular, r)};
}

}  // namespace bristle
