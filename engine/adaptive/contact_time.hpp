#pragma once

#include <span>

#include "bristle/adaptive/event_location.hpp"
#include "bristle/adaptive/impact_plan.hpp"

// When steps are taken in contact time (motion_ode.hpp): from touch-down until a contact
// has bounced off or lasts, and once more shortly before it ends. And how long
// steps are meanwhile.

namespace bristle {

class ContactTime {
 public:
  /// Both must outlive it. Without `allowed` only steps are planned.
  ContactTime(MotionOde& ode, ErrorScales& scales, bool allowed);

  /// Back to plain time, with no contact followed.
  void reset() { clock_row_ = fresh_.row = -1; }

  /// The contact whose contact time is in use, or −1.
  int row() const { return clock_row_; }
  bool runs() const { return clock_row_ >= 0; }
  /// Whether a contact has begun that neither has ended nor lasts.
  bool watches() const { return fresh_.row >= 0; }
  /// How much time a step of length 1 takes: dt = 2 s dη where s is that of the impact's
  /// depth, and twice as much at most [s]; 1 in plain time.
  double usual_pace() const;
  double fastest_pace() const;

  /// A contact has just begun, at a settled state: its contact time begins and serves
  /// the others as well. Returns a step that does not skip it, instead of `length`.
  double touch(const State& state, int row, double length);
  /// A contact that lasted is about to end: in its contact time, since √δ has no slope
  /// there either. Returns the next step; the motion is restarted.
  double leave(State& state, int row);
  /// Back to plain time from y, the beginning of a step of this length. Returns the next
  /// step; the motion is restarted.
  double drop(State& state, const MotionOde::Vector& y, double length);

  /// Whether the depth of the contact in contact time departed from the integral of its
  /// rate in the step.
  bool lags(const GuardReading& begin, const GuardReading& end, double rtol) const;
  /// A step, from what was measured, that leads not far beyond the end of the contact.
  double not_beyond_end(double length, const MotionOde::Vector& y,
                        const GuardReading& begin) const;
  /// A contact that may end within the step, to be stepped in contact time; or −1.
  int about_to_leave(const SwitchingStep& step) const;
  /// The same where an event was located.
  int leaves_at(const SwitchingStep& step, const StepEvent& event) const;
  /// A contact that separates and whose remaining depth is no more than round-off; or −1.
  /// It counts as open.
  int as_good_as_open() const;

  /// A step of this length was accepted up to an event, if any, and might have been
  /// longer by the factor `grow`. Returns the next one.
  double plan_step(double length, double grow, const StepEvent& where,
                   const GuardEvent& event);
  /// After plan_step(): where the contact has ended, or lasts, it is followed no longer,
  /// and the next step is returned in plain time. s is that of the step's end.
  double end_impact(const GuardEvent& event, double s, double length);
  /// The rows were settled: the contact may have another row, or none. Returns the next
  /// step.
  double follow(std::span<const RowId> rows, double length);
  /// A step was taken since the contact time began or ended.
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

  /// The contact that touched last, until it has bounced off or lasts.
  struct Fresh {
    int row = -1;
    std::uint32_t episode = 0;
    double rate = 0;       // at the last step's end [m/s]
    double touched = 0;    // when [s]
    int turns = 0;         // of that rate
    bool presses = false;  // else the clamp is active
    bool by_plan = false;
    double unit = 0;  // of the plan, by t or η
  } fresh_;
  Impact impact_{};
  ImpactPlan plan_;
};

}  // namespace bristle
