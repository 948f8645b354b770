#include "adapters/sundials/sundials_clock.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "adapters/sundials/solver.hpp"
#include "bristle/adaptive/event_location.hpp"
#include "bristle/adaptive/sampler.hpp"
#include "bristle/steppers.hpp"

namespace bristle {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// Of the time that an impact takes to come to its depth: the first step after touch-down,
// and the longest before the contact is well felt.
constexpr double first_part = 0.05, longest_part = 0.2;
constexpr double felt = 0.1;  // of its depth

// Guards of friction are forces: their round-off, of a newton or of a smaller normal
// force.
constexpr double round_off = 1e-10;

constexpr double shortest = 1e-14;  // a first step is not tried again below [s]

// Which orders there are (cvode.h, arkode_butcher_erk.h, arkode_butcher_dirk.h).
bool has_order(SundialsMethod method, int order) {
  if (order == 0) return true;
  switch (method) {
    case SundialsMethod::cvode_bdf:
      return order >= 1 && order <= 5;
    case SundialsMethod::cvode_adams:
      return order >= 1 && order <= 12;
    case SundialsMethod::arkode_erk:
      return order >= 2 && order <= 8 && order != 7;
    case SundialsMethod::arkode_dirk:
      return order >= 2 && order <= 5;
  }
  return false;
}

}  // namespace

class SundialsIntegrator::Run final : public sundials::Problem {
 public:
  Run(const Model& model, const SundialsOptions& options)
      : options_(options),
        ode_(model),
        scales_(ode_),
        context_(sundials::make_context()) {}

  StepStatus advance_to(State& state, double until, const StepObserver& observer);

  StepCounts counts() const noexcept {
    StepCounts counts = counts_;
    counts.evaluations = ode_.evaluations();
    counts.contact_evaluations = ode_.contact_evaluations();
    const bool implicit = options_.method == SundialsMethod::cvode_bdf ||
                          options_.method == SundialsMethod::arkode_dirk;
    if (implicit) counts.implicit_steps = counts.steps;
    return counts;
  }
  System& system() noexcept { return ode_.system(); }
  const std::string& error() const noexcept { return error_; }

  bool rates(double t, std::span<const double> y, double* rate) override;
  bool slopes(double t, std::span<const double> y, std::span<const double> rate,
              double* const* columns) override;
  void watch(double t, std::span<const double> y, double* values) override;
  void allowances(std::span<const double> y, double* allowed) override;

 private:
  using Vector = MotionOde::Vector;

  /// What SUNDIALS watches of a row that acts: all its guards.
  struct Acting {
    RowId id;
    std::size_t row;
  };
  /// And of an open one: the depth, and how fast it grows. (Where that falls through zero
  /// the depth is largest: a contact that comes and goes within a step is met on the way
  /// there.) A place that empty_row has keeps what it had, so that nothing seems to
  /// happen.
  struct Open {
    RowId id = empty_row;
    std::size_t row = 0;
    double offset = 0;  // a contact that has just opened begins a trifle inside [m]
    double depth = -1, approach = -1;
  };
  /// A contact that has just begun.
  struct Fresh {
    std::uint32_t episode;
    Impact impact;
  };

  std::size_t number_of(std::size_t reduced) const {
    return reduced < ode_.s_at() ? reduced : reduced + 2;
  }
  std::size_t reduced_size() const { return ode_.size() - 2; }
  void expand(double t, std::span<const double> y);
  void measure(double t);

  StepStatus settle(State& state);
  void list_acting();
  bool is_turn(std::size_t i) const;
  void note_fresh(const State& state);
  double longest_step() const;
  StepStatus begin(State& state, const StepObserver& observer);
  StepStatus restart(const State& state, double first_step);
  void watch_all();
  bool watch_open();
  bool aim();
  bool keep_past();
  void find_events(bool root);
  bool leapt() const;
  void sample(const State& state, double from, const StepObserver& observer);
  StepStatus accept(State& state, bool root, double until, const StepObserver& observer);
  StepStatus failed();
  void count();

  SundialsOptions options_;
  MotionOde ode_;
  ErrorScales scales_;
  sundials::Owned<SUNContext> context_;
  std::map<std::size_t, std::unique_ptr<sundials::Solver>> solvers_;  // by their size
  sundials::Solver* solver_ = nullptr;
  StepCounts counts_;
  long steps_ = 0, rejected_ = 0;  // of the solver, as counted so far
  std::string error_;

  // y as MotionOde has it; SUNDIALS has neither s nor t, and all else less `shift_`:
  // what settling sets back to zero, and tiny corrections, need not end a method's past.
  Vector full_, rate_, slopes_, scale_, shift_;

  std::vector<RowId> acting_, acting_before_;
  std::vector<Acting> watched_;
  std::vector<Open> open_;
  std::vector<int> directions_;  // of the guards of watched_, then those of open_
  GuardReading now_, before_;    // at the end of a step and at its beginning
  double measured_at_ = -1;      // when now_ was read [s]
  std::vector<std::size_t> events_;
  std::vector<std::pair<Event, RowId>> happened_;  // and the row as it was

  std::vector<Fresh> fresh_;
  double length_ = 1e-3;         // planned for the next step [s]
  double flight_length_ = 1e-3;  // before the last touch [s]
  double reach_ = HUGE_VAL;      // how far there is room to look for contacts [s]
  double first_step_ = 0;        // after the last restart [s]
  bool first_ = false;           // no step since then

  Sampler sampler_;
};

void SundialsIntegrator::Run::expand(double t, std::span<const double> y) {
  full_.resize(ode_.size());
  for (std::size_t i = 0; i < y.size(); ++i) full_[number_of(i)] = y[i] + shift_[i];
  full_[ode_.s_at()] = 0;
  full_[ode_.t_at()] = t;
}

bool SundialsIntegrator::Run::rates(double t, std::span<const double> y, double* rate) {
  expand(t, y);
  rate_.resize(ode_.size());
  ode_.rates(full_, rate_.data());
  double size = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    rate[i] = rate_[number_of(i)];
    size += std::abs(rate[i]);
  }
  return std::isfinite(size);
}

/// Nothing depends on the ledger.
bool SundialsIntegrator::Run::slopes(double t, std::span<const double> y,
                                     std::span<const double> rate,
                                     double* const* columns) {
  expand(t, y);
  rate_.resize(ode_.size());
  for (std::size_t r = 0; r < y.size(); ++r) rate_[number_of(r)] = rate[r];
  scales_.scales(full_, scale_);
  double size = 0;
  for (std::size_t i = 0; i < ode_.s_at(); ++i) {
    scales_.differentiate(full_, rate_.data(), i, scale_, slopes_);
    for (std::size_t r = 0; r < y.size(); ++r) {
      columns[i][r] = slopes_[number_of(r)];
      size += std::abs(columns[i][r]);
    }
  }
  for (std::size_t i = ode_.s_at(); i < y.size(); ++i) {
    std::fill_n(columns[i], y.size(), 0.0);
  }
  return std::isfinite(size);
}

void SundialsIntegrator::Run::allowances(std::span<const double> y, double* allowed) {
  expand(solver_->time(), y);
  scales_.allowances(options_.rtol, full_, scale_);
  for (std::size_t i = 0; i < y.size(); ++i) allowed[i] = scale_[number_of(i)];
}

/// Reads all guards at full_, which belongs to t. Where a law slides for long its guard
/// may be zero but for round-off, whose crossings mean nothing: a guard of friction
/// leaves its side a trifle late.
void SundialsIntegrator::Run::measure(double t) {
  ode_.measure(full_, !acting_.empty());
  ode_.read(now_);
  const GuardTable& table = ode_.guards();
  for (std::size_t g = 0; g < table.count(); ++g) {
    const std::size_t row = table.row_of(g);
    if (!ode_.acts(row) || table.law_of(g) != LawFamily::friction) continue;
    now_.guards[g] += table.side(g) * round_off * std::min(1.0, ode_.normal_force(row));
  }
  measured_at_ = t;
}

void SundialsIntegrator::Run::watch(double t, std::span<const double> y, double* values) {
  expand(t, y);
  measure(t);
  const GuardTable& table = ode_.guards();
  for (const Acting& w : watched_) {
    for (std::size_t g = table.depth_of(w.row); g < table.end_of(w.row); ++g) {
      *values++ =
          table.side(g) == 0 ? 0 : now_.guards[g];  // a law whose side is not known
    }
  }
  for (Open& w : open_) {
    if (w.id != empty_row) {
      w.depth = now_.guards[table.depth_of(w.row)] - w.offset;
      w.approach = now_.approach[w.row];
    }
    *values++ = w.depth;
    *values++ = w.approach;
  }
}

/// Contacts are looked for as far as the next step leads; where there are too many of
/// them, it leads less far.
StepStatus SundialsIntegrator::Run::settle(State& state) {
  const double horizon = std::min(length_, reach_);
  const MotionOde::Settled settled = ode_.settle(state, horizon);
  if (settled.part < 1) reach_ = settled.part * horizon;
  return settled.status;
}

void SundialsIntegrator::Run::list_acting() {
  acting_.clear();
  for (const RowId& row : ode_.rows()) {
    if (row.acts()) acting_.push_back(row);
  }
}

/// Whether a number of y says how far a frame has turned: settling sets that to zero.
bool SundialsIntegrator::Run::is_turn(std::size_t i) const {
  const std::span<const MemoryEntry> memory = ode_.core_memory();
  return i >= ode_.memory_at() && i - ode_.memory_at() < memory.size() &&
         memory[i - ode_.memory_at()].kind == MemoryKind::frame;
}

/// Contacts that have just begun, until they are felt.
void SundialsIntegrator::Run::note_fresh(const State& state) {
  std::vector<Fresh> now;
  for (std::size_t i = 0; i < ode_.rows().size(); ++i) {
    const std::uint32_t episode = ode_.rows()[i].episode;
    const auto [depth, rate] = ode_.start_motion(i);
    if (!ode_.acts(i) || !(rate > 0)) continue;
    const auto known = std::find_if(fresh_.begin(), fresh_.end(),
                                    [&](const Fresh& f) { return f.episode == episode; });
    if (known != fresh_.end()) {
      if (depth < felt * known->impact.depth) now.push_back(*known);
    } else if (find_episode(acting_before_, episode) < 0) {
      const Impact impact = scales_.impact(state, i);
      if (impact.time > 0 && depth < felt * impact.depth) {
        now.push_back({episode, impact});
      }
    }
  }
  fresh_ = std::move(now);
}

double SundialsIntegrator::Run::longest_step() const {
  double longest = std::min(options_.longest_step, reach_);
  for (const Fresh& f : fresh_) longest = std::min(longest, longest_part * f.impact.time);
  return longest;
}

/// The functions to watch, for a solver without a past.
void SundialsIntegrator::Run::watch_all() {
  const std::span<const RowId> rows = ode_.rows();
  watched_.clear();
  std::size_t open = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].acts()) {
      watched_.push_back({rows[i], i});
    } else if (rows[i] != empty_row) {
      ++open;
    }
  }
  open_.assign(open + 8, {});  // some may come into reach
  watch_open();
}

/// Rows may stand elsewhere now, but each keeps its place among what is watched, so that
/// a solver may go on. False where there are too few places.
bool SundialsIntegrator::Run::watch_open() {
  const std::span<const RowId> rows = ode_.rows();
  const auto row_of = [&](const RowId& id) {
    return static_cast<std::size_t>(std::find(rows.begin(), rows.end(), id) -
                                    rows.begin());
  };
  for (Acting& w : watched_) w.row = row_of(w.id);
  std::vector<bool> placed(rows.size(), false);
  for (Open& w : open_) {
    if (w.id == empty_row) continue;
    w.row = row_of(w.id);
    if (w.row == rows.size()) {
      w.id = empty_row;
    } else {
      placed[w.row] = true;
    }
  }
  auto place = open_.begin();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (placed[i] || rows[i].acts() || rows[i] == empty_row) continue;
    while (place != open_.end() && place->id != empty_row) ++place;
    if (place == open_.end()) return false;
    place->id = rows[i];
    place->row = i;
    place->offset = std::max(ode_.start_motion(i).depth, 0.0);
  }
  return true;
}

/// Touches rise; what acts leaves the side that it is held on. True where that changed.
bool SundialsIntegrator::Run::aim() {
  const GuardTable& table = ode_.guards();
  std::vector<int> directions;
  for (const Acting& w : watched_) {
    for (std::size_t g = table.depth_of(w.row); g < table.end_of(w.row); ++g) {
      directions.push_back(-static_cast<int>(table.side(g)));
    }
  }
  for (std::size_t k = 0; k < open_.size(); ++k) {
    directions.push_back(1);
    directions.push_back(-1);
  }
  const bool changed = directions != directions_;
  directions_ = std::move(directions);
  return changed;
}

/// A solver of the right size, from the settled state on.
StepStatus SundialsIntegrator::Run::restart(const State& state, double first_step) {
  const std::size_t n = reduced_size();
  if (solvers_.size() > 16 && !solvers_.contains(n)) solvers_.clear();
  std::unique_ptr<sundials::Solver>& solver = solvers_[n];
  if (!solver) {
    solver = std::make_unique<sundials::Solver>(context_.get(), options_, n, *this);
  }
  solver_ = solver.get();
  steps_ = rejected_ = 0;
  shift_.assign(n, 0.0);
  const std::span<double> y = solver_->y();
  for (std::size_t i = 0; i < n; ++i) y[i] = ode_.start()[number_of(i)];
  expand(state.time, y);
  measure(state.time);
  ode_.guards().hold(now_.guards);
  before_ = now_;
  watch_all();
  aim();
  first_step_ = std::max(std::min(first_step, longest_step()), 1e-15);
  first_ = true;
  const bool good = solver_->restart({state.time, first_step_, directions_});
  return good ? StepStatus::ok : failed();
}

StepStatus SundialsIntegrator::Run::begin(State& state, const StepObserver& observer) {
  error_.clear();
  if (!(options_.rtol > 0) || !(options_.longest_step > 0)) {
    error_ = "rtol and longest_step must be more than 0";
    return StepStatus::wrong_step;
  }
  if (!has_order(options_.method, options_.order)) {
    error_ = "the method has no such order: ";
    error_ += std::to_string(options_.order);
    return StepStatus::wrong_step;
  }
  sampler_.begin(state.time, observer.on_sample ? observer.sample_interval : 0);
  acting_before_.clear();
  fresh_.clear();
  ode_.forget_events();
  const StepStatus status = settle(state);
  if (status != StepStatus::ok) return status;
  ode_.begin(state);
  scales_.measure(state);
  list_acting();
  note_fresh(state);
  double first = length_;
  for (const Fresh& f : fresh_) first = std::min(first, first_part * f.impact.time);
  return restart(state, first);
}

/// Whether the solver can go on after the state was settled: the same rows act, and what
/// settling changed (the length of quaternions, deflections at their bound) is less than
/// a step may err.
bool SundialsIntegrator::Run::keep_past() {
  if (acting_ != acting_before_ || reach_ < length_) return false;
  const Vector& start = ode_.start();
  bool moved = false;
  for (std::size_t i = 0; i < ode_.s_at(); ++i) {
    moved = moved || (start[i] != full_[i] && !is_turn(i));
  }
  if (moved) {
    scales_.allowances(options_.rtol, full_, scale_);
    for (std::size_t i = 0; i < ode_.s_at(); ++i) {
      if (std::abs(start[i] - full_[i]) > scale_[i] && !is_turn(i)) return false;
    }
  }
  if (!watch_open()) return false;
  for (std::size_t i = 0; i < shift_.size(); ++i) {
    shift_[i] += start[number_of(i)] - full_[number_of(i)];
  }
  return true;
}

/// The guards that say what happened at the end of the step.
void SundialsIntegrator::Run::find_events(bool root) {
  events_.clear();
  const std::vector<int>& roots = solver_->roots();
  const GuardTable& table = ode_.guards();
  std::size_t k = 0;
  for (const Acting& w : watched_) {
    const std::size_t depth = table.depth_of(w.row);
    bool over = false;  // then its laws say nothing any more
    for (std::size_t g = depth; g < table.end_of(w.row); ++g, ++k) {
      const double side = table.side(g);
      if (side == 0 || over) continue;
      bool happens = root && roots[k] != 0;
      if (!root && side * before_.guards[g] <= 0 && side * now_.guards[g] < 0) {
        // On the wrong side all step long: located a trifle early or late, and grazed.
        happens = g != depth || !(side * now_.approach[w.row] > 0);
      }
      if (happens) events_.push_back(g);
      over = happens && g == depth;
    }
  }
  for (std::size_t i = 0; i < open_.size(); ++i, k += 2) {
    const bool happens = root && roots[k] != 0 && open_[i].id != empty_row;
    if (happens) events_.push_back(table.depth_of(open_[i].row));
  }
}

/// Whether the first step after a touch leads in and out again.
bool SundialsIntegrator::Run::leapt() const {
  if (!first_ || first_step_ < shortest) return false;
  return std::any_of(fresh_.begin(), fresh_.end(), [&](const Fresh& f) {
    const int row = find_episode(ode_.rows(), f.episode);
    return row >= 0 && begins_and_is_out(ode_.guards(), before_, now_, at(row));
  });
}

void SundialsIntegrator::Run::sample(const State& state, double from,
                                     const StepObserver& observer) {
  const std::span<const double> end = solver_->y();
  Vector y(end.begin(), end.end());
  while (sampler_.due_before(solver_->time())) {
    const double when = std::max(sampler_.next(), from);
    if (!solver_->interpolate(when, y)) return;
    expand(when, y);
    sampler_.take(ode_, full_, state, observer.on_sample);
    measured_at_ = -1;
  }
}

void SundialsIntegrator::Run::count() {
  const long steps = solver_->steps(), rejected = solver_->rejected();
  counts_.steps += static_cast<std::uint64_t>(steps - steps_);
  counts_.rejected += static_cast<std::uint64_t>(rejected - rejected_);
  steps_ = steps;
  rejected_ = rejected;
}

/// The state at the end of the step, with its events, settled; and how it goes on.
StepStatus SundialsIntegrator::Run::accept(State& state, bool root, double until,
                                           const StepObserver& observer) {
  find_events(root);
  ode_.finish(full_, state);
  if (until - state.time < 1e-15 * std::max(1.0, until)) state.time = until;
  const double planned = solver_->next_step();
  length_ = planned;
  happened_.clear();
  bool touches = false, leaves = false;
  for (const std::size_t guard : events_) {
    const GuardEvent event = ode_.note_event(guard, state.time, planned);
    happened_.emplace_back(ode_.told(event), ode_.rows()[at(event.row)]);
    touches = touches || event.kind == EventKind::touch;
    leaves = leaves || event.kind == EventKind::lift_off;
    ++counts_.events;
  }
  const bool multistep = options_.method == SundialsMethod::cvode_bdf ||
                         options_.method == SundialsMethod::cvode_adams;
  if (touches && acting_.empty()) flight_length_ = planned;
  const bool flies = leaves && acting_.size() == events_.size();
  if (flies && !multistep) length_ = std::max(length_, flight_length_);
  reach_ *= 2;
  StepStatus status = settle(state);
  if (status != StepStatus::ok) return status;
  std::swap(acting_, acting_before_);
  const bool same_rows = ode_.begin(state);
  if (!same_rows) scales_.measure(state);
  list_acting();
  note_fresh(state);
  if (happened_.empty() && keep_past()) {
    if (!same_rows) {
      expand(state.time, solver_->y());
      measure(state.time);
    }
    ode_.guards().hold(now_.guards);
    if (aim() && !solver_->aim(directions_)) return failed();
    std::swap(before_, now_);
    first_ = false;
  } else {
    // Low orders come first again, and a law that switches may be stiffer.
    const bool as_before = happened_.empty() || (flies && !multistep);
    double first = as_before ? length_ : 0.1 * length_;
    for (const Fresh& f : fresh_) {
      const double part =
          multistep ? std::min(first_part, std::sqrt(options_.rtol)) : first_part;
      first = std::min(first, part * f.impact.time);
    }
    status = restart(state, first);
    if (status != StepStatus::ok) return status;
  }
  // Rows may stand elsewhere now.
  for (auto& [event, was] : happened_) {
    const int row = find_row(ode_.rows(), was);
    if (event.kind == EventKind::touch && row >= 0) {
      ++counts_.touches;
      event.episode = episode_of(state, at(row));
      event.speed = approach_speed(state, at(row));
    }
    if (observer.on_event) observer.on_event(state, event);
  }
  return status;
}

/// What SUNDIALS could not do, in its words and ours.
StepStatus SundialsIntegrator::Run::failed() {
  error_ = solver_->error();
  switch (solver_->flag()) {
    case -8:   // CV_RHSFUNC_FAIL, ARK_RHSFUNC_FAIL and its kin: the rates are not numbers
    case -9:   // at the first call
    case -10:  // again and again
    case -11:
      return StepStatus::not_finite;
    case -22:  // CV_ILL_INPUT, ARK_ILL_INPUT
      return StepStatus::wrong_step;
    default:
      return StepStatus::not_converged;
  }
}

StepStatus SundialsIntegrator::Run::advance_to(State& state, double until,
                                               const StepObserver& observer) {
  StepStatus status = begin(state, observer);
  while (status == StepStatus::ok && state.time < until) {
    if (until - state.time < 1e-15 * std::max(1.0, until)) {
      state.time = until;
      break;
    }
    if (!solver_->limit(longest_step(), until)) return failed();
    const auto outcome = solver_->step(until);
    count();
    if (outcome == sundials::Solver::Outcome::failure) {
      // What a solver with a past cannot do, one without may; and explicit methods give
      // up at the first stage that meets no number.
      status = failed();
      const double tried = first_ ? first_step_ : length_;
      const bool again = !first_ || status == StepStatus::not_finite;
      if (!again || tried < shortest) return status;
      ++counts_.rejected;
      status = restart(state, 0.1 * tried);
      continue;
    }
    error_.clear();
    const double from = state.time;
    sample(state, from, observer);
    expand(solver_->time(), solver_->y());
    if (measured_at_ != solver_->time()) measure(solver_->time());
    const bool root = outcome == sundials::Solver::Outcome::root;
    if (!root && leapt()) {
      ++counts_.rejected;
      status = restart(state, 0.1 * first_step_);
      continue;
    }
    status = accept(state, root, until, observer);
    if (status == StepStatus::ok && observer.on_step && !observer.on_step(state)) break;
  }
  return status;
}

SundialsIntegrator::SundialsIntegrator(const Model& model, const SundialsOptions& options)
    : options_(options), run_(std::make_unique<Run>(model, options)) {}
SundialsIntegrator::~SundialsIntegrator() = default;

StepStatus SundialsIntegrator::settle(State& state) {
  const LocatedEvents nothing;
  return bristle::settle(system(), 1e-9, state, {}, &nothing);
}

StepStatus SundialsIntegrator::advance_to(State& state, double until,
                                          const StepObserver& observer) {
  return run_->advance_to(state, until, observer);
}

void SundialsIntegrator::restart() {
  before_ = counts();
  run_ = std::make_unique<Run>(*system().model, options_);
}

StepCounts SundialsIntegrator::counts() const noexcept {
  return before_ + run_->counts();
}
System& SundialsIntegrator::system() noexcept { return run_->system(); }
const std::string& SundialsIntegrator::error() const noexcept { return run_->error(); }

namespace {

template <SundialsMethod method>
std::unique_ptr<Stepper> make_clock(const Model& model, const StepperOptions& options) {
  return std::make_unique<SundialsIntegrator>(
      model, SundialsOptions{.rtol = options.rtol, .method = method});
}

}  // namespace

bool register_sundials() {
  bool all = true;
  const auto add = [&all](std::string_view name, std::string_view title, auto make) {
    const auto added = register_stepper(
        {.name = name, .title = title, .locates_events = true, .make = make});
    all = all && added;
  };
  add("cvode", "CVODE of SUNDIALS, BDF", &make_clock<SundialsMethod::cvode_bdf>);
  add("cvode-adams", "CVODE of SUNDIALS, Adams",
      &make_clock<SundialsMethod::cvode_adams>);
  add("arkode-erk", "ARKODE of SUNDIALS, explicit Runge–Kutta",
      &make_clock<SundialsMethod::arkode_erk>);
  add("arkode-dirk", "ARKODE of SUNDIALS, diagonally implicit Runge–Kutta",
      &make_clock<SundialsMethod::arkode_dirk>);
  return all;
}

}  // namespace bristle
