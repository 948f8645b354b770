#pragma once

#include "studies/motion.hpp"

// A ball that is dropped on a plane and bounces up and down, which both papers of Azad &
// Featherstone do.

namespace bristle::studies {

struct Drop {
  double height;   // of the gap under the ball [m]
  double radius;   // [m]
  double mass;     // [kg]
  double gravity;  // [m/s²]
  LawChoice law;   // AzadFeatherstone
};

Motion dropped(const Drop& drop, const Clock& clock);

/// The gap under the ball [m].
double gap_of(const Drop& drop, const State& state);

/// The ball leaves the plane.
struct LiftOff {
  double time;  // [s]
  double apex;  // the gap that it will reach [m]
  double top;   // when it will [s]
};

struct Bounces {
  std::vector<double> touches;  // [s]
  std::vector<LiftOff> lift_offs;
};

/// Adds what happens to the list.
void note(const Drop& drop, const State& state, const Event& event, Bounces& bounces);

/// When a ball that is dropped touches first [s].
double fall_time(const Drop& drop);

/// What gravity gives a ball on its way down to where it rests in the end [J].
double fall_energy(const Drop& drop);

}  // namespace bristle::studies
