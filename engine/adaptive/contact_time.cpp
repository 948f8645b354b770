#include "bristle/adaptive/contact_time.hpp"

#include <algorithm>
#include <cmath>

namespace bristle {

namespace {

using detail::at;

// The first step of the first impact; later ones are planned by the last. In its own
// time, of √depth over speed, a third; in plain time, of depth over speed, a thirtieth,
// since the force begins with √δ. Measured: a tenth to ten times as much, within 0.3 %.
constexpr double first_in_own_time = 0.3, first_in_plain_time = 0.03;

// Where s and its rate are zero a contact's time would stand still: from the touch on
// s = δ̇ η, so that it takes 1/δ̇. Not for a contact that comes in at less than this part
// of the speed of its impact, which would take a thousand times as long in η. It is
// stepped in plain time, from a hundredth of its duration on. Measured on laid bodies:
// 1e-4 to 1e-2 are the same, and a first step of 1e-3 to 0.1 within 0.6 %.
constexpr double grazes = 1e-3, first_of_grazing = 0.01;

// An elastic impact of Hertz' law takes 2.94 times its depth over its speed, strongly
// damped ones a few times as long; what takes so many times as long lasts. Measured: 6 to
// 200 are the same, 2 costs 1.4 % more.
constexpr double lasts = 20;
// The first step in plain time after it, at least, of depth over speed. Measured: 0.01 to
// 1 are within 0.1 %, and so are 0.001 to 0.1 where its own time is given up.
constexpr double least_after = 0.1, least_dropped = 0.01;

// A contact's time serves for others that end where it is not needed itself: at more than
// this part of its depth, where a step of order 8 sees √δ as smooth. Measured: 0.01 to 1
// are within 0.1 %.
constexpr double smooth_depth = 0.1;
// A contact may end within the step where it does so within twice its length, as its
// deceleration is not known. Measured: 0.2 to 20 are within 0.1 %.
constexpr double may_end = 2;
// In its own time s falls nearly linearly to zero: to there and a little beyond.
// Measured: below 1, steps end short of it again and again (0.84 costs twice as
// much); 1.7 to 12 cost 0.2 % more.
constexpr double to_the_end = 1.2;

// Only round-off is left of a depth at this part of the natural one, and of a speed:
// depths of a micrometre are known to 1e-10 (motion_ode.cpp). Measured: 1e-10 to 1e-8 are
// within 0.02 %.
constexpr double only_rounding = 1e-9;

// A contact's time is given up where the depth is off by ten times what the tolerance
// allows for it, so that errors of the steps themselves do not count, or a hundred
// roundings, one per step of an impact. Measured on bodies that rock and slide: 1 to 100
// times the tolerance are the same to 0.01 %.
constexpr double lag_errors = 10, lag_roundings = 100;

/// A switch of the normal law: it presses, or does not.
bool switches_normal(const GuardEvent& event) {
  return event.kind == EventKind::clamp ||
         (event.kind == EventKind::branch && event.law == LawFamily::normal);
}

}  // namespace

ContactTime::ContactTime(MotionOde& ode, ErrorScales& scales, bool allowed)
    : ode_(&ode),
      scales_(&scales),
      allowed_(allowed),
      plan_(allowed ? first_in_own_time : first_in_plain_time) {}

double ContactTime::usual_pace() const {
  return runs() ? 2 * std::sqrt(impact_.depth) : 1;
}

double ContactTime::fastest_pace() const { return runs() ? 2 * usual_pace() : 1; }

void ContactTime::watch(const State& state, int row) {
  fresh_.row = row;
  fresh_.episode = episode_of(state, at(row));
  fresh_.rate = motion_of(state, at(row)).rate;
  fresh_.touched = state.time;
  fresh_.turns = 0;
}

double ContactTime::touch(const State& state, int row, double length) {
  impact_ = scales_->impact(state, at(row));
  scales_->measure_clock_by(impact_);
  reset();
  if (!(impact_.time > 0)) return length;
  watch(state, row);
  const double speed = impact_.depth / impact_.time;
  const bool own = allowed_ && !ode_->begins_smoothly(at(row)) &&
                   motion_of(state, at(row)).rate >= grazes * speed;
  if (own) clock_row_ = row;
  fresh_.presses = true;
  fresh_.by_plan = own || !allowed_;
  fresh_.unit = own ? std::sqrt(impact_.depth) / speed : impact_.time;
  plan_.begin();
  return (fresh_.by_plan ? plan_.next(1) : first_of_grazing) * fresh_.unit;
}

double ContactTime::leave(State& state, int row) {
  const auto [depth, rate] = motion_of(state, at(row));
  watch(state, row);
  clock_row_ = row;
  fresh_.presses = fresh_.by_plan = false;
  impact_ = {depth, -depth / rate};
  scales_->measure_clock_by(impact_);
  const double root = std::sqrt(depth);
  fresh_.unit = -root / rate;
  ode_->begin(state, row, root);
  switched_ = true;
  return fresh_.unit;
}

double ContactTime::drop(State& state, const MotionOde::Vector& y, double length) {
  const double next = std::max(ode_->pace(y) * length, least_dropped * impact_.time);
  clock_row_ = -1;
  fresh_.by_plan = false;
  fresh_.unit = impact_.time;
  ode_->begin(state, -1, 0);
  switched_ = true;
  return next;
}

bool ContactTime::lags(const GuardReading& begin, const GuardReading& end,
                       double rtol) const {
  if (!runs() || !end.contact_set_complete) return false;
  const double allowed = lag_errors * rtol * impact_.depth;
  const double rounding = ode_->depth_rounding(ode_->start());
  return std::abs(end.clock_lag - begin.clock_lag) >
         std::max(allowed, lag_roundings * rounding);
}

double ContactTime::not_beyond_end(double length, const MotionOde::Vector& y,
                                   const GuardReading& begin) const {
  if (!runs()) return length;
  const double s = y[ode_->s_at()], rate = begin.approach[at(clock_row_)];
  return s > 0 && rate < 0 ? std::min(length, -to_the_end * s / rate) : length;
}

/// Not twice without a step, and not while the contact needs its own time.
bool ContactTime::may_switch(const SwitchingStep& step) const {
  if (!allowed_ || step.is_implicit() || switched_) return false;
  const double s = step.y()[ode_->s_at()];
  return !runs() || s * s > smooth_depth * impact_.depth;
}

int ContactTime::about_to_leave(const SwitchingStep& step) const {
  if (!may_switch(step)) return -1;
  int first = -1;
  double soonest = may_end * step.length() * ode_->pace(step.y());
  for (std::size_t i = 0; i < ode_->rows().size(); ++i) {
    if (!ode_->acts(i) || static_cast<int>(i) == clock_row_) continue;
    if (!ode_->guards().inside(i)) continue;  // it has left a ground that recovers
    if (ode_->begins_smoothly(i)) continue;   // and ends so
    const auto [depth, rate] = ode_->start_motion(i);
    if (!(depth > 0) || !(rate < 0)) continue;
    const double left = -depth / rate;
    if (left >= soonest) continue;
    soonest = left;
    first = static_cast<int>(i);
  }
  return first;
}

int ContactTime::leaves_at(const SwitchingStep& step, const StepEvent& event) const {
  const GuardTable& table = ode_->guards();
  if (event.guard < 0 || !table.is_depth(at(event.guard))) return -1;
  const std::size_t row = table.row_of(at(event.guard));
  const auto [depth, rate] = ode_->start_motion(row);
  const bool leaves = ode_->acts(row) && table.inside(row) &&
                      static_cast<int>(row) != clock_row_ && depth > 0 && rate < 0 &&
                      !ode_->begins_smoothly(row);
  return leaves && may_switch(step) ? static_cast<int>(row) : -1;
}

int ContactTime::as_good_as_open() const {
  for (std::size_t i = 0; i < ode_->rows().size(); ++i) {
    if (!ode_->acts(i) || static_cast<int>(i) == clock_row_) continue;
    if (!ode_->guards().inside(i)) continue;
    const NaturalScale natural = scales_->natural(i);
    const auto [depth, rate] = ode_->start_motion(i);
    if (rate < -only_rounding * natural.speed && depth < only_rounding * natural.depth) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

double ContactTime::plan_step(double length, double grow, const StepEvent& where,
                              const GuardEvent& event) {
  const bool planned = watches() && fresh_.by_plan;
  if (planned && fresh_.presses && where.where > 0) {
    const double now = length / fresh_.unit;
    plan_.note(now, std::min(where.where, 1.0), now * grow);
  }
  double next = where.where > 1 ? length * grow : length;
  if (runs() && event.row == clock_row_ && switches_normal(event)) {
    if (planned && fresh_.presses) plan_.end();
    fresh_.presses = !fresh_.presses;
    next = fresh_.unit;
  }
  return planned && fresh_.presses ? plan_.next(next / fresh_.unit) * fresh_.unit : next;
}

/// Whether the freshest contact is over, or lasts.
bool ContactTime::is_over(const GuardEvent& event) {
  if (event.time > fresh_.touched + lasts * impact_.time) return true;
  const double rate = ode_->approach(at(fresh_.row));
  if (rate * fresh_.rate < 0) ++fresh_.turns;
  fresh_.rate = rate;
  const bool left = event.row == fresh_.row && event.kind == EventKind::lift_off;
  return fresh_.turns >= 2 || left;
}

double ContactTime::end_impact(const GuardEvent& event, double s, double length) {
  if (!watches() || !is_over(event)) return length;
  if (runs()) length = std::max(2 * s * length, least_after * impact_.time);
  reset();
  return length;
}

double ContactTime::follow(std::span<const RowId> rows, double length) {
  if (!watches()) return length;
  const double pace = fastest_pace();
  fresh_.row = find_episode(rows, fresh_.episode);
  if (!runs()) return length;
  clock_row_ = fresh_.row;
  return clock_row_ < 0 ? length * pace : length;  // as far as was seen
}

}  // namespace bristle
