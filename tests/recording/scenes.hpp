#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>

#include "bristle/run.hpp"
#include "recording/recorder.hpp"
#include "tests/validation/scenes.hpp"

// What the tests record.

namespace bristle::recording {

using validation::add_free;
using validation::ball_inertia;
using validation::box_inertia;
using validation::built;
using validation::numbered;
using validation::put;

/// A folder of its own, gone when the test is over.
class Scratch {
 public:
  Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "recording-XXXXXX");
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    folder_ = name;
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  std::string operator/(const std::string& file) const { return folder_ / file; }
  std::string path() const { return folder_; }

 private:
  std::filesystem::path folder_;
};

/// Balls, a box and a capsule that fall, bounce and slide.
inline Model tumbling() {
  ModelBuilder builder;
  builder.add_shape({.name = "ground", .shape = Plane{}});
  add_free(builder, "ball", 1, ball_inertia(1, 0.1), Sphere{0.1});
  add_free(builder, "box", 2, box_inertia(2, {0.1, 0.08, 0.06}), Box{{0.1, 0.08, 0.06}});
  add_free(builder, "rod", 1, Sym3<double>::diagonal(0.01, 0.01, 0.001),
           Capsule{0.04, 0.1});
  builder.add_contact(
      {.normal = choose<GonthierNormal>({.stiffness = 1e6,
                                         .exponent = 1.5,
                                         .restitution = 0.6,
                                         .impact_speed_floor = 0.1}),
       .friction = choose<SpringSlider>({.mu = 0.6, .stiffness = 2e4, .damping = 20})});
  return built(builder);
}

inline State thrown(const Model& model) {
  State state = make_state(model);
  put(model, state, "ball", {0, 0, 0.2}, {1, 0, -1}, {3, 2, 1});
  put(model, state, "box", {0.05, 0, 0.5}, {0, 0.5, 0}, {1, -2, 3});
  put(model, state, "rod", {0, 0.05, 0.9}, {0, 0, -0.5}, {4, 1, 0});
  return state;
}

/// A ball that slides on the ground under every law of contact points, in pairs.
inline Model every_law() {
  // Contact points have no volume.
  std::vector<const LawEntry*> normals;
  for (const LawEntry* law : laws_of(LawFamily::normal)) {
    if (!law->volumetric) normals.push_back(law);
  }
  const auto frictions = laws_of(LawFamily::friction);
  ModelBuilder builder;
  builder.add_shape({.name = "ground", .shape = Plane{}});
  for (std::size_t i = 0; i < std::max(normals.size(), frictions.size()); ++i) {
    const std::string name = numbered("ball ", static_cast<int>(i));
    const auto next_of = [i](std::span<const LawEntry* const> laws) {
      return *choose(laws[i % laws.size()]->info.name, {});
    };
    add_free(builder, name, 1, ball_inertia(1, 0.1), Sphere{0.1});
    builder.add_contact({.a = "ground",
                         .b = name,
                         .normal = next_of(normals),
                         .friction = next_of(frictions)});
  }
  builder.options({.contact_capacity = 0, .contact_ledger = true});
  return built(builder);
}

inline State sliding(const Model& model) {
  State state = make_state(model);
  double x = 0;
  for (const Body& body : model.tree.bodies()) {
    put(model, state, body.name, {x, 0, 0.1}, {0.05, 0.4, -0.1}, {1, -2, 0.5});
    x += 1;
  }
  return state;
}

/// Seven revolute joints, and a hand that presses on a table; driven: with limits,
/// friction and motors.
inline Model make_arm(bool driven) {
  ModelBuilder builder;
  builder.add_shape({.name = "table", .shape = Plane{}, .pose = {.p = {0, 0, -0.2}}});
  std::string parent("world");
  constexpr double unlimited = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 7; ++i) {
    const std::string name = numbered("link ", i);
    builder.add_body({.name = name,
                      .mass = 2 - 0.2 * i,
                      .com = {0.1, 0, 0},
                      .inertia = Sym3<double>::diagonal(0.002, 0.01, 0.01)});
    builder.add_joint({.name = numbered("joint ", i),
                       .parent = parent,
                       .child = name,
                       .type = JointType::revolute,
                       .on_parent = {.p = {i == 0 ? 0 : 0.2, 0, 0}},
                       .axis = i % 2 == 0 ? Vec3<double>{0, 1, 0} : Vec3<double>{0, 0, 1},
                       .damping = 0.5,
                       .friction = driven ? 0.2 : 0,
                       .lower = driven ? -2.5 : -unlimited,
                       .upper = driven ? 2.5 : unlimited});
    if (driven) {
      builder.add_motor({.name = numbered("motor ", i),
                         .joint = numbered("joint ", i),
                         .kind = MotorKind::position,
                         .kp = 200,
                         .kd = 10,
                         .target = {.offset = i % 2 == 0 ? 0.15 : 0.1,
                                    .amplitude = 0.2,
                                    .frequency = 6.0 + i}});
    }
    parent = name;
  }
  builder.add_shape({.name = "hand",
                     .body = parent,
                     .shape = Sphere{0.05},
                     .pose = {.p = {0.2, 0, 0}}});
  builder.add_contact(
      {.normal = choose<HuntCrossley>(default_params<HuntCrossley>()),
       .friction = choose<SpringSlider>({.mu = 0.6, .stiffness = 2e4, .damping = 20})});
  return built(builder);
}

inline Model arm() { return make_arm(true); }
inline Model bare_arm() { return make_arm(false); }

}  // namespace bristle::recording
