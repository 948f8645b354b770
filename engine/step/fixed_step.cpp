#include "bristle/step/fixed_step.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <new>
#include <utility>

#include "bristle/step/loops.hpp"
#include "bristle/step/time_scales.hpp"

namespace bristle {

namespace {

// A substep that creates more than this of a mechanism's energy is taken again in halves,
// so many times.
constexpr double most_created = 2e-5;
constexpr int most_halvings = 6;
constexpr double rounding_speed = 1e-10;  // [m/s]: what is slower, rounding may speed up
constexpr double rounding = 1e-12;        // of energies

/// Of a mechanism whose kinematics are in the system.
struct Mechanical {
  double energy = 0;   // kinetic, of gravity and of springs [J]
  double scale = 0;    // of it, without gravity
  double gravity = 0;  // the power of gravity [W]
  double mass = 0;     // [kg]

  static Mechanical of(const System& system, const State& state) noexcept {
    const Tree& tree = system.model->tree;
    const Workspace<double>& ws = system.tree;
    Mechanical m;
    m.scale = kinetic_energy<double>(tree, state.v, ws) +
              spring_energy<double>(tree, state.q) +
              energy_of(system.pools.springs, system.placement(state.q, state.v));
    m.energy = m.scale + gravity_energy<double>(tree, ws);
    for (std::size_t i = 1; i < ws.poses.size(); ++i) {
      const Inertia<double>& inertia = ws.constants[i].inertia;
      const Motion<double>& moves = ws.velocities[i];
      m.mass += inertia.mass;
      m.gravity +=
          dot(tree.gravity(), inertia.mass * moves.linear +
                                  cross(moves.angular, ws.poses[i].R * inertia.moment));
    }
    return m;
  }
};

}  // namespace

/// Hands events to an observer at the accepted states that show them.
struct FixedStep::Report {
  const StepObserver& observer;
  StepCounts& counts;

  void deliver(const State& state, const std::vector<Event>& events) const {
    for (const Event& event : events) {
      ++counts.events;
      if (event.kind == EventKind::touch) ++counts.touches;
      if (observer.on_event) observer.on_event(state, event);
    }
  }
};

FixedStep::FixedStep(const Model& model, const FixedStepOptions& options)
    : options_(options),
      h_(options.step / std::max(options.substeps, 1)),
      system_(model, options.threads),
      method_(options.method.info().make(system_, options)),
      commands_(model.motors.size()),
      control_(options.method, options.step, options.most_substeps),
      passages_(model) {
  if (options_.substeps < 0) options_.substeps = 1;
  if (options_.method.info().impulses) options_.substeps = std::max(options_.substeps, 1);
  if (options.method.info().impulses) kept_ = make_state(model);
  if (model.loop_rows > 0) {
    q_kept_.resize(static_cast<std::size_t>(model.tree.position_count()));
    v_kept_.resize(static_cast<std::size_t>(model.tree.velocity_count()));
  }
}

StepStatus FixedStep::settle(State& state, Commands commands) noexcept {
  if (system_.model->needs_impulses && !options_.method.info().impulses) {
    return StepStatus::needs_impulses;
  }
  // Substeps that follow the present contacts may be twice as long as the last one.
  const double horizon = options_.substeps > 0 ? h_ : std::min(2 * h_, options_.step);
  return bristle::settle(system_, horizon, state, commands);
}

StepStatus FixedStep::settle_for(State& state, Commands commands,
                                 Report* report) noexcept {
  const StepStatus status = settle(state, commands);
  if (status != StepStatus::ok || report == nullptr) return status;
  if (report->observer.on_event) find_switches(system_, state);
  report->deliver(state, system_.events);
  return status;
}

/// Prescribed joints move during the step by their command at its beginning.
void FixedStep::move_on(std::vector<MotorCommand>& commands) const noexcept {
  for (std::size_t k = 0; k < commands.size(); ++k) {
    if (system_.model->motors[k].kind != MotorKind::prescribed) continue;
    MotorCommand& command = commands[k];
    command.target += h_ * (command.target_rate + 0.5 * h_ * command.target_acceleration);
    command.target_rate += h_ * command.target_acceleration;
  }
}

/// From a settled state; rigid loops are closed afterwards.
StepStatus FixedStep::substep(State& state, Commands commands) noexcept {
  const bool loops = system_.model->loop_rows > 0;
  const double time = state.time;
  if (loops) {
    q_kept_ = state.q;
    v_kept_ = state.v;
  }
  passages_.begin(system_);
  StepStatus status = method_->step(system_, state, h_, commands);
  if (status == StepStatus::ok && loops) {
    status = project_loops(system_, state);
    if (status != StepStatus::ok) {
      state.q = q_kept_;
      state.v = v_kept_;
      state.time = time;
    }
  }
  if (status == StepStatus::ok) follow_lags(*system_.model, state, commands);
  return status;
}

/// A substep of a mechanism that has loops or turns fast, in parts where it would create
/// energy: positions go straight on in a part, and joints and loops bend their way.
/// Between parts the state is settled.
StepStatus FixedStep::substep_in_parts(State& state, Commands commands,
                                       Report* report) noexcept {
  const double whole = h_;
  double left = whole, part = whole;
  bool divided = false;
  StepStatus status = StepStatus::ok;
  while (status == StepStatus::ok && left > 0) {
    kept_ = state;
    h_ = part;
    const Mechanical before = Mechanical::of(system_, state);
    const bool keeps = method_->keeps_energy(system_, part);
    status = substep(state, commands);
    bool fine = status == StepStatus::ok;
    if (fine) {
      renew_kinematics<double>(system_.model->tree, state.q, state.v, system_.tree);
      const Mechanical after = Mechanical::of(system_, state);
      const double done = state.works.motors - kept_.works.motors + state.works.loads -
                          kept_.works.loads + method_->work_of_rows();
      double created = after.energy - before.energy - done;
      if (!keeps) created += 0.5 * part * (after.gravity - before.gravity);
      const double allowed =
          most_created * (part / whole) * std::max(before.scale, after.scale) +
          rounding * std::abs(after.energy) +
          after.mass * rounding_speed * rounding_speed;
      fine = created <= allowed;
    }
    const bool shortest = part <= std::ldexp(1.5 * whole, -most_halvings);
    if (!fine && !shortest) {
      state = kept_;
      part *= 0.5;
      divided = true;
      status = settle(state, commands);
      continue;
    }
    left = left > 1.5 * part ? left - part : 0;
    part = std::min(2 * part, left);
    if (status == StepStatus::ok && left > 0) {
      passages_.end(system_, state);
      status = settle_for(state, commands, report);
    }
  }
  h_ = whole;
  if (divided) ++divided_;
  return status;
}

/// The next substep of what is left of a step, from a settled state: taken again,
/// shorter, where a contact at its end turns out to be too stiff for it. Settles the
/// state.
StepStatus FixedStep::take_accurate(State& state, Commands commands, double left) {
  const auto equal_parts = [left](double longest) {
    return left / std::max(1.0, std::ceil(left / longest - 1e-9));
  };
  h_ = equal_parts(2 * h_);
  for (;;) {
    const double longest = control_.longest(system_, state, h_);
    if (h_ <= 1.01 * longest) break;
    h_ = equal_parts(std::max(longest, 0.5 * h_));
  }
  kept_ = state;
  for (;;) {
    StepStatus status = substep(state, commands);
    if (status == StepStatus::ok) status = settle(state, commands);
    if (status != StepStatus::ok && status != StepStatus::not_finite) return status;
    const bool fine = status == StepStatus::ok;
    const double longest = fine ? control_.longest(system_, state, 0) : 0;
    if (fine && h_ <= 2 * longest) return status;
    if (h_ <= 1.01 * control_.shortest()) return status;
    h_ = equal_parts(std::max({longest, 0.1 * h_, control_.shortest()}));
    state = kept_;
    status = settle(state, commands);
    if (status != StepStatus::ok) return status;
  }
}

/// A step in as many substeps as the present contacts need.
StepStatus FixedStep::follow_step(State& state, Commands commands, Report* report) {
  double left = options_.step;
  for (;;) {
    const StepStatus status = take_accurate(state, commands, left);
    if (status != StepStatus::ok) return status;
    counts_.evaluations += static_cast<std::uint64_t>(options_.method.info().evaluations);
    passages_.end(system_, state);
    if (report != nullptr) {
      if (report->observer.on_event) find_switches(system_, state);
      report->deliver(state, system_.events);
    }
    left -= h_;
    if (!(left > 1e-9 * options_.step)) return StepStatus::ok;
    if (commands.data() == commands_.data()) move_on(commands_);
  }
}

StepStatus FixedStep::take_step(State& state, Commands commands, bool settled,
                                Report* report) noexcept {
  if (!(h_ > 0) || !(h_ < 1e9)) return StepStatus::wrong_step;
  const bool extrapolate = options_.substeps != 1 &&
                           commands.size() == commands_.size() &&
                           !system_.model->prescribed.empty();
  if (extrapolate) {
    std::copy(commands.begin(), commands.end(), commands_.begin());
    commands = commands_;
  }
  if (options_.substeps == 0) {
    try {
      const StepStatus status =
          settled ? StepStatus::ok : settle_for(state, commands, report);
      return status == StepStatus::ok ? follow_step(state, commands, report) : status;
    } catch (const std::bad_alloc&) {
      return StepStatus::too_many_contacts;
    }
  }
  for (int i = 0; i < options_.substeps; ++i) {
    if (extrapolate && i > 0) move_on(commands_);
    StepStatus status = StepStatus::ok;
    if (!settled || i > 0) status = settle_for(state, commands, report);
    if (status == StepStatus::ok) {
      // Commands hold over a substep: joints that they prescribe move on in one part.
      const bool given = !commands.empty() && !system_.model->prescribed.empty();
      status = !given && method_->may_be_too_long(system_, h_)
                   ? substep_in_parts(state, commands, report)
                   : substep(state, commands);
    }
    if (status != StepStatus::ok) return status;
    passages_.end(system_, state);
  }
  return StepStatus::ok;
}

StepStatus FixedStep::step(State& state, Commands commands) noexcept {
  return take_step(state, commands, false, nullptr);
}

StepStatus FixedStep::advance_to(State& state, double until,
                                 const StepObserver& observer) {
  if (!(options_.step > 0) || !(options_.step < 1e9)) return StepStatus::wrong_step;
  using Wall = std::chrono::steady_clock;
  const auto whole = [&](double time) {
    return static_cast<std::uint64_t>(std::max(0.0, std::round(time / options_.step)));
  };
  const std::uint64_t steps = whole(until - state.time);
  const std::uint64_t stride =
      std::max<std::uint64_t>(1, whole(observer.sample_interval));
  const bool samples = observer.sample_interval > 0 && observer.on_sample;
  const auto evaluations = static_cast<std::uint64_t>(options_.substeps) *
                           static_cast<std::uint64_t>(options_.method.info().evaluations);
  Report report{observer, counts_};
  StepStatus status = settle_for(state, {}, &report);
  for (std::uint64_t i = 0; status == StepStatus::ok && i < steps; ++i) {
    if (samples && i % stride == 0) observer.on_sample(state);
    const Wall::time_point began = Wall::now();
    status = take_step(state, {}, true, &report);
    if (status == StepStatus::ok) {
      ++counts_.steps;
      counts_.evaluations += evaluations;
      status = settle_for(state, {}, &report);
    }
    times_.add(std::chrono::duration<double>(Wall::now() - began).count());
    if (status != StepStatus::ok) break;
    if (observer.on_step && !observer.on_step(state)) break;
  }
  return status;
}

StepCounts FixedStep::counts() const noexcept {
  StepCounts counts = counts_;
  counts.passages = passages_.count();
  counts.solves = method_->solves();
  counts.solves.divided = divided_;
  return counts;
}

std::vector<std::string> FixedStep::warnings() const {
  std::vector<std::string> all = control_.warnings();
  for (std::string& warning : passages_.warnings()) all.push_back(std::move(warning));
  return all;
}

void FixedStep::restart() {
  if (options_.substeps > 0) return;
  h_ = options_.step;
  control_.forget();
}

std::string FixedStep::advice(const State& state) {
  if (system_.model->loop_rows > 0) {
    std::string open = open_loop(system_, state);
    if (!open.empty()) return open;
  }
  // What is too stiff for one substep has more of them.
  std::string text =
      options_.substeps > 0 ? step_warning(system_, state, options_) : std::string();
  return text.empty() ? method_->advice(*system_.model) : text;
}

}  // namespace bristle
