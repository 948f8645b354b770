#include <algorithm>
#include <numbers>
#include <optional>

#include "studies/gonthier2004.hpp"
#include "studies/registry.hpp"

namespace bristle::studies {

namespace {

/// Between two moments at which the block turns round towards the plate's motion.
struct Cycle {
  double begins;
  double peak;  // largest friction [N]
  double low, high;
};

struct Run {
  std::vector<Cycle> cycles;  // the last one is not complete
  Series position, friction;
  double excess = -1e300;          // of friction without viscous part over μ_S f_n [N]
  double residual = 0, scale = 0;  // of the energy ledger [J]
  std::string trouble;
};

Run drag(const Values& values, const Clock& clock) {
  const double angle = values["direction_deg"] * std::numbers::pi / 180;
  const Vec3<double> along{std::cos(angle), std::sin(angle), 0};
  const double speed = values["plate_speed"], mass = values["mass"];
  constexpr double depth = 1e-3;  // of the block in the plate, all the time

  ModelBuilder builder;
  builder.gravity({0, 0, -values["gravity"]});
  builder.add_body({.name = "plate", .mass = 1});
  JointSpec drive;
  drive.name = "drive";
  drive.child = "plate";
  drive.type = JointType::prismatic;
  drive.axis = along;
  builder.add_joint(drive);
  builder.add_motor({.name = "drive",
                     .joint = "drive",
                     .kind = MotorKind::prescribed,
                     .target = {.slope = speed}});
  builder.add_shape({.name = "plate", .body = "plate", .shape = Plane{}});
  builder.add_body({.name = "block",
                    .mass = mass,
                    .inertia = Sym3<double>::diagonal(mass, mass, mass)});
  JointSpec table;
  table.name = "spring";
  table.child = "block";
  table.type = JointType::planar;
  table.stiffness = values["spring"];
  table.on_parent.p = {0, 0, -depth};
  builder.add_joint(table);
  builder.add_shape({.name = "block", .body = "block", .shape = Sphere{0}});
  builder.add_contact(
      {.normal =
           choose<Hertz>({.stiffness = mass * values["gravity"] / depth, .exponent = 1}),
       .friction = gonthier2004::friction_of(values)});
  Motion motion(builder, clock);
  const Joint* block = motion.model().tree.find_joint("spring");
  const auto q = static_cast<std::size_t>(block->q),
             v = static_cast<std::size_t>(block->v);
  motion.state().v[v] = speed * along.x;
  motion.state().v[v + 1] = speed * along.y;
  motion.settle();
  motion.set_friction_memory(0, 2, 1);  // s_dw

  Run run;
  run.cycles.push_back({0, 0, 0, 0});
  double time = 0, place = 0, velocity = speed;  // of the last sample
  const auto note = [&](const State& now) {
    const ContactNow contact = motion.contact(now);
    const double friction = norm(contact.friction);
    const double x = now.q[q] * along.x + now.q[q + 1] * along.y;
    const double x_rate = now.v[v] * along.x + now.v[v + 1] * along.y;
    if (now.time > time && velocity < 0 && x_rate >= 0) {
      // It turned: where the velocity, a straight line between the samples, was zero.
      const double part = velocity / (velocity - x_rate);
      const double turned = time + part * (now.time - time);
      const double lowest = place + 0.5 * velocity * (turned - time);
      run.cycles.back().low = std::min(run.cycles.back().low, lowest);
      run.cycles.push_back({turned, 0, lowest, lowest});
    }
    if (now.time > time && velocity > 0 && x_rate <= 0) {
      const double part = velocity / (velocity - x_rate);
      const double highest = place + 0.5 * velocity * part * (now.time - time);
      run.cycles.back().high = std::max(run.cycles.back().high, highest);
    }
    run.excess = std::max(run.excess, friction - values["sigma2"] * norm(contact.slip) -
                                          values["mu_s"] * contact.normal);
    Cycle& cycle = run.cycles.back();
    cycle.peak = std::max(cycle.peak, friction);
    cycle.low = std::min(cycle.low, x);
    cycle.high = std::max(cycle.high, x);
    time = now.time;
    place = x;
    velocity = x_rate;
    return friction;
  };
  Watch watch;
  // Short against the period of the spring and against the time that slipping takes.
  const double period = 2 * std::numbers::pi * std::sqrt(mass / values["spring"]);
  watch.sample_interval = std::min(period / 4000, values["duration"] / 1000);
  // Of eight samples the least and the largest friction: its spikes are short.
  std::size_t samples = 0;
  Series least, largest;
  watch.on_sample = [&](const State& now) {
    const double friction = note(now);
    if (samples++ % 8 == 0) {
      run.position.add(now.time, place);
      least = largest = {};
      least.add(now.time, friction);
      largest.add(now.time, friction);
    }
    if (friction < least.y.back()) least.add(now.time, friction);
    if (friction > largest.y.back()) largest.add(now.time, friction);
    if (samples % 8 != 0) return;
    const bool falls = largest.x.back() < least.x.back();
    const Series &first = falls ? largest : least, &second = falls ? least : largest;
    run.friction.add(first.x.back(), first.y.back());
    run.friction.add(second.x.back(), second.y.back());
  };
  // Samples of a step come before its end is seen: the order in time is kept.
  watch.on_step = [&](const State& now) {
    note(now);
    return true;
  };
  motion.go(values["duration"], watch);
  run.trouble = motion.trouble();
  run.residual = motion.audit().residual();
  run.scale = motion.audit().scale();
  return run;
}

report::Panel panel(const Run& run, double speed, bool friction) {
  std::string title(friction ? "Friction, plate at " : "Position, plate at ");
  title += std::to_string(speed).substr(0, 4);
  title += " m/s";
  const Series& series = friction ? run.friction : run.position;
  return {.title = title,
          .x_label = "time [s]",
          .y_label = friction ? "friction force [N]" : "distance from the origin [m]",
          .curves = {{friction ? "friction" : "position", series.x, series.y}}};
}

Result<Outcome> run(Values& values, bool draw) {
  const Clock clock = clock_of(values);
  const Run whole = drag(values, clock);
  const std::vector<Cycle>& cycles = whole.cycles;
  const std::size_t complete = cycles.size() - 1;  // the first one begins at the start
  const double never = std::nan("");
  double limit_peak = never, limit_period = never, limit_stroke = never;
  if (complete >= 2) {
    const Cycle& last = cycles[complete - 1];
    limit_peak = last.peak;
    limit_period = cycles[complete].begins - last.begins;
    limit_stroke = last.high - last.low;
  }
  Outcome outcome;
  outcome.trouble = whole.trouble;
  outcome.results = {{"first_peak_N", complete >= 1 ? cycles[0].peak : never},
                     {"second_peak_N", complete >= 2 ? cycles[1].peak : never},
                     {"limit_peak_N", limit_peak},
                     {"limit_period_s", limit_period},
                     {"limit_stroke_m", limit_stroke}};

  const double load = values["mass"] * values["gravity"];
  const double most = values["mu_s"] * load;
  const Against against{outcome, clock};
  if (values.as_published()) {
    against("the first peak reaches the stiction limit [N]", cycles[0].peak, most, 1e-4,
            "§ 2.2: \"always extends up to the maximum stiction limit\"");
    against("first peak [N]", cycles[0].peak, 1.4999982, 2e-4,
            "independent solution at tight tolerance");
    against("second peak [N]", complete >= 2 ? cycles[1].peak : never, 1.4454713, 2e-4,
            "independent solution at tight tolerance");
    against("peak of the limit cycle [N]", limit_peak, 1.4361681, 2e-4,
            "independent solution at tight tolerance");
    against("period of the limit cycle [s]", limit_period, 6.829736, 2e-3,
            "independent solution at tight tolerance");
    against("stroke of the limit cycle [m]", limit_stroke, 0.437508, 2e-5,
            "independent solution at tight tolerance");
  }
  outcome.checks.push_back({"friction without its viscous part beyond μ_S f_n [N]",
                            std::max(whole.excess, 0.0), 0, 1e-9 * most, "eqs. 24–26"});
  outcome.checks.push_back(ledger_balances(clock, whole.residual, whole.scale));
  if (draw) {
    report::Figure figure{.title = "Stick-slip of a block on a moving plate",
                          .note = "Gonthier et al. 2004, figs. 5–7",
                          .panels = {}};
    std::vector<double> speeds{values["plate_speed"]};
    if (values.as_published()) speeds = {0.05, 0.1, 0.15};
    for (const double speed : speeds) {
      const Run one = speed == values["plate_speed"]
                          ? whole
                          : drag(values.with("plate_speed", speed), clock);
      figure.panels.push_back(panel(one, speed, false));
      figure.panels.push_back(panel(one, speed, true));
    }
    outcome.figures = {figure};
  }
  return outcome;
}

}  // namespace

Study gonthier2004_stick_slip() {
  return {
      .name = "gonthier2004.stick-slip",
      .title = "A block on a spring is dragged along by a moving plate, and slips",
      .figures = "figs. 5–7",
      .about =
          "Bowden and Leben's experiment, at 45° to the axes. The block starts with the "
          "plate, in full stick (z = 0, s_dw = 1), the spring free at the origin; the "
          "load "
          "is mg. The paper does not say whether it starts with the plate or at rest: "
          "started at rest, its first peak would be lower. A peak is the largest "
          "friction "
          "between successive minima of the block's position; limit_* are of the last "
          "full "
          "cycle.",
      .parameters = with_clock(
          gonthier2004::with_friction(
              {{"plate_speed", "v", "m/s", above(0, 100), 0.1, "of the plate"}},
              {0.15, 0.1, 1e5, std::sqrt(1e5), 0.1, 1e-3, 2},
              {{"spring", "k", "N/m", above(0, 1e12), 2,
                "between the block and the origin"},
               {"mass", "m", "kg", above(0, 1e9), 1, "of the block"},
               {"gravity", "g", "m/s²", above(0, 1e4), 10,
                "presses the block on the plate"},
               {"direction_deg", "", "deg", between(-360, 360), 45,
                "in which the plate moves"},
               {"duration", "", "s", above(0, 1e5), 120, "of the run"}}),
          1e-9, 1),
      .results = {{"first_peak_N", "largest friction before the first return"},
                  {"second_peak_N", "largest friction of the next cycle"},
                  {"limit_peak_N", "of the last full cycle"},
                  {"limit_period_s", "of the last full cycle"},
                  {"limit_stroke_m", "highest less lowest position in it"}},
      .run = run};
}

}  // namespace bristle::studies
