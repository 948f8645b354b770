#pragma once

#include "bristle/dynamics/kinematics.hpp"

namespace bristle {

/// The mass matrix, by the composite-rigid-body algorithm (Walker & Orin 1982): row by
/// row into nᵥ² numbers. After kinematics(); the velocities play no part.
template <class T>
void mass_matrix(const Tree& tree, Workspace<T>& ws, Out<T> matrix) noexcept {
  using detail::at;
  const int count = tree.link_count();
  const std::size_t n = at(tree.velocity_count());
  LinkWork<T>* work = ws.links.data();
  const DofWork<T>* dofs = ws.dofs.data();
  for (int i = 1; i < count; ++i) {
    work[i].inertia = rotated(ws.poses[at(i)].R, ws.constants[at(i)].inertia);
  }
  for (std::size_t k = 0; k < n * n; ++k) matrix[k] = T(0);
  for (int i = count - 1; i > 0; --i) {
    const Link& link = tree.link(i);
    Inertia<T> whole = work[i].inertia;  // of the link and its subtree
    for (int k = 0; k < velocity_count(link.type); ++k) {
      const std::size_t row = at(link.v + k);
      Motion<T> s = Motion<T>::zero();
      (is_linear(link.type, k) ? s.linear : s.angular) = dofs[row].axis;
      Force<T> f = whole * s;
      // Towards the world, the force that this velocity's acceleration needs.
      for (int j = i; j != world_link; j = tree.link(j).parent) {
        const Link& above = tree.link(j);
        for (int l = 0; l < velocity_count(above.type); ++l) {
          const std::size_t column = at(above.v + l);
          const Vec3<T>& axis = dofs[column].axis;
          const T m = is_linear(above.type, l) ? dot(axis, f.force) : dot(axis, f.torque);
          matrix[row * n + column] = m;
          matrix[column * n + row] = m;
        }
        f = shifted_back(f, work[j].arm);
      }
      matrix[row * n + row] = matrix[row * n + row] + ws.armature[row];
    }
    if (link.parent == world_link) continue;
    work[link.parent].inertia =
        work[link.parent].inertia + shifted_back(whole, work[i].arm);
  }
}

}  // namespace bristle
