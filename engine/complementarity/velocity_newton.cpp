#include "bristle/complementarity/velocity_newton.hpp"

#include <cmath>

#include "bristle/complementarity/dense.hpp"
#include "bristle/complementarity/newton.hpp"

namespace bristle {

namespace {

constexpr std::size_t at(int i) { return static_cast<std::size_t>(i); }

constexpr int few_velocities = 24;  // need no order
constexpr int widest = 256;         // envelope, on the average
constexpr int most_steps = 60;      // Newton's
constexpr int most_halvings = 8;    // of a step
constexpr int most_touched = 64;    // velocities of one unit

int real_velocities(const Island& island) { return island.velocities - (quad_lanes - 1); }

std::size_t envelope_room(int velocities) {
  const std::size_t m = at(velocities);
  return std::min(m * m, m * at(widest));
}

/// The velocities that a unit touches, and its rows there.
struct Touched {
  int count = 0;
  int velocity[most_touched];
  double row[contact_lanes][most_touched];

  /// False where it touches too many.
  bool collect(const Island& island, const Unit& unit) {
    count = 0;
    const int* first = island.first + unit.quad;
    const double* half = island.halves + unit.half;
    for (int q = 0; q < unit.quads; ++q, half += at(unit.rows * quad_lanes)) {
      for (int lane = 0; lane < quad_lanes; ++lane) {
        bool moves = false;
        for (int i = 0; i < unit.rows; ++i) {
          moves = moves || half[i * quad_lanes + lane] != 0;
        }
        if (!moves) continue;
        if (count == most_touched) return false;
        velocity[count] = first[q] + lane;
        for (int i = 0; i < unit.rows; ++i) row[i][count] = half[i * quad_lanes + lane];
        ++count;
      }
    }
    return true;
  }
};

/// 1 + Wᵀ D W, factorised as L U within an envelope that is the same for rows of L and
/// columns of U.
class Envelope {
 public:
  Envelope(int velocities, std::size_t capacity, Scratch& scratch)
      : m_(velocities),
        capacity_(capacity),
        lower_(scratch.numbers(capacity)),
        upper_(scratch.numbers(capacity)),
        diagonal_(scratch.numbers(at(velocities))),
        x_(scratch.numbers(at(velocities))),
        place_(scratch.integers(at(velocities))),
        first_(scratch.integers(at(velocities))),
        begin_(scratch.integers(at(velocities) + 1)),
        queue_(scratch.integers(at(velocities))) {}

  /// Finds the order and the envelope; false where it has no room.
  bool lay_out(const Island& island, Touched& touched) {
    if (!find_order(island, touched)) return false;
    for (int i = 0; i < m_; ++i) first_[i] = i;
    for (const Unit& unit : island.units) {
      if (!touched.collect(island, unit)) return false;
      int least = m_;
      for (int a = 0; a < touched.count; ++a) {
        least = std::min(least, place_[touched.velocity[a]]);
      }
      for (int a = 0; a < touched.count; ++a) {
        int& first = first_[place_[touched.velocity[a]]];
        first = std::min(first, least);
      }
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

  void clear() {
    std::fill_n(lower_, begin_[m_], 0.0);
    std::fill_n(upper_, begin_[m_], 0.0);
    std::fill_n(diagonal_, m_, 1.0);
  }

  /// Adds Wᵀ D W of a unit.
  void add(const Touched& touched, int rows,
           const double d[contact_lanes][contact_lanes]) {
    for (int b = 0; b < touched.count; ++b) {
      double column[contact_lanes];
      for (int i = 0; i < rows; ++i) {
        column[i] = 0;
        for (int j = 0; j < rows; ++j) column[i] += d[i][j] * touched.row[j][b];
      }
      const int j = place_[touched.velocity[b]];
      for (int a = 0; a < touched.count; ++a) {
        double sum = 0;
        for (int i = 0; i < rows; ++i) sum += touched.row[i][a] * column[i];
        entry(place_[touched.velocity[a]], j) += sum;
      }
    }
  }

  /// False where a pivot is not positive: never without coupling.
  bool factorise() {
    for (int i = 0; i < m_; ++i) {
      double* const li = lower_ + begin_[i] - first_[i];
      double* const ui = upper_ + begin_[i] - first_[i];
      for (int j = first_[i]; j < i; ++j) {
        const int from = std::max(first_[i], first_[j]);
        const double* const lj = lower_ + begin_[j] - first_[j];
        const double* const uj = upper_ + begin_[j] - first_[j];
        const int n = j - from;
        if (n > 0) {
          li[j] -= dense::dot(n, li + from, uj + from);
          ui[j] -= dense::dot(n, lj + from, ui + from);
        }
        li[j] /= diagonal_[j];
      }
      const double before = diagonal_[i];
      const int n = i - first_[i];
      diagonal_[i] -= dense::dot(n, li + first_[i], ui + first_[i]);
      if (!(diagonal_[i] > 1e-13 * before)) return false;
    }
    return true;
  }

  /// x ← (1 + Wᵀ D W)⁻¹ x, by velocities of the island.
  void solve(double* x) {
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

 private:
  double& entry(int i, int j) {
    if (i == j) return diagonal_[i];
    return i > j ? lower_[begin_[i] + j - first_[i]] : upper_[begin_[j] + i - first_[j]];
  }

  /// Breadth first from the velocities of least index, last come first served: reversed
  /// Cuthill & McKee by units.
  bool find_order(const Island& island, Touched& touched) {
    for (int v = 0; v < m_; ++v) place_[v] = v;
    if (m_ <= few_velocities) return true;
    // first_ marks what has been met, begin_ is not in use yet.
    std::fill_n(first_, m_, -1);
    int met = 0;
    for (int seed = 0; seed < m_; ++seed) {
      if (first_[seed] >= 0) continue;
      first_[seed] = met;
      queue_[met++] = seed;
      bool grows = true;
      while (grows) {
        grows = false;
        for (const Unit& unit : island.units) {
          if (!touched.collect(island, unit)) return false;
          bool reached = false, whole = true;
          for (int a = 0; a < touched.count; ++a) {
            reached = reached || first_[touched.velocity[a]] >= 0;
            whole = whole && first_[touched.velocity[a]] >= 0;
          }
          if (!reached || whole) continue;
          grows = true;
          for (int a = 0; a < touched.count; ++a) {
            const int v = touched.velocity[a];
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

  int m_;
  std::size_t capacity_;
  double *lower_, *upper_, *diagonal_, *x_;
  int *place_, *first_, *begin_, *queue_;
};

/// z of a unit for w₀ = W y + b, and D where it is wanted; `coupled` with the derivative
/// of R by z_n.
void respond(const Island& island, const Unit& unit, const double* w0, bool coupled,
             double* z, double (*d)[contact_lanes]) {
  const std::size_t n = at(unit.row);
  const double softness = 1 / island.compliance[n];
  const double free = -softness * w0[0];
  z[0] = std::clamp(free, island.lower[n], island.upper[n]);
  if (d != nullptr) {
    for (int i = 0; i < contact_lanes; ++i) {
      for (int j = 0; j < contact_lanes; ++j) d[i][j] = 0;
    }
    if (z[0] == free) d[0][0] = softness;
  }
  if (unit.contact < 0) return;
  const LocalContact& contact = island.contacts[at(unit.contact)];
  const double radius = radius_of(island, contact, z[0]);
  const int tangents = unit.rows - 1;
  double length2 = 0;
  for (int j = 1; j <= tangents; ++j) {
    z[j] = -w0[j] / island.compliance[n + at(j)];
    length2 += z[j] * z[j];
  }
  const bool follows =
      coupled && island.bounds == ConeBounds::coupled && d != nullptr && d[0][0] > 0;
  if (island.shape == ConeShape::box) {
    for (int j = 1; j <= tangents; ++j) {
      const double trial = z[j];
      z[j] = std::clamp(trial, -radius, radius);
      if (d == nullptr) continue;
      if (z[j] == trial) {
        d[j][j] = 1 / island.compliance[n + at(j)];
      } else if (follows) {
        d[j][0] = (trial < 0 ? -1 : 1) * contact.friction * softness;
      }
    }
    return;
  }
  const bool slides = length2 > radius * radius;
  const double length = std::sqrt(length2);
  const double share = slides ? radius / length : 1;
  double e[max_tangents] = {};
  for (int j = 0; j < tangents; ++j) {
    e[j] = slides ? z[1 + j] / length : 0;
    z[1 + j] *= share;
  }
  if (d == nullptr) return;
  for (int i = 0; i < tangents; ++i) {
    for (int j = 0; j < tangents; ++j) {
      const double across = (i == j ? 1.0 : 0.0) - e[i] * e[j];
      d[1 + i][1 + j] = share * across / island.compliance[n + 1 + at(j)];
    }
    if (slides && follows) d[1 + i][0] = contact.friction * softness * e[i];
  }
}

class Velocities {
 public:
  Velocities(const Island& island, std::size_t capacity, Scratch& scratch)
      : island_(island),
        n_(island.rows()),
        m_(real_velocities(island)),
        y_(scratch.numbers(at(island.velocities))),
        trial_(scratch.numbers(at(island.velocities))),
        gap_(scratch.numbers(at(island.velocities))),
        step_(scratch.numbers(at(island.velocities))),
        z_(scratch.numbers(at(n_))),
        envelope_(m_, capacity, scratch) {}

  bool lay_out() { return envelope_.lay_out(island_, touched_); }

  void start(const double* z) { momentum(island_, z, y_); }

  /// z(y), and G into gap_; returns |G|².
  double evaluate(const double* y) {
    std::copy_n(y, island_.velocities, gap_);
    for (int v = m_; v < island_.velocities; ++v) gap_[v] = 0;
    for (const Unit& unit : island_.units) {
      double w0[contact_lanes], z[contact_lanes] = {};
      rates(unit, y, w0);
      respond(island_, unit, w0, false, z, nullptr);
      for (int i = 0; i < unit.rows; ++i) z_[unit.row + i] = z[i];
      ContactLanes push = 0;
      for (int i = 0; i < unit.rows; ++i) push.set(i, -z[i]);
      push_by(island_, unit, push, gap_);
    }
    double square = 0;
    for (int v = 0; v < m_; ++v) square += gap_[v] * gap_[v];
    return square;
  }
  double evaluate() { return evaluate(y_); }

  /// How far the rows' velocities are from those of z, the largest [m/s].
  double residual() const {
    double worst = 0;
    for (const Unit& unit : island_.units) {
      const ContactLanes off = rates_of(island_, unit, gap_);
      for (int i = 0; i < unit.rows; ++i) worst = std::max(worst, std::abs(off[i]));
    }
    return worst;
  }

  /// One step of Newton's from y, which evaluate() has seen with `square`; the new
  /// square, or the old one where no step helps.
  double take_step(bool coupled, double square) {
    envelope_.clear();
    for (const Unit& unit : island_.units) {
      double w0[contact_lanes], z[contact_lanes], d[contact_lanes][contact_lanes];
      rates(unit, y_, w0);
      respond(island_, unit, w0, coupled, z, d);
      touched_.collect(island_, unit);
      envelope_.add(touched_, unit.rows, d);
    }
    if (!envelope_.factorise()) return square;
    std::copy_n(gap_, m_, step_);
    envelope_.solve(step_);
    double length = 1;
    for (int k = 0; k < most_halvings; ++k, length *= 0.5) {
      for (int v = 0; v < m_; ++v) trial_[v] = y_[v] - length * step_[v];
      for (int v = m_; v < island_.velocities; ++v) trial_[v] = 0;
      const double next = evaluate(trial_);
      if (next < (1 - 1e-4 * length) * square) {
        std::copy_n(trial_, island_.velocities, y_);
        return next;
      }
    }
    evaluate(y_);
    return square;
  }

  const double* impulses() const { return z_; }

 private:
  void rates(const Unit& unit, const double* y, double* w0) const {
    const ContactLanes own = rates_of(island_, unit, y);
    for (int i = 0; i < unit.rows; ++i) w0[i] = own[i] + island_.b[at(unit.row + i)];
  }

  const Island& island_;
  int n_, m_;
  double *y_, *trial_, *gap_, *step_, *z_;
  Envelope envelope_;
  Touched touched_;
};

bool all_compliant(const Island& island) {
  for (const double c : island.compliance) {
    if (!(c > 0)) return false;
  }
  return true;
}

}  // namespace

Room VelocityNewton::room(int rows, int velocities, const SolveOptions& options) {
  const std::size_t m = at(velocities), n = at(rows);
  const Room own{2 * envelope_room(velocities) + 7 * m + 2 * n, 4 * m + 1};
  const Room other = Newton::room(rows, velocities, options);
  return {std::max(own.numbers, other.numbers), std::max(own.integers, other.integers)};
}

IslandReport VelocityNewton::solve(const Island& island, const SolveOptions& options,
                                   double* z, Scratch scratch) noexcept {
  // Fewer rows than velocities make the smaller matrix by rows.
  const bool few = island.rows() <= real_velocities(island);
  if (few || !all_compliant(island)) return Newton::solve(island, options, z, scratch);
  const Scratch whole = scratch;
  double* const w = scratch.numbers(at(island.rows()));
  double* const y = scratch.numbers(at(island.velocities));
  Velocities velocities(island, envelope_room(island.velocities), scratch);
  const double enough = options.tolerance * island.scale;
  velocities.start(z);
  double square = velocities.evaluate();
  double residual = velocities.residual();
  IslandReport report;
  bool laid_out = false;
  const int most = std::min(options.iterations, most_steps);
  while (residual > enough && report.iterations < most) {
    if (!laid_out && !velocities.lay_out()) break;
    laid_out = true;
    ++report.iterations;
    double next = velocities.take_step(true, square);
    if (!(next < square)) next = velocities.take_step(false, square);
    if (!(next < square)) break;
    square = next;
    residual = velocities.residual();
  }
  if (residual > enough && options.iterations > most_steps) {
    std::copy_n(velocities.impulses(), island.rows(), z);
    report = Newton::solve(island, options, z, whole);
    report.handed_over = true;
    return report;
  }
  std::copy_n(velocities.impulses(), island.rows(), z);
  momentum(island, z, y);
  rates(island, z, y, w);
  report.residual = natural_map(island, z, w);
  report.converged = report.residual.largest <= enough;
  return report;
}

}  // namespace bristle
