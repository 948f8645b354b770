#pragma once

#include <algorithm>
#include <cmath>

#include "bristle/step/system.hpp"

// Where the energy is and where it went.
//
// What is stored is a function of the state; what was lost or put in was integrated along
// the way. Nothing is obtained by subtraction, so that the residual says how accurate the
// run was.

namespace bristle {

/// Energies at a state, and works since the start [J].
struct Ledger {
  double kinetic = 0;
  double gravity = 0;
  double springs = 0;  // of joints
  double normal = 0;   // stored in contacts
  double friction = 0;
  double limits = 0;          // stored in joint limits
  double joint_friction = 0;  // stored in the friction of joints
  double loops = 0;           // stored in the springs of loops
  Works works{};

  double stored() const {
    return springs + normal + friction + limits + joint_friction + loops;
  }
  double energy() const { return kinetic + gravity + stored(); }

  /// Lost in contacts, limits, joint friction and dampers, those of loops included.
  double dissipated() const;
  /// Put in by motors and loads, by laws that are not passive, and by closing loops.
  double supplied() const;
  /// The part of it that nobody supplied: defects of laws that are not passive.
  double unsupplied() const;
};

/// The books of a settled state; leaves the state as it is.
Ledger make_ledger(System& system, const State& state) noexcept;

/// Follows a run: `observe` at the start, and as often as wanted afterwards.
class Audit {
 public:
  void observe(const Ledger& ledger) noexcept;

  /// The energy balance error since the first observation [J].
  double residual() const noexcept { return residual_; }
  /// The largest kinetic + stored + |Δ potential| + dissipated so far, less what nobody
  /// supplied [J].
  double scale() const noexcept { return scale_; }
  /// The largest |residual| so far over the scale: the run's accuracy gauge.
  double relative() const noexcept { return scale_ > 0 ? worst_ / scale_ : 0; }

  /// What is too much of it now, over the scale: energy that the steps themselves
  /// created.
  double relative_created() const noexcept {
    // Not the rounding errors of a potential whose changes are small.
    const double scale = scale_ + 1e-9 * std::abs(last_.gravity);
    return scale > 0 ? std::max(residual_, 0.0) / scale : 0;
  }

  /// Energy that nobody supplied, since the first observation [J], and the largest so far
  /// over the scale.
  double unsupplied() const noexcept { return unsupplied_; }
  double relative_unsupplied() const noexcept {
    return scale_ > 0 ? worst_unsupplied_ / scale_ : 0;
  }

  const Ledger& first() const noexcept { return first_; }
  const Ledger& last() const noexcept { return last_; }

 private:
  bool begun_ = false;
  Ledger first_{}, last_{};
  double residual_ = 0;
  double worst_ = 0;
  double scale_ = 0;
  double unsupplied_ = 0;
  double worst_unsupplied_ = 0;
};

}  // namespace bristle
