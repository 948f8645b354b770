#include "bristle/step/time_scales.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>

namespace bristle {

namespace {

using detail::at;

/// Which slopes the power iteration looks at.
enum class Slope { stiffness, damping };

struct RowSlopes {
  double normal;
  double tangent;
};

RowSlopes slopes_of(const Model& model, const State& state, ContactWorkspace& ws,
                    std::size_t block, std::size_t i, Slope which) {
  const LawColumns c =
      ws.law_columns(const_cast<std::vector<double>&>(state.contacts.memory), ws.rates);
  if (!(c.depth[i] > 0)) return {0, 0};
  const LawBlock& laws = model.blocks[block];
  const auto kin =
      Kinematics<double>::at(c.depth[i], c.rate[i], {c.slip_x[i], c.slip_y[i]});
  RowSlopes slopes{0, 0};
  const bool given_load = block < at(model.joint_blocks) &&
                          !model.joint_rows[at(model.joint_block_rows[block])].is_limit;
  if (!given_load) {
    const NormalSlopes<double> normal =
        normal_law(laws.normal).linearise(laws.normal, c.normal_state, i, kin);
    slopes.normal =
        std::max(0.0, which == Slope::stiffness ? normal.by_depth : normal.by_rate);
  }
  const FrictionSpring<double> spring =
      friction_law(laws.friction)
          .spring(laws.friction, c.friction_state, i, kin, c.normal_force[i]);
  slopes.tangent =
      which == Slope::stiffness ? spring.stiffness : spring.damping + spring.viscous;
  return slopes;
}

/// The strongest share of a mode: a row, or a loop; −1: none of them.
struct Strongest {
  int row = -1;
  int loop = -1;
};

/// The slopes of the springs of loops, against the motion in hand. Whether one of them
/// has a larger share than `strongest` goes to `share`.
void add_loops(System& system, Slope which, double strongest, Strongest& share) {
  const Model& model = *system.model;
  for (std::size_t i = 0; i < model.loops.size(); ++i) {
    if (model.loops[i].rigid) continue;
    const SpringRows rows = spring_rows(model.loops[i], system.tree);
    double own = 0;
    for (int k = 0; k < rows.count; ++k) {
      const double rate = push_rate(system.tree, rows.push[k]);
      const double slope =
          which == Slope::stiffness ? rows.stiffness[k] : rows.damping[k];
      own += slope * rate * rate;
      add_push(rows.push[k], -slope * rate, system.on_links);
    }
    if (own <= strongest) continue;
    strongest = own;
    share = {-1, static_cast<int>(i)};
  }
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

/// The largest eigenvalue of M⁻¹ Σ Jᵀ G J, and what has the largest share of it.
double largest(System& system, const State& state, Slope which, Strongest& share) {
  const Model& model = *system.model;
  const Tree& tree = model.tree;
  ContactWorkspace& ws = system.contacts;
  const std::size_t n = at(tree.velocity_count());
  // Scattered so that no mode is missed by symmetry.
  std::vector<double> x(n), y(n);
  for (std::size_t k = 0; k < n; ++k) {
    x[k] = 1 + 0.37 * std::sin(1.7 * static_cast<double>(k) + 0.4);
  }
  std::vector<RowSlopes> slopes(at(state.contacts.count));
  for (std::size_t b = 0; b < model.blocks.size(); ++b) {
    for (int i = state.contacts.begin[b]; i < state.contacts.begin[b + 1]; ++i) {
      slopes[at(i)] = slopes_of(model, state, ws, b, at(i), which);
    }
  }
  const std::span<double> rate = ws.column(RowColumns::rate);
  const std::span<double> slip_x = ws.column(RowColumns::slip_x);
  const std::span<double> slip_y = ws.column(RowColumns::slip_y);
  const std::span<double> normal = ws.column(RowColumns::normal);
  const std::span<double> friction_x = ws.column(RowColumns::friction_x);
  const std::span<double> friction_y = ws.column(RowColumns::friction_y);
  double value = 0;
  for (int iteration = 0; iteration < 60; ++iteration) {
    double size = 0;
    for (const double entry : x) size += entry * entry;
    if (!(size > 0)) break;
    for (double& entry : x) entry /= std::sqrt(size);
    kinematics<double>(tree, state.q, x, system.tree);
    measure_again(model, x, system.links(), state.contacts, ws);
    std::fill(system.on_links.begin(), system.on_links.end(), Force<double>::zero());
    std::fill(system.tau.begin(), system.tau.end(), 0.0);
    double strongest = -1;
    for (std::size_t i = 0; i < slopes.size(); ++i) {
      normal[i] = slopes[i].normal * rate[i];
      friction_x[i] = -slopes[i].tangent * slip_x[i];
      friction_y[i] = -slopes[i].tangent * slip_y[i];
      const double own =
          normal[i] * rate[i] - friction_x[i] * slip_x[i] - friction_y[i] * slip_y[i];
      if (own > strongest) {
        strongest = own;
        share = {own > 0 ? static_cast<int>(i) : -1, -1};
      }
    }
    add_forces(model, system.links(), state.contacts, ws, system.on_links, system.tau);
    if (model.has_loop_springs) {
      add_loops(system, which, std::max(strongest, 0.0), share);
    }
    const std::span<const Dof> dofs = tree.dofs();
    for (std::size_t k = 0; k < n; ++k) {
      const double own = which == Slope::stiffness
                             ? (dofs[k].q >= 0 ? dofs[k].stiffness : 0)
                             : dofs[k].damping;
      system.tau[k] -= own * x[k];
    }
    for (const Motor& motor : model.motors) {
      if (motor.kind != MotorKind::position) continue;
      system.tau[at(motor.v)] -=
          (which == Slope::stiffness ? motor.kp : motor.kd) * x[at(motor.v)];
    }
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
  const double infinite = std::numeric_limits<double>::infinity();
  switch (method) {
    case Method::linearly_implicit_euler:
      return infinite;
    case Method::semi_implicit_euler: {
      // A damped oscillator is stable where h² ω² + 2 h d ≤ 4.
      if (frequency == 0) return decay > 0 ? 2 / decay : infinite;
      const double w2 = frequency * frequency;
      return (std::sqrt(decay * decay + 4 * w2) - decay) / w2;
    }
    case Method::bogacki_shampine:
    case Method::runge_kutta_4: {
      // Within the largest half disc of the method's region of stability.
      const double reach = method == Method::runge_kutta_4 ? 2.6 : 1.7;
      const double fastest =
          0.5 * (decay + std::sqrt(decay * decay + 4 * frequency * frequency));
      const double all = std::max(fastest, memory);
      return all > 0 ? reach / all : infinite;
    }
  }
  return infinite;
}

int TimeScales::recommended_substeps(Method method, double step) const noexcept {
  const bool first_order =
      method == Method::semi_implicit_euler || method == Method::linearly_implicit_euler;
  const double accurate = frequency * step * (first_order ? 10 : 3);
  const double stable = 2 * step / stable_step(method);
  return std::max(1,
                  static_cast<int>(std::ceil(std::min(std::max(accurate, stable), 1e6))));
}

TimeScales time_scales(System& system, const State& state) noexcept {
  kinematics<double>(system.model->tree, state.q, state.v, system.tree);
  factorise<double>(system.model->tree, system.tree, system.model->prescribed);
  if (system.model->loop_rows > 0) {
    place_loops(*system.model, system.tree, system.loops);
    factorise_loops(*system.model, system.tree, system.loops);
  }
  TimeScales scales;
  ContactWorkspace& ws = system.contacts;
  // The normal forces that friction depends on.
  contact_forces(*system.model, Form::evaluate, 0, state.contacts,
                 const_cast<std::vector<double>&>(state.contacts.memory), ws.rates, ws);
  // The iteration uses the workspace's columns; the state's own motion is put back.
  const std::vector<double> columns = ws.columns;
  Strongest stiff, damped;
  scales.frequency = std::sqrt(largest(system, state, Slope::stiffness, stiff));
  ws.columns = columns;
  scales.decay = largest(system, state, Slope::damping, damped);
  ws.columns = columns;
  kinematics<double>(system.model->tree, state.q, state.v, system.tree);
  const Strongest& strongest = scales.frequency > scales.decay ? stiff : damped;
  scales.row = strongest.row;
  scales.loop = strongest.loop;
  const LawColumns c =
      ws.law_columns(const_cast<std::vector<double>&>(state.contacts.memory), ws.rates);
  const Model& model = *system.model;
  for (std::size_t b = 0; b < model.blocks.size(); ++b) {
    const LawChoice& law = model.blocks[b].friction;
    for (int i = state.contacts.begin[b]; i < state.contacts.begin[b + 1]; ++i) {
      const std::size_t k = at(i);
      if (!(c.depth[k] > 0)) continue;
      const double rate = friction_law(law).memory_rate(
          law, c.friction_state, k,
          Kinematics<double>::at(c.depth[k], c.rate[k], {c.slip_x[k], c.slip_y[k]}),
          c.normal_force[k]);
      if (rate <= scales.memory) continue;
      scales.memory = rate;
      if (rate <= std::max(scales.frequency, scales.decay)) continue;
      scales.row = i;
      scales.loop = -1;
    }
  }
  return scales;
}

std::string row_name(const Model& model, const State& state, int row) {
  if (row < 0 || row >= state.contacts.count) return "a joint";
  if (row < state.contacts.begin[at(model.joint_blocks)]) {
    const JointRow& joint = joint_row(model, state.contacts, at(row));
    const int link = model.tree.dofs()[at(joint.dof)].link;
    for (const Joint& candidate : model.tree.joints()) {
      if (candidate.link == link && candidate.v >= 0) {
        return (joint.is_limit ? "the limit of joint \"" : "the friction of joint \"") +
               candidate.name + "\"";
      }
    }
    return "a joint";
  }
  const ContactRow& contact = state.contacts.rows[at(row)];
  if (contact.a == no_shape) return "an empty row";
  std::string text = "the contact of \"";
  text += model.shapes[contact.a].name;
  text += "\" with \"";
  text += model.shapes[contact.b].name;
  text += '"';
  return text;
}

std::string step_warning(System& system, const State& state,
                         const FixedStepOptions& options) {
  const TimeScales scales = time_scales(system, state);
  const double substep = options.step / std::max(1, options.substeps);
  const double stable = scales.stable_step(options.method);
  if (substep <= stable) return {};
  std::string text = "the step of " + number(substep) + " s is unstable for ";
  if (scales.loop >= 0) {
    text += "the loop \"";
    text += system.model->loops[at(scales.loop)].name;
    text += '"';
  } else {
    text += row_name(*system.model, state, scales.row);
  }
  text += ", which needs less than " + number(stable) + " s with ";
  text += name_of(options.method);
  text += ": take " +
          std::to_string(scales.recommended_substeps(options.method, options.step)) +
          " substeps, or the method linearly-implicit-euler";
  return text;
}

}  // namespace bristle
