#pragma once

#include "bristle/dynamics/forward_dynamics.hpp"

namespace bristle {

/// A direction in which something pushes: a unit of it is `on_b` on link b and `on_a` on
/// link a, each about its link's origin in world axes. Link 0, the world, gives way to
/// nothing.
template <Scalar T>
struct PushRow {
  int link_a = world_link;
  int link_b = world_link;
  Force<T> on_a = Force<T>::zero();
  Force<T> on_b = Force<T>::zero();
};

/// The row of a contact: force along `direction` on link b, the opposite on link a, at
/// one point in the world.
template <Scalar T>
PushRow<T> push_at(const Workspace<T>& ws, int link_a, int link_b,
                   const std::type_identity_t<Vec3<T>>& point,
                   const std::type_identity_t<Vec3<T>>& direction) noexcept {
  using detail::at;
  return {link_a,
          link_b,
          {-cross(point - ws.poses[at(link_a)].p, direction), -direction},
          {cross(point - ws.poses[at(link_b)].p, direction), direction}};
}

namespace detail {

/// Carries a force on one link towards the world and adds what each joint on the way
/// makes of it: w = D^−½ (−Sᵀ p), so that w·w′ summed over all joints is f·J M⁻¹ Jᵀ f′.
template <Scalar T>
void push_one(const Tree& tree, const Workspace<T>& ws, int link, Force<T> f, T* w) {
  // A force on the link enters the recursion as p = −f; signs cancel in the product.
  int i = link;
  while (i != world_link) {
    const Link& above = tree.link(i);
    if (!ws.locked[at(i)]) {
      if (above.type == JointType::free) {
        Motion<T> half = ws.free[at(above.free)].half_solve(f);
        T* to = w + above.v;
        store(load_vec3(to) + half.angular, to);
        store(load_vec3(to + 3) + half.linear, to + 3);
        return;  // it gives way entirely: nothing is left for its parent
      }
      over_dofs<true>(above.type, [&]<bool linear>(int k) {
        const DofWork<T>& dof = ws.dofs[at(above.v + k)];
        const T u = dot(dof.axis, linear ? f.force : f.torque);
        T& to = w[above.v + k];
        to = to + sqrt(dof.inverse) * u;
        f = f - (u * dof.inverse) * dof.U;
      });
    }
    f = shifted_back(f, ws.links[at(i)].arm);
    i = above.parent;
  }
}

}  // namespace detail

/// J M⁻¹ Jᵀ for a set of rows, m² numbers; exactly symmetric. Uses the last
/// factorisation. `halves` is room for m rows of nᵥ numbers, W with W Wᵀ = J M⁻¹ Jᵀ: only
/// inward sweeps are needed, each no longer than the way from its links to the world.
template <class T>
void inverse_inertia(const Tree& tree, In<PushRow<T>> rows, const Workspace<T>& ws,
                     Out<T> halves, Out<T> matrix) noexcept {
  const std::size_t n = detail::at(tree.velocity_count());
  const std::size_t m = rows.size();
  for (std::size_t k = 0; k < m * n; ++k) halves[k] = T(0);
  for (std::size_t i = 0; i < m; ++i) {
    T* w = halves.data() + i * n;
    detail::push_one(tree, ws, rows[i].link_a, rows[i].on_a, w);
    detail::push_one(tree, ws, rows[i].link_b, rows[i].on_b, w);
    for (std::size_t j = 0; j <= i; ++j) {
      const T* other = halves.data() + j * n;
      T sum = T(0);
      for (std::size_t k = 0; k < n; ++k) sum = sum + w[k] * other[k];
      matrix[i * m + j] = sum;
      matrix[j * m + i] = sum;
    }
  }
}

}  // namespace bristle
