#pragma once

#include <optional>

#include "studies/motion.hpp"

// What the studies of Peiret, Kövecses & Font-Llagunes share: bodies on a plane under the
// complementarity stepper, with a rigid normal, and under the adaptive integrator, with
// the same constant normal force.

namespace bristle::studies::peiret {

inline constexpr double gravity = 9.81;  // [m/s²]

/// Step, and the shape of the friction cone.
Clock complementarity(double h, ConeShape cone = ConeShape::isotropic);
/// What the other one is compared with.
Clock adaptive(double rtol = 1e-11);

/// Calls go(clock), which says what went wrong, under the adaptive integrator. Where
/// stiff bristles leave no step short enough for its tolerance, the tolerance is ten
/// times as large, up to 1e-7.
template <class Go>
std::string under_adaptive(const Go& go) {
  std::string trouble;
  for (const double rtol : {1e-11, 1e-10, 1e-9, 1e-8, 1e-7}) {
    trouble = go(adaptive(rtol));
    if (trouble.empty()) break;
  }
  return trouble;
}

/// A body on the plane z = 0 that touches it with a ball about its centre of mass;
/// radius 0: a block that does not turn.
struct OnPlane {
  double mass;
  double radius;
  Sym3<double> inertia;
  Vec3<double> gravity;
  LawChoice friction;
};

/// Settles a motion whose only contact is rigid and carries this load since before
/// t = 0, as if a step had led there.
void carry(Motion& motion, double load);

/// The body at its place at t = 0, where the plane carries it already: a rigid contact
/// carries its load, a compliant one is as deep as its load wants it. Nothing but gravity
/// acts along the normal, so that the normal force stays what it is. q[0] … q[2] is the
/// centre of mass, v[0] … v[2] the angular velocity, v[3] … v[5] the velocity.
Motion begin(const OnPlane& body, const Clock& clock, const Vec3<double>& velocity);

/// Spring-slider friction, the bristle of the paper: eq. 3 within its bounds. Without a
/// strength there is no friction.
LawChoice bristle(double mu, double stiffness, double damping);

/// What is wrong with `duration` and `h`, where it is the number of steps.
std::optional<Error> too_many_steps(const Values& values);

/// Position and velocity of the centre of mass after every step, the start included.
struct Track {
  std::vector<double> time;
  std::vector<Vec3<double>> position, velocity;

  void see(const State& now);
  /// Between two steps on the straight line; not a number beyond the end.
  Vec3<double> position_at(double t) const;
  Vec3<double> velocity_at(double t) const;

 private:
  Vec3<double> between_steps(const std::vector<Vec3<double>>& values, double t) const;
};

}  // namespace bristle::studies::peiret
