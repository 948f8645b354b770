// Volumetric normal laws, and friction of discs that slide and spin.

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "bristle/laws/catalogue.hpp"
#include "bristle/laws/impact.hpp"
#include "bristle/laws/laws.hpp"
#include "bristle/laws/spin.hpp"

namespace bristle {
namespace {

using std::numbers::pi;

TEST(Volumetric, AnImpactAloneReturnsWhatWasTyped) {
  for (const Punch punch :
       {Punch{Punch::Kind::sphere, 9.52e-3}, Punch{Punch::Kind::flat, 5e-3}, Punch{}}) {
    for (const double e : {0.05, 0.1, 0.3, 0.5, 0.7, 0.9, 0.95}) {
      const Volumetric::Params<double> params{
          .stiffness = 3.82e13, .restitution = e, .impact_speed_floor = 1e-9};
      const auto report = impact<Volumetric>(params, 0.1, 5.8e-4, nullptr, 1e-13, punch);
      ASSERT_TRUE(report) << report.error();
      EXPECT_NEAR(report->restitution, e, 1e-8);
      EXPECT_NEAR(report->energy_residual, 0, 1e-8 * 0.05 * 5.8e-4 * 5.8e-4);
    }
  }
}

/// Without damping the peak follows from energy: k_v W = ½ m v².
TEST(Volumetric, AnElasticImpactStopsWhereItsEnergyIsStored) {
  const double m = 0.1, v = 0.3, k = 1e11;
  const Punch ball{Punch::Kind::sphere, 0.01};
  const auto report = impact<VolumetricDissipation>({.stiffness = k, .dissipation = 0}, m,
                                                    v, nullptr, 1e-13, ball);
  ASSERT_TRUE(report);
  EXPECT_NEAR(k * ball.at(report->peak_depth, 0).potential / (0.5 * m * v * v), 1, 1e-11);
  EXPECT_NEAR(report->restitution, 1, 1e-11);
  // A flat punch is a linear spring: half a period of √(m/(k A)).
  const Punch flat{Punch::Kind::flat, 0.005};
  const auto linear = impact<VolumetricDissipation>({.stiffness = k, .dissipation = 0}, m,
                                                    v, nullptr, 1e-13, flat);
  const double stiffness = k * pi * 0.005 * 0.005;
  EXPECT_NEAR(linear->contact_time / (pi * std::sqrt(m / stiffness)), 1, 1e-11);
}

/// Damping by dV/dt under a flat punch is Kelvin and Voigt's, k_v A and c A.
TEST(Volumetric, DampingByTheRateOfAFlatPunchIsLinear) {
  const double area = pi * 0.005 * 0.005, k = 1e11, c = 1e7, m = 0.1, v = 0.3;
  const auto found = impact<VolumetricRate>({.stiffness = k, .damping = c}, m, v, nullptr,
                                            1e-13, {Punch::Kind::flat, 0.005});
  const auto linear =
      impact<KelvinVoigt>({.stiffness = k * area, .damping = c * area, .clamp = 1}, m, v);
  ASSERT_TRUE(found && linear);
  EXPECT_NEAR(found->restitution, linear->restitution, 1e-10);
  EXPECT_NEAR(found->peak_force / linear->peak_force, 1, 1e-10);
}

/// V, W and A of a punch belong together: dW = V dδ, dV = A dδ.
TEST(Volumetric, PunchesAreConsistent) {
  for (const Punch punch :
       {Punch{Punch::Kind::sphere, 0.02}, Punch{Punch::Kind::flat, 0.02}, Punch{}}) {
    for (const double depth : {1e-6, 1e-3, 0.02, 0.039, 0.05}) {
      const double h = 1e-6 * depth;
      const auto low = punch.at(depth - h, 0), high = punch.at(depth + h, 0);
      const auto now = punch.at(depth, 2);
      EXPECT_NEAR((high.potential - low.potential) / (2 * h) / now.volume, 1, 1e-8);
      EXPECT_NEAR((high.volume - low.volume) / (2 * h), now.area,
                  1e-8 * (now.area + now.volume / depth));
      EXPECT_EQ(now.volume_rate, 2 * now.area);
    }
  }
}

TEST(Volumetric, LawsSayThatTheyAre) {
  int count = 0;
  for (const LawEntry& law : catalogue()) count += law.volumetric ? 1 : 0;
  EXPECT_EQ(count, 3);
  EXPECT_TRUE((*find_law("volumetric"))->volumetric);
  EXPECT_FALSE((*find_law("gonthier"))->volumetric);
}

/// Rings of the disc, each a mean over its angle by the trapezium rule.
SpinFriction by_sum(DiscPressure pressure, double u) {
  SpinFriction sum{0, 0};
  constexpr int radii = 4000, angles = 720;
  for (int i = 0; i < radii; ++i) {
    const double r = (i + 0.5) / radii;
    const double rest = 1 - r * r;
    const double p = pressure == DiscPressure::uniform      ? 1 / pi
                     : pressure == DiscPressure::paraboloid ? 2 / pi * rest
                                                            : 1.5 / pi * std::sqrt(rest);
    for (int k = 0; k < angles; ++k) {
      const double t = 2 * pi * (k + 0.5) / angles;
      const double x = u - r * std::cos(t), y = r * std::sin(t);
      const double part = p * r / radii * 2 * pi / angles / std::hypot(x, y);
      sum.force += part * x;
      sum.torque += part * r * (r - u * std::cos(t));
    }
  }
  return sum;
}

TEST(SpinningDisc, IsThatOfADirectSum) {
  for (const DiscPressure pressure :
       {DiscPressure::uniform, DiscPressure::paraboloid, DiscPressure::hertz}) {
    for (const double u : {0.05, 0.5, 1.3, 4.0}) {
      const SpinFriction exact = spinning_disc(pressure, u);
      const SpinFriction sum = by_sum(pressure, u);
      // The sum's cells next to the point at rest are off by their own area.
      EXPECT_NEAR(exact.force, sum.force, 1e-5);
      EXPECT_NEAR(exact.torque, sum.torque, 1e-5);
    }
  }
}

TEST(SpinningDisc, HasTheKnownLimits) {
  EXPECT_NEAR(spinning_disc(DiscPressure::uniform, 0).torque, 2.0 / 3, 1e-14);
  EXPECT_NEAR(spinning_disc(DiscPressure::paraboloid, 0).torque, 8.0 / 15, 1e-10);
  EXPECT_NEAR(spinning_disc(DiscPressure::hertz, 0).torque, 3 * pi / 16, 1e-10);
  EXPECT_NEAR(spinning_disc(DiscPressure::uniform, 1).force, 8 / (3 * pi), 1e-14);
  for (const DiscPressure pressure :
       {DiscPressure::uniform, DiscPressure::paraboloid, DiscPressure::hertz}) {
    // Far out T → r_g²/(2 u R²), half of the elliptic closure's.
    const SpinFriction far = spinning_disc(pressure, 1e5);
    EXPECT_NEAR(far.force, 1, 1e-9);
    EXPECT_NEAR(far.torque * 1e5, 0.5 * gyration_square(pressure), 1e-8);
    EXPECT_NEAR(elliptic_disc(pressure, 1e5).torque * 1e5, gyration_square(pressure),
                1e-8);
    for (const double u : {0.0, 0.2, 0.999999, 1.0, 1.000001, 3.0}) {
      const SpinFriction e = elliptic_disc(pressure, u);
      EXPECT_NEAR(e.force * e.force + e.torque * e.torque / gyration_square(pressure), 1,
                  1e-14);
      const SpinFriction below = spinning_disc(pressure, u * (1 - 1e-9));
      const SpinFriction above = spinning_disc(pressure, u * (1 + 1e-9));
      EXPECT_NEAR(below.force, above.force, 1e-7) << "continuous";
      EXPECT_NEAR(below.torque, above.torque, 1e-7);
    }
  }
}

}  // namespace
}  // namespace bristle
