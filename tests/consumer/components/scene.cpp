// A program outside the tree: a scene from a text, and a robot's file as parts of a model
// (docs/robots.md).
#include "scene/scene.hpp"

#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>

#include "scene/urdf.hpp"

namespace {

constexpr const char* ball = R"(
[clock]
duration_s = 0.1
[[bodies]]
name = "ball"
mass_kg = 2
position_m = [0, 0, 1]
shapes = [{ type = "sphere", radius_m = 0.1 }]
)";

constexpr const char* pendulum = R"(<robot name="pendulum">
  <link name="base"/>
  <link name="bob"><inertial><origin xyz="0 0 -1"/><mass value="1"/>
    <inertia ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="hinge" type="continuous">
    <parent link="base"/><child link="bob"/><axis xyz="0 1 0"/></joint>
</robot>)";

/// The height of the ball after a tenth of a second of free fall.
bool falls() {
  bristle::scene::Problems problems;
  const auto scene = bristle::scene::read_scene_text(ball, "ball.toml", {}, problems);
  if (!scene) {
    std::cerr << problems.text() << '\n';
    return false;
  }
  bristle::State state = scene->start;
  const auto stepper = scene->clock.stepper->make(scene->model, scene->clock.options);
  bristle::run(*stepper, state, {.end = scene->clock.duration});
  return std::abs(state.q[2] - (1 - 0.5 * 9.81 * 0.01)) < 1e-9;
}

bool reads_a_robot() {
  std::ofstream("pendulum.urdf") << pendulum;
  bristle::scene::Parts parts;
  bristle::scene::Problems problems;
  bristle::scene::RobotOptions options;
  options.base = "fixed";
  if (!bristle::scene::read_urdf("pendulum.urdf", options, parts, problems)) {
    std::cerr << problems.text() << '\n';
    return false;
  }
  bristle::ModelBuilder builder;
  for (const auto& body : parts.bodies) builder.add_body(body);
  for (const auto& joint : parts.joints) builder.add_joint(joint);
  const auto model = builder.build();
  return model && model->tree.velocity_count() == 1;
}

}  // namespace

int main() {
  const bool good = falls() && reads_a_robot();
  std::puts(good ? "scene: good" : "scene: wrong");
  return good ? 0 : 1;
}
