#pragma once

#include "bristle/model/tree.hpp"

// Positions are points of a manifold, velocities live in its tangent space: a quaternion
// has four numbers and turns with three. Called as integrate<double>(tree, q, v, h).

namespace bristle {

namespace detail {

/// Calls on(link) for every link but the world.
template <class F>
BRISTLE_INLINE void for_each_joint(const Tree& tree, F on) {
  const std::span<const Link> links = tree.links();
  for (std::size_t i = 1; i < links.size(); ++i) on(links[i]);
}

}  // namespace detail

/// q ← q ⊕ h v: plain addition, and exp(h ω/2) q for quaternions, which stay unit.
template <Scalar T>
void integrate(const Tree& tree, std::span<T> q, std::span<const T> v,
               const T& h) noexcept {
  detail::for_each_joint(tree, [&](const Link& link) {
    T* to = q.data() + link.q;
    const T* rate = v.data() + link.v;
    const int quaternion = quaternion_at(link.type);
    if (quaternion < 0) {
      for (int k = 0; k < velocity_count(link.type); ++k) to[k] = to[k] + h * rate[k];
      return;
    }
    T* turn = to + quaternion;
    store(normalised(rotation_exp(h * load_vec3(rate)) * load_quaternion(turn)), turn);
    for (int k = 0; k < quaternion; ++k) to[k] = to[k] + h * rate[3 + k];
  });
}

/// The v with from ⊕ v = to; turns of quaternions are the shorter way, at most π.
template <Scalar T>
void difference(const Tree& tree, std::span<const T> from, std::span<const T> to,
                std::span<T> v) noexcept {
  detail::for_each_joint(tree, [&](const Link& link) {
    const T* a = from.data() + link.q;
    const T* b = to.data() + link.q;
    T* d = v.data() + link.v;
    const int quaternion = quaternion_at(link.type);
    if (quaternion < 0) {
      for (int k = 0; k < velocity_count(link.type); ++k) d[k] = b[k] - a[k];
      return;
    }
    store(rotation_log(load_quaternion(b + quaternion) *
                       conjugate(load_quaternion(a + quaternion))),
          d);
    for (int k = 0; k < quaternion; ++k) d[3 + k] = b[k] - a[k];
  });
}

/// q̇, one number per position; for quaternions ½ (0, ω) q.
template <Scalar T>
void position_rates(const Tree& tree, std::span<const T> q, std::span<const T> v,
                    std::span<T> rates) noexcept {
  detail::for_each_joint(tree, [&](const Link& link) {
    const T* from = v.data() + link.v;
    T* to = rates.data() + link.q;
    const int quaternion = quaternion_at(link.type);
    if (quaternion < 0) {
      for (int k = 0; k < velocity_count(link.type); ++k) to[k] = from[k];
      return;
    }
    store(
        quaternion_rate(load_quaternion(q.data() + link.q + quaternion), load_vec3(from)),
        to + quaternion);
    for (int k = 0; k < quaternion; ++k) to[k] = from[3 + k];
  });
}

/// Brings every quaternion back to unit length.
template <Scalar T>
void normalise(const Tree& tree, std::span<T> q) noexcept {
  detail::for_each_joint(tree, [&](const Link& link) {
    const int quaternion = quaternion_at(link.type);
    if (quaternion < 0) return;
    T* turn = q.data() + link.q + quaternion;
    store(normalised(load_quaternion(turn)), turn);
  });
}

}  // namespace bristle
