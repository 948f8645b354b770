#include "bristle/adaptive/link_paths.hpp"

#include <gtest/gtest.h>

#include "bristle/dynamics/kinematics.hpp"
#include "bristle/model/positions.hpp"
#include "tests/geometry/common.hpp"
#include "tests/validation/scenes.hpp"

// Links along the dense output of a step: where they are, and bounds on how they move.

namespace bristle {
namespace {

/// A chain with a joint of every type, off the axes of their bodies.
Model chain_of_all_joints() {
  ModelBuilder builder;
  std::string parent{world_name};
  const JointType types[] = {JointType::free,      JointType::revolute,
                             JointType::universal, JointType::prismatic,
                             JointType::spherical, JointType::planar};
  int i = 0;
  for (const JointType type : types) {
    const std::string name = validation::numbered("body", i++);
    builder.add_body({.name = name,
                      .mass = 1,
                      .com = {0.1, 0.05, -0.02},
                      .inertia = Sym3<double>::diagonal(0.02, 0.03, 0.025)});
    JointSpec joint;
    joint.name = name + " joint";
    joint.parent = parent;
    joint.child = name;
    joint.type = type;
    joint.on_parent = {validation::about_x(0.4 * i), {0.2, -0.1, 0.05 * i}};
    joint.on_child = {validation::about_y(0.3 * i), {-0.05, 0.02, 0}};
    builder.add_joint(joint);
    parent = name;
  }
  return validation::built(builder);
}

struct Stepped {
  Model model = chain_of_all_joints();
  MotionOde ode{model};
  ErrorScales scales{ode};
  SwitchingStep step{ode, scales, 1e-3};
  State state = make_state(model);
  LinkPaths paths{model.tree, step};

  explicit Stepped(unsigned seed, double length) {
    test::Random random(seed);
    for (double& v : state.v) v = random.uniform(-3, 3);
    EXPECT_EQ(ode.settle(state, length).status, StepStatus::ok);
    ode.begin(state);
    scales.measure(state);
    step.begin(false);
    step.find_rate();
    step.attempt(length);
    step.complete();
    paths.begin();
  }
};

TEST(LinkPaths, AreTheKinematicsOfTheDenseOutput) {
  Stepped s(1, 0.2);
  Workspace<double> ws(s.model.tree);
  std::vector<double> y, q;
  const std::size_t nq = s.ode.position_count();
  const auto poses = [&](double place) {
    s.step.interpolate(place, y);
    q.assign(y.begin(), y.begin() + static_cast<std::ptrdiff_t>(nq));
    normalise<double>(s.model.tree, q);
    kinematics<double>(s.model.tree, q, std::span<const double>(y).subspan(nq), ws);
  };
  for (const double place : {0.0, 0.13, 0.5, 0.92, 1.0}) {
    for (int link = 1; link < s.model.tree.link_count(); ++link) {
      const auto i = static_cast<std::size_t>(link);
      const ShapeMotion m = s.paths.motion(link, world_link, place);
      poses(place);
      EXPECT_LT(norm(m.pose.p - ws.poses[i].p), 1e-12);
      EXPECT_LT(norm(m.pose.R.x - ws.poses[i].R.x), 1e-12);
      // Velocities are the slopes of the poses.
      constexpr double h = 1e-5;
      const ShapeMotion before = s.paths.motion(link, world_link, place - h);
      const ShapeMotion after = s.paths.motion(link, world_link, place + h);
      const double scale = 1 + norm(m.velocity.linear) + norm(m.velocity.angular);
      EXPECT_LT(norm((0.5 / h) * (after.pose.p - before.pose.p) - m.velocity.linear),
                1e-6 * scale);
      EXPECT_LT(norm((0.5 / h) * (after.pose.R.y - before.pose.R.y) -
                     cross(m.velocity.angular, m.pose.R.y)),
                1e-6 * scale);
    }
  }
  // In the frame of a link on the way: the same relative pose.
  poses(0.7);
  const Transform<double> relative = inverse(ws.poses[2]) * ws.poses[5];
  EXPECT_LT(norm(s.paths.motion(5, 2, 0.7).pose.p - relative.p), 1e-12);
}

TEST(LinkPaths, MoveNoFasterThanTheirBounds) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    Stepped s(seed, 0.05 * seed);
    for (const auto& [low, high] : {std::pair{0.0, 1.0}, {0.2, 0.5}, {0.9, 1.0}}) {
      for (int link = 1; link < s.model.tree.link_count(); ++link) {
        const LinkBounds bounds = s.paths.bounds(link, world_link, low, high);
        constexpr int parts = 100;
        ShapeMotion last = s.paths.motion(link, world_link, low);
        for (int k = 1; k <= parts; ++k) {
          const double dx = (high - low) / parts;
          const ShapeMotion now = s.paths.motion(link, world_link, low + k * dx);
          const double slack = 1 + 1e-9;
          EXPECT_LE(norm(now.velocity.linear), slack * bounds.speed);
          EXPECT_LE(norm(now.velocity.angular), slack * bounds.turning);
          EXPECT_LE(norm(now.velocity.linear - last.velocity.linear),
                    slack * dx * bounds.acceleration);
          EXPECT_LE(norm(now.velocity.angular - last.velocity.angular),
                    slack * dx * bounds.turning_change);
          last = now;
        }
      }
    }
  }
}

TEST(LinkPaths, KnowThatASteadySpinDoesNotChange) {
  // Turning about a principal axis: two radians in a step, and ω stays what it is.
  ModelBuilder builder;
  builder.gravity({0, 0, 0});
  validation::add_free(builder, "top", 1, Sym3<double>::diagonal(0.01, 0.01, 0.02),
                       Sphere{0.1});
  const Model model = validation::built(builder);
  MotionOde ode(model);
  ErrorScales scales(ode);
  SwitchingStep step(ode, scales, 1e-6);
  State state = make_state(model);
  state.v[2] = 1000;
  ASSERT_EQ(ode.settle(state, 1e-3).status, StepStatus::ok);
  ode.begin(state);
  scales.measure(state);
  step.begin(false);
  step.find_rate();
  step.attempt(2e-3);
  step.complete();
  LinkPaths paths(model.tree, step);
  paths.begin();
  const LinkBounds bounds = paths.bounds(1, world_link, 0.3, 0.5);
  EXPECT_NEAR(bounds.turning, 2, 0.02);
  // By |Q′| and |Q″| alone it would be 1.5 ω² = 6.
  EXPECT_LT(bounds.turning_change, 0.1 * bounds.turning);
}

}  // namespace
}  // namespace bristle
