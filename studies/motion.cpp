#include "studies/motion.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace bristle::studies {

namespace {

Model built(const ModelBuilder& builder) {
  Result<Model> model = builder.build();
  if (!model) {
    std::fprintf(stderr, "%s\n", model.error().c_str());
    std::abort();
  }
  return *std::move(model);
}

std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

Motion::Motion(const ModelBuilder& builder, const Clock& clock)
    : model_(std::make_unique<Model>(built(builder))),
      clock_(clock),
      state_(make_state(*model_)) {
  if (clock.adaptive) {
    adaptive_ = std::make_unique<Adaptive>(*model_, AdaptiveOptions{.rtol = clock.rtol});
  } else {
    FixedStepOptions options = clock.fixed;
    options.step = clock.substep();  // a substep at a time, to see them all
    options.substeps = 1;
    fixed_ = std::make_unique<FixedStep>(*model_, options);
  }
}

Motion::~Motion() = default;
Motion::Motion(Motion&&) noexcept = default;

System& Motion::system() { return adaptive_ ? adaptive_->system() : fixed_->system(); }

void Motion::settle() {
  if (adaptive_) {
    bristle::settle(system(), 1e-9, state_, {}, Episodes::by_events);
  } else {
    fixed_->settle(state_);
  }
}

void Motion::set_friction_memory(int row, int field, double value) {
  const std::size_t column = at(MemoryLayout(*model_).friction + field);
  state_.contacts.memory[column * at(model_->row_capacity) + at(row)] = value;
}

double Motion::friction_memory(const State& state, int row, int field) const {
  const std::size_t column = at(MemoryLayout(*model_).friction + field);
  return state.contacts.memory[column * at(model_->row_capacity) + at(row)];
}

void Motion::audit(const State& state) { audit_.observe(make_ledger(system(), state)); }

bool Motion::go(double until, const Watch& watch) {
  const StepStatus status =
      adaptive_ ? go_adaptive(until, watch) : go_fixed(until, watch);
  if (status == StepStatus::ok) return true;
  trouble_ = "at t = ";
  trouble_ += std::to_string(state_.time);
  trouble_ += " s: ";
  trouble_ += explain(status);
  return false;
}

StepStatus Motion::go_adaptive(double until, const Watch& watch) {
  const StepStatus status =
      bristle::settle(system(), 1e-9, state_, {}, Episodes::by_events);
  if (status != StepStatus::ok) return status;
  audit(state_);
  AdaptiveObserver observer;
  observer.on_event = [&](const State& now, const Event& event) {
    audit(now);
    if (watch.on_event) watch.on_event(now, event);
  };
  observer.on_step = [&](const State& now) {
    audit(now);
    return !watch.on_step || watch.on_step(now);
  };
  if (watch.on_sample) {
    observer.sample_interval = watch.sample_interval;
    observer.on_sample = watch.on_sample;
  }
  return adaptive_->advance_to(state_, until, observer);
}

StepStatus Motion::go_fixed(double until, const Watch& watch) {
  StepStatus status = fixed_->settle(state_);
  if (status != StepStatus::ok) return status;
  audit(state_);
  const double h = clock_.substep();
  const double begin = state_.time;
  const auto steps = static_cast<std::uint64_t>(std::llround((until - begin) / h));
  const auto stride =
      static_cast<std::uint64_t>(std::max(1.0, std::round(watch.sample_interval / h)));
  std::vector<ContactRow> before;
  for (std::uint64_t i = 0; i < steps; ++i) {
    if (i % stride == 0 && watch.on_sample) watch.on_sample(state_);
    before.assign(state_.contacts.rows.begin(),
                  state_.contacts.rows.begin() + state_.contacts.count);
    status = fixed_->step(state_);
    if (status == StepStatus::ok) status = fixed_->settle(state_);
    if (status != StepStatus::ok) return status;
    ++fixed_steps_;
    audit(state_);
    if (watch.on_event) {
      const auto episode_in = [](const auto& rows, int count, const ContactRow& row) {
        for (int k = 0; k < count; ++k) {
          const ContactRow& other = rows[at(k)];
          if (other.a == row.a && other.b == row.b && other.feature == row.feature) {
            return other.episode;
          }
        }
        return 0u;
      };
      const int had = static_cast<int>(before.size());
      for (int k = 0; k < had; ++k) {
        const ContactRow& row = before[at(k)];
        if (row.episode == 0) continue;
        if (episode_in(state_.contacts.rows, state_.contacts.count, row) == row.episode) {
          continue;
        }
        const double left = row.rate < 0 ? std::min(h, -row.depth / row.rate) : h;
        watch.on_event(state_, {EventKind::lift_off, k, state_.time - h + left});
      }
      for (int k = 0; k < state_.contacts.count; ++k) {
        const ContactRow& row = state_.contacts.rows[at(k)];
        if (row.episode == 0 || episode_in(before, had, row) == row.episode) continue;
        const double since = row.rate > 0 ? std::min(h, row.depth / row.rate) : h;
        watch.on_event(state_, {EventKind::touch, k, state_.time - since});
      }
    }
    if (watch.on_step && !watch.on_step(state_)) return status;
  }
  return status;
}

ContactNow Motion::contact(const State& state) {
  make_ledger(system(), state);  // evaluates the laws
  ContactWorkspace& ws = system().contacts;
  ContactNow now;
  for (int i = 0; i < state.contacts.count; ++i) {
    const ContactRow& row = state.contacts.rows[at(i)];
    if (row.a == no_shape || at(i) >= at(model_->row_capacity)) continue;
    const auto value = [&](std::size_t column) {
      return ws.columns[column * ws.capacity + at(i)];
    };
    const Frame<double>& frame = ws.places[at(i)].frame;
    now.exists = true;
    now.row = i;
    now.episode = row.episode;
    now.depth = value(RowColumns::depth);
    now.rate = value(RowColumns::rate);
    now.normal = value(RowColumns::normal);
    now.slip = {value(RowColumns::slip_x), value(RowColumns::slip_y)};
    now.slip_world = frame.to_world(now.slip);
    now.friction =
        frame.to_world({value(RowColumns::friction_x), value(RowColumns::friction_y)});
    if (row.episode != 0) break;
  }
  return now;
}

Ledger Motion::ledger(const State& state) { return make_ledger(system(), state); }

std::uint64_t Motion::steps() const {
  return adaptive_ ? adaptive_->counts().steps : fixed_steps_;
}

std::uint64_t Motion::evaluations() const {
  constexpr std::uint64_t stages[] = {1, 3, 4, 1};  // by Method
  return adaptive_ ? adaptive_->counts().evaluations
                   : fixed_steps_ * stages[static_cast<int>(clock_.fixed.method)];
}

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
    if (clock.adaptive) motion.go(start);
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
  if (!clock.adaptive) return peak;
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
