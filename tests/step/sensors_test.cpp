#include "bristle/step/sensors.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "bristle/laws/choice.hpp"
#include "bristle/laws/laws.hpp"
#include "bristle/run.hpp"
#include "bristle/steppers.hpp"
#include "tests/contract/allocations.hpp"
#include "tests/dynamics/random_tree.hpp"
#include "tests/validation/scenes.hpp"

// Sensors against closed forms, against finite differences of a run, and against the same
// mechanism where what is measured is something else.

namespace bristle {
namespace {

using validation::about_x;
using validation::about_y;
using validation::add_free;
using validation::ball_inertia;
using validation::box_inertia;
using validation::built;
using validation::pi;
using validation::put;

constexpr double g = 9.81;

Sensors made(const Model& model, const std::vector<SensorSpec>& specs) {
  Result<Sensors> sensors = Sensors::make(model, specs);
  EXPECT_TRUE(sensors) << sensors.error();
  return *std::move(sensors);
}

Vec3<double> vector_of(const Sensors& sensors, std::size_t i) {
  const std::span<const double> v = sensors[i];
  return {v[0], v[1], v[2]};
}

void expect_near(const Vec3<double>& a, const Vec3<double>& b, double tolerance,
                 const char* what = "") {
  EXPECT_NEAR(a.x, b.x, tolerance) << what;
  EXPECT_NEAR(a.y, b.y, tolerance) << what;
  EXPECT_NEAR(a.z, b.z, tolerance) << what;
}

/// Measures at a state that was set by hand.
void measure_at(const Model& model, State& state, Sensors& sensors) {
  System system(model);
  ASSERT_EQ(settle(system, 1e-3, state), StepStatus::ok);
  settled_forces(system, state);
  sensors.measure(system, state);
}

/// The state after a run, and what the sensors say there.
void measure_after(const char* stepper, const Model& model, State& state, double end,
                   Sensors& sensors, const StepperOptions& options = {}) {
  const auto info = find_stepper(stepper);
  ASSERT_TRUE(info);
  const auto made = (*info)->make(model, options);
  const RunSummary summary =
      run(*made, state, {.end = end}, {.on_sample = [&](const Observation& now) {
        sensors.measure(now.system, now.state);
        return true;
      }});
  ASSERT_EQ(summary.status, StepStatus::ok);
}

void add_floor(ModelBuilder& builder) {
  builder.add_shape({.name = "floor", .shape = Plane{}});
  builder.add_contact(
      {.normal = choose<KelvinVoigt>({.stiffness = 1e5, .damping = 300, .clamp = 1})});
}

TEST(Sensors, AccelerometersAtRestShowGravityUpwards) {
  ModelBuilder builder;
  add_free(builder, "box", 2, box_inertia(2, {0.1, 0.1, 0.1}), Box{{0.1, 0.1, 0.1}});
  add_floor(builder);
  const Model model = built(builder);
  const Transform<double> tilted{about_x(0.4), {0.05, 0, 0.1}};
  Sensors sensors =
      made(model, {{.name = "imu", .kind = SensorKind::accelerometer, .body = "box"},
                   {.name = "tilted",
                    .kind = SensorKind::accelerometer,
                    .body = "box",
                    .pose = tilted},
                   {.name = "wall", .kind = SensorKind::accelerometer},
                   {.name = "frame", .kind = SensorKind::acceleration, .body = "box"},
                   {.name = "feet", .kind = SensorKind::touch, .body = "box"},
                   {.name = "corner",
                    .kind = SensorKind::touch,
                    .body = "box",
                    .pose = {.p = {0.1, 0.1, -0.1}},
                    .zone = Sphere{0.05}}});
  for (const char* stepper : {"adaptive", "fixed", "complementarity"}) {
    State state = make_state(model);
    put(model, state, "box", {0, 0, 0.1});
    measure_after(stepper, model, state, 2, sensors);
    expect_near(vector_of(sensors, 0), {0, 0, g}, 1e-5, stepper);
    expect_near(vector_of(sensors, 1), transpose_times(tilted.R, Vec3<double>{0, 0, g}),
                1e-5, stepper);
    expect_near(vector_of(sensors, 2), {0, 0, g}, 0, stepper);
    expect_near(vector_of(sensors, 3), {0, 0, 0}, 1e-5, stepper);
    EXPECT_NEAR(sensors[4][0], 2 * g, 1e-4) << stepper;
    EXPECT_NEAR(sensors[5][0], 0.5 * g, 1e-4) << stepper;  // one of four corners
  }
}

TEST(Sensors, AccelerometersInFreeFallShowTheTurnAlone) {
  ModelBuilder builder;
  add_free(builder, "ball", 2, ball_inertia(2, 0.1), Sphere{0.1});
  const Model model = built(builder);
  State state = make_state(model);
  put(model, state, "ball", {0, 0, 5}, {1, 2, 3}, {0, 0, 4});
  Sensors sensors =
      made(model, {{.name = "a",
                    .kind = SensorKind::accelerometer,
                    .body = "ball",
                    .pose = {.p = {0.1, 0, 0}}},
                   {.name = "b",
                    .kind = SensorKind::velocimeter,
                    .body = "ball",
                    .pose = {about_x(pi / 2), {0.1, 0, 0}}},
                   {.name = "c",
                    .kind = SensorKind::gyro,
                    .body = "ball",
                    .pose = {about_x(pi / 2), {0, 0, 0}}},
                   {.name = "d",
                    .kind = SensorKind::velocity,
                    .body = "ball",
                    .pose = {.p = {0.1, 0, 0}}},
                   {.name = "e", .kind = SensorKind::angular_velocity, .body = "ball"},
                   {.name = "f",
                    .kind = SensorKind::position,
                    .body = "ball",
                    .pose = {.p = {0.1, 0, 0}}},
                   {.name = "g",
                    .kind = SensorKind::orientation,
                    .body = "ball",
                    .pose = {about_x(pi / 2), {0, 0, 0}}}});
  measure_at(model, state, sensors);
  expect_near(vector_of(sensors, 0), {-16 * 0.1, 0, 0}, 1e-14);  // −ω² r
  expect_near(vector_of(sensors, 1), {1, 3, -2.4}, 1e-14);       // y is the world's z
  expect_near(vector_of(sensors, 2), {0, 4, 0}, 1e-14);
  expect_near(vector_of(sensors, 3), {1, 2.4, 3}, 1e-14);
  expect_near(vector_of(sensors, 4), {0, 0, 4}, 0);
  expect_near(vector_of(sensors, 5), {0.1, 0, 5}, 1e-14);
  EXPECT_NEAR(sensors[6][0], std::sqrt(0.5), 1e-14);
  EXPECT_NEAR(sensors[6][1], std::sqrt(0.5), 1e-14);
}

/// A bar on a hinge at an angle θ from hanging, with a rate: θ̈ = −m g c sin θ/I, and the
/// hinge pulls its mass along.
TEST(Sensors, APendulumHasItsAccelerationsAndItsHingeTheForce) {
  const double m = 1.5, c = 0.4, own = 0.03, about = own + m * c * c;
  ModelBuilder builder;
  builder.add_body({.name = "bar",
                    .mass = m,
                    .com = {0, 0, -c},
                    .inertia = Sym3<double>::diagonal(own, own, 0.001)});
  builder.add_joint(
      {.name = "hinge", .child = "bar", .type = JointType::revolute, .axis = {0, -1, 0}});
  const Model model = built(builder);
  State state = make_state(model);
  const double angle = 0.7, rate = 1.3;
  state.q[0] = angle;
  state.v[0] = rate;
  Sensors sensors = made(
      model, {{.name = "tip",
               .kind = SensorKind::accelerometer,
               .body = "bar",
               .pose = {.p = {0, 0, -1}}},
              {.name = "turn", .kind = SensorKind::angular_acceleration, .body = "bar"},
              {.name = "force", .kind = SensorKind::force, .body = "bar"},
              {.name = "torque", .kind = SensorKind::torque, .body = "bar"},
              {.name = "angle", .kind = SensorKind::joint_position, .joint = "hinge"},
              {.name = "rate", .kind = SensorKind::joint_velocity, .joint = "hinge"}});
  measure_at(model, state, sensors);
  const double alpha = -m * g * c * std::sin(angle) / about;
  // Along the bar's own x (outwards in θ) and z (towards the hinge).
  expect_near(vector_of(sensors, 0),
              {alpha + g * std::sin(angle), 0, rate * rate + g * std::cos(angle)}, 1e-12);
  expect_near(vector_of(sensors, 1), {0, -alpha, 0}, 1e-12);
  expect_near(vector_of(sensors, 2),
              {m * (alpha * c + g * std::sin(angle)), 0,
               m * (rate * rate * c + g * std::cos(angle))},
              1e-12);
  expect_near(vector_of(sensors, 3), {0, 0, 0}, 1e-12);
  EXPECT_EQ(sensors[4][0], angle);
  EXPECT_EQ(sensors[5][0], rate);
}

/// A bracket welded to the world carries a plate that is welded to it: the weld takes the
/// weight of the plate, of a ball that lies on it and of a bob that hangs from it.
TEST(Sensors, AWeldTakesTheWeightThatItCarries) {
  ModelBuilder builder;
  builder.add_body({.name = "bracket", .mass = 5});
  builder.add_joint({.name = "on the wall", .child = "bracket"});
  builder.add_body({.name = "plate",
                    .mass = 3,
                    .com = {0.2, 0, 0},
                    .inertia = Sym3<double>::diagonal(0.1, 0.1, 0.1)});
  builder.add_joint({.name = "weld",
                     .parent = "bracket",
                     .child = "plate",
                     .on_parent = {.p = {0.1, 0, 0}}});
  builder.add_shape({.name = "top", .body = "plate", .shape = Box{{0.3, 0.3, 0.01}}});
  builder.add_body({.name = "bob", .mass = 0.5, .com = {0, 0, -0.3}});
  builder.add_joint({.name = "string",
                     .parent = "plate",
                     .child = "bob",
                     .type = JointType::universal,
                     .on_parent = {.p = {-0.1, 0.15, 0}}});
  add_free(builder, "ball", 2, ball_inertia(2, 0.05), Sphere{0.05});
  builder.add_contact(
      {.normal = choose<KelvinVoigt>({.stiffness = 1e5, .damping = 300, .clamp = 1})});
  builder.add_load(
      {.name = "push", .body = "plate", .force = {7, 0, 0}, .point = {0, 0, 1}});
  const Model model = built(builder);
  Sensors sensors =
      made(model, {{.name = "f", .kind = SensorKind::force, .body = "plate"},
                   {.name = "t", .kind = SensorKind::torque, .body = "plate"},
                   {.name = "all", .kind = SensorKind::force, .body = "bracket"}});
  for (const char* stepper : {"adaptive", "complementarity"}) {
    State state = make_state(model);
    put(model, state, "ball", {0.2, 0.1, 0.06});
    measure_after(stepper, model, state, 1, sensors);
    expect_near(vector_of(sensors, 0), {-7, 0, (3 + 0.5 + 2) * g}, 1e-4, stepper);
    // About the plate's origin, at x = 0.1: plate at 0.2 from there, bob, ball, load.
    const double mx = g * (0.5 * 0.15 + 2 * 0.1);
    const double my = -g * (3 * 0.2 + 0.5 * -0.1 + 2 * 0.1) - 7 * 1;
    expect_near(vector_of(sensors, 1), {mx, my, 0}, 1e-4, stepper);
    expect_near(vector_of(sensors, 2), {-7, 0, (5 + 3 + 0.5 + 2) * g}, 1e-4, stepper);
  }
}

/// A tool on an arm on a free base, with a tip that turns, a load and a spring: welded to
/// the arm, or held there by a motor that does not move. The joint takes the same.
TEST(Sensors, AWeldTakesWhatAJointThatIsHeldTakes) {
  const auto model_with = [](bool welded) {
    test::Dice dice(5);
    ModelBuilder builder;
    for (const char* name : {"base", "arm", "tool", "tip"}) {
      builder.add_body(test::random_body(dice, name));
    }
    builder.add_joint({.name = "base", .child = "base", .type = JointType::free});
    builder.add_joint({.name = "shoulder",
                       .parent = "base",
                       .child = "arm",
                       .type = JointType::revolute,
                       .on_parent = dice.frame(0.5)});
    builder.add_joint({.name = "wrist",
                       .parent = "tool",
                       .child = "tip",
                       .type = JointType::spherical,
                       .on_parent = dice.frame(0.5)});
    builder.add_joint({.name = "mount",
                       .parent = "arm",
                       .child = "tool",
                       .type = welded ? JointType::fixed : JointType::revolute,
                       .on_parent = dice.frame(0.5)});
    if (!welded) {
      builder.add_motor(
          {.name = "hold", .joint = "mount", .kind = MotorKind::prescribed});
    }
    builder.add_load({.name = "push",
                      .body = "tool",
                      .force = dice.vector(5),
                      .torque = dice.vector(2),
                      .point = dice.vector(0.2)});
    builder.add_loop({.name = "spring",
                      .kind = LoopKind::distance,
                      .body_a = "base",
                      .pose_a = dice.frame(0.2),
                      .body_b = "tool",
                      .pose_b = dice.frame(0.2),
                      .length = 0.3,
                      .stiffness = 80,
                      .damping = 3});
    return built(builder);
  };
  const Model welded = model_with(true), held = model_with(false);
  test::Dice dice(9);
  const Transform<double> place = dice.frame(0.3);
  const std::vector<SensorSpec> specs{
      {.name = "f", .kind = SensorKind::force, .body = "tool", .pose = place},
      {.name = "t", .kind = SensorKind::torque, .body = "tool", .pose = place},
      {.name = "a", .kind = SensorKind::accelerometer, .body = "tip", .pose = place}};
  Sensors of_weld = made(welded, specs), of_joint = made(held, specs);
  for (int i = 0; i < 20; ++i) {
    const test::RandomState random = test::random_state(dice, welded.tree);
    State state = make_state(welded), with_mount = make_state(held);
    state.q = random.q;
    state.v = random.v;
    // The mount was added last: its numbers come last.
    std::copy(state.q.begin(), state.q.end(), with_mount.q.begin());
    std::copy(state.v.begin(), state.v.end(), with_mount.v.begin());
    measure_at(welded, state, of_weld);
    measure_at(held, with_mount, of_joint);
    for (std::size_t k = 0; k < specs.size(); ++k) {
      expect_near(vector_of(of_weld, k), vector_of(of_joint, k), 1e-10,
                  specs[k].name.c_str());
    }
  }
}

/// Along a run of a loop of three bars with a motor: velocities by differences of
/// positions, accelerations by differences of velocities.
TEST(Sensors, AreTheDerivativesOfARun) {
  ModelBuilder builder;
  for (const char* name : {"a", "b", "c"}) {
    builder.add_body({.name = name,
                      .mass = 1,
                      .com = {0.25, 0, 0},
                      .inertia = Sym3<double>::diagonal(1e-3, 0.02, 0.02)});
  }
  builder.gravity({0, -g, 0});
  builder.add_joint({.name = "a", .child = "a", .type = JointType::revolute});
  builder.add_joint({.name = "b",
                     .parent = "a",
                     .child = "b",
                     .type = JointType::revolute,
                     .on_parent = {.p = {0.5, 0, 0}}});
  builder.add_joint({.name = "c",
                     .child = "c",
                     .type = JointType::revolute,
                     .on_parent = {.p = {0.6, 0, 0}}});
  builder.add_loop({.name = "pin",
                    .body_a = "b",
                    .pose_a = {.p = {0.5, 0, 0}},
                    .body_b = "c",
                    .pose_b = {.p = {0.5, 0, 0}}});
  MotorSpec motor{.name = "drive", .joint = "a", .kind = MotorKind::position};
  motor.kp = 20;
  motor.kd = 1;
  motor.target.offset = 1.5;
  motor.target.amplitude = 0.5;
  motor.target.frequency = 5;
  builder.add_motor(motor);
  const Model model = built(builder);
  const Transform<double> place{about_y(0.3), {0.2, 0.1, 0}};
  Sensors sensors = made(
      model,
      {{.name = "p", .kind = SensorKind::position, .body = "b", .pose = place},
       {.name = "v", .kind = SensorKind::velocity, .body = "b", .pose = place},
       {.name = "a", .kind = SensorKind::acceleration, .body = "b", .pose = place},
       {.name = "w", .kind = SensorKind::angular_velocity, .body = "b", .pose = place},
       {.name = "r",
        .kind = SensorKind::angular_acceleration,
        .body = "b",
        .pose = place},
       {.name = "m", .kind = SensorKind::joint_torque, .joint = "a"}});
  State state = make_state(model);
  state.q = {1.2, -1.5, 1.6};
  std::vector<std::vector<double>> seen;
  constexpr double every = 1e-3;
  const auto info = find_stepper("adaptive");
  const auto stepper = (*info)->make(model, {.rtol = 1e-11});
  const RunSummary summary =
      run(*stepper, state, {.end = 0.3, .interval = every},
          {.on_sample = [&](const Observation& now) {
            sensors.measure(now.system, now.state);
            const auto all = sensors.values();
            seen.emplace_back(all.begin(), all.end());
            const double t = now.state.time;
            EXPECT_NEAR(all[15],
                        20 * (motor.target.value(t) - now.state.q[0]) +
                            motor.target.rate(t) - now.state.v[0],
                        1e-9);
            return true;
          }});
  ASSERT_EQ(summary.status, StepStatus::ok);
  ASSERT_GT(seen.size(), 250u);
  // Differences over five samples are off by h⁴/30 of the fifth derivative, 3e-14 of it.
  for (std::size_t i = 2; i + 2 < seen.size(); ++i) {
    for (std::size_t k = 0; k < 3; ++k) {
      const auto slope = [&](std::size_t of) {
        return (8 * (seen[i + 1][of + k] - seen[i - 1][of + k]) -
                (seen[i + 2][of + k] - seen[i - 2][of + k])) /
               (12 * every);
      };
      EXPECT_NEAR(seen[i][3 + k], slope(0), 1e-5);
      EXPECT_NEAR(seen[i][6 + k], slope(3), 1e-5);
      EXPECT_NEAR(seen[i][12 + k], slope(9), 1e-5);
    }
  }
}

TEST(Sensors, ARangeFinderSeesTheNextShapeAlongItsZAxis) {
  ModelBuilder builder;
  add_free(builder, "drone", 1, ball_inertia(1, 0.2), Sphere{0.2});
  builder.add_shape({.name = "floor", .shape = Plane{}});
  builder.add_shape(
      {.name = "table", .shape = Box{{0.5, 0.5, 0.1}}, .pose = {.p = {0, 0, 0.4}}});
  builder.add_contact({.touches = false});
  const Model model = built(builder);
  const Transform<double> down{about_x(pi), {0, 0, 0}};
  const SensorSpec look{
      .name = "down", .kind = SensorKind::range, .body = "drone", .pose = down};
  SensorSpec past = look, near = look, up = look, post = look;
  past.unseen = {"table"};
  near.reach = 1.4;
  up.pose = {};
  post.body = world_name;
  post.pose = {about_x(pi), {2, 0, 1}};
  Sensors sensors = made(model, {look, past, near, up, post});
  State state = make_state(model);
  put(model, state, "drone", {0.1, 0.2, 2});
  measure_at(model, state, sensors);
  EXPECT_NEAR(sensors[0][0], 1.5, 1e-14);
  EXPECT_NEAR(sensors[1][0], 2, 1e-14);
  EXPECT_EQ(sensors[2][0], -1);
  EXPECT_EQ(sensors[3][0], -1);
  EXPECT_NEAR(sensors[4][0], 1, 1e-14);
}

TEST(Sensors, RefuseWhatIsNotThere) {
  ModelBuilder builder;
  add_free(builder, "ball", 1, ball_inertia(1, 0.1), Sphere{0.1});
  const Model model = built(builder);
  const auto message = [&](const SensorSpec& spec) {
    const Result<Sensors> sensors = Sensors::make(model, std::span(&spec, 1));
    return sensors ? std::string() : sensors.error();
  };
  EXPECT_EQ(message({.name = "s", .body = "bal"}),
            "sensor \"s\": there is no body \"bal\"");
  EXPECT_EQ(message({.name = "s", .kind = SensorKind::joint_position, .joint = "j"}),
            "sensor \"s\": there is no joint \"j\"");
  EXPECT_EQ(message({.name = "s",
                     .kind = SensorKind::joint_velocity,
                     .joint = "ball moves",
                     .axis = 6}),
            "sensor \"s\": axis = 6, but \"ball moves\" has 6 degrees of freedom");
  EXPECT_EQ(message({.name = "s", .kind = SensorKind::force}),
            "sensor \"s\": the world hangs from no joint");
  EXPECT_EQ(message({.name = "s", .kind = SensorKind::range, .body = "ball", .reach = 0}),
            "sensor \"s\": reach must be above 0");
}

TEST(Sensors, AllocateNothing) {
  ModelBuilder builder;
  add_free(builder, "box", 2, box_inertia(2, {0.1, 0.1, 0.1}), Box{{0.1, 0.1, 0.1}});
  builder.add_body({.name = "lamp", .mass = 0.1});
  builder.add_joint({.name = "weld", .parent = "box", .child = "lamp"});
  add_floor(builder);
  const Model model = built(builder);
  std::vector<SensorSpec> specs;
  for (const SensorKind kind :
       {SensorKind::position, SensorKind::orientation, SensorKind::accelerometer,
        SensorKind::force, SensorKind::torque, SensorKind::touch, SensorKind::range}) {
    specs.push_back({.name = "s", .kind = kind, .body = "lamp"});
  }
  Sensors sensors = made(model, specs);
  State state = make_state(model);
  put(model, state, "box", {0, 0, 0.0999});
  System system(model);
  ASSERT_EQ(settle(system, 1e-3, state), StepStatus::ok);
  settled_forces(system, state);
  const contract::AllocationCount count;
  sensors.measure(system, state);
  EXPECT_EQ(count.since(), 0);
}

}  // namespace
}  // namespace bristle
