#include <numbers>

#include "bristle/laws/materials.hpp"
#include "studies/bouncing.hpp"
#include "studies/registry.hpp"

namespace bristle::studies {

namespace {

constexpr double low_bounce = 1e-3;  // [m]

/// A ball at rest on its contact, and how it rings.
struct Rest {
  double depth;      // [m]
  double frequency;  // damped; not a number where it does not ring [Hz]
};

Rest rest_of(const Drop& drop) {
  const auto params = params_of<AzadFeatherstone>(drop.law);
  const double depth = hertz_depth(params.stiffness, drop.mass * drop.gravity);
  const auto slopes = AzadFeatherstone::linearise(params, NoState<double>{},
                                                  Kinematics<double>::at(depth, 0));
  const double decay = 0.5 * slopes.by_rate / drop.mass;
  const double square = slopes.by_depth / drop.mass - decay * decay;
  return {depth, square > 0 ? std::sqrt(square) / (2 * std::numbers::pi) : std::nan("")};
}

/// After an accepted step.
struct Stepped {
  double time;
  double gap;
};

/// The touch after which no apex is above 1 mm, or not a number where it is not reached.
double decay_time(const Bounces& bounces) {
  std::size_t touch = 0;
  for (std::size_t i = 0; i < bounces.lift_offs.size(); ++i) {
    if (bounces.lift_offs[i].apex > low_bounce) touch = i + 1;
  }
  return touch < bounces.touches.size() ? bounces.touches[touch] : std::nan("");
}

struct Phases {
  std::size_t decay, settle, rest;
};

Phases phases_of(const std::vector<Stepped>& steps, double decayed, const Rest& rest) {
  std::size_t decay = 0, moving = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const bool before = std::isnan(decayed) || steps[i].time <= decayed;
    if (before) decay = i + 1;
    if (std::fabs(-steps[i].gap - rest.depth) > 0.01 * rest.depth) moving = i + 1;
  }
  moving = std::max(moving, decay);
  return {decay, moving - decay, steps.size() - moving};
}

report::Figure draw(const Drop& drop, const Clock& clock, double duration,
                    double last_touch, double rest_depth,
                    const std::vector<Stepped>& steps) {
  const auto gaps = [&](std::string label, double from, double to, double per_metre) {
    report::Curve curve{std::move(label), {}, {}};
    Motion motion = dropped(drop, clock);
    if (clock.locates_events() && from > 0) motion.go(from);
    Watch watch;
    watch.sample_interval = (to - from) / 2000;
    watch.on_sample = [&](const State& now) {
      if (now.time < from) return;
      curve.x.push_back(now.time);
      curve.y.push_back(per_metre * gap_of(drop, now));
    };
    motion.go(to, watch);
    return curve;
  };
  const report::Curve height = gaps("height", 0, duration, 1);
  report::Curve end{"height, enlarged", {}, {}};
  if (last_touch < duration) {
    const double from = std::max(last_touch - 5e-3, 0.0);
    end = gaps(end.label, from, std::min(last_touch + 1e-2, duration), 1e6);
  }
  std::vector<report::Reference> marks{
      report::horizontal_line(-1e6 * rest_depth, "rest")};
  if (last_touch < duration) {
    marks.push_back(report::vertical_line(last_touch, "last touch"));
  }
  report::Curve taken{"steps", {}, {}};
  for (std::size_t i = 0; i < steps.size(); ++i) {
    taken.x.push_back(steps[i].time);
    taken.y.push_back(static_cast<double>(i + 1));
  }
  return {.title = "A stiff ball bounces, rings and rests",
          .note = "Azad & Featherstone 2014, § II-C",
          .panels = {{.title = "Height of the lowest point",
                      .x_label = "time [s]",
                      .y_label = "height [m]",
                      .curves = {height}},
                     {.title = "About the last touch",
                      .x_label = "time [s]",
                      .y_label = "height [µm]",
                      .curves = {end},
                      .references = marks},
                     {.title = "Steps taken",
                      .x_label = "time [s]",
                      .y_label = "steps",
                      .curves = {taken}}},
          .columns = 3};
}

Result<Outcome> run(Values& values, bool with_figure) {
  const Clock clock = clock_of(values);
  const Drop drop{
      .height = values["height"],
      .radius = 0,
      .mass = values["mass"],
      .gravity = values["gravity"],
      .law = choose<AzadFeatherstone>(
          {.stiffness = values["stiffness"], .damping = values["damping"], .clamp = 1})};
  Motion motion = dropped(drop, clock);
  Bounces bounces;
  std::vector<Stepped> steps;
  Watch watch;
  watch.on_event = [&](const State& now, const Event& event) {
    note(drop, now, event, bounces);
  };
  watch.on_step = [&](const State& now) {
    steps.push_back({now.time, gap_of(drop, now)});
    return true;
  };
  motion.go(values["duration"], watch);

  std::size_t high = 0;
  for (const LiftOff& l : bounces.lift_offs) high += l.apex > low_bounce ? 1 : 0;
  const std::size_t low = bounces.lift_offs.size() - high;
  const double decayed = decay_time(bounces);
  const Rest rest = rest_of(drop);
  const Phases phases = phases_of(steps, decayed, rest);
  const auto count = [](std::size_t n) { return static_cast<double>(n); };
  const double last_touch =
      bounces.touches.empty() ? std::nan("") : bounces.touches.back();
  Outcome outcome;
  outcome.trouble = motion.trouble();
  outcome.results = {{"bounces_above_1mm", count(high)},
                     {"micro_bounces", count(low)},
                     {"decay_time_s", decayed},
                     {"last_touch_s", last_touch},
                     {"ring_frequency_Hz", rest.frequency},
                     {"steps_decay", count(phases.decay)},
                     {"steps_settle", count(phases.settle)},
                     {"steps_rest", count(phases.rest)},
                     {"steps_total", count(steps.size())},
                     {"evaluations_total", static_cast<double>(motion.evaluations())}};
  if (!outcome.trouble.empty()) return outcome;

  if (!bounces.touches.empty()) {
    const double fall = fall_time(drop);
    outcome.checks.push_back({"first touch [s]", bounces.touches.front(), fall,
                              tolerance(clock, 1e-9 * fall, fall), "free fall"});
  }
  outcome.checks.push_back(
      {"energy balance error, share of the energy of the fall",
       motion.audit().residual() / fall_energy(drop), 0,
       clock.locates_events() ? std::max(1e-9, 10 * clock.rtol()) : 0.01,
       "the ledger closes"});
  if (values.as_published()) {
    // How far a run at this tolerance may be off.
    const double exact =
        clock.locates_events() ? std::clamp(1e2 * clock.rtol(), 1e-8, 1e-3) : 0;
    const std::string source = "independent solution of eq. 11";
    outcome.checks.push_back(
        {"bounces above 1 mm", count(high), 11, tolerance(clock, 0, 11), source});
    outcome.checks.push_back({"micro-bounces (the paper: 26)", count(low), 26,
                              tolerance(clock, 0, 26), "§ II-C, and " + source});
    outcome.checks.push_back({"decayed below 1 mm (the paper: 2.4 s) [s]", decayed,
                              2.391673406, tolerance(clock, exact, 2.391673406), source});
    outcome.checks.push_back({"last touch [s]", last_touch, 2.529867593,
                              tolerance(clock, 2 * exact, 2.529867593), source});
    outcome.checks.push_back({"frequency in the limit (the paper: 1.4 kHz) [Hz]",
                              rest.frequency, 1524.5, 0.1, source});
    if (clock.locates_events() && clock.rtol() >= 1e-5) {
      outcome.checks.push_back({"steps, out of the paper's 958 + 887 + 255",
                                count(steps.size()), 350, 350, "700 at most"});
    }
  }
  if (with_figure)
    outcome.figures = {
        draw(drop, clock, values["duration"], last_touch, rest.depth, steps)};
  return outcome;
}

}  // namespace

Study azad2014_bounce() {
  return {
      .name = "azad2014.bounce",
      .title = "A steel ball on iron: how many steps a stiff contact takes",
      .figures = "§ II-C",
      .about =
          "The paper's integrator takes 958 steps until the bounces are below 1 mm, 887 "
          "until the ball rests and 255 after that. Its 1.4 kHz is that of the first "
          "cycles; in the limit the contact rings at 1524.5 Hz. An absolute tolerance "
          "like 1e-6 m says nothing of a depth that is 1.6e-7 m at rest: here the depths "
          "of the contact itself are the measure.",
      .parameters = with_clock(
          {{"height", "h", "m", above(0, 1e3), 1, "of the gap that it falls through"},
           {"mass", "m", "kg", above(0, 1e9), 0.066, "of the ball"},
           {"gravity", "g", "m/s^2", above(0, 1e4), 10, "as in the paper"},
           {"stiffness", "k", "N/m^1.5", above(0, 1e15), 1e10, "of eq. 11"},
           {"damping", "λ", "N s/m^1.5", between(0, 1e12), 1e5, "of eq. 11"},
           {"duration", "", "s", above(0, 1e4), 5, "of the run"}},
          1e-5, 200),
      .results = {{"bounces_above_1mm", "lift-offs that reach more than 1 mm"},
                  {"micro_bounces", "the other lift-offs"},
                  {"decay_time_s", "the touch after which none exceeds 1 mm"},
                  {"last_touch_s", "when it touched last"},
                  {"ring_frequency_Hz", "damped, of the contact at rest, linearised"},
                  {"steps_decay", "accepted steps until decay_time_s"},
                  {"steps_settle",
                   "from there until the depth stays within 1 % of that at rest"},
                  {"steps_rest", "after that"},
                  {"steps_total", "all three"},
                  {"evaluations_total", "of forces and accelerations"}},
      .run = run};
}

}  // namespace bristle::studies
