#include "scene/urdf.hpp"

#include <console_bridge/console.h>
#include <urdf_model/model.h>
#include <urdf_parser/urdf_parser.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <map>
#include <mutex>
#include <numbers>
#include <set>
#include <vector>

#include "bristle/model/checks.hpp"
#include "scene/mesh_file.hpp"
#include "scene/naming.hpp"
#include "scene/solid.hpp"
#include "scene/xml.hpp"

// The file is checked element by element first. urdfdom is then shown only what was
// found right, links and joints by number: it makes the tree of them, and no byte of a
// file reaches it.

namespace bristle::scene {

namespace {

using xml::Attribute;
using xml::called;
using xml::Consequence;
using xml::Element;
using xml::Range;
using xml::shown;
using xml::words;

/// Of a joint that imitates another, were it alone [rad/s].
constexpr double mimic_rate = 2 * std::numbers::pi * 50;

struct LinkRecord {
  const Element* element;
  std::string name;
  std::string who;
  bool has_inertial = false;
  std::string inertial{};  // as urdfdom is shown it
  double mass = 0;
  int joint = -1;  // towards the parent
  std::vector<int> children{};
};

struct JointRecord {
  const Element* element;
  std::string name;
  std::string who;
  JointType type = JointType::fixed;
  std::string kind{};
  std::string body{};  // as urdfdom is shown it
  int parent = -1;
  int child = -1;
};

/// What urdfdom would print, kept.
class Log : public console_bridge::OutputHandler {
 public:
  void log(const std::string& text, console_bridge::LogLevel level, const char*,
           int) override {
    if (level >= console_bridge::CONSOLE_BRIDGE_LOG_WARN) said.push_back(text);
  }
  std::vector<std::string> said;
};

/// urdfdom's model of a text, its words kept. The handler of messages is one for the
/// whole program.
urdf::ModelInterfaceSharedPtr ask_urdfdom(const std::string& text, Log& log) {
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  console_bridge::OutputHandler* const before = console_bridge::getOutputHandler();
  const console_bridge::LogLevel level = console_bridge::getLogLevel();
  console_bridge::useOutputHandler(&log);
  console_bridge::setLogLevel(console_bridge::CONSOLE_BRIDGE_LOG_WARN);
  urdf::ModelInterfaceSharedPtr model;
  try {
    model = urdf::parseURDF(text);
  } catch (const std::exception& e) {
    log.said.emplace_back(e.what());
  }
  console_bridge::setLogLevel(level);
  console_bridge::useOutputHandler(before);
  return model;
}

std::string exact(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", x);
  return text;
}
std::string exact(const Vec3<double>& v) {
  return words({exact(v.x), " ", exact(v.y), " ", exact(v.z)});
}

std::string numbered(char kind, std::size_t i) {
  std::string name(1, kind);
  name += std::to_string(i);
  return name;
}

Transform<double> frame(const urdf::Pose& pose) {
  const urdf::Rotation& r = pose.rotation;
  return {to_matrix(Quaternion<double>{r.w, r.x, r.y, r.z}),
          {pose.position.x, pose.position.y, pose.position.z}};
}

class Reading {
 public:
  Reading(const std::string& path, const RobotOptions& options, const Parts& before,
          Geometry& geometry, Problems& problems)
      : path_(path),
        folder_(std::filesystem::path(path).parent_path().string()),
        options_(options),
        problems_(problems),
        meshes_(options, geometry, problems) {
    for (const BodySpec& b : before.bodies) body_names_.take(b.name);
    for (const JointSpec& j : before.joints) joint_names_.take(j.name);
    for (const ShapeSpec& s : before.shapes) shape_names_.take(s.name);
    for (const CouplingSpec& c : before.couplings) coupling_names_.take(c.name);
  }

  void read(std::string_view text, Parts& parts) {
    const std::size_t problems_before = problems_.count();
    xml::Document document;
    if (!xml::parse(text, path_, document, document.root, problems_)) return;
    const Element& robot = document.root;
    if (robot.tag != "robot") {
      problems_.error(robot.place(),
                      words({shown(robot.tag), ": a URDF file must begin with robot"}));
      return;
    }
    parts.title = robot.value("name");
    count_attributes(robot);
    check_option("base", options_.base, "fixed", "free");
    check_option("meshes", options_.meshes, "hull", "mesh");
    for (const Element& e : robot.children) {
      if (e.tag == "link") {
        read_link(e);
      } else if (e.tag.starts_with("xacro:")) {
        error(e, {e.tag, ": this file is not finished; run xacro on it first (xacro ",
                  shown(path_), " > robot.urdf)"});
      } else if (e.tag == "material") {
        read_material(e);
      } else if (e.tag != "joint") {
        unread_.count(e.tag, consequence_of(e.tag));
      }
    }
    for (const Element& e : robot.children) {
      if (e.tag == "joint") read_joint(e);
    }
    if (links_.empty()) {
      problems_.error(robot.place(),
                      called("robot", robot.value("name")) + ": it must have a link");
    }
    check_tree(robot);
    for (const LinkRecord& link : links_) {
      read_collisions(link, parts);
      read_visuals(link, parts);
    }
    if (problems_.count() == problems_before) assemble(robot, parts);
    unread_.report(path_, problems_);
  }

 private:
  void check_option(const char* name, const std::string& value, const char* one,
                    const char* other) {
    if (value == one || value == other) return;
    problems_.error({path_, 0}, words({"robot options: ", name, " = ", shown(value),
                                       " must be ", one, " or ", other}));
  }

  static Consequence consequence_of(std::string_view what) {
    static const std::map<std::string_view, Consequence> all{
        {"transmission", Consequence::nothing},
        {"gazebo", Consequence::contact},
        {"contact", Consequence::contact},
        {"sensor", Consequence::unmeasured},
        {"calibration", Consequence::nothing},
        {"verbose", Consequence::nothing},
        {"safety_controller", Consequence::softness},
        {"type", Consequence::nothing},
        {"concave", Consequence::contact}};
    const auto found = all.find(what);
    return found == all.end() ? Consequence::motion : found->second;
  }

  void error(const Element& e, std::initializer_list<std::string_view> parts) {
    problems_.error(e.place(), words(parts));
  }

  /// Counts the attributes that are not read, of the elements that are.
  void count_attributes(const Element& e) {
    static const std::map<std::string_view, std::set<std::string_view>> read{
        {"robot", {"name", "version"}},
        {"link", {"name"}},
        {"joint", {"name", "type"}},
        {"collision", {"name"}},
        {"inertial", {}},
        {"geometry", {}},
        {"origin", {"xyz", "rpy"}},
        {"mass", {"value"}},
        {"inertia", {"ixx", "ixy", "ixz", "iyy", "iyz", "izz"}},
        {"parent", {"link"}},
        {"child", {"link"}},
        {"axis", {"xyz"}},
        {"limit", {"lower", "upper", "effort", "velocity"}},
        {"dynamics", {"damping", "friction"}},
        {"mimic", {"joint", "multiplier", "offset"}},
        {"box", {"size"}},
        {"sphere", {"radius"}},
        {"cylinder", {"radius", "length"}},
        {"capsule", {"radius", "length"}},
        {"mesh", {"filename", "scale"}}};
    const auto known = read.find(e.tag);
    if (known == read.end()) return;
    for (const Attribute& a : e.attributes) {
      if (known->second.contains(a.name) || a.name.starts_with("xmlns")) continue;
      unread_.count(words({e.tag, " ", a.name}), consequence_of(a.name));
    }
    for (const Element& c : e.children) count_attributes(c);
  }

  /// Counts the children that are not read, and complains of those given twice.
  void expect_children(const Element& e, const std::string& who,
                       std::initializer_list<std::string_view> once,
                       std::initializer_list<std::string_view> often = {}) {
    std::map<std::string_view, int> seen;
    for (const Element& c : e.children) {
      if (std::find(often.begin(), often.end(), c.tag) != often.end()) continue;
      if (std::find(once.begin(), once.end(), c.tag) == once.end()) {
        unread_.count(c.tag, consequence_of(c.tag));
      } else if (++seen[c.tag] == 2) {
        error(c, {who, ": ", c.tag, " must be given once only"});
      }
    }
  }

  /// <origin>, as a pose and as urdfdom is shown it.
  struct Origin {
    Transform<double> pose{};
    std::string text{};
  };
  Origin origin(const Element& e, const std::string& who) {
    const Element* found = e.child("origin");
    if (found == nullptr) return {};
    const Vec3<double> xyz = xml::vector(found->find("xyz"), who, {0, 0, 0}, problems_);
    const Vec3<double> rpy = xml::vector(found->find("rpy"), who, {0, 0, 0}, problems_);
    return {{from_roll_pitch_yaw(rpy), xyz},
            words({"<origin xyz='", exact(xyz), "' rpy='", exact(rpy), "'/>"})};
  }

  const Attribute* required(const Element& e, std::string_view name,
                            const std::string& who) {
    const Attribute* found = e.find(name);
    if (found == nullptr) error(e, {who, ": ", e.tag, " must have ", name});
    return found;
  }

  void read_link(const Element& e) {
    LinkRecord link{&e, std::string(e.value("name")), called("link", e.value("name"))};
    if (link.name.empty()) error(e, {"link: it must have a name"});
    expect_children(e, link.who, {"inertial"}, {"collision", "visual"});
    if (const Element* inertial = e.child("inertial")) {
      read_inertial(*inertial, link);
    }
    if (!link.name.empty()) {
      const auto [known, fresh] = link_of_.try_emplace(link.name, links_.size());
      if (!fresh) {
        const std::string line = std::to_string(links_[known->second].element->line);
        error(e, {link.who, ": another link must not have this name (line ", line, ")"});
        return;
      }
      if (link.name != world_name && !body_names_.take(link.name)) {
        error(e, {link.who, ": another body of the scene must not have this name"});
      }
    }
    links_.push_back(std::move(link));
  }

  void read_inertial(const Element& e, LinkRecord& link) {
    expect_children(e, link.who, {"origin", "mass", "inertia"});
    const Origin at = origin(e, link.who);
    const Element* mass = e.child("mass");
    const Element* inertia = e.child("inertia");
    if (mass == nullptr) {
      error(e, {link.who, ": inertial must have mass"});
    } else if (const Attribute* value = required(*mass, "value", link.who)) {
      Attribute as_read = *value;
      as_read.name = "mass";
      link.mass = xml::number(&as_read, link.who, 0, Range::not_negative, problems_);
    }
    std::string moments;
    Sym3<double> s = Sym3<double>::zero();
    if (inertia == nullptr) {
      error(e, {link.who, ": inertial must have inertia (zeros make a point mass)"});
    } else {
      const auto moment = [&](const char* name, double& to) {
        const Attribute* value = required(*inertia, name, link.who);
        to = xml::number(value, link.who, 0, Range::any, problems_);
        moments += words({" ", name, "='", exact(to), "'"});
      };
      moment("ixx", s.xx);
      moment("ixy", s.xy);
      moment("ixz", s.xz);
      moment("iyy", s.yy);
      moment("iyz", s.yz);
      moment("izz", s.zz);
      if (link.mass == 0 && trace(s) > 0) {
        problems_.warning(inertia->place(),
                          words({link.who, ": inertia without a mass is ignored"}));
        moments = " ixx='0' ixy='0' ixz='0' iyy='0' iyz='0' izz='0'";
      } else if (const auto wrong = impossible(s)) {
        const double raised = missing_inertia(s);
        if (raised < trace(s)) {
          problems_.warning(inertia->place(), words({link.who, ": inertia ", *wrong,
                                                     "; all three are raised by ",
                                                     checks::number(raised), " kg m^2"}));
          s = s + Sym3<double>::diagonal(raised, raised, raised);
          moments = words({" ixx='", exact(s.xx), "' ixy='", exact(s.xy), "' ixz='",
                           exact(s.xz), "' iyy='", exact(s.yy), "' iyz='", exact(s.yz),
                           "' izz='", exact(s.zz), "'"});
        } else {
          error(*inertia, {link.who, ": inertia ", *wrong});
        }
      }
    }
    link.has_inertial = true;
    link.inertial = words({"<inertial>", at.text, "<mass value='", exact(link.mass),
                           "'/><inertia", moments, "/></inertial>"});
  }

  /// The link that a joint names by <parent> or <child>; −1 where there is none.
  int party(const Element& e, const char* tag, const std::string& who) {
    const Element* found = e.child(tag);
    if (found == nullptr) {
      error(e, {who, ": it must have ", tag});
      return -1;
    }
    const Attribute* name = required(*found, "link", who);
    if (name == nullptr) return -1;
    const auto link = link_of_.find(name->value);
    if (link == link_of_.end()) {
      problems_.error(name->place(), words({who, ": ", tag, " = \"", shown(name->value),
                                            "\" must be a link of the file"}));
      return -1;
    }
    return static_cast<int>(link->second);
  }

  void read_joint(const Element& e) {
    JointRecord joint{&e, std::string(e.value("name")), called("joint", e.value("name"))};
    if (joint.name.empty()) error(e, {"joint: it must have a name"});
    expect_children(e, joint.who,
                    {"origin", "parent", "child", "axis", "limit", "dynamics", "mimic"});
    static const std::map<std::string_view, JointType> types{
        {"fixed", JointType::fixed},         {"revolute", JointType::revolute},
        {"continuous", JointType::revolute}, {"prismatic", JointType::prismatic},
        {"planar", JointType::planar},       {"floating", JointType::free},
        {"spherical", JointType::spherical}};  // of Bullet; urdfdom does not know it
    joint.kind = std::string(e.value("type"));
    if (const auto type = types.find(joint.kind); type != types.end()) {
      joint.type = type->second;
    } else {
      error(e, {joint.who, ": type = ", shown(joint.kind),
                " must be fixed, revolute, continuous, prismatic, planar, floating or "
                "spherical"});
      joint.kind = "fixed";
    }
    joint.body = words({"<joint name='", numbered('j', joints_.size()), "' type='",
                        joint.type == JointType::spherical ? "floating" : joint.kind,
                        "'>", origin(e, joint.who).text});
    read_axis(joint);
    read_limit(joint);
    read_dynamics(joint);

    if (!joint.name.empty() && !joint_names_.take(joint.name)) {
      error(e, {joint.who, ": another joint must not have this name"});
    }
    joint.parent = party(e, "parent", joint.who);
    joint.child = party(e, "child", joint.who);
    const int index = static_cast<int>(joints_.size());
    if (joint.parent >= 0 && joint.child >= 0) {
      LinkRecord& child = links_[static_cast<std::size_t>(joint.child)];
      if (child.joint >= 0) {
        const JointRecord& other = joints_[static_cast<std::size_t>(child.joint)];
        error(e, {joint.who, ": child = \"", shown(child.name),
                  "\" must hang from one joint only, and hangs from \"",
                  shown(other.name), "\" already"});
      } else if (child.name == world_name) {
        error(e, {joint.who, ": child = \"world\" must not hang from anything"});
      } else {
        child.joint = index;
        links_[static_cast<std::size_t>(joint.parent)].children.push_back(joint.child);
      }
    }
    joints_.push_back(std::move(joint));
  }

  void read_axis(JointRecord& joint) {
    const Element* axis = joint.element->child("axis");
    if (axis == nullptr || joint.type == JointType::fixed ||
        quaternion_at(joint.type) >= 0) {
      return;
    }
    const Attribute* xyz = required(*axis, "xyz", joint.who);
    if (xyz == nullptr) return;
    const Vec3<double> v = xml::vector(xyz, joint.who + ": axis", {1, 0, 0}, problems_);
    const double length = norm(v);
    if (!(length > 1e-9) || !std::isfinite(length)) {
      problems_.error(xyz->place(), words({joint.who, ": axis = ", shown(xyz->value),
                                           " must have a length"}));
    }
    joint.body += words({"<axis xyz='", exact(v), "'/>"});
  }

  void read_limit(JointRecord& joint) {
    const bool bounded = joint.kind == "revolute" || joint.kind == "prismatic";
    const Element* limit = joint.element->child("limit");
    if (limit == nullptr) {
      if (bounded) {
        error(*joint.element, {joint.who, ": a ", joint.kind, " joint must have limit"});
      }
      return;
    }
    if (joint.type == JointType::fixed) return;
    const double inf = std::numeric_limits<double>::infinity();
    const std::string who = joint.who + ": limit";
    const double lower = xml::number(limit->find("lower"), who, 0, Range::any, problems_);
    const double upper = xml::number(limit->find("upper"), who, 0, Range::any, problems_);
    if (bounded && lower > upper) {
      error(*limit, {who, ": lower = ", shown(limit->value("lower")),
                     " must not be above upper = ", shown(limit->value("upper"))});
    }
    if (!bounded &&
        (limit->find("lower") != nullptr || limit->find("upper") != nullptr)) {
      unread_.count("limit lower and upper of a " + joint.kind + " joint");
    }
    const double effort = xml::number(required(*limit, "effort", joint.who), who, inf,
                                      Range::not_negative, problems_);
    const double velocity = xml::number(required(*limit, "velocity", joint.who), who, inf,
                                        Range::not_negative, problems_);
    unread_.count("limit velocity");
    joint.body +=
        words({"<limit lower='", exact(lower), "' upper='", exact(upper), "' effort='",
               exact(effort), "' velocity='", exact(velocity), "'/>"});
  }

  void read_dynamics(JointRecord& joint) {
    const Element* dynamics = joint.element->child("dynamics");
    if (dynamics == nullptr || joint.type == JointType::fixed) return;
    const std::string who = joint.who + ": dynamics";
    const double damping =
        xml::number(dynamics->find("damping"), who, 0, Range::not_negative, problems_);
    const double friction =
        xml::number(dynamics->find("friction"), who, 0, Range::not_negative, problems_);
    joint.body += words(
        {"<dynamics damping='", exact(damping), "' friction='", exact(friction), "'/>"});
  }

  /// One root, from which every link hangs; mass where something must resist.
  void check_tree(const Element& robot) {
    std::vector<std::size_t> roots;
    std::vector<bool> reached(links_.size(), false);
    for (std::size_t i = 0; i < links_.size(); ++i) {
      if (links_[i].joint < 0) roots.push_back(i);
    }
    bool whole = true;  // every joint found its links
    for (const JointRecord& j : joints_) whole = whole && j.parent >= 0 && j.child >= 0;
    if (roots.size() > 1 && whole) {
      std::string all;
      for (std::size_t k = 0; k < roots.size() && k < 8; ++k) {
        if (k > 0) all += ", ";
        all += words({"\"", shown(links_[roots[k]].name), "\""});
      }
      if (roots.size() > 8) all += ", ...";
      error(robot, {called("robot", robot.value("name")),
                    ": one link only must hang from no joint, but these do: ", all});
    }
    std::vector<std::size_t> open = roots;
    while (!open.empty()) {
      const std::size_t i = open.back();
      open.pop_back();
      reached[i] = true;
      for (const int c : links_[i].children) open.push_back(static_cast<std::size_t>(c));
    }
    for (std::size_t i = 0; i < links_.size(); ++i) {
      if (reached[i]) continue;
      error(*links_[i].element, {links_[i].who, ": its parents must not form a cycle"});
    }
    root_ = roots.empty() ? 0 : roots.front();
    if (!whole || roots.size() != 1) return;
    for (std::size_t i = 0; i < links_.size(); ++i) {
      const LinkRecord& link = links_[i];
      if (!reached[i] || link.joint < 0) continue;
      const JointRecord& joint = joints_[static_cast<std::size_t>(link.joint)];
      if (joint.type == JointType::fixed) continue;
      const Welded welded = welded_to(i);
      if (welded.mass > 0 || welded.carries) continue;
      const std::string mass = link.has_inertial ? "mass = 0" : "mass (none given)";
      error(*link.element, {link.who, ": ", mass, " must be above 0 on a ", joint.kind,
                            " joint (\"", shown(joint.name), "\")"});
    }
  }

  /// The mass of a link with all that fixed joints hold to it, and whether it carries
  /// others on joints that move.
  struct Welded {
    double mass = 0;
    bool carries = false;
  };
  Welded welded_to(std::size_t link) const {
    Welded all;
    std::vector<std::size_t> open{link};
    while (!open.empty()) {
      const LinkRecord& here = links_[open.back()];
      open.pop_back();
      all.mass += here.mass;
      for (const int c : here.children) {
        const LinkRecord& child = links_[static_cast<std::size_t>(c)];
        if (joints_[static_cast<std::size_t>(child.joint)].type == JointType::fixed) {
          open.push_back(static_cast<std::size_t>(c));
        } else {
          all.carries = true;
        }
      }
    }
    return all;
  }

  void read_collisions(const LinkRecord& link, Parts& parts) {
    std::set<std::string_view> here;
    for (const Element& e : link.element->children) {
      if (e.tag != "collision") continue;
      const std::string own(e.value("name"));
      const std::string who = words({link.who, ": ", called("collision", own)});
      expect_children(e, who, {"origin", "geometry"});
      if (!own.empty() && !here.insert(e.value("name")).second) {
        error(e, {who, ": another collision of the link must not have this name"});
      }
      ShapeSpec shape;
      shape.body = link.name;
      shape.surface = options_.surface.empty() ? link.name : options_.surface;
      shape.pose = origin(e, who).pose;
      // Link frames that hang from our world stand where the file's world does.
      if (link.name == world_name) shape.pose = options_.pose * shape.pose;
      const Element* geometry = e.child("geometry");
      if (geometry == nullptr || geometry->children.empty()) {
        error(e, {who, ": it must have geometry"});
        continue;
      }
      if (geometry->children.size() > 1) {
        error(*geometry, {who, ": geometry must be one shape"});
      }
      const std::optional<Shape> found = read_shape(geometry->children.front(), who);
      if (!found) continue;
      shape.shape = *found;
      const bool free = !own.empty() && !link_of_.contains(own) && !shape_names_.has(own);
      shape.name = shape_names_.fresh(
          free ? own : link.name + "." + (own.empty() ? "collision" : own));
      parts.shapes.push_back(std::move(shape));
    }
  }

  /// The colour of a material, by its own <color> or by that of another one of its name.
  std::optional<Colour> colour_of(const Element& material) {
    const Element* color = material.child("color");
    const Attribute* rgba = color == nullptr ? nullptr : color->find("rgba");
    if (rgba == nullptr) {
      const auto known = materials_.find(material.value("name"));
      if (known == materials_.end()) return {};
      return known->second;
    }
    Problems unsaid;  // no motion depends on it
    const auto given = xml::numbers(*rgba, "", 4, 4, Range::any, unsaid);
    if (!given) {
      unread_.count("material that is not four numbers", Consequence::appearance);
      return {};
    }
    Colour colour{};
    for (std::size_t k = 0; k < 4; ++k) {
      colour[k] = static_cast<float>(std::clamp((*given)[k], 0.0, 1.0));
    }
    return colour;
  }

  void read_material(const Element& e) {
    if (const auto colour = colour_of(e)) {
      materials_.try_emplace(std::string(e.value("name")), *colour);
    }
  }

  /// What is seen of a link, in place of the shapes by which it touches.
  void read_visuals(const LinkRecord& link, Parts& parts) {
    const std::size_t before = parts.visuals.size();
    std::optional<Colour> first;
    for (const Element& e : link.element->children) {
      if (e.tag != "visual") continue;
      Problems unsaid;
      Visual visual{.name = std::string(e.value("name")), .body = link.name};
      if (const Element* at = e.child("origin")) {
        const Vec3<double> rpy = xml::vector(at->find("rpy"), "", {0, 0, 0}, unsaid);
        visual.pose = {from_roll_pitch_yaw(rpy),
                       xml::vector(at->find("xyz"), "", {0, 0, 0}, unsaid)};
      }
      if (link.name == world_name) visual.pose = options_.pose * visual.pose;
      if (const Element* material = e.child("material")) {
        visual.colour = colour_of(*material);
        if (material->child("color") != nullptr) read_material(*material);
      }
      const Element* geometry = e.child("geometry");
      if (geometry == nullptr || geometry->children.empty() ||
          !see(geometry->children.front(), visual, unsaid) || unsaid.any()) {
        unread_.count("visual", Consequence::appearance);
        continue;
      }
      if (!first) first = visual.colour;
      parts.visuals.push_back(std::move(visual));
    }
    const bool seen = parts.visuals.size() > before;
    for (const ShapeSpec& shape : parts.shapes) {
      if (shape.body != link.name || !seen) continue;
      parts.looks.push_back({.shape = shape.name, .drawn = false, .colour = first});
    }
  }

  /// The shape or the mesh of a <visual>; false where it cannot be drawn.
  bool see(const Element& e, Visual& to, Problems& unsaid) {
    const auto size = [&](const char* name) {
      const Attribute* given = e.find(name);
      if (given == nullptr) return 0.0;
      return xml::number(given, "", 0, Range::size, unsaid);
    };
    if (e.tag == "sphere") {
      to.shape = Sphere{size("radius")};
    } else if (e.tag == "cylinder") {
      to.shape = Cylinder{size("radius"), size("length") / 2};
    } else if (e.tag == "capsule") {
      to.shape = Capsule{size("radius"), size("length") / 2};
    } else if (e.tag == "box" && e.find("size") != nullptr) {
      const auto edges = xml::numbers(*e.find("size"), "", 3, 3, Range::size, unsaid);
      if (!edges) return false;
      to.shape = Box{{(*edges)[0] / 2, (*edges)[1] / 2, (*edges)[2] / 2}};
    } else if (e.tag == "mesh" && e.find("filename") != nullptr) {
      const std::string path = resolve(e.find("filename")->value, folder_, options_);
      if (path.empty()) return false;
      to.mesh = SeenMesh{.path = path,
                         .scale = xml::vector(e.find("scale"), "", {1, 1, 1}, unsaid)};
    }
    return to.shape || to.mesh;
  }

  double length(const Element& e, const char* name, const std::string& who) {
    return xml::number(required(e, name, who), words({who, ": ", e.tag}), 1, Range::size,
                       problems_);
  }

  std::optional<Shape> read_shape(const Element& e, const std::string& who) {
    const std::string here = words({who, ": ", shown(e.tag)});
    if (e.tag == "sphere") return Sphere{length(e, "radius", who)};
    if (e.tag == "cylinder") {
      const double radius = length(e, "radius", who);
      return Cylinder{radius, length(e, "length", who) / 2};
    }
    if (e.tag == "capsule") {
      const double radius = length(e, "radius", who);
      return Capsule{radius, length(e, "length", who) / 2};
    }
    if (e.tag == "box") {
      const Attribute* size = required(e, "size", who);
      if (size == nullptr) return {};
      const auto edges = xml::numbers(*size, here, 3, 3, Range::size, problems_);
      if (!edges) return {};
      return Box{{(*edges)[0] / 2, (*edges)[1] / 2, (*edges)[2] / 2}};
    }
    if (e.tag != "mesh") {
      error(e, {here, ": geometry must be box, cylinder, sphere, capsule or mesh"});
      return {};
    }
    const Attribute* file = required(e, "filename", who);
    Vec3<double> scale{1, 1, 1};
    if (const Attribute* given = e.find("scale")) {
      scale = xml::vector(given, here, scale, problems_);
      if (scale.x == 0 || scale.y == 0 || scale.z == 0) {
        problems_.error(given->place(), words({here, ": scale = ", shown(given->value),
                                               " must not be 0"}));
        return {};
      }
    }
    if (file == nullptr) return {};
    const std::string path = resolve(file->value, folder_, options_);
    if (file->value.empty() || path.empty()) {
      problems_.error(
          file->place(),
          words({here, ": filename = ", shown(file->value),
                 file->value.empty() ? " must name a file"
                                     : " must lie in a package above the file or in the "
                                       "folders of packages"}));
      return {};
    }
    const Triangles* triangles = meshes_.read(path, file->place(), here);
    if (triangles == nullptr) return {};
    return meshes_.shape(words({path, " ", exact(scale)}), *triangles, scale,
                         file->place(), here);
  }

  /// Our parts of urdfdom's tree.
  void assemble(const Element& robot, Parts& parts) {
    std::string text = "<robot name='r'>";
    for (std::size_t i = 0; i < links_.size(); ++i) {
      text +=
          words({"<link name='", numbered('l', i), "'>", links_[i].inertial, "</link>"});
    }
    for (const JointRecord& j : joints_) {
      text +=
          words({j.body, "<parent link='",
                 numbered('l', static_cast<std::size_t>(j.parent)), "'/><child link='",
                 numbered('l', static_cast<std::size_t>(j.child)), "'/></joint>"});
    }
    text += "</robot>";
    Log log;
    const urdf::ModelInterfaceSharedPtr model = ask_urdfdom(text, log);
    if (!model || !model->getRoot() || model->links_.size() != links_.size() ||
        model->joints_.size() != joints_.size()) {
      std::string why;
      for (const std::string& said : log.said) why += " " + shown(said) + ";";
      error(robot, {called("robot", robot.value("name")), ": urdfdom refuses it:", why});
      return;
    }
    for (const std::string& said : log.said) {
      problems_.warning(robot.place(), "urdfdom says: " + shown(said));
    }

    add_base(parts);
    for (std::size_t i = 0; i < links_.size(); ++i) {
      if (links_[i].name != world_name) add_body(i, *model, parts);
    }
    for (std::size_t i = 0; i < joints_.size(); ++i) add_joint(i, *model, parts);
    for (const JointRecord& joint : joints_) add_mimic(joint, parts);
  }

  /// q = multiplier q′ + offset, held by a spring that is stiff for what the joint moves.
  void add_mimic(const JointRecord& joint, Parts& parts) {
    const Element* mimic = joint.element->child("mimic");
    if (mimic == nullptr) return;
    const Attribute* name = required(*mimic, "joint", joint.who);
    if (name == nullptr) return;
    const auto other = std::ranges::find(joints_, name->value, &JointRecord::name);
    const auto single = [](const JointRecord& j) {
      return j.type == JointType::revolute || j.type == JointType::prismatic;
    };
    if (other == joints_.end() || &*other == &joint || !single(*other) ||
        !single(joint)) {
      problems_.error(name->place(),
                      words({joint.who, ": mimic: joint = \"", shown(name->value),
                             "\" must be another joint of the file that turns or slides, "
                             "as this one must"}));
      return;
    }
    const std::string who = joint.who + ": mimic";
    const double factor =
        xml::number(mimic->find("multiplier"), who, 1, Range::any, problems_);
    CouplingSpec coupling;
    coupling.name = coupling_names_.fresh(joint.name + ".mimic");
    coupling.terms.push_back({joint.name, 1});
    if (factor != 0) coupling.terms.push_back({other->name, -factor});
    coupling.rest = xml::number(mimic->find("offset"), who, 0, Range::any, problems_);
    coupling.frequency = mimic_rate;
    parts.couplings.push_back(std::move(coupling));
  }

  void add_base(Parts& parts) {
    const LinkRecord& root = links_[root_];
    if (root.name == world_name) return;
    JointSpec base;
    base.name = joint_names_.fresh(root.name + ".base");
    base.child = root.name;
    base.on_parent = options_.pose;
    const bool free = options_.base == "free" && welded_to(root_).mass > 0;
    base.type = free ? JointType::free : JointType::fixed;
    parts.joints.push_back(std::move(base));
  }

  void add_body(std::size_t i, const urdf::ModelInterface& model, Parts& parts) const {
    BodySpec body;
    body.name = links_[i].name;
    const auto link = model.getLink(numbered('l', i));
    if (link && link->inertial) {
      const urdf::Inertial& given = *link->inertial;
      const Transform<double> at = frame(given.origin);
      body.mass = given.mass;
      body.com = at.p;
      body.inertia = rotated(at.R, Sym3<double>{given.ixx, given.iyy, given.izz,
                                                given.ixy, given.ixz, given.iyz});
    }
    parts.bodies.push_back(std::move(body));
  }

  void add_joint(std::size_t i, const urdf::ModelInterface& model, Parts& parts) const {
    const auto given = model.getJoint(numbered('j', i));
    if (!given) return;
    const JointRecord& record = joints_[i];
    const LinkRecord& parent = links_[static_cast<std::size_t>(record.parent)];
    JointSpec joint;
    joint.name = record.name;
    joint.parent = parent.name;
    joint.child = links_[static_cast<std::size_t>(record.child)].name;
    joint.type = record.type;
    joint.on_parent = frame(given->parent_to_joint_origin_transform);
    if (parent.name == world_name) joint.on_parent = options_.pose * joint.on_parent;
    const Vec3<double> axis{given->axis.x, given->axis.y, given->axis.z};
    if (record.type == JointType::revolute || record.type == JointType::prismatic) {
      joint.axis = axis;
    } else if (record.type == JointType::planar) {
      // The axis is the normal of the plane, and our plane is x y.
      const Transform<double> align{z_to(axis), {0, 0, 0}};
      joint.on_parent = joint.on_parent * align;
      joint.on_child = align;
    }
    if (given->limits) {
      joint.effort_limit = given->limits->effort;
      if (record.kind == "revolute" || record.kind == "prismatic") {
        joint.lower = given->limits->lower;
        joint.upper = given->limits->upper;
      }
    }
    if (given->dynamics) {
      joint.damping = given->dynamics->damping;
      joint.friction = given->dynamics->friction;
    }
    parts.joints.push_back(std::move(joint));
  }

  std::string path_;
  std::string folder_;
  const RobotOptions& options_;
  Problems& problems_;
  Meshes meshes_;
  xml::Unread unread_;
  Names body_names_, joint_names_, shape_names_, coupling_names_;
  std::vector<LinkRecord> links_;
  std::vector<JointRecord> joints_;
  std::map<std::string, std::size_t, std::less<>> link_of_;
  std::map<std::string, Colour, std::less<>> materials_;
  std::size_t root_ = 0;
};

}  // namespace

bool read_urdf_text(std::string_view text, const std::string& path,
                    const RobotOptions& options, Parts& parts, Problems& problems) {
  const std::size_t before = problems.count();
  Parts read;
  Reading(path, options, parts, *parts.geometry, problems).read(text, read);
  if (problems.count() != before) return false;
  append(std::move(read), parts);
  return true;
}

bool read_urdf(const std::string& path, const RobotOptions& options, Parts& parts,
               Problems& problems) {
  const auto text = xml::read_file(path, {path, 0}, "", problems);
  return text && read_urdf_text(*text, path, options, parts, problems);
}

}  // namespace bristle::scene
