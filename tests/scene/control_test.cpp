// Control in scenes: which joints motors drive, what their targets are, and what is wrong
// with either.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numbers>

#include "bristle/run.hpp"
#include "scene/scene.hpp"

namespace bristle::scene {
namespace {

constexpr double degree = std::numbers::pi / 180;

std::string robot_with_keys() {
  return R"(<mujoco><compiler angle="radian"/><worldbody>
  <body name="base" pos="0 0 1">
    <joint name="turn" axis="0 0 1"/><geom size="0.1" contype="0" conaffinity="0"/>
    <body name="upper"><joint name="lift" axis="0 1 0" ref="0.2"/>
      <geom type="capsule" size="0.02" fromto="0 0 0 0.4 0 0" contype="0" conaffinity="0"/>
      <body name="slide" pos="0.4 0 0"><joint name="reach" type="slide" axis="1 0 0"/>
        <geom size="0.05" contype="0" conaffinity="0"/></body></body></body>
  </worldbody><keyframe>
    <key name="home" qpos="0.1 0.3 0"/>
    <key name="out" qpos="0.5 -0.4 0.2"/>
  </keyframe></mujoco>)";
}

std::string in_temp(const std::string& name, const std::string& text) {
  const std::string path = testing::TempDir() + name;
  std::ofstream(path) << text;
  return path;
}

/// A scene with that robot and some motors, as if it stood beside the robot's file.
std::optional<Scene> scene_with(const std::string& motors, Problems& problems) {
  in_temp("control.xml", robot_with_keys());
  return read_scene_text("[[robots]]\nfile = \"control.xml\"\n" + motors,
                         testing::TempDir() + "control.toml", {}, problems);
}

Scene good(const std::string& motors) {
  Problems problems;
  auto scene = scene_with(motors, problems);
  EXPECT_TRUE(scene) << problems.text();
  return scene ? *std::move(scene) : Scene{};
}

std::string trouble(const std::string& motors) {
  Problems problems;
  EXPECT_FALSE(scene_with(motors, problems)) << motors;
  return problems.text();
}

const Motor& motor_of(const Scene& scene, const std::string& name) {
  static const Motor none{};
  const int i = scene.model.find_motor(name);
  EXPECT_GE(i, 0) << name;
  return i < 0 ? none : scene.model.motors[static_cast<std::size_t>(i)];
}

TEST(Control, MotorsAtAllJointsHoldThemWhereTheyBegin) {
  const Scene scene = good(R"(
[clock]
kind = "fixed"
duration_s = 1
[[motors]]
name = "hold"
joints = ["*"]
kind = "position"
bandwidth_Hz = 2
gravity_compensation = true
)");
  ASSERT_EQ(scene.model.motors.size(), 3u);
  EXPECT_NEAR(motor_of(scene, "hold.lift").target.value(0), 0.3 - 0.2, 1e-12);
  EXPECT_NEAR(motor_of(scene, "hold.turn").target.value(0), 0.1, 1e-12);
  const double omega = 4 * std::numbers::pi;
  const Motor& motor = motor_of(scene, "hold.reach");
  EXPECT_NEAR(motor.kd, 2 * motor.kp / omega, 1e-9 * motor.kd);  // critically damped
  State state = scene.start;
  const RunSummary summary = simulate(
      scene.model, state,
      SimulateOptions{.clock = {.method = Method::complementarity, .step = 1e-3}});
  ASSERT_EQ(summary.status, StepStatus::ok);
  for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(state.q[k], scene.start.q[k], 1e-9);
}

TEST(Control, PatternsTakeJointsWithoutAMotor) {
  const Scene scene = good(R"(
[[motors]]
name = "pull"
joint = "turn"
[[motors]]
name = "others"
joints = ["*"]
[[motors]]
name = "again"
joints = ["reach"]
)");
  ASSERT_EQ(scene.model.motors.size(), 4u);
  for (const char* name : {"pull", "others.lift", "others.reach", "again.reach"}) {
    EXPECT_GE(scene.model.find_motor(name), 0) << name;
  }
  const Scene some = good("[[motors]]\nname = \"m\"\njoints = [\"*r*\", \"li*t\"]\n");
  EXPECT_EQ(some.model.motors.size(), 3u);  // turn, reach; lift
}

TEST(Control, TablesSplinesAndKeyframesAreTargets) {
  in_temp("course.csv",
          "# a course\ntime_ms, lift_deg, other\n0,0,1\n500,90,2\n\n1000,0,3\n");
  const Scene scene = good(R"(
[[motors]]
name = "line"
joint = "turn"
kind = "position"
kp_Nm_rad = 10
times_s = [0, 1, 3]
positions_deg = [0, 90, 30]
[[motors]]
name = "file"
joint = "lift"
kind = "prescribed"
file = "course.csv"
interpolation = "spline"
repeat = true
[[motors]]
name = "keys"
joint = "reach"
kind = "position"
kd_N_s_m = 10
times_ms = [0, 500]
keyframes = ["home", "out"]
interpolation = "hold"
)");
  const Signal& line = motor_of(scene, "line").target;
  EXPECT_NEAR(line.value(0.5), 45 * degree, 1e-14);
  EXPECT_NEAR(line.value(2), 60 * degree, 1e-14);
  EXPECT_NEAR(line.value(7), 30 * degree, 1e-14);
  const Signal& file = motor_of(scene, "file").target;
  for (const double t : {0.5, 1.5, 6.5}) EXPECT_NEAR(file.value(t), 90 * degree, 1e-12);
  EXPECT_NEAR(file.value(3), 0, 1e-12);
  EXPECT_NEAR(file.rate(0), 0, 1e-12);  // a course of two halves that mirror each other
  const Signal& keys = motor_of(scene, "keys").target;
  EXPECT_EQ(keys.value(0.4), 0);
  EXPECT_EQ(keys.value(0.6), 0.2);
  const Scene all = good(R"(
[[motors]]
name = "go"
joints = ["turn", "lift", "reach"]
kind = "position"
bandwidth_Hz = 5
damping_ratio = 0.7
keyframe = "out"
)");
  EXPECT_NEAR(motor_of(all, "go.lift").target.value(9), -0.4 - 0.2, 1e-12);
  EXPECT_NEAR(motor_of(all, "go.reach").target.value(9), 0.2, 1e-12);
}

TEST(Control, SaysWhatIsWrongAndWhere) {
  const std::string motor = "[[motors]]\nname = \"m\"\n";  // lines 3 and 4
  const std::string position = motor + "joint = \"lift\"\nkind = \"position\"\n";
  in_temp("broken.csv", "time_s,lift_deg\n0,1\n1,x\n2\n");
  in_temp("untimed.csv", "t,lift_deg\n0,1\n1,2\n");
  const std::pair<std::string, std::string> cases[] = {
      {motor, "control.toml:4: motor \"m\": a motor needs joint, or joints"},
      {motor + "joint = \"lift\"\njoints = [\"*\"]\n",
       "control.toml:6: motor \"m\": joint and joints must not both be given"},
      {motor + "joint = \"lft\"\n",
       "control.toml:5: motor \"m\": joint = \"lft\": there is no such joint; did you "
       "mean \"lift\"?"},
      {motor + "joints = [\"wheel*\"]\n",
       "control.toml:5: motor \"m\": joints: no revolute or prismatic joint without a "
       "motor is called \"wheel*\""},
      {motor + "joints = []\n",
       "control.toml:5: motor \"m\": joints must name one joint at least"},
      {position,
       "control.toml:6: motor \"m\": a position motor needs kp and kd, or "
       "bandwidth_Hz, or it does nothing"},
      {position + "bandwidth_Hz = 0\n",
       "control.toml:7: motor \"m\": bandwidth_Hz = 0 must be above 0"},
      {position + "bandwidth_Hz = 1\nkp_Nm_rad = 3\n",
       "motor \"m\": kp_Nm_rad and bandwidth_Hz must not both be given"},
      {motor + "joint = \"lift\"\ngravity_compensation = true\n",
       "control.toml:6: motor \"m\": gravity_compensation belongs to a position motor"},
      {position + "kp_Nm_rad = 1\ntimes_s = [0, 1]\n",
       "control.toml:8: motor \"m\": times_s goes with positions, torques or keyframes"},
      {position + "kp_Nm_rad = 1\ntimes_s = [0, 1]\npositions_deg = [1]\n",
       "control.toml:9: motor \"m\": positions_deg has 1 entries, and times_s has 2"},
      {position + "kp_Nm_rad = 1\ntimes_s = [0, 2, 1]\npositions_deg = [1, 2, 3]\n",
       "control.toml:8: motor \"m\": times must rise, and 1 s comes after 2 s"},
      {position + "kp_Nm_rad = 1\ntimes_s = [0, 1]\npositions_m = [1, 2]\n",
       "positions_m does not fit a joint that turns; write positions_deg"},
      {position +
           "kp_Nm_rad = 1\ntimes_s = [0, 1]\npositions_deg = [1, 2]\nrepeat = true\n",
       "control.toml:10: motor \"m\": what repeats ends as it begins"},
      {position + "kp_Nm_rad = 1\nrepeat = true\n",
       "control.toml:8: motor \"m\": repeat needs times_s or file"},
      {position + "kp_Nm_rad = 1\nkeyframe = \"hme\"\n",
       "control.toml:8: motor \"m\": keyframe: no keyframe \"hme\" of an MJCF file has a "
       "position of joint \"lift\"; did you mean \"home\"?"},
      {motor + "joint = \"lift\"\nkind = \"prescribed\"\ntimes_s = [0, 1]\n"
               "positions_deg = [0, 1]\n",
       "prescribed motion must not jump: set interpolation = \"spline\""},
      {position + "kp_Nm_rad = 1\nfile = \"none.csv\"\n",
       "control.toml:8: motor \"m\": file = \"none.csv\": cannot read"},
      {position + "kp_Nm_rad = 1\nfile = \"broken.csv\"\n",
       "broken.csv:3: column \"lift_deg\": \"x\" must be a number"},
      {position + "kp_Nm_rad = 1\nfile = \"broken.csv\"\n",
       "broken.csv:4: 1 numbers in a table of 2 columns"},
      {position + "kp_Nm_rad = 1\nfile = \"untimed.csv\"\n",
       "untimed.csv has no column time_s"},
      {position + "kp_Nm_rad = 1\nfile = \"control.csv\"\ncolumn = \"knee\"\n",
       "control.csv has no column knee_deg or knee_rad"},
  };
  in_temp("control.csv", "time_s,lift_deg\n0,1\n1,2\n");
  for (const auto& [text, expected] : cases) {
    const std::string said = trouble(text);
    EXPECT_NE(said.find(expected), std::string::npos) << expected << "\n---\n" << said;
  }
}

}  // namespace
}  // namespace bristle::scene
