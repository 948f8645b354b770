#include <algorithm>
#include <cmath>

#include "scene/mjcf_reading.hpp"

namespace bristle::scene::mjcf {

Transform<double> Reading::in_body(int index) const {
  return index == 0 ? options_.pose : Transform<double>{};
}

void Reading::read_loop(const Element& e) {
  const View v{&e, -1, called(e.tag, e.value("name"))};
  if (e.value("active") == "false") {
    unread_.count(e.tag + " that is not active", Consequence::nothing);
    return;
  }
  LoopSpec loop;
  loop.kind = e.tag == "connect" ? LoopKind::point : LoopKind::weld;
  if (e.find("body1") == nullptr) {
    if (!read_loop_of_sites(e, v, loop)) return;
  } else {
    const int a = body_named(e, "body1");
    const int b = e.find("body2") == nullptr ? 0 : body_named(e, "body2");
    if (a < 0 || b < 0) return;
    if (bodies_[static_cast<std::size_t>(a)].group ==
        bodies_[static_cast<std::size_t>(b)].group) {
      unread_.count(e.tag + " within one rigid body", Consequence::nothing);
      return;
    }
    if (e.tag == "connect" && e.find("anchor") == nullptr) {
      error(e.place(), {v.who, ": it must have anchor"});
      return;
    }
    place_loop(v, a, b, loop);
  }
  loop.name = loop_names_.fresh(e.value("name").empty() ? words({loop.body_a, ".", e.tag})
                                                        : std::string(e.value("name")));
  parts.loops.push_back(std::move(loop));
}

/// Two sites that coincide.
bool Reading::read_loop_of_sites(const Element& e, const View& v, LoopSpec& loop) {
  const SiteRecord* sites[2];
  const char* attributes[2] = {"site1", "site2"};
  for (int i = 0; i < 2; ++i) {
    const Attribute* name = e.find(attributes[i]);
    if (name == nullptr) {
      error(e.place(), {v.who, ": it must have body1, or site1 and site2"});
      return false;
    }
    const auto found = sites_.find(name->value);
    if (found == sites_.end()) {
      error(name->place(), {v.who, ": ", attributes[i], " = \"", shown(name->value),
                            "\" must be a site of the model"});
      return false;
    }
    sites[i] = &found->second;
  }
  const BodyRecord& one = bodies_[static_cast<std::size_t>(sites[0]->body)];
  const BodyRecord& two = bodies_[static_cast<std::size_t>(sites[1]->body)];
  if (one.group == two.group) return false;
  loop.body_a = one.name;
  loop.body_b = two.name;
  loop.pose_a = sites[0]->pose;
  loop.pose_b = sites[1]->pose;
  return true;
}

void Reading::place_loop(const View& v, int a, int b, LoopSpec& loop) {
  const BodyRecord& one = bodies_[static_cast<std::size_t>(a)];
  const BodyRecord& two = bodies_[static_cast<std::size_t>(b)];
  loop.body_a = one.name;
  loop.body_b = two.name;
  if (loop.kind == LoopKind::point) {
    loop.pose_a.p = in_body(a) * vector(v, "anchor", {0, 0, 0});
    loop.pose_b.p = inverse(two.pose) * (one.pose * loop.pose_a.p);
    return;
  }
  loop.pose_a = inverse(one.pose) * two.pose;
  const auto n = numbers(v, "relpose", 7, 7);
  if (!n) return;
  const Quaternion<double> q{(*n)[3], (*n)[4], (*n)[5], (*n)[6]};
  const double size = std::sqrt(norm2(q));
  if (!(size > 0)) return;  // they stay as they are
  const Quaternion<double> unit{q.w / size, q.x / size, q.y / size, q.z / size};
  loop.pose_a =
      in_body(a) * Transform<double>{to_matrix(unit), {(*n)[0], (*n)[1], (*n)[2]}};
  loop.pose_b = in_body(b);
}

/// A hinge or slide that an element names; nullptr, and the problem, where there is none.
const JointRecord* Reading::single_joint(const Element& e, const char* attribute,
                                         const std::string& who) {
  const Attribute* name = e.find(attribute);
  if (name == nullptr) {
    error(e.place(), {who, ": it must have ", attribute});
    return nullptr;
  }
  const auto found = joint_of_.find(name->value);
  if (found == joint_of_.end() || velocity_count(joints_[found->second].type) != 1) {
    error(name->place(), {who, ": ", attribute, " = \"", shown(name->value),
                          "\" must be a hinge or slide joint of the model"});
    return nullptr;
  }
  return &joints_[found->second];
}

/// y − y₀ = c₀ + c₁ (x − x₀), where our positions are y − y₀ and x − x₀.
void Reading::read_joint_equality(const Element& e) {
  const View v = view(e, main_class, e.value("name"));
  if (e.value("active") == "false") return;
  const JointRecord* one = single_joint(e, "joint1", v.who);
  const JointRecord* two =
      e.find("joint2") == nullptr ? nullptr : single_joint(e, "joint2", v.who);
  if (one == nullptr || (e.find("joint2") != nullptr && two == nullptr)) return;
  std::vector<double> c{0, 1, 0, 0, 0};
  if (const auto n = numbers(v, "polycoef", 1, 5))
    std::copy(n->begin(), n->end(), c.begin());
  if (two != nullptr && (c[2] != 0 || c[3] != 0 || c[4] != 0)) {
    unread_.count("joint equality by a curve", Consequence::uncoupled);
    return;
  }
  CouplingSpec coupling;
  coupling.name =
      coupling_names_.fresh(e.value("name").empty() ? words({one->name, ".equality"})
                                                    : std::string(e.value("name")));
  coupling.terms.push_back({one->name, 1});
  if (two != nullptr && c[1] != 0) coupling.terms.push_back({two->name, -c[1]});
  coupling.rest = c[0];
  coupling.frequency = softness(v, "solref", "solimp").frequency();
  parts.couplings.push_back(std::move(coupling));
}

/// L − L₀ = c₀ + c₁ (L' − L'₀) of two fixed tendons, L₀ with every joint at its
/// reference.
void Reading::read_tendon_equality(const Element& e) {
  const View v = view(e, main_class, e.value("name"));
  if (e.value("active") == "false") return;
  std::vector<double> c{0, 1, 0, 0, 0};
  if (const auto n = numbers(v, "polycoef", 1, 5))
    std::copy(n->begin(), n->end(), c.begin());
  std::map<std::string, double> weights;
  for (const char* attribute : {"tendon1", "tendon2"}) {
    const bool first = attribute[6] == '1';
    const Attribute* name = e.find(attribute);
    if (name == nullptr) {
      if (!first) continue;
      error(e.place(), {v.who, ": it must have tendon1"});
      return;
    }
    const auto tendon = tendons_.find(name->value);
    if (tendon == tendons_.end()) {
      error(name->place(), {v.who, ": ", attribute, " = \"", shown(name->value),
                            "\" must be a tendon of the model"});
      return;
    }
    if (!parts.couplings[tendon->second.spec].path.empty()) {
      unread_.count("equality of a spatial tendon", Consequence::uncoupled);
      return;
    }
    if (!first && (c[2] != 0 || c[3] != 0 || c[4] != 0)) {
      unread_.count("tendon equality by a curve", Consequence::uncoupled);
      return;
    }
    for (const CouplingSpec::Term& term : parts.couplings[tendon->second.spec].terms) {
      weights[term.joint] += (first ? 1 : -c[1]) * term.weight;
    }
  }
  std::erase_if(weights, [](const auto& w) { return w.second == 0; });
  if (weights.empty()) return;
  CouplingSpec coupling;
  coupling.name = coupling_names_.fresh(e.value("name").empty()
                                            ? words({e.value("tendon1"), ".equality"})
                                            : std::string(e.value("name")));
  for (const auto& [joint, weight] : weights) coupling.terms.push_back({joint, weight});
  coupling.rest = c[0];
  coupling.frequency = softness(v, "solref", "solimp").frequency();
  parts.couplings.push_back(std::move(coupling));
}

}  // namespace bristle::scene::mjcf
