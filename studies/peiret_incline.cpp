#include <algorithm>
#include <cmath>
#include <numbers>

#include "studies/peiret.hpp"
#include "studies/registry.hpp"

namespace bristle::studies {

namespace {

using namespace peiret;

struct Block {
  double mass, mu, stiffness, damping, slow;
  double along, normal;  // accelerations of gravity [m/s²]
  bool bristles;
};

Block block_of(const Values& values) {
  const double slope = values["slope_deg"] * std::numbers::pi / 180;
  return {.mass = values["mass"],
          .mu = values["mu"],
          .stiffness = values["kt"],
          .damping = values["dt"],
          .slow = values["v_eps"],
          .along = gravity * std::sin(slope),
          .normal = gravity * std::cos(slope),
          .bristles = values.choice("law") == "bristle"};
}

LawChoice friction_of(const Block& block) {
  if (block.bristles || !(block.mu > 0)) {
    return bristle(block.mu, block.stiffness, block.damping);
  }
  return choose<Coulomb>({.mu_static = block.mu,
                          .mu_coulomb = block.mu,
                          .viscous = 0,
                          .stribeck_speed = 1,
                          .regularisation_speed = block.slow,
                          .regularisation = 0});
}

struct Slide {
  Track track;  // a thousand steps, and those about half the duration and the end
  std::string trouble;
};

Slide slide(const Block& block, double h, double duration) {
  const OnPlane body{.mass = block.mass,
                     .radius = 0,
                     .inertia = ball_inertia(block.mass, 0.1),
                     .gravity = {block.along, 0, -block.normal},
                     .friction = friction_of(block)};
  Motion motion = begin(body, complementarity(h), {0, 0, 0});
  Slide found;
  found.track.see(motion.state());
  double shown = 0;
  motion.go(duration, {.on_step = [&](const State& now) {
              const bool needed = std::fabs(now.time - 0.5 * duration) < 1.5 * h ||
                                  now.time > duration - 1.5 * h;
              if (!needed && now.time < shown) return true;
              shown = now.time + 1e-3 * duration;
              found.track.see(now);
              return true;
            }});
  found.trouble = motion.trouble();
  return found;
}

/// Over the second half of a run [m/s].
double mean_speed(const Track& track, double duration) {
  const double half = 0.5 * duration;
  return (track.position.back().x - track.position_at(half).x) /
         (track.time.back() - half);
}

/// The scheme itself, in one dimension: backward Euler on the bristle, returned to
/// |λ| ≤ μN; a damped one keeps the stretch whose spring and damper make up that force.
double by_hand(const Block& block, double h, double steps) {
  const double bound = block.mu * block.mass * block.normal;
  const double drag = h * block.stiffness + block.damping, share = h / block.mass;
  double x = 0, v = 0, s = 0;
  for (double k = 0; k < steps; ++k) {
    const double free = v + h * block.along;
    const double held = (free - share * block.stiffness * s) / (1 + share * drag);
    const double wanted = -(block.stiffness * s + drag * held);
    const double friction = std::clamp(wanted, -bound, bound);
    v = free + share * friction;
    s = (block.damping * s - h * friction) / drag;
    x += h * v;
  }
  return x;
}

void draw(const Block& block, double h, double duration, Outcome& outcome) {
  Block other = block;
  other.bristles = !block.bristles;
  std::vector<report::Curve> offsets, drifts;
  for (const Block& one : {block, other}) {
    const Slide found = slide(one, h, duration);
    const std::string label = one.bristles ? "bristle" : "regularised";
    report::Curve offset{label, {}, {}}, drift{label, {}, {}};
    const double half = found.track.position_at(0.5 * duration).x;
    for (std::size_t i = 0; i < found.track.time.size(); ++i) {
      const double t = found.track.time[i], x = found.track.position[i].x;
      offset.x.push_back(t);
      offset.y.push_back(x);
      if (t <= 0.5 * duration) continue;
      drift.x.push_back(t);
      // What is nothing to rounding is shown as the least number of the axis.
      drift.y.push_back(std::max(std::fabs(x - half), 1e-18));
    }
    offsets.push_back(offset);
    drifts.push_back(drift);
  }
  outcome.figures = {{.title = "A block rests on an incline",
                      .note = "Bristles, and friction regularised in the velocity",
                      .panels = {{.title = "Offset",
                                  .x_label = "time [s]",
                                  .y_label = "downhill [m]",
                                  .curves = offsets,
                                  .log_y = true},
                                 {.title = "Drift in the second half",
                                  .x_label = "time [s]",
                                  .y_label = "distance [m]",
                                  .curves = drifts,
                                  .log_y = true}},
                      .columns = 2}};
}

Result<Outcome> run(Values& values, bool with_figure) {
  const double h = values["h"], duration = values["duration"];
  if (auto problem = too_many_steps(values)) return *problem;
  const Block block = block_of(values);
  const Slide found = slide(block, h, duration);
  const double offset = found.track.position.back().x;
  const double drift = offset - found.track.position_at(0.5 * duration).x;
  Outcome outcome;
  outcome.trouble = found.trouble;
  outcome.results = {{"offset_m", offset}, {"drift_50_100_m", drift}};
  if (!outcome.trouble.empty()) return outcome;

  const double steps = std::round(found.track.time.back() / h);
  const double slope = block.along / block.normal;
  if (block.bristles) {
    const double expected = by_hand(block, h, steps);
    outcome.checks.push_back({"offset at the end [m]", offset, expected,
                              1e-12 + 1e-9 * std::fabs(expected),
                              "the same steps in one dimension"});
  } else if (block.mu > 0 && std::fabs(slope) < block.mu) {
    // After so many time constants v_ε/(μ g cos α) and steps it creeps steadily.
    const double settles = block.slow / (block.mu * block.normal) + h;
    const double creep = block.slow * slope / block.mu;
    if (0.5 * duration > 100 * settles && slope != 0) {
      outcome.checks.push_back({"speed in the second half [m/s]",
                                mean_speed(found.track, duration), creep,
                                1e-3 * std::fabs(creep), "v_ε tan α/μ"});
    }
  }
  if (values.as_published()) {
    outcome.checks.push_back(
        {"drift in the second half [m]", drift, 0, 1e-12, "bristles do not creep"});
    outcome.checks.push_back({"stretch of the bristle [m]", offset,
                              block.mass * block.along / block.stiffness, 1e-12,
                              "m g sin α/K_T"});
    Block other = block;
    other.bristles = false;
    const double creep = block.slow * slope / block.mu;
    outcome.checks.push_back({"speed of the regularised law [m/s]",
                              mean_speed(slide(other, h, duration).track, duration),
                              creep, 1e-3 * creep, "v_ε tan α/μ"});
  }
  if (with_figure) draw(block, h, duration, outcome);
  return outcome;
}

}  // namespace

Study peiret_incline() {
  return {
      .name = "peiret.incline",
      .title =
          "A block rests on an incline: bristles hold it, regularised friction creeps",
      .figures = "last paragraph",
      .about =
          "A block that does not turn, on one rigid contact, from rest. The paper says "
          "that the sliding artifact of a velocity regularisation does not appear with "
          "bristles: here the drift over the second half of the run. law = regularised "
          "is "
          "μN min(1, |v|/v_eps), which creeps at v_eps tan α/μ. offset_m is the stretch "
          "of the bristle, m g sin α/kt.",
      .parameters = {{"h", "h", "s", between(1e-6, 1), 1e-2, "step"},
                     {"slope_deg", "α", "deg", between(-80, 80), 10, "of the incline"},
                     {"mu", "μ", "1", between(0, 10), 0.3, "friction coefficient"},
                     {"mass", "m", "kg", between(1e-6, 1e9), 10, "of the block"},
                     {"kt", "K_T", "N/m", between(1e-3, 1e12), 1e5, "bristle stiffness"},
                     {"dt", "D_T", "N s/m", between(0, 1e9), 0, "bristle damping"},
                     {"duration", "", "s", above(0, 1e5), 100, "of the run"},
                     {"law",
                      "",
                      "choice",
                      choice_of(2),
                      0,
                      "friction law",
                      {"bristle", "regularised"}},
                     {"v_eps", "v_ε", "m/s", between(1e-9, 100), 1e-3,
                      "of the regularised law"}},
      .results = {{"offset_m", "downhill from the start, at the end [m]"},
                  {"drift_50_100_m", "of that, in the second half of the run [m]"}},
      .run = run};
}

}  // namespace bristle::studies
