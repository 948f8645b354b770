#include "bristle/complementarity/dense.hpp"

#include <algorithm>
#include <cmath>

namespace bristle::dense {

namespace {
constexpr std::size_t at(int i) { return static_cast<std::size_t>(i); }
}  // namespace

void form(const Island& island, double* line, double* a) noexcept {
  const std::size_t n = island.b.size();
  std::fill_n(line, island.velocities, 0.0);
  for (const Unit& unit : island.units) {
    for (int r = 0; r < unit.rows; ++r) {
      ContactLanes one = 0;
      one.set(r, 1);
      push_by(island, unit, one, line);
      double* const row = a + at(unit.row + r) * n;
      for (const Unit& other : island.units) {
        if (other.row > unit.row) break;
        const ContactLanes own = rates_of(island, other, line);
        for (int i = 0; i < other.rows; ++i) row[other.row + i] = own[i];
      }
      for (int q = unit.quad; q < unit.quad + unit.quads; ++q) {
        Quad(0).store(line + island.first[q]);
      }
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    a[i * n + i] += island.compliance[i];
    for (std::size_t j = 0; j < i; ++j) a[j * n + i] = a[i * n + j];
  }
}

void cholesky(int n, const double* least, double* a) noexcept {
  for (int i = 0; i < n; ++i) {
    double* own = a + at(i) * at(n);
    for (int j = 0; j < i; ++j) {
      const double* other = a + at(j) * at(n);
      own[j] = (own[j] - dot(j, own, other)) / other[j];
    }
    own[i] = std::sqrt(std::max(own[i] - dot(i, own, own), least[i]));
  }
}

void cholesky_solve(int n, const double* factor, double* x) noexcept {
  for (int i = 0; i < n; ++i) {
    const double* own = factor + at(i) * at(n);
    x[i] = (x[i] - dot(i, own, x)) / own[i];
  }
  for (int i = n; i-- > 0;) {
    const double* own = factor + at(i) * at(n);
    x[i] /= own[i];
    for (int j = 0; j < i; ++j) x[j] -= own[j] * x[i];
  }
}

bool eliminate(int n, double* a, double* r) noexcept {
  const std::size_t m = at(n);
  for (std::size_t i = 0; i < m; ++i) {
    std::size_t pivot = i;
    for (std::size_t j = i + 1; j < m; ++j) {
      if (std::abs(a[j * m + i]) > std::abs(a[pivot * m + i])) pivot = j;
    }
    if (!(std::abs(a[pivot * m + i]) > 0)) return false;
    if (pivot != i) {
      std::swap_ranges(a + i * m + i, a + (i + 1) * m, a + pivot * m + i);
      std::swap(r[i], r[pivot]);
    }
    const double* own = a + i * m;
    for (std::size_t j = i + 1; j < m; ++j) {
      double* other = a + j * m;
      if (other[i] == 0) continue;
      const double factor = other[i] / own[i];
      for (std::size_t l = i + 1; l < m; ++l) other[l] -= factor * own[l];
      r[j] -= factor * r[i];
    }
  }
  for (int i = n; i-- > 0;) {
    const double* own = a + at(i) * m;
    r[i] = (r[i] - dot(n - 1 - i, own + i + 1, r + i + 1)) / own[i];
  }
  return true;
}

}  // namespace bristle::dense
