#include "bristle/model/positions.hpp"
#include "bristle/step/fixed_step.hpp"

namespace bristle {

/// v⁺ = v + h v̇(q, v),  q⁺ = q ⊕ h v⁺.
StepStatus FixedStep::semi_implicit(State& state, Commands commands) noexcept {
  const StepStatus status = settle(state, commands);
  if (status != StepStatus::ok) return status;
  std::vector<double>& memory = state.contacts.memory;
  apply_forces(system_, Form::advance, h_, state.time, state.q, state.v, state.contacts,
               memory, memory, commands);
  note_forces(state.contacts, system_.contacts, false);
  accelerate(system_, state.time, h_, state.v, commands);
  if (!all_finite(system_.acceleration)) return StepStatus::not_finite;
  book_at_mean_velocity(system_, h_, state.v);  // contacts: when the next state is known
  for (std::size_t k = 0; k < state.v.size(); ++k) {
    state.v[k] += h_ * system_.acceleration[k];
  }
  state.v_stepped = state.v;
  integrate<double>(system_.model->tree, state.q, state.v, h_);
  for (std::size_t k = 0; k < work_lines; ++k) {
    field<double>(state.works, k) += h_ * field<double>(system_.powers, k);
  }
  state.time += h_;
  return StepStatus::ok;
}

}  // namespace bristle
