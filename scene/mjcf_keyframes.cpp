#include <algorithm>
#include <cmath>

#include "scene/mjcf_reading.hpp"

namespace bristle::scene::mjcf {

void Reading::read_key(const Element& e) {
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
  const auto count = static_cast<std::size_t>(activation_count_);
  if (!counts_activations_ && e.find("act") != nullptr) {
    unread_.count("act of a key beside plugins");
  } else if (const auto activations = list("act", count)) {
    for (const ActuatorRecord& record : actuators_) {
      if (record.activation < 0) continue;
      parts.motors[record.spec].lag.start = constant_force(
          record, (*activations)[static_cast<std::size_t>(record.activation)]);
    }
  }
  if (e.find("ctrl") == nullptr) {
    hold_pose(e.find("act") != nullptr);
  } else if (const auto ctrl = list("ctrl", static_cast<std::size_t>(actuator_count_))) {
    for (const ActuatorRecord& record : actuators_) {
      command(record, (*ctrl)[static_cast<std::size_t>(record.index)]);
    }
  }
}

void Reading::keep_keyframes(const Element& root) {
  Problems said_where_chosen;
  std::size_t count = 0;
  for (const JointRecord& j : joints_) {
    count += static_cast<std::size_t>(position_count(j.type));
  }
  each(root, "keyframe", [&](const Element& e) {
    each(e, "key", [&](const Element& k) {
      const Attribute* a = k.find("qpos");
      if (a == nullptr || k.value("name").empty()) return;
      const auto q = xml::numbers(*a, "key", count, count, Range::any, said_where_chosen);
      if (!q) return;
      Keyframe keyframe{std::string(k.value("name")), {}};
      std::size_t at = 0;
      for (const JointRecord& j : joints_) {
        if (velocity_count(j.type) == 1) keyframe.positions[j.name] = (*q)[at] - j.ref;
        at += static_cast<std::size_t>(position_count(j.type));
      }
      parts.keyframes.push_back(std::move(keyframe));
    });
  });
}

void Reading::hold_pose(bool states_activations) {
  const auto position_of = [&](const std::string& joint) {
    const std::vector<double>& q = joints_[joint_of_.find(joint)->second].q;
    return q.size() == 1 ? q.front() : 0;
  };
  for (const ActuatorRecord& record : actuators_) {
    MotorSpec& motor = parts.motors[record.spec];
    if (!(motor.kp > 0) || record.gain[0] != -record.bias[1]) continue;
    double length = record.ref;
    if (motor.coupling.empty()) {
      length += position_of(motor.joint);
    } else {
      const auto coupling =
          std::ranges::find(parts.couplings, motor.coupling, &CouplingSpec::name);
      length += length_of(*coupling, [&](const JointRecord& j) {
        return j.q.size() == 1 ? j.q.front() : 0;
      });
    }
    const double control = record.gear * length;
    command(record, motor.lag.kind == LagKind::integrator ? 0 : control);
    if (!states_activations) motor.lag.start = constant_force(record, control);
  }
}

const Element* Reading::chosen_key(const Element& root) {
  const Element* first = nullptr;
  const Element* chosen = nullptr;
  FileLine last{path_, 0};
  each(root, "keyframe", [&](const Element& e) {
    last = e.place();
    each(e, "key", [&](const Element& k) {
      const std::string name(k.value("name"));
      if (first == nullptr) first = &k;
      if (chosen == nullptr && !name.empty() && name == options_.key) chosen = &k;
      parts.keys.push_back(name);
    });
  });
  if (options_.key.empty()) return first;
  if (chosen == nullptr) {
    std::string names;
    for (const std::string& name : parts.keys) {
      if (!name.empty()) names += words({names.empty() ? "" : ", ", shown(name)});
    }
    error(last, {"key = \"", shown(options_.key), "\" must be a keyframe of the model",
                 names.empty() ? ", which has none with a name" : ": ", names});
  }
  return chosen;
}

void Reading::normalise(JointRecord& j, const Element& e, const std::string& who) {
  const int first = quaternion_at(j.type);
  if (first < 0) return;
  double* q = j.q.data() + first;
  const double length = std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  if (!std::isfinite(length)) {
    error(e.place(),
          {who, ": the quaternion of ", called("joint", j.name), " must be of numbers"});
    return;
  }
  if (!(length > 1e-9)) {  // MuJoCo takes it for no turn
    problems_.warning(e.place(),
                      words({who, ": the quaternion of ", called("joint", j.name),
                             " is 0 and taken for 1 0 0 0"}));
    const double none[4] = {1, 0, 0, 0};
    std::copy(none, none + 4, q);
    return;
  }
  for (int k = 0; k < 4; ++k) q[k] /= length;
}

std::vector<double> Reading::our_rates(const JointRecord& j,
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

}  // namespace bristle::scene::mjcf
