#include "bristle/complementarity/newton.hpp"

#include <cmath>

#include "bristle/complementarity/dense.hpp"
#include "bristle/complementarity/gauss_seidel.hpp"
#include "bristle/complementarity/pivoting.hpp"

namespace bristle {

namespace {

constexpr std::size_t at(int i) { return static_cast<std::size_t>(i); }

// ε, as in the header.
constexpr double proximity = 1e-10;

// Multiplications that the eliminations of a solve may take, about a quarter of a second:
// 8 steps with 600 rows, 190 with 200. Measured: where so many do not lead there, in
// heaps of coincident bodies, more do not either.
constexpr double most_work = 5e8;

/// The linear system of one step. Rows with a known change are left out of it.
class Step {
 public:
  Step(const Island& island, Scratch& scratch)
      : island_(island),
        n_(island.rows()),
        a_(scratch.numbers(at(n_) * at(n_))),
        matrix_(scratch.numbers(at(n_) * at(n_))),
        w_(scratch.numbers(at(n_))),
        y_(scratch.numbers(at(island.velocities))),
        delta_(scratch.numbers(at(n_))),
        right_(scratch.numbers(at(n_))),
        centre_(scratch.numbers(at(n_))),
        index_(scratch.integers(at(n_))) {
    dense::form(island, y_, a_);
  }

  /// From now on w has ε diag(A) (z − centre) added to it; nothing by default.
  void hold_near(const double* centre, double epsilon) {
    std::copy_n(centre, n_, centre_);
    epsilon_ = epsilon;
  }
  void let_go() { epsilon_ = 0; }

  Residual residual() const { return residual_; }

  /// How far z is from solving the island.
  double measure(const double* z) {
    momentum(island_, z, y_);
    rates(island_, z, y_, w_);
    for (int i = 0; i < n_ && epsilon_ > 0; ++i) {
      w_[i] += epsilon_ * island_.diagonal[at(i)] * (z[i] - centre_[i]);
    }
    residual_ = natural_map(island_, z, w_);
    return residual_.largest;
  }

  /// One step from z, at which measure() was called; false where there is none.
  bool take(double* z) {
    unknowns_ = 0;
    for (const Unit& unit : island_.units) {
      choose_row(unit.row, z, island_.lower[at(unit.row)], island_.upper[at(unit.row)]);
      if (unit.contact >= 0) choose_tangents(unit, z);
    }
    if (work_ > most_work) return false;
    work_ += static_cast<double>(unknowns_) * unknowns_ * unknowns_ / 3;
    fill(z);
    if (!dense::eliminate(unknowns_, matrix_, right_)) return false;
    for (int k = 0; k < unknowns_; ++k) delta_[index_[k]] = right_[k];
    for (int i = 0; i < n_; ++i) {
      // Rows that contradict each other are kept apart by ε alone.
      const double size = island_.diagonal[at(i)] * std::abs(delta_[i]);
      if (!(proximity * size <= 0.01 * island_.scale)) return false;
      z[i] += delta_[i];
    }
    for (const Unit& unit : island_.units) confine(island_, unit, z);
    return true;
  }

 private:
  /// A row at its bound changes by what is missing; else it becomes an unknown.
  void choose_row(int i, const double* z, double lower, double upper) {
    const double d = island_.diagonal[at(i)];
    const double trial = d > 0 ? z[i] - w_[i] / d : z[i];
    if (d > 0 && trial > lower && trial < upper) {
      unknown(i);
    } else {
      delta_[i] = std::clamp(trial, lower, upper) - z[i];
    }
  }
  void unknown(int i) {
    index_[unknowns_++] = i;
    delta_[i] = 0;
  }

  void choose_tangents(const Unit& unit, const double* z) {
    const bool held = island_.bounds == ConeBounds::held;
    const LocalContact& contact = island_.contacts[at(unit.contact)];
    const bool open = unknowns_ == 0 || index_[unknowns_ - 1] != unit.row;
    const bool none = held ? !(contact.radius > 0) : open || contact.friction == 0;
    for (int i = unit.row + 1; i < unit.row + unit.rows; ++i) {
      if (none || !(contact.largest_tangent > 0)) {
        delta_[i] = -z[i];
      } else {
        unknown(i);
      }
    }
  }

  /// Row k of the system: left · δ = right.
  double* row_of(int k) { return matrix_ + at(k) * at(unknowns_); }

  /// w + (A + ε diag A) δ = 0.
  void ask_for_rest(int k) {
    const int i = index_[k];
    const double* from = a_ + at(i) * at(n_);
    double* to = row_of(k);
    for (int l = 0; l < unknowns_; ++l) to[l] = from[index_[l]];
    to[k] += std::max(proximity, epsilon_) * from[i];
    right_[k] = -(w_[i] + dense::dot(n_, from, delta_));
  }

  void fill(const double* z) {
    for (int k = 0; k < unknowns_; ++k) ask_for_rest(k);
    int k = 0;
    for (const Unit& unit : island_.units) {
      int normal = -1;
      if (k < unknowns_ && index_[k] == unit.row) normal = k++;
      if (unit.contact < 0) continue;
      if (k == unknowns_ || index_[k] != unit.row + 1) continue;
      slide(unit, normal, k, z);
      k += unit.rows - 1;
    }
  }

  /// Replaces the rows of tangents that slide, if they do:
  /// δz_t − μ e δz_n − R/|t| (1 − e eᵀ)(δz_t − ρ δw_t) = R e − z_t, times 1/ρ.
  void slide(const Unit& unit, int normal, int first, const double* z) {
    const LocalContact& contact = island_.contacts[at(unit.contact)];
    const double radius = radius_of(island_, contact, z[unit.row]);
    const bool box = island_.shape == ConeShape::box;
    const int tangents = unit.rows - 1;
    double e[max_tangents], length2 = 0;
    for (int j = 0; j < tangents; ++j) {
      const int i = unit.row + 1 + j;
      const double d = box ? contact.diagonal[1 + j] : contact.largest_tangent;
      e[j] = d > 0 ? z[i] - w_[i] / d : z[i];
      length2 += e[j] * e[j];
    }
    const double length = std::sqrt(length2);
    const double mu =
        normal < 0 || island_.bounds == ConeBounds::held ? 0 : contact.friction;
    if (box) {
      for (int j = 0; j < tangents; ++j) {
        if (std::abs(e[j]) <= radius) continue;
        const double side = e[j] < 0 ? -1 : 1;
        double* to = row_of(first + j);
        std::fill_n(to, unknowns_, 0.0);
        to[first + j] = contact.diagonal[1 + j];
        if (mu > 0) to[normal] = -side * mu * contact.diagonal[1 + j];
        right_[first + j] =
            contact.diagonal[1 + j] * (side * radius - z[unit.row + 1 + j]);
      }
      return;
    }
    if (length <= radius) return;
    turn(contact, unit, normal, first, mu, radius, length, e, z);
  }

  void turn(const LocalContact& contact, const Unit& unit, int normal, int first,
            double mu, double radius, double length, const double* t, const double* z) {
    const int tangents = unit.rows - 1;
    const double scale = contact.largest_tangent;  // 1/ρ
    const double share = radius / length;
    double e[max_tangents], across[max_tangents][max_tangents];
    for (int j = 0; j < tangents; ++j) e[j] = t[j] / length;
    for (int i = 0; i < tangents; ++i) {
      for (int j = 0; j < tangents; ++j) {
        across[i][j] = share * ((i == j ? 1 : 0) - e[i] * e[j]);
      }
    }
    // The rows hold A_t, and −(w_t + A_t δ) of what is known, in the right-hand side.
    double known[max_tangents];
    for (int j = 0; j < tangents; ++j) {
      known[j] = -right_[first + j] - w_[unit.row + 1 + j];
    }
    for (int l = 0; l < unknowns_; ++l) {
      double mobility[max_tangents];
      for (int j = 0; j < tangents; ++j) mobility[j] = row_of(first + j)[l];
      for (int i = 0; i < tangents; ++i) {
        double x = l == first + i ? scale : 0;
        if (mu > 0 && l == normal) x -= scale * mu * e[i];
        for (int j = 0; j < tangents; ++j) {
          x -= across[i][j] * ((l == first + j ? scale : 0) - mobility[j]);
        }
        row_of(first + i)[l] = x;
      }
    }
    for (int i = 0; i < tangents; ++i) {
      double x = scale * (radius * e[i] - z[unit.row + 1 + i]);
      for (int j = 0; j < tangents; ++j) x -= across[i][j] * known[j];
      right_[first + i] = x;
    }
  }

  const Island& island_;
  int n_;
  double *a_, *matrix_, *w_, *y_, *delta_, *right_, *centre_;
  int* index_;
  int unknowns_ = 0;
  double epsilon_ = 0;
  double work_ = 0;    // of all steps
  Residual residual_;  // of the last measure()
};

/// Whether z is a guess, and not where one begins without any.
bool begun(const Island& island, const double* z) {
  for (int i = 0; i < island.rows(); ++i) {
    if (z[i] != 0) return true;
  }
  return false;
}

bool one_answer(const Island& island) {
  prepare_contacts(island);
  for (const LocalContact& contact : island.contacts) {
    if (!contact.one_answer) return false;
  }
  return true;
}

constexpr int first_sweeps = 3;
constexpr int setbacks = 3;  // steps in a row that may fail to improve
constexpr int proximal_points = 40;

/// Newton's steps from z until the residual [m/s] is small enough or no longer falls. z
/// gets the best, whose residual is returned; `best` is room for it.
double step_on(const Island& island, Step& step, double enough, double* z, double* best,
               int& iterations) {
  double least = step.measure(z);
  std::copy_n(z, island.rows(), best);
  for (int failed = 0; failed < setbacks && least > enough;) {
    ++iterations;
    if (!step.take(z)) break;
    const double residual = step.measure(z);
    ++failed;
    if (!(residual < least)) continue;
    failed = 0;
    least = residual;
    std::copy_n(z, island.rows(), best);
  }
  std::copy_n(best, island.rows(), z);
  return least;
}

/// Proximal points: near enough to the last answer, with ε large enough, every problem is
/// easy; ε falls tenfold after each one that is solved and rises after one that is not.
double follow(const Island& island, Step& step, double enough, double* z, double* best,
              double* centre, int& iterations) {
  double epsilon = 0.1;
  for (int k = 0; k < proximal_points && epsilon > proximity; ++k) {
    std::copy_n(z, island.rows(), centre);
    step.hold_near(centre, epsilon);
    const double target = std::max(enough, 1e-3 * epsilon * island.scale);
    const bool solved = step_on(island, step, target, z, best, iterations) <= target;
    if (!solved) std::copy_n(centre, island.rows(), z);
    epsilon = solved ? 0.1 * epsilon : std::min(10 * epsilon, 1.0);
  }
  step.let_go();
  return step_on(island, step, enough, z, best, iterations);
}

}  // namespace

Room Newton::room(int rows, int velocities, const SolveOptions& options) {
  const Room alone = Pivoting::room(rows, velocities, options);
  const std::size_t n = at(std::min(rows, options.most_dense_rows));
  return alone + Room{2 * n * n + 8 * n + at(velocities), n};
}

IslandReport Newton::solve(const Island& island, const SolveOptions& options, double* z,
                           Scratch scratch) noexcept {
  const bool large = island.rows() > options.most_dense_rows;
  if (large || island.contacts.empty()) {
    return Pivoting::solve(island, options, z, scratch);
  }
  const auto n = at(island.rows());
  const double enough = options.tolerance * island.scale;
  double* const before = scratch.numbers(n);
  double* const best = scratch.numbers(n);
  double* const centre = scratch.numbers(n);
  SolveOptions sweeping = options;
  sweeping.iterations = std::min(first_sweeps, options.iterations);
  int iterations = 0;
  IslandReport report;
  const bool sweeps_first = island.units.size() == 1 || !begun(island, z);
  if (sweeps_first) {
    report = GaussSeidel::solve(island, sweeping, z, scratch);
    iterations = report.iterations;
    if (report.converged || iterations >= options.iterations) return report;
  }
  Step step(island, scratch);
  if (!sweeps_first) {
    // From a guess: where no local problem has several answers, no sweep is needed.
    const double least = step_on(island, step, enough, z, best, iterations);
    if (least <= enough && one_answer(island)) {
      step.measure(z);
      report.residual = step.residual();
      report.iterations = iterations;
      report.converged = report.residual.largest <= enough;
      return report;
    }
    report = GaussSeidel::solve(island, sweeping, z, scratch);
    iterations += report.iterations;
    report.iterations = iterations;
    if (report.converged || iterations >= options.iterations) return report;
  }
  while (true) {
    double least = step_on(island, step, enough, z, best, iterations);
    if (least > enough) {
      std::copy_n(z, n, before);
      const double followed = follow(island, step, enough, z, best, centre, iterations);
      if (followed > least) std::copy_n(before, n, z);
      least = std::min(least, followed);
    }
    const int wanted = least <= enough ? 1 : 2 * sweeping.iterations;
    sweeping.iterations = std::max(1, std::min(wanted, options.iterations - iterations));
    report = GaussSeidel::solve(island, sweeping, z, scratch);
    iterations += report.iterations;
    report.iterations = iterations;
    if (report.converged || iterations >= options.iterations) return report;
  }
}

}  // namespace bristle
