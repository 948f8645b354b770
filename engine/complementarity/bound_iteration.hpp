#pragma once

#include <cmath>

#include "bristle/complementarity/solver.hpp"

// Friction bounds as in the paper: from the last normal impulses,
// R = μ z_n⁻, and "a few iterations can be performed in order to make the boundaries tend
// to ±μλ_N⁺" (Peiret, Kövecses & Font-Llagunes). One contact that slides contracts by
// μ|A_NT|/A_NN; above 1 the iteration diverges, even where the coupled problem has one
// solution.

namespace bristle {

struct BoundIterationReport {
  SolveReport solve;  // the last one, with bounds held
  int iterations = 0;
  bool converged = false;  // bounds changed less than the tolerance
  double ratio = 0;        // of the last two changes of normal impulses, in magnitude
};

/// Solves with bounds R = μ z_n from the guess z, `iterations` times at most (1 is the
/// lagged form), and with at most twice as many iterations of the solver in all. Normal
/// impulses have converged when they change by less than `tolerance` of the largest one.
/// Bounds of the problem stay held. `before` is room for as many numbers as z has.
template <ComplementaritySolver S>
BoundIterationReport iterate_bounds(ComplementarityProblem& problem,
                                    const SolveOptions& options, double tolerance,
                                    int iterations, std::span<double> z,
                                    std::span<double> before,
                                    SolveWorkspace& workspace) noexcept {
  BoundIterationReport report;
  double last = 0;
  int spent = 0;  // iterations of the solver
  const int most = 2 * std::max(iterations, options.iterations);
  while (report.iterations < iterations && spent < most && !report.converged) {
    std::copy(z.begin(), z.end(), before.begin());
    problem.hold_bounds(z);
    report.solve = solve<S>(problem, options, z, workspace);
    ++report.iterations;
    spent += report.solve.iterations;
    double change = 0, size = 0;
    for (int i = 0; i < problem.island_count(); ++i) {
      const Island island = problem.island(i);
      const std::span<const int> rows = problem.rows_of(i);
      for (const Unit& unit : island.units) {
        if (unit.contact < 0) continue;
        const auto row =
            static_cast<std::size_t>(rows[static_cast<std::size_t>(unit.row)]);
        change = std::max(change, std::abs(z[row] - before[row]));
        size = std::max(size, std::abs(z[row]));
      }
    }
    report.ratio = last > 0 ? change / last : 0;
    report.converged = change <= tolerance * size;
    last = change;
  }
  return report;
}

}  // namespace bristle
