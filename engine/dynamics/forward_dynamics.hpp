#pragma once

#include <cstring>

#include "bristle/dynamics/kinematics.hpp"

// The articulated-body algorithm (Featherstone 1983; 2008, § 7.3), in two parts that
// share their loops:
//
//   bias    the acceleration that gravity, velocities and prescribed joints give every
//           link while the other joints do not accelerate, and the force it needs
//   solve   what the joints add: M v̇ = τ − bias, from the leaves to the world and back
//
// Our deviation from the book: with the velocity terms in the first part, the recursion
// has no c, so that "solve" serves M⁻¹ x as well; a joint with several velocities is
// eliminated as that many single ones in the same place, except the free joint, which
// transmits nothing but its own joint force.

namespace bristle {

namespace detail {

/// Takes one velocity out of the articulated inertia and stores what the solves need;
/// the remaining inertia only where it is needed.
template <bool linear, Scalar T>
BRISTLE_INLINE void eliminate(ArticulatedInertia<T>& i, DofWork<T>& dof,
                              const T& armature, bool needed) {
  Vec3<T> s = dof.axis;
  Force<T> u{linear ? i.B * s : i.A * s, linear ? i.M * s : transpose_times(i.B, s)};
  const T d = dot(s, linear ? u.force : u.torque) + armature;
  const T inverse = T(1) / d;
  if (needed) {
    Force<T> v = inverse * u;
    i = reduced(i, u, v);
  }
  dof.U = u;
  dof.inverse = inverse;
}

/// The same for the force: what the joint transmits of it.
template <bool linear, Scalar T>
BRISTLE_INLINE void give_way(Force<T>& p, DofWork<T>& dof, const T& tau) {
  const T u = tau - dot(dof.axis, linear ? p.force : p.torque);
  dof.u = u;
  const T k = u * dof.inverse;
  p = p + k * dof.U;
}

/// One velocity on the way out: v̇ = (u − Uᵀa)/D, a ← a + S v̇.
template <bool linear, Scalar T>
BRISTLE_INLINE T respond(Motion<T>& a, const DofWork<T>& dof) {
  const T x = dof.inverse * (dof.u - dot(dof.U, a));
  Vec3<T>& part = linear ? a.linear : a.angular;
  part = part + x * dof.axis;
  return x;
}

/// f.template operator()<linear>(k) for the velocities of a joint with fewer than six,
/// from the last to the first or the other way round.
template <bool backward, class F>
BRISTLE_INLINE void over_dofs(JointType type, F f) {
  switch (type) {
    case JointType::fixed:
    case JointType::free:
      break;
    case JointType::revolute:
      f.template operator()<false>(0);
      break;
    case JointType::prismatic:
      f.template operator()<true>(0);
      break;
    case JointType::universal:
      f.template operator()<false>(backward ? 1 : 0);
      f.template operator()<false>(backward ? 0 : 1);
      break;
    case JointType::spherical:
      f.template operator()<false>(backward ? 2 : 0);
      f.template operator()<false>(1);
      f.template operator()<false>(backward ? 0 : 2);
      break;
    case JointType::planar:
      if (backward) f.template operator()<false>(2);
      f.template operator()<true>(backward ? 1 : 0);
      f.template operator()<true>(backward ? 0 : 1);
      if (!backward) f.template operator()<false>(2);
      break;
  }
}

/// Accelerations and forces without the joints' own accelerations; those of locked joints
/// are taken from `acceleration`.
template <bool hybrid, Scalar T>
BRISTLE_INLINE void bias_pass(const Tree& tree, const T* v, const T* acceleration,
                              const Force<T>* external, Workspace<T>& ws) {
  const Link* links = tree.links().data();
  const int count = tree.link_count();
  LinkWork<T>* work = ws.links.data();
  const DofWork<T>* dofs = ws.dofs.data();
  const Motion<T>* velocities = ws.velocities.data();
  work[0].bias = {{T(0), T(0), T(0)}, -world_gravity<T>(tree)};
  work[0].spread = Mat3<T>::zero();
  for (int i = 1; i < count; ++i) {
    const Link& link = links[i];
    const LinkWork<T>& parent = work[link.parent];
    const DofWork<T>* dof = dofs + link.v;
    Motion<T> a =
        velocity_products(link, dof, v + link.v, velocities[link.parent].angular);
    if (hybrid && ws.locked[at(i)]) {
      a = a + joint_motion(link, dof, acceleration + link.v);
    }
    a.angular = a.angular + parent.bias.angular;
    Vec3<T> carried = parent.bias.linear;
    if (link.parent != world_link) carried = carried + parent.spread * work[i].arm;
    a.linear = a.linear + carried;
    Vec3<T> w = velocities[i].angular;
    Mat3<T> spread = spread_of(a.angular, w);
    Inertia<T> inertia = rotated(ws.poses[at(i)].R, ws.constants[at(i)].inertia);
    Force<T> f = newton_euler(inertia, w, a, spread);
    if (external != nullptr) f = f - external[i];
    work[i].inertia = inertia;
    work[i].bias = a;
    work[i].spread = spread;
    work[i].force = f;
    work[i].articulated = ArticulatedInertia<T>::rigid(inertia);
  }
}

/// Inwards: articulated inertias (`factor`) and forces (`solve`).
template <bool factor, bool solve, Scalar T>
BRISTLE_INLINE void inward_pass(const Tree& tree, const T* tau, Workspace<T>& ws) {
  const Link* links = tree.links().data();
  const T* armature = ws.armature.data();
  LinkWork<T>* work = ws.links.data();
  for (int i = tree.link_count() - 1; i > 0; --i) {
    const Link& link = links[i];
    LinkWork<T>& own = work[i];
    LinkWork<T>& parent = work[link.parent];
    DofWork<T>* dof = ws.dofs.data() + link.v;
    Vec3<T> r = own.arm;
    ArticulatedInertia<T> inertia = own.articulated;
    Force<T> p = own.force;
    if (!ws.locked[at(i)]) {
      if (link.type == JointType::free) {
        FreeFactor<T>& free = ws.free[at(link.free)];
        if (factor) free = FreeFactor<T>::of(free.axes, inertia);
        if (solve) {
          Force<T> applied{free.axes * load_vec3(tau + link.v),
                           free.axes * load_vec3(tau + link.v + 3)};
          own.force = applied - p;  // what accelerates it
          if (link.parent != world_link) {
            parent.force = parent.force + shifted_back(applied, r);
          }
        }
        continue;
      }
      over_dofs<true>(link.type, [&]<bool linear>(int k) BRISTLE_INLINE_LAMBDA {
        // Nothing to compute for the world, and 0 comes last.
        const bool needed = k > 0 || link.parent != world_link;
        if (factor) eliminate<linear>(inertia, dof[k], armature[link.v + k], needed);
        if (solve) give_way<linear>(p, dof[k], tau[link.v + k]);
      });
    }
    if (link.parent == world_link) continue;
    if (factor) {
      parent.articulated = parent.articulated + shifted_back(inertia, r);
    }
    if (solve) parent.force = parent.force + shifted_back(p, r);
  }
}

/// Outwards: accelerations of the joints and what they add to those of the links.
template <bool hybrid, Scalar T>
BRISTLE_INLINE void outward_pass(const Tree& tree, Workspace<T>& ws, T* acceleration,
                                 T* tau) {
  const Link* links = tree.links().data();
  const int count = tree.link_count();
  LinkWork<T>* work = ws.links.data();
  work[0].response = Motion<T>::zero();
  for (int i = 1; i < count; ++i) {
    const Link& link = links[i];
    LinkWork<T>& own = work[i];
    const DofWork<T>* dof = ws.dofs.data() + link.v;
    T* x = acceleration + link.v;
    Motion<T> a = work[link.parent].response;
    if (link.parent != world_link) a = shifted(a, own.arm);
    if (hybrid && ws.locked[at(i)]) {
      // The joint carries the force that moves its whole subtree.
      Force<T> f = own.articulated * a + own.force;
      for (int k = 0; k < velocity_count(link.type); ++k) {
        const Vec3<T>& axis = dof[k].axis;
        tau[link.v + k] =
            (is_linear(link.type, k) ? dot(axis, f.force) : dot(axis, f.torque)) +
            ws.armature[at(link.v + k)] * x[k];
      }
    } else if (ws.locked[at(i)]) {
      for (int k = 0; k < velocity_count(link.type); ++k) x[k] = T(0);
    } else if (link.type == JointType::free) {
      const FreeFactor<T>& free = ws.free[at(link.free)];
      Motion<T> total = free.solve(own.force);
      Motion<T> relative = total - a;
      store(transpose_times(free.axes, relative.angular), x);
      store(transpose_times(free.axes, relative.linear), x + 3);
      a = total;
    } else {
      over_dofs<false>(link.type, [&]<bool linear>(int k) BRISTLE_INLINE_LAMBDA {
        x[k] = respond<linear>(a, dof[k]);
      });
    }
    own.response = a;
  }
}

BRISTLE_INLINE void unlock(std::vector<std::uint8_t>& locked) {
  std::memset(locked.data(), 0, locked.size());
}

}  // namespace detail

/// The accelerations v̇ that joint forces τ, gravity and external forces cause. After
/// kinematics() with the same v; `external` as in inverse_dynamics(). Leaves the
/// factorised mass matrix for solve_mass() and its like.
template <class T>
void forward_dynamics(const Tree& tree, In<T> v, In<T> tau, In<Force<T>> external,
                      Workspace<T>& ws, Out<T> acceleration) noexcept {
  detail::unlock(ws.locked);
  detail::bias_pass<false, T>(tree, v.data(), nullptr,
                              external.empty() ? nullptr : external.data(), ws);
  detail::inward_pass<true, true, T>(tree, tau.data(), ws);
  detail::outward_pass<false, T>(tree, ws, acceleration.data(), nullptr);
}

/// The same where some joints move as prescribed (Featherstone 2008, § 9.2): `prescribed`
/// has one entry per link, not zero where the acceleration of its joint is given and its
/// force is wanted. There `acceleration` is read and `tau` written; elsewhere `tau` is
/// read and `acceleration` written.
template <class T>
void hybrid_dynamics(const Tree& tree, In<T> v, std::span<const std::uint8_t> prescribed,
                     In<Force<T>> external, Workspace<T>& ws, Out<T> tau,
                     Out<T> acceleration) noexcept {
  std::memcpy(ws.locked.data(), prescribed.data(), ws.locked.size());
  detail::bias_pass<true, T>(tree, v.data(), acceleration.data(),
                             external.empty() ? nullptr : external.data(), ws);
  detail::inward_pass<true, true, T>(tree, tau.data(), ws);
  detail::outward_pass<true, T>(tree, ws, acceleration.data(), tau.data());
}

/// Factorises the mass matrix at the positions of the last kinematics();
/// forward_dynamics() does so by itself. `prescribed` as in hybrid_dynamics(), or empty.
template <class T>
void factorise(const Tree& tree, Workspace<T>& ws,
               std::span<const std::uint8_t> prescribed = {}) noexcept {
  using detail::at;
  if (prescribed.empty()) {
    detail::unlock(ws.locked);
  } else {
    std::memcpy(ws.locked.data(), prescribed.data(), ws.locked.size());
  }
  for (int i = 1; i < tree.link_count(); ++i) {
    ws.links[at(i)].articulated = ArticulatedInertia<T>::rigid(
        rotated(ws.poses[at(i)].R, ws.constants[at(i)].inertia));
  }
  detail::inward_pass<true, false, T>(tree, nullptr, ws);
}

/// M⁻¹ x in O(n), with forces f on the links as well: M⁻¹ (x + Jᵀ f). Uses the last
/// factorisation; a joint whose acceleration was prescribed there stays at rest. `forces`
/// may be empty. x and the result may be the same.
template <class T>
void solve_mass(const Tree& tree, In<T> x, In<Force<T>> forces, Workspace<T>& ws,
                Out<T> result) noexcept {
  using detail::at;
  for (int i = 0; i < tree.link_count(); ++i) {
    ws.links[at(i)].force = forces.empty() ? Force<T>::zero() : -forces[at(i)];
  }
  detail::inward_pass<false, true, T>(tree, x.data(), ws);
  detail::outward_pass<false, T>(tree, ws, result.data(), nullptr);
}

}  // namespace bristle
