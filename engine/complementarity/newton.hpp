#pragma once

#include "bristle/complementarity/solver.hpp"

namespace bristle {

/// Newton's method on the natural map z = P(z − ρ w), all rows of an island together. At
/// z, with the trial forces z − ρ w, each row is at a bound or between (w = 0), and each
/// contact is open (z = 0), sticks (w = 0), or slides:
///
///   w_n = 0,   z_t = R e,   e = t/|t|,   t = z_t − w_t/A_tt,   R = μ z_n or held,
///
/// whose derivative also turns the direction, δe = (1 − e eᵀ) δt/|t|. Normal and
/// tangents of a contact are coupled in the matrix, so that a ratio μ|A_NT|/A_NN above 1
/// does no harm; near the answer errors are squared. ε diag(A), ε = 1e-10, is added where
/// w = 0 is asked for: with redundant rows the step of least change is taken, and the
/// answer does not depend on ε.
///
/// Newton's steps may lead away or cycle. They start from Gauss–Seidel sweeps and are
/// kept only while the residual falls. Where it does not, proximal points are followed
/// with a larger ε, w + ε diag(A)(z − ẑ) around the last answer ẑ, which falls as they
/// are solved; where that fails too, twice as many sweeps make the next start. Islands
/// without contacts, and those too large to factorise, go to Pivoting. The last step is a
/// sweep's, so that what is reported of the local problems, and which of several answers
/// is taken, agrees with Gauss–Seidel.
struct Newton {
  static constexpr SolverInfo info{
      .name = "newton",
      .title = "Newton",
      .method = "Newton's method on all rows of an island, begun and checked by sweeps",
      .source =
          "Alart & Curnier 1991, with R from z_n instead of its trial value, and "
          "safeguarded by Gauss–Seidel sweeps and proximal points",
      .limits = "Small islands: time grows with the cube of their rows."};

  static Room room(int rows, int velocities, const SolveOptions& options);
  static IslandReport solve(const Island& island, const SolveOptions& options, double* z,
                            Scratch scratch) noexcept;
};

}  // namespace bristle
