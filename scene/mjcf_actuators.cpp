#include <algorithm>
#include <cmath>
#include <numbers>

#include "scene/mjcf_reading.hpp"

// An actuator of MuJoCo pulls with f = (g₀ + g₁ l + g₂ l̇) u + b₀ + b₁ l + b₂ l̇ along
// l = gear · q, limited to its force range. For a control u that is a position motor of
// stiffness −gear² (b₁ + g₁ u) and damping −gear² (b₂ + g₂ u), or a torque motor where
// both are 0. With an activation, that acts in place of the control: what the motor is
// told then lags.

namespace bristle::scene::mjcf {

void Reading::read_actuators(const Element& e) {
  for (const Element& c : e.children) {
    const int index = actuator_count_++;
    if (family(c.tag) == "actuator") read_actuator(c, index);
  }
}

std::pair<double, double> Reading::limits(const View& v, const char* limited,
                                          const char* range) {
  const std::pair<double, double> none{-infinity, infinity};
  if (!is_limited(v, limited, range)) return none;
  const auto n = numbers(v, range, 2, 2);
  if (!n) return none;
  if ((*n)[0] > (*n)[1]) {
    const Attribute* a = get(v, range);
    error(a->place(), {v.who, ": ", range, " = ", shown(a->value), " must not fall"});
    return none;
  }
  return {(*n)[0], (*n)[1]};
}

void Reading::apply(const Element& e, const std::string& who, ActuatorForce& force) {
  const auto one = [&](const char* name, double otherwise) {
    return xml::number(e.find(name), who, otherwise, Range::any, problems_);
  };
  const auto three = [&](const char* name, double* to) {
    const Attribute* a = e.find(name);
    if (a == nullptr) return;
    if (const auto n = xml::numbers(*a, who, 1, 10, Range::any, problems_)) {
      std::copy_n(n->begin(), std::min<std::size_t>(3, n->size()), to);
    }
  };
  if (e.tag == "general") {
    three("gainprm", force.gain);
    three("biasprm", force.bias);
    const std::string_view gain = e.value("gaintype"), bias = e.value("biastype");
    if (!gain.empty())
      choice(e.find("gaintype"), who, {"fixed", "affine", "muscle", "user"});
    if (!bias.empty())
      choice(e.find("biastype"), who, {"none", "affine", "muscle", "user"});
    if (!gain.empty()) force.gain_type = gain;
    if (!bias.empty()) force.bias_type = bias;
    if (const Attribute* a = e.find("dyntype")) force.dynamics = a->value;
    if (const Attribute* a = e.find("dynprm")) {
      const auto n = xml::numbers(*a, who, 1, 10, Range::any, problems_);
      if (n) force.time = n->front();
    }
    return;
  }
  if (!belongs(e.tag, "actuator")) {  // its activation is counted, no more
    if (e.tag == "muscle") force.dynamics = force.gain_type = force.bias_type = "muscle";
    if (const Attribute* a = e.find("dyntype")) force.dynamics = a->value;
    return;
  }
  force.gain_type = e.tag == "damper" ? "affine" : "fixed";
  force.bias_type = e.tag == "motor" || e.tag == "damper" ? "none" : "affine";
  if (e.tag == "motor" || e.tag == "velocity" || e.tag == "damper") {
    force.dynamics = "none";
  }
  if (e.tag == "motor") {
    force.gain[0] = 1;
  } else if (e.tag == "position") {
    force.gain[0] = one("kp", force.gain[0]);
    force.bias[1] = -force.gain[0];
    if (e.find("kv") != nullptr) force.bias[2] = -one("kv", 0);
    force.damping_ratio = one("dampratio", force.damping_ratio);
    force.time = one("timeconst", force.time);
    if (e.find("timeconst") != nullptr) {
      force.dynamics = force.time > 0 ? "filterexact" : "none";
    }
  } else if (e.tag == "intvelocity") {
    force.gain[0] = one("kp", force.gain[0]);
    force.bias[1] = -force.gain[0];
    if (e.find("kv") != nullptr) force.bias[2] = -one("kv", 0);
    force.damping_ratio = one("dampratio", force.damping_ratio);
    force.dynamics = "integrator";
  } else if (e.tag == "velocity") {
    force.gain[0] = one("kv", force.gain[0]);
    force.bias[2] = -force.gain[0];
  } else if (e.tag == "damper") {
    force.gain[2] = -one("kv", -force.gain[2]);
    force.gain[0] = force.gain[1] = 0;
  } else {  // cylinder
    force.dynamics = "filter";
    force.time = one("timeconst", force.time);
    force.gain[0] = one("area", force.gain[0]);
    if (e.find("diameter") != nullptr) {
      const double d = one("diameter", 0);
      force.gain[0] = std::numbers::pi / 4 * d * d;
    }
    three("bias", force.bias);
  }
}

int Reading::count_activations(const View& v, const ActuatorForce& force) {
  const double dimension = number(v, "actdim", -1, Range::any);
  if (v.element->tag == "plugin") counts_activations_ = false;
  constexpr double most = 10'000;  // of as many actuators as a file may hold, an int
  if (dimension >= 0) return static_cast<int>(std::min(dimension, most));
  return force.dynamics == "none" ? 0 : 1;
}

bool Reading::find_transmission(const View& v, MotorSpec& motor, ActuatorRecord& record,
                                std::optional<CouplingSpec>& wrench) {
  if (const Attribute* name = get(v, "tendon")) {
    const auto tendon = tendons_.find(name->value);
    if (tendon == tendons_.end()) {
      error(name->place(), {v.who, ": tendon = \"", shown(name->value),
                            "\" must be a tendon of the model"});
      return false;
    }
    motor.coupling = parts.couplings[tendon->second.spec].name;
    record.ref = tendon->second.ref;
    return true;
  }
  if (const Attribute* site = get(v, "site")) {
    return find_wrench(v, *site, record, wrench);
  }
  const Attribute* name = get(v, "joint");
  if (name == nullptr) name = get(v, "jointinparent");
  if (name == nullptr) {
    unread_.count(v.element->tag + " of no joint", Consequence::undriven);
    return false;
  }
  const auto place = joint_of_.find(name->value);
  if (place == joint_of_.end()) {
    error(name->place(),
          {v.who, ": joint = \"", shown(name->value), "\" must be a joint of the model"});
    return false;
  }
  const JointRecord& joint = joints_[place->second];
  if (velocity_count(joint.type) != 1) {
    unread_.count(words({v.element->tag, " of a ", kind_of(joint.type), " joint"}),
                  Consequence::undriven);
    return false;
  }
  motor.joint = joint.name;
  record.ref = joint.ref;
  return true;
}

bool Reading::find_wrench(const View& v, const Attribute& site, ActuatorRecord& record,
                          std::optional<CouplingSpec>& wrench) {
  if (get(v, "refsite") != nullptr) {
    unread_.count(v.element->tag + " of a site against another", Consequence::undriven);
    return false;
  }
  const auto found = sites_.find(site.value);
  if (found == sites_.end()) {
    error(site.place(),
          {v.who, ": site = \"", shown(site.value), "\" must be a site of the model"});
    return false;
  }
  const BodyRecord& body = bodies_[static_cast<std::size_t>(found->second.body)];
  if (body.group == 0) {
    unread_.count(v.element->tag + " of a site of the world", Consequence::undriven);
    return false;
  }
  std::vector<double> gear{1, 0, 0, 0, 0, 0};
  if (const auto n = numbers(v, "gear", 1, 6))
    std::copy(n->begin(), n->end(), gear.begin());
  if (std::ranges::all_of(gear, [](double x) { return x == 0; })) {
    const Attribute* given = get(v, "gear");
    error(given->place(), {v.who, ": gear = ", shown(given->value), " must not be 0"});
    return false;
  }
  wrench.emplace().wrench =
      WrenchSpec{.body = body.name,
                 .pose = found->second.pose,
                 .unit = {load_vec3(gear.data() + 3), load_vec3(gear.data())}};
  record.has_length = false;
  return true;
}

std::pair<double, double> Reading::inherited_range(const View& v, const MotorSpec& motor,
                                                   const ActuatorRecord& record) {
  const std::pair<double, double> none{-infinity, infinity};
  const double part = number(v, "inheritrange", 0, Range::not_negative);
  if (part == 0) return none;
  double lower = -infinity, upper = infinity;
  if (record.has_length && motor.coupling.empty()) {
    const JointSpec& joint =
        parts.joints[joints_[joint_of_.find(motor.joint)->second].spec];
    lower = joint.lower;
    upper = joint.upper;
  } else if (record.has_length) {
    const auto coupling =
        std::ranges::find(parts.couplings, motor.coupling, &CouplingSpec::name);
    lower = coupling->lower;
    upper = coupling->upper;
  }
  if (!std::isfinite(lower + upper)) {
    error(v.element->place(),
          {v.who, ": inheritrange must come with a joint or tendon that has a range"});
    return none;
  }
  const double middle = 0.5 * (lower + upper) + record.ref;
  const double half = 0.5 * part * (upper - lower);
  return {middle - half, middle + half};
}

/// The part of an actuator's force that a control or activation makes, at its joint.
double Reading::constant_force(const ActuatorRecord& record, double control) const {
  const double gear = record.gear;
  const double by_length = record.bias[1] + record.gain[1] * control;
  return gear * (record.gain[0] * control + record.bias[0]) +
         gear * gear * by_length * record.ref;
}

/// Activations: what acts is a, with ȧ = (u − a)/T or ȧ = u. False where that is not
/// read.
bool Reading::read_lag(const View& v, const ActuatorForce& force, MotorSpec& motor,
                       ActuatorRecord& record) {
  if (force.dynamics == "none") return true;
  const bool integrates = force.dynamics == "integrator";
  if (!integrates && force.dynamics != "filter" && force.dynamics != "filterexact") {
    unread_.count(words({v.element->tag, " with dyntype ", shown(force.dynamics)}),
                  Consequence::undriven);
    return false;
  }
  if (record.gain[1] != 0 || record.gain[2] != 0) {
    unread_.count(v.element->tag + " with an activation and a gain that is not fixed",
                  Consequence::undriven);
    return false;
  }
  if (!integrates && !(force.time > 0)) {
    error(v.element->place(), {v.who, ": the time of its filter must be above 0"});
    return false;
  }
  MotorLag& lag = motor.lag;
  lag.kind = integrates ? LagKind::integrator : LagKind::filter;
  lag.time = force.time;
  lag.base = lag.start = constant_force(record, 0);
  auto range = limits(v, "actlimited", "actrange");
  if (v.element->tag == "intvelocity" && !std::isfinite(range.first + range.second)) {
    range = inherited_range(v, motor, record);
  }
  const auto ends = std::minmax(
      {constant_force(record, range.first), constant_force(record, range.second)});
  if (std::isfinite(range.first + range.second)) {
    lag.least = ends.first;
    lag.largest = ends.second;
  }
  return true;
}

void Reading::read_actuator(const Element& e, int index) {
  const std::string given(e.value("name"));
  const std::string_view pulled = e.find("joint") != nullptr    ? e.value("joint")
                                  : e.find("tendon") != nullptr ? e.value("tendon")
                                                                : e.value("site");
  const View v = view(e, main_class, given.empty() ? pulled : std::string_view(given));
  if (!given.empty()) actuator_names_.insert(given);
  MotorSpec motor;
  ActuatorRecord record;
  record.index = index;
  record.spec = parts.motors.size();
  ActuatorForce force;
  for (const Element* layer : layers(v)) apply(*layer, v.who, force);
  const int activations = count_activations(v, force);
  activation_count_ += activations;
  if (activations > 0) record.activation = activation_count_ - 1;
  std::optional<CouplingSpec> wrench;
  if (!belongs(e.tag, "actuator") || !find_transmission(v, motor, record, wrench)) return;
  for (const std::string& type : {force.gain_type, force.bias_type, force.dynamics}) {
    if (type != "muscle" && type != "user") continue;
    unread_.count(words({e.tag, " with ", type}), Consequence::undriven);
    return;
  }
  if (force.gain_type == "fixed") force.gain[1] = force.gain[2] = 0;
  if (force.bias_type == "none") std::fill_n(force.bias, 3, 0.0);
  std::copy_n(force.gain, 3, record.gain);
  std::copy_n(force.bias, 3, record.bias);
  const auto gears = numbers(v, "gear", 1, 6);
  record.gear = gears && record.has_length ? gears->front() : 1;
  if (!read_lag(v, force, motor, record)) return;
  if (record.gear == 0) {
    error(get(v, "gear")->place(), {v.who, ": gear = 0 must not be 0"});
    return;
  }
  if (!given.empty() && motor_names_.has(given)) {
    error(e.place(), {v.who, ": another actuator must not have this name"});
  }
  if (wrench) {
    wrench->name = coupling_names_.fresh(std::string(word(v, "site", "")) + ".wrench");
    motor.coupling = wrench->name;
    parts.couplings.push_back(std::move(*wrench));
  }
  const std::string& target = motor.coupling.empty() ? motor.joint : motor.coupling;
  motor.name = motor_names_.fresh(given.empty() ? target + ".motor" : given);
  if (force.damping_ratio > 0 && force.gain[0] == -force.bias[1]) {
    motor.damping_ratio = force.damping_ratio;
  }
  auto control = limits(v, "ctrllimited", "ctrlrange");
  if (e.tag == "position" && !std::isfinite(control.first + control.second)) {
    control = inherited_range(v, motor, record);
  }
  record.control_range[0] = control.first;
  record.control_range[1] = control.second;
  auto [least, most] = limits(v, "forcelimited", "forcerange");
  if (force.gain_type == "fixed" && force.bias_type == "none") {
    // A motor: what it may be told limits its force as well, whoever tells it.
    const auto told =
        std::minmax({force.gain[0] * control.first, force.gain[0] * control.second});
    least = std::max(least, told.first);
    most = std::min(most, told.second);
  }
  const auto ends = std::minmax({record.gear * least, record.gear * most});
  motor.least_force = ends.first;
  motor.largest_force = ends.second;
  parts.motors.push_back(std::move(motor));
  actuators_.push_back(record);
}

void Reading::command(const ActuatorRecord& record, double control) {
  MotorSpec& motor = parts.motors[record.spec];
  const double u = std::clamp(control, record.control_range[0], record.control_range[1]);
  const double gear = record.gear;
  const double by_length = record.has_length ? record.bias[1] + record.gain[1] * u : 0.0;
  const double by_rate = record.bias[2] + record.gain[2] * u;
  const double force = constant_force(record, u);
  motor.target = {};
  if (by_length > 0 || by_rate > 0) {
    unread_.count("actuator that pushes further the further it is",
                  Consequence::undriven);
    return;
  }
  motor.kp = -gear * gear * by_length;
  motor.kd = -gear * gear * by_rate;
  const bool follows = motor.kp > 0 || motor.kd > 0 || motor.damping_ratio > 0;
  motor.kind = follows ? MotorKind::position : MotorKind::torque;
  if (motor.kp > 0) {
    motor.target.offset = force / motor.kp;
  } else if (motor.kd > 0) {
    motor.target.slope = force / motor.kd;
  } else {
    motor.target.offset = force;
  }
}

}  // namespace bristle::scene::mjcf
