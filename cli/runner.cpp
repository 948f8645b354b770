#include "cli/runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <optional>
#include <type_traits>

#include "cli/probes.hpp"

namespace bristle::cli {

namespace {

using scene::ClockKind;
using scene::Every;

std::atomic<bool> interrupted{false};

void on_interrupt(int) {
  if (interrupted.exchange(true)) std::_Exit(130);
}

constexpr std::size_t figure_points = 4000;
constexpr double trusted_residual = 0.01;  // of the energy scale; above it a run warns

}  // namespace

void listen_for_interrupts() {
  interrupted = false;
  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_interrupt);
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may grow no more is a write that fails
}

Runner::Runner(const scene::Scene& scene, State& state, double begin,
               recording::Recorder* recorder, const RunnerOptions& options)
    : scene_(scene),
      state_(state),
      begin_(begin),
      end_(begin + scene.clock.duration),
      recorder_(recorder),
      options_(options),
      progress_(begin_, end_, options.quiet),
      curves_(4 + scene.probes.size()) {}

void Runner::keep_for_figure(double time) {
  if (seen_++ % stride_ != 0) return;
  const Ledger& books = report_.audit.last();
  times_.push_back(time);
  curves_[0].push_back(books.kinetic);
  curves_[1].push_back(books.gravity - report_.audit.first().gravity);
  curves_[2].push_back(books.stored());
  curves_[3].push_back(books.dissipated());
  for (std::size_t i = 0; i < probes_.size(); ++i) curves_[4 + i].push_back(probes_[i]);
  if (times_.size() < 2 * figure_points) return;
  // Every second point is enough.
  const auto halve = [](std::vector<double>& x) {
    for (std::size_t i = 0; 2 * i < x.size(); ++i) x[i] = x[2 * i];
    x.resize((x.size() + 1) / 2);
  };
  halve(times_);
  for (std::vector<double>& curve : curves_) halve(curve);
  stride_ *= 2;
}

bool Runner::observe(const State& now, System& system) {
  seen_time_ = now.time;
  report_.audit.observe(make_ledger(system, now));
  const Observation observation{scene_.model, now, system, report_.audit};
  measure(scene_.probes, observation, probes_);
  report_.probes.resize(probes_.size());
  for (std::size_t i = 0; i < probes_.size(); ++i) {
    ProbeRange& range = report_.probes[i];
    range.last = probes_[i];
    range.least = std::min(range.least, probes_[i]);
    range.largest = std::max(range.largest, probes_[i]);
  }
  keep_for_figure(now.time);
  progress_.at(now.time);
  if (recorder_ != nullptr && !recorder_->sample(observation, probes_)) {
    report_.ending = Ending::cannot_write;
    report_.trouble = recorder_->error();
    return false;
  }
  return !interrupted;
}

bool Runner::note_event(const State& now, const Event& event) {
  ++report_.events;
  if (event.kind == EventKind::touch) ++report_.touches;
  if (recorder_ != nullptr && event.row >= 0 && !recorder_->event(now, event)) {
    report_.ending = Ending::cannot_write;
    report_.trouble = recorder_->error();
    return false;
  }
  return true;
}

bool Runner::restore(std::span<const std::byte> bytes) {
  static_assert(std::is_trivially_copyable_v<Tally>);
  static_assert(std::is_trivially_copyable_v<ProbeRange>);
  const std::size_t ranges = scene_.probes.size() * sizeof(ProbeRange);
  if (bytes.size() != sizeof(Tally) + ranges) return false;
  Tally tally;
  std::memcpy(&tally, bytes.data(), sizeof tally);
  report_.probes.resize(scene_.probes.size());
  if (ranges > 0) {
    std::memcpy(report_.probes.data(), bytes.data() + sizeof tally, ranges);
  }
  report_.audit = tally.audit;
  report_.steps = tally.steps;
  report_.evaluations = tally.evaluations;
  report_.touches = tally.touches;
  report_.events = tally.events;
  return true;
}

bool Runner::checkpoint() {
  const Tally tally{report_.audit, report_.steps, report_.evaluations, report_.touches,
                    report_.events};
  report_.probes.resize(scene_.probes.size());
  const auto counts = std::as_bytes(std::span(&tally, 1));
  const auto ranges = std::as_bytes(std::span(report_.probes));
  std::vector<std::byte> bytes(counts.begin(), counts.end());
  bytes.insert(bytes.end(), ranges.begin(), ranges.end());
  if (recorder_ == nullptr || recorder_->checkpoint(state_, bytes)) return true;
  report_.ending = Ending::cannot_write;
  report_.trouble = recorder_->error();
  return false;
}

void Runner::stop(StepStatus status, System& system) {
  report_.ending = Ending::cannot_go_on;
  report_.trouble = fmt::format("at t = {:.9g} s: {}", state_.time, explain(status));
  const TimeScales scales = time_scales(system, state_);
  if (scales.row >= 0) {
    report_.trouble += fmt::format("\nThe stiffest contact was {}.",
                                   row_name(scene_.model, state_, scales.row));
  }
  if (scene_.clock.kind == ClockKind::fixed) {
    const std::string warning = step_warning(system, state_, scene_.clock.fixed);
    if (!warning.empty()) report_.trouble += fmt::format("\n{}", warning);
  }
}

void Runner::run_adaptive() {
  const scene::RecordSpec& record = scene_.record;
  const double interval = record.interval;
  // A whole number of samples from one checkpoint to the next.
  double part = record.checkpoint;
  if (part > 0 && record.every == Every::interval) {
    part = interval * std::max(1.0, std::ceil(part / interval - 1e-9));
  }
  bool going = true;
  while (going && state_.time < end_) {
    Adaptive clock(scene_.model, scene_.clock.adaptive);
    double until = end_;
    if (part > 0) {
      const double number = std::floor((state_.time - begin_) / part + 1e-9) + 1;
      until = std::min(end_, begin_ + number * part);
    }
    AdaptiveObserver watch;
    System& system = clock.system();
    if (record.every == Every::interval) {
      watch.sample_interval = interval;
      watch.on_sample = [&](const State& now) { going = going && observe(now, system); };
    }
    watch.on_event = [&](const State& now, const Event& event) {
      going = going && note_event(now, event);
      if (record.every == Every::event) going = going && observe(now, system);
    };
    watch.on_step = [&](const State& now) {
      // A step may end where a sample was taken.
      const bool new_step = record.steps && now.time > seen_time_;
      if (record.every == Every::step || (record.every == Every::interval && new_step)) {
        going = going && observe(now, system);
      }
      if (record.every == Every::event) progress_.at(now.time);
      return going && !interrupted;
    };
    StepStatus status = settle(system, 1e-9, state_, {}, Episodes::by_events);
    if (status == StepStatus::ok && record.every != Every::interval &&
        state_.time == begin_) {
      going = observe(state_, system);
    }
    if (status == StepStatus::ok && going) {
      status = clock.advance_to(state_, until, watch);
    }
    report_.steps += clock.counts().steps;
    report_.evaluations += clock.counts().evaluations;
    if (status != StepStatus::ok) {
      stop(status, system);
      return;
    }
    if (!going || interrupted) break;
    if (state_.time >= end_) {
      if (state_.time > seen_time_) observe(state_, system);
    } else {
      going = checkpoint();
    }
  }
}

void Runner::run_fixed() {
  const FixedStepOptions& options = scene_.clock.fixed;
  const scene::RecordSpec& record = scene_.record;
  RealtimeLoop loop(scene_.model, options);
  System& system = loop.clock().system();
  const auto count = [&](double time) {
    return static_cast<std::uint64_t>(std::max(0.0, std::round(time / options.step)));
  };
  const std::uint64_t steps = count(end_ - begin_);
  const std::uint64_t stride = record.every == Every::interval
                                   ? std::max<std::uint64_t>(1, count(record.interval))
                                   : 1;
  const std::uint64_t between = count(record.checkpoint);
  std::uint64_t done = count(state_.time - begin_);
  StepStatus status = loop.clock().settle(state_);
  bool going = status == StepStatus::ok;
  if (going && done == 0) going = observe(state_, system);
  std::vector<std::uint32_t> episodes;
  std::optional<RealtimeThread> realtime;
  if (options_.realtime) {
    realtime.emplace(RealtimeOptions{options.step, options_.priority, options.threads});
    report_.warnings = realtime->refusals();
  }
  while (going && done < steps) {
    episodes.clear();
    for (int i = 0; i < state_.contacts.count; ++i) {
      const std::uint32_t e = state_.contacts.rows[static_cast<std::size_t>(i)].episode;
      if (e != 0) episodes.push_back(e);
    }
    if (realtime) realtime->begin_step();
    status = loop.step(state_);
    if (realtime) realtime->end_step();
    if (status != StepStatus::ok) break;
    ++done;
    ++report_.steps;
    // Contacts that begin and end, as far as a step shows them.
    const bool sampled = record.every != Every::event && done % stride == 0;
    bool settled = false;
    for (int i = 0; i < state_.contacts.count; ++i) {
      const ContactRow& row = state_.contacts.rows[static_cast<std::size_t>(i)];
      if (row.episode == 0 || row.a == no_shape) continue;
      if (std::find(episodes.begin(), episodes.end(), row.episode) != episodes.end()) {
        continue;
      }
      if (!settled) status = loop.clock().settle(state_);
      settled = true;
      going = going && note_event(state_, {EventKind::touch, i, state_.time});
    }
    const bool at_checkpoint = between > 0 && done % between == 0 && done < steps;
    if (sampled || settled || at_checkpoint || done == steps) {
      if (!settled) status = loop.clock().settle(state_);
      if (status != StepStatus::ok) break;
      if (sampled || done == steps || (settled && record.every == Every::event)) {
        going = going && observe(state_, system);
      }
    }
    if (going && at_checkpoint) going = checkpoint();
    if (!sampled && done % 64 == 0) progress_.at(state_.time);
    going = going && !interrupted;
  }
  report_.times = loop.times();
  if (realtime) report_.deadlines = realtime->deadlines();
  report_.missed = realtime ? report_.deadlines.missed() : loop.missed();
  constexpr std::uint64_t stages[] = {1, 3, 4, 1};  // by Method
  report_.evaluations = report_.steps * static_cast<std::uint64_t>(options.substeps) *
                        stages[static_cast<int>(options.method)];
  if (status != StepStatus::ok) {
    stop(status, system);
    return;
  }
  const std::string warning = step_warning(system, state_, options);
  if (!warning.empty()) report_.warnings.push_back(warning);
}

RunReport Runner::run() {
  const auto started = std::chrono::steady_clock::now();
  const double from = state_.time;
  scene_.clock.kind == ClockKind::adaptive ? run_adaptive() : run_fixed();
  report_.elapsed =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  report_.simulated = state_.time - from;
  if (report_.ending == Ending::finished && interrupted) {
    report_.ending = Ending::interrupted;
    report_.trouble = fmt::format("interrupted at t = {:.6g} s", state_.time);
    checkpoint();
  }
  progress_.done();
  if (!(std::fabs(report_.audit.relative()) <= trusted_residual)) {
    report_.warnings.push_back(fmt::format(
        "{:.2g} of the energy is unaccounted for: {}", report_.audit.relative(),
        scene_.clock.kind == ClockKind::fixed
            ? "the steps are too long for this motion. Take more substeps, another "
              "method (clock.method = \"rk4\") or the adaptive clock"
            : "take a smaller clock.rtol"));
  }

  report::Panel energy{.title = "Where the energy is, and where it went",
                       .x_label = "time [s]",
                       .y_label = "energy [J]",
                       .curves = {}};
  constexpr const char* names[] = {"kinetic", "gravity", "stored", "dissipated"};
  for (std::size_t i = 0; i < 4; ++i) {
    energy.curves.push_back({names[i], times_, curves_[i]});
  }
  report_.figure.title = scene_.title;
  report_.figure.note = scene_.file;
  report_.figure.panels.push_back(energy);
  for (std::size_t i = 0; i < scene_.probes.size(); ++i) {
    const scene::Probe& probe = scene_.probes[i];
    report_.figure.panels.push_back({.title = probe.name,
                                     .x_label = "time [s]",
                                     .y_label = fmt::format("[{}]", probe.unit),
                                     .curves = {{probe.name, times_, curves_[4 + i]}}});
  }
  return report_;
}

}  // namespace bristle::cli
