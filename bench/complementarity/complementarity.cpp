// One contact solve, by every solver: bench_complementarity [EDGE [ROUNDS]]
//
// A settled pile of EDGE³ balls (8 by default), one rigid step of 1/240 s from rest,
// μ = 0.5, inelastic; next to a plain loop that knows of nothing but balls. Then a tower
// of boxes, four stiff contacts under each, as robots and stacks have them.
//
// Velocities in units of g h. `residual` is the natural map as the solvers report it,
// `sinks` the largest velocity at which a contact still closes, `floor` the share of the
// weight that the floor carries. Best of ROUNDS, in processor time.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <limits>

#include "bench/complementarity/pile.hpp"
#include "bristle/complementarity/solvers.hpp"

namespace bristle::bench {
namespace {

using Vector = std::array<double, 3>;
using Frame = std::array<Vector, 3>;  // normal, two tangents

Vector cross(const Vector& a, const Vector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2],
          a[0] * b[1] - a[1] * b[0]};
}
double dot(const Vector& a, const Vector& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

Frame frame_of(const Vector& normal) {
  const Vector helper = std::abs(normal[0]) < 0.7 ? Vector{1, 0, 0} : Vector{0, 1, 0};
  Vector t = cross(normal, helper);
  const double length = std::sqrt(dot(t, t));
  for (double& x : t) x /= length;
  return {normal, t, cross(normal, t)};
}

double processor_time() {
  return static_cast<double>(std::clock()) / static_cast<double>(CLOCKS_PER_SEC);
}

template <class F>
double best_time(int rounds, F f) {
  double best = std::numeric_limits<double>::infinity();
  for (int k = 0; k < rounds; ++k) {
    const double start = processor_time();
    f();
    best = std::min(best, processor_time() - start);
  }
  return best;
}

constexpr double friction = 0.5;

/// Balls of mass 1 and radius 1: half rows are directions, and √(5/2) r × d.
ComplementarityProblem pile_problem(const Pile& pile) {
  ComplementarityProblem problem;
  problem.begin(6 * static_cast<int>(pile.centres.size()));
  for (const PileContact& contact : pile.contacts) {
    const Frame frame = frame_of(contact.normal);
    std::vector<int> velocities;
    std::vector<double> halves;
    ConeRows rows{.friction = friction};
    for (const int body : {contact.a, contact.b}) {
      for (int k = 0; k < 6 && body >= 0; ++k) velocities.push_back(6 * body + k);
    }
    for (std::size_t i = 0; i < 3; ++i) {
      const Vector turn = cross(contact.normal, frame[i]);
      for (const int body : {contact.a, contact.b}) {
        if (body < 0) continue;
        const double sign = body == contact.a ? 1 : -1;
        for (const double x : turn) halves.push_back(-std::sqrt(2.5) * x);
        for (const double x : frame[i]) halves.push_back(sign * x);
      }
      if (contact.b < 0) rows.b[i] = -frame[i][2];
    }
    problem.add_contact(velocities, halves, rows);
  }
  problem.finish();
  return problem;
}

/// What a plain loop makes of the pile: contacts one after the other, each row by its own
/// mobility, then onto the cone. Balls only.
class PlainLoop {
 public:
  explicit PlainLoop(const Pile& pile) : balls_(pile.centres.size() + 1) {
    for (const PileContact& c : pile.contacts) {
      const double count = c.b < 0 ? 1 : 2;
      contacts_.push_back({static_cast<std::size_t>(c.a),
                           c.b < 0 ? balls_.size() - 1 : static_cast<std::size_t>(c.b),
                           frame_of(c.normal),
                           1 / count,
                           1 / (3.5 * count),
                           {}});
    }
  }

  void start() {
    for (Ball& ball : balls_) ball = {{0, 0, -1}, {0, 0, 0}, 1};
    balls_.back() = {{0, 0, 0}, {0, 0, 0}, 0};
    for (Contact& c : contacts_) c.impulse = {};
  }
  void sweep() {
    for (Contact& c : contacts_) {
      const Vector u = rate(c);
      Vector next;
      next[0] = std::max(c.impulse[0] - u[0] * c.inverse_normal, 0.0);
      for (std::size_t i = 1; i < 3; ++i)
        next[i] = c.impulse[i] - u[i] * c.inverse_tangent;
      const double length2 = next[1] * next[1] + next[2] * next[2];
      const double bound = friction * next[0];
      if (length2 > bound * bound) {
        const double shrink = bound / std::sqrt(length2);
        next[1] *= shrink;
        next[2] *= shrink;
      }
      push(c, {next[0] - c.impulse[0], next[1] - c.impulse[1], next[2] - c.impulse[2]});
      c.impulse = next;
    }
  }
  std::vector<double> impulses() const {
    std::vector<double> z;
    for (const Contact& c : contacts_) {
      z.insert(z.end(), c.impulse.begin(), c.impulse.end());
    }
    return z;
  }

 private:
  struct Ball {
    Vector velocity, spin;
    double inverse_mass;
  };
  struct Contact {
    std::size_t a, b;
    Frame frame;
    double inverse_normal, inverse_tangent;
    Vector impulse;
  };

  Vector rate(const Contact& c) const {
    const Ball &a = balls_[c.a], &b = balls_[c.b];
    Vector slip, spin;
    for (std::size_t k = 0; k < 3; ++k) {
      slip[k] = a.velocity[k] - b.velocity[k];
      spin[k] = a.spin[k] + b.spin[k];
    }
    const double normal = dot(slip, c.frame[0]);
    const Vector turning = cross(c.frame[0], spin);
    for (std::size_t k = 0; k < 3; ++k) slip[k] += turning[k];
    return {normal, dot(slip, c.frame[1]), dot(slip, c.frame[2])};
  }
  void push(const Contact& c, const Vector& change) {
    Ball &a = balls_[c.a], &b = balls_[c.b];
    Vector tangent, force;
    for (std::size_t k = 0; k < 3; ++k) {
      tangent[k] = change[1] * c.frame[1][k] + change[2] * c.frame[2][k];
      force[k] = change[0] * c.frame[0][k] + tangent[k];
    }
    const Vector torque = cross(c.frame[0], tangent);
    for (std::size_t k = 0; k < 3; ++k) {
      a.velocity[k] += a.inverse_mass * force[k];
      b.velocity[k] -= b.inverse_mass * force[k];
      a.spin[k] -= 2.5 * a.inverse_mass * torque[k];
      b.spin[k] -= 2.5 * b.inverse_mass * torque[k];
    }
  }

  std::vector<Ball> balls_;
  std::vector<Contact> contacts_;
};

/// How good an answer is, whoever found it.
struct Quality {
  double residual = 0;  // natural map
  double sinks = 0;
};
Quality quality(const ComplementarityProblem& problem, const std::vector<double>& z) {
  Quality worst;
  for (int i = 0; i < problem.island_count(); ++i) {
    const Island island = problem.island(i);
    std::vector<double> own, w(island.b.size());
    std::vector<double> y(static_cast<std::size_t>(island.velocities));
    for (const int row : problem.rows_of(i)) {
      own.push_back(z[static_cast<std::size_t>(row)]);
    }
    momentum(island, own.data(), y.data());
    rates(island, own.data(), y.data(), w.data());
    worst.residual =
        std::max(worst.residual, natural_map(island, own.data(), w.data()).largest);
    for (const Unit& unit : island.units) {
      worst.sinks = std::max(worst.sinks, -w[static_cast<std::size_t>(unit.row)]);
    }
  }
  return worst;
}

void time_pile(int edge, int rounds) {
  const Pile pile = PileMaker(edge).settled(16000);
  ComplementarityProblem problem = pile_problem(pile);
  fmt::print("pile: {} balls, {} contacts, {} islands\n", pile.centres.size(),
             problem.contact_count(), problem.island_count());
  fmt::print("  {:<34} {:>6} {:>9} {:>8} {:>9} {:>9} {:>7}\n", "", "sweeps", "ms",
             "ns/c/sw", "residual", "sinks", "floor");
  const auto line = [&](const std::string& name, int sweeps, double seconds,
                        const std::vector<double>& z) {
    double carried = 0;
    for (std::size_t i = 0; i < pile.contacts.size(); ++i) {
      if (pile.contacts[i].b < 0 && pile.contacts[i].normal[2] > 0.5) carried += z[3 * i];
    }
    const Quality q = quality(problem, z);
    fmt::print("  {:<34} {:>6} {:>9.2f} {:>8.1f} {:>9.1e} {:>9.1e} {:>7.4f}\n", name,
               sweeps, 1e3 * seconds,
               1e9 * seconds / sweeps / static_cast<double>(pile.contacts.size()),
               q.residual, q.sinks, carried / static_cast<double>(pile.centres.size()));
  };
  PlainLoop plain(pile);
  for (const int sweeps : {20, 50, 200, 600}) {
    const double seconds = best_time(rounds, [&] {
      plain.start();
      for (int k = 0; k < sweeps; ++k) plain.sweep();
    });
    line("plain loop", sweeps, seconds, plain.impulses());
  }
  SolveWorkspace workspace;
  std::vector<double> z(static_cast<std::size_t>(problem.row_count()));
  SolveReport report;
  const auto solve_from_zero = [&](const SolveOptions& options) {
    return best_time(rounds, [&] {
      std::fill(z.begin(), z.end(), 0.0);
      report = solve<GaussSeidel>(problem, options, z, workspace);
    });
  };
  for (const bool accelerated : {false, true}) {
    for (const int sweeps : {20, 50, 200, 600}) {
      const double seconds = solve_from_zero(
          {.tolerance = 0, .iterations = sweeps, .accelerated = accelerated});
      line(accelerated ? "gauss-seidel" : "gauss-seidel, no directions", sweeps, seconds,
           z);
    }
  }
  for (const double tolerance : {1e-3, 1e-4, 1e-6, 1e-8}) {
    const double seconds =
        solve_from_zero({.tolerance = tolerance, .iterations = 100000});
    line(fmt::format("gauss-seidel, tolerance {:.0e}", tolerance), report.iterations,
         seconds, z);
  }
  const double laid_out = best_time(rounds, [&] { problem.finish(); });
  fmt::print("  laying out: {:.2f} ms\n", 1e3 * laid_out);
}

/// Unit cubes on top of each other, pushed from the side: four contacts each with
/// springs of 10¹⁰ N/m at a step of 1 ms.
ComplementarityProblem tower_problem(int boxes) {
  ComplementarityProblem problem;
  problem.begin(6 * boxes);
  const Frame frame = frame_of({0, 0, 1});
  const double compliance = 1 / (1e-6 * 1e10);
  for (int box = 0; box < boxes; ++box) {
    for (int corner = 0; corner < 4; ++corner) {
      const double x = corner % 2 == 0 ? 0.5 : -0.5, y = corner / 2 == 0 ? 0.5 : -0.5;
      std::vector<int> velocities;
      std::vector<double> halves;
      ConeRows rows{.friction = friction};
      for (int body = std::max(0, box - 1); body <= box; ++body) {
        for (int k = 0; k < 6; ++k) velocities.push_back(6 * body + k);
      }
      for (std::size_t i = 0; i < 3; ++i) {
        for (int body = std::max(0, box - 1); body <= box; ++body) {
          const double sign = body == box ? 1 : -1;
          const Vector arm = {x, y, body == box ? -0.5 : 0.5};
          // I = m/6 about each axis.
          for (const double t : cross(arm, frame[i])) {
            halves.push_back(sign * std::sqrt(6.0) * t);
          }
          for (const double d : frame[i]) halves.push_back(sign * d);
        }
        rows.compliance[i] = compliance;
        // Gravity on all, a push of a tenth of the weight on the topmost.
        if (box == 0) rows.b[i] = -frame[i][2];
        if (box == boxes - 1) rows.b[i] += 0.1 * frame[i][0];
      }
      problem.add_contact(velocities, halves, rows);
    }
  }
  problem.finish();
  return problem;
}

void time_tower(int boxes, int rounds) {
  const ComplementarityProblem problem = tower_problem(boxes);
  fmt::print("tower: {} boxes, {} contacts\n  {:<34} {:>6} {:>9} {:>9} {:>9}\n", boxes,
             problem.contact_count(), "", "steps", "us", "residual", "handed");
  for_each_solver(Solvers{}, [&]<class S>() {
    SolveWorkspace workspace;
    std::vector<double> z(static_cast<std::size_t>(problem.row_count()));
    SolveReport report;
    constexpr int calls = 20;
    const double seconds = best_time(rounds, [&] {
      for (int k = 0; k < calls; ++k) {
        std::fill(z.begin(), z.end(), 0.0);
        report =
            solve<S>(problem, {.tolerance = 1e-8, .iterations = 100000}, z, workspace);
      }
    });
    fmt::print("  {:<34} {:>6} {:>9.1f} {:>9.1e} {:>9}\n", S::info.name,
               report.iterations, 1e6 * seconds / calls, report.residual,
               report.handed_over);
  });
}

}  // namespace
}  // namespace bristle::bench

int main(int argc, char** argv) {
  const int edge = argc > 1 ? std::max(1, std::atoi(argv[1])) : 8;
  const int rounds = argc > 2 ? std::max(1, std::atoi(argv[2])) : 5;
  bristle::bench::time_pile(edge, rounds);
  for (const int boxes : {1, 3, 10}) bristle::bench::time_tower(boxes, rounds);
}
