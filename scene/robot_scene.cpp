#include "scene/robot_scene.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <set>

#include "bristle/dynamics/dynamics.hpp"
#include "bristle/model/state.hpp"
#include "scene/mjcf.hpp"
#include "scene/urdf.hpp"

namespace bristle::scene {

namespace {

constexpr double mujoco_timestep = 0.002;  // where the file states none [s]
constexpr double urdf_timestep = 0.001;
// The longest substeps [s]: of URDF, which states no step, and of mechanisms, which swing
// fast; and of other robots in MJCF, which states one or means one.
constexpr double accurate_step = 4e-4, mjcf_step = 5e-3;
constexpr int most_of_mechanism = 10;  // joint velocities
constexpr double most_work = 400;      // of a step: substeps times joint velocities
constexpr double ground_width = 1;     // of a shape of the world that things stand on [m]
constexpr double sunk_in = 0.02;       // into a ground at 0 [m]

/// What the scene says depends on.
struct Survey {
  bool has_ground = false;
  bool has_free_base = false;
  bool has_motors = false;
  double lowest = std::numeric_limits<double>::infinity();  // of what moves, at the start
};

bool is_ground(const ShapeSpec& shape) {
  if (shape.body != world_name) return false;
  if (kind_of(shape.shape) == ShapeKind::plane) return true;
  const Aabb box = bounds(shape.shape, shape.pose);
  const Vec3<double> size = box.high - box.low;
  return size.x >= ground_width && size.y >= ground_width;
}

/// Bodies that are part of the world.
std::set<std::string> standing_bodies(const Parts& parts) {
  std::set<std::string> standing{std::string(world_name)};
  for (bool more = true; more;) {
    more = false;
    for (const JointSpec& joint : parts.joints) {
      if (joint.type != JointType::fixed || !standing.contains(joint.parent)) continue;
      more = standing.insert(joint.child).second || more;
    }
  }
  return standing;
}

double lowest_point(const Parts& parts) {
  double lowest = std::numeric_limits<double>::infinity();
  ModelBuilder builder;
  for (const BodySpec& body : parts.bodies) builder.add_body(body);
  for (const JointSpec& joint : parts.joints) builder.add_joint(joint);
  for (const ShapeSpec& shape : parts.shapes) builder.add_shape(shape);
  const Result<Model> model = builder.build();
  if (!model) return lowest;  // said when the scene is read
  State state = make_state(*model);
  for (const InitialJoint& start : parts.start) {
    const Joint* joint = model->tree.find_joint(start.joint);
    if (joint == nullptr || joint->q < 0) continue;
    std::copy(start.q.begin(), start.q.end(), state.q.begin() + joint->q);
  }
  Workspace<double> tree(model->tree);
  kinematics<double>(model->tree, state.q, state.v, tree);
  for (const ModelShape& shape : model->shapes) {
    if (shape.link == world_link || kind_of(shape.shape) == ShapeKind::plane) continue;
    const auto link = static_cast<std::size_t>(shape.link);
    lowest =
        std::min(lowest, bounds(shape.shape, tree.poses[link] * shape.in_link).low.z);
  }
  return lowest;
}

Survey survey_of(const Parts& parts) {
  Survey survey;
  const std::set<std::string> standing = standing_bodies(parts);
  for (const ShapeSpec& shape : parts.shapes) {
    ShapeSpec in_world = shape;
    if (standing.contains(shape.body) && kind_of(shape.shape) == ShapeKind::plane) {
      in_world.body = world_name;
    }
    survey.has_ground = survey.has_ground || is_ground(in_world);
  }
  for (const JointSpec& joint : parts.joints) {
    survey.has_free_base = survey.has_free_base || joint.type == JointType::free;
  }
  survey.has_motors = !parts.motors.empty();
  survey.lowest = lowest_point(parts);
  return survey;
}

/// How many joints move against the root link and what is welded to it: an arm has one,
/// legs, wheels and hands are several.
std::size_t limbs_of(Parts parts) {
  for (JointSpec& joint : parts.joints) {
    if (joint.type == JointType::free) joint.type = JointType::fixed;
  }
  const std::set<std::string> root = standing_bodies(parts);
  return static_cast<std::size_t>(
      std::ranges::count_if(parts.joints, [&](const JointSpec& joint) {
        return joint.type != JointType::fixed && root.contains(joint.parent);
      }));
}

/// A text as TOML takes it.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    const auto code = static_cast<unsigned char>(c);
    if (code < 0x20 || code == 0x7f) {
      out += fmt::format("\\u{:04x}", code);
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(),
      [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
  return text;
}

/// Errors of energy are in proportion to the step, and largest where few links swing
/// fast. Steps of large robots and of meshes cost too much to be divided.
int substeps_of(const Parts& parts, double step, double longest) {
  const bool meshes = std::ranges::any_of(parts.shapes, [](const ShapeSpec& shape) {
    const ShapeKind kind = kind_of(shape.shape);
    return kind == ShapeKind::convex || kind == ShapeKind::mesh;
  });
  if (meshes) return 1;
  int velocities = 0;
  for (const JointSpec& joint : parts.joints) velocities += velocity_count(joint.type);
  const double most = most_work / std::max(velocities, 1);
  if (velocities <= most_of_mechanism) longest = accurate_step;
  return static_cast<int>(
      std::max(1.0, std::min(std::ceil(step / longest - 1e-9), std::floor(most))));
}

std::string head(const std::string& shown_as, double step, bool of_file, double longest,
                 const Parts& parts) {
  std::string out;
  out +=
      fmt::format("# The scene that `bristle run {}` simulates.\n", one_line(shown_as));
  const std::string stem = std::filesystem::path(shown_as).stem().string();
  out += fmt::format("title = {}\n", quoted(parts.title.empty() ? stem : parts.title));
  out += "# Links of a robot may overlap at the start: see [[robots]].\n";
  out += "allow_initial_overlap = true\n\n";
  out += "[clock]\n";
  out += "kind = \"fixed\"  # impulses by the complementarity method; or \"adaptive\"\n";
  out += fmt::format("step_s = {:g}  # {}\n", step,
                     of_file ? "as the file says" : "the file states none");
  if (const int substeps = substeps_of(parts, step, longest); substeps > 1) {
    out += fmt::format("substeps = {}  # steps of {:.2g} s, for the energy balance\n",
                       substeps, step / substeps);
  }
  out += "duration_s = 10\n\n";
  return out;
}

std::string keys_of(const Parts& parts) {
  std::string names;
  for (const std::string& key : parts.keys) {
    if (!key.empty()) names += (names.empty() ? "" : ", ") + quoted(key);
  }
  if (names.empty()) return {};
  const auto first = std::ranges::find_if(
      parts.keys, [](const std::string& key) { return !key.empty(); });
  return fmt::format("key = {}  # where it begins; its keyframes: {}\n", quoted(*first),
                     names);
}

std::string floor_at(double height) {
  return fmt::format(
      "\n[[bodies]]  # the file has no ground\n"
      "name = \"floor\"\n"
      "fixed = true\n"
      "position_m = [0, 0, {:g}]\n"
      "shapes = [{{ type = \"plane\" }}]\n",
      height);
}

std::string scene_of_mjcf(const Parts& parts, const std::string& shown_as) {
  const Survey survey = survey_of(parts);
  std::string out = head(shown_as, parts.timestep.value_or(mujoco_timestep),
                         parts.timestep.has_value(), mjcf_step, parts);
  out += fmt::format("[[robots]]\nfile = {}\n", quoted(shown_as));
  out += keys_of(parts);
  out += survey.has_motors
             ? "control = \"file\"  # its actuators; \"hold\" holds all other "
               "joints where they begin\n"
             : "control = \"file\"  # it has no actuators; \"hold\" holds its "
               "joints where they begin\n";
  out += "self_collision = true  # except pairs that overlap with joints at neutral\n";
  if (survey.has_free_base && !survey.has_ground) {
    out += floor_at(survey.lowest < -sunk_in ? survey.lowest : 0);
  }
  return out;
}

std::string scene_of_urdf(const Parts& parts, const std::string& shown_as) {
  Survey survey = survey_of(parts);
  const bool stands = std::isfinite(survey.lowest);
  const bool arm = !survey.has_free_base || limbs_of(parts) == 1 || !stands;
  const bool free = survey.has_free_base && !arm;
  std::string out = head(shown_as, urdf_timestep, false, accurate_step, parts);
  out += fmt::format("[[robots]]\nfile = {}\n", quoted(shown_as));
  if (!survey.has_free_base) {
    out += "base = \"fixed\"  # its root is the world, or has no mass\n";
  } else if (free) {
    out += "base = \"free\"  # \"fixed\" holds its root in the world\n";
    out +=
        fmt::format("position_m = [0, 0, {:.6g}]  # its lowest shape touches the floor\n",
                    -survey.lowest);
  } else {
    out += fmt::format("base = \"fixed\"  # \"free\" lets its root move; {}\n",
                       stands ? "one limb alone makes it an arm"
                              : "nothing of it collides, so that no floor would hold it");
  }
  out += "control = \"hold\"  # position motors hold all joints; \"file\": no motors\n";
  out += "self_collision = true  # except pairs that overlap with joints at neutral\n";
  if (free && !survey.has_ground) out += floor_at(0);
  return out;
}

}  // namespace

std::string first_element(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  while (true) {
    const std::size_t begin = text.find_first_not_of(" \t\r\n");
    if (begin == std::string_view::npos || text[begin] != '<') return {};
    text.remove_prefix(begin);
    std::string_view end;
    if (text.starts_with("<!--")) {
      end = "-->";
    } else if (text.starts_with("<?")) {
      end = "?>";
    } else if (text.starts_with("<!")) {
      end = ">";
    } else {
      const std::size_t stop = text.find_first_of(" \t\r\n/>", 1);
      return std::string(
          text.substr(1, stop == std::string_view::npos ? stop : stop - 1));
    }
    const std::size_t close = text.find(end);
    if (close == std::string_view::npos) return {};
    text.remove_prefix(close + end.size());
  }
}

RobotFormat robot_format(std::string_view text) {
  const std::string element = first_element(text);
  if (element.empty()) return RobotFormat::none;
  if (element == "mujoco") return RobotFormat::mjcf;
  return element == "robot" ? RobotFormat::urdf : RobotFormat::other;
}

std::optional<std::string> robot_scene(std::string_view text, const std::string& file,
                                       const std::string& shown_as,
                                       const std::shared_ptr<Geometry>& geometry,
                                       Problems& problems) {
  const RobotFormat format = robot_format(text);
  if (format != RobotFormat::mjcf && format != RobotFormat::urdf) {
    problems.error({file, 1},
                   fmt::format("<{}>: a robot's file begins with <robot> (URDF) or "
                               "<mujoco> (MJCF)",
                               first_element(text).substr(0, 40)));
    return std::nullopt;
  }
  Parts parts;
  parts.geometry = geometry;
  Problems found;
  RobotOptions options;
  options.base = "free";
  const bool mjcf = format == RobotFormat::mjcf;
  const bool fine = mjcf ? read_mjcf_text(text, file, options, parts, found)
                         : read_urdf_text(text, file, options, parts, found);
  if (!fine) {
    for (const Problem& problem : found.errors()) {
      problems.error(problem.at, problem.message);
    }
    return std::nullopt;
  }
  return mjcf ? scene_of_mjcf(parts, shown_as) : scene_of_urdf(parts, shown_as);
}

}  // namespace bristle::scene
