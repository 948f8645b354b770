#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "files/read_file.hpp"
#include "scene/draft.hpp"
#include "scene/mesh_file.hpp"
#include "scene/mjcf.hpp"
#include "scene/robot_scene.hpp"
#include "scene/toml_text.hpp"
#include "scene/urdf.hpp"
#include "scene/xml.hpp"

namespace bristle::scene {

namespace {

/// A number, or a list of numbers; else empty.
std::vector<double> positions_of(const toml::node& node) {
  std::vector<double> all;
  if (const auto one = number_in(node)) return {*one};
  const toml::array* list = node.as_array();
  if (list == nullptr) return all;
  for (const toml::node& one : *list) {
    const auto value = number_in(one);
    if (!value) return {};
    all.push_back(*value);
  }
  return all;
}

/// Where the joints of a robot begin, by their names.
void read_start(const Section& at, const Parts& robot, Draft& draft) {
  const toml::table* start = at.table("start");
  if (start == nullptr) return;
  for (const auto& [name, node] : *start) {
    const auto joint =
        std::find_if(robot.joints.begin(), robot.joints.end(),
                     [&](const JointSpec& j) { return j.name == name.str(); });
    if (joint == robot.joints.end()) {
      std::vector<std::string_view> names;
      for (const JointSpec& j : robot.joints) names.push_back(j.name);
      at.error("start", fmt::format("start.{}: there is no such joint in the robot{}",
                                    name.str(), did_you_mean(name.str(), names)));
      continue;
    }
    const auto count = static_cast<std::size_t>(position_count(joint->type));
    std::vector<double> q = positions_of(node);
    if (q.size() != count || count == 0) {
      at.error("start",
               fmt::format("start.{} must be {} of its joint, which is {}", name.str(),
                           count == 1 ? "the position"
                                      : fmt::format("a list of the {} positions", count),
                           joint_type_name(joint->type)));
      continue;
    }
    if (const int turn = quaternion_at(joint->type); turn >= 0) {
      const auto w = q.begin() + turn;
      const double size = std::sqrt(std::inner_product(w, w + 4, w, 0.0));
      if (!(size > 1e-6)) {
        at.error("start", fmt::format("start.{}: the quaternion w, x, y, z must not be "
                                      "zero",
                                      name.str()));
        continue;
      }
      std::transform(w, w + 4, w, [&](double x) { return x / size; });
    }
    auto& all = draft.parts.start;
    std::erase_if(all, [&](const InitialJoint& s) { return s.joint == joint->name; });
    all.push_back({.joint = joint->name, .q = std::move(q), .v = {}});
  }
}

}  // namespace

std::optional<Shape> read_mesh(const Section& at, const std::string& file, double scale,
                               bool hull, Draft& draft) {
  const RobotOptions options{.base = "fixed", .meshes = hull ? "hull" : "mesh"};
  Meshes meshes(options, *draft.parts.geometry, *draft.source.problems);
  const std::string path = resolve(file, draft.folder(), options);
  const Triangles* triangles = meshes.read(path, at.place_of("file"), at.what());
  if (triangles == nullptr) return std::nullopt;
  return meshes.shape(path, *triangles, {scale, scale, scale}, at.place_of("file"),
                      at.what());
}

void read_robots(const Section& scene, Draft& draft) {
  const auto robots = scene.tables("robots");
  for (std::size_t i = 0; i < robots.size(); ++i) {
    const Section at(*robots[i], robot_keys, fmt::format("robot {}", i + 1),
                     draft.source);
    const std::string file = at.text_or("file", "");
    if (file.empty()) continue;
    RobotOptions options;
    options.base = at.text_or("base", "fixed");
    options.meshes = at.text_or("meshes", "hull");
    options.key = at.text_or("key", "");
    options.surface = at.text_or("surface", "");
    options.packages = at.texts("packages");
    options.pose = pose_of(at).value_or(Transform<double>{});
    const std::string path = resolve(file, draft.folder(), options);
    const auto text = files::read_file(path, xml::max_bytes);
    if (!text) {
      at.error("file", fmt::format("file = \"{}\": cannot read {}: {}", file, path,
                                   text.error()));
      continue;
    }
    const std::size_t bodies = draft.parts.bodies.size();
    const auto read =
        robot_format(*text) == RobotFormat::mjcf ? read_mjcf_text : read_urdf_text;
    const bool good = read(*text, path, options, draft.parts, *draft.source.problems);
    if (!good) continue;
    for (std::size_t k = bodies; k < draft.parts.bodies.size(); ++k) {
      const BodySpec& body = draft.parts.bodies[k];
      draft.claim("body", body.name, at);
    }
    draft.place_robot(at);
    for (std::size_t k = bodies; k < draft.parts.bodies.size(); ++k) {
      draft.robot_of.try_emplace(draft.parts.bodies[k].name, draft.robots.size());
    }
    draft.robots.push_back({.self_collision = at.flag("self_collision", true),
                            .hold = at.text_or("control", "file") == "hold",
                            .place = at.place_of("file")});
    read_start(at, draft.parts, draft);
  }
}

}  // namespace bristle::scene
