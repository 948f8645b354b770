#pragma once

#include "bristle/complementarity/solver.hpp"

namespace bristle {

/// Contact by contact: each local problem, normal and tangents together, is solved
/// exactly while all others hold (local_contact.hpp), and y = Wᵀz follows at once.
///
/// Between two sweeps z is extrapolated along the last direction, z += β p with
/// β = |g|²/|g⁻|², g what the sweep has changed, in the norm of diag(A), and p ← g + β p:
/// the conjugate gradients of Fletcher & Reeves with the sweep in place of the gradient
/// (Silcowitz, Niebuhr & Erleben 2010). Directions are left out where sweeps converge
/// fast by themselves (β < 0.7) or not at all (β > 1), and given up for the rest of a
/// solve once changes have grown a hundredfold beyond the least ones.
struct GaussSeidel {
  static constexpr SolverInfo info{
      .name = "gauss-seidel",
      .title = "Gauss–Seidel",
      .method = "contact by contact, each local problem solved exactly",
      .source =
          "Jourdan, Alart & Jean 1998 (contacts one by one); Bonnefon & Daviet 2011 (the "
          "local problem); Silcowitz, Niebuhr & Erleben 2010 (conjugate directions)",
      .limits = "Any size. Stiff chains and large mass ratios take many sweeps."};

  static Room room(int rows, int velocities, const SolveOptions& options);
  static IslandReport solve(const Island& island, const SolveOptions& options, double* z,
                            Scratch scratch) noexcept;
};

}  // namespace bristle
