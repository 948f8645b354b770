#pragma once

#include <memory>
#include <vector>

#include "bristle/step/complementarity.hpp"
#include "bristle/step/passage.hpp"
#include "bristle/step/step_times.hpp"
#include "bristle/step/stepper.hpp"
#include "bristle/step/substeps.hpp"

// Steps of a fixed length. In a fixed number of substeps: bounded work; no allocation,
// lock or exception after construction, unless contacts outgrow the reserved room
// (ModelOptions::contact_capacity fixes it). Or in as many as the present contacts need.

namespace bristle {

struct FixedStepOptions {
  Method method = Method::complementarity;
  double step = 1e-3;        // [s]
  int substeps = 1;          // per step; 0: as many as the present contacts need
  int most_substeps = 1000;  // that may be
  int threads = 1;           // results do not depend on it
  ComplementarityOptions complementarity{};  // of that method
};

/// Steps states of one model, which must outlive it.
class FixedStep final : public Stepper {
 public:
  explicit FixedStep(const Model& model, const FixedStepOptions& options = {});

  const FixedStepOptions& options() const noexcept { return options_; }
  System& system() noexcept override { return system_; }

  /// One step with all its substeps. `commands` has one entry per motor and holds over
  /// the step; without it, motors follow their targets. Where the status is not ok,
  /// positions and velocities are those of the last substep that succeeded.
  StepStatus step(State& state, Commands commands = {}) noexcept;

  /// Brings the state up to date without stepping: contacts, frames, episodes.
  StepStatus settle(State& state, Commands commands) noexcept;
  StepStatus settle(State& state) noexcept override { return settle(state, Commands{}); }

  StepStatus advance_to(State& state, double until,
                        const StepObserver& observer = {}) override;
  StepCounts counts() const noexcept override;
  std::string advice(const State& state) override;
  std::vector<std::string> warnings() const override;
  void restart() override;
  /// How long the steps of advance_to() took.
  const StepTimes& times() const noexcept { return times_; }

 private:
  struct Report;  // of events, to an observer
  StepStatus settle_for(State& state, Commands commands, Report* report) noexcept;
  StepStatus take_step(State& state, Commands commands, bool settled,
                       Report* report) noexcept;
  StepStatus follow_step(State& state, Commands commands, Report* report);
  StepStatus take_accurate(State& state, Commands commands, double left);
  StepStatus substep(State& state, Commands commands) noexcept;
  StepStatus substep_in_parts(State& state, Commands commands, Report* report) noexcept;
  void move_on(std::vector<MotorCommand>& commands) const noexcept;

  FixedStepOptions options_;
  double h_;  // of the current substep
  System system_;
  std::unique_ptr<FixedMethod> method_;
  std::vector<MotorCommand> commands_;  // as they move on in the substeps

  SubstepControl control_;  // where substeps follow the present contacts
  State kept_;              // where a substep began
  PassageWatch passages_;
  StepCounts counts_;
  StepTimes times_;
  std::uint64_t divided_ = 0;  // substeps taken in parts

  // Where a step began, to go back to where loops cannot be closed at its end.
  std::vector<double> q_kept_, v_kept_;
};

}  // namespace bristle
