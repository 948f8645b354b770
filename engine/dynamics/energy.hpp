#pragma once

#include "bristle/dynamics/kinematics.hpp"

namespace bristle {

/// ½ vᵀ M v, armatures included [J]. After kinematics() with the same v.
template <Scalar T>
T kinetic_energy(const Tree& tree, In<T> v, const Workspace<T>& ws) noexcept {
  using detail::at;
  T twice = T(0);
  for (int i = 1; i < tree.link_count(); ++i) {
    const Inertia<T>& inertia = ws.constants[at(i)].inertia;
    const Mat3<T>& axes = ws.poses[at(i)].R;
    const Motion<T>& m = ws.velocities[at(i)];
    // In the link's own axes, where its inertia is known.
    Motion<T> own{transpose_times(axes, m.angular), transpose_times(axes, m.linear)};
    twice = twice + dot(inertia * own, own);
  }
  for (std::size_t k = 0; k < ws.armature.size(); ++k) {
    twice = twice + ws.armature[k] * (v[k] * v[k]);
  }
  return T(Value<T>(0.5)) * twice;
}

/// −Σ m g·c [J]: zero where everything is at the world's origin.
template <Scalar T>
T gravity_energy(const Tree& tree, const Workspace<T>& ws) noexcept {
  using detail::at;
  Vec3<T> g = detail::world_gravity<T>(tree);
  T energy = T(0);
  for (int i = 1; i < tree.link_count(); ++i) {
    const Inertia<T>& inertia = ws.constants[at(i)].inertia;
    const Transform<T>& pose = ws.poses[at(i)];
    energy = energy - dot(g, inertia.mass * pose.p + pose.R * inertia.moment);
  }
  return energy;
}

/// Energy in the joints' springs [J].
template <Scalar T>
T spring_energy(const Tree& tree, In<T> q) noexcept {
  using N = Value<T>;
  T twice = T(0);
  for (const Dof& dof : tree.dofs()) {
    if (dof.q < 0) continue;
    const T stretch = q[detail::at(dof.q)] - T(static_cast<N>(dof.rest));
    twice = twice + T(static_cast<N>(dof.stiffness)) * (stretch * stretch);
  }
  return T(N(0.5)) * twice;
}

/// The forces of the joints' springs and dampers, −k (q − rest) − d v, added to `tau`;
/// returns the power that the dampers take [W].
template <Scalar T>
T add_joint_springs(const Tree& tree, In<T> q, In<T> v, Out<T> tau) noexcept {
  using N = Value<T>;
  T power = T(0);
  const std::span<const Dof> dofs = tree.dofs();
  for (std::size_t k = 0; k < dofs.size(); ++k) {
    const Dof& dof = dofs[k];
    const T damper = T(static_cast<N>(dof.damping)) * v[k];
    power = power + damper * v[k];
    tau[k] = tau[k] - damper;
    if (dof.q < 0) continue;
    const T stretch = q[detail::at(dof.q)] - T(static_cast<N>(dof.rest));
    tau[k] = tau[k] - T(static_cast<N>(dof.stiffness)) * stretch;
  }
  return power;
}

}  // namespace bristle
