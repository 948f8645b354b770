#pragma once

#include "bristle/spatial/inertia.hpp"

namespace bristle {

/// How a body with movable bodies hanging from it resists acceleration
/// (Featherstone 2008, ch. 7): n = A α + B a, f = Bᵀ α + M a.
template <Scalar T>
struct ArticulatedInertia {
  Sym3<T> A;  // [kg m²]
  Mat3<T> B;  // [kg m]
  Sym3<T> M;  // [kg]

  BRISTLE_INLINE static constexpr ArticulatedInertia zero() {
    return {Sym3<T>::zero(), Mat3<T>::zero(), Sym3<T>::zero()};
  }
  BRISTLE_INLINE static constexpr ArticulatedInertia rigid(const Inertia<T>& i) {
    return {i.rotational, cross_matrix(i.moment),
            Sym3<T>::diagonal(i.mass, i.mass, i.mass)};
  }
  BRISTLE_INLINE friend constexpr ArticulatedInertia operator+(
      const ArticulatedInertia& a, const ArticulatedInertia& b) {
    return {a.A + b.A, a.B + b.B, a.M + b.M};
  }
  BRISTLE_INLINE friend constexpr Force<T> operator*(const ArticulatedInertia& i,
                                                     const Motion<T>& m) {
    return {i.A * m.angular + i.B * m.linear,
            transpose_times(i.B, m.angular) + i.M * m.linear};
  }
};

/// I − U Uᵀ/d, with V = U/d given.
template <Scalar T>
BRISTLE_INLINE constexpr ArticulatedInertia<T> reduced(const ArticulatedInertia<T>& i,
                                                       const Force<T>& u,
                                                       const Force<T>& v) {
  return {i.A - outer_parallel(u.torque, v.torque),
          {i.B.x - v.force.x * u.torque, i.B.y - v.force.y * u.torque,
           i.B.z - v.force.z * u.torque},
          i.M - outer_parallel(u.force, v.force)};
}

/// About an origin from which the present one lies at r, axes unturned:
/// B′ = B + (r×) M, A′ = A − B′ (r×) + (r×) Bᵀ, M′ = M.
template <Scalar T>
BRISTLE_INLINE constexpr ArticulatedInertia<T> shifted_back(
    const ArticulatedInertia<T>& i, const Vec3<T>& r) {
  const Sym3<T>& m = i.M;
  const Mat3<T>& b = i.B;
  Mat3<T> c{{b.x.x + (r.y * m.xz - r.z * m.xy), b.x.y + (r.z * m.xx - r.x * m.xz),
             b.x.z + (r.x * m.xy - r.y * m.xx)},
            {b.y.x + (r.y * m.yz - r.z * m.yy), b.y.y + (r.z * m.xy - r.x * m.yz),
             b.y.z + (r.x * m.yy - r.y * m.xy)},
            {b.z.x + (r.y * m.zz - r.z * m.yz), b.z.y + (r.z * m.xz - r.x * m.zz),
             b.z.z + (r.x * m.yz - r.y * m.xz)}};
  return {{i.A.xx + (r.y * (b.z.x + c.z.x) - r.z * (b.y.x + c.y.x)),
           i.A.yy + (r.z * (b.x.y + c.x.y) - r.x * (b.z.y + c.z.y)),
           i.A.zz + (r.x * (b.y.z + c.y.z) - r.y * (b.x.z + c.x.z)),
           i.A.xy + ((r.z * c.x.x - r.x * c.z.x) + (r.y * b.z.y - r.z * b.y.y)),
           i.A.xz + ((r.x * c.y.x - r.y * c.x.x) + (r.y * b.z.z - r.z * b.y.z)),
           i.A.yz + ((r.x * c.y.y - r.y * c.x.y) + (r.z * b.x.z - r.x * b.z.z))},
          c,
          m};
}

}  // namespace bristle
