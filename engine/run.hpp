#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "bristle/adaptive/adaptive.hpp"
#include "bristle/contact/contact_view.hpp"
#include "bristle/laws/choice.hpp"
#include "bristle/step/fixed_step.hpp"
#include "bristle/step/ledger.hpp"
#include "bristle/step/realtime_loop.hpp"
#include "bristle/step/time_scales.hpp"

// The only loop: a state under a stepper to the end of its time, with samples, events,
// checkpoints and the energy ledger on the way. The program, studies and tests use it.

namespace bristle {

/// When samples are taken: at the start and at the end, and in between
enum class Sampling : std::uint8_t {
  interval,  // every so many seconds
  step,      // after every step
  event,     // at every event
};

struct RunOptions {
  double end = 1;  // [s]
  /// When the run began [s]; of one that is resumed, before the state's time.
  double begin = std::numeric_limits<double>::quiet_NaN();  // the state's time
  Sampling every = Sampling::interval;
  double interval = 0.01;  // [s]
  bool steps = false;      // with an interval: after every step as well
  double checkpoint = 0;   // simulated time between checkpoints; 0: none [s]
  /// Energy that the steps may create, over the ledger's scale; more ends the run at a
  /// sample (Audit::has_created): later states would be no motion of this model.
  double most_created = 0.01;
};

/// The argument of observers: a settled state, and the forces computed for it.
struct Observation {
  const Model& model;
  const State& state;
  const System& system;  // poses, velocities, forces
  const Audit& audit;    // the energy ledger

  ContactView contacts() const { return {model, state, system.pools.points}; }
};

/// Callbacks, all optional. Where one returns false, the run ends there.
struct RunObserver {
  /// The state is settled, and the first step comes next.
  std::function<void()> on_start{};
  /// The observation holds while the call lasts.
  std::function<bool(const Observation&)> on_sample{};
  std::function<bool(const State&, const Event&)> on_event{};
  /// At regular times beside samples by step or event; the ledger is not computed then.
  double look_interval = 0;  // [s]
  std::function<void(const State&)> on_look{};
  /// At the end of every step, for extremes between samples. The audit ignores it.
  std::function<void(const Observation&)> on_motion{};
  /// After every step, samples taken. For progress, interrupts, pacing.
  std::function<bool(const State&)> on_step{};
  /// Where the run can be taken up again from the state alone, to the same bytes.
  std::function<bool(const State&)> on_checkpoint{};
};

/// Volumetric contacts that turned so fast that the pressure was negative in a part
/// (ContactInfo::tension above 1), as of the samples.
struct PatchTension {
  std::size_t contacts = 0;  // episodes
  double largest = 0;        // of all volumetric contacts
};

struct RunSummary {
  StepStatus status = StepStatus::ok;
  bool stopped = false;  // by an observer
  std::uint64_t steps = 0;
  double simulated = 0;  // [s]
  double elapsed = 0;    // wall clock [s]
  Audit audit{};
  StepCounts counts{};
  StepTimes times{};  // of fixed steps
  PatchTension tension{};
  std::vector<std::string> warnings{};
};

/// Steps the state to the end. Where it cannot go on, the summary says why, and the state
/// is that of the last step that succeeded. `audit` goes on with the ledger of a run
/// that is resumed.
RunSummary run(Stepper& stepper, State& state, const RunOptions& options,
               const RunObserver& observer = {}, const Audit& audit = {});

/// The same in one call, for a duration from the state's time on.
using Observer = std::function<bool(const Observation&)>;

struct SimulateOptions {
  FixedStepOptions clock{};
  double duration = 1;          // [s]
  double observe_every = 0.01;  // [s], rounded to steps; 0: every step
};

struct SimulateAdaptiveOptions {
  AdaptiveOptions clock{};
  double duration = 1;          // [s]
  double observe_every = 0.01;  // [s], between the steps; 0: every step
};

RunSummary simulate(const Model& model, State& state, const SimulateOptions& options,
                    const Observer& observer = {});
RunSummary simulate(const Model& model, State& state,
                    const SimulateAdaptiveOptions& options,
                    const Observer& observer = {});

}  // namespace bristle
