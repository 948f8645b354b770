#pragma once

#include <type_traits>

#include "bristle/laws/friction/coulomb.hpp"
#include "bristle/laws/friction/with_spin.hpp"
#include "bristle/laws/spin.hpp"

namespace bristle {

/// Coulomb's law on a disc of radius R = r_g/g with the pressure p, g² = ∫ p r² dA/(N
/// R²): force and couple by exact integration of μ p against the local slip. In terms of
/// the elliptic closure f = −μ f_n φ v/|v|, v = (v_t, r_g ω_n), whose two parts are
/// weighted:
///
///   f_t = −μ f_n φ A v_t/|v|,  f_3 = −μ f_n φ B r_g ω_n/|v|,
///
/// A and B functions of |v_t|/(ω_n R) alone. μ and φ are taken at |v|, the same for the
/// whole disc. The bound of complementarity steps, `spring`, is that of the ellipse.
template <DiscPressure over>
struct SpinningDisc : WithSpin<Coulomb> {
  static constexpr DiscPressure pressure = over;

  template <Scalar T>
  BRISTLE_INLINE static FrictionForce<T, NoState<T>, 3> evaluate(
      const Params<T>& p, const NoState<T>&, const Kinematics<T, 3>& kin,
      T normal_force) noexcept {
    Drag<T> d = drag(p, kin, normal_force);
    DiscFriction<T> w = weights(kin.slip);
    const T sliding = square(kin.slip.x) + square(kin.slip.y);
    const T spinning = square(kin.slip.z);
    const T across = d.dry * w.force + d.viscous, about = d.dry * w.torque + d.viscous;
    return {.force = {-across * kin.slip.x, -across * kin.slip.y, -about * kin.slip.z},
            .stored = T(0),
            .powers = {T(0), d.dry * (w.force * sliding + w.torque * spinning),
                       d.viscous * (sliding + spinning), T(0), T(0)},
            .rate = {}};
  }

  template <Scalar T>
  BRISTLE_INLINE static FrictionStep<T, NoState<T>, 3> advance(
      const Params<T>& p, const NoState<T>& state, const Kinematics<T, 3>& kin,
      T normal_force, T) noexcept {
    FrictionForce<T, NoState<T>, 3> now = evaluate(p, state, kin, normal_force);
    return {.force = now.force, .stored = T(0), .powers = now.powers, .state = {}};
  }

  template <Scalar T>
  BRISTLE_INLINE static FrictionSlopes<T, 3> linearise(const Params<T>& p,
                                                       const NoState<T>& state,
                                                       const Kinematics<T, 3>& kin,
                                                       T normal_force) noexcept {
    return FrictionBase<SpinningDisc>::linearise(p, state, kin, normal_force);
  }

  /// A and B.
  template <Scalar T>
  BRISTLE_INLINE static DiscFriction<T> weights(const Vec3<T>& slip) {
    using N = Value<T>;
    constexpr N g2 = N(gyration_square(pressure)),
                per_g2 = N(1 / gyration_square(pressure));
    const T sliding = square(slip.x) + square(slip.y);  // |v_t|²
    const T rim = T(per_g2) * square(slip.z);           // (ω R)²
    const auto inside = sliding <= rim;
    const T larger = select(inside, rim, sliding);
    const T m = select(inside, sliding, rim) / select(larger > T(0), larger, T(1));
    const detail::EllipticIntegrals<T> e(m);
    DiscFriction<T> inner = inner_disc<pressure>(m, e),
                    outer = outer_disc<pressure>(m, e);
    // |v|/(ω R) inside, |v|/|v_t| outside
    const T average = sqrt(select(inside, m + T(g2), T(1) + T(g2) * m));
    return {average * select(inside, inner.force, outer.force),
            T(per_g2) * average * select(inside, inner.torque, outer.torque)};
  }
};

/// The law whose integrals over a disc are known.
template <class L>
inline constexpr bool has_disc_integrals = std::is_same_v<L, Coulomb>;

using UniformDisc = SpinningDisc<DiscPressure::uniform>;
using ParaboloidDisc = SpinningDisc<DiscPressure::paraboloid>;
using HertzDisc = SpinningDisc<DiscPressure::hertz>;

}  // namespace bristle
