#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bristle/model/model.hpp"
#include "bristle/step/system.hpp"

// Centrifugal and Coriolis forces do no work, and gravity has a potential V. In a step
// that takes them from its beginning, v⁺ = v + h M⁻¹ (f − c), neither holds: a mechanism
// gains or loses about (h ω)² of its kinetic energy T per step. Mechanisms that turn fast
// are therefore kept at the energy that they should have: c does what the change of M
// says, at the mean velocity v̄ = ½(v + v⁺), and gravity f_g what V says:
//
//   T(q⁺, v⁺) = T(q, v⁺) + h c·v̄ − [V(q⁺) − V(q) + h f_g·v̄]
//
// Velocities at the new positions are scaled so that this holds: a correction of h² per
// step, as the error is. A mechanism that flies takes v⁺ in place of v̄ with f_g, since
// gravity does not act on what its parts do to each other. Its centre of mass gets the
// momentum that M (v⁺ − v) + h c says, the impulses of the step, and no other.

namespace bristle {

class VelocityTerms {
 public:
  explicit VelocityTerms(const Model& model);

  /// Finds the mechanisms that turn fast, from the velocities of their links; whether
  /// there are any.
  bool find(const Workspace<double>& ws, double h) noexcept;

  /// The most that a link of a mechanism turns in a step [rad].
  double turns_by(const Workspace<double>& ws, double h) const noexcept;
  /// Whether mechanisms that turn by so much keep T + V.
  static bool keeps_energy(double turn) noexcept;

  /// What a step does to them, at the positions of its beginning, after forward dynamics
  /// there: c is that of its accelerations. Link velocities are those of the beginning,
  /// `before`, and of v_next, which the workspace has; `torques` act on the links beside
  /// −c. Returns what ½ΔvᵀMΔv counts too much as damped: ½Δvᵀ(h f_g − h c).
  double measure(const Tree& tree, double h, std::span<const double> v_next,
                 std::span<const Motion<double>> before,
                 std::span<const Vec3<double>> torques,
                 const Workspace<double>& ws) noexcept;

  /// Scales the velocities at new positions. Sets the kinematics of the workspace.
  void keep(const Tree& tree, std::span<const double> q, std::span<double> v,
            Workspace<double>& ws) noexcept;

  bool is_fast(std::size_t link) const noexcept {
    return any_ && group_[link] >= 0 && fast_[static_cast<std::size_t>(group_[link])];
  }

 private:
  void scale(const Tree& tree, std::size_t group, std::span<double> v,
             const Workspace<double>& ws) noexcept;
  void add_armatures(const Workspace<double>& ws, std::span<const double> v) noexcept;

  std::vector<int> group_;        // per link: the mechanism; −1: a body by itself
  std::vector<int> of_velocity_;  // likewise, per velocity
  std::vector<int> root_;         // per group: the free joint that carries it; −1: none
  std::vector<std::uint8_t> fast_;
  std::vector<double> target_, energies_;  // T that it should have, and has
  std::vector<double> mass_;               // of those that fly, with the momentum
  std::vector<Vec3<double>> momentum_;     // that the step gave them,
  std::vector<Vec3<double>> flight_;       // and that they have
  bool any_ = false;
};

}  // namespace bristle
