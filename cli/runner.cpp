#include "cli/runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <type_traits>

#include "cli/probes.hpp"

namespace bristle::cli {

namespace {

std::atomic<bool> interrupted{false};

void on_interrupt(int) {
  if (interrupted.exchange(true)) std::_Exit(130);
}

constexpr std::size_t figure_points = 4000;
constexpr double trusted_residual = 0.01;  // of the energy scale; above it a run warns

/// How many steps took longer than the time they simulate, to the width of a bin.
std::uint64_t missed(const StepTimes& times, double step) {
  std::uint64_t count = 0;
  for (int bin = 0; bin < StepTimes::bins; ++bin) {
    if (StepTimes::bin_start(bin) >= step) {
      count += times.counts()[static_cast<std::size_t>(bin)];
    }
  }
  return count;
}

/// The main source of unsupplied energy.
const char* source_of_unsupplied(const Audit& audit) {
  const Works& works = audit.last().works;
  const std::pair<double, const char*> sources[] = {
      {works.normal.unsupplied, "a contact's normal law"},
      {works.friction.unsupplied, "a contact's friction law"},
      {works.limits.unsupplied, "the law of a joint's limits"},
      {works.joint_friction.unsupplied, "the friction law of a joint"}};
  return std::max_element(std::begin(sources), std::end(sources),
                          [](const auto& a, const auto& b) {
                            return std::fabs(a.first) < std::fabs(b.first);
                          })
      ->second;
}

}  // namespace

void ProbeRange::include(const std::array<double, 3>& times,
                         const std::array<double, 3>& values, bool is_size) {
  const double before = values[1] - values[0], after = values[2] - values[1];
  if (!(before * after < 0)) return;
  const double t1 = times[1] - times[0], t2 = times[2] - times[1];
  // y = values[1] + b t + c t² from the middle on
  const double c = (after / t2 - before / t1) / (t1 + t2);
  const double b = before / t1 + c * t1;
  const double extreme = values[1] - 0.25 * b * b / c;
  include(is_size ? std::max(extreme, 0.0) : extreme);
}

void listen_for_interrupts() {
  interrupted = false;
  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_interrupt);
  // A terminal that is closed; not under nohup(1).
  if (std::signal(SIGHUP, on_interrupt) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);  // who reads our output may leave; the run goes on
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
      meter_(scene),
      curves_(4 + scene.probes.size()) {}

void Runner::keep_for_figure(double time) {
  if (seen_++ % stride_ != 0) return;
  const Ledger& ledger = report_.audit.last();
  times_.push_back(time);
  curves_[0].push_back(ledger.kinetic);
  curves_[1].push_back(ledger.gravity - report_.audit.first().gravity);
  curves_[2].push_back(ledger.stored());
  curves_[3].push_back(ledger.dissipated());
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

bool Runner::cannot_write() {
  report_.ending = Ending::cannot_write;
  report_.trouble = recorder_->error();
  return false;
}

bool Runner::sample(const Observation& now) {
  report_.audit = now.audit;
  meter_.measure(now, probes_);
  report_.probes.resize(probes_.size());
  for (std::size_t i = 0; i < probes_.size(); ++i) {
    ProbeRange& range = report_.probes[i];
    range.last = probes_[i];
    range.include(probes_[i]);
  }
  keep_for_figure(now.state.time);
  progress_.at(now.state.time);
  if (recorder_ != nullptr && !recorder_->sample(now, probes_)) return cannot_write();
  return !interrupted;
}

void Runner::follow(const Observation& now) {
  std::rotate(ends_.begin(), ends_.begin() + 1, ends_.end());
  ends_[2].time = now.state.time;
  meter_.measure(now, ends_[2].probes, false);
  known_ends_ = std::min(known_ends_ + 1, 3);
  report_.probes.resize(scene_.probes.size());
  for (std::size_t i = 0; i < scene_.probes.size(); ++i) {
    if (scene_.probes[i].kind == scene::ProbeKind::sensor) continue;  // at samples
    ProbeRange& range = report_.probes[i];
    range.include(ends_[2].probes[i]);
    if (known_ends_ < 3) continue;
    range.include({ends_[0].time, ends_[1].time, ends_[2].time},
                  {ends_[0].probes[i], ends_[1].probes[i], ends_[2].probes[i]},
                  is_size(scene_.probes[i]));
  }
}

bool Runner::note_event(const Event& event) {
  known_ends_ = 0;
  ++report_.events;
  if (event.kind == EventKind::touch) {
    ++report_.touches;
    if (!event.contact.empty()) last_touch_ = event.contact;
  }
  return recorder_ == nullptr || recorder_->event(event) || cannot_write();
}

/// After every step: progress, the wall clock, Ctrl-C.
bool Runner::step_done(const State& now) {
  if (++seen_steps_ % 64 == 0) progress_.at(now.time);
  if (realtime_) {
    realtime_->end_step();
    const bool last = now.time > end_ - 0.5 * scene_.clock.options.step;
    if (!last) realtime_->begin_step();
  }
  return !interrupted;
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
  report_.solves = tally.solves;
  report_.impulse_steps = tally.impulse_steps;
  return true;
}

bool Runner::checkpoint(const State& now) {
  known_ends_ = 0;  // as a run that is resumed begins
  const StepCounts done = counts();
  const Tally tally{report_.audit,  done.steps,  done.evaluations,  report_.touches,
                    report_.events, done.solves, done.impulse_steps};
  report_.probes.resize(scene_.probes.size());
  const auto counts = std::as_bytes(std::span(&tally, 1));
  const auto ranges = std::as_bytes(std::span(report_.probes));
  std::vector<std::byte> bytes(counts.begin(), counts.end());
  bytes.insert(bytes.end(), ranges.begin(), ranges.end());
  return recorder_ == nullptr || recorder_->checkpoint(now, bytes) || cannot_write();
}

void Runner::stop(StepStatus status) {
  report_.ending = Ending::cannot_go_on;
  report_.trouble = fmt::format("at t = {:.9g} s: {}", state_.time, explain(status));
  const Audit& audit = report_.audit;
  // A step that was refused for that is in no ledger.
  if (status == StepStatus::energy_created && audit.residual() > 0) {
    report_.trouble += fmt::format("\nCreated were {:.2g} J, {:.2g} of the energy scale.",
                                   audit.residual(), audit.relative_created());
  }
  const TimeScales scales = time_scales(stepper_->system(), state_);
  if (!scales.fastest.empty()) {
    report_.trouble += fmt::format("\nThe stiffest contact was {}.", scales.fastest);
  } else if (!last_touch_.empty()) {
    report_.trouble += fmt::format("\nThe last to close was {}.",
                                   contact_name(scene_.model, last_touch_));
  }
  const std::string advice = stepper_->advice(state_);
  if (!advice.empty()) report_.trouble += fmt::format("\n{}", advice);
}

/// In real time the wall clock runs from here on.
void Runner::start() {
  if (!options_.realtime) return;
  const StepperOptions& options = scene_.clock.options;
  realtime_.emplace(RealtimeOptions{options.step, options_.priority, options.threads});
  report_.warnings = realtime_->refusals();
  realtime_->begin_step();
}

RunReport Runner::run() {
  const scene::ClockSpec& clock = scene_.clock;
  stepper_ = clock.stepper->make(scene_.model, clock.options);
  before_.steps = report_.steps;
  before_.evaluations = report_.evaluations;
  before_.solves = report_.solves;
  before_.impulse_steps = report_.impulse_steps;
  // In real time the steps have their time to themselves.
  const bool follows =
      !options_.realtime && std::ranges::any_of(scene_.probes, [](const auto& probe) {
        return probe.kind != scene::ProbeKind::sensor;
      });
  const RunSummary summary = bristle::run(
      *stepper_, state_,
      {.end = end_,
       .begin = begin_,
       .every = scene_.record.every,
       .interval = scene_.record.interval,
       .steps = scene_.record.steps && !clock.stepper->fixed_step,
       .checkpoint = scene_.record.checkpoint},
      {.on_start = [this] { start(); },
       .on_sample = [this](const Observation& now) { return sample(now); },
       .on_event = [this](const State&, const Event& event) { return note_event(event); },
       .on_motion = follows ? [this](const Observation& now) { follow(now); }
                            : std::function<void(const Observation&)>{},
       .on_step = [this](const State& now) { return step_done(now); },
       .on_checkpoint = [this](const State& now) { return checkpoint(now); }},
      report_.audit);
  report_.audit = summary.audit;
  report_.elapsed = summary.elapsed;
  report_.simulated = summary.simulated;
  report_.steps = counts().steps;
  report_.evaluations = counts().evaluations;
  report_.passages = summary.counts.passages;
  report_.solves = counts().solves;
  report_.impulse_steps = counts().impulse_steps;
  report_.tension = summary.tension;
  report_.warnings.insert(report_.warnings.end(), summary.warnings.begin(),
                          summary.warnings.end());
  if (const auto* fixed = dynamic_cast<const FixedStep*>(stepper_.get())) {
    report_.times = fixed->times();
    report_.missed = missed(report_.times, clock.options.step);
  }
  if (realtime_) {
    report_.deadlines = realtime_->deadlines();
    report_.missed = report_.deadlines.missed();
  }
  if (summary.status != StepStatus::ok) stop(summary.status);
  if (report_.ending == Ending::finished && interrupted) {
    report_.ending = Ending::interrupted;
    report_.trouble = fmt::format("interrupted at t = {:.6g} s", state_.time);
    checkpoint(state_);
  }
  progress_.done();
  if (!(std::fabs(report_.audit.relative()) <= trusted_residual)) {
    report_.warnings.push_back(fmt::format(
        "the balance error is {:.2g} of the energy scale: {}", report_.audit.relative(),
        scene_.clock.stepper->fixed_step
            ? "the steps are too long for this motion. Take shorter steps, more "
              "substeps, another clock.method, or the adaptive integrator"
            : "take a smaller clock.rtol"));
  }
  if (report_.audit.relative_unsupplied() > trusted_residual) {
    report_.warnings.push_back(fmt::format(
        "{:.2g} of the energy scale was created: {} is not passive in this motion; "
        "`bristle law show` says which laws are",
        report_.audit.relative_unsupplied(), source_of_unsupplied(report_.audit)));
  }

  report::Panel energy{.title = "Energy ledger",
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
    if (!probe.in_figure) continue;
    report_.figure.panels.push_back({.title = probe.name,
                                     .x_label = "time [s]",
                                     .y_label = fmt::format("[{}]", probe.unit),
                                     .curves = {{probe.name, times_, curves_[4 + i]}}});
  }
  return report_;
}

}  // namespace bristle::cli
