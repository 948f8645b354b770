#include <algorithm>
#include <array>
#include <cmath>

#include "bristle/laws/restitution.hpp"
#include "studies/closed_forms.hpp"
#include "studies/motion.hpp"
#include "studies/registry.hpp"

// Two landings in quick succession: the second one finds the ground still recovering from
// the first. Without gravity. Where the force of the first impact ends, the body is taken
// away by hand and thrown again, so that it passes the undeformed surface after a given
// delay at a given speed.

namespace bristle::studies {

namespace {

constexpr double forever = 1e9;  // [s]

struct Throws {
  double stiffness, damping, mass, first_speed, second_speed, delay;
};

struct Landings {
  double first = std::nan("");  // coefficients of restitution
  double second = std::nan("");
  double left_at = 0;  // depth of the ground where the body left it [m]
  double met_at = 0;   // where the second landing found it [m]
  Series depth{};      // over the time since the first touch
  std::string trouble{};
};

Motion approaching(const Throws& throws, const LawChoice& law, const Clock& clock) {
  ModelBuilder builder;
  builder.gravity({0, 0, 0});
  builder.add_shape({.name = "ground", .shape = Plane{}});
  builder.add_body({.name = "mass", .mass = throws.mass});
  builder.add_joint({.name = "rail", .child = "mass", .type = JointType::prismatic});
  builder.add_shape({.name = "tip", .body = "mass", .shape = Sphere{0}});
  builder.add_contact({.normal = law, .friction = choose<Frictionless>()});
  Motion motion(builder, clock);
  const double flight = clock.locates_events() ? 1e-4 : 2.5 * clock.substep();
  motion.state().q[0] = flight * throws.first_speed;
  motion.state().v[0] = -throws.first_speed;
  return motion;
}

/// Goes on until the force has ended: where the clamp is located, or at the end of the
/// step that shows it. The time; 0 where that does not happen.
double follow_to_release(Motion& motion, Series& depth) {
  bool pressed = false, released = false;
  Watch watch;
  watch.on_step = [&](const State& now) {
    const ContactNow contact = motion.contact(now);
    depth.add(now.time, -now.q[0]);
    pressed = pressed || contact.normal > 0;
    released = pressed && contact.rate < 0 && contact.normal <= 0;
    return !released;
  };
  watch.on_event = [&](const State& now, const Event& event) {
    const bool parts =
        event.kind == EventKind::clamp || event.kind == EventKind::lift_off;
    if (parts && pressed && motion.contact(now).rate < 0) released = true;
  };
  motion.go(motion.clock().locates_events()
                ? forever
                : motion.state().time + 1e7 * motion.clock().substep(),
            watch);
  return released && motion.trouble().empty() ? motion.state().time : 0;
}

/// Takes the body out of the dent and throws it so that it passes the undeformed surface
/// at a time: to the surface first, where the contact still lasts, so that it is
/// remembered.
void throw_again(Motion& motion, const Throws& throws, double passes) {
  State& state = motion.state();
  state.v[0] = -throws.second_speed;
  for (const double height : {0.0, (passes - state.time) * throws.second_speed}) {
    state.q[0] = height;
    motion.settle();
  }
}

Landings land_twice(const Throws& throws, const LawChoice& law, const Clock& clock) {
  Landings landings;
  Motion motion = approaching(throws, law, clock);
  const double released = follow_to_release(motion, landings.depth);
  State& state = motion.state();
  landings.first = state.v[0] / throws.first_speed;
  landings.left_at = -state.q[0];
  // A moment later the ground is on its own.
  const double moment = 1e-3 * std::min(throws.delay, throws.damping / throws.stiffness);
  if (released > 0 && motion.go(state.time + std::max(moment, 1e-12))) {
    // The throw brings energy in: another run, which begins with this state.
    Motion again = approaching(throws, law, clock);
    again.state() = state;
    throw_again(again, throws, released + throws.delay);
    landings.depth.add(again.state().time, -again.state().q[0]);
    if (follow_to_release(again, landings.depth) > 0) {
      landings.second = again.state().v[0] / throws.second_speed;
    }
    landings.trouble = again.trouble();
  }
  if (landings.trouble.empty()) landings.trouble = motion.trouble();
  if (landings.trouble.empty() && std::isnan(landings.second)) {
    landings.trouble = "the bodies did not separate: the damping is too strong to follow";
  }
  return landings;
}

/// Where a body that falls at constant speed meets the ground, δ = v (t − delay) =
/// δ_c exp(−(k/λ) t): by bisection.
double meeting_depth(const Throws& throws, double left_at) {
  const double rate = throws.stiffness / throws.damping;
  double low = throws.delay, high = throws.delay + left_at / throws.second_speed;
  for (int i = 0; i < 200 && low < high; ++i) {
    const double t = 0.5 * (low + high);
    if (t == low || t == high) break;
    const bool above =
        throws.second_speed * (t - throws.delay) < left_at * std::exp(-rate * t);
    (above ? low : high) = t;
  }
  return left_at * std::exp(-rate * high);
}

/// The impact that begins at a depth: s = √δ, dt = 2 s dη, by Runge & Kutta's formula in
/// small steps, until k δ + λ δ̇ = 0.
double restitution_from(const Throws& throws, double depth) {
  using Point = std::array<double, 2>;  // s, δ̇
  const double k = throws.stiffness, damping = throws.damping, v = throws.second_speed;
  const auto pull = [&](const Point& y) { return k * y[0] * y[0] + damping * y[1]; };
  const auto slope = [&](const Point& y) -> Point {
    return {y[1], -2 * y[0] * y[0] * pull(y) / throws.mass};
  };
  const auto step = [&](const Point& y, double h) {
    const auto along = [&](const Point& d, double by) -> Point {
      return {y[0] + by * d[0], y[1] + by * d[1]};
    };
    const Point a = slope(y), b = slope(along(a, h / 2)), c = slope(along(b, h / 2));
    const Point d = slope(along(c, h));
    return along({(a[0] + 2 * b[0] + 2 * c[0] + d[0]) / 6,
                  (a[1] + 2 * b[1] + 2 * c[1] + d[1]) / 6},
                 h);
  };
  const double scale = std::pow(1.25 * throws.mass * v * v / k, 0.2);
  const double h = 1e-4 * std::min(scale, std::cbrt(throws.mass * v / damping)) / v;
  Point y{std::sqrt(depth), v};
  for (long i = 0; i < 100'000'000; ++i) {
    const Point next = step(y, h);
    if (pull(next) > 0) {
      y = next;
      continue;
    }
    double low = 0, high = h;
    for (int j = 0; j < 60; ++j) {
      const double middle = 0.5 * (low + high);
      (pull(step(y, middle)) > 0 ? low : high) = middle;
    }
    return -step(y, high)[1] / v;
  }
  return std::nan("");
}

report::Figure draw(const Landings& clamped, const Landings& recovering,
                    const Throws& throws) {
  const auto depths = [](const char* label, const Landings& landings) {
    report::Curve curve{label, {}, {}};
    for (std::size_t i = 0; i < landings.depth.x.size(); ++i) {
      curve.x.push_back(1e3 * landings.depth.x[i]);
      curve.y.push_back(1e3 * landings.depth.y[i]);
    }
    return curve;
  };
  report::Panel motion{.title = "Depth of the body (fig. 5)",
                       .x_label = "time [ms]",
                       .y_label = "depth [mm]",
                       .curves = {depths("ground flat at the second landing", clamped),
                                  depths("ground still recovers", recovering)},
                       .references = {report::horizontal_line(0, "undeformed surface")}};
  report::Curve second{"ground still recovers", {}, {}};
  const double time_constant = throws.damping / throws.stiffness;
  for (int i = 0; i <= 40; ++i) {
    Throws later = throws;
    later.delay = 0.15 * i * time_constant;
    second.x.push_back(1e3 * later.delay);
    second.y.push_back(restitution_from(later, meeting_depth(later, recovering.left_at)));
  }
  report::Panel delays{
      .title = "Second landing",
      .x_label = "delay [ms]",
      .y_label = "coefficient of restitution e",
      .curves = {second},
      .references = {report::horizontal_line(clamped.second, "ground flat")}};
  return {.title = "A second landing on a ground that still recovers",
          .note = "Azad & Featherstone 2010, fig. 5",
          .panels = {motion, delays},
          .columns = 2};
}

Result<Outcome> run(Values& values, bool with_figure) {
  const Clock clock = clock_of(values);
  const Throws throws{values["stiffness"], values["damping"],      values["mass"],
                      values["speed"],     values["second_speed"], values["delay_s"]};
  const Landings clamped = land_twice(
      throws,
      choose<AzadFeatherstone>(
          {.stiffness = throws.stiffness, .damping = throws.damping, .clamp = 1}),
      clock);
  const Landings recovering =
      land_twice(throws,
                 choose<AzadFeatherstoneRecovery>(
                     {.stiffness = throws.stiffness, .damping = throws.damping}),
                 clock);
  const double met_at = meeting_depth(throws, recovering.left_at);
  Outcome outcome;
  outcome.trouble = clamped.trouble.empty() ? recovering.trouble : clamped.trouble;
  outcome.results = {{"restitution_first", clamped.first},
                     {"restitution_second_clamped", clamped.second},
                     {"restitution_second_recovering", recovering.second},
                     {"restitution_difference", recovering.second - clamped.second},
                     {"ground_left_at_m", recovering.left_at},
                     {"ground_met_at_m", met_at}};
  if (!outcome.trouble.empty()) return outcome;

  const Against check{outcome, clock};
  const auto exact = [&](double speed) {
    return azad_featherstone_restitution(
        azad_featherstone_group_of(throws.stiffness, throws.damping, throws.mass, speed),
        true);
  };
  check("restitution of the first landing", clamped.first, exact(throws.first_speed),
        1e-8, "Taylor series in the contact time");
  check("the same on the ground that recovers", recovering.first,
        exact(throws.first_speed), 1e-8, "Taylor series in the contact time");
  check("restitution of the second landing, ground flat", clamped.second,
        exact(throws.second_speed), 1e-8, "Taylor series in the contact time");
  check("restitution of the second landing, ground recovering", recovering.second,
        restitution_from(throws, met_at), 1e-8,
        "one degree of freedom from where body and ground meet");
  if (with_figure) outcome.figures = {draw(clamped, recovering, throws)};
  return outcome;
}

}  // namespace

Study azad2010_recovery() {
  return {
      .name = "azad2010.recovery",
      .title = "A second landing while the ground still recovers",
      .figures = "fig. 5",
      .about =
          "The paper's ground has no mass and recovers by K x + D ẋ = 0 after the body "
          "has "
          "left it; eq. 14 lets it recover with the body instead, which fails where a "
          "second landing comes too soon. Here both: the law of eq. 14 and the one whose "
          "ground recovers by itself. The body is taken away where the force of the "
          "first "
          "landing ends, and passes the undeformed surface delay_s later at "
          "second_speed. "
          "No gravity. The paper prints no numbers for it: second_speed and delay_s are "
          "ours.",
      .parameters = with_clock(
          {{"stiffness", "k", "N/m^1.5", above(0, 1e15), 8.5e6, "K_n"},
           {"damping", "λ", "N s/m^1.5", above(0, 1e12), 3.1e3, "D_n"},
           {"mass", "m", "kg", above(0, 1e9), 0.154, "of the sphere"},
           {"speed", "v", "m/s", above(0, 1e4), 1, "at the first touch-down"},
           {"second_speed", "v_2", "m/s", above(0, 1e4), 0.5, "at the second landing"},
           {"delay_s", "t_d", "s", between(0, 1e6), 1e-4,
            "from the end of the first force until the body passes the undeformed "
            "surface"}},
          1e-12, 100),
      .results = {{"restitution_first", "of the first landing"},
                  {"restitution_second_clamped", "of the second, on ground that is flat"},
                  {"restitution_second_recovering", "on ground that still recovers"},
                  {"restitution_difference", "recovering less clamped"},
                  {"ground_left_at_m", "depth of the ground where the force ended"},
                  {"ground_met_at_m", "depth at which the second landing finds it"}},
      .run = run};
}

}  // namespace bristle::studies
