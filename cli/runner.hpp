#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/probes.hpp"
#include "cli/progress.hpp"
#include "cli/realtime_thread.hpp"
#include "recording/recorder.hpp"
#include "report/figure.hpp"
#include "scene/scene.hpp"

// A scene run from where its state is to the end of its time, recorded on the way, with
// checkpoints from which it can go on to the same bytes.

namespace bristle::cli {

struct RunnerOptions {
  bool realtime = false;  // against the wall clock
  bool priority = false;  // in real time: SCHED_FIFO, locked memory, busy waits
  bool quiet = false;     // no progress
};

/// What a probe showed: last at a sample, least and largest of the whole motion.
struct ProbeRange {
  double last = 0, least = HUGE_VAL, largest = -HUGE_VAL;

  void include(double value) {
    least = std::min(least, value);
    largest = std::max(largest, value);
  }
  /// The extreme of a parabola through the ends of two steps that follow each other,
  /// where the value between them is one; of sizes, not below 0.
  void include(const std::array<double, 3>& times, const std::array<double, 3>& values,
               bool is_size);
};

enum class Ending { finished, interrupted, cannot_go_on, cannot_write };

struct RunReport {
  Ending ending = Ending::finished;
  std::string trouble{};
  double simulated = 0;  // [s]
  double elapsed = 0;
  std::uint64_t steps = 0;
  std::uint64_t evaluations = 0;
  std::uint64_t touches = 0;
  std::uint64_t events = 0;
  PatchTension tension{};
  std::uint64_t impulse_steps = 0;  // of the adaptive integrator: events were not located
  SolveCounts solves{};             // of complementarity problems
  std::uint64_t missed = 0;  // deadlines: a tick took longer than it simulates, or in
                             // real time was not done when the next was due
  StepTimes times{};
  Deadlines deadlines{};  // in real time
  Audit audit{};
  std::vector<ProbeRange> probes{};  // as the scene's
  std::uint64_t passages = 0;        // of shapes through each other, within fixed steps
  std::vector<std::string> warnings{};
  report::Figure figure{};  // energies and probes
};

class Runner {
 public:
  /// `state` goes on from where it is; the run began at `begin`.
  Runner(const scene::Scene& scene, State& state, double begin,
         recording::Recorder* recorder, const RunnerOptions& options);

  /// What a checkpoint holds besides the state: energy ledger, counts and what the probes
  /// showed. False where these are not such bytes.
  bool restore(std::span<const std::byte> bytes);

  RunReport run();

 private:
  struct Tally {
    Audit audit;
    std::uint64_t steps, evaluations, touches, events;
    SolveCounts solves;
    std::uint64_t impulse_steps;
  };
  void start();
  bool cannot_write();
  bool sample(const Observation& now);
  void follow(const Observation& now);
  bool note_event(const Event& event);
  bool step_done(const State& now);
  bool checkpoint(const State& now);
  void stop(StepStatus status);
  void keep_for_figure(double time);
  /// Since the run began, before it was resumed included.
  StepCounts counts() const { return before_ + stepper_->counts(); }

  const scene::Scene& scene_;
  State& state_;
  double begin_, end_;
  recording::Recorder* recorder_;
  RunnerOptions options_;
  Progress progress_;
  RunReport report_;
  ProbeMeter meter_;
  std::vector<double> probes_;
  // Ends of steps since the last event, for extremes: the newest last.
  struct StepEnd {
    double time = 0;
    std::vector<double> probes{};
  };
  std::array<StepEnd, 3> ends_;
  int known_ends_ = 0;
  ContactKey last_touch_;  // to name it in trouble
  std::unique_ptr<Stepper> stepper_;
  StepCounts before_;             // of a run that is resumed
  std::uint64_t seen_steps_ = 0;  // since then
  std::optional<RealtimeThread> realtime_;

  // Curves of the figure, thinned to a bounded number of points.
  std::vector<double> times_;
  std::vector<std::vector<double>> curves_;
  std::uint64_t stride_ = 1, seen_ = 0;
};

/// Ctrl-C, SIGTERM and SIGHUP ask a run to come to its end; a second one ends the
/// process.
void listen_for_interrupts();

}  // namespace bristle::cli
