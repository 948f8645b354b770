#include "bristle/step/sensors.hpp"

#include <algorithm>
#include <cmath>

#include "bristle/contact/contact_view.hpp"
#include "bristle/dynamics/motors.hpp"
#include "bristle/geometry/ray.hpp"
#include "bristle/model/checks.hpp"
#include "bristle/spatial/quaternion.hpp"
#include "bristle/step/loops.hpp"

namespace bristle {

namespace {

using checks::quoted;
using checks::Subject;
using detail::at;

bool of_joint(SensorKind kind) {
  return kind == SensorKind::joint_position || kind == SensorKind::joint_velocity ||
         kind == SensorKind::joint_torque;
}

bool of_drive(SensorKind kind) {
  return kind == SensorKind::coupling_position || kind == SensorKind::coupling_velocity ||
         kind == SensorKind::motor_force;
}

/// Whether it takes the forces at the state.
bool needs_accelerations(SensorKind kind) {
  switch (kind) {
    case SensorKind::joint_torque:
    case SensorKind::acceleration:
    case SensorKind::angular_acceleration:
    case SensorKind::accelerometer:
    case SensorKind::force:
    case SensorKind::torque:
    case SensorKind::felt_acceleration:
    case SensorKind::motor_force:
      return true;
    default:
      return false;
  }
}

void put(const Vec3<double>& v, double* to) {
  to[0] = v.x;
  to[1] = v.y;
  to[2] = v.z;
}

}  // namespace

int value_count(SensorKind kind) noexcept {
  if (of_joint(kind) || of_drive(kind) || kind == SensorKind::touch ||
      kind == SensorKind::range) {
    return 1;
  }
  return kind == SensorKind::orientation ? 4 : 3;
}

Sensors::Sensors(const Model& model)
    : model_(&model),
      tree_(model.tree),
      springs_(model),
      loops_(model),
      drives_(model),
      on_links_(model.tree.links().size(), Force<double>::zero()),
      tau_(model.tree.dofs().size()),
      motor_tau_(tau_.size()),
      motor_forces_(model.motors.size()),
      acceleration_(tau_.size()),
      needed_(tau_.size()) {}

Result<Sensors> Sensors::make(const Model& model, std::span<const SensorSpec> specs) {
  Sensors sensors(model);
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (const auto wrong = sensors.add(specs[i], i)) return *wrong;
  }
  return sensors;
}

/// What it measures, in the model.
std::optional<Error> Sensors::place(const SensorSpec& spec, const Subject& who,
                                    Sensor& sensor) const {
  if (of_joint(spec.kind)) {
    const Joint* joint = model_->tree.find_joint(spec.joint);
    if (joint == nullptr) {
      return who.error("joint", "there is no joint " + quoted(spec.joint));
    }
    const int count = velocity_count(joint->type);
    if (spec.axis < 0 || spec.axis >= count) {
      return who.error("axis", "axis = " + std::to_string(spec.axis) + ", but " +
                                   quoted(spec.joint) + " has " + std::to_string(count) +
                                   " degrees of freedom");
    }
    const Dof& dof = model_->tree.dofs()[at(joint->v + spec.axis)];
    if (spec.kind == SensorKind::joint_position && dof.q < 0) {
      return who.error("joint", quoted(spec.joint) + " has no angles, but a quaternion");
    }
    sensor.q = at(std::max(dof.q, 0));
    sensor.v = at(joint->v + spec.axis);
  } else if (of_drive(spec.kind)) {
    const bool motor = spec.kind == SensorKind::motor_force;
    const int found =
        motor ? model_->find_motor(spec.motor) : model_->find_coupling(spec.coupling);
    if (found < 0) {
      return motor
                 ? who.error("motor", "there is no motor " + quoted(spec.motor))
                 : who.error("coupling", "there is no coupling " + quoted(spec.coupling));
    }
    sensor.q = at(found);
    sensor.scale = spec.scale;
    sensor.offset = spec.offset;
  } else if (spec.body != world_name) {
    const Body* body = model_->tree.find_body(spec.body);
    if (body == nullptr) {
      return who.error("body", "there is no body " + quoted(spec.body));
    }
    sensor.body = static_cast<int>(body - model_->tree.bodies().data());
    sensor.link = body->link;
    sensor.on_link = body->in_link * spec.pose;
  } else {
    sensor.on_link = spec.pose;
  }
  return std::nullopt;
}

std::optional<Error> Sensors::add(const SensorSpec& spec, std::size_t index) {
  const Subject who(Element::none, spec.name, index, "sensor " + quoted(spec.name));
  Sensor sensor{.kind = spec.kind,
                .first = values_.size(),
                .count = value_count(spec.kind),
                .body = -1,
                .link = world_link};
  if (const auto wrong = place(spec, who, sensor)) return wrong;
  const bool through = spec.kind == SensorKind::force || spec.kind == SensorKind::torque;
  if (through && sensor.body < 0) {
    return who.error("body", "the world hangs from no joint");
  }
  if (needs_accelerations(spec.kind) && !model_->constraints.empty()) {
    return who.error("kind",
                     "accelerations and forces are not measured in models with "
                     "constraints of velocities");
  }
  if (spec.zone) {
    const Result<Shape> shape = checked(*spec.zone);
    if (!shape) return who.error("zone", shape.error());
    sensor.zone = *shape;
  }
  if (!(spec.reach > 0)) return who.error("reach", "reach must be above 0");
  sensor.reach = spec.reach;
  if (spec.kind == SensorKind::range) {
    for (const ModelShape& shape : model_->shapes) {
      const bool own = sensor.body >= 0 && shape.body == sensor.body;
      const bool told = std::ranges::find(spec.unseen, shape.name) != spec.unseen.end();
      sensor.unseen.push_back(own || told ? 1 : 0);
    }
  }
  if (through) find_beyond(sensor);
  accelerations_ = accelerations_ || needs_accelerations(spec.kind);
  values_.resize(values_.size() + at(sensor.count));
  sensors_.push_back(std::move(sensor));
  return std::nullopt;
}

void Sensors::find_beyond(Sensor& sensor) const {
  const std::span<const Body> bodies = model_->tree.bodies();
  if (!bodies[at(sensor.body)].welded) return;
  sensor.beyond.assign(bodies.size(), 0);
  for (std::size_t b = 0; b < bodies.size(); ++b) {
    int walk = static_cast<int>(b);
    while (walk >= 0 && walk != sensor.body && bodies[at(walk)].welded) {
      walk = bodies[at(walk)].parent;
    }
    sensor.beyond[b] = walk == sensor.body ? 1 : 0;
  }
  for (const Joint& joint : model_->tree.joints()) {
    const int parent = bodies[at(joint.body)].parent;
    if (joint.v < 0 || parent < 0 || sensor.beyond[at(parent)] == 0) continue;
    sensor.children.push_back(joint.link);
  }
}

void Sensors::measure(const System& system, const State& state,
                      Commands commands) noexcept {
  kinematics<double>(model_->tree, state.q, state.v, tree_);
  drives_.update(model_->tree, tree_);
  if (accelerations_) find_accelerations(system, state, commands);
  for (const Sensor& sensor : sensors_) {
    measure(sensor, system, state, values_.data() + sensor.first);
  }
}

/// All forces there, the accelerations that they give, and what every joint takes.
void Sensors::find_accelerations(const System& system, const State& state,
                                 Commands commands) noexcept {
  const Model& model = *model_;
  const Tree& tree = model.tree;
  std::ranges::fill(on_links_, Force<double>::zero());
  std::ranges::fill(tau_, 0.0);
  std::ranges::fill(motor_tau_, 0.0);
  const Placement here{tree_, state.q, state.v};
  const ForceSink sink{on_links_, tau_};
  if (state.joints.count > 0) system.pools.joints.scatter(here, state.joints, sink);
  if (state.contacts.count > 0) system.pools.points.scatter(here, state.contacts, sink);
  if (model.has_joint_forces) {
    add_joint_springs<double>(tree, state.q, state.v, tau_);
  }
  scatter_springs(springs_, here, sink);
  add_loads(model, tree_, on_links_);
  drives_.begin(state);
  add_motor_forces(model, drives_, state.time, state.q, state.v, commands, motor_forces_,
                   motor_tau_);
  for (std::size_t k = 0; k < tau_.size(); ++k) tau_[k] += motor_tau_[k];
  if (model.prescribed.empty()) {
    forward_dynamics<double>(tree, state.v, tau_, on_links_, tree_, acceleration_);
  } else {
    for (std::size_t i = 0; i < model.motors.size(); ++i) {
      const Motor& motor = model.motors[i];
      if (motor.kind != MotorKind::prescribed) continue;
      acceleration_[at(motor.v)] =
          prescribed_acceleration(motor, i, state.time, 0, commands);
    }
    std::ranges::copy(tau_, needed_.begin());
    hybrid_dynamics<double>(tree, state.v, model.prescribed, on_links_, tree_, needed_,
                            acceleration_);
  }
  if (model.loop_rows > 0) hold_loops(model, tree_, loops_, acceleration_, on_links_);
  inverse_dynamics<double>(tree, state.v, acceleration_, on_links_, tree_, needed_);
  for (const Motor& motor : model.motors) {
    if (motor.kind != MotorKind::prescribed) continue;
    motor_tau_[at(motor.v)] += needed_[at(motor.v)] - tau_[at(motor.v)];
  }
}

void Sensors::measure(const Sensor& sensor, const System& system, const State& state,
                      double* to) const noexcept {
  const Transform<double>& origin = tree_.poses[at(sensor.link)];
  const Transform<double> pose = origin * sensor.on_link;
  const Vec3<double> arm = pose.p - origin.p;
  const Motion<double> moving = shifted(tree_.velocities[at(sensor.link)], arm);
  // Without gravity: as if the world accelerated upwards.
  const LinkWork<double>& work = tree_.links[at(sensor.link)];
  const auto felt = [&] { return work.bias.linear + work.spread * arm; };
  const auto in_own_axes = [&](const Vec3<double>& v) {
    return transpose_times(pose.R, v);
  };
  const ContactView contacts(*model_, state, system.pools.points);
  switch (sensor.kind) {
    case SensorKind::joint_position:
      to[0] = state.q[sensor.q];
      return;
    case SensorKind::joint_velocity:
      to[0] = state.v[sensor.v];
      return;
    case SensorKind::joint_torque:
      to[0] = motor_tau_[sensor.v];
      return;
    case SensorKind::position:
      return put(pose.p, to);
    case SensorKind::orientation: {
      const Quaternion<double> q = from_matrix(pose.R);
      const double sign = q.w < 0 ? -1 : 1;
      to[0] = sign * q.w;
      return put({sign * q.x, sign * q.y, sign * q.z}, to + 1);
    }
    case SensorKind::velocity:
      return put(moving.linear, to);
    case SensorKind::angular_velocity:
      return put(moving.angular, to);
    case SensorKind::acceleration:
      return put(felt() + model_->tree.gravity(), to);
    case SensorKind::angular_acceleration:
      return put(work.bias.angular, to);
    case SensorKind::accelerometer:
      return put(in_own_axes(felt()), to);
    case SensorKind::gyro:
      return put(in_own_axes(moving.angular), to);
    case SensorKind::velocimeter:
      return put(in_own_axes(moving.linear), to);
    case SensorKind::force:
      return put(in_own_axes(through_joint(sensor, contacts).force), to);
    case SensorKind::torque:
      return put(in_own_axes(shifted_back(through_joint(sensor, contacts), -arm).torque),
                 to);
    case SensorKind::touch:
      to[0] = touch_force(sensor, pose, contacts);
      return;
    case SensorKind::range:
      to[0] = range(sensor, pose);
      return;
    case SensorKind::felt_acceleration:
      return put(felt(), to);
    case SensorKind::coupling_position:
      to[0] = sensor.scale * drives_.couplings.value(sensor.q, state.q) + sensor.offset;
      return;
    case SensorKind::coupling_velocity:
      to[0] = sensor.scale * drives_.couplings.rate(sensor.q, state.v) + sensor.offset;
      return;
    case SensorKind::motor_force:
      to[0] = sensor.scale * motor_forces_[sensor.q] + sensor.offset;
      return;
  }
}

/// About the origin of the link. Newton and Euler for all that is beyond the joint.
Force<double> Sensors::through_joint(const Sensor& sensor,
                                     const ContactView& contacts) const {
  const LinkWork<double>& work = tree_.links[at(sensor.link)];
  if (sensor.beyond.empty()) return work.force;
  const std::span<const Body> bodies = model_->tree.bodies();
  const Mat3<double>& axes = tree_.poses[at(sensor.link)].R;
  const Vec3<double>& turning = tree_.velocities[at(sensor.link)].angular;
  Force<double> sum = Force<double>::zero();
  for (std::size_t b = 0; b < bodies.size(); ++b) {
    if (sensor.beyond[b] == 0) continue;
    sum = sum + detail::newton_euler(rotated(axes, bodies[b].inertia), turning, work.bias,
                                     work.spread);
  }
  for (const int child : sensor.children) {
    const LinkWork<double>& of_child = tree_.links[at(child)];
    sum = sum + shifted_back(of_child.force, of_child.arm);
  }
  return sum - external_beyond(sensor, contacts);
}

/// What contacts, loads and loops exert there.
Force<double> Sensors::external_beyond(const Sensor& sensor,
                                       const ContactView& contacts) const {
  const auto is_beyond = [&](int body) {
    return body >= 0 && sensor.beyond[at(body)] != 0;
  };
  const Vec3<double> origin = tree_.poses[at(sensor.link)].p;
  Force<double> sum = Force<double>::zero();
  const auto add = [&](double sign, const Vec3<double>& point, const Force<double>& f) {
    sum = sum + sign * shifted_back(f, point - origin);
  };
  contacts.for_each([&](const ContactInfo& contact) {
    const Force<double> on_b{contact.couple, contact.force()};
    if (is_beyond(contact.body_a)) add(-1, contact.point, on_b);
    if (is_beyond(contact.body_b)) add(1, contact.point, on_b);
  });
  for (const Load& load : model_->loads) {
    if (!is_beyond(load.body)) continue;
    add(1, tree_.poses[at(load.link)] * load.point, {load.torque, load.force});
  }
  for (std::size_t i = 0; i < model_->loops.size(); ++i) {
    const Loop& loop = model_->loops[i];
    if (!is_beyond(loop.body_a) && !is_beyond(loop.body_b)) continue;
    const Mat3<double> axes = (tree_.poses[at(loop.link_a)] * loop.on_a).R;
    const Force<double>& f =
        loop.rigid ? loops_.forces[i] : std::get<LoopPool>(springs_).forces()[i];
    const Vec3<double> point = tree_.poses[at(loop.link_b)] * loop.on_b.p;
    const Force<double> on_b{axes * f.torque, axes * f.force};
    if (is_beyond(loop.body_a)) add(-1, point, on_b);
    if (is_beyond(loop.body_b)) add(1, point, on_b);
  }
  return sum;
}

double Sensors::touch_force(const Sensor& sensor, const Transform<double>& pose,
                            const ContactView& contacts) const {
  double sum = 0;
  contacts.for_each([&](const ContactInfo& contact) {
    const bool is_a = contact.body_a == sensor.body;
    if (!is_a && contact.body_b != sensor.body) return;
    if (!(contact.normal_force > 0)) return;
    const Vec3<double> outwards = is_a ? contact.frame.n : -contact.frame.n;
    if (sensor.zone &&
        !std::isfinite(ray_distance(*sensor.zone, pose, contact.point, outwards))) {
      return;
    }
    sum += contact.normal_force;
  });
  return sum;
}

double Sensors::range(const Sensor& sensor,
                      const Transform<double>& pose) const noexcept {
  double first = sensor.reach;
  bool found = false;
  for (std::size_t i = 0; i < model_->shapes.size(); ++i) {
    if (sensor.unseen[i] != 0) continue;
    const ModelShape& shape = model_->shapes[i];
    const Transform<double> placed = tree_.poses[at(shape.link)] * shape.in_link;
    const Vec3<double> towards = placed.p - pose.p;
    const double along = dot(towards, pose.R.z);
    if (norm(towards - along * pose.R.z) > shape.radius) continue;
    const double distance = ray_distance(shape.shape, placed, pose.p, pose.R.z);
    if (!(distance <= first) || std::isinf(distance)) continue;
    first = distance;
    found = true;
  }
  return found ? first : -1;
}

}  // namespace bristle
