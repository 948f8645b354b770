#include "bristle/dynamics/gravity_torque.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "bristle/run.hpp"
#include "bristle/steppers.hpp"
#include "tests/dynamics/random_tree.hpp"
#include "tests/validation/scenes.hpp"

// Joint forces against gravity, and motors that compensate it.

namespace bristle {
namespace {

using validation::built;

/// They are what inverse dynamics asks for at rest.
TEST(GravityTorque, IsThatOfInverseDynamicsAtRest) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    const test::RandomTree random = test::random_tree(seed, 8);
    const Tree& tree = random.tree;
    test::Dice dice(seed + 77);
    const test::RandomState state = test::random_state(dice, tree);
    const std::vector<double> rest(state.v.size(), 0.0);
    Workspace<double> ws(tree);
    kinematics<double>(tree, state.q, rest, ws);
    std::vector<double> expected(rest.size()), found(rest.size());
    std::vector<Force<double>> weights(tree.links().size(), Force<double>::zero());
    gravity_torque<double>(tree, ws, weights, found);
    inverse_dynamics<double>(tree, rest, {}, {}, ws, expected);
    for (std::size_t k = 0; k < found.size(); ++k) {
      EXPECT_NEAR(found[k], expected[k], 1e-11 * (1 + std::abs(expected[k])));
    }
  }
}

/// Two bars on hinges and a slider at the end, held out sideways by soft motors.
ModelBuilder arm(bool compensates) {
  ModelBuilder builder;
  std::string parent(world_name);
  for (const char* name : {"upper", "lower", "hand"}) {
    builder.add_body({.name = name,
                      .mass = 2,
                      .com = {0.25, 0, 0},
                      .inertia = Sym3<double>::diagonal(0.01, 0.05, 0.05)});
    builder.add_joint(
        {.name = name,
         .parent = parent,
         .child = name,
         .type = name[0] == 'h' ? JointType::prismatic : JointType::revolute,
         .on_parent = {.p = {parent == world_name ? 0.0 : 0.5, 0, 0}},
         .axis = {0, -1, 0.3}});
    MotorSpec motor{.name = name, .joint = name, .kind = MotorKind::position};
    motor.kp = 60;
    motor.kd = 5;
    motor.compensates_gravity = compensates;
    builder.add_motor(motor);
    parent = name;
  }
  return builder;
}

TEST(GravityTorque, LetsSoftMotorsHoldAnArmWhereItIs) {
  for (const bool compensates : {false, true}) {
    const Model model = built(arm(compensates));
    EXPECT_EQ(model.compensates_gravity, compensates);
    for (const StepperInfo& info : steppers()) {
      for (const Method method :
           info.fixed_step && !info.method
               ? std::vector<Method>{Method::complementarity, Method::semi_implicit_euler,
                                     Method::runge_kutta_4,
                                     Method::linearly_implicit_euler}
               : std::vector<Method>{Method::complementarity}) {
        State state = make_state(model);
        const auto stepper = info.make(model, {.step = 1e-3, .method = method});
        const RunSummary summary = run(*stepper, state, {.end = 0.5});
        ASSERT_EQ(summary.status, StepStatus::ok) << info.name;
        double sag = 0;
        for (const double q : state.q) sag = std::max(sag, std::abs(q));
        if (compensates) {
          EXPECT_LT(sag, 1e-9) << info.name;
        } else {
          EXPECT_GT(sag, 0.1) << info.name;
        }
      }
    }
  }
}

/// On the move it works as any other force does: the ledger balances.
TEST(GravityTorque, OfMotorsIsInTheLedger) {
  ModelBuilder builder = arm(true);
  const Model model = built(builder);
  State state = make_state(model);
  state.v = {2, -3, 0.5};
  const auto info = find_stepper("adaptive");
  const auto stepper = (*info)->make(model, {.rtol = 1e-9});
  const RunSummary summary = run(*stepper, state, {.end = 0.5});
  ASSERT_EQ(summary.status, StepStatus::ok);
  EXPECT_LT(summary.audit.relative(), 1e-7);
}

TEST(GravityTorque, IsNotCompensatedTwice) {
  ModelBuilder builder = arm(true);
  MotorSpec motor{.name = "again", .joint = "hand", .kind = MotorKind::position};
  motor.kd = 1;
  motor.compensates_gravity = true;
  builder.add_motor(motor);
  EXPECT_NE(builder.build().error().find("the gravity on \"hand\" is compensated twice"),
            std::string::npos);
  ModelBuilder other = arm(false);
  motor.kind = MotorKind::torque;
  other.add_motor(motor);
  EXPECT_NE(other.build().error().find("only position motors on joints compensate"),
            std::string::npos);
}

}  // namespace
}  // namespace bristle
