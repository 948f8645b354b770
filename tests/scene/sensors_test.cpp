// Sensors in scenes: as probes, of robots' files, and what is wrong with them.

#include "bristle/step/sensors.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "scene/scene.hpp"

namespace bristle::scene {
namespace {

constexpr const char* robot = R"(<mujoco><worldbody>
  <body name="hand" pos="0 0 1"><joint name="turn" axis="0 1 0"/>
    <geom name="palm" size="0.1"/>
    <site name="pad" pos="0 0 -0.1" type="box" size="0.05 0.04 0.03"/></body>
  </worldbody><sensor>
    <touch name="grip" site="pad"/><gyro site="pad"/><gyro site="pad"/>
    <framepos name="place" objtype="body" objname="hand"/>
  </sensor></mujoco>)";

constexpr const char* bodies = R"(
[[robots]]
file = "sensing.xml"
[[bodies]]
name = "floor"
fixed = true
position_m = [0, 0, -1]
shapes = [{type = "plane"}]
[[bodies]]
name = "ball"
position_m = [2, 0, 0]
shapes = [{type = "sphere", radius_m = 0.1}]
)";  // 12 lines

std::optional<Scene> scene_with(const std::string& probes, Problems& problems) {
  std::ofstream(testing::TempDir() + "sensing.xml") << robot;
  return read_scene_text(bodies + probes, testing::TempDir() + "sensing.toml", {},
                         problems);
}

std::vector<std::string> names_of(const Scene& scene) {
  std::vector<std::string> names;
  for (const Probe& probe : scene.probes) names.push_back(probe.name);
  return names;
}

TEST(SceneSensors, AreProbesByTheirComponents) {
  Problems problems;
  const auto scene = scene_with(R"(
[[probes]]
name = "imu"
kind = "accelerometer"
body = "ball"
position_mm = [0, 0, 50]
[[probes]]
name = "turn rate"
kind = "gyro"
site = "pad"
component = "y"
[[probes]]
name = "load"
kind = "force"
joint = "turn"
component = "norm"
[[probes]]
name = "down"
kind = "range"
body = "ball"
rotation_deg = [180, 0, 0]
reach_m = 5
[[probes]]
name = "press"
kind = "touch"
body = "ball"
radius_mm = 50
[[probes]]
name = "effort"
kind = "joint_torque"
joint = "turn"
[[probes]]
name = "gaze"
kind = "range"
body = "floor"
)",
                                problems);
  ASSERT_TRUE(scene) << problems.text();
  const std::vector<std::string> expected{
      "imu.x",       "imu.y",        "imu.z",        "turn rate",
      "load",        "down",         "press",        "effort",
      "gaze",        "grip",         "hand.gyro.x",  "hand.gyro.y",
      "hand.gyro.z", "hand.gyro2.x", "hand.gyro2.y", "hand.gyro2.z"};
  EXPECT_EQ(names_of(*scene), expected);
  EXPECT_EQ(scene->probes[0].unit, "m/s^2");
  EXPECT_EQ(scene->probes[3].component, 2);
  EXPECT_EQ(scene->probes[4].component, 0);
  EXPECT_TRUE(scene->probes[8].in_figure);
  EXPECT_FALSE(scene->probes[9].in_figure);
  ASSERT_EQ(scene->sensors.size(), 10u);
  EXPECT_EQ(scene->sensors[0].pose.p.z, 0.05);
  EXPECT_EQ(scene->sensors[1].body, "hand");
  EXPECT_EQ(scene->sensors[1].pose.p.z, -0.1);
  EXPECT_EQ(scene->sensors[3].reach, 5);
  EXPECT_EQ(scene->sensors[6].pose.p.z, -1);
  EXPECT_EQ(scene->sensors[6].unseen, std::vector<std::string>{"floor"});
  ASSERT_TRUE(scene->sensors[7].zone);
  EXPECT_EQ(std::get<Box>(*scene->sensors[7].zone).half.y, 0.04);
  const auto said = [&](const char* words) {
    return std::ranges::any_of(scene->warnings, [&](const std::string& warning) {
      return warning.find(words) != std::string::npos;
    });
  };
  EXPECT_TRUE(said("nothing is measured there: framepos of a body (1)"));
}

TEST(SceneSensors, SaysWhatIsWrongAndWhere) {
  const std::string probe = "[[probes]]\nname = \"p\"\n";  // lines 13 and 14
  const std::pair<std::string, std::string> cases[] = {
      {probe + "kind = \"gyro\"\n",
       "sensing.toml:15: probe \"p\": kind = \"gyro\" needs body or site, one of them"},
      {probe + "kind = \"force\"\n", "kind = \"force\" needs body or site or joint"},
      {probe + "kind = \"gyro\"\nsite = \"pda\"\n",
       "sensing.toml:16: probe \"p\": site = \"pda\": there is no such site in the "
       "scene's MJCF files; did you mean \"pad\"?"},
      {probe + "kind = \"gyro\"\nbody = \"bal\"\n",
       "sensing.toml:16: probe \"p\": body = \"bal\": there is no such body; did you "
       "mean \"ball\"?"},
      {probe + "kind = \"gyro\"\nbody = \"ball\"\ncomponent = \"w\"\n",
       "sensing.toml:17: probe \"p\": component = \"w\" belongs to orientation"},
      {probe + "kind = \"touch\"\nbody = \"floor\"\n",
       "sensing.toml:16: probe \"p\": body = \"floor\" is fixed, a part of the world"},
      {probe + "kind = \"gyro\"\nbody = \"ball\"\nreach_m = 2\n",
       "sensing.toml:17: probe \"p\": reach_m belongs to range"},
      {probe + "kind = \"range\"\nbody = \"ball\"\nreach_m = -2\n",
       "sensing.toml:17: probe \"p\": reach_m = -2 must be in [1e-09, 1e+09]"},
      {probe + "kind = \"joint_torque\"\njoint = \"trn\"\n",
       "joint = \"trn\": there is no such joint; did you mean \"turn\"?"},
      {probe + "kind = \"gyro\"\nbody = \"ball\"\n[[probes]]\nname = \"p.x\"\n"
               "kind = \"energy\"\n",
       "two probes are called \"p.x\""},
  };
  for (const auto& [text, expected] : cases) {
    Problems problems;
    EXPECT_FALSE(scene_with(text, problems)) << text;
    EXPECT_NE(problems.text().find(expected), std::string::npos) << expected << "\n---\n"
                                                                 << problems.text();
  }
}

TEST(SceneSensors, OfFilesMustBeSomewhere) {
  const auto trouble = [](const std::string& sensor) {
    Problems problems;
    const std::string text =
        "<mujoco><worldbody><body name='b'><joint name='j' type='ball'/>"
        "<geom size='1'/></body></worldbody>\n<sensor>" +
        sensor + "</sensor></mujoco>";
    std::ofstream(testing::TempDir() + "wrong.xml") << text;
    EXPECT_FALSE(read_scene_text("[[robots]]\nfile = \"wrong.xml\"\n",
                                 testing::TempDir() + "wrong.toml", {}, problems))
        << sensor;
    return problems.text();
  };
  const std::pair<const char*, const char*> cases[] = {
      {"<gyro name='g' site='s'/>",
       "wrong.xml:2: gyro \"g\": site = \"s\" must be a site of the model"},
      {"<gyro/>", "wrong.xml:2: gyro: site = \"\" must be a site of the model"},
      {"<jointpos joint='k'/>", "jointpos: joint = \"k\" must be a joint of the model"},
      {"<jointpos joint='j'/>", "jointpos: joint \"j\" must be a hinge or a slide"},
      {"<framepos objtype='xbody' objname='c'/>",
       "framepos: objname = \"c\" must be a body of the model"},
  };
  for (const auto& [sensor, expected] : cases) {
    const std::string said = trouble(sensor);
    EXPECT_NE(said.find(expected), std::string::npos) << expected << "\n---\n" << said;
  }
}

}  // namespace
}  // namespace bristle::scene
