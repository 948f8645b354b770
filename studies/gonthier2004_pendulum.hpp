#pragma once

#include "studies/gonthier2004.hpp"

namespace bristle::studies::gonthier2004 {

/// A link that hangs from a joint: a mass somewhere on it, with its inertia about there.
struct PendulumLink {
  double length, mass, to_mass, inertia;
};

/// Two links in the x z plane, angles from hanging straight down, the second one relative
/// to the first; the tip of the second is a point that meets a floor at z = −`depth`.
Motion make_pendulum(const PendulumLink& upper, const PendulumLink& lower, double depth,
                     double gravity, const LawChoice& normal, const LawChoice& friction,
                     const Clock& clock);

/// Where the tip is.
Vec3<double> pendulum_tip(const PendulumLink& upper, const PendulumLink& lower,
                          double phi1, double phi2);

}  // namespace bristle::studies::gonthier2004
