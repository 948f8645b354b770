#include "bristle/step/loops.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "bristle/core/trigonometry.hpp"
#include "bristle/model/positions.hpp"

namespace bristle {

namespace {

using detail::at;

// Openings relative to the size of the mechanism, and angles.
constexpr double closed = 1e-12;        // after a projection
constexpr double noticed = 1e-11;       // by settle
constexpr double rounding = 1e-9;       // where no step brings anything any more
constexpr double typed_digits = 1e-5;   // allowed to rows that depend on others
constexpr int most_newton_steps = 100;  // from a rough guess; in a run one or two
constexpr int most_guesses = 12;
constexpr int most_halvings = 12;

bool turns(const Loop& loop, int k) { return loop.kind != LoopKind::distance && k >= 3; }

/// How far from the origin the points of a loop lie: what rounding and digits refer to.
double size_of(const Loop& loop, const Workspace<double>& ws) {
  const auto far = [&](int link, const Vec3<double>& point) {
    return norm(point) + norm(ws.poses[at(link)] * point);
  };
  return far(loop.link_a, loop.on_a.p) + far(loop.link_b, loop.on_b.p) + loop.length +
         1e-9;
}

class Closing {
 public:
  Closing(System& system, State& state)
      : model_(*system.model),
        tree_(model_.tree),
        ws_(system.tree),
        loops_(system.loops),
        springs_(system.pools.springs),
        state_(state) {}

  double energy() const {
    return kinetic_energy<double>(tree_, state_.v, ws_) +
           gravity_energy<double>(tree_, ws_) + spring_energy<double>(tree_, state_.q) +
           energy_of(springs_, {ws_, state_.q, state_.v});
  }

  /// Moves to positions q; the largest opening there, relative to the loop's size.
  double measure(std::span<const double> q) {
    kinematics<double>(tree_, q, state_.v, ws_);
    loop_errors(model_, ws_, loops_);
    double most = 0;
    for (const Loop& loop : model_.loops) {
      const double size = size_of(loop, ws_);
      for (int k = 0; k < loop.rows; ++k) {
        const double c = std::abs(loops_.error[at(loop.row + k)]);
        loops_.relative[at(loop.row + k)] = turns(loop, k) ? c : c / size;
        most = std::max(most, loops_.relative[at(loop.row + k)]);
      }
    }
    return most;
  }

  /// How fast they open, relative to how fast things move; likewise.
  double measure_rates() {
    loop_rates(ws_, loops_);
    double size = 0;
    for (const Loop& loop : model_.loops) size = std::max(size, size_of(loop, ws_));
    double speed = 0;
    const std::span<const Dof> dofs = tree_.dofs();
    for (std::size_t k = 0; k < dofs.size(); ++k) {
      speed = std::max(speed, std::abs(state_.v[k]) * (dofs[k].linear ? 1 : size));
    }
    if (speed == 0) speed = 1;
    double most = 0;
    for (const Loop& loop : model_.loops) {
      for (int k = 0; k < loop.rows; ++k) {
        const double u = std::abs(loops_.error[at(loop.row + k)]);
        loops_.relative[at(loop.row + k)] = (turns(loop, k) ? u * size : u) / speed;
        most = std::max(most, loops_.relative[at(loop.row + k)]);
      }
    }
    return most;
  }

  /// What was measured last, of rows that count for themselves: the largest, and the sum
  /// of squares.
  struct Opening {
    double most = 0;
    double sum = 0;
  };
  Opening independent() const {
    Opening opening;
    for (std::size_t k = 0; k < loops_.rank; ++k) {
      const double c = loops_.relative[loops_.order[k]];
      opening.most = std::max(opening.most, c);
      opening.sum += c * c;
    }
    return opening;
  }

  /// M⁻¹ Jᵀ λ with λ against the present `error`, into loops_.change.
  void respond() {
    solve_loops(loops_);
    push_loops(loops_);
    solve_mass<double>(tree_, loops_.none, loops_.on_links, ws_, loops_.change);
  }

  void factorise() {
    place_loops(model_, ws_, loops_);
    bristle::factorise<double>(tree_, ws_, model_.prescribed);
    factorise_loops(model_, ws_, loops_);
  }

  /// Newton's method, with shorter steps where the full one leads away.
  bool close_positions() {
    double all = measure(state_.q);
    for (int step = 0; step < most_newton_steps; ++step) {
      if (all <= closed) return true;
      factorise();
      const Opening now = independent();
      if (now.most <= closed) return all <= typed_digits;
      respond();
      double most = 1;  // no joint turns by more than a radian
      const std::span<const Dof> dofs = tree_.dofs();
      for (std::size_t k = 0; k < dofs.size(); ++k) {
        if (!dofs[k].linear) most = std::max(most, std::abs(loops_.change[k]));
      }
      double length = 1 / most;
      const double before = all;
      bool nearer = false;
      for (int k = 0; k < most_halvings && !nearer; ++k, length *= 0.5) {
        loops_.q = state_.q;
        integrate<double>(tree_, loops_.q, loops_.change, length);
        all = measure(loops_.q);
        nearer = independent().sum < (1 - 1e-3 * length) * now.sum;
      }
      if (!nearer) return now.most <= rounding && before <= typed_digits;
      state_.q = loops_.q;
    }
    return false;
  }

  /// From other guesses near the one given, where that one is stuck.
  bool assemble() {
    if (close_positions()) return true;
    double size = 0;
    for (const Loop& loop : model_.loops) size = std::max(size, size_of(loop, ws_));
    const std::span<const Dof> dofs = tree_.dofs();
    for (int guess = 1; guess < most_guesses; ++guess) {
      for (std::size_t k = 0; k < dofs.size(); ++k) {
        const double scatter =
            sincos(1.7 * static_cast<double>(k + 1) * guess + 0.4 * guess).sin;
        const bool given =
            !model_.prescribed.empty() && model_.prescribed[at(dofs[k].link)] != 0;
        loops_.change[k] =
            given ? 0 : 0.1 * guess * scatter * (dofs[k].linear ? 0.2 * size : 1);
      }
      state_.q = loops_.q_before;
      integrate<double>(tree_, state_.q, loops_.change, 1.0);
      if (close_positions()) return true;
    }
    return false;
  }

  void close_velocities() {
    kinematics<double>(tree_, state_.q, state_.v, ws_);
    place_loops(model_, ws_, loops_);
    if (measure_rates() <= closed) return;
    factorise();
    const bool by_a_step = state_.v == state_.v_stepped;
    for (int pass = 0; pass < 3 && independent().most > closed; ++pass) {
      respond();
      for (std::size_t k = 0; k < state_.v.size(); ++k) state_.v[k] += loops_.change[k];
      kinematics<double>(tree_, state_.q, state_.v, ws_);
      measure_rates();
    }
    if (by_a_step) state_.v_stepped = state_.v;  // not by hand
  }

  StepStatus run(double allowed) {
    const double open = measure(state_.q);
    place_loops(model_, ws_, loops_);
    if (open <= allowed && measure_rates() <= allowed) return StepStatus::ok;
    const double before = energy();
    loops_.q_before = state_.q;
    const bool done = state_.begun ? close_positions() : assemble();
    if (!done) {
      state_.q = loops_.q_before;
      return StepStatus::loops_open;
    }
    close_velocities();
    if (state_.begun) state_.works.projection += energy() - before;
    return StepStatus::ok;
  }

 private:
  const Model& model_;
  const Tree& tree_;
  Workspace<double>& ws_;
  LoopWorkspace& loops_;
  const SpringPools& springs_;
  State& state_;
};

}  // namespace

void hold_loops(const Model& model, Workspace<double>& tree, LoopWorkspace& loops,
                std::span<double> acceleration,
                std::span<Force<double>> on_links) noexcept {
  place_loops(model, tree, loops);
  loop_accelerations(model, tree, true, loops);
  factorise_loops(model, tree, loops);
  solve_loops(loops);
  push_loops(loops);
  note_loops(model, tree, loops);
  solve_mass<double>(model.tree, loops.none, loops.on_links, tree, loops.change);
  for (std::size_t k = 0; k < loops.change.size(); ++k) {
    acceleration[k] += loops.change[k];
  }
  for (std::size_t i = 0; i < loops.on_links.size(); ++i) {
    on_links[i] = on_links[i] + loops.on_links[i];
  }
}

void hold_loops(System& system) noexcept {
  hold_loops(*system.model, system.tree, system.loops, system.acceleration,
             system.on_links);
}

StepStatus project_loops(System& system, State& state) noexcept {
  if (system.model->loop_rows == 0) return StepStatus::ok;
  return Closing(system, state).run(closed);
}

StepStatus settle_loops(System& system, State& state) noexcept {
  if (system.model->loop_rows == 0) return StepStatus::ok;
  return Closing(system, state).run(noticed);
}

LoopGap loop_gap(System& system, const Loop& loop) noexcept {
  LoopGap gap;
  loop_errors(*system.model, system.tree, system.loops);
  for (int k = 0; k < loop.rows; ++k) {
    double& most = turns(loop, k) ? gap.angle : gap.distance;
    most = std::max(most, std::abs(system.loops.error[at(loop.row + k)]));
  }
  return gap;
}

LoopGap loop_gap(System& system) noexcept {
  LoopGap most;
  for (const Loop& loop : system.model->loops) {
    const LoopGap gap = loop_gap(system, loop);
    most.distance = std::max(most.distance, gap.distance);
    most.angle = std::max(most.angle, gap.angle);
  }
  return most;
}

std::string open_loop(System& system, const State& state) {
  const Model& model = *system.model;
  kinematics<double>(model.tree, state.q, state.v, system.tree);
  const Loop* worst = nullptr;
  double largest = typed_digits;
  for (const Loop& loop : model.loops) {
    if (!loop.rigid) continue;
    const LoopGap gap = loop_gap(system, loop);
    const double relative =
        std::max(gap.distance / size_of(loop, system.tree), gap.angle);
    if (!(relative > largest)) continue;
    largest = relative;
    worst = &loop;
  }
  if (worst == nullptr) return {};
  const LoopGap gap = loop_gap(system, *worst);
  char amounts[100];
  std::snprintf(amounts, sizeof amounts, " is open by %.3g m", gap.distance);
  std::string text = "The loop \"" + worst->name + "\"" + amounts;
  if (gap.angle > typed_digits) {
    std::snprintf(amounts, sizeof amounts, " and %.3g rad", gap.angle);
    text += amounts;
  }
  return text;
}

}  // namespace bristle
