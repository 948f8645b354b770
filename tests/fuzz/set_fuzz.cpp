// Settings of the command line, a line each, on a scene that has a bit of everything.

#include <sstream>

#include "scene/scene.hpp"
#include "tests/fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace bristle;
  static const std::string text = R"(
title = "all"
[gravity]
vector_m_s2 = [0, 0, -9.81]
[clock]
kind = "complementarity"
duration_s = 1
step_ms = 1
[record]
every = "1 ms"
[materials.felt]
youngs_modulus_MPa = 1
poissons_ratio = 0.3
density_kg_m3 = 300
[[bodies]]
name = "floor"
fixed = true
[[bodies.shapes]]
type = "plane"
[[bodies]]
name = "ball"
mass_kg = 1
position_m = [0, 0, 1]
[[bodies.shapes]]
type = "sphere"
radius_mm = 100
[[bodies]]
name = "arm"
[[bodies.shapes]]
type = "box"
size_m = [0.1, 0.2, 0.3]
position_m = [3, 0, 2]
[[joints]]
name = "hinge"
type = "revolute"
child = "arm"
axis = [0, 1, 0]
[[motors]]
name = "motor"
joint = "hinge"
kind = "position"
kp_Nm_rad = 10
[[contacts]]
a = "ball"
b = "floor"
restitution = 0.5
[[contacts]]
a = "arm"
normal = "rigid"
[[constraints]]
name = "blade"
type = "skate"
b = "ball"
[[loads]]
name = "wind"
body = "ball"
force_N = [1, 0, 0]
[[probes]]
name = "height"
kind = "point"
body = "ball"
)";
  std::vector<std::string> settings;
  std::istringstream lines(std::string(reinterpret_cast<const char*>(data), size));
  for (std::string line; std::getline(lines, line) && settings.size() < 20;) {
    settings.push_back(line);
  }
  scene::Problems problems;
  const auto scene = scene::read_scene_text(text, test::nowhere, settings, problems);
  if (!scene && !problems.any()) __builtin_trap();
  // What a recording keeps of the scene is the same scene.
  if (scene) {
    scene::Problems again;
    if (!scene::read_scene_text(scene->text, test::nowhere, {}, again)) __builtin_trap();
  }
  return 0;
}
