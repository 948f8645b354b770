#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "bristle/model/assembly.hpp"

namespace bristle::assembly {

namespace {

using checks::finite;
using checks::number;
using checks::quoted;

Problem check_numbers(const CouplingSpec& spec, const Subject& who) {
  struct Entry {
    const char* name;
    double value;
  };
  for (const Entry& e :
       {Entry{"stiffness", spec.stiffness}, Entry{"damping", spec.damping},
        Entry{"frequency", spec.frequency}, Entry{"slack", spec.slack}}) {
    if (!std::isfinite(e.value) || e.value < 0) {
      return who.error(e.name, std::string(e.name) + " = " + number(e.value) +
                                   " must lie in [0, inf)");
    }
  }
  if (!std::isfinite(spec.rest)) return who.error("rest", "rest must be a number");
  if (!(spec.lower <= spec.upper)) {
    return who.error("lower", "lower = " + number(spec.lower) +
                                  " must not be above upper = " + number(spec.upper));
  }
  const int forms = static_cast<int>(!spec.terms.empty()) +
                    static_cast<int>(!spec.path.empty()) +
                    static_cast<int>(spec.wrench.has_value());
  if (forms > 1) {
    return who.error("terms", "it must be one of a sum, a path and a wrench");
  }
  const bool has_length = !spec.wrench.has_value();
  if (!has_length && (spec.stiffness > 0 || spec.damping > 0 || spec.frequency > 0 ||
                      std::isfinite(spec.lower) || std::isfinite(spec.upper))) {
    return who.error("wrench", "a wrench has neither springs nor limits");
  }
  return {};
}

Problem add_terms(const CouplingSpec& spec, const Model& model, const Subject& who,
                  Coupling& coupling) {
  std::set<int> dofs;
  for (const CouplingSpec::Term& term : spec.terms) {
    Problem problem;
    const Joint* joint = find_moving_joint(model, term.joint, who, "joint", problem);
    if (joint == nullptr) return problem;
    if (velocity_count(joint->type) != 1) {
      return who.error("joint", quoted(term.joint) + " is " +
                                    std::string(joint_type_name(joint->type)) +
                                    "; a coupling joins revolute and prismatic joints");
    }
    if (!std::isfinite(term.weight) || term.weight == 0) {
      return who.error("weight", "weight = " + number(term.weight) + " of " +
                                     quoted(term.joint) + " must be a number, not 0");
    }
    if (!dofs.insert(joint->v).second) {
      return who.error("joint", quoted(term.joint) + " is named twice");
    }
    coupling.joints.push_back({joint->v, term.weight});
    coupling.positions.push_back({joint->q, term.weight});
  }
  if (coupling.joints.empty()) return who.error("joint", "it names no joint");
  return {};
}

/// The link of a body and its place there; the world has neither.
Problem place_on(const Model& model, const std::string& name, const Subject& who,
                 int& link, Transform<double>& pose) {
  if (name == world_name) return {};
  Problem problem;
  const Body* body = find_body(model, name, who, "body", problem);
  if (body == nullptr) return problem;
  link = body->link;
  pose = body->in_link * pose;
  return {};
}

/// What has a length needs two points in each branch, and around what it goes lies
/// between two of them.
Problem check_order(const CouplingSpec& spec, const Subject& who) {
  int points = 0;
  bool between = false;
  for (std::size_t i = 0; i <= spec.path.size(); ++i) {
    const bool ends = i == spec.path.size() || spec.path[i].part == PathPart::pulley;
    if (ends && (points < 2 || between)) {
      return who.error("path", "each branch of its path must begin and end with a point");
    }
    if (ends) {
      points = 0;
      continue;
    }
    if (spec.path[i].part == PathPart::point) {
      ++points;
      between = false;
      continue;
    }
    if (between || points == 0) {
      return who.error("path", "what its path goes around must lie between two points");
    }
    between = true;
  }
  return {};
}

Problem add_path(const CouplingSpec& spec, const Model& model, const Subject& who,
                 Coupling& coupling) {
  if (Problem p = check_order(spec, who)) return p;
  for (const PathSpec& part : spec.path) {
    PathElement to{.part = part.part,
                   .link = world_link,
                   .pose = part.pose,
                   .radius = part.radius,
                   .divisor = part.divisor,
                   .has_side = !part.side_body.empty(),
                   .side_link = world_link,
                   .side = part.side};
    if (!is_pose(part.pose) || !finite(part.side)) {
      return who.error("path", "its places must be rotations and points");
    }
    if (!(part.divisor > 0) || !std::isfinite(part.divisor)) {
      return who.error("path", "the divisor of a pulley must be above 0");
    }
    const bool round = part.part == PathPart::sphere || part.part == PathPart::cylinder;
    if (round && (!(part.radius > 0) || !std::isfinite(part.radius))) {
      return who.error("path", "what it goes around must have a radius above 0");
    }
    if (part.part != PathPart::pulley) {
      if (Problem p = place_on(model, part.body, who, to.link, to.pose)) return p;
    }
    if (to.has_side) {
      Transform<double> side;
      side.p = part.side;
      if (Problem p = place_on(model, part.side_body, who, to.side_link, side)) return p;
      to.side = side.p;
    }
    coupling.path.push_back(to);
  }
  return {};
}

Problem add_wrench(const CouplingSpec& spec, const Model& model, const Subject& who,
                   Coupling& coupling) {
  const WrenchSpec& wrench = *spec.wrench;
  if (!is_pose(wrench.pose) || !finite(wrench.unit.force) ||
      !finite(wrench.unit.torque) ||
      norm(wrench.unit.force) + norm(wrench.unit.torque) == 0) {
    return who.error("wrench", "a wrench must be made of numbers, not all 0");
  }
  coupling.wrench_link = world_link;
  coupling.wrench_pose = wrench.pose;
  coupling.wrench = wrench.unit;
  return place_on(model, wrench.body, who, coupling.wrench_link, coupling.wrench_pose);
}

std::vector<int> way_to_the_world(const Tree& tree, int link) {
  std::vector<int> way;
  for (int i = link; i != world_link; i = tree.link(i).parent) way.push_back(i);
  way.push_back(world_link);
  return way;
}

/// The velocities that move some of the coupling's links and not all of them, with their
/// weights at neutral.
void find_arms(const Model& model, Coupling& coupling) {
  const Tree& tree = model.tree;
  std::set<int> links;
  for (const PathElement& e : coupling.path) {
    if (e.part != PathPart::pulley) links.insert(e.link);
  }
  if (coupling.wrench_link >= 0) links = {world_link, coupling.wrench_link};
  std::set<int> moving;
  std::vector<int> shared = way_to_the_world(tree, *links.begin());
  for (const int link : links) {
    const std::vector<int> way = way_to_the_world(tree, link);
    moving.insert(way.begin(), way.end());
    std::erase_if(
        shared, [&](int i) { return std::find(way.begin(), way.end(), i) == way.end(); });
  }
  coupling.stem = shared.front();
  for (const int i : shared) moving.erase(i);
  std::map<int, double> arms;
  for (const int i : moving) {
    for (int k = 0; k < velocity_count(tree.link(i).type); ++k) {
      arms[tree.link(i).v + k] = 0;
    }
  }
  const std::vector<Transform<double>> poses = neutral_poses(tree);
  std::vector<PathPull> pulls;
  if (coupling.wrench_link >= 0) {
    const Transform<double> pose = poses[at(coupling.wrench_link)] * coupling.wrench_pose;
    const Vec3<double> torque = pose.R * coupling.wrench.torque;
    for (int i = coupling.wrench_link; i != world_link; i = tree.link(i).parent) {
      const Link& link = tree.link(i);
      for (int k = 0; k < velocity_count(link.type); ++k) {
        if (is_linear(link.type, k)) continue;
        arms[link.v + k] += dot(axis_at(link, poses[at(i)], k), torque);
      }
    }
    pulls.push_back({coupling.wrench_link, pose.p, pose.R * coupling.wrench.force});
  } else {
    follow_path(coupling.path, poses, pulls);
  }
  for (const PathPull& pull : pulls) {
    for (int i = pull.link; i != coupling.stem && i != world_link;
         i = tree.link(i).parent) {
      const Link& link = tree.link(i);
      const Vec3<double> arm = pull.point - poses[at(i)].p;
      for (int k = 0; k < velocity_count(link.type); ++k) {
        arms[link.v + k] +=
            dot(axis_at(link, poses[at(i)], k),
                is_linear(link.type, k) ? pull.force : cross(arm, pull.force));
      }
    }
  }
  for (const auto& [dof, weight] : arms) coupling.joints.push_back({dof, weight});
}

}  // namespace

double compliance_of(const Coupling& coupling, std::span<const double> moved_inertia) {
  double compliance = 0, alone = 0;
  for (const DofWeight& j : coupling.joints) {
    const double inertia = moved_inertia[at(j.dof)];
    if (!(inertia > 0)) continue;
    compliance += j.weight * j.weight / inertia;
    alone = std::max(alone, 1 / inertia);
  }
  // A path without arms at neutral: as if it had one of length 1.
  return coupling.moves() && !(compliance > 1e-9 * alone) ? alone : compliance;
}

Problem add_couplings(std::span<const CouplingSpec> specs, Model& model) {
  std::set<std::string_view> names;
  const std::vector<double> inertia =
      specs.empty() ? std::vector<double>{} : moved_inertia(model.tree);
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const CouplingSpec& spec = specs[i];
    const Subject who(Element::coupling, spec.name, i);
    if (spec.name.empty()) return who.sentence("name", "a coupling has no name");
    if (!names.insert(spec.name).second) {
      return who.sentence("name", who.called() + " was added twice");
    }
    if (Problem p = check_numbers(spec, who)) return p;
    Coupling coupling{.name = spec.name,
                      .joints = {},
                      .positions = {},
                      .rest = spec.rest,
                      .stiffness = spec.stiffness,
                      .damping = spec.damping};
    if (!spec.path.empty()) {
      if (Problem p = add_path(spec, model, who, coupling)) return p;
    } else if (spec.wrench) {
      if (Problem p = add_wrench(spec, model, who, coupling)) return p;
    } else if (Problem p = add_terms(spec, model, who, coupling)) {
      return p;
    }
    if (coupling.moves()) find_arms(model, coupling);
    if (coupling.joints.empty()) {
      return who.error("path", "no joint moves it: all of it is on one body");
    }
    if (spec.frequency > 0) {
      const double compliance = compliance_of(coupling, inertia);
      coupling.stiffness = spec.frequency * spec.frequency / compliance;
      coupling.damping = 2 * spec.frequency / compliance;
    }
    if (spec.slack > 0) coupling.stiffness = 0;  // rows of joints: add_joint_rows.cpp
    model.couplings.push_back(std::move(coupling));
  }
  return {};
}

}  // namespace bristle::assembly
