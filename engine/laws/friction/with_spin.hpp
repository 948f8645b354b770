#pragma once

#include "bristle/laws/friction/friction.hpp"

// A friction law on a contact that slides and spins (Gonthier 2007): slip, force and
// memory have a third component,
//
//   v = (v_x, v_y, r_g ω_n),   f = (f_x, f_y, f_3),   τ_n = r_g f_3,
//
// r_g² = J_nn/V of the patch. The law's bound then holds sliding and spinning friction
// together, |f_t|² + |τ_n/r_g|² ≤ f_max², and |v| over all three decides about dwell,
// stick, creep. The bodies' power is −f·v = −f_t·v_t − τ_n ω_n whatever r_g does, and
// the memory is a length, ∫ r_g ω_n dt of stick: a patch that grows or shrinks changes
// neither it nor the energy in it.

namespace bristle {

/// A friction law of three components of slip, from one that is written for D of them:
///   template <class T, int D = 2> struct State            with Vec<T, D>
///   template <int D = 2> static constexpr auto state()
///   template <int D = 2, Scalar T> State<T, D> touch(const Params<T>&)
/// and its other operations on Kinematics<T, D>, State<T, D>.
template <class L>
struct WithSpin : L {
  static constexpr int slip_components = 3;

  template <class T>
  using State = typename L::template State<T, 3>;

  static constexpr auto state() { return L::template state<3>(); }

  template <class Params>
  BRISTLE_INLINE static auto touch(const Params& p) noexcept {
    return L::template touch<3>(p);
  }
};

/// Whether a friction law is written for D components of slip.
template <class L>
concept SpinFrictionLaw =
    FrictionLaw<L> &&
    requires(typename L::template Params<double> p,
             typename L::template State<double, 3> state, Kinematics<double, 3> kin) {
      { L::template touch<3>(p) } -> std::same_as<typename L::template State<double, 3>>;
      L::template state<3>();
      L::evaluate(p, state, kin, 1.0);
    } &&
    detail::FrictionLawFor<WithSpin<L>, double> &&
    detail::FrictionLawFor<WithSpin<L>, float>;

}  // namespace bristle
