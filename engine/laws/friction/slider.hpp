#pragma once

#include "bristle/laws/friction/bristle.hpp"

namespace bristle {

/// A spring and a damper in series with a slider that holds up to a grip F [N]: elastic
/// and perfectly plastic, the vector of the force returned to the circle |f| ≤ F along
/// its own direction. A law says grip(p, |v|², load), the largest F.
///
/// With a damper, pull = k z + c v, and the slider gives way at V = (|pull| − F)₊/c along
/// the pull. Without one (c/k below a nanosecond) it gives way at V = max(0, v·z/|z|)
/// along z where k|z| has reached F, and sheds what exceeds F as it slips. In both,
/// ż = v − V.
template <class Law>
struct Slider : FrictionBase<Law> {
  template <class T, int D = 2>
  using State = Deflection<T, D>;

  template <int D = 2>
  static constexpr auto state() {
    return deflection_fields<D>;
  }

  static constexpr LedgerLines lines{.damping = true, .slip = true};

  /// Without a damper the grip is a bound of the spring.
  static constexpr std::array<GuardInfo, 3> guard_list() {
    return {{{"slip", GuardRole::slip},
             {"bound", GuardRole::bound},
             {"drift", GuardRole::drift}}};
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
    const auto closed = kin.depth > T(0);
    const auto damped = is_damped(p);
    const T damping = select(damped, p.damping, T(0));
    const T grip = grip_of(p, kin, normal_force);
    Vec<T, D> pull = p.stiffness * state.z + damping * kin.slip;
    const T share = held_share(kin, pull, grip);
    const T excess = T(1) - share;
    // With a damper V = give pull, and ż = v − V = share v − give k z
    const T give = excess / select(damped, p.damping, T(1));
    // Without one V takes the whole of v along z, and ż is what is left across. A spring
    // beyond its reach, since the load fell, shortens as it slips.
    const T length2 = norm2(state.z);
    const T length = root(length2);
    const T speed = norm(kin.slip);
    const T along = dot(state.z, kin.slip);
    const auto flows = reached(p, length, grip) && along > T(0);
    Vec<T, D> turns = across(state.z, kin.slip, select(flows, length2, T(1)));
    Vec<T, D> z_rate =
        select(damped, share * kin.slip - (give * p.stiffness) * state.z,
               select(flows, turns, kin.slip) -
                   (excess * speed / select(length > T(0), length, T(1))) * state.z);
    // f·V with a damper; without one f·v − k z·ż
    const T slip_power = select(
        damped, share * give * norm2(pull),
        p.stiffness * (select(flows, share, -excess) * along + excess * length * speed));
    State<T, D> zero = zero_fields<State<T, D>, T>();
    FrictionForce<T, State<T, D>, D> now{
        .force = select(closed, -share * pull, zero.z),
        .stored = stored(p, state.z),
        .powers = {select(closed, damping * norm2(z_rate), T(0)),
                   select(closed, slip_power, T(0)), T(0), T(0), T(0)},
        .rate = {select(closed, z_rate, zero.z)}};
    if (kin.held != nullptr) hold_undamped(p, state, kin, grip, now);
    return now;
  }

  /// The exact radial return at constant slip: the force at the end of the step is the
  /// trial force k z + (c + h k) v, shortened to the grip.
  template <class Params, Scalar T, int D>
  BRISTLE_INLINE static FrictionStep<T, State<T, D>, D> advance(
      const Params& p, const State<T, D>& state, const Kinematics<T, D>& kin,
      T normal_force, T h) noexcept {
    const auto closed = kin.depth > T(0);
    const T grip = grip_of(p, kin, normal_force);
    const T effective = p.damping + h * p.stiffness;
    Vec<T, D> trial = p.stiffness * state.z + effective * kin.slip;
    const T share = held_share(kin, trial, grip);
    // V = give trial, and ż = v − V = share v − give k z
    const T give = (T(1) - share) / effective;
    Vec<T, D> z_rate = share * kin.slip - (give * p.stiffness) * state.z;
    State<T, D> zero = zero_fields<State<T, D>, T>();
    State<T, D> moved{select(closed, state.z + h * z_rate, state.z)};
    Commit<T, State<T, D>> kept = commit(p, moved, kin, normal_force);
    // U(z) − U(z₀) = h k z·ż − ½ k |h ż|²: backward Euler's own loss joins the damper's.
    const T damping = (p.damping + T(Value<T>(0.5)) * h * p.stiffness) * norm2(z_rate);
    const T slip_power = share * give * norm2(trial);
    return {.force = select(closed, -share * trial, zero.z),
            .stored = stored(p, kept.state.z),
            .powers = {select(closed, damping, T(0)),
                       select(closed, slip_power, T(0)) + kept.released * (T(1) / h),
                       T(0), T(0), T(0)},
            .state = kept.state};
  }

  template <class Params, Scalar T, int D>
  BRISTLE_INLINE static FrictionSpring<T, D> spring(const Params& p,
                                                    const State<T, D>& state,
                                                    const Kinematics<T, D>& kin,
                                                    T normal_force) noexcept {
    return {.stiffness = p.stiffness,
            .damping = p.damping,
            .elastic_force = -p.stiffness * state.z,
            .bound = grip_of(p, kin, normal_force),
            .viscous = T(0)};
  }

  /// Where the slider begins or ends to give way; for an integrator that holds the law
  /// that is the bound, where there is no damper.
  template <class Params, Scalar T, int D>
  BRISTLE_INLINE static std::array<T, 3> guards(const Params& p, const State<T, D>& state,
                                                const Kinematics<T, D>& kin,
                                                T normal_force) noexcept {
    const T grip = grip_of(p, kin, normal_force);
    const auto damped = is_damped(p);
    const T damping = select(damped, p.damping, T(0));
    const T pull = norm(p.stiffness * state.z + damping * kin.slip);
    const auto bound =
        bound_guards(!damped, state.z, grip * (T(1) / p.stiffness), kin.slip);
    T slips = pull - select(damped, T(1), near_one<T>()) * grip;
    if (kin.held != nullptr) slips = select(damped, slips, T(0));
    return {slips, bound[0], bound[1]};
  }

  /// Forgets the stretch in flight, and without a damper keeps no more of it than the
  /// slider holds. (With one, the spring relaxes by itself when the load falls.)
  template <class Params, Scalar T, int D>
  BRISTLE_INLINE static Commit<T, State<T, D>> commit(const Params& p,
                                                      const State<T, D>& state,
                                                      const Kinematics<T, D>& kin,
                                                      T normal_force) noexcept {
    const T reach = grip_of(p, kin, normal_force) * (T(1) / p.stiffness);
    return bound_deflection(state, !is_damped(p), on_bound(kin, 1), reach, p.stiffness,
                            kin);
  }

 private:
  template <class Params>
  BRISTLE_INLINE static auto is_damped(const Params& p) {
    using T = std::remove_cvref_t<decltype(p.stiffness)>;
    return p.damping > p.stiffness * T(Value<T>(1e-9));
  }

  /// A spring without a damper, held within its bound or on it.
  template <class Params, Scalar T, int D>
  BRISTLE_INLINE static void hold_undamped(const Params& p, const State<T, D>& state,
                                           const Kinematics<T, D>& kin, const T& grip,
                                           FrictionForce<T, State<T, D>, D>& now) {
    const auto held = kin.depth > T(0) && kin.held[1] != T(0);
    if (!any(held)) return;
    const auto on = on_bound(kin, 1);
    const auto bound =
        deflection_on_bound(state.z, grip * (T(1) / p.stiffness), kin.slip);
    const auto kept = rate_on_bound(on, bound, kin.slip);
    now.force = select(held, -p.stiffness * select(on, bound.z, state.z), now.force);
    now.powers.slip = select(held, p.stiffness * kept.lost, now.powers.slip);
    now.rate.z = select(held, kept.rate, now.rate.z);
  }

  /// What the slider holds of a pull; of any, also none, without a grip.
  template <class V, Scalar T, int D>
  BRISTLE_INLINE static T held_share(const Kinematics<T, D>& kin, const V& pull,
                                     const T& grip) {
    const T length2 = norm2(pull);
    const auto gives = positive(kin, 0, length2 > square(grip));
    T share = T(1);
    if (any(gives)) {
      share = select(gives, grip / sqrt(select(gives, length2, T(1))), T(1));
      share = min(share, T(2));  // held, it may go beyond 1
    }
    return select(grip > T(0), share, T(0));
  }

  /// A spring counts as stretched to the grip a little before, so that rounding does not
  /// switch the slider to and fro.
  template <Scalar T>
  BRISTLE_INLINE static T near_one() {
    using N = Value<T>;
    return T(N(1) - (sizeof(N) == 4 ? N(1e-6) : N(1e-9)));
  }

  template <class Params, Scalar T>
  BRISTLE_INLINE static auto reached(const Params& p, const T& length, const T& grip) {
    return length > T(0) && p.stiffness * length >= near_one<T>() * grip;
  }

  template <class Params, Scalar T, int D>
  BRISTLE_INLINE static T grip_of(const Params& p, const Kinematics<T, D>& kin,
                                  const T& normal_force) {
    return Law::grip(p, norm2(kin.slip), max(normal_force, T(0)));
  }

  template <class Params, class V>
  BRISTLE_INLINE static auto stored(const Params& p, const V& z) {
    using T = std::remove_cvref_t<decltype(p.stiffness)>;
    return T(Value<T>(0.5)) * p.stiffness * norm2(z);
  }
};

}  // namespace bristle
