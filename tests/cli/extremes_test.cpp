// Extremes of probes are those of the motion, not of the samples; energy that nobody
// supplied is said.

#include <gtest/gtest.h>

#include <cmath>

#include "cli/run_summary.hpp"
#include "cli/runner.hpp"
#include "scene/scene.hpp"

namespace bristle::cli {
namespace {

RunReport run(const std::string& text) {
  scene::Problems problems;
  auto scene = scene::read_scene_text(text, "test.toml", {}, problems);
  EXPECT_TRUE(scene) << problems.text();
  if (!scene) return {};
  State state = scene->start;
  return Runner(*scene, state, 0, nullptr, {.quiet = true}).run();
}

TEST(Extremes, OfAnImpactBetweenSamples) {
  // A ball of 1 kg falls 0.95 m onto Hertz contact of k = 1e8: ⅖ k δ^{5/2} = m g (h + δ).
  const RunReport report = run(R"(
[clock]
duration_s = 1
[[bodies]]
name = "floor"
fixed = true
shapes = [{type = "plane"}]
[[bodies]]
name = "ball"
mass_kg = 1
position_m = [0, 0, 1]
shapes = [{type = "sphere", radius_m = 0.05}]
[[contacts]]
normal = { law = "hertz", stiffness = 1e8 }
friction = 0
[[probes]]
name = "force"
kind = "contact_force"
[[probes]]
name = "depth"
kind = "contact_depth"
[[probes]]
name = "height"
kind = "point"
body = "ball"
component = "z"
)");
  double depth = 1e-3;
  for (int i = 0; i < 100; ++i) depth = std::pow(9.81 * (0.95 + depth) / 4e7, 0.4);
  const double force = 1e8 * std::pow(depth, 1.5);
  ASSERT_EQ(report.probes.size(), 3u);
  EXPECT_NEAR(report.probes[0].largest / force, 1, 2e-3);
  EXPECT_EQ(report.probes[0].least, 0);
  EXPECT_NEAR(report.probes[1].largest / depth, 1, 1e-3);
  EXPECT_NEAR((0.05 - report.probes[2].least) / depth, 1, 1e-3);
  EXPECT_EQ(report.probes[2].largest, 1);
}

TEST(Extremes, OfAParabolaThroughThreeEndsOfSteps) {
  const auto y = [](double t) { return 3 - 2 * (t - 0.4) * (t - 0.4); };
  ProbeRange range;
  range.include({0, 0.3, 1.0}, {y(0), y(0.3), y(1)}, false);
  EXPECT_NEAR(range.largest, 3, 1e-14);
  ProbeRange none;  // the middle is no extreme
  none.include({0, 0.1, 0.2}, {y(0), y(0.1), y(0.2)}, false);
  EXPECT_EQ(none.largest, -HUGE_VAL);
  ProbeRange size;
  size.include({0, 1, 2}, {1, 0.01, 0.5}, true);
  EXPECT_EQ(size.least, 0);
}

TEST(Unsupplied, OfAFrictionThatIsNotPassiveIsSaidAndNoPartOfTheScale) {
  // Bristles that give back more than they stored as the load falls.
  const std::string scene = R"(
[clock]
duration_s = 1
[[bodies]]
name = "floor"
fixed = true
shapes = [{type = "plane"}]
[[bodies]]
name = "ball"
mass_kg = 1
position_m = [0, 0, 0.3]
velocity_m_s = [1, 0, 0]
shapes = [{type = "sphere", radius_m = 0.1}]
[[contacts]]
)";
  const RunReport passive = run(scene);
  EXPECT_EQ(passive.audit.unsupplied(), 0);
  EXPECT_TRUE(passive.warnings.empty());
  const RunReport defect = run(
      scene +
      R"(friction = { law = "gonthier-friction", mu_static = 0.8, mu_coulomb = 0.8, stiffness = 5e3, damping = 200, stribeck_speed = 1e-3, dwell_time = 0.01, bound = true }
)");
  const Ledger& ledger = defect.audit.last();
  EXPECT_GT(defect.audit.unsupplied(), 0);
  EXPECT_EQ(defect.audit.unsupplied(), ledger.unsupplied());
  const double ends = ledger.kinetic + ledger.stored() +
                      std::abs(ledger.gravity - defect.audit.first().gravity) +
                      ledger.dissipated();
  EXPECT_GE(defect.audit.scale(), ends - ledger.unsupplied());
  EXPECT_GT(ends, defect.audit.scale());
}

}  // namespace
}  // namespace bristle::cli
