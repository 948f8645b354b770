#include "bristle/step/realtime_loop.hpp"

#include <chrono>

namespace bristle {

StepStatus RealtimeLoop::step(State& state, Commands commands) noexcept {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  const StepStatus status = clock_.step(state, commands);
  const double took = std::chrono::duration<double>(Clock::now() - start).count();
  times_.add(took);
  if (took > clock_.options().step) ++missed_;
  return status;
}

}  // namespace bristle
