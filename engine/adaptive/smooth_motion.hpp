#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bristle/step/system.hpp"

// Everything that moves as one vector y with a rate, smooth from one event to the next:
// what an integrator of ordinary differential equations needs to see of a model.
//
//   y   positions, velocities, what acting contacts remember, s, t;
//       then what nothing depends on: how far contacts travelled, the energy books
//
// A contact stays open or closed for as long as no event says otherwise. Its own clock
// may run: with δ = s² and dt = 2 s dη the force is smooth in η where √δ has no
// derivative, at both ends of the contact (a Sundman transformation). The rate of y is
// then by η, and the law is evaluated at the depth s².

namespace bristle {

/// An event at a row, counted as SmoothMotion does: joints first, then contacts.
struct RowEvent {
  EventKind kind;
  int row;
  double time;
};

class SmoothMotion {
 public:
  using Vector = std::vector<double>;

  /// The model must outlive it.
  explicit SmoothMotion(const Model& model);

  /// Begins at a state that was settled by events; `clock_row` is the contact whose clock
  /// runs, or −1, and s the root of its depth. True where the same contacts act as
  /// before.
  bool begin(State& state, int clock_row, double s);
  /// Puts y into the state that it began with, not yet settled.
  void finish(const Vector& y, State& state) const;

  /// Whether it began where y is: settling may have adjusted the memory of laws, closed
  /// loops, or put prescribed joints where they belong.
  bool began_with(const Vector& y) const;

  std::size_t size() const { return size_; }
  std::size_t core() const { return core_; }  // what the rates depend on comes first
  std::size_t position_count() const { return nq_; }
  std::size_t velocity_count() const { return nv_; }
  std::size_t s_at() const { return core_ - 2; }
  std::size_t t_at() const { return core_ - 1; }
  const Vector& start() const { return start_; }
  int clock_row() const { return clock_row_; }
  bool acts(std::size_t row) const { return rows_[row].acts; }

  /// dy/dt, or dy/dη while a clock runs. With `all`, open contacts are measured too, and
  /// guards() can be read.
  void rates(const Vector& y, double* rate, bool all = false);
  /// Contacts and their guards alone.
  void look(const Vector& y, bool with_laws);

  /// Whether the rows still stand for all that touches, where all contacts were measured
  /// last: no closed one is lost, and no other point lies inside.
  bool stands() const;
  /// How many places of a step it takes not to leap over a contact that was open at its
  /// beginning and is not found at its end, where all were measured last; 0: there is
  /// none.
  int places_to_look() const;
  /// How much deeper the row whose clock runs is there than the clock says [m]. It is
  /// right where the depth is the integral of its rate, not where the point itself runs
  /// along the surfaces.
  double clock_lag() const { return clock_lag_; }

  // Guards: functions that change their sign at events, some per row. The first is the
  // depth (or s, whose sign is the same); the others are the laws'.
  static constexpr std::size_t per_row = 8;
  static constexpr std::size_t friction_guard = 4;
  std::size_t guard_count() const { return rows_.size() * per_row; }
  void read_guards(Vector& guards);
  double depth(std::size_t row) const { return depths_[row]; }
  /// How fast the depth grows, by t [m/s].
  double approach(std::size_t row) const {
    const RowAt at = place_of(row);
    return at.pool->value(RowColumns::rate, at.i);
  }
  /// The side of a guard that its law is held on: −1, 1, or 0 where it is free.
  double side(std::size_t guard) const {
    return sides_[guard] == free_side ? 0 : sides_[guard];
  }
  /// Holds the laws on the sides that these guards say, where they are not held yet.
  void hold(const Vector& guards);
  /// Notes an event of this guard in the state, after finish(): settling carries it out.
  /// A law that switches to and fro within a tenth of a `step` [s] is left free from then
  /// on, until its contact ends.
  RowEvent note_event(std::size_t guard, State& state, double step = 0);

  /// The size of each number that its error is measured by, from a point of the motion
  /// on: positions by how deep contacts are by nature, at rest under what they carry
  /// and at the bottom of an impact; not by the size of the scene.
  void scales(const Vector& from, Vector& scale);
  /// The errors that a relative tolerance allows: that part of the scales, and at least
  /// what rounding does to the numbers themselves, and to the depths of contacts.
  void allowances(double rtol, const Vector& from, Vector& allowed);
  /// What rounding may do to the depth of a contact, at most [m].
  double rounding(const Vector& y) const;
  /// Of an impact: its depth, and the depth over its speed.
  struct Impact {
    double depth = 0;  // [m]
    double time = 0;   // 0: nothing gives way [s]
  };
  /// What a row's approach at this settled state leads to; its clock is measured by it
  /// from now on.
  Impact impact(const State& state, std::size_t row);
  /// How deep an acting row is at rest under what it carries, and the speed of falling
  /// that far.
  struct Natural {
    double depth = 0;  // [m]
    double speed = 0;  // [m/s]
  };
  Natural natural(std::size_t row) const {
    return {row_scales_[row].depth, row_scales_[row].speed};
  }
  void measure_clock(const Impact& impact) { fresh_ = impact; }
  /// Finds the scales of contacts that have just begun. After begin() at a settled state.
  void measure_scales(const State& state);

  // Rows of joints come first, then those of contacts: a row by its place among both.
  std::size_t joint_rows() const { return joint_rows_; }
  /// Where a row of the state lies: its pool, the state's rows, its place there.
  struct RowAt {
    const LawPool* pool;
    const LawRows* rows;
    std::size_t i;
  };
  RowAt place_of(std::size_t row) const {
    if (row < joint_rows_) return {&system_.pools.joints, &state_->joints, row};
    return {&system_.pools.points, &state_->contacts, row - joint_rows_};
  }
  /// A row as of the accepted state.
  struct Settled {
    std::uint32_t episode;
    double depth, rate;
  };
  static Settled settled(const State& state, std::size_t row);
  Settled settled(std::size_t row) const { return settled(*state_, row); }
  std::size_t row_count() const { return rows_.size(); }
  /// An event as observers see it, before the state is settled.
  Event event(const RowEvent& of) const;
  /// The approach speed that was latched when a row touched [m/s].
  static double approach_speed(const State& state, std::size_t row);
  /// Puts depths, rates and places that were looked at last into a copy of the state.
  void put_rows(State& state) const;
  void forget_events() { located_.clear(); }
  /// What has been noted by note_event() since begin(), for settling.
  LocatedEvents located() const {
    if (located_.empty()) return {};
    return {std::span(located_).subspan(joint_rows_),
            std::span(located_).first(joint_rows_)};
  }
  /// Notes that a row stays closed, whatever its depth says.
  void note_closed(std::size_t row) { located_[row] = 1; }

  std::uint64_t evaluations() const { return evaluations_; }
  std::uint64_t looks() const { return looks_; }
  System& system() { return system_; }
  const Model& model() const { return *model_; }

 private:
  struct Row {
    bool acts;  // closed, or not yet recovered
    std::uint32_t a, b, feature, episode;
    bool operator==(const Row&) const = default;
  };
  struct RowScale {
    std::uint32_t episode;
    double depth;    // at rest under what it carries [m]
    double speed;    // of falling that far [m/s]
    double time;     // of an impact: its depth over its speed [s]
    double stretch;  // of friction before it slips [m]
  };
  static constexpr double free_side = 2;

  void place(const Vector& y, bool all);
  void list_numbers(const State& state);
  void copy_memory(const Vector& y);
  void carry_sides();
  void hold_laws();
  LawPool& pool_of(std::size_t row) {
    if (row < joint_rows_) return system_.pools.joints;
    return system_.pools.points;
  }
  RowMemory<double> memory() { return split(memory_); }
  RowMemory<double> split(Vector& numbers) {
    return {std::span(numbers).first(joint_memory_),
            std::span(numbers).subspan(joint_memory_)};
  }
  double& depth_column(std::size_t row) {
    const RowAt at = place_of(row);
    return pool_of(row).column(RowColumns::depth)[at.i];
  }
  double* roots_column(std::size_t row) {
    return row < joint_rows_ ? held_.joints.roots.data() + row
                             : held_.contacts.roots.data() + (row - joint_rows_);
  }
  RowScale scale_of(const State& state, std::size_t row);
  double inverse_mass(const State& state, std::size_t row);
  double stretch_of(const State& state, std::size_t row, double depth, double force);
  double depth_for_energy(const State& state, std::size_t row, double energy);
  double depth_for_force(const State& state, std::size_t row, double force);
  template <class Work>
  auto with_law(const State& state, std::size_t row, const Work& work);

  const Model* model_;
  System system_;
  std::size_t nq_, nv_;
  bool quaternions_ = false;
  double length_ = 1e-3;             // errors of positions are measured by, at most [m]
  bool regenerates_ = false;         // some contacts book how far they travel
  std::vector<std::size_t> lines_;   // of the energy books that anything is booked in
  const State* state_ = nullptr;  // that it began with
  ContactRows nothing_;           // rows where nothing touches
  std::size_t joint_rows_ = 0;    // come first among all rows
  std::size_t joint_memory_ = 0;  // numbers of their memory, before that of contacts
  HeldPools held_;
  std::vector<std::int8_t> located_;  // per row: Episodes' events
  Vector start_;
  std::size_t core_ = 0, size_ = 0, books_at_ = 0, works_at_ = 0;
  std::vector<std::size_t> places_;  // in the memory: of numbers in the core, then books
  std::vector<std::uint8_t> kinds_;  // of those numbers
  std::vector<std::size_t> rows_of_, columns_of_;  // their rows and columns
  std::size_t stride_ = 0;
  std::vector<Row> rows_, rows_before_;
  std::vector<std::size_t> open_, closed_;  // rows that do not act, and those that do
  Vector sides_, sides_before_;
  Vector switched_, switched_before_;  // when that happened last
  int clock_row_ = -1;
  double clock_lag_ = 0;

  Vector q_, memory_, memory_rates_, depths_;
  double rounding_ = 0;  // of depths [m]
  std::span<const double> q_now_, v_now_;

  std::vector<RowScale> row_scales_;
  Vector halves_, unit_, largest_;
  Impact fresh_;
  double energy_scale_ = 0;
  std::uint64_t evaluations_ = 0, looks_ = 0;
};

}  // namespace bristle
