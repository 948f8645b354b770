#pragma once

// How hard MuJoCo makes a contact or an equality, and the spring that sinks in as deep.
//
// MuJoCo makes a constraint accelerate by a = (1 − d) a₀ − d (b v + k r), a₀ without it,
// with d(r) of solimp and k = 1/(d_max T ζ)² of solref = T, ζ, or k = stiffness/d_max² of
// solref = −stiffness, −damping. Pressed by the acceleration a₀ it is at rest at the
// depth r with (1 − d(r)) a₀ = d(r) k r, which a spring of stiffness m ω², ω² = a₀/r,
// reaches too.

#include <compare>

namespace bristle::scene {

struct Softness {
  double solref[2] = {0.02, 1};
  double solimp[5] = {0.9, 0.95, 0.001, 0.5, 2};

  bool operator==(const Softness&) const = default;
  auto operator<=>(const Softness&) const = default;

  /// d at a depth [m].
  double impedance(double depth) const;
  /// The depth at rest under an acceleration [m/s²].
  double depth_under(double acceleration) const;
  /// ω of a spring that sinks in as deep under an acceleration [rad/s].
  double frequency_under(double acceleration) const;
  /// ω at the surface [rad/s].
  double frequency() const;
  double damping_ratio() const;

 private:
  double stiffness() const;  // k
};

}  // namespace bristle::scene
