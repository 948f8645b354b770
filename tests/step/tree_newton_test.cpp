#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "bristle/step/fixed_step.hpp"
#include "tests/validation/scenes.hpp"

// Steps whose contacts are all with the world are solved on the velocities of the trees.
// They are those that the solvers of rows find.

namespace bristle {
namespace {

using validation::built;
using validation::numbered;

FixedStepOptions impulses(double step, std::string_view solver) {
  return {.method = Method::complementarity,
          .step = step,
          .complementarity = {.solver = solver, .tolerance = 1e-12}};
}

/// How the knees are held, besides by a spring.
enum class Knee { free, stops, rubs, weak_motor };

/// A trunk on legs of two links, with motors, on spherical feet.
Model walker(std::mt19937& random, const ContactSpec& contact, Knee knee = Knee::free) {
  std::uniform_real_distribution<double> unit(-1, 1);
  ModelBuilder builder;
  builder.add_shape({.name = "ground", .shape = Plane{}});
  builder.add_body(
      {.name = "trunk", .mass = 5, .inertia = Sym3<double>::diagonal(0.03, 0.1, 0.1)});
  builder.add_joint({.name = "float", .child = "trunk", .type = JointType::free});
  const double places[][2] = {{0.2, 0.1}, {-0.2, 0.12}, {0.02, -0.15}};
  for (int leg = 0; leg < 3; ++leg) {
    const auto& place = places[leg];
    const std::string thigh = numbered("thigh", leg), shank = numbered("shank", leg);
    for (const std::string& name : {thigh, shank}) {
      builder.add_body({.name = name,
                        .mass = 0.5,
                        .com = {0.01 * unit(random), 0.01, -0.1},
                        .inertia = Sym3<double>::diagonal(3e-3, 3e-3, 1e-3)});
    }
    builder.add_joint({.name = numbered("hip", leg),
                       .parent = "trunk",
                       .child = thigh,
                       .type = JointType::universal,
                       .on_parent = {.p = {place[0], place[1], 0}}});
    JointSpec joint{.name = numbered("knee", leg),
                    .parent = thigh,
                    .child = shank,
                    .type = JointType::revolute,
                    .on_parent = {.p = {0, 0, -0.2}},
                    .axis = {0, 1, 0},
                    .damping = 2,
                    .stiffness = 200};
    if (knee == Knee::stops) {
      joint.lower = -2e-3;
      joint.upper = 3e-3;
    }
    builder.add_joint(joint);
    if (knee == Knee::rubs) {
      // A strength that does not depend on slip: the step has one solution.
      builder.set_friction(
          {.joint = joint.name,
           .friction = choose<SpringSlider>({.mu = 1, .stiffness = 1e3, .damping = 1}),
           .load = 0.3});
    }
    if (knee == Knee::weak_motor) {
      builder.add_motor({.name = numbered("motor", leg),
                         .joint = numbered("knee", leg),
                         .kind = MotorKind::position,
                         .kp = 500,
                         .kd = 2,
                         .target = {.offset = 0.05},
                         .least_force = -0.4,
                         .largest_force = 0.3});
    }
    builder.add_shape({.name = numbered("foot", leg),
                       .body = shank,
                       .shape = Sphere{0.02},
                       .pose = {.p = {0, 0, -0.2}}});
    builder.add_contact({.a = "ground",
                         .b = numbered("foot", leg),
                         .normal = contact.normal,
                         .friction = contact.friction});
  }
  return built(builder);
}

LawChoice friction_number(int kind, double mu) {
  switch (kind % 4) {
    case 0:
      return choose<SpringSlider>({.mu = mu, .stiffness = 1e4, .damping = 30});
    case 1:
      return choose<Coulomb>({.mu_static = mu,
                              .mu_coulomb = mu,
                              .viscous = 0,
                              .stribeck_speed = 1,
                              .regularisation_speed = 0.02,
                              .regularisation = 0});
    case 2:
      return choose<Dahl>({.mu = mu, .stiffness = 1e4, .bound = 1});
    default:
      return choose<Liang>({.mu_static = 1.2 * mu,
                            .mu_coulomb = mu,
                            .stiffness = 1e4,
                            .damping = 30,
                            .stribeck_speed = 1e-2});
  }
}

/// Largest difference of the velocities after a step of each, of the largest velocity.
double apart(FixedStep& own, FixedStep& rows, State& state) {
  State other = state;
  EXPECT_EQ(own.step(state), StepStatus::ok);
  EXPECT_EQ(rows.step(other), StepStatus::ok);
  double most = 0, off = 0;
  for (std::size_t i = 0; i < state.v.size(); ++i) {
    most = std::max(most, std::abs(other.v[i]));
    off = std::max(off, std::abs(other.v[i] - state.v[i]));
  }
  return off / most;
}

/// Landing, standing and sliding, with the laws linearised until they agree with the
/// impulses to 1e-12 of the scale: two ways to the same solution.
TEST(TreeNewton, FindsWhatTheSolversOfRowsFind) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> unit(-1, 1);
  for (int scene = 0; scene < 24; ++scene) {
    ContactSpec contact;
    contact.normal = choose<HuntCrossley>(
        {.stiffness = std::pow(10, 4 + scene % 5), .exponent = 1.5, .dissipation = 0.5});
    contact.friction = friction_number(scene, 0.5 + 0.4 * unit(random));
    const Model model = walker(random, contact);
    State state = make_state(model);
    state.q[2] = 0.425;
    for (double& v : state.v) v = 0.3 * unit(random);
    FixedStep own(model, impulses(1e-3, "velocity-newton"));
    FixedStep rows(model, impulses(1e-3, "newton"));
    for (int step = 0; step < 100; ++step) {
      const double off = apart(own, rows, state);
      if (own.counts().solves.unconverged + rows.counts().solves.unconverged > 0) break;
      ASSERT_LT(off, 1e-8) << "scene " << scene << ", step " << step;
    }
  }
}

/// The same with rows of joints and motors: limits that close, friction that sticks and
/// slides, motors at the limits of their force.
TEST(TreeNewton, TakesLimitsAndFrictionOfJointsAndWeakMotors) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> unit(-1, 1);
  for (const Knee knee : {Knee::stops, Knee::rubs, Knee::weak_motor}) {
    for (int scene = 0; scene < 8; ++scene) {
      ContactSpec contact;
      contact.normal =
          choose<HuntCrossley>({.stiffness = 1e6, .exponent = 1.5, .dissipation = 0.5});
      contact.friction = friction_number(scene, 0.6);
      const Model model = walker(random, contact, knee);
      State state = make_state(model);
      state.q[2] = 0.425;
      for (double& v : state.v) v = 0.3 * unit(random);
      FixedStep own(model, impulses(1e-3, "velocity-newton"));
      FixedStep rows(model, impulses(1e-3, "newton"));
      for (int step = 0; step < 150; ++step) {
        const double off = apart(own, rows, state);
        if (own.counts().solves.unconverged + rows.counts().solves.unconverged > 0) break;
        ASSERT_LT(off, 1e-8) << "knee " << static_cast<int>(knee) << ", scene " << scene
                             << ", step " << step;
      }
    }
  }
}

}  // namespace
}  // namespace bristle
