#include "bristle/complementarity/pivoting.hpp"

#include <cmath>

#include "bristle/complementarity/dense.hpp"
#include "bristle/complementarity/gauss_seidel.hpp"

namespace bristle {

namespace {

constexpr std::size_t at(int i) { return static_cast<std::size_t>(i); }

// ε: small against any mobility that matters, large against rounding.
constexpr double proximity = 1e-10;
constexpr double closest = 1e-13;  // where that is too large
// Of rows that contradict each other, a compromise with impulses of bounded size.
constexpr double compromise = 1e-6;

enum Side : int { at_lower = -1, between = 0, at_upper = 1, fixed = 2 };

/// One island with box bounds on all rows, as a dense matrix.
class Boxes {
 public:
  Boxes(const Island& island, Scratch& scratch)
      : island_(island),
        n_(island.rows()),
        a_(scratch.numbers(at(n_) * at(n_))),
        factor_(scratch.numbers(at(n_) * at(n_))),
        lower_(scratch.numbers(at(n_))),
        upper_(scratch.numbers(at(n_))),
        z_(scratch.numbers(at(n_))),
        w_(scratch.numbers(at(n_))),
        w_centre_(scratch.numbers(at(n_))),
        delta_(scratch.numbers(at(n_))),
        free_(scratch.numbers(at(n_))),
        least_(scratch.numbers(at(n_))),
        y_(scratch.numbers(at(island.velocities))),
        side_(scratch.integers(at(n_))),
        factored_(scratch.integers(at(n_))),
        index_(scratch.integers(at(n_))) {
    dense::form(island, y_, a_);
    std::copy(island.lower.begin(), island.lower.end(), lower_);
    std::copy(island.upper.begin(), island.upper.end(), upper_);
  }

  /// w at z, exactly as the half rows have it.
  const double* rates_at(const double* z) {
    momentum(island_, z, y_);
    rates(island_, z, y_, w_centre_);
    return w_centre_;
  }

  void bound(int row, double radius) {
    lower_[row] = -radius;
    upper_[row] = radius;
  }

  /// How far z is from solving the boxes [m/s].
  double residual(const double* z, const double* w) const {
    double worst = 0;
    for (int i = 0; i < n_; ++i) {
      const double d = island_.diagonal[at(i)];
      if (d == 0) continue;
      const double next = std::clamp(z[i] - w[i] / d, lower_[i], upper_[i]);
      worst = std::max(worst, d * std::abs(z[i] - next));
    }
    return worst;
  }

  /// Solves the boxes from z, to the target [m/s] or as far as rounding lets it; returns
  /// the number of pivots. Where sides cannot be found at once, a larger ε makes them
  /// easy to find and its answer a better place to begin from: proximal points converge
  /// with any.
  int solve(double target, double* z) {
    guess(z);
    int pivots = 0, stalls = 0;
    double best = unbounded;
    double least = proximity, epsilon = proximity;
    for (int pass = 0; pass < 200; ++pass) {
      const double left = residual(z, rates_at(z));
      if (pass > 0 && left <= target) break;
      if (epsilon == least && !(left < 0.5 * best)) {
        // Rounding has the rest; or mobilities below ε slow it down; or, where large
        // impulses cancel, rounding hides rows that do not fit.
        if (left <= 1e-11 * island_.scale || ++stalls > 3) break;
        least = closest;
        epsilon = stalls == 1 ? least : 0.01;
      }
      if (epsilon == least) best = left;
      if (pivot(epsilon, z, pivots)) {
        std::copy_n(z_, n_, z);
        epsilon = std::max(0.1 * epsilon, least);
      } else {
        epsilon = epsilon == least ? 0.01 : std::min(10 * epsilon, 1.0);
        best = unbounded;
        guess(z);
      }
    }
    return pivots;
  }

  /// A compromise around z where rows contradict each other.
  void settle(double* z) {
    guess(z);
    rates_at(z);
    int pivots = 0;
    pivot(compromise, z, pivots);
    for (int i = 0; i < n_; ++i) z[i] = std::clamp(z_[i], lower_[i], upper_[i]);
  }

 private:
  void guess(double* z) {
    for (int i = 0; i < n_; ++i) {
      z[i] = std::clamp(z[i], lower_[i], upper_[i]);
      side_[i] = z[i] <= lower_[i] ? at_lower : z[i] >= upper_[i] ? at_upper : between;
      if (lower_[i] == upper_[i]) side_[i] = fixed;
      if (island_.diagonal[at(i)] > 0) continue;
      // Nothing gives way: w is b, and z the bound that b points away from.
      side_[i] = fixed;
      const double b = island_.b[at(i)];
      const double end = b > 0 ? lower_[i] : b < 0 ? upper_[i] : z[i];
      if (std::isfinite(end)) z[i] = end;
    }
  }

  /// z_ and w_ for the sides as they are, around the centre.
  void solve_sides(double epsilon, const double* centre) {
    int count = 0;
    for (int i = 0; i < n_; ++i) {
      if (side_[i] == between) {
        index_[count++] = i;
        delta_[i] = 0;
      } else {
        const double bound = side_[i] == fixed      ? centre[i]
                             : side_[i] == at_lower ? lower_[i]
                                                    : upper_[i];
        delta_[i] = bound - centre[i];
      }
    }
    for (int k = 0; k < count; ++k) {
      const int i = index_[k];
      free_[k] = -(w_centre_[i] + dense::dot(n_, a_ + at(i) * at(n_), delta_));
    }
    factorise(epsilon, count);
    dense::cholesky_solve(count, factor_, free_);
    for (int k = 0; k < count; ++k) delta_[index_[k]] = free_[k];
    for (int i = 0; i < n_; ++i) {
      z_[i] = centre[i] + delta_[i];
      if (side_[i] == at_lower) z_[i] = lower_[i];
      if (side_[i] == at_upper) z_[i] = upper_[i];
      w_[i] = w_centre_[i] + dense::dot(n_, a_ + at(i) * at(n_), delta_) +
              epsilon * island_.diagonal[at(i)] * delta_[i];
    }
  }

  /// The matrix of the rows between their bounds, unless it is that of the last time.
  void factorise(double epsilon, int count) {
    bool same = epsilon == factored_epsilon_;
    factored_epsilon_ = epsilon;
    for (int i = 0; i < n_; ++i) {
      same = same && (factored_[i] == between) == (side_[i] == between);
      factored_[i] = side_[i];
    }
    if (same) return;
    for (int k = 0; k < count; ++k) {
      const double* from = a_ + at(index_[k]) * at(n_);
      double* to = factor_ + at(k) * at(count);
      for (int l = 0; l < k; ++l) to[l] = from[index_[l]];
      to[k] = (1 + epsilon) * from[index_[k]];
      least_[k] = 0.1 * epsilon * from[index_[k]];
    }
    dense::cholesky(count, least_, factor_);
  }

  /// The side a row should be on; its own where it fits. `noise` [m/s] is what rounding
  /// leaves of a zero.
  int wanted(int i, double noise) const {
    const double d = island_.diagonal[at(i)];
    switch (side_[i]) {
      case between:
        if (d * (lower_[i] - z_[i]) > noise) return at_lower;
        if (d * (z_[i] - upper_[i]) > noise) return at_upper;
        return between;
      case at_lower:
        return w_[i] < -noise ? between : at_lower;
      case at_upper:
        return w_[i] > noise ? between : at_upper;
      default:
        return fixed;
    }
  }

  /// Changes sides until all rows fit; leaves the answer in z_. False where they still
  /// do not fit after 50 + 4 n pivots.
  bool pivot(double epsilon, const double* centre, int& pivots) {
    constexpr int block_trials = 10;
    int fewest = n_ + 1;
    int trials = block_trials;
    for (int left = 50 + 4 * n_;; --left) {
      ++pivots;
      solve_sides(epsilon, centre);
      double size = island_.scale;
      for (int i = 0; i < n_; ++i) {
        size = std::max(size, island_.diagonal[at(i)] * std::abs(z_[i]));
      }
      const double noise = 1e-15 * n_ * size;
      int misfits = 0, first = -1;
      for (int i = n_; i-- > 0;) {
        if (wanted(i, noise) == side_[i]) continue;
        ++misfits;
        first = i;
      }
      if (misfits == 0 || left == 0) return misfits == 0;
      const bool fewer = misfits < fewest;
      if (fewer) fewest = misfits;
      if (fewer || trials > 0) {
        trials = fewer ? block_trials : trials - 1;
        for (int i = 0; i < n_; ++i) side_[i] = wanted(i, noise);
      } else {
        side_[first] = wanted(first, noise);
      }
    }
  }

  const Island& island_;
  int n_;
  double *a_, *factor_;
  double *lower_, *upper_;
  double *z_, *w_, *w_centre_, *delta_, *free_, *least_, *y_;
  int *side_, *factored_, *index_;
  double factored_epsilon_ = 0;
};

/// The boxes around the discs, from the trial forces at z.
void bound_discs(const Island& island, const double* z, const double* w, Boxes& boxes) {
  for (const Unit& unit : island.units) {
    if (unit.contact < 0) continue;
    const LocalContact& contact = island.contacts[at(unit.contact)];
    const double radius = radius_of(island, contact, z[unit.row]);
    double trial[max_tangents], length2 = 0;
    for (int j = 0; j < contact.tangents; ++j) {
      const int row = unit.row + 1 + j;
      const double mobility = contact.largest_tangent;
      trial[j] = z[row] - (mobility > 0 ? w[row] / mobility : 0);
      length2 += trial[j] * trial[j];
    }
    const bool box = island.shape == ConeShape::box || !(length2 > 0);
    for (int j = 0; j < contact.tangents; ++j) {
      const double share = box ? 1 : std::abs(trial[j]) / std::sqrt(length2);
      boxes.bound(unit.row + 1 + j, radius * share);
    }
  }
}

/// Sweeps from z. They also have the last word where discs are solved: what is reported
/// of the local problems, and which of several answers is taken, is then as they have it.
IslandReport sweep_on(const Island& island, const SolveOptions& options,
                      const IslandReport& before, double* z, const double* best,
                      Scratch scratch) {
  IslandReport report = GaussSeidel::solve(island, options, z, scratch);
  report.handed_over = !before.converged || report.iterations > 1;
  report.iterations += before.iterations;
  if (report.converged || report.residual.largest < before.residual.largest) {
    return report;
  }
  std::copy_n(best, island.rows(), z);
  report.residual = before.residual;
  report.converged = before.converged;
  return report;
}

/// How many of the last changes of bounds may fail to improve.
constexpr int patience = 10;

}  // namespace

Room Pivoting::room(int rows, int velocities, const SolveOptions& options) {
  const Room sweeps = GaussSeidel::room(rows, velocities, options);
  const std::size_t n = at(std::min(rows, options.most_dense_rows));
  return sweeps + Room{2 * n * n + 10 * n + at(velocities), 3 * n};
}

IslandReport Pivoting::solve(const Island& island, const SolveOptions& options, double* z,
                             Scratch scratch) noexcept {
  const double enough = options.tolerance * island.scale;
  if (island.rows() > options.most_dense_rows) {
    IslandReport report = GaussSeidel::solve(island, options, z, scratch);
    report.handed_over = true;
    return report;
  }
  if (island.scale == 0) std::fill_n(z, island.rows(), 0.0);
  Boxes boxes(island, scratch);
  double* const start = scratch.numbers(at(island.rows()));
  double* const best = scratch.numbers(at(island.rows()));
  std::copy_n(z, island.rows(), start);
  const bool discs = !island.contacts.empty();
  IslandReport report;
  const double* w = boxes.rates_at(z);
  report.residual = natural_map(island, z, w);
  std::copy_n(z, island.rows(), best);
  report.converged = report.residual.largest <= enough;
  // Without discs one pass is enough, and is refined as far as rounding lets it.
  const int passes = discs ? options.iterations : 1;
  for (int k = 0, failed = 0; k < passes && failed < patience && !report.converged; ++k) {
    if (discs) bound_discs(island, z, w, boxes);
    report.iterations += boxes.solve(discs ? 0.1 * enough : 0, z);
    w = boxes.rates_at(z);
    const Residual residual = natural_map(island, z, w);
    failed = residual.largest < 0.9 * report.residual.largest ? 0 : failed + 1;
    if (residual.largest < report.residual.largest) {
      report.residual = residual;
      std::copy_n(z, island.rows(), best);
    }
    report.converged = report.residual.largest <= enough;
  }
  std::copy_n(best, island.rows(), z);
  if (report.converged && !discs) return report;
  if (!report.converged && !discs) {
    std::copy_n(start, island.rows(), z);
    boxes.settle(z);
    report.residual = natural_map(island, z, boxes.rates_at(z));
    std::copy_n(z, island.rows(), best);
  }
  return sweep_on(island, options, report, z, best, scratch);
}

}  // namespace bristle
