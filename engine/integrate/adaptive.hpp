#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "bristle/integrate/system.hpp"

// The adaptive clock: steps as long as the tolerance allows, and every touch, lift-off,
// end of clamp and stick/slip switch located.
//
// Between events a contact stays open or closed, so that what is integrated is smooth.
// From touch-down on, the clock of the contact runs: with δ = s² and dt = 2 s dη the
// force is smooth in η where √δ has no derivative, at both ends of the contact (a Sundman
// transformation; the depth in the law is s², kept beside the positions). Contacts that
// last become stiff: an L-stable method takes over until the next event.

namespace bristle {

struct AdaptiveOptions {
  double rtol = 1e-6;         // of velocities, depths and bristles
  bool contact_clock = true;  // dt = 2 s dη from touch-down on
  double longest_step = std::numeric_limits<double>::infinity();  // [s]
};

struct AdaptiveCounts {
  std::uint64_t steps = 0;  // accepted
  std::uint64_t rejected = 0;
  std::uint64_t evaluations = 0;     // of all forces and accelerations
  std::uint64_t implicit_steps = 0;  // among the accepted
  std::uint64_t looks = 0;           // at contacts only, to locate events
  std::uint64_t events = 0;
  std::uint64_t touches = 0;
};

enum class EventKind : std::uint8_t { touch, lift_off, normal, friction };

/// What happened, and to which row of the state; seen after the state was brought to it.
struct Event {
  EventKind kind;
  int row;
  double time;
};

/// Steps states of one model, which must outlive it. Set-up and events may allocate.
class Adaptive {
 public:
  explicit Adaptive(const Model& model, const AdaptiveOptions& options = {});

  /// Goes on until a time, exactly. `on_event` sees every event.
  StepStatus advance_to(
      State& state, double until,
      const std::function<void(const State&, const Event&)>& on_event = {});

  const AdaptiveCounts& counts() const noexcept { return counts_; }
  System& system() noexcept { return system_; }

 private:
  using Vector = std::vector<double>;
  struct Crossing {
    int guard = -1;
    double place = 2;  // in the step, 0 … 1
  };

  StepStatus settle(State& state);
  void pack(const State& state);
  void unpack(const Vector& y, State& state) const;
  void rates(const Vector& y, Vector& dy);
  void look(const Vector& y);
  void read_guards(Vector& guards);
  double try_step(double h);
  double try_explicit(double h);
  double try_implicit(double h);
  void differentiate();
  bool factorise_core(double h);
  void solve_core(Vector& x) const;
  double stiffness() const;
  double error_norm() const;
  void interpolate(double place, Vector& y) const;
  Crossing first_crossing();
  double guard_at(int guard, double place);
  double locate(int guard, double low, double at_low, double high, double at_high);
  double locate_touch(int row);
  void scale_rows(const State& state);
  double depth_for_energy(const State& state, int row, double energy);
  double depth_for_force(const State& state, int row, double force);
  const LawChoice& normal_choice(const State& state, int row) const;
  Columns<double> normal_memory(const State& state);

  const Model* model_;
  AdaptiveOptions options_;
  System system_;
  AdaptiveCounts counts_;
  ContactRows* contacts_ = nullptr;  // of the state in hand

  // y: positions, velocities, memory of the rows in use, works, s, t
  std::size_t nq_, nv_, rows_ = 0, columns_, memory_at_ = 0, works_at_ = 0, s_at_ = 0,
                        t_at_ = 0, size_ = 0;
  Vector y_, end_, stage_, last_stage_, error_;
  std::vector<Vector> increments_;
  std::vector<Vector> k_;
  Vector q_, v_, memory_, memory_rates_;
  Vector guards_, guards_end_, guards_look_, guards_found_, rates_end_;
  Vector depth_scale_, speed_scale_;  // of closed rows
  double q_scale_ = 0, v_scale_ = 0, energy_scale_ = 0;

  int clock_row_ = -1;  // whose clock runs
  double s_scale_ = 0, t_scale_ = 0;
  int turns_ = 0;  // of the clock row's rate
  double next_step_ = 0;
  bool fresh_ = true;  // k_[0] is not the rate at y_

  // The implicit method, for contacts that last.
  bool implicit_ = false;
  int stiff_steps_ = 0;
  double explicit_step_ = 0;       // when it took over
  bool slopes_known_ = false;      // jacobian_ belongs to y_
  std::vector<std::size_t> core_;  // all of y but works, which nothing depends on
  Vector jacobian_;                // ∂ẏ/∂core, row by row
  Vector matrix_;                  // 1/(hγ) − J of the core, then its factors
  std::vector<std::size_t> pivots_;
};

}  // namespace bristle
