#include <algorithm>
#include <cmath>

#include "scene/mjcf_reading.hpp"

namespace bristle::scene::mjcf {

void Reading::reserve_names(const Element& e) {
  for (const Element& c : e.children) {
    const std::string name(c.value("name"));
    if (c.tag == "body" && !name.empty()) body_names_.reserve(name);
    if (c.tag == "body" || c.tag == "frame") {
      reserve_names(c);
    } else if (!name.empty() && (c.tag == "joint" || c.tag == "freejoint")) {
      joint_names_.reserve(name);
    }
  }
}

void Reading::read_world(const Element& e) {
  const std::vector<Placed> children = children_of(e, main_class);
  for (const Placed& c : children) {
    if (c.element->tag == "geom") read_geom(c, 0, options_.pose, nullptr);
    if (c.element->tag == "site") read_site(c, 0, options_.pose);
  }
  for (const Placed& c : children) {
    if (c.element->tag == "body") read_body(c, 0);
  }
}

void Reading::read_body(const Placed& placed, int parent) {
  const Element& e = *placed.element;
  const std::string given(e.value("name"));
  const std::string who = called("body", given);
  if (!given.empty() && given != world_name && body_of_.contains(given)) {
    error(e.place(), {who, ": another body must not have this name"});
  } else if (given == world_name || (!given.empty() && body_names_.has(given))) {
    error(e.place(), {who, ": another body of the scene must not have this name"});
  }
  const std::string name =
      given.empty() ? body_names_.fresh("body") : body_names_.take_or_else(given);
  const int index = static_cast<int>(bodies_.size());
  body_of_.try_emplace(name, index);
  int defaults = placed.defaults;
  if (const Attribute* a = e.find("childclass")) defaults = class_named(*a, who);
  const View v{&e, -1, who};
  Transform<double> at = placed.frame * pose(v);

  const std::vector<Placed> children = children_of(e, defaults);
  std::vector<Placed> joints;
  const Element* inertial = nullptr;
  for (const Placed& c : children) {
    if (c.element->tag == "joint" || c.element->tag == "freejoint") joints.push_back(c);
    if (c.element->tag == "inertial") inertial = c.element;
  }
  const std::string parent_name = bodies_[static_cast<std::size_t>(parent)].name;
  const int parent_group = bodies_[static_cast<std::size_t>(parent)].group;
  if (parent == 0) at = options_.pose * at;
  bodies_.push_back({name, joints.empty() ? parent_group : index,
                     joints.empty() ? -1 : parent_group, joints.size() <= 1,
                     bodies_[static_cast<std::size_t>(parent)].pose * at});
  hang(name, parent_name, joints, at);

  // Mass, given or of the geoms.
  const bool by_geoms = inertia_from_geom_ == "true" ||
                        (inertia_from_geom_ == "auto" && inertial == nullptr);
  Solid mass;
  for (const Placed& c : children) {
    if (c.element->tag == "geom") {
      read_geom(c, index, Transform<double>{}, by_geoms ? &mass : nullptr);
    } else if (c.element->tag == "site") {
      read_site(c, index, Transform<double>{});
    }
  }
  if (!by_geoms && inertial != nullptr) mass = read_inertial(*inertial, name);
  mass = bounded(mass, bodies_[static_cast<std::size_t>(index)].group != 0);
  if (!(std::isfinite(mass.mass) && std::isfinite(norm(mass.com)) &&
        std::isfinite(trace(mass.inertia)))) {
    error(e.place(), {who, ": its mass and inertia must be numbers of a possible size"});
    mass = {};
  }
  parts.bodies.push_back(
      {.name = name, .mass = mass.mass, .com = mass.com, .inertia = mass.inertia});
  const std::size_t spec = parts.bodies.size() - 1;
  const double gravcomp = number(v, "gravcomp", 0, Range::any);
  if (gravcomp != 0) compensated_[name] = gravcomp;

  for (const Placed& c : children) {
    if (c.element->tag == "body") read_body(c, index);
  }

  // Fixed children count, and so do those that hang from it on joints.
  bool carried = mass.mass > 0;
  for (std::size_t b = spec + 1; b < parts.bodies.size() && !carried; ++b) {
    carried = parts.bodies[b].mass > 0;
  }
  if (!joints.empty() && !carried) {
    error(inertial == nullptr ? e.place() : inertial->place(),
          {who, ": mass = ", checks::number(mass.mass),
           " must be above 0 on a body that moves"});
  }
}

/// At least what the compiler asks for.
Solid Reading::bounded(Solid mass, bool moves) const {
  if (!moves) return mass;
  mass.mass = std::max(mass.mass, least_mass_);
  if (least_inertia_ > 0) {
    mass.inertia.xx = std::max(mass.inertia.xx, least_inertia_);
    mass.inertia.yy = std::max(mass.inertia.yy, least_inertia_);
    mass.inertia.zz = std::max(mass.inertia.zz, least_inertia_);
  }
  return mass;
}

void Reading::scale_masses() {
  double total = 0;
  for (const BodySpec& body : parts.bodies) total += body.mass;
  if (!(total > 0)) return;
  const double factor = total_mass_ / total;
  for (BodySpec& body : parts.bodies) {
    body.mass *= factor;
    body.inertia = factor * body.inertia;
  }
}

void Reading::read_site(const Placed& at, int body, const Transform<double>& base) {
  const std::string name(at.element->value("name"));
  if (name.empty()) return;
  const View v = view(*at.element, at.defaults, name);
  const SiteRecord site{body, base * (at.frame * pose(v)), zone_of(v)};
  if (!sites_.try_emplace(name, site).second) return;
  parts.sites.push_back(
      {name, bodies_[static_cast<std::size_t>(body)].name, site.pose, site.zone});
}

Solid Reading::read_inertial(const Element& e, const std::string& body) {
  const View v{&e, -1, words({called("body", body), ": inertial"})};
  const Transform<double> at = pose(v);
  Solid s;
  if (e.find("mass") == nullptr) error(e.place(), {v.who, ": it must have mass"});
  s.mass = number(v, "mass", 0, Range::not_negative);
  const Attribute* diagonal = e.find("diaginertia");
  const Attribute* full = e.find("fullinertia");
  if (diagonal != nullptr && full != nullptr) {
    error(e.place(), {v.who, ": diaginertia and fullinertia must not both be given"});
  }
  if (full != nullptr) {
    if (const auto n = xml::numbers(*full, v.who, 6, 6, Range::any, problems_)) {
      s.inertia = {(*n)[0], (*n)[1], (*n)[2], (*n)[3], (*n)[4], (*n)[5]};
    }
  } else if (diagonal != nullptr) {
    const Vec3<double> d = xml::vector(diagonal, v.who, {0, 0, 0}, problems_);
    s.inertia = Sym3<double>::diagonal(d.x, d.y, d.z);
  }
  const Attribute* stated = full != nullptr ? full : diagonal;
  const auto wrong = impossible(s.inertia);
  if (wrong && balance_inertia_) {
    const double mean = trace(s.inertia) / 3;
    s.inertia = Sym3<double>::diagonal(mean, mean, mean);
  } else if (wrong) {
    error(stated->place(),
          {v.who, ": ", stated->name, " = ", shown(stated->value), " ", *wrong});
    s.inertia = Sym3<double>::zero();
  } else if (s.mass == 0 && trace(s.inertia) > 0) {
    error(e.place(), {v.who, ": inertia must be 0 where the mass is"});
  }
  return moved(at, s);
}

void Reading::hang(const std::string& name, const std::string& parent,
                   const std::vector<Placed>& joints, const Transform<double>& at) {
  if (joints.empty()) {
    JointSpec weld;
    weld.name = joint_names_.fresh(name + ".weld");
    weld.parent = parent;
    weld.child = name;
    weld.on_parent = at;
    parts.joints.push_back(std::move(weld));
    return;
  }
  std::string from = parent;
  for (std::size_t k = 0; k < joints.size(); ++k) {
    const Element& e = *joints[k].element;
    const std::string given(e.value("name"));
    const View v = view(e, joints[k].defaults, given.empty() ? name : given);
    JointSpec joint;
    if (!given.empty() && joint_names_.has(given)) {
      error(e.place(), {v.who, ": another joint must not have this name"});
    }
    joint.name = given.empty() ? joint_names_.fresh(name + ".joint")
                               : joint_names_.take_or_else(given);
    joint.parent = from;
    const bool last = k + 1 == joints.size();
    if (last) {
      joint.child = name;
    } else {
      BodySpec between;
      between.name = body_names_.fresh(words({name, ".", joint.name}));
      joint.child = between.name;
      parts.bodies.push_back(std::move(between));
    }
    read_joint(v, joint, k == 0 ? at : Transform<double>{}, joints[k].frame);
    if (joint.type == JointType::free && (joints.size() > 1 || parent != world_name)) {
      error(e.place(),
            {v.who, ": a free joint must be the only one, of a child of the world"});
    }
    from = joint.child;
    parts.joints.push_back(std::move(joint));
  }
}

void Reading::read_joint(const View& v, JointSpec& joint, const Transform<double>& at,
                         const Transform<double>& frame) {
  const std::string type =
      v.element->tag == "freejoint"
          ? "free"
          : choice(get(v, "type"), v.who, {"hinge", "slide", "ball", "free"});
  joint_of_.try_emplace(joint.name, joints_.size());
  if (type == "free") {
    read_free_joint(v, joint, at);
    return;
  }
  JointRecord record{joint.name, JointType::free, 0, parts.joints.size(), {}};
  const Vec3<double> anchor = frame * vector(v, "pos", {0, 0, 0});
  joint.on_child.p = anchor;
  joint.on_parent = {at.R, at * anchor};
  joint.damping = number(v, "damping", 0, Range::not_negative);
  joint.friction = number(v, "frictionloss", 0, Range::not_negative);
  joint.armature = number(v, "armature", 0, Range::not_negative);
  if (get(v, "springdamper") != nullptr) {
    unread_.count(words({v.element->tag, " springdamper"}));
  }
  if (type == "ball") {
    joint.type = JointType::spherical;
    if (number(v, "stiffness", 0, Range::not_negative) > 0) {
      unread_.count("stiffness of a ball joint");
    }
    if (is_limited(v, "limited", "range")) unread_.count("range of a ball joint");
  } else {
    read_hinge_or_slide(v, type == "hinge", frame.R, joint, record);
  }
  record.type = joint.type;
  joints_.push_back(std::move(record));
}

/// MuJoCo's positions are those in the world, and begin where the body stands.
void Reading::read_free_joint(const View& v, JointSpec& joint,
                              const Transform<double>& at) {
  JointRecord record{joint.name, JointType::free, 0, parts.joints.size(), {}};
  joint.type = JointType::free;
  joint.on_parent = options_.pose;
  const Transform<double> begin = inverse(options_.pose) * at;
  const Quaternion<double> q = from_matrix(begin.R);
  record.q = {begin.p.x, begin.p.y, begin.p.z, q.w, q.x, q.y, q.z};
  if (v.element->tag == "joint") {
    joint.damping = number(v, "damping", 0, Range::not_negative);
    joint.friction = number(v, "frictionloss", 0, Range::not_negative);
    for (const char* name : {"armature", "stiffness"}) {
      if (number(v, name, 0, Range::any) != 0) {
        unread_.count(words({name, " of a free joint"}));
      }
    }
  }
  joints_.push_back(std::move(record));
}

void Reading::read_hinge_or_slide(const View& v, bool hinge, const Mat3<double>& turned,
                                  JointSpec& joint, JointRecord& record) {
  joint.type = hinge ? JointType::revolute : JointType::prismatic;
  const auto angle = [&](double x) { return hinge ? radians(v, x) : x; };
  joint.axis = turned * vector(v, "axis", {0, 0, 1});
  const double length = norm(joint.axis);
  if (!(length > 1e-9) || !std::isfinite(length)) {
    const Attribute* a = get(v, "axis");
    error(a->place(), {v.who, ": axis = ", shown(a->value), " must have a length"});
  }
  record.ref = angle(number(v, "ref", 0, Range::any));
  joint.stiffness = number(v, "stiffness", 0, Range::not_negative);
  joint.rest = angle(number(v, "springref", 0, Range::any)) - record.ref;
  if (is_limited(v, "actuatorfrclimited", "actuatorfrcrange")) {
    if (const auto range = numbers(v, "actuatorfrcrange", 2, 2)) {
      joint.effort_limit = std::max(std::abs((*range)[0]), std::abs((*range)[1]));
    }
  }
  const bool limited = is_limited(v, "limited", "range");
  const auto range = numbers(v, "range", 2, 2);
  if (!range || !limited) return;
  if ((*range)[0] > (*range)[1]) {
    const Attribute* a = get(v, "range");
    error(a->place(), {v.who, ": range = ", shown(a->value), " must not fall"});
    return;
  }
  joint.lower = angle((*range)[0]) - record.ref;
  joint.upper = angle((*range)[1]) - record.ref;
}

}  // namespace bristle::scene::mjcf
