#include "bristle/adaptive/error_scales.hpp"

#include <gtest/gtest.h>

#include "tests/adaptive/falling_ball.hpp"

namespace bristle {
namespace {

using validation::ball_gravity;
using validation::ball_mass;
using validation::ball_on_guide;
using validation::ball_stiffness;

/// The ball as it touches at a speed.
struct Touching {
  Touching(const Model& model, double speed, double depth = 0)
      : ode(model), scales(ode), state(make_state(model)) {
    state.q[0] = -depth;
    state.v[0] = -speed;
    EXPECT_EQ(ode.settle(state, 1e-3).status, StepStatus::ok);
    ode.begin(state);
    ode.mark_row(0, RowEvent::touches);
    EXPECT_EQ(ode.settle(state, 1e-3).status, StepStatus::ok);
  }
  void begin() {
    ode.begin(state);
    scales.measure(state);
  }
  MotionOde ode;
  ErrorScales scales;
  State state;
};

const double resting_depth = std::pow(ball_mass * ball_gravity / ball_stiffness, 2.0 / 3);

// Scales are known to 1 %.
TEST(ErrorScales, ADepthAtRestBearsTheWeight) {
  const Model model = ball_on_guide();
  Touching ball(model, 0.1);
  ball.begin();
  const NaturalScale natural = ball.scales.natural(0);
  EXPECT_NEAR(natural.depth, resting_depth, 0.011 * resting_depth);
  EXPECT_NEAR(natural.speed, std::sqrt(ball_gravity * natural.depth), 1e-12);
}

TEST(ErrorScales, AnImpactIsAsDeepAsItsEnergyLeads) {
  const Model model = ball_on_guide();
  const double speed = 3;
  Touching ball(model, speed);
  const Impact impact = ball.scales.impact(ball.state, 0);
  // ½ m v² = ⅖ k δ^{5/2}
  const double depth = std::pow(1.25 * ball_mass * speed * speed / ball_stiffness, 0.4);
  EXPECT_NEAR(impact.depth, depth, 0.011 * depth);
  EXPECT_NEAR(impact.time, impact.depth / speed, 1e-12);
}

TEST(ErrorScales, PositionsAreMeasuredByDepthsNotByTheSizeOfTheScene) {
  const Model model = ball_on_guide();
  Touching ball(model, 0, resting_depth);
  ball.begin();
  std::vector<double> scale;
  ball.scales.scales(ball.ode.start(), scale);
  EXPECT_NEAR(scale[0], resting_depth, 0.011 * resting_depth);
  EXPECT_NEAR(scale[1], std::sqrt(ball_gravity * resting_depth),
              0.011 * std::sqrt(ball_gravity * resting_depth));
  std::vector<double> allowed;
  ball.scales.allowances(1e-6, ball.ode.start(), allowed);
  EXPECT_NEAR(allowed[0], 1e-6 * scale[0], 1e-12 * scale[0]);
}

// No tolerance asks for more than rounding leaves: a ball a kilometre up.
TEST(ErrorScales, RoundingBoundsWhatIsAllowed) {
  const Model model = ball_on_guide();
  Touching ball(model, 0, resting_depth);
  ball.begin();
  std::vector<double> y = ball.ode.start(), allowed;
  y[0] = 1000;
  ball.scales.allowances(1e-15, y, allowed);
  EXPECT_GE(allowed[0], 1000 * 1e-16);
  EXPECT_GE(allowed[0], 0.99 * ball.ode.depth_rounding(y));
}

TEST(ErrorScales, TheWorstRatioKeepsWhatIsNotANumber) {
  EXPECT_EQ(worst_ratio({1, -4, 2, 9}, {2, 2, 2}), 2);
  EXPECT_TRUE(std::isnan(worst_ratio({1, std::nan(""), 100}, {1, 1, 1})));
}

TEST(ErrorScales, SlopesAreThoseOfTheRates) {
  const Model model = ball_on_guide();
  Touching ball(model, 0, 4 * resting_depth);
  ball.begin();
  const std::vector<double>& y = ball.ode.start();
  std::vector<double> rate(y.size()), scale, slopes;
  ball.ode.rates(y, rate.data());
  ball.scales.scales(y, scale);
  ball.scales.differentiate(y, rate.data(), 0, scale, slopes);
  // ∂v̇/∂z = −3/2 k √δ/m; the difference takes a thousandth of the depth
  const double slope = -1.5 * ball_stiffness * std::sqrt(4 * resting_depth) / ball_mass;
  EXPECT_NEAR(slopes[1], slope, 1e-3 * std::abs(slope));
  ball.scales.differentiate(y, rate.data(), 1, scale, slopes);
  EXPECT_NEAR(slopes[0], 1, 1e-9);
}

}  // namespace
}  // namespace bristle
