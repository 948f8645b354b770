// What the engine refuses about a scene is said at the line that it is about.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "scene/scene.hpp"

namespace bristle::scene {
namespace {

const std::string floor_and_ball = R"(
[[bodies]]
name = "floor"
fixed = true
shapes = [{type = "plane"}]
[[bodies]]
name = "ball"
position_m = [0, 0, 1]
shapes = [{type = "sphere", radius_m = 0.1}]
)";

const std::string two_balls = R"(
[[bodies]]
name = "a"
shapes = [{type = "sphere", radius_m = 0.1}]
[[bodies]]
name = "b"
position_m = [1, 0, 0]
shapes = [{type = "sphere", radius_m = 0.1}]
)";

const std::string pendulum = R"(
[[bodies]]
name = "bob"
shapes = [{type = "sphere", radius_m = 0.1}]
[[joints]]
name = "pivot"
child = "bob"
)";

const std::string block = R"(
[[bodies]]
name = "block"
mass_kg = 1
inertia_kg_m2 = [1, 1, 1]
)";

// A body, its shape and its joint have one name.
const std::string namesakes = R"(
[[bodies]]
name = "it"
[[bodies.shapes]]
name = "it"
type = "sphere"
radius_m = 0.1
[[bodies]]
name = "other"
position_m = [1, 0, 0]
shapes = [{type = "sphere", radius_m = 0.1}]
[[joints]]
name = "it"
child = "it"
)";

/// A scene that building the model finds wrong, in the line marked with "# here".
struct Case {
  std::string name, scene, words;
};

const Case cases[] = {
    // Bodies and joints.
    {"body without a name", floor_and_ball + R"(
[[bodies]]
mass_kg = 1
name = ""  # here
)",
     R"(a body has no name)"},
    {"bodies in a circle", R"(
[[bodies]]
mass_kg = 1
name = "a"  # here
[[bodies]]
mass_kg = 1
name = "b"
[[joints]]
name = "p"
type = "spherical"
parent = "b"
child = "a"
[[joints]]
name = "q"
type = "spherical"
parent = "a"
child = "b"
)",
     R"(body "a" does not hang from the world: its parents form a cycle)"},
    {"free point mass", floor_and_ball + R"(
[[bodies]]
mass_kg = 1
name = "dot"  # here
)",
     R"(joint "dot" (free): nothing resists its motion)"},
    {"point mass on a hinge", R"(
[[bodies]]
name = "dot"
mass_kg = 1
[[joints]]
child = "dot"
type = "revolute"
name = "hinge"  # here
)",
     R"(joint "hinge" (revolute): nothing resists its motion)"},
    {"joint without a name", two_balls + R"(
[[joints]]
type = "spherical"
child = "a"
name = ""  # here
)",
     R"(a joint has no name)"},
    {"joint without a child", two_balls + R"(
[[joints]]
name = "j"
type = "spherical"
child = ""  # here
)",
     R"(joint "j": unknown child body "")"},
    {"joint called like a free body", two_balls + R"(
[[joints]]
type = "spherical"
child = "b"
name = "a"  # here
)",
     R"(two joints are called "a")"},
    {"spring on a spherical joint", pendulum + R"(type = "spherical"
stiffness_Nm_rad = 1  # here
)",
     R"(joint "pivot": a spherical joint takes no spring)"},
    {"lower limit of a spherical joint", pendulum + R"(type = "spherical"
lower_deg = -10  # here
upper_deg = 10
)",
     R"(joint "pivot": a spherical joint takes no position limits)"},
    {"upper limit of a spherical joint", pendulum + R"(type = "spherical"
upper_deg = 10  # here
)",
     R"(joint "pivot": a spherical joint takes no position limits)"},
    {"armature on a free joint", pendulum + R"(type = "free"
armature_kg_m2 = 1  # here
)",
     R"(joint "pivot": a free joint takes no armature)"},
    // Shapes and contacts.
    {"shape without a name", floor_and_ball + R"(
[[bodies]]
name = "box"
[[bodies.shapes]]
type = "sphere"
radius_m = 1
name = ""  # here
)",
     R"(a shape on body "box" has no name)"},
    {"shapes that cannot touch", block + R"(
shapes = [{type = "cavity", radius_m = 1}]
[[bodies]]
name = "floor"
fixed = true
[[bodies.shapes]]
name = "ground"
type = "plane"  # here
)",
     R"(shapes "ground" and "block" may touch by the rules given, but there is no contact)"},
    {"rule for a body without shapes", block + R"(
[[contacts]]
[[contacts]]
a = "*"
b = "block"  # here
)",
     R"(contact of "*" with "block": no shape)"},
    {"group with a body without shapes", block + R"(
[[contacts]]
[[contacts]]  # here
group = ["*", "block"]
)",
     R"(contact of "*" with "block": no shape)"},
    // Loops.
    {"loop without a name", floor_and_ball + R"(
[[loops]]
type = "point"
b = "ball"
name = ""  # here
)",
     R"(a loop between "world" and "ball" has no name)"},
    {"loop in one rigid body", two_balls + R"(
[[joints]]
name = "glue"
type = "fixed"
parent = "a"
child = "b"
position_m = [1, 0, 0]
[[loops]]
name = "tie"
type = "weld"
a = "a"
b = "b"  # here
)",
     R"(loop "tie": "a" and "b" are parts of one rigid body already)"},
    // Motors and loads.
    {"motor without a name", pendulum + R"(type = "revolute"
[[motors]]
joint = "pivot"
name = ""  # here
)",
     R"(a motor of joint "pivot" has no name)"},
    {"motor on no axis", pendulum + R"(type = "spherical"
[[motors]]
name = "m"
joint = "pivot"
axis = 3  # here
)",
     R"(motor "m": axis = 3 must lie in [0, 2])"},
    {"position of a spherical joint", pendulum + R"(type = "spherical"
[[motors]]
name = "m"
joint = "pivot"
kp_Nm_rad = 1
kind = "position"  # here
)",
     R"(motor "m": a spherical joint has no angles)"},
    {"prescribed motion of a planar joint", pendulum + R"(type = "planar"
[[motors]]
name = "m"
joint = "pivot"
kind = "prescribed"  # here
)",
     R"(motor "m": motion is prescribed to revolute and prismatic joints only)"},
    {"motion prescribed twice", pendulum + R"(type = "revolute"
[[motors]]
name = "m"
joint = "pivot"
kind = "prescribed"
[[motors]]
name = "n"
joint = "pivot"
kind = "prescribed"  # here
)",
     R"(motor "n": the motion of "pivot" is prescribed twice)"},
    {"motor of a fixed joint", pendulum + R"(type = "fixed"
[[motors]]
name = "m"
joint = "pivot"  # here
)",
     R"(motor "m": there is no moving joint "pivot")"},
    {"load on a fixed body", floor_and_ball + R"(
[[loads]]
name = "push"
force_N = [1, 0, 0]
body = "floor"  # here
)",
     R"(load "push")"},
    // Names.
    {"quotes in a name", pendulum + R"(type = "spherical"
[[motors]]
name = "m"
joint = "pivot"
[[motors]]
name = 'the "m": 3'
joint = "pivot"
axis = 3  # here
)",
     R"(motor "the "m": 3": axis = 3)"},
    {"a quote begins a name", pendulum + R"(type = "spherical"
[[motors]]
name = '"pivot" motor "'
joint = "pivot"
axis = 3  # here
)",
     R"(motor ""pivot" motor "": axis = 3)"},
    {"joint among namesakes", namesakes + R"(type = "spherical"
stiffness_Nm_rad = 1  # here
)",
     R"(joint "it": a spherical joint takes no spring)"},
    {"loop among namesakes", namesakes + R"(type = "fixed"
parent = "other"
[[loops]]
name = "it"
type = "point"
a = "it"
b = "other"  # here
)",
     R"(loop "it": "it" and "other" are parts of one rigid body already)"},
    {"motor among namesakes", namesakes + R"(type = "spherical"
[[loads]]
name = "it"
body = "it"
[[motors]]
name = "it"
joint = "it"
axis = 5  # here
)",
     R"(motor "it": axis = 5)"},
};

TEST(ErrorPlaces, AreTheLinesThatErrorsOfTheModelAreAbout) {
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const std::size_t mark = c.scene.find("# here");
    ASSERT_NE(mark, std::string::npos);
    const auto marked = c.scene.begin() + static_cast<std::ptrdiff_t>(mark);
    const auto line = 1 + std::count(c.scene.begin(), marked, '\n');
    Problems problems;
    EXPECT_FALSE(read_scene_text(c.scene, "bad.toml", {}, problems));
    ASSERT_EQ(problems.errors().size(), 1u) << problems.text();
    const Problem& problem = problems.errors().front();
    EXPECT_NE(problem.message.find(c.words), std::string::npos) << problem.message;
    EXPECT_EQ(problem.at.file, "bad.toml");
    EXPECT_EQ(problem.at.line, line) << problem.text();
  }
}

// Parts of a robot's file stand where the scene names the file.
TEST(ErrorPlaces, OfARobotsPartsAreItsTable) {
  const std::string file = BRISTLE_ROBOTS "/chain.urdf";
  const std::string robot = "[[robots]]\nfile = \"" + file + "\"\n";
  Problems problems;
  const auto scene = read_scene_text("\n\n" + robot, "arm.toml", {}, problems);
  ASSERT_TRUE(scene) << problems.text();
  const auto& joints = scene->model.tree.joints();
  const auto moving =
      std::find_if(joints.begin(), joints.end(), [](const Joint& j) { return j.v >= 0; });
  ASSERT_NE(moving, joints.end());
  // The child of that joint hangs from another one as well.
  const auto& bodies = scene->model.tree.bodies();
  const auto child = std::find_if(bodies.begin(), bodies.end(), [&](const Body& body) {
    return body.link == moving->link;
  });
  ASSERT_NE(child, bodies.end());
  const std::string twice = robot +
                            "[[joints]]\nname = \"j\"\ntype = \"free\"\nchild = \"" +
                            child->name + "\"\n";
  EXPECT_FALSE(read_scene_text(twice, "arm.toml", {}, problems));
  ASSERT_EQ(problems.errors().size(), 1u) << problems.text();
  EXPECT_EQ(problems.errors().front().at.line, 6) << problems.text();
  // A joint of the robot's own name.
  Problems again;
  const std::string named =
      "\n" + robot +
      "[[bodies]]\nname = \"x\"\nmass_kg = 1\ninertia_kg_m2 = [1, 1, 1]\n" +
      "[[joints]]\ntype = \"free\"\nchild = \"x\"\nname = \"" + moving->name + "\"\n";
  EXPECT_FALSE(read_scene_text(named, "arm.toml", {}, again));
  ASSERT_EQ(again.errors().size(), 1u) << again.text();
  EXPECT_EQ(again.errors().front().at.line, 11) << again.text();
  EXPECT_NE(again.errors().front().message.find("already, in line 2"), std::string::npos)
      << again.text();
}

}  // namespace
}  // namespace bristle::scene
