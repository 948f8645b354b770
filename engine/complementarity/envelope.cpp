#include "bristle/complementarity/envelope.hpp"

#include <algorithm>
#include <cmath>

#include "bristle/complementarity/dense.hpp"

namespace bristle {

namespace {

constexpr std::size_t at(int i) { return static_cast<std::size_t>(i); }

constexpr int few_velocities = 24;  // need no order
constexpr int widest = 256;         // envelope, on the average
constexpr int block_lanes = UnitGroup::most_quads * quad_lanes;

std::size_t envelope_room(int velocities) {
  const std::size_t m = at(velocities);
  return std::min(m * m, m * at(widest));
}

bool same_quads(const Island& island, const Unit& a, const Unit& b) {
  return a.quads == b.quads &&
         std::equal(island.first + a.quad, island.first + a.quad + a.quads,
                    island.first + b.quad);
}

}  // namespace

bool UnitGroup::collect(const Island& island, int first_unit) noexcept {
  const int all = static_cast<int>(island.units.size());
  const Unit& head = island.units[at(first_unit)];
  unit = first_unit;
  units = 0;
  quads = head.quads;
  if (quads > most_quads) return false;
  Quad moved[most_quads] = {};
  while (unit + units < all) {
    const Unit& next = island.units[at(unit + units)];
    if (!same_quads(island, head, next)) break;
    ++units;
    const double* half = island.halves + next.half;
    for (int q = 0; q < quads; ++q) {
      for (int i = 0; i < next.rows; ++i, half += quad_lanes) {
        const Quad own = Quad::load(half);
        moved[q] += own * own;
      }
    }
  }
  count = 0;
  for (int q = 0; q < quads; ++q) {
    for (int l = 0; l < quad_lanes; ++l) {
      if (!(moved[q][l] > 0)) continue;
      lane[count] = q * quad_lanes + l;
      velocity[count++] = island.first[head.quad + q] + l;
    }
  }
  return true;
}

Room Envelope::room(int velocities) noexcept {
  const std::size_t m = at(velocities);
  return {2 * envelope_room(velocities) + 2 * m + at(block_lanes * block_lanes),
          4 * m + 1};
}

Envelope::Envelope(int velocities, Scratch& scratch) noexcept
    : m_(velocities),
      capacity_(envelope_room(velocities)),
      lower_(scratch.numbers(capacity_)),
      upper_(scratch.numbers(capacity_)),
      diagonal_(scratch.numbers(at(velocities))),
      x_(scratch.numbers(at(velocities))),
      block_(scratch.numbers(at(block_lanes * block_lanes))),
      place_(scratch.integers(at(velocities))),
      first_(scratch.integers(at(velocities))),
      begin_(scratch.integers(at(velocities) + 1)),
      queue_(scratch.integers(at(velocities))) {}

bool Envelope::lay_out(const Island& island) noexcept {
  if (!find_order(island)) return false;
  for (int i = 0; i < m_; ++i) first_[i] = i;
  const int units = static_cast<int>(island.units.size());
  for (int u = 0; u < units; u += group_.units) {
    if (!group_.collect(island, u)) return false;
    int least = m_;
    for (int a = 0; a < group_.count; ++a) {
      least = std::min(least, place_[group_.velocity[a]]);
    }
    for (int a = 0; a < group_.count; ++a) {
      int& first = first_[place_[group_.velocity[a]]];
      first = std::min(first, least);
    }
  }
  // The rows of a panel begin together.
  for (int i = 0; i + panel <= m_; i += panel) {
    int least = i;
    for (int r = i; r < i + panel; ++r) least = std::min(least, first_[r]);
    for (int r = i; r < i + panel; ++r) first_[r] = least;
  }
  std::size_t size = 0;
  for (int i = 0; i < m_; ++i) {
    begin_[i] = static_cast<int>(size);
    size += at(i - first_[i]);
    if (size > capacity_) return false;
  }
  begin_[m_] = static_cast<int>(size);
  return true;
}

void Envelope::clear() noexcept {
  std::fill_n(lower_, begin_[m_], 0.0);
  std::fill_n(upper_, begin_[m_], 0.0);
  std::fill_n(diagonal_, m_, 1.0);
  symmetric_ = true;
}

void Envelope::begin_block(const UnitGroup& group) noexcept {
  const std::size_t width = at(group.quads * quad_lanes);
  std::fill_n(block_, width * width, 0.0);
}

/// Wᵀ (D W) of a unit, row by row.
void Envelope::add_to_block(const Island& island, const Unit& unit,
                            const Slopes& d) noexcept {
  for (int a = 1; a < unit.rows; ++a) {
    for (int b = 0; b < a; ++b) symmetric_ = symmetric_ && d[a][b] == d[b][a];
  }
  const double* const half = island.halves + unit.half;
  const int width = unit.quads * quad_lanes;
  Quad product[contact_lanes][UnitGroup::most_quads];  // D W
  for (int q = 0; q < unit.quads; ++q) {
    const double* const own = half + at(q * unit.rows * quad_lanes);
    for (int i = 0; i < unit.rows; ++i) {
      Quad sum = 0;
      for (int j = 0; j < unit.rows; ++j) {
        sum += Quad(d[i][j]) * Quad::load(own + at(j * quad_lanes));
      }
      product[i][q] = sum;
    }
  }
  for (int q = 0; q < unit.quads; ++q) {
    const double* const own = half + at(q * unit.rows * quad_lanes);
    for (int l = 0; l < quad_lanes; ++l) {
      double* const row = block_ + at((q * quad_lanes + l) * width);
      for (int p = 0; p < unit.quads; ++p) {
        Quad sum = Quad::load(row + at(p * quad_lanes));
        for (int i = 0; i < unit.rows; ++i) {
          sum += Quad(own[at(i * quad_lanes + l)]) * product[i][p];
        }
        sum.store(row + at(p * quad_lanes));
      }
    }
  }
}

void Envelope::add_block(const UnitGroup& group) noexcept {
  const int width = group.quads * quad_lanes;
  for (int a = 0; a < group.count; ++a) {
    const int i = place_[group.velocity[a]];
    const double* const row = block_ + at(group.lane[a] * width);
    for (int b = 0; b < group.count; ++b) {
      const int j = place_[group.velocity[b]];
      const double value = row[group.lane[b]];
      if (i == j) {
        diagonal_[i] += value;
      } else if (i > j) {
        lower_[begin_[i] + j - first_[i]] += value;
      } else {
        upper_[begin_[j] + i - first_[j]] += value;
      }
    }
  }
}

namespace {

/// Products of the rows of a panel with one row, all at once.
template <int rows>
BRISTLE_INLINE void dots(int n, const double* const* a, const double* b, double* sums) {
  Quad lanes[rows];
  for (int r = 0; r < rows; ++r) lanes[r] = 0;
  int i = 0;
  for (; i + quad_lanes <= n; i += quad_lanes) {
    const Quad other = Quad::load(b + i);
    for (int r = 0; r < rows; ++r) lanes[r] += Quad::load(a[r] + i) * other;
  }
  for (int r = 0; r < rows; ++r) {
    double rest = 0;
    for (int k = i; k < n; ++k) rest += a[r][k] * b[k];
    sums[r] = ((lanes[r][0] + lanes[r][1]) + (lanes[r][2] + lanes[r][3])) + rest;
  }
}

}  // namespace

/// Rows i … i + rows − 1 of L, columns of U: first by what lies before the panel, then
/// within it.
template <bool symmetric, int rows>
bool Envelope::factorise_panel(int i) noexcept {
  const int begin = first_[i];
  double *l[rows], *u[rows];
  for (int r = 0; r < rows; ++r) {
    l[r] = lower_ + begin_[i + r] - begin;
    u[r] = upper_ + begin_[i + r] - begin;
  }
  for (int j = begin; j < i; ++j) {
    const int from = std::max(begin, first_[j]);
    const double* const lj = lower_ + begin_[j] - first_[j];
    const double* const uj = upper_ + begin_[j] - first_[j];
    const double *l_from[rows], *u_from[rows];
    for (int r = 0; r < rows; ++r) {
      l_from[r] = l[r] + from;
      u_from[r] = u[r] + from;
    }
    double of_l[rows], of_u[rows];
    dots<rows>(j - from, l_from, uj + from, of_l);
    if constexpr (!symmetric) dots<rows>(j - from, u_from, lj + from, of_u);
    for (int r = 0; r < rows; ++r) {
      const double left = l[r][j] - of_l[r];
      u[r][j] = symmetric ? left : u[r][j] - of_u[r];
      l[r][j] = left / diagonal_[j];
    }
  }
  for (int r = 0; r < rows; ++r) {
    for (int j = i; j < i + r; ++j) {
      const int n = j - begin;
      const double left = l[r][j] - dense::dot(n, l[r] + begin, u[j - i] + begin);
      u[r][j] =
          symmetric ? left : u[r][j] - dense::dot(n, l[j - i] + begin, u[r] + begin);
      l[r][j] = left / diagonal_[j];
    }
    const double before = diagonal_[i + r];
    diagonal_[i + r] -= dense::dot(i + r - begin, l[r] + begin, u[r] + begin);
    if (!(std::abs(diagonal_[i + r]) > 1e-13 * before)) return false;
  }
  return true;
}

bool Envelope::factorise() noexcept {
  for (int i = 0; i < m_; i += panel) {
    const bool whole = i + panel <= m_;
    bool done = true;
    if (symmetric_ && whole) {
      done = factorise_panel<true, panel>(i);
    } else if (whole) {
      done = factorise_panel<false, panel>(i);
    } else {
      for (int r = i; done && r < m_; ++r) done = factorise_panel<false, 1>(r);
    }
    if (!done) return false;
  }
  return true;
}

void Envelope::solve(double* x) noexcept {
  for (int v = 0; v < m_; ++v) x_[place_[v]] = x[v];
  for (int i = 0; i < m_; ++i) {
    const double* const li = lower_ + begin_[i] - first_[i];
    x_[i] -= dense::dot(i - first_[i], li + first_[i], x_ + first_[i]);
  }
  for (int i = m_ - 1; i >= 0; --i) {
    x_[i] /= diagonal_[i];
    const double* const ui = upper_ + begin_[i] - first_[i];
    for (int k = first_[i]; k < i; ++k) x_[k] -= ui[k] * x_[i];
  }
  for (int v = 0; v < m_; ++v) x[v] = x_[place_[v]];
}

/// Breadth first from the velocities of least index, last come first served: reversed
/// Cuthill & McKee by groups.
bool Envelope::find_order(const Island& island) noexcept {
  for (int v = 0; v < m_; ++v) place_[v] = v;
  if (m_ <= few_velocities) return true;
  // first_ marks what has been met, begin_ is not in use yet.
  std::fill_n(first_, m_, -1);
  const int units = static_cast<int>(island.units.size());
  int met = 0;
  for (int seed = 0; seed < m_; ++seed) {
    if (first_[seed] >= 0) continue;
    first_[seed] = met;
    queue_[met++] = seed;
    bool grows = true;
    while (grows) {
      grows = false;
      for (int u = 0; u < units; u += group_.units) {
        if (!group_.collect(island, u)) return false;
        bool reached = false, whole = true;
        for (int a = 0; a < group_.count; ++a) {
          reached = reached || first_[group_.velocity[a]] >= 0;
          whole = whole && first_[group_.velocity[a]] >= 0;
        }
        if (!reached || whole) continue;
        grows = true;
        for (int a = 0; a < group_.count; ++a) {
          const int v = group_.velocity[a];
          if (first_[v] >= 0) continue;
          first_[v] = met;
          queue_[met++] = v;
        }
      }
    }
  }
  for (int k = 0; k < m_; ++k) place_[queue_[k]] = m_ - 1 - k;
  return true;
}

}  // namespace bristle
