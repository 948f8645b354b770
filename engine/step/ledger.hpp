#pragma once

#include <algorithm>
#include <cmath>

#include "bristle/step/system.hpp"

// The energy ledger.
//
// Stored energy is a function of the state; losses and work done are integrated along
// the way. Nothing is obtained by subtraction, so the balance error says how accurate the
// run was.

namespace bristle {

/// Energies at a state, and work done since the start [J].
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
  /// Work of motors and loads, of laws that are not passive, and of closing loops.
  double supplied() const;
  /// The part of it that laws which are not passive have created.
  double unsupplied() const;
};

/// The ledger of a settled state; does not change the state.
Ledger make_ledger(System& system, const State& state) noexcept;

/// Follows a run: `observe` at the start, and as often as wanted afterwards.
class Audit {
 public:
  void observe(const Ledger& ledger) noexcept;

  /// The energy balance error since the first observation [J].
  double residual() const noexcept { return residual_; }
  /// The energy scale: the largest kinetic + stored + |Δ potential| + dissipated so far,
  /// less the unsupplied [J].
  double scale() const noexcept { return scale_; }
  /// The largest |residual| so far over the scale: the run's accuracy gauge.
  double relative() const noexcept { return scale_ > 0 ? worst_ / scale_ : 0; }

  /// The excess of energy now, over the scale: energy that the steps themselves
  /// created.
  double relative_created() const noexcept {
    // Not the rounding errors of a potential whose changes are small.
    const double scale = scale_ + 1e-9 * std::abs(last_.gravity);
    return scale > 0 ? std::max(residual_, 0.0) / scale : 0;
  }

  /// Whether the steps have created more than this share of the scale, beside a tenth of
  /// what contacts, limits and loops store now: under a first-order method the energy of
  /// what is pressed together oscillates by about as much.
  bool has_created(double share) const noexcept {
    const double pressed = last_.stored() - last_.springs;
    return residual_ > share * (scale_ + 1e-9 * std::abs(last_.gravity)) + 0.1 * pressed;
  }

  /// Energy created by laws, since the first observation [J], and the largest so far
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
