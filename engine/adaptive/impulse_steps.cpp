#include "bristle/adaptive/impulse_steps.hpp"

#include <algorithm>
#include <cmath>

#include "bristle/model/positions.hpp"
#include "bristle/step/loops.hpp"

namespace bristle {

namespace {

using detail::at;

// The error of a step is that of its velocities, relative to themselves or to the speed
// of falling by so much of the radius of gyration, and that of its positions, relative to
// so much of the radius of gyration.
constexpr double depth_part = 1e-3, way_part = 0.05;
// A link without an extent [m]; a scene without weight [m/s²].
constexpr double least_length = 1e-3, least_gravity = 1e-3;

constexpr double first_step = 1e-4, shortest_step = 1e-9;  // [s]
// Motors and loads that change with time must not be stepped over.
constexpr double longest_with_motors = 1e-2, longest_at_rest = 1;  // [s]
// Step lengths from one to the next: (error)^(−1/2), of a method of order 1.
constexpr double safety = 0.9, least_change = 0.2, most_growth = 4;
constexpr double after_failure = 0.25;
// An error that stays above so much of what it was with a longer step, so often in a row,
// does not come from the step: the step is taken.
constexpr double jump_part = 0.7;
constexpr int jump_trials = 2;
// Contacts are looked for as far ahead as this, or as the step leads where that is less;
// a step in which a shape moves farther is taken again, shorter.
constexpr double farthest_look = 4e-3;  // [s]
// A step that is not solved is taken again down to this length, then as it is.
constexpr double must_be_solved = 1e-5;  // [s]

double* travel_of(LawRows& rows) {
  return rows.memory.data() + at(MemoryLayout::travel) * rows.capacity();
}
const double* travel_of(const LawRows& rows) {
  return rows.memory.data() + at(MemoryLayout::travel) * rows.capacity();
}

Motion<double> between(const Transform<double>& from, const Transform<double>& to) {
  return {rotation_log(from_matrix(to.R * transpose(from.R))), to.p - from.p};
}

}  // namespace

ImpulseSteps::ImpulseSteps(System& system, double rtol, double longest_step)
    : system_(&system),
      tolerance_(std::cbrt(rtol)),
      longest_(std::min(longest_step, system.model->motors.empty()
                                          ? longest_at_rest
                                          : longest_with_motors)),
      method_(complementarity_method.make(system, {})),
      passages_(*system.model),
      gravity_(std::max(norm(system.model->tree.gravity()), least_gravity)),
      change_(at(system.model->tree.velocity_count())) {
  for (const LinkConstants<double>& link : system.tree.constants) {
    const Inertia<double>& inertia = link.inertia;
    double length = 0;
    if (inertia.mass > 0) {
      const Sym3<double>& rotational = inertia.rotational;
      const double about_origin = rotational.xx + rotational.yy + rotational.zz;
      const double of_centre = 2 * norm2(inertia.moment) / inertia.mass;
      length = std::sqrt(std::max(0.0, about_origin - of_centre) / (2 * inertia.mass));
    }
    scales_.push_back({inertia.mass, std::max(length, least_length)});
  }
}

void ImpulseSteps::begin(const State& state) {
  h_ = state.impulses_known() ? 2 * state.impulse_step : first_step;
}

/// Brings a state up to date for a step of h.
StepStatus ImpulseSteps::settle(State& state, double h) {
  return bristle::settle(*system_, std::min(h, farthest_look), state);
}

/// A step of h from a state that settle() has just been called for.
StepStatus ImpulseSteps::take(State& state, double h) {
  System& system = *system_;
  const std::uint64_t passed = passages_.count();
  begin_poses_ = system.tree.poses;
  passages_.begin(system);
  StepStatus status = method_->step(system, state, h, {});
  if (status == StepStatus::ok && system.model->loop_rows > 0) {
    status = project_loops(system, state);
  }
  if (status != StepStatus::ok) return status;
  passages_.end(system, state);
  kinematics<double>(system.model->tree, state.q, state.v, system.tree);
  through_ = through_ || passages_.count() > passed || !contacts_known();
  return status;
}

/// Whether shapes moved no farther than contacts were looked for.
bool ImpulseSteps::contacts_known() const {
  const System& system = *system_;
  for (std::size_t i = 0; i < system.model->shapes.size(); ++i) {
    const ModelShape& shape = system.model->shapes[i];
    if (shape.link == world_link) continue;
    const Motion<double> way =
        between(begin_poses_[at(shape.link)], system.tree.poses[at(shape.link)]);
    const double turned =
        std::isfinite(shape.reach) ? norm(way.angular) * shape.reach : 0;
    if (norm(way.linear) + turned > system.pools.points.margin(i)) return false;
  }
  return true;
}

/// The largest difference between the step as a whole and in halves, over what is
/// allowed.
double ImpulseSteps::error() const {
  const Workspace<double>& tree = system_->tree;
  double worst = 0;
  for (std::size_t i = 1; i < scales_.size(); ++i) {
    const LinkScale& scale = scales_[i];
    if (!(scale.mass > 0)) continue;
    const Inertia<double> inertia = rotated(tree.poses[i].R, tree.constants[i].inertia);
    const auto size = [&](const Motion<double>& m) {
      return std::sqrt(std::max(0.0, dot(inertia * m, m)) / scale.mass);
    };
    const double slow = std::sqrt(gravity_ * depth_part * scale.length);
    const double speed = std::max(size(tree.velocities[i]), slow);
    const double off = size(tree.velocities[i] - whole_velocities_[i]) / speed;
    const double way = size(between(whole_poses_[i], tree.poses[i]));
    worst = std::max({worst, off, way / (way_part * scale.length)});
    if (std::isnan(off) || std::isnan(way)) return HUGE_VAL;
  }
  return worst / tolerance_;
}

/// Whether the same rows carry impulses at the end of the step as a whole and of its
/// second half: nothing has touched, lifted off or joined within the step.
bool ImpulseSteps::is_smooth() const {
  const auto alike = [](const LawRows& a, const LawRows& b) {
    if (a.count != b.count || a.begin != b.begin) return false;
    for (std::size_t i = 0; i < at(a.count); ++i) {
      if (a.episode[i] != b.episode[i]) return false;
      if ((a.impulse[i].normal > 0) != (b.impulse[i].normal > 0)) return false;
    }
    return true;
  };
  return alike(whole_.joints, trial_.joints) && alike(whole_.contacts, trial_.contacts) &&
         std::equal(whole_.contacts.key.begin(),
                    whole_.contacts.key.begin() + whole_.contacts.count,
                    trial_.contacts.key.begin());
}

/// Patches store what the step left in place of a way, friction included.
void ImpulseSteps::put_patch_energies(const State& state) {
  PointPool& pool = system_->pools.points;
  if (!pool.has_patches()) return;
  const LawColumns columns = pool.law_columns(state.contacts.memory);
  const double* left = travel_of(state.contacts);
  pool.for_each_row(state.contacts, columns, [&](const LawRow& row) {
    if (!row.laws.volumetric) return;
    const double depth = std::max(state.contacts.depth[row.i], 0.0);
    pool.column(RowColumns::depth)[row.i] = depth;
    PatchRow patch = pool.patch(row.i);
    const double normal = left[row.i] - row.friction_energy(depth, 0);
    patch.potential = normal / row.volume_law().stiffness;
    pool.put_patch(row.i, patch);
  });
}

/// The ledger of a state at depths that need not be those of its shapes: of a state that
/// was stepped and not yet settled, those that the step led to.
Ledger ImpulseSteps::ledger(const State& state, bool stepped) {
  System& system = *system_;
  kinematics<double>(system.model->tree, state.q, state.v, system.tree);
  const auto put_depths = [&](LawPool& pool, const LawRows& rows) {
    const std::span<double> depth = pool.column(RowColumns::depth);
    const double* travel = travel_of(rows);
    for (std::size_t i = 0; i < at(rows.count); ++i) {
      depth[i] = rows.depth[i] + (stepped ? travel[i] : 0);
    }
  };
  put_depths(system.pools.joints, state.joints);
  put_depths(system.pools.points, state.contacts);
  if (stepped) put_patch_energies(state);
  return make_ledger(system, state);
}

double ImpulseSteps::stored(const State& state) { return ledger(state, false).stored(); }

/// Where the step is smooth, 2 x_halves − x_whole is of the second order (extrapolation
/// of the implicit Euler method, T₂₂ in Hairer & Wanner 1996, § IV.9, which is A-stable).
/// Works go along; energies are not linear in x, and what that leaves is counted as
/// `numerical`.
void ImpulseSteps::extrapolate() {
  const auto energy = [this](const State& state) { return ledger(state, true).energy(); };
  const double expected = 2 * energy(trial_) - energy(whole_);
  const Tree& tree = system_->model->tree;
  const auto beyond = [](double half, double whole) { return 2 * half - whole; };
  difference<double>(tree, whole_.q, trial_.q, change_);
  integrate<double>(tree, trial_.q, change_, 1.0);
  for (std::size_t i = 0; i < trial_.v.size(); ++i) {
    trial_.v[i] = trial_.v_stepped[i] = beyond(trial_.v[i], whole_.v[i]);
  }
  const PointPool& points = system_->pools.points;
  const auto is_patch = [&](const LawRows& rows, std::size_t row) {
    return &rows == &trial_.contacts && points.has_patches() &&
           points.laws_of(rows, row).volumetric;
  };
  const auto carry_depths = [&](LawRows& half, const LawRows& whole) {
    double* travel = travel_of(half);
    const double* travel_whole = travel_of(whole);
    for (std::size_t i = 0; i < at(half.count); ++i) {
      if (half.episode[i] == 0) continue;
      if (is_patch(half, i)) {  // an energy
        travel[i] += travel[i] - travel_whole[i];
        continue;
      }
      travel[i] += (half.depth[i] + travel[i]) - (whole.depth[i] + travel_whole[i]);
    }
  };
  carry_depths(trial_.joints, whole_.joints);
  carry_depths(trial_.contacts, whole_.contacts);
  for (std::size_t k = 0; k < work_lines; ++k) {
    double& work = field<double>(trial_.works, k);
    work = beyond(work, field<double>(whole_.works, k));
  }
  trial_.works.numerical -= energy(trial_) - expected;
}

/// The step of a state as a whole and in halves; `error_` is by how far they differ.
StepStatus ImpulseSteps::try_step(const State& state, double h) {
  System& system = *system_;
  through_ = false;
  events_.clear();
  whole_ = state;
  StepStatus status = settle(whole_, h);
  if (status == StepStatus::ok) status = take(whole_, h);
  if (status != StepStatus::ok) return status;
  whole_poses_ = system.tree.poses;
  whole_velocities_ = system.tree.velocities;
  trial_ = state;
  status = settle(trial_, h);
  if (status == StepStatus::ok) status = take(trial_, 0.5 * h);
  if (status == StepStatus::ok) status = settle(trial_, h);
  if (status != StepStatus::ok) return status;
  note_events();
  status = take(trial_, 0.5 * h);
  if (status != StepStatus::ok) return status;
  error_ = error();
  if (is_smooth()) extrapolate();
  status = settle(trial_, h);
  note_events();
  return status;
}

/// What the state settled last shows.
void ImpulseSteps::note_events() {
  find_switches(*system_, trial_);
  events_.insert(events_.end(), system_->events.begin(), system_->events.end());
}

/// A trial that may be taken; else h_ is what to try next.
bool ImpulseSteps::accepts(double h, double off, Jump& jump) {
  if (off <= 1) {
    h_ = h * std::clamp(safety / std::sqrt(off), least_change, most_growth);
    return true;
  }
  // What does not fall with the step is a jump of the motion itself.
  jump.lasts = off > jump_part * jump.error ? jump.lasts + 1 : 0;
  jump.error = off;
  h_ = jump.lasts > jump_trials ? h : h * std::max(safety / std::sqrt(off), least_change);
  return jump.lasts > jump_trials || h < shortest_step;
}

StepStatus ImpulseSteps::step(State& state, double until) {
  h_ = std::min(h_, longest_);
  for (Jump jump;;) {
    const double left = until - state.time;
    // The last two steps are of one length.
    const bool last = h_ >= left;
    const double h = last ? left : std::min(h_, std::max(0.5 * left, 0.5 * h_));
    const double planned = h_;
    const SolveCounts before = method_->solves();
    const StepStatus status = try_step(state, h);
    const std::uint64_t unsolved = method_->solves().unconverged - before.unconverged;
    const bool solved = unsolved == 0 || h < must_be_solved;
    if (status != StepStatus::ok || through_ || !solved) {
      h_ = after_failure * h;
      if (h_ < shortest_step && status != StepStatus::ok) return status;
    } else if (accepts(h, error_, jump)) {
      unsolved_ += unsolved;
      std::swap(state, trial_);
      if (last) {
        h_ = std::max(h_, planned);
        state.time = until;
      }
      return status;
    }
    ++rejected_;
  }
}

StepStatus ImpulseSteps::sample(const State& state, double time, State& at_time) {
  const double h = time - state.time;
  at_time = state;
  StepStatus status = settle(at_time, h);
  if (status == StepStatus::ok && h > 0) {
    status = take(at_time, h);
    if (status == StepStatus::ok) status = settle(at_time, h);
  }
  return status;
}

}  // namespace bristle
