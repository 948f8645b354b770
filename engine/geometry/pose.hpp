#pragma once

#include "bristle/spatial/transform.hpp"

// Functions of poses and vectors that the geometry uses.

namespace bristle::geometry {

/// Component i of a vector.
template <Scalar T>
BRISTLE_INLINE constexpr T& at(Vec3<T>& v, int i) {
  return i == 0 ? v.x : (i == 1 ? v.y : v.z);
}
template <Scalar T>
BRISTLE_INLINE constexpr const T& at(const Vec3<T>& v, int i) {
  return i == 0 ? v.x : (i == 1 ? v.y : v.z);
}

/// Axis i of a pose, in world axes: a column of R.
template <Scalar T>
BRISTLE_INLINE Vec3<T> axis(const Transform<T>& X, int i) {
  return i == 0 ? X.R.x : (i == 1 ? X.R.y : X.R.z);
}
/// A direction from body to world axes, R v.
template <Scalar T>
BRISTLE_INLINE Vec3<T> turn(const Transform<T>& X, const Vec3<T>& v) {
  return X.R * v;
}
/// A direction from world to body axes, Rᵀ v.
template <Scalar T>
BRISTLE_INLINE Vec3<T> turn_back(const Transform<T>& X, const Vec3<T>& v) {
  return transpose_times(X.R, v);
}
/// A point from body to world coordinates.
template <Scalar T>
BRISTLE_INLINE Vec3<T> place(const Transform<T>& X, const Vec3<T>& x) {
  return X * x;
}
/// A point from world to body coordinates.
template <Scalar T>
BRISTLE_INLINE Vec3<T> locate(const Transform<T>& X, const Vec3<T>& x) {
  return turn_back(X, x - X.p);
}

/// The pose of B in the axes of A.
template <Scalar T>
BRISTLE_INLINE Transform<T> relative(const Transform<T>& a, const Transform<T>& b) {
  return {{turn_back(a, b.R.x), turn_back(a, b.R.y), turn_back(a, b.R.z)},
          locate(a, b.p)};
}

/// The same vector in scalar kind T, as a constant.
template <Scalar T>
BRISTLE_INLINE constexpr Vec3<T> constant(const Vec3<double>& v) {
  using N = Value<T>;
  return {T(static_cast<N>(v.x)), T(static_cast<N>(v.y)), T(static_cast<N>(v.z))};
}
template <Scalar T>
BRISTLE_INLINE constexpr T constant(double x) {
  return T(static_cast<Value<T>>(x));
}

/// The vector without its derivatives, in double.
template <Scalar T>
BRISTLE_INLINE constexpr Vec3<double> values(const Vec3<T>& v) {
  return {static_cast<double>(value_of(v.x)), static_cast<double>(value_of(v.y)),
          static_cast<double>(value_of(v.z))};
}

/// v/|v|, or `otherwise` where |v| is 0 or not a normal number.
template <Scalar T>
BRISTLE_INLINE Vec3<T> unit_or(const Vec3<T>& v, const Vec3<T>& otherwise) {
  const T square = norm2(v);
  if (!(value_of(square) > Value<T>(1e-30))) {
    // Too short to square safely: scale first.
    const T largest = max(abs(v.x), max(abs(v.y), abs(v.z)));
    if (!(value_of(largest) > Value<T>(1e-37))) return otherwise;
    const Vec3<T> scaled = (T(1) / largest) * v;
    return (T(1) / norm(scaled)) * scaled;
  }
  return (T(1) / sqrt(square)) * v;
}

/// Some unit vector across v; |v| need not be 1, but not 0.
template <Scalar T>
BRISTLE_INLINE Vec3<T> across(const Vec3<T>& v) {
  const Vec3<double> size = values(v);
  const double x = size.x < 0 ? -size.x : size.x;
  const double y = size.y < 0 ? -size.y : size.y;
  const double z = size.z < 0 ? -size.z : size.z;
  const Vec3<T> axis = x <= y && x <= z ? Vec3<T>{T(1), T(0), T(0)}
                       : y <= z         ? Vec3<T>{T(0), T(1), T(0)}
                                        : Vec3<T>{T(0), T(0), T(1)};
  return unit_or(cross(v, axis), Vec3<T>{T(1), T(0), T(0)});
}

}  // namespace bristle::geometry
