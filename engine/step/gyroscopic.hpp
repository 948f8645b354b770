#pragma once

#include <span>
#include <vector>

#include "bristle/step/system.hpp"

// The gyroscopic torque of a body over a step, by the implicit midpoint rule of its
// rotation, I (ω⁺ − ω⁻) + h ω̄ × I ω̄ = 0 with ω̄ = ½ (ω⁻ + ω⁺), in the body's axes. It
// keeps ½ ω·I ω for any step, where ω⁻ × I ω⁻ makes every step gain.

namespace bristle {

class GyroscopicStep {
 public:
  explicit GyroscopicStep(const Tree& tree);

  /// Adds ω⁻ × I ω⁻ − ω̄ × I ω̄ to the torques on links: together with the velocity terms
  /// of forward dynamics that is −ω̄ × I ω̄.
  ///
  /// A body that moves freely and by itself is stepped as if its frame were at its centre
  /// of mass: the velocity terms of the offset are taken out here, and move_on() makes up
  /// for them, so that a spinning body goes straight and keeps its energy for any step.
  void add(const Tree& tree, const Workspace<double>& ws, double h,
           std::span<Force<double>> on_links) noexcept;

  /// The torque that add() has added to each link, in world axes, but for that of an
  /// offset.
  std::span<const Vec3<double>> changes() const noexcept { return changes_; }

  /// The power of −ω̄ × I ω̄ on a link that hangs from the world by a free joint, at the
  /// velocity that it has now [W].
  double power(const Workspace<double>& ws, std::size_t link) const noexcept {
    return -dot(torques_[link], ws.velocities[link].angular);
  }

  /// q ← q ⊕ h v for velocities that were found with add(), at the poses of the step's
  /// beginning; v becomes that at the new positions.
  void move_on(const Tree& tree, const Workspace<double>& ws, double h,
               std::span<double> q, std::span<double> v) const noexcept;

 private:
  /// Constants of a link's rotation, about its centre of mass in its own axes.
  struct Body {
    Sym3<double> inertia{};
    Vec3<double> com{0, 0, 0};
    bool has_mass = false;
    bool turns_freely = false;  // by a free or spherical joint
    bool floats = false;        // by a free joint in the world
    bool offset = false;        // and by itself, off its centre of mass
  };
  std::vector<Body> bodies_;           // per link
  std::vector<Vec3<double>> torques_;  // ω̄ × I ω̄, in world axes
  std::vector<Vec3<double>> changes_;  // ω⁻ × I ω⁻ − ω̄ × I ω̄, likewise
};

}  // namespace bristle
