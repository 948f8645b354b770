#include <numbers>

#include "studies/boos2013_apparatus.hpp"
#include "studies/registry.hpp"

namespace bristle::studies {

namespace {

using boos2013::PressFit;
using identify::PatchShape;

constexpr double radius = boos2013::cylinder_radius;

Result<Outcome> run(Values& values, bool with_figure) {
  const auto& of_plate = boos2013::printed(values);
  if (values.open("stiffness")) values.resolve("stiffness", of_plate.cylinder);
  if (values.open("true_tilt_deg")) values.resolve("true_tilt_deg", of_plate.tilt_deg);
  const double stiffness = values["stiffness"];
  const double tangent = std::tan(values["true_tilt_deg"] * std::numbers::pi / 180);
  const auto data = boos2013::press_data(values, [&](double depth) {
    return stiffness * identify::tilted_volume(depth, radius, tangent).volume;
  });
  if (!data) return Error{data.error()};
  const boos2013::Wanted tilted[] = {{"stiffness", false, stiffness},
                                     {"tilt_deg", true, 0.3}};
  const auto fit =
      boos2013::fit_press("volumetric", *data, PatchShape::cylinder, radius, tilted);
  const auto upright = boos2013::fit_press("volumetric", *data, PatchShape::flat, radius);
  Outcome outcome;
  for (const auto* one : {&fit, &upright}) {
    if (!*one) outcome.trouble = one->error();
  }
  if (!outcome.trouble.empty()) return outcome;
  const identify::Estimate &tilt = (*fit)["tilt_deg"], &point = (*fit)["contact_point_m"];
  outcome.results = {{"tilt_deg", tilt.value},
                     {"tilt_sd", tilt.sd},
                     {"contact_point_m", point.value},
                     {"contact_point_sd", point.sd},
                     {"perpendicular_stiffness", (*upright)["stiffness"].value},
                     {"rms_N", fit->fit.rms},
                     {"rms_perpendicular_N", upright->fit.rms}};
  if (values.text("data").empty()) {
    outcome.checks = {
        {"tilt less the true one [deg]", tilt.value - values["true_tilt_deg"], 0,
         5 * tilt.sd, "five standard deviations"},
        {"contact point less the true one [m]", point.value - values["contact_point"], 0,
         5 * point.sd, "five standard deviations"}};
  }
  if (with_figure) {
    outcome.figures = {
        {.title = "The cylinder is pressed on the plate",
         .note = "Boos & McPhee 2013, as figs. 6 and 7",
         .panels = {{.title = "Force against position",
                     .x_label = "position [µm]",
                     .y_label = "force [N]",
                     .curves = {boos2013::points_of(*data),
                                boos2013::curve_of("tilted, eq. 32", *fit),
                                boos2013::curve_of("perpendicular, eq. 27", *upright)}}},
         .columns = 1}};
  }
  return outcome;
}

}  // namespace

Study boos2013_cylinder_test() {
  return {
      .name = "boos2013.cylinder-test",
      .title = "Misalignment and contact point from a press of the cylinder",
      .figures = "figs. 6, 7, Table 3",
      .about =
          "Fits γ of eq. 32 and p₀ to a quasi-static press of the flat cylinder, with "
          "k_v known, and for comparison k_v and p₀ of an upright one. The misalignments "
          "of the paper were found with the k_v of Table 3 (§ 3.1), not with the "
          "sphere's, as its conclusions say; at small depth k_v and γ cannot be told "
          "apart, only k_v tan^{-3/2} γ. Unless a file is given the data are those of "
          "the paper's apparatus, made up.",
      .parameters = boos2013::with_apparatus(
          {{"stiffness", "k_v", "N/m^3", above(0, 1e18), boos2013::open,
            "known; left open Table 3, theoretical, as printed"},
           {"true_tilt_deg", "γ", "deg", above(0, 45), boos2013::open,
            "what the data are made with; left open 0.32 of aluminium, 0.46 of "
            "magnesium"}},
          0),
      .results = {{"tilt_deg", "γ"},
                  {"tilt_sd", "one standard deviation [deg]"},
                  {"contact_point_m", "p₀, in the data's coordinate"},
                  {"contact_point_sd", "one standard deviation [m]"},
                  {"perpendicular_stiffness", "k_v of eq. 27 [N/m³]"},
                  {"rms_N", "of the residuals"},
                  {"rms_perpendicular_N", "of the upright cylinder's"}},
      .run = run};
}

}  // namespace bristle::studies
