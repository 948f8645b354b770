#pragma once

#include "bristle/spatial/force.hpp"
#include "bristle/spatial/sym3.hpp"

namespace bristle {

/// The inertia of a rigid body about an origin that need not be its centre of mass.
template <Scalar T>
struct Inertia {
  T mass;              // m [kg]
  Vec3<T> moment;      // m c, c = centre of mass [kg m]
  Sym3<T> rotational;  // about the origin [kg m²]

  BRISTLE_INLINE static constexpr Inertia zero() {
    return {T(0), {T(0), T(0), T(0)}, Sym3<T>::zero()};
  }
  /// From the inertia about the centre of mass: I_O = I_c + m (|c|² 1 − c cᵀ).
  BRISTLE_INLINE static constexpr Inertia about_com(const T& mass, const Vec3<T>& com,
                                                    const Sym3<T>& central) {
    return {mass, mass * com, central + mass * point_inertia(com)};
  }
  BRISTLE_INLINE friend constexpr Inertia operator+(const Inertia& a, const Inertia& b) {
    return {a.mass + b.mass, a.moment + b.moment, a.rotational + b.rotational};
  }
  /// Momentum of a velocity, or the force of an acceleration, about the same origin:
  /// n = I ω + m c × v, f = m v + ω × m c.
  BRISTLE_INLINE friend constexpr Force<T> operator*(const Inertia& i,
                                                     const Motion<T>& m) {
    return {i.rotational * m.angular + cross(i.moment, m.linear),
            i.mass * m.linear + cross(m.angular, i.moment)};
  }
};

/// The same body with its axes turned by R.
template <Scalar T>
BRISTLE_INLINE constexpr Inertia<T> rotated(const Mat3<T>& r, const Inertia<T>& i) {
  return {i.mass, r * i.moment, rotated(r, i.rotational)};
}

/// About an origin from which the present one lies at r:
/// I + 2 (r·mc) 1 − r mcᵀ − mc rᵀ + m (|r|² 1 − r rᵀ).
template <Scalar T>
BRISTLE_INLINE constexpr Inertia<T> shifted_back(const Inertia<T>& i, const Vec3<T>& r) {
  Vec3<T> h = i.moment + i.mass * r;  // m (c + r)
  // −(r×)(h×) − (mc×)(r×), which is symmetric
  const T x = r.x * h.x + i.moment.x * r.x;
  const T y = r.y * h.y + i.moment.y * r.y;
  const T z = r.z * h.z + i.moment.z * r.z;
  return {i.mass,
          h,
          {i.rotational.xx + (y + z), i.rotational.yy + (x + z),
           i.rotational.zz + (x + y), i.rotational.xy - (r.x * h.y + i.moment.x * r.y),
           i.rotational.xz - (r.x * h.z + i.moment.x * r.z),
           i.rotational.yz - (r.y * h.z + i.moment.y * r.z)}};
}

}  // namespace bristle
