#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <numbers>

#include "bristle/complementarity/bound_iteration.hpp"
#include "bristle/complementarity/solvers.hpp"
#include "studies/peiret.hpp"
#include "studies/registry.hpp"

namespace bristle::studies {

namespace {

using namespace peiret;

constexpr double mass = 1, length = 1;  // of the rod [kg, m]; the ratio has neither
constexpr double turning = mass * length * length / 12;
constexpr int most_iterations = 20000;
constexpr double settled = 1e-10;  // of the last change of λ_N, over λ_N

struct Rod {
  double h, mu, slip;
  Vec2<double> tip;  // from the centre of mass: it leans back from the slip
  double compliance;
};

Rod rod_of(const Values& values) {
  const double angle = values["rod_deg"] * std::numbers::pi / 180;
  const double h = values["h"];
  return {.h = h,
          .mu = values["mu"],
          .slip = values["slip0"],
          .tip = {0.5 * length * std::cos(angle), -0.5 * length * std::sin(angle)},
          .compliance = 1 / (h * h * values["kt"])};
}

/// One step of the rod in its plane: velocities x, y and ω, half rows J M^{−1/2}.
ComplementarityProblem problem_of(const Rod& rod, ConeBounds bounds) {
  ComplementarityProblem problem;
  problem.begin(3, ConeShape::isotropic, bounds);
  const double of_mass = 1 / std::sqrt(mass), of_turning = 1 / std::sqrt(turning);
  const std::array<int, 3> velocities{0, 1, 2};
  const std::array<double, 6> halves{0,       of_mass, rod.tip.x * of_turning,
                                     of_mass, 0,       -rod.tip.y * of_turning};
  ConeRows rows;
  rows.tangents = 1;
  rows.b[0] = -gravity * rod.h;
  rows.b[1] = rod.slip;
  rows.compliance[1] = rod.compliance;
  rows.friction = rod.mu;
  problem.add_contact(velocities, halves, rows);
  problem.finish();
  return problem;
}

/// The numbers of the contact, as the solvers have them.
struct Block {
  double nn, nt, tt;
};
Block block_of(const ComplementarityProblem& problem) {
  const LocalContact& contact = problem.island(0).contacts[0];
  return {contact.block[0][0], contact.block[0][1], contact.block[1][1]};
}

struct Iterate {
  double normal, friction;  // [N s]
  double asked;  // the normal impulse that this friction asks for, also below 0 [N s]
};

struct Iteration {
  std::vector<Iterate> iterates;  // the first one has no friction
  bool converged = false;
};

/// Bounds μ z_n from the last solution, from 0 on.
Iteration iterate(const Rod& rod) {
  ComplementarityProblem problem = problem_of(rod, ConeBounds::held);
  const Block a = block_of(problem);
  SolveWorkspace workspace;
  std::array<double, 2> z{0, 0}, before{};
  Iteration found;
  while (found.iterates.size() < most_iterations && !found.converged) {
    const BoundIterationReport report = iterate_bounds<Pivoting>(
        problem, {.tolerance = 1e-13}, settled, 1, z, before, workspace);
    found.converged = report.converged;
    found.iterates.push_back({z[0], z[1], (gravity * rod.h - a.nt * z[1]) / a.nn});
  }
  return found;
}

/// What the coupled problem should answer: it slides, one way or the other, where that is
/// an answer; else the end of the rod stops within the step.
Iterate by_hand(const Rod& rod, const Block& a) {
  const double pressed = gravity * rod.h;
  for (const double way : {rod.slip < 0 ? -1.0 : 1.0, rod.slip < 0 ? 1.0 : -1.0}) {
    const double normal = pressed / (a.nn - way * rod.mu * a.nt);
    const double slip = rod.slip + (a.nt - way * a.tt * rod.mu) * normal;
    if (normal > 0 && way * slip >= 0) return {normal, -way * rod.mu * normal, normal};
  }
  const double both = a.nn * a.tt - a.nt * a.nt;
  const double stops = (a.tt * pressed + a.nt * rod.slip) / both;
  return {stops, -(a.nn * rod.slip + a.nt * pressed) / both, stops};
}

/// The worst of all solvers against the answer by hand, from no guess at all.
double coupled_error(const Rod& rod, const Iterate& expected) {
  double worst = 0;
  for_each_solver(Solvers{}, [&]<class S>() {
    const ComplementarityProblem problem = problem_of(rod, ConeBounds::coupled);
    SolveWorkspace workspace;
    std::array<double, 2> z{0, 0};
    const SolveReport report = solve<S>(problem, {.tolerance = 1e-12}, z, workspace);
    const double off = std::hypot(z[0] - expected.normal, z[1] - expected.friction) /
                       std::hypot(expected.normal, expected.friction);
    worst = std::max(worst, report.converged ? off : HUGE_VAL);
  });
  return worst;
}

/// The first step of the stepper, in space, with bounds coupled [N].
double stepper_normal(const Rod& rod, double stiffness, std::string& trouble) {
  ModelBuilder builder;
  builder.gravity({0, 0, -gravity});
  builder.add_shape({.name = "ground", .shape = Plane{}});
  builder.add_body({.name = "rod",
                    .mass = mass,
                    .inertia = Sym3<double>::diagonal(turning, turning, turning)});
  builder.add_joint({.name = "moves", .child = "rod", .type = JointType::free});
  ShapeSpec end{.name = "end", .body = "rod"};
  end.pose.p = {rod.tip.x, 0, rod.tip.y};
  builder.add_shape(end);
  builder.add_contact({.friction = bristle(rod.mu, stiffness, 0), .rigid = true});
  Motion motion(builder, complementarity(rod.h));
  State& state = motion.state();
  store(Vec3<double>{0, 0, -rod.tip.y}, state.q.data());
  store(Vec3<double>{rod.slip, 0, 0}, state.v.data() + 3);
  carry(motion, mass * gravity);
  motion.go(rod.h);
  if (!motion.trouble().empty()) trouble = motion.trouble();
  return motion.contact(state).normal;
}

void draw(const Values& values, Outcome& outcome) {
  std::vector<report::Curve> growth;
  for (const double mu : {0.3, 0.9, 1.3, 1.6}) {
    for (const double way : {1.0, -1.0}) {
      const Rod rod =
          rod_of(values.with("mu", mu).with("slip0", way * std::fabs(values["slip0"])));
      const Iteration found = iterate(rod);
      char label[32];
      std::snprintf(label, sizeof label, "μ = %.1f, %s", mu, way > 0 ? "in" : "out");
      report::Curve curve{label, {}, {}};
      curve.dashed = way < 0;
      const std::size_t count = std::min<std::size_t>(found.iterates.size(), 30);
      for (std::size_t i = 1; i < count; ++i) {
        curve.x.push_back(static_cast<double>(i));
        curve.y.push_back(
            std::fabs(found.iterates[i].normal - found.iterates[i - 1].normal) / rod.h);
      }
      growth.push_back(curve);
    }
  }
  report::Curve ratio{"measured", {}, {}}, formula{"μ|A_NT|/A_NN", {}, {}};
  ratio.line = false;
  ratio.marker = report::Marker::circle;
  for (double angle = 2; angle < 90; angle += 2) {
    const Rod rod = rod_of(values.with("rod_deg", angle));
    const Iteration found = iterate(rod);
    const Block a = block_of(problem_of(rod, ConeBounds::coupled));
    formula.x.push_back(angle);
    formula.y.push_back(rod.mu * std::fabs(a.nt) / a.nn);
    if (found.iterates.size() < 2) continue;
    ratio.x.push_back(angle);
    ratio.y.push_back(std::fabs(found.iterates[1].asked - found.iterates[0].asked) /
                      found.iterates[0].asked);
  }
  outcome.figures = {{.title = "Bounds of friction from the last normal force, iterated",
                      .note = "A rod slides on its end; in: friction presses it in",
                      .panels = {{.title = "Changes of the normal force",
                                  .x_label = "iteration",
                                  .y_label = "|Δλ_N| [N]",
                                  .curves = growth,
                                  .log_y = true},
                                 {.title = "Ratio of changes over the angle of the rod",
                                  .x_label = "rod to ground [deg]",
                                  .y_label = "ratio",
                                  .curves = {formula, ratio}}},
                      .columns = 2}};
}

Result<Outcome> run(Values& values, bool with_figure) {
  if (!(values["rod_deg"] < 90)) return Error{"rod_deg = 90 must lie in (0, 90) deg"};
  const Rod rod = rod_of(values);
  const Block a = block_of(problem_of(rod, ConeBounds::coupled));
  const Iteration found = iterate(rod);
  // From no bound to that of the first solution.
  const double first = found.iterates[0].normal;
  const double ratio =
      found.iterates.size() < 2 ? 0 : std::fabs(found.iterates[1].asked - first) / first;
  Outcome outcome;
  outcome.results = {{"contraction_ratio", ratio},
                     {"converged", found.converged ? 1.0 : 0.0},
                     {"iterations", static_cast<double>(found.iterates.size())}};

  const double expected = rod.mu * std::fabs(a.nt) / a.nn;
  const bool slides = found.iterates.size() < 2 ||
                      std::fabs(found.iterates[1].friction) > (1 - 1e-9) * rod.mu * first;
  if (slides) {
    const double angle = values["rod_deg"] * std::numbers::pi / 180;
    outcome.checks.push_back(
        {"ratio of changes of λ_N", ratio, expected, 1e-3, "μ|A_NT|/A_NN"});
    outcome.checks.push_back({"μ|A_NT|/A_NN", expected,
                              3 * rod.mu * std::sin(angle) * std::cos(angle) /
                                  (1 + 3 * std::cos(angle) * std::cos(angle)),
                              1e-12, "slender rod, mL²/12"});
  }
  const bool jams = slides && rod.slip > 0 && rod.mu * a.nt >= a.nn;
  const Iterate answer = by_hand(rod, a);
  outcome.checks.push_back({"coupled bounds, from the answer by hand",
                            coupled_error(rod, answer), 0, 1e-9,
                            jams ? "Painlevé: no sliding answer, the end stops"
                                 : "the only answer of the two rows"});
  const double stepped = stepper_normal(rod, values["kt"], outcome.trouble);
  outcome.checks.push_back({"λ_N of the stepper's first step [N]", stepped,
                            answer.normal / rod.h, 1e-8 * answer.normal / rod.h,
                            "the same rows"});
  if (slides && expected < 0.998) {
    outcome.checks.push_back({"the iteration converges", found.converged ? 1.0 : 0.0, 1,
                              0, "the ratio is below 1"});
  }
  if (slides && expected > 1.001 && rod.slip < 0) {
    outcome.checks.push_back({"the iteration converges", found.converged ? 1.0 : 0.0, 0,
                              0, "the ratio is above 1, and friction lifts"});
  }
  if (values.as_published()) {
    const Rod lifted = rod_of(values.with("mu", 1.5).with("slip0", -2));
    outcome.checks.push_back({"the iteration converges at μ = 1.5, slip0 = −2",
                              iterate(lifted).converged ? 1.0 : 0.0, 0, 0,
                              "the ratio is 1.11, and friction lifts"});
    outcome.checks.push_back({"coupled bounds there, from the answer by hand",
                              coupled_error(lifted, by_hand(lifted, a)), 0, 1e-9,
                              "the only answer of the two rows"});
  }
  if (jams && outcome.trouble.empty()) {
    outcome.trouble =
        "Painlevé: friction presses the rod in, and μ A_NT/A_NN = " +
        std::to_string(expected) +
        " is not below 1. No sliding answer exists: the rod jams, and its end stops "
        "within the step, λ_N = " +
        std::to_string(answer.normal / rod.h) + " N";
  }
  if (with_figure) draw(values, outcome);
  return outcome;
}

}  // namespace

Study peiret_bound_iteration() {
  return {
      .name = "peiret.bound-iteration",
      .title = "A rod slides on its end: bounds iterated to the new normal force",
      .figures = "bounds, § of eq. 3",
      .about =
          "\"A few iterations can be performed in order to make the boundaries tend to\" "
          "μλ_N⁺: from bounds 0 on, in one step of a slender rod that slides on its "
          "lower "
          "end without turning, leaning so that friction presses it in (slip0 < 0: so "
          "that "
          "friction lifts it). Changes of λ_N contract by μ|A_NT|/A_NN. At 1 and above "
          "the "
          "iteration diverges: where friction lifts, although coupled bounds have one "
          "answer; where friction presses in, no sliding answer exists (Painlevé), and "
          "the "
          "run says that the rod jams. The ratio is that of the first two changes; λ_N "
          "counts before it is cut off at 0.",
      .parameters = {{"h", "h", "s", between(1e-6, 1), 1e-3, "step"},
                     {"rod_deg", "", "deg", above(0, 90), 60, "of the rod to the ground"},
                     {"mu", "μ", "1", between(0, 10), 0.3, "friction coefficient"},
                     {"kt", "K_T", "N/m", between(1e-3, 1e12), 1e7, "bristle stiffness"},
                     {"slip0", "", "m/s", between(-1e4, 1e4), 2,
                      "slip; below 0: away from where it leans"}},
      .results = {{"contraction_ratio", "of successive changes of λ_N, in magnitude"},
                  {"converged", "1 where the bounds settled, else 0"},
                  {"iterations", "solutions with bounds held, 20000 at most"}},
      .run = run};
}

}  // namespace bristle::studies
