#include "adapters/sundials/sundials_clock.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "adapters/sundials/solver.hpp"

namespace bristle {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// Of the time that an impact takes to come to its depth: the first step after touch-down,
// and the longest before the contact is well felt.
constexpr double first_part = 0.05, longest_part = 0.2;
constexpr double felt = 0.1;  // of its depth

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

class SundialsClock::Run final : public sundials::Problem {
 public:
  Run(const Model& model, const SundialsOptions& options)
      : options_(options), motion_(model), context_(sundials::make_context()) {}

  StepStatus advance_to(State& state, double until, const AdaptiveObserver& observer);

  AdaptiveCounts counts() const noexcept {
    AdaptiveCounts counts = counts_;
    counts.evaluations = motion_.evaluations();
    counts.looks = motion_.looks();
    const bool implicit = options_.method == SundialsMethod::cvode_bdf ||
                          options_.method == SundialsMethod::arkode_dirk;
    if (implicit) counts.implicit_steps = counts.steps;
    return counts;
  }
  System& system() noexcept { return motion_.system(); }
  const std::string& error() const noexcept { return error_; }

  bool rates(double t, std::span<const double> y, double* rate) override;
  bool slopes(double t, std::span<const double> y, std::span<const double> rate,
              double* const* columns) override;
  void watch(double t, std::span<const double> y, double* values) override;
  void allowances(std::span<const double> y, double* allowed) override;

 private:
  using Vector = SmoothMotion::Vector;

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
    SmoothMotion::Impact impact;
  };

  std::size_t number_of(std::size_t reduced) const {
    return reduced < motion_.s_at() ? reduced : reduced + 2;
  }
  std::size_t reduced_size() const { return motion_.size() - 2; }
  void expand(double t, std::span<const double> y);
  void look(double t);

  StepStatus settle(State& state);
  void list_rows(const State& state);
  void find_turns(const State& state);
  void note_fresh(const State& state);
  double longest_step() const;
  StepStatus begin(State& state);
  StepStatus restart(const State& state, double first_step);
  void watch_all(const State& state);
  bool watch_open(const State& state);
  bool aim();
  bool keep_past(const State& state);
  void find_events(bool root);
  bool leapt() const;
  void sample(const State& state, double from, const AdaptiveObserver& observer);
  StepStatus accept(State& state, bool root, double until,
                    const AdaptiveObserver& observer);
  StepStatus failed();
  void count();

  SundialsOptions options_;
  SmoothMotion motion_;
  sundials::Owned<SUNContext> context_;
  std::map<std::size_t, std::unique_ptr<sundials::Solver>> solvers_;  // by their size
  sundials::Solver* solver_ = nullptr;
  AdaptiveCounts counts_;
  long steps_ = 0, rejected_ = 0;  // of the solver, as counted so far
  std::string error_;

  // y as SmoothMotion has it; SUNDIALS has neither s nor t, and all else less `shift_`:
  // what settling sets back to zero, and tiny corrections, need not end a method's past.
  Vector full_, rate_, scale_, shift_;
  std::vector<std::size_t> turns_;  // numbers of y that say how far frames have turned
  State marked_;

  std::vector<RowId> ids_, acting_, acting_before_;
  std::vector<Acting> watched_;
  std::vector<Open> open_;
  std::vector<int> directions_;  // of the guards of watched_, then those of open_
  Vector guards_, guards_before_, approach_, approach_before_;
  double looked_at_ = -1;  // when guards_ were read [s]
  std::vector<std::size_t> events_;
  std::vector<std::pair<Event, ContactRow>> happened_;

  std::vector<Fresh> fresh_;
  double length_ = 1e-3;         // planned for the next step [s]
  double flight_length_ = 1e-3;  // before the last touch [s]
  double reach_ = HUGE_VAL;      // how far there is room to look for contacts [s]
  double first_step_ = 0;        // after the last restart [s]
  bool first_ = false;           // no step since then

  State sample_;
  double next_sample_ = 0;
};

void SundialsClock::Run::expand(double t, std::span<const double> y) {
  full_.resize(motion_.size());
  for (std::size_t i = 0; i < y.size(); ++i) full_[number_of(i)] = y[i] + shift_[i];
  full_[motion_.s_at()] = 0;
  full_[motion_.t_at()] = t;
}

bool SundialsClock::Run::rates(double t, std::span<const double> y, double* rate) {
  expand(t, y);
  rate_.resize(motion_.size());
  motion_.rates(full_, rate_.data());
  double size = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    rate[i] = rate_[number_of(i)];
    size += std::abs(rate[i]);
  }
  return std::isfinite(size);
}

/// By differences that are small against the depths of contacts. Nothing depends on the
/// books.
bool SundialsClock::Run::slopes(double t, std::span<const double> y,
                                std::span<const double> rate, double* const* columns) {
  expand(t, y);
  motion_.scales(full_, scale_);
  const std::size_t q = motion_.position_count(), v = motion_.velocity_count();
  double size = 0;
  for (std::size_t i = 0; i < motion_.s_at(); ++i) {
    const bool of_velocity = i >= q && i < q + v;
    const double was = full_[i];
    full_[i] += (of_velocity ? 1e-5 : 1e-3) * scale_[i];
    const double d = full_[i] - was;
    motion_.rates(full_, rate_.data());
    full_[i] = was;
    for (std::size_t r = 0; r < y.size(); ++r) {
      columns[i][r] = (rate_[number_of(r)] - rate[r]) / d;
      size += std::abs(columns[i][r]);
    }
  }
  for (std::size_t i = motion_.s_at(); i < y.size(); ++i) {
    std::fill_n(columns[i], y.size(), 0.0);
  }
  return std::isfinite(size);
}

void SundialsClock::Run::allowances(std::span<const double> y, double* allowed) {
  expand(solver_->time(), y);
  motion_.allowances(options_.rtol, full_, scale_);
  for (std::size_t i = 0; i < y.size(); ++i) allowed[i] = scale_[number_of(i)];
}

/// Reads all guards at full_, which belongs to t. Where a law slides for long its guard
/// may be zero but for round-off, whose crossings mean nothing: a guard of friction
/// leaves its side a trifle late.
void SundialsClock::Run::look(double t) {
  motion_.look(full_, !acting_.empty());
  motion_.read_guards(guards_);
  const GuardTable& table = motion_.guards();
  approach_.resize(motion_.row_count());
  for (std::size_t i = 0; i < approach_.size(); ++i) approach_[i] = motion_.approach(i);
  const std::size_t capacity = motion_.system().contacts.capacity;
  const double* normal =
      motion_.system().contacts.columns.data() + RowColumns::normal * capacity;
  for (std::size_t i = 0; i < approach_.size(); ++i) {
    if (!motion_.acts(i)) continue;
    const double trifle = 1e-10 * std::min(1.0, normal[i]);
    for (std::size_t g = table.depth_of(i); g < table.end_of(i); ++g) {
      if (table.law_of(g) == LawFamily::friction) guards_[g] += table.side(g) * trifle;
    }
  }
  looked_at_ = t;
}

void SundialsClock::Run::watch(double t, std::span<const double> y, double* values) {
  expand(t, y);
  look(t);
  const GuardTable& table = motion_.guards();
  for (const Acting& w : watched_) {
    for (std::size_t g = table.depth_of(w.row); g < table.end_of(w.row); ++g) {
      *values++ = table.side(g) == 0 ? 0 : guards_[g];  // a law whose side is not known
    }
  }
  for (Open& w : open_) {
    if (w.id != empty_row) {
      w.depth = guards_[table.depth_of(w.row)] - w.offset;
      w.approach = approach_[w.row];
    }
    *values++ = w.depth;
    *values++ = w.approach;
  }
}

/// Contacts are looked for as far as the next step leads; where there are too many of
/// them, it leads less far.
StepStatus SundialsClock::Run::settle(State& state) {
  for (;;) {
    const double horizon = std::max(std::min(length_, reach_), 1e-9);
    const StepStatus status =
        bristle::settle(motion_.system(), horizon, state, {}, Episodes::by_events);
    const bool too_far =
        status == StepStatus::too_many_contacts || status == StepStatus::too_many_pairs;
    if (!too_far || horizon < 1e-6) return status;
    reach_ = 0.25 * horizon;
  }
}

/// Who is there, and who acts.
void SundialsClock::Run::list_rows(const State& state) {
  bristle::list_rows(motion_.model(), state, ids_);
  acting_.clear();
  for (const RowId& id : ids_) {
    if (id.acts()) acting_.push_back(id);
  }
}

/// Which numbers of y are turns of frames: those that finish() puts there.
void SundialsClock::Run::find_turns(const State& state) {
  turns_.clear();
  if (acting_.empty()) return;
  marked_ = state;
  full_.assign(motion_.size(), 0.0);
  const std::size_t first = motion_.position_count() + motion_.velocity_count();
  for (std::size_t i = first; i < motion_.s_at(); ++i) {
    full_[i] = static_cast<double>(i);
  }
  motion_.finish(full_, marked_);
  const std::size_t capacity = motion_.system().contacts.capacity;
  for (std::size_t i = 0; i < ids_.size(); ++i) {
    const double mark = marked_.contacts.memory[MemoryLayout::turn * capacity + i];
    const auto number = static_cast<std::size_t>(mark);
    if (ids_[i].episode != 0 && mark > 0 && number < motion_.s_at()) {
      turns_.push_back(number);
    }
  }
}

/// Contacts that have just begun, until they are felt.
void SundialsClock::Run::note_fresh(const State& state) {
  std::vector<Fresh> now;
  for (std::size_t i = 0; i < ids_.size(); ++i) {
    const ContactRow& row = state.contacts.rows[i];
    if (ids_[i].episode == 0 || !(row.rate > 0)) continue;
    const auto known = std::find_if(fresh_.begin(), fresh_.end(), [&](const Fresh& f) {
      return f.episode == row.episode;
    });
    const bool begins =
        std::none_of(acting_before_.begin(), acting_before_.end(),
                     [&](const RowId& id) { return id.episode == row.episode; });
    if (known != fresh_.end()) {
      if (row.depth < felt * known->impact.depth) now.push_back(*known);
    } else if (begins) {
      const bool joint = ids_[i].a == no_shape;
      if (joint && !joint_row(motion_.model(), state.contacts, i).is_limit) continue;
      const SmoothMotion::Impact impact = motion_.impact(state, i);
      if (impact.time > 0 && row.depth < felt * impact.depth) {
        now.push_back({row.episode, impact});
      }
    }
  }
  fresh_ = std::move(now);
}

double SundialsClock::Run::longest_step() const {
  double longest = std::min(options_.longest_step, reach_);
  for (const Fresh& f : fresh_) longest = std::min(longest, longest_part * f.impact.time);
  return longest;
}

/// The functions to watch, for a solver without a past.
void SundialsClock::Run::watch_all(const State& state) {
  watched_.clear();
  std::size_t open = 0;
  for (std::size_t i = 0; i < ids_.size(); ++i) {
    if (ids_[i].episode != 0) {
      watched_.push_back({ids_[i], i});
    } else if (ids_[i] != empty_row) {
      ++open;
    }
  }
  open_.assign(open + 8, {});  // some may come into reach
  watch_open(state);
}

/// Rows may stand elsewhere now, but each keeps its place among what is watched, so that
/// a solver may go on. False where there are too few places.
bool SundialsClock::Run::watch_open(const State& state) {
  const auto row_of = [&](const RowId& id) {
    return static_cast<std::size_t>(std::find(ids_.begin(), ids_.end(), id) -
                                    ids_.begin());
  };
  for (Acting& w : watched_) w.row = row_of(w.id);
  std::vector<bool> placed(ids_.size(), false);
  for (Open& w : open_) {
    if (w.id == empty_row) continue;
    w.row = row_of(w.id);
    if (w.row == ids_.size()) {
      w.id = empty_row;
    } else {
      placed[w.row] = true;
    }
  }
  auto place = open_.begin();
  for (std::size_t i = 0; i < ids_.size(); ++i) {
    if (placed[i] || ids_[i].episode != 0 || ids_[i] == empty_row) continue;
    while (place != open_.end() && place->id != empty_row) ++place;
    if (place == open_.end()) return false;
    place->id = ids_[i];
    place->row = i;
    place->offset = std::max(state.contacts.rows[i].depth, 0.0);
  }
  return true;
}

/// Touches rise; what acts leaves the side that it is held on. True where that changed.
bool SundialsClock::Run::aim() {
  const GuardTable& table = motion_.guards();
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
StepStatus SundialsClock::Run::restart(const State& state, double first_step) {
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
  for (std::size_t i = 0; i < n; ++i) y[i] = motion_.start()[number_of(i)];
  find_turns(state);
  expand(state.time, y);
  look(state.time);
  motion_.guards().hold(guards_);
  guards_before_ = guards_;
  approach_before_ = approach_;
  watch_all(state);
  aim();
  first_step_ = std::max(std::min(first_step, longest_step()), 1e-15);
  first_ = true;
  const bool good = solver_->restart({state.time, first_step_, directions_});
  return good ? StepStatus::ok : failed();
}

StepStatus SundialsClock::Run::begin(State& state) {
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
  next_sample_ = state.time;
  acting_before_.clear();
  fresh_.clear();
  const StepStatus status = settle(state);
  if (status != StepStatus::ok) return status;
  motion_.begin(state, -1, 0);
  motion_.measure_scales(state);
  list_rows(state);
  note_fresh(state);
  double first = length_;
  for (const Fresh& f : fresh_) first = std::min(first, first_part * f.impact.time);
  return restart(state, first);
}

/// Whether the solver can go on after the state was settled: the same rows act, and what
/// settling changed (the length of quaternions, deflections at their bound) is less than
/// a step may err.
bool SundialsClock::Run::keep_past(const State& state) {
  if (acting_ != acting_before_ || reach_ < length_) return false;
  const Vector& start = motion_.start();
  const auto is_turn = [&](std::size_t i) {
    return std::find(turns_.begin(), turns_.end(), i) != turns_.end();
  };
  bool moved = false;
  for (std::size_t i = 0; i < motion_.s_at(); ++i) {
    moved = moved || (start[i] != full_[i] && !is_turn(i));
  }
  if (moved) {
    motion_.allowances(options_.rtol, full_, scale_);
    for (std::size_t i = 0; i < motion_.s_at(); ++i) {
      if (std::abs(start[i] - full_[i]) > scale_[i] && !is_turn(i)) return false;
    }
  }
  if (!watch_open(state)) return false;
  for (std::size_t i = 0; i < shift_.size(); ++i) {
    shift_[i] += start[number_of(i)] - full_[number_of(i)];
  }
  return true;
}

/// The guards that say what happened at the end of the step.
void SundialsClock::Run::find_events(bool root) {
  events_.clear();
  const std::vector<int>& roots = solver_->roots();
  const GuardTable& table = motion_.guards();
  std::size_t k = 0;
  for (const Acting& w : watched_) {
    const std::size_t depth = table.depth_of(w.row);
    bool over = false;  // then its laws say nothing any more
    for (std::size_t g = depth; g < table.end_of(w.row); ++g, ++k) {
      const double side = table.side(g);
      if (side == 0 || over) continue;
      bool happens = root && roots[k] != 0;
      if (!root && side * guards_before_[g] <= 0 && side * guards_[g] < 0) {
        // On the wrong side all step long: located a trifle early or late, and grazed.
        happens = g != depth || !(side * approach_[w.row] > 0);
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
bool SundialsClock::Run::leapt() const {
  if (!first_ || first_step_ < 1e-14) return false;
  for (const Fresh& f : fresh_) {
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      const std::size_t g = motion_.guards().depth_of(i);
      if (ids_[i].episode == f.episode && guards_before_[g] <= 0 &&
          approach_before_[i] > 0 && guards_[g] <= 0) {
        return true;
      }
    }
  }
  return false;
}

void SundialsClock::Run::sample(const State& state, double from,
                                const AdaptiveObserver& observer) {
  if (!(observer.sample_interval > 0) || !observer.on_sample) return;
  const std::span<const double> end = solver_->y();
  Vector y(end.begin(), end.end());
  while (next_sample_ < solver_->time()) {
    const double when = std::max(next_sample_, from);
    if (!solver_->interpolate(when, y)) return;
    expand(when, y);
    look(when);
    sample_ = state;
    motion_.finish(full_, sample_);
    sample_.time = next_sample_;
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      ContactRow& row = sample_.contacts.rows[i];
      row.depth = motion_.depth(i);
      row.rate = motion_.approach(i);
      row.point = motion_.system().contacts.places[i].point;
      row.frame = motion_.system().contacts.places[i].frame;
    }
    observer.on_sample(sample_);
    next_sample_ += observer.sample_interval;
  }
}

void SundialsClock::Run::count() {
  const long steps = solver_->steps(), rejected = solver_->rejected();
  counts_.steps += static_cast<std::uint64_t>(steps - steps_);
  counts_.rejected += static_cast<std::uint64_t>(rejected - rejected_);
  steps_ = steps;
  rejected_ = rejected;
}

/// The state at the end of the step, with its events, settled; and how it goes on.
StepStatus SundialsClock::Run::accept(State& state, bool root, double until,
                                      const AdaptiveObserver& observer) {
  find_events(root);
  motion_.finish(full_, state);
  if (until - state.time < 1e-15 * std::max(1.0, until)) state.time = until;
  const double planned = solver_->next_step();
  length_ = planned;
  happened_.clear();
  bool touches = false, leaves = false;
  for (const std::size_t guard : events_) {
    const Event event = motion_.note_event(guard, state, planned);
    happened_.emplace_back(event, state.contacts.rows[at(event.row)]);
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
  if (!motion_.begin(state, -1, 0)) motion_.measure_scales(state);
  list_rows(state);
  note_fresh(state);
  if (happened_.empty() && keep_past(state)) {
    motion_.guards().hold(guards_);
    if (aim() && !solver_->aim(directions_)) return failed();
    std::swap(guards_before_, guards_);
    std::swap(approach_before_, approach_);
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
  const int joints = state.contacts.begin[at(motion_.model().joint_blocks)];
  for (auto& [event, row] : happened_) {
    if (event.row >= joints) {
      const auto found = std::find_if(ids_.begin(), ids_.end(), [&](const RowId& id) {
        return id.a == row.a && id.b == row.b && id.feature == row.feature;
      });
      event.row = found == ids_.end() ? -1 : static_cast<int>(found - ids_.begin());
    }
    if (event.row < 0) continue;
    if (event.kind == EventKind::touch) ++counts_.touches;
    if (observer.on_event) observer.on_event(state, event);
  }
  return status;
}

/// What SUNDIALS could not do, in its words and ours.
StepStatus SundialsClock::Run::failed() {
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

StepStatus SundialsClock::Run::advance_to(State& state, double until,
                                          const AdaptiveObserver& observer) {
  StepStatus status = begin(state);
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
      if (!again || tried < 1e-14) return status;
      ++counts_.rejected;
      status = restart(state, 0.1 * tried);
      continue;
    }
    error_.clear();
    const double from = state.time;
    sample(state, from, observer);
    expand(solver_->time(), solver_->y());
    if (looked_at_ != solver_->time()) look(solver_->time());
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

SundialsClock::SundialsClock(const Model& model, const SundialsOptions& options)
    : run_(std::make_unique<Run>(model, options)) {}
SundialsClock::~SundialsClock() = default;

StepStatus SundialsClock::advance_to(State& state, double until,
                                     const AdaptiveObserver& observer) {
  return run_->advance_to(state, until, observer);
}

AdaptiveCounts SundialsClock::counts() const noexcept { return run_->counts(); }
System& SundialsClock::system() noexcept { return run_->system(); }
const std::string& SundialsClock::error() const noexcept { return run_->error(); }

}  // namespace bristle
