#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "bristle/model/assembly.hpp"

// What drives a model: motors at its joints, loads on its bodies.

namespace bristle::assembly {

namespace {

using checks::finite;
using checks::quoted;

Problem check_lag(const MotorSpec& spec, const Subject& who) {
  const MotorLag& lag = spec.lag;
  if (lag.kind == LagKind::none) return {};
  if (spec.kind == MotorKind::prescribed) {
    return who.error("lag", "prescribed motion cannot lag");
  }
  const bool has_time = lag.time > 0 && std::isfinite(lag.time);
  if (lag.kind == LagKind::filter && !has_time) {
    return who.error("lag", "the time of its filter must be a number > 0");
  }
  const bool fine = std::isfinite(lag.base) && std::isfinite(lag.start);
  if (!fine || !(lag.least <= lag.largest)) {
    return who.error("lag",
                     "its lag must be of numbers, the least not above the largest");
  }
  return {};
}

/// What is wrong with a motor's own numbers.
Problem check_numbers(const MotorSpec& spec, const Subject& who) {
  const Signal& s = spec.target;
  if (!std::isfinite(s.offset + s.slope + s.amplitude + s.frequency + s.phase)) {
    return who.error("target", "its target is not made of numbers");
  }
  double last = -std::numeric_limits<double>::infinity();
  for (const SignalPiece& p : s.pieces) {
    if (!std::isfinite(p.begin + p.value + p.rate + p.curvature + p.jerk)) {
      return who.error("target", "its target is not made of numbers");
    }
    if (!(p.begin > last)) {
      return who.error("target", "the pieces of its target do not follow each other");
    }
    last = p.begin;
  }
  if (!(s.period >= 0) || !std::isfinite(s.period)) {
    return who.error("target", "the period of its target must be a number >= 0");
  }
  if (spec.compensates_gravity &&
      (spec.kind != MotorKind::position || !spec.coupling.empty())) {
    return who.error("compensates_gravity",
                     "only position motors on joints compensate gravity");
  }
  if (!(spec.kp >= 0) || !(spec.kd >= 0) || !std::isfinite(spec.kp + spec.kd)) {
    return who.error(std::isfinite(spec.kp) && spec.kp >= 0 ? "kd" : "kp",
                     "kp and kd must be numbers >= 0");
  }
  if (!(spec.damping_ratio >= 0) || !std::isfinite(spec.damping_ratio)) {
    return who.error("damping_ratio", "damping_ratio must be a number >= 0");
  }
  if (!(spec.frequency >= 0) || !std::isfinite(spec.frequency)) {
    return who.error("frequency", "frequency must be a number >= 0");
  }
  if (!std::isfinite(spec.torque)) return who.error("torque", "torque must be a number");
  if (!(spec.least_force <= spec.largest_force)) {
    return who.error("least_force", "least_force must not be above largest_force");
  }
  return check_lag(spec, who);
}

/// What is wrong with a motor on its joint.
Problem check_motor(const MotorSpec& spec, const Joint& joint, const Tree& tree,
                    const Subject& who) {
  const int count = velocity_count(joint.type);
  const std::string type(joint_type_name(joint.type));
  if (spec.axis < 0 || spec.axis >= count) {
    return who.error("axis", "axis = " + std::to_string(spec.axis) + " must lie in [0, " +
                                 std::to_string(count - 1) + "], a " + type +
                                 " joint has " + std::to_string(count) + " velocities");
  }
  if (spec.kind != MotorKind::torque && tree.dofs()[at(joint.v + spec.axis)].q < 0) {
    return who.error("kind", "a " + type +
                                 " joint has no angles for a position motor to hold; "
                                 "use a torque motor");
  }
  if (spec.kind == MotorKind::prescribed && count != 1) {
    return who.error("kind",
                     "motion is prescribed to revolute and prismatic joints only, " +
                         quoted(spec.joint) + " is " + type);
  }
  return {};
}

/// kp = I ω² and kd = 2 ζ √(kp I), with the inertia I that the motor moves, each joint
/// alone.
void tune(const MotorSpec& spec, const Model& model, Motor& motor) {
  if (!(spec.damping_ratio > 0) && !(spec.frequency > 0)) return;
  const std::vector<double> inertia = moved_inertia(model.tree);
  double moved = 0;
  if (motor.coupling < 0) {
    moved = inertia[at(motor.v)];
  } else {
    const Coupling& coupling = model.couplings[at(motor.coupling)];
    for (const DofWeight& j : coupling.joints) {
      if (j.weight != 0) moved += inertia[at(j.dof)] / (j.weight * j.weight);
    }
    if (coupling.moves()) moved = 1 / compliance_of(coupling, inertia);
  }
  if (spec.frequency > 0) motor.kp = moved * spec.frequency * spec.frequency;
  if (spec.damping_ratio > 0) {
    motor.kd = 2 * spec.damping_ratio * std::sqrt(motor.kp * moved);
  }
}

Problem drive_coupling(const MotorSpec& spec, const Model& model, const Subject& who,
                       Motor& motor) {
  motor.coupling = model.find_coupling(spec.coupling);
  if (motor.coupling < 0) {
    return who.error("coupling", "there is no coupling " + quoted(spec.coupling));
  }
  if (spec.kind == MotorKind::prescribed) {
    return who.error("kind", "motion is prescribed to joints only, not to a coupling");
  }
  if (model.couplings[at(motor.coupling)].wrench_link >= 0 &&
      (spec.kp > 0 || spec.frequency > 0)) {
    return who.error("kp", "a wrench has no length for a position motor to hold");
  }
  return {};
}

}  // namespace

Problem add_motors(std::span<const MotorSpec> specs, Model& model) {
  std::set<std::string_view> names;
  std::set<int> prescribed, holding;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const MotorSpec& spec = specs[i];
    const Subject who(Element::motor, spec.name, i);
    if (spec.name.empty()) {
      return who.sentence("name",
                          "a motor of joint " + quoted(spec.joint) + " has no name");
    }
    if (!names.insert(spec.name).second) {
      return who.sentence("name", who.called() + " was added twice");
    }
    if (Problem p = check_numbers(spec, who)) return p;
    Motor motor{.name = spec.name,
                .kind = spec.kind,
                .q = -1,
                .v = -1,
                .link = world_link,
                .coupling = -1,
                .kp = spec.kp,
                .kd = spec.kd,
                .least_force = spec.least_force,
                .largest_force = spec.largest_force,
                .torque = spec.torque,
                .compensates_gravity = spec.compensates_gravity,
                .target = spec.target,
                .lag = spec.lag};
    if (motor.lag.kind != LagKind::none) motor.lagged = model.lagged_motors++;
    if (!spec.coupling.empty()) {
      if (Problem p = drive_coupling(spec, model, who, motor)) return p;
      tune(spec, model, motor);
      model.motors.push_back(std::move(motor));
      continue;
    }
    Problem problem;
    const Joint* joint = find_moving_joint(model, spec.joint, who, "joint", problem);
    if (joint == nullptr) return problem;
    if (Problem p = check_motor(spec, *joint, model.tree, who)) return p;
    if (spec.kind == MotorKind::prescribed) {
      if (!prescribed.insert(joint->link).second) {
        return who.error("kind",
                         "the motion of " + quoted(spec.joint) + " is prescribed twice");
      }
      model.prescribed.resize(at(model.tree.link_count()), 0);
      model.prescribed[at(joint->link)] = 1;
    }
    if (spec.compensates_gravity) {
      if (!holding.insert(joint->v + spec.axis).second) {
        return who.error("compensates_gravity", "the gravity on " + quoted(spec.joint) +
                                                    " is compensated twice");
      }
      model.compensates_gravity = true;
    }
    const Dof& dof = model.tree.dofs()[at(joint->v + spec.axis)];
    motor.q = dof.q;
    motor.v = joint->v + spec.axis;
    motor.link = joint->link;
    motor.least_force = std::max(motor.least_force, -dof.effort_limit);
    motor.largest_force = std::min(motor.largest_force, dof.effort_limit);
    if (!(motor.least_force <= motor.largest_force)) {
      return who.error("least_force",
                       "its forces lie beyond the effort limit of " + quoted(spec.joint));
    }
    tune(spec, model, motor);
    model.motors.push_back(std::move(motor));
  }
  return {};
}

Problem add_loads(std::span<const LoadSpec> specs, Model& model) {
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const LoadSpec& spec = specs[i];
    const Subject who(Element::load, spec.name, i);
    Problem problem;
    const Body* body = find_body(model, spec.body, who, "body", problem);
    if (body == nullptr) return problem;
    if (!finite(spec.force) || !finite(spec.torque) || !finite(spec.point)) {
      return who.error(!finite(spec.force)    ? "force"
                       : !finite(spec.torque) ? "torque"
                                              : "point",
                       "force, torque and point must be numbers");
    }
    model.loads.push_back({spec.name, body->link,
                           static_cast<int>(body - model.tree.bodies().data()),
                           body->in_link * spec.point, spec.force, spec.torque});
  }
  return {};
}

}  // namespace bristle::assembly
