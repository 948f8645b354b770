#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bristle/adaptive/guards.hpp"

// The motion of a model as an ordinary differential equation, smooth from one event to
// the next: one vector y with a rate, as an integrator sees it.
//
//   y   positions, velocities, memory of acting contacts, s, t;
//       then integrals that nothing depends on: travel of contacts, the energy ledger
//
// A contact stays open or closed between events. The motion may be integrated in contact
// time: with δ = s² and dt = 2 s dη the force is smooth in η where √δ has no derivative,
// at both ends of the contact (a Sundman transformation). The rate of y is then by η, and
// the law is evaluated at the depth s².

namespace bristle {

/// What a number of a contact's memory is.
enum class MemoryKind : std::uint8_t {
  frame,    // turn of the contact's frame
  depth,    // a length along the normal
  stretch,  // a length along the surface
  share,    // anything else, of order 1
  travel,   // depth gained since the last accepted state
  ledger,   // energy
};

/// A number of the memory that y holds.
struct MemoryEntry {
  std::size_t place;  // in the memory of joint rows, then that of contacts
  std::size_t row;
  std::size_t column;  // numbers of one column are of one kind
  MemoryKind kind;
};

/// All rows as measured at one point of the motion.
struct GuardReading {
  std::vector<double> guards;
  // Of bounds, by t or η, and of other guards 0. Of a bound that is zero and held on
  // neither side: positive where the memory exceeds it next.
  std::vector<double> slopes;
  std::vector<double> approach;  // of each row, by t [m/s]
  // As documented at MotionOde's functions of these names.
  double clock_lag = 0;  // [m]
  bool contact_set_complete = true;
  std::vector<double> gaps;
  // Of all links, where pairs of shapes may touch.
  std::vector<Transform<double>> poses;
  std::vector<Motion<double>> velocities;
};

class MotionOde {
 public:
  using Vector = std::vector<double>;

  /// The model must outlive it.
  explicit MotionOde(const Model& model);

  struct Settled {
    StepStatus status;
    double part;  // of the horizon, for which there was room
  };
  /// Brings an accepted state up to date by its events. Contacts are searched as far as
  /// `horizon` [s] leads; where there are too many of them, less far.
  Settled settle(State& state, double horizon);

  /// Begins at a settled state; `clock_row` is the contact in contact time, or −1,
  /// and s the root of its depth. True where the same contacts act as before.
  bool begin(const State& state, int clock_row = -1, double s = 0);
  /// Whether begin() left y unchanged: settling may have adjusted the memory of laws,
  /// closed loops, or put prescribed joints in place.
  bool began_with(const Vector& y) const;
  /// Writes y into the state of begin(), not yet settled. Memory that is held on its
  /// bound gets the length of the bound there.
  void finish(const Vector& y, State& state);
  /// Notes an event of a guard at this time: settling carries it out.
  GuardEvent note_event(std::size_t guard, double time, double step);
  /// Marks what an event does to a row, for the next settle().
  void mark_row(std::size_t row, RowEvent event) {
    located_[row] = static_cast<std::int8_t>(event);
  }
  /// The events of another state, before it is settled for the first time.
  void forget_events() { located_.clear(); }
  /// An event as observers see it, where it was noted and not yet settled.
  Event told(const GuardEvent& event) const;

  // y
  std::size_t size() const { return size_; }
  std::size_t core() const { return core_; }  // what the rates depend on comes first
  std::size_t position_count() const { return nq_; }
  std::size_t velocity_count() const { return nv_; }
  std::size_t memory_at() const { return nq_ + nv_; }
  std::size_t s_at() const { return core_ - 2; }
  std::size_t t_at() const { return core_ - 1; }
  std::size_t works_at() const { return works_at_; }
  const Vector& start() const { return start_; }
  /// The entries of y from memory_at() on, then those from core() on.
  std::span<const MemoryEntry> core_memory() const {
    return std::span(memory_entries_).first(core_entries_);
  }
  std::span<const MemoryEntry> later_memory() const {
    return std::span(memory_entries_).subspan(core_entries_);
  }
  std::size_t memory_columns() const {
    return static_cast<std::size_t>(system_.pools.points.layout().count);
  }
  /// What rounding may do to the depth of a contact at y, at most [m].
  double depth_rounding(const Vector& y) const;

  // Rows where it began.
  std::span<const RowId> rows() const { return rows_; }
  bool acts(std::size_t row) const { return rows_[row].acts(); }
  bool any_acts() const { return !closed_.empty(); }
  SettledRow start_motion(std::size_t row) const { return start_motion_[row]; }
  int clock_row() const { return clock_row_; }
  bool by_clock() const { return clock_row_ >= 0; }
  /// dt/dη at y; 1 in plain time.
  double pace(const Vector& y) const { return by_clock() ? 2 * y[s_at()] : 1; }
  /// Pairs of shapes with rows.
  std::span<const PairSlice> pairs() const { return state_->contacts.pairs; }
  bool has_rows(std::uint32_t a, std::uint32_t b) const;
  /// Whether the shapes of a pair touch.
  bool touches(const PairSlice& pair) const;
  /// How far a shape may move until contacts of it can be missing from the rows [m].
  double margin(std::size_t shape) const { return system_.pools.points.margin(shape); }
  /// Closed rows are evaluated at no less than this depth [m], one per row.
  void set_least_depths(std::span<const double> depths) {
    least_depths_.assign(depths.begin(), depths.end());
  }

  /// dy/dt, or dy/dη. With `all`, open contacts are measured too.
  void rates(const Vector& y, double* rate, bool all = false);
  /// Measures all contacts at y, with the forces of those that act where asked.
  void measure(const Vector& y, bool with_laws);

  // At the point where all contacts were measured last.
  double depth(std::size_t row) const { return depths_[row]; }
  /// How fast the depth grows, by t [m/s].
  double approach(std::size_t row) const;
  /// Whether the force of a row begins smoothly: that of a patch does, unless its
  /// friction goes by √δ.
  bool begins_smoothly(std::size_t row) const;
  double normal_force(std::size_t row) const;
  /// Whether the rows are still the whole contact set: no closed one is lost, and no
  /// other point penetrates.
  bool contact_set_complete() const;
  /// How far the shapes of every pair with rows are apart, at least; 0 where they touch
  /// or no point of them is found [m].
  void gaps(Vector& of_pairs) const;
  /// How much deeper the row in contact time is than s² [m]: not zero where the point
  /// itself runs along the surfaces, so that the depth is not the integral of its rate.
  double clock_lag() const { return clock_lag_; }

  GuardTable& guards() { return guards_; }
  const GuardTable& guards() const { return guards_; }
  /// All guards; the depth of the row in contact time has the sign of s.
  void read_guards(Vector& guards);
  void read(GuardReading& reading);
  /// The same with slopes: at y, with this rate, where all contacts were measured last,
  /// for a step of such a length by t or η.
  void read(const Vector& y, const Vector& rate, double length, GuardReading& reading);
  /// Where y holds the length of what a row's friction law keeps within a bound; y's size
  /// where it has none.
  std::size_t stretch_at(std::size_t row) const;

  /// A state for an observer: `state` moved to y, where `time` is [s].
  void observe(const Vector& y, double time, const State& state, State& sample);

  std::uint64_t evaluations() const { return evaluations_; }
  std::uint64_t contact_evaluations() const { return contact_evaluations_; }
  System& system() { return system_; }
  const Model& model() const { return *model_; }

 private:
  void lay_out(const State& state);
  void lay_out_pool(const LawPool& pool, const LawRows& rows, bool joint, bool ledger);
  void begin_rows(const State& state);
  void copy_memory(const Vector& y);
  void keep_bounds(State& state);
  void read_slopes(const Vector& y, const Vector& rate, double length,
                   GuardReading& reading);
  void place(const Vector& y, bool all);
  /// A number of the pools' columns by row.
  double value(std::size_t column, std::size_t row) const {
    return row < joint_rows_ ? system_.pools.joints.value(column, row)
                             : system_.pools.points.value(column, row - joint_rows_);
  }
  template <class N>
  RowMemory<N> split(std::span<N> numbers) const {
    return {numbers.first(joint_memory_), numbers.subspan(joint_memory_)};
  }
  HeldPools sides() const;

  const Model* model_;
  System system_;
  std::size_t nq_, nv_;
  bool quaternions_ = false;
  bool regenerates_ = false;          // some contacts count how far they travel
  std::vector<std::size_t> lines_;    // of the energy ledger that anything is counted in
  const State* state_ = nullptr;      // that it began with
  ContactRows nothing_;               // rows without any contact
  std::size_t joint_rows_ = 0;        // come before those of contacts
  std::size_t joint_memory_ = 0;      // numbers of their memory, before that of contacts
  std::size_t stride_ = 0;            // of the memory of contacts
  std::vector<std::int8_t> located_;  // what events do to rows (LocatedEvents)

  Vector start_;
  std::size_t core_ = 0, size_ = 0, works_at_ = 0;
  std::size_t core_entries_ = 0;
  std::vector<MemoryEntry> memory_entries_;

  std::vector<RowId> rows_, rows_before_;
  std::vector<SettledRow> start_motion_;
  std::vector<int> blocks_;                 // of laws: where each begins among the rows
  std::vector<std::size_t> open_, closed_;  // rows that do not act, and those that do
  GuardTable guards_;
  int clock_row_ = -1;
  double clock_lag_ = 0;
  double rounding_ = 0;  // of depths [m]
  Vector least_depths_;

  Vector q_, memory_, memory_rates_, depths_;
  RowMemory<const double> memory_by_pool_;  // the same, pool by pool
  RowMemory<double> rates_by_pool_;
  Vector roots_;  // of depths, in contact time; or empty
  HeldPools held_;
  Vector nearby_, guards_nearby_, released_;
  std::span<const double> q_now_, v_now_;
  std::uint64_t evaluations_ = 0, contact_evaluations_ = 0;
};

}  // namespace bristle
