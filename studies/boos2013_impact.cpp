#include "bristle/laws/choice.hpp"
#include "bristle/laws/impact.hpp"
#include "studies/boos2013.hpp"
#include "studies/registry.hpp"

namespace bristle::studies {

namespace {

struct Setup {
  LawChoice law;
  Punch punch;
  bool by_rate;
  double damping_factor;  // a; not a number under volumetric-rate
};

Setup setup_of(Values& values) {
  const double radius = boos2013::radius_of(values);
  const double stiffness = values["stiffness"];
  Setup setup;
  setup.punch = {boos2013::is_sphere(values) ? Punch::Kind::sphere : Punch::Kind::flat,
                 radius};
  setup.by_rate = values.choice("law") == "volumetric-rate";
  if (setup.by_rate) {
    setup.law = choose<VolumetricRate>(
        {.stiffness = stiffness, .damping = values["rate_damping"]});
    setup.damping_factor = boos2013::open;
  } else {
    const double e = values["restitution"];
    setup.law = choose<Volumetric>(
        {.stiffness = stiffness, .restitution = e, .impact_speed_floor = 1e-9});
    setup.damping_factor = damping_factor(e) / (e * values["speed"]);
  }
  return setup;
}

Result<ImpactReport> impact_of(const Setup& setup, double mass, double speed,
                               std::vector<ImpactSample>* trace) {
  const LawEntry& entry = entry_of(setup.law);
  return entry.impact({setup.law.parameters.data(), entry.parameters.size()}, mass, speed,
                      trace, setup.punch);
}

report::Figure draw(Values& values) {
  report::Panel loops{.title = "Force against depth",
                      .x_label = "depth [µm]",
                      .y_label = "normal force [N]",
                      .curves = {}};
  report::Panel times{.title = "Force against time",
                      .x_label = "time since touch-down [ms]",
                      .y_label = "normal force [N]",
                      .curves = {}};
  for (const double law : {0.0, 1.0}) {
    Values with = values.with("law", law);
    const Setup setup = setup_of(with);
    std::vector<ImpactSample> trace;
    if (!impact_of(setup, with["mass"], with["speed"], &trace)) continue;
    const std::string label(with.choice("law"));
    report::Curve loop{label, {}, {}}, time{label, {}, {}};
    for (const ImpactSample& s : trace) {
      loop.x.push_back(1e6 * s.depth);
      loop.y.push_back(s.force);
      time.x.push_back(1e3 * s.time);
      time.y.push_back(s.force);
    }
    loops.curves.push_back(loop);
    times.curves.push_back(time);
  }
  return {.title = "A payload hits the plane",
          .note = "Boos & McPhee 2013, eqs. 11–14, and Roy & Carretero's damping",
          .panels = {loops, times},
          .columns = 2};
}

Result<Outcome> run(Values& values, bool with_figure) {
  const Setup setup = setup_of(values);
  const double mass = values["mass"], speed = values["speed"];
  const auto impact = impact_of(setup, mass, speed, nullptr);
  Outcome outcome;
  const double at_touch =
      setup.by_rate ? values["rate_damping"] * setup.punch.at(0, speed).volume_rate : 0;
  if (!impact) {
    outcome.trouble = impact.error();
    return outcome;
  }
  outcome.results = {{"restitution", impact->restitution},
                     {"damping_factor", setup.damping_factor},
                     {"peak_force_N", impact->peak_force},
                     {"peak_depth_m", impact->peak_depth},
                     {"contact_time_s", impact->contact_time},
                     {"force_at_touch_N", at_touch},
                     {"energy_residual_J", impact->energy_residual}};
  const double energy = 0.5 * mass * speed * speed;
  outcome.checks.push_back({"energy balance error [J]", impact->energy_residual, 0,
                            1e-8 * energy, "kinetic energy lost less ∮ f dδ"});
  if (!setup.by_rate) {
    const double e = values["restitution"];
    outcome.checks.push_back(
        {"type e, get e", impact->restitution, e, 1e-8, "eqs. 12, 13"});
    if (values.as_published()) {
      outcome.checks.push_back({"damping factor a [s/m]", setup.damping_factor, 1.6e4,
                                0.1e4, "§ 3.2: 1.6e4 at 0.58 mm/s, e 0.114 from fig. 9"});
    }
  } else {
    outcome.checks.push_back({"less comes back than came", impact->restitution, 0.5, 0.5,
                              "the law is passive"});
  }
  if (with_figure) outcome.figures = {draw(values)};
  return outcome;
}

}  // namespace

Study boos2013_impact() {
  return {
      .name = "boos2013.impact",
      .title = "A payload hits the plane: restitution under the volumetric laws",
      .figures = "eqs. 11–14",
      .about =
          "One central impact without gravity, by the law alone; the cylinder stands "
          "upright. In the paper a motor drives the payload and there is no free "
          "collision: its e of 0.134 and 0.114 are those of eq. 12 for the damping "
          "factors it fits. Damping by dV/dt (Roy & Carretero) jumps at touch-down where "
          "faces conform; here the cylinder's does.",
      .parameters = {boos2013::shape_parameter(),
                     boos2013::radius_parameter(),
                     {"law",
                      "",
                      "choice",
                      choice_of(2),
                      0,
                      "normal law",
                      {"volumetric", "volumetric-rate"}},
                     {"stiffness", "k_v", "N/m^3", above(0, 1e18), 3.82e13,
                      "magnesium under the sphere, Table 2"},
                     {"restitution", "e", "1", between(1e-3, 1), 0.114, "of volumetric"},
                     {"rate_damping", "c", "N s/m^3", between(0, 1e15), 1e10,
                      "of volumetric-rate"},
                     {"speed", "v", "m/s", above(0, 1e4), 5.8e-4, "at touch-down"},
                     {"mass", "m", "kg", above(0, 1e9), 0.1, "of the payload"}},
      .results = {{"restitution", "separation speed over impact speed"},
                  {"damping_factor",
                   "a = d/(e v) [s/m], eq. 12; null under volumetric-rate"},
                  {"peak_force_N", "largest normal force"},
                  {"peak_depth_m", "largest depth"},
                  {"contact_time_s", "from touch-down to the end of the force"},
                  {"force_at_touch_N", "the force with which contact begins"},
                  {"energy_residual_J", "kinetic energy lost less the loop's area"}},
      .run = run};
}

}  // namespace bristle::studies
