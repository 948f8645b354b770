#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bristle/adaptive/guards.hpp"
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
  bool acts(std::size_t row) const { return rows_[row].acts(); }
  std::size_t row_count() const { return rows_.size(); }

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

  /// Guards of all rows; the depth of the row whose clock runs is that of its clock.
  GuardTable& guards() { return guards_; }
  const GuardTable& guards() const { return guards_; }
  void read_guards(Vector& guards);
  double depth(std::size_t row) const { return depths_[row]; }
  /// How fast the depth grows, by t [m/s].
  double approach(std::size_t row) const {
    return system_.contacts.columns[RowColumns::rate * system_.contacts.capacity + row];
  }
  /// Notes an event of this guard in the state, after finish(): settling carries it out.
  Event note_event(std::size_t guard, State& state, double step = 0);

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

  std::uint64_t evaluations() const { return evaluations_; }
  std::uint64_t looks() const { return looks_; }
  System& system() { return system_; }
  const Model& model() const { return *model_; }

 private:
  struct RowScale {
    std::uint32_t episode;
    double depth;    // at rest under what it carries [m]
    double speed;    // of falling that far [m/s]
    double time;     // of an impact: its depth over its speed [s]
    double stretch;  // of friction before it slips [m]
  };

  void place(const Vector& y, bool all);
  void copy_memory(const Vector& y);
  HeldRows held();
  const LawBlock& laws_of(const State& state, std::size_t row) const;
  RowScale scale_of(const State& state, std::size_t row);
  double inverse_mass(const State& state, std::size_t row);
  double stretch_of(const State& state, std::size_t row, double depth, double force);
  double depth_for_energy(const State& state, std::size_t row, double energy);
  double depth_for_force(const State& state, std::size_t row, double force);
  Columns<double> normal_memory(const State& state);

  const Model* model_;
  System system_;
  std::size_t nq_, nv_;
  bool quaternions_ = false;
  double length_ = 1e-3;             // errors of positions are measured by, at most [m]
  bool regenerates_ = false;         // some contacts book how far they travel
  std::vector<std::size_t> lines_;   // of the energy books that anything is booked in
  ContactRows* contacts_ = nullptr;  // of the state that it began with
  ContactRows nothing_;              // rows where nothing touches
  Vector start_;
  std::size_t core_ = 0, size_ = 0, books_at_ = 0, works_at_ = 0;
  std::vector<std::size_t> places_;  // in the memory: of numbers in the core, then books
  std::vector<std::uint8_t> kinds_;  // of those numbers
  std::vector<RowId> rows_, rows_before_;
  std::vector<std::size_t> open_, closed_;  // rows that do not act, and those that do
  GuardTable guards_;
  Vector roots_;  // of depths, while a clock runs; or empty
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
