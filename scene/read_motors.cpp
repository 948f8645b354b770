#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "files/read_file.hpp"
#include "scene/draft.hpp"
#include "scene/mesh_file.hpp"
#include "scene/table_file.hpp"

// Motors: which joints they drive, what their targets are.

namespace bristle::scene {

namespace {

/// A motor's keys by its kind, which is torque when left out.
void only_of(const Section& at, const std::string& kind) {
  const auto refuse = [&](std::string_view key, std::string_view of) {
    if (!at.given(key)) return;
    at.error(key, fmt::format("{} belongs to a {} motor, not to kind = \"{}\"",
                              at.key_of(key), of, kind));
  };
  if (kind != "torque") {
    refuse("torque", "torque");
    refuse("torques", "torque");
  } else {
    for (const char* key : {"offset", "positions", "keyframe", "keyframes"}) {
      refuse(key, "position or prescribed");
    }
  }
  for (const char* key :
       {"kp", "kd", "bandwidth", "damping_ratio", "gravity_compensation"}) {
    if (kind != "position") refuse(key, "position");
  }
}

/// Of two keys that say the same, one.
bool both(const Section& at, std::string_view one, std::string_view other) {
  if (!at.given(one) || !at.given(other)) return false;
  at.error(other, fmt::format("{} and {} must not both be given", at.key_of(one),
                              at.key_of(other)));
  return true;
}

/// Whether a name fits a pattern in which * stands for anything.
bool fits(std::string_view pattern, std::string_view name) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == name;
  if (!name.starts_with(pattern.substr(0, star))) return false;
  name.remove_prefix(star);
  pattern.remove_prefix(star + 1);
  if (pattern.empty()) return true;
  for (std::size_t i = 0; i <= name.size(); ++i) {
    if (fits(pattern, name.substr(i))) return true;
  }
  return false;
}

/// Values at times, of each joint that a motor of a table drives.
struct Course {
  std::vector<double> times;
  std::vector<double> values;          // the same for all joints, or
  std::vector<std::string> keyframes;  // the robot's, at these times, or
  std::optional<TableFile> file;       // a column for each joint
  std::string path;                    // of the file
  Interpolation how = Interpolation::linear;
  bool repeats = false;
};

class MotorReader {
 public:
  MotorReader(const Section& at, Draft& draft) : at_(at), draft_(draft) {}

  void read() {
    kind_ = at_.text_or("kind", "torque");
    only_of(at_, kind_);
    const std::vector<const JointSpec*> joints = joints_of();
    if (joints.empty() || !read_gains() || !read_course()) return;
    const bool several = at_.given("joints");
    const std::string name = at_.text_or("name", "");
    if (!several) draft_.claim("motor", name, at_);
    for (const JointSpec* joint : joints) {
      MotorSpec motor = base_;
      motor.name = several ? fmt::format("{}.{}", name, joint->name) : name;
      if (several) draft_.claim("motor", motor.name, at_);
      motor.joint = joint->name;
      if (!read_target(*joint, several, motor)) continue;
      draft_.parts.motors.push_back(std::move(motor));
    }
  }

 private:
  const JointSpec* joint_named(std::string_view key, const std::string& name) {
    const auto& all = draft_.parts.joints;
    const auto joint = std::ranges::find(all, name, &JointSpec::name);
    if (joint != all.end()) return &*joint;
    std::vector<std::string_view> names;
    names.reserve(all.size());
    for (const JointSpec& j : all) names.push_back(j.name);
    at_.error(key, fmt::format("{} = \"{}\": there is no such joint{}", key, name,
                               did_you_mean(name, names)));
    return nullptr;
  }

  /// The joints that it drives; empty where something is wrong, which has been said.
  std::vector<const JointSpec*> joints_of() {
    if (both(at_, "joint", "joints")) return {};
    if (!at_.given("joint") && !at_.given("joints")) {
      at_.error("name", "a motor needs joint, or joints");
      return {};
    }
    if (at_.given("joint")) {
      const JointSpec* joint = joint_named("joint", at_.text_or("joint", ""));
      return joint != nullptr ? std::vector{joint} : std::vector<const JointSpec*>{};
    }
    std::set<std::string_view> driven;
    for (const MotorSpec& motor : draft_.parts.motors) driven.insert(motor.joint);
    std::vector<const JointSpec*> found;
    for (const std::string& word : at_.texts("joints")) {
      if (word.find('*') == std::string::npos) {
        const JointSpec* joint = joint_named("joints", word);
        if (joint != nullptr) found.push_back(joint);
        continue;
      }
      const std::size_t before = found.size();
      for (const JointSpec& joint : draft_.parts.joints) {
        const bool single =
            joint.type == JointType::revolute || joint.type == JointType::prismatic;
        const bool fresh = !driven.contains(joint.name) &&
                           std::ranges::find(found, &joint) == found.end();
        if (single && fresh && fits(word, joint.name)) found.push_back(&joint);
      }
      if (found.size() == before) {
        at_.error("joints",
                  fmt::format("joints: no revolute or prismatic joint without a "
                              "motor is called \"{}\"",
                              word));
      }
    }
    if (at_.given("joints") && at_.texts("joints").empty() && at_.has("joints")) {
      at_.error("joints", "joints must name one joint at least; \"*\": all");
    }
    return found;
  }

  bool read_gains() {
    base_.kind = kind_ == "position"     ? MotorKind::position
                 : kind_ == "prescribed" ? MotorKind::prescribed
                                         : MotorKind::torque;
    base_.axis = static_cast<int>(at_.number_or("axis", 0));
    base_.kp = at_.number_or("kp", 0);
    base_.kd = at_.number_or("kd", 0);
    base_.frequency = at_.number_or("bandwidth", 0);
    base_.damping_ratio = at_.number_or("damping_ratio", base_.frequency > 0 ? 1 : 0);
    if (at_.has("kd") && !at_.given("damping_ratio")) base_.damping_ratio = 0;
    base_.compensates_gravity = at_.flag("gravity_compensation");
    if (both(at_, "kp", "bandwidth") || both(at_, "kd", "damping_ratio")) return false;
    if (base_.kind == MotorKind::position && base_.kp == 0 && base_.kd == 0 &&
        base_.frequency == 0) {
      at_.error("kind",
                "a position motor needs kp and kd, or bandwidth_Hz, or it does nothing");
      return false;
    }
    return true;
  }

  /// The values over time that the target goes through, besides its sine.
  bool read_course() {
    const bool has_times = at_.given("times");
    for (const auto& [one, other] :
         {std::pair{"positions", "keyframes"}, std::pair{"positions", "file"},
          std::pair{"keyframes", "file"}, std::pair{"torques", "file"},
          std::pair{"times", "file"}, std::pair{"keyframe", "offset"},
          std::pair{"keyframe", "keyframes"}, std::pair{"keyframe", "file"},
          std::pair{"keyframe", "positions"}}) {
      if (both(at_, one, other)) return false;
    }
    const bool of_values = at_.given("positions") || at_.given("torques");
    const bool has_values = of_values || at_.given("keyframes");
    if (has_times != has_values) {
      at_.error(has_times   ? "times"
                : of_values ? "positions"
                            : "keyframes",
                "times_s goes with positions, torques or keyframes");
      return false;
    }
    if (!has_times && !at_.given("file")) {
      for (const char* key : {"interpolation", "repeat", "column"}) {
        if (!at_.given(key)) continue;
        at_.error(key, fmt::format("{} needs times_s or file", key));
        return false;
      }
      return true;
    }
    Course course;
    const std::string how = at_.text_or("interpolation", "linear");
    course.how = how == "hold"     ? Interpolation::hold
                 : how == "spline" ? Interpolation::spline
                                   : Interpolation::linear;
    course.repeats = at_.flag("repeat");
    if (base_.kind == MotorKind::prescribed && course.how != Interpolation::spline) {
      at_.error("interpolation",
                "prescribed motion must not jump: set interpolation = \"spline\"");
      return false;
    }
    if (at_.given("file")) {
      if (!read_file(course)) return false;
    } else {
      course.times = at_.numbers("times");
      course.keyframes = at_.texts("keyframes");
      course.values = at_.numbers(at_.given("torques") ? "torques" : "positions");
      if (!at_.has("times") || !check_count(course)) return false;
    }
    if (!check_times(course)) return false;
    course_ = std::move(course);
    return true;
  }

  bool check_count(const Course& course) {
    const std::string_view key = at_.given("torques")     ? "torques"
                                 : at_.given("positions") ? "positions"
                                                          : "keyframes";
    if (!at_.has(key)) return false;
    const std::size_t count =
        key == "keyframes" ? course.keyframes.size() : course.values.size();
    if (count == course.times.size()) return true;
    at_.error(key, fmt::format("{} has {} entries, and {} has {}", at_.key_of(key), count,
                               at_.key_of("times"), course.times.size()));
    return false;
  }

  bool check_times(const Course& course) {
    const std::string_view key = course.file ? "file" : "times";
    if (course.times.size() < 2) {
      at_.error(key, "there must be two times at least");
      return false;
    }
    for (std::size_t i = 0; i + 1 < course.times.size(); ++i) {
      if (course.times[i] < course.times[i + 1]) continue;
      at_.error(key, fmt::format("times must rise, and {:g} s comes after {:g} s",
                                 course.times[i + 1], course.times[i]));
      return false;
    }
    return true;
  }

  bool read_file(Course& course) {
    const std::string name = at_.text_or("file", "");
    course.path = resolve(name, draft_.folder(), {});
    const auto text = files::read_file(course.path, table_bytes);
    if (!text) {
      at_.error("file", fmt::format("file = \"{}\": cannot read {}: {}", name,
                                    course.path, text.error()));
      return false;
    }
    course.file = read_table(*text, course.path, *draft_.source.problems);
    if (!course.file) return false;
    for (std::size_t i = 0; i < course.file->names.size(); ++i) {
      const auto factor = factor_of(course.file->names[i], "time", Dimension::time);
      if (!factor) continue;
      course.times = course.file->columns[i];
      for (double& t : course.times) t *= *factor;
      return true;
    }
    at_.error("file", fmt::format("{} has no column time_s", course.path));
    return false;
  }

  /// A joint's values in the course; empty where something is wrong, which has been said.
  std::vector<double> values_of(const JointSpec& joint, bool linear) {
    if (course_->file) return column_of(joint, linear);
    if (course_->keyframes.empty()) return course_->values;
    std::vector<double> values;
    for (const std::string& name : course_->keyframes) {
      const auto position = in_keyframe("keyframes", name, joint);
      if (!position) return {};
      values.push_back(*position);
    }
    return values;
  }

  std::vector<double> column_of(const JointSpec& joint, bool linear) {
    const std::string base = at_.text_or("column", joint.name);
    const Dimension dimension = base_.kind == MotorKind::torque
                                    ? Dimension::joint_force
                                    : Dimension::joint_position;
    std::string expected;
    for (const Unit& unit : units_of(dimension)) {
      const bool along = unit.suffix == "m" || unit.suffix == "mm" || unit.suffix == "N";
      if (along != linear) continue;
      const std::string wanted = fmt::format("{}_{}", base, unit.suffix);
      expected += (expected.empty() ? "" : " or ") + wanted;
      const auto found = std::ranges::find(course_->file->names, wanted);
      if (found == course_->file->names.end()) continue;
      std::vector<double> values =
          course_->file
              ->columns[static_cast<std::size_t>(found - course_->file->names.begin())];
      for (double& x : values) x *= unit.factor;
      return values;
    }
    at_.error("file", fmt::format("{} has no column {}", course_->path, expected));
    return {};
  }

  /// Where a joint is in a keyframe of its robot's file.
  std::optional<double> in_keyframe(std::string_view key, const std::string& name,
                                    const JointSpec& joint) {
    std::vector<std::string_view> names;
    for (const Keyframe& keyframe : draft_.parts.keyframes) {
      names.push_back(keyframe.name);
      if (keyframe.name != name) continue;
      const auto found = keyframe.positions.find(joint.name);
      if (found != keyframe.positions.end()) return found->second;
    }
    at_.error(key, fmt::format("{}: no keyframe \"{}\" of an MJCF file has a position of "
                               "joint \"{}\"{}",
                               key, name, joint.name, did_you_mean(name, names)));
    return std::nullopt;
  }

  /// Where a joint begins.
  double start_of(const JointSpec& joint) const {
    const auto& start = draft_.parts.start;
    const auto found = std::ranges::find(start, joint.name, &InitialJoint::joint);
    return found != start.end() && found->q.size() == 1 ? found->q.front() : 0;
  }

  bool read_target(const JointSpec& joint, bool several, MotorSpec& motor) {
    const bool linear = is_linear(joint.type, motor.axis);
    for (const char* key :
         {"kp", "kd", "torque", "offset", "slope", "amplitude", "positions", "torques"}) {
      check_unit(at_, key, linear);
    }
    Signal& target = motor.target;
    target.slope = at_.number_or("slope", 0);
    target.amplitude = at_.number_or("amplitude", 0);
    target.frequency = at_.number_or("frequency", 0);
    target.phase = at_.number_or("phase", 0);
    target.offset = motor.kind == MotorKind::torque ? at_.number_or("torque", 0)
                                                    : at_.number_or("offset", 0);
    if (at_.has("keyframe")) {
      const auto position = in_keyframe("keyframe", at_.text_or("keyframe", ""), joint);
      if (!position) return false;
      target.offset = *position;
    } else if (several && !course_ && motor.kind != MotorKind::torque &&
               !at_.given("offset")) {
      target.offset = start_of(joint);
    }
    if (!course_) return true;
    const std::vector<double> values = values_of(joint, linear);
    if (values.empty()) return false;
    if (course_->repeats && course_->how != Interpolation::hold &&
        values.front() != values.back()) {
      at_.error("repeat",
                fmt::format("what repeats ends as it begins, but joint \"{}\" goes from "
                            "{:g} to {:g}",
                            joint.name, values.front(), values.back()));
      return false;
    }
    target.pieces =
        pieces_through(course_->times, values, course_->how, course_->repeats);
    if (course_->repeats) target.period = course_->times.back() - course_->times.front();
    return true;
  }

  const Section& at_;
  Draft& draft_;
  std::string kind_;
  MotorSpec base_;
  std::optional<Course> course_;
};

}  // namespace

void read_motors(const Section& scene, Draft& draft) {
  const auto motors = scene.tables("motors");
  for (std::size_t i = 0; i < motors.size() && !draft.source.problems->full(); ++i) {
    const Section at(*motors[i], motor_keys, called("motor", *motors[i], i),
                     draft.source);
    MotorReader(at, draft).read();
  }
}

}  // namespace bristle::scene
