#include "bristle/step/system.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "bristle/contact/switches.hpp"
#include "bristle/dynamics/motors.hpp"
#include "bristle/step/loops.hpp"

namespace bristle {

namespace {

using detail::at;

/// Whether rows have the blocks and the memory of a pool.
bool fits(const LawRows& rows, const LawPool& pool) {
  return rows.begin.size() == pool.blocks().size() + 1 &&
         rows.memory.size() == rows.capacity() * at(pool.layout().count);
}

bool fits(const System& system, const State& state) {
  const Tree& tree = system.model->tree;
  return state.q.size() == at(tree.position_count()) &&
         state.v.size() == at(tree.velocity_count()) &&
         state.lagged.size() == at(system.model->lagged_motors) &&
         fits(state.joints, system.pools.joints) &&
         fits(state.contacts, system.pools.points);
}

StepStatus status_of(ContactStatus status) {
  switch (status) {
    case ContactStatus::ok:
      return StepStatus::ok;
    case ContactStatus::too_many_contacts:
      return StepStatus::too_many_contacts;
    case ContactStatus::too_many_pairs:
      return StepStatus::too_many_pairs;
    case ContactStatus::not_finite:
      return StepStatus::not_finite;
  }
  return StepStatus::not_finite;
}

}  // namespace

double add_motor_forces(const Model& model, const Drives& drives, double time,
                        std::span<const double> q, std::span<const double> v,
                        Commands commands, std::span<double> forces,
                        std::span<double> tau) noexcept {
  double power = 0;
  for (std::size_t i = 0; i < model.motors.size(); ++i) {
    const Motor& motor = model.motors[i];
    if (motor.kind == MotorKind::prescribed) continue;
    const MotorCommand command = command_of(motor, i, time, commands);
    const double rate = travel_rate(drives.couplings, motor, v);
    double force = command.torque;
    if (motor.lagged >= 0) {
      const MotorCommand before = command_of(motor, i, drives.lag_time, commands);
      force = lag_after(motor.lag, drives.lagged[at(motor.lagged)], told(motor, before),
                        told(motor, command), time - drives.lag_time);
    }
    if (motor.kind == MotorKind::position) {
      const double target = motor.lagged >= 0 ? 0 : command.target;
      const double target_rate = motor.lagged >= 0 ? 0 : command.target_rate;
      force += motor.kp * (target - travel(drives.couplings, motor, q)) +
               motor.kd * (target_rate - rate);
      if (motor.compensates_gravity) force += drives.holding.forces[at(motor.v)];
    }
    force = limited(motor, force);
    forces[i] = force;
    add_motor_force(drives.couplings, motor, force, tau);
    power += force * rate;
  }
  return power;
}

void follow_lags(const Model& model, State& state, Commands commands) noexcept {
  if (!state.begun) state.lag_time = state.time;  // wherever time begins
  if (state.lagged.empty() || state.lag_time == state.time) return;
  const double time = std::max(state.time - state.lag_time, 0.0);
  for (std::size_t i = 0; i < model.motors.size(); ++i) {
    const Motor& motor = model.motors[i];
    if (motor.lagged < 0) continue;
    double& c = state.lagged[at(motor.lagged)];
    c = lag_after(motor.lag, c,
                  told(motor, command_of(motor, i, state.lag_time, commands)),
                  told(motor, command_of(motor, i, state.time, commands)), time);
  }
  state.lag_time = state.time;
}

MotorCommand command_of(const Motor& motor, std::size_t i, double time,
                        Commands commands) noexcept {
  if (i < commands.size()) return commands[i];
  const Signal& s = motor.target;
  if (motor.kind == MotorKind::torque) return {0, 0, s.value(time), 0};
  return {s.value(time), s.rate(time), motor.torque, s.acceleration(time)};
}

double add_loads(const Model& model, const Workspace<double>& tree,
                 std::span<Force<double>> on_links) noexcept {
  double power = 0;
  for (const Load& load : model.loads) {
    const Transform<double>& pose = tree.poses[at(load.link)];
    const Vec3<double> arm = pose.R * load.point;
    const Force<double> f{load.torque + cross(arm, load.force), load.force};
    on_links[at(load.link)] = on_links[at(load.link)] + f;
    power += dot(f, tree.velocities[at(load.link)]);
  }
  return power;
}

std::string_view explain(StepStatus status) noexcept {
  switch (status) {
    case StepStatus::ok:
      return "ok";
    case StepStatus::too_many_contacts:
      return "more contacts than the model has room for: raise contact_capacity, or look "
             "for bodies that start inside each other";
    case StepStatus::too_many_pairs:
      return "more bodies close to each other than the model has room for: look for "
             "bodies that start inside each other or move very fast";
    case StepStatus::not_finite:
      return "positions or velocities are not finite: the step is too long for the "
             "stiffest contact, or the input was not a number";
    case StepStatus::not_converged:
      return "no step is short enough, or an implicit one has no solution: take a "
             "shorter "
             "step or a looser tolerance, and look for laws with extreme parameters";
    case StepStatus::wrong_state:
      return "the state was made for another model: begin with make_state(model)";
    case StepStatus::wrong_commands:
      return "commands must be empty, or have one entry per motor of the model";
    case StepStatus::wrong_step:
      return "the step must be a positive number of seconds, and a tolerance positive";
    case StepStatus::loops_open:
      return "a rigid loop cannot be closed: no motion of the joints around it that are "
             "not prescribed brings its two frames together; start closer, check frames "
             "and lengths, drive it less far, or give the loop a stiffness";
    case StepStatus::energy_created:
      return "the steps have created energy, more than a hundredth of all in the scene: "
             "they are too long for the present contacts or rotations. Leave out "
             "clock.method, take shorter steps or more substeps, or the adaptive "
             "integrator";
    case StepStatus::needs_impulses:
      return "rigid contacts and constraints of velocities need a stepper that solves "
             "for "
             "impulses: take the complementarity stepper, or give the contacts a normal "
             "law and leave the constraints out";
    case StepStatus::stalled:
      return "the integrator stalled: events or tiny steps follow each other without end "
             "at "
             "one instant; take a looser tolerance or a fixed step, and look for laws "
             "with extreme parameters";
  }
  return "unknown";
}

System::System(const Model& from, int threads)
    : model(&from),
      team(std::make_unique<Team>(threads < 1 ? 1 : threads)),
      tree(from.tree),
      pools(from, *team),
      loops(from),
      on_links(at(from.tree.link_count()), Force<double>::zero()),
      tau(at(from.tree.velocity_count())),
      motor_forces(from.motors.size()),
      drives(from),
      acceleration(tau.size()) {
  events.reserve(2 * (pools.joints.capacity() + pools.points.capacity()));
}

namespace {

double mechanical_energy(System& system, const State& state) {
  const Tree& tree = system.model->tree;
  kinematics<double>(tree, state.q, state.v, system.tree);
  return kinetic_energy<double>(tree, state.v, system.tree) +
         gravity_energy<double>(tree, system.tree) +
         spring_energy<double>(tree, state.q) +
         energy_of(system.pools.springs, system.placement(state.q, state.v));
}

/// Prescribed joints to where they belong. What that changes in a run that has begun, the
/// motors did.
void put_prescribed(System& system, State& state, Commands commands) {
  const Model& model = *system.model;
  bool moved = false;
  for (int pass = 0; pass < 2; ++pass) {
    for (std::size_t i = 0; i < model.motors.size(); ++i) {
      const Motor& motor = model.motors[i];
      if (motor.kind != MotorKind::prescribed) continue;
      const MotorCommand command = command_of(motor, i, state.time, commands);
      double& q = state.q[at(motor.q)];
      double& v = state.v[at(motor.v)];
      if (pass == 0) {
        moved = moved || q != command.target || v != command.target_rate;
      } else {
        q = command.target;
        v = command.target_rate;
      }
    }
    if (!moved) return;
    if (!state.begun) continue;
    const double energy = mechanical_energy(system, state);
    state.works.motors += pass == 0 ? -energy : energy;
  }
  state.v_stepped = state.v;  // not by hand
}

}  // namespace

bool all_finite(std::span<const double> numbers) noexcept {
  double size = 0;
  for (const double x : numbers) size += std::abs(x);
  return size < 1e12;  // false for NaN
}

namespace {

/// Contacts and joint rows of an accepted state: found, matched, opened and closed.
StepStatus settle_rows(System& system, double horizon, State& state,
                       const LocatedEvents* events) noexcept {
  system.events.clear();
  const bool first = state.joints.count + state.contacts.count == 0;
  const double elapsed = first ? 0 : std::max(0.0, state.time - state.rows_time);
  AcceptedStep step{
      .horizon = horizon,
      .elapsed = elapsed,
      .time = state.time,
      .begun = state.begun,
      .first = first,
      .untouched = elapsed > 0 && state.committed && state.v == state.v_stepped,
      .committed = state.committed,
      .by_events = events != nullptr,
      .impulses = state.impulses_known(),
      .events = {}};
  const ContactStatus found =
      system.pools.points.find(system.links(), horizon, state.contacts);
  if (found != ContactStatus::ok) return status_of(found);
  if (events != nullptr) step.events = events->joints;
  system.pools.joints.settle(step, system.tree, state, system.events);
  if (events != nullptr) step.events = events->contacts;
  system.pools.points.accept(system.links(), step, state, system.events);
  state.rows_time = state.time;
  return StepStatus::ok;
}

}  // namespace

StepStatus settle(System& system, double horizon, State& state, Commands commands,
                  const LocatedEvents* events) noexcept {
  const Model& model = *system.model;
  if (!fits(system, state)) return StepStatus::wrong_state;
  // Steppers that locate events step by forces.
  if (model.needs_impulses && events != nullptr) return StepStatus::needs_impulses;
  if (!commands.empty() && commands.size() != model.motors.size()) {
    return StepStatus::wrong_commands;
  }
  if (!all_finite(state.q) || !all_finite(state.v)) return StepStatus::not_finite;
  follow_lags(model, state, commands);
  system.drives.begin(state);
  if (!model.prescribed.empty()) put_prescribed(system, state, commands);
  if (model.loop_rows > 0) {
    const StepStatus closed = settle_loops(system, state);
    if (closed != StepStatus::ok) return closed;
  }
  renew_kinematics<double>(model.tree, state.q, state.v, system.tree);
  const StepStatus status = settle_rows(system, horizon, state, events);
  if (status != StepStatus::ok) return status;
  if (!state.committed) {
    Works& works = state.works;
    system.pools.joints.commit(state.joints, works.limits.damping,
                               works.joint_friction.slip);
    system.pools.points.commit(state.contacts, works.normal.damping, works.friction.slip);
    state.committed = true;
  }
  state.begun = true;
  return StepStatus::ok;
}

void move_to(System& system, const RowView& rows, std::span<const double> q,
             std::span<const double> v, const RowMemory<const double>& memory,
             bool open) noexcept {
  kinematics<double>(system.model->tree, q, v, system.tree);
  for_each_law_pool(system.pools, rows, memory,
                    [&](auto& pool, const auto& of_pool, std::span<const double> known) {
                      pool.measure(system.placement(q, v), of_pool, known, open);
                    });
}

PoolSums contact_forces(System& system, const ForceRequest& what, const RowView& rows,
                        const RowMemory<const double>& memory,
                        const RowMemory<double>& next) noexcept {
  const auto ask = [&](const HeldLaws HeldPools::* held) {
    return Evaluation{what.form, what.h,
                      what.held != nullptr ? &(what.held->*held) : nullptr};
  };
  return {.joints = system.pools.joints.forces(rows.joints, memory.joints, next.joints,
                                               ask(&HeldPools::joints)),
          .contacts = system.pools.points.forces(
              rows.contacts, memory.contacts, next.contacts, ask(&HeldPools::contacts))};
}

namespace {

/// What the impulses of the last step were as forces; `of_laws` says whether rows with a
/// normal law are shown so as well.
void show_impulses(LawPool& pool, const LawRows& rows, double step, bool of_laws) {
  if (rows.count == 0) return;
  const LawColumns c = pool.law_columns(rows.memory);
  pool.for_each_row(rows, c, [&](const LawRow& row) {
    const RowImpulse& impulse = rows.impulse[row.i];
    const double per = step > 0 ? 1 / step : 0;
    const bool shown = of_laws ? !row.laws.given_load : row.laws.rigid;
    if (shown) c.normal_force[row.i] = per * impulse.normal;
    if (!of_laws) return;
    c.friction_x[row.i] = per * impulse.across.x;
    c.friction_y[row.i] = per * impulse.across.y;
    if (row.laws.spins()) pool.put_spin_friction(row.i, per * impulse.spin);
  });
}

}  // namespace

PoolSums settled_forces(System& system, const State& state) noexcept {
  const double step = state.impulses_known() ? state.impulse_step : 0;
  show_impulses(system.pools.points, state.contacts, step, false);
  const PoolSums sums =
      contact_forces(system, {}, state, memory_of(state), rates_of(system.pools));
  if (step > 0) {
    show_impulses(system.pools.points, state.contacts, step, true);
    show_impulses(system.pools.joints, state.joints, step, true);
  }
  return sums;
}

void find_switches(System& system, State& state) noexcept {
  if (state.impulses_known() && !system.model->has_patches) {
    show_impulses(system.pools.points, state.contacts, state.impulse_step, true);
    show_impulses(system.pools.joints, state.joints, state.impulse_step, true);
  } else {
    settled_forces(system, state);
  }
  note_switches(system.pools.joints, {}, state.time, state.joints, system.events);
  note_switches(system.pools.points, state.contacts.key, state.time, state.contacts,
                system.events);
}

void apply_forces(System& system, const ForceRequest& what, double time,
                  std::span<const double> q, std::span<const double> v,
                  const RowView& rows, const RowMemory<const double>& memory,
                  const RowMemory<double>& next, Commands commands) noexcept {
  const Model& model = *system.model;
  std::fill(system.on_links.begin(), system.on_links.end(), Force<double>::zero());
  std::fill(system.tau.begin(), system.tau.end(), 0.0);
  const PoolSums sums = contact_forces(system, what, rows, memory, next);
  const Placement at = system.placement(q, v);
  for_each_law_pool(system.pools, rows, memory,
                    [&](const auto& pool, const auto& of_pool, std::span<const double>) {
                      pool.scatter(at, of_pool, system.sink());
                    });
  Works& powers = system.powers;
  powers.normal = sums.contacts.normal.powers;
  powers.friction = sums.contacts.friction.powers;
  powers.limits = sums.joints.normal.powers;
  powers.joint_friction = sums.joints.friction.powers;
  powers.dampers = model.has_joint_forces
                       ? add_joint_springs<double>(model.tree, q, v, system.tau)
                       : 0;
  system.drives.update(model.tree, system.tree);
  powers.motors = add_motor_forces(model, system.drives, time, q, v, commands,
                                   system.motor_forces, system.tau);
  powers.loads = add_loads(model, system.tree, system.on_links);
  powers.regenerated = 0;
  powers.loops = scatter_springs(system.pools.springs, at, system.sink());
  powers.projection = 0;
  powers.numerical = 0;
  powers.rolling = sums.contacts.rolling;
  powers.spin = sums.contacts.friction.spin;
  powers.friction.slip -= powers.spin;
}

double prescribed_acceleration(const Motor& motor, std::size_t i, double time, double h,
                               Commands commands) noexcept {
  const MotorCommand now = command_of(motor, i, time, commands);
  if (!(h > 0) || !commands.empty()) return now.target_acceleration;
  return (command_of(motor, i, time + h, commands).target_rate - now.target_rate) / h;
}

void accelerate(System& system, double time, double h, std::span<const double> v,
                Commands commands) noexcept {
  const Model& model = *system.model;
  if (model.prescribed.empty()) {
    forward_dynamics<double>(model.tree, v, system.tau, system.on_links, system.tree,
                             system.acceleration);
    if (model.loop_rows > 0) hold_loops(system);
    return;
  }
  for (std::size_t i = 0; i < model.motors.size(); ++i) {
    const Motor& motor = model.motors[i];
    if (motor.kind != MotorKind::prescribed) continue;
    system.acceleration[at(motor.v)] =
        prescribed_acceleration(motor, i, time, h, commands);
  }
  // hybrid_dynamics overwrites the forces of prescribed joints: the motor's is what is
  // needed beyond what the others already do.
  const std::span<double> others(system.tree.scratch);
  std::copy(system.tau.begin(), system.tau.end(), others.begin());
  hybrid_dynamics<double>(model.tree, v, model.prescribed, system.on_links, system.tree,
                          system.tau, system.acceleration);
  if (model.loop_rows > 0) {
    hold_loops(system);
    // What prescribed joints take now that the loops push as well.
    inverse_dynamics<double>(model.tree, v, system.acceleration, system.on_links,
                             system.tree, system.tau);
  }
  for (std::size_t i = 0; i < model.motors.size(); ++i) {
    const Motor& motor = model.motors[i];
    if (motor.kind != MotorKind::prescribed) continue;
    const auto k = at(motor.v);
    system.motor_forces[i] = system.tau[k] - others[k];
    system.powers.motors += system.motor_forces[i] * v[k];
  }
}

void book_at_mean_velocity(System& system, double h, std::span<const double> v) noexcept {
  const Model& model = *system.model;
  for (std::size_t i = 0; i < model.motors.size(); ++i) {
    system.powers.motors +=
        0.5 * h * system.motor_forces[i] *
        travel_rate(system.drives.couplings, model.motors[i], system.acceleration);
  }
  if (!model.loads.empty()) {
    std::fill(system.on_links.begin(), system.on_links.end(), Force<double>::zero());
    std::fill(system.tau.begin(), system.tau.end(), 0.0);
    add_loads(model, system.tree, system.on_links);
    add_link_forces<double>(model.tree, system.on_links, system.tree, system.tau);
    for (std::size_t k = 0; k < system.tau.size(); ++k) {
      system.powers.loads += 0.5 * h * system.tau[k] * system.acceleration[k];
    }
  }
  if (system.pools.springs.size() > 0) {
    std::fill(system.on_links.begin(), system.on_links.end(), Force<double>::zero());
    std::fill(system.tau.begin(), system.tau.end(), 0.0);
    add_spring_slopes(system.pools.springs, system.placement({}, v), 0, 1, system.sink());
    add_link_forces<double>(model.tree, system.on_links, system.tree, system.tau);
    for (std::size_t k = 0; k < system.tau.size(); ++k) {
      system.powers.loops -= 0.5 * h * system.tau[k] * system.acceleration[k];
    }
  }
  if (!model.has_joint_forces) return;
  const std::span<const Dof> dofs = model.tree.dofs();
  for (std::size_t k = 0; k < dofs.size(); ++k) {
    system.powers.dampers += 0.5 * h * dofs[k].damping * v[k] * system.acceleration[k];
  }
}

}  // namespace bristle
