#pragma once

#include "bristle/complementarity/solver.hpp"

namespace bristle {

/// Which rows are at a bound is guessed, the others are solved for, and rows that then
/// break their conditions change sides: all of them at once (block principal pivoting)
/// as long as their number falls, else only the first (Murty's least index), which is
/// finite for every positive definite A. The guess starts from z.
///
/// Redundant rows make A singular. Each problem is therefore solved around the last
/// answer ẑ with A + ε diag(A), that is for z − ẑ with w(ẑ) in place of b (proximal
/// points): the answer is that of A, of least change where it is not unique, and repeated
/// solves refine it. ε does not appear in the result. It is 1e-10, and larger for a
/// while where sides cannot be found at once (proximal points converge with any ε).
///
/// Friction discs become boxes with the sides R |t_i|/|t| of the trial force
/// t = z_t − w_t/A_tt, and boxes and answers are iterated; the fixed point is the radial
/// return. Coupled radii R = μ z_n are iterated with them, which contracts by
/// μ|A_NT|/A_NN. Where it does not, as for islands too large to factorise, Gauss–Seidel
/// sweeps take over, and the report says so.
struct Pivoting {
  static constexpr SolverInfo info{
      .name = "pivoting",
      .title = "Block principal pivoting",
      .method = "solves for the rows between bounds until all rows fit",
      .source =
          "Júdice & Pires 1992, 1994 (blocks, and one row at a time when they cycle); "
          "the bounds of discs are iterated as Peiret, Kövecses & Font-Llagunes propose, "
          "in the direction of the trial force instead of along fixed axes",
      .limits = "Small islands: time grows with the cube of their rows."};

  static Room room(int rows, int velocities, const SolveOptions& options);
  static IslandReport solve(const Island& island, const SolveOptions& options, double* z,
                            Scratch scratch) noexcept;
};

}  // namespace bristle
