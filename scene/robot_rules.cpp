#include "scene/robot_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <set>

#include "bristle/model/pair_laws.hpp"
#include "bristle/step/system.hpp"
#include "scene/start.hpp"

namespace bristle::scene {

namespace {

constexpr double holding_rate =
    2 * std::numbers::pi * 30;  // of held joints alone [rad/s]
constexpr std::size_t most_named = 6;

/// The robot that a body belongs to; −1: none.
int robot_of(const Draft& draft, std::string_view body) {
  const auto found = draft.robot_of.find(body);
  return found == draft.robot_of.end() ? -1 : static_cast<int>(found->second);
}

std::string body_of(const Model& model, std::uint32_t shape) {
  const int body = model.shapes[shape].body;
  return body < 0 ? std::string(world_name)
                  : model.tree.bodies()[static_cast<std::size_t>(body)].name;
}

}  // namespace

void add_holding_motors(Draft& draft) {
  std::set<std::string> driven;
  for (const MotorSpec& motor : draft.parts.motors) driven.insert(motor.joint);
  for (const CouplingSpec& coupling : draft.parts.couplings) {
    if (!coupling.terms.empty()) driven.insert(coupling.terms.front().joint);
  }
  for (const JointSpec& joint : draft.parts.joints) {
    const int robot = robot_of(draft, joint.child);
    if (robot < 0 || !draft.robots[static_cast<std::size_t>(robot)].hold) continue;
    const bool single =
        joint.type == JointType::revolute || joint.type == JointType::prismatic;
    if (!single || driven.contains(joint.name)) continue;
    MotorSpec motor;
    motor.name = joint.name + ".hold";
    motor.joint = joint.name;
    motor.kind = MotorKind::position;
    motor.frequency = holding_rate;
    motor.damping_ratio = 1;
    const auto start =
        std::ranges::find(draft.parts.start, joint.name, &InitialJoint::joint);
    if (start != draft.parts.start.end() && !start->q.empty()) {
      motor.target.offset = start->q.front();
    }
    draft.parts.motors.push_back(std::move(motor));
  }
}

namespace {

/// Of every link, the mass that resists a push on its centre of mass with every joint at
/// neutral; 0 where it has none.
std::vector<double> apparent_masses(const Tree& tree, const State& neutral) {
  Workspace<double> ws(tree);
  kinematics<double>(tree, neutral.q, neutral.v, ws);
  factorise<double>(tree, ws, {});
  const auto links = static_cast<std::size_t>(tree.link_count());
  const auto velocities = static_cast<std::size_t>(tree.velocity_count());
  std::vector<double> mass(links, 0);
  std::vector<double> halves(3 * velocities), matrix(9);
  for (std::size_t i = 1; i < links; ++i) {
    const Inertia<double>& inertia = tree.constants()[i].inertia;
    if (!(inertia.mass > 0)) continue;
    const Vec3<double> centre = ws.poses[i] * ((1 / inertia.mass) * inertia.moment);
    const Vec3<double> axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    JacobianRow<double> rows[3];
    for (int k = 0; k < 3; ++k) {
      rows[k] =
          row_at_point<double>(ws, world_link, static_cast<int>(i), centre, axes[k]);
    }
    inverse_inertia<double>(tree, rows, ws, halves, matrix);
    const double mobility = (matrix[0] + matrix[4] + matrix[8]) / 3;
    // A link that turns about its centre alone cannot be pushed.
    constexpr double most = 100;
    const double least = 1 / (most * inertia.mass);
    if (std::isfinite(mobility)) mass[i] = 1 / std::max(mobility, least);
  }
  return mass;
}

/// Of every link, the mass of all that moves freely with it; 0 where that is fixed.
std::vector<double> free_masses(const Tree& tree) {
  const auto links = static_cast<std::size_t>(tree.link_count());
  std::vector<double> mass(links, 0);
  std::vector<std::size_t> root(links, 0);
  for (std::size_t i = 1; i < links; ++i) {
    const Link& link = tree.link(static_cast<int>(i));
    root[i] =
        link.type == JointType::free ? i : root[static_cast<std::size_t>(link.parent)];
    mass[root[i]] += tree.constants()[i].inertia.mass;
  }
  mass[0] = 0;
  for (std::size_t i = 1; i < links; ++i) mass[i] = mass[root[i]];
  return mass;
}

}  // namespace

void find_apparent_masses(const Model& model, Draft& draft) {
  constexpr double sharing = 4;  // contacts that carry a robot
  const Tree& tree = model.tree;
  const std::vector<double> own = apparent_masses(tree, make_state(model));
  const std::vector<double> free = free_masses(tree);
  std::set<std::string_view> soft;
  for (const SoftRule& rule : draft.parts.soft_rules) soft.insert({rule.a, rule.b});
  std::map<std::string_view, double> loads;  // over the own mass, by shape and surface
  for (ShapeSpec& shape : draft.parts.shapes) {
    if (robot_of(draft, shape.body) < 0) continue;
    const Body* body = tree.find_body(shape.body);
    if (body == nullptr) continue;
    const auto link = static_cast<std::size_t>(body->link);
    const double carried = free[link] / sharing;
    const bool by_file = soft.contains(shape.surface);
    shape.apparent_mass = by_file ? own[link] : std::max(own[link], carried);
    if (!(own[link] > 0)) continue;
    for (const std::string* name : {&shape.name, &shape.surface}) {
      double& most = loads.try_emplace(*name, 1).first->second;
      most = std::max(most, carried / own[link]);
    }
  }
  const double gravity = norm(tree.gravity());
  const auto load_on = [&](const std::string& name) {
    const auto found = loads.find(name);
    return found == loads.end() ? 1.0 : found->second;
  };
  std::map<std::pair<std::string_view, std::string_view>, const Softness*> softness;
  for (const SoftRule& rule : draft.parts.soft_rules) {
    softness[{rule.a, rule.b}] = &rule.softness;
  }
  for (ContactSpec& rule : draft.parts.contacts) {
    const auto found = softness.find({rule.a, rule.b});
    if (found == softness.end() || !(rule.from_pair.frequency > 0)) continue;
    const double load = std::max(load_on(rule.a), load_on(rule.b));
    rule.from_pair.frequency = found->second->frequency_under(
        load * (gravity >= 1 ? gravity : reference_gravity));
  }
}

bool keep_robots_apart(const Model& model, const State& start, Draft& draft) {
  std::set<std::pair<std::string, std::string>> apart;
  const auto bodies = model.tree.bodies();
  for (std::size_t a = 0; a < bodies.size(); ++a) {
    const int robot = robot_of(draft, bodies[a].name);
    if (robot < 0 || draft.robots[static_cast<std::size_t>(robot)].self_collision)
      continue;
    for (std::size_t b = a + 1; b < bodies.size(); ++b) {
      if (robot_of(draft, bodies[b].name) == robot) {
        apart.emplace(bodies[a].name, bodies[b].name);
      }
    }
  }
  std::vector<std::set<std::pair<std::string, std::string>>> overlapping(
      draft.robots.size());
  State neutral = make_state(model);
  for (const Joint& joint : model.tree.joints()) {  // bases stay where they begin
    if (joint.type != JointType::free) continue;
    std::copy_n(start.q.begin() + joint.q, 7, neutral.q.begin() + joint.q);
  }
  for (const State* state : {static_cast<const State*>(&neutral), &start}) {
    for (const StartOverlap& overlap : inspect_start(model, *state).overlaps) {
      if (overlap.rests()) continue;
      std::string a = body_of(model, overlap.a), b = body_of(model, overlap.b);
      const int robot = robot_of(draft, a);
      if (robot < 0 || robot != robot_of(draft, b)) continue;
      if (b < a) std::swap(a, b);
      overlapping[static_cast<std::size_t>(robot)].emplace(a, b);
      apart.emplace(a, b);
    }
  }
  for (std::size_t robot = 0; robot < overlapping.size(); ++robot) {
    const auto& pairs = overlapping[robot];
    if (pairs.empty()) continue;
    std::string names;
    std::size_t named = 0;
    for (const auto& [a, b] : pairs) {
      if (++named > most_named) break;
      names += fmt::format("{}\"{}\" and \"{}\"", names.empty() ? "" : ", ", a, b);
    }
    draft.source.problems->warning(
        draft.robots[robot].place,
        fmt::format("bodies of the robot that overlap, with every joint at neutral or at "
                    "the start, never touch: {}{}",
                    names,
                    pairs.size() > most_named
                        ? fmt::format(", and {} pairs more", pairs.size() - most_named)
                        : ""));
  }
  for (const auto& [a, b] : apart) {
    ContactSpec rule;
    rule.a = a;
    rule.b = b;
    rule.touches = false;
    draft.parts.contacts.push_back(std::move(rule));
  }
  return !apart.empty();
}

}  // namespace bristle::scene
