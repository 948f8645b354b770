#include "studies/camera.hpp"
#include "studies/motion.hpp"
#include "studies/registry.hpp"

namespace bristle::studies {

namespace {

struct Throw {
  double radius, mass, height, gravity, mu;
  double vx, vy;
  double duration;
  LawChoice normal, friction;
};

Throw throw_of(const Values& values) {
  return {
      .radius = values["radius"],
      .mass = values["mass"],
      .height = values["centre_height"],
      .gravity = values["gravity"],
      .mu = values["mu"],
      .vx = values["vx"],
      .vy = values["vy"],
      .duration = values["duration"],
      .normal = choose<AzadFeatherstone>(
          {.stiffness = values["stiffness"], .damping = values["damping"], .clamp = 1}),
      .friction =
          choose<AzadFeatherstoneClutch>({.mu = values["mu"],
                                          .stiffness = values["tangential_stiffness"],
                                          .damping = values["tangential_damping"],
                                          .viscous = values["viscous"],
                                          .passive = values["passive"]})};
}

// A free joint: position and quaternion; angular and linear velocity in the world.
Vec3<double> spin_of(const State& state) { return {state.v[0], state.v[1], state.v[2]}; }
Vec3<double> velocity_of(const State& state) {
  return {state.v[3], state.v[4], state.v[5]};
}

/// Of the lowest point, eq. 36 [m/s].
Vec3<double> slip_of(const Throw& ball, const State& state) {
  return velocity_of(state) + cross(spin_of(state), {0, 0, -ball.radius});
}

Motion thrown(const Throw& ball, const Clock& clock) {
  ModelBuilder builder;
  builder.gravity({0, 0, -ball.gravity});
  builder.add_shape({.name = "ground", .shape = Plane{}});
  builder.add_body({.name = "ball",
                    .mass = ball.mass,
                    .inertia = ball_inertia(ball.mass, ball.radius)});
  builder.add_joint({.name = "flies", .child = "ball", .type = JointType::free});
  builder.add_shape({.name = "ball", .body = "ball", .shape = Sphere{ball.radius}});
  builder.add_contact({.normal = ball.normal, .friction = ball.friction});
  Motion motion(builder, clock);
  motion.state().q[2] = ball.height;
  motion.state().v[3] = ball.vx;
  motion.state().v[4] = ball.vy;
  return motion;
}

/// The first contact.
struct First {
  double touch = std::nan("");
  double lift_off = std::nan("");
  double slip_at_lift_off = std::nan("");
  std::vector<double> switches;  // of the clutch
};

First watch_first(const Throw& ball, Motion& motion) {
  First first;
  Watch watch;
  watch.on_event = [&](const State& now, const Event& event) {
    if (event.kind == EventKind::touch && std::isnan(first.touch)) {
      first.touch = event.time;
    }
    if (!std::isnan(first.lift_off)) return;
    if (event.kind == EventKind::stick || event.kind == EventKind::slip) {
      first.switches.push_back(event.time);
    }
    if (event.kind == EventKind::lift_off) {
      first.lift_off = event.time;
      first.slip_at_lift_off = slip_of(ball, now).x;
    }
  };
  motion.go(ball.duration, watch);
  return first;
}

/// How the clutch is at one instant of the first contact.
struct Clutch {
  double time;
  double excess;    // |f_s| − μ f_n; below zero it sticks [N]
  double friction;  // on the ball along x [N]
  double normal;    // [N]
};

Clutch clutch_of(const Throw& ball, Motion& motion, const State& state) {
  const ContactNow contact = motion.contact(state);
  if (contact.row < 0 || !(contact.depth > 0)) return {state.time, 0, 0, 0};
  const auto params = params_of<AzadFeatherstoneClutch>(ball.friction);
  const Vec2<double> u{motion.friction_memory(state, contact.row, 0),
                       motion.friction_memory(state, contact.row, 1)};
  const auto excess = AzadFeatherstoneClutch::guards(
      params, {u}, Kinematics<double>::at(contact.depth, contact.rate, contact.slip),
      contact.normal)[0];
  return {state.time, excess, contact.friction.x, contact.normal};
}

std::vector<Clutch> sample_first(const Throw& ball, const Clock& clock, double from,
                                 double to, int count) {
  Motion motion = thrown(ball, clock);
  const double interval = (to - from) / count;
  if (clock.locates_events()) motion.go(std::max(from - interval, 0.0));
  std::vector<Clutch> samples;
  Watch watch;
  watch.sample_interval = interval;
  watch.on_sample = [&](const State& now) {
    if (now.time > from && now.time < to) {
      samples.push_back(clutch_of(ball, motion, now));
    }
  };
  motion.go(to, watch);
  return samples;
}

struct Stick {
  double begins = std::nan("");
  double ends = std::nan("");
};

/// Whether the clutch holds right from the first touch: with u = 0 and δ → 0 it is D_t
/// |v| against μ λ δ̇.
bool sticks_at_touch(const Throw& ball, double touch) {
  const double pull = params_of<AzadFeatherstoneClutch>(ball.friction).damping *
                      std::hypot(ball.vx, ball.vy);
  const double damping = params_of<AzadFeatherstone>(ball.normal).damping;
  return pull < ball.mu * damping * ball.gravity * touch;
}

/// The first interval in which the clutch holds. Its switches were located; the samples
/// say on which side it was in between, where there are any.
Stick first_stick(const std::vector<Clutch>& samples, std::vector<double> switches,
                  bool at_touch, double from, double to) {
  if (switches.empty()) {
    // A fixed-step integrator does not locate them.
    for (std::size_t i = 1; i < samples.size(); ++i) {
      const Clutch &a = samples[i - 1], &b = samples[i];
      if ((a.excess < 0) == (b.excess < 0)) continue;
      switches.push_back(a.time + (b.time - a.time) * a.excess / (a.excess - b.excess));
    }
  }
  Stick stick;
  switches.insert(switches.begin(), from);
  switches.push_back(to);
  bool sticks = false;
  for (std::size_t i = 0; i + 1 < switches.size(); ++i) {
    int inside = 0, held = 0;
    for (const Clutch& sample : samples) {
      if (sample.time <= switches[i] || sample.time >= switches[i + 1]) continue;
      ++inside;
      held += sample.excess < 0 ? 1 : 0;
    }
    const bool was = sticks;
    sticks = inside > 2 ? 2 * held > inside : i > 0 ? !was : at_touch;
    if (sticks && !was) stick.begins = switches[i];
    if (was && !sticks) {
      stick.ends = switches[i];
      return stick;
    }
  }
  return stick;
}

/// The most negative friction along x, between the switches of the clutch, where it is
/// smooth.
double least_friction(const Throw& ball, const Clock& clock,
                      const std::vector<double>& switches, double from, double to) {
  std::vector<double> ends = switches;
  ends.insert(ends.begin(), from);
  ends.push_back(to);
  double most = 0;
  for (std::size_t i = 0; i + 1 < ends.size(); ++i) {
    if (!(ends[i + 1] > ends[i])) continue;
    const Peak peak =
        largest_of([&] { return thrown(ball, clock); }, ends[i], ends[i + 1],
                   [](const ContactNow& c) { return -c.friction.x; }, clock);
    most = std::max(most, peak.value);
  }
  return most > 0 ? -most : 0;
}

void draw(const Throw& ball, const Clock& clock, const std::vector<Clutch>& samples,
          double touch, Outcome& outcome) {
  report::Curve friction{"friction along x", {}, {}}, close = friction,
                                                      cone{"− μ f_n v_x/|v|", {}, {}};
  report::Curve position{"x of the centre", {}, {}},
      slip{"v_x of the contact point", {}, {}};
  report::Curve total{"total", {}, {}}, body{"body", {}, {}}, lost{"dissipated", {}, {}},
      stored{"stored", {}, {}};
  Motion motion = thrown(ball, clock);
  Camera camera("The sphere that is thrown (figs. 13–16)", motion.model(), ball.duration);
  Watch watch;
  watch.sample_interval = ball.duration / 8000;
  watch.on_sample = [&](const State& now) {
    camera.see(now);
    const ContactNow contact = motion.contact(now);
    const Ledger ledger = motion.ledger(now);
    for (report::Curve* curve :
         {&friction, &position, &slip, &total, &body, &lost, &stored}) {
      curve->x.push_back(now.time);
    }
    friction.y.push_back(contact.depth > 0 ? contact.friction.x : 0);
    position.y.push_back(now.q[0]);
    slip.y.push_back(slip_of(ball, now).x);
    body.y.push_back(ledger.kinetic + ledger.gravity);
    lost.y.push_back(ledger.dissipated());
    stored.y.push_back(ledger.stored());
    total.y.push_back(ledger.energy() + ledger.dissipated() - ledger.supplied());
  };
  motion.go(ball.duration, watch);
  cone.dashed = true;
  for (const Clutch& sample : samples) {
    close.x.push_back(1e3 * (sample.time - touch));
    close.y.push_back(sample.friction);
    cone.x.push_back(1e3 * (sample.time - touch));
    cone.y.push_back(-ball.mu * sample.normal * ball.vx /
                     std::max(std::hypot(ball.vx, ball.vy), 1e-300));
  }
  outcome.films = {std::move(camera.film)};
  outcome.figures = {
      {.title = "A sphere is thrown, slips and rolls",
       .note = "Azad & Featherstone 2010, figs. 13–16",
       .panels = {{.title = "Friction along x (fig. 13)",
                   .x_label = "time [s]",
                   .y_label = "friction [N]",
                   .curves = {friction}},
                  {.title = "In the first contact (fig. 14)",
                   .x_label = "time since the touch [ms]",
                   .y_label = "friction [N]",
                   .curves = {close, cone}},
                  {.title = "Position; velocity of the contact point (fig. 15)",
                   .x_label = "time [s]",
                   .y_label = "position [m], velocity [m/s]",
                   .curves = {position, slip}},
                  {.title = "Energy (fig. 16)",
                   .x_label = "time [s]",
                   .y_label = "energy [J]",
                   .curves = {total, body, lost, stored}}},
       .columns = 2}};
}

Result<Outcome> run(Values& values, bool with_figure) {
  const Clock clock = clock_of(values);
  const Throw ball = throw_of(values);
  if (!(ball.height > ball.radius)) {
    std::string message = "centre_height = ";
    message += std::to_string(ball.height);
    message += " must be above radius = ";
    message += std::to_string(ball.radius);
    message += " m";
    return Error{message};
  }
  Motion motion = thrown(ball, clock);
  const First first = watch_first(ball, motion);
  const State& end = motion.state();
  const Ledger& ledger = motion.audit().last();
  const Powers<double>& friction = ledger.works.friction;
  const double total = ledger.energy() + ledger.dissipated() - ledger.supplied();

  Stick stick;
  double friction_min = std::nan("");
  std::vector<Clutch> samples;
  const double last = std::isnan(first.lift_off) ? ball.duration : first.lift_off;
  if (first.touch < last && motion.trouble().empty()) {
    samples = sample_first(ball, clock, first.touch, last, 2000);
    stick = first_stick(samples, first.switches, sticks_at_touch(ball, first.touch),
                        first.touch, last);
    friction_min = least_friction(ball, clock, first.switches, first.touch, last);
  }

  Outcome outcome;
  outcome.trouble = motion.trouble();
  outcome.results = {{"first_touch_s", first.touch},
                     {"stick_begins_ms", 1e3 * (stick.begins - first.touch)},
                     {"stick_ends_ms", 1e3 * (stick.ends - first.touch)},
                     {"friction_min_N", friction_min},
                     {"slip_at_lift_off", first.slip_at_lift_off},
                     {"final_vx", velocity_of(end).x},
                     {"final_vy", velocity_of(end).y},
                     {"dissipated_normal_J", dissipated(ledger.works.normal)},
                     {"dissipated_tangential_J", friction.damping},
                     {"dissipated_clutch_J", friction.slip + friction.viscous},
                     {"parametric_work_J", friction.parametric},
                     {"total_energy_J", total},
                     {"energy_residual_J", motion.audit().residual()}};
  if (!outcome.trouble.empty()) return outcome;

  const auto check = [&](std::string name, double value, double reference, double exact,
                         std::string source) {
    outcome.checks.push_back({std::move(name), value, reference,
                              tolerance(clock, exact, reference), std::move(source)});
  };
  const double fall = std::sqrt(2 * (ball.height - ball.radius) / ball.gravity);
  if (!std::isnan(first.touch)) {
    check("first touch [s]", first.touch, fall, 1e-9 * fall, "free fall");
  }
  const double at_first = ball.mass * (ball.gravity * ball.height +
                                       0.5 * (ball.vx * ball.vx + ball.vy * ball.vy));
  check("total energy [J]", total, at_first, 1e-9 * at_first, "eqs. 15, 37");
  // Friction acts at the arm r, so that it takes 2/5 as much from m v as it gives to the
  // spin: v + 2/5 r × ω stays.
  const Vec3<double> v = velocity_of(end), w = spin_of(end);
  const double scale = std::hypot(ball.vx, ball.vy) + 1e-9;
  check("v_x + 2/5 r ω_y stays [m/s]", v.x + 0.4 * ball.radius * w.y, ball.vx,
        1e-9 * scale, "angular momentum about the plane");
  check("v_y − 2/5 r ω_x stays [m/s]", v.y - 0.4 * ball.radius * w.x, ball.vy,
        1e-9 * scale, "angular momentum about the plane");
  const Vec3<double> slip = slip_of(ball, end);
  if (std::hypot(slip.x, slip.y) < 1e-9 * scale) {
    check("rolls at 5/7 of v_x [m/s]", v.x, 5.0 / 7 * ball.vx, 2e-9 * scale,
          "closed form");
    check("rolls at 5/7 of v_y [m/s]", v.y, 5.0 / 7 * ball.vy, 2e-9 * scale,
          "closed form");
  }
  if (values.flag("passive")) {
    outcome.checks.push_back({"the changing stiffness puts in nothing, at most [J]",
                              std::max(friction.parametric, 0.0), 0, 1e-12 * at_first,
                              "new contact area is unstressed"});
  }
  if (values.as_published()) {
    const std::string source = "independent solution of eqs. 13, 14, 22–31";
    check("first touch [s]", first.touch, 0.130473926, 1e-9, source);
    check("stick begins [ms]", 1e3 * (stick.begins - first.touch), 0.933732, 1e-6,
          source);
    check("stick ends [ms]", 1e3 * (stick.ends - first.touch), 1.794072, 1e-6, source);
    check("E_NDamp [J]", dissipated(ledger.works.normal), 0.126175444, 1e-8, source);
    check("E_TDamp [J]", friction.damping, 0.003636988, 2e-9, source);
    check("E_Clutch [J]", friction.slip + friction.viscous, 0.008033108, 2e-9, source);
    check("W_par [J]", friction.parametric, 0.000670096, 2e-9, source);
    check("total [J]", total, 0.189574, 1e-9, source);
    check("rolls in the end, v_x [m/s]", v.x, 5.0 / 14, 1e-9, "fig. 15 and closed form");
  }
  if (with_figure) draw(ball, clock, samples, first.touch, outcome);
  return outcome;
}

}  // namespace

Study azad2010_rolling() {
  return {
      .name = "azad2010.rolling",
      .title = "A sphere is thrown on a plane, bounces, slips, sticks and rolls",
      .figures = "figs. 13–16",
      .about =
          "The clutch is solved exactly for its slip. Eq. 29 has the wrong sign: the "
          "clutch dissipates −F_f·V_clutch. Eq. 33 is not the energy that the tangential "
          "spring stores, since its stiffness follows the depth: here ½ K_t √δ u² is "
          "stored, and what the changing stiffness puts in has its own line, without "
          "which the total is not constant (passive=true: new contact area starts "
          "unstressed). The paper does not give gravity, nor u at touch-down: 0.",
      .parameters = with_clock(
          {{"vx", "", "m/s", between(-1e3, 1e3), 0.5, "velocity at the beginning"},
           {"vy", "", "m/s", between(-1e3, 1e3), 0.5, "velocity at the beginning"},
           {"centre_height", "h", "m", above(0, 1e3), 0.1,
            "of the centre at the beginning; above radius"},
           {"mu", "μ", "1", between(0, 10), 0.2, "friction coefficient"},
           {"viscous", "C_V", "N s/m", between(0, 1e9), 0.1, "viscous friction, eq. 27"},
           {"tangential_stiffness", "K_t", "N/m^1.5", above(0, 1e15), 12.75e6,
            "over √δ, eq. 23"},
           {"tangential_damping", "D_t", "N s/m^1.5", between(1e-6, 1e12), 3.1e3,
            "over √δ, eq. 24"},
           {"passive", "", "flag", yes_or_no, 0,
            "whether new contact area starts unstressed"},
           {"duration", "", "s", above(0, 1e4), 1, "of the run"},
           {"radius", "r", "m", above(0, 1e3), 0.0165, "of the sphere"},
           {"mass", "m", "kg", above(0, 1e9), 0.154, "of the sphere"},
           {"stiffness", "k", "N/m^1.5", above(0, 1e15), 8.5e6, "K_n"},
           {"damping", "λ", "N s/m^1.5", between(0, 1e12), 3.1e3, "D_n"},
           {"gravity", "g", "m/s^2", above(0, 1e4), 9.81, "not given in the paper"}},
          1e-11, 100),
      .results = {{"first_touch_s", "when it touches first"},
                  {"stick_begins_ms", "the clutch first holds, after the first touch"},
                  {"stick_ends_ms", "and lets go again, in the first contact"},
                  {"friction_min_N", "most negative friction along x, first contact"},
                  {"slip_at_lift_off",
                   "x velocity of the contact point as it ends [m/s]"},
                  {"final_vx", "of the centre [m/s]"},
                  {"final_vy", "of the centre [m/s]"},
                  {"dissipated_normal_J", "by the normal damper, clamp included, eq. 16"},
                  {"dissipated_tangential_J", "by the tangential damper, eq. 28"},
                  {"dissipated_clutch_J", "by the clutch, −∫ F_f·V_c dt"},
                  {"parametric_work_J", "put in by the changing tangential stiffness"},
                  {"total_energy_J",
                   "body, stored and dissipated less parametric work; zero at the plane"},
                  {"energy_residual_J", "energy balance error at the end"}},
      .run = run};
}

}  // namespace bristle::studies
