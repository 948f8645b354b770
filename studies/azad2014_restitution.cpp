#include "bristle/laws/restitution.hpp"
#include "studies/central_impact.hpp"
#include "studies/closed_forms.hpp"
#include "studies/registry.hpp"

namespace bristle::studies {

namespace {

LawChoice law_of(const Values& values) {
  return choose<AzadFeatherstone>({.stiffness = values["stiffness"],
                                   .damping = values["damping"],
                                   .clamp = values["clamp"]});
}

/// df/dx by five points a step h apart.
template <class F>
double slope_of(const F& f, double h) {
  return (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h);
}

report::Figure draw(const Values& values) {
  const double k = values["stiffness"], mass = values["mass"];
  const bool clamp = values.flag("clamp");
  report::Panel linear{.title = "Three laws (fig. 3)",
                       .x_label = "impact speed [m/s]",
                       .y_label = "coefficient of restitution e",
                       .curves = {}},
      logarithmic{.title = "Over the logarithm of the speed (fig. 4)",
                  .x_label = "impact speed [m/s]",
                  .y_label = "coefficient of restitution e",
                  .curves = {},
                  .log_x = true};
  const auto new_law = [&](double damping, double v) {
    return azad_featherstone_restitution(azad_featherstone_group_of(k, damping, mass, v),
                                         clamp);
  };
  // The other two so that they agree with the new one at 1 m/s.
  const double here = new_law(values["damping"], 1);
  double low = 0, high = 1;
  while (hunt_crossley_restitution(high) > here) high *= 2;
  for (int i = 0; i < 60; ++i) {
    const double middle = 0.5 * (low + high);
    (hunt_crossley_restitution(middle) > here ? low : high) = middle;
  }
  report::Curve ours{"new model", {}, {}}, classic{"Hunt–Crossley", {}, {}},
      constant{"linear", {}, {}};
  for (int i = 1; i <= 80; ++i) {
    const double v = 0.05 * i;
    for (report::Curve* curve : {&ours, &classic, &constant}) curve->x.push_back(v);
    ours.y.push_back(new_law(values["damping"], v));
    classic.y.push_back(hunt_crossley_restitution(low * v));
    constant.y.push_back(here);
  }
  linear.curves = {ours, classic, constant};
  for (const double factor : {0.3, 1.0, 3.0}) {
    const std::string times = factor < 1 ? ", 0.3 λ" : factor > 1 ? ", 3 λ" : "";
    report::Curve one{"new model" + times, {}, {}},
        other{"Hunt–Crossley" + times, {}, {}};
    other.dashed = true;
    for (int i = 0; i <= 60; ++i) {
      const double v = 0.01 * std::pow(10.0, i / 20.0);
      one.x.push_back(v);
      other.x.push_back(v);
      one.y.push_back(new_law(factor * values["damping"], v));
      other.y.push_back(hunt_crossley_restitution(factor * low * v));
    }
    logarithmic.curves.push_back(one);
    logarithmic.curves.push_back(other);
  }
  return {.title = "Restitution falls with the logarithm of the speed",
          .note = "Azad & Featherstone 2014, figs. 3 and 4",
          .panels = {linear, logarithmic},
          .columns = 2};
}

Result<Outcome> run(Values& values, bool with_figure) {
  const Clock clock = clock_of(values);
  const double mass = values["mass"], speed = values["speed"];
  const bool clamp = values.flag("clamp");
  const LawChoice law = law_of(values);
  const auto impact_at = [&](double v) {
    return central_impact(law, clamp, mass, v, clock, Detail::restitution_only);
  };
  const CentralImpact impact = impact_at(speed);
  const double group =
      azad_featherstone_group_of(values["stiffness"], values["damping"], mass, speed);
  // e is a smooth function of log v; a fixed step leaves noise in it.
  const double decades = clock.locates_events() ? 0.04 : 0.5;
  const auto shifted = [&](double by) { return speed * std::pow(10.0, by); };
  const double slope =
      slope_of([&](double by) { return impact_at(shifted(by)).restitution; }, decades);

  Outcome outcome;
  outcome.trouble = impact.trouble;
  outcome.results = {{"restitution", impact.restitution},
                     {"lambda_group", group},
                     {"contact_time_s", impact.contact_time},
                     {"log_slope_per_decade", slope}};
  if (!impact.trouble.empty()) return outcome;

  const double e = azad_featherstone_restitution(group, clamp);
  outcome.checks.push_back({"restitution", impact.restitution, e,
                            tolerance(clock, 1e-8 * e + 1e-13, e),
                            "Taylor series in the contact time"});
  const double by_series = slope_of(
      [&](double by) {
        return azad_featherstone_restitution(group * std::pow(10.0, 0.2 * by), clamp);
      },
      0.02);
  outcome.checks.push_back({"de/dlog₁₀v", slope, by_series, tolerance(clock, 1e-7, e),
                            "the same, differentiated"});
  // Where next to nothing is left of the speed, the moment of parting is not known as
  // well.
  const double parting = 1e-8 * std::max(1.0, 1e-4 / (e * e));
  if (const auto alone = impact_by_law(law, mass, speed)) {
    outcome.checks.push_back(
        {"contact time [s]", impact.contact_time, alone->contact_time,
         tolerance(clock, parting * alone->contact_time, alone->contact_time),
         "the law alone, one degree of freedom"});
  }
  // Only λ/k^{3/5} counts: (α^{−5/2} k, α^{−3/2} λ) returns the same, after α times as
  // long.
  const double alpha = 2;
  const LawChoice slower =
      choose<AzadFeatherstone>({.stiffness = std::pow(alpha, -2.5) * values["stiffness"],
                                .damping = std::pow(alpha, -1.5) * values["damping"],
                                .clamp = values["clamp"]});
  const CentralImpact longer =
      central_impact(slower, clamp, mass, speed, clock, Detail::restitution_only);
  outcome.checks.push_back({"restitution with α^{−5/2} k and α^{−3/2} λ, α = 2",
                            longer.restitution, e, tolerance(clock, 1e-8 * e + 1e-13, e),
                            "§ III"});
  const double twice = alpha * impact.contact_time;
  outcome.checks.push_back({"contact time with these, which doubles [s]",
                            longer.contact_time, twice,
                            tolerance(clock, parting * twice, twice), "§ III"});
  if (with_figure) outcome.figures = {draw(values)};
  return outcome;
}

}  // namespace

Study azad2014_restitution() {
  return {
      .name = "azad2014.restitution",
      .title = "Restitution of a viscoelastic sphere over the logarithm of the speed",
      .figures = "figs. 3, 4",
      .about =
          "One central impact without gravity. Restitution depends on one group, Λ = λ "
          "v^{1/5}/(m^{2/5} k^{3/5}), so that only λ/k^{3/5} can be identified from it. "
          "The paper does not say whether its curves are those of eq. 8 or of eq. 11 "
          "with "
          "the clamp, which differ by some per cent, nor the parameters of figs. 3 and "
          "4; "
          "and the straight line of e over log v holds roughly, for medium Λ.",
      .parameters = with_clock(
          {{"stiffness", "k", "N/m^1.5", above(0, 1e15), 1e10, "Hertz: 4/3 E* √R"},
           {"damping", "λ", "N s/m^1.5", between(0, 1e12), 1e5,
            "damping force over √δ, per unit approach speed"},
           {"mass", "m", "kg", above(0, 1e9), 0.066, "of the sphere"},
           {"speed", "v", "m/s", above(0, 1e4), 1, "at touch-down"},
           {"clamp", "", "flag", yes_or_no, 1, "whether tension is cut off, eq. 11"}},
          1e-12, 2000),
      .results = {{"restitution", "separation speed over impact speed"},
                  {"lambda_group", "Λ, which it depends on"},
                  {"contact_time_s",
                   "from touch-down to the end of the force; unclamped, to δ = 0"},
                  {"log_slope_per_decade", "de/dlog₁₀v at this speed"}},
      .run = run};
}

}  // namespace bristle::studies
