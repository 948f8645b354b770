#include <numbers>

#include "studies/boos2013_apparatus.hpp"
#include "studies/registry.hpp"

namespace bristle::studies {

namespace {

using boos2013::PressFit;

double force_of(bool volumetric, double stiffness, double depth) {
  const double d = std::fmax(depth, 0);
  const double r = boos2013::sphere_radius;
  if (!volumetric) return stiffness * d * std::sqrt(d);
  return stiffness * std::numbers::pi / 3 * d * d * (3 * r - d);
}

Result<PressFit> fit_as(std::string_view law, const identify::ForceData& data) {
  return boos2013::fit_press(law, data, identify::PatchShape::sphere,
                             boos2013::sphere_radius);
}

void check(const Values& values, const PressFit& fit, Outcome& outcome) {
  const identify::Estimate& stiffness = fit["stiffness"];
  const identify::Estimate& point = fit["contact_point_m"];
  const double true_stiffness = values["true_stiffness"];
  if (!values.text("data").empty() || values.choice("truth") != values.choice("model")) {
    return;
  }
  outcome.checks = {
      {"stiffness over the true one", stiffness.value / true_stiffness, 1,
       5 * stiffness.sd / true_stiffness, "five standard deviations"},
      {"contact point less the true one [m]", point.value - values["contact_point"], 0,
       5 * point.sd, "five standard deviations"}};
}

Result<Outcome> run(Values& values, bool with_figure) {
  const bool volumetric = values.choice("truth") == "volumetric";
  if (values.open("true_stiffness")) {
    const auto& of_plate = boos2013::printed(values);
    values.resolve("true_stiffness", volumetric ? of_plate.volumetric : of_plate.hertz);
  }
  const double stiffness = values["true_stiffness"];
  const auto data = boos2013::press_data(
      values, [&](double depth) { return force_of(volumetric, stiffness, depth); });
  if (!data) return Error{data.error()};
  const auto by_volume = fit_as("volumetric", *data), by_hertz = fit_as("hertz", *data);
  Outcome outcome;
  for (const auto* fit : {&by_volume, &by_hertz}) {
    if (!*fit) outcome.trouble = fit->error();
  }
  if (!outcome.trouble.empty()) return outcome;
  const PressFit& fit = values.choice("model") == "volumetric" ? *by_volume : *by_hertz;
  outcome.results = {{"stiffness", fit["stiffness"].value},
                     {"stiffness_sd", fit["stiffness"].sd},
                     {"contact_point_m", fit["contact_point_m"].value},
                     {"contact_point_sd", fit["contact_point_m"].sd},
                     {"contact_point_shift_m", (*by_volume)["contact_point_m"].value -
                                                   (*by_hertz)["contact_point_m"].value},
                     {"rms_N", fit.fit.rms},
                     {"points", static_cast<double>(fit.fit.points)}};
  check(values, fit, outcome);
  if (with_figure) {
    outcome.figures = {
        {.title = "The sphere is pressed on the plate",
         .note = "Boos & McPhee 2013, as figs. 4 and 5",
         .panels = {{.title = "Force against position",
                     .x_label = "position [µm]",
                     .y_label = "force [N]",
                     .curves = {boos2013::points_of(*data),
                                boos2013::curve_of("volumetric", *by_volume),
                                boos2013::curve_of("Hertz", *by_hertz)}}},
         .columns = 1}};
  }
  return outcome;
}

}  // namespace

Study boos2013_sphere_test() {
  return {
      .name = "boos2013.sphere-test",
      .title = "Stiffness and contact point from a press of the sphere",
      .figures = "figs. 4, 5, Table 2",
      .about =
          "Fits k and p₀ of eqs. 19 and 20 to a quasi-static press. The measured points "
          "of the paper are not printed: unless a file is given, the data are those of "
          "its apparatus, made up: steps of 1.25 µm of the drive to 20 N and back, 0.1 N "
          "of force and 1.22 nm of position resolution, with noise. The stiffness of the "
          "drive is ours. contact_point_shift_m is the contact point of the volumetric "
          "fit less that of the Hertz fit of the same data; the half micron between "
          "them that the paper reads from its figures does not follow from its own "
          "stiffnesses of magnesium.",
      .parameters = boos2013::with_apparatus(
          {{"truth",
            "",
            "choice",
            choice_of(2),
            0,
            "what the data are made with",
            {"volumetric", "hertz"}},
           {"model",
            "",
            "choice",
            choice_of(2),
            0,
            "what is fitted",
            {"volumetric", "hertz"}},
           {"true_stiffness", "k", "N/m^3", above(0, 1e18), boos2013::open,
            "of the truth, N/m^1.5 of Hertz; left open Table 2, measured"}},
          0),
      .results = {{"stiffness", "of the model [N/m³ or N/m^1.5]"},
                  {"stiffness_sd", "one standard deviation"},
                  {"contact_point_m", "p₀, in the data's coordinate"},
                  {"contact_point_sd", "one standard deviation [m]"},
                  {"contact_point_shift_m", "p₀ of the volumetric less the Hertz fit"},
                  {"rms_N", "of the residuals"},
                  {"points", "of the data"}},
      .run = run};
}

}  // namespace bristle::studies
