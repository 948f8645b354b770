#pragma once

#include "bristle/complementarity/problem.hpp"

// Dense matrices of one island, row by row in plain arrays.

namespace bristle::dense {

/// a·b, in an order of its own: four lanes, then their sum.
BRISTLE_INLINE double dot(int n, const double* a, const double* b) {
  using Lanes = Pack<double, 4>;
  Lanes lanes = 0;
  int i = 0;
  for (; i + 4 <= n; i += 4) lanes += Lanes::load(a + i) * Lanes::load(b + i);
  double rest = 0;
  for (; i < n; ++i) rest += a[i] * b[i];
  return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + rest;
}

/// A of an island: n × n. `line` is room for as many numbers as it has velocities.
void form(const Island& island, double* line, double* a) noexcept;

/// The lower factor of a symmetric positive matrix, in place (upper part untouched). A
/// pivot that rounding has made smaller than `least` of its row is raised to it.
void cholesky(int n, const double* least, double* a) noexcept;

/// Solves with the factor, in place.
void cholesky_solve(int n, const double* factor, double* x) noexcept;

/// Solves a x = r by elimination with partial pivoting, both in place; false where a
/// pivot is zero.
bool eliminate(int n, double* a, double* r) noexcept;

}  // namespace bristle::dense
