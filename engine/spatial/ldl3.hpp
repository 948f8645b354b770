#pragma once

#include "bristle/spatial/sym3.hpp"

namespace bristle {

/// A symmetric positive 3×3 matrix as L D Lᵀ, L with ones on its diagonal; the inverse of
/// D is kept. No square root is needed to solve.
template <Scalar T>
struct Ldl3 {
  T l10, l20, l21;
  T i0, i1, i2;  // 1/D

  BRISTLE_INLINE static constexpr Ldl3 of(const Sym3<T>& s) {
    const T i0 = T(1) / s.xx;
    const T l10 = s.xy * i0;
    const T l20 = s.xz * i0;
    const T i1 = T(1) / (s.yy - l10 * s.xy);
    const T c21 = s.yz - l20 * s.xy;
    const T l21 = c21 * i1;
    const T i2 = T(1) / ((s.zz - l20 * s.xz) - l21 * c21);
    return {l10, l20, l21, i0, i1, i2};
  }

  /// L⁻¹ b
  BRISTLE_INLINE constexpr Vec3<T> lower_solve(const Vec3<T>& b) const {
    const T y = b.y - l10 * b.x;
    return {b.x, y, (b.z - l20 * b.x) - l21 * y};
  }
  /// The matrix's inverse times b.
  BRISTLE_INLINE constexpr Vec3<T> solve(const Vec3<T>& b) const {
    Vec3<T> y = lower_solve(b);
    const T z = i2 * y.z;
    const T m = i1 * y.y - l21 * z;
    return {(i0 * y.x - l10 * m) - l20 * z, m, z};
  }
  /// w = D^−½ L⁻¹ b, so that w·w′ = b·S⁻¹b′.
  BRISTLE_INLINE constexpr Vec3<T> half_solve(const Vec3<T>& b) const {
    Vec3<T> y = lower_solve(b);
    return {sqrt(i0) * y.x, sqrt(i1) * y.y, sqrt(i2) * y.z};
  }
};

}  // namespace bristle
