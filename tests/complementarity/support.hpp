#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <vector>

#include "bristle/complementarity/solvers.hpp"

// Problems by chance, and oracles that share no code with the solvers: residuals and
// small answers in long double from dense matrices.

namespace bristle::test {

using Long = long double;

class Chance {
 public:
  explicit Chance(unsigned seed) : engine_(seed) {}
  double uniform(double low, double high) {
    return low + (high - low) * (static_cast<double>(engine_() >> 11) * 0x1p-53);
  }
  /// Roughly Gaussian, of unit variance.
  double normal() {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += uniform(0, 1);
    return sum;
  }
  int below(int n) { return static_cast<int>(engine_() % static_cast<unsigned>(n)); }
  bool with(double probability) { return uniform(0, 1) < probability; }

 private:
  std::mt19937_64 engine_;
};

/// A row or a contact as the problem takes it.
struct UnitCase {
  bool contact = false;
  std::vector<int> velocities;
  std::vector<double> halves;  // row by row
  ConeRows rows;               // of a contact; b and C of a row too
  double lower = -unbounded, upper = unbounded;

  int count() const { return contact ? 1 + rows.tangents : 1; }
};

struct Case {
  int velocities = 0;
  std::vector<UnitCase> units;
  ConeShape shape = ConeShape::isotropic;
  ConeBounds bounds = ConeBounds::coupled;

  int rows() const {
    int n = 0;
    for (const UnitCase& unit : units) n += unit.count();
    return n;
  }
  void give(ComplementarityProblem& problem) const {
    problem.begin(velocities, shape, bounds);
    for (const UnitCase& unit : units) {
      if (unit.contact) {
        problem.add_contact(unit.velocities, unit.halves, unit.rows);
      } else {
        problem.add_row(unit.velocities, unit.halves, unit.rows.b[0],
                        unit.rows.compliance[0], unit.lower, unit.upper);
      }
    }
    problem.finish();
  }
};

/// A and b of a case.
struct Dense {
  explicit Dense(const Case& from)
      : n(static_cast<std::size_t>(from.rows())), a(n * n), b(n) {
    const auto nv = static_cast<std::size_t>(from.velocities);
    std::vector<Long> w(n * nv), c(n);
    std::size_t row = 0;
    for (const UnitCase& unit : from.units) {
      const std::size_t entries = unit.velocities.size();
      for (int i = 0; i < unit.count(); ++i, ++row) {
        for (std::size_t e = 0; e < entries; ++e) {
          w[row * nv + static_cast<std::size_t>(unit.velocities[e])] =
              unit.halves[static_cast<std::size_t>(i) * entries + e];
        }
        b[row] = unit.rows.b[i];
        c[row] = unit.rows.compliance[i];
      }
    }
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        Long sum = i == j ? c[i] : 0;
        for (std::size_t k = 0; k < nv; ++k) sum += w[i * nv + k] * w[j * nv + k];
        a[i * n + j] = sum;
      }
    }
  }
  std::vector<Long> rates(const std::vector<double>& z) const {
    std::vector<Long> result(b);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) result[i] += a[i * n + j] * z[j];
    }
    return result;
  }
  Long diagonal(std::size_t i) const { return a[i * n + i]; }

  std::size_t n;
  std::vector<Long> a, b;
};

/// The natural map, times A_ii, in the largest norm.
inline double residual(const Case& from, const Dense& dense,
                       const std::vector<double>& z) {
  const std::vector<Long> w = dense.rates(z);
  Long worst = 0;
  std::size_t row = 0;
  for (const UnitCase& unit : from.units) {
    const auto clamped = [&](std::size_t i, Long low, Long high) {
      const Long d = dense.diagonal(i);
      return std::abs(d * (z[i] - std::clamp<Long>(z[i] - w[i] / d, low, high)));
    };
    if (!unit.contact) {
      worst = std::max(worst, clamped(row, unit.lower, unit.upper));
      ++row;
      continue;
    }
    worst = std::max(worst, clamped(row, 0, unbounded));
    const Long radius = from.bounds == ConeBounds::held
                            ? Long(unit.rows.radius)
                            : Long(unit.rows.friction) * std::max(z[row], 0.0);
    const auto k = static_cast<std::size_t>(unit.rows.tangents);
    if (from.shape == ConeShape::box) {
      for (std::size_t j = 1; j <= k; ++j) {
        worst = std::max(worst, clamped(row + j, -radius, radius));
      }
    } else {
      Long d = 0, length = 0, off = 0;
      for (std::size_t j = 1; j <= k; ++j) d = std::max(d, dense.diagonal(row + j));
      for (std::size_t j = 1; j <= k; ++j) {
        const Long t = z[row + j] - w[row + j] / d;
        length += t * t;
      }
      length = std::sqrt(length);
      for (std::size_t j = 1; j <= k; ++j) {
        const Long t = z[row + j] - w[row + j] / d;
        const Long p = length > radius ? t * radius / length : t;
        off += (z[row + j] - p) * (z[row + j] - p);
      }
      worst = std::max(worst, d * std::sqrt(off));
    }
    row += k + 1;
  }
  return static_cast<double>(worst);
}

inline double free_velocity(const Dense& dense) {
  Long largest = 0;
  for (const Long b : dense.b) largest = std::max(largest, std::abs(b));
  return static_cast<double>(largest);
}

/// Solves m x = r, n × n; empty where m is singular.
inline std::vector<Long> linear_solve(std::vector<Long> m, std::vector<Long> r) {
  const std::size_t n = r.size();
  for (std::size_t i = 0; i < n; ++i) {
    std::size_t pivot = i;
    for (std::size_t j = i + 1; j < n; ++j) {
      if (std::abs(m[j * n + i]) > std::abs(m[pivot * n + i])) pivot = j;
    }
    if (m[pivot * n + i] == 0) return {};
    for (std::size_t j = 0; j < n; ++j) std::swap(m[i * n + j], m[pivot * n + j]);
    std::swap(r[i], r[pivot]);
    for (std::size_t j = i + 1; j < n; ++j) {
      const Long factor = m[j * n + i] / m[i * n + i];
      for (std::size_t l = i; l < n; ++l) m[j * n + l] -= factor * m[i * n + l];
      r[j] -= factor * r[i];
    }
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t j = i + 1; j < n; ++j) r[i] -= m[i * n + j] * r[j];
    r[i] /= m[i * n + i];
  }
  return r;
}

/// All answers of a case with bounds only, by trying every set of active bounds.
inline std::vector<std::vector<Long>> enumerate_boxes(const Case& from) {
  const Dense dense(from);
  const std::size_t n = dense.n;
  std::vector<std::vector<Long>> answers;
  std::size_t choices = 1;
  for (std::size_t i = 0; i < n; ++i) choices *= 3;
  for (std::size_t choice = 0; choice < choices; ++choice) {
    std::vector<Long> m(n * n), r(n);
    std::vector<int> side(n);
    bool possible = true;
    std::size_t rest = choice;
    for (std::size_t i = 0; i < n; ++i, rest /= 3) {
      side[i] = static_cast<int>(rest % 3) - 1;
      if (side[i] == 0) {
        for (std::size_t j = 0; j < n; ++j) m[i * n + j] = dense.a[i * n + j];
        r[i] = -dense.b[i];
      } else {
        r[i] = side[i] < 0 ? from.units[i].lower : from.units[i].upper;
        m[i * n + i] = 1;
        possible = possible && std::isfinite(static_cast<double>(r[i]));
      }
    }
    if (!possible) continue;
    const std::vector<Long> z = linear_solve(m, r);
    if (z.empty()) continue;
    bool fits = true;
    for (std::size_t i = 0; i < n; ++i) {
      Long w = dense.b[i];
      for (std::size_t j = 0; j < n; ++j) w += dense.a[i * n + j] * z[j];
      const Long noise = 1e-13L;
      if (side[i] == 0) {
        fits = fits && z[i] >= from.units[i].lower - noise &&
               z[i] <= from.units[i].upper + noise;
      } else if (from.units[i].lower != from.units[i].upper) {
        fits = fits && w * side[i] <= noise;
      }
    }
    if (fits) answers.push_back(z);
  }
  return answers;
}

/// n rows whose A has the given eigenvalues, along random axes; no bounds yet.
inline Case rows_with_spectrum(Chance& chance, const std::vector<double>& eigenvalues,
                               int n) {
  const auto rows = static_cast<std::size_t>(n);
  const std::size_t rank = eigenvalues.size();
  // Orthonormal columns by Gram & Schmidt, twice.
  std::vector<std::vector<double>> columns;
  while (columns.size() < rank) {
    std::vector<double> v(rows);
    for (double& x : v) x = chance.normal();
    for (int pass = 0; pass < 2; ++pass) {
      for (const auto& u : columns) {
        double d = 0;
        for (std::size_t i = 0; i < rows; ++i) d += u[i] * v[i];
        for (std::size_t i = 0; i < rows; ++i) v[i] -= d * u[i];
      }
    }
    double length = 0;
    for (const double x : v) length += x * x;
    for (double& x : v) x /= std::sqrt(length);
    columns.push_back(v);
  }
  Case made;
  made.velocities = static_cast<int>(rank);
  made.units.resize(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t k = 0; k < rank; ++k) {
      made.units[i].velocities.push_back(static_cast<int>(k));
      made.units[i].halves.push_back(columns[k][i] * std::sqrt(eigenvalues[k]));
    }
  }
  return made;
}

/// b = W u + √C r: a free motion u of size 1, and springs of as much energy. (Any other b
/// asks for impulses that grow with the condition of A, not with its square root, and
/// rounding of z alone then moves w by more than 1e-10 of b.)
inline void give_free_motion(Chance& chance, Case& made) {
  std::vector<double> u(static_cast<std::size_t>(made.velocities));
  for (double& x : u) x = chance.normal();
  for (UnitCase& unit : made.units) {
    const std::size_t entries = unit.velocities.size();
    for (int i = 0; i < unit.count(); ++i) {
      double sum = std::sqrt(unit.rows.compliance[i]) * chance.normal();
      for (std::size_t e = 0; e < entries; ++e) {
        sum += unit.halves[static_cast<std::size_t>(i) * entries + e] *
               u[static_cast<std::size_t>(unit.velocities[e])];
      }
      unit.rows.b[i] = sum;
    }
  }
}

/// Bounds of all kinds, some of which will be active.
inline void give_bounds(Chance& chance, Case& made) {
  for (UnitCase& unit : made.units) {
    const double a = chance.normal(), b = chance.normal();
    switch (chance.below(6)) {
      case 0:
        break;  // bilateral
      case 1:
        unit.lower = 0;
        break;
      case 2:
        unit.upper = a;
        break;
      case 3:
        unit.lower = unit.upper = a;
        break;
      default:
        unit.lower = std::min(a, b);
        unit.upper = std::max(a, b);
    }
  }
}

/// Two of so many bodies in ascending order; −1, the world, comes first.
inline std::array<int, 2> random_pair(Chance& chance, int bodies) {
  const int a = chance.below(bodies);
  const int b = chance.with(0.3) ? -1 : chance.below(bodies);
  return a == b ? std::array{-1, a} : std::array{std::min(a, b), std::max(a, b)};
}

/// Contacts between free bodies of unit size, as frames by chance see them: the half rows
/// of a contact touch six velocities of each body.
inline Case random_contacts(Chance& chance, int bodies, int contacts, double friction,
                            double compliance, int tangents = 2) {
  Case made;
  made.velocities = 6 * bodies;
  for (int c = 0; c < contacts; ++c) {
    UnitCase unit;
    unit.contact = true;
    unit.rows.tangents = tangents;
    unit.rows.friction = friction;
    for (const int body : random_pair(chance, bodies)) {
      if (body < 0) continue;
      for (int k = 0; k < 6; ++k) unit.velocities.push_back(6 * body + k);
    }
    for (int i = 0; i <= tangents; ++i) {
      for (std::size_t e = 0; e < unit.velocities.size(); ++e) {
        unit.halves.push_back(chance.normal());
      }
      unit.rows.compliance[i] = compliance;
    }
    made.units.push_back(unit);
  }
  give_free_motion(chance, made);
  return made;
}

/// Contacts like those of balls: normal and tangents of a contact do not couple.
inline Case random_balls(Chance& chance, int bodies, int contacts, double friction,
                         double compliance) {
  Case made;
  made.velocities = 6 * bodies;
  for (int c = 0; c < contacts; ++c) {
    UnitCase unit;
    unit.contact = true;
    unit.rows.friction = friction;
    double n[3], t[2][3];
    double length = 0;
    for (double& x : n) x = chance.normal();
    for (const double x : n) length += x * x;
    for (double& x : n) x /= std::sqrt(length);
    const int least = std::abs(n[0]) < 0.7 ? 0 : 1;
    for (int i = 0; i < 3; ++i) t[0][i] = (i == least ? 1.0 : 0.0) - n[least] * n[i];
    length = 0;
    for (const double x : t[0]) length += x * x;
    for (double& x : t[0]) x /= std::sqrt(length);
    for (int i = 0; i < 3; ++i) {
      const int j = (i + 1) % 3, k = (i + 2) % 3;
      t[1][i] = n[j] * t[0][k] - n[k] * t[0][j];
    }
    std::vector<double> halves[3];
    const std::array<int, 2> pair = random_pair(chance, bodies);
    for (const int body : pair) {
      if (body < 0) continue;
      const double sign = body == pair[1] ? 1 : -1;
      for (int k = 0; k < 6; ++k) unit.velocities.push_back(6 * body + k);
      for (int row = 0; row < 3; ++row) {
        const double* d = row == 0 ? n : t[row - 1];
        for (int i = 0; i < 3; ++i) {
          const int j = (i + 1) % 3, k = (i + 2) % 3;
          // Turning a ball moves its contact point along r × d; I = 2/5 m r².
          halves[row].push_back(std::sqrt(2.5) * -(n[j] * d[k] - n[k] * d[j]));
        }
        for (int i = 0; i < 3; ++i) halves[row].push_back(sign * d[i]);
      }
    }
    for (const auto& half : halves) {
      unit.halves.insert(unit.halves.end(), half.begin(), half.end());
    }
    for (double& x : unit.rows.compliance) x = compliance;
    made.units.push_back(unit);
  }
  give_free_motion(chance, made);
  return made;
}

}  // namespace bristle::test
