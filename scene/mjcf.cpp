#include "scene/mjcf.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <numbers>
#include <ranges>
#include <set>
#include <utility>
#include <vector>

#include "bristle/model/checks.hpp"
#include "scene/mesh_file.hpp"
#include "scene/naming.hpp"
#include "scene/solid.hpp"
#include "scene/xml.hpp"

namespace bristle::scene {

namespace {

using xml::Attribute;
using xml::called;
using xml::Element;
using xml::Range;
using xml::shown;
using xml::words;

constexpr int main_class = 0;
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::size_t max_files = 100;
constexpr std::size_t max_rules = 5000;  // of pairs that never touch
constexpr std::size_t max_geoms = 5000;  // among which such pairs are looked for

using Words = std::set<std::string_view>;

/// The attributes that are read, by element. An element that is not listed is not read.
const std::map<std::string_view, Words>& vocabulary() {
  static const Words orientation{"quat", "euler", "axisangle", "xyaxes", "zaxis"};
  static const auto with = [](Words own) {
    own.insert(orientation.begin(), orientation.end());
    return own;
  };
  static const std::map<std::string_view, Words> all{
      {"mujoco", {"model"}},
      {"compiler",
       {"angle", "coordinate", "meshdir", "assetdir", "eulerseq", "autolimits",
        "inertiafromgeom", "inertiagrouprange"}},
      {"option", {"gravity", "timestep"}},
      {"default", {"class"}},
      {"worldbody", {"name"}},
      {"body", with({"name", "pos", "childclass"})},
      {"inertial", with({"pos", "mass", "diaginertia", "fullinertia"})},
      {"joint",
       {"name", "class", "type", "pos", "axis", "range", "limited", "damping",
        "stiffness", "springref", "armature", "frictionloss", "ref"}},
      {"freejoint", {"name"}},
      {"geom", with({"name", "class", "type", "pos", "size", "fromto", "mass", "density",
                     "contype", "conaffinity", "mesh", "group"})},
      {"asset", {}},
      {"mesh", {"name", "class", "file", "scale", "vertex", "face", "refpos", "refquat"}},
      {"contact", {}},
      {"exclude", {"name", "body1", "body2"}},
      {"equality", {}},
      {"connect", {"name", "class", "active", "body1", "body2", "anchor"}},
      {"weld", {"name", "class", "active", "body1", "body2", "anchor", "relpose"}},
      {"actuator", {}},
      {"motor",
       {"name", "class", "joint", "gear", "ctrlrange", "ctrllimited", "forcerange",
        "forcelimited"}},
      {"position",
       {"name", "class", "joint", "gear", "kp", "kv", "forcerange", "forcelimited"}},
      {"keyframe", {}},
      {"key", {"name", "qpos", "qvel", "ctrl"}},
  };
  return all;
}

/// What may stand in what; elsewhere an element means something else.
bool belongs(std::string_view tag, std::string_view parent) {
  static const std::map<std::string_view, Words> all{
      {"mujoco",
       {"compiler", "option", "default", "worldbody", "asset", "contact", "equality",
        "actuator", "keyframe"}},
      {"default", {"default", "joint", "geom", "mesh", "motor", "position"}},
      {"worldbody", {"body", "geom"}},
      {"body", {"body", "inertial", "joint", "freejoint", "geom"}},
      {"asset", {"mesh"}},
      {"contact", {"exclude"}},
      {"equality", {"connect", "weld"}},
      {"actuator", {"motor", "position"}},
      {"keyframe", {"key"}},
  };
  const auto found = all.find(parent);
  return found != all.end() && found->second.contains(tag);
}

/// A class of defaults: what it says, and the class that it refines.
struct DefaultClass {
  std::string name;
  int parent;
  std::map<std::string, std::vector<const Element*>, std::less<>> elements{};
};

/// An element with the defaults that fill it in.
struct View {
  const Element* element;
  int defaults;
  std::string who;
};

/// A mesh is read when the first geom needs it: those that are only seen need not be
/// there.
struct MeshAsset {
  std::string name;
  View view;
  std::string folder;
  bool is_read = false;
  Triangles triangles{};  // in the axes of the file, scaled; empty where it is wrong
  Solid solid{};          // that they enclose
};

/// What later sections need to know of a joint.
struct JointRecord {
  std::string name;
  JointType type;
  double ref;
  std::size_t spec;       // in the joints of the parts
  std::vector<double> q;  // at the start, where it is not neutral
};

struct GeomRecord {
  std::string shape;
  int body;
  std::uint32_t contype, conaffinity;
};

struct BodyRecord {
  std::string name;
  int group;           // the first of the bodies that are welded together; 0: the world
  int parent;          // group that this one's group hangs from
  bool direct = true;  // by one joint, so that the engine sees that they are neighbours
  Transform<double> pose{};  // in our world, every joint at its reference
  std::vector<int> geoms{};
};

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

class Reading {
 public:
  Reading(const std::string& path, const RobotOptions& options, const Parts& before,
          Geometry& geometry, Problems& problems)
      : path_(path),
        options_(options),
        problems_(problems),
        meshes_(options, geometry, problems) {
    for (const BodySpec& b : before.bodies) body_names_.take(b.name);
    for (const JointSpec& j : before.joints) joint_names_.take(j.name);
    for (const ShapeSpec& s : before.shapes) shape_names_.take(s.name);
    for (const MotorSpec& m : before.motors) motor_names_.take(m.name);
    for (const LoopSpec& l : before.loops) loop_names_.take(l.name);
  }

  void read(std::string_view text) {
    if (options_.meshes != "hull" && options_.meshes != "mesh") {
      problems_.error({path_, 0},
                      words({"robot options: meshes = ", shown(options_.meshes),
                             " must be hull or mesh"}));
    }
    if (!xml::parse(text, path_, document_, document_.root, problems_)) return;
    Element& root = document_.root;
    if (root.tag != "mujoco") {
      problems_.error(root.place(),
                      words({shown(root.tag), ": an MJCF file must begin with mujoco"}));
      return;
    }
    included_.insert(key_of(path_));
    expand(root, 0);
    classes_.push_back({"main", -1});
    class_of_["main"] = main_class;
    bodies_.push_back({std::string(world_name), 0, 0});
    take_stock(root);
    each(root, "compiler", [&](const Element& e) { read_compiler(e); });
    each(root, "option", [&](const Element& e) { read_option(e); });
    each(root, "default", [&](const Element& e) { read_defaults(e, -1); });
    each(root, "asset", [&](const Element& e) {
      each(e, "mesh", [&](const Element& m) { read_mesh(m); });
    });
    each(root, "worldbody", [&](const Element& e) { reserve_names(e); });
    each(root, "worldbody", [&](const Element& e) { read_world(e); });
    each(root, "contact", [&](const Element& e) {
      each(e, "exclude", [&](const Element& x) { read_exclude(x); });
    });
    each(root, "equality", [&](const Element& e) {
      each(e, "connect", [&](const Element& x) { read_loop(x); });
      each(e, "weld", [&](const Element& x) { read_loop(x); });
    });
    each(root, "actuator", [&](const Element& e) { read_actuators(e); });
    const Element* key = nullptr;
    each(root, "keyframe", [&](const Element& e) {
      each(e, "key", [&](const Element& k) {
        if (key == nullptr) {
          key = &k;
        } else {
          unread_.count("key after the first");
        }
      });
    });
    if (key != nullptr) read_key(*key);
    for (const JointRecord& j : joints_) {
      if (j.q.empty()) continue;
      InitialJoint start{j.name, j.q, {}};
      if (const auto v = start_rates_.find(j.name); v != start_rates_.end()) {
        start.v = v->second;
      }
      parts.start.push_back(std::move(start));
    }
    keep_apart();
    unread_.report(path_, problems_);
  }

  Parts parts;

 private:
  void error(const Place& at, std::initializer_list<std::string_view> parts_of_it) {
    problems_.error(at, words(parts_of_it));
  }

  template <class Function>
  static void each(const Element& e, std::string_view tag, Function function) {
    for (const Element& c : e.children) {
      if (c.tag == tag) function(c);
    }
  }

  static std::string key_of(const std::string& path) {
    return std::filesystem::path(path).lexically_normal().string();
  }

  /// Puts the children of included files where they are included. A file is included
  /// once, so that none includes itself.
  void expand(Element& e, int depth) {
    std::vector<Element> all;
    for (Element& c : e.children) {
      if (c.tag != "include") {
        expand(c, depth + 1);
        all.push_back(std::move(c));
        continue;
      }
      const Attribute* file = c.find("file");
      if (file == nullptr || file->value.empty()) {
        error(c.place(), {"include: it must have file"});
        continue;
      }
      const std::string path =
          (std::filesystem::path(path_).parent_path() / file->value).string();
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
      expand(root, depth + 1);
      for (Element& inner : root.children) all.push_back(std::move(inner));
    }
    e.children = std::move(all);
  }

  /// Counts what the rest of the reader passes over.
  void take_stock(const Element& e) {
    const auto known = vocabulary().find(e.tag);
    for (const Attribute& a : e.attributes) {
      if (!known->second.contains(a.name)) unread_.count(words({e.tag, " ", a.name}));
    }
    for (const Element& c : e.children) {
      static const Words holders{"frame", "replicate", "attach", "composite", "flexcomp"};
      if (belongs(c.tag, e.tag)) {
        take_stock(c);
      } else if (holders.contains(c.tag)) {
        error(c.place(), {c.tag, ": it must be written out as bodies"});
      } else {
        unread_.count(e.tag == "default" ? words({"default ", c.tag}) : c.tag);
      }
    }
  }

  // Attributes and the defaults behind them.

  /// Actuators of all kinds share their defaults.
  static std::string_view family(std::string_view tag) {
    return tag == "motor" || tag == "position" ? std::string_view("actuator") : tag;
  }

  const Attribute* get(const View& view, std::string_view name) const {
    if (const Attribute* own = view.element->find(name)) return own;
    for (int c = view.defaults; c >= 0;
         c = classes_[static_cast<std::size_t>(c)].parent) {
      const DefaultClass& defaults = classes_[static_cast<std::size_t>(c)];
      const auto found = defaults.elements.find(family(view.element->tag));
      if (found == defaults.elements.end()) continue;
      for (const Element* e : std::views::reverse(found->second)) {
        if (const Attribute* a = e->find(name)) return a;
      }
    }
    return nullptr;
  }
  std::string_view word(const View& view, std::string_view name,
                        std::string_view otherwise) const {
    const Attribute* found = get(view, name);
    return found == nullptr ? otherwise : std::string_view(found->value);
  }
  double number(const View& view, std::string_view name, double otherwise, Range range) {
    return xml::number(get(view, name), view.who, otherwise, range, problems_);
  }
  Vec3<double> vector(const View& view, std::string_view name,
                      const Vec3<double>& otherwise) {
    return xml::vector(get(view, name), view.who, otherwise, problems_);
  }
  std::optional<std::vector<double>> numbers(const View& view, std::string_view name,
                                             std::size_t least, std::size_t most,
                                             Range range = Range::any) {
    const Attribute* found = get(view, name);
    if (found == nullptr) return {};
    return xml::numbers(*found, view.who, least, most, range, problems_);
  }

  /// One of some words; the first where it is not given or wrong.
  std::string choice(const Attribute* given, const std::string& who,
                     std::initializer_list<std::string_view> allowed) {
    if (given == nullptr) return std::string(*allowed.begin());
    for (const std::string_view one : allowed) {
      if (given->value == one) return given->value;
    }
    std::string list;
    std::size_t left = allowed.size();
    for (const std::string_view one : allowed) {
      list += one;
      if (--left > 0) list += left == 1 ? " or " : ", ";
    }
    error(given->place(),
          {who, ": ", given->name, " = ", shown(given->value), " must be ", list});
    return std::string(*allowed.begin());
  }

  View view(const Element& e, int inherited, std::string_view name) {
    View v{&e, inherited, called(e.tag, name)};
    if (const Attribute* given = e.find("class")) v.defaults = class_named(*given, v.who);
    return v;
  }

  int class_named(const Attribute& given, const std::string& who) {
    const auto found = class_of_.find(given.value);
    if (found != class_of_.end()) return found->second;
    error(given.place(), {who, ": ", given.name, " = \"", shown(given.value),
                          "\" must be a default class of the model"});
    return main_class;
  }

  void read_defaults(const Element& e, int parent) {
    int index = main_class;
    const Attribute* given = e.find("class");
    if (parent >= 0) {
      if (given == nullptr || given->value.empty()) {
        error(e.place(), {"default: it must have a class"});
        return;
      }
      index = static_cast<int>(classes_.size());
      if (!class_of_.try_emplace(given->value, index).second) {
        error(given->place(), {"default: class = \"", shown(given->value),
                               "\" must not be the name of another class"});
        return;
      }
      classes_.push_back({given->value, parent});
    } else if (given != nullptr && !given->value.empty()) {
      class_of_.try_emplace(given->value, main_class);
    }
    for (const Element& c : e.children) {
      if (c.tag == "default") {
        read_defaults(c, index);
      } else {
        classes_[static_cast<std::size_t>(index)]
            .elements[std::string(family(c.tag))]
            .push_back(&c);
      }
    }
  }

  // Sections.

  void read_compiler(const Element& e) {
    const std::string who = "compiler";
    if (const Attribute* a = e.find("angle")) {
      degrees_ = choice(a, who, {"degree", "radian"}) == "degree";
    }
    if (const Attribute* a = e.find("coordinate")) choice(a, who, {"local"});
    for (const char* name : {"assetdir", "meshdir"}) {
      if (const Attribute* a = e.find(name)) mesh_folder_ = a->value;
    }
    if (const Attribute* a = e.find("autolimits")) {
      auto_limits_ = choice(a, who, {"true", "false"}) == "true";
    }
    if (const Attribute* a = e.find("inertiafromgeom")) {
      inertia_from_geom_ = choice(a, who, {"auto", "true", "false"});
    }
    if (const Attribute* a = e.find("inertiagrouprange")) {
      if (const auto v = xml::numbers(*a, who, 2, 2, Range::any, problems_)) {
        group_range_ = {(*v)[0], (*v)[1]};
      }
    }
    if (const Attribute* a = e.find("eulerseq")) {
      const bool fine =
          a->value.size() == 3 &&
          std::all_of(a->value.begin(), a->value.end(), [](char c) {
            return std::string_view("xyzXYZ").find(c) != std::string_view::npos;
          });
      if (fine) {
        euler_ = a->value;
      } else {
        error(a->place(), {"compiler: eulerseq = ", shown(a->value),
                           " must be three of x, y, z, X, Y, Z"});
      }
    }
  }

  void read_option(const Element& e) {
    if (const Attribute* a = e.find("gravity")) {
      parts.gravity = xml::vector(a, "option", {0, 0, -9.81}, problems_);
    }
    if (const Attribute* a = e.find("timestep")) {
      const double step = xml::number(a, "option", 0.002, Range::positive, problems_);
      problems_.warning(a->place(),
                        words({"option: timestep = ", checks::number(step),
                               " s is not part of a robot; the scene says how to step"}));
    }
  }

  double radians(double angle) const {
    return degrees_ ? angle * (std::numbers::pi / 180) : angle;
  }

  /// The orientation that an element states in one of five ways.
  Mat3<double> orientation(const View& v) {
    constexpr std::array names{"quat", "euler", "axisangle", "xyaxes", "zaxis"};
    const Attribute* given = nullptr;
    for (const char* name : names) {
      const Attribute* a = v.element->find(name);
      if (a == nullptr) continue;
      if (given != nullptr) {
        error(a->place(), {v.who, ": ", a->name, " = ", shown(a->value),
                           " must not be given together with ", given->name});
        return Mat3<double>::identity();
      }
      given = a;
    }
    for (const char* name : names) {
      if (given == nullptr) given = get(v, name);
    }
    if (given == nullptr) return Mat3<double>::identity();
    const bool four = given->name == "quat" || given->name == "axisangle";
    const std::size_t count = four ? 4 : given->name == "xyaxes" ? 6 : 3;
    const auto n = xml::numbers(*given, v.who, count, count, Range::any, problems_);
    if (!n) return Mat3<double>::identity();
    const std::vector<double>& x = *n;
    const auto refuse = [&](std::string_view must) {
      error(given->place(),
            {v.who, ": ", given->name, " = ", shown(given->value), " must ", must});
      return Mat3<double>::identity();
    };
    const auto short_one = [](const Vec3<double>& a) {
      const double length = norm(a);
      return !(length > 1e-9) || !std::isfinite(length);
    };
    if (given->name == "quat") {
      const double length =
          std::sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3]);
      if (!(length > 1e-9) || !std::isfinite(length)) return refuse("have a length");
      return to_matrix(
          Quaternion<double>{x[0] / length, x[1] / length, x[2] / length, x[3] / length});
    }
    if (given->name == "axisangle") {
      if (short_one({x[0], x[1], x[2]})) return refuse("have an axis with a length");
      return turn({x[0], x[1], x[2]}, radians(x[3]));
    }
    if (given->name == "zaxis") {
      if (short_one({x[0], x[1], x[2]})) return refuse("have a length");
      return z_to({x[0], x[1], x[2]});
    }
    if (given->name == "xyaxes") {
      const Vec3<double> a{x[0], x[1], x[2]};
      const Vec3<double> b{x[3], x[4], x[5]};
      if (short_one(a)) return refuse("have an x axis with a length");
      const Vec3<double> ex = (1 / norm(a)) * a;
      const Vec3<double> across = b - dot(b, ex) * ex;
      if (short_one(across)) return refuse("have axes in two directions");
      const Vec3<double> ey = (1 / norm(across)) * across;
      return {ex, ey, cross(ex, ey)};
    }
    Mat3<double> r = Mat3<double>::identity();
    for (std::size_t i = 0; i < 3; ++i) {
      const char c = euler_[i];
      const bool moving = c >= 'x';
      const char letter = moving ? c : static_cast<char>(c - 'X' + 'x');
      const Vec3<double> axis = letter == 'x'   ? Vec3<double>{1, 0, 0}
                                : letter == 'y' ? Vec3<double>{0, 1, 0}
                                                : Vec3<double>{0, 0, 1};
      const Mat3<double> one = turn(axis, radians(x[i]));
      r = moving ? r * one : one * r;
    }
    return r;
  }

  Transform<double> pose(const View& v) {
    return {orientation(v), vector(v, "pos", {0, 0, 0})};
  }

  // Meshes.

  void read_mesh(const Element& e) {
    std::string name(e.value("name"));
    const Attribute* file = e.find("file");
    if (name.empty() && file != nullptr) {
      name = std::filesystem::path(file->value).stem().string();
    }
    const View v = view(e, main_class, name);
    if (name.empty()) {
      error(e.place(), {"mesh: it must have a name or a file"});
      return;
    }
    if (!mesh_of_.try_emplace(name, assets_.size()).second) {
      error(e.place(), {v.who, ": another mesh must not have this name"});
      return;
    }
    if ((file == nullptr || file->value.empty()) && e.find("vertex") == nullptr) {
      error(e.place(), {v.who, ": it must have a file or vertex"});
    }
    const std::filesystem::path folder =
        std::filesystem::path(path_).parent_path() / mesh_folder_;
    assets_.push_back({name, v, folder.string()});
  }

  void read_triangles(MeshAsset& asset) {
    asset.is_read = true;
    const View& v = asset.view;
    const Place at = v.element->place();
    const Attribute* file = v.element->find("file");
    if (file != nullptr && !file->value.empty()) {
      const std::string path =
          (std::filesystem::path(asset.folder) / file->value).string();
      if (const Triangles* found = meshes_.read(path, file->place(), v.who)) {
        asset.triangles = *found;
      }
    } else {
      read_vertices(v, asset.triangles);
    }
    const Vec3<double> away = vector(v, "refpos", {0, 0, 0});
    Mat3<double> turned = Mat3<double>::identity();
    if (const auto q = numbers(v, "refquat", 4, 4)) {
      const Quaternion<double> given{(*q)[0], (*q)[1], (*q)[2], (*q)[3]};
      if (norm2(given) > 1e-18 && std::isfinite(norm2(given))) {
        turned = to_matrix(given);
      } else {
        error(at, {v.who, ": refquat must have a length"});
      }
    }
    for (Vec3<double>& p : asset.triangles.vertices) {
      p = transpose_times(turned, p - away);
    }
    const Vec3<double> scale = vector(v, "scale", {1, 1, 1});
    if (scale.x == 0 || scale.y == 0 || scale.z == 0) {
      error(at, {v.who, ": scale must not be 0"});
    } else {
      asset.triangles = scaled(asset.triangles, scale);
    }
    asset.solid = enclosed(asset.triangles);
  }

  void read_vertices(const View& v, Triangles& to) {
    constexpr std::size_t most = 3'000'000;
    const Attribute* given = v.element->find("vertex");
    if (given == nullptr) return;  // said already
    const auto points = xml::numbers(*given, v.who, 12, most, Range::any, problems_);
    if (!points) return;
    if (points->size() % 3 != 0) {
      error(given->place(), {v.who, ": vertex must be three numbers for each point"});
      return;
    }
    const std::size_t count = points->size() / 3;
    Triangles read;
    for (std::size_t i = 0; i < count; ++i) {
      read.vertices.push_back(
          {(*points)[3 * i], (*points)[3 * i + 1], (*points)[3 * i + 2]});
    }
    if (const Attribute* face = v.element->find("face")) {
      const auto corners =
          xml::numbers(*face, v.who, 3, most, Range::not_negative, problems_);
      if (!corners) return;
      const bool fine = corners->size() % 3 == 0 &&
                        std::all_of(corners->begin(), corners->end(), [&](double x) {
                          return x < static_cast<double>(count) && x == std::floor(x);
                        });
      if (!fine) {
        error(face->place(),
              {v.who, ": face must be three numbers of points for each triangle"});
        return;
      }
      const auto corner = [&](std::size_t i) {
        return static_cast<std::uint32_t>((*corners)[i]);
      };
      for (std::size_t i = 0; i + 2 < corners->size(); i += 3) {
        read.faces.push_back({corner(i), corner(i + 1), corner(i + 2)});
      }
    } else if (!add_hull_faces(read)) {
      error(given->place(), {v.who, ": vertex must be points around a volume"});
      return;
    }
    to = std::move(read);
  }

  /// Points alone stand for their convex hull.
  static bool add_hull_faces(Triangles& points) {
    try {
      const Result<ConvexHull> hull = make_hull(points.vertices);
      if (!hull) return false;
      points.vertices = hull->vertices;
      for (std::uint32_t f = 0; f < hull->face_count(); ++f) {
        const auto corners = hull->face(f);
        for (std::size_t k = 2; k < corners.size(); ++k) {
          points.faces.push_back({corners[0], corners[k - 1], corners[k]});
        }
      }
      return true;
    } catch (const std::exception&) {
      return false;
    }
  }

  // Bodies.

  /// What is named in the file keeps its name, whatever comes before it.
  void reserve_names(const Element& e) {
    for (const Element& c : e.children) {
      const std::string name(c.value("name"));
      if (c.tag == "body") {
        if (!name.empty()) body_names_.reserve(name);
        reserve_names(c);
      } else if (!name.empty() && (c.tag == "joint" || c.tag == "freejoint")) {
        joint_names_.reserve(name);
      }
    }
  }

  void read_world(const Element& e) {
    for (const Element& c : e.children) {
      if (c.tag == "geom") read_geom(c, 0, main_class, options_.pose, nullptr);
    }
    each(e, "body", [&](const Element& c) { read_body(c, 0, main_class); });
  }

  void read_body(const Element& e, int parent, int defaults) {
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
    if (const Attribute* a = e.find("childclass")) defaults = class_named(*a, who);
    View v{&e, -1, who};
    Transform<double> at = pose(v);

    std::vector<const Element*> joints;
    for (const Element& c : e.children) {
      if (c.tag == "joint" || c.tag == "freejoint") joints.push_back(&c);
    }
    const std::string parent_name = bodies_[static_cast<std::size_t>(parent)].name;
    const int parent_group = bodies_[static_cast<std::size_t>(parent)].group;
    if (parent == 0) at = options_.pose * at;
    bodies_.push_back({name, joints.empty() ? parent_group : index,
                       joints.empty() ? -1 : parent_group, joints.size() <= 1,
                       bodies_[static_cast<std::size_t>(parent)].pose * at});
    hang(name, parent_name, joints, defaults, at);

    // Mass, given or of the geoms.
    BodySpec body;
    body.name = name;
    const Element* inertial = e.child("inertial");
    const bool by_geoms = inertia_from_geom_ == "true" ||
                          (inertia_from_geom_ == "auto" && inertial == nullptr);
    Solid mass;
    for (const Element& c : e.children) {
      if (c.tag != "geom") continue;
      read_geom(c, index, defaults, Transform<double>{}, by_geoms ? &mass : nullptr);
    }
    if (!by_geoms && inertial != nullptr) mass = read_inertial(*inertial, name);
    body.mass = mass.mass;
    body.com = mass.com;
    body.inertia = mass.inertia;
    if (!(std::isfinite(mass.mass) && std::isfinite(norm(mass.com)) &&
          std::isfinite(trace(mass.inertia)))) {
      error(e.place(),
            {who, ": its mass and inertia must be numbers of a possible size"});
      body = BodySpec{};
      body.name = name;
    }
    parts.bodies.push_back(std::move(body));
    const std::size_t spec = parts.bodies.size() - 1;

    each(e, "body", [&](const Element& c) { read_body(c, index, defaults); });

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

  Solid read_inertial(const Element& e, const std::string& body) {
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
    if (const auto wrong = impossible(s.inertia)) {
      error(stated->place(),
            {v.who, ": ", stated->name, " = ", shown(stated->value), " ", *wrong});
      s.inertia = Sym3<double>::zero();
    } else if (s.mass == 0 && trace(s.inertia) > 0) {
      error(e.place(), {v.who, ": inertia must be 0 where the mass is"});
    }
    return moved(at, s);
  }

  /// Hangs a body from its parent: by a fixed joint, by its joint, or by a chain of them
  /// with bodies without mass between. All joints of a body are stated in its own axes,
  /// and each moves those after it.
  void hang(const std::string& name, const std::string& parent,
            const std::vector<const Element*>& joints, int defaults,
            const Transform<double>& at) {
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
      const Element& e = *joints[k];
      const std::string given(e.value("name"));
      const View v = view(e, defaults, given.empty() ? name : given);
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
      read_joint(v, joint, k == 0 ? at : Transform<double>{});
      if (joint.type == JointType::free && (joints.size() > 1 || parent != world_name)) {
        error(e.place(),
              {v.who, ": a free joint must be the only one, of a child of the world"});
      }
      from = joint.child;
      parts.joints.push_back(std::move(joint));
    }
  }

  void read_joint(const View& v, JointSpec& joint, const Transform<double>& at) {
    const bool simple = v.element->tag == "freejoint";
    const std::string type =
        simple ? "free"
               : choice(get(v, "type"), v.who, {"hinge", "slide", "ball", "free"});
    JointRecord record{joint.name, JointType::free, 0, parts.joints.size(), {}};
    joint_of_.try_emplace(joint.name, joints_.size());
    if (type == "free") {
      // MuJoCo's positions are those in the world, and begin where the body stands.
      joint.type = JointType::free;
      joint.on_parent = options_.pose;
      const Transform<double> begin = inverse(options_.pose) * at;
      const Quaternion<double> q = from_matrix(begin.R);
      record.q = {begin.p.x, begin.p.y, begin.p.z, q.w, q.x, q.y, q.z};
      if (!simple) {
        joint.damping = number(v, "damping", 0, Range::not_negative);
        joint.friction = number(v, "frictionloss", 0, Range::not_negative);
        for (const char* name : {"armature", "stiffness"}) {
          if (number(v, name, 0, Range::any) != 0) {
            unread_.count(words({name, " of a free joint"}));
          }
        }
      }
      joints_.push_back(std::move(record));
      return;
    }
    const Vec3<double> anchor = vector(v, "pos", {0, 0, 0});
    joint.on_child.p = anchor;
    joint.on_parent = {at.R, at * anchor};
    joint.damping = number(v, "damping", 0, Range::not_negative);
    joint.friction = number(v, "frictionloss", 0, Range::not_negative);
    joint.armature = number(v, "armature", 0, Range::not_negative);
    const double stiffness = number(v, "stiffness", 0, Range::not_negative);
    const bool limited = is_limited(v, "limited", "range");
    if (type == "ball") {
      joint.type = JointType::spherical;
      if (stiffness > 0) unread_.count("stiffness of a ball joint");
      if (limited) unread_.count("range of a ball joint");
    } else {
      const bool hinge = type == "hinge";
      joint.type = hinge ? JointType::revolute : JointType::prismatic;
      const auto angle = [&](double x) { return hinge ? radians(x) : x; };
      joint.axis = vector(v, "axis", {0, 0, 1});
      const double length = norm(joint.axis);
      if (!(length > 1e-9) || !std::isfinite(length)) {
        const Attribute* a = get(v, "axis");
        error(a->place(), {v.who, ": axis = ", shown(a->value), " must have a length"});
      }
      record.ref = angle(number(v, "ref", 0, Range::any));
      joint.stiffness = stiffness;
      joint.rest = angle(number(v, "springref", 0, Range::any)) - record.ref;
      if (const auto range = numbers(v, "range", 2, 2); range && limited) {
        if ((*range)[0] > (*range)[1]) {
          const Attribute* a = get(v, "range");
          error(a->place(), {v.who, ": range = ", shown(a->value), " must not fall"});
        } else {
          joint.lower = angle((*range)[0]) - record.ref;
          joint.upper = angle((*range)[1]) - record.ref;
        }
      }
    }
    record.type = joint.type;
    joints_.push_back(std::move(record));
  }

  bool is_limited(const View& v, const char* limited, const char* range) {
    const std::string said = choice(get(v, limited), v.who, {"auto", "true", "false"});
    if (said == "true" && get(v, range) == nullptr) {
      error(v.element->place(), {v.who, ": ", limited, " = true must come with ", range});
      return false;
    }
    return said == "true" || (said == "auto" && auto_limits_ && get(v, range) != nullptr);
  }

  std::uint32_t bits(const View& v, const char* name) {
    const Attribute* a = get(v, name);
    if (a == nullptr) return 1;
    const double x = xml::number(a, v.who, 1, Range::not_negative, problems_);
    if (x != std::floor(x) || x > 4294967295.0) {
      error(a->place(), {v.who, ": ", name, " = ", shown(a->value),
                         " must be a whole number of 32 bits"});
      return 1;
    }
    return static_cast<std::uint32_t>(x);
  }

  /// A geom as a shape in its own axes, with its mass at density 1.
  struct Form {
    std::optional<Shape> shape{};
    Transform<double> pose{};
    Solid solid{};
  };

  /// Adds the geom's shape, and its mass to the total where there is one.
  void read_geom(const Element& e, int body, int defaults, const Transform<double>& base,
                 Solid* total) {
    const std::string given(e.value("name"));
    const View v = view(e, defaults, given);
    if (!given.empty() && !geom_names_.take(given)) {
      error(e.place(), {v.who, ": another geom must not have this name"});
    }
    const std::uint32_t contype = bits(v, "contype");
    const std::uint32_t conaffinity = bits(v, "conaffinity");
    const bool touches = contype != 0 || conaffinity != 0;
    if (!touches) unread_.count("geom that touches nothing");
    const double group = number(v, "group", 0, Range::any);
    const double density = number(v, "density", 1000, Range::not_negative);
    const bool has_mass = get(v, "mass") != nullptr;
    const double given_mass = number(v, "mass", 0, Range::not_negative);
    const bool weighs = total != nullptr && group >= group_range_.first &&
                        group <= group_range_.second &&
                        (has_mass ? given_mass : density) > 0;
    if (!touches && !weighs) return;
    const std::optional<Form> form = read_form(v, body, touches, weighs);
    if (!form) return;
    if (weighs && form->solid.mass > 0) {
      const double factor = has_mass ? given_mass / form->solid.mass : density;
      *total = *total + moved(form->pose, scaled(form->solid, factor));
    }
    if (!touches || !form->shape) return;
    const std::string& on = bodies_[static_cast<std::size_t>(body)].name;
    ShapeSpec shape;
    const bool free = !given.empty() && !body_names_.has(given) &&
                      !body_names_.is_reserved(given) && !shape_names_.has(given);
    shape.name =
        shape_names_.fresh(free ? given : on + "." + (given.empty() ? "geom" : given));
    shape.body = on;
    shape.shape = *form->shape;
    shape.pose = base * form->pose;
    shape.surface = options_.surface.empty() ? on : options_.surface;
    bodies_[static_cast<std::size_t>(body)].geoms.push_back(
        static_cast<int>(geoms_.size()));
    geoms_.push_back({shape.name, body, contype, conaffinity});
    parts.shapes.push_back(std::move(shape));
  }

  std::optional<Form> read_form(const View& v, int body, bool touches, bool weighs) {
    const std::string type = choice(get(v, "type"), v.who,
                                    {"sphere", "plane", "capsule", "ellipsoid",
                                     "cylinder", "box", "mesh", "hfield", "sdf"});
    if (type == "hfield" || type == "sdf") {
      unread_.count("geom of type " + type);
      return {};
    }
    Form form;
    form.pose = pose(v);
    if (type == "mesh") return read_mesh_form(v, form, touches, weighs);
    if (const Attribute* mesh = v.element->find("mesh")) {
      error(mesh->place(), {v.who, ": mesh = ", shown(mesh->value),
                            " must come with type = mesh (no shape is fitted to one)"});
      return {};
    }
    if (type == "plane") {
      if (bodies_[static_cast<std::size_t>(body)].group != 0) {
        error(v.element->place(), {v.who, ": a plane must not be on a body that moves"});
      }
      form.shape = Plane{};
      return form;
    }
    // Half lengths, and the ends of long ones.
    const bool round = type == "capsule" || type == "cylinder";
    std::size_t count = type == "sphere" ? 1 : round ? 2 : 3;
    const Attribute* ends = type == "sphere" ? nullptr : get(v, "fromto");
    if (ends != nullptr) count = 1;
    const Attribute* given = get(v, "size");
    if (given == nullptr) {
      error(v.element->place(), {v.who, ": a ", type, " must have size"});
      return {};
    }
    const auto read = xml::numbers(*given, v.who, count, 3, Range::any, problems_);
    if (!read) return {};
    std::vector<double> size = *read;
    size.resize(3, 0.0);
    if (ends != nullptr) {
      const auto n = xml::numbers(*ends, v.who, 6, 6, Range::any, problems_);
      if (!n) return {};
      const Vec3<double> a{(*n)[0], (*n)[1], (*n)[2]};
      const Vec3<double> b{(*n)[3], (*n)[4], (*n)[5]};
      const double length = norm(a - b);
      if (!(length > 1e-9) || !std::isfinite(length)) {
        error(ends->place(), {v.who, ": fromto = ", shown(ends->value),
                              " must be two different points"});
        return {};
      }
      form.pose = {z_to(a - b), 0.5 * (a + b)};
      size = round ? std::vector<double>{size[0], length / 2, 0}
                   : std::vector<double>{size[0], size[0], length / 2};
      count = round ? 2 : 3;
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (size[i] >= smallest_size && size[i] <= largest_size) continue;
      error(given->place(),
            {v.who, ": size = ", shown(given->value),
             size[i] > 0 ? " must lie between 1e-9 and 1e9 m" : " must be above 0"});
      return {};
    }
    const Vec3<double> half{size[0], size[1], size[2]};
    if (type == "sphere") {
      form.shape = Sphere{half.x};
      form.solid = solid_ball(half.x);
    } else if (type == "capsule") {
      form.shape = Capsule{half.x, half.y};
      form.solid = solid_capsule(half.x, half.y);
    } else if (type == "cylinder") {
      form.shape = Cylinder{half.x, half.y};
      form.solid = solid_cylinder(half.x, half.y);
    } else if (type == "box") {
      form.shape = Box{half};
      form.solid = solid_box(half);
    } else {
      form.shape = Ellipsoid{half};
      form.solid = solid_ellipsoid(half);
    }
    return form;
  }

  std::optional<Form> read_mesh_form(const View& v, Form form, bool touches,
                                     bool weighs) {
    const Attribute* name = get(v, "mesh");
    if (name == nullptr) {
      error(v.element->place(), {v.who, ": a mesh must have the attribute mesh"});
      return {};
    }
    const auto found = mesh_of_.find(name->value);
    if (found == mesh_of_.end()) {
      error(name->place(), {v.who, ": mesh = \"", shown(name->value),
                            "\" must be a mesh of the model's assets"});
      return {};
    }
    if (found->second >= assets_.size()) return {};
    MeshAsset& asset = assets_[found->second];
    if (!asset.is_read) read_triangles(asset);
    if (asset.triangles.vertices.empty()) return {};  // said already
    form.solid = asset.solid;
    if (weighs && !(form.solid.mass > 0)) {
      error(name->place(),
            {v.who, ": mesh = \"", shown(name->value), "\" must enclose a volume"});
    }
    if (touches) {
      form.shape = meshes_.shape(asset.name, asset.triangles, {1, 1, 1},
                                 asset.view.element->place(), asset.view.who);
    }
    return form;
  }

  // Loops.

  /// The file's frame of a body in ours: they differ for the world only.
  Transform<double> in_body(int index) const {
    return index == 0 ? options_.pose : Transform<double>{};
  }

  /// Two bodies held together as they are with every joint at its reference, or as
  /// relpose says.
  void read_loop(const Element& e) {
    const View v{&e, -1, called(e.tag, e.value("name"))};
    if (e.find("body1") == nullptr) {
      unread_.count(e.tag + " of no bodies");
      return;
    }
    if (e.value("active") == "false") {
      unread_.count(e.tag + " that is not active");
      return;
    }
    const int a = body_named(e, "body1");
    const int b = e.find("body2") == nullptr ? 0 : body_named(e, "body2");
    if (a < 0 || b < 0) return;
    const BodyRecord& one = bodies_[static_cast<std::size_t>(a)];
    const BodyRecord& two = bodies_[static_cast<std::size_t>(b)];
    if (one.group == two.group) {
      unread_.count(e.tag + " within one rigid body");
      return;
    }
    LoopSpec loop;
    loop.name = loop_names_.fresh(e.value("name").empty() ? words({one.name, ".", e.tag})
                                                          : std::string(e.value("name")));
    loop.body_a = one.name;
    loop.body_b = two.name;
    if (e.tag == "connect") {
      if (e.find("anchor") == nullptr) {
        error(e.place(), {v.who, ": it must have anchor"});
        return;
      }
      loop.kind = LoopKind::point;
      loop.pose_a.p = in_body(a) * vector(v, "anchor", {0, 0, 0});
      loop.pose_b.p = inverse(two.pose) * (one.pose * loop.pose_a.p);
    } else {
      loop.kind = LoopKind::weld;
      loop.pose_a = inverse(one.pose) * two.pose;
      if (const auto n = numbers(v, "relpose", 7, 7)) {
        const Quaternion<double> q{(*n)[3], (*n)[4], (*n)[5], (*n)[6]};
        const double size = std::sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
        if (size > 0) {  // else they stay as they are
          const Quaternion<double> unit{q.w / size, q.x / size, q.y / size, q.z / size};
          loop.pose_a = in_body(a) *
                        Transform<double>{to_matrix(unit), {(*n)[0], (*n)[1], (*n)[2]}};
          loop.pose_b = in_body(b);
        }
      }
    }
    parts.loops.push_back(std::move(loop));
  }

  // Pairs that never touch.

  int body_named(const Element& e, const char* attribute) {
    const Attribute* a = e.find(attribute);
    if (a == nullptr) {
      error(e.place(), {e.tag, ": it must have ", attribute});
      return -1;
    }
    if (a->value == world_name) return 0;
    const auto found = body_of_.find(a->value);
    if (found != body_of_.end()) return found->second;
    error(a->place(), {e.tag, ": ", attribute, " = \"", shown(a->value),
                       "\" must be a body of the model"});
    return -1;
  }

  void read_exclude(const Element& e) {
    const int a = body_named(e, "body1");
    const int b = body_named(e, "body2");
    if (a >= 0 && b >= 0) excluded_.insert(std::minmax(a, b));
  }

  void never(const std::string& a, const std::string& b) {
    ContactSpec rule;
    rule.a = a;
    rule.b = b;
    rule.touches = false;
    parts.contacts.push_back(std::move(rule));
  }

  /// All shapes of one body with all of another. The world has shapes of other files too,
  /// so that those of this one are named.
  void never(const BodyRecord& a, const BodyRecord& b) {
    if (a.name != world_name) {
      never(a.name, b.name);
      return;
    }
    for (const int g : a.geoms) never(geoms_[static_cast<std::size_t>(g)].shape, b.name);
  }

  /// Pairs that MuJoCo never lets touch and the engine would: excluded ones, those whose
  /// bits do not meet, and neighbours with several joints between.
  void keep_apart() {
    std::vector<int> with_shapes;
    bool all_meet = true;
    for (std::size_t b = 0; b < bodies_.size(); ++b) {
      if (!bodies_[b].geoms.empty()) with_shapes.push_back(static_cast<int>(b));
    }
    for (const GeomRecord& g : geoms_) {
      all_meet = all_meet && (g.contype & 1U) != 0 && (g.conaffinity & 1U) != 0;
    }
    bool direct = true;
    for (const BodyRecord& b : bodies_) direct = direct && b.direct;
    if (all_meet && direct && excluded_.empty()) return;
    if (geoms_.size() > max_geoms) {
      problems_.error({path_, 0},
                      words({"a model of more than ", std::to_string(max_geoms),
                             " geoms must not keep pairs of them apart"}));
      return;
    }
    for (std::size_t i = 0; i < with_shapes.size(); ++i) {
      for (std::size_t j = i + 1; j < with_shapes.size(); ++j) {
        keep_apart(with_shapes[i], with_shapes[j]);
        if (parts.contacts.size() > max_rules) {
          problems_.error({path_, 0},
                          words({"contype, conaffinity and exclude must not keep more "
                                 "than ",
                                 std::to_string(max_rules), " pairs apart"}));
          return;
        }
      }
    }
  }

  void keep_apart(int a, int b) {
    const BodyRecord& one = bodies_[static_cast<std::size_t>(a)];
    const BodyRecord& two = bodies_[static_cast<std::size_t>(b)];
    if (one.group == two.group) return;
    const BodyRecord& first = bodies_[static_cast<std::size_t>(one.group)];
    const BodyRecord& second = bodies_[static_cast<std::size_t>(two.group)];
    const bool below = first.group != 0 && first.parent == second.group;
    const bool above = second.group != 0 && second.parent == first.group;
    if ((below || above) && first.group != 0 && second.group != 0) {
      // Neighbours: the engine keeps those of one joint apart by itself.
      if (!(below ? first : second).direct) never(one, two);
      return;
    }
    if (excluded_.contains(std::minmax(a, b))) {
      never(one, two);
      return;
    }
    std::vector<std::pair<int, int>> apart;
    for (const int g : one.geoms) {
      for (const int h : two.geoms) {
        const GeomRecord& x = geoms_[static_cast<std::size_t>(g)];
        const GeomRecord& y = geoms_[static_cast<std::size_t>(h)];
        const bool meet =
            ((x.contype & y.conaffinity) | (y.contype & x.conaffinity)) != 0;
        if (!meet) apart.emplace_back(g, h);
        if (apart.size() > max_rules) break;
      }
    }
    if (apart.size() == one.geoms.size() * two.geoms.size()) {
      never(one, two);
      return;
    }
    for (const auto& [g, h] : apart) {
      never(geoms_[static_cast<std::size_t>(g)].shape,
            geoms_[static_cast<std::size_t>(h)].shape);
    }
  }

  // Actuators and the start.

  void read_actuators(const Element& e) {
    for (const Element& c : e.children) {
      const int index = actuators_++;
      if (c.tag == "motor" || c.tag == "position") read_actuator(c, index);
    }
  }

  /// The larger bound of a range; infinite where it does not limit.
  double bound(const View& v, const char* limited, const char* range) {
    if (!is_limited(v, limited, range)) return infinity;
    const auto n = numbers(v, range, 2, 2);
    if (!n) return infinity;
    if ((*n)[0] > (*n)[1]) {
      const Attribute* a = get(v, range);
      error(a->place(), {v.who, ": ", range, " = ", shown(a->value), " must not fall"});
    } else if ((*n)[0] != -(*n)[1]) {
      unread_.count(words({v.element->tag, " ", range, " that is not even-sided"}));
    }
    return std::max(std::abs((*n)[0]), std::abs((*n)[1]));
  }

  void read_actuator(const Element& e, int index) {
    const std::string given(e.value("name"));
    const Attribute* name = e.find("joint");
    const View v = view(e, main_class,
                        given.empty() && name != nullptr ? std::string_view(name->value)
                                                         : std::string_view(given));
    if (name == nullptr) {
      unread_.count(e.tag + " of no joint");
      return;
    }
    const auto place = joint_of_.find(name->value);
    if (place == joint_of_.end()) {
      error(name->place(), {v.who, ": joint = \"", shown(name->value),
                            "\" must be a joint of the model"});
      return;
    }
    const JointRecord* found = &joints_[place->second];
    if (velocity_count(found->type) != 1) {
      unread_.count(words({e.tag, " of a ", kind_of(found->type), " joint"}));
      return;
    }
    const auto gears = numbers(v, "gear", 1, 6);
    const double gear = gears ? gears->front() : 1;
    if (gear == 0) {
      error(get(v, "gear")->place(), {v.who, ": gear = 0 must not be 0"});
      return;
    }
    MotorSpec motor;
    if (!given.empty() && motor_names_.has(given)) {
      error(e.place(), {v.who, ": another actuator must not have this name"});
    }
    motor.name = motor_names_.fresh(given.empty() ? found->name + ".motor" : given);
    motor.joint = found->name;
    double limit = std::abs(gear) * bound(v, "forcelimited", "forcerange");
    if (e.tag == "position") {
      motor.kind = MotorKind::position;
      motor.kp = gear * gear * number(v, "kp", 1, Range::not_negative);
      motor.kd = gear * gear * number(v, "kv", 0, Range::not_negative);
      motor.target.offset = -found->ref;
    } else {
      limit = std::min(limit, std::abs(gear) * bound(v, "ctrllimited", "ctrlrange"));
    }
    JointSpec& joint = parts.joints[found->spec];
    if (driven_.insert(found->name).second) {
      joint.effort_limit = limit;
    } else {
      joint.effort_limit = std::max(limit, joint.effort_limit);
      unread_.count("smaller limit of two actuators of one joint");
    }
    motors_.push_back({index, parts.motors.size(), gear, found->ref});
    parts.motors.push_back(std::move(motor));
  }

  void read_key(const Element& e) {
    const View v{&e, -1, called("key", e.value("name"))};
    std::size_t nq = 0;
    std::size_t nv = 0;
    for (const JointRecord& j : joints_) {
      nq += static_cast<std::size_t>(position_count(j.type));
      nv += static_cast<std::size_t>(velocity_count(j.type));
    }
    const auto list = [&](const char* name,
                          std::size_t count) -> std::optional<std::vector<double>> {
      const Attribute* a = e.find(name);
      if (a == nullptr) return {};
      return xml::numbers(*a, v.who, count, count, Range::any, problems_);
    };
    if (const auto q = list("qpos", nq)) {
      std::size_t at = 0;
      for (JointRecord& j : joints_) {
        const auto count = static_cast<std::size_t>(position_count(j.type));
        j.q.assign(q->begin() + static_cast<std::ptrdiff_t>(at),
                   q->begin() + static_cast<std::ptrdiff_t>(at + count));
        at += count;
        if (count == 1) j.q[0] -= j.ref;
        normalise(j, e, v.who);
      }
    }
    if (const auto rates = list("qvel", nv)) {
      std::size_t at = 0;
      for (JointRecord& j : joints_) {
        const auto count = static_cast<std::size_t>(velocity_count(j.type));
        std::vector<double> own(rates->begin() + static_cast<std::ptrdiff_t>(at),
                                rates->begin() + static_cast<std::ptrdiff_t>(at + count));
        at += count;
        if (j.q.empty()) {
          j.q.assign(static_cast<std::size_t>(position_count(j.type)), 0.0);
          if (j.type == JointType::spherical) j.q[0] = 1;
        }
        start_rates_[j.name] = our_rates(j, own);
      }
    }
    if (const auto ctrl = list("ctrl", static_cast<std::size_t>(actuators_))) {
      for (const MotorRecord& m : motors_) {
        const double given = (*ctrl)[static_cast<std::size_t>(m.index)];
        MotorSpec& motor = parts.motors[m.spec];
        motor.target.offset =
            motor.kind == MotorKind::position ? given / m.gear - m.ref : given * m.gear;
      }
    }
  }

  void normalise(JointRecord& j, const Element& e, const std::string& who) {
    const int first = quaternion_at(j.type);
    if (first < 0) return;
    double* q = j.q.data() + first;
    const double length =
        std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    if (!(length > 1e-9) || !std::isfinite(length)) {
      error(e.place(), {who, ": the quaternion of ", called("joint", j.name),
                        " must have a length"});
      return;
    }
    for (int k = 0; k < 4; ++k) q[k] /= length;
  }

  /// MuJoCo has angular velocities in the axes of the body, after the linear one.
  static std::vector<double> our_rates(const JointRecord& j,
                                       const std::vector<double>& theirs) {
    const int first = quaternion_at(j.type);
    if (first < 0) return theirs;
    const bool is_free = j.type == JointType::free;
    const Mat3<double> r = to_matrix(load_quaternion(j.q.data() + first));
    const Vec3<double> w = r * load_vec3(theirs.data() + (is_free ? 3 : 0));
    std::vector<double> ours{w.x, w.y, w.z};
    if (is_free) ours.insert(ours.end(), theirs.begin(), theirs.begin() + 3);
    return ours;
  }

  struct MotorRecord {
    int index;         // among the file's actuators
    std::size_t spec;  // in the motors of the parts
    double gear, ref;
  };

  std::string path_;
  const RobotOptions& options_;
  Problems& problems_;
  Meshes meshes_;
  xml::Document document_;
  xml::Unread unread_;
  std::set<std::string> included_;

  bool degrees_ = true;
  bool auto_limits_ = true;
  std::string euler_ = "xyz";
  std::string mesh_folder_;
  std::string inertia_from_geom_ = "auto";
  std::pair<double, double> group_range_{0, 5};

  std::vector<DefaultClass> classes_;
  std::map<std::string, int, std::less<>> class_of_;
  std::vector<MeshAsset> assets_;
  std::map<std::string, std::size_t, std::less<>> mesh_of_;
  Names body_names_, joint_names_, shape_names_, motor_names_, geom_names_, loop_names_;
  std::vector<BodyRecord> bodies_;  // the first is the world
  std::map<std::string, int, std::less<>> body_of_;
  std::vector<JointRecord> joints_;  // in MuJoCo's order
  std::map<std::string, std::size_t, std::less<>> joint_of_;
  std::vector<GeomRecord> geoms_;
  std::set<std::pair<int, int>> excluded_;
  std::vector<MotorRecord> motors_;
  std::set<std::string> driven_;
  std::map<std::string, std::vector<double>> start_rates_;
  int actuators_ = 0;
};

}  // namespace

bool read_mjcf_text(std::string_view text, const std::string& path,
                    const RobotOptions& options, Parts& parts, Problems& problems) {
  const std::size_t before = problems.count();
  Reading reading(path, options, parts, *parts.geometry, problems);
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
