#pragma once

#include "bristle/dynamics/kinematics.hpp"

namespace bristle {

/// The joint forces τ that hold against gravity what every joint carries, were it held by
/// its joints alone: τ = −Jᵀ m g, by one pass inwards. After kinematics(). `weights` has
/// room for a force per link.
template <class T>
void gravity_torque(const Tree& tree, const Workspace<T>& ws, Out<Force<T>> weights,
                    Out<T> tau) noexcept {
  using detail::at;
  const Vec3<T> g = detail::world_gravity<T>(tree);
  const int count = tree.link_count();
  for (int i = 1; i < count; ++i) {
    const Inertia<T>& inertia = ws.constants[at(i)].inertia;
    weights[at(i)] = {cross(ws.poses[at(i)].R * inertia.moment, g), inertia.mass * g};
  }
  for (int i = count - 1; i > 0; --i) {
    const Link& link = tree.link(i);
    const Force<T>& weight = weights[at(i)];
    for (int k = 0; k < velocity_count(link.type); ++k) {
      const Vec3<T>& axis = ws.dofs[at(link.v + k)].axis;
      const Vec3<T>& part = is_linear(link.type, k) ? weight.force : weight.torque;
      tau[at(link.v + k)] = -dot(axis, part);
    }
    if (link.parent == world_link) continue;
    weights[at(link.parent)] =
        weights[at(link.parent)] + shifted_back(weight, ws.links[at(i)].arm);
  }
}

}  // namespace bristle
