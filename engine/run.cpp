#include "bristle/run.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <unordered_set>

namespace bristle {

namespace {

/// A run in progress.
class Run {
 public:
  Run(Stepper& stepper, State& state, const RunOptions& options,
      const RunObserver& observer, const Audit& audit)
      : stepper_(stepper),
        state_(state),
        options_(options),
        observer_(observer),
        begin_(std::isnan(options.begin) ? state.time : options.begin) {
    summary_.audit = audit;
    // A whole number of samples from one checkpoint to the next.
    part_ = options.checkpoint;
    if (part_ > 0 && options.every == Sampling::interval) {
      part_ =
          options.interval * std::max(1.0, std::ceil(part_ / options.interval - 1e-9));
    }
  }

  RunSummary go() {
    const double from = state_.time;
    const StepCounts before = stepper_.counts();
    const StepObserver watch = observer();
    StepStatus status = begin();
    const auto started = std::chrono::steady_clock::now();
    if (status == StepStatus::ok && observer_.on_start) observer_.on_start();
    while (status == StepStatus::ok && going_ && state_.time < options_.end) {
      const double until = next_stop();
      status = stepper_.advance_to(state_, until, watch);
      if (created_ && status == StepStatus::ok) status = StepStatus::energy_created;
      if (status != StepStatus::ok || !going_) break;
      if (until >= options_.end) break;
      going_ = !observer_.on_checkpoint || observer_.on_checkpoint(state_);
      // As a run that is resumed from here begins.
      stepper_.restart();
      status = stepper_.settle(state_);
    }
    if (status == StepStatus::ok && going_ && state_.time > seen_time_) sample(state_);
    if (created_) status = StepStatus::energy_created;
    const auto now = std::chrono::steady_clock::now();
    summary_.elapsed = std::chrono::duration<double>(now - started).count();
    if (status == StepStatus::ok ? going_ : status == StepStatus::energy_created) {
      advise();
    }
    if (!creating_.empty()) summary_.warnings.push_back(creating_);
    for (std::string& warning : stepper_.warnings()) {
      summary_.warnings.push_back(std::move(warning));
    }
    summary_.status = status;
    summary_.stopped = !going_;
    summary_.counts = stepper_.counts();
    summary_.steps = summary_.counts.steps - before.steps;
    summary_.simulated = state_.time - from;
    return summary_;
  }

 private:
  StepStatus begin() {
    const StepStatus status = stepper_.settle(state_);
    const bool at_start = state_.time == begin_;
    if (status == StepStatus::ok && at_start) advise();
    if (status == StepStatus::ok && at_start && options_.every != Sampling::interval) {
      sample(state_);
    }
    return status;
  }

  /// The next checkpoint, or the end.
  double next_stop() const {
    if (!(part_ > 0)) return options_.end;
    const double number = std::floor((state_.time - begin_) / part_ + 1e-9) + 1;
    return std::min(options_.end, begin_ + number * part_);
  }

  /// The stepper's callbacks that the sampling options need.
  StepObserver observer() {
    StepObserver watch;
    if (options_.every == Sampling::interval) {
      watch.sample_interval = options_.interval;
      watch.on_sample = [this](const State& now) { sample(now); };
    } else {
      watch.sample_interval = observer_.look_interval;
      watch.on_sample = observer_.on_look;
    }
    if (observer_.on_event || options_.every == Sampling::event) {
      watch.on_event = [this](const State& now, const Event& event) {
        if (observer_.on_event) going_ = going_ && observer_.on_event(now, event);
        if (options_.every == Sampling::event) sample(now);
      };
    }
    watch.on_step = [this](const State& now) {
      if (observer_.on_motion) show_motion(now);
      // A step may end where a sample was taken.
      const bool every_step = options_.every == Sampling::step || options_.steps;
      if (every_step && now.time > seen_time_) sample(now);
      if (observer_.on_step) going_ = going_ && observer_.on_step(now);
      return going_ && !created_;
    };
    return watch;
  }

  void sample(const State& now) {
    seen_time_ = now.time;
    System& system = stepper_.system();
    summary_.audit.observe(make_ledger(system, now));
    if (system.model->has_patches) note_tension(now);
    // Of the first steps, what they turn over says little.
    if (!created_ && summary_.audit.has_created(options_.most_created) &&
        stepper_.counts().steps >= 10) {
      created_ = true;
      name_strongest(now);
    }
    if (!observer_.on_sample || !going_) return;
    going_ = observer_.on_sample({*system.model, now, system, summary_.audit});
  }

  void note_tension(const State& now) {
    const System& system = stepper_.system();
    const ContactView contacts(*system.model, now, system.pools.points);
    contacts.for_each([&](const ContactInfo& contact) {
      PatchTension& tension = summary_.tension;
      tension.largest = std::max(tension.largest, contact.tension);
      if (contact.tension > 1 && pulling_.insert(contact.episode).second) {
        ++tension.contacts;
      }
    });
  }

  /// The contact that pressed most where energy had been created.
  void name_strongest(const State& now) {
    const System& system = stepper_.system();
    const ContactView contacts(*system.model, now, system.pools.points);
    double most = 0;
    contacts.for_each([&](const ContactInfo& contact) {
      if (!(contact.normal_force > most)) return;
      most = contact.normal_force;
      creating_ = "the contact of \"" + std::string(contacts.shape_name(contact.key.a)) +
                  "\" with \"" + std::string(contacts.shape_name(contact.key.b)) +
                  "\" pressed most where energy had been created";
    });
  }

  void show_motion(const State& now) {
    System& system = stepper_.system();
    Audit audit = summary_.audit;
    audit.observe(make_ledger(system, now));
    observer_.on_motion({*system.model, now, system, audit});
  }

  /// What is wrong with the stepper's options, said once: at the start, or at the end.
  void advise() {
    if (!summary_.warnings.empty()) return;
    std::string advice = stepper_.advice(state_);
    if (!advice.empty()) summary_.warnings.push_back(std::move(advice));
  }

  Stepper& stepper_;
  State& state_;
  const RunOptions& options_;
  const RunObserver& observer_;
  double begin_;
  double part_ = 0;  // from one checkpoint to the next [s]
  bool going_ = true;
  bool created_ = false;  // energy, more than may be
  std::string creating_;  // by which contact
  double seen_time_ = -std::numeric_limits<double>::infinity();  // of the last sample
  std::unordered_set<std::uint32_t> pulling_;  // episodes that pulled somewhere
  RunSummary summary_;
};

template <class Options>
RunSummary simulate_with(Stepper& stepper, State& state, const Options& options,
                         const Observer& observer) {
  return run(stepper, state,
             {.end = state.time + options.duration,
              .every = options.observe_every > 0 ? Sampling::interval : Sampling::step,
              .interval = options.observe_every},
             {.on_sample = observer});
}

}  // namespace

RunSummary run(Stepper& stepper, State& state, const RunOptions& options,
               const RunObserver& observer, const Audit& audit) {
  return Run(stepper, state, options, observer, audit).go();
}

RunSummary simulate(const Model& model, State& state, const SimulateOptions& options,
                    const Observer& observer) {
  FixedStep stepper(model, options.clock);
  RunSummary summary = simulate_with(stepper, state, options, observer);
  summary.times = stepper.times();
  return summary;
}

RunSummary simulate(const Model& model, State& state,
                    const SimulateAdaptiveOptions& options, const Observer& observer) {
  Adaptive stepper(model, options.clock);
  return simulate_with(stepper, state, options, observer);
}

}  // namespace bristle
