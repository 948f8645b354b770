#include <numbers>

#include "studies/boos2013.hpp"
#include "studies/registry.hpp"

namespace bristle::studies {

namespace {

using boos2013::Payload;
using std::numbers::pi;

/// Eq. 32 with its bracket as a series where it cancels, and beyond b = 2r a truncated
/// cylinder. `depth` is along the axis.
double wedge_volume(double r, double depth, double tilt) {
  const double slope = std::tan(tilt);
  if (depth >= 2 * r * slope) return pi * r * r * (depth - r * slope);
  const double b = depth / slope;
  const double phi = 2 * std::asin(std::sqrt(b / (2 * r)));
  double bracket =
      2 * std::sin(phi) - std::cos(phi) * (3 * phi - 0.5 * std::sin(2 * phi));
  if (phi < 0.6) {
    // g = Σ (−1)ⁿ g_n φ^{2n+5}: of 2 sin φ − 3φ cos φ + (sin 3φ + sin φ)/4
    bracket = 0;
    double power = phi;
    double factorial = 1;
    for (int n = 1; n <= 25; n += 2) {
      if (n >= 5) {
        const double three = std::pow(3.0, n);
        bracket +=
            (n % 4 == 1 ? 1 : -1) * power / factorial * (2 + 0.25 * (three + 1) - 3 * n);
      }
      power *= phi * phi;
      factorial *= (n + 1) * (n + 2);
    }
  }
  return depth * r * r * r / (3 * b) * bracket;
}

double volume_of(const Payload& p, double depth) {
  if (p.sphere) return pi / 3 * depth * depth * (3 * p.radius - depth);
  return wedge_volume(p.radius, depth, p.tilt);
}

report::Figure draw(const Payload& payload, double depth) {
  report::Curve volume{"volume", {}, {}}, area{"section", {}, {}};
  for (int i = 1; i <= 120; ++i) {
    Payload p = payload;
    p.depth = payload.depth * 2 * i / 120;
    if (p.sphere ? p.depth > 2 * p.radius : p.depth > p.length * std::cos(p.tilt)) break;
    const Overlap<double> o = p.overlap();
    for (report::Curve* c : {&volume, &area}) c->x.push_back(2e6 * depth * i / 120);
    volume.y.push_back(1e9 * o.volume);
    area.y.push_back(1e6 * o.area);
  }
  return {.title = "The overlap of the payload with the plane",
          .note = "Boos & McPhee 2013, eqs. 26, 27, 32",
          .panels = {{.title = "Volume",
                      .x_label = "depth [µm]",
                      .y_label = "volume [mm³]",
                      .curves = {volume}},
                     {.title = "Section",
                      .x_label = "depth [µm]",
                      .y_label = "area [mm²]",
                      .curves = {area}}},
          .columns = 2};
}

Result<Outcome> run(Values& values, bool with_figure) {
  const double depth = values["depth_m"];
  const auto payload = boos2013::payload_of(values, values["length"]);
  if (!payload) return Error{payload.error()};
  const Overlap<double> o = payload->overlap();
  const double jnn = o.moments.xx + o.moments.yy;
  Outcome outcome;
  outcome.results = {{"volume_m3", o.volume},
                     {"area_m2", o.area},
                     {"centroid_x_m", o.centroid.x - payload->end_x()},
                     {"centroid_depth_m", o.centroid_depth},
                     {"gyration_m", std::sqrt(jnn / o.volume)},
                     {"Js_xx", o.moments.yy},
                     {"Js_yy", o.moments.xx},
                     {"Js_nn", jnn}};
  const double reference = volume_of(*payload, depth);
  outcome.checks.push_back(
      {"volume [m³]", o.volume, reference, 1e-8 * reference,
       payload->sphere ? "eq. 26" : "eqs. 27, 32, 33; § 5 past b = 2r"});
  const boos2013::Rolling rolled = boos2013::integrate_rolling(*payload, 1, 0, 0);
  outcome.checks.push_back({"volume by slices [m³]", o.volume, rolled.volume,
                            1e-8 * reference, "integration over slices across y"});
  if (payload->sphere) {
    const double r = payload->radius, d = payload->depth;
    const double closed = pi * d * d * d * (20 * r * r - 15 * r * d + 3 * d * d) / 30;
    outcome.checks.push_back(
        {"moment about the normal [m⁵]", jnn, closed, 1e-12 * closed, "closed form"});
  } else if (payload->tilt == 0) {
    const double r = payload->radius;
    const double closed = pi * r * r * r * r * payload->depth / 2;
    outcome.checks.push_back({"moment about the normal [m⁵]", jnn, closed, 1e-12 * closed,
                              "eq. 9 about s_c: π r⁴ δ/2"});
  }
  if (with_figure) outcome.figures = {draw(*payload, depth)};
  return outcome;
}

}  // namespace

Study boos2013_patch() {
  return {
      .name = "boos2013.patch",
      .title = "Volume, centroids and moments of a payload's overlap with the plane",
      .figures = "eqs. 6–10, 26–33",
      .about =
          "The plane is z = 0; x points in the plane towards the deep edge, from the "
          "projection of the end face's centre, y is the axis of the tilt. δ(s) is the "
          "chord of the overlap along the normal and S its projection. Moments are about "
          "s_c, not about p_c as eq. 9 prints. The depth of a cylinder is along its "
          "axis, "
          "as in eq. 32, which is not a number past b = 2r; here it goes on.",
      .parameters =
          {boos2013::shape_parameter(),
           boos2013::radius_parameter(),
           {"length", "", "m", above(0, 1e3), 0.05, "of the cylinder"},
           {"depth_m", "δ", "m", above(0, 1e3), 4e-6,
            "of the sphere normal to the plane, of the cylinder along its axis"},
           {"tilt_deg", "γ", "deg", between(0, 89.999), 0,
            "of the cylinder's axis from the normal"}},
      .results = {{"volume_m3", "V, eq. 6"},
                  {"area_m2", "of the section, dV by the normal depth"},
                  {"centroid_x_m", "x of s_c, eq. 8"},
                  {"centroid_depth_m", "ζ, depth of the volume's centroid p_c, eq. 7"},
                  {"gyration_m", "√(Js_nn/V)"},
                  {"Js_xx", "∫ y² δ dS about s_c [m⁵], eq. 9"},
                  {"Js_yy", "∫ x² δ dS about s_c [m⁵]"},
                  {"Js_nn", "their sum [m⁵]"}},
      .run = run};
}

}  // namespace bristle::studies
