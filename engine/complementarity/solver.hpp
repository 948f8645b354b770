#pragma once

#include <algorithm>
#include <concepts>
#include <string_view>
#include <vector>

#include "bristle/complementarity/problem.hpp"

// The contract of solvers. A solver is a type that is never instantiated: it says what
// it is (`info`), how much room the largest island needs (`room`) and solves one island
// at a time (`solve`), from a guess in z. `solve` below takes it over all islands.

namespace bristle {

struct SolveOptions {
  double tolerance = 1e-8;    // of the residual, relative to the free velocity
  int iterations = 1000;      // at most, per island
  bool symmetric = false;     // Gauss–Seidel sweeps to and fro
  bool accelerated = true;    // Gauss–Seidel sweeps by conjugate directions
  int most_dense_rows = 600;  // islands above it are never factorised as a whole
};

/// How well an island was solved.
struct IslandReport {
  Residual residual;  // [m/s], and its row in the island
  int iterations = 0;
  bool converged = false;
  int without_answer = 0;   // contacts whose local problem has no solution,
  int several_answers = 0;  // or several, at the end
  bool handed_over = false;
};

/// How well a problem was solved.
struct SolveReport {
  double residual = 0;    // largest natural map, ρ_i = 1/A_ii, times A_ii [m/s]
  double relative = 0;    // largest of residual/free velocity, island by island
  int worst_row = -1;     // whose residual is the largest relative one
  bool converged = true;  // every island to the tolerance
  int iterations = 0;     // of the island that took most
  int islands = 0;
  int unconverged = 0;      // islands that are not solved to the tolerance
  int without_answer = 0;   // contacts that close although no body can move
  int several_answers = 0;  // contacts whose local problem has several answers
  int handed_over = 0;      // islands that another solver had to finish
};

/// Numbers and integers that a solver needs for an island.
struct Room {
  std::size_t numbers = 0;
  std::size_t integers = 0;

  friend constexpr Room operator+(const Room& a, const Room& b) {
    return {a.numbers + b.numbers, a.integers + b.integers};
  }
};

/// Room handed out from the front.
class Scratch {
 public:
  Scratch(double* numbers, int* integers) : numbers_(numbers), integers_(integers) {}

  double* numbers(std::size_t n) noexcept {
    double* const taken = numbers_;
    numbers_ += n;
    return taken;
  }
  int* integers(std::size_t n) noexcept {
    int* const taken = integers_;
    integers_ += n;
    return taken;
  }

 private:
  double* numbers_;
  int* integers_;
};

struct SolverInfo {
  std::string_view name;    // as typed: "gauss-seidel"
  std::string_view title;   // as read: "Gauss–Seidel"
  std::string_view method;  // in a sentence
  std::string_view source;  // where from, and our deviation
  std::string_view limits;  // where it holds and what to beware of
};

template <class S>
concept ComplementaritySolver =
    requires(const Island& island, const SolveOptions& options, double* z,
             Scratch scratch, int n) {
      { S::info } -> std::convertible_to<SolverInfo>;
      { S::room(n, n, options) } -> std::same_as<Room>;  // rows, velocities
      { S::solve(island, options, z, scratch) } noexcept -> std::same_as<IslandReport>;
    };

/// Grows when a larger problem comes, and then serves all that are not larger. One
/// workspace serves one thread.
class SolveWorkspace {
 public:
  Scratch fit(const Room& room) {
    if (numbers_.size() < room.numbers) numbers_.resize(room.numbers);
    if (integers_.size() < room.integers) integers_.resize(room.integers);
    return {numbers_.data(), integers_.data()};
  }

 private:
  std::vector<double> numbers_;
  std::vector<int> integers_;
};

/// Solves a problem. z is the guess, by rows of the problem, and gets the answer.
template <ComplementaritySolver S>
SolveReport solve(const ComplementarityProblem& problem, const SolveOptions& options,
                  std::span<double> z, SolveWorkspace& workspace) noexcept {
  const auto most = static_cast<std::size_t>(problem.most_rows());
  Scratch scratch = workspace.fit(
      Room{most, 0} + S::room(problem.most_rows(), problem.most_velocities(), options));
  double* const own = scratch.numbers(most);
  SolveReport report;
  report.islands = problem.island_count();
  for (int i = 0; i < problem.island_count(); ++i) {
    const Island island = problem.island(i);
    const std::span<const int> rows = problem.rows_of(i);
    for (std::size_t k = 0; k < rows.size(); ++k) {
      own[k] = z[static_cast<std::size_t>(rows[k])];
    }
    const IslandReport part = S::solve(island, options, own, scratch);
    for (std::size_t k = 0; k < rows.size(); ++k) {
      z[static_cast<std::size_t>(rows[k])] = own[k];
    }
    const double largest = part.residual.largest;
    const double relative = largest == 0 ? 0 : largest / island.scale;
    report.residual = std::max(report.residual, largest);
    if (!(relative <= report.relative)) {
      report.relative = relative;
      report.worst_row = rows[static_cast<std::size_t>(part.residual.row)];
    }
    report.iterations = std::max(report.iterations, part.iterations);
    report.converged = report.converged && part.converged;
    report.unconverged += part.converged ? 0 : 1;
    report.without_answer += part.without_answer;
    report.several_answers += part.several_answers;
    report.handed_over += part.handed_over ? 1 : 0;
  }
  return report;
}

}  // namespace bristle
