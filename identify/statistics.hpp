#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <span>
#include <vector>

// The small mathematics of a fit: Student's t, random numbers that are the same
// everywhere, singular values, and loops over independent tasks.

namespace bristle::identify {

/// The t with which a share of Student's distribution lies in (−t, t). Infinitely many
/// degrees of freedom give the normal distribution.
double student_t(double share, double degrees);

/// A stream of random numbers: the same on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed, std::uint64_t stream = 0);
  double uniform();  // in (0, 1)
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  double normal();
  std::size_t below(std::size_t count);

 private:
  std::mt19937_64 bits_;
};

/// A matrix by rows.
struct Matrix {
  std::size_t rows = 0, columns = 0;
  std::vector<double> values{};

  Matrix() = default;
  Matrix(std::size_t r, std::size_t c) : rows(r), columns(c), values(r * c) {}
  double& operator()(std::size_t i, std::size_t j) { return values[i * columns + j]; }
  double operator()(std::size_t i, std::size_t j) const {
    return values[i * columns + j];
  }
};

/// Singular values, the largest first, and the directions that belong to them, as
/// columns.
struct Singular {
  std::vector<double> values;
  Matrix directions;
};

/// Of a matrix with no fewer rows than columns: Householder's triangle, then Jacobi's
/// rotations from the right, which keep the digits of the small values.
Singular singular_values(Matrix a);

/// Tasks 0 … count − 1, on some threads; they must not depend on each other.
void for_each_task(std::size_t count, int threads,
                   const std::function<void(std::size_t)>& task);

/// The middle of some numbers; 0 of none.
double median(std::vector<double> numbers);

}  // namespace bristle::identify
