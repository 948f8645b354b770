#include <gtest/gtest.h>

#include <cmath>

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
}

}  // namespace
}  // namespace bristle
