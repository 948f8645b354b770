#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "bristle/step/realtime_loop.hpp"

// A thread that steps against the wall clock: step n is due n periods after the first,
// and is to be done when the next is due.

namespace bristle::cli {

struct RealtimeOptions {
  double period = 1e-3;   // [s]
  bool priority = false;  // SCHED_FIFO, memory locked, busy before each step
  int threads = 1;        // that a step works in
};

/// Deadlines, and whose fault it was that some were missed. A miss is the system's where
/// the work would have been done in time had the processor been ours alone: by the
/// schedule in which every step begins when it is due and the one before it is done, and
/// takes the processor time that it took.
struct Deadlines {
  StepTimes begun_late{};  // of all steps: after they were due
  StepTimes late_by_us{};  // of steps that missed: after their deadline
  StepTimes late_by_system{};

  std::uint64_t missed() const { return late_by_us.count() + late_by_system.count(); }
};

class RealtimeThread {
 public:
  explicit RealtimeThread(const RealtimeOptions& options);
  RealtimeThread(const RealtimeThread&) = delete;
  RealtimeThread& operator=(const RealtimeThread&) = delete;
  ~RealtimeThread();  // scheduling and memory as they were

  /// Waits until the next step is due.
  void begin_step() noexcept;
  /// The step is done.
  void end_step() noexcept;

  const Deadlines& deadlines() const { return deadlines_; }
  /// The requests that the system does not allow, and how to allow them.
  const std::vector<std::string>& refusals() const { return refusals_; }

 private:
  using Clock = std::chrono::steady_clock;

  Clock::time_point due(std::uint64_t step) const noexcept;
  double processor_time() const noexcept;

  RealtimeOptions options_;
  Clock::time_point began_;
  std::uint64_t steps_ = 0;  // begun
  double work_mark_ = 0;     // processor time up to which work is counted [s]
  double ideal_ = 0;         // when the work would be done, since the beginning [s]
  Deadlines deadlines_;
  std::vector<std::string> refusals_;
  int old_policy_ = 0, old_priority_ = 0;
  bool scheduled_ = false, locked_ = false;
};

}  // namespace bristle::cli
