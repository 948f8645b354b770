#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

// Nonlinear least squares with bounds, by the Levenberg–Marquardt method of Ceres. This
// header knows neither the library nor the engine: ceres.cpp is compiled as the packaged
// library was, since the layout of its matrices depends on the vector unit.

namespace bristle::identify {

/// The least ½ Σ rᵢ(x)² with low ≤ x ≤ high.
struct LeastSquares {
  std::size_t residuals = 0;
  std::vector<double> low{}, high{};  // one of each variable
  /// Residuals at x, and unless it is null their derivatives, row by row. False where
  /// there are none: x is not tried again.
  std::function<bool(const double* x, double* residuals, double* jacobian)> evaluate{};
};

struct Minimum {
  std::vector<double> x{};
  double squares = 0;      // Σ rᵢ²
  bool converged = false;  // to a minimum, within rounding
  bool failed = false;     // there are no residuals where it starts
  int iterations = 0;
  std::string reason{};
};

/// Whether this program was built with Ceres.
bool can_minimise();

/// What to say where it was not.
inline constexpr std::string_view no_ceres =
    "this program was built without Ceres, which fits parameters: install libceres-dev "
    "(Debian, Ubuntu) and build again";

/// How close to the minimum a search ends.
enum class Precision {
  coarse,  // which minimum it is: Σ r² to 1e-8
  fine,    // as close as rounding lets it
};

/// From a start to the minimum next to it. One thread; the same numbers every time.
Minimum minimise(const LeastSquares& problem, std::vector<double> start,
                 int most_iterations, Precision precision);

}  // namespace bristle::identify
