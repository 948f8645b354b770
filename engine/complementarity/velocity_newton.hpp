#pragma once

#include "bristle/complementarity/solver.hpp"

namespace bristle {

/// Newton's method on the velocities of an island. Where every row has a compliance, the
/// velocities y = Wᵀz say what the impulses are, unit by unit and without iteration:
///
///   w₀ = W y + b,   z = P(−w₀/C)   (between bounds; radially onto the disc R = μ z_n)
///
/// and what is left is G(y) = y − Wᵀ z(y) = 0, with the derivative 1 + Wᵀ D W,
/// D = −∂z/∂w₀. A contact that slides couples its tangents to its normal, so that D is
/// not symmetric. The matrix is as large as the velocities, however many contacts there
/// are, and as sparse as bodies touch: it is kept in an envelope, the velocities in the
/// order of Cuthill & McKee, and factorised without pivoting. A step that does not lessen
/// |G| is shortened; where that does not help, the coupling is left out, and the matrix
/// is that of a convex problem.
///
/// Islands with rows without compliance, and those whose envelope has no room, go to
/// Newton.
struct VelocityNewton {
  static constexpr SolverInfo info{
      .name = "velocity-newton",
      .title = "Newton on velocities",
      .method = "Newton's method on the velocities of an island, by a sparse matrix",
      .source =
          "Castro, Permenter & Han 2022, An unconstrained convex formulation of "
          "compliant "
          "contact, for the elimination of impulses; ours: Coulomb's own cone, whose "
          "bound "
          "follows the normal impulse, and the envelope",
      .limits = "Rows with compliance; time grows with the bodies' envelope."};

  static Room room(int rows, int velocities, const SolveOptions& options);
  static IslandReport solve(const Island& island, const SolveOptions& options, double* z,
                            Scratch scratch) noexcept;
};

}  // namespace bristle
