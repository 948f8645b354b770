#include "cli/realtime_thread.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <ctime>
#include <thread>

namespace bristle::cli {
namespace {

/// Uses the processor for so long.
void work(double seconds) {
  const auto now = [] {
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  };
  const double end = now() + seconds;
  while (now() < end) {
  }
}

TEST(RealtimeThread, StepsBeginWhenTheyAreDue) {
  const auto begin = std::chrono::steady_clock::now();
  RealtimeThread thread({.period = 2e-3});
  for (int i = 0; i < 10; ++i) {
    thread.begin_step();
    thread.end_step();
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  EXPECT_GE(took.count(), 9 * 2e-3);  // the last one begins 9 periods after the first
  EXPECT_EQ(thread.deadlines().begun_late.count(), 10u);
}

TEST(RealtimeThread, AStepThatWorksTooLongIsOurMiss) {
  RealtimeThread thread({.period = 1e-3});
  thread.begin_step();
  work(3e-3);
  thread.end_step();
  EXPECT_EQ(thread.deadlines().late_by_us.count(), 1u);
  EXPECT_EQ(thread.deadlines().late_by_system.count(), 0u);
  // What is done between steps counts as well: it delays the next.
  RealtimeThread recording({.period = 1e-3});
  recording.begin_step();
  recording.end_step();
  work(5e-3);
  recording.begin_step();
  recording.end_step();
  EXPECT_GE(recording.deadlines().late_by_us.count(), 1u);
}

TEST(RealtimeThread, AStepThatWasNotLetRunIsTheSystemsMiss) {
  RealtimeThread thread({.period = 1e-3});
  thread.begin_step();
  std::this_thread::sleep_for(std::chrono::milliseconds(5));  // no processor, no work
  thread.end_step();
  for (int i = 0; i < 3; ++i) {  // and those that it delays
    thread.begin_step();
    thread.end_step();
  }
  EXPECT_EQ(thread.deadlines().late_by_us.count(), 0u);
  EXPECT_GE(thread.deadlines().late_by_system.count(), 4u);
  EXPECT_GE(thread.deadlines().late_by_system.longest(), 4e-3);
}

TEST(RealtimeThread, PriorityIsTakenOrItSaysWhyNot) {
  const int before = ::sched_getscheduler(0);
  {
    RealtimeThread thread({.period = 1e-3, .priority = true});
    const bool scheduled = ::sched_getscheduler(0) == SCHED_FIFO;
    bool refused = false;
    for (const std::string& text : thread.refusals()) {
      refused = refused || text.find("SCHED_FIFO") != std::string::npos;
    }
    EXPECT_NE(scheduled, refused);
    for (int i = 0; i < 5; ++i) {
      thread.begin_step();
      thread.end_step();
    }
  }
  EXPECT_EQ(::sched_getscheduler(0), before);
}

}  // namespace
}  // namespace bristle::cli
