#include "bristle/step/fixed_step.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "bristle/step/loops.hpp"

namespace bristle {

namespace {

constexpr std::array<std::string_view, 4> method_names{"semi-implicit-euler", "ode3",
                                                       "rk4", "linearly-implicit-euler"};

}  // namespace

std::string_view name_of(Method method) noexcept {
  return method_names[static_cast<std::size_t>(method)];
}

Result<Method> find_method(std::string_view name) {
  for (std::size_t i = 0; i < method_names.size(); ++i) {
    if (method_names[i] == name) return static_cast<Method>(i);
  }
  std::string text = "there is no method '";
  text += name;
  text += "'; the methods are";
  for (const std::string_view known : method_names) {
    text += ' ';
    text += known;
  }
  return Error{text};
}

FixedStep::FixedStep(const Model& model, const FixedStepOptions& options)
    : options_(options),
      h_(options.step / (options.substeps < 1 ? 1 : options.substeps)),
      system_(model, options.threads),
      commands_(model.motors.size()) {
  if (options_.substeps < 1) options_.substeps = 1;
  const auto nq = static_cast<std::size_t>(model.tree.position_count());
  const auto nv = static_cast<std::size_t>(model.tree.velocity_count());
  const std::size_t memory = system_.contacts.rates.size();
  if (model.loop_rows > 0) {
    q_kept_.resize(nq);
    v_kept_.resize(nv);
  }
  if (options_.method == Method::bogacki_shampine ||
      options_.method == Method::runge_kutta_4) {
    const std::size_t stages = options_.method == Method::runge_kutta_4 ? 4 : 3;
    const Stage empty{std::vector<double>(nq),
                      std::vector<double>(nv),
                      std::vector<double>(memory),
                      {}};
    rates_.assign(stages, empty);
    at_ = empty;
  }
  if (options_.method == Method::linearly_implicit_euler) {
    matrix_.resize(nv * nv);
    momentum_.resize(nv);
    velocity_.resize(nv);
    jacobian_.resize(6 * nv);
    loop_jacobian_.resize(static_cast<std::size_t>(model.loop_rows) * nv);
    moved_.resize(nv);
    slopes_.resize(row_slopes * static_cast<std::size_t>(model.row_capacity));
    before_.resize(static_cast<std::size_t>(model.row_capacity));
    motors_.resize(model.motors.size());
  }
}

StepStatus FixedStep::settle(State& state, Commands commands) noexcept {
  return bristle::settle(system_, h_, state, commands);
}

StepStatus FixedStep::step(State& state, Commands commands) noexcept {
  if (!(h_ > 0) || !(h_ < 1e9)) return StepStatus::wrong_step;
  const bool extrapolate = options_.substeps > 1 && commands.size() == commands_.size() &&
                           !system_.model->prescribed.empty();
  if (extrapolate) std::copy(commands.begin(), commands.end(), commands_.begin());
  for (int i = 0; i < options_.substeps; ++i) {
    if (extrapolate && i > 0) {
      // Prescribed joints move on during the step as they were told to at its beginning.
      for (std::size_t k = 0; k < commands_.size(); ++k) {
        if (system_.model->motors[k].kind != MotorKind::prescribed) continue;
        MotorCommand& command = commands_[k];
        command.target +=
            h_ * (command.target_rate + 0.5 * h_ * command.target_acceleration);
        command.target_rate += h_ * command.target_acceleration;
      }
    }
    if (extrapolate) commands = commands_;
    const bool loops = system_.model->loop_rows > 0;
    if (loops) keep(state);
    StepStatus status = StepStatus::ok;
    switch (options_.method) {
      case Method::semi_implicit_euler:
        status = semi_implicit(state, commands);
        break;
      case Method::bogacki_shampine:
      case Method::runge_kutta_4:
        status = runge_kutta(state, commands);
        break;
      case Method::linearly_implicit_euler:
        status = linearly_implicit(state, commands);
        break;
    }
    if (status == StepStatus::ok && loops) {
      status = project_loops(system_, state);
      if (status != StepStatus::ok) go_back(state);
    }
    if (status != StepStatus::ok) return status;
  }
  return StepStatus::ok;
}

void FixedStep::keep(const State& state) noexcept {
  q_kept_ = state.q;
  v_kept_ = state.v;
  time_kept_ = state.time;
}

void FixedStep::go_back(State& state) const noexcept {
  state.q = q_kept_;
  state.v = v_kept_;
  state.time = time_kept_;
}

}  // namespace bristle
