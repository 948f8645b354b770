#pragma once

#include "bristle/core/vec.hpp"

namespace bristle {

/// The contact frame: n from A into B, and two tangents. Tangential memory lives in (t1,
/// t2).
template <Scalar T>
struct Frame {
  Vec3<T> t1, t2, n;

  BRISTLE_INLINE Vec2<T> to_tangent(const Vec3<T>& v) const {
    return {dot(v, t1), dot(v, t2)};
  }
  BRISTLE_INLINE Vec3<T> to_world(const Vec2<T>& v) const { return v.x * t1 + v.y * t2; }
};

/// Some frame with that normal.
template <Scalar T>
BRISTLE_INLINE Frame<T> frame_from_normal(const Vec3<T>& n) {
  using N = Value<T>;
  // The axis that is least parallel to n, made perpendicular to it.
  const auto flat = abs(n.x) < T(N(0.6));
  const Vec3<T> axis{select(flat, T(1), T(0)), select(flat, T(0), T(1)), T(0)};
  const Vec3<T> across = axis - dot(axis, n) * n;
  const Vec3<T> t1 = (T(1) / norm(across)) * across;
  return {t1, cross(n, t1), n};
}

/// The frame moved to a new normal: turned along with n by the shortest way, so that it
/// has no spin of its own, then by `turn` [rad] about n. `turn` is the mean spin of the
/// two bodies about n over the step, so that swapping A and B changes nothing.
template <Scalar T>
BRISTLE_INLINE Frame<T> transport(const Frame<T>& frame, const Vec3<T>& normal,
                                  const T& turn) {
  using N = Value<T>;
  // t ← t − (t·n′)/(1 + n·n′) (n + n′): the rotation n → n′ for a vector across n
  const T c = T(1) / (T(1) + dot(frame.n, normal));
  const Vec3<T> moved = frame.t1 - (c * dot(frame.t1, normal)) * (frame.n + normal);
  const Vec3<T> across =
      moved - dot(moved, normal) * normal;  // round-off does not build up
  const Vec3<T> t1 = (T(1) / norm(across)) * across;
  const Vec3<T> t2 = cross(normal, t1);
  // cos and sin of the turn as a rotation that is exactly one: half-angle tangent
  const T half = T(N(0.5)) * turn;
  const T tangent = half * (T(1) + half * half / T(3));
  const T q = T(1) / (T(1) + square(tangent));
  const T cosine = (T(1) - square(tangent)) * q;
  const T sine = T(2) * tangent * q;
  const Vec3<T> turned = cosine * t1 + sine * t2;
  return {turned, cross(normal, turned), normal};
}

}  // namespace bristle
