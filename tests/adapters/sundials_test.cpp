#include <gtest/gtest.h>

#include <functional>

#include "adapters/sundials/sundials_clock.hpp"
#include "bristle/run.hpp"
#include "tests/validation/scenes.hpp"

// The motions of SUNDIALS next to those of the adaptive integrator, which share no step.
//
// How far they may part is found, not chosen. A step of tolerance rtol may be wrong by
// rtol of a number's size. Set that much off somewhere on the way, the adaptive
// integrator ends elsewhere: that is what the error of one step may grow to. As many
// steps as SUNDIALS made add up to the bound.

namespace bristle {
namespace {

using validation::ball_inertia;
using validation::built;

/// What is compared: numbers that a run ends with, or that it meets on its way.
using Outcome = std::vector<double>;

struct Scene {
  Model model;
  State start;
  double until;
  double length;             // size of a position: how deep contacts are [m]
  double speed;              // of a velocity [m/s]
  bool touch_times = false;  // compared instead of where it ends
};

/// On to the end; what was met comes after what `met` brings along.
template <class Clock>
Outcome run(const Scene& scene, State state, Clock& clock, Outcome met = {}) {
  const StepStatus status = clock.advance_to(
      state, scene.until, {.on_event = [&](const State& now, const Event& event) {
        if (event.kind == EventKind::touch) met.push_back(now.time);
      }});
  EXPECT_EQ(status, StepStatus::ok) << explain(status);
  EXPECT_EQ(state.time, scene.until);
  if (scene.touch_times) return met;
  Outcome end = state.q;
  end.insert(end.end(), state.v.begin(), state.v.end());
  return end;
}

constexpr double rtol = 1e-7;
constexpr double reference_rtol = 1e-10;

/// Where errors are let in: places on the way, with what was met before them.
struct Checkpoint {
  State state;
  Outcome met;
};

std::vector<Checkpoint> checkpoints(const Scene& scene) {
  std::vector<Checkpoint> places;
  Checkpoint now{scene.start, {}};
  for (const double part : {0.0, 0.3, 0.6, 0.9}) {
    Adaptive clock(scene.model, {.rtol = reference_rtol});
    const StepStatus status =
        clock.advance_to(now.state, part * scene.until,
                         {.on_event = [&](const State& state, const Event& event) {
                           if (event.kind == EventKind::touch) {
                             now.met.push_back(state.time);
                           }
                         }});
    EXPECT_EQ(status, StepStatus::ok);
    places.push_back(now);
  }
  return places;
}

Outcome reference(const Scene& scene, const Checkpoint& from) {
  Adaptive clock(scene.model, {.rtol = reference_rtol});
  return run(scene, from.state, clock, from.met);
}

/// What an error of `part` of every number's size does to the outcome, where it does
/// most.
Outcome spread(const Scene& scene, const Outcome& exact, double part) {
  Outcome most(exact.size(), 0.0);
  const std::size_t n = scene.start.q.size();
  for (const Checkpoint& place : checkpoints(scene)) {
    Outcome sum(exact.size(), 0.0);
    for (std::size_t i = 0; i < n + scene.start.v.size(); ++i) {
      Checkpoint off = place;
      (i < n ? off.state.q[i] : off.state.v[i - n]) +=
          part * (i < n ? scene.length : scene.speed);
      const Outcome ends = reference(scene, off);
      EXPECT_EQ(ends.size(), exact.size());
      for (std::size_t k = 0; k < std::min(ends.size(), exact.size()); ++k) {
        sum[k] += std::abs(ends[k] - exact[k]);
      }
    }
    for (std::size_t k = 0; k < exact.size(); ++k) most[k] = std::max(most[k], sum[k]);
  }
  return most;
}

class Sundials : public ::testing::TestWithParam<SundialsMethod> {
 protected:
  SundialsOptions options() const { return {.rtol = rtol, .method = GetParam()}; }

  void agrees(const Scene& scene) const {
    const Outcome exact = reference(scene, {scene.start, {}});
    SundialsIntegrator clock(scene.model, options());
    const Outcome theirs = run(scene, scene.start, clock);
    EXPECT_EQ(clock.error(), "");
    ASSERT_EQ(theirs.size(), exact.size());
    const StepCounts counts = clock.counts();
    EXPECT_GT(counts.events, 0u);
    // By differences large against round-off and the reference's own error.
    constexpr double part = 100 * rtol;
    const Outcome spreading = spread(scene, exact, part);
    const double errors = rtol / part * static_cast<double>(counts.steps);
    for (std::size_t k = 0; k < exact.size(); ++k) {
      EXPECT_NEAR(theirs[k], exact[k], errors * spreading[k] + 1e-12) << k;
    }
  }
};

std::string name_of(const ::testing::TestParamInfo<SundialsMethod>& method) {
  switch (method.param) {
    case SundialsMethod::cvode_bdf:
      return "bdf";
    case SundialsMethod::cvode_adams:
      return "adams";
    case SundialsMethod::arkode_erk:
      return "erk";
    case SundialsMethod::arkode_dirk:
      return "dirk";
  }
  return "unknown";
}

INSTANTIATE_TEST_SUITE_P(All, Sundials,
                         ::testing::Values(SundialsMethod::cvode_bdf,
                                           SundialsMethod::cvode_adams,
                                           SundialsMethod::arkode_erk,
                                           SundialsMethod::arkode_dirk),
                         name_of);

constexpr double radius = 0.01, mass = 0.066;

/// Azad & Featherstone 2014, § II-C.
Scene steel_ball(double height, double until) {
  ModelBuilder builder;
  builder.gravity({0, 0, -10});
  builder.add_shape({.name = "ground", .shape = Plane{}});
  builder.add_body({.name = "ball", .mass = mass, .inertia = ball_inertia(mass, radius)});
  builder.add_joint({.name = "falls", .child = "ball", .type = JointType::prismatic});
  builder.add_shape({.name = "skin", .body = "ball", .shape = Sphere{radius}});
  builder.add_contact({.normal = choose<AzadFeatherstone>(
                           {.stiffness = 1e10, .damping = 1e5, .clamp = 1}),
                       .friction = choose<Frictionless>()});
  Model model = built(builder);
  State start = make_state(model);
  start.q[0] = height + radius;
  return {std::move(model), std::move(start), until, 3e-5, 4.5, true};
}

TEST_P(Sundials, EveryTouchOfTheSteelBall) {
  const Scene scene = steel_ball(1, 2.54);
  agrees(scene);
  SundialsIntegrator clock(scene.model, options());
  EXPECT_EQ(run(scene, scene.start, clock).size(), 38u);
  EXPECT_EQ(clock.counts().touches, 38u);
}

/// Two rods on hinges; the tip strikes the ground, slides and leaves.
Scene double_pendulum() {
  ModelBuilder builder;
  builder.add_shape({.name = "ground", .shape = Plane{}, .pose = {.p = {0, 0, -0.9}}});
  const Sym3<double> rod = Sym3<double>::diagonal(0.02, 0.02, 1e-4);
  for (const int i : {0, 1}) {
    builder.add_body({.name = validation::numbered("rod", i),
                      .mass = 1,
                      .com = {0, 0, -0.25},
                      .inertia = rod});
    builder.add_joint({.name = validation::numbered("hinge", i),
                       .parent = i == 0 ? "world" : "rod0",
                       .child = validation::numbered("rod", i),
                       .type = JointType::revolute,
                       .on_parent = {.p = {0, 0, i == 0 ? 0 : -0.5}},
                       .axis = {0, 1, 0}});
  }
  builder.add_shape({.name = "tip",
                     .body = "rod1",
                     .shape = Sphere{0.02},
                     .pose = {.p = {0, 0, -0.5}}});
  builder.add_contact({.normal = choose<HuntCrossley>(
                           {.stiffness = 1e7, .exponent = 1.5, .dissipation = 0.5}),
                       .friction = choose<Coulomb>({.mu_static = 0.3,
                                                    .mu_coulomb = 0.3,
                                                    .viscous = 0,
                                                    .stribeck_speed = 1,
                                                    .regularisation_speed = 0.05,
                                                    .regularisation = 0})});
  Model model = built(builder);
  State start = make_state(model);
  start.q[0] = 1.2;
  start.q[1] = -0.4;
  return {std::move(model), std::move(start), 0.6, 1e-3, 5};
}

TEST_P(Sundials, APendulumWhoseTipStrikesTheGround) { agrees(double_pendulum()); }

LawChoice bristles() {
  return choose<GonthierFriction>({.mu_static = 0.45,
                                   .mu_coulomb = 0.3,
                                   .stiffness = 1e4,
                                   .damping = 200,
                                   .viscous = 0.1,
                                   .stribeck_speed = 0.01,
                                   .dwell_time = 0.02,
                                   .bound = 0});
}

/// A block on a belt, held by a spring: it sticks, is drawn along and slips back.
Scene belt() {
  ModelBuilder builder;
  builder.add_body({.name = "belt", .mass = 1, .inertia = ball_inertia(1, 0.1)});
  builder.add_joint(
      {.name = "runs", .child = "belt", .type = JointType::prismatic, .axis = {1, 0, 0}});
  builder.add_motor({.name = "drive",
                     .joint = "runs",
                     .kind = MotorKind::prescribed,
                     .target = {.offset = 0, .slope = 0.1}});
  builder.add_shape({.name = "top", .body = "belt", .shape = Plane{}});
  builder.add_body({.name = "carriage", .mass = 0.1, .inertia = ball_inertia(0.1, 0.1)});
  builder.add_joint({.name = "spring",
                     .child = "carriage",
                     .type = JointType::prismatic,
                     .axis = {1, 0, 0},
                     .stiffness = 100});
  builder.add_body({.name = "block", .mass = 1, .inertia = ball_inertia(1, 0.1)});
  builder.add_joint({.name = "lifts",
                     .parent = "carriage",
                     .child = "block",
                     .type = JointType::prismatic});
  builder.add_shape({.name = "foot", .body = "block", .shape = Sphere{0.1}});
  builder.add_contact({.a = "top",
                       .b = "foot",
                       .normal = choose<HuntCrossley>(
                           {.stiffness = 1e6, .exponent = 1.5, .dissipation = 5}),
                       .friction = bristles()});
  Model model = built(builder);
  State start = make_state(model);
  start.q[2] = 0.1 - std::pow(9.81 / 1e6, 2.0 / 3);  // at rest on the belt
  start.v[0] = start.v[1] = 0.1;
  return {std::move(model), std::move(start), 0.8, 1e-4, 0.3};
}

TEST_P(Sundials, ABlockThatSticksAndSlips) { agrees(belt()); }

/// A ball thrown on a table, spinning about all axes: the bristles turn with the frame of
/// the contact, and its quaternion is kept at length 1.
Scene spinning_ball() {
  ModelBuilder builder;
  builder.add_shape({.name = "table", .shape = Plane{}});
  validation::add_free(builder, "ball", 1, ball_inertia(1, 0.1), Sphere{0.1});
  builder.add_contact({.normal = choose<HuntCrossley>(
                           {.stiffness = 1e6, .exponent = 1.5, .dissipation = 2}),
                       .friction = bristles()});
  Model model = built(builder);
  State start = make_state(model);
  validation::put(model, start, "ball", {0, 0, 0.11}, {0.5, 0.2, 0}, {1, -2, 6});
  return {std::move(model), std::move(start), 0.1, 1e-3, 6};
}

TEST_P(Sundials, ABallThatSpinsOnATable) { agrees(spinning_ball()); }

/// Five balls in a row that can only move along it; the first one strikes.
Scene cradle() {
  ModelBuilder builder;
  builder.gravity({0, 0, 0});
  const double r = 0.02;
  for (int i = 0; i < 5; ++i) {
    const std::string ball = validation::numbered("ball", i);
    builder.add_body({.name = ball, .mass = 0.1, .inertia = ball_inertia(0.1, r)});
    builder.add_joint({.name = validation::numbered("wire", i),
                       .child = ball,
                       .type = JointType::prismatic,
                       .axis = {1, 0, 0}});
    builder.add_shape(
        {.name = validation::numbered("skin", i), .body = ball, .shape = Sphere{r}});
  }
  builder.add_contact({.normal = choose<Hertz>({.stiffness = 1e9, .exponent = 1.5}),
                       .friction = choose<Frictionless>()});
  Model model = built(builder);
  State start = make_state(model);
  for (std::size_t i = 0; i < 5; ++i) {
    start.q[i] = 2.00001 * r * static_cast<double>(i) - (i == 0 ? 0.01 : 0);
  }
  start.v[0] = 1;
  return {std::move(model), std::move(start), 0.03, 1e-5, 1};
}

TEST_P(Sundials, NewtonsCradle) {
  const Scene scene = cradle();
  agrees(scene);
  SundialsIntegrator clock(scene.model, options());
  const Outcome end = run(scene, scene.start, clock);
  double momentum = 0, energy = 0;
  for (std::size_t i = 5; i < 10; ++i) {
    momentum += end[i];
    energy += end[i] * end[i];
  }
  const double errors = rtol * static_cast<double>(clock.counts().steps);
  EXPECT_NEAR(momentum, 1, 5 * errors);
  EXPECT_NEAR(energy, 1, 2 * 5 * errors);
}

/// Where the force is the weight, and all is still.
TEST_P(Sundials, ABallAtRestStaysThere) {
  Scene scene = steel_ball(0, 0.1);
  const double depth = std::pow(mass * 10 / 1e10, 2.0 / 3);
  scene.start.q[0] = radius - depth;
  scene.touch_times = false;
  SundialsIntegrator clock(scene.model, options());
  const Outcome end = run(scene, scene.start, clock);
  // A step may be wrong by rtol of the depth and of the speed of falling that far. One
  // becomes the other in an oscillation, and dies out with it, as new ones come.
  const double root = std::sqrt(depth);
  const double frequency = std::sqrt(1.5 * 1e10 * root / mass);
  const double decay = 0.5 * 1e5 * root / mass;
  const double steps = static_cast<double>(clock.counts().steps);
  const double errors = rtol * (1 + steps / (decay * scene.until));
  const double fall = std::sqrt(10 * depth);
  EXPECT_NEAR(radius - end[0], depth, errors * (depth + fall / frequency));
  EXPECT_NEAR(end[1], 0, errors * (frequency * depth + fall));
  EXPECT_EQ(clock.counts().events, 0u);
}

TEST_P(Sundials, SamplesLieOnTheMotion) {
  const Scene scene = steel_ball(0.05, 0.25);
  State state = scene.start;
  SundialsIntegrator clock(scene.model, options());
  std::vector<double> times;
  double first_touch = HUGE_VAL;
  const double fall = std::sqrt(2 * 0.05 / 10);
  const StepStatus status = clock.advance_to(
      state, scene.until,
      {.on_event = [&](const State& now,
                       const Event&) { first_touch = std::min(first_touch, now.time); },
       .sample_interval = 0.01,
       .on_sample =
           [&](const State& now) {
             times.push_back(now.time);
             if (now.time > fall) return;
             const double height = 0.05 - 5 * now.time * now.time;
             // Free flight is measured by millimetres.
             EXPECT_NEAR(now.q[0] - radius, height, 100 * rtol * 1e-3) << now.time;
           }});
  ASSERT_EQ(status, StepStatus::ok) << clock.error();
  EXPECT_NEAR(first_touch, fall, 100 * rtol * 1e-3 / (10 * fall));
  ASSERT_EQ(times.size(), 25u);
  for (std::size_t k = 0; k < times.size(); ++k) {
    EXPECT_NEAR(times[k], 0.01 * static_cast<double>(k), 1e-12);
  }
}

TEST(SundialsOptions, WhatCannotBeIsSaid) {
  const Scene scene = steel_ball(1, 1);
  State state = scene.start;
  SundialsIntegrator coarse(scene.model, {.rtol = 0});
  EXPECT_EQ(coarse.advance_to(state, 1), StepStatus::wrong_step);
  SundialsIntegrator seventh(scene.model,
                             {.method = SundialsMethod::arkode_erk, .order = 7});
  EXPECT_EQ(seventh.advance_to(state, 1), StepStatus::wrong_step);
  EXPECT_NE(seventh.error().find("order"), std::string::npos);
  state.v[0] = std::nan("");
  SundialsIntegrator clock(scene.model);
  EXPECT_EQ(clock.advance_to(state, 1), StepStatus::not_finite);
}

}  // namespace
}  // namespace bristle
