#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bristle/run.hpp"
#include "studies/clock.hpp"

// A model in motion under the clock that a study was asked to use: the same observers
// under either clock.

namespace bristle::studies {

/// A contact at one instant.
struct ContactNow {
  bool exists = false;
  int row = -1;
  std::uint32_t episode = 0;  // 0: open
  double depth = 0;           // [m]
  double rate = 0;            // [m/s]
  double normal = 0;          // [N]
  Vec2<double> slip{};        // in the contact's frame [m/s]
  Vec3<double> friction{};    // on the second body of the pair, in the world [N]
  Vec3<double> slip_world{};  // [m/s]
};

/// What a study wants to know on the way; all of it is optional.
struct Watch {
  /// Every so many seconds; under a fixed-step integrator the nearest substep.
  double sample_interval = 0;
  std::function<void(const State&)> on_sample{};
  /// After every step or substep; false ends the run.
  std::function<bool(const State&)> on_step{};
  /// Touches and lift-offs under either clock, switches of laws under the adaptive one.
  /// The time of the event is that of the state only under the adaptive integrator.
  std::function<void(const State&, const Event&)> on_event{};
};

/// Aborts where the model cannot be built: a fault of the study.
Model built(const ModelBuilder& builder);

class Motion {
 public:
  Motion(const ModelBuilder& builder, const Clock& clock);
  ~Motion();
  Motion(Motion&&) noexcept;
  Motion& operator=(Motion&&) = delete;
  Motion(const Motion&) = delete;
  Motion& operator=(const Motion&) = delete;

  const Model& model() const { return *model_; }
  const Clock& clock() const { return clock_; }
  State& state() { return state_; }
  const State& state() const { return state_; }

  /// Finds the contacts of the state as it is, so that their memory can be set.
  void settle();
  /// A number that the friction law of the contact in this row remembers.
  void set_friction_memory(int row, int field, double value);
  double friction_memory(const State& state, int row, int field) const;

  /// Goes on to a time, or until on_step says false. False where it cannot go on.
  bool go(double until, const Watch& watch = {});
  const std::string& trouble() const { return trouble_; }

  // In an observer, and after go():
  /// The row that is in contact, or about to be; none where `exists` is false.
  ContactNow contact(const State& state);
  Ledger ledger(const State& state);
  /// The ledger from the first observation of a run on.
  const Audit& audit() const { return audit_; }

  std::uint64_t steps() const;
  std::uint64_t evaluations() const;
  /// Of complementarity problems.
  SolveCounts solves() const;

 private:
  System& system();

  std::unique_ptr<Model> model_;
  Clock clock_;
  State state_;
  std::unique_ptr<Stepper> stepper_;
  Audit audit_;
  std::string trouble_;
};

/// A curve that was sampled.
struct Series {
  std::vector<double> x, y;

  void add(double at, double value) {
    x.push_back(at);
    y.push_back(value);
  }
};

/// The largest value of a sampled smooth function: the vertex of the parabola through
/// the largest sample and its neighbours.
struct Peak {
  double at;
  double value;
};
Peak peak_of(const Series& series);

/// The largest value of something about a closed contact between two times, looked for
/// ever closer. `begin` makes the motion anew for every look.
Peak largest_of(const std::function<Motion()>& begin, double from, double to,
                const std::function<double(const ContactNow&)>& value,
                const Clock& clock);

/// offset + slope x, by least squares over the samples from `from` on.
struct Line {
  double offset;
  double slope;
};
Line line_through(const Series& series, double from);

Sym3<double> ball_inertia(double mass, double radius);

}  // namespace bristle::studies
