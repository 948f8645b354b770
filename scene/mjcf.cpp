#include "scene/mjcf.hpp"

#include <algorithm>
#include <filesystem>

#include "scene/mjcf_reading.hpp"

namespace bristle::scene {

namespace mjcf {

namespace {

std::string key_of(const std::string& path) {
  return std::filesystem::path(path).lexically_normal().string();
}

}  // namespace

std::string kind_of(JointType type) {
  switch (type) {
    case JointType::free:
      return "free";
    case JointType::spherical:
      return "ball";
    case JointType::prismatic:
      return "slide";
    default:
      return "hinge";
  }
}

Reading::Reading(const std::string& path, const RobotOptions& options,
                 const Parts& before, Geometry& geometry, Problems& problems)
    : path_(path),
      options_(options),
      problems_(problems),
      geometry_(geometry),
      meshes_(options, geometry, problems) {
  for (const BodySpec& b : before.bodies) body_names_.take(b.name);
  for (const JointSpec& j : before.joints) joint_names_.take(j.name);
  for (const ShapeSpec& s : before.shapes) shape_names_.take(s.name);
  for (const MotorSpec& m : before.motors) motor_names_.take(m.name);
  for (const LoopSpec& l : before.loops) loop_names_.take(l.name);
  for (const CouplingSpec& c : before.couplings) coupling_names_.take(c.name);
  for (const SensorSpec& s : before.sensors) sensor_names_.take(s.name);
}

void Reading::read(std::string_view text) {
  if (options_.meshes != "hull" && options_.meshes != "mesh") {
    problems_.error({path_, 0}, words({"robot options: meshes = ", shown(options_.meshes),
                                       " must be hull or mesh"}));
  }
  if (!xml::parse(text, path_, document_, document_.root, problems_)) return;
  Element& root = document_.root;
  if (root.tag != "mujoco") {
    problems_.error(root.place(),
                    words({shown(root.tag), ": an MJCF file must begin with mujoco"}));
    return;
  }
  parts.title = root.value("model");
  included_.insert(key_of(path_));
  expand(root, 0, path_);
  assemble(root, path_, 0);
  classes_.push_back({"main", -1});
  class_of_["main"] = main_class;
  bodies_.push_back({std::string(world_name), 0, 0});
  body_of_.try_emplace(std::string(world_name), 0);
  take_stock(root);
  read_sections(root);
  finish();
  unread_.report(path_, problems_);
}

void Reading::read_sections(const Element& root) {
  const auto all = [&](std::string_view section, std::string_view tag,
                       void (Reading::*read_one)(const Element&)) {
    each(root, section, [&](const Element& e) {
      each(e, tag, [&](const Element& c) { (this->*read_one)(c); });
    });
  };
  each(root, "compiler", [&](const Element& e) { read_compiler(e); });
  each(root, "option", [&](const Element& e) { read_option(e); });
  each(root, "default", [&](const Element& e) { read_defaults(e, -1); });
  all(attached_defaults, "default", &Reading::read_attached_defaults);
  all("asset", "mesh", &Reading::read_mesh);
  all("asset", "hfield", &Reading::read_hfield);
  all("asset", "material", &Reading::read_material);
  each(root, "worldbody", [&](const Element& e) { reserve_names(e); });
  each(root, "contact", [&](const Element& e) {
    each(e, "pair", [&](const Element& pair) {
      for (const char* geom : {"geom1", "geom2"}) paired_.emplace(pair.value(geom));
    });
  });
  all("tendon", "spatial", &Reading::collect_wraps);
  each(root, "worldbody", [&](const Element& e) { read_world(e); });
  all("contact", "exclude", &Reading::read_exclude);
  all("contact", "pair", &Reading::read_pair);
  all("equality", "connect", &Reading::read_loop);
  all("equality", "weld", &Reading::read_loop);
  all("equality", "joint", &Reading::read_joint_equality);
  all("tendon", "fixed", &Reading::read_tendon);
  all("tendon", "spatial", &Reading::read_tendon);
  all("equality", "tendon", &Reading::read_tendon_equality);
  each(root, "actuator", [&](const Element& e) { read_actuators(e); });
  each(root, "sensor", [&](const Element& e) { read_sensors(e); });
  for (const ActuatorRecord& record : actuators_) command(record, 0);
  keep_keyframes(root);
  if (const Element* key = chosen_key(root)) read_key(*key);
}

/// What follows from all sections together.
void Reading::finish() {
  for (const JointRecord& j : joints_) {
    if (j.q.empty()) continue;
    InitialJoint start{j.name, j.q, {}};
    if (const auto v = start_rates_.find(j.name); v != start_rates_.end()) {
      start.v = v->second;
    }
    parts.start.push_back(std::move(start));
  }
  show_the_unseen();
  if (total_mass_ > 0) scale_masses();
  add_touch_rules();
  keep_apart();
  parts.contacts = std::move(never_);
  parts.contacts.insert(parts.contacts.end(), pairs_.begin(), pairs_.end());
  const Vec3<double> gravity = parts.gravity.value_or(Vec3<double>{0, 0, -9.81});
  for (const BodySpec& body : parts.bodies) {
    const auto part = compensated_.find(body.name);
    if (part == compensated_.end() || body.mass == 0) continue;
    parts.loads.push_back({.name = body.name + ".gravcomp",
                           .body = body.name,
                           .force = -part->second * body.mass * gravity,
                           .point = body.com});
  }
}

void Reading::expand(Element& e, int depth, const std::string& path_of_model) {
  std::vector<Element> all;
  for (Element& c : e.children) {
    if (c.tag != "include") {
      expand(c, depth + 1, path_of_model);
      all.push_back(std::move(c));
      continue;
    }
    const Attribute* file = c.find("file");
    if (file == nullptr || file->value.empty()) {
      error(c.place(), {"include: it must have file"});
      continue;
    }
    const std::string path =
        (std::filesystem::path(path_of_model).parent_path() / file->value).string();
    if (!included_.insert(key_of(path)).second) {
      error(file->place(),
            {"include: file = ", shown(file->value), " must be included once only"});
      continue;
    }
    if (included_.size() > max_files || depth > 100) {
      error(file->place(),
            {"include: file = ", shown(file->value), " must not be one of so many"});
      continue;
    }
    const auto text = xml::read_file(path, file->place(), "include", problems_);
    Element root;
    if (!text || !xml::parse(*text, path, document_, root, problems_)) continue;
    expand(root, depth + 1, path_of_model);
    for (Element& inner : root.children) all.push_back(std::move(inner));
  }
  e.children = std::move(all);
}

void Reading::take_stock(const Element& e) {
  for (const Attribute& a : e.attributes) {
    if (is_read(e.tag, a.name)) continue;
    unread_.count(words({e.tag, " ", a.name}), consequence_of_attribute(e.tag, a.name));
  }
  for (const Element& c : e.children) {
    static const std::set<std::string_view> holders{"composite", "flexcomp"};
    if (belongs(c.tag, e.tag)) {
      take_stock(c);
    } else if (holders.contains(c.tag)) {
      error(c.place(), {c.tag, ": it must be written out as bodies"});
    } else {
      const std::string name = e.tag == "default"    ? words({"default ", c.tag})
                               : e.tag == "tendon"   ? words({c.tag, " tendon"})
                               : e.tag == "actuator" ? words({c.tag, " actuator"})
                               : e.tag == "equality" ? words({c.tag, " equality"})
                               : e.tag == "sensor"   ? words({c.tag, " sensor"})
                                                     : c.tag;
      unread_.count(name, consequence_of(c.tag, e.tag));
    }
  }
}

void Reading::read_compiler(const Element& e) {
  const std::string who = "compiler";
  if (const Attribute* a = e.find("inertiafromgeom")) {
    inertia_from_geom_ = choice(a, who, {"auto", "true", "false"});
  }
  if (const Attribute* a = e.find("balanceinertia")) {
    balance_inertia_ = choice(a, who, {"false", "true"}) == "true";
  }
  if (const Attribute* a = e.find("fitaabb")) {
    fit_around_ = choice(a, who, {"false", "true"}) == "true";
  }
  const auto at_least_0 = [&](const char* name, double& to) {
    to = xml::number(e.find(name), who, to, Range::not_negative, problems_);
  };
  at_least_0("boundmass", least_mass_);
  at_least_0("boundinertia", least_inertia_);
  total_mass_ =
      xml::number(e.find("settotalmass"), who, total_mass_, Range::any, problems_);
  if (const Attribute* a = e.find("inertiagrouprange")) {
    if (const auto v = xml::numbers(*a, who, 2, 2, Range::any, problems_)) {
      group_range_ = {(*v)[0], (*v)[1]};
    }
  }
}

void Reading::read_compiler(const Element& e, CompilerSettings& to) {
  const std::string who = "compiler";
  if (const Attribute* a = e.find("angle")) {
    to.degrees = choice(a, who, {"degree", "radian"}) == "degree";
  }
  const Attribute* coordinate = e.find("coordinate");
  if (coordinate != nullptr && coordinate->value == "global") {
    error(coordinate->place(),
          {"compiler: coordinate = global must be local: MuJoCo reads it up to version "
           "2.3.3, which saves the model in local coordinates"});
  } else if (coordinate != nullptr) {
    choice(coordinate, who, {"local"});
  }
  for (const char* name : {"assetdir", "meshdir"}) {
    if (const Attribute* a = e.find(name)) to.mesh_folder = a->value;
  }
  if (const Attribute* a = e.find("autolimits")) {
    to.auto_limits = choice(a, who, {"true", "false"}) == "true";
  }
  const Attribute* a = e.find("eulerseq");
  if (a == nullptr) return;
  const bool fine =
      a->value.size() == 3 && std::all_of(a->value.begin(), a->value.end(), [](char c) {
        return std::string_view("xyzXYZ").find(c) != std::string_view::npos;
      });
  if (fine) {
    to.euler = a->value;
  } else {
    error(a->place(), {"compiler: eulerseq = ", shown(a->value),
                       " must be three of x, y, z, X, Y, Z"});
  }
}

void Reading::read_option(const Element& e) {
  if (const Attribute* a = e.find("gravity")) {
    parts.gravity = xml::vector(a, "option", {0, 0, -9.81}, problems_);
  }
  if (const Attribute* a = e.find("timestep")) {
    parts.timestep = xml::number(a, "option", 0.002, Range::positive, problems_);
  }
  if (const Element* flag = e.child("flag")) {
    if (flag->value("gravity") == "disable") parts.gravity = Vec3<double>{0, 0, 0};
    if (flag->value("contact") == "disable") {
      unread_.count("flag contact = disable", Consequence::contact);
    }
  }
}

}  // namespace mjcf

bool read_mjcf_text(std::string_view text, const std::string& path,
                    const RobotOptions& options, Parts& parts, Problems& problems) {
  const std::size_t before = problems.count();
  mjcf::Reading reading(path, options, parts, *parts.geometry, problems);
  reading.read(text);
  if (problems.count() != before) return false;
  append(std::move(reading.parts), parts);
  return true;
}

bool read_mjcf(const std::string& path, const RobotOptions& options, Parts& parts,
               Problems& problems) {
  const auto text = xml::read_file(path, {path, 0}, "", problems);
  return text && read_mjcf_text(*text, path, options, parts, problems);
}

}  // namespace bristle::scene
