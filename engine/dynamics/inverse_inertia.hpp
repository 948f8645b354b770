#pragma once

#include "bristle/dynamics/forward_dynamics.hpp"
#include "bristle/dynamics/jacobian_row.hpp"

namespace bristle {

namespace detail {

/// Carries a force on one link towards the world and adds what each joint on the way
/// makes of it: w = D^−½ (−Sᵀ p), so that w·w′ summed over all joints is f·J M⁻¹ Jᵀ f′.
/// With `has_dof`, `on_dof` acts on the joint velocity `dof` of that link as well.
template <bool has_dof, Scalar T>
void half_row(const Tree& tree, const Workspace<T>& ws, int link, Force<T> f, T* w,
              [[maybe_unused]] int dof = -1, [[maybe_unused]] T on_dof = T(0)) {
  // A force on the link enters the recursion as p = −f; signs cancel in the product.
  int i = link;
  while (i != world_link) {
    const Link& above = tree.link(i);
    if (!ws.locked[at(i)]) {
      if (above.type == JointType::free) {
        // A free joint transmits nothing but the force on its own velocity, which goes to
        // its parent.
        Force<T> back = Force<T>::zero();
        bool ends = true;
        if constexpr (has_dof) {
          const int k = dof - above.v;
          ends = k < 0 || k >= 6;
          if (!ends) {
            Vec3<T>& part = is_linear(above.type, k) ? back.force : back.torque;
            part = -(on_dof * ws.dofs[at(dof)].axis);
          }
        }
        Motion<T> half = ws.free[at(above.free)].half_solve(f - back);
        T* to = w + above.v;
        store(load_vec3(to) + half.angular, to);
        store(load_vec3(to + 3) + half.linear, to + 3);
        if (ends) return;
        f = shifted_back(back, ws.links[at(i)].arm);
        i = above.parent;
        continue;
      }
      over_dofs<true>(above.type, [&]<bool linear>(int k) {
        const DofWork<T>& work = ws.dofs[at(above.v + k)];
        T u = dot(work.axis, linear ? f.force : f.torque);
        if constexpr (has_dof) {
          if (above.v + k == dof) u = u + on_dof;
        }
        T& to = w[above.v + k];
        to = to + sqrt(work.inverse) * u;
        f = f - (u * work.inverse) * work.U;
      });
    }
    f = shifted_back(f, ws.links[at(i)].arm);
    i = above.parent;
  }
}

/// The half row of one Jacobian row, added to nᵥ numbers.
template <Scalar T>
void half_row(const Tree& tree, const Workspace<T>& ws, const JacobianRow<T>& row, T* w) {
  if (row.dof >= 0) {
    half_row<true>(tree, ws, tree.dofs()[at(row.dof)].link, Force<T>::zero(), w, row.dof,
                   row.on_dof);
    return;
  }
  for (const DofWeight& j : row.joints) {
    half_row<true>(tree, ws, tree.dofs()[at(j.dof)].link, Force<T>::zero(), w, j.dof,
                   T(j.weight));
  }
  if (!row.joints.empty()) return;
  half_row<false>(tree, ws, row.link_a, row.on_a, w);
  half_row<false>(tree, ws, row.link_b, row.on_b, w);
}

}  // namespace detail

/// J M⁻¹ Jᵀ for a set of rows, m² numbers; exactly symmetric. Uses the last
/// factorisation. `halves` is room for m rows of nᵥ numbers, W with W Wᵀ = J M⁻¹ Jᵀ: only
/// inward sweeps are needed, each no longer than the way from its links to the world.
template <class T>
void inverse_inertia(const Tree& tree, In<JacobianRow<T>> rows, const Workspace<T>& ws,
                     Out<T> halves, Out<T> matrix) noexcept {
  const std::size_t n = detail::at(tree.velocity_count());
  const std::size_t m = rows.size();
  for (std::size_t k = 0; k < m * n; ++k) halves[k] = T(0);
  for (std::size_t i = 0; i < m; ++i) {
    T* w = halves.data() + i * n;
    detail::half_row(tree, ws, rows[i], w);
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
