#pragma once

#include "bristle/dynamics/kinematics.hpp"

namespace bristle {

/// The joint forces τ that give the accelerations v̇, by the recursive Newton–Euler
/// algorithm (Luh, Walker & Paul 1980): M v̇ + bias − Jᵀ f = τ. After kinematics() with
/// the same v. `external` holds the force on each link about its origin in world axes, or
/// is empty; so may `acceleration` be, for v̇ = 0.
template <class T>
void inverse_dynamics(const Tree& tree, In<T> v, In<T> acceleration,
                      In<Force<T>> external, Workspace<T>& ws, Out<T> tau) noexcept {
  using detail::at;
  const int count = tree.link_count();
  LinkWork<T>* work = ws.links.data();
  const DofWork<T>* dofs = ws.dofs.data();
  work[0].bias = {{T(0), T(0), T(0)}, -detail::world_gravity<T>(tree)};
  work[0].spread = Mat3<T>::zero();
  for (int i = 1; i < count; ++i) {
    const Link& link = tree.link(i);
    const LinkWork<T>& parent = work[link.parent];
    const DofWork<T>* dof = dofs + link.v;
    Motion<T> a = detail::velocity_products(link, dof, v.data() + link.v,
                                            ws.velocities[at(link.parent)].angular);
    if (!acceleration.empty()) {
      a = a + detail::joint_motion(link, dof, acceleration.data() + link.v);
    }
    a.angular = a.angular + parent.bias.angular;
    a.linear = a.linear + (parent.bias.linear + parent.spread * work[i].arm);
    Vec3<T> w = ws.velocities[at(i)].angular;
    Inertia<T> inertia = rotated(ws.poses[at(i)].R, ws.constants[at(i)].inertia);
    work[i].bias = a;
    work[i].spread = detail::spread_of(a.angular, w);
    work[i].force = detail::newton_euler(inertia, w, a, work[i].spread);
    if (!external.empty()) work[i].force = work[i].force - external[at(i)];
  }
  for (int i = count - 1; i > 0; --i) {
    const Link& link = tree.link(i);
    Force<T> f = work[i].force;
    for (int k = 0; k < velocity_count(link.type); ++k) {
      const Vec3<T>& axis = dofs[link.v + k].axis;
      T& to = tau[at(link.v + k)];
      to = is_linear(link.type, k) ? dot(axis, f.force) : dot(axis, f.torque);
      if (!acceleration.empty()) {
        to = to + ws.armature[at(link.v + k)] * acceleration[at(link.v + k)];
      }
    }
    if (link.parent == world_link) continue;
    work[link.parent].force = work[link.parent].force + shifted_back(f, work[i].arm);
  }
}

}  // namespace bristle
