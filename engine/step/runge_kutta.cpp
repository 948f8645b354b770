#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "bristle/model/positions.hpp"
#include "bristle/step/method.hpp"
#include "bristle/step/time_scales.hpp"

// Explicit Runge–Kutta formulas: positions, velocities, the rows' memory and the energy
// ledger, all by one formula. Quaternions are integrated as four numbers and brought back
// to unit length where they are used.
//
// Where a contact is about to open, the bristles of some friction laws relax at a rate
// that grows without limit, and no step is short enough for an explicit formula. Such a
// step is one of semi-implicit Euler, in which the laws advance their memory themselves.

namespace bristle {

namespace {

/// Explicit formulas in which each stage starts from the one before.
struct Formula {
  std::size_t stages;
  std::array<double, 4> node;    // cᵢ, also the weight of the stage before
  std::array<double, 4> weight;  // bᵢ
  double reach;  // radius of the largest half disc in the region of stability
};

// Bogacki & Shampine 1989, Appl. Math. Lett. 2, 321: the formula of order 3.
constexpr Formula order_3{3, {0, 0.5, 0.75}, {2.0 / 9, 1.0 / 3, 4.0 / 9}, 1.7};
constexpr Formula order_4{4, {0, 0.5, 0.5, 1}, {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6}, 2.6};

/// Numbers of the rows of one pool that are in use, column by column.
template <class Work>
void for_each_number(const LawRows& rows, std::size_t columns, const Work& work) {
  for (std::size_t c = 0; c < columns; ++c) {
    const std::size_t begin = c * rows.capacity();
    const std::size_t end = begin + static_cast<std::size_t>(rows.count);
    for (std::size_t k = begin; k < end; ++k) work(k);
  }
}

class ExplicitRungeKutta final : public FixedMethod {
 public:
  ExplicitRungeKutta(const Formula& formula, const System& system)
      : formula_(formula),
        by_advance_(semi_implicit_euler_method.make(system, {})),
        columns_(static_cast<std::size_t>(system.pools.joints.layout().count)) {
    const Tree& tree = system.model->tree;
    const State empty = make_state(*system.model);
    at_ = {std::vector<double>(static_cast<std::size_t>(tree.position_count())),
           std::vector<double>(static_cast<std::size_t>(tree.velocity_count())),
           std::vector<double>(empty.joints.memory.size()),
           std::vector<double>(empty.contacts.memory.size()),
           {}};
    rates_.assign(formula.stages, at_);
  }

  StepStatus step(System& system, State& state, double h,
                  Commands commands) noexcept override {
    fit(state);
    for (std::size_t s = 0; s < rates_.size(); ++s) {
      if (!evaluate(system, state, h, s, commands)) return StepStatus::not_finite;
      if (!relaxes_too_fast(system, state, s, h)) continue;
      if (s > 0)
        move_to(system, state, state.q, state.v, memory_of(std::as_const(state)));
      return by_advance_->step(system, state, h, commands);
    }
    combine(state, h);
    normalise<double>(system.model->tree, state.q);
    state.time += h;
    state.committed = false;
    return StepStatus::ok;
  }

 private:
  struct Stage {
    std::vector<double> q, v, joints, contacts;  // the last two: memory of rows
    Works works{};

    RowMemory<double> memory() { return {joints, contacts}; }
    RowMemory<const double> memory() const { return {joints, contacts}; }
  };

  void fit(const State& state) {
    if (at_.contacts.size() == state.contacts.memory.size()) return;
    at_.contacts.resize(state.contacts.memory.size());
    for (Stage& rate : rates_) rate.contacts.resize(at_.contacts.size());
  }

  /// The rates of stage s; false where they are not finite.
  bool evaluate(System& system, const State& state, double h, std::size_t s,
                Commands commands) noexcept {
    const Tree& tree = system.model->tree;
    Stage& rate = rates_[s];
    const double time = state.time + formula_.node[s] * h;
    std::span<const double> q = state.q;
    std::span<const double> v = state.v;
    RowMemory<const double> memory = memory_of(state);
    if (s > 0) {
      place_stage(tree, state, formula_.node[s] * h, rates_[s - 1]);
      q = at_.q;
      v = at_.v;
      memory = std::as_const(at_).memory();
      move_to(system, state, q, v, memory);
    }
    apply_forces(system, {Form::evaluate, h}, time, q, v, state, memory, rate.memory(),
                 commands);
    accelerate(system, time, 0, v, commands);
    if (!all_finite(system.acceleration)) return false;
    position_rates<double>(tree, q, v, rate.q);
    rate.v = system.acceleration;
    rate.works = system.powers;
    return true;
  }

  /// Whether friction memory relaxes so fast at this stage that the formula is not
  /// stable.
  bool relaxes_too_fast(System& system, const State& state, std::size_t s,
                        double h) const noexcept {
    const auto memory = s > 0 ? at_.memory() : memory_of(state);
    bool found = false;
    const auto look = [&](LawPool& pool, const LawRows& rows,
                          std::span<const double> values) {
      pool.for_each_row(rows, pool.law_columns(values), [&](const LawRow& row) {
        const LawChoice& law = row.laws.friction;
        if (found || friction_law(law).fields == 0 || !row.closed()) return;
        const double rate =
            friction_law(law).memory_rate(law, row.columns.friction_state, row.i,
                                          row.friction_kinematics(), row.normal_force());
        found = h * rate > formula_.reach;
      });
    };
    look(system.pools.joints, state.joints, memory.joints);
    look(system.pools.points, state.contacts, memory.contacts);
    return found;
  }

  /// at_ ← state + step · rate.
  void place_stage(const Tree& tree, const State& state, double step,
                   const Stage& rate) noexcept {
    for (std::size_t k = 0; k < state.q.size(); ++k) {
      at_.q[k] = state.q[k] + step * rate.q[k];
    }
    for (std::size_t k = 0; k < state.v.size(); ++k) {
      at_.v[k] = state.v[k] + step * rate.v[k];
    }
    for_each_number(state.joints, columns_, [&](std::size_t k) {
      at_.joints[k] = state.joints.memory[k] + step * rate.joints[k];
    });
    for_each_number(state.contacts, columns_, [&](std::size_t k) {
      at_.contacts[k] = state.contacts.memory[k] + step * rate.contacts[k];
    });
    normalise<double>(tree, at_.q);
  }

  /// state ← state + h Σ bᵢ rateᵢ.
  void combine(State& state, double h) noexcept {
    const auto add = [&](double& x, auto&& rate_of) {
      double sum = 0;
      for (std::size_t s = 0; s < rates_.size(); ++s) {
        sum += formula_.weight[s] * rate_of(rates_[s]);
      }
      x += h * sum;
    };
    for (std::size_t k = 0; k < state.q.size(); ++k) {
      add(state.q[k], [k](const Stage& r) { return r.q[k]; });
    }
    for (std::size_t k = 0; k < state.v.size(); ++k) {
      add(state.v[k], [k](const Stage& r) { return r.v[k]; });
    }
    for_each_number(state.joints, columns_, [&](std::size_t k) {
      add(state.joints.memory[k], [k](const Stage& r) { return r.joints[k]; });
    });
    for_each_number(state.contacts, columns_, [&](std::size_t k) {
      add(state.contacts.memory[k], [k](const Stage& r) { return r.contacts[k]; });
    });
    for (std::size_t k = 0; k < work_lines; ++k) {
      add(field<double>(state.works, k),
          [k](const Stage& r) { return field<double>(r.works, k); });
    }
  }

  Formula formula_;
  std::unique_ptr<FixedMethod> by_advance_;
  std::size_t columns_;
  std::vector<Stage> rates_;  // of the stages
  Stage at_;                  // where one of them is
};

/// Within the largest half disc of the region of stability.
double stable_step(const TimeScales& scales, double reach) noexcept {
  const double decay = scales.decay, frequency = scales.frequency;
  const double fastest =
      0.5 * (decay + std::sqrt(decay * decay + 4 * frequency * frequency));
  const double all = std::max(fastest, scales.memory);
  return all > 0 ? reach / all : std::numeric_limits<double>::infinity();
}

template <const Formula& formula>
constexpr MethodInfo info(std::string_view name, std::string_view title, int order) {
  return {.name = name,
          .title = title,
          .order = order,
          .evaluations = static_cast<int>(formula.stages),
          .stable_step =
              [](const TimeScales& scales) noexcept {
                return stable_step(scales, formula.reach);
              },
          .make = [](const System& system,
                     const FixedStepOptions&) -> std::unique_ptr<FixedMethod> {
            return std::make_unique<ExplicitRungeKutta>(formula, system);
          }};
}

}  // namespace

const MethodInfo ode3_method = info<order_3>("ode3", "Bogacki–Shampine, order 3", 3);
const MethodInfo rk4_method = info<order_4>("rk4", "Runge–Kutta, order 4", 4);

}  // namespace bristle
