#include "bristle/adaptive/motion_ode.hpp"

#include <gtest/gtest.h>

#include "tests/adaptive/falling_ball.hpp"

namespace bristle {
namespace {

using validation::add_free;
using validation::ball_gravity;
using validation::ball_inertia;
using validation::ball_mass;
using validation::ball_on_guide;
using validation::ball_stiffness;
using validation::built;

/// A state at which the ball touches, in an episode.
State pressed(MotionOde& ode, const Model& model, double depth, double rate) {
  State state = make_state(model);
  state.q[0] = -depth;
  state.v[0] = -rate;
  EXPECT_EQ(ode.settle(state, 1e-3).status, StepStatus::ok);
  EXPECT_EQ(state.contacts.count > 0, true);
  ode.begin(state);
  ode.mark_row(0, RowEvent::touches);
  EXPECT_EQ(ode.settle(state, 1e-3).status, StepStatus::ok);
  return state;
}

TEST(MotionOde, AFallingBallAccelerates) {
  const Model model = ball_on_guide();
  MotionOde ode(model);
  State state = make_state(model);
  state.q[0] = 1;
  state.v[0] = -2;
  ASSERT_EQ(ode.settle(state, 1e-3).status, StepStatus::ok);
  ode.begin(state);
  std::vector<double> rate(ode.size());
  ode.rates(ode.start(), rate.data());
  EXPECT_EQ(rate[0], -2);
  EXPECT_EQ(rate[1], -ball_gravity);
  EXPECT_EQ(rate[ode.t_at()], 1);
}

TEST(MotionOde, WhatBeginsAndFinishesIsTheSame) {
  const Model model = ball_on_guide(0, choose<AzadFeatherstoneRecovery>());
  MotionOde ode(model);
  State state = pressed(ode, model, 1e-4, 0.3);
  ode.begin(state);
  ASSERT_TRUE(ode.any_acts());
  // A frame's turn and the ground's depth come before s and t.
  ASSERT_EQ(ode.core_memory().size(), 2u);
  EXPECT_EQ(ode.core_memory()[0].kind, MemoryKind::frame);
  EXPECT_EQ(ode.core_memory()[1].kind, MemoryKind::depth);
  EXPECT_EQ(ode.core(), ode.memory_at() + 4);
  State other = state;
  other.q[0] = other.v[0] = other.time = -7;
  for (double& x : other.contacts.memory) x = -7;
  ode.finish(ode.start(), other);
  EXPECT_EQ(other.q, state.q);
  EXPECT_EQ(other.v, state.v);
  EXPECT_EQ(other.time, state.time);
  for (const MemoryEntry& entry : ode.core_memory()) {
    EXPECT_EQ(other.contacts.memory[entry.place], state.contacts.memory[entry.place]);
  }
  EXPECT_TRUE(ode.began_with(ode.start()));
  std::vector<double> y = ode.start();
  y[ode.memory_at() + 1] += 1;
  EXPECT_FALSE(ode.began_with(y));
}

TEST(MotionOde, InAContactsTimeRatesAreByEta) {
  const Model model = ball_on_guide();
  MotionOde ode(model);
  const double depth = 1e-4, rate = 0.3, s = std::sqrt(depth);
  State state = pressed(ode, model, depth, rate);
  ode.begin(state);
  std::vector<double> by_time(ode.size()), by_eta(ode.size());
  ode.rates(ode.start(), by_time.data());
  const double force = ball_stiffness * std::pow(depth, 1.5);
  EXPECT_NEAR(by_time[1], force / ball_mass - ball_gravity, 1e-9 * force);
  ode.begin(state, 0, s);
  EXPECT_EQ(ode.pace(ode.start()), 2 * s);
  ode.rates(ode.start(), by_eta.data());
  EXPECT_NEAR(by_eta[0], 2 * s * by_time[0], 1e-15);
  EXPECT_NEAR(by_eta[1], 2 * s * by_time[1], 1e-9 * force);
  EXPECT_EQ(by_eta[ode.s_at()], rate);  // ds/dη = δ̇ since dδ/dη = 2 s ds/dη = 2 s δ̇
  EXPECT_EQ(by_eta[ode.t_at()], 2 * s);
}

TEST(MotionOde, AContactStaysClosedOrOpenUntilAnEventSaysOtherwise) {
  const Model model = ball_on_guide();
  MotionOde ode(model);
  State state = make_state(model);
  state.q[0] = 1e-4;
  ASSERT_EQ(ode.settle(state, 0.1).status, StepStatus::ok);
  ode.begin(state);
  ASSERT_EQ(ode.rows().size() > 0, true);
  std::vector<double> y = ode.start(), rate(ode.size());
  y[0] = -1e-4;  // within a step beyond the touch
  ode.rates(y, rate.data(), true);
  EXPECT_EQ(rate[1], -ball_gravity);
  EXPECT_NEAR(ode.depth(0), 1e-4, 1e-16);
  State closed = pressed(ode, model, 1e-4, 0);
  ode.begin(closed);
  y = ode.start();
  y[0] = 1e-4;
  rate.resize(ode.size());
  ode.rates(y, rate.data(), true);
  EXPECT_NEAR(rate[1], -ball_gravity, 1e-9);  // as shallow as it gets
  EXPECT_TRUE(ode.acts(0));
}

TEST(MotionOde, SamplesHaveTheRowsOfTheirTime) {
  const Model model = ball_on_guide();
  MotionOde ode(model);
  State state = make_state(model);
  state.q[0] = 1e-3;
  state.v[0] = -1;
  ASSERT_EQ(ode.settle(state, 0.1).status, StepStatus::ok);
  ode.begin(state);
  std::vector<double> y = ode.start();
  y[0] = 2e-3;
  y[1] = -0.5;
  State sample;
  ode.observe(y, 0.125, state, sample);
  EXPECT_EQ(sample.time, 0.125);
  EXPECT_EQ(sample.q[0], 2e-3);
  EXPECT_NEAR(motion_of(sample, 0).depth, -2e-3, 1e-16);
  EXPECT_EQ(motion_of(sample, 0).rate, 0.5);
  EXPECT_EQ(state.q[0], 1e-3);
}

TEST(MotionOde, ContactsAreLookedForLessFarWhereThereIsNoRoomForThem) {
  ModelBuilder builder;
  ModelOptions options;
  options.contact_capacity = 2;
  builder.options(options);
  builder.add_shape({.name = "ground", .shape = Plane{}});
  for (int i = 0; i < 6; ++i) {
    add_free(builder, validation::numbered("ball", i), 1, ball_inertia(1, 0.1),
             Sphere{0.1});
  }
  builder.add_contact({.normal = choose<Hertz>(), .friction = choose<Frictionless>()});
  const Model model = built(builder);
  MotionOde ode(model);
  State state = make_state(model);
  for (int i = 0; i < 6; ++i) {
    validation::put(model, state, validation::numbered("ball", i),
                    {0.5 * i, 0, 0.1 + (i + 1) * 0.01}, {0, 0, -1});
  }
  const MotionOde::Settled settled = ode.settle(state, 1);
  EXPECT_EQ(settled.status, StepStatus::ok);
  EXPECT_LT(settled.part, 0.1);
  EXPECT_EQ(std::exp2(std::round(std::log2(settled.part))), settled.part);
}

TEST(Rows, AreFoundAgainByWhatTheyAre) {
  const RowId rows[] = {{no_shape, 0, 0, 3}, {1, 2, 0, 0}, empty_row, {1, 2, 1, 5}};
  EXPECT_EQ(find_row(rows, {1, 2, 1, 9}), 3);
  EXPECT_EQ(find_row(rows, {no_shape, 0, 0, 0}), 0);
  EXPECT_EQ(find_row(rows, {1, 3, 0, 0}), -1);
  EXPECT_EQ(find_episode(rows, 5), 3);
  EXPECT_EQ(find_episode(rows, 4), -1);
}

}  // namespace
}  // namespace bristle
