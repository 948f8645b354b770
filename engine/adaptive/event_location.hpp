#pragma once

#include "bristle/adaptive/meeting_search.hpp"
#include "bristle/adaptive/root.hpp"

// Events within a step: the first change of sign of any guard, and where the
// rows cease to be the whole contact set. The half-open rule t₀ < t* ≤ t₁ holds.

namespace bristle {

/// An event within a step, or none.
struct StepEvent {
  int guard = -1;        // −1: none, or the contact set changes
  double where = 2;      // in the step, 0 … 1; beyond: none
  bool skips = false;    // the step skips a contact: it must be shorter
  bool crowded = false;  // too many to be located one by one
};

/// Whether a row that began with the step, at its guard's zero, does not penetrate at
/// its end.
bool begins_and_is_out(const GuardTable& table, const GuardReading& begin,
                       const GuardReading& end, std::size_t row);

class EventLocator {
 public:
  using Vector = MotionOde::Vector;

  /// Both must outlive it.
  EventLocator(MotionOde& ode, SwitchingStep& step)
      : ode_(&ode), step_(&step), meetings_(ode, step) {}

  /// The first event of a step that was completed, by what was measured at its two ends.
  StepEvent first_event(const GuardReading& begin, const GuardReading& end);
  /// Whether no contact but the one in contact time ends within that step.
  bool only_clock_ends(const GuardReading& end) const;
  /// Distance queries of pairs of shapes.
  std::uint64_t distance_queries() const { return meetings_.distance_queries(); }
  /// Where a step in contact time reaches a time that lies before `where`.
  double place_of_time(double time, double where);

 private:
  void measure_at(double where, bool with_laws);
  double guard_at(std::size_t guard, double where);
  double depth_slope(const Vector& y, double approach) const;
  double locate_depth(std::size_t row, RootEnd low, RootEnd high, double slope_low = 0);
  double place_outside(std::size_t row, double last);
  double turning_place(std::size_t row);
  double touch_place(std::size_t row);
  double deepest_touch(std::size_t row, RootEnd low, double up);
  double switch_place(std::size_t guard, double side, RootEnd last);
  double bound_place(std::size_t guard, double last);
  double reaches_bound(std::size_t guard, double last, double allowed);
  double leaves_bound(std::size_t guard, double last, double allowed);
  double outward_speed(std::size_t guard, double where);
  StepEvent just_begun(std::size_t row) const;
  StepEvent end_of_contact(std::size_t row);
  StepEvent event_of(std::size_t row);
  bool set_unchanged(double where);
  StepEvent set_change(double last);
  StepEvent event_of(const Meeting& meeting);
  bool jumps_in(std::size_t row) const;

  MotionOde* ode_;
  SwitchingStep* step_;
  MeetingSearch meetings_;
  const GuardReading* begin_ = nullptr;
  const GuardReading* end_ = nullptr;
  Vector here_, guards_here_;
};

}  // namespace bristle
