// A method of one's own for fixed steps, registered beside those of the library: Heun's,
// of order 2. Scenes and the list of methods would know it by its name from then on.

#include <bristle/model/positions.hpp>
#include <bristle/run.hpp>
#include <cmath>
#include <cstdio>
#include <limits>
#include <utility>

namespace {

using namespace bristle;

/// The rates at the beginning and at the end of an explicit Euler step; the mean of both,
/// for velocities, for what contacts remember and for the energy ledger.
class Heun final : public FixedMethod {
 public:
  StepStatus step(System& system, State& state, double h,
                  Commands commands) noexcept override {
    const Tree& tree = system.model->tree;
    q_ = state.q;
    v_ = state.v;
    accelerate_at(system, state, q_, v_, commands);
    if (!all_finite(system.acceleration)) return StepStatus::not_finite;
    first_ = system.acceleration;
    powers_ = system.powers;
    const RowMemory<double> rates = rates_of(system.pools);
    joint_rates_.assign(rates.joints.begin(), rates.joints.end());
    contact_rates_.assign(rates.contacts.begin(), rates.contacts.end());
    for (std::size_t k = 0; k < v_.size(); ++k) v_[k] += h * first_[k];
    integrate<double>(tree, q_, state.v, h);
    move_to(system, state, q_, v_, memory_of(std::as_const(state)));
    accelerate_at(system, state, q_, v_, commands);
    if (!all_finite(system.acceleration)) return StepStatus::not_finite;
    for (std::size_t k = 0; k < v_.size(); ++k) {
      const double mean = state.v[k] + 0.5 * h * first_[k];
      state.v[k] += 0.5 * h * (first_[k] + system.acceleration[k]);
      v_[k] = mean;
    }
    integrate<double>(tree, state.q, v_, h);
    add_mean(state.joints.memory, h, joint_rates_, rates.joints);
    add_mean(state.contacts.memory, h, contact_rates_, rates.contacts);
    for (std::size_t k = 0; k < work_lines; ++k) {
      field<double>(state.works, k) +=
          0.5 * h * (field<double>(powers_, k) + field<double>(system.powers, k));
    }
    state.time += h;
    state.committed = false;  // the next settle() lets the laws adjust their memory
    return StepStatus::ok;
  }

 private:
  static void accelerate_at(System& system, const State& state,
                            const std::vector<double>& q, const std::vector<double>& v,
                            Commands commands) noexcept {
    apply_forces(system, {}, state.time, q, v, state, memory_of(state),
                 rates_of(system.pools), commands);
    accelerate(system, state.time, 0, v, commands);
  }

  static void add_mean(std::vector<double>& memory, double h,
                       std::span<const double> first, std::span<const double> second) {
    for (std::size_t k = 0; k < memory.size(); ++k) {
      memory[k] += 0.5 * h * (first[k] + second[k]);
    }
  }

  std::vector<double> q_, v_, first_;
  std::vector<double> joint_rates_, contact_rates_;  // room that grows once
  Works powers_{};
};

/// Stable for damped motions where h d ≤ 2; an oscillator without a damper grows slowly.
double stable_step(const TimeScales& scales) noexcept {
  const double fastest = std::max(scales.decay, scales.frequency);
  return fastest > 0 ? 1 / fastest : std::numeric_limits<double>::infinity();
}

constexpr MethodInfo heun{
    .name = "heun",
    .title = "Heun, order 2",
    .order = 2,
    .evaluations = 2,
    .stable_step = stable_step,
    .make = [](const System&, const FixedStepOptions&) -> std::unique_ptr<FixedMethod> {
      return std::make_unique<Heun>();
    }};

/// A ball thrown on a floor that takes half of its energy, and grips it by bristles.
Result<Model> thrown_ball() {
  ModelBuilder builder;
  builder.add_shape({.name = "floor", .shape = Plane{}});
  builder.add_body(
      {.name = "ball", .mass = 1, .inertia = Sym3<double>::diagonal(4e-3, 4e-3, 4e-3)});
  builder.add_joint({.name = "free", .child = "ball", .type = JointType::free});
  builder.add_shape({.name = "ball", .body = "ball", .shape = Sphere{0.1}});
  builder.add_contact(
      {.normal = choose<KelvinVoigt>({.stiffness = 1e5, .damping = 60, .clamp = 1}),
       .friction = choose<SpringSlider>({.mu = 0.8, .stiffness = 5e4, .damping = 20})});
  return builder.build();
}

/// How far the ball is thrown in a while, from 0.1 m above the floor.
double way_after(const Model& model, Method method, double step, RunSummary& summary) {
  State state = make_state(model);
  state.q[2] = 0.2;
  state.v[3] = 0.3;
  summary = simulate(
      model, state,
      SimulateOptions{.clock = {.method = method, .step = step}, .duration = 0.2});
  return state.q[0];
}

}  // namespace

int main() {
  const Result<Method> mine = register_method(heun);
  if (!mine) return std::puts(mine.error().c_str()), 2;
  const Result<Model> model = thrown_ball();
  if (!model) return std::puts(model.error().c_str()), 2;
  RunSummary summary;
  const double exact = way_after(*model, Method::runge_kutta_4, 1e-6, summary);
  bool good = true;
  for (const Method method : fixed_methods()) {
    const double coarse = way_after(*model, method, 2e-5, summary);
    const double fine = way_after(*model, method, 1e-5, summary);
    std::printf("%-24s error %.1e at 20 µs, %.1e at 10 µs   balance error %.1e\n",
                std::string(name_of(method)).c_str(), std::fabs(coarse - exact),
                std::fabs(fine - exact), summary.audit.relative());
    good = good && summary.status == StepStatus::ok && std::fabs(fine - exact) < 1e-3;
  }
  return good ? 0 : 1;
}
