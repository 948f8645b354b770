#pragma once

#include <type_traits>

#include "bristle/core/dual.hpp"
#include "bristle/core/scalar.hpp"

// The small vectors of laws and contact frames: plain values of any scalar kind.

namespace bristle {

template <Scalar T>
struct Vec2 {
  T x, y;

  BRISTLE_INLINE friend constexpr Vec2 operator-(const Vec2& a) { return {-a.x, -a.y}; }
  BRISTLE_INLINE friend constexpr Vec2 operator+(const Vec2& a, const Vec2& b) {
    return {a.x + b.x, a.y + b.y};
  }
  BRISTLE_INLINE friend constexpr Vec2 operator-(const Vec2& a, const Vec2& b) {
    return {a.x - b.x, a.y - b.y};
  }
  BRISTLE_INLINE friend constexpr Vec2 operator*(const T& k, const Vec2& a) {
    return {k * a.x, k * a.y};
  }
  BRISTLE_INLINE friend constexpr T dot(const Vec2& a, const Vec2& b) {
    return a.x * b.x + a.y * b.y;
  }
  BRISTLE_INLINE friend constexpr T norm2(const Vec2& a) { return dot(a, a); }
  /// |a|; its derivative at 0 is 0.
  BRISTLE_INLINE friend T norm(const Vec2& a) { return root(norm2(a)); }
  template <class M>
  BRISTLE_INLINE friend constexpr Vec2 select(const M& m, const Vec2& a, const Vec2& b) {
    return {select(m, a.x, b.x), select(m, a.y, b.y)};
  }
};

template <Scalar T>
struct Vec3 {
  T x, y, z;

  BRISTLE_INLINE friend constexpr Vec3 operator-(const Vec3& a) {
    return {-a.x, -a.y, -a.z};
  }
  BRISTLE_INLINE friend constexpr Vec3 operator+(const Vec3& a, const Vec3& b) {
    return {a.x + b.x, a.y + b.y, a.z + b.z};
  }
  BRISTLE_INLINE friend constexpr Vec3 operator-(const Vec3& a, const Vec3& b) {
    return {a.x - b.x, a.y - b.y, a.z - b.z};
  }
  BRISTLE_INLINE friend constexpr Vec3 operator*(const T& k, const Vec3& a) {
    return {k * a.x, k * a.y, k * a.z};
  }
  BRISTLE_INLINE friend constexpr T dot(const Vec3& a, const Vec3& b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
  }
  BRISTLE_INLINE friend constexpr Vec3 cross(const Vec3& a, const Vec3& b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
  }
  BRISTLE_INLINE friend constexpr T norm2(const Vec3& a) { return dot(a, a); }
  BRISTLE_INLINE friend T norm(const Vec3& a) { return root(norm2(a)); }
  template <class M>
  BRISTLE_INLINE friend constexpr Vec3 select(const M& m, const Vec3& a, const Vec3& b) {
    return {select(m, a.x, b.x), select(m, a.y, b.y), select(m, a.z, b.z)};
  }
};

/// Two or three components.
template <Scalar T, int D>
using Vec = std::conditional_t<D == 2, Vec2<T>, Vec3<T>>;

/// The first two components.
template <Scalar T>
BRISTLE_INLINE Vec2<T> in_plane(const Vec3<T>& v) {
  return {v.x, v.y};
}

/// The part of v that is perpendicular to a, given |a|².
template <Scalar T>
BRISTLE_INLINE Vec2<T> across(const Vec2<T>& a, const Vec2<T>& v, const T& length2) {
  const T turn = (a.x * v.y - a.y * v.x) / length2;
  return {-(turn * a.y), turn * a.x};
}
template <Scalar T>
BRISTLE_INLINE Vec3<T> across(const Vec3<T>& a, const Vec3<T>& v, const T& length2) {
  return (T(1) / length2) * cross(cross(a, v), a);
}

}  // namespace bristle
