#pragma once

#include "bristle/dynamics/kinematics.hpp"

// One row of a constraint's Jacobian, sparse: the links that it moves, one joint
// velocity, or several with weights. Contacts, joint limits, loops and couplings all have
// rows of this kind.

namespace bristle {

/// A unit of the row is `on_b` on link b and `on_a` on link a, each about its link's
/// origin in world axes, and `on_dof` on the joint velocity `dof`, where there is one.
/// Link 0, the world, cannot move.
template <Scalar T>
struct JacobianRow {
  int link_a = world_link;
  int link_b = world_link;
  Force<T> on_a = Force<T>::zero();
  Force<T> on_b = Force<T>::zero();
  int dof = -1;
  T on_dof = T(0);
  std::span<const DofWeight> joints{};  // in place of all of that, where there are any
};

/// The row of a contact: force along `direction` on link b, the opposite on link a, at
/// one point in the world.
template <Scalar T>
JacobianRow<T> row_at_point(const Workspace<T>& ws, int link_a, int link_b,
                            const std::type_identity_t<Vec3<T>>& point,
                            const std::type_identity_t<Vec3<T>>& direction) noexcept {
  using detail::at;
  return {link_a,
          link_b,
          {-cross(point - ws.poses[at(link_a)].p, direction), -direction},
          {cross(point - ws.poses[at(link_b)].p, direction), direction}};
}

/// The row of a joint velocity.
template <Scalar T>
JacobianRow<T> row_of_joint(int dof, const std::type_identity_t<T>& sign) noexcept {
  JacobianRow<T> row;
  row.dof = dof;
  row.on_dof = sign;
  return row;
}

/// The row of a sum of joint velocities with weights, which must outlive it.
template <Scalar T>
JacobianRow<T> row_of_joints(std::span<const DofWeight> joints) noexcept {
  JacobianRow<T> row;
  row.joints = joints;
  return row;
}

/// J v: the velocity along the row. After kinematics() for v.
template <class T>
T row_rate(const Workspace<T>& ws, std::type_identity_t<In<T>> v,
           const JacobianRow<T>& row) noexcept {
  using detail::at;
  if (row.dof >= 0) return row.on_dof * v[at(row.dof)];
  if (!row.joints.empty()) {
    T rate = T(0);
    for (const DofWeight& j : row.joints) rate = rate + T(j.weight) * v[at(j.dof)];
    return rate;
  }
  return dot(row.on_a, ws.velocities[at(row.link_a)]) +
         dot(row.on_b, ws.velocities[at(row.link_b)]);
}

/// Adds Jᵀ k to the forces on links and joints.
template <class T>
void add_row(const JacobianRow<T>& row, const std::type_identity_t<T>& k,
             std::type_identity_t<Out<Force<T>>> on_links,
             std::type_identity_t<Out<T>> on_joints) noexcept {
  using detail::at;
  if (row.dof >= 0) {
    on_joints[at(row.dof)] = on_joints[at(row.dof)] + k * row.on_dof;
    return;
  }
  if (!row.joints.empty()) {
    for (const DofWeight& j : row.joints) {
      on_joints[at(j.dof)] = on_joints[at(j.dof)] + k * T(j.weight);
    }
    return;
  }
  Force<T>& a = on_links[at(row.link_a)];
  Force<T>& b = on_links[at(row.link_b)];
  a = a + k * row.on_a;
  b = b + k * row.on_b;
}

/// The row of J as nᵥ numbers. After kinematics().
template <class T>
void dense_row(const Tree& tree, const Workspace<T>& ws, const JacobianRow<T>& row,
               std::type_identity_t<Out<T>> out) noexcept {
  using detail::at;
  for (T& entry : out) entry = T(0);
  if (row.dof >= 0) {
    out[at(row.dof)] = row.on_dof;
    return;
  }
  for (const DofWeight& j : row.joints) out[at(j.dof)] = out[at(j.dof)] + T(j.weight);
  const auto add = [&](int link, Force<T> f) {
    for (int i = link; i != world_link; i = tree.link(i).parent) {
      const Link& above = tree.link(i);
      for (int k = 0; k < velocity_count(above.type); ++k) {
        const Vec3<T>& axis = ws.dofs[at(above.v + k)].axis;
        T& entry = out[at(above.v + k)];
        entry = entry + dot(axis, is_linear(above.type, k) ? f.force : f.torque);
      }
      f = shifted_back(f, ws.links[at(i)].arm);
    }
  };
  add(row.link_a, row.on_a);
  add(row.link_b, row.on_b);
}

}  // namespace bristle
