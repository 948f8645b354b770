#include <cmath>
#include <set>

#include "bristle/model/assembly.hpp"

namespace bristle::assembly {

namespace {

using checks::number;
using checks::quoted;

/// Conditions of all rigid loops together: they are solved for at once, in a time that
/// grows with their cube.
constexpr int most_loop_rows = 500;

/// What is wrong with the numbers of a loop.
Problem check_numbers(const LoopSpec& spec, const Subject& who) {
  struct Entry {
    const char* name;
    double value;
  };
  for (const Entry& e :
       {Entry{"stiffness", spec.stiffness.value_or(0)}, Entry{"damping", spec.damping},
        Entry{"rotational_stiffness", spec.rotational_stiffness.value_or(0)},
        Entry{"rotational_damping", spec.rotational_damping}}) {
    if (!std::isfinite(e.value) || e.value < 0) {
      return who.error(e.name, std::string(e.name) + " = " + number(e.value) +
                                   " must lie in [0, inf)");
    }
  }
  const bool turns = spec.kind == LoopKind::hinge || spec.kind == LoopKind::weld;
  const bool rotational = spec.rotational_stiffness || spec.rotational_damping > 0;
  if (rotational && !turns) {
    return who.error(
        spec.rotational_stiffness ? "rotational_stiffness" : "rotational_damping",
        std::string("rotational stiffness and damping are for hinge and weld, a ") +
            (spec.kind == LoopKind::point ? "point" : "distance") + " turns freely");
  }
  if (!spec.stiffness && (spec.damping > 0 || rotational)) {
    return who.error(spec.damping > 0            ? "damping"
                     : spec.rotational_stiffness ? "rotational_stiffness"
                                                 : "rotational_damping",
                     "without a stiffness it is rigid and takes neither damping nor "
                     "rotational stiffness; give a stiffness as well, or none of them");
  }
  if (spec.stiffness && turns && !spec.rotational_stiffness) {
    return who.error("stiffness",
                     std::string("has a stiffness but no rotational_stiffness; a ") +
                         (spec.kind == LoopKind::hinge ? "hinge" : "weld") +
                         " takes both, or none where it is rigid");
  }
  if (spec.length && spec.kind != LoopKind::distance) {
    return who.error("length", "length is for a distance only");
  }
  if (spec.length && (!std::isfinite(*spec.length) || !(*spec.length > 0))) {
    return who.error("length",
                     "length = " + number(*spec.length) + " must be a number > 0");
  }
  return {};
}

/// A frame on a link, or in the world.
struct End {
  int link = world_link;
  int body = -1;
  Transform<double> frame{};
};

Problem find_end(const std::string& body_name, const Transform<double>& pose,
                 const Model& model, const Subject& who, const std::string& which,
                 End& end) {
  if (!is_pose(pose)) {
    return who.error("pose_" + which, "pose_" + which + " is not a rotation and a point");
  }
  end.frame = pose;
  end.frame.R = to_matrix(from_matrix(pose.R));  // typed digits
  if (body_name == world_name) return {};
  Problem problem;
  const Body* body = find_body(model, body_name, who, "body_" + which, problem);
  if (body == nullptr) return problem;
  end.link = body->link;
  end.body = static_cast<int>(body - model.tree.bodies().data());
  end.frame = body->in_link * end.frame;
  return {};
}

/// The last link on the ways from two links to the world that they share. Parents have
/// smaller numbers.
int meeting_of(const Tree& tree, int a, int b) {
  while (a != b) (a > b ? a : b) = tree.link(a > b ? a : b).parent;
  return a;
}

Problem add_loop(const LoopSpec& spec, const Subject& who,
                 const std::vector<Transform<double>>& poses, Model& model) {
  End a, b;
  if (Problem p = find_end(spec.body_a, spec.pose_a, model, who, "a", a)) return p;
  if (Problem p = find_end(spec.body_b, spec.pose_b, model, who, "b", b)) return p;
  if (spec.body_a == spec.body_b) {
    return who.error("body_b", "both ends are on " + quoted(spec.body_a) +
                                   "; a loop joins two bodies");
  }
  if (a.link == b.link) {
    return who.error("body_b", quoted(spec.body_a) + " and " + quoted(spec.body_b) +
                                   " are parts of one rigid body already");
  }
  if (Problem p = check_numbers(spec, who)) return p;
  const double apart =
      norm(poses[at(b.link)] * b.frame.p - poses[at(a.link)] * a.frame.p);
  const double length = spec.length.value_or(apart);
  if (spec.kind == LoopKind::distance && !(length > 0)) {
    return who.error("length",
                     "its points coincide with every joint at neutral; give a length, "
                     "or take a point");
  }
  constexpr int rows_of[] = {3, 5, 6, 1};
  const bool rigid = !spec.stiffness;
  const int rows = rigid ? rows_of[static_cast<int>(spec.kind)] : 0;
  if (model.loop_rows + rows > most_loop_rows) {
    return who.error("stiffness",
                     "rigid loops have more than " + std::to_string(most_loop_rows) +
                         " conditions in all; give loops a stiffness, or leave out those "
                         "that repeat others");
  }
  model.loops.push_back({.name = spec.name,
                         .kind = spec.kind,
                         .rigid = rigid,
                         .link_a = a.link,
                         .link_b = b.link,
                         .body_a = a.body,
                         .body_b = b.body,
                         .on_a = a.frame,
                         .on_b = b.frame,
                         .length = length,
                         .stiffness = spec.stiffness.value_or(0),
                         .damping = spec.damping,
                         .turn_stiffness = spec.rotational_stiffness.value_or(0),
                         .turn_damping = spec.rotational_damping,
                         .row = model.loop_rows,
                         .rows = rows,
                         .meeting = meeting_of(model.tree, a.link, b.link)});
  model.loop_rows += rows;
  return {};
}

}  // namespace

Problem add_loops(std::span<const LoopSpec> specs, Model& model) {
  std::set<std::string_view> names;
  const std::vector<Transform<double>> poses = neutral_poses(model.tree);
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const LoopSpec& spec = specs[i];
    const Subject who(Element::loop, spec.name, i);
    if (spec.name.empty()) {
      return who.sentence("name", "a loop between " + quoted(spec.body_a) + " and " +
                                      quoted(spec.body_b) + " has no name");
    }
    if (!names.insert(spec.name).second) {
      return who.sentence("name", who.called() + " was added twice");
    }
    if (Problem p = add_loop(spec, who, poses, model)) return p;
  }
  return {};
}

}  // namespace bristle::assembly
