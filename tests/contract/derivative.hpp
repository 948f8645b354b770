#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "tests/contract/support.hpp"

// Derivatives against central differences.
//
// Differences are taken with two steps, h = |x|/8192 and h/2, and extrapolated to
// (4 D(h/2) − D(h))/3. A kink or guard crossing between the points shows in that the two
// disagree by more than smoothness allows, or the differences to the left and to the
// right do; such a point is left out. So is one whose difference is mostly round-off. The
// points left out are counted, and must not be the rule.

namespace bristle::contract {

struct Difference {
  double value;
  double noise;  // what round-off may have done to it
  bool smooth;
};

/// ∂f/∂x by central differences; f is called with the step from x. `rough` is what
/// round-off is known to do to f.
template <class F>
Difference difference(const F& f, double x, double rough = 0) {
  const double h = std::fmax(std::fabs(x) / 8192, 1e-60);
  const double points[]{f(-h), f(-h / 2), f(0), f(h / 2), f(h)};
  const double wide = (points[4] - points[0]) / (2 * h);
  const double narrow = (points[3] - points[1]) / h;
  const double left = (points[2] - points[0]) / h;
  const double right = (points[4] - points[2]) / h;
  // Round-off: from how far f is from a parabola in between, and at least so much that
  // the result is good to 1e-6 of f/x.
  for (const double y : points) rough = std::fmax(rough, 0x1p-37 * std::fabs(y));
  const double bend = (points[4] - 2 * points[2] + points[0]) / (2 * h * h);
  for (int k = -3; k <= 3; ++k) {
    for (const double part : {0x1p-28, 0.0371, 0.1136}) {
      const double t = k * h * part;
      rough = std::fmax(rough, std::fabs(f(t) - points[2] - narrow * t - bend * t * t));
    }
  }
  const double noise = 16 * rough / h;
  const double value = narrow + (narrow - wide) / 3;
  // For a smooth f the two differ by O((h/x)²) of the value; a kink gives O(1).
  const bool smooth =
      std::fabs(wide - narrow) <= 2e-6 * std::fabs(value) + noise &&
      std::fabs(right - left) <= 2e-2 * (std::fabs(left) + std::fabs(right)) + noise;
  return {value, noise, smooth};
}

/// How many points of each input said something, over those tried.
class Coverage {
 public:
  explicit Coverage(std::vector<std::string> names)
      : names_(std::move(names)), tried_(names_.size()), told_(names_.size()) {}
  void count(std::size_t input, bool told) {
    ++tried_[input];
    told_[input] += told ? 1 : 0;
  }
  const std::string& name(std::size_t input) const { return names_[input]; }
  void expect_at_least(double share) const {
    for (std::size_t i = 0; i < names_.size(); ++i) {
      EXPECT_GE(told_[i], share * tried_[i]) << "by " << names_[i];
    }
  }

 private:
  std::vector<std::string> names_;
  std::vector<double> tried_, told_;
};

/// Compares one derivative with the difference of a function; true where that said
/// something. `largest` is the largest derivative by the same input.
inline bool expect_derivative(const Difference& d, double derivative, double largest,
                              const std::string& what) {
  if (!d.smooth) return false;
  const double size = std::fmax(std::fabs(d.value), std::fabs(derivative));
  const double rounding = 64 * std::numeric_limits<double>::denorm_min();
  EXPECT_LE(std::fabs(d.value - derivative),
            1e-6 * size + 1e-14 * largest + d.noise + rounding)
      << what << ": difference " << d.value << ", derivative " << derivative;
  return size == 0 || d.noise < 1e-2 * size;
}

/// f: std::array<T, n> → a struct of T, for T double and dual, whose numbers are known to
/// within `rough`.
/// Checks every output by every input of `inputs`, but for those named "" (flags,
/// choices).
template <std::size_t n, class F, class Out>
void expect_derivatives(const F& f, const std::array<double, n>& x, const Out& rough,
                        Coverage& coverage) {
  using D = Dual<double, 1>;
  constexpr std::size_t outputs = field_count<Out, double>;
  std::array<std::array<double, outputs>, n> by;
  std::array<double, outputs> known_to{};  // what round-off in the inputs does
  std::array<double, n> largest{};
  for (std::size_t i = 0; i < n; ++i) {
    std::array<D, n> seeded;
    for (std::size_t j = 0; j < n; ++j) seeded[j] = along(x[j], j == i ? 1.0 : 0.0);
    const auto f_along = f(seeded);
    for (std::size_t k = 0; k < outputs; ++k) {
      by[i][k] = field<D>(f_along, k).by[0];
      largest[i] = std::fmax(largest[i], std::fabs(by[i][k]));
      known_to[k] +=
          8 * std::numeric_limits<double>::epsilon() * std::fabs(by[i][k] * x[i]);
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    if (coverage.name(i).empty()) continue;
    for (std::size_t k = 0; k < outputs; ++k) {
      const auto moved = [&](double step) {
        auto at = x;
        at[i] += step;
        return field<double>(f(at), k);
      };
      const double least = std::fmax(field<double>(rough, k), known_to[k]);
      coverage.count(i, expect_derivative(
                            difference(moved, x[i], least), by[i][k], largest[i],
                            "output " + std::to_string(k) + " by " + coverage.name(i)));
    }
  }
}

/// Names of the inputs: motion, then parameters, then memory.
template <class L>
std::vector<std::string> input_names(std::vector<std::string> motion) {
  for (const auto& field : L::parameters()) {
    const bool named = field.about.is_flag() || field.about.is_choice();
    motion.emplace_back(named ? "" : field.about.name);
  }
  for (const auto& field : L::state()) motion.emplace_back(field.name);
  return motion;
}

/// Parameters and memory from a row of numbers that starts at `first`.
template <class L, class T, std::size_t n>
void unpack(const std::array<T, n>& x, std::size_t first,
            typename L::template Params<T>& params,
            typename L::template State<T>& state) {
  constexpr std::size_t own = field_count<typename L::template Params<T>, T>;
  for (std::size_t i = 0; i < own; ++i) field<T>(params, i) = x[first + i];
  for (std::size_t i = 0; i < field_count<typename L::template State<T>, T>; ++i) {
    field<T>(state, i) = x[first + own + i];
  }
}
template <class L, std::size_t n>
void pack_up(std::array<double, n>& x, std::size_t first, const ParamsOf<L>& params,
             const StateOf<L>& state) {
  constexpr std::size_t own = field_count<ParamsOf<L>, double>;
  for (std::size_t i = 0; i < own; ++i) x[first + i] = field<double>(params, i);
  for (std::size_t i = 0; i < field_count<StateOf<L>, double>; ++i) {
    x[first + own + i] = field<double>(state, i);
  }
}

}  // namespace bristle::contract
