#include "bristle/model/assembly.hpp"

#include <cmath>

#include "bristle/laws/choice.hpp"

namespace bristle::assembly {

namespace {

using checks::quoted;

bool is_rotation(const Mat3<double>& r) {
  constexpr double tolerance = 1e-6;
  return std::abs(dot(r.x, r.x) - 1) < tolerance &&
         std::abs(dot(r.y, r.y) - 1) < tolerance && std::abs(dot(r.x, r.y)) < tolerance &&
         norm2(cross(r.x, r.y) - r.z) < tolerance * tolerance;
}

}  // namespace

bool is_pose(const Transform<double>& x) { return checks::finite(x) && is_rotation(x.R); }

std::string did_you_mean(std::string_view word,
                         const std::vector<std::string_view>& words) {
  const std::string_view close = nearest(word, words);
  if (close.empty()) return {};
  return "; did you mean " + quoted(close) + "?";
}

const Body* find_body(const Model& model, const std::string& name, const Subject& who,
                      std::string_view field, Problem& problem) {
  const Body* body = model.tree.find_body(name);
  if (body != nullptr) return body;
  std::vector<std::string_view> names;
  for (const Body& other : model.tree.bodies()) names.push_back(other.name);
  problem =
      who.error(field, "there is no body " + quoted(name) + did_you_mean(name, names));
  return nullptr;
}

const Joint* find_moving_joint(const Model& model, const std::string& name,
                               const Subject& who, std::string_view field,
                               Problem& problem) {
  const Joint* joint = model.tree.find_joint(name);
  if (joint != nullptr && joint->v >= 0) return joint;
  std::vector<std::string_view> names;
  for (const Joint& other : model.tree.joints()) {
    if (other.v >= 0) names.push_back(other.name);
  }
  problem = who.error(
      field, "there is no moving joint " + quoted(name) + did_you_mean(name, names));
  return nullptr;
}

Problem check_laws(const Subject& who, const LawChoice* normal,
                   const LawChoice* friction) {
  if (normal != nullptr) {
    if (*normal == LawChoice{}) return who.error("normal", "no normal law was chosen");
    const std::string message = out_of_range(*normal);
    if (!message.empty()) return who.error("normal", message);
    if (normal->family != LawFamily::normal) {
      return who.error("normal", std::string(entry_of(*normal).info.name) +
                                     " is a friction law, a normal law is needed");
    }
  }
  if (friction != nullptr) {
    const std::string message = out_of_range(*friction);
    if (!message.empty()) return who.error("friction", message);
    if (friction->family != LawFamily::friction) {
      return who.error("friction", std::string(entry_of(*friction).info.name) +
                                       " is a normal law, a friction law is needed");
    }
  }
  return {};
}

std::vector<Transform<double>> neutral_poses(const Tree& tree) {
  std::vector<Transform<double>> poses(at(tree.link_count()));
  for (int i = 1; i < tree.link_count(); ++i) {
    poses[at(i)] = poses[at(tree.link(i).parent)] * tree.constants()[at(i)].joint;
  }
  return poses;
}

}  // namespace bristle::assembly
