#include "cli/realtime_thread.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <thread>

namespace bristle::cli {

namespace {

constexpr int fifo_priority = 80;  // above what systems run by default, below watchdogs
constexpr std::chrono::microseconds busy_before{100};

}  // namespace

RealtimeThread::RealtimeThread(const RealtimeOptions& options) : options_(options) {
  if (options_.priority) {
    sched_param parameters{};
    if (::pthread_getschedparam(::pthread_self(), &old_policy_, &parameters) == 0) {
      old_priority_ = parameters.sched_priority;
    }
    parameters.sched_priority = fifo_priority;
    const int refused =
        ::pthread_setschedparam(::pthread_self(), SCHED_FIFO, &parameters);
    scheduled_ = refused == 0;
    if (refused != 0) {
      refusals_.push_back(fmt::format(
          "--priority: the system does not allow SCHED_FIFO ({}); run as root, or raise "
          "the limit on real-time priority (ulimit -r {})",
          std::strerror(refused), fifo_priority));
    }
    locked_ = ::mlockall(MCL_CURRENT | MCL_FUTURE) == 0;
    if (!locked_) {
      refusals_.push_back(
          fmt::format("--priority: the system does not allow locking memory ({}); run as "
                      "root, or raise the limit on locked memory (ulimit -l unlimited)",
                      std::strerror(errno)));
    }
  }
  began_ = Clock::now();
  work_mark_ = processor_time();
}

RealtimeThread::~RealtimeThread() {
  if (locked_) ::munlockall();
  if (scheduled_) {
    sched_param parameters{};
    parameters.sched_priority = old_priority_;
    ::pthread_setschedparam(::pthread_self(), old_policy_, &parameters);
  }
}

RealtimeThread::Clock::time_point RealtimeThread::due(std::uint64_t step) const noexcept {
  const std::chrono::duration<double> after(static_cast<double>(step) * options_.period);
  return began_ + std::chrono::duration_cast<Clock::duration>(after);
}

/// Of this thread; of the whole process where others work on a step, too, which is more
/// than a step needs.
double RealtimeThread::processor_time() const noexcept {
  timespec time{};
  ::clock_gettime(
      options_.threads > 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

void RealtimeThread::begin_step() noexcept {
  const double before = processor_time();
  ideal_ += before - work_mark_;  // what was done since the last step: recording
  const Clock::time_point start = due(steps_);
  if (options_.priority) {
    std::this_thread::sleep_until(start - busy_before);
    while (Clock::now() < start) {
    }
  } else {
    std::this_thread::sleep_until(start);
  }
  const std::chrono::duration<double> late = Clock::now() - start;
  deadlines_.begun_late.add(late.count());
  ideal_ = std::max(ideal_, static_cast<double>(steps_) * options_.period);
  work_mark_ = processor_time();
  ++steps_;
}

void RealtimeThread::end_step() noexcept {
  const double now = processor_time();
  ideal_ += now - work_mark_;
  work_mark_ = now;
  const std::chrono::duration<double> late = Clock::now() - due(steps_);
  if (!(late.count() > 0)) return;
  const bool ours = ideal_ > static_cast<double>(steps_) * options_.period;
  (ours ? deadlines_.late_by_us : deadlines_.late_by_system).add(late.count());
}

}  // namespace bristle::cli
