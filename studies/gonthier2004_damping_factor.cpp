#include "bristle/laws/normal/gonthier.hpp"
#include "studies/central_impact.hpp"
#include "studies/registry.hpp"

namespace bristle::studies {

namespace {

double hunt_crossley(double e) { return 1.5 * e * (1 - e); }

report::Figure draw(double restitution) {
  report::Curve exact{"exact, eq. 10", {}, {}}, estimate{"1 − e², first guess", {}, {}},
      classic{"Hunt–Crossley, eq. 14", {}, {}};
  estimate.dashed = classic.dashed = true;
  constexpr int points = 200;
  for (int i = 1; i <= points; ++i) {
    const double e = static_cast<double>(i) / points;
    exact.x.push_back(e);
    exact.y.push_back(damping_factor(e));
    estimate.x.push_back(e);
    estimate.y.push_back(1 - e * e);
    classic.x.push_back(e);
    classic.y.push_back(hunt_crossley(e));
  }
  return {.title = "The damping that gives e exactly",
          .note = "Gonthier et al. 2004, fig. 1",
          .panels = {{.title = "Damping factor d against restitution",
                      .x_label = "coefficient of restitution e",
                      .y_label = "damping factor d = a e v",
                      .curves = {exact, estimate, classic},
                      .references = {report::vertical_line(restitution, "this e")}}},
          .columns = 1};
}

Result<Outcome> run(Values& values, bool with_figure) {
  const Clock clock = clock_of(values);
  const double e = values["restitution"];
  const double d = damping_factor(e);
  Outcome outcome;
  outcome.results = {
      {"d", d}, {"d_over_e", d / e}, {"d_hunt_crossley", hunt_crossley(e)}};

  // Both sides of eq. 10 by their logarithms, which stay finite.
  const double defect = std::log1p(d / e) - std::log1p(-d) - d * (1 + 1 / e);
  if (d < 1) {
    outcome.checks.push_back({"eq. 10 is solved: ln((1 + d/e)/(1 − d)) = d (1 + 1/e)",
                              defect, 0, 1e-12 * (1 + d / e) + 1e-15 / (1 - d),
                              "eq. 10"});
  }
  if (values.as_published()) {
    outcome.checks.push_back({"d(0.5)", d, 0.716375266635688, 1e-12,
                              "root of eq. 10 by bisection in extended precision"});
  }
  // That this d gives this e is what it is for.
  const double e_tried = std::max(e, GonthierNormal::restitution_range.low);
  const CentralImpact impact =
      central_impact(choose<GonthierNormal>({.stiffness = 1e6,
                                             .exponent = 1.5,
                                             .restitution = e_tried,
                                             .impact_speed_floor = 1e-9}),
                     false, 1, 1, clock, Detail::restitution_only);
  outcome.trouble = impact.trouble;
  outcome.checks.push_back({"an impact with this d returns e", impact.restitution,
                            e_tried, tolerance(clock, 1e-8, e_tried), "definition of e"});
  if (with_figure) outcome.figures = {draw(e)};
  return outcome;
}

}  // namespace

Study gonthier2004_damping_factor() {
  return {.name = "gonthier2004.damping-factor",
          .title = "The damping factor that gives a coefficient of restitution exactly",
          .figures = "fig. 1",
          .about =
              "d(e) solves eq. 10 on the branch 0 < d ≤ 1. The paper's 1 − e² is a first "
              "guess "
              "only: used as it is, the restitution is off by up to 0.032.",
          .parameters = with_clock({{"restitution", "e", "1", above(0, 1), 0.5,
                                     "separation speed over impact speed"}},
                                   1e-10, 100),
          .results = {{"d", "damping factor of eq. 10"},
                      {"d_over_e", "d/e, the damping a v of an impact at speed v"},
                      {"d_hunt_crossley", "3/2 e (1 − e), eq. 14"}},
          .run = run};
}

}  // namespace bristle::studies
