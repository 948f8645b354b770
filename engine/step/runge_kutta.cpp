#include <array>
#include <span>

#include "bristle/model/positions.hpp"
#include "bristle/step/fixed_step.hpp"

namespace bristle {

namespace {

/// Explicit formulas in which each stage starts from the one before.
struct Formula {
  std::array<double, 4> node;    // cᵢ, also the weight of the stage before
  std::array<double, 4> weight;  // bᵢ
};

// Bogacki & Shampine 1989, Appl. Math. Lett. 2, 321: the formula of order 3.
constexpr Formula order_3{{0, 0.5, 0.75}, {2.0 / 9, 1.0 / 3, 4.0 / 9}};
constexpr Formula order_4{{0, 0.5, 0.5, 1}, {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6}};

}  // namespace

/// Positions, velocities, the rows' memory and the energy books, all by one formula.
/// Quaternions are integrated as four numbers and brought back to unit length where they
/// are used.
StepStatus FixedStep::runge_kutta(State& state, Commands commands) noexcept {
  const StepStatus status = settle(state, commands);
  if (status != StepStatus::ok) return status;
  const Tree& tree = system_.model->tree;
  const Formula& formula = rates_.size() == 4 ? order_4 : order_3;
  const std::size_t rows = static_cast<std::size_t>(state.contacts.count);
  const std::size_t capacity = system_.contacts.capacity;
  const auto columns = static_cast<std::size_t>(system_.contacts.layout.count);
  for (std::size_t s = 0; s < rates_.size(); ++s) {
    Stage& rate = rates_[s];
    const double time = state.time + formula.node[s] * h_;
    std::span<const double> q = state.q;
    std::span<const double> v = state.v;
    std::vector<double>* memory = &state.contacts.memory;
    if (s > 0) {
      const Stage& before = rates_[s - 1];
      const double step = formula.node[s] * h_;
      for (std::size_t k = 0; k < state.q.size(); ++k) {
        at_.q[k] = state.q[k] + step * before.q[k];
      }
      for (std::size_t k = 0; k < state.v.size(); ++k) {
        at_.v[k] = state.v[k] + step * before.v[k];
      }
      for (std::size_t c = 0; c < columns; ++c) {
        const std::size_t begin = c * capacity;
        for (std::size_t k = begin; k < begin + rows; ++k) {
          at_.memory[k] = state.contacts.memory[k] + step * before.memory[k];
        }
      }
      normalise<double>(tree, at_.q);
      q = at_.q;
      v = at_.v;
      memory = &at_.memory;
      move_to(system_, state.contacts, q, v, *memory);
    }
    apply_forces(system_, Form::evaluate, h_, time, q, v, state.contacts, *memory,
                 rate.memory, commands);
    accelerate(system_, time, 0, v, commands);
    if (!all_finite(system_.acceleration)) return StepStatus::not_finite;
    position_rates<double>(tree, q, v, rate.q);
    rate.v = system_.acceleration;
    rate.works = system_.powers;
  }
  const auto add = [&](double& x, auto&& rate_of) {
    double sum = 0;
    for (std::size_t s = 0; s < rates_.size(); ++s) {
      sum += formula.weight[s] * rate_of(rates_[s]);
    }
    x += h_ * sum;
  };
  for (std::size_t k = 0; k < state.q.size(); ++k) {
    add(state.q[k], [k](const Stage& r) { return r.q[k]; });
  }
  for (std::size_t k = 0; k < state.v.size(); ++k) {
    add(state.v[k], [k](const Stage& r) { return r.v[k]; });
  }
  for (std::size_t c = 0; c < columns; ++c) {
    const std::size_t begin = c * capacity;
    for (std::size_t k = begin; k < begin + rows; ++k) {
      add(state.contacts.memory[k], [k](const Stage& r) { return r.memory[k]; });
    }
  }
  for (std::size_t k = 0; k < work_lines; ++k) {
    add(field<double>(state.works, k),
        [k](const Stage& r) { return field<double>(r.works, k); });
  }
  normalise<double>(tree, state.q);
  state.time += h_;
  state.committed = false;
  return StepStatus::ok;
}

}  // namespace bristle
