#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "bristle/run.hpp"
#include "tests/contract/allocations.hpp"
#include "tests/validation/scenes.hpp"

// What every fixed-step method keeps, whatever it is.

namespace bristle {
namespace {

using validation::add_free;
using validation::ball_inertia;
using validation::box_inertia;
using validation::built;
using validation::place_of;
using validation::put;

class Clocks : public ::testing::TestWithParam<Method> {
 protected:
  static int order(Method method) { return method.info().order; }
};

INSTANTIATE_TEST_SUITE_P(All, Clocks,
                         ::testing::Values(Method::semi_implicit_euler,
                                           Method::bogacki_shampine,
                                           Method::runge_kutta_4,
                                           Method::linearly_implicit_euler),
                         [](const auto& clock) {
                           std::string name(name_of(clock.param));
                           std::erase(name, '-');
                           return name;
                         });

const LawChoice bristles =
    choose<SpringSlider>({.mu = 0.6, .stiffness = 2e4, .damping = 20});

/// Balls, a box and a capsule that fall and bounce.
Model tumbling() {
  ModelBuilder builder;
  builder.add_shape({.name = "ground", .shape = Plane{}});
  add_free(builder, "ball", 1, ball_inertia(1, 0.1), Sphere{0.1});
  add_free(builder, "box", 2, box_inertia(2, {0.1, 0.08, 0.06}), Box{{0.1, 0.08, 0.06}});
  add_free(builder, "rod", 1, Sym3<double>::diagonal(0.01, 0.01, 0.001),
           Capsule{0.04, 0.1});
  builder.add_contact({.normal = choose<GonthierNormal>({.stiffness = 1e6,
                                                         .exponent = 1.5,
                                                         .restitution = 0.6,
                                                         .impact_speed_floor = 0.1}),
                       .friction = bristles});
  return built(builder);
}

State thrown(const Model& model) {
  State state = make_state(model);
  put(model, state, "ball", {0, 0, 0.2}, {1, 0, -1}, {3, 2, 1});
  put(model, state, "box", {0.05, 0, 0.5}, {0, 0.5, 0}, {1, -2, 3});
  put(model, state, "rod", {0, 0.05, 0.9}, {0, 0, -0.5}, {4, 1, 0});
  return state;
}

/// A ball pressed on a plate by a spring: in contact throughout, and smooth.
TEST_P(Clocks, ConvergesAtItsOrder) {
  ModelBuilder builder;
  builder.add_shape({.name = "ground", .shape = Plane{}});
  builder.add_body({.name = "ball", .mass = 1, .inertia = ball_inertia(1, 0.1)});
  builder.add_joint({.name = "lift",
                     .child = "ball",
                     .type = JointType::prismatic,
                     .damping = 1,
                     .stiffness = 400,
                     .rest = -0.3});
  builder.add_shape({.name = "ball", .body = "ball", .shape = Sphere{0.1}});
  builder.add_contact(
      {.normal = choose<KelvinVoigt>({.stiffness = 4e3, .damping = 5, .clamp = 1}),
       .friction = choose<Frictionless>()});
  const Model model = built(builder);
  const auto end = [&](int steps) {
    State state = make_state(model);
    state.q[0] = 0.05;
    FixedStep clock(model, {.method = GetParam(), .step = 0.05 / steps});
    for (int i = 0; i < steps; ++i) EXPECT_EQ(clock.step(state), StepStatus::ok);
    return state.q[0];
  };
  const double exact = [&] {
    State state = make_state(model);
    state.q[0] = 0.05;
    FixedStep clock(model, {.method = Method::runge_kutta_4, .step = 0.05 / 3000});
    for (int i = 0; i < 3000; ++i) EXPECT_EQ(clock.step(state), StepStatus::ok);
    return state.q[0];
  }();
  const int coarse = order(GetParam()) == 1 ? 400 : 40;
  const double first = std::fabs(end(coarse) - exact);
  const double second = std::fabs(end(2 * coarse) - exact);
  EXPECT_NEAR(std::log2(first / second), order(GetParam()), 0.3)
      << first << " " << second;
}

/// Type e, get e: a central impact of two balls under the contact force alone.
TEST_P(Clocks, AnImpactReturnsTheRestitutionTyped) {
  for (const double e : {0.1, 0.5, 0.9}) {
    ModelBuilder builder;
    builder.gravity({0, 0, 0});
    add_free(builder, "a", 1, ball_inertia(1, 0.1), Sphere{0.1});
    add_free(builder, "b", 3, ball_inertia(3, 0.1), Sphere{0.1});
    builder.add_contact({.normal = choose<GonthierNormal>({.stiffness = 1e6,
                                                           .exponent = 1.5,
                                                           .restitution = e,
                                                           .impact_speed_floor = 1e-3}),
                         .friction = bristles});
    const Model model = built(builder);
    State state = make_state(model);
    put(model, state, "a", {-0.15, 0, 0}, {1, 0, 0});
    put(model, state, "b", {0.15, 0, 0}, {-1, 0, 0});
    const bool high = order(GetParam()) > 1;
    FixedStep clock(model, {.method = GetParam(), .step = high ? 1e-5 : 2e-6});
    while (state.time < 0.15) ASSERT_EQ(clock.step(state), StepStatus::ok);
    const double apart =
        state.v[place_of(model, "b").v + 3] - state.v[place_of(model, "a").v + 3];
    EXPECT_NEAR(apart / 2, e, high ? 1e-4 : 2e-3) << e;
    // Momentum is kept whatever happens.
    EXPECT_NEAR(
        state.v[place_of(model, "a").v + 3] + 3 * state.v[place_of(model, "b").v + 3], -2,
        1e-12);
  }
}

TEST_P(Clocks, TheLedgerBalancesBetterWithShorterSteps) {
  const Model model = tumbling();
  const auto residual = [&](double step) {
    State state = thrown(model);
    const RunSummary summary = simulate(model, state,
                                        {.clock = {.method = GetParam(), .step = step},
                                         .duration = 0.4,
                                         .observe_every = 1e-3});
    EXPECT_EQ(summary.status, StepStatus::ok);
    return summary.audit.relative();
  };
  const double coarse = residual(1e-4);
  const double fine = residual(1e-5);
  EXPECT_LT(fine, 0.3 * coarse);
  EXPECT_LT(fine, GetParam() == Method::linearly_implicit_euler ? 2e-2
                  : order(GetParam()) == 1                      ? 5e-4
                                                                : 1e-5);
}

/// About its axis of middle inertia and off its frame: explicit velocity terms of a
/// first-order method gain energy without end.
TEST_P(Clocks, ATumblingBodyKeepsItsEnergy) {
  ModelBuilder builder;
  builder.gravity({0, 0, 0});
  builder.add_body({.name = "body",
                    .mass = 2,
                    .com = {0.1, -0.2, 0.05},
                    .inertia = Sym3<double>::diagonal(0.02, 0.05, 0.06)});
  builder.add_joint({.name = "body moves", .child = "body", .type = JointType::free});
  const Model model = built(builder);
  State state = make_state(model);
  put(model, state, "body", {0, 0, 0}, {0, 0, 0}, {0.5, 50, 0.2});
  FixedStep stepper(model, {.method = GetParam(), .step = 1e-3});
  const RunSummary summary = run(stepper, state, {.end = 10});
  ASSERT_EQ(summary.status, StepStatus::ok);
  EXPECT_LT(summary.audit.relative(), 1e-3);
}

TEST_P(Clocks, ACopyOfTheStateIsACheckpoint) {
  const Model model = tumbling();
  FixedStep clock(model, {.method = GetParam(), .step = 1e-3, .substeps = 5});
  State state = thrown(model);
  for (int i = 0; i < 250; ++i) ASSERT_EQ(clock.step(state), StepStatus::ok);
  State copy = state;
  for (int i = 0; i < 250; ++i) ASSERT_EQ(clock.step(state), StepStatus::ok);
  FixedStep other(model, {.method = GetParam(), .step = 1e-3, .substeps = 5});
  for (int i = 0; i < 250; ++i) {
    // Looking at a state changes nothing.
    if (i % 10 == 0) {
      ASSERT_EQ(other.settle(copy), StepStatus::ok);
    }
    if (i % 20 == 0) make_ledger(other.system(), copy);
    if (i % 50 == 0) time_scales(other.system(), copy);
    ASSERT_EQ(other.step(copy), StepStatus::ok);
  }
  EXPECT_EQ(std::memcmp(state.q.data(), copy.q.data(), state.q.size() * 8), 0);
  EXPECT_EQ(std::memcmp(state.v.data(), copy.v.data(), state.v.size() * 8), 0);
  EXPECT_EQ(std::memcmp(&state.works, &copy.works, sizeof(Works)), 0);
  EXPECT_EQ(state.episodes, copy.episodes);
}

TEST_P(Clocks, ThreadsChangeNoBit) {
  const Model model = tumbling();
  State one = thrown(model);
  State two = thrown(model);
  FixedStep single(model, {.method = GetParam(), .step = 1e-3, .substeps = 5});
  FixedStep team(model,
                 {.method = GetParam(), .step = 1e-3, .substeps = 5, .threads = 2});
  for (int i = 0; i < 400; ++i) {
    ASSERT_EQ(single.step(one), StepStatus::ok);
    ASSERT_EQ(team.step(two), StepStatus::ok);
  }
  EXPECT_EQ(std::memcmp(one.q.data(), two.q.data(), one.q.size() * 8), 0);
  EXPECT_EQ(std::memcmp(&one.works, &two.works, sizeof(Works)), 0);
}

TEST_P(Clocks, StepsAllocateNothing) {
  const Model model = tumbling();
  State state = thrown(model);
  RealtimeLoop loop(model, {.method = GetParam(), .step = 1e-3, .substeps = 5});
  ASSERT_EQ(loop.step(state), StepStatus::ok);
  const contract::AllocationCount count;
  for (int i = 0; i < 600; ++i) {
    if (loop.step(state) != StepStatus::ok) break;
  }
  EXPECT_EQ(count.since(), 0);
  EXPECT_GT(state.episodes, 3u);
  EXPECT_EQ(loop.times().count(), 601u);
  EXPECT_GT(loop.times().mean(), 0);
  EXPECT_LE(loop.times().quantile(0.5), loop.times().quantile(0.99));
  EXPECT_LE(loop.times().quantile(0.99), loop.times().longest());
}

TEST_P(Clocks, ABadNumberStopsTheRunAndLeavesTheState) {
  const Model model = tumbling();
  State state = thrown(model);
  FixedStep clock(model, {.method = GetParam()});
  state.v[0] = std::nan("");
  EXPECT_EQ(clock.step(state), StepStatus::not_finite);
  EXPECT_EQ(state.time, 0);

  // So does a state of another model.
  State stranger =
      make_state(built(ModelBuilder().add_shape({.name = "g", .shape = Plane{}})));
  EXPECT_EQ(clock.step(stranger), StepStatus::wrong_state);

  // A step that is far too long: it ends with a status and finite numbers.
  if (GetParam() == Method::linearly_implicit_euler) return;
  state = thrown(model);
  FixedStep hasty(model, {.method = GetParam(), .step = 0.05});
  StepStatus status = StepStatus::ok;
  for (int i = 0; i < 100000 && status == StepStatus::ok; ++i) status = hasty.step(state);
  for (const double x : state.q) EXPECT_TRUE(std::isfinite(x));
  for (const double x : state.v) EXPECT_TRUE(std::isfinite(x));
}

/// A crank that is turned as prescribed, and what that takes.
TEST_P(Clocks, PrescribedMotionIsFollowedAndItsWorkIsBooked) {
  ModelBuilder builder;
  builder.add_body({.name = "crank",
                    .mass = 1,
                    .com = {0.2, 0, 0},
                    .inertia = Sym3<double>::diagonal(0.01, 0.01, 0.01)});
  builder.add_joint({.name = "axle",
                     .child = "crank",
                     .type = JointType::revolute,
                     .axis = {0, 1, 0},
                     .damping = 0.3});
  builder.add_body({.name = "bob",
                    .mass = 0.5,
                    .com = {0.1, 0, 0},
                    .inertia = Sym3<double>::diagonal(0.01, 0.01, 0.01)});
  builder.add_joint({.name = "pin",
                     .parent = "crank",
                     .child = "bob",
                     .type = JointType::revolute,
                     .on_parent = {.p = {0.4, 0, 0}},
                     .axis = {0, 1, 0},
                     .damping = 0.01});
  builder.add_motor(
      {.name = "drive",
       .joint = "axle",
       .kind = MotorKind::prescribed,
       .target = {.offset = 0.1, .slope = 0.5, .amplitude = 0.3, .frequency = 7}});
  const Model model = built(builder);
  State state = make_state(model);
  const RunSummary summary = simulate(
      model, state, {.clock = {.method = GetParam(), .step = 1e-4}, .duration = 1});
  ASSERT_EQ(summary.status, StepStatus::ok);
  EXPECT_NEAR(state.q[0], 0.1 + 0.5 + 0.3 * std::sin(7.0), 1e-12);
  EXPECT_NEAR(state.v[0], 0.5 + 0.3 * 7 * std::cos(7.0), 1e-12);
  EXPECT_LT(summary.audit.relative(), order(GetParam()) == 1 ? 2e-3 : 1e-9);
  EXPECT_GT(std::fabs(summary.audit.last().works.motors), 0.1);
}

TEST_P(Clocks, JointsStopAtTheirLimits) {
  ModelBuilder builder;
  builder.add_body({.name = "door",
                    .mass = 2,
                    .com = {0.3, 0, 0},
                    .inertia = Sym3<double>::diagonal(0.05, 0.05, 0.05)});
  builder.add_joint({.name = "hinge",
                     .child = "door",
                     .type = JointType::revolute,
                     .axis = {0, 1, 0},
                     .lower = -0.5,
                     .upper = 0.8});
  const Model model = built(builder);
  ASSERT_EQ(model.joint_rows.size(), 2u);
  State state = make_state(model);
  state.v[0] = -2;
  FixedStep clock(model, {.method = GetParam(), .step = 1e-3});
  double lowest = 0, highest = 0;
  for (int i = 0; i < 5000; ++i) {
    ASSERT_EQ(clock.step(state), StepStatus::ok);
    lowest = std::min(lowest, state.q[0]);
    highest = std::max(highest, state.q[0]);
  }
  EXPECT_GT(lowest, -0.5 - 0.03);
  EXPECT_LT(highest, 0.8 + 0.03);
  EXPECT_NEAR(state.q[0], 0.8, 5e-3);  // gravity turns +z down: it lies on the upper one
  EXPECT_LT(std::fabs(state.v[0]), 1e-6);
}

TEST_P(Clocks, JointFrictionHoldsAndSlides) {
  const auto turn_after = [&](double torque) {
    ModelBuilder builder;
    builder.gravity({0, 0, 0});
    builder.add_body(
        {.name = "wheel", .mass = 1, .inertia = Sym3<double>::diagonal(0.1, 0.1, 0.1)});
    builder.add_joint(
        {.name = "axle", .child = "wheel", .type = JointType::revolute, .friction = 1});
    builder.add_motor({.name = "motor", .joint = "axle", .target = {.offset = torque}});
    const Model model = built(builder);
    State state = make_state(model);
    const RunSummary summary = simulate(
        model, state, {.clock = {.method = GetParam(), .step = 1e-4}, .duration = 1});
    EXPECT_EQ(summary.status, StepStatus::ok);
    EXPECT_LT(summary.audit.relative(), 1e-2);
    return state.v[0];
  };
  EXPECT_LT(std::fabs(turn_after(0.4)), 0.2);      // swings on the spring of its bristles
  EXPECT_NEAR(turn_after(2), (2 - 1) / 0.1, 0.3);  // (τ − friction)/I
}

TEST_P(Clocks, MotorsKeepToTheirEffortLimit) {
  ModelBuilder builder;
  builder.gravity({0, 0, 0});
  builder.add_body(
      {.name = "wheel", .mass = 1, .inertia = Sym3<double>::diagonal(0.1, 0.1, 0.1)});
  builder.add_joint({.name = "axle",
                     .child = "wheel",
                     .type = JointType::revolute,
                     .effort_limit = 0.5});
  builder.add_motor({.name = "motor", .joint = "axle", .target = {.offset = 20}});
  const Model model = built(builder);
  State state = make_state(model);
  FixedStep clock(model, {.method = GetParam(), .step = 1e-3});
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(clock.step(state), StepStatus::ok);
  EXPECT_NEAR(state.v[0], 5, 1e-9);
  // A command takes the place of the motor's own target.
  const MotorCommand command{.torque = -0.2};
  for (int i = 0; i < 1000; ++i)
    ASSERT_EQ(clock.step(state, {&command, 1}), StepStatus::ok);
  EXPECT_NEAR(state.v[0], 3, 1e-9);
}

/// A stiff position motor at its limit pushes with the limit, and its work is that.
TEST_P(Clocks, ASaturatedMotorPushesWithItsLimit) {
  ModelBuilder builder;
  builder.gravity({0, 0, 0});
  builder.add_body({.name = "cart", .mass = 1, .inertia = ball_inertia(1, 0.1)});
  builder.add_joint(
      {.name = "rail", .child = "cart", .type = JointType::prismatic, .effort_limit = 5});
  builder.add_motor({.name = "motor",
                     .joint = "rail",
                     .kind = MotorKind::position,
                     .kp = 1e5,
                     .kd = 1e2,
                     .target = {.offset = 10}});
  const Model model = built(builder);
  State state = make_state(model);
  const RunSummary summary = simulate(
      model, state, {.clock = {.method = GetParam(), .step = 1e-3}, .duration = 1});
  ASSERT_EQ(summary.status, StepStatus::ok);
  EXPECT_NEAR(state.v[0], 5, 1e-9);
  EXPECT_LT(summary.audit.relative(), 1e-9);
}

/// Motion that is commanded tick by tick goes on within the tick, and costs what it
/// costs.
TEST_P(Clocks, CommandedMotionMovesInSubstepsAndIsBooked) {
  ModelBuilder builder;
  builder.add_body({.name = "lift", .mass = 2, .inertia = ball_inertia(2, 0.1)});
  builder.add_joint({.name = "shaft", .child = "lift", .type = JointType::prismatic});
  builder.add_motor({.name = "drive", .joint = "shaft", .kind = MotorKind::prescribed});
  const Model model = built(builder);
  State state = make_state(model);
  FixedStep clock(model, {.method = GetParam(), .step = 1e-3, .substeps = 10});
  Audit audit;
  const auto command = [](double t) {
    return MotorCommand{.target = 0.1 * std::sin(20 * t),
                        .target_rate = 2 * std::cos(20 * t),
                        .target_acceleration = -40 * std::sin(20 * t)};
  };
  for (int i = 0; i < 300; ++i) {
    const MotorCommand now = command(1e-3 * i);
    ASSERT_EQ(clock.settle(state, {&now, 1}), StepStatus::ok);
    audit.observe(make_ledger(clock.system(), state));
    ASSERT_EQ(clock.step(state, {&now, 1}), StepStatus::ok);
    const MotorCommand next = command(1e-3 * (i + 1));
    EXPECT_NEAR(state.q[0], next.target, 2e-6);
    EXPECT_NEAR(state.v[0], next.target_rate, 1e-3);
  }
  EXPECT_LT(audit.relative(), 5e-3);
  EXPECT_EQ(clock.step(state), StepStatus::ok);
  const MotorCommand two[2] = {};
  EXPECT_EQ(clock.step(state, two), StepStatus::wrong_commands);
  FixedStep stopped(model, {.step = 0});
  EXPECT_EQ(stopped.step(state), StepStatus::wrong_step);
}

/// A push between two steps is not the step's: dissipation does not run backwards.
TEST_P(Clocks, VelocitiesSetByHandLeaveTheLedgerAlone) {
  ModelBuilder builder;
  builder.add_shape({.name = "ground", .shape = Plane{}});
  add_free(builder, "puck", 1, Sym3<double>::diagonal(1e3, 1e3, 1e3), Sphere{0.1});
  builder.add_contact({.normal = choose<HuntCrossley>(
                           {.stiffness = 1e6, .exponent = 1.5, .dissipation = 1}),
                       .friction = choose<Coulomb>()});
  const Model model = built(builder);
  State state = make_state(model);
  put(model, state, "puck", {0, 0, 0.1 - std::pow(9.81e-6, 2.0 / 3)}, {0.5, 0, 0});
  FixedStep clock(model, {.method = GetParam(), .step = 1e-3});
  for (int i = 0; i < 20; ++i) ASSERT_EQ(clock.step(state), StepStatus::ok);
  ASSERT_EQ(clock.settle(state), StepStatus::ok);
  const double before = state.works.friction.slip;
  state.v[3] = -2;
  ASSERT_EQ(clock.settle(state), StepStatus::ok);
  EXPECT_EQ(state.works.friction.slip, before);
  ASSERT_EQ(clock.step(state), StepStatus::ok);
  state.v[3] = 2;
  ASSERT_EQ(clock.settle(state), StepStatus::ok);
  EXPECT_GE(state.works.friction.slip, before);
}

// Rows move as contacts come and go, and a law that remembers nothing may sit where one
// did that remembers much: here as a ball bounces that stands before a box that slides.
TEST_P(Clocks, MemoryThatNoLawUsesStaysZero) {
  ModelBuilder builder;
  builder.add_shape({.name = "ground", .shape = Plane{}});
  add_free(builder, "bouncing", 1, ball_inertia(1, 0.1), Sphere{0.1});
  add_free(builder, "box", 1, box_inertia(1, {0.1, 0.1, 0.1}), Box{{0.1, 0.1, 0.1}});
  add_free(builder, "simple", 1, ball_inertia(1, 0.1), Sphere{0.1});
  builder.add_contact(
      {.normal = choose<GonthierNormal>(), .friction = choose<GonthierFriction>()});
  builder.add_contact({.a = "simple",
                       .b = "ground",
                       .normal = choose<Hertz>(),
                       .friction = choose<Frictionless>()});
  const Model model = built(builder);
  State state = make_state(model);
  put(model, state, "bouncing", {0, 0, 0.102}, {0.5, 0, 0});
  put(model, state, "box", {2, 0, 0.1 - 1e-6}, {0.5, 0, 0});
  put(model, state, "simple", {4, 0, 0.1 - 1e-6}, {0.5, 0, 0});
  FixedStep clock(model, {.method = GetParam(), .step = 1e-5});
  const MemoryLayout layout(model);
  const auto simple = static_cast<std::size_t>(
      std::find_if(model.blocks.begin(), model.blocks.end(),
                   [](const LawBlock& laws) { return laws.normal == choose<Hertz>(); }) -
      model.blocks.begin());
  ASSERT_LT(simple, model.blocks.size());
  ASSERT_EQ(model.joint_blocks, 0);
  int lowest = 1000, highest = 0;
  for (int i = 0; i < 5000; ++i) {
    ASSERT_EQ(clock.step(state), StepStatus::ok);
    const int first = state.contacts.begin[simple],
              end = state.contacts.begin[simple + 1];
    lowest = std::min(lowest, first);
    highest = std::max(highest, first);
    for (int row = first; row < end; ++row) {
      for (int column = layout.normal; column < layout.count; ++column) {
        const auto place = static_cast<std::size_t>(column) * state.contacts.capacity() +
                           static_cast<std::size_t>(row);
        ASSERT_EQ(state.contacts.memory[place], 0) << i << " " << column;
      }
    }
  }
  EXPECT_LT(lowest, highest);
}

/// Steps from short to far too long, of one substep: whatever comes of them, a run that
/// ends well has created less than a hundredth, beside what its contacts may store.
TEST_P(Clocks, NoRunEndsWellThatHasCreatedEnergy) {
  const Model model = tumbling();
  int fine = 0, ended = 0;
  for (double step = 5e-5; step < 6e-3; step *= 1.25) {
    State state = thrown(model);
    FixedStep stepper(model, {.method = GetParam(), .step = step});
    double created = 0;  // at the worst sample, beyond what contacts store
    const auto watch = [&](const Observation& now) {
      const Ledger& ledger = now.audit.last();
      created = std::max(
          created, (now.audit.residual() - 0.1 * ledger.stored()) / now.audit.scale());
      return true;
    };
    const RunSummary run = bristle::run(
        stepper, state, {.end = 0.6, .interval = 5 * step}, {.on_sample = watch});
    if (run.status == StepStatus::ok) {
      EXPECT_LE(created, 0.01 + 1e-9) << step;
      ++fine;
    } else if (run.status == StepStatus::energy_created) {
      EXPECT_GT(created, 0.01 - 1e-9) << step;
      ++ended;
    }
  }
  EXPECT_GT(fine, 2);
  // The linearly implicit method damps what it cannot follow.
  const bool damps = GetParam() == Method::linearly_implicit_euler;
  EXPECT_GT(ended, damps ? -1 : 0);
}

TEST(TimeScales, BristlesThatRelaxFastLimitAnExplicitStep) {
  ModelBuilder builder;
  builder.gravity({0, 0, 0});
  builder.add_body(
      {.name = "wheel", .mass = 1, .inertia = Sym3<double>::diagonal(0.1, 0.1, 0.1)});
  builder.add_joint({.name = "axle", .child = "wheel", .type = JointType::revolute});
  builder.set_friction({.joint = "axle", .friction = choose<LuGre>(), .load = 0.5});
  const Model model = built(builder);
  State state = make_state(model);
  state.v[0] = 2;
  const RunSummary summary = simulate(
      model, state,
      {.clock = {.method = Method::runge_kutta_4, .step = 5e-5}, .duration = 0.01});
  ASSERT_FALSE(summary.warnings.empty());
  EXPECT_NE(summary.warnings[0].find("axle"), std::string::npos) << summary.warnings[0];
}

TEST(TimeScales, AStepThatIsTooLongIsNamedWithItsContact) {
  ModelBuilder builder;
  builder.add_shape({.name = "ground", .shape = Plane{}});
  add_free(builder, "ball", 0.1, ball_inertia(0.1, 0.05), Sphere{0.05});
  const double k = 1e5;
  builder.add_contact(
      {.normal = choose<KelvinVoigt>({.stiffness = k, .damping = 0, .clamp = 1}),
       .friction = choose<Frictionless>()});
  const Model model = built(builder);
  State state = make_state(model);
  put(model, state, "ball", {0, 0, 0.05 - 1e-5});
  FixedStep clock(model, {});
  ASSERT_EQ(clock.settle(state), StepStatus::ok);
  const TimeScales scales = time_scales(clock.system(), state);
  EXPECT_NEAR(scales.frequency, std::sqrt(k / 0.1), 1);
  EXPECT_EQ(scales.decay, 0);
  EXPECT_NEAR(scales.stable_step(Method::semi_implicit_euler), 2 / std::sqrt(k / 0.1),
              1e-5);
  EXPECT_TRUE(std::isinf(scales.stable_step(Method::linearly_implicit_euler)));
  const std::string warning = step_warning(
      clock.system(), state, {.method = Method::semi_implicit_euler, .step = 4e-3});
  EXPECT_NE(warning.find("\"ground\" with \"ball\""), std::string::npos) << warning;
  EXPECT_NE(warning.find("substeps"), std::string::npos) << warning;
  EXPECT_EQ(
      step_warning(clock.system(), state,
                   {.method = Method::semi_implicit_euler, .step = 4e-3, .substeps = 10}),
      "");
  EXPECT_EQ(step_warning(clock.system(), state,
                         {.method = Method::linearly_implicit_euler, .step = 4e-3}),
            "");
}

/// Substeps that follow the present contacts: nothing has to be chosen for a fall onto a
/// contact that is not there yet when the run begins.
class FollowedSubsteps : public ::testing::TestWithParam<Method> {};
INSTANTIATE_TEST_SUITE_P(All, FollowedSubsteps,
                         ::testing::Values(Method::semi_implicit_euler,
                                           Method::bogacki_shampine,
                                           Method::runge_kutta_4),
                         [](const auto& clock) {
                           std::string name(name_of(clock.param));
                           std::erase(name, '-');
                           return name;
                         });

Model three_boxes_by_default() {
  ModelBuilder builder;
  builder.add_shape({.name = "ground", .shape = Plane{}});
  for (const char* name : {"low", "middle", "high"}) {
    add_free(builder, name, 1, box_inertia(1, {0.05, 0.05, 0.05}),
             Box{{0.05, 0.05, 0.05}});
  }
  ContactSpec rule;
  rule.normal = choose<GonthierNormal>();
  rule.from_pair = {
      .stiffness = true, .restitution = 0.5, .impact_speed_floor = true, .friction = 0.4};
  builder.add_contact(rule);
  return built(builder);
}

State dropped(const Model& model) {
  State state = make_state(model);
  put(model, state, "low", {0, 0, 0.06});
  put(model, state, "middle", {0, 0, 0.17});
  put(model, state, "high", {0, 0, 0.28});
  return state;
}

TEST_P(FollowedSubsteps, ThreeBoxesFallAndStand) {
  const Model model = three_boxes_by_default();
  State state = dropped(model);
  FixedStep stepper(model, {.method = GetParam(), .step = 1e-3, .substeps = 0});
  const RunSummary run = bristle::run(stepper, state, {.end = 0.5});
  EXPECT_EQ(run.status, StepStatus::ok);
  EXPECT_LT(run.audit.relative(), 1e-2);
  EXPECT_TRUE(run.warnings.empty()) << run.warnings.front();
  EXPECT_NEAR(state.q[place_of(model, "high").q + 2], 0.25, 1e-3);
  EXPECT_NEAR(state.time, 0.5, 1e-9);
  EXPECT_GT(run.counts.touches, 11u);
  // Most of the time is spent in contact, where one substep is not enough.
  EXPECT_GT(run.counts.evaluations,
            2 * run.counts.steps * static_cast<unsigned>(GetParam().info().evaluations));
}

/// As a contact opens, its bristles relax faster than any step: the ledger balances.
TEST_P(FollowedSubsteps, BristlesMayRelaxAtAnyRate) {
  for (const char* friction : {"dahl", "lugre", "elasto-plastic"}) {
    ModelBuilder builder;
    builder.add_shape({.name = "ground", .shape = Plane{}});
    add_free(builder, "can", 0.1, Sym3<double>::diagonal(1e-4, 1e-4, 7e-5),
             Cylinder{0.04, 0.05});
    builder.add_contact({.normal = choose<GonthierNormal>({.stiffness = 3e6,
                                                           .exponent = 1.5,
                                                           .restitution = 0.6,
                                                           .impact_speed_floor = 0.01}),
                         .friction = *choose(friction, {})});
    const Model model = built(builder);
    for (int k = 0; k < 6; ++k) {
      State state = make_state(model);
      put(model, state, "can", {0, 0, 0.2}, {0.3 * k, 0.5, -1}, {1.0 + k, 2, 3});
      FixedStep stepper(model, {.method = GetParam(), .step = 1e-3, .substeps = 0});
      const RunSummary run = bristle::run(stepper, state, {.end = 0.6});
      EXPECT_EQ(run.status, StepStatus::ok) << friction << " " << k;
      EXPECT_LT(run.audit.relative(), 1e-2) << friction << " " << k;
    }
  }
}

/// In flight a step is one substep.
TEST_P(FollowedSubsteps, InFlightThereIsOne) {
  const Model model = three_boxes_by_default();
  State state = dropped(model);
  put(model, state, "low", {0, 0, 2});
  put(model, state, "middle", {1, 0, 2});
  put(model, state, "high", {2, 0, 2});
  FixedStep stepper(model, {.method = GetParam(), .step = 1e-3, .substeps = 0});
  const RunSummary run = bristle::run(stepper, state, {.end = 0.5});
  EXPECT_EQ(run.status, StepStatus::ok);
  EXPECT_EQ(run.counts.evaluations,
            run.counts.steps * static_cast<unsigned>(GetParam().info().evaluations));
}

/// With a bound that is too low a warning names the contact that needed more.
TEST_P(FollowedSubsteps, ABoundThatIsTooLowIsTold) {
  const Model model = three_boxes_by_default();
  State state = dropped(model);
  FixedStep stepper(
      model, {.method = GetParam(), .step = 1e-3, .substeps = 0, .most_substeps = 2});
  bristle::run(stepper, state, {.end = 0.2});
  const std::vector<std::string> warnings = stepper.warnings();
  ASSERT_FALSE(warnings.empty());
  EXPECT_NE(warnings.front().find("the contact of"), std::string::npos);
  EXPECT_NE(warnings.front().find("2 are allowed"), std::string::npos);
}

/// A checkpoint goes on to the same bits.
TEST_P(FollowedSubsteps, ARestartFromTheStateGivesTheSameBits) {
  const Model model = three_boxes_by_default();
  State whole = dropped(model), parts = whole;
  const RunOptions options{.end = 0.3, .checkpoint = 0.1};
  const FixedStepOptions follow{.method = GetParam(), .step = 1e-3, .substeps = 0};
  FixedStep one(model, follow);
  bristle::run(one, whole, options);
  std::vector<double> last;
  State kept;
  {
    FixedStep two(model, follow);
    bristle::run(two, parts, options, {.on_checkpoint = [&](const State& now) {
                   kept = now;
                   return now.time < 0.15;
                 }});
  }
  FixedStep three(model, follow);
  bristle::run(three, kept, {.end = 0.3, .begin = 0, .checkpoint = 0.1});
  ASSERT_EQ(whole.q.size(), kept.q.size());
  EXPECT_EQ(std::memcmp(whole.q.data(), kept.q.data(), 8 * whole.q.size()), 0);
  EXPECT_EQ(std::memcmp(whole.v.data(), kept.v.data(), 8 * whole.v.size()), 0);
}

/// Just below the bound a run stays bounded, just above it does not.
TEST(TimeScales, TheBoundIsWhereARunDiverges) {
  for (const Method method :
       {Method::semi_implicit_euler, Method::bogacki_shampine, Method::runge_kutta_4}) {
    ModelBuilder builder;
    builder.add_body({.name = "mass", .mass = 2, .inertia = ball_inertia(2, 0.1)});
    builder.add_joint({.name = "slide",
                       .child = "mass",
                       .type = JointType::prismatic,
                       .axis = {1, 0, 0},
                       .damping = 3,
                       .stiffness = 5000});
    const Model model = built(builder);
    const auto grows = [&](double step) {
      State state = make_state(model);
      state.q[0] = 0.01;
      FixedStep clock(model, {.method = method, .step = step});
      for (int i = 0; i < 2000; ++i) {
        if (clock.step(state) != StepStatus::ok) return true;
        if (std::fabs(state.q[0]) > 10) return true;
      }
      return false;
    };
    State state = make_state(model);
    FixedStep clock(model, {.method = method});
    ASSERT_EQ(clock.settle(state), StepStatus::ok);
    const double bound = time_scales(clock.system(), state).stable_step(method);
    EXPECT_FALSE(grows(0.98 * bound)) << name_of(method);
    EXPECT_TRUE(grows(1.2 * bound)) << name_of(method);
  }
}

TEST(Methods, AreFoundByName) {
  for (const Method method : {Method::semi_implicit_euler, Method::bogacki_shampine,
                              Method::runge_kutta_4, Method::linearly_implicit_euler}) {
    const Result<Method> found = find_method(name_of(method));
    ASSERT_TRUE(found);
    EXPECT_EQ(*found, method);
  }
  const Result<Method> unknown = find_method("rk5");
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().find("rk4"), std::string::npos);
}

}  // namespace
}  // namespace bristle
