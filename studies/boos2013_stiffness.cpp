#include <numbers>

#include "studies/boos2013.hpp"
#include "studies/registry.hpp"

namespace bristle::studies {

namespace {

using boos2013::open;
using std::numbers::pi;

struct Plate {
  double modulus, poisson;
  double hertz, eq_30;                      // printed, computed
  double measured_hertz, measured_sphere;   // Table 2
  double measured_cylinder, printed_eq_30;  // Table 3
};
constexpr Plate aluminium{69e9,   0.33,    7.34e9,  7.186e12,
                          4.79e9, 7.59e13, 1.24e11, 8.82e12};
constexpr Plate magnesium{38e9,   0.35,    4.66e9,  4.564e12,
                          3.02e9, 3.82e13, 7.88e10, 5.17e12};

report::Figure draw(const Values& values, double hertz, double modulus, bool al) {
  const Plate& plate = al ? aluminium : magnesium;
  const double r = values["sphere_radius"];
  report::Curve theory{"Hertz, eq. 24", {}, {}},
      fitted{"Hertz, fitted (Table 2)", {}, {}},
      volume{"volumetric, fitted (Table 2)", {}, {}},
      equal{"volumetric, equal work with Hertz at 4 µm", {}, {}};
  const double k_equal = 8 * modulus / (5 * pi * std::sqrt(r * 4e-6));
  for (int i = 0; i <= 100; ++i) {
    const double d = 5e-6 * i / 100;
    const double v = pi / 3 * d * d * (3 * r - d);
    const double power = d * std::sqrt(d);
    for (report::Curve* c : {&theory, &fitted, &volume, &equal}) c->x.push_back(1e6 * d);
    theory.y.push_back(hertz * power);
    fitted.y.push_back(plate.measured_hertz * power);
    volume.y.push_back(plate.measured_sphere * v);
    equal.y.push_back(k_equal * v);
  }
  equal.dashed = fitted.dashed = true;
  return {.title = "Force of the sphere against depth",
          .note = "Boos & McPhee 2013, eqs. 24, 26, 31 and Table 2",
          .panels = {{.title = "Hertz rises like δ^{3/2}, the volume like δ²",
                      .x_label = "depth [µm]",
                      .y_label = "normal force [N]",
                      .curves = {theory, fitted, volume, equal}}},
          .columns = 1};
}

Result<Outcome> run(Values& values, bool with_figure) {
  const bool al = values.choice("plate") == "al";
  const Plate& plate = al ? aluminium : magnesium;
  const bool paper = values.open("E_plate") && values.open("nu_plate") &&
                     values["E_payload"] == 193e9 && values["nu_payload"] == 0.27 &&
                     values["sphere_radius"] == boos2013::sphere_radius &&
                     values["cylinder_radius"] == boos2013::cylinder_radius;
  if (values.open("E_plate")) values.resolve("E_plate", plate.modulus);
  if (values.open("nu_plate")) values.resolve("nu_plate", plate.poisson);
  const auto compliance = [&](const char* E, const char* nu) {
    return (1 - values[nu] * values[nu]) / values[E];
  };
  const double of_plate = compliance("E_plate", "nu_plate");
  const double of_payload = compliance("E_payload", "nu_payload");
  const double modulus = 1 / (of_plate + of_payload);
  const double hertz = 4.0 / 3 * modulus * std::sqrt(values["sphere_radius"]);
  const double volumetric = 2 * modulus / (pi * values["cylinder_radius"]);
  const double share = of_payload / (of_plate + of_payload);
  Outcome outcome;
  outcome.results = {{"hertz_stiffness", hertz},
                     {"volumetric_stiffness", volumetric},
                     {"payload_share", share}};
  if (paper) {
    outcome.checks = {
        {"theoretical Hertz stiffness [N/m^1.5]", hertz, plate.hertz, 0.005e9,
         "Table 2, with 193 GPa for the payload and 38 GPa for magnesium"},
        {"volumetric stiffness by eq. 30 [N/m³]", volumetric, plate.eq_30, 0.0005e12,
         "eq. 30; Table 3 prints another number"},
        {"Table 3's theoretical stiffness over eq. 30", plate.printed_eq_30 / volumetric,
         al ? 1.2274 : 1.1328, 1e-3, "does not follow from eq. 30"},
        {"the payload's share of the compliance", share, al ? 1.0 / 4 : 1.0 / 6, 0.03,
         "§ 2.3: about one fourth, one sixth"},
        {"measured over theoretical Hertz stiffness", plate.measured_hertz / hertz,
         2.0 / 3, 0.03, "§ 3.1: about 2/3"}};
  }
  if (with_figure) outcome.figures = {draw(values, hertz, modulus, al)};
  return outcome;
}

}  // namespace

Study boos2013_stiffness() {
  return {
      .name = "boos2013.stiffness",
      .title = "Stiffnesses of the sphere and of the flat cylinder from moduli",
      .figures = "tables 1–3",
      .about =
          "Hertz's stiffness of the sphere (eq. 24), and the volumetric stiffness of "
          "the flat cylinder that makes it as stiff as Sneddon's punch (eq. 30). "
          "Table 1 gives steel 200 GPa and magnesium 35–40 GPa, but the printed "
          "Hertz values need 193 and 38 GPa. The theoretical values of Table 3 do "
          "not follow from eq. 30.",
      .parameters = {{"plate",
                      "",
                      "choice",
                      choice_of(2),
                      0,
                      "material of the plate",
                      {"al", "mg"}},
                     {"E_plate", "E_i", "Pa", above(0, 1e13), open,
                      "left open 69e9 of aluminium, 38e9 of magnesium"},
                     {"nu_plate", "ν_i", "1", between(0, 0.5), open,
                      "left open 0.33 of aluminium, 0.35 of magnesium"},
                     {"E_payload", "E_j", "Pa", above(0, 1e13), 193e9,
                      "of the steel payload"},
                     {"nu_payload", "ν_j", "1", between(0, 0.5), 0.27,
                      "of the steel payload"},
                     {"sphere_radius", "r", "m", above(0, 1e3), boos2013::sphere_radius,
                      "of the spherical payload"},
                     {"cylinder_radius", "r", "m", above(0, 1e3),
                      boos2013::cylinder_radius, "of the cylindrical payload"}},
      .results = {{"hertz_stiffness", "4/3 E* √r of the sphere [N/m^1.5], eq. 24"},
                  {"volumetric_stiffness", "2E*/(π r) of the cylinder [N/m³], eq. 30"},
                  {"payload_share",
                   "the payload's part of the compliance 1/E*, (1 − ν²)/E"}},
      .run = run};
}

}  // namespace bristle::studies
