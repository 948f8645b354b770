#include "bristle/step/time_scales.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <type_traits>

#include "bristle/dynamics/motors.hpp"

namespace bristle {

namespace {

using detail::at;

/// Which slopes enter the power iteration.
enum class Slope { stiffness, damping };

/// Where a slope comes from: a row of a pool.
enum class Source : std::uint8_t { joint, contact, spring };

struct SlopeRow {
  JacobianRow<double> row;
  double slope;
  Source source;
  int index;
};

/// The strongest share of a mode; index −1: none.
struct Strongest {
  Source source = Source::contact;
  int index = -1;
};

/// The three rows of a patch that do not depend on each other.
void add_patch(const PointPool& pool, const LawRow& row, const Placement& place,
               Slope which, std::vector<SlopeRow>& found) {
  const PatchRow& patch = pool.patch(row.i);
  if (!(patch.area > 0)) return;
  const double by_depth = row.normal_slopes(row.kinematics()).by_depth;
  const PatchAxes axes(which == Slope::stiffness
                           ? patch.stiffness(std::max(by_depth, 0.0) / patch.area)
                           : patch.damping(row.volume_law().rolling));
  const auto rows = pool.patch_rows(place, row.i, axes);
  const auto add = [&](const JacobianRow<double>& of, double slope) {
    if (slope == 0) return;
    found.push_back({of, slope, Source::contact, static_cast<int>(row.i)});
  };
  for (std::size_t k = 0; k < 3; ++k) add(rows[k], axes.slope[k]);
  if (!row.laws.spins()) return;
  add(pool.spin_row(row.i),
      which == Slope::stiffness ? row.stiffness()[1] : row.damping()[1]);
}

/// The slopes of all closed rows and of springs, with their rows of J.
std::vector<SlopeRow> slope_rows(System& system, const State& state, Slope which) {
  std::vector<SlopeRow> found;
  std::array<JacobianRow<double>, PointPool::most_rows> rows;
  const Placement place = system.placement(state.q, state.v);
  const auto take = [&](auto& pool, const LawRows& of_pool, Source source) {
    const LawColumns columns = pool.law_columns(of_pool.memory);
    pool.for_each_row(of_pool, columns, [&](const LawRow& row) {
      if (!row.closed()) return;
      const int count = pool.jacobian(place, row.i, rows);
      const std::array<double, 3> slopes =
          which == Slope::stiffness ? row.stiffness() : row.damping();
      if constexpr (std::is_same_v<decltype(pool), PointPool&>) {
        if (row.laws.volumetric) add_patch(pool, row, place, which, found);
      }
      // A patch's normal row is among the three that were added.
      for (int k = row.laws.volumetric ? 1 : 0; k < count; ++k) {
        // The one row of joint friction is a tangent.
        const double slope = slopes[at(row.laws.given_load ? k + 1 : k)];
        if (slope == 0) continue;
        found.push_back({rows[at(k)], slope, source, static_cast<int>(row.i)});
      }
    });
  };
  take(system.pools.joints, state.joints, Source::joint);
  take(system.pools.points, state.contacts, Source::contact);
  int number = 0;
  for_each_spring(system.pools.springs, place, [&](const SpringRows& spring) {
    for (int k = 0; k < spring.count; ++k) {
      const double slope =
          which == Slope::stiffness ? spring.stiffness[k] : spring.damping[k];
      if (slope != 0) found.push_back({spring.row[k], slope, Source::spring, number});
    }
    ++number;
  });
  return found;
}

/// Takes out of a motion what rigid loops forbid.
void hold_rigid(System& system, const State& state, std::vector<double>& x) {
  LoopWorkspace& loops = system.loops;
  kinematics<double>(system.model->tree, state.q, x, system.tree);
  loop_rates(system.tree, loops);
  solve_loops(loops);
  push_loops(loops);
  solve_mass<double>(system.model->tree, loops.none, loops.on_links, system.tree,
                     loops.change);
  for (std::size_t k = 0; k < x.size(); ++k) x[k] += loops.change[k];
}

/// −G x of all rows into on_links and tau; returns what has the largest share.
Strongest resist(System& system, const std::vector<SlopeRow>& rows,
                 std::span<const double> x) {
  Strongest strongest;
  double most = 0, own = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const SlopeRow& row = rows[i];
    const bool same =
        i > 0 && rows[i - 1].source == row.source && rows[i - 1].index == row.index;
    const double rate = row_rate<double>(system.tree, x, row.row);
    own = (same ? own : 0) + row.slope * rate * rate;
    add_row(row.row, -row.slope * rate, system.on_links, system.tau);
    if (!(own > most)) continue;
    most = own;
    strongest = {row.source, row.index};
  }
  return strongest;
}

/// The same for the springs and dampers of joints, and for position motors.
void resist_joints(System& system, Slope which, std::span<const double> x) {
  const bool stiffness = which == Slope::stiffness;
  const std::span<const Dof> dofs = system.model->tree.dofs();
  for (std::size_t k = 0; k < dofs.size(); ++k) {
    const double own =
        stiffness ? (dofs[k].q >= 0 ? dofs[k].stiffness : 0) : dofs[k].damping;
    system.tau[k] -= own * x[k];
  }
  for (const Motor& motor : system.model->motors) {
    if (motor.kind != MotorKind::position) continue;
    const double own = stiffness ? motor.kp : motor.kd;
    add_motor_force(system.drives.couplings, motor,
                    -own * travel_rate(system.drives.couplings, motor, x), system.tau);
  }
}

/// The largest eigenvalue of M⁻¹ Σ Jᵀ G J by power iteration, and what has the largest
/// share of it.
double largest(System& system, const State& state, const std::vector<SlopeRow>& rows,
               Slope which, Strongest& share) {
  const Model& model = *system.model;
  const Tree& tree = model.tree;
  const std::size_t n = at(tree.velocity_count());
  // Scattered so that no mode is missed by symmetry.
  std::vector<double> x(n), y(n);
  for (std::size_t k = 0; k < n; ++k) {
    x[k] = 1 + 0.37 * std::sin(1.7 * static_cast<double>(k) + 0.4);
  }
  double value = 0;
  for (int iteration = 0; iteration < 60; ++iteration) {
    double size = 0;
    for (const double entry : x) size += entry * entry;
    if (!(size > 0)) break;
    for (double& entry : x) entry /= std::sqrt(size);
    kinematics<double>(tree, state.q, x, system.tree);
    std::fill(system.on_links.begin(), system.on_links.end(), Force<double>::zero());
    std::fill(system.tau.begin(), system.tau.end(), 0.0);
    share = resist(system, rows, x);
    resist_joints(system, which, x);
    solve_mass<double>(tree, system.tau, system.on_links, system.tree, y);
    if (model.loop_rows > 0) hold_rigid(system, state, y);
    double length = 0;
    for (const double entry : y) length += entry * entry;
    const double before = value;
    value = std::sqrt(length);
    std::swap(x, y);
    if (iteration > 4 && std::abs(value - before) < 1e-3 * value) break;
  }
  return value;
}

std::string number(double x) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3g", x);
  return text.data();
}

}  // namespace

double TimeScales::stable_step(Method method) const noexcept {
  return method.info().stable_step(*this);
}

double TimeScales::recommended_step(Method method) const noexcept {
  if (method.info().impulses) return HUGE_VAL;  // stiff contacts need not be followed
  const double accurate = 1 / (frequency * (method.info().order == 1 ? 10 : 3));
  return std::min(accurate, 0.5 * stable_step(method));
}

int TimeScales::recommended_substeps(Method method, double step) const noexcept {
  const double count = std::min(step / recommended_step(method), 1e6);
  return std::max(1, static_cast<int>(std::ceil(count)));
}

namespace {

/// The fastest rate at which the memory of friction relaxes by itself; its row.
double memory_rate(System& system, const State& state, Strongest& row) {
  double fastest = 0;
  const auto look = [&](LawPool& pool, const LawRows& rows, Source source) {
    const LawColumns columns = pool.law_columns(rows.memory);
    pool.for_each_row(rows, columns, [&](const LawRow& one) {
      if (!one.closed()) return;
      const LawChoice& law = one.laws.friction;
      const double rate =
          friction_law(law).memory_rate(law, columns.friction_state, one.i,
                                        one.friction_kinematics(), one.normal_force());
      if (rate <= fastest) return;
      fastest = rate;
      row = {source, static_cast<int>(one.i)};
    });
  };
  look(system.pools.joints, state.joints, Source::joint);
  look(system.pools.points, state.contacts, Source::contact);
  return fastest;
}

std::string name_of(const System& system, const State& state, const Strongest& who) {
  const Model& model = *system.model;
  if (who.index < 0) return "";
  const auto i = at(who.index);
  switch (who.source) {
    case Source::joint:
      return joint_row_name(model, who.index);
    case Source::spring:
      return name_of(system.pools.springs, i);
    case Source::contact:
      return contact_name(model, state.contacts.key[i]);
  }
  return "";
}

}  // namespace

TimeScales time_scales(System& system, const State& state) {
  const Model& model = *system.model;
  kinematics<double>(model.tree, state.q, state.v, system.tree);
  factorise<double>(model.tree, system.tree, model.prescribed);
  system.drives.couplings.update(system.tree);
  if (model.loop_rows > 0) {
    place_loops(model, system.tree, system.loops);
    factorise_loops(model, system.tree, system.loops);
  }
  TimeScales scales;
  // The normal forces that friction depends on.
  contact_forces(system, {}, state, memory_of(state), rates_of(system.pools));
  Strongest stiff, damped, relaxing;
  const std::vector<SlopeRow> springs = slope_rows(system, state, Slope::stiffness);
  const std::vector<SlopeRow> dampers = slope_rows(system, state, Slope::damping);
  scales.memory = memory_rate(system, state, relaxing);
  scales.frequency = std::sqrt(largest(system, state, springs, Slope::stiffness, stiff));
  scales.decay = largest(system, state, dampers, Slope::damping, damped);
  kinematics<double>(model.tree, state.q, state.v, system.tree);
  const bool memory_leads = scales.memory > std::max(scales.frequency, scales.decay);
  scales.fastest = name_of(system, state,
                           memory_leads                      ? relaxing
                           : scales.frequency > scales.decay ? stiff
                                                             : damped);
  return scales;
}

std::string joint_row_name(const Model& model, int row) {
  const JointRow* joint = joint_of_row(model, at(row));
  if (joint == nullptr) return "a joint";
  if (joint->coupling >= 0) {
    return "the limit of the coupling \"" + model.couplings[at(joint->coupling)].name +
           "\"";
  }
  const int link = model.tree.dofs()[at(joint->dof)].link;
  for (const Joint& candidate : model.tree.joints()) {
    if (candidate.link == link && candidate.v >= 0) {
      return (joint->is_limit ? "the limit of joint \"" : "the friction of joint \"") +
             candidate.name + "\"";
    }
  }
  return "a joint";
}

std::string contact_name(const Model& model, const ContactKey& contact) {
  if (contact.empty()) return "an empty row";
  return "the contact of \"" + model.shapes[contact.a].name + "\" with \"" +
         model.shapes[contact.b].name + "\"";
}

std::string step_warning(System& system, const State& state,
                         const FixedStepOptions& options) {
  const TimeScales scales = time_scales(system, state);
  const double substep = options.step / std::max(1, options.substeps);
  const double stable = scales.stable_step(options.method);
  if (substep <= stable) return {};
  std::string text = "the step of " + number(substep) + " s is unstable for ";
  text += scales.fastest.empty() ? "a joint" : scales.fastest;
  text += ", which needs less than " + number(stable) + " s with ";
  text += options.method.info().name;
  text += ": take " +
          std::to_string(scales.recommended_substeps(options.method, options.step)) +
          " substeps, or the method complementarity";
  return text;
}

}  // namespace bristle
