#include "bristle/step/implicit_joints.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "bristle/dynamics/motors.hpp"

namespace bristle {

namespace {

using detail::at;

/// A free joint has no inertia of its own in the articulated-body algorithm.
bool is_free(const Tree& tree, const Dof& dof) {
  return tree.link(dof.link).type == JointType::free;
}

}  // namespace

ImplicitJoints::ImplicitJoints(const Model& model)
    : motors_(model.motors.size()),
      holding_(model),
      is_row_(model.motors.size()),
      rows_(model.motors.size() + model.tree.dofs().size()) {}

void ImplicitJoints::begin() noexcept { std::fill(is_row_.begin(), is_row_.end(), 0); }

void ImplicitJoints::add(const Model& model, const CouplingMotion& couplings,
                         const State& state, double h, Commands commands,
                         Workspace<double>& ws, std::span<double> tau) noexcept {
  count_ = 0;
  const std::span<const Dof> dofs = model.tree.dofs();
  constexpr double none = std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; model.has_joint_forces && k < dofs.size(); ++k) {
    const Dof& dof = dofs[k];
    const double stiffness = dof.q >= 0 ? dof.stiffness : 0;
    const double slope = h * stiffness + dof.damping;
    if (slope == 0) continue;
    const double stretch = dof.q >= 0 ? state.q[at(dof.q)] - dof.rest : 0;
    const double force = -stiffness * stretch;
    if (is_free(model.tree, dof)) {
      rows_[count_++] = {static_cast<int>(k), -1, -1, force, slope, -none, none};
      continue;
    }
    tau[k] += force - slope * state.v[k];
    ws.armature[k] += h * slope;
  }
  holding_.update(model.tree, ws);
  for (std::size_t i = 0; i < model.motors.size(); ++i) {
    const Motor& motor = model.motors[i];
    motors_[i] = {0, 0};
    if (motor.kind == MotorKind::prescribed) continue;
    // Its target at the end of the step, unless it is told otherwise.
    MotorCommand command = command_of(motor, i, state.time + h, commands);
    if (motor.lagged >= 0) {
      const double c = state.lagged[at(motor.lagged)];
      const MotorCommand before = command_of(motor, i, state.lag_time, commands);
      command = {.torque =
                     lag_after(motor.lag, c, told(motor, before), told(motor, command),
                               state.time + h - state.lag_time)};
    }
    if (motor.kind == MotorKind::torque) {
      motors_[i] = {limited(motor, command.torque), 0};
      add_motor_force(couplings, motor, motors_[i].force, tau);
      continue;
    }
    const double slope = motor.kd + h * motor.kp;
    const double weight = motor.compensates_gravity ? holding_.forces[at(motor.v)] : 0;
    const double force = motor.kp * (command.target - travel(couplings, motor, state.q)) +
                         motor.kd * command.target_rate + command.torque + weight;
    motors_[i] = {force, slope};
    const double now = force - slope * travel_rate(couplings, motor, state.v);
    if (is_row_[i] == 0 && slope > 0) {
      is_row_[i] = motor.coupling >= 0 || !bristle::within_limits(motor, now) ||
                   is_free(model.tree, dofs[at(motor.v)]);
    }
    if (slope == 0) {
      motors_[i].force = limited(motor, force);
      add_motor_force(couplings, motor, motors_[i].force, tau);
    } else if (is_row_[i] != 0) {
      rows_[count_++] = {motor.v, static_cast<int>(i), motor.coupling,     force,
                         slope,   motor.least_force,   motor.largest_force};
    } else {
      tau[at(motor.v)] += now;
      ws.armature[at(motor.v)] += h * slope;
    }
  }
}

JacobianRow<double> ImplicitJoints::jacobian(const CouplingMotion& couplings,
                                             const Row& row) noexcept {
  if (row.coupling < 0) return row_of_joint<double>(row.dof, 1.0);
  return row_of_joints<double>(couplings.joints(at(row.coupling)));
}

void ImplicitJoints::remove(const Model& model, Workspace<double>& ws) const noexcept {
  const std::span<const double> own = model.tree.armature();
  std::copy(own.begin(), own.end(), ws.armature.begin());
}

double ImplicitJoints::motor_force(const Model& model, const CouplingMotion& couplings,
                                   std::size_t i,
                                   std::span<const double> v) const noexcept {
  return motors_[i].force - motors_[i].slope * travel_rate(couplings, model.motors[i], v);
}

bool ImplicitJoints::within_limits(const Model& model, const CouplingMotion& couplings,
                                   std::span<const double> v) noexcept {
  bool within = true;
  for (std::size_t i = 0; i < model.motors.size(); ++i) {
    const Motor& motor = model.motors[i];
    if (motor.kind != MotorKind::position || is_row_[i] != 0) continue;
    if (bristle::within_limits(motor, motor_force(model, couplings, i, v))) continue;
    is_row_[i] = 1;
    within = false;
  }
  return within;
}

}  // namespace bristle
