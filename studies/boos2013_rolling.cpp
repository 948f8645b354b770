#include "studies/boos2013.hpp"
#include "studies/registry.hpp"

namespace bristle::studies {

namespace {

using boos2013::Payload;

struct Rolled {
  double torque;  // eq. 15 with its sign
  double tension_index;
  boos2013::Rolling integrated;
};

Rolled roll(const Payload& payload, double stiffness, double a, double omega) {
  const Overlap<double> o = payload.overlap();
  Rolled rolled{};
  rolled.torque = -stiffness * a * o.moments.xx * omega;
  rolled.integrated = boos2013::integrate_rolling(payload, stiffness, a, omega);
  rolled.tension_index =
      a * std::fabs(omega) * std::max(-rolled.integrated.low_x, rolled.integrated.high_x);
  return rolled;
}

report::Figure draw(const Payload& payload, double stiffness, double a, double omega) {
  report::Curve closed{"closed form, eq. 15", {}, {}},
      pressing{"without tension", {}, {}};
  const double index = roll(payload, stiffness, a, omega).tension_index;
  for (int i = 0; i <= 40 && index > 0; ++i) {
    const double times = 4.0 * i / 40 / index;
    const Rolled now = roll(payload, stiffness, a, times * omega);
    closed.x.push_back(now.tension_index);
    closed.y.push_back(std::fabs(now.torque));
    pressing.x.push_back(now.tension_index);
    pressing.y.push_back(std::fabs(now.integrated.torque_without_tension));
  }
  return {.title = "Rolling resistance of the patch",
          .note = "Boos & McPhee 2013, eq. 15",
          .panels = {{.title = "Where the closed form begins to pull",
                      .x_label = "a times the largest normal speed",
                      .y_label = "torque [N m]",
                      .curves = {closed, pressing}}},
          .columns = 1};
}

Result<Outcome> run(Values& values, bool with_figure) {
  constexpr double length = 0.05;
  const auto payload = boos2013::payload_of(values, length);
  if (!payload) return Error{payload.error()};
  const double stiffness = values["stiffness"], a = values["damping_factor"],
               omega = values["omega"];
  const Rolled rolled = roll(*payload, stiffness, a, omega);
  Outcome outcome;
  outcome.results = {
      {"torque_Nm", rolled.torque},
      {"torque_by_integration_Nm", rolled.integrated.torque},
      {"torque_without_tension_Nm", rolled.integrated.torque_without_tension},
      {"tension_index", rolled.tension_index}};
  // Under integration the first moment about x_c vanishes only to rounding.
  const double tolerance = 1e-6 * std::fabs(rolled.torque) +
                           1e-12 * stiffness * rolled.integrated.volume *
                               (rolled.integrated.high_x - rolled.integrated.low_x);
  outcome.checks.push_back({"torque [N m]", rolled.torque, rolled.integrated.torque,
                            tolerance, "pressure integrated over the patch"});
  outcome.checks.push_back({"power of the torque [W]",
                            std::max(rolled.torque * omega, 0.0), 0, 0,
                            "it resists: eq. 15 lacks its sign"});
  if (rolled.tension_index <= 1) {
    outcome.checks.push_back({"torque without tension [N m]",
                              rolled.integrated.torque_without_tension, rolled.torque,
                              tolerance, "nothing pulls up to a |ω| R = 1"});
  }
  if (with_figure) outcome.figures = {draw(*payload, stiffness, a, omega)};
  return outcome;
}

}  // namespace

Study boos2013_rolling() {
  return {
      .name = "boos2013.rolling",
      .title = "Rolling resistance: the torque of a patch that turns",
      .figures = "eq. 15",
      .about =
          "The payload turns at ω about y, through s_c; its patch moves along the normal "
          "at ω (x − x_c), and the damping of the pressure gives the couple −k_v a J_s "
          "ω: "
          "eq. 15 lacks the sign, and J_s is about s_c. Past a tension index of 1 the "
          "pressure is negative at one end; torque_without_tension cuts it off. The "
          "cylinder is 50 mm long.",
      .parameters =
          {boos2013::shape_parameter(),
           boos2013::radius_parameter(),
           {"depth_m", "δ", "m", above(0, 1e3), 4e-6,
            "of the sphere normal to the plane, of the cylinder along its axis"},
           {"tilt_deg", "γ", "deg", between(0, 89.999), 0,
            "of the cylinder's axis from the normal"},
           {"stiffness", "k_v", "N/m^3", above(0, 1e18), 3.82e13,
            "magnesium under the sphere, Table 2"},
           {"damping_factor", "a", "s/m", between(0, 1e9), 1.6e4,
            "at 0.58 mm/s on magnesium, § 3.2"},
           {"omega", "ω", "rad/s", between(-1e6, 1e6), 0.01, "about y"}},
      .results = {{"torque_Nm", "−k_v a J_s ω on the payload, about y"},
                  {"torque_by_integration_Nm", "the same by integrating the pressure"},
                  {"torque_without_tension_Nm", "with negative pressure left out"},
                  {"tension_index", "a times the largest normal speed due to ω"}},
      .run = run};
}

}  // namespace bristle::studies
