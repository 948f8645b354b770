#include <cmath>
#include <limits>

#include "bristle/step/gyroscopic.hpp"
#include "bristle/step/method.hpp"
#include "bristle/step/time_scales.hpp"

// v⁺ = v + h v̇(q, v),  q⁺ = q ⊕ h v⁺; laws by `advance`, gyroscopic torques by the
// implicit midpoint. Order 1.

namespace bristle {

namespace {

class SemiImplicitEuler final : public FixedMethod {
 public:
  explicit SemiImplicitEuler(const Tree& tree) : gyroscopic_(tree) {}

  StepStatus step(System& system, State& state, double h,
                  Commands commands) noexcept override {
    apply_forces(system, {Form::advance, h}, state.time, state.q, state.v, state,
                 memory_of(std::as_const(state)), memory_of(state), commands);
    system.pools.joints.note_forces(state.joints, false);
    system.pools.points.note_forces(state.contacts, false);
    gyroscopic_.add(system.model->tree, system.tree, h, system.on_links);
    accelerate(system, state.time, h, state.v, commands);
    if (!all_finite(system.acceleration)) return StepStatus::not_finite;
    book_at_mean_velocity(system, h, state.v);  // contacts: when the next state is known
    for (std::size_t k = 0; k < state.v.size(); ++k) {
      state.v[k] += h * system.acceleration[k];
    }
    gyroscopic_.move_on(system.model->tree, system.tree, h, state.q, state.v);
    state.v_stepped = state.v;
    for (std::size_t k = 0; k < work_lines; ++k) {
      field<double>(state.works, k) += h * field<double>(system.powers, k);
    }
    state.time += h;
    return StepStatus::ok;
  }

 private:
  GyroscopicStep gyroscopic_;
};

/// A damped oscillator is stable where h² ω² + 2 h d ≤ 4.
double stable_step(const TimeScales& scales) noexcept {
  const double infinite = std::numeric_limits<double>::infinity();
  const double decay = scales.decay;
  if (scales.frequency == 0) return decay > 0 ? 2 / decay : infinite;
  const double w2 = scales.frequency * scales.frequency;
  return (std::sqrt(decay * decay + 4 * w2) - decay) / w2;
}

}  // namespace

const MethodInfo semi_implicit_euler_method{
    .name = "semi-implicit-euler",
    .title = "semi-implicit Euler",
    .order = 1,
    .evaluations = 1,
    .stable_step = stable_step,
    .make = [](const System& system,
               const FixedStepOptions&) -> std::unique_ptr<FixedMethod> {
      return std::make_unique<SemiImplicitEuler>(system.model->tree);
    }};

}  // namespace bristle
