#include <algorithm>

#include "scene/mjcf_reading.hpp"
#include "scene/sensor_kinds.hpp"

// Sensors: on sites, joints, or frames of bodies.

namespace bristle::scene::mjcf {

std::optional<Shape> Reading::zone_of(const View& v) {
  const std::string type = choice(get(v, "type"), v.who,
                                  {"sphere", "capsule", "ellipsoid", "cylinder", "box"});
  std::vector<double> size{0.005, 0.005, 0.005};  // MuJoCo's
  if (const auto given = numbers(v, "size", 1, 3)) {
    std::copy(given->begin(), given->end(), size.begin());
  }
  Shape zone = Sphere{size[0]};
  if (type == "capsule") zone = Capsule{size[0], size[1]};
  if (type == "ellipsoid") zone = Ellipsoid{{size[0], size[1], size[2]}};
  if (type == "cylinder") zone = Cylinder{size[0], size[1]};
  if (type == "box") zone = Box{{size[0], size[1], size[2]}};
  return checked(zone) ? std::optional(zone) : std::nullopt;
}

void Reading::read_sensors(const Element& e) {
  for (const Element& c : e.children) {
    if (!belongs(c.tag, "sensor")) continue;
    const auto words_of = sensor_words();
    const auto word = std::ranges::find(words_of, c.tag, &SensorWord::in_mjcf);
    if (word != words_of.end()) read_sensor(c, word->kind);
  }
}

void Reading::read_sensor(const Element& e, SensorKind kind) {
  const std::string given(e.value("name"));
  const View v{&e, -1, called(e.tag, given)};
  SensorSpec sensor;
  sensor.kind = kind;
  const bool of_joint = kind == SensorKind::joint_position ||
                        kind == SensorKind::joint_velocity ||
                        kind == SensorKind::joint_torque;
  const bool of_frame = e.tag.starts_with("frame");
  if (of_joint) {
    const auto joint = joint_of_.find(e.value("joint"));
    if (joint == joint_of_.end()) {
      error(e.place(), {v.who, ": joint = \"", shown(e.value("joint")),
                        "\" must be a joint of the model"});
      return;
    }
    const JointRecord& record = joints_[joint->second];
    if (velocity_count(record.type) != 1) {
      error(e.place(),
            {v.who, ": joint \"", shown(record.name), "\" must be a hinge or a slide"});
      return;
    }
    sensor.joint = record.name;
  } else if (kind == SensorKind::coupling_position ||
             kind == SensorKind::coupling_velocity) {
    const auto tendon = tendons_.find(e.value("tendon"));
    if (tendon == tendons_.end()) {
      error(e.place(), {v.who, ": tendon = \"", shown(e.value("tendon")),
                        "\" must be a tendon of the model"});
      return;
    }
    sensor.coupling = parts.couplings[tendon->second.spec].name;
    if (kind == SensorKind::coupling_position) sensor.offset = tendon->second.ref;
  } else if (kind == SensorKind::motor_force) {
    if (!find_actuator(e, v, sensor)) return;
  } else if (!place_sensor(e, v, of_frame, sensor)) {
    return;
  }
  if (kind == SensorKind::range) {
    const double cutoff = number(v, "cutoff", 0, Range::not_negative);
    if (cutoff > 0) sensor.reach = cutoff;
  }
  const std::string target = of_joint                   ? sensor.joint
                             : !sensor.coupling.empty() ? sensor.coupling
                             : !sensor.motor.empty()    ? sensor.motor
                                                        : sensor.body;
  sensor.name = sensor_names_.fresh(given.empty() ? words({target, ".", e.tag}) : given);
  parts.sensors.push_back(std::move(sensor));
}

/// The actuator whose force a sensor measures, before its gear.
bool Reading::find_actuator(const Element& e, const View& v, SensorSpec& sensor) {
  const std::string name(e.value("actuator"));
  if (!actuator_names_.contains(name)) {
    error(e.place(),
          {v.who, ": actuator = \"", shown(name), "\" must be an actuator of the model"});
    return false;
  }
  const auto record = std::ranges::find_if(actuators_, [&](const ActuatorRecord& a) {
    return parts.motors[a.spec].name == name;
  });
  if (record == actuators_.end()) {
    unread_.count(e.tag + " of an actuator that is not read", Consequence::unmeasured);
    return false;
  }
  sensor.motor = name;
  sensor.scale = 1 / record->gear;
  return true;
}

/// Where a sensor sits; false where that is not read or wrong.
bool Reading::place_sensor(const Element& e, const View& v, bool of_frame,
                           SensorSpec& sensor) {
  const std::string_view type = of_frame ? e.value("objtype") : "site";
  const std::string name(e.value(of_frame ? "objname" : "site"));
  const char* attribute = of_frame ? "objname" : "site";
  if (of_frame && e.find("refname") != nullptr) {
    unread_.count(words({e.tag, " against another frame"}), Consequence::unmeasured);
    return false;
  }
  if (type == "site") {
    const auto site = sites_.find(name);
    if (site == sites_.end()) {
      error(e.place(), {v.who, ": ", attribute, " = \"", shown(name),
                        "\" must be a site of the model"});
      return false;
    }
    sensor.body = bodies_[static_cast<std::size_t>(site->second.body)].name;
    sensor.pose = site->second.pose;
    if (sensor.kind == SensorKind::touch) sensor.zone = site->second.zone;
  } else if (type == "xbody") {
    const auto body = body_of_.find(name);
    if (body == body_of_.end()) {
      error(e.place(), {v.who, ": ", attribute, " = \"", shown(name),
                        "\" must be a body of the model"});
      return false;
    }
    sensor.body = bodies_[static_cast<std::size_t>(body->second)].name;
    if (body->second == 0) sensor.pose = options_.pose;
  } else {
    unread_.count(words({e.tag, " of a ", shown(type)}), Consequence::unmeasured);
    return false;
  }
  // One on the world sees nothing else of it.
  for (const ShapeSpec& shape : parts.shapes) {
    if (sensor.kind != SensorKind::range || sensor.body != world_name) break;
    if (shape.body == world_name) sensor.unseen.push_back(shape.name);
  }
  const bool through =
      sensor.kind == SensorKind::force || sensor.kind == SensorKind::torque;
  if (!through || sensor.body != world_name) return true;
  unread_.count(words({e.tag, " of the world"}), Consequence::unmeasured);
  return false;
}

}  // namespace bristle::scene::mjcf
