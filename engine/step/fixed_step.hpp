#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "bristle/core/result.hpp"
#include "bristle/step/system.hpp"

// The real-time clock: steps of a fixed length, in a fixed number of substeps. Bounded
// work; no allocation, lock or exception after construction.

namespace bristle {

enum class Method : std::uint8_t {
  semi_implicit_euler,      // v⁺ = v + h v̇, q⁺ = q ⊕ h v⁺; laws by `advance`. Order 1
  bogacki_shampine,         // the third-order formula of ode3
  runge_kutta_4,            // the classical one
  linearly_implicit_euler,  // forces linearised at the step's beginning. Order 1, stiff
};

/// "semi-implicit-euler", "ode3", "rk4", "linearly-implicit-euler"
std::string_view name_of(Method method) noexcept;
Result<Method> find_method(std::string_view name);

struct FixedStepOptions {
  Method method = Method::semi_implicit_euler;
  double step = 1e-3;  // [s]
  int substeps = 1;    // that a step is made of
  int threads = 1;     // results do not depend on it
};

/// Steps states of one model, which must outlive it.
class FixedStep {
 public:
  explicit FixedStep(const Model& model, const FixedStepOptions& options = {});

  const FixedStepOptions& options() const noexcept { return options_; }
  System& system() noexcept { return system_; }

  /// One step with all its substeps. `commands` has one entry per motor and holds over
  /// the step; without it, motors follow their targets. Where the status is not ok,
  /// positions and velocities are those of the last substep that went well.
  StepStatus step(State& state, Commands commands = {}) noexcept;

  /// Brings the state up to date without stepping: contacts, frames, episodes.
  StepStatus settle(State& state, Commands commands = {}) noexcept;

  static constexpr std::size_t row_slopes = 10;  // numbers that the implicit step keeps

 private:
  /// How a row moved at the step's beginning.
  struct RowBefore {
    double rate;
    Vec2<double> slip;
  };
  /// A position motor over a step: force − slope Δv, or its limit.
  struct MotorStep {
    double force;
    double slope;
  };
  struct Stage {
    std::vector<double> q, v, memory;
    Works works{};
  };

  void keep(const State& state) noexcept;
  void go_back(State& state) const noexcept;
  StepStatus semi_implicit(State& state, Commands commands) noexcept;
  StepStatus runge_kutta(State& state, Commands commands) noexcept;
  StepStatus linearly_implicit(State& state, Commands commands) noexcept;
  void linearise_rows(const State& state) noexcept;
  void assemble(const State& state) noexcept;
  bool solve_step(const State& state, Commands commands) noexcept;
  void push_row(const State& state, std::size_t i, double normal,
                Vec2<double> across) noexcept;
  bool improve_rows(const State& state) noexcept;
  void prepare_motors(const State& state) noexcept;
  bool improve_motors() noexcept;
  void assemble_loops() noexcept;
  void prepare_loops() noexcept;
  void hold_loops_over_step() noexcept;
  void note_loops_of_step() noexcept;
  void book_prescribed() noexcept;

  FixedStepOptions options_;
  double h_;
  System system_;
  std::vector<MotorCommand> commands_;  // as they move on in the substeps
  std::vector<Stage> rates_;            // of Runge–Kutta's stages
  Stage at_;                            // where one of them is

  // Where a step began, for one that leads to where loops cannot be closed.
  std::vector<double> q_kept_, v_kept_;
  double time_kept_ = 0;

  // Of the linearly implicit step.
  std::vector<double> matrix_;      // M + h Σ Jᵀ G J, then its Cholesky factor
  std::vector<double> momentum_;    // the right-hand side, then Δv
  std::vector<double> velocity_;    // v⁺
  std::vector<double> jacobian_;    // of one contact, for B and for A
  std::vector<std::size_t> moved_;  // the velocities that move it
  std::vector<double> slopes_;      // of each row
  std::vector<double> loop_jacobian_;
  std::vector<RowBefore> before_;
  std::vector<MotorStep> motors_;
};

}  // namespace bristle
