// What a scene leaves out follows from the pair that touches; how a scene may start.

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "bristle/laws/choice.hpp"
#include "bristle/model/pair_laws.hpp"
#include "scene/scene.hpp"
#include "scene/start.hpp"

namespace bristle::scene {
namespace {

struct Read {
  std::optional<Scene> scene;
  Problems problems;
};

Read read(const std::string& text) {
  Read result;
  result.scene = read_scene_text(text, "test.toml", {}, result.problems);
  return result;
}

Scene good(const std::string& text) {
  Read result = read(text);
  EXPECT_TRUE(result.scene) << result.problems.text();
  return result.scene ? *std::move(result.scene) : Scene{};
}

std::string ball(double height, const std::string& more = "") {
  return R"([[bodies]]
name = "floor"
fixed = true
shapes = [{type = "plane"}]
[[bodies]]
name = "ball"
mass_kg = 2
position_m = [0, 0, )" +
         std::to_string(height) + R"(]
shapes = [{type = "sphere", radius_m = 0.1}]
)" + more;
}

double parameter(const LawChoice& law, std::string_view name) {
  return law.parameters[static_cast<std::size_t>(entry_of(law).find_parameter(name))];
}

constexpr double rest = rest_depth_ratio * 0.1;

TEST(SceneDefaults, AreGonthierAndASpringSliderOfThePair) {
  const Scene scene = good(ball(1));
  ASSERT_EQ(scene.model.blocks.size(), 1u);
  const LawBlock& laws = scene.model.blocks.front();
  EXPECT_EQ(entry_of(laws.normal).info.name, "gonthier");
  EXPECT_NEAR(parameter(laws.normal, "stiffness") / (2 * 9.81 / std::pow(rest, 1.5)), 1,
              1e-12);
  EXPECT_EQ(parameter(laws.normal, "restitution"), 0.5);
  EXPECT_EQ(entry_of(laws.friction).info.name, "spring-slider");
  EXPECT_EQ(parameter(laws.friction, "mu"), 0.4);
  EXPECT_NEAR(parameter(laws.friction, "stiffness") / (1.5 * 2 * 9.81 / rest), 1, 1e-12);
}

TEST(SceneDefaults, GivenParametersStayAsTheyAre) {
  const Scene scene = good(ball(1, R"([[contacts]]
normal = { law = "kelvin-voigt", stiffness = 3e4, damping = 7 }
friction = { law = "dahl", mu = 0.2, stiffness = 1e5 }
)"));
  const LawBlock& laws = scene.model.blocks.front();
  EXPECT_EQ(parameter(laws.normal, "stiffness"), 3e4);
  EXPECT_EQ(parameter(laws.normal, "damping"), 7);
  EXPECT_EQ(entry_of(laws.friction).info.name, "dahl");
  const Scene keys = good(ball(1, "[[contacts]]\nstiffness = 1e6\nrestitution = 0.7\n"));
  EXPECT_EQ(parameter(keys.model.blocks.front().normal, "stiffness"), 1e6);
  EXPECT_EQ(parameter(keys.model.blocks.front().normal, "restitution"), 0.7);
}

TEST(SceneDefaults, ALawByNameHasTheStiffnessOfThePairAndTheDampingThatGoesWithIt) {
  const Scene scene = good(ball(1, "[[contacts]]\nnormal = \"kelvin-voigt\"\n"));
  const LawChoice& law = scene.model.blocks.front().normal;
  EXPECT_NEAR(parameter(law, "stiffness") / (2 * 9.81 / rest), 1, 1e-12);
  // c/k as in the law's own presets
  const LawChoice preset = choose<KelvinVoigt>();
  EXPECT_NEAR(parameter(law, "damping") / parameter(law, "stiffness"),
              parameter(preset, "damping") / parameter(preset, "stiffness"), 1e-15);
}

TEST(SceneDefaults, ARestitutionThatDependsOnTheSpeedIsRefusedAtItsLine) {
  const std::string rule =
      "[[contacts]]\nnormal = \"hunt-crossley\"\nrestitution = 0.5\n";
  const Read refused = read(ball(1, rule));
  EXPECT_FALSE(refused.scene);
  EXPECT_NE(refused.problems.text().find("test.toml:12"), std::string::npos)
      << refused.problems.text();
  EXPECT_NE(refused.problems.text().find("impact_speed_m_s"), std::string::npos);
  const Scene scene = good(ball(1, rule + "impact_speed_m_s = 2\n"));
  const LawChoice& law = scene.model.blocks.front().normal;
  const auto impact = entry_of(law).impact(
      std::span(law.parameters).first(entry_of(law).parameters.size()), 2, 2, nullptr);
  ASSERT_TRUE(impact);
  EXPECT_NEAR(impact->restitution, 0.5, 1e-10);
  EXPECT_FALSE(
      read(ball(1, "[[contacts]]\nnormal = \"hertz\"\nimpact_speed_m_s = 2\n")).scene);
}

TEST(SceneStart, AnOverlapOfARestingBodyIsAccepted) {
  const Scene scene = good(ball(0.1 - 0.9 * rest));
  const StartReport start = inspect_start(scene.model, scene.start);
  ASSERT_EQ(start.overlaps.size(), 1u);
  EXPECT_TRUE(start.overlaps[0].rests());
  EXPECT_NEAR(start.overlaps[0].rest_depth / rest, 1, 1e-9);
  EXPECT_TRUE(scene.warnings.empty());
}

TEST(SceneStart, ADeeperOverlapNeedsTheSwitchAndIsListed) {
  const std::string deep = ball(0.099);
  const Read refused = read(deep);
  EXPECT_FALSE(refused.scene);
  const std::string said = refused.problems.text();
  for (const char* word : {"\"ball\"", "0.001 m", "5e-05 m", "allow_initial_overlap"}) {
    EXPECT_NE(said.find(word), std::string::npos) << said;
  }
  const Scene scene = good("allow_initial_overlap = true\n" + deep);
  ASSERT_EQ(scene.warnings.size(), 2u);
  EXPECT_NE(scene.warnings[0].find("overlap by 0.001 m"), std::string::npos);
  EXPECT_NE(scene.warnings[1].find(" J at the start"), std::string::npos);
}

std::string jointed(const std::string& type, const std::string& keys) {
  return R"([[bodies]]
name = "arm"
mass_kg = 1
inertia_kg_m2 = [1, 1, 1]
[[joints]]
name = "joint"
child = "arm"
type = ")" +
         type + "\"\n" + keys;
}

TEST(SceneStart, JointsBeyondTheirLimitsAreListedWithTheEnergy) {
  const Scene scene =
      good(jointed("revolute", "upper_deg = 10\nlower_deg = -10\nstart_deg = 25\n"));
  ASSERT_EQ(scene.warnings.size(), 1u);
  for (const char* word : {"\"joint\" by 15°", "above its upper limit", " J"}) {
    EXPECT_NE(scene.warnings[0].find(word), std::string::npos) << scene.warnings[0];
  }
  const StartReport start = inspect_start(scene.model, scene.start);
  ASSERT_EQ(start.limits.size(), 1u);
  EXPECT_NEAR(start.limits[0].beyond, 15 * M_PI / 180, 1e-12);
  EXPECT_GT(start.limit_energy, 0);
  EXPECT_TRUE(
      good(jointed("revolute", "upper_deg = 10\nstart_deg = 10\n")).warnings.empty());
}

TEST(SceneStart, EveryTypeOfJointHasStartKeys) {
  const auto begins = [](const std::string& type, const std::string& keys,
                         const std::vector<double>& q, const std::vector<double>& v) {
    const Scene scene = good(jointed(type, keys));
    ASSERT_EQ(scene.start.q.size(), q.size()) << type;
    ASSERT_EQ(scene.start.v.size(), v.size()) << type;
    for (std::size_t i = 0; i < q.size(); ++i) {
      EXPECT_NEAR(scene.start.q[i], q[i], 1e-15) << type << " q" << i;
    }
    for (std::size_t i = 0; i < v.size(); ++i) {
      EXPECT_NEAR(scene.start.v[i], v[i], 1e-15) << type << " v" << i;
    }
  };
  begins("revolute", "start_rad = 0.3\nstart_rate_rad_s = 2\n", {0.3}, {2});
  begins("prismatic", "start_m = 0.3\nstart_rate_m_s = 2\n", {0.3}, {2});
  begins("universal",
         "start_angles_rad = [0.3, -0.2]\nstart_angle_rates_rad_s = [1, 2]\n",
         {0.3, -0.2}, {1, 2});
  begins(
      "planar",
      "start_position_m = [1, 2]\nstart_angles_deg = [90]\nstart_velocity_m_s = [3, 4]\n"
      "start_angle_rates_rad_s = [5]\n",
      {1, 2, M_PI / 2}, {3, 4, 5});
  begins("spherical",
         "start_rotation_deg = [90, 0, 0]\nstart_angular_velocity_rad_s = [1, 2, 3]\n",
         {std::sqrt(0.5), std::sqrt(0.5), 0, 0}, {1, 2, 3});
  begins("spherical", "start_quaternion = [0, 0, 2, 0]\n", {0, 0, 1, 0}, {0, 0, 0});
}

TEST(SceneStart, AStartKeyOfAnotherTypeIsRefused) {
  for (const auto& [type, key] : {std::pair{"universal", "start_rad = 1\n"},
                                  std::pair{"revolute", "start_position_m = [1, 2]\n"},
                                  std::pair{"spherical", "start_angles_deg = [1, 2]\n"},
                                  std::pair{"universal", "start_angles_deg = [1]\n"},
                                  std::pair{"planar", "start_angles_deg = [1, 2]\n"}}) {
    EXPECT_FALSE(read(jointed(type, key)).scene) << type << " " << key;
  }
}

}  // namespace
}  // namespace bristle::scene
