#pragma once

#include <span>

#include "bristle/adaptive/event_location.hpp"
#include "bristle/adaptive/impact_plan.hpp"

// When a contact's own time runs (motion_ode.hpp): from touch-down until the contact has
// been in and out again or lasts, and once more shortly before it ends. And how long
// steps are meanwhile.

namespace bristle {

class ContactTime {
 public:
  /// Both must outlive it. Without `allowed` only steps are planned.
  ContactTime(MotionOde& ode, ErrorScales& scales, bool allowed);

  /// No contact is watched any more.
  void reset() { clock_row_ = fresh_.row = -1; }

  /// The contact whose time runs, or −1.
  int row() const { return clock_row_; }
  bool runs() const { return clock_row_ >= 0; }
  /// Whether a contact has begun that neither is over nor lasts.
  bool watches() const { return fresh_.row >= 0; }
  /// How much time a step of length 1 takes: dt = 2 s dη where s is that of the impact's
  /// depth, and twice as much at most [s]; 1 where no contact's time runs.
  double usual_pace() const;
  double fastest_pace() const;

  /// A contact has just begun, at a settled state: its time runs from here, and serves
  /// the others as well. Returns a step that does not leap over it, instead of `length`.
  double touch(const State& state, int row, double length);
  /// A contact that lasted is about to end: its time runs, since √δ has no derivative
  /// there either. Returns the next step; the motion has begun anew.
  double leave(State& state, int row);
  /// Plain time goes on from y, the beginning of a step of this length. Returns the next
  /// step; the motion has begun anew.
  double drop(State& state, const MotionOde::Vector& y, double length);

  /// Whether the depth of the contact whose time runs went elsewhere in the step than its
  /// rate says.
  bool lags(const GuardReading& begin, const GuardReading& end, double rtol) const;
  /// A step from a reading that leads not far beyond the end of the contact.
  double not_beyond_end(double length, const MotionOde::Vector& y,
                        const GuardReading& begin) const;
  /// A contact that may end within the step, and whose time should run there; or −1.
  int about_to_leave(const SwitchingStep& step) const;
  /// The same where an event was located.
  int leaves_at(const SwitchingStep& step, const StepEvent& event) const;
  /// A contact that is on its way out and as good as open, where only round-off is left
  /// of its depth; or −1.
  int as_good_as_open() const;

  /// A step of this length was accepted up to an event, if any, and might have been
  /// longer by the factor `grow`. Returns the next one.
  double plan_step(double length, double grow, const StepEvent& where,
                   const GuardEvent& event);
  /// After plan_step(): where the contact is over now, or lasts, it is watched no more,
  /// and the next step is returned in plain time. s is that of the step's end.
  double end_impact(const GuardEvent& event, double s, double length);
  /// The rows were settled: the contact may stand elsewhere, or be gone. Returns the next
  /// step.
  double follow(std::span<const RowId> rows, double length);
  /// A step was taken since its time began or ended.
  void note_step() { switched_ = false; }

 private:
  void watch(const State& state, int row);
  bool may_switch(const SwitchingStep& step) const;
  bool is_over(const GuardEvent& event);

  MotionOde* ode_;
  ErrorScales* scales_;
  bool allowed_;
  int clock_row_ = -1;
  bool switched_ = false;  // since the last step

  /// The contact that touched last, until it has been in and out or lasts.
  struct Fresh {
    int row = -1;
    std::uint32_t episode = 0;
    double rate = 0;       // at the last step's end [m/s]
    double touched = 0;    // when [s]
    int turns = 0;         // of that rate
    bool presses = false;  // else the clamp has set in
    bool by_plan = false;
    double unit = 0;  // of the plan, by t or η
  } fresh_;
  Impact impact_{};
  ImpactPlan plan_;
};

}  // namespace bristle
