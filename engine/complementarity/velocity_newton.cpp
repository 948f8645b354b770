#include "bristle/complementarity/velocity_newton.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "bristle/complementarity/envelope.hpp"
#include "bristle/complementarity/newton.hpp"

namespace bristle {

namespace {

constexpr std::size_t at(int i) { return static_cast<std::size_t>(i); }

constexpr int most_steps = 60;     // Newton's
constexpr int most_halvings = 2;   // of a step, before bounds are held
constexpr int most_holds = 12;     // of the bounds, where steps do not help
constexpr int steps_of_hold = 6;   // Newton's, with bounds held
constexpr int line_searches = 12;  // along a step with bounds held
constexpr int most_polishings = 3;

int real_velocities(const Island& island) { return island.velocities - (quad_lanes - 1); }

/// z of a unit for w₀ = W y + b, and D where it is wanted. The bound of a contact is that
/// of the island, or `held` of each.
void respond(const Island& island, const Unit& unit, const double* w0, const double* held,
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
  const double radius =
      held != nullptr ? held[unit.contact] : radius_of(island, contact, z[0]);
  const int tangents = unit.rows - 1;
  double length2 = 0;
  for (int j = 1; j <= tangents; ++j) {
    z[j] = -w0[j] / island.compliance[n + at(j)];
    length2 += z[j] * z[j];
  }
  const bool follows = held == nullptr && island.bounds == ConeBounds::coupled &&
                       d != nullptr && d[0][0] > 0;
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
  static Room room(int rows, int velocities) {
    const std::size_t m = at(velocities), n = at(rows);
    return Room{5 * m + 3 * n, 0} + Envelope::room(velocities);
  }

  Velocities(const Island& island, Scratch& scratch)
      : island_(island),
        m_(real_velocities(island)),
        y_(scratch.numbers(at(island.velocities))),
        best_(scratch.numbers(at(island.velocities))),
        trial_(scratch.numbers(at(island.velocities))),
        gap_(scratch.numbers(at(island.velocities))),
        step_(scratch.numbers(at(island.velocities))),
        z_(scratch.numbers(at(island.rows()))),
        held_(scratch.numbers(at(island.rows()))),
        kept_(scratch.numbers(at(island.rows()))),
        envelope_(m_, scratch) {}

  /// From the velocities of a guess; the residual [m/s].
  double start(const double* z) {
    momentum(island_, z, y_);
    square_ = evaluate(y_, nullptr);
    return residual();
  }

  bool lay_out() { return envelope_.lay_out(island_); }

  /// One step of Newton's that lessens |G|; false where none does.
  bool step() {
    if (!find_step(nullptr)) return false;
    double length = 1;
    for (int k = 0; k < most_halvings; ++k, length *= 0.5) {
      go(length);
      const double next = evaluate(trial_, nullptr);
      if (next < (1 - 1e-4 * length) * square_) {
        std::copy_n(trial_, island_.velocities, y_);
        square_ = next;
        return true;
      }
    }
    evaluate(y_, nullptr);
    return false;
  }

  /// Steps of Newton's on the convex problem whose bounds are those of the normal
  /// impulses at y, until G of that problem is a tenth of what it was. How many.
  int hold_bounds() {
    find_radii();
    const double enough = 1e-2 * square_;
    int steps = 0;
    for (double square = square_; steps < steps_of_hold && square > enough;) {
      ++steps;
      if (!find_step(held_)) break;
      square = go_to_least();
      std::copy_n(trial_, island_.velocities, y_);
    }
    square_ = evaluate(y_, nullptr);
    return steps;
  }

  /// How far the rows' velocities are from those of z, the largest [m/s].
  double residual() const {
    double worst = 0;
    for (const Unit& unit : island_.units) {
      const ContactLanes off = rates_of(island_, unit, gap_);
      for (int i = 0; i < unit.rows; ++i) worst = std::max(worst, std::abs(off[i]));
    }
    return worst;
  }

  void keep() { std::copy_n(y_, island_.velocities, best_); }
  void return_to_kept() {
    std::copy_n(best_, island_.velocities, y_);
    square_ = evaluate(y_, nullptr);
  }

  const double* impulses() const { return z_; }
  double* room_for_impulses() { return kept_; }

  /// A step by impulses from z_. Stiff rows multiply the rounding errors of y: z(y) is
  /// off by that of W y over C. Along the step z changes by D W, and what is then left of
  /// these errors is what A z leaves.
  void polish(double* z) {
    momentum(island_, z, y_);
    evaluate(y_, nullptr);
    const double* held = nullptr;
    if (!find_step(held)) {
      find_radii();
      held = held_;
      if (!find_step(held)) return;
    }
    std::fill_n(step_ + m_, island_.velocities - m_, 0.0);
    for (const Unit& unit : island_.units) {
      double w0[contact_lanes], own[contact_lanes];
      Envelope::Slopes d;
      rates(unit, y_, w0);
      respond(island_, unit, w0, held, own, d);
      const ContactLanes along = rates_of(island_, unit, step_);
      for (int i = 0; i < unit.rows; ++i) {
        double sum = own[i];
        for (int j = 0; j < unit.rows; ++j) sum += d[i][j] * along[j];
        z[unit.row + i] = sum;
      }
      confine(island_, unit, z);
    }
  }

 private:
  void find_radii() {
    for (const Unit& unit : island_.units) {
      if (unit.contact < 0) continue;
      held_[unit.contact] =
          radius_of(island_, island_.contacts[at(unit.contact)], z_[unit.row]);
    }
  }

  /// z(y), and G into gap_; |G|².
  double evaluate(const double* y, const double* held) {
    std::copy_n(y, m_, gap_);
    std::fill_n(gap_ + m_, island_.velocities - m_, 0.0);
    for (const Unit& unit : island_.units) {
      double w0[contact_lanes], z[contact_lanes] = {};
      rates(unit, y, w0);
      respond(island_, unit, w0, held, z, nullptr);
      ContactLanes push = 0;
      for (int i = 0; i < unit.rows; ++i) {
        z_[unit.row + i] = z[i];
        push.set(i, -z[i]);
      }
      push_by(island_, unit, push, gap_);
    }
    double square = 0;
    for (int v = 0; v < m_; ++v) square += gap_[v] * gap_[v];
    return square;
  }

  /// (1 + Wᵀ D W)⁻¹ G at y, which evaluate() has seen.
  bool find_step(const double* held) {
    envelope_.assemble(island_, [&](const Unit& unit, Envelope::Slopes& d) {
      double w0[contact_lanes], z[contact_lanes];
      rates(unit, y_, w0);
      respond(island_, unit, w0, held, z, d);
      return z[0] != 0 || d[0][0] != 0;
    });
    if (!envelope_.factorise()) return false;
    std::copy_n(gap_, m_, step_);
    envelope_.solve(step_);
    return true;
  }

  void go(double length) {
    for (int v = 0; v < m_; ++v) trial_[v] = y_[v] - length * step_[v];
    std::fill_n(trial_ + m_, island_.velocities - m_, 0.0);
  }

  /// Goes to where the convex problem's function, whose gradient is G, is least along the
  /// step; |G|² there.
  double go_to_least() {
    const auto slope = [&] {
      double sum = 0;
      for (int v = 0; v < m_; ++v) sum -= gap_[v] * step_[v];
      return sum;
    };
    const double steepest = slope();
    double low = 0, high = 1, low_slope = steepest;
    go(1);
    double square = evaluate(trial_, held_);
    double high_slope = slope();
    for (int k = 0; k < line_searches && high_slope > -0.1 * steepest; ++k) {
      double length = low + (high - low) * low_slope / (low_slope - high_slope);
      length = std::clamp(length, low + 0.1 * (high - low), high - 0.1 * (high - low));
      go(length);
      square = evaluate(trial_, held_);
      const double found = slope();
      if (std::abs(found) <= -0.1 * steepest) break;
      if (found < 0) {
        low = length;
        low_slope = found;
      } else {
        high = length;
        high_slope = found;
      }
    }
    return square;
  }

  void rates(const Unit& unit, const double* y, double* w0) const {
    const ContactLanes own = rates_of(island_, unit, y);
    for (int i = 0; i < unit.rows; ++i) w0[i] = own[i] + island_.b[at(unit.row + i)];
  }

  const Island& island_;
  int m_;
  double *y_, *best_, *trial_, *gap_, *step_, *z_, *held_, *kept_;
  double square_ = 0;
  Envelope envelope_;
};

bool all_compliant(const Island& island) {
  for (const double c : island.compliance) {
    if (!(c > 0)) return false;
  }
  return true;
}

}  // namespace

/// How far rounding alone keeps the velocities of z(y) from y [m/s].
double rounding_of(const Island& island) {
  double stiffest = 1;
  for (std::size_t i = 0; i < island.compliance.size(); ++i) {
    stiffest = std::max(stiffest, island.diagonal[i] / island.compliance[i]);
  }
  return 16 * std::numeric_limits<double>::epsilon() * stiffest * island.scale;
}

Room VelocityNewton::room(int rows, int velocities, const SolveOptions& options) {
  const Room own =
      Room{at(rows) + at(velocities), 0} + Velocities::room(rows, velocities);
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
  Velocities velocities(island, scratch);
  const double enough = options.tolerance * island.scale;
  // What rounding leaves of y is enough for a beginning.
  const double rounded = std::max(enough, rounding_of(island));
  double residual = velocities.start(z);
  double least = residual;
  velocities.keep();
  IslandReport report;
  const int most = std::min(options.iterations, most_steps);
  for (int holds = 0; residual > rounded && report.iterations < most;) {
    if (report.iterations == 0 && !velocities.lay_out()) break;
    ++report.iterations;
    if (!velocities.step()) {
      if (++holds > most_holds) break;
      report.iterations += velocities.hold_bounds();
    }
    residual = velocities.residual();
    if (residual < least) {
      least = residual;
      velocities.keep();
    }
  }
  if (residual > least) velocities.return_to_kept();
  std::copy_n(velocities.impulses(), island.rows(), z);
  const auto measure = [&] {
    momentum(island, z, y);
    rates(island, z, y, w);
    return natural_map(island, z, w);
  };
  report.residual = measure();
  const bool near = least <= rounded && report.residual.largest > enough;
  if (near && (report.iterations > 0 || velocities.lay_out())) {
    double* const best = velocities.room_for_impulses();
    for (int k = 0; k < most_polishings && report.residual.largest > enough; ++k) {
      std::copy_n(z, island.rows(), best);
      ++report.iterations;
      velocities.polish(z);
      const Residual polished = measure();
      if (!(polished.largest < report.residual.largest)) {
        std::copy_n(best, island.rows(), z);
        break;
      }
      report.residual = polished;
    }
  }
  report.converged = report.residual.largest <= enough;
  if (!report.converged && options.iterations > most_steps) {
    report = Newton::solve(island, options, z, whole);
    report.handed_over = true;
  }
  return report;
}

}  // namespace bristle
