#include "bristle/simulate.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace bristle {

RunSummary simulate(const Model& model, State& state, const SimulateOptions& options,
                    const Observer& observer) {
  RealtimeLoop loop(model, options.clock);
  System& system = loop.clock().system();
  RunSummary summary;
  const auto started = std::chrono::steady_clock::now();
  const double begin = state.time;

  const auto observe = [&] {
    summary.status = loop.clock().settle(state);
    if (summary.status != StepStatus::ok) return false;
    summary.audit.observe(make_ledger(system, state));
    if (summary.warnings.empty()) {
      std::string warning = step_warning(system, state, options.clock);
      if (!warning.empty()) {
        warning += " (at t = " + std::to_string(state.time) + " s)";
        summary.warnings.push_back(std::move(warning));
      }
    }
    return !observer || observer({model, state, system, summary.audit});
  };

  if (!(options.clock.step > 0)) {
    summary.status = StepStatus::wrong_step;
    return summary;
  }
  const auto steps = static_cast<std::uint64_t>(
      std::max(0.0, std::round(options.duration / options.clock.step)));
  const auto stride = static_cast<std::uint64_t>(
      std::max(1.0, std::round(options.observe_every / options.clock.step)));
  bool going = observe();
  while (going && summary.steps < steps) {
    summary.status = loop.step(state);
    if (summary.status != StepStatus::ok) break;
    ++summary.steps;
    if (summary.steps % stride == 0 || summary.steps == steps) going = observe();
  }

  summary.simulated = state.time - begin;
  summary.times = loop.times();
  summary.elapsed =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  return summary;
}

RunSummary simulate(const Model& model, State& state,
                    const SimulateAdaptiveOptions& options, const Observer& observer) {
  Adaptive clock(model, options.clock);
  RunSummary summary;
  const auto started = std::chrono::steady_clock::now();
  const double begin = state.time;
  bool going = true;
  const auto observe = [&](const State& now) {
    summary.audit.observe(make_ledger(clock.system(), now));
    going = going && (!observer || observer({model, now, clock.system(), summary.audit}));
    return going;
  };
  const bool samples = options.observe_every > 0;
  AdaptiveObserver watch;
  if (samples) {
    watch.sample_interval = options.observe_every;
    watch.on_sample = observe;
  }
  watch.on_step = [&](const State& now) { return samples ? going : observe(now); };
  summary.status = settle(clock.system(), 1e-9, state, {}, Episodes::by_events);
  if (summary.status == StepStatus::ok && !samples) observe(state);
  if (summary.status == StepStatus::ok && going) {
    summary.status = clock.advance_to(state, begin + options.duration, watch);
  }
  if (summary.status == StepStatus::ok && going && samples) observe(state);
  summary.counts = clock.counts();
  summary.steps = summary.counts.steps;
  summary.simulated = state.time - begin;
  summary.elapsed =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  return summary;
}

}  // namespace bristle
