#pragma once

#include "bristle/laws/friction/friction.hpp"

// Common parts of the bristle laws: the Stribeck curve, the bound of a deflection, and
// the one-state bristle that yields, of which Dahl, LuGre and the elasto-plastic law are
// three.

namespace bristle {

/// μ(|v|) = μ_C + (μ_S − μ_C) exp(−|v|²/v_S²): Stribeck's curve in Gauss's form.
template <Scalar T>
BRISTLE_INLINE T stribeck(const T& mu_static, const T& mu_coulomb,
                          const T& stribeck_speed, const T& speed2) {
  using N = Value<T>;
  const T x = speed2 * (T(1) / square(stribeck_speed));
  const T e = exp(-x);
  // 1 − e^{−x}, with its digits where μ_S is far below μ_C
  const T fallen = select(x < T(sizeof(N) == 4 ? N(1e-2f) : N(1e-5)),
                          x * (T(1) - T(N(0.5)) * x), T(1) - e);
  return mu_static * e + mu_coulomb * fallen;
}

/// min(1, reach/length): what is kept of a vector that is bound to a length.
template <Scalar T>
BRISTLE_INLINE T kept_share(const T& length2, const T& reach) {
  const auto cut = length2 > square(reach);
  T share = T(1);
  if (any(cut)) share = select(cut, reach / sqrt(select(cut, length2, T(1))), T(1));
  return share;
}

/// The memory of a bristle law.
template <class T, int D = 2>
struct Deflection {
  Vec<T, D> z;  // bristle deflection [m]
};

template <int D>
inline constexpr auto deflection_fields =
    vector_fields<D>("z_x", "z_y", "z_n", "bristle deflection");

/// A deflection as long as its bound, along the memory; along the slip where the memory
/// has no length, as at touch-down.
template <class V, Scalar T>
struct BoundDeflection {
  V z;
  T share;  // of the memory's length; 0 where that has none
};

template <class V, Scalar T>
BRISTLE_INLINE BoundDeflection<V, T> deflection_on_bound(const V& memory, const T& reach,
                                                         const V& slip) {
  const T length = norm(memory), speed = norm(slip);
  const auto some = length > T(0);
  const T share = select(some, reach / select(some, length, T(1)), T(0));
  const T by_slip = reach / select(speed > T(0), speed, T(1));
  return {select(some, share * memory, by_slip * slip), share};
}

/// The deflection on accepted steps: within `reach` of zero, and zero in flight. What
/// the spring loses by it is released. Where the law is held `on` the bound, the
/// deflection is as long as `reach`; what the spring gains by that was counted as slip.
template <Scalar T, int D, class M>
BRISTLE_INLINE Commit<T, Deflection<T, D>> bound_deflection(const Deflection<T, D>& state,
                                                            const M& bounded, const M& on,
                                                            const T& reach,
                                                            const T& stiffness,
                                                            const Kinematics<T, D>& kin) {
  const T length2 = norm2(state.z);
  const T share = select(bounded, kept_share(length2, reach), T(1));
  Vec<T, D> z = share * state.z;
  if (any(on)) z = select(on, deflection_on_bound(state.z, reach, kin.slip).z, z);
  Deflection<T, D> zero = zero_fields<Deflection<T, D>, T>();
  Deflection<T, D> kept{select(kin.depth > T(0), z, zero.z)};
  return {kept, T(Value<T>(0.5)) * stiffness * (length2 - norm2(kept.z))};
}

/// The rate of a memory that is held on its bound, from the rate ż that the deflection
/// there would have by itself: the deflection turns by what ż has across it, and its
/// length follows the bound; the length of the memory stays. What ż has along the
/// deflection stretches no spring: it slips. By how many nanometres of slip a deflection
/// lags behind the slip's direction is without meaning: it turns no faster than one that
/// is a nanometre long, so that the last instants of a contact are not stiff.
template <class V, Scalar T>
struct BoundRate {
  V rate;
  T lost;  // z·ż; 0 where not on the bound
};

template <class V, Scalar T, class M>
BRISTLE_INLINE BoundRate<V, T> rate_on_bound(const M& on,
                                             const BoundDeflection<V, T>& bound,
                                             const V& z_rate) {
  const T length2 = norm2(bound.z);
  const T lost = dot(bound.z, z_rate);
  const auto turns = bound.share > T(0) && length2 > T(0);
  constexpr auto least = Value<T>(1e-9);  // [m]
  const T slower = min(root(length2) * T(1 / least), T(1));
  V across = (slower / select(turns, bound.share, T(1))) *
             (z_rate - (lost / select(turns, length2, T(1))) * bound.z);
  V none = zero_fields<V, T>();
  return {select(on, select(turns, across, none), z_rate), select(on, lost, T(0))};
}

/// The guards of a bound: how far the deflection exceeds its reach, and how fast it would
/// do so from there, where its own rate is ż.
template <class V, Scalar T, class M>
BRISTLE_INLINE std::array<T, 2> bound_guards(const M& bounded, const V& z, const T& reach,
                                             const V& z_rate) {
  const T length = norm(z);
  const auto some = length > T(0);
  const T drift = select(some, dot(z, z_rate) / select(some, length, T(1)), norm(z_rate));
  return {select(bounded, length - reach, T(0)), select(bounded, drift, T(0))};
}

/// A bristle of stiffness σ₀ that yields to a strength g(v) [N]:
///
///   ż = v − σ₀ v_y/g z,   f = −(σ₀ z + σ₁ ż + σ₂ v),
///
/// where v_y ≤ |v| is the speed at which it yields, here |v|. A law says
///   strength(p, |v|², load)         g
///   greatest_strength(p, load)      the largest g, for the bound on |z|
///   yield_speed(p, z, v, |v|, σ₀/g)           v_y
///   step_yield_speed(p, y, v, |v|, σ₀/g, h)   v_y at the end of a step that would take z
///                                             to y without yielding
///   damping(p, |v|, |v|², g)        σ₁, where has_damper
///   viscous(p)                      σ₂, where has_damper
///
/// As the load falls to zero, so does g, and σ₀/g grows beyond any number. Deflections
/// below ℓ = 1e-12 m are without meaning: where g < σ₀ ℓ, the bristle takes the share
/// s = g/(σ₀ ℓ) of the slip and of the force,
///
///   ż = s v − (v_y/ℓ) z,   f = −s (σ₀ z + σ₁ ż) − σ₂ v.
///
/// So the force goes to zero with the load and the memory fades within ℓ of slip. Slip
/// and force are scaled alike: this takes nothing from the energy ledger.
template <class Law>
struct YieldingBristle : FrictionBase<Law> {
  template <class T, int D = 2>
  using State = Deflection<T, D>;

  template <int D = 2>
  static constexpr auto state() {
    return deflection_fields<D>;
  }

  static constexpr std::array<GuardInfo, 2> guard_list() {
    return {{{"bound", GuardRole::bound}, {"drift", GuardRole::drift}}};
  }

  /// Bristles that yield at any slip, as Dahl's and LuGre's do.
  template <class Params, class V, Scalar T>
  BRISTLE_INLINE static T yield_speed(const Params&, const V& /*z*/, const V& /*slip*/,
                                      const T& speed, const T& /*relax*/) {
    return speed;
  }
  template <class Params, class V, Scalar T>
  BRISTLE_INLINE static T step_yield_speed(const Params&, const V& /*elastic*/,
                                           const V& /*slip*/, const T& speed,
                                           const T& /*relax*/, const T& /*h*/) {
    return speed;
  }

  template <int D = 2, class Params>
  BRISTLE_INLINE static auto touch(const Params& p) noexcept {
    using T = std::remove_cvref_t<decltype(p.stiffness)>;
    return zero_fields<State<T, D>, T>();
  }

  template <class Params, Scalar T, int D>
  BRISTLE_INLINE static FrictionForce<T, State<T, D>, D> evaluate(
      const Params& p, const State<T, D>& state, const Kinematics<T, D>& kin,
      T normal_force) noexcept {
    Moment<T, D> m = moment(p, kin, normal_force);
    const auto on = on_bound(kin, 0);
    if (any(on)) return evaluate_on_bound(p, state, kin, normal_force, on);
    const T fade = m.relax * Law::yield_speed(p, state.z, kin.slip, m.speed, m.relax);
    Vec<T, D> z_rate = m.drive - fade * state.z;
    return {.force = force(p, m, kin, state.z, z_rate),
            .stored = stored(p, state.z),
            .powers = ledger(p, m, state.z, z_rate, fade),
            .rate = {z_rate}};
  }

  /// Backward Euler in z at constant slip: stable for any step, first order, and |z|
  /// grows beyond g/σ₀ in none.
  template <class Params, Scalar T, int D>
  BRISTLE_INLINE static FrictionStep<T, State<T, D>, D> advance(
      const Params& p, const State<T, D>& state, const Kinematics<T, D>& kin,
      T normal_force, T h) noexcept {
    Moment<T, D> m = moment(p, kin, normal_force);
    Vec<T, D> elastic = state.z + h * m.drive;
    const T fade =
        m.relax * Law::step_yield_speed(p, elastic, kin.slip, m.speed, m.relax, h);
    const T shrink = T(1) / (T(1) + h * fade);
    State<T, D> moved{shrink * elastic};
    Vec<T, D> z_rate = shrink * (m.drive - fade * state.z);
    Powers<T> powers = ledger(p, m, moved.z, z_rate, fade);
    // U(z) − U(z₀) = h σ₀ z·ż − ½ σ₀ |h ż|²: backward Euler's own loss joins the
    // damper's.
    powers.damping += T(Value<T>(0.5)) * h * p.stiffness * norm2(z_rate);
    Commit<T, State<T, D>> kept = commit(p, moved, kin, normal_force);
    powers.slip += kept.released * (T(1) / h);
    return {.force = force(p, m, kin, moved.z, z_rate),
            .stored = stored(p, kept.state.z),
            .powers = powers,
            .state = kept.state};
  }

  template <class Params, Scalar T, int D>
  BRISTLE_INLINE static FrictionSpring<T, D> spring(const Params& p,
                                                    const State<T, D>& state,
                                                    const Kinematics<T, D>& kin,
                                                    T normal_force) noexcept {
    Moment<T, D> m = moment(p, kin, normal_force);
    return {.stiffness = p.stiffness,
            .damping = m.damping,
            .elastic_force = -(m.share * p.stiffness) * state.z,
            .bound = m.strength,
            .viscous = m.viscous};
  }

  template <class Params, Scalar T, int D>
  BRISTLE_INLINE static std::array<T, 2> guards(const Params& p, const State<T, D>& state,
                                                const Kinematics<T, D>& kin,
                                                T normal_force) noexcept {
    Moment<T, D> m = moment(p, kin, normal_force);
    const T reach = reach_of(p, normal_force);
    Vec<T, D> z = deflection_on_bound(state.z, reach, kin.slip).z;
    const T fade = m.relax * Law::yield_speed(p, z, kin.slip, m.speed, m.relax);
    return bound_guards(p.bound != T(0), state.z, reach, m.drive - fade * z);
  }

  template <class Params, Scalar T, int D>
  BRISTLE_INLINE static Commit<T, State<T, D>> commit(const Params& p,
                                                      const State<T, D>& state,
                                                      const Kinematics<T, D>& kin,
                                                      T normal_force) noexcept {
    const T reach = reach_of(p, normal_force);
    return bound_deflection(state, p.bound != T(0), on_bound(kin, 0), reach, p.stiffness,
                            kin);
  }

 private:
  /// Of the rows that are held on the bound; the others as in evaluate().
  template <class Params, Scalar T, int D, class M>
  BRISTLE_INLINE static FrictionForce<T, State<T, D>, D> evaluate_on_bound(
      const Params& p, const State<T, D>& state, const Kinematics<T, D>& kin,
      const T& normal_force, const M& on) {
    Moment<T, D> m = moment(p, kin, normal_force);
    const auto bound = deflection_on_bound(state.z, reach_of(p, normal_force), kin.slip);
    Vec<T, D> z = select(on, bound.z, state.z);
    const T fade = m.relax * Law::yield_speed(p, z, kin.slip, m.speed, m.relax);
    Vec<T, D> z_rate = m.drive - fade * z;
    Powers<T> powers = ledger(p, m, z, z_rate, fade);
    const auto kept = rate_on_bound(on, bound, z_rate);
    powers.slip += p.stiffness * kept.lost;
    return {.force = force(p, m, kin, z, z_rate),
            .stored = stored(p, state.z),
            .powers = powers,
            .rate = {kept.rate}};
  }

  /// The longest deflection, where it is bounded [m].
  template <class Params, Scalar T>
  BRISTLE_INLINE static T reach_of(const Params& p, const T& normal_force) {
    return Law::greatest_strength(p, max(normal_force, T(0))) * (T(1) / p.stiffness);
  }

  template <Scalar T, int D>
  struct Moment {
    T speed;          // |v|
    T strength;       // g [N]
    T relax;          // σ₀/g, or 1/ℓ [1/m]
    T share;          // s
    Vec<T, D> drive;  // s v
    T damping;        // σ₁
    T viscous;        // σ₂, where there is a load
  };

  template <class Params, Scalar T, int D>
  BRISTLE_INLINE static Moment<T, D> moment(const Params& p, const Kinematics<T, D>& kin,
                                            const T& normal_force) {
    using N = Value<T>;
    const auto closed = kin.depth > T(0);
    const T load = select(closed, max(normal_force, T(0)), T(0));
    const T speed2 = norm2(kin.slip);
    const T speed = root(speed2);
    const T strength = Law::strength(p, speed2, load);
    const T least = p.stiffness * T(N(1e-12));  // σ₀ ℓ
    const T yields_at = max(strength, least);
    const T per = T(1) / yields_at;
    const T share = select(strength >= least, T(1), strength * per);
    Moment<T, D> m{.speed = speed,
                   .strength = strength,
                   .relax = select(closed, p.stiffness * per, T(0)),
                   .share = share,
                   .drive = share * kin.slip,
                   .damping = T(0),
                   .viscous = T(0)};
    if constexpr (Law::has_damper) {
      m.damping = Law::damping(p, speed, speed2, yields_at);
      m.viscous = select(load > T(0), Law::viscous(p), T(0));
    }
    return m;
  }

  template <class Params, Scalar T, int D>
  BRISTLE_INLINE static Vec<T, D> force(const Params& p, const Moment<T, D>& m,
                                        const Kinematics<T, D>& kin, const Vec<T, D>& z,
                                        const Vec<T, D>& z_rate) {
    if constexpr (Law::has_damper) {
      return -(m.share * (p.stiffness * z + m.damping * z_rate) + m.viscous * kin.slip);
    } else {
      return -(m.share * p.stiffness) * z;
    }
  }

  /// With s v = ż + ρ z, ρ = σ₀ v_y/g:  −f·v = σ₀ z·ż + σ₀ ρ |z|² + σ₁ ż·(s v) + σ₂ |v|².
  /// Only the damper's term can be negative. It then draws on the slip's, next on the
  /// viscous one, and what is still lacking is counted as unsupplied.
  template <class Params, Scalar T, int D>
  BRISTLE_INLINE static Powers<T> ledger(const Params& p, const Moment<T, D>& m,
                                         const Vec<T, D>& z, const Vec<T, D>& z_rate,
                                         const T& fade) {
    const T slip = p.stiffness * fade * norm2(z);
    if constexpr (Law::has_damper) {
      const T damper = m.damping * dot(z_rate, m.drive);
      const T after_slip = slip + min(damper, T(0));
      const T after_viscous = m.viscous * square(m.speed) + min(after_slip, T(0));
      return {max(damper, T(0)), max(after_slip, T(0)), max(after_viscous, T(0)), T(0),
              max(-after_viscous, T(0))};
    } else {
      return {T(0), slip, T(0), T(0), T(0)};
    }
  }

  template <class Params, class V>
  BRISTLE_INLINE static auto stored(const Params& p, const V& z) {
    using T = std::remove_cvref_t<decltype(p.stiffness)>;
    return T(Value<T>(0.5)) * p.stiffness * norm2(z);
  }
};

/// The largest σ₁ up to `damping` with which a yielding bristle is passive whatever its
/// deflection. σ₁ ż·v + σ₀ ρ |z|² with v = ż + ρ z, ρ ≤ σ₀|v|/g is a quadratic form in
/// ż and ρ z; it is positive for σ₁ < 4 g/|v|, and with room for rounding at half of it.
template <Scalar T>
BRISTLE_INLINE T passive_damping(const T& damping, const T& speed, const T& strength) {
  const auto above = damping * speed > T(2) * strength;
  T limited = damping;
  if (any(above)) {
    limited = select(above, T(2) * strength / select(above, speed, T(1)), damping);
  }
  return limited;
}

}  // namespace bristle
