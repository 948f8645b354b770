#include "studies/motion.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace bristle::studies {

Model built(const ModelBuilder& builder) {
  Result<Model> model = builder.build();
  if (!model) {
    std::fprintf(stderr, "%s\n", model.error().c_str());
    std::abort();
  }
  return *std::move(model);
}

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

Motion::Motion(const ModelBuilder& builder, const Clock& clock)
    : model_(std::make_unique<Model>(built(builder))),
      clock_(clock),
      state_(make_state(*model_)) {
  StepperOptions options = clock.options;
  options.step = clock.substep();  // a substep at a time, to see them all
  options.substeps = 1;
  stepper_ = clock.stepper->make(*model_, options);
}

Motion::~Motion() = default;
Motion::Motion(Motion&&) noexcept = default;

System& Motion::system() { return stepper_->system(); }

void Motion::settle() { stepper_->settle(state_); }

void Motion::set_friction_memory(int row, int field, double value) {
  const std::size_t column = at(MemoryLayout(*model_).friction + field);
  state_.contacts.memory[column * state_.contacts.capacity() + at(row)] = value;
}

double Motion::friction_memory(const State& state, int row, int field) const {
  const std::size_t column = at(MemoryLayout(*model_).friction + field);
  return state.contacts.memory[column * state.contacts.capacity() + at(row)];
}

namespace {

/// When an event happened that a step only shows: as the depth moves at its end.
Event within_step(Event event, const ContactView& contacts, const State& state,
                  double step) {
  const auto row = contacts.find(event.contact);
  if (!row) return event;
  const double since = state.contacts.depth[*row] / state.contacts.rate[*row];
  if (since > 0) event.time -= std::min(since, step);
  return event;
}

}  // namespace

bool Motion::go(double until, const Watch& watch) {
  RunObserver observer;
  observer.look_interval = watch.sample_interval;
  observer.on_look = watch.on_sample;
  observer.on_step = watch.on_step;
  if (watch.on_event) {
    observer.on_event = [&](const State& now, const Event& event) {
      const ContactView contacts(*model_, now, system().pools.points);
      watch.on_event(now, clock_.stepper->locates_events
                              ? event
                              : within_step(event, contacts, now, clock_.substep()));
      return true;
    };
  }
  // A study says by its checks how good its clock is.
  constexpr double most_created = 0.1;
  const RunSummary summary =
      run(*stepper_, state_,
          {.end = until, .every = Sampling::step, .most_created = most_created}, observer,
          audit_);
  audit_ = summary.audit;
  if (summary.status == StepStatus::ok) return true;
  trouble_ = "at t = ";
  trouble_ += std::to_string(state_.time);
  trouble_ += " s: ";
  trouble_ += explain(summary.status);
  return false;
}

ContactNow Motion::contact(const State& state) {
  make_ledger(system(), state);  // evaluates the laws
  ContactNow now;
  bool closed = false;
  const ContactView contacts(*model_, state, system().pools.points);
  contacts.for_each([&](const ContactInfo& contact) {
    if (closed) return;
    closed = contact.episode != 0;
    now = {.exists = true,
           .row = static_cast<int>(contact.row),
           .episode = contact.episode,
           .depth = contact.depth,
           .rate = contact.rate,
           .normal = contact.normal_force,
           .slip = contact.slip,
           .friction = contact.friction,
           .slip_world = contact.slip_world};
  });
  return now;
}

Ledger Motion::ledger(const State& state) { return make_ledger(system(), state); }

std::uint64_t Motion::steps() const { return stepper_->counts().steps; }

std::uint64_t Motion::evaluations() const { return stepper_->counts().evaluations; }

SolveCounts Motion::solves() const { return stepper_->counts().solves; }

Peak peak_of(const Series& series) {
  if (series.y.empty()) return {0, std::nan("")};
  const auto top = std::max_element(series.y.begin(), series.y.end());
  const auto i = static_cast<std::size_t>(top - series.y.begin());
  if (i == 0 || i + 1 == series.y.size()) return {series.x[i], series.y[i]};
  const double left = series.x[i - 1] - series.x[i],
               right = series.x[i + 1] - series.x[i];
  const double a = (series.y[i - 1] - *top) / left, b = (series.y[i + 1] - *top) / right;
  const double curvature = (b - a) / (right - left);
  if (!(curvature < 0)) return {series.x[i], *top};
  const double slope = a - curvature * left;
  const double shift = -slope / (2 * curvature);
  if (shift < left || shift > right) return {series.x[i], *top};
  return {series.x[i] + shift, *top + 0.5 * slope * shift};
}

Peak largest_of(const std::function<Motion()>& begin, double from, double to,
                const std::function<double(const ContactNow&)>& value,
                const Clock& clock) {
  const auto sampled = [&](double first, double last, int count) {
    Motion motion = begin();
    const double interval = (last - first) / count;
    const double start = std::max(first - interval, motion.state().time);
    if (clock.locates_events()) motion.go(start);
    Series series;
    Watch watch;
    watch.sample_interval = interval;
    watch.on_sample = [&](const State& now) {
      if (now.time < first - 0.5 * interval || now.time > last + 0.5 * interval) return;
      const ContactNow contact = motion.contact(now);
      if (contact.depth > 0) series.add(now.time, value(contact));
    };
    motion.go(last + interval, watch);
    return series;
  };
  Peak peak = peak_of(sampled(from, to, 1000));
  double width = (to - from) / 1000;
  if (!clock.locates_events()) return peak;
  // What comes long before the end may hide between the first two samples.
  double early = from + width;
  for (int look = 0; look < 2 && early - from > 1e-12; ++look) {
    const Peak other = peak_of(sampled(from, early, 100));
    if (other.value > peak.value) {
      peak = other;
      width = (early - from) / 100;
    }
    early = from + (early - from) / 300;
  }
  for (int pass = 0; pass < 6; ++pass) {
    const double first = std::max(from, peak.at - 2 * width);
    const double last = std::min(to, peak.at + 2 * width);
    if (last - first < 1e-12) break;  // a clock ends at a time to 1e-15 s
    const Peak closer = peak_of(sampled(first, last, 100));
    if (std::isnan(closer.value)) break;
    const bool done =
        std::fabs(closer.value - peak.value) <= 1e-13 * std::fabs(closer.value);
    peak = closer;
    if (done) break;
    width = (last - first) / 100;
  }
  return peak;
}

Line line_through(const Series& series, double from) {
  double n = 0, x = 0, y = 0;
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    if (series.x[i] < from) continue;
    n += 1;
    x += series.x[i];
    y += series.y[i];
  }
  x /= n;
  y /= n;
  double xx = 0, xy = 0;
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    if (series.x[i] < from) continue;
    xx += (series.x[i] - x) * (series.x[i] - x);
    xy += (series.x[i] - x) * (series.y[i] - y);
  }
  const double slope = xy / xx;
  return {y - slope * x, slope};
}

Sym3<double> ball_inertia(double mass, double radius) {
  const double i = 0.4 * mass * radius * radius;
  return Sym3<double>::diagonal(i, i, i);
}

}  // namespace bristle::studies
