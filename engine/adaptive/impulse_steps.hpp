#pragma once

#include <memory>
#include <span>
#include <vector>

#include "bristle/step/fixed_step.hpp"
#include "bristle/step/ledger.hpp"

// Complementarity steps whose length follows a tolerance: what the integrator does
// in heaps, where events come too fast to be located one by one. Each step of the
// complementarity method is taken as a whole and in two halves. The difference of both,
// which is of the second order in h, is the error that is controlled; the halves are
// kept, extrapolated where nothing has touched or lifted off within the step.
//
// Errors are measured link by link in the metric of its inertia I: a velocity V has the
// size √(V·IV/m) [m/s], a displacement the like [m].

namespace bristle {

class ImpulseSteps {
 public:
  /// `system` must outlive it.
  ImpulseSteps(System& system, double rtol, double longest_step);

  /// Complementarity steps begin at this state.
  void begin(const State& state);
  /// One step of a settled state, not beyond `until`; the state is settled afterwards,
  /// and stays as it is where the status is not ok.
  StepStatus step(State& state, double until);
  /// The state at a time within the step that would begin at `state`, by a step of its
  /// own.
  StepStatus sample(const State& state, double time, State& at_time);

  /// What a settled state stores, by the depths that it has [J].
  double stored(const State& state);
  /// Brings a state up to date, for the step that comes next.
  StepStatus settle(State& state) { return settle(state, h_); }

  /// Where the last step began, and the events within it.
  const State& before() const { return trial_; }
  std::span<const Event> events() const { return events_; }
  std::uint64_t rejected() const { return rejected_; }
  /// How well steps were solved; those that were taken again are not counted as unsolved.
  SolveCounts solves() const {
    SolveCounts counts = method_->solves();
    counts.unconverged = unsolved_;
    return counts;
  }

 private:
  struct LinkScale {
    double mass;    // [kg]
    double length;  // radius of gyration [m]
  };

  /// The errors of trials of one step.
  struct Jump {
    double error = HUGE_VAL;  // of the last one
    int lasts = 0;            // trials in a row whose error was no smaller
  };

  StepStatus settle(State& state, double h);
  bool accepts(double h, double off, Jump& jump);
  StepStatus take(State& state, double h);
  StepStatus try_step(const State& state, double h);
  bool contacts_known() const;
  double error() const;
  bool is_smooth() const;
  void put_patch_energies(const State& state);
  Ledger ledger(const State& state, bool stepped);
  void extrapolate();
  void note_events();

  System* system_;
  double tolerance_, longest_;
  std::unique_ptr<FixedMethod> method_;
  PassageWatch passages_;
  std::vector<LinkScale> scales_;
  double gravity_;  // [m/s²]

  double h_ = 0;          // of the next step [s]
  bool through_ = false;  // shapes may have met unseen in the trial
  double error_ = 0;      // of the trial, over what is allowed
  State whole_, trial_;
  std::vector<Transform<double>> begin_poses_, whole_poses_;
  std::vector<Motion<double>> whole_velocities_;
  std::vector<double> change_;  // from the whole to the halves, per velocity
  std::vector<Event> events_;
  std::uint64_t rejected_ = 0, unsolved_ = 0;
};

}  // namespace bristle
