#include "bristle/model/signal.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

namespace bristle {
namespace {

constexpr double step = 1e-5;

Signal through(const std::vector<double>& times, const std::vector<double>& values,
               Interpolation how, bool repeats = false) {
  Signal s;
  s.pieces = pieces_through(times, values, how, repeats);
  if (repeats) s.period = times.back() - times.front();
  return s;
}

/// Rate and acceleration are the derivatives of the value.
void expect_derivatives(const Signal& s, double t) {
  EXPECT_NEAR(s.rate(t), (s.value(t + step) - s.value(t - step)) / (2 * step), 1e-6) << t;
  EXPECT_NEAR(s.acceleration(t), (s.rate(t + step) - s.rate(t - step)) / (2 * step), 1e-5)
      << t;
}

TEST(Signal, HoldsOrConnectsItsValues) {
  const std::vector<double> times{1, 2, 4}, values{5, 7, 3};
  const Signal hold = through(times, values, Interpolation::hold);
  const Signal line = through(times, values, Interpolation::linear);
  for (const Signal* s : {&hold, &line}) {
    EXPECT_EQ(s->value(0), 5);  // before it begins
    EXPECT_EQ(s->rate(0), 0);
    EXPECT_EQ(s->value(9), 3);  // when it has ended
    EXPECT_EQ(s->rate(9), 0);
  }
  EXPECT_EQ(hold.value(1.99), 5);
  EXPECT_EQ(hold.value(2), 7);
  EXPECT_EQ(line.value(1.5), 6);
  EXPECT_EQ(line.value(3), 5);
  EXPECT_EQ(line.rate(3), -2);
}

TEST(Signal, ASplineGoesThroughItsValuesAndIsAtRestAtItsEnds) {
  const std::vector<double> times{0, 0.5, 2, 2.7}, values{1, -1, 3, 2};
  const Signal s = through(times, values, Interpolation::spline);
  for (std::size_t i = 0; i < times.size(); ++i) {
    EXPECT_NEAR(s.value(times[i]), values[i], 1e-14);
  }
  EXPECT_EQ(s.rate(0), 0);
  EXPECT_NEAR(s.rate(2.7 - 1e-12), 0, 1e-9);
  for (const double t : {0.5, 2.0}) {  // smooth in between: value, rate, acceleration
    EXPECT_NEAR(s.rate(t - 1e-9), s.rate(t), 1e-6);
    EXPECT_NEAR(s.acceleration(t - 1e-9), s.acceleration(t), 1e-5);
  }
  for (const double t : {0.1, 0.7, 1.3, 2.4}) expect_derivatives(s, t);
}

/// Of two values it is the cubic 3 s² − 2 s³.
TEST(Signal, ASplineOfTwoValuesIsTheSmoothStep) {
  const Signal s = through({1, 3}, {2, 6}, Interpolation::spline);
  for (const double x : {0.1, 0.25, 0.5, 0.9}) {
    EXPECT_NEAR(s.value(1 + 2 * x), 2 + 4 * x * x * (3 - 2 * x), 1e-14);
  }
}

/// A sine in 16 values: the error of a cubic spline is at most 5/384 h⁴ max|y⁗| (Hall &
/// Meyer 1976), at the seam as elsewhere.
TEST(Signal, ASplineThatRepeatsIsSmoothAtItsSeam) {
  std::vector<double> times, values;
  for (int i = 0; i <= 16; ++i) {
    times.push_back(i / 16.0);
    values.push_back(std::sin(2 * std::numbers::pi * i / 16.0));
  }
  values.back() = values.front();
  const Signal s = through(times, values, Interpolation::spline, true);
  const double h = 2 * std::numbers::pi / 16;
  const double bound = 5.0 / 384 * std::pow(h, 4);
  for (int i = 0; i < 500; ++i) {
    const double t = 0.01 * i;
    EXPECT_NEAR(s.value(t), std::sin(2 * std::numbers::pi * t), bound);
  }
  EXPECT_NEAR(s.rate(1 - 1e-9), s.rate(1), 1e-6);
  EXPECT_NEAR(s.acceleration(1 - 1e-9), s.acceleration(1), 1e-5);
}

TEST(Signal, AShortSplineThatRepeatsIsSmoothAsWell) {
  for (const auto& [times, values] :
       {std::pair{std::vector<double>{0, 0.4, 1}, std::vector<double>{0, 1, 0}},
        std::pair{std::vector<double>{0, 0.3, 0.5, 1},
                  std::vector<double>{0, 1, -1, 0}}}) {
    const Signal s = through(times, values, Interpolation::spline, true);
    for (std::size_t i = 0; i < times.size(); ++i) {
      EXPECT_NEAR(s.value(times[i]), values[i], 1e-13);
      EXPECT_NEAR(s.rate(times[i] + 1 - 1e-9), s.rate(times[i]), 1e-6);
      EXPECT_NEAR(s.acceleration(times[i] + 1 - 1e-9), s.acceleration(times[i]), 1e-5);
    }
  }
}

TEST(Signal, PiecesAddToTheSine) {
  Signal s = through({0, 1}, {0, 2}, Interpolation::linear);
  s.offset = 1;
  s.amplitude = 0.5;
  s.frequency = 3;
  EXPECT_DOUBLE_EQ(s.value(0.5), 1 + 1 + 0.5 * std::sin(1.5));
  expect_derivatives(s, 0.5);
}

}  // namespace
}  // namespace bristle
