#include <algorithm>
#include <cmath>

#include "bristle/model/positions.hpp"
#include "bristle/step/fixed_step.hpp"

namespace bristle {

namespace {

using detail::at;

/// L Lᵀ in place of a symmetric matrix, lower half; false where it is not positive.
bool cholesky(std::span<double> a, std::size_t n) {
  for (std::size_t j = 0; j < n; ++j) {
    double* row_j = a.data() + j * n;
    double d = row_j[j];
    for (std::size_t k = 0; k < j; ++k) d -= row_j[k] * row_j[k];
    if (!(d > 0)) return false;
    const double root = std::sqrt(d);
    row_j[j] = root;
    for (std::size_t i = j + 1; i < n; ++i) {
      double* row_i = a.data() + i * n;
      double x = row_i[j];
      for (std::size_t k = 0; k < j; ++k) x -= row_i[k] * row_j[k];
      row_i[j] = x / root;
    }
  }
  return true;
}

/// L⁻¹ x and L⁻ᵀ x.
void forward(std::span<const double> l, std::size_t n, std::span<double> x) {
  for (std::size_t i = 0; i < n; ++i) {
    double sum = x[i];
    for (std::size_t k = 0; k < i; ++k) sum -= l[i * n + k] * x[k];
    x[i] = sum / l[i * n + i];
  }
}
void backward(std::span<const double> l, std::size_t n, std::span<double> x) {
  for (std::size_t i = n; i-- > 0;) {
    double sum = x[i];
    for (std::size_t k = i + 1; k < n; ++k) sum -= l[k * n + i] * x[k];
    x[i] = sum / l[i * n + i];
  }
}

/// What is known about a row: its forces and slopes, and the slip at which a secant took
/// the place of friction's own slope.
enum Known : std::size_t {
  force,
  extra,
  resistance,
  fx,
  fy,
  xx,
  xy,
  yy,
  secant,
  width = FixedStep::row_slopes
};

constexpr int most_solves = 8;  // of one step

}  // namespace

/// Normal: over the step f⁺ = f + ½ h K δ̇ + (h K + D) (δ̇⁺ − δ̇), with f, K and D where the
/// step leads by itself, in its middle: at touch-down √δ has no slope. `extra` is ½ h K
/// δ̇, `resistance` h K + D. Friction: the slopes of its own step, which hold the memory's
/// response; what does not resist is left to the explicit part.
void FixedStep::linearise_rows(const State& state) noexcept {
  const Model& model = *system_.model;
  ContactWorkspace& ws = system_.contacts;
  const ContactRows& contacts = state.contacts;
  const LawColumns c =
      ws.law_columns(const_cast<std::vector<double>&>(contacts.memory), ws.rates);
  for (std::size_t b = 0; b < model.blocks.size(); ++b) {
    const LawBlock& laws = model.blocks[b];
    const bool given_load = b < at(model.joint_blocks) &&
                            !model.joint_rows[at(model.joint_block_rows[b])].is_limit;
    for (std::size_t i = at(contacts.begin[b]); i < at(contacts.begin[b + 1]); ++i) {
      double* known = slopes_.data() + i * width;
      std::fill_n(known, static_cast<std::size_t>(width), 0.0);
      if (!(c.depth[i] > 0)) continue;
      const auto kin =
          Kinematics<double>::at(c.depth[i], c.rate[i], {c.slip_x[i], c.slip_y[i]});
      known[force] = c.normal_force[i];
      if (!given_load) {
        const NormalSlopes<double> slopes =
            normal_law(laws.normal).linearise(laws.normal, c.normal_state, i, kin);
        const double stiffness = h_ * std::max(0.0, slopes.by_depth);
        known[extra] = 0.5 * stiffness * c.rate[i];
        known[resistance] = stiffness + std::max(0.0, slopes.by_rate);
      }
      known[fx] = c.friction_x[i];
      known[fy] = c.friction_y[i];
      if (!(c.normal_force[i] > 0)) continue;
      const StepSlopes slopes =
          friction_law(laws.friction)
              .slopes(laws.friction, c.friction_state, i, kin, c.normal_force[i], h_);
      known[xx] = std::max(-slopes.by_slip_x.x, 0.0);
      known[yy] = std::max(-slopes.by_slip_y.y, 0.0);
      const double bound = std::sqrt(known[xx] * known[yy]);
      known[xy] =
          std::clamp(-0.5 * (slopes.by_slip_x.y + slopes.by_slip_y.x), -bound, bound);
    }
  }
}

/// M + h Σ Jᵀ G J with the slopes G of rows, springs, dampers and motors.
void FixedStep::assemble(const State& state) noexcept {
  const Model& model = *system_.model;
  const Tree& tree = model.tree;
  const std::size_t n = at(tree.velocity_count());
  mass_matrix<double>(tree, system_.tree, matrix_);
  const std::span<const Dof> dofs = tree.dofs();
  for (std::size_t k = 0; k < n; ++k) {
    const double stiffness = dofs[k].q >= 0 ? dofs[k].stiffness : 0;
    matrix_[k * n + k] += h_ * (dofs[k].damping + h_ * stiffness);
  }
  for (std::size_t i = 0; i < model.motors.size(); ++i) {
    const std::size_t k = at(model.motors[i].v);
    matrix_[k * n + k] += h_ * motors_[i].slope;
  }
  const ContactRows& contacts = state.contacts;
  for (int b = 0; b < model.joint_blocks; ++b) {
    const int first = model.joint_block_rows[at(b)];
    const int count = model.joint_block_rows[at(b + 1)] - first;
    for (int k = 0; k < count; ++k) {
      const JointRow& joint = model.joint_rows[at(first + k)];
      const double* known = slopes_.data() + at(contacts.begin[at(b)] + k) * width;
      matrix_[at(joint.dof) * n + at(joint.dof)] +=
          h_ * (joint.is_limit ? known[resistance] : known[xx]);
    }
  }
  for (int row = contacts.begin[at(model.joint_blocks)]; row < contacts.count; ++row) {
    const double* known = slopes_.data() + at(row) * width;
    if (known[resistance] == 0 && known[xx] == 0 && known[yy] == 0) continue;
    const RowPlace& place = system_.contacts.places[at(row)];
    // How each velocity moves B against A, in the contact frame; packed to the front.
    double* along = jacobian_.data();
    double* x = along + n;
    double* y = x + n;
    point_jacobian<double>(tree, system_.tree, place.link_b, place.point,
                           std::span(along, 3 * n));
    double* of_a = along + 3 * n;
    point_jacobian<double>(tree, system_.tree, place.link_a, place.point,
                           std::span(of_a, 3 * n));
    std::size_t used = 0;
    for (std::size_t k = 0; k < n; ++k) {
      const Vec3<double> move{along[k] - of_a[k], x[k] - of_a[n + k],
                              y[k] - of_a[2 * n + k]};
      if (move.x == 0 && move.y == 0 && move.z == 0) continue;
      const Vec2<double> across = place.frame.to_tangent(move);
      along[used] = dot(place.frame.n, move);
      x[used] = across.x;
      y[used] = across.y;
      moved_[used++] = k;
    }
    for (std::size_t i = 0; i < used; ++i) {
      const double by_n = h_ * known[resistance] * along[i];
      const double by_x = h_ * (known[xx] * x[i] + known[xy] * y[i]);
      const double by_y = h_ * (known[xy] * x[i] + known[yy] * y[i]);
      double* to = matrix_.data() + moved_[i] * n;
      for (std::size_t j = 0; j <= i; ++j) {
        to[moved_[j]] += by_n * along[j] + by_x * x[j] + by_y * y[j];
      }
    }
  }
  if (model.has_loop_springs) assemble_loops();
}

/// Adds h Jᵀ (h K + D) J of the springs of loops.
void FixedStep::assemble_loops() noexcept {
  const Tree& tree = system_.model->tree;
  const std::size_t n = at(tree.velocity_count());
  for (const Loop& loop : system_.model->loops) {
    if (loop.rigid) continue;
    const SpringRows rows = spring_rows(loop, system_.tree);
    for (int r = 0; r < rows.count; ++r) {
      double* along = jacobian_.data();
      push_jacobian(tree, system_.tree, rows.push[r], std::span(along, n));
      std::size_t used = 0;
      for (std::size_t k = 0; k < n; ++k) {
        if (along[k] == 0) continue;
        along[used] = along[k];
        moved_[used++] = k;
      }
      const double slope = h_ * (h_ * rows.stiffness[r] + rows.damping[r]);
      for (std::size_t i = 0; i < used; ++i) {
        double* to = matrix_.data() + moved_[i] * n;
        for (std::size_t j = 0; j <= i; ++j) to[moved_[j]] += slope * along[i] * along[j];
      }
    }
  }
}

/// The rigid loops at the step's beginning: their rows, which of them count, and J.
void FixedStep::prepare_loops() noexcept {
  const Model& model = *system_.model;
  LoopWorkspace& loops = system_.loops;
  const std::size_t n = at(model.tree.velocity_count());
  place_loops(model, system_.tree, loops);
  factorise<double>(model.tree, system_.tree, model.prescribed);
  factorise_loops(model, system_.tree, loops);
  for (std::size_t i = 0; i < loops.push.size(); ++i) {
    push_jacobian(model.tree, system_.tree, loops.push[i],
                  std::span(loop_jacobian_).subspan(i * n, n));
  }
}

/// Corrects Δv by what rigid loops push: J Δv = −h J̇ v, with z = h λ from
/// J (M + h Σ Jᵀ G J)⁻¹ Jᵀ. Rows without compliance, as those of springs at no stiffness.
void FixedStep::hold_loops_over_step() noexcept {
  const Model& model = *system_.model;
  LoopWorkspace& loops = system_.loops;
  const std::size_t n = at(model.tree.velocity_count());
  const std::size_t m = loops.push.size();
  loop_accelerations(model, system_.tree, false, loops);
  for (std::size_t i = 0; i < m; ++i) {
    double* row = loop_jacobian_.data() + i * n;
    double* half = loops.halves.data() + i * n;  // L⁻¹ Jᵀ
    loops.error[i] *= h_;
    for (std::size_t k = 0; k < n; ++k) {
      loops.error[i] += row[k] * momentum_[k];
      half[k] = row[k];
    }
    for (const Motor& motor : model.motors) {
      if (motor.kind == MotorKind::prescribed) half[at(motor.v)] = 0;
    }
    forward(matrix_, n, std::span(half, n));
    for (std::size_t j = 0; j <= i; ++j) {
      const double* other = loops.halves.data() + j * n;
      double sum = 0;
      for (std::size_t k = 0; k < n; ++k) sum += half[k] * other[k];
      loops.matrix[i * m + j] = loops.matrix[j * m + i] = sum;
    }
    loops.natural[i] = loops.matrix[i * m + i];
  }
  pivot_loops(1e-14, loops);  // those that count are known
  solve_loops(loops);
  std::fill(loops.change.begin(), loops.change.end(), 0.0);
  for (std::size_t i = 0; i < m; ++i) {
    const double* half = loops.halves.data() + i * n;
    for (std::size_t k = 0; k < n; ++k) loops.change[k] += loops.lambda[i] * half[k];
    loops.lambda[i] /= h_;
  }
  backward(matrix_, n, loops.change);
  for (std::size_t k = 0; k < n; ++k) momentum_[k] += loops.change[k];
}

/// The change of velocity over the step, into momentum_; false where there is none.
bool FixedStep::solve_step(const State& state, Commands commands) noexcept {
  const Model& model = *system_.model;
  const Tree& tree = model.tree;
  const std::size_t n = at(tree.velocity_count());
  assemble(state);
  // h (τ + Jᵀ f − c): what inverse dynamics misses without an acceleration.
  std::vector<double>& still = system_.acceleration;
  std::fill(still.begin(), still.end(), 0.0);
  inverse_dynamics<double>(tree, state.v, still, system_.on_links, system_.tree,
                           momentum_);
  for (std::size_t k = 0; k < n; ++k) momentum_[k] = h_ * (system_.tau[k] - momentum_[k]);
  // Prescribed joints do not give way.
  for (std::size_t i = 0; i < model.motors.size(); ++i) {
    const Motor& motor = model.motors[i];
    if (motor.kind != MotorKind::prescribed) continue;
    const double change =
        h_ * prescribed_acceleration(motor, i, state.time, h_, commands);
    const std::size_t k = at(motor.v);
    for (std::size_t j = 0; j < n; ++j) {
      if (j == k) continue;
      double& entry = matrix_[std::max(j, k) * n + std::min(j, k)];
      momentum_[j] -= entry * change;
      entry = 0;
    }
    matrix_[k * n + k] = 1;
    momentum_[k] = change;
  }
  if (!cholesky(matrix_, n)) return false;
  forward(matrix_, n, momentum_);
  backward(matrix_, n, momentum_);
  if (model.loop_rows > 0) hold_loops_over_step();
  return true;
}

/// Adds to the forces on the bodies of row i, or on its joint.
void FixedStep::push_row(const State& state, std::size_t i, double normal,
                         Vec2<double> across) noexcept {
  const Model& model = *system_.model;
  if (i < at(state.contacts.begin[at(model.joint_blocks)])) {
    const JointRow& joint = joint_row(model, state.contacts, i);
    system_.tau[at(joint.dof)] += joint.is_limit ? -joint.sign * normal : across.x;
    return;
  }
  const RowPlace& place = system_.contacts.places[i];
  const Vec3<double> f = normal * place.frame.n + place.frame.to_world(across);
  add_force_at<double>(system_.tree, place.link_b, place.point, f, system_.on_links);
  add_force_at<double>(system_.tree, place.link_a, place.point, -f, system_.on_links);
}

/// Looks at a solution: rows that would pull are let go; where the slip turned round,
/// friction did not stop at zero as it should, and a secant between no slip and the slip
/// found takes the place of its slope. False when nothing had to be changed.
bool FixedStep::improve_rows(const State& state) noexcept {
  const Model& model = *system_.model;
  ContactWorkspace& ws = system_.contacts;
  const ContactRows& contacts = state.contacts;
  const LawColumns c =
      ws.law_columns(const_cast<std::vector<double>&>(contacts.memory), ws.rates);
  bool changed = false;
  for (std::size_t b = 0; b < model.blocks.size(); ++b) {
    const LawBlock& laws = model.blocks[b];
    for (std::size_t i = at(contacts.begin[b]); i < at(contacts.begin[b + 1]); ++i) {
      double* known = slopes_.data() + i * width;
      const RowBefore& before = before_[i];
      if (known[resistance] != 0) {
        const double now = known[force] + known[extra];
        if (now + known[resistance] * (c.rate[i] - before.rate) < 0) {
          push_row(state, i, -now, {-known[fx], -known[fy]});
          std::fill_n(known, static_cast<std::size_t>(width), 0.0);
          changed = true;
          continue;
        }
      }
      if (known[fx] == 0 && known[fy] == 0) continue;
      const Vec2<double> slip{c.slip_x[i], c.slip_y[i]};
      const double speed = norm(slip);
      const bool turned = known[secant] == 0 && dot(slip, before.slip) < 0;
      const bool closer = known[secant] > 0 && speed < 0.5 * known[secant];
      if ((!turned && !closer) || speed == 0) continue;
      auto kin = Kinematics<double>::at(c.depth[i], before.rate, {0, 0});
      const FrictionLawTable& friction = friction_law(laws.friction);
      const Vec2<double> still =
          friction.force(laws.friction, c.friction_state, i, kin, known[force], h_);
      kin.slip = slip;
      const Vec2<double> sliding =
          friction.force(laws.friction, c.friction_state, i, kin, known[force], h_);
      const double slope = std::max(0.0, dot(still - sliding, slip) / (speed * speed));
      const Vec2<double> f = still - slope * before.slip;
      push_row(state, i, 0, {f.x - known[fx], f.y - known[fy]});
      known[fx] = f.x;
      known[fy] = f.y;
      known[xx] = known[yy] = slope;
      known[xy] = 0;
      known[secant] = speed;
      changed = true;
    }
  }
  return changed;
}

/// Motors at the end of the step, were the velocities to stay. One at its limit holds it.
void FixedStep::prepare_motors(const State& state) noexcept {
  const Model& model = *system_.model;
  for (std::size_t i = 0; i < model.motors.size(); ++i) {
    const Motor& motor = model.motors[i];
    const double now = system_.motor_forces[i];
    motors_[i] = {motor.kind == MotorKind::prescribed ? 0 : now, 0};
    if (motor.kind != MotorKind::position || std::abs(now) >= motor.effort_limit)
      continue;
    const double change = -h_ * motor.kp * state.v[at(motor.v)];
    system_.tau[at(motor.v)] += change;
    motors_[i] = {now + change, motor.kd + h_ * motor.kp};
  }
}

/// Motors that would exceed their limits over the step are set to them.
bool FixedStep::improve_motors() noexcept {
  const Model& model = *system_.model;
  bool changed = false;
  for (std::size_t i = 0; i < model.motors.size(); ++i) {
    const Motor& motor = model.motors[i];
    MotorStep& step = motors_[i];
    if (step.slope == 0) continue;
    const double found = step.force - step.slope * momentum_[at(motor.v)];
    if (std::abs(found) <= motor.effort_limit) continue;
    const double limit = std::copysign(motor.effort_limit, found);
    system_.tau[at(motor.v)] += limit - step.force;
    step = {limit, 0};
    changed = true;
  }
  return changed;
}

/// Newton's first step of backward Euler: (M + h Σ Jᵀ G J) Δv = h (τ + Σ Jᵀ (f + ½ h K
/// δ̇)), then q⁺ = q ⊕ h (v + Δv). Solved again only where rows would pull or friction
/// would turn the slip round. The rows' memory then moves with the new slip.
StepStatus FixedStep::linearly_implicit(State& state, Commands commands) noexcept {
  const StepStatus status = settle(state, commands);
  if (status != StepStatus::ok) return status;
  const Model& model = *system_.model;
  const Tree& tree = model.tree;
  ContactWorkspace& ws = system_.contacts;
  ContactRows& contacts = state.contacts;
  const std::span<double> depth = ws.column(RowColumns::depth);
  const std::span<const double> rate = ws.column(RowColumns::rate);
  const std::span<const double> slip_x = ws.column(RowColumns::slip_x);
  const std::span<const double> slip_y = ws.column(RowColumns::slip_y);
  const auto rows = at(contacts.count);
  for (std::size_t i = 0; i < rows; ++i) {
    before_[i] = {rate[i], {slip_x[i], slip_y[i]}};
    depth[i] += 0.5 * h_ * rate[i];
  }
  apply_forces(system_, Form::advance, h_, state.time, state.q, state.v, contacts,
               contacts.memory, ws.rates, commands);
  linearise_rows(state);
  // Springs and motors at the end of the step, were the velocities to stay.
  const std::span<const Dof> dofs = tree.dofs();
  for (std::size_t k = 0; k < dofs.size(); ++k) {
    if (dofs[k].q >= 0) system_.tau[k] -= h_ * dofs[k].stiffness * state.v[k];
  }
  if (model.has_loop_springs) {
    add_loop_slopes(model, system_.tree, h_, 0, system_.on_links);
  }
  prepare_motors(state);
  if (model.loop_rows > 0) prepare_loops();
  for (std::size_t i = 0; i < rows; ++i) {
    const double more = slopes_[i * width + extra];
    if (more != 0) push_row(state, i, more, {0, 0});
  }
  for (int solves = 1;; ++solves) {
    if (!solve_step(state, commands)) return StepStatus::not_converged;
    for (std::size_t k = 0; k < state.v.size(); ++k) {
      velocity_[k] = state.v[k] + momentum_[k];
    }
    if (!all_finite(velocity_)) return StepStatus::not_finite;
    kinematics<double>(tree, state.q, velocity_, system_.tree);
    measure_again(model, velocity_, system_.links(), contacts, ws);
    const bool motors_change = improve_motors();
    if (solves == most_solves || (!improve_rows(state) && !motors_change)) break;
    kinematics<double>(tree, state.q, state.v, system_.tree);
  }
  // Memory and powers follow the new velocities.
  apply_forces(system_, Form::advance, h_, state.time, state.q, velocity_, contacts,
               contacts.memory, contacts.memory, commands);
  system_.powers.motors = 0;
  for (std::size_t i = 0; i < motors_.size(); ++i) {
    const std::size_t k = at(model.motors[i].v);
    system_.motor_forces[i] = motors_[i].force - motors_[i].slope * momentum_[k];
    system_.powers.motors += system_.motor_forces[i] * velocity_[k];
  }
  note_forces(contacts, ws, true);
  if (!model.loops.empty()) note_loops_of_step();
  book_prescribed();
  book_at_mean_velocity(system_, -h_, velocity_);
  state.v = velocity_;
  state.v_stepped = velocity_;
  integrate<double>(tree, state.q, state.v, h_);
  for (std::size_t k = 0; k < work_lines; ++k) {
    field<double>(state.works, k) += h_ * field<double>(system_.powers, k);
  }
  state.time += h_;
  return StepStatus::ok;
}

/// What the loops pushed with, after the other forces were applied once more.
void FixedStep::note_loops_of_step() noexcept {
  const Model& model = *system_.model;
  add_loop_slopes(model, system_.tree, h_, 0, system_.on_links);
  if (model.loop_rows == 0) return;
  push_loops(system_.loops);
  note_loops(model, system_.tree, system_.loops);
  for (std::size_t i = 0; i < system_.on_links.size(); ++i) {
    system_.on_links[i] = system_.on_links[i] + system_.loops.on_links[i];
  }
}

/// What prescribed joints took, beyond the other forces on them.
void FixedStep::book_prescribed() noexcept {
  const Model& model = *system_.model;
  for (std::size_t k = 0; k < momentum_.size(); ++k) {
    system_.acceleration[k] = momentum_[k] / h_;
  }
  if (model.prescribed.empty()) return;
  inverse_dynamics<double>(model.tree, velocity_, system_.acceleration, system_.on_links,
                           system_.tree, momentum_);
  for (std::size_t i = 0; i < model.motors.size(); ++i) {
    const Motor& motor = model.motors[i];
    if (motor.kind != MotorKind::prescribed) continue;
    const std::size_t k = at(motor.v);
    system_.motor_forces[i] = momentum_[k] - system_.tau[k];
    system_.powers.motors += system_.motor_forces[i] * velocity_[k];
  }
}

}  // namespace bristle
