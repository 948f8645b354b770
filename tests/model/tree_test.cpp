#include "bristle/model/tree.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "bristle/model/positions.hpp"
#include "tests/dynamics/random_tree.hpp"

namespace bristle {
namespace {

BodySpec brick(std::string name) {
  return {.name = std::move(name),
          .mass = 1,
          .com = {0.1, 0, 0},
          .inertia = Sym3<double>::diagonal(0.01, 0.02, 0.02)};
}

JointSpec hinge(std::string name, std::string parent, std::string child) {
  return {.name = std::move(name),
          .parent = std::move(parent),
          .child = std::move(child),
          .type = JointType::revolute};
}

void expect_refused(const TreeBuilder& builder, std::string_view words) {
  const Result<Tree> tree = builder.build();
  ASSERT_FALSE(tree) << "expected: " << words;
  EXPECT_NE(tree.error().find(words), std::string::npos) << tree.error();
}

TEST(Tree, AnEmptyOneIsTheWorld) {
  const Result<Tree> tree = TreeBuilder().build();
  ASSERT_TRUE(tree);
  EXPECT_EQ(tree->link_count(), 1);
  EXPECT_EQ(tree->velocity_count(), 0);
}

TEST(Tree, PositionsFollowTheOrderOfJointsAndLinksTheDistanceFromTheWorld) {
  TreeBuilder builder;
  for (const char* name : {"a", "b", "c", "d"}) builder.add_body(brick(name));
  builder.add_joint(hinge("to c", "b", "c"))
      .add_joint({.name = "to a", .child = "a", .type = JointType::free})
      .add_joint(hinge("to b", "a", "b"))
      .add_joint(hinge("to d", "a", "d"));
  const Result<Tree> tree = builder.build();
  ASSERT_TRUE(tree) << tree.error();
  EXPECT_EQ(tree->position_count(), 1 + 7 + 1 + 1);
  EXPECT_EQ(tree->velocity_count(), 1 + 6 + 1 + 1);
  EXPECT_EQ(tree->find_joint("to c")->q, 0);
  EXPECT_EQ(tree->find_joint("to a")->q, 1);
  EXPECT_EQ(tree->find_joint("to a")->v, 1);
  EXPECT_EQ(tree->find_joint("to d")->q, 9);
  EXPECT_EQ(tree->find_body("a")->link, 1);
  EXPECT_EQ(tree->find_body("c")->link, 4);
  for (int i = 1; i < tree->link_count(); ++i) EXPECT_LT(tree->link(i).parent, i);
  EXPECT_EQ(tree->find_body("nobody"), nullptr);
  EXPECT_EQ(tree->find_joint("none"), nullptr);
}

TEST(Tree, FixedJointsWeldButKeepTheirNames) {
  TreeBuilder builder;
  builder.add_body(brick("arm")).add_body(brick("tool")).add_body({.name = "tip"});
  builder.add_joint(hinge("shoulder", "world", "arm"));
  JointSpec weld{.name = "flange", .parent = "arm", .child = "tool"};
  weld.on_parent.p = {1, 0, 0};
  builder.add_joint(weld);
  JointSpec tip{.name = "tip joint", .parent = "tool", .child = "tip"};
  tip.on_parent.p = {0, 0, 0.5};
  builder.add_joint(tip);
  const Result<Tree> tree = builder.build();
  ASSERT_TRUE(tree) << tree.error();
  EXPECT_EQ(tree->link_count(), 2);
  EXPECT_EQ(tree->find_body("tip")->link, 1);
  EXPECT_EQ(tree->find_joint("flange")->link, 1);
  EXPECT_EQ(tree->find_joint("flange")->q, -1);
  EXPECT_NEAR(tree->find_body("tip")->in_link.p.x, 1, 1e-15);
  EXPECT_NEAR(tree->find_body("tip")->in_link.p.z, 0.5, 1e-15);
  // Two bricks, one of them a metre further out.
  const Inertia<double>& i = tree->constants()[1].inertia;
  EXPECT_NEAR(i.mass, 2, 1e-15);
  EXPECT_NEAR(i.moment.x, 0.1 + 1.1, 1e-15);
  EXPECT_NEAR(i.rotational.zz, 0.02 + 0.01 + 0.02 + 1.21, 1e-14);
}

TEST(Tree, WhatIsWeldedToTheWorldDoesNotMove) {
  TreeBuilder builder;
  builder.add_body({.name = "table"}).add_body(brick("arm"));
  JointSpec legs{.name = "legs", .child = "table"};
  legs.on_parent.p = {0, 0, 0.8};
  builder.add_joint(legs).add_joint(hinge("shoulder", "table", "arm"));
  const Result<Tree> tree = builder.build();
  ASSERT_TRUE(tree) << tree.error();
  EXPECT_EQ(tree->find_body("table")->link, world_link);
  EXPECT_NEAR(tree->constants()[1].joint.p.z, 0.8, 1e-15);
}

TEST(Tree, RefusesNamesThatDoNotWork) {
  expect_refused(TreeBuilder().add_body(brick("a")).add_body(brick("a")),
                 "two bodies are called \"a\"");
  expect_refused(TreeBuilder().add_body(brick("")), "a body has no name");
  expect_refused(TreeBuilder().add_body(brick("world")), "may be called \"world\"");
  expect_refused(TreeBuilder()
                     .add_body(brick("a"))
                     .add_body(brick("b"))
                     .add_joint(hinge("j", "world", "a"))
                     .add_joint(hinge("j", "world", "b")),
                 "two joints are called \"j\"");
  expect_refused(TreeBuilder().add_body(brick("a")).add_joint(hinge("j", "nowhere", "a")),
                 "joint \"j\": unknown parent body \"nowhere\"");
  expect_refused(TreeBuilder().add_joint(hinge("j", "world", "nothing")),
                 "unknown child body \"nothing\"");
  expect_refused(TreeBuilder().add_body(brick("a")), "body \"a\" hangs from no joint");
  expect_refused(TreeBuilder().add_body(brick("a")).add_joint(hinge("j", "a", "world")),
                 "the world cannot be a child");
}

TEST(Tree, RefusesLoops) {
  expect_refused(TreeBuilder()
                     .add_body(brick("a"))
                     .add_body(brick("b"))
                     .add_joint(hinge("j", "b", "a"))
                     .add_joint(hinge("k", "a", "b")),
                 "form a cycle");
  expect_refused(TreeBuilder().add_body(brick("a")).add_joint(hinge("j", "a", "a")),
                 "form a cycle");
  expect_refused(TreeBuilder()
                     .add_body(brick("a"))
                     .add_joint(hinge("j", "world", "a"))
                     .add_joint(hinge("k", "world", "a")),
                 "already hangs from joint \"j\"");
}

void expect_body_refused(const BodySpec& body, std::string_view words) {
  expect_refused(TreeBuilder().add_body(body).add_joint(hinge("j", "world", body.name)),
                 words);
}

TEST(Tree, RefusesBodiesThatCannotExist) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  BodySpec body = brick("b");
  body.mass = -2;
  expect_body_refused(body, "body \"b\": mass = -2 must be > 0");
  body.mass = 0;
  expect_body_refused(body, "mass = 0 must be > 0");
  body.mass = nan;
  expect_body_refused(body, "mass is not a number");
  body = brick("b");
  body.com.y = nan;
  expect_body_refused(body, "com is not a number");
  body = brick("b");
  body.inertia.xy = nan;
  expect_body_refused(body, "inertia is not a number");
  body = brick("b");
  body.inertia = Sym3<double>::diagonal(0.01, 0.01, 0.03);
  expect_body_refused(body, "exceeds the sum of the other two");
  body.inertia = Sym3<double>::diagonal(-0.01, 0.01, 0.01);
  expect_body_refused(body, "a principal moment is negative");
  body.inertia = {0.01, 0.01, 0.01, 0.02, 0, 0};
  expect_body_refused(body, "no body has this inertia");
}

TEST(Tree, AcceptsFlatPlatesRodsAndPointMasses) {
  for (const Sym3<double>& inertia :
       {Sym3<double>::diagonal(0.01, 0.02, 0.03), Sym3<double>::diagonal(0, 0.02, 0.02),
        Sym3<double>::zero()}) {
    BodySpec body = brick("b");
    body.inertia = inertia;
    const Result<Tree> tree =
        TreeBuilder().add_body(body).add_joint(hinge("j", "world", "b")).build();
    EXPECT_TRUE(tree) << tree.error();
  }
}

TEST(Tree, AcceptsBodiesWithoutMassThatCarryOthers) {
  // A cross between two hinges, as several joints of one body make it.
  TreeBuilder builder;
  builder.add_body({.name = "cross"}).add_body(brick("b"));
  JointSpec second = hinge("second", "cross", "b");
  second.axis = {1, 0, 0};
  builder.add_joint(hinge("first", "world", "cross")).add_joint(second);
  const Result<Tree> tree = builder.build();
  EXPECT_TRUE(tree) << tree.error();
  // About one axis, nothing resists the first.
  expect_refused(TreeBuilder()
                     .add_body({.name = "cross"})
                     .add_body(brick("b"))
                     .add_joint(hinge("first", "world", "cross"))
                     .add_joint(hinge("second", "cross", "b")),
                 "joint \"first\" (revolute): nothing resists its motion");
}

TEST(Tree, RefusesMotionThatNothingDetermines) {
  // A point mass on the axis of its hinge.
  BodySpec bead{.name = "bead", .mass = 1};
  expect_body_refused(bead, "joint \"j\" (revolute): nothing resists its motion");
  // A rod along the axis.
  BodySpec rod{.name = "rod", .mass = 1, .inertia = Sym3<double>::diagonal(0.1, 0.1, 0)};
  expect_body_refused(rod, "nothing resists");
  // A point mass on a ball joint may spin about its own arm.
  bead.com = {0, 0, 1};
  const JointSpec ball{.name = "ball", .child = "bead", .type = JointType::spherical};
  expect_refused(TreeBuilder().add_body(bead).add_joint(ball), "joint \"ball\"");
  // A rotor's inertia is enough.
  bead.com = {0, 0, 0};
  JointSpec geared = hinge("j", "world", "bead");
  geared.armature = 0.01;
  EXPECT_TRUE(TreeBuilder().add_body(bead).add_joint(geared).build());
  // Two hinges about one axis, with all inertia outside the second.
  BodySpec inner{.name = "inner", .mass = 1};
  expect_refused(TreeBuilder()
                     .add_body(inner)
                     .add_body(brick("outer"))
                     .add_joint(hinge("first", "world", "inner"))
                     .add_joint(hinge("second", "inner", "outer")),
                 "joint \"first\"");
}

TEST(Tree, AcceptsWhatIsSingularOnlyWhereEverythingAligns) {
  // A bead whose arm lies along the first axis at q = 0 only.
  TreeBuilder builder;
  builder.add_body({.name = "ring", .mass = 1, .com = {0, 0, 0}});
  builder.add_body({.name = "bead", .mass = 1, .com = {0, 0, 1}});
  JointSpec first = hinge("first", "world", "ring");
  JointSpec second = hinge("second", "ring", "bead");
  second.axis = {1, 0, 0};
  const Result<Tree> tree = builder.add_joint(first).add_joint(second).build();
  EXPECT_TRUE(tree) << tree.error();
}

TEST(Tree, RefusesJointsThatMakeNoSense) {
  const auto refused = [](auto change, std::string_view words) {
    JointSpec joint = hinge("j", "world", "b");
    change(joint);
    expect_refused(TreeBuilder().add_body(brick("b")).add_joint(joint), words);
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  refused([](JointSpec& j) { j.axis = {0, 0, 0}; }, "axis has no length");
  refused([&](JointSpec& j) { j.axis.x = nan; }, "axis is not a number");
  refused([](JointSpec& j) { j.damping = -1; }, "damping = -1 must lie in [0, inf)");
  refused([&](JointSpec& j) { j.stiffness = nan; }, "stiffness = nan");
  refused([](JointSpec& j) { j.armature = -1; }, "armature");
  refused([](JointSpec& j) { j.friction = -1; }, "friction");
  refused([](JointSpec& j) { j.effort_limit = -1; }, "effort_limit");
  refused([](JointSpec& j) { j.lower = 1, j.upper = 0; }, "must not exceed upper");
  refused([](JointSpec& j) { j.on_parent.R.x = {2, 0, 0}; }, "not a rotation");
  refused([](JointSpec& j) { j.on_child.R.z = {0, 0, -1}; }, "not a rotation");
  refused([&](JointSpec& j) { j.on_child.p.z = nan; }, "frame on the child");
  refused([](JointSpec& j) { j.type = JointType::free, j.armature = 1; },
          "a free joint takes no armature");
  refused([](JointSpec& j) { j.type = JointType::spherical, j.stiffness = 1; },
          "a spherical joint takes no spring");
  refused([](JointSpec& j) { j.type = JointType::free, j.upper = 1; },
          "takes no position limits");
}

TEST(Positions, IntegrateAndDifferenceUndoEachOther) {
  for (unsigned seed = 1; seed < 20; ++seed) {
    const Tree tree = test::random_tree(seed, 10).tree;
    test::Dice dice(seed);
    const test::RandomState s = test::random_state(dice, tree);
    std::vector<double> q = s.q, v(s.v.size());
    integrate<double>(tree, q, s.v, 0.3);
    difference<double>(tree, s.q, q, v);
    for (std::size_t i = 0; i < v.size(); ++i) EXPECT_NEAR(v[i], 0.3 * s.v[i], 1e-14);
  }
}

TEST(Positions, RatesAreTheDerivativeOfIntegration) {
  using D = Dual<double, 1>;
  const Tree tree = test::random_tree(7, 12).tree;
  test::Dice dice(7);
  const test::RandomState s = test::random_state(dice, tree);
  std::vector<double> rates(s.q.size());
  position_rates<double>(tree, s.q, s.v, rates);
  std::vector<D> q(s.q.begin(), s.q.end()), v(s.v.begin(), s.v.end());
  integrate<D>(tree, q, v, D::variable(0, 0));
  for (std::size_t i = 0; i < rates.size(); ++i) {
    EXPECT_NEAR(q[i].by[0], rates[i], 1e-14);
  }
}

TEST(Positions, QuaternionsStayUnitAndCanBeMadeSo) {
  TreeBuilder builder;
  builder.add_body(brick("b"))
      .add_joint({.name = "j", .child = "b", .type = JointType::free});
  const Tree tree = *builder.build();
  std::vector<double> q = tree.neutral();
  const std::vector<double> v{1, 2, 3, 4, 5, 6};
  for (int i = 0; i < 1000; ++i) integrate<double>(tree, q, v, 0.01);
  EXPECT_NEAR(norm2(load_quaternion(q.data() + 3)), 1, 1e-15);
  EXPECT_NEAR(q[0], 40, 1e-10);
  for (std::size_t i = 3; i < 7; ++i) q[i] *= 3;
  normalise<double>(tree, q);
  EXPECT_NEAR(norm2(load_quaternion(q.data() + 3)), 1, 1e-15);
}

}  // namespace
}  // namespace bristle
