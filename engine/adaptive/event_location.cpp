#include "bristle/adaptive/event_location.hpp"

#include <algorithm>
#include <cmath>

namespace bristle {

namespace {

using detail::at;

constexpr StepEvent no_event{};
constexpr double nowhere = no_event.where;

// A guard is zero but for round-off where it was located, and a contact's forces are
// where it ends: a guard is evaluated this part of the step behind or before.
// Round-off of a guard is 1e-13 of its values (root.hpp); one that leaves zero like the
// square of the way is at 1e-6 by then. Measured: a tenth to ten times as much, within
// 0.3 %.
constexpr double clear_of_zero = 1.0 / 1024;

// Halvings of a step: to its last digit, 2⁻⁵⁰ = 1e-15; and to 2⁻³⁰ = 1e-9 of it where the
// place need not be exact, only on the right side. Measured: with 9 in place of 30 the
// ledger of laid bodies is five times as far off, with 15 it is the same.
constexpr int all_halvings = 50, some_halvings = 30;

// The slope of a bound within a step is taken over this part of it on both sides: off by
// 1e-6 of what it changes by, and by 1e-13 for rounding. Where memory leaves its bound is
// known as well; what memory gains by that is off by the square of it.
constexpr double beside = 1e-3;

// Tangents from both sides enclose where a contact is deepest; each shrinks the bracket
// at least by this part, so that twelve leave at most half of it (0.95¹² = 0.54); where a
// parabola is near, they leave nothing. Measured: 4 to 36 tangents give the same events.
constexpr double least_shrink = 0.05;
constexpr int most_tangents = 12;

// What lies far inside may change to and fro, where bodies turn on each other: places of
// a step to look at before it is halved. Measured on boxes, capsules and cylinders that
// turn and rock: none to 80 give the same motion, 0.5 % less to 3 % more evaluations.
constexpr int change_parts = 8;
constexpr double change_width = 1e-14;  // of the place: 45 units in its last digit
// Before that much of time a step would be too short to count: a thousand units in the
// last digit of a second [s], and of the time itself.
constexpr double at_once = 1e-12;

// A contact that touches is found at no depth, but for rounding, and for what a touch is
// located to of the way that it came: 2e-15 of the step, whose dense output is good to
// what the loosest tolerances leave, 1e-6. A contact that is deeper than a hundred
// roundings appears inside. Measured: a tenth to ten times of both, the same events.
constexpr double roundings = 100, located_to = 1e-6;

// Contacts that touch almost at once come before one another many times; where it is
// more often than this, the step is taken again, shorter.
constexpr int most_rounds = 100;

// Where very many contacts have an event in one step, nothing is located: the
// integrator goes on by impulses. Sixteen contacts, as many as are located at all while
// they act (adaptive.cpp), need 60 measurements each where they are bisected to the last
// digit twice; each measures all rows, thousands of which take a millisecond.
constexpr std::uint64_t most_measurements = 2000, least_measurements = 200;
constexpr std::uint64_t most_measured_rows = 500'000;

std::uint64_t measurements_allowed(std::size_t rows) {
  return std::clamp(most_measured_rows / std::max<std::uint64_t>(rows, 1),
                    least_measurements, most_measurements);
}

}  // namespace

bool begins_and_is_out(const GuardTable& table, const GuardReading& begin,
                       const GuardReading& end, std::size_t row) {
  const std::size_t guard = table.depth_of(row);
  const double side = table.side(guard);
  return side * begin.guards[guard] <= 0 && side * begin.approach[row] > 0 &&
         side * end.guards[guard] <= 0;
}

void EventLocator::measure_at(double where, bool with_laws) {
  step_->interpolate(where, here_);
  ode_->measure(here_, with_laws);
}

/// A guard at a place within the step.
double EventLocator::guard_at(std::size_t guard, double where) {
  const GuardTable& table = ode_->guards();
  const std::size_t row = table.row_of(guard);
  if (table.is_depth(guard)) {
    if (static_cast<int>(row) == ode_->clock_row()) {
      return step_->interpolate(where, ode_->s_at());
    }
    measure_at(where, false);
    return ode_->depth(row);
  }
  measure_at(where, true);
  ode_->read_guards(guards_here_);
  return guards_here_[guard];
}

/// How the depth grows along the step at a point of it.
double EventLocator::depth_slope(const Vector& y, double approach) const {
  return step_->length() * approach * ode_->pace(y);
}

/// Where a depth changes its sign between two places.
double EventLocator::locate_depth(std::size_t row, RootEnd low, RootEnd high,
                                  double slope_low) {
  const std::size_t guard = ode_->guards().depth_of(row);
  if (static_cast<int>(row) == ode_->clock_row()) {
    return find_root([&](double x) { return guard_at(guard, x); }, low, high);
  }
  const auto depth = [&](double x) {
    const double f = guard_at(guard, x);
    return SlopedValue{f, step_->length() * ode_->pace(here_) * ode_->approach(row)};
  };
  return find_root_with_slope(depth, low, high, slope_low);
}

/// A place before `last` where an open contact is out; it may begin a trifle inside, when
/// it has just opened.
double EventLocator::place_outside(std::size_t row, double last) {
  const std::size_t guard = ode_->guards().depth_of(row);
  if (begin_->guards[guard] < 0) return 0;
  double place = 0.5 * last;
  for (int k = 0; k < all_halvings; ++k, place *= 0.5) {
    if (guard_at(guard, place) < 0) return place;
  }
  return nowhere;
}

/// Where a contact that does not get out comes on again.
double EventLocator::turning_place(std::size_t row) {
  double low = 0, high = 1;
  for (int k = 0; k < some_halvings; ++k) {
    const double middle = 0.5 * (low + high);
    measure_at(middle, false);
    (ode_->approach(row) > 0 ? high : low) = middle;
  }
  return high;
}

/// Where an open contact closes. It may leave first, or touch and leave again within the
/// step.
double EventLocator::touch_place(std::size_t row) {
  const double after = end_->guards[ode_->guards().depth_of(row)];
  const double out = place_outside(row, 1);
  if (out > 1) {
    if (begin_->approach[row] > 0) return 0;
    return end_->approach[row] > 0 ? turning_place(row) : nowhere;
  }
  const bool moved = out > 0;  // here_ is there
  const RootEnd low{
      out, moved ? ode_->depth(row) : begin_->guards[ode_->guards().depth_of(row)]};
  const double up = moved ? depth_slope(here_, ode_->approach(row))
                          : depth_slope(step_->y(), begin_->approach[row]);
  if (after >= 0) return locate_depth(row, low, {1, after}, up);
  return deepest_touch(row, low, up);
}

/// Where an open contact touches that is out at both ends of the step, with slope `up` at
/// the lower one.
double EventLocator::deepest_touch(std::size_t row, RootEnd low, double up) {
  const std::size_t guard = ode_->guards().depth_of(row);
  const double begin = low.x;
  RootEnd high{1, end_->guards[guard]};
  double down = depth_slope(step_->end(), end_->approach[row]);
  // It goes away first, or comes closer again: look in between where it moves far.
  if ((up < 0 || down > 0) && std::abs(up) + std::abs(down) > -2 * (low.f + high.f)) {
    for (const double part : {0.25, 0.5, 0.75}) {
      const double place = begin + part * (1 - begin);
      const double depth = guard_at(guard, place);
      const double rate = depth_slope(here_, ode_->approach(row));
      if (depth >= 0) return locate_depth(row, low, {place, depth});
      if (rate > 0) {
        low = {place, depth};
        up = rate;
      } else if (up > 0) {
        high = {place, depth};
        down = rate;
        break;
      }
    }
  }
  // It comes closer and goes away again: where it is deepest, between tangents.
  const RootEnd out = low;
  for (int k = 0; k < most_tangents && up > 0 && down < 0; ++k) {
    const double width = high.x - low.x;
    const double x = low.x + (high.f - low.f - down * width) / (up - down);
    if (low.f + up * (x - low.x) < 0) return nowhere;
    const double place =
        std::clamp(x, low.x + least_shrink * width, high.x - least_shrink * width);
    const double depth = guard_at(guard, place);
    if (depth >= 0) return locate_depth(row, out, {place, depth});
    const double rate = depth_slope(here_, ode_->approach(row));
    (rate > 0 ? low : high) = {place, depth};
    (rate > 0 ? up : down) = rate;
  }
  return nowhere;
}

/// Where a law switches: its guard leaves the side that it is held on.
double EventLocator::switch_place(std::size_t guard, double side, RootEnd last) {
  RootEnd from{0, begin_->guards[guard]};
  if (side * from.f <= 0) {
    // It has just been located, a trifle before or behind by round-off: soon it is clear
    // of zero, or else it only grazed that.
    from.x = last.x * clear_of_zero;
    from.f = guard_at(guard, from.x);
    if (side * from.f <= 0) return 0;
  }
  return find_root([&](double x) { return guard_at(guard, x); }, from, last);
}

/// How fast memory on its bound would leave it outwards, per step, at a place of it.
double EventLocator::outward_speed(std::size_t guard, double where) {
  const double before = std::max(where - beside, 0.0),
               after = std::min(where + beside, 1.0);
  const double change = guard_at(guard, after) - guard_at(guard, before);
  measure_at(where, true);
  ode_->read_guards(guards_here_);
  return change / (after - before) +
         step_->length() * ode_->pace(here_) * guards_here_[guard + 1];
}

/// Where memory that is held on its bound leaves it: it would move inwards from there on,
/// and by more than errors are allowed to be.
double EventLocator::leaves_bound(std::size_t guard, double last, double allowed) {
  const auto of_end = [&](const GuardReading& end, const Vector& y) {
    return step_->length() * (end.slopes[guard] + ode_->pace(y) * end.guards[guard + 1]);
  };
  const RootEnd high{last,
                     last < 1 ? outward_speed(guard, last) : of_end(*end_, step_->end())};
  if (!(high.f < 0)) return nowhere;
  const RootEnd low{0, of_end(*begin_, step_->y())};
  const double place =
      low.f > 0 ? find_root([&](double x) { return outward_speed(guard, x); }, low, high)
                : 0;
  return -0.5 * high.f * (last - place) > allowed ? place : nowhere;
}

/// Where memory reaches its bound, if it exceeds that by more than errors are allowed to
/// be: at the step's end, or within it.
double EventLocator::reaches_bound(std::size_t guard, double last, double allowed) {
  RootEnd low{0, begin_->guards[guard]};
  RootEnd high{last, last < 1 ? guard_at(guard, last) : end_->guards[guard]};
  const auto value = [&](double x) { return guard_at(guard, x); };
  const auto locate = [&](const RootEnd& out) {
    RootEnd in{0, begin_->guards[guard]};
    if (in.f >= 0) in = {out.x * clear_of_zero, value(out.x * clear_of_zero)};
    return in.f < 0 ? find_root(value, in, out) : 0;
  };
  if (high.f > allowed) return locate(high);
  // It may be largest in between: there, between tangents.
  double up = step_->length() * begin_->slopes[guard];
  double down = step_->length() * end_->slopes[guard];
  if (last < 1) return nowhere;
  for (int k = 0; k < most_tangents && up > 0 && down < 0; ++k) {
    const double width = high.x - low.x;
    const double x = low.x + (high.f - low.f - down * width) / (up - down);
    if (!(low.f + up * (x - low.x) > allowed)) return nowhere;
    const double place =
        std::clamp(x, low.x + least_shrink * width, high.x - least_shrink * width);
    const double there = value(place);
    if (there > allowed) return locate({place, there});
    const double rate = (value(place + beside * width) - there) / (beside * width);
    (rate > 0 ? low : high) = {place, there};
    (rate > 0 ? up : down) = rate;
  }
  return nowhere;
}

/// Where memory reaches its bound, or leaves it.
double EventLocator::bound_place(std::size_t guard, double last) {
  const std::size_t memory = ode_->stretch_at(ode_->guards().row_of(guard));
  if (memory >= ode_->core()) return nowhere;
  const double allowed = step_->allowed_error(memory);
  const GuardTable& table = ode_->guards();
  const double place = table.side(guard) > 0 ? leaves_bound(guard, last, allowed)
                                             : reaches_bound(guard, last, allowed);
  // Not twice at one instant: there accepted states keep the bound.
  const double now = step_->y()[ode_->t_at()];
  const bool again = place <= 1 && table.switched(guard) == now &&
                     !(step_->interpolate(place, ode_->t_at()) > now);
  return again ? nowhere : place;
}

/// The event of a contact that begins with the step and is not in at its end: none where
/// rounding hides that it comes on; else it turned back, and was leapt over if the step
/// led farther than rounding.
StepEvent EventLocator::just_begun(std::size_t row) const {
  const std::size_t guard = ode_->guards().depth_of(row);
  const double before = begin_->guards[guard];
  const bool own = static_cast<int>(row) == ode_->clock_row();
  const double side = ode_->guards().side(guard);
  const double rounding = ode_->depth_rounding(step_->y());
  const double small = own ? std::sqrt(rounding) : rounding;  // of s, or of δ
  const double gained = side * (end_->guards[guard] - before);
  if (side * end_->approach[row] > 0 && gained >= -small) return no_event;
  const double pace =
      own ? 1 : std::max(ode_->pace(step_->y()), ode_->pace(step_->end()));
  const double far = step_->length() * pace * side * begin_->approach[row];
  if (far > std::max(small, std::abs(before))) return {-1, nowhere, true};
  return {static_cast<int>(guard), 1, false};
}

/// Where a row that acts leaves, or comes back into a ground that recovers.
StepEvent EventLocator::end_of_contact(std::size_t row) {
  const std::size_t depth = ode_->guards().depth_of(row);
  const auto guard = static_cast<int>(depth);
  const double side = ode_->guards().side(depth);
  const double before = begin_->guards[depth], after = end_->guards[depth];
  if (!(side * after <= 0)) return no_event;
  if (side * before > 0) {
    return {guard, locate_depth(row, {0, before}, {1, after}), false};
  }
  if (begins_and_is_out(ode_->guards(), *begin_, *end_, row)) return just_begun(row);
  return {guard, 0, false};  // it only grazed
}

/// The first event of a row within the step.
StepEvent EventLocator::event_of(std::size_t row) {
  const GuardTable& table = ode_->guards();
  const std::size_t depth = table.depth_of(row);
  if (!ode_->acts(row)) return {static_cast<int>(depth), touch_place(row), false};
  StepEvent first = end_of_contact(row);
  if (first.skips) return first;
  for (std::size_t g = depth + 1; g < table.end_of(row); ++g) {
    const double side = table.side(g);
    if (side == 0) continue;
    // Only as long as the contact lasts: at its end all forces are zero.
    const double last = first.where < 1 ? first.where * (1 - clear_of_zero) : 1;
    if (table.is_bound(g)) {
      const double place = bound_place(g, last);
      if (place < first.where) first = {static_cast<int>(g), place, false};
      continue;
    }
    const double at_last = last < 1 ? guard_at(g, last) : end_->guards[g];
    if (!(side * at_last < 0)) continue;
    const double place = switch_place(g, side, {last, at_last});
    if (place < first.where) first = {static_cast<int>(g), place, false};
  }
  return first;
}

/// Whether at a place within the step the rows are the whole contact set, and no open one
/// is inside.
bool EventLocator::set_unchanged(double where) {
  measure_at(where, false);
  for (std::size_t i = 0; i < ode_->rows().size(); ++i) {
    const bool inside = !ode_->acts(i) && ode_->depth(i) > 0;
    if (inside && begin_->guards[ode_->guards().depth_of(i)] < 0) return false;
  }
  return ode_->contact_set_complete();
}

/// Where the contact set changes: another point of a pair is inside, or that of a closed
/// contact has vanished. The step ends just before, so that a point that comes in does so
/// as an open contact; or just behind, where that is at once.
StepEvent EventLocator::set_change(double last) {
  double low = 0, high = last;
  for (double place = last / change_parts; place < last; place += last / change_parts) {
    if (!set_unchanged(place)) {
      // An open contact came before.
      if (ode_->contact_set_complete()) return {-1, place, false};
      high = place;
      break;
    }
    low = place;
  }
  for (int k = 0; k < all_halvings && high - low > change_width * high; ++k) {
    const double middle = 0.5 * (low + high);
    measure_at(middle, false);
    (ode_->contact_set_complete() ? low : high) = middle;
  }
  const std::size_t t = ode_->t_at();
  const double now = step_->y()[t], soon = now + at_once * std::max(1.0, std::abs(now));
  if (step_->interpolate(low, t) > soon) return {-1, low, false};
  while (high < last && !(step_->interpolate(high, t) > now)) {
    high = std::min(2 * high, last);
  }
  return {-1, high, false};
}

/// Shapes touch without an event of a row. The step ends where that shows in the
/// contact set, or before it, so that the meeting begins as an open contact; or behind
/// it, where it is at once.
StepEvent EventLocator::event_of(const Meeting& meeting) {
  if (!set_unchanged(meeting.at)) return set_change(meeting.at);
  const std::size_t t = ode_->t_at();
  const double now = step_->y()[t], soon = now + at_once * std::max(1.0, std::abs(now));
  const bool waits = step_->interpolate(meeting.safe, t) > soon;
  return {-1, waits ? meeting.safe : meeting.at, false};
}

/// Whether an open contact does not touch where all contacts were just measured, at
/// here_, but appears inside.
bool EventLocator::jumps_in(std::size_t row) const {
  if (ode_->acts(row)) return false;
  const double before = begin_->approach[row];
  const double way = (here_[ode_->t_at()] - step_->y()[ode_->t_at()]) *
                     std::max(std::abs(ode_->approach(row)), std::abs(before));
  const double rounding = ode_->depth_rounding(step_->y());
  return ode_->depth(row) > roundings * rounding + located_to * way &&
         begin_->guards[ode_->guards().depth_of(row)] < 0;
}

StepEvent EventLocator::first_event(const GuardReading& begin, const GuardReading& end) {
  begin_ = &begin;
  end_ = &end;
  const GuardTable& table = ode_->guards();
  const std::size_t rows = ode_->rows().size();
  StepEvent first;
  const std::uint64_t measured = ode_->contact_evaluations();
  const std::uint64_t allowed = measurements_allowed(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    if (ode_->rows()[i] == empty_row) continue;
    const StepEvent event = event_of(i);
    if (event.skips) return event;
    if (ode_->contact_evaluations() - measured > allowed) {
      return {.crowded = true};
    }
    if (event.where < first.where) first = event;
  }
  const Meeting meeting = meetings_.first(begin, end, std::min(first.where, 1.0));
  if (meeting.found()) first = event_of(meeting);
  if (first.where > 1) {
    // Whoever reads contacts next finds them at the end of the step.
    if (meetings_.followed_dense()) ode_->measure(step_->end(), true);
    if (end.contact_set_complete) return no_event;
    first = set_change(1);
  }
  // Who is in there already came before.
  for (int round = 0; round < most_rounds; ++round) {
    measure_at(first.where, false);
    const bool of_guard = first.guard >= 0;
    if (of_guard &&
        (!ode_->contact_set_complete() || jumps_in(table.row_of(at(first.guard))))) {
      const StepEvent change = set_change(first.where);
      if (!(change.where < first.where)) return change;
      first = change;
      continue;
    }
    std::size_t deepest = rows;
    double depth = 0;
    for (std::size_t i = 0; i < rows; ++i) {
      const std::size_t guard = table.depth_of(i);
      const bool known = static_cast<int>(guard) == first.guard;
      if (known || ode_->acts(i) || ode_->depth(i) <= depth) continue;
      if (begin.guards[guard] >= 0 && !(ode_->approach(i) > 0)) continue;
      deepest = i;
      depth = ode_->depth(i);
    }
    if (deepest == rows) return first;
    const std::size_t guard = table.depth_of(deepest);
    const double out = place_outside(deepest, first.where);
    if (out > 1) return first;
    const double at_out = out > 0 ? ode_->depth(deepest) : begin.guards[guard];
    const double where = locate_depth(deepest, {out, at_out}, {first.where, depth});
    if (!(where < first.where)) return first;
    first = {static_cast<int>(guard), where, false};
  }
  return {-1, 0, true};
}

bool EventLocator::only_clock_ends(const GuardReading& end) const {
  for (std::size_t i = 0; i < ode_->rows().size(); ++i) {
    if (static_cast<int>(i) == ode_->clock_row() || !ode_->acts(i)) continue;
    const std::size_t guard = ode_->guards().depth_of(i);
    if (ode_->guards().side(guard) * end.guards[guard] <= 0) return false;
  }
  return true;
}

double EventLocator::place_of_time(double time, double where) {
  double low = 0, high = where;
  for (int k = 0; k < 60 && high - low > 1e-16;
       ++k) {  // halvings, to the last place of 1
    const double middle = 0.5 * (low + high);
    (step_->interpolate(middle, ode_->t_at()) < time ? low : high) = middle;
  }
  return high;
}

}  // namespace bristle
