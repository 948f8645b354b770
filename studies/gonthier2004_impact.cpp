#include "studies/central_impact.hpp"
#include "studies/closed_forms.hpp"
#include "studies/registry.hpp"

namespace bristle::studies {

namespace {

struct Impact {
  LawChoice law;
  double wanted;   // restitution
  double damping;  // a of f = k δ^p (1 + a δ̇)
};

Impact choose_impact(const Values& values, std::string_view law, double wanted) {
  const double speed = values["speed"];
  if (law == "gonthier") {
    const double e = std::clamp(wanted, GonthierNormal::restitution_range.low, 1.0);
    return {choose<GonthierNormal>({.stiffness = values["stiffness"],
                                    .exponent = values["exponent"],
                                    .restitution = e,
                                    .impact_speed_floor = 1e-9}),
            e, damping_factor(e) / (e * speed)};
  }
  // a = 3/2 α with the α of 1 − α v
  const double a = 1.5 * (1 - wanted) / speed;
  return {choose<HuntCrossley>({.stiffness = values["stiffness"],
                                .exponent = values["exponent"],
                                .dissipation = a}),
          wanted, a};
}

double wanted_restitution(const Values& values) {
  return values.choice("restitution_model") == "empirical"
             ? 1 - values["alpha"] * values["speed"]
             : values["restitution"];
}

/// From ∫ v dv/(1 + a v) = k/m ∫ δ^p dδ over the approach.
double deepest(const Values& values, double a) {
  const double v = values["speed"], p = values["exponent"];
  const double x = a * v;
  const double half = detail::log_defect(x) * v * v;  // (x − ln(1+x))/a²
  return std::pow((p + 1) * values["mass"] / values["stiffness"] * half, 1 / (p + 1));
}

report::Figure draw(const Values& values, const Clock& clock) {
  report::Panel ratio{.title = "Restitution over 1 − α v (fig. 2)",
                      .x_label = "impact speed [m/s]",
                      .y_label = "e / (1 − α v)",
                      .curves = {}};
  const double alpha = values["alpha"];
  const double fastest = std::min(0.9 / alpha, 4.5);
  for (const std::string_view law : {"gonthier", "hunt-crossley"}) {
    report::Curve curve{std::string(law), {}, {}};
    constexpr int points = 48;
    for (int i = 1; i <= points; ++i) {
      const double v = fastest * i / points;
      const Impact at = choose_impact(values.with("speed", v), law, 1 - alpha * v);
      const CentralImpact impact = central_impact(at.law, false, values["mass"], v, clock,
                                                  Detail::restitution_only);
      curve.x.push_back(v);
      curve.y.push_back(impact.restitution / (1 - alpha * v));
    }
    ratio.curves.push_back(curve);
  }
  report::Panel loops{.title = "Force against indentation (fig. 3)",
                      .x_label = "depth [µm]",
                      .y_label = "normal force [kN]",
                      .curves = {}};
  for (const double e : {0.1, 0.3, 0.5, 0.7, 0.9, 1.0}) {
    const Impact at = choose_impact(values, "gonthier", e);
    const CentralImpact impact =
        central_impact(at.law, false, values["mass"], values["speed"], clock);
    report::Curve curve{"e = ", {}, {}};
    curve.label += std::to_string(e).substr(0, 3);
    for (std::size_t i = 0; i < impact.force_depth.x.size(); ++i) {
      curve.x.push_back(1e6 * impact.force_depth.x[i]);
      curve.y.push_back(1e-3 * impact.force_depth.y[i]);
    }
    loops.curves.push_back(curve);
  }
  return {.title = "Restitution-exact damping in one impact",
          .note = "Gonthier et al. 2004, figs. 2 and 3",
          .panels = {ratio, loops},
          .columns = 2};
}

Result<Outcome> run(Values& values, bool with_figure) {
  const Clock clock = clock_of(values);
  const double mass = values["mass"], speed = values["speed"];
  const double wanted = wanted_restitution(values);
  if (!(wanted > 0)) {
    return Error{"alpha and speed: 1 − alpha·speed must be above 0; lower one of them"};
  }
  const bool gonthier = values.choice("law") == "gonthier";
  const Impact chosen = choose_impact(values, values.choice("law"), wanted);
  const CentralImpact impact = central_impact(chosen.law, false, mass, speed, clock);
  const double empirical = 1 - values["alpha"] * speed;

  Outcome outcome;
  outcome.trouble = impact.trouble;
  outcome.results = {
      {"restitution", impact.restitution},
      {"restitution_ratio", impact.restitution / empirical},
      {"peak_force_N", impact.peak_force},
      {"peak_depth_m", impact.peak_depth},
      {"contact_time_s", impact.contact_time},
      {"energy_lost_J",
       0.5 * mass * speed * speed * (1 - impact.restitution * impact.restitution)}};
  const double e =
      gonthier ? chosen.wanted : hunt_crossley_restitution(chosen.damping * speed);
  outcome.checks.push_back({gonthier ? "type e, get e" : "restitution of Hunt–Crossley",
                            impact.restitution, e, tolerance(clock, 1e-8, e),
                            gonthier ? "eqs. 8, 11" : "closed form, eq. 9"});
  const double depth = deepest(values, chosen.damping);
  outcome.checks.push_back({"largest depth [m]", impact.peak_depth, depth,
                            tolerance(clock, 1e-8 * depth, depth),
                            "first integral, eq. 7"});
  if (with_figure) outcome.figures = {draw(values, clock)};
  return outcome;
}

}  // namespace

Study gonthier2004_impact() {
  return {.name = "gonthier2004.impact",
          .title = "A sphere hits a plane: type a coefficient of restitution and get it",
          .figures = "figs. 2, 3",
          .about =
              "One central impact without gravity. Under Gonthier's law the restitution "
              "is the "
              "one that was asked for, whatever the mass, stiffness, exponent and speed; "
              "Hunt–Crossley with a = 3/2 α only approaches 1 − α v as e → 1.",
          .parameters = with_clock(
              {{"law",
                "",
                "choice",
                choice_of(2),
                0,
                "normal law",
                {"gonthier", "hunt-crossley"}},
               {"restitution", "e", "1", between(1e-3, 1), 0.5, "that is asked for"},
               {"restitution_model",
                "",
                "choice",
                choice_of(2),
                0,
                "constant: restitution; empirical: 1 − alpha·speed",
                {"constant", "empirical"}},
               {"alpha", "α", "s/m", between(0, 100), 0.2, "of 1 − α v, eq. 12"},
               {"mass", "m", "kg", above(0, 1e9), 0.454, "of the sphere"},
               {"stiffness", "k", "N/m^p", above(0, 1e15), 3.4e10, "of f = k δ^p"},
               {"exponent", "p", "1", between(1, 4), 1.5, "3/2 for a sphere"},
               {"speed", "v", "m/s", above(0, 1e4), 1, "at touch-down"}},
              1e-11, 100),
          .results = {{"restitution", "separation speed over impact speed"},
                      {"restitution_ratio", "restitution / (1 − alpha·speed)"},
                      {"peak_force_N", "largest normal force"},
                      {"peak_depth_m", "largest depth"},
                      {"contact_time_s", "from touch-down to the end of the force"},
                      {"energy_lost_J", "kinetic energy lost"}},
          .run = run};
}

}  // namespace bristle::studies
