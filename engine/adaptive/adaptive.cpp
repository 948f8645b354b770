#include "bristle/adaptive/adaptive.hpp"

#include <algorithm>
#include <cmath>

namespace bristle {

namespace {

using detail::at;

constexpr std::size_t per_row = SmoothMotion::per_row;

// When the implicit method takes over: |h λ| of explicit steps, and how many of them.
constexpr double stiff_enough = 1.5;
constexpr int patience = 8;
// Explicit steps are planned no longer than this |h λ| of what was seen last, and a
// little longer each time that nothing is seen. Where nothing moves, much longer ones
// would end well, but rounding grows within them.
constexpr double stable = 5, forgetting = 1.2;

// Time stands still where it takes more turns than this, and than some per contact, to
// get ahead by so much.
constexpr std::int64_t most_turns = 2000, turns_per_row = 50;
constexpr double ahead = 1e-10;  // [s], and of the time itself

}  // namespace

Adaptive::Adaptive(const Model& model, const AdaptiveOptions& options)
    : options_(options), motion_(model), plan_(options.contact_clock ? 0.3 : 0.03) {}

StepCounts Adaptive::counts() const noexcept {
  StepCounts counts = counts_;
  counts.evaluations += motion_.evaluations();
  counts.looks += motion_.looks();
  return counts;
}

StepStatus Adaptive::settle(State& state) {
  const LocatedEvents none;
  return bristle::settle(motion_.system(), 1e-9, state, {}, &none);
}

void Adaptive::restart() {
  const StepCounts so_far = counts();
  *this = Adaptive(motion_.model(), options_);
  counts_ = so_far;
}

/// Contacts are looked for as far as the next step leads; where there are too many of
/// them, it leads less far.
StepStatus Adaptive::settle_ahead(State& state) {
  for (;;) {
    // In a contact's clock a step takes 2 s dη; s is of the order of its scale.
    const double pace = clock_row_ >= 0 ? 4 * std::sqrt(impact_.depth) : 1;
    const double horizon = std::max(length_ * pace, 1e-9);
    const LocatedEvents events = motion_.located();
    const StepStatus status =
        bristle::settle(motion_.system(), horizon, state, {}, &events);
    const bool too_far =
        status == StepStatus::too_many_contacts || status == StepStatus::too_many_pairs;
    if (!too_far || horizon < 1e-6) return status;
    length_ *= 0.25;
    flight_length_ = std::min(flight_length_, length_ * pace);
  }
}

StepStatus Adaptive::begin(State& state) {
  if (!(options_.rtol > 0) || !(options_.longest_step > 0)) return StepStatus::wrong_step;
  if (length_ == 0) length_ = flight_length_ = 1e-3;
  begin_ = next_sample_ = state.time;
  samples_ = 0;
  clock_row_ = fresh_row_ = -1;
  known_ = false;
  motion_.forget_events();
  const StepStatus status = settle_ahead(state);
  if (status != StepStatus::ok) return status;
  motion_.begin(state, clock_row_, 0);
  motion_.measure_scales(state);
  fastest_ = 0;
  step_.y = motion_.start();
  return status;
}

double Adaptive::try_step() {
  return use_implicit_ ? implicit_.attempt(motion_, options_.rtol, step_)
                       : explicit_.attempt(motion_, options_.rtol, step_);
}

/// How much longer the next step may be than the last one, by its error.
double Adaptive::change() const {
  const double exponent = use_implicit_ ? implicit_.exponent() : explicit_.exponent();
  return 0.9 * std::pow(std::max(error_, 1e-12), -exponent);
}

void Adaptive::read_approach(Vector& approach) const {
  approach.resize(motion_.guard_count() / per_row);
  for (std::size_t i = 0; i < approach.size(); ++i) approach[i] = motion_.approach(i);
}

/// A step from step_.y, its error allowed.
Adaptive::Attempt Adaptive::attempt() {
  if (!known_) {
    step_.rate.resize(step_.y.size());
    motion_.rates(step_.y, step_.rate.data(), true);
    motion_.read_guards(guards_);
    motion_.hold(guards_);
    read_approach(approach_);
    lag_ = motion_.clock_lag();
    implicit_.forget();
    known_ = true;
  }
  // Where it is on its way out, not far beyond that.
  if (clock_row_ >= 0) {
    const double s = step_.y[motion_.s_at()], rate = approach_[at(clock_row_)];
    if (s > 0 && rate < 0) length_ = std::min(length_, -1.2 * s / rate);
  }
  for (;;) {
    step_.h = length_;
    error_ = try_step();
    if (!all_finite(std::span(step_.end).first(motion_.core()))) error_ = HUGE_VAL;
    if (error_ <= 1) break;
    ++counts_.rejected;
    length_ *= std::isfinite(error_) ? std::max(0.2, change()) : 0.1;
    if (length_ < 1e-18) return Attempt::fails;
    if (about_to_leave() >= 0) return Attempt::leaves;
  }
  if (use_implicit_) {
    implicit_.complete(motion_, step_);
  } else {
    explicit_.complete(motion_, step_);
    stiffness_ = explicit_.stiffness(motion_, step_);
    const bool seen = stiffness_.certain && stiffness_.size > stiff_enough;
    if (seen) fastest_ = stiffness_.size / step_.h;
    beyond_stability_ =
        clock_row_ < 0 && (step_.h * fastest_ > stable || stiffness_.size > 2 * stable);
    if (!seen) fastest_ /= forgetting;
  }
  motion_.read_guards(guards_end_);
  read_approach(approach_end_);
  lag_end_ = motion_.clock_lag();
  stands_end_ = motion_.stands();
  places_ = motion_.places_to_look();
  between_known_ = false;
  half_known_ = -1;
  return Attempt::done;
}

/// A contact that is on its way out and as good as open, where only round-off is left of
/// its depth; or −1.
int Adaptive::gone() const {
  for (int i = 0; i < static_cast<int>(motion_.row_count()); ++i) {
    const SmoothMotion::Settled contact = motion_.settled(at(i));
    if (!motion_.acts(at(i)) || i == clock_row_) continue;
    if (motion_.side(at(i) * per_row) < 0) continue;
    const SmoothMotion::Natural natural = motion_.natural(at(i));
    if (contact.rate < -1e-9 * natural.speed && contact.depth < 1e-9 * natural.depth) {
      return i;
    }
  }
  return -1;
}

/// A contact that may end within the step, and whose clock should run there; or −1.
int Adaptive::about_to_leave() const {
  if (!may_switch_clock()) return -1;
  int first = -1;
  double soonest = 2 * step_.h * (clock_row_ >= 0 ? 2 * step_.y[motion_.s_at()] : 1);
  for (std::size_t i = 0; i < approach_.size(); ++i) {
    const SmoothMotion::Settled contact = motion_.settled(i);
    if (!motion_.acts(i) || static_cast<int>(i) == clock_row_) continue;
    if (motion_.side(i * per_row) < 0) continue;  // it has left a ground that recovers
    if (!(contact.depth > 0) || !(contact.rate < 0)) continue;
    const double left = -contact.depth / contact.rate;
    if (left >= soonest) continue;
    soonest = left;
    first = static_cast<int>(i);
  }
  return first;
}

/// The same where an event was located.
int Adaptive::leaves_at(const Place& place) const {
  if (place.guard < 0 || at(place.guard) % per_row != 0) return -1;
  const auto row = static_cast<int>(at(place.guard) / per_row);
  const SmoothMotion::Settled contact = motion_.settled(at(row));
  const bool leaves = motion_.acts(at(row)) && motion_.side(at(place.guard)) > 0 &&
                      row != clock_row_ && contact.depth > 0 && contact.rate < 0;
  return leaves && may_switch_clock() ? row : -1;
}

/// Not twice without a step, and not while the contact needs its own clock.
bool Adaptive::may_switch_clock() const {
  if (!options_.contact_clock || use_implicit_ || switched_clock_) return false;
  const double s = step_.y[motion_.s_at()];
  return clock_row_ < 0 || s * s > 0.1 * impact_.depth;
}

void Adaptive::interpolate(double where, Vector& y) {
  if (use_implicit_ || beyond_stability_) {
    implicit_.interpolate(step_, where, y);
    return;
  }
  if (!between_known_) explicit_.prepare(motion_, step_);
  between_known_ = true;
  explicit_.interpolate(step_, where, y);
}

double Adaptive::interpolate(double where, std::size_t i) {
  if (use_implicit_ || beyond_stability_) {
    return implicit_.interpolate(step_, where, i);
  }
  if (!between_known_) explicit_.prepare(motion_, step_);
  between_known_ = true;
  return explicit_.interpolate(step_, where, i);
}

/// The same for samples. Within a step as long as its error allows, order 7 is far less
/// accurate than order 8 at its end (30 times the tolerance in a swing of a pendulum):
/// from two steps of half the length, 256 times less far off. The run itself takes no
/// notice.
void Adaptive::interpolate_sample(double where, Vector& y) {
  constexpr double enough = 1e-3;
  const bool stiff = beyond_stability_ && stiffness_.forces > stable;
  const bool good = error_ < enough && !beyond_stability_;
  if (use_implicit_ || stiff || clock_row_ >= 0 || good) {
    interpolate(where, y);
    return;
  }
  const int half = where < 0.5 ? 0 : 1;
  while (half_known_ < half) {
    if (half_known_ < 0) {
      half_step_.h = 0.5 * step_.h;
      half_step_.y = step_.y;
      half_step_.rate = step_.rate;
    } else {
      std::swap(half_step_.y, half_step_.end);
      std::swap(half_step_.rate, half_step_.end_rate);
    }
    half_.attempt(motion_, options_.rtol, half_step_);
    half_.complete(motion_, half_step_);
    half_.prepare(motion_, half_step_);
    ++half_known_;
  }
  half_.interpolate(half_step_, 2 * where - half, y);
}

/// A guard at a place within the step.
double Adaptive::guard_at(std::size_t guard, double where) {
  const std::size_t row = guard / per_row;
  if (guard % per_row == 0) {
    if (static_cast<int>(row) == clock_row_) return interpolate(where, motion_.s_at());
    interpolate(where, here_);
    motion_.look(here_, false);
    return motion_.depth(row);
  }
  interpolate(where, here_);
  motion_.look(here_, true);
  motion_.read_guards(guards_here_);
  return guards_here_[guard];
}

/// Where a guard changes its sign between two places: bisection and inverse quadratic
/// interpolation in turn (Chandrupatla 1997, Adv. Eng. Softw. 28, 145). A guard may begin
/// at round-off and end high up, where simpler rules creep.
double Adaptive::locate(std::size_t guard, double low, double at_low, double high,
                        double at_high) {
  double x1 = high, f1 = at_high, x2 = low, f2 = at_low, x3 = low, f3 = at_low;
  double part = f1 / (f1 - f2);
  const double small = 1e-13 * std::max(std::abs(at_low), std::abs(at_high));
  for (int k = 0; k < 100; ++k) {
    const double x = x1 + part * (x2 - x1);
    const double f = guard_at(guard, x);
    if ((f > 0) == (f1 > 0)) {
      x3 = x1;
      f3 = f1;
    } else {
      x3 = x2;
      f3 = f2;
      x2 = x1;
      f2 = f1;
    }
    x1 = x;
    f1 = f;
    const double least = (1e-16 + 4e-16 * x1) / std::abs(x2 - x1);
    if (std::abs(f) <= small) return x;
    if (least > 0.5) return (f1 > 0) == (at_high > 0) ? x1 : x2;  // just beyond
    const double xi = (x1 - x2) / (x3 - x2);
    const double phi = (f1 - f2) / (f3 - f2);
    const bool smooth = phi * phi < xi && (1 - phi) * (1 - phi) < 1 - xi;
    part = smooth ? f1 / (f2 - f1) * f3 / (f2 - f3) +
                        (x3 - x1) / (x2 - x1) * f1 / (f3 - f1) * f2 / (f3 - f2)
                  : 0.5;
    part = std::clamp(part, least, 1 - least);
  }
  return x1;
}

/// The same for a depth, whose rate is known: Newton's method within a bracket, from the
/// parabola on with this slope at its lower end, or the chord.
double Adaptive::locate_depth(std::size_t row, double low, double at_low, double high,
                              double at_high, double slope_low) {
  if (static_cast<int>(row) == clock_row_) {
    return locate(row * per_row, low, at_low, high, at_high);
  }
  const bool rising = at_high > at_low;
  // at_low + b x + c x² with x from 0 to 1 between the ends
  const double chord = at_high - at_low;
  const double b = slope_low != 0 ? (high - low) * slope_low : chord, c = chord - b;
  const double root = std::sqrt(std::max(b * b - 4 * c * at_low, 0.0));
  const double part = rising == (b > 0) ? -2 * at_low / (b + std::copysign(root, b))
                                        : (-b + (rising ? root : -root)) / (2 * c);
  double x = part > 0 && part < 1 ? low + part * (high - low) : 0.5 * (low + high);
  for (int k = 0; k < 100; ++k) {
    const double depth = guard_at(row * per_row, x);
    ((depth > 0) == rising ? high : low) = x;
    const double pace = clock_row_ >= 0 ? 2 * here_[motion_.s_at()] : 1;  // dt/dη
    const double slope = step_.h * pace * motion_.approach(row);
    const double next = x - depth / slope;
    if (std::abs(next - x) <= 2e-15 * x) return next;
    // A zero slope, or out of the bracket: halve it.
    const bool within = next > low && next < high;
    x = within ? next : 0.5 * (low + high);
    if (high - low <= 4e-16 * high) return x;
  }
  return x;
}

/// A place before `last` where an open contact is out; it may begin a trifle inside, when
/// it has just opened. 2 where there is none.
double Adaptive::outside(std::size_t row, double last) {
  if (guards_[row * per_row] < 0) return 0;
  double place = 0.5 * last;
  for (int k = 0; k < 50; ++k, place *= 0.5) {
    if (guard_at(row * per_row, place) < 0) return place;
  }
  return 2;
}

/// Where an open contact closes. It may leave first, or touch and leave again within the
/// step.
double Adaptive::touch_place(std::size_t row) {
  const std::size_t guard = row * per_row;
  const double before = guards_[guard], after = guards_end_[guard];
  const double begin = outside(row, 1);
  if (begin > 1) {
    if (approach_[row] > 0) return 0;
    if (!(approach_end_[row] > 0)) return 2;
    // It does not get out: it touches where it turns.
    double low = 0, high = 1;
    for (int k = 0; k < 30; ++k) {
      const double middle = 0.5 * (low + high);
      guard_at(guard, middle);
      (motion_.approach(row) > 0 ? high : low) = middle;
    }
    return high;
  }
  const auto slope = [&](const Vector& y, double approach) {
    return step_.h * approach * (clock_row_ >= 0 ? 2 * y[motion_.s_at()] : 1);
  };
  const bool moved = begin > 0;  // here_ is there
  double low = begin, at_low = moved ? motion_.depth(row) : before;
  double up =
      moved ? slope(here_, motion_.approach(row)) : slope(step_.y, approach_[row]);
  if (after >= 0) return locate_depth(row, low, at_low, 1, after, up);
  double high = 1, at_high = after, down = slope(step_.end, approach_end_[row]);
  // It goes away first, or comes closer again: look in between where it moves far.
  if ((up < 0 || down > 0) && std::abs(up) + std::abs(down) > -2 * (at_low + at_high)) {
    for (const double part : {0.25, 0.5, 0.75}) {
      const double place = begin + part * (1 - begin);
      const double depth = guard_at(guard, place);
      const double rate = slope(here_, motion_.approach(row));
      if (depth >= 0) return locate_depth(row, low, at_low, place, depth);
      if (rate > 0) {
        low = place;
        at_low = depth;
        up = rate;
      } else if (up > 0) {
        high = place;
        at_high = depth;
        down = rate;
        break;
      }
    }
  }
  // It comes closer and goes away again: where it is deepest, between tangents.
  const double out = low, at_out = at_low;
  for (int k = 0; k < 12 && up > 0 && down < 0; ++k) {
    const double width = high - low;
    const double x = low + (at_high - at_low - down * width) / (up - down);
    if (at_low + up * (x - low) < 0) return 2;
    const double place = std::clamp(x, low + 0.05 * width, high - 0.05 * width);
    const double depth = guard_at(guard, place);
    if (depth >= 0) return locate_depth(row, out, at_out, place, depth);
    const double rate = slope(here_, motion_.approach(row));
    (rate > 0 ? low : high) = place;
    (rate > 0 ? at_low : at_high) = depth;
    (rate > 0 ? up : down) = rate;
  }
  return 2;
}

/// Where a law switches: its guard leaves the side that it is held on.
double Adaptive::switch_place(std::size_t guard, double side, double last,
                              double at_last) {
  double from = 0, at_from = guards_[guard];
  if (side * at_from <= 0) {
    // It has just been located, a trifle before or behind by round-off: soon it is clear
    // of zero, or else it only grazed that.
    from = last / 1024;
    at_from = guard_at(guard, from);
    if (side * at_from <= 0) return 0;
  }
  return locate(guard, from, at_from, last, at_last);
}

/// The event of a contact that begins with the step and is not in at its end: none where
/// rounding hides that it comes on; else it turned back, and was leapt over if the step
/// led farther than rounding.
Adaptive::Place Adaptive::just_begun(std::size_t row) const {
  const std::size_t guard = row * per_row;
  const bool own = static_cast<int>(row) == clock_row_;
  const double side = motion_.side(guard);
  const double rounding = motion_.rounding(step_.y);
  const double small = own ? std::sqrt(rounding) : rounding;  // of s, or of δ
  const double gained = side * (guards_end_[guard] - guards_[guard]);
  if (side * approach_end_[row] > 0 && gained >= -small) return {};
  const std::size_t s = motion_.s_at();
  const double pace =
      own || clock_row_ < 0 ? 1 : 2 * std::max(step_.y[s], step_.end[s]);  // dt/dη
  const double far = step_.h * pace * side * approach_[row];
  if (far > std::max(small, std::abs(guards_[guard]))) return {-1, 2, true};
  return {static_cast<int>(guard), 1, false};
}

/// The first event of a row within the step.
Adaptive::Place Adaptive::crossing(std::size_t row) {
  const std::size_t guard = row * per_row;
  if (!motion_.acts(row)) {
    return {static_cast<int>(guard), touch_place(row), false};
  }
  Place first;
  const double before = guards_[guard], after = guards_end_[guard];
  const double side = motion_.side(guard);
  if (side * after <= 0) {
    // Out, or back into a ground that recovers.
    if (side * before > 0) {
      first = {static_cast<int>(guard), locate_depth(row, 0, before, 1, after), false};
    } else if (side * approach_[row] > 0) {
      first = just_begun(row);
      if (first.skips) return first;
    } else {
      first = {static_cast<int>(guard), 0, false};  // it only grazed
    }
  }
  for (std::size_t g = guard + 1; g < guard + per_row; ++g) {
    const double held = motion_.side(g);
    if (held == 0) continue;
    // Only as long as the contact lasts: at its end all forces are zero.
    const double last = first.where < 1 ? first.where * (1 - 1.0 / 1024) : 1;
    const double to = last < 1 ? guard_at(g, last) : guards_end_[g];
    if (!(held * to < 0)) continue;
    const double place = switch_place(g, held, last, to);
    if (place < first.where) first = {static_cast<int>(g), place, first.skips};
  }
  return first;
}

/// Whether at a place within the step the rows stand for what touches, and no open one is
/// inside.
bool Adaptive::nothing_new(double place) {
  interpolate(place, here_);
  motion_.look(here_, false);
  for (std::size_t i = 0; i < approach_.size(); ++i) {
    const bool inside = !motion_.acts(i) && motion_.depth(i) > 0;
    if (inside && guards_[i * per_row] < 0) return false;
  }
  return motion_.stands();
}

/// Where the rows cease to stand for what touches: another point of a pair is inside, or
/// that of a closed contact is gone. The step ends just before, so that a point that
/// comes in does so as an open contact; or just behind, where that is at once.
Adaptive::Place Adaptive::change_place(double last) {
  double low = 0, high = last;
  // What goes far in may change to and fro there.
  for (double place = last / 8; place < last; place += last / 8) {
    if (!nothing_new(place)) {
      if (motion_.stands()) return {-1, place, false};  // an open contact came before
      high = place;
      break;
    }
    low = place;
  }
  for (int k = 0; k < 50 && high - low > 1e-14 * high; ++k) {
    const double middle = 0.5 * (low + high);
    interpolate(middle, here_);
    motion_.look(here_, false);
    (motion_.stands() ? low : high) = middle;
  }
  const std::size_t t = motion_.t_at();
  const double now = step_.y[t], soon = now + 1e-12 * std::max(1.0, std::abs(now));
  if (interpolate(low, t) > soon) return {-1, low, false};
  while (high < last && !(interpolate(high, t) > now)) high = std::min(2 * high, last);
  return {-1, high, false};
}

/// A place where something touches before it goes on to where it is not found any more.
Adaptive::Place Adaptive::leapt_over(double last) {
  for (int k = 1; k < places_; ++k) {
    const double place = last * k / places_;
    if (!nothing_new(place)) return change_place(place);
  }
  return {};
}

/// Whether an open contact does not touch at that event but appears inside, where all
/// contacts were just looked at.
bool Adaptive::jumps_in(const Place& event) const {
  const std::size_t row = at(event.guard) / per_row;
  if (motion_.acts(row)) return false;
  const double way = (here_[motion_.t_at()] - step_.y[motion_.t_at()]) *
                     std::max(std::abs(motion_.approach(row)), std::abs(approach_[row]));
  return motion_.depth(row) > 100 * motion_.rounding(step_.y) + 1e-6 * way &&
         guards_[row * per_row] < 0;
}

/// The first event of all, or where the rows cease to stand for what touches.
Adaptive::Place Adaptive::first_event() {
  Place first;
  for (std::size_t i = 0; i < approach_.size(); ++i) {
    const Place place = crossing(i);
    if (place.skips) return place;
    if (place.where < first.where) first = place;
  }
  const Place before = leapt_over(std::min(first.where, 1.0));
  if (before.where < first.where) first = before;
  if (first.where > 1) {
    if (stands_end_) return {};
    first = change_place(1);
  }
  // Who is in there already came before.
  for (;;) {
    interpolate(first.where, here_);
    motion_.look(here_, false);
    if (first.guard >= 0 && (!motion_.stands() || jumps_in(first))) {
      const Place change = change_place(first.where);
      if (!(change.where < first.where)) return change;
      first = change;
      continue;
    }
    std::size_t row = approach_.size();
    double depth = 0;
    for (std::size_t i = 0; i < approach_.size(); ++i) {
      const bool known = static_cast<int>(i * per_row) == first.guard;
      if (known || motion_.acts(i) || motion_.depth(i) <= depth) continue;
      if (guards_[i * per_row] >= 0 && !(motion_.approach(i) > 0)) continue;
      row = i;
      depth = motion_.depth(i);
    }
    if (row == approach_.size()) return first;
    const double out = outside(row, first.where);
    if (out > 1) return first;
    const double at_out = out > 0 ? motion_.depth(row) : guards_[row * per_row];
    const double where = locate_depth(row, out, at_out, first.where, depth);
    if (!(where < first.where)) return first;
    first = {static_cast<int>(row * per_row), where, false};
  }
}

/// Where a step in a contact's clock reaches a time that lies before `where`.
double Adaptive::end_of_time(double until, double where) {
  double low = 0, high = where;
  for (int k = 0; k < 60 && high - low > 1e-16; ++k) {
    const double middle = 0.5 * (low + high);
    (interpolate(middle, motion_.t_at()) < until ? low : high) = middle;
  }
  return high;
}

/// Whether no contact but the one whose clock runs ends within the step.
bool Adaptive::smooth_to_end() const {
  for (std::size_t i = 0; i < approach_.size(); ++i) {
    if (static_cast<int>(i) == clock_row_ || !motion_.acts(i)) continue;
    if (motion_.side(i * per_row) * guards_end_[i * per_row] <= 0) return false;
  }
  return true;
}

/// Ends the step at a place within it; false where that does not succeed.
bool Adaptive::cut(double where) {
  // What lies between may be less accurate than the end of a step: where the motion is
  // stiff, or another contact ends as well. Again then, and exactly to there.
  const bool rough = error_ > 0.03 || !smooth_to_end();
  if (use_implicit_ || rough || stiffness_.size > 1) {
    step_.h = std::max(where * step_.h, 1e-300);
    return try_step() <= 1;
  }
  interpolate(where, here_);
  step_.end = here_;
  return all_finite(std::span(step_.end).first(motion_.core()));
}

void Adaptive::sample(const State& state, double where,
                      const StepObserver& observer) {
  if (!(observer.sample_interval > 0) || !observer.on_sample) return;
  const std::size_t t = motion_.t_at();
  const double from = step_.y[t];
  const double to = where < 1 ? interpolate(where, t) : step_.end[t];
  while (next_sample_ < to - 1e-9 * observer.sample_interval) {
    const double place = clock_row_ >= 0 ? end_of_time(next_sample_, where)
                                         : (next_sample_ - from) / step_.h;
    interpolate_sample(std::max(place, 0.0), here_);
    motion_.look(here_, true);
    sample_ = state;
    motion_.finish(here_, sample_);
    sample_.time = next_sample_;
    motion_.put_rows(sample_);
    observer.on_sample(sample_);
    next_sample_ = begin_ + static_cast<double>(++samples_) * observer.sample_interval;
  }
}

/// Which method goes on, and with what step: `planned`, by the clock that ran.
void Adaptive::choose_method(bool whole, double& planned, bool in_or_out) {
  // Steps that stability holds back are taken implicitly; and explicitly again where that
  // gains nothing, at once where it loses.
  if (use_implicit_) {
    stiff_steps_ = length_ < explicit_length_ ? stiff_steps_ + 1 : 0;
    if (whole && planned < 0.5 * explicit_length_) {
      planned = explicit_length_;
      stiff_steps_ = patience;
    }
  } else if (clock_row_ < 0 && whole) {
    // Or where rounding hides that: short steps although nothing moves.
    const bool stiff = stiffness_.size > stiff_enough ||
                       (planned < 1.5 * length_ && explicit_.moved(motion_, step_) < 3);
    stiff_steps_ = stiff ? stiff_steps_ + 1 : 0;
  }
  if (in_or_out) {
    use_implicit_ = false;
    stiff_steps_ = 0;
  } else if (stiff_steps_ >= patience) {
    if (!use_implicit_) explicit_length_ = planned;
    use_implicit_ = !use_implicit_;
    stiff_steps_ = 0;
  }
}

/// Whether the freshest contact is over, or lasts.
bool Adaptive::impact_ends(const RowEvent& event) {
  if (event.time > touch_time_ + 20 * impact_.time) return true;
  const double rate = motion_.approach(at(fresh_row_));
  if (rate * fresh_rate_ < 0) ++turns_;
  fresh_rate_ = rate;
  return turns_ >= 2 || (event.row == fresh_row_ && event.kind == EventKind::lift_off);
}

/// The row of an episode among those of joints and contacts, or −1.
int Adaptive::row_of_episode(const State& state, std::uint32_t episode) {
  int first = 0;
  for (const LawRows* rows : {&state.joints, static_cast<const LawRows*>(&state.contacts)}) {
    for (int i = 0; i < rows->count; ++i) {
      if (rows->episode[at(i)] == episode) return first + i;
    }
    first += rows->count;
  }
  return -1;
}

/// The state at the end of the step, with its event, settled; and the clock that goes on.
StepStatus Adaptive::accept(State& state, const Place& place, double until,
                            const StepObserver& observer) {
  ++counts_.steps;
  if (use_implicit_) ++counts_.implicit_steps;
  const double s = step_.end[motion_.s_at()];
  motion_.finish(step_.end, state);
  if (until - state.time < 1e-15 * std::max(1.0, until)) state.time = until;
  RowEvent event{EventKind::normal, -1, state.time};
  Event told{};
  if (place.guard >= 0) {
    const double pace = clock_row_ >= 0 ? 2 * std::sqrt(impact_.depth) : 1;
    event = motion_.note_event(at(place.guard), state, length_ * pace);
    told = motion_.event(event);
    ++counts_.events;
  }
  const bool touches = event.row >= 0 && event.kind == EventKind::touch;
  const bool leaves = event.row >= 0 && event.kind == EventKind::lift_off;

  const bool whole = place.where > 1;
  const double grow = std::clamp(change(), 0.3, 8.0);
  const bool alike = fresh_row_ >= 0 && by_plan_;
  if (alike && presses_ && place.where > 0) {
    const double length = length_ / impact_length_;
    plan_.note(length, std::min(place.where, 1.0), length * grow);
  }
  double planned = length_ * (whole ? grow : 1);
  if (clock_row_ >= 0 && event.row == clock_row_ && event.kind == EventKind::normal) {
    if (alike && presses_) plan_.end();
    presses_ = !presses_;
    planned = impact_length_;
  }
  if (alike && presses_) planned = plan_.next(planned / impact_length_) * impact_length_;
  choose_method(whole, planned, touches || leaves);
  if (!use_implicit_ && clock_row_ < 0 && fastest_ > 0) {
    planned = std::min(planned, stable / fastest_);
  }
  length_ = planned;
  if (fresh_row_ >= 0 && impact_ends(event)) {
    if (clock_row_ >= 0) length_ = std::max(2 * s * planned, 0.1 * impact_.time);
    clock_row_ = fresh_row_ = -1;
  }
  // Its clock says when it ends, not its depth.
  if (clock_row_ >= 0) motion_.note_closed(at(clock_row_));
  if (leaves) length_ = std::max(length_, flight_length_);
  if (touches && fresh_row_ < 0) {
    flight_length_ = std::max(2 * place.where * length_, 0.5 * flight_length_);
  }
  const StepStatus status = settle_ahead(state);
  if (status != StepStatus::ok) return status;

  // Rows may stand elsewhere now.
  const int joints = state.joints.count;
  if (event.row >= joints) {
    const auto found = std::find(state.contacts.key.begin(),
                                 state.contacts.key.begin() + state.contacts.count,
                                 told.contact);
    event.row = found != state.contacts.key.begin() + state.contacts.count
                    ? joints + static_cast<int>(found - state.contacts.key.begin())
                    : -1;
  }
  if (fresh_row_ >= 0) {
    fresh_row_ = row_of_episode(state, fresh_episode_);
    if (clock_row_ >= 0) {
      if (fresh_row_ < 0) length_ *= 4 * std::sqrt(impact_.depth);  // as far as was seen
      clock_row_ = fresh_row_;
    }
  }
  double root = clock_row_ >= 0 ? s : 0;
  const bool begins = touches && event.row >= 0;
  if (begins) {
    ++counts_.touches;
    enter_clock(state, event.row);
    root = 0;
  }
  const bool same = motion_.begin(state, clock_row_, root);
  if (!same) motion_.measure_scales(state);
  if (!same) fastest_ = 0;
  known_ = same && whole && motion_.began_with(step_.end);
  if (known_) {
    std::swap(step_.rate, step_.end_rate);
    std::swap(guards_, guards_end_);
    std::swap(approach_, approach_end_);
    lag_ = lag_end_;
    motion_.hold(guards_);
  }
  implicit_.forget();
  step_.y.resize(std::max(step_.y.size(), motion_.size()));
  std::copy(motion_.start().begin(), motion_.start().end(), step_.y.begin());
  if (place.guard >= 0 && observer.on_event) {
    if (begins) {
      const SmoothMotion::Settled contact = SmoothMotion::settled(state, at(event.row));
      told.episode = contact.episode;
      told.speed = SmoothMotion::approach_speed(state, at(event.row));
    }
    observer.on_event(state, told);
  }
  return status;
}

/// Whether the depth of the contact whose clock runs went elsewhere in the step than its
/// rate says.
bool Adaptive::clock_lags() const {
  if (clock_row_ < 0 || !stands_end_) return false;
  const double allowed = 10 * options_.rtol * impact_.depth;
  return std::abs(lag_end_ - lag_) > std::max(allowed, 100 * motion_.rounding(step_.y));
}

/// From the beginning of the step on, without a contact's clock.
void Adaptive::drop_clock(State& state) {
  ++counts_.rejected;
  length_ = std::max(2 * step_.y[motion_.s_at()] * length_, 0.01 * impact_.time);
  clock_row_ = -1;
  by_plan_ = false;
  impact_length_ = impact_.time;
  motion_.begin(state, -1, 0);
  switched_clock_ = true;
  step_.y.resize(std::max(step_.y.size(), motion_.size()));
  std::copy(motion_.start().begin(), motion_.start().end(), step_.y.begin());
  known_ = false;
}

/// From here on this is the freshest contact.
void Adaptive::watch(const State& state, int row) {
  const SmoothMotion::Settled contact = SmoothMotion::settled(state, at(row));
  fresh_row_ = row;
  fresh_episode_ = contact.episode;
  fresh_rate_ = contact.rate;
  touch_time_ = state.time;
  turns_ = 0;
}

/// A contact that lasted is about to end: its clock runs, since √δ has no derivative
/// there either.
void Adaptive::leave_by_clock(State& state, int row) {
  const SmoothMotion::Settled contact = SmoothMotion::settled(state, at(row));
  ++counts_.rejected;
  watch(state, row);
  clock_row_ = row;
  presses_ = by_plan_ = false;
  impact_ = {contact.depth, -contact.depth / contact.rate};
  const double root = std::sqrt(contact.depth);
  impact_length_ = length_ = -root / contact.rate;
  motion_.measure_clock(impact_);
  motion_.begin(state, row, root);
  switched_clock_ = true;
  std::copy(motion_.start().begin(), motion_.start().end(), step_.y.begin());
  known_ = false;
}

/// A contact has just begun: its clock runs from here, and serves the others as well. A
/// step is planned that does not leap over it.
void Adaptive::enter_clock(State& state, int row) {
  const SmoothMotion::Settled contact = SmoothMotion::settled(state, at(row));
  impact_ = motion_.impact(state, at(row));
  clock_row_ = fresh_row_ = -1;
  if (!(impact_.time > 0)) return;
  presses_ = true;
  watch(state, row);
  const double speed = impact_.depth / impact_.time;
  // Where s and its rate are zero the clock would stand still: not for one that grazes.
  const bool grazes = contact.rate < 1e-3 * speed;
  const bool clock = options_.contact_clock && !grazes;
  if (clock) clock_row_ = row;
  impact_length_ = clock ? std::sqrt(impact_.depth) / speed : impact_.time;
  by_plan_ = clock || !options_.contact_clock;
  plan_.begin();
  length_ = (by_plan_ ? plan_.next(1) : 0.01) * impact_length_;
}

StepStatus Adaptive::advance_to(State& state, double until,
                                const StepObserver& observer) {
  StepStatus status = begin(state);
  double since = state.time;
  std::int64_t turns = 0;
  while (status == StepStatus::ok && state.time < until) {
    if (state.time > since + ahead * std::max(1.0, std::abs(since))) {
      since = state.time;
      turns = 0;
    }
    if (++turns > most_turns + turns_per_row * (state.joints.count + state.contacts.count)) {
      return StepStatus::stands_still;
    }
    // Not beyond the end.
    const double pace = clock_row_ >= 0 ? 4 * std::sqrt(impact_.depth) : 1;
    length_ = std::min(length_, options_.longest_step / pace);
    if (clock_row_ < 0) length_ = std::min(length_, until - state.time);
    const int open = gone();
    if (open >= 0) {
      step_.end = step_.y;
      const int guard = open * static_cast<int>(per_row);
      status = accept(state, {guard, 0, false}, until, observer);
      continue;
    }
    const Attempt tried = attempt();
    if (tried == Attempt::fails) return StepStatus::not_converged;
    if (tried == Attempt::leaves) {
      leave_by_clock(state, about_to_leave());
      continue;
    }
    if (clock_lags()) {
      drop_clock(state);
      continue;
    }
    Place event = first_event();
    if (event.skips) {
      ++counts_.rejected;
      length_ *= 0.1;
      continue;
    }
    const int leaving = leaves_at(event);
    if (leaving >= 0) {
      leave_by_clock(state, leaving);
      continue;
    }
    const std::size_t t = motion_.t_at();
    if (clock_row_ >= 0 && step_.end[t] > until) {
      const double where = std::min(event.where, 1.0);
      if (where == 1 || interpolate(where, t) > until) {
        event = {-1, end_of_time(until, where), false};
      }
    }
    sample(state, std::min(event.where, 1.0), observer);
    if (event.where <= 1 && !cut(event.where)) {
      ++counts_.rejected;
      length_ *= 0.5;
      continue;
    }
    switched_clock_ = false;
    status = accept(state, event, until, observer);
    if (status == StepStatus::ok && observer.on_step && !observer.on_step(state)) break;
  }
  return status;
}

}  // namespace bristle
