#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "bristle/adaptive/adaptive.hpp"
#include "bristle/run.hpp"
#include "bristle/steppers.hpp"

// Sums of joint positions with weights: springs between joints, and motors that drive
// them.

namespace bristle {
namespace {

BodySpec mass(const char* name, double kilograms) {
  return {.name = name, .mass = kilograms, .inertia = Sym3<double>::diagonal(1, 1, 1)};
}

/// Two masses on sliders along x, without gravity, held by s = 2 x − y.
ModelBuilder two_sliders(CouplingSpec coupling) {
  ModelBuilder b;
  b.gravity({0, 0, 0});
  for (const char* name : {"x", "y"}) {
    b.add_body(mass(name, name[0] == 'x' ? 3 : 2));
    b.add_joint(
        {.name = name, .child = name, .type = JointType::prismatic, .axis = {1, 0, 0}});
  }
  coupling.name = "tendon";
  coupling.terms = {{"x", 2}, {"y", -1}};
  b.add_coupling(coupling);
  return b;
}

constexpr double inverse_mass = 4.0 / 3 + 1.0 / 2;  // J M⁻¹ Jᵀ of s
constexpr double stiffness = 50;

double stretch(const State& state) { return 2 * state.q[0] - state.q[1]; }

RunSummary run_with(const char* stepper, const Model& model, State& state, double end,
                    double step = 1e-3) {
  const auto info = find_stepper(stepper);
  EXPECT_TRUE(info);
  const auto made = (*info)->make(model, {.rtol = 1e-10, .step = step});
  return run(*made, state, {.end = end});
}

TEST(Couplings, ASpringOverTwoJointsOscillatesAtItsFrequency) {
  const Result<Model> model = two_sliders({.rest = 0.3, .stiffness = stiffness}).build();
  ASSERT_TRUE(model) << model.error();
  State state = make_state(*model);
  state.q[0] = 0.25;  // s − rest = 0.2
  const RunSummary summary = run_with("adaptive", *model, state, 1.3);
  ASSERT_EQ(summary.status, StepStatus::ok);
  const double rate = std::sqrt(stiffness * inverse_mass);
  EXPECT_NEAR(stretch(state) - 0.3, 0.2 * std::cos(rate * 1.3), 1e-8);
  EXPECT_LT(summary.audit.relative(), 1e-8);
}

TEST(Couplings, AFrequencyIsThatOfTheJointsAlone) {
  const Result<Model> model = two_sliders({.frequency = 7}).build();
  ASSERT_TRUE(model) << model.error();
  EXPECT_NEAR(model->couplings[0].stiffness, 49 / inverse_mass, 1e-12);
  EXPECT_NEAR(model->couplings[0].damping, 14 / inverse_mass, 1e-12);
}

/// Every stepper counts what a motor on a coupling does, within its force limits and at
/// them, and what the spring and damper of the coupling take.
TEST(Couplings, MotorsThatDriveThemAreInTheLedger) {
  for (const double largest : {1e9, 0.8}) {
    ModelBuilder builder = two_sliders({.stiffness = 3, .damping = 0.4});
    MotorSpec motor{.name = "pull", .coupling = "tendon", .kind = MotorKind::position};
    motor.kp = stiffness;
    motor.kd = 2;
    motor.target.offset = 0.3;
    motor.least_force = -0.5;
    motor.largest_force = largest;
    builder.add_motor(motor);
    const Result<Model> model = builder.build();
    ASSERT_TRUE(model) << model.error();
    for (const char* stepper : {"adaptive", "fixed", "complementarity"}) {
      State state = make_state(*model);
      const RunSummary summary = run_with(stepper, *model, state, 3);
      ASSERT_EQ(summary.status, StepStatus::ok) << stepper;
      EXPECT_LT(summary.audit.relative(), 1e-7) << stepper << ' ' << largest;
      EXPECT_NE(state.works.motors, 0) << stepper;
    }
  }
}

TEST(Couplings, ImplicitStepsHoldAStiffOneAtAnyStep) {
  const Result<Model> model = two_sliders({.rest = 0.1, .frequency = 1e5}).build();
  ASSERT_TRUE(model) << model.error();
  State state = make_state(*model);
  state.q[1] = -0.1;
  state.v[0] = 1;
  const RunSummary summary = run_with("complementarity", *model, state, 1, 0.01);
  ASSERT_EQ(summary.status, StepStatus::ok);
  EXPECT_NEAR(stretch(state), 0.1, 1e-6);
  EXPECT_LT(summary.audit.relative(), 1e-10);
  // Momentum along the motion that the coupling leaves free: p · (1, 2) is kept.
  EXPECT_NEAR(3 * state.v[0] + 2 * 2 * state.v[1], 3, 1e-9);
}

// Strings along a path.

/// Two masses that hang on vertical sliders at x = ∓0.3, and a string between them over
/// the upper side of a drum of that radius.
ModelBuilder two_hanging(CouplingSpec coupling) {
  ModelBuilder b;
  for (const char* name : {"left", "right"}) {
    const bool left = name[0] == 'l';
    b.add_body(mass(name, left ? 3 : 2));
    b.add_joint({.name = name,
                 .child = name,
                 .type = JointType::prismatic,
                 .on_parent = {Mat3<double>::identity(), {left ? -0.3 : 0.3, 0, -1}}});
  }
  Transform<double> drum;
  drum.R = {{1, 0, 0}, {0, 0, 1}, {0, -1, 0}};  // its axis along y
  coupling.name = "string";
  coupling.path = {{.body = "left"},
                   {.part = PathPart::cylinder,
                    .pose = drum,
                    .radius = 0.3,
                    .side_body = std::string(world_name),
                    .side = {0, 0, 1}},
                   {.body = "right"}};
  b.add_coupling(coupling);
  return b;
}

/// L = π r + 2 − (q₀ + q₁) of two that hang, so that S = q₀ + q₁ oscillates about where
/// the spring carries both.
TEST(Couplings, AStringOverADrumCarriesTwoMasses) {
  const double neutral = 0.3 * std::numbers::pi + 2, rest = neutral - 0.1;
  const Result<Model> model = two_hanging({.rest = rest, .stiffness = 400}).build();
  ASSERT_TRUE(model) << model.error();
  ASSERT_EQ(model->couplings[0].joints.size(), 2u);
  EXPECT_NEAR(model->couplings[0].joints[0].weight, -1, 1e-12);
  const double mobility = 1.0 / 3 + 1.0 / 2, g = 9.81;
  const double rate = std::sqrt(400 * mobility);
  // S̈ = −2 g + mobility k (L − rest), L − rest = 0.1 − S.
  const double middle = 0.1 - 2 * g / (mobility * 400);
  for (const char* stepper : {"adaptive", "complementarity"}) {
    State state = make_state(*model);
    const bool exact = stepper[0] == 'a';
    const double end = 0.4;
    const RunSummary summary = run_with(stepper, *model, state, end, 1e-5);
    ASSERT_EQ(summary.status, StepStatus::ok) << stepper;
    EXPECT_NEAR(state.q[0] + state.q[1], middle - middle * std::cos(rate * end),
                exact ? 1e-8 : 2e-4)
        << stepper;
    EXPECT_LT(summary.audit.relative(), exact ? 1e-8 : 1e-6) << stepper;
    EXPECT_NE(state.q[0], state.q[1]);
  }
}

/// Around a sphere, in a plane through its centre, a string is as long as around a
/// cylinder across that plane: on either side, and from within. (MuJoCo before 3.2.3 lets
/// strings jump through spheres with a side.)
TEST(Couplings, StringsGoAroundSpheresAsAroundCylinders) {
  const std::vector<Transform<double>> poses(1);
  std::vector<PathPull> pulls;
  const double radius = 0.5;
  int wrapped = 0;
  for (int k = 0; k < 600; ++k) {
    const auto on_circle = [](double size, double angle) {
      return Vec3<double>{size * std::cos(angle), size * std::sin(angle), 0};
    };
    const Vec3<double> a = on_circle(0.6 + 0.01 * (k % 37), 0.7 * k);
    const Vec3<double> b = on_circle(0.55 + 0.02 * (k % 23), 1.9 * k + 0.3);
    const Vec3<double> side = on_circle(k % 3 == 0 ? 0.2 : 0.8, 2.7 * k);
    const auto length = [&](PathPart part, bool has_side) {
      PathElement from, to, round;
      from.pose.p = a;
      to.pose.p = b;
      round.part = part;
      round.radius = radius;
      round.has_side = has_side;
      round.side = side;
      pulls.clear();
      return follow_path(std::vector{from, round, to}, poses, pulls);
    };
    for (const bool has_side : {false, true}) {
      const double around = length(PathPart::sphere, has_side);
      EXPECT_NEAR(around, length(PathPart::cylinder, has_side), 1e-12) << k;
      EXPECT_GE(around, norm(b - a) - 1e-12);
      wrapped += around > norm(b - a) + 1e-9;
    }
  }
  EXPECT_GT(wrapped, 300);
}

/// A stone on a string that is longer than its way at first: it falls freely, is caught
/// and comes to rest as far beyond the string's length as its stiffness says.
TEST(Couplings, ALimitOfAStringPullsOnly) {
  ModelBuilder b;
  b.add_body(mass("stone", 2));
  b.add_joint({.name = "free", .child = "stone", .type = JointType::free});
  CouplingSpec coupling;
  coupling.name = "string";
  coupling.upper = 1.5;
  coupling.path = {{.pose = {Mat3<double>::identity(), {0, 0, 1}}}, {.body = "stone"}};
  b.add_coupling(coupling);
  const Result<Model> model = b.build();
  ASSERT_TRUE(model) << model.error();
  for (const char* stepper : {"adaptive", "fixed", "complementarity"}) {
    State state = make_state(*model);
    RunSummary summary = run_with(stepper, *model, state, 0.2);
    ASSERT_EQ(summary.status, StepStatus::ok) << stepper;
    EXPECT_NEAR(state.q[2], -0.5 * 9.81 * 0.04, 3e-3) << stepper;  // not caught yet
    summary = run_with(stepper, *model, state, 8);
    ASSERT_EQ(summary.status, StepStatus::ok) << stepper;
    const double sunk = -0.5 - state.q[2];
    const double limit = 2 * std::pow(std::numbers::pi / 0.02, 2);  // its stiffness
    EXPECT_NEAR(sunk, 2 * 9.81 / limit, 1e-6) << stepper;
    EXPECT_LT(summary.audit.relative(), 1e-5) << stepper;
    EXPECT_NE(state.works.limits.damping, 0) << stepper;
  }
}

/// Between two lengths a spring with slack does nothing.
TEST(Couplings, SlackSpringsPullBeyondTheirSlack) {
  const Result<Model> model =
      two_sliders({.rest = -0.2, .slack = 0.5, .stiffness = stiffness}).build();
  ASSERT_TRUE(model) << model.error();
  State state = make_state(*model);
  state.v[0] = 0.1;  // ṡ = 0.2: beyond 0.3 after 1.5 s
  const RunSummary summary = run_with("adaptive", *model, state, 1.5);
  ASSERT_EQ(summary.status, StepStatus::ok);
  EXPECT_NEAR(stretch(state), 0.3, 1e-12);
  EXPECT_NEAR(state.v[0], 0.1, 1e-12);
  const double rate = std::sqrt(stiffness * inverse_mass);
  run_with("adaptive", *model, state, 1.5 + 0.5 / rate);
  EXPECT_NEAR(stretch(state), 0.3 + 0.2 / rate * std::sin(0.5), 1e-8);
}

/// The spring of a frequency is that of its stiffness, slack or not.
TEST(Couplings, SlackSpringsHaveTheStiffnessOfTheirFrequency) {
  constexpr double frequency = 7;
  const double k = frequency * frequency / inverse_mass;
  const Result<Model> by_frequency =
      two_sliders({.slack = 0.5, .frequency = frequency}).build();
  const Result<Model> by_stiffness =
      two_sliders({.slack = 0.5, .stiffness = k, .damping = 2 * frequency / inverse_mass})
          .build();
  ASSERT_TRUE(by_frequency) << by_frequency.error();
  ASSERT_TRUE(by_stiffness) << by_stiffness.error();
  State a = make_state(*by_frequency), b = make_state(*by_stiffness);
  for (State* state : {&a, &b}) state->q[0] = 0.4;  // s = 0.8, 0.3 beyond the slack
  run_with("adaptive", *by_frequency, a, 0.5);
  run_with("adaptive", *by_stiffness, b, 0.5);
  EXPECT_LT(stretch(a), 0.7);
  EXPECT_NEAR(stretch(a), stretch(b), 1e-9);
}

/// A force in a frame of a body: m v̇ = f along the axis that turns with it.
TEST(Couplings, AWrenchPushesItsBody) {
  ModelBuilder b;
  b.gravity({0, 0, 0});
  b.add_body({.name = "craft", .mass = 2, .inertia = Sym3<double>::diagonal(1, 2, 3)});
  b.add_joint({.name = "free", .child = "craft", .type = JointType::free});
  CouplingSpec coupling;
  coupling.name = "propeller";
  coupling.wrench =
      WrenchSpec{.body = "craft", .pose = {}, .unit = {{0, 0, 0.5}, {0.25, 0, 0}}};
  b.add_coupling(coupling);
  MotorSpec motor{.name = "drive", .coupling = "propeller"};
  motor.target.offset = 4;
  b.add_motor(motor);
  const Result<Model> model = b.build();
  ASSERT_TRUE(model) << model.error();
  State state = make_state(*model);
  const RunSummary summary = run_with("adaptive", *model, state, 1.2);
  ASSERT_EQ(summary.status, StepStatus::ok);
  // ω = 4 · 0.5/3 t about z, f = 4 · 0.25 along the x axis of the body.
  const double spin = 2.0 / 3;
  EXPECT_NEAR(state.v[2], spin * 1.2, 1e-9);
  EXPECT_LT(summary.audit.relative(), 1e-9);
  EXPECT_NEAR(state.works.motors,
              0.5 * 3 * state.v[2] * state.v[2] +
                  (state.v[3] * state.v[3] + state.v[4] * state.v[4]),
              1e-8);
}

// Motors with a lag.

ModelBuilder lagging_slider(const MotorLag& lag) {
  ModelBuilder b;
  b.gravity({0, 0, 0});
  b.add_body(mass("x", 2));
  b.add_joint({.name = "x", .child = "x", .type = JointType::prismatic});
  MotorSpec motor{.name = "push", .joint = "x"};
  motor.target.offset = 3;
  motor.lag = lag;
  b.add_motor(motor);
  return b;
}

/// c = 3 (1 − exp(−t/T)), so that m v = 3 (t − T (1 − exp(−t/T))); an integrator gives
/// c = 1 + 3 t.
TEST(Motors, LagBehindWhatTheyAreTold) {
  const Result<Model> filter =
      lagging_slider({.kind = LagKind::filter, .time = 0.2}).build();
  const Result<Model> integrator =
      lagging_slider({.kind = LagKind::integrator, .start = 1, .largest = 10}).build();
  ASSERT_TRUE(filter && integrator);
  for (const char* stepper : {"adaptive", "fixed", "complementarity"}) {
    const double tolerance = stepper[0] == 'a' ? 1e-9 : 4e-3;
    State state = make_state(*filter);
    ASSERT_EQ(run_with(stepper, *filter, state, 0.7).status, StepStatus::ok);
    EXPECT_NEAR(state.v[0], 1.5 * (0.7 - 0.2 * (1 - std::exp(-3.5))), tolerance)
        << stepper;
    EXPECT_NEAR(state.lagged[0], 3 * (1 - std::exp(-3.5)), 1e-12) << stepper;
    state = make_state(*integrator);
    ASSERT_EQ(run_with(stepper, *integrator, state, 0.7).status, StepStatus::ok);
    EXPECT_NEAR(state.v[0], 0.5 * (0.7 + 1.5 * 0.49), tolerance) << stepper;
    EXPECT_NEAR(state.lagged[0], 3.1, 1e-12) << stepper;
  }
}

/// Told 2 t, a filter gives 2 (t − T (1 − exp(−t/T))) and an integrator t², however long
/// the steps; and the state may begin at any time.
TEST(Motors, LagBehindARamp) {
  constexpr double begin = 10, T = 0.2, t = 0.7;
  for (const LagKind kind : {LagKind::filter, LagKind::integrator}) {
    ModelBuilder b;
    b.gravity({0, 0, 0});
    b.add_body(mass("x", 2));
    b.add_joint({.name = "x", .child = "x", .type = JointType::prismatic});
    MotorSpec motor{.name = "push", .joint = "x"};
    motor.target.offset = -2 * begin;
    motor.target.slope = 2;
    motor.lag = {.kind = kind, .time = T, .largest = 10};
    b.add_motor(motor);
    const Result<Model> model = b.build();
    ASSERT_TRUE(model);
    const double expected =
        kind == LagKind::filter ? 2 * (t - T * (1 - std::exp(-t / T))) : t * t;
    for (const char* stepper : {"adaptive", "fixed", "complementarity"}) {
      State state = make_state(*model);
      state.time = begin;
      ASSERT_EQ(run_with(stepper, *model, state, begin + t).status, StepStatus::ok);
      EXPECT_NEAR(state.lagged[0], expected, 1e-11) << stepper;
    }
  }
}

/// What lags is part of the state: a copy goes on with the same bits.
TEST(Motors, CopiesOfAStateLagAlike) {
  const Result<Model> model =
      lagging_slider({.kind = LagKind::filter, .time = 0.2}).build();
  ASSERT_TRUE(model);
  State state = make_state(*model);
  run_with("complementarity", *model, state, 0.3);
  State copy = state;
  run_with("complementarity", *model, state, 0.5);
  run_with("complementarity", *model, copy, 0.5);
  EXPECT_EQ(state.v, copy.v);
  EXPECT_EQ(state.lagged, copy.lagged);
  EXPECT_FALSE(lagging_slider({.kind = LagKind::filter}).build());  // of no time
}

TEST(Couplings, WrongOnesAreRefused) {
  const auto error_of = [](auto change) {
    CouplingSpec spec;
    ModelBuilder builder = two_sliders({});
    spec.name = "second";
    spec.terms = {{"x", 1}};
    change(spec);
    builder.add_coupling(spec);
    const Result<Model> model = builder.build();
    return model ? std::string() : model.error();
  };
  EXPECT_EQ(error_of([](CouplingSpec&) {}), "");
  EXPECT_NE(error_of([](CouplingSpec& c) {
              c.terms[0].joint = "z";
            }).find("there is no moving joint \"z\""),
            std::string::npos);
  EXPECT_NE(error_of([](CouplingSpec& c) { c.terms[0].weight = 0; }).find("not 0"),
            std::string::npos);
  EXPECT_NE(error_of([](CouplingSpec& c) { c.terms.push_back({"x", 2}); }).find("twice"),
            std::string::npos);
  EXPECT_NE(error_of([](CouplingSpec& c) { c.stiffness = -1; }).find("stiffness"),
            std::string::npos);
  EXPECT_NE(error_of([](CouplingSpec& c) { c.name = "tendon"; }).find("added twice"),
            std::string::npos);
  EXPECT_NE(error_of([](CouplingSpec& c) {
              c.lower = 1;
              c.upper = 0;
            }).find("lower"),
            std::string::npos);
  const auto error_of_path = [&](std::vector<PathSpec> path) {
    return error_of([&](CouplingSpec& c) {
      c.terms.clear();
      c.path = std::move(path);
    });
  };
  const PathSpec on_x{.body = "x"}, on_y{.body = "y"};
  const PathSpec ball{.part = PathPart::sphere, .radius = 1};
  EXPECT_EQ(error_of_path({on_x, ball, on_y}), "");
  EXPECT_NE(error_of_path({on_x, on_x}).find("on one body"), std::string::npos);
  EXPECT_NE(error_of_path({on_x}).find("begin and end with a point"), std::string::npos);
  EXPECT_NE(error_of_path({on_x, ball}).find("begin and end"), std::string::npos);
  EXPECT_NE(error_of_path({on_x, ball, ball, on_y}).find("between two points"),
            std::string::npos);
  EXPECT_NE(error_of_path({on_x, {.part = PathPart::cylinder}, on_y}).find("radius"),
            std::string::npos);
  EXPECT_NE(error_of_path({on_x, {.body = "z"}}).find("z"), std::string::npos);
}

}  // namespace
}  // namespace bristle
