#include "bristle/laws/restitution.hpp"
#include "studies/central_impact.hpp"
#include "studies/closed_forms.hpp"
#include "studies/material_pairs.hpp"
#include "studies/registry.hpp"

namespace bristle::studies {

namespace {

struct Chosen {
  LawChoice law;
  bool clamped;        // the force may end before the depth
  double restitution;  // by closed form, or by Taylor series
};

/// The damping of the figures where none was asked for.
double published_damping(std::string_view law) {
  if (law == "hunt-crossley") return 3.1e6;
  return law == "linear" ? 200 : 3.1e3;
}

Chosen choose_law(std::string_view law, double k, double damping, double mass,
                  double speed, bool clamp) {
  if (law == "hunt-crossley") {
    // λ = a k. It never pulls in an impact, clamp or no clamp.
    const double a = damping / k;
    return {choose<HuntCrossley>({.stiffness = k, .exponent = 1.5, .dissipation = a}),
            false, hunt_crossley_restitution(a * speed)};
  }
  if (law == "linear") {
    return {choose<KelvinVoigt>(
                {.stiffness = k, .damping = damping, .clamp = clamp ? 1.0 : 0.0}),
            clamp, kelvin_voigt_restitution(damping / (2 * std::sqrt(k * mass)), clamp)};
  }
  return {choose<AzadFeatherstone>(
              {.stiffness = k, .damping = damping, .clamp = clamp ? 1.0 : 0.0}),
          clamp,
          azad_featherstone_restitution(
              azad_featherstone_group_of(k, damping, mass, speed), clamp)};
}

report::Curve curve_of(std::string label, const std::vector<double>& speeds,
                       const std::function<double(double)>& restitution) {
  report::Curve curve{std::move(label), speeds, {}};
  for (const double v : speeds) curve.y.push_back(restitution(v));
  return curve;
}

/// Even in the logarithm.
std::vector<double> speeds_between(double low, double high, int count) {
  std::vector<double> speeds;
  for (int i = 0; i <= count; ++i) {
    speeds.push_back(low * std::pow(high / low, static_cast<double>(i) / count));
  }
  return speeds;
}

report::Figure draw(const Values& values, const Clock& clock) {
  const double k = values["stiffness"], mass = values["mass"];
  const bool clamp = values.flag("clamp");
  const auto damping_of = [&](std::string_view law) {
    return law == values.choice("law") ? values["damping"] : published_damping(law);
  };
  const auto restitution = [&](std::string_view law, double damping) {
    return
        [=](double v) { return choose_law(law, k, damping, mass, v, clamp).restitution; };
  };

  report::Panel by_speed{.title = "Restitution (fig. 2)",
                         .x_label = "impact speed [m/s]",
                         .y_label = "coefficient of restitution e",
                         .curves = {}};
  // From next to nothing: the new law is steepest there.
  const std::vector<double> speeds = speeds_between(1e-4, 4, 200);
  for (const std::string_view law : {"azad-featherstone", "hunt-crossley", "linear"}) {
    by_speed.curves.push_back(
        curve_of(std::string(law), speeds, restitution(law, damping_of(law))));
  }

  report::Panel by_log{.title = "The same over the logarithm of the speed (fig. 3)",
                       .x_label = "impact speed [m/s]",
                       .y_label = "coefficient of restitution e",
                       .curves = {},
                       .log_x = true};
  const std::vector<double> wide = speeds_between(0.01, 10, 60);
  for (const std::string_view law : {"azad-featherstone", "hunt-crossley"}) {
    for (const double factor : {0.5, 1.0, 2.0}) {
      std::string label(law);
      label += factor < 1 ? ", half λ" : factor > 1 ? ", twice λ" : "";
      report::Curve curve =
          curve_of(label, wide, restitution(law, factor * damping_of(law)));
      curve.dashed = law == "hunt-crossley";
      by_log.curves.push_back(curve);
    }
  }

  report::Panel materials{.title = "Pairs of materials, damping assumed (fig. 4)",
                          .x_label = "impact speed [m/s]",
                          .y_label = "coefficient of restitution e",
                          .curves = {},
                          .log_x = true};
  for (const MaterialPair& pair : material_pairs) {
    if (pair.spheres) continue;  // the paper of 2014 only
    const PairContact c = contact_of(pair);
    materials.curves.push_back(
        curve_of(std::string(pair.in_words), speeds_between(0.1, 10, 40), [&](double v) {
          return azad_featherstone_restitution(
              azad_featherstone_group_of(c.stiffness, c.damping, c.mass, v), true);
        }));
  }

  report::Panel loops{.title = "Force against deformation (figs. 6, 7)",
                      .x_label = "depth [mm]",
                      .y_label = "normal force [N]",
                      .curves = {}};
  for (const std::string_view law : {"hunt-crossley", "azad-featherstone"}) {
    const Chosen chosen =
        choose_law(law, k, damping_of(law), mass, values["speed"], clamp);
    const CentralImpact impact =
        central_impact(chosen.law, chosen.clamped, mass, values["speed"], clock);
    report::Curve curve{std::string(law), {}, {}};
    for (std::size_t i = 0; i < impact.force_depth.x.size(); ++i) {
      curve.x.push_back(1e3 * impact.force_depth.x[i]);
      curve.y.push_back(impact.force_depth.y[i]);
    }
    loops.curves.push_back(curve);
  }
  return {.title = "One impact under three normal laws",
          .note = "Azad & Featherstone 2010, figs. 2–4, 6, 7",
          .panels = {by_speed, by_log, materials, loops},
          .columns = 2};
}

Result<Outcome> run(Values& values, bool with_figure) {
  const Clock clock = clock_of(values);
  const std::string_view law = values.choice("law");
  if (values.open("damping")) values.resolve("damping", published_damping(law));
  const double mass = values["mass"], speed = values["speed"];
  const Chosen chosen = choose_law(law, values["stiffness"], values["damping"], mass,
                                   speed, values.flag("clamp"));
  if (const std::string problem = out_of_range(chosen.law); !problem.empty()) {
    std::string message(law);
    message += ": ";
    message += problem;
    return Error{message};
  }
  if (!(chosen.restitution > 0)) {
    return Error{
        "damping: without the clamp this linear damper never lets go; lower it below "
        "2 √(stiffness·mass), or set clamp=true"};
  }
  const CentralImpact impact =
      central_impact(chosen.law, chosen.clamped, mass, speed, clock);

  Outcome outcome;
  outcome.trouble = impact.trouble;
  outcome.results = {{"restitution", impact.restitution},
                     {"peak_force_N", impact.peak_force},
                     {"peak_depth_m", impact.peak_depth},
                     {"depth_at_release_m", impact.depth_at_release},
                     {"contact_time_s", impact.contact_time}};
  if (!impact.trouble.empty()) return outcome;

  // What is left of the speed is known to a share of the impact speed; where next to
  // nothing is left, so is the moment at which the bodies part.
  const double e = chosen.restitution;
  const double parting = 1e-8 * std::max(1.0, 1e-4 / (e * e));
  const auto check = [&](std::string name, double value, double reference, double exact,
                         std::string source) {
    outcome.checks.push_back({std::move(name), value, reference,
                              tolerance(clock, exact, reference), std::move(source)});
  };
  check("restitution", impact.restitution, e, 1e-8 * e + 1e-13,
        law == "azad-featherstone" ? "Taylor series in the contact time" : "closed form");
  if (const auto alone = impact_by_law(chosen.law, mass, speed)) {
    const std::string source = "the law alone, one degree of freedom";
    check("largest force [N]", impact.peak_force, alone->peak_force,
          1e-8 * alone->peak_force, source);
    check("largest depth [m]", impact.peak_depth, alone->peak_depth,
          1e-8 * alone->peak_depth, source);
    // Hunt–Crossley leaves at 1/a where a v is large: 1 + a δ̇ is then lost in rounding.
    const bool creeps =
        law == "hunt-crossley" && values["damping"] / values["stiffness"] * speed > 20;
    if (!creeps) {
      check("contact time [s]", impact.contact_time, alone->contact_time,
            parting * alone->contact_time, source);
    }
    if (chosen.clamped && alone->depth_at_release > 1e-6 * alone->peak_depth) {
      check("depth where the force ends [m]", impact.depth_at_release,
            alone->depth_at_release, parting * alone->depth_at_release, source);
    }
  }
  if (with_figure) outcome.figures = {draw(values, clock)};
  return outcome;
}

}  // namespace

Study azad2010_impact() {
  constexpr double open = std::numeric_limits<double>::quiet_NaN();
  return {
      .name = "azad2010.impact",
      .title = "A sphere hits a plane: restitution and force under three normal laws",
      .figures = "figs. 2–4, 6, 7",
      .about =
          "One central impact without gravity. The max( ) of eq. 14 is needed: without "
          "it "
          "(clamp=false) the plane pulls at the end of the contact, and the restitution "
          "is lower; the paper does not say which one figs. 2 to 4 show. The measured "
          "points of fig. 4 and the dampings fitted to them are not printed: its panel "
          "assumes the dampings.",
      .parameters = with_clock(
          {{"law",
            "",
            "choice",
            choice_of(3),
            0,
            "normal law",
            {"azad-featherstone", "hunt-crossley", "linear"}},
           {"stiffness", "k", "N/m^p", above(0, 1e15), 8.5e6,
            "p = 3/2; under the linear law 1"},
           {"damping", "λ", "N s/m^p", between(0, 1e21), open,
            "left open 3.1e3 of √δ δ̇; hunt-crossley 3.1e6 of δ^{3/2} δ̇; linear 200 of "
            "δ̇"},
           {"mass", "m", "kg", above(0, 1e9), 0.154, "of the sphere"},
           {"speed", "v", "m/s", above(0, 1e4), 1, "at touch-down"},
           {"clamp", "", "flag", yes_or_no, 1, "whether tension is cut off, eq. 14"}},
          1e-12, 100),
      .results = {{"restitution", "separation speed over impact speed"},
                  {"peak_force_N", "largest normal force"},
                  {"peak_depth_m", "largest depth"},
                  {"depth_at_release_m", "depth where the force ends"},
                  {"contact_time_s",
                   "from touch-down to the end of the force; unclamped, to δ = 0"}},
      .run = run};
}

}  // namespace bristle::studies
