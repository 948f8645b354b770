#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bristle/adaptive/adaptive.hpp"
#include "bristle/laws/choice.hpp"
#include "bristle/step/ledger.hpp"
#include "bristle/step/realtime_loop.hpp"
#include "bristle/step/time_scales.hpp"

// The whole pipeline: a model and a state, a clock, observers.

namespace bristle {

struct SimulateOptions {
  FixedStepOptions clock{};
  double duration = 1;          // [s]
  double observe_every = 0.01;  // [s], rounded to steps; 0: every step
};

/// The same under the adaptive clock: observations lie between its steps, which they do
/// not shorten.
struct SimulateAdaptiveOptions {
  AdaptiveOptions clock{};
  double duration = 1;          // [s]
  double observe_every = 0.01;  // [s]; 0: every step
};

/// What an observer sees, at the start, at each observation and at the end.
struct Observation {
  const Model& model;
  const State& state;
  const System& system;  // poses, velocities, contact forces
  const Audit& audit;    // the energy books
};

/// Returns false to end the run.
using Observer = std::function<bool(const Observation&)>;

struct RunSummary {
  StepStatus status = StepStatus::ok;
  std::uint64_t steps = 0;
  double simulated = 0;  // [s]
  double elapsed = 0;    // wall clock [s]
  Audit audit{};
  StepTimes times{};        // of a fixed step
  AdaptiveCounts counts{};  // of the adaptive clock
  std::vector<std::string> warnings{};
};

/// Steps the state for the duration. Where it cannot go on, the summary says why, and the
/// state is that of the last step that went through.
RunSummary simulate(const Model& model, State& state, const SimulateOptions& options,
                    const Observer& observer = {});
RunSummary simulate(const Model& model, State& state,
                    const SimulateAdaptiveOptions& options,
                    const Observer& observer = {});

}  // namespace bristle
