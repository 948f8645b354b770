#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "bristle/spatial/frame.hpp"
#include "scene/draft.hpp"

namespace bristle::scene {

void check_unit(const Section& at, std::string_view name, bool linear) {
  if (!at.has(name)) return;
  const std::string key = at.key_of(name);
  const std::string_view unit = std::string_view(key).substr(name.size() + 1);
  const bool of_length = unit == "m" || unit == "mm" || unit == "m_s" || unit == "mm_s" ||
                         unit == "N" || unit == "N_m" || unit == "N_s_m" || unit == "kg";
  if (of_length == linear) return;
  std::string right(name);
  for (const auto& [turn, shift] :
       {std::pair{"deg", "m"}, std::pair{"rad", "m"}, std::pair{"deg_s", "m_s"},
        std::pair{"rad_s", "m_s"}, std::pair{"Nm", "N"}, std::pair{"Nm_rad", "N_m"},
        std::pair{"Nm_s_rad", "N_s_m"}, std::pair{"kg_m2", "kg"}}) {
    if (unit == (linear ? turn : shift)) {
      right += '_';
      right += linear ? shift : turn;
      break;
    }
  }
  at.error(name, fmt::format("{} does not fit a joint that {}; write {}", key,
                             linear ? "moves along its axis" : "turns", right));
}

namespace {

JointType type_of(std::string_view name) {
  for (int i = 0; i < joint_type_count; ++i) {
    const auto type = static_cast<JointType>(i);
    if (joint_type_name(type) == name) return type;
  }
  return JointType::fixed;
}

bool has_one_axis(JointType type) {
  return type == JointType::revolute || type == JointType::prismatic;
}

/// A body by name, the world included; says so when there is none.
bool known_body(const Section& at, std::string_view key, const std::string& name,
                const Draft& draft) {
  if (name == world_name || draft.fixed.contains(name) ||
      draft.names.contains({"body", name})) {
    return true;
  }
  std::vector<std::string_view> names{world_name};
  names.reserve(draft.parts.bodies.size() + 1);
  for (const BodySpec& body : draft.parts.bodies) names.push_back(body.name);
  at.error(key, fmt::format("{} = \"{}\": there is no such body{}", at.key_of(key), name,
                            did_you_mean(name, names)));
  return false;
}

/// A body that there is and that can move, or it is said that it cannot.
bool moving_body(const Section& at, std::string_view key, const std::string& name,
                 const Draft& draft) {
  if (!known_body(at, key, name, draft)) return false;
  if (name != world_name && !draft.fixed.contains(name)) return true;
  at.error(key, fmt::format("{} = \"{}\" is part of the world; it cannot move",
                            at.key_of(key), name));
  return false;
}

/// A vector that gives no direction, which is said then.
bool is_zero(const Section& at, std::string_view key, const Vec3<double>& vector) {
  if (norm(vector) > 1e-9) return false;
  at.error(key, fmt::format("{} must not be zero", shown(key, *at.node(key))));
  return true;
}

/// What stands on a fixed body stands in the world.
void in_the_world(std::string& body, Transform<double>& pose, const Draft& draft) {
  const auto fixed = draft.fixed.find(body);
  if (fixed == draft.fixed.end()) return;
  body = world_name;
  pose = fixed->second * pose;
}

/// Limits, springs, losses and what else acts along the joint's own positions.
void read_joint_forces(const Section& at, JointSpec& joint) {
  if (has_one_axis(joint.type)) {
    for (const char* key :
         {"start", "start_rate", "lower", "upper", "damping", "stiffness", "rest",
          "friction", "armature", "effort_limit"}) {
      check_unit(at, key, joint.type == JointType::prismatic);
    }
  }
  joint.damping = at.number_or("damping", 0);
  joint.stiffness = at.number_or("stiffness", 0);
  joint.rest = at.number_or("rest", 0);
  joint.friction = at.number_or("friction", 0);
  joint.armature = at.number_or("armature", 0);
  joint.effort_limit = at.number_or("effort_limit", joint.effort_limit);
  joint.lower = at.number_or("lower", joint.lower);
  joint.upper = at.number_or("upper", joint.upper);
  if (joint.lower > joint.upper) {
    at.error("upper", fmt::format("{} must not be below {}",
                                  shown(at.key_of("upper"), *at.node("upper")),
                                  shown(at.key_of("lower"), *at.node("lower"))));
  }
}

/// What a joint connects, where, and how it moves; nothing where a body is not there.
std::optional<JointSpec> read_joint(const Section& at, std::size_t number, Draft& draft) {
  JointSpec joint;
  joint.name = at.text_or("name", fmt::format("joint {}", number + 1));
  draft.claim("joint", joint.name, at);
  joint.type = type_of(at.text_or("type", "fixed"));
  joint.parent = at.text_or("parent", world_name);
  joint.child = at.text_or("child", "");
  if (!known_body(at, "parent", joint.parent, draft)) return std::nullopt;
  if (!joint.child.empty() && !moving_body(at, "child", joint.child, draft)) {
    return std::nullopt;
  }
  joint.on_parent = pose_of(at).value_or(Transform<double>{});
  in_the_world(joint.parent, joint.on_parent, draft);
  joint.on_child =
      pose_of(at, "child_position", "child_rotation", "").value_or(Transform<double>{});
  if (const auto axis = at.vector("axis")) {
    if (!has_one_axis(joint.type)) {
      at.error("axis",
               "axis belongs to revolute and prismatic joints; turn the joint with "
               "rotation_deg");
    }
    is_zero(at, "axis", *axis);
    joint.axis = *axis;
  }
  read_joint_forces(at, joint);
  return joint;
}

/// The keys of a joint's start, and the types that have them.
constexpr std::pair<std::string_view, std::string_view> start_keys[] = {
    {"start", "revolute|prismatic"},        {"start_rate", "revolute|prismatic"},
    {"start_angles", "universal|planar"},   {"start_angle_rates", "universal|planar"},
    {"start_position", "planar"},           {"start_velocity", "planar"},
    {"start_rotation", "spherical"},        {"start_quaternion", "spherical"},
    {"start_angular_velocity", "spherical"}};

/// As many numbers as the type has angles; zeros where the key is left out.
std::vector<double> angles_of(const Section& at, std::string_view key, JointType type) {
  const std::size_t count = type == JointType::universal ? 2 : 1;
  std::vector<double> angles = at.numbers(key);
  if (at.has(key) && angles.size() != count) {
    at.error(key, fmt::format(
                      "{} must be {} of a {} joint", shown(at.key_of(key), *at.node(key)),
                      count == 1 ? "one number" : "two numbers", joint_type_name(type)));
  }
  angles.resize(count);
  return angles;
}

std::vector<double> numbers_or_zeros(const Section& at, std::string_view key,
                                     std::size_t count) {
  std::vector<double> all = at.numbers(key);
  all.resize(count);
  return all;
}

/// Positions and velocities at the start, where some key says them.
void read_start_keys(const Section& at, JointType type, InitialJoint& begin) {
  bool any = false;
  for (const auto& [key, types] : start_keys) {
    at.only("type", key, types);
    any = any || at.has(key);
  }
  if (!any) return;
  if (has_one_axis(type)) {
    begin.q = {at.number_or("start", 0)};
    begin.v = {at.number_or("start_rate", 0)};
  } else if (type == JointType::universal) {
    begin.q = angles_of(at, "start_angles", type);
    begin.v = angles_of(at, "start_angle_rates", type);
  } else if (type == JointType::planar) {
    begin.q = numbers_or_zeros(at, "start_position", 2);
    begin.v = numbers_or_zeros(at, "start_velocity", 2);
    begin.q.push_back(angles_of(at, "start_angles", type).front());
    begin.v.push_back(angles_of(at, "start_angle_rates", type).front());
  } else if (type == JointType::spherical) {
    const Transform<double> turned = pose_of(at, "", "start_rotation", "start_quaternion")
                                         .value_or(Transform<double>{});
    const Quaternion<double> q = from_matrix(turned.R);
    begin.q = {q.w, q.x, q.y, q.z};
    begin.v = numbers_or_zeros(at, "start_angular_velocity", 3);
  }
}

/// Where a joint begins. The place of its child follows from it, unless it is free.
void read_start(const Section& at, const JointSpec& joint,
                const std::map<std::string, std::size_t, std::less<>>& start_of,
                Draft& draft) {
  auto& start = draft.parts.start;
  const auto of_body = start_of.find(joint.child);
  const auto old = of_body == start_of.end()
                       ? start.end()
                       : start.begin() + static_cast<std::ptrdiff_t>(of_body->second);
  InitialJoint begin{.joint = joint.name, .q = {}, .v = {}};
  if (joint.type == JointType::free && old != start.end()) {
    begin.q = old->q;
    begin.v = old->v;
  }
  read_start_keys(at, joint.type, begin);
  const auto placed = draft.placed.find(joint.child);
  if (placed != draft.placed.end() && joint.type != JointType::free) {
    draft.source.problems->warning(
        draft.body_places[joint.child],
        fmt::format("body \"{}\": {} ignored: place and motion follow from joint \"{}\"",
                    joint.child, fmt::join(placed->second, ", "), joint.name));
  }
  if (old != start.end()) {
    *old = std::move(begin);  // without positions: the neutral ones
  } else if (!begin.q.empty()) {
    start.push_back(std::move(begin));
  }
}

}  // namespace

void read_joints(const Section& scene, Draft& draft) {
  const auto joints = scene.tables("joints");
  std::set<std::string, std::less<>> held;
  for (const JointSpec& joint : draft.parts.joints)
    held.insert(joint.child);  // of robots
  std::map<std::string, std::size_t, std::less<>> start_of;
  for (std::size_t i = 0; i < draft.parts.start.size(); ++i) {
    start_of.emplace(draft.parts.start[i].joint, i);
  }
  for (std::size_t i = 0; i < joints.size() && !draft.source.problems->full(); ++i) {
    const Section at(*joints[i], joint_keys, called("joint", *joints[i], i),
                     draft.source);
    std::optional<JointSpec> joint = read_joint(at, i, draft);
    if (!joint) continue;
    if (!held.insert(joint->child).second) {
      at.error("child",
               fmt::format("child = \"{}\" has a joint already: a body hangs on one; "
                           "close a loop with [[loops]]",
                           joint->child));
      continue;
    }
    read_start(at, *joint, start_of, draft);
    draft.parts.joints.push_back(std::move(*joint));
  }
  // A body without a joint has six degrees of freedom.
  for (const BodySpec& body : draft.parts.bodies) {
    if (held.contains(body.name)) continue;
    JointSpec joint;
    joint.name = body.name;
    joint.child = body.name;
    joint.type = JointType::free;
    draft.parts.joints.push_back(joint);
  }
}

void read_loops(const Section& scene, Draft& draft) {
  const auto loops = scene.tables("loops");
  for (std::size_t i = 0; i < loops.size() && !draft.source.problems->full(); ++i) {
    const Section at(*loops[i], loop_keys, called("loop", *loops[i], i), draft.source);
    LoopSpec loop;
    loop.name = at.text_or("name", fmt::format("loop {}", i + 1));
    draft.claim("loop", loop.name, at);
    const std::string type = at.text_or("type", "point");
    loop.kind = type == "hinge"      ? LoopKind::hinge
                : type == "weld"     ? LoopKind::weld
                : type == "distance" ? LoopKind::distance
                                     : LoopKind::point;
    loop.body_a = at.text_or("a", world_name);
    loop.body_b = at.text_or("b", world_name);
    if (!known_body(at, "a", loop.body_a, draft)) continue;
    if (!known_body(at, "b", loop.body_b, draft) || !at.has("b")) continue;
    loop.pose_a = pose_of(at, "a_position", "a_rotation", "").value_or(loop.pose_a);
    loop.pose_b = pose_of(at, "b_position", "b_rotation", "").value_or(loop.pose_b);
    in_the_world(loop.body_a, loop.pose_a, draft);
    in_the_world(loop.body_b, loop.pose_b, draft);
    if (loop.body_a == loop.body_b) {
      at.error("b",
               fmt::format("b = \"{}\" must be another body than a; a loop joins two",
                           at.text_or("b", "")));
    }
    // What belongs to some types only.
    const bool turns = loop.kind == LoopKind::hinge || loop.kind == LoopKind::weld;
    const auto only = [&](std::string_view key, bool fits, std::string_view of) {
      if (at.has(key) && !fits) {
        at.error(key, fmt::format("{} belongs to {}, not to type = \"{}\"",
                                  shown(at.key_of(key), *at.node(key)), of, type));
      }
    };
    only("axis", loop.kind == LoopKind::hinge, "a hinge");
    only("length", loop.kind == LoopKind::distance, "a distance");
    only("rotational_stiffness", turns, "hinge and weld");
    only("rotational_damping", turns, "hinge and weld");
    if (loop.kind == LoopKind::distance && !at.given("length")) {
      at.error("type", "type = \"distance\" needs length_m");
    }
    if (const auto axis = at.vector("axis"); axis && !is_zero(at, "axis", *axis)) {
      // Hinges of the engine turn about z.
      const Frame<double> frame = frame_from_normal((1 / norm(*axis)) * *axis);
      const Mat3<double> turn{frame.t1, frame.t2, frame.n};
      loop.pose_a.R = loop.pose_a.R * turn;
      loop.pose_b.R = loop.pose_b.R * turn;
    }
    loop.length = at.number("length");
    loop.stiffness = at.number("stiffness");
    loop.damping = at.number_or("damping", 0);
    loop.rotational_stiffness = at.number("rotational_stiffness");
    loop.rotational_damping = at.number_or("rotational_damping", 0);
    for (const char* key : {"damping", "rotational_stiffness", "rotational_damping"}) {
      if (at.has(key) && !at.given("stiffness")) {
        at.error(key, fmt::format("{} needs stiffness_N_m: without, the loop is rigid",
                                  at.key_of(key)));
      }
    }
    if (turns && at.has("stiffness") && !at.given("rotational_stiffness")) {
      at.error("stiffness",
               fmt::format("a {} with {} needs rotational_stiffness_Nm_rad as well", type,
                           at.key_of("stiffness")));
    }
    draft.parts.loops.push_back(loop);
  }
}

void read_constraints(const Section& scene, Draft& draft) {
  const auto constraints = scene.tables("constraints");
  for (std::size_t i = 0; i < constraints.size() && !draft.source.problems->full(); ++i) {
    const Section at(*constraints[i], constraint_keys,
                     called("constraint", *constraints[i], i), draft.source);
    ConstraintSpec constraint;
    constraint.name = at.text_or("name", fmt::format("constraint {}", i + 1));
    draft.claim("constraint", constraint.name, at);
    const std::string type = at.text_or("type", "skate");
    constraint.body_a = at.text_or("a", world_name);
    constraint.body_b = at.text_or("b", world_name);
    if (!known_body(at, "a", constraint.body_a, draft)) continue;
    if (!at.has("b") || !moving_body(at, "b", constraint.body_b, draft)) continue;
    Transform<double> pose_a;
    in_the_world(constraint.body_a, pose_a, draft);
    const auto only = [&](std::string_view key, std::string_view of) {
      if (at.has(key) && of.find(type) == std::string_view::npos) {
        at.error(key, fmt::format("{} belongs to {}, not to type = \"{}\"",
                                  shown(at.key_of(key), *at.node(key)), of, type));
      }
    };
    only("direction", "skate and velocity");
    only("normal", "rolling");
    only("radius", "rolling");
    constraint.point = at.vector("point").value_or(constraint.point);
    constraint.damping = at.number_or("damping", 0);
    if (type == "rolling") {
      const Vec3<double> normal = at.vector("normal").value_or(Vec3<double>{0, 0, 1});
      if (!at.given("radius")) {
        at.error("type", "type = \"rolling\" needs radius_m");
        continue;
      }
      if (is_zero(at, "normal", normal)) continue;
      const Frame<double> frame =
          frame_from_normal(pose_a.R * ((1 / norm(normal)) * normal));
      constraint.offset = -at.number_or("radius", 0) * frame.n;
      constraint.directions = {frame.t1, frame.t2};
    } else {
      if (type == "velocity" && !at.given("direction")) {
        at.error("type", "type = \"velocity\" needs a direction");
        continue;
      }
      const Vec3<double> along = at.vector("direction").value_or(Vec3<double>{0, 1, 0});
      if (is_zero(at, "direction", along)) continue;
      constraint.turns_with_b = type == "skate";
      constraint.directions = {constraint.turns_with_b ? along : pose_a.R * along};
    }
    draft.parts.constraints.push_back(std::move(constraint));
  }
}

void read_loads(const Section& scene, Draft& draft) {
  const auto loads = scene.tables("loads");
  for (std::size_t i = 0; i < loads.size() && !draft.source.problems->full(); ++i) {
    const Section at(*loads[i], load_keys, called("load", *loads[i], i), draft.source);
    LoadSpec load;
    load.name = at.text_or("name", "");
    draft.claim("load", load.name, at);
    load.body = at.text_or("body", "");
    if (!moving_body(at, "body", load.body, draft)) continue;
    load.force = at.vector("force").value_or(Vec3<double>{0, 0, 0});
    load.torque = at.vector("torque").value_or(Vec3<double>{0, 0, 0});
    load.point = at.vector("point").value_or(Vec3<double>{0, 0, 0});
    draft.parts.loads.push_back(load);
  }
}

}  // namespace bristle::scene
