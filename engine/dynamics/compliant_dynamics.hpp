#pragma once

#include "bristle/dynamics/forward_dynamics.hpp"

// Links that are tied to the world by springs and dampers, as an implicit step has them:
// the resistance to a change of their velocity, Σ d f fᵀ with d = h (h k + c), f the unit
// pushes, joins their own inertia, and the articulated-body algorithm stays as it is.

namespace bristle {

/// d f fᵀ on a link, f about its origin in world axes.
template <Scalar T>
struct Tie {
  int link;
  Force<T> push;
  T resistance;  // d [kg]
};

namespace detail {

template <Scalar T>
BRISTLE_INLINE void add_ties(std::span<const Tie<T>> ties, Workspace<T>& ws) {
  for (const Tie<T>& tie : ties) {
    ArticulatedInertia<T>& to = ws.links[at(tie.link)].articulated;
    const Vec3<T>& torque = tie.push.torque;
    const Vec3<T>& force = tie.push.force;
    Vec3<T> n = tie.resistance * torque, f = tie.resistance * force;
    to = to + ArticulatedInertia<T>{outer_parallel(n, torque),
                                    {force.x * n, force.y * n, force.z * n},
                                    outer_parallel(f, force)};
  }
}

}  // namespace detail

/// v̇ of (M + Σ Jᵀ d J) v̇ = τ + Jᵀ f − bias, as forward_dynamics() has it without ties.
/// Leaves the factorised matrix for solve_mass().
template <class T>
void tied_dynamics(const Tree& tree, In<T> v, In<T> tau, In<Force<T>> external,
                   std::span<const Tie<T>> ties, Workspace<T>& ws,
                   Out<T> acceleration) noexcept {
  detail::unlock(ws.locked);
  detail::bias_pass<false, T>(tree, v.data(), nullptr,
                              external.empty() ? nullptr : external.data(), ws);
  detail::add_ties(ties, ws);
  detail::inward_pass<true, true, T>(tree, tau.data(), ws);
  detail::outward_pass<false, T>(tree, ws, acceleration.data(), nullptr);
}

/// Factorises M + Σ Jᵀ d J again, where other ties were in the last tied_dynamics(), for
/// solve_mass().
template <class T>
void factorise_tied(const Tree& tree, std::span<const Tie<T>> ties,
                    Workspace<T>& ws) noexcept {
  using detail::at;
  detail::unlock(ws.locked);
  for (int i = 1; i < tree.link_count(); ++i) {
    ws.links[at(i)].articulated = ArticulatedInertia<T>::rigid(ws.links[at(i)].inertia);
  }
  detail::add_ties(ties, ws);
  detail::inward_pass<true, false, T>(tree, nullptr, ws);
}

}  // namespace bristle
