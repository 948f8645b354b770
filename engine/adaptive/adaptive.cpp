#include "bristle/adaptive/adaptive.hpp"

#include <algorithm>
#include <cmath>

#include "bristle/adaptive/contact_time.hpp"
#include "bristle/adaptive/impulse_steps.hpp"
#include "bristle/adaptive/sampler.hpp"
#include "bristle/step/ledger.hpp"
#include "bristle/step/loops.hpp"

namespace bristle {

namespace {

using detail::at;

// The very first step. Measured: 0.1 to 2 ms are within 0.3 %; at 10 ms a pendulum gains
// energy beyond its tolerance before the first error is known.
constexpr double first_length = 1e-3;  // [s]
// Rounding of a second is 1e-16: no step is short enough below this, by t or η.
constexpr double shortest_length = 1e-18;
// How much a step may grow or shrink from one to the next (dop853, Hairer, Nørsett &
// Wanner 1993, takes 0.333 and 6). Measured: 4 to 16 are within 0.5 %, with 80 a
// pendulum gains energy beyond its tolerance; a step that was
// allowed shrinks to 0.9 at least, so that the other bound is never met.
constexpr double least_growth = 0.3, most_growth = 8;
// Where a step leaps over a contact, which the next must not; and where a cut does not
// succeed, whose error is just beyond what is allowed. Measured: cuts at 0.25 to 0.6 are
// the same, and must be shorter than the step.
constexpr double after_leap = 0.1, after_cut = 0.5;

// The first step of friction memory that begins on its bound. What it should lag behind
// the slip changes velocities by the eighth power of this, in a contact's time.
constexpr double first_on_bound = 0.03;

// The flight after the next lift-off begins with the step before the touch: twice as long
// as it was, and at least half of what it was last time. Measured: 1 to 2.5, and 0.25 to
// 0.6, are within 0.5 %; with 4 the ledger is five times as far off.
constexpr double flight_ahead = 2, flight_again = 0.5;

constexpr double same_instant = 1e-15;  // of the time, and of a second: nine roundings
constexpr double same_state = 1e-9;     // how far ahead contacts are looked for there [s]

// Events are located one by one as long as no more rows than this act (two boxes on a
// floor have 8), and as long as that takes no more turns and evaluations at once than
// these, and per second in the long run; beyond, error-controlled complementarity steps
// go on, for the hold time at least, twice as long each time. Measured on six everyday
// scenes: 8 and 16 rows take the same time, 32 four times as much. A steel ball takes 140
// evaluations an impact at rtol 3e-7; one call to locate an event in a stack took 347 000
// before its rounds were bounded. The rates per second are a choice between these, not
// measured. Tighter tolerances than the default have more of both, by the fourth root,
// twice what their order asks.
constexpr std::int64_t most_located_rows = 16;
constexpr double most_turns = 300, turns_per_second = 3e4;
constexpr double most_evaluations = 3000, evaluations_per_second = 3e5;
constexpr double usual_rtol = 1e-6;
constexpr double first_hold = 50e-3;  // [s]

// The integrator stalls where it takes more turns than this, by whatever steps, to get
// ahead by so much.
constexpr std::int64_t stalled_turns = 10000;
constexpr double ahead = 1e-10;  // [s], and of the time itself

}  // namespace

class Adaptive::Driver {
 public:
  Driver(const Model& model, const AdaptiveOptions& options)
      : options_(options),
        ode_(model),
        scales_(ode_),
        step_(ode_, scales_, options.rtol),
        locator_(ode_, step_),
        contact_time_(ode_, scales_, options.contact_time),
        impulses_(ode_.system(), options.rtol, options.longest_step),
        patience_(std::max(1.0, std::pow(usual_rtol / options.rtol, 0.25))) {
    ode_.guards().locate_bounds();
  }

  StepStatus advance_to(State& state, double until, const StepObserver& observer);
  StepCounts counts() const noexcept;
  System& system() noexcept { return ode_.system(); }
  const AdaptiveOptions& options() const { return options_; }

 private:
  using Vector = MotionOde::Vector;

  StepStatus begin(State& state, const StepObserver& observer);
  StepStatus begin_located(State& state, const StepObserver& observer);
  std::int64_t acting_rows() const;
  std::uint64_t evaluations() const {
    return ode_.evaluations() + ode_.contact_evaluations();
  }
  void begin_impulses(const State& state);
  StepStatus change_to_impulses(State& state);
  StepStatus sample_by_impulses(const State& from, State& state,
                                const StepObserver& observer);
  StepStatus step_by_impulses(State& state, double until, const StepObserver& observer);
  bool step_by_events(State& state, double until, const StepObserver& observer,
                      StepStatus& status);
  StepStatus settle(State& state);
  void begin_step(bool go_on);
  enum class Attempt { done, leaves, fails };
  Attempt attempt();
  /// What a turn of the loop comes to.
  enum class Turn { accepted, again, failed };
  Turn take_step(State& state, double until, const StepObserver& observer,
                 StepStatus& status);
  void restart(double length);
  StepEvent stop_at(double until, const StepEvent& event);
  void sample(const State& state, double where, const StepObserver& observer);
  GuardEvent note_event(State& state, const StepEvent& where);
  void plan_next(const StepEvent& where, const GuardEvent& event);
  void tell(const State& state, std::span<const Event> events,
            const StepObserver& observer);
  StepStatus accept(State& state, const StepEvent& where, double until,
                    const StepObserver& observer);

  AdaptiveOptions options_;
  MotionOde ode_;
  ErrorScales scales_;
  SwitchingStep step_;
  EventLocator locator_;
  ContactTime contact_time_;
  Sampler sampler_;
  StepCounts counts_;

  GuardReading at_begin_, at_end_;  // of the step
  double length_ = 0;               // planned for the next step, by t or η
  double flight_length_ = 0;        // of the last step before a touch [s]
  std::vector<RowId> rows_;         // of the state settled last
  Vector here_;

  ImpulseSteps impulses_;
  bool by_impulses_ = false;
  struct {
    double time;                // [s]
    std::uint64_t seen;         // evaluations until then
    double turns, evaluations;  // less what the time that passed allows
  } located_{};                 // the work of locating events
  double patience_;             // how much of it there may be, over the usual
  double located_again_ = 0;    // when events may be located again [s]
  double hold_ = first_hold;    // of the next change to impulses [s]
};

StepCounts Adaptive::Driver::counts() const noexcept {
  StepCounts counts = counts_;
  counts.evaluations = ode_.evaluations();
  counts.contact_evaluations = ode_.contact_evaluations();
  counts.distances = locator_.distance_queries();
  counts.rejected += impulses_.rejected();
  counts.solves = impulses_.solves();
  return counts;
}

/// Contacts are looked for as far as the next step leads; where there are too many of
/// them, it leads less far.
StepStatus Adaptive::Driver::settle(State& state) {
  const double pace = contact_time_.fastest_pace();
  const MotionOde::Settled settled = ode_.settle(state, length_ * pace);
  if (settled.part < 1) {
    length_ *= settled.part;
    flight_length_ = std::min(flight_length_, length_ * pace);
  }
  if (settled.status == StepStatus::ok) list_rows(state, rows_);
  return settled.status;
}

StepStatus Adaptive::Driver::begin(State& state, const StepObserver& observer) {
  if (!(options_.rtol > 0) || !(options_.longest_step > 0)) return StepStatus::wrong_step;
  sampler_.begin(state.time, observer.on_sample ? observer.sample_interval : 0);
  if (state.impulses_known()) {
    // As the steps that led here.
    if (!by_impulses_) begin_impulses(state);
    return impulses_.settle(state);
  }
  return begin_located(state, observer);
}

StepStatus Adaptive::Driver::begin_located(State& state, const StepObserver& observer) {
  by_impulses_ = false;
  located_ = {state.time, evaluations(), 0, 0};
  if (length_ == 0) length_ = flight_length_ = first_length;
  contact_time_.reset();
  ode_.forget_events();
  const StepStatus status = settle(state);
  if (status != StepStatus::ok) return status;
  ode_.begin(state);
  scales_.measure(state);
  step_.forget_stability();
  begin_step(false);
  tell(state, ode_.system().events, observer);
  return status;
}

/// With `go_on`, from the end of the last step.
void Adaptive::Driver::begin_step(bool go_on) {
  if (go_on) {
    std::swap(at_begin_, at_end_);
    ode_.guards().hold(at_begin_.guards, at_begin_.slopes);
  }
  step_.begin(go_on);
}

/// The motion has begun anew where the last step began, by another time.
void Adaptive::Driver::restart(double length) {
  ++counts_.rejected;
  length_ = length;
  begin_step(false);
}

/// A step whose error is allowed.
Adaptive::Driver::Attempt Adaptive::Driver::attempt() {
  if (!step_.knows_rate()) {
    step_.find_rate();
    ode_.read(step_.y(), step_.rate(), length_, at_begin_);
    if (ode_.guards().hold(at_begin_.guards, at_begin_.slopes)) length_ *= first_on_bound;
  }
  length_ = contact_time_.not_beyond_end(length_, step_.y(), at_begin_);
  while (!step_.attempt(length_)) {
    ++counts_.rejected;
    length_ *= step_.shorter();
    if (length_ < shortest_length) return Attempt::fails;
    if (contact_time_.about_to_leave(step_) >= 0) return Attempt::leaves;
  }
  step_.complete();
  ode_.read(step_.end(), step_.end_rate(), length_, at_end_);
  return Attempt::done;
}

/// In a contact's time a step may lead beyond the end of the run: it stops there.
StepEvent Adaptive::Driver::stop_at(double until, const StepEvent& event) {
  const std::size_t t = ode_.t_at();
  if (!contact_time_.runs() || !(step_.end()[t] > until)) return event;
  const double where = std::min(event.where, 1.0);
  if (where < 1 && !(step_.interpolate(where, t) > until)) return event;
  return {-1, locator_.place_of_time(until, where), false};
}

void Adaptive::Driver::sample(const State& state, double where,
                              const StepObserver& observer) {
  if (!sampler_.is_on()) return;
  const std::size_t t = ode_.t_at();
  const double from = step_.y()[t];
  const double to = where < 1 ? step_.interpolate(where, t) : step_.end()[t];
  while (sampler_.due_before(to)) {
    const double place = contact_time_.runs()
                             ? locator_.place_of_time(sampler_.next(), where)
                             : (sampler_.next() - from) / step_.length();
    step_.interpolate_sample(std::max(place, 0.0), here_);
    sampler_.take(ode_, here_, state, observer.on_sample);
  }
}

GuardEvent Adaptive::Driver::note_event(State& state, const StepEvent& where) {
  if (where.guard < 0) return {EventKind::branch, -1, state.time};
  ++counts_.events;
  return ode_.note_event(at(where.guard), state.time,
                         length_ * contact_time_.usual_pace());
}

/// The length of the next step, by the method and the time that go on.
void Adaptive::Driver::plan_next(const StepEvent& where, const GuardEvent& event) {
  const bool of_row = event.row >= 0;
  const bool touches = of_row && event.kind == EventKind::touch;
  const bool leaves = of_row && event.kind == EventKind::lift_off;
  const double grow = std::clamp(step_.change(), least_growth, most_growth);
  const double planned = contact_time_.plan_step(length_, grow, where, event);
  length_ = step_.choose_method(length_, planned, where.where > 1, touches || leaves);
  length_ = contact_time_.end_impact(event, step_.end()[ode_.s_at()], length_);
  if (leaves) length_ = std::max(length_, flight_length_);
  if (touches && !contact_time_.watches()) {
    flight_length_ =
        std::max(flight_ahead * where.where * length_, flight_again * flight_length_);
  }
}

/// Events that no guard located: points that appear at a depth or vanish, contacts that
/// rounding left on the wrong side.
void Adaptive::Driver::tell(const State& state, std::span<const Event> events,
                            const StepObserver& observer) {
  for (const Event& event : events) {
    ++counts_.events;
    if (event.kind == EventKind::touch) ++counts_.touches;
    if (observer.on_event) observer.on_event(state, event);
  }
}

/// The state at the end of the step, with its event, settled; and the time that goes on.
StepStatus Adaptive::Driver::accept(State& state, const StepEvent& where, double until,
                                    const StepObserver& observer) {
  ++counts_.steps;
  if (step_.is_implicit()) ++counts_.implicit_steps;
  double s = step_.end()[ode_.s_at()];
  ode_.finish(step_.end(), state);
  if (until - state.time < same_instant * std::max(1.0, until)) state.time = until;
  GuardEvent event = note_event(state, where);
  const bool happens = event.row >= 0;
  const RowId happened = happens ? ode_.rows()[at(event.row)] : empty_row;
  Event told{};
  if (happens) told = ode_.told(event);
  plan_next(where, event);
  // Its time says when a contact ends, not its depth.
  if (contact_time_.runs()) {
    ode_.mark_row(at(contact_time_.row()), RowEvent::touches);
  }
  const StepStatus status = settle(state);
  if (status != StepStatus::ok) return status;

  // Rows may stand elsewhere now.
  if (event.row >= 0) event.row = find_row(rows_, happened);
  length_ = contact_time_.follow(rows_, length_);
  if (event.row >= 0 && event.kind == EventKind::touch) {
    ++counts_.touches;
    told.episode = episode_of(state, at(event.row));
    told.speed = approach_speed(state, at(event.row));
    length_ = contact_time_.touch(state, event.row, length_);
    s = 0;
  }
  const bool same = ode_.begin(state, contact_time_.row(), contact_time_.runs() ? s : 0);
  if (!same) {
    scales_.measure(state);
    step_.forget_stability();
  }
  begin_step(same && where.where > 1 && ode_.began_with(step_.end()));
  if (happens && observer.on_event) observer.on_event(state, told);
  tell(state, ode_.system().events, observer);
  return status;
}

/// One turn: a step to its end, to its first event or to the end of the run; or the
/// reason to try another one.
Adaptive::Driver::Turn Adaptive::Driver::take_step(State& state, double until,
                                                   const StepObserver& observer,
                                                   StepStatus& status) {
  const int open = contact_time_.as_good_as_open();
  if (open >= 0) {
    step_.stay();
    const auto guard = static_cast<int>(ode_.guards().depth_of(at(open)));
    status = accept(state, {guard, 0, false}, until, observer);
    return Turn::again;
  }
  const Attempt tried = attempt();
  if (tried == Attempt::fails) {
    status = StepStatus::not_converged;
    return Turn::failed;
  }
  if (tried == Attempt::leaves) {
    restart(contact_time_.leave(state, contact_time_.about_to_leave(step_)));
    return Turn::again;
  }
  if (contact_time_.lags(at_begin_, at_end_, options_.rtol)) {
    restart(contact_time_.drop(state, step_.y(), length_));
    return Turn::again;
  }
  StepEvent event = locator_.first_event(at_begin_, at_end_);
  if (event.crowded) {
    ++counts_.rejected;
    return Turn::failed;
  }
  if (event.skips) {
    ++counts_.rejected;
    length_ *= after_leap;
    return Turn::again;
  }
  if (const int leaving = contact_time_.leaves_at(step_, event); leaving >= 0) {
    restart(contact_time_.leave(state, leaving));
    return Turn::again;
  }
  event = stop_at(until, event);
  sample(state, std::min(event.where, 1.0), observer);
  if (event.where <= 1 && !step_.cut(event.where, locator_.only_clock_ends(at_end_))) {
    ++counts_.rejected;
    length_ *= after_cut;
    return Turn::again;
  }
  contact_time_.note_step();
  status = accept(state, event, until, observer);
  return Turn::accepted;
}

std::int64_t Adaptive::Driver::acting_rows() const {
  return std::count_if(rows_.begin(), rows_.end(),
                       [](const RowId& row) { return row.acts(); });
}

/// Events come too fast to be located one by one: error-controlled complementarity steps
/// go on.
void Adaptive::Driver::begin_impulses(const State& state) {
  by_impulses_ = true;
  located_again_ = state.time + hold_;
  hold_ *= 2;
  contact_time_.reset();
  impulses_.begin(state);
}

/// The same from a state whose events were located. Contacts are open or closed by their
/// depths from here on; what that changes in stored energy is counted.
StepStatus Adaptive::Driver::change_to_impulses(State& state) {
  begin_impulses(state);
  const double stored = impulses_.stored(state);
  const StepStatus status = impulses_.settle(state);
  if (status != StepStatus::ok) return status;
  state.works.regenerated += make_ledger(system(), state).stored() - stored;
  return status;
}

/// The samples within a complementarity step that began at `from`.
StepStatus Adaptive::Driver::sample_by_impulses(const State& from, State& state,
                                                const StepObserver& observer) {
  if (!sampler_.due_before(state.time)) return StepStatus::ok;
  while (sampler_.due_before(state.time)) {
    const StepStatus status = impulses_.sample(from, sampler_.next(), sampler_.room());
    if (status != StepStatus::ok) return status;
    sampler_.tell(observer.on_sample);
  }
  return impulses_.settle(state);
}

StepStatus Adaptive::Driver::step_by_impulses(State& state, double until,
                                              const StepObserver& observer) {
  StepStatus status = impulses_.step(state, until);
  if (status == StepStatus::ok) {
    status = sample_by_impulses(impulses_.before(), state, observer);
  }
  if (status != StepStatus::ok) return status;
  ++counts_.steps;
  ++counts_.impulse_steps;
  tell(state, impulses_.events(), observer);
  list_rows(state, rows_);
  if (state.time >= located_again_ && 2 * acting_rows() <= most_located_rows) {
    status = begin_located(state, observer);
  }
  return status;
}

/// A turn by located events, or where they come too fast, the change to impulses.
bool Adaptive::Driver::step_by_events(State& state, double until,
                                      const StepObserver& observer, StepStatus& status) {
  const double elapsed = patience_ * (state.time - located_.time);
  const auto work = static_cast<double>(evaluations() - located_.seen);
  located_ = {
      state.time, evaluations(),
      std::max(0.0, located_.turns - turns_per_second * elapsed) + 1,
      std::max(0.0, located_.evaluations - evaluations_per_second * elapsed) + work};
  if (acting_rows() > most_located_rows || located_.turns > patience_ * most_turns ||
      located_.evaluations > patience_ * most_evaluations) {
    status = change_to_impulses(state);
    return false;
  }
  // Not beyond the end.
  length_ = std::min(length_, options_.longest_step / contact_time_.fastest_pace());
  if (!contact_time_.runs()) length_ = std::min(length_, until - state.time);
  const Turn turn = take_step(state, until, observer, status);
  if (turn == Turn::failed) status = change_to_impulses(state);
  return turn == Turn::accepted && status == StepStatus::ok;
}

StepStatus Adaptive::Driver::advance_to(State& state, double until,
                                        const StepObserver& observer) {
  StepStatus status = begin(state, observer);
  double since = state.time;
  std::int64_t turns = 0;
  while (status == StepStatus::ok && state.time < until) {
    if (state.time > since + ahead * std::max(1.0, std::abs(since))) {
      since = state.time;
      turns = 0;
    }
    if (++turns > stalled_turns) return StepStatus::stalled;
    bool stepped = false;
    if (by_impulses_) {
      status = step_by_impulses(state, until, observer);
      stepped = status == StepStatus::ok;
    } else {
      stepped = step_by_events(state, until, observer, status);
    }
    if (stepped && observer.on_step && !observer.on_step(state)) break;
  }
  return status;
}

Adaptive::Adaptive(const Model& model, const AdaptiveOptions& options)
    : driver_(std::make_unique<Driver>(model, options)) {}
Adaptive::Adaptive(Adaptive&&) noexcept = default;
Adaptive& Adaptive::operator=(Adaptive&&) noexcept = default;
Adaptive::~Adaptive() = default;

StepStatus Adaptive::advance_to(State& state, double until,
                                const StepObserver& observer) {
  return driver_->advance_to(state, until, observer);
}

StepStatus Adaptive::settle(State& state) {
  const LocatedEvents nothing;
  return bristle::settle(system(), same_state, state, {}, &nothing);
}

void Adaptive::restart() {
  before_ = counts();
  driver_ = std::make_unique<Driver>(*system().model, driver_->options());
}

StepCounts Adaptive::counts() const noexcept { return before_ + driver_->counts(); }
System& Adaptive::system() noexcept { return driver_->system(); }

std::string Adaptive::advice(const State& state) {
  return system().model->loop_rows > 0 ? open_loop(system(), state) : std::string();
}

}  // namespace bristle
