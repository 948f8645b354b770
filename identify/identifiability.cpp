#include "identify/identifiability.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <string_view>

namespace bristle::identify {

namespace {

constexpr double least_ratio = 2e-3;  // of singular values, unknowns of equal effect
constexpr double no_effect = 1e-10;   // of the measured values, when an unknown doubles
constexpr double takes_part = 0.1;    // of the largest part in a direction

double column_norm(const Matrix& a, std::size_t j) {
  double sum = 0;
  for (std::size_t i = 0; i < a.rows; ++i) sum += a(i, j) * a(i, j);
  return std::sqrt(sum);
}

/// Directions in relative changes that the data leave open, each of length 1.
std::vector<std::vector<double>> open_directions(const Matrix& relative,
                                                 const std::vector<double>& norms,
                                                 double half_width) {
  std::vector<std::vector<double>> open;
  const std::size_t n = relative.columns;
  const auto add = [&](const Singular& s, std::size_t j, bool scaled) {
    std::vector<double> direction(n);
    double length = 0;
    for (std::size_t i = 0; i < n; ++i) {
      direction[i] = s.directions(i, j) / (scaled ? norms[i] : 1);
      length += direction[i] * direction[i];
    }
    for (double& d : direction) d /= std::sqrt(length);
    open.push_back(std::move(direction));
  };
  Matrix equal = relative;
  for (std::size_t i = 0; i < equal.rows; ++i) {
    for (std::size_t j = 0; j < n; ++j) equal(i, j) /= norms[j];
  }
  const Singular collinear = singular_values(std::move(equal));
  for (std::size_t j = 0; j < n; ++j) {
    if (collinear.values[j] < least_ratio * collinear.values[0]) add(collinear, j, true);
  }
  if (!open.empty()) return open;
  const Singular sure = singular_values(relative);
  for (std::size_t j = 0; j < n; ++j) {
    if (half_width > std::numbers::ln2 * sure.values[j]) add(sure, j, false);
  }
  return open;
}

std::string power_text(const std::string& factor, double exponent) {
  char number[32];
  std::snprintf(number, sizeof number, "%.3g", exponent);
  return std::string_view(number) == "1" ? factor : factor + "^" + number;
}

/// The products of powers that do not change along the open directions. Each of them
/// has one unknown to the power 1 and powers of the pivots, of which there are as many as
/// directions.
std::vector<std::string> invariants(std::vector<std::vector<double>> open,
                                    const std::vector<std::string>& factors) {
  const std::size_t n = factors.size();
  std::vector<std::size_t> pivots;
  for (std::size_t d = 0; d < open.size(); ++d) {
    std::size_t pivot = n;
    for (std::size_t j = n; j-- > 0;) {  // the last that will do
      if (std::fabs(open[d][j]) > takes_part) {
        pivot = j;
        break;
      }
    }
    if (pivot == n) return {};
    pivots.push_back(pivot);
    const double head = open[d][pivot];
    for (double& x : open[d]) x /= head;
    for (std::size_t e = 0; e < open.size(); ++e) {
      if (e == d) continue;
      const double part = open[e][pivot];
      for (std::size_t j = 0; j < n; ++j) open[e][j] -= part * open[d][j];
    }
  }
  std::vector<std::string> products;
  for (std::size_t j = 0; j < n; ++j) {
    if (std::find(pivots.begin(), pivots.end(), j) != pivots.end()) continue;
    std::string text = factors[j];
    for (std::size_t d = 0; d < open.size(); ++d) {
      if (std::fabs(open[d][j]) < 0.02) continue;
      text += " · " + power_text(factors[pivots[d]], -open[d][j]);
    }
    if (text != factors[j]) products.push_back(std::move(text));
  }
  return products;
}

}  // namespace

Identifiability identifiability(const Model& model, const std::vector<std::size_t>& free,
                                const std::vector<double>& values, const Matrix& jacobian,
                                double half_width) {
  const std::size_t n = free.size();
  Identifiability found{std::vector<bool>(n, true), std::vector<bool>(n, true), {}};
  double scale = 0;
  for (const double y : model.measured()) scale += y * y;
  scale = std::sqrt(scale);
  std::vector<std::size_t> kept;  // that have an effect
  std::vector<double> relative;   // coordinates per relative change
  for (std::size_t k = 0; k < n; ++k) {
    const Unknown& u = model.unknowns()[free[k]];
    const double per = 1 / u.relative(values[free[k]]);
    found.effect[k] = column_norm(jacobian, k) * per > no_effect * scale;
    found.determined[k] = found.effect[k];
    if (!found.effect[k]) continue;
    kept.push_back(k);
    relative.push_back(per);
  }
  if (kept.empty()) return found;
  Matrix of_kept(jacobian.rows, kept.size());
  std::vector<double> norms(kept.size());
  for (std::size_t j = 0; j < kept.size(); ++j) {
    for (std::size_t i = 0; i < jacobian.rows; ++i) {
      of_kept(i, j) = jacobian(i, kept[j]) * relative[j];
    }
    norms[j] = column_norm(of_kept, j);
  }
  const auto open = open_directions(of_kept, norms, half_width);
  std::vector<std::size_t> involved;  // that take part and may stand in a product
  for (std::size_t j = 0; j < kept.size(); ++j) {
    double part = 0;
    for (const auto& direction : open) part = std::max(part, std::fabs(direction[j]));
    if (part < takes_part) continue;
    found.determined[kept[j]] = false;
    if (model.unknowns()[free[kept[j]]].measure != Measure::offset) involved.push_back(j);
  }
  std::vector<std::vector<double>> among;
  for (const auto& direction : open) {
    among.emplace_back();
    for (const std::size_t j : involved) among.back().push_back(direction[j]);
  }
  std::vector<std::string> factors;
  for (const std::size_t j : involved) {
    factors.push_back(model.unknowns()[free[kept[j]]].factor());
  }
  if (!among.empty()) found.products = invariants(std::move(among), factors);
  return found;
}

}  // namespace bristle::identify
