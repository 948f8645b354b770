#include "bristle/laws/restitution.hpp"
#include "studies/bouncing.hpp"
#include "studies/camera.hpp"
#include "studies/closed_forms.hpp"
#include "studies/registry.hpp"

namespace bristle::studies {

namespace {

Drop drop_of(const Values& values) {
  return {
      .height = values["height"],
      .radius = values["radius"],
      .mass = values["mass"],
      .gravity = values["gravity"],
      .law = choose<AzadFeatherstone>(
          {.stiffness = values["stiffness"], .damping = values["damping"], .clamp = 1})};
}

void draw(const Values& values, const Drop& drop, const Clock& clock,
          const Bounces& bounces, Outcome& outcome) {
  const double duration = values["duration"];
  report::Curve height{"height", {}, {}}, force{"force", {}, {}}, first{"force", {}, {}};
  report::Curve total{"total", {}, {}}, body{"body", {}, {}}, lost{"dissipated", {}, {}},
      stored{"stored", {}, {}};
  {
    Motion motion = dropped(drop, clock);
    Camera camera("The ball that bounces (fig. 8)", motion.model(), duration);
    Watch watch;
    watch.sample_interval = duration / 8000;
    watch.on_sample = [&](const State& now) {
      camera.see(now);
      const ContactNow contact = motion.contact(now);
      const Ledger ledger = motion.ledger(now);
      for (report::Curve* curve : {&height, &force, &total, &body, &lost, &stored}) {
        curve->x.push_back(now.time);
      }
      height.y.push_back(1e3 * gap_of(drop, now));
      force.y.push_back(contact.normal);
      const double around = ledger.kinetic + drop.mass * drop.gravity * gap_of(drop, now);
      body.y.push_back(around);
      lost.y.push_back(ledger.dissipated());
      stored.y.push_back(ledger.stored());
      total.y.push_back(around + ledger.stored() + ledger.dissipated());
    };
    motion.go(duration, watch);
    outcome.films = {std::move(camera.film)};
  }
  if (!bounces.lift_offs.empty()) {
    const double touch = bounces.touches[0], end = bounces.lift_offs[0].time;
    Motion motion = dropped(drop, clock);
    if (clock.locates_events()) motion.go(touch - 0.05 * (end - touch));
    Watch watch;
    watch.sample_interval = (end - touch) / 200;
    watch.on_sample = [&](const State& now) {
      if (now.time < touch - 0.1 * (end - touch)) return;
      first.x.push_back(1e3 * (now.time - touch));
      first.y.push_back(motion.contact(now).normal);
    };
    motion.go(end + 0.1 * (end - touch), watch);
  }
  outcome.figures = {{.title = "A ball that bounces",
                      .note = "Azad & Featherstone 2010, figs. 8–11",
                      .panels = {{.title = "Height of the lowest point (fig. 8)",
                                  .x_label = "time [s]",
                                  .y_label = "height [mm]",
                                  .curves = {height}},
                                 {.title = "Normal force (fig. 9)",
                                  .x_label = "time [s]",
                                  .y_label = "normal force [N]",
                                  .curves = {force}},
                                 {.title = "The first bounce (fig. 10)",
                                  .x_label = "time since the touch [ms]",
                                  .y_label = "normal force [N]",
                                  .curves = {first}},
                                 {.title = "Energy (fig. 11)",
                                  .x_label = "time [s]",
                                  .y_label = "energy [J]",
                                  .curves = {total, body, lost, stored}}},
                      .columns = 2}};
}

Result<Outcome> run(Values& values, bool with_figure) {
  const Clock clock = clock_of(values);
  const Drop drop = drop_of(values);
  const double duration = values["duration"];
  Motion motion = dropped(drop, clock);
  Bounces bounces;
  Watch watch;
  watch.on_event = [&](const State& now, const Event& event) {
    note(drop, now, event, bounces);
  };
  motion.go(duration, watch);

  // The top of a bounce, where it lies within the run.
  const auto apex = [&](std::size_t i) {
    const bool reached =
        i < bounces.lift_offs.size() && bounces.lift_offs[i].top <= duration;
    return reached ? bounces.lift_offs[i].apex : std::nan("");
  };
  const bool touched = !bounces.touches.empty();
  double peak = std::nan("");
  if (touched && motion.trouble().empty()) {
    const double end =
        bounces.lift_offs.empty() ? duration : bounces.lift_offs.front().time;
    peak = largest_of([&] { return dropped(drop, clock); }, bounces.touches.front(), end,
                      [](const ContactNow& c) { return c.normal; }, clock)
               .value;
  }
  const Ledger& ledger = motion.audit().last();
  Outcome outcome;
  outcome.trouble = motion.trouble();
  outcome.results = {{"bounces", static_cast<double>(bounces.lift_offs.size())},
                     {"first_apex_m", apex(0)},
                     {"second_apex_m", apex(1)},
                     {"third_apex_m", apex(2)},
                     {"first_peak_N", peak},
                     {"last_touch_s", touched ? bounces.touches.back() : std::nan("")},
                     {"dissipated_normal_J", dissipated(ledger.works.normal)},
                     {"energy_residual_J", motion.audit().residual()}};
  if (!outcome.trouble.empty()) return outcome;

  const double energy = fall_energy(drop);
  const double share = motion.audit().residual() / energy;
  outcome.checks.push_back({"energy balance error, share of the energy of the fall",
                            share, 0, clock.locates_events() ? 1e-9 : 0.01,
                            "the ledger closes"});
  if (touched) {
    const double fall = fall_time(drop);
    outcome.checks.push_back({"first touch [s]", bounces.touches.front(), fall,
                              tolerance(clock, 1e-9 * fall, fall), "free fall"});
  }
  // Gravity takes from a bounce, the less the shorter the contact is: e² h is more than
  // the first apex, by about the work of gravity at the depth where the force ends.
  if (!std::isnan(apex(0))) {
    const double speed = std::sqrt(2 * drop.gravity * drop.height);
    const double e = azad_featherstone_restitution(
        azad_featherstone_group_of(values["stiffness"], values["damping"], drop.mass,
                                   speed),
        true);
    const double depth =
        std::pow(1.25 * drop.mass * speed * speed / values["stiffness"], 0.4);
    outcome.checks.push_back({"first apex, against restitution without gravity [m]",
                              apex(0), e * e * drop.height,
                              std::max(4 * depth, tolerance(clock, 0, apex(0))),
                              "e² h; gravity acts in the contact as well"});
  }
  if (with_figure) draw(values, drop, clock, bounces, outcome);
  return outcome;
}

}  // namespace

Study azad2010_bounce() {
  return {
      .name = "azad2010.bounce",
      .title = "A ball is dropped and bounces until it rests",
      .figures = "figs. 8–11",
      .about =
          "Heights are those of the gap under the ball. What the max( ) of eq. 14 takes "
          "from the spring goes to the line of the damper, without which the energies of "
          "fig. 11 would not add up; the paper's eq. 16 leaves that open.",
      .parameters = with_clock(
          {{"height", "h", "m", above(0, 1e3), 0.1, "of the gap that it falls through"},
           {"radius", "r", "m", above(0, 1e3), 0.0165, "of the ball"},
           {"mass", "m", "kg", above(0, 1e9), 0.154, "of the ball"},
           {"stiffness", "k", "N/m^1.5", above(0, 1e15), 8.5e6, "K_n"},
           {"damping", "λ", "N s/m^1.5", between(0, 1e12), 3.1e3, "D_n"},
           {"gravity", "g", "m/s^2", above(0, 1e4), 9.81, "not given in the paper"},
           {"duration", "", "s", above(0, 1e4), 1, "of the run"}},
          1e-11, 50),
      .results = {{"bounces", "lift-offs within the run"},
                  {"first_apex_m", "gap at the top of the first bounce"},
                  {"second_apex_m", "of the second"},
                  {"third_apex_m", "of the third"},
                  {"first_peak_N", "largest normal force of the first contact"},
                  {"last_touch_s", "when it touched last"},
                  {"dissipated_normal_J", "by the normal damper, clamp included"},
                  {"energy_residual_J", "energy balance error at the end"}},
      .run = run};
}

}  // namespace bristle::studies
