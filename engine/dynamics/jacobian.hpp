#pragma once

#include "bristle/dynamics/kinematics.hpp"

namespace bristle {

/// How the velocities move a link: 6 rows of nᵥ numbers, its turning and then the
/// movement of its point that is now at `point`, in world axes. After kinematics().
template <Scalar T>
void jacobian(const Tree& tree, const Workspace<T>& ws, int link,
              const std::type_identity_t<Vec3<T>>& point, Out<T> rows) noexcept {
  using detail::at;
  const std::size_t n = at(tree.velocity_count());
  for (std::size_t k = 0; k < 6 * n; ++k) rows[k] = T(0);
  for (int i = link; i != world_link; i = tree.link(i).parent) {
    const Link& above = tree.link(i);
    Vec3<T> r = point - ws.poses[at(i)].p;
    for (int k = 0; k < velocity_count(above.type); ++k) {
      const std::size_t column = at(above.v + k);
      Vec3<T> axis = ws.dofs[column].axis;
      Vec3<T> turn{T(0), T(0), T(0)};
      Vec3<T> move = axis;
      if (!is_linear(above.type, k)) {
        turn = axis;
        move = cross(axis, r);
      }
      rows[column] = turn.x;
      rows[n + column] = turn.y;
      rows[2 * n + column] = turn.z;
      rows[3 * n + column] = move.x;
      rows[4 * n + column] = move.y;
      rows[5 * n + column] = move.z;
    }
  }
}

/// Its last three rows alone: 3 rows of nᵥ numbers.
template <Scalar T>
void point_jacobian(const Tree& tree, const Workspace<T>& ws, int link,
                    const std::type_identity_t<Vec3<T>>& point, Out<T> rows) noexcept {
  using detail::at;
  const std::size_t n = at(tree.velocity_count());
  for (std::size_t k = 0; k < 3 * n; ++k) rows[k] = T(0);
  for (int i = link; i != world_link; i = tree.link(i).parent) {
    const Link& above = tree.link(i);
    Vec3<T> r = point - ws.poses[at(i)].p;
    for (int k = 0; k < velocity_count(above.type); ++k) {
      const std::size_t column = at(above.v + k);
      Vec3<T> axis = ws.dofs[column].axis;
      Vec3<T> move = is_linear(above.type, k) ? axis : cross(axis, r);
      rows[column] = move.x;
      rows[n + column] = move.y;
      rows[2 * n + column] = move.z;
    }
  }
}

/// Jᵀ f: the joint forces that are worth forces on the links, added to `tau`. After
/// kinematics(); overwrites the forces in the workspace.
template <Scalar T>
void add_link_forces(const Tree& tree, In<Force<T>> forces, Workspace<T>& ws,
                     Out<T> tau) noexcept {
  using detail::at;
  for (int i = 1; i < tree.link_count(); ++i) ws.links[at(i)].force = forces[at(i)];
  for (int i = tree.link_count() - 1; i > 0; --i) {
    const Link& link = tree.link(i);
    Force<T> f = ws.links[at(i)].force;
    for (int k = 0; k < velocity_count(link.type); ++k) {
      const std::size_t v = at(link.v + k);
      const Vec3<T>& axis = ws.dofs[v].axis;
      tau[v] =
          tau[v] + (is_linear(link.type, k) ? dot(axis, f.force) : dot(axis, f.torque));
    }
    if (link.parent == world_link) continue;
    Force<T>& onward = ws.links[at(link.parent)].force;
    onward = onward + shifted_back(f, ws.links[at(i)].arm);
  }
}

}  // namespace bristle
