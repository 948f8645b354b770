#include "bristle/adaptive/switching_step.hpp"

#include <gtest/gtest.h>

#include "bristle/adaptive/contact_time.hpp"
#include "tests/adaptive/falling_ball.hpp"

namespace bristle {
namespace {

using validation::ball_gravity;
using validation::ball_on_guide;
using validation::BallParts;

TEST(SwitchingStep, FlightIsExactAndEverythingInBetween) {
  const Model model = ball_on_guide();
  BallParts parts(model);
  parts.begin(1, 3);
  ASSERT_TRUE(parts.step.attempt(0.5));
  parts.step.complete();
  Step::Vector y;
  for (const double where : {0.0, 0.1, 0.5, 0.9, 1.0}) {
    const double t = 0.5 * where, height = 1 + 3 * t - 0.5 * ball_gravity * t * t;
    parts.step.interpolate(where, y);
    EXPECT_NEAR(y[0], height, 1e-14) << where;
    EXPECT_NEAR(parts.step.interpolate(where, std::size_t{0}), height, 1e-14);
    parts.step.interpolate_sample(where, y);
    EXPECT_NEAR(y[0], height, 1e-14) << where;
  }
  ASSERT_TRUE(parts.step.cut(0.4, true));
  EXPECT_NEAR(parts.step.end()[0], 1 + 3 * 0.2 - 0.5 * ball_gravity * 0.04, 1e-14);
}

TEST(SwitchingStep, AStepIsRefusedThatIsTooLong) {
  const Model model = ball_on_guide();
  BallParts parts(model, 1e-10);
  parts.begin(-1e-4, 0);
  // It oscillates at √(3/2 k √δ/m) ≈ 870/s.
  EXPECT_FALSE(parts.step.attempt(1e-2));
  EXPECT_LT(parts.step.shorter(), 1);
  EXPECT_GE(parts.step.shorter(), 0.1);
  EXPECT_TRUE(parts.step.attempt(1e-5));
  EXPECT_GT(parts.step.change(), 1);
}

// A ball at rest on a stiff damper: nothing moves, and stability alone bounds the steps
// of the explicit method.
TEST(SwitchingStep, WhatIsStiffAndAtRestIsSteppedImplicitly) {
  const double stiffness = 1e7, damping = 1e6;
  const Model model = ball_on_guide(
      0,
      choose<AzadFeatherstone>({.stiffness = stiffness, .damping = damping, .clamp = 1}));
  const double depth =
      std::pow(validation::ball_mass * ball_gravity / stiffness, 2.0 / 3);
  BallParts parts(model, 1e-6);
  parts.begin(-depth, 1e-5);
  double length = 1e-4;
  int steps = 0;
  for (; steps < 100 && !parts.step.is_implicit(); ++steps) {
    while (!parts.step.attempt(length)) length *= parts.step.shorter();
    parts.step.complete();
    const double planned = length * std::clamp(parts.step.change(), 0.3, 8.0);
    const double next = parts.step.choose_method(length, planned, true, false);
    parts.ode.finish(parts.step.end(), parts.state);
    ASSERT_EQ(parts.ode.settle(parts.state, 1e-3).status, StepStatus::ok);
    parts.ode.begin(parts.state);
    parts.step.begin(false);
    parts.step.find_rate();
    length = next;
  }
  ASSERT_TRUE(parts.step.is_implicit());
  EXPECT_GE(steps, 8);
  // Steps then grow far beyond what the explicit method bears: 6 over c √δ/m.
  const double bound = 6 * validation::ball_mass / (damping * std::sqrt(depth));
  ASSERT_TRUE(parts.step.attempt(20 * bound));
  parts.step.complete();
  EXPECT_NEAR(parts.step.end()[0], -depth, 1e-5 * depth);
  // A touch ends that.
  parts.step.choose_method(bound, bound, false, true);
  EXPECT_FALSE(parts.step.is_implicit());
}

/// A contact's time from touch-down on.
struct Impacting : BallParts {
  Impacting(const Model& model, bool allowed)
      : BallParts(model), time(ode, scales, allowed) {}
  /// The length of the first step.
  double touch(double speed) {
    begin(0, -speed, 1e-3);
    ode.note_event(ode.guards().depth_of(0), state.time, 0);
    EXPECT_EQ(ode.settle(state, 1e-3).status, StepStatus::ok);
    const double length = time.touch(state, 0, 1);
    ode.begin(state, time.row(), 0);
    scales.measure(state);
    return length;
  }
  ContactTime time;
};

TEST(ContactTime, RunsFromTouchDownOnUnlessTheContactGrazes) {
  const Model model = ball_on_guide();
  Impacting fast(model, true);
  const double length = fast.touch(2);
  EXPECT_EQ(fast.time.row(), 0);
  EXPECT_TRUE(fast.time.watches());
  // A step of √depth/speed leads about to the bottom; the first one leads less far.
  const Impact impact = fast.scales.impact(fast.state, 0);
  const double unit = impact.time / std::sqrt(impact.depth);
  EXPECT_GT(length, 0.01 * unit);
  EXPECT_LE(length, 0.5 * unit);
  EXPECT_NEAR(fast.time.fastest_pace(), 4 * std::sqrt(impact.depth), 1e-12);

  Impacting slow(model, true);
  slow.touch(1e-9);
  EXPECT_FALSE(slow.time.runs());
  EXPECT_TRUE(slow.time.watches());
  EXPECT_EQ(slow.time.usual_pace(), 1);

  Impacting plain(model, false);
  plain.touch(2);
  EXPECT_FALSE(plain.time.runs());
}

TEST(ContactTime, EndsWithItsContact) {
  const Model model = ball_on_guide();
  Impacting ball(model, true);
  const double length = ball.touch(2);
  const GuardEvent none{EventKind::branch, -1, 1e-6};
  EXPECT_EQ(ball.time.end_impact(none, 0, length), length);
  EXPECT_TRUE(ball.time.runs());
  const GuardEvent left{EventKind::lift_off, 0, 1e-4};
  EXPECT_GT(ball.time.end_impact(left, 0, length), 0);
  EXPECT_FALSE(ball.time.runs());
  EXPECT_FALSE(ball.time.watches());
}

TEST(ContactTime, FollowsItsEpisodeToAnotherRow) {
  const Model model = ball_on_guide();
  Impacting ball(model, true);
  const double length = ball.touch(2);
  const std::uint32_t episode = ball.ode.rows()[0].episode;
  const RowId moved[] = {empty_row, {1, 2, 0, episode}};
  EXPECT_EQ(ball.time.follow(moved, length), length);
  EXPECT_EQ(ball.time.row(), 1);
  const RowId gone[] = {empty_row};
  EXPECT_NE(ball.time.follow(gone, length), length);
  EXPECT_FALSE(ball.time.runs());
}

}  // namespace
}  // namespace bristle
