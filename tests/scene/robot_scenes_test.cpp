// A robot's file as a scene of its own: what it is, where it stands, what holds it.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "bristle/laws/choice.hpp"
#include "bristle/run.hpp"
#include "scene/robot_scene.hpp"
#include "scene/scene.hpp"

namespace bristle::scene {
namespace {

std::string file(const std::string& name) {
  return std::string(BRISTLE_ROBOTS) + "/" + name;
}

Scene good(const std::string& path, const std::vector<std::string>& settings = {}) {
  Problems problems;
  auto scene = read_scene(path, settings, problems);
  EXPECT_TRUE(scene) << problems.text();
  return scene ? *std::move(scene) : Scene{};
}

/// A robot's text in a file of the test's own.
std::string written(const std::string& name, const std::string& text) {
  const std::string path = testing::TempDir() + name;
  std::ofstream(path) << text;
  return path;
}

TEST(RobotScenes, FilesAreToldByTheirFirstElement) {
  EXPECT_EQ(robot_format("<robot name='a'/>"), RobotFormat::urdf);
  EXPECT_EQ(robot_format("\xef\xbb\xbf<?xml version='1.0'?>\n<!-- <robot> -->\n<mujoco>"),
            RobotFormat::mjcf);
  EXPECT_EQ(robot_format("<sdf/>"), RobotFormat::other);
  EXPECT_EQ(robot_format("[clock]\nkind = 'fixed'"), RobotFormat::none);
  EXPECT_EQ(robot_format("<!-- only a comment"), RobotFormat::none);
  EXPECT_EQ(robot_format(""), RobotFormat::none);
  Problems problems;
  EXPECT_FALSE(read_scene(written("world.sdf", "<sdf version='1'/>"), {}, problems));
  EXPECT_NE(problems.text().find("world.sdf:1: <sdf>: a robot's file begins with <robot> "
                                 "(URDF) or <mujoco> (MJCF)"),
            std::string::npos)
      << problems.text();
}

TEST(RobotScenes, AnMjcfFileBringsItsOptionsAndItsGround) {
  const Scene scene = good(file("joints.xml"));
  EXPECT_EQ(scene.clock.stepper->name, "fixed");
  EXPECT_EQ(scene.clock.options.step, 0.001);  // the file's
  EXPECT_EQ(scene.clock.duration, 10);
  EXPECT_EQ(scene.model.tree.gravity().z, -9);
  EXPECT_LT(scene.model.find_shape("floor.shape"), 0);  // it has a plane of its own
  const Scene walker = good(file("walker.xml"), {"clock.duration_s=2"});
  EXPECT_EQ(walker.clock.options.step, 0.002);
  EXPECT_EQ(walker.clock.duration, 2);
  Problems problems;
  EXPECT_FALSE(read_scene(file("walker.xml"), {"robots.0.key=\"run\""}, problems));
  EXPECT_NE(problems.text().find("must be a keyframe of the model: stand"),
            std::string::npos)
      << problems.text();
}

TEST(RobotScenes, TendonsThatStartBeyondTheirLimitsAreNamed) {
  // A string of 1 m between the body and the world, and a sum of 0.2 m.
  const auto starts = [](const std::string& string, const std::string& sum) {
    const Scene scene = good(written(
        "tied.xml",
        "<mujoco><worldbody><site name='w' pos='0 0 3'/><body name='b' pos='0 0 2'>"
        "<joint name='j' type='slide' axis='1 0 0'/><geom size='0.1'/><site name='s'/>"
        "</body></worldbody><tendon><spatial name='string' " +
            string + "><site site='w'/><site site='s'/></spatial><fixed name='sum' " +
            sum + "><joint joint='j' coef='2'/></fixed></tendon></mujoco>"));
    std::string said;
    for (const std::string& warning : scene.warnings) said += warning + "\n";
    return said;
  };
  const std::string both = starts("range='0 0.9'", "range='0.1 1'");
  for (const char* words : {"couplings start beyond their limits, which store ",
                            "\"string\" by 0.1 m above its upper limit",
                            "\"sum\" by 0.1 m or rad below its lower limit"}) {
    EXPECT_NE(both.find(words), std::string::npos) << both;
  }
  // Springs may be stretched.
  EXPECT_EQ(starts("range='0 2' stiffness='5' springlength='0.2 0.5'", "range='-1 1'"),
            "");
}

TEST(RobotScenes, ARunIsCalledByTheNameInTheFile) {
  const std::string base =
      "<mujoco model='small \"x\"'><worldbody><body><geom "
      "size='1'/></body></worldbody></mujoco>";
  EXPECT_EQ(good(written("named.xml", base)).title, "small \"x\"");
  EXPECT_EQ(good(file("quadruped.urdf")).title, "quadruped");
  const std::string nameless =
      "<mujoco><worldbody><body><geom size='1'/></body></worldbody></mujoco>";
  EXPECT_EQ(good(written("nameless.xml", nameless)).title, "nameless");
}

TEST(RobotScenes, AUrdfStandsOnAFloorWithItsJointsHeld) {
  const Scene scene = good(file("quadruped.urdf"));
  EXPECT_EQ(scene.model.motors.size(), 12u);
  EXPECT_EQ(scene.model.motors[0].largest_force, 33.5);
  const Joint* base = scene.model.tree.find_joint("trunk.base");
  ASSERT_NE(base, nullptr);
  ASSERT_EQ(base->type, JointType::free);
  State state = scene.start;
  const std::size_t z = static_cast<std::size_t>(base->q) + 2;
  const double before = state.q[z];
  const RunSummary summary =
      simulate(scene.model, state,
               SimulateOptions{.clock = {.method = Method::complementarity, .step = 1e-3},
                               .duration = 0.5});
  ASSERT_EQ(summary.status, StepStatus::ok);
  EXPECT_LT(summary.audit.relative(), 1e-6);
  // Its joints give way by torque over stiffness, its feet by less than a millimetre.
  EXPECT_NEAR(state.q[z], before, 2e-3);
}

TEST(RobotScenes, AnArmIsFixedAndLimpOnRequest) {
  const Scene arm = good(file("arm7.urdf"));
  EXPECT_EQ(arm.model.tree.find_joint("base.base")->type, JointType::fixed);
  EXPECT_EQ(arm.model.motors.size(), 7u);
  EXPECT_EQ(good(file("arm7.urdf"), {"robots.0.control=\"file\""}).model.motors.size(),
            0u);
  EXPECT_EQ(good(file("arm7.urdf"), {"robots.0.base=\"free\""})
                .model.tree.find_joint("base.base")
                ->type,
            JointType::free);
}

std::string three_balls(const std::string& options = {}) {
  const auto ball = [](const char* name, const char* at, const std::string& inside) {
    return std::string("<body name='") + name + "' pos='" + at +
           "'><joint axis='0 1 0'/><geom name='" + name + "_g' size='0.1'/>" + inside +
           "</body>";
  };
  // The third overlaps the first, and stands apart from the second.
  return "<mujoco>" + options + "<worldbody>" +
         ball("a", "0 0 0",
              ball("b", "0.5 0 0", ball("c", "-0.45 0 0.05", ball("d", "1 0 0", "")))) +
         "</worldbody></mujoco>";
}

TEST(RobotScenes, WhatOverlapsAtNeutralNeverTouches) {
  const Scene scene = good(written("balls.xml", three_balls()));
  ASSERT_EQ(scene.warnings.size(), 1u);
  EXPECT_NE(scene.warnings[0].find("never touch: \"a\" and \"c\""), std::string::npos)
      << scene.warnings[0];
  // a–d and b–d are left; neighbours never touch.
  EXPECT_EQ(scene.model.pairs.size(), 2u);
  EXPECT_EQ(good(written("balls.xml", three_balls()), {"robots.0.self_collision=false"})
                .model.pairs.size(),
            0u);
}

TEST(RobotScenes, ContactsAreAsTheFileSays) {
  const std::string text =
      "<mujoco><worldbody><geom name='g' type='plane' size='1 1 1'/>"
      "<body name='a' pos='0 0 1'><freejoint/><geom name='ball' size='0.1' mass='3' "
      "friction='1.3' solimp='0.9 0.9'/></body></worldbody></mujoco>";
  const Scene scene = good(written("ball.xml", text));
  ASSERT_EQ(scene.model.pairs.size(), 1u);
  const LawBlock& laws =
      scene.model.blocks[static_cast<std::size_t>(scene.model.pairs[0].block)];
  ASSERT_EQ(entry_of(laws.normal).info.name, "kelvin-voigt");
  // At rest under the ball's weight: m g = K r with (1 − d(r)) g = d(r) k r.
  scene::Softness both;
  both.solimp[1] = 0.5 * (0.9 + 0.95);
  const double r = both.depth_under(9.81), d = both.impedance(r);
  const double k = 1 / std::pow(both.solimp[1] * 0.02, 2);
  EXPECT_NEAR((1 - d) * 9.81, d * k * r, 1e-9);
  EXPECT_NEAR(laws.normal.parameters[0], 3 * 9.81 / r, 1e-6);
  EXPECT_EQ(laws.friction.parameters[0], 1.3);
}

/// The stiffness of the only contact of a scene.
double stiffness_of(const Scene& scene) {
  const auto block = static_cast<std::size_t>(scene.model.pairs.at(0).block);
  return scene.model.blocks[block].normal.parameters[0];
}

TEST(RobotScenes, ContactsOfARobotCarryIt) {
  // A light foot under a heavy trunk, whose contacts are hard from 10 mm on.
  const auto robot = [](const std::string& trunk) {
    return "<mujoco><worldbody><geom type='plane' size='1 1 1' solimp='0.02 0.9 0.01' "
           "contype='0'/><body pos='0 0 1'><freejoint/><inertial pos='0 0 0' mass='" +
           trunk +
           "' diaginertia='1 1 1'/><body name='foot'><joint axis='0 1 0' pos='0 0 0.5'/>"
           "<geom size='0.05' mass='0.1' solimp='0.02 0.9 0.01'/></body></body>"
           "</worldbody></mujoco>";
  };
  const double heavy = stiffness_of(good(written("heavy.xml", robot("40"))));
  const double light = stiffness_of(good(written("light.xml", robot("4"))));
  // A quarter of the weight rests where d has grown.
  scene::Softness soft;
  soft.solimp[0] = 0.02;
  soft.solimp[1] = 0.9;
  soft.solimp[2] = 0.01;
  EXPECT_GT(heavy, 2 * light);
  for (const double trunk : {40.0, 4.0}) {
    const double load = (trunk + 0.1) * 9.81 / 4;
    const double depth = load / (trunk > 10 ? heavy : light);
    const double d = soft.impedance(depth);
    // (1 − d) f = d k r m, m the mass that resists a push on the foot.
    const double k = 1 / std::pow(0.9 * 0.02, 2);
    const double mass = (1 - d) * load / (d * k * depth);
    EXPECT_GT(mass, 0.1);
    EXPECT_LT(mass, trunk);
  }
}

TEST(RobotScenes, TheSceneThatIsWrittenIsTheSceneThatRuns) {
  for (const char* name : {"walker.xml", "quadruped.urdf", "arm7.urdf", "chain.urdf"}) {
    Problems problems;
    std::ifstream in(file(name));
    const std::string text(std::istreambuf_iterator<char>(in), {});
    const auto toml =
        robot_scene(text, file(name), name, std::make_shared<Geometry>(), problems);
    ASSERT_TRUE(toml) << problems.text();
    EXPECT_NE(toml->find("# "), std::string::npos);
    const auto scene = read_scene_text(*toml, file("robot.toml"), {}, problems);
    ASSERT_TRUE(scene) << problems.text();
    const Scene direct = good(file(name));
    EXPECT_EQ(scene->start.q, direct.start.q);
    EXPECT_EQ(scene->model.pairs.size(), direct.model.pairs.size());
  }
}

}  // namespace
}  // namespace bristle::scene
