#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include "bristle/adaptive/explicit_step.hpp"
#include "bristle/adaptive/implicit_step.hpp"
#include "bristle/step/stepper.hpp"

// The adaptive clock: steps as long as the tolerance allows, and every touch, lift-off,
// end of clamp and stick/slip switch located.
//
//   attempt       a step; shorter until its error is allowed
//   first_event   in it: t₀ < t* ≤ t₁
//   accept        the state at its end or at the event, settled
//   enter_clock   of a contact that has just begun
//
// From touch-down on the contact's own clock runs (smooth_motion.hpp). Contacts that last
// become stiff: an L-stable method takes over until the next touch or lift-off.

namespace bristle {

struct AdaptiveOptions {
  double rtol = 1e-6;         // of velocities, depths and bristles
  bool contact_clock = true;  // dt = 2 s dη from touch-down on
  double longest_step = std::numeric_limits<double>::infinity();  // [s]
};

/// Lengths of the steps while a contact presses, from touch-down on. Impacts are much
/// alike, and how long a step may be depends on where in the impact it is taken: every
/// step is planned by what the same one would have liked to be the last time, and all
/// together so that the last one ends early. Of that, everything in between is as good as
/// its end.
class ImpactPlan {
 public:
  explicit ImpactPlan(double first) : lengths_{first} {}

  void begin() {
    next_ = 0;
    sum_ = 0;
  }
  /// The length of the next step; `otherwise` where none was as late.
  double next(double otherwise) const {
    if (next_ >= known_) return std::min(otherwise, longest);
    const double length = scale_ * lengths_[next_];
    return next_ + 1 == count_ ? 1.1 * early * length
                               : length;  // a little beyond the end
  }
  /// A step of this length was taken up to a part of it, and should have been `ideal`.
  void note(double length, double part, double ideal) {
    if (next_ == lengths_.size()) return;
    ideal = std::clamp(ideal, 0.01, longest);
    sum_ += part * length / ideal;
    lengths_[next_++] = ideal;
    known_ = std::max(known_, next_);
  }
  /// It presses no more.
  void end() {
    if (sum_ == 0) return;  // at once
    count_ = static_cast<std::size_t>(std::ceil(sum_ / 1.03 + 1 - early));
    scale_ = sum_ / (static_cast<double>(count_) - 1 + early);
  }

 private:
  static constexpr double longest = 0.5;  // not to leap over a whole impact
  static constexpr double early = 0.65;   // of the last step: the error is a thirtieth
  std::array<double, 64> lengths_;
  std::size_t known_ = 1, next_ = 0, count_ = 0;
  double sum_ = 0;  // of the steps in terms of ideal ones
  double scale_ = 1;
};

/// Steps states of one model, which must outlive it. Set-up and events may allocate.
class Adaptive final : public Stepper {
 public:
  explicit Adaptive(const Model& model, const AdaptiveOptions& options = {});

  StepStatus settle(State& state) override;
  StepStatus advance_to(State& state, double until,
                        const StepObserver& observer = {}) override;
  void restart() override;
  StepCounts counts() const noexcept override;
  System& system() noexcept override { return motion_.system(); }

 private:
  using Vector = Step::Vector;
  struct Place {
    int guard = -1;      // −1: no event
    double where = 2;    // in the step, 0 … 1
    bool skips = false;  // the step leaps over a contact
  };

  StepStatus begin(State& state);
  double try_step();
  double change() const;
  void read_approach(Vector& approach) const;
  enum class Attempt { done, leaves, fails };
  Attempt attempt();
  int gone() const;
  int about_to_leave() const;
  int leaves_at(const Place& place) const;
  static int row_of_episode(const State& state, std::uint32_t episode);
  bool may_switch_clock() const;
  Place first_event();
  bool nothing_new(double place);
  Place change_place(double last);
  Place leapt_over(double last);
  bool jumps_in(const Place& event) const;
  bool clock_lags() const;
  void drop_clock(State& state);
  double end_of_time(double until, double where);
  bool smooth_to_end() const;
  bool cut(double where);
  void sample(const State& state, double where, const StepObserver& observer);
  StepStatus accept(State& state, const Place& place, double until,
                    const StepObserver& observer);
  void choose_method(bool whole, double& planned, bool in_or_out);
  bool impact_ends(const RowEvent& event);
  void watch(const State& state, int row);
  void enter_clock(State& state, int row);
  void leave_by_clock(State& state, int row);
  StepStatus settle_ahead(State& state);

  void interpolate(double where, Vector& y);
  double interpolate(double where, std::size_t i);
  void interpolate_sample(double where, Vector& y);
  double guard_at(std::size_t guard, double where);
  double locate(std::size_t guard, double low, double at_low, double high,
                double at_high);
  double locate_depth(std::size_t row, double low, double at_low, double high,
                      double at_high, double slope_low = 0);
  double outside(std::size_t row, double last);
  double touch_place(std::size_t row);
  double switch_place(std::size_t guard, double side, double last, double at_last);
  Place just_begun(std::size_t row) const;
  Place crossing(std::size_t row);

  AdaptiveOptions options_;
  SmoothMotion motion_;
  ExplicitStep explicit_;
  ImplicitStep implicit_;
  Step step_;
  StepCounts counts_;

  Vector guards_, guards_end_, guards_here_, here_;
  Vector approach_, approach_end_;  // of all rows
  double lag_ = 0, lag_end_ = 0;    // of the clock [m]
  bool stands_end_ = true;          // the rows stand for all that touches at its end
  int places_ = 0;                  // to look at in between
  bool known_ = false;              // step_.rate and guards_ belong to step_.y
  bool between_known_ = false;      // interpolate() is ready

  double length_ = 0;         // planned for the next step, by t or η
  double flight_length_ = 0;  // of the last step before a touch [s]

  // The contact that touched last, until it has been in and out or lasts.
  int fresh_row_ = -1;
  std::uint32_t fresh_episode_ = 0;
  double fresh_rate_ = 0;
  double touch_time_ = 0;
  int turns_ = 0;                // of that rate
  bool presses_ = false;         // else the clamp has set in
  bool switched_clock_ = false;  // since the last step
  int clock_row_ = -1;           // the same row where its clock runs
  SmoothMotion::Impact impact_{};

  double impact_length_ = 0;  // of the freshest contact, by t or η
  ImpactPlan plan_;           // in units of that
  bool by_plan_ = false;      // the freshest contact is

  bool use_implicit_ = false;
  Stiffness stiffness_{};          // of the last explicit step
  double fastest_ = 0;             // |λ| seen last; 0: not known [1/s]
  bool beyond_stability_ = false;  // the last explicit step
  int stiff_steps_ = 0;
  double explicit_length_ = 0;  // when the implicit method took over [s]
  double error_ = 0;

  // For samples: one half of the step, in a step of its own.
  ExplicitStep half_;
  Step half_step_;
  int half_known_ = -1;  // which half that is; −1: none

  State sample_;
  double begin_ = 0, next_sample_ = 0;  // [s]
  std::uint64_t samples_ = 0;
};

}  // namespace bristle
