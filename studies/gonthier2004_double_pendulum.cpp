#include <numbers>

#include "studies/camera.hpp"
#include "studies/gonthier2004_pendulum.hpp"
#include "studies/registry.hpp"

namespace bristle::studies {

namespace {

constexpr double degree = std::numbers::pi / 180;

gonthier2004::PendulumLink link(std::string_view masses, double length, double mass) {
  if (masses == "ends") return {length, mass, length, 0};
  if (masses == "middles") return {length, mass, length / 2, 0};
  return {length, mass, length / 2, mass * length * length / 12};
}

/// The links are points and lines; in a film they are rods.
report::Film with_links(report::Film film, const gonthier2004::PendulumLink& upper,
                        const gonthier2004::PendulumLink& lower) {
  const double thick = 0.02 * (upper.length + lower.length);
  int body = 0;
  for (const auto* link : {&upper, &lower}) {
    film.header.shapes.push_back({.name = body == 0 ? "upper" : "lower",
                                  .surface = {},
                                  .body = body,
                                  .kind = ShapeKind::cylinder,
                                  .in_body = {.p = {0, 0, -link->length / 2}},
                                  .numbers = {thick / 2, link->length / 2}});
    film.header.shapes.push_back({.name = "mass",
                                  .surface = {},
                                  .body = body,
                                  .kind = ShapeKind::sphere,
                                  .in_body = {.p = {0, 0, -link->to_mass}},
                                  .numbers = {thick}});
    ++body;
  }
  return film;
}

Result<Outcome> run(Values& values, bool draw) {
  const Clock clock = clock_of(values);
  const std::string_view masses = values.choice("masses");
  const auto upper = link(masses, values["length1"], values["mass1"]);
  const auto lower = link(masses, values["length2"], values["mass2"]);
  const double floor = values["floor"];
  const double phi1 = values["phi1_deg0"] * degree, phi2 = values["phi2_deg0"] * degree;
  const Vec3<double> start = gonthier2004::pendulum_tip(upper, lower, phi1, phi2);
  if (start.z < -floor) {
    return Error{"floor: the tip begins below it; lower the floor or raise the tip"};
  }
  Motion motion = gonthier2004::make_pendulum(upper, lower, floor, values["gravity"],
                                              gonthier2004::normal_of(values),
                                              gonthier2004::friction_of(values), clock);
  motion.state().q = {phi1, phi2};
  motion.state().v = {values["rate1_deg_s"] * degree, values["rate2_deg_s"] * degree};

  int impacts = 0;
  Series angle1, angle2, rate1, rate2, tip_x, tip_z, dwell, energy;
  double last_dip = std::nan("");
  Series recent;  // the last three values of −s_dw
  Watch watch;
  watch.sample_interval = std::min(1e-4, values["duration"] / 1000);
  std::size_t samples = 0;
  Camera camera("The double pendulum and the floor (fig. 16)", motion.model(),
                values["duration"]);
  watch.on_sample = [&](const State& now) {
    if (draw) camera.see(now);
    const ContactNow contact = motion.contact(now);
    const double s_dw = contact.episode != 0 ? motion.friction_memory(now, 0, 2) : 0;
    recent.add(now.time, -s_dw);
    if (recent.x.size() > 3) {
      recent.x.erase(recent.x.begin());
      recent.y.erase(recent.y.begin());
    }
    const std::vector<double>& v = recent.y;
    if (v.size() == 3 && v[1] > v[0] && v[1] >= v[2] && v[1] > -0.5) {
      last_dip = peak_of(recent).at;
    }
    if (samples++ % 10 != 0) return;
    const Vec3<double> tip = gonthier2004::pendulum_tip(upper, lower, now.q[0], now.q[1]);
    const Ledger ledger = motion.ledger(now);
    angle1.add(now.time, now.q[0] / degree);
    angle2.add(now.time, now.q[1] / degree);
    rate1.add(now.time, now.v[0] / degree);
    rate2.add(now.time, now.v[1] / degree);
    tip_x.add(now.time, tip.x);
    tip_z.add(now.time, tip.z);
    dwell.add(now.time, s_dw);
    energy.add(now.time, ledger.kinetic + ledger.gravity + ledger.normal);
  };
  watch.on_event = [&](const State&, const Event& event) {
    if (event.kind == EventKind::touch) ++impacts;
  };
  motion.go(values["duration"], watch);

  const Audit& audit = motion.audit();
  const Ledger last = motion.ledger(motion.state());
  const double end1 = motion.state().q[0] / degree, end2 = motion.state().q[1] / degree;
  const double energy_end = last.kinetic + last.gravity + last.normal;
  Outcome outcome;
  outcome.trouble = motion.trouble();
  outcome.results = {{"phi1_deg", end1},
                     {"phi2_deg", end2},
                     {"impacts", static_cast<double>(impacts)},
                     {"last_dwell_dip_s", last_dip},
                     {"energy_end_J", energy_end}};
  const Against against{outcome, clock};
  if (values.as_published()) {
    const char* reference = "independent solution at tight tolerance";
    against("final φ₁ [deg]", end1, 1.9174, 0.005, reference);
    against("final φ₂ [deg]", end2, -65.7402, 0.005, reference);
    against("impacts", impacts, 38, 0, reference);
    against("last dip of the dwell state [s]", last_dip, 6.3755, 0.002, reference);
    outcome.checks.push_back({"final φ₁ [deg]", end1, 2.2, 0.5,
                              "§ 4.2: \"off-center by 2.2 deg\"; the paper does not say "
                              "where the masses are"});
    outcome.checks.push_back({"final φ₂ [deg]", end2, -65, 1.5, "§ 4.2: \"around −65\""});
    outcome.checks.push_back(
        {"sticking sets in [s]", last_dip, 6.5, 0.3, "§ 4.2: \"after 6.5 s\""});
  }
  outcome.checks.push_back(ledger_balances(clock, audit.residual(), audit.scale()));
  if (draw) {
    const report::Curve begins{.label = "start",
                               .x = {start.x},
                               .y = {start.z},
                               .marker = report::Marker::circle,
                               .line = false};
    outcome.figures = {
        {.title = "A double pendulum whose tip hits the floor",
         .note = "Gonthier et al. 2004, figs. 17–21",
         .panels = {{.title = "Joint angles (fig. 17)",
                     .x_label = "time [s]",
                     .y_label = "angle [deg]",
                     .curves = {{"φ₁", angle1.x, angle1.y}, {"φ₂", angle2.x, angle2.y}}},
                    {.title = "Joint velocities (fig. 18)",
                     .x_label = "time [s]",
                     .y_label = "velocity [deg/s]",
                     .curves = {{"φ₁", rate1.x, rate1.y}, {"φ₂", rate2.x, rate2.y}}},
                    {.title = "Path of the tip (fig. 19)",
                     .x_label = "x [m]",
                     .y_label = "y [m]",
                     .curves = {{"tip", tip_x.y, tip_z.y}, begins}},
                    {.title = "Dwell state (fig. 20)",
                     .x_label = "time [s]",
                     .y_label = "dwell state s_dw",
                     .curves = {{"s_dw", dwell.x, dwell.y}}},
                    {.title = "Kinetic, potential and spring energy (fig. 21)",
                     .x_label = "time [s]",
                     .y_label = "energy [J]",
                     .curves = {{"energy", energy.x, energy.y}}}},
         .columns = 2}};
    outcome.films = {with_links(std::move(camera.film), upper, lower)};
  }
  return outcome;
}

}  // namespace

Study gonthier2004_double_pendulum() {
  std::vector<Parameter> own = {
      {"masses",
       "",
       "choice",
       choice_of(3),
       0,
       "points at the ends or middles of the links, or uniform rods",
       {"ends", "middles", "rods"}},
      {"length1", "l₁", "m", above(0, 1e3), 0.5, "of the upper link"},
      {"length2", "l₂", "m", above(0, 1e3), 0.25, "of the lower link"},
      {"mass1", "m₁", "kg", above(0, 1e6), 5, "of the upper link"},
      {"mass2", "m₂", "kg", above(0, 1e6), 2, "of the lower link"},
      {"phi1_deg0", "φ₁", "deg", between(-360, 360), 45, "at the start"},
      {"phi2_deg0", "φ₂", "deg", between(-360, 360), 0, "at the start, relative"},
      {"rate1_deg_s", "", "deg/s", between(-1e5, 1e5), -120, "at the start"},
      {"rate2_deg_s", "", "deg/s", between(-1e5, 1e5), 130, "at the start, relative"},
      {"floor", "h", "m", above(0, 1e3), 0.61, "below the first joint"},
      {"stiffness", "k", "N/m^1.5", above(0, 1e15), 1e9, "of f = k δ^{3/2}"},
      {"restitution", "e", "1", between(1e-3, 1), 0.9, "of a central impact"},
      {"gravity", "g", "m/s²", between(0, 1e4), 9.81, ""}};
  return {
      .name = "gonthier2004.double-pendulum",
      .title = "The tip of a double pendulum bounces on the floor and comes to rest",
      .figures = "figs. 16–21",
      .about =
          "The paper does not say where the masses are, nor whether φ₂ is relative; "
          "point "
          "masses at the ends and a relative φ₂ come closest to its text. Sensitive, but "
          "not chaotic: the end is the same at every tight tolerance. Energies count "
          "from "
          "the first joint.",
      .parameters =
          with_clock(gonthier2004::with_friction(
                         std::move(own), {0.15, 0.12, 1e5, std::sqrt(1e5), 0, 0.1, 0.75},
                         {{"duration", "", "s", above(0, 1e4), 10, "of the run"}}),
                     1e-10, 10),
      .results = {{"phi1_deg", "φ₁ at the end"},
                  {"phi2_deg", "φ₂ at the end, relative"},
                  {"impacts", "touch-downs, the last, lasting one included"},
                  {"last_dwell_dip_s", "last local minimum of s_dw below 0.5"},
                  {"energy_end_J", "kinetic, potential and normal-spring energy"}},
      .run = run};
}

}  // namespace bristle::studies
