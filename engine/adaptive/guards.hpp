#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bristle/adaptive/rows.hpp"
#include "bristle/contact/event.hpp"

// Guards: functions that change their sign at events. Per row there is the depth, whose
// sign says touch and lift-off; where the row acts, then the guards of the normal law and
// those of the friction law, as many as the laws declare.
//
// A bound of a memory is a guard of its own kind (law.hpp): from the event on at which
// the memory reaches it, the memory stays on it until it turns away.
//
// Between events a law is held on one side of each of its guards, so that its rates stay
// smooth where an integrator tries a step beyond an event.

namespace bristle {

/// An event at a row.
struct GuardEvent {
  EventKind kind;
  int row;                            // −1: none
  double time;                        // [s]
  LawFamily law = LawFamily::normal;  // whose guard it is, of clamp … branch
};

class GuardTable {
 public:
  using Vector = std::vector<double>;

  /// The model must outlive it.
  explicit GuardTable(const Model& model);

  /// Lays the guards out for rows whose blocks begin at `begin`. A row that acts as it
  /// did before, in the same episode, stays on its sides; a new one is held inside, and
  /// its laws are free until hold().
  void lay_out(std::span<const RowId> rows, std::span<const int> begin);

  std::size_t count() const { return guards_.size(); }
  std::size_t row_count() const { return rows_.size(); }
  /// The guards of a row: its depth first, up to that of the next row.
  std::size_t depth_of(std::size_t row) const { return first_[row]; }
  std::size_t end_of(std::size_t row) const { return first_[row + 1]; }

  std::size_t row_of(std::size_t guard) const { return guards_[guard].row; }
  /// When it switched last [s].
  double switched(std::size_t guard) const { return guards_[guard].switched; }
  bool is_depth(std::size_t guard) const { return guard == first_[row_of(guard)]; }
  LawFamily law_of(std::size_t guard) const { return guards_[guard].law; }
  /// Whether it is a bound, whose drift is the next guard.
  bool is_bound(std::size_t guard) const {
    return !is_depth(guard) && guards_[guard].role == GuardRole::bound;
  }
  /// From now on memory is held within its bounds, or on them. Else laws are free of
  /// them, and accepted states alone keep them.
  void locate_bounds() { locates_bounds_ = has_bounds_; }
  bool locates_bounds() const { return locates_bounds_; }
  /// Whether the memory of any row, or of this one, is held on its bound.
  bool any_on_bound() const { return any_on_bound_; }
  bool on_bound(std::size_t row) const;

  /// The side that a guard is held on: −1, 1, or 0 where it is free.
  double side(std::size_t guard) const { return guards_[guard].side; }
  /// Whether an acting row penetrates; else its body has left a ground that recovers.
  bool inside(std::size_t row) const { return side(first_[row]) > 0; }

  /// All guards; depths as given.
  void evaluate(const LawColumns& joints, const LawColumns& contacts,
                std::span<const double> depths, Vector& guards) const;
  /// Holds every law that is free on the sides that the signs of these guards give; at a
  /// bound that is exactly zero, the sign of its slope, where slopes are known. Returns
  /// whether a memory of length zero is now on such a bound: its direction is then that
  /// of the slip, without the lag that it would have while the slip turns.
  bool hold(std::span<const double> guards, std::span<const double> slopes = {});
  /// An event of this guard: it goes over to the other side. A law that switches to and
  /// fro within a tenth of a `step` [s] is left free from then on, until its contact
  /// ends.
  GuardEvent note_event(std::size_t guard, double time, double step);

  /// The sides as the passes read them from a row on, a column per guard of a law.
  Columns<const double> normal_held(std::size_t row) const {
    if (normal_held_.empty()) return {};
    return {normal_held_.data() + row, rows_.size()};
  }
  Columns<const double> friction_held(std::size_t row) const {
    if (friction_held_.empty()) return {};
    return {friction_held_.data() + row, rows_.size()};
  }

 private:
  struct Guard {
    std::uint32_t row;
    LawFamily law;    // of a depth: normal
    GuardRole role;   // of a depth: branch
    bool chatters;    // never held again
    double side;      // 0: free
    double switched;  // when it did last [s]
  };

  void publish_sides();
  GuardRole event_role(const Guard& guard) const;

  const Model* model_;
  std::size_t normal_guards_ = 0, friction_guards_ = 0;  // the most of any law
  bool has_bounds_ = false, locates_bounds_ = false, any_on_bound_ = false;
  std::vector<RowId> rows_, rows_before_;
  std::vector<int> begin_;          // of each block, and the end of the last
  std::vector<std::size_t> first_;  // guard of each row, and their count
  std::vector<std::size_t> first_before_;
  std::vector<Guard> guards_, guards_before_;
  Vector normal_held_, friction_held_;
};

}  // namespace bristle
