#include <cmath>
#include <set>

#include "bristle/model/assembly.hpp"

namespace bristle::assembly {

namespace {

using checks::number;
using checks::quoted;

bool finite(const Vec3<double>& v) { return std::isfinite(v.x + v.y + v.z); }

/// A body's link and frame in it; the world's by its name.
Problem find_side(const std::string& name, const Model& model, const Subject& who,
                  const std::string& field, int& link, Transform<double>& in_link) {
  if (name == world_name) return {};
  Problem problem;
  const Body* body = find_body(model, name, who, field, problem);
  if (body == nullptr) return problem;
  link = body->link;
  in_link = body->in_link;
  return {};
}

Problem add_constraint(const ConstraintSpec& spec, const Subject& who, Model& model) {
  int link_a = world_link, link_b = world_link;
  Transform<double> a{}, b{};
  if (Problem p = find_side(spec.body_a, model, who, "body_a", link_a, a)) return p;
  if (Problem p = find_side(spec.body_b, model, who, "body_b", link_b, b)) return p;
  if (link_a == link_b) {
    return who.error(
        "body_b", quoted(spec.body_b) + " does not move against " + quoted(spec.body_a));
  }
  if (!finite(spec.point)) return who.error("point", "point is not finite");
  if (!finite(spec.offset)) return who.error("offset", "offset is not finite");
  if (!std::isfinite(spec.damping) || spec.damping < 0) {
    return who.error("damping",
                     "damping = " + number(spec.damping) + " must lie in [0, inf)");
  }
  if (spec.directions.empty() || spec.directions.size() > 3) {
    return who.error("directions", "needs one to three directions, has " +
                                       std::to_string(spec.directions.size()));
  }
  for (const Vec3<double>& direction : spec.directions) {
    const double length = norm(direction);
    if (!(length > 0) || !std::isfinite(length)) {
      return who.error("directions", "a direction must have a length");
    }
    const Mat3<double>& axes = spec.turns_with_b ? b.R : a.R;
    model.constraints.push_back({.name = spec.name,
                                 .link_a = link_a,
                                 .link_b = link_b,
                                 .point = b * spec.point,
                                 .offset = a.R * spec.offset,
                                 .direction = axes * ((1 / length) * direction),
                                 .turns_with_b = spec.turns_with_b,
                                 .damping = spec.damping});
  }
  model.needs_impulses = true;
  return {};
}

}  // namespace

Problem add_constraints(std::span<const ConstraintSpec> specs, Model& model) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const Subject who(Element::constraint, specs[i].name, i);
    if (specs[i].name.empty()) {
      return who.sentence("name",
                          "a constraint of " + quoted(specs[i].body_b) + " has no name");
    }
    if (!names.insert(specs[i].name).second) {
      return who.sentence("name", who.called() + " was added twice");
    }
    if (Problem p = add_constraint(specs[i], who, model)) return p;
  }
  return {};
}

}  // namespace bristle::assembly
