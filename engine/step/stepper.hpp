#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bristle/core/parameter.hpp"
#include "bristle/core/result.hpp"
#include "bristle/step/method.hpp"

// The contract of steppers: bring states up to date, and advance them to a time. Which
// steppers there are is listed in steppers.hpp.

namespace bristle {

/// What a stepper has done since it was made.
struct StepCounts {
  std::uint64_t steps = 0;  // accepted
  std::uint64_t rejected = 0;
  std::uint64_t evaluations = 0;          // of all forces and accelerations
  std::uint64_t implicit_steps = 0;       // among the accepted
  std::uint64_t impulse_steps = 0;        // among the accepted: events were not located
  std::uint64_t contact_evaluations = 0;  // to locate events, without forces
  std::uint64_t events = 0;
  std::uint64_t touches = 0;
  std::uint64_t distances = 0;  // of pairs of shapes, so that no touch is stepped over
  std::uint64_t passages = 0;   // of shapes through each other, within fixed steps
  SolveCounts solves{};         // of complementarity problems

  friend StepCounts operator+(const StepCounts& a, const StepCounts& b) {
    return {a.steps + b.steps,
            a.rejected + b.rejected,
            a.evaluations + b.evaluations,
            a.implicit_steps + b.implicit_steps,
            a.impulse_steps + b.impulse_steps,
            a.contact_evaluations + b.contact_evaluations,
            a.events + b.events,
            a.touches + b.touches,
            a.distances + b.distances,
            a.passages + b.passages,
            a.solves + b.solves};
  }
};

/// Callbacks of a stepper. The state handed over is settled, and so is the
/// stepper's system: forces, ledger and contacts can be read there.
struct StepObserver {
  /// Touch, lift-off and switches of laws: located where the stepper locates them, else
  /// at the end of the step in which they occur.
  std::function<void(const State&, const Event&)> on_event{};
  /// Every so many seconds from the beginning on and before the end: between the steps of
  /// a stepper that chooses them itself, else at the nearest step.
  double sample_interval = 0;
  std::function<void(const State&)> on_sample{};
  /// After every step; false ends the run there, with StepStatus::ok.
  std::function<bool(const State&)> on_step{};
};

/// Steps states of one model, which must outlive it.
class Stepper {
 public:
  virtual ~Stepper() = default;

  virtual System& system() noexcept = 0;
  /// Brings a state up to date without stepping: contacts, frames, episodes.
  virtual StepStatus settle(State& state) = 0;
  /// Advances to a time: exactly, or to the nearest step where its length is fixed. The
  /// state is settled when it returns. Where it cannot go on, the status says why, and
  /// the state is that of the last step that succeeded.
  virtual StepStatus advance_to(State& state, double until,
                                const StepObserver& observer = {}) = 0;
  /// Forgets everything that is not in a State: it then steps as a new one does.
  virtual void restart() {}
  virtual StepCounts counts() const noexcept = 0;
  /// A warning about its options for a settled state, with what to do; empty: none.
  virtual std::string advice(const State&) { return {}; }
  /// Warnings of the steps so far, all of which succeeded.
  virtual std::vector<std::string> warnings() const { return {}; }
};

/// Options of a stepper: those that most have, and others by the names that it declares.
struct StepperOptions {
  double rtol = 1e-6;        // of error-controlled steppers
  double step = 1e-3;        // of those of fixed step [s]
  int substeps = 1;          // 0: as many as the present contacts need
  int most_substeps = 1000;  // upper limit, where substeps is 0
  Method method = Method::complementarity;
  int threads = 1;
  std::vector<std::pair<std::string, double>> own{};

  double own_or(std::string_view name, double otherwise) const {
    for (const auto& [known, value] : own) {
      if (known == name) return value;
    }
    return otherwise;
  }
};

/// What a stepper is, takes and can do.
struct StepperInfo {
  std::string_view name;  // as typed: clock.kind = "adaptive"
  std::string_view title;
  bool locates_events = false;     // else they are seen at the ends of steps
  bool fixed_step = false;         // takes step, substeps, method, threads; else rtol
  std::optional<Method> method{};  // of fixed step: the only one it takes
  std::vector<Parameter> parameters{};  // of its own
  std::unique_ptr<Stepper> (*make)(const Model& model,
                                   const StepperOptions& options) = nullptr;
};

}  // namespace bristle
