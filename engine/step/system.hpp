#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "bristle/contact/pools.hpp"
#include "bristle/dynamics/coupling_motion.hpp"
#include "bristle/dynamics/dynamics.hpp"
#include "bristle/dynamics/gravity_torque.hpp"
#include "bristle/dynamics/loops.hpp"

// The equations of motion of a model with all its forces: what every integrator
// integrates.
//
// clang-format off
//   settle        an accepted state: kinematics, contacts found, memory up to date
//   move_to       positions, velocities and memory within a step
//   apply_forces  of contacts, joints, motors and loads; where their power goes
//   accelerate    v̇, by the articulated-body algorithm
// clang-format on

namespace bristle {

enum class StepStatus : std::uint8_t {
  ok,
  too_many_contacts,
  too_many_pairs,
  not_finite,      // positions or velocities are not numbers any more
  not_converged,   // an implicit step found no solution
  wrong_state,     // the state was made for another model
  wrong_commands,  // neither none nor one per motor
  wrong_step,      // not a positive length of time
  loops_open,      // rigid loops that cannot be closed
  stalled,         // events without end at one instant
  needs_impulses,  // rigid contacts under a stepper that knows forces only
  energy_created,  // the steps have created energy
};

/// The cause of a status, and what to do about it.
std::string_view explain(StepStatus status) noexcept;

/// The joint forces against gravity, for motors that compensate it; else without room.
struct GravityHold {
  explicit GravityHold(const Model& model)
      : weights(model.compensates_gravity ? model.tree.links().size() : 0),
        forces(model.compensates_gravity ? model.tree.dofs().size() : 0) {}
  /// After kinematics().
  void update(const Tree& tree, const Workspace<double>& ws) noexcept {
    if (!forces.empty()) gravity_torque<double>(tree, ws, weights, forces);
  }

  std::vector<Force<double>> weights;  // of each link and what it carries
  std::vector<double> forces;          // per velocity
};

/// What the forces of motors follow from, beside positions, velocities and commands.
struct Drives {
  explicit Drives(const Model& model)
      : couplings(model),
        holding(model),
        lagged(static_cast<std::size_t>(model.lagged_motors)) {}
  /// At an accepted state.
  void begin(const State& state) noexcept {
    std::copy(state.lagged.begin(), state.lagged.end(), lagged.begin());
    lag_time = state.lag_time;
  }
  /// After kinematics().
  void update(const Tree& tree, const Workspace<double>& ws) noexcept {
    couplings.update(ws);
    holding.update(tree, ws);
  }

  CouplingMotion couplings;  // that motors drive
  GravityHold holding;
  std::vector<double> lagged;  // State::lagged at lag_time
  double lag_time = 0;         // [s]
};

/// Room for one evaluation of the equations of motion; one per thread that steps.
struct System {
  explicit System(const Model& from, int threads = 1);

  const Model* model;
  std::unique_ptr<Team> team;
  Workspace<double> tree;
  Pools pools;
  LoopWorkspace loops;
  std::vector<Force<double>> on_links;
  std::vector<double> tau;
  std::vector<double> motor_forces;
  Drives drives;
  std::vector<double> acceleration;
  Works powers{};             // of the last apply_forces [W]
  std::vector<Event> events;  // that the last settle() decided by depths or impulses

  LinkMotion links() const { return {tree.poses, tree.velocities}; }
  Placement placement(std::span<const double> q, std::span<const double> v) const {
    return {tree, q, v};
  }
  ForceSink sink() { return {on_links, tau}; }
  /// Of loop i of the model, as of the last accelerate(): the force and torque on body b
  /// at its frame's origin, in the axes of frame a [N], [N m].
  const Force<double>& loop_force(std::size_t i) const {
    const bool rigid = model->loops[i].rigid;
    return rigid ? loops.forces[i] : std::get<LoopPool>(pools.springs).forces()[i];
  }
};

using Commands = std::span<const MotorCommand>;

/// Brings an accepted state up to date: joints of prescribed motion are put where they
/// belong, rigid loops are closed (at the start from a rough guess), contacts are found
/// as far as `horizon` [s] reaches, and memory is adjusted. Contacts open and close by
/// their depth, or, with `events`, where a stepper has located that. It may be called at
/// any time; a second call changes nothing. Positions and velocities may be set by hand
/// between steps: this is where that is noticed.
StepStatus settle(System& system, double horizon, State& state, Commands commands = {},
                  const LocatedEvents* events = nullptr) noexcept;

/// Kinematics and contacts at a point within the step that settle() began; without
/// `open`, perhaps only those that were closed there.
void move_to(System& system, const RowView& rows, std::span<const double> q,
             std::span<const double> v, const RowMemory<const double>& memory,
             bool open = true) noexcept;

/// Sides of guards that the laws of all pools are held on.
struct HeldPools {
  HeldLaws joints, contacts;
};

/// Which forces to compute: the laws' form and step, and the sides they are held on.
struct ForceRequest {
  Form form = Form::evaluate;
  double h = 0;                     // [s]
  const HeldPools* held = nullptr;  // Form::evaluate only
};

/// Energy stored and power lost by the laws of all pools [J, W].
struct PoolSums {
  LawSums joints, contacts;
};

/// The forces of all rows under laws at the point where settle() or move_to() is; their
/// memory a step later, or its rates, goes to `next`.
PoolSums contact_forces(System& system, const ForceRequest& what, const RowView& rows,
                        const RowMemory<const double>& memory,
                        const RowMemory<double>& next) noexcept;

/// The same at a settled state. Where impulses led there, the forces shown are theirs.
PoolSums settled_forces(System& system, const State& state) noexcept;

/// Adds to system.events the switches of laws since the last call, at
/// a settled state.
void find_switches(System& system, State& state) noexcept;

/// All forces there, and their powers.
void apply_forces(System& system, const ForceRequest& what, double time,
                  std::span<const double> q, std::span<const double> v,
                  const RowView& rows, const RowMemory<const double>& memory,
                  const RowMemory<double>& next, Commands commands) noexcept;

/// Adds the forces of torque and position motors to tau, each also to `forces`; returns
/// their power [W].
double add_motor_forces(const Model& model, const Drives& drives, double time,
                        std::span<const double> q, std::span<const double> v,
                        Commands commands, std::span<double> forces,
                        std::span<double> tau) noexcept;

/// Brings what motors with a lag act by to the time of the state, at which they are told
/// so.
void follow_lags(const Model& model, State& state, Commands commands) noexcept;

/// What motor number i is told at a time: by its command, or by its target.
MotorCommand command_of(const Motor& motor, std::size_t i, double time,
                        Commands commands) noexcept;

/// Adds loads on bodies; returns their power [W].
double add_loads(const Model& model, const Workspace<double>& tree,
                 std::span<Force<double>> on_links) noexcept;

/// How a prescribed joint, driven by motor number i, accelerates over the step h from
/// `time` on (h = 0: at that moment).
double prescribed_acceleration(const Motor& motor, std::size_t i, double time, double h,
                               Commands commands) noexcept;

/// v̇ into system.acceleration. Prescribed joints accelerate as their motors say, over the
/// step h from `time` on (h = 0: at that moment); their power is counted.
void accelerate(System& system, double time, double h, std::span<const double> v,
                Commands commands) noexcept;

/// Whether all numbers are finite and of a size that something can have: 1e12 in SI
/// units.
bool all_finite(std::span<const double> numbers) noexcept;

/// Corrects the powers of motors and dampers from the velocity v at one end of a step to
/// the mean velocity v + ½ h v̇ over it (h < 0: v is that at its end).
void book_at_mean_velocity(System& system, double h, std::span<const double> v) noexcept;

}  // namespace bristle
