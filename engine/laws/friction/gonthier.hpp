#pragma once

#include "bristle/laws/friction/bristle.hpp"
#include "bristle/laws/friction/regularised.hpp"

namespace bristle {

struct GonthierFriction : FrictionBase<GonthierFriction> {
  static constexpr LawInfo info{
      .name = "gonthier-friction",
      .title = "Gonthier, seven-parameter bristle friction with dwell time",
      .formula =
          "s = exp(−|v_t|²/v_S²),  f_C = μ_C f_n dir(v_t)\n"
          "f_br = s (σ₀ z + σ₁ v_t) + (1 − s) f_C,  ż = (f_br − σ₀ z)/σ₁\n"
          "ṡ_dw = (s − s_dw)/τ,  τ = τ_dw where s ≥ s_dw, else σ₁/σ₀\n"
          "f_max = f_n (μ_C + (μ_S − μ_C) s_dw)\n"
          "f_t = −(min(1, f_max/|f_br|) f_br + σ₂ v_t) while f_n > 0\n"
          "dir(v) = v/|v|;  v/v_ε (3/2 − ½|v|²/v_ε²) where |v| < v_ε = v_S/100",
      .source =
          "Gonthier, McPhee, Lange & Piedbœuf 2004, eqs. 15–26. Deviations: dir(v) "
          "without "
          "the extra factor |v|/v_ε of the printed eq. 20; z = s_dw = 0 in flight and at "
          "touch-down, where the paper is silent; the bound |z| ≤ f_max/σ₀ "
          "(bound = 0 switches it off, as printed).",
      .limits =
          "Sticks without creep. Without the bound, |z| winds up below v_S and slow "
          "reciprocating slip dissipates too little. Too small a v_S breaks stiction "
          "early, at about μ_C f_n + v_S² σ₀ σ₁/(4 Ḟ) under a load that grows by Ḟ.",
      .energy =
          "Not passive: the sliding branch drives z towards f_C/σ₀ whatever the slip, so "
          "that the bristle can store more than it receives; this power is counted as "
          "unsupplied. It is zero in full stick (s = 1, unsaturated) and in steady "
          "sliding, and matters where μ_C f_n/(σ₁|v_t|) exceeds about one, as in hard "
          "impacts, and in wind-up."};

  template <class T>
  struct Params {
    T mu_static;       // μ_S
    T mu_coulomb;      // μ_C
    T stiffness;       // σ₀ [N/m]
    T damping;         // σ₁ [N s/m]
    T viscous;         // σ₂ [N s/m]
    T stribeck_speed;  // v_S [m/s]
    T dwell_time;      // τ_dw [s]
    T bound;           // 1: |z| ≤ f_max/σ₀
  };

  static constexpr auto parameters() {
    using P = Params<double>;
    return std::array{
        ParameterField<P>{&P::mu_static,
                          {"mu_static", "μ_S", "1", between(0, 10), 0.45,
                           "friction coefficient after long rest"}},
        ParameterField<P>{&P::mu_coulomb,
                          {"mu_coulomb", "μ_C", "1", between(0, 10), 0.4,
                           "friction coefficient of sliding"}},
        ParameterField<P>{
            &P::stiffness,
            {"stiffness", "σ₀", "N/m", between(1e-3, 1e12), 1e5, "bristle stiffness"}},
        ParameterField<P>{&P::damping,
                          {"damping", "σ₁", "N s/m", between(1e-6, 1e9), 1e4,
                           "bristle damping; σ₁/σ₀ is the bristle's time constant"}},
        ParameterField<P>{&P::viscous,
                          {"viscous", "σ₂", "N s/m", between(0, 1e9), 0,
                           "viscous friction, outside the friction cone"}},
        ParameterField<P>{&P::stribeck_speed,
                          {"stribeck_speed", "v_S", "m/s", between(1e-6, 100), 0.1,
                           "slip speed that separates stick from slip"}},
        ParameterField<P>{&P::dwell_time,
                          {"dwell_time", "τ_dw", "s", between(1e-6, 1e6), 0.01,
                           "time constant of the rise from μ_C to μ_S at rest"}},
        ParameterField<P>{
            &P::bound,
            {"bound", "", "flag", yes_or_no, 1, "whether |z| is kept below f_max/σ₀"}}};
  }

  template <class T, int D = 2>
  struct State {
    Vec<T, D> z;  // bristle deflection [m]
    T dwell;      // s_dw, 0 sliding … 1 long at rest
  };

  template <int D = 2>
  static constexpr auto state() {
    return vector_fields<D>(
        "z_x", "z_y", "z_n", "bristle deflection",
        StateField{"dwell", "s_dw", "1", "0 sliding, 1 long at rest"});
  }

  static constexpr Passivity passivity(const Params<double>&) {
    return {.unsupplied = true};
  }

  static constexpr LedgerLines lines{
      .damping = true, .slip = true, .viscous = true, .unsupplied = true};

  /// Saturation is no slip: in steady sliding |f_br| = μ_C f_n = f_max, whose difference
  /// is zero but for round-off.
  static constexpr std::array<GuardInfo, 4> guard_list() {
    return {{{"saturation", GuardRole::branch},
             {"dwell", GuardRole::branch},
             {"bound", GuardRole::bound},
             {"drift", GuardRole::drift}}};
  }

  /// A new contact starts with relaxed bristles, and no dwell.
  template <int D = 2, Scalar T>
  BRISTLE_INLINE static State<T, D> touch(const Params<T>&) noexcept {
    return zero_fields<State<T, D>, T>();
  }

  /// What depends on the slip alone; a pass over many contacts computes it in a loop of
  /// its own.
  template <class T>
  struct Prepared {
    T stick;      // s = exp(−|v_t|²/v_S²)
    T direction;  // dir(v_t)/v_t [s/m]
  };

  template <Scalar T, int D>
  BRISTLE_INLINE static Prepared<T> prepare(const Params<T>& p,
                                            const Kinematics<T, D>& kin) noexcept {
    const T speed2 = norm2(kin.slip);
    const T per_small = T(1) / (p.stribeck_speed * T(Value<T>(0.01)));  // 1/v_ε
    return {exp(speed2 * (T(-1) / square(p.stribeck_speed))),
            per_small * cubic_ramp(root(speed2) * per_small)};
  }

  template <Scalar T, int D>
  BRISTLE_INLINE static FrictionForce<T, State<T, D>, D> evaluate(
      const Params<T>& p, const State<T, D>& state, const Kinematics<T, D>& kin,
      T normal_force) noexcept {
    const auto closed = kin.depth > T(0);
    Prepared<T> slip = prepare(p, kin);
    const T s = slip.stick;
    const auto on = on_bound(kin, 2);
    BoundDeflection<Vec<T, D>, T> bound{state.z, T(1)};
    if (any(on))
      bound = deflection_on_bound(state.z, reach_of(p, state, normal_force), kin.slip);
    Vec<T, D> z = select(on, bound.z, state.z);
    Vec<T, D> coulomb = (p.mu_coulomb * normal_force * slip.direction) * kin.slip;
    Vec<T, D> bristle =
        s * (p.stiffness * z + p.damping * kin.slip) + (T(1) - s) * coulomb;
    Vec<T, D> z_rate = free_rate(p, s, kin.slip, coulomb, z);
    const auto kept = rate_on_bound(on, bound, z_rate);
    const auto dwells = positive(kin, 1, s >= state.dwell);
    const T dwell_rate =
        (s - state.dwell) * select(dwells, T(1) / p.dwell_time, p.stiffness / p.damping);
    Output<T, D> out = output(p, state.dwell, kin, normal_force, bristle, z_rate);
    State<T, D> zero = zero_fields<State<T, D>, T>();
    return {
        .force = out.force,
        .stored = stored(p, state.z),
        .powers = {select(closed, p.damping * norm2(z_rate), T(0)),
                   out.slip.loss + select(closed, p.stiffness * kept.lost, T(0)),
                   out.viscous, T(0), out.slip.unsupplied},
        .rate = {select(closed, kept.rate, zero.z), select(closed, dwell_rate, T(0))}};
  }

  /// Backward Euler in z and s_dw at constant slip: stable for any step, first order.
  template <Scalar T, int D>
  BRISTLE_INLINE static FrictionStep<T, State<T, D>, D> advance(
      const Params<T>& p, const State<T, D>& state, const Kinematics<T, D>& kin,
      T normal_force, T h) noexcept {
    return advance(p, state, kin, normal_force, h, prepare(p, kin));
  }

  template <Scalar T, int D>
  BRISTLE_INLINE static FrictionStep<T, State<T, D>, D> advance(
      const Params<T>& p, const State<T, D>& state, const Kinematics<T, D>& kin,
      T normal_force, T h, const Prepared<T>& slip) noexcept {
    using N = Value<T>;
    const T s = slip.stick;
    Vec<T, D> coulomb = (p.mu_coulomb * normal_force * slip.direction) * kin.slip;
    // ż = s v_t + (1 − s)(f_C − σ₀ z)/σ₁, linear in z
    const T relax = (T(1) - s) * (T(1) / p.damping);
    Vec<T, D> drive = s * kin.slip + relax * coulomb;
    const T shrink = T(1) / (T(1) + h * relax * p.stiffness);
    Vec<T, D> z = shrink * (state.z + h * drive);
    Vec<T, D> z_rate = shrink * (drive - (relax * p.stiffness) * state.z);
    // ṡ_dw = (s − s_dw)/τ moves s_dw by the share h/(τ + h) of its distance to s
    const T share = select(s >= state.dwell, h / (p.dwell_time + h),
                           h / (p.damping / p.stiffness + h));
    const T dwell = state.dwell + share * (s - state.dwell);
    Vec<T, D> bristle = p.stiffness * z + p.damping * z_rate;
    Output<T, D> out = output(p, dwell, kin, normal_force, bristle, z_rate);
    // U(z) − U(z₀) = h σ₀ z·ż − ½ σ₀ |h ż|²: backward Euler's own loss joins the
    // damper's.
    const auto closed = kin.depth > T(0);
    const T damping = (p.damping + T(N(0.5)) * p.stiffness * h) * norm2(z_rate);
    Commit<T, State<T, D>> kept = commit(p, {z, dwell}, kin, normal_force);
    const T moved = select(closed, stored(p, z), stored(p, state.z));
    const T left = stored(p, kept.state.z);
    return {.force = out.force,
            .stored = left,
            .powers = {select(closed, damping, T(0)),
                       out.slip.loss + (moved - left) * (T(1) / h), out.viscous, T(0),
                       out.slip.unsupplied},
            .state = kept.state};
  }

  template <Scalar T, int D>
  BRISTLE_INLINE static FrictionSpring<T, D> spring(const Params<T>& p,
                                                    const State<T, D>& state,
                                                    const Kinematics<T, D>&,
                                                    T normal_force) noexcept {
    return {.stiffness = p.stiffness,
            .damping = p.damping,
            .elastic_force = -p.stiffness * state.z,
            .bound = largest(p, state.dwell, normal_force),
            .viscous = p.viscous};
  }

  /// Saturation where |f_br| = f_max; the dwell constant switches where s = s_dw.
  template <Scalar T, int D>
  BRISTLE_INLINE static std::array<T, 4> guards(const Params<T>& p,
                                                const State<T, D>& state,
                                                const Kinematics<T, D>& kin,
                                                T normal_force) noexcept {
    Prepared<T> slip = prepare(p, kin);
    const T s = slip.stick;
    Vec<T, D> coulomb = (p.mu_coulomb * normal_force * slip.direction) * kin.slip;
    const T reach = reach_of(p, state, normal_force);
    Vec<T, D> at_bound = deflection_on_bound(state.z, reach, kin.slip).z;
    const auto bound = bound_guards(p.bound != T(0), state.z, reach,
                                    free_rate(p, s, kin.slip, coulomb, at_bound));
    Vec<T, D> z = select(on_bound(kin, 2), at_bound, state.z);
    Vec<T, D> bristle =
        s * (p.stiffness * z + p.damping * kin.slip) + (T(1) - s) * coulomb;
    return {largest(p, state.dwell, normal_force) - norm(bristle), s - state.dwell,
            bound[0], bound[1]};
  }

  /// Bounds the deflection, and forgets it when the contact is open.
  template <Scalar T, int D>
  BRISTLE_INLINE static Commit<T, State<T, D>> commit(const Params<T>& p,
                                                      const State<T, D>& state,
                                                      const Kinematics<T, D>& kin,
                                                      T normal_force) noexcept {
    const auto closed = kin.depth > T(0);
    const T reach = reach_of(p, state, normal_force);
    const T length2 = norm2(state.z);
    const auto cut = p.bound != T(0) && length2 > square(reach);
    T scale = T(1);
    if (any(cut)) scale = select(cut, reach / sqrt(select(cut, length2, T(1))), T(1));
    Vec<T, D> z = scale * state.z;
    const auto on = on_bound(kin, 2);
    if (any(on)) z = select(on, deflection_on_bound(state.z, reach, kin.slip).z, z);
    State<T, D> zero = zero_fields<State<T, D>, T>();
    State<T, D> kept{select(closed, z, zero.z), select(closed, state.dwell, T(0))};
    return {kept, stored(p, state.z) - stored(p, kept.z)};
  }

 private:
  template <Scalar T, int D>
  struct Output {
    Vec<T, D> force;
    SignedPower<T> slip;
    T viscous;
  };

  /// ż = (f_br − σ₀ z)/σ₁ without the difference: exactly v_t in full stick.
  template <Scalar T, class V>
  BRISTLE_INLINE static V free_rate(const Params<T>& p, const T& s, const V& slip,
                                    const V& coulomb, const V& z) {
    return s * slip + ((T(1) - s) * (T(1) / p.damping)) * (coulomb - p.stiffness * z);
  }

  /// Saturates the bristle's force and counts what it does beside bending the bristle.
  template <Scalar T, int D>
  BRISTLE_INLINE static Output<T, D> output(const Params<T>& p, const T& dwell,
                                            const Kinematics<T, D>& kin,
                                            const T& normal_force,
                                            const Vec<T, D>& bristle,
                                            const Vec<T, D>& z_rate) {
    const auto loaded = kin.depth > T(0) && normal_force > T(0);
    const T f_max = largest(p, dwell, normal_force);
    const T magnitude2 = norm2(bristle);
    const auto saturated = !positive(kin, 0, magnitude2 <= square(f_max));
    T kept = T(1);
    if (any(saturated)) {
      kept = select(saturated, f_max / sqrt(select(saturated, magnitude2, T(1))), T(1));
      kept = min(kept, T(2));  // held, it may go beyond 1
    }
    const T share = select(loaded, kept, T(0));
    const T viscous = select(loaded, p.viscous, T(0));
    // f_br·ż bends the bristle; the rest of the work of κ f_br is slip.
    const T slip = dot(bristle, share * kin.slip - z_rate);
    return {-(share * bristle + viscous * kin.slip),
            by_sign(select(kin.depth > T(0), slip, T(0))), viscous * norm2(kin.slip)};
  }

  /// The longest deflection, where it is bounded [m].
  template <Scalar T, int D>
  BRISTLE_INLINE static T reach_of(const Params<T>& p, const State<T, D>& state,
                                   const T& normal_force) {
    return largest(p, state.dwell, normal_force) * (T(1) / p.stiffness);
  }

  template <Scalar T>
  BRISTLE_INLINE static T largest(const Params<T>& p, const T& dwell,
                                  const T& normal_force) {
    return max(normal_force * (p.mu_coulomb + (p.mu_static - p.mu_coulomb) * dwell),
               T(0));
  }

  template <Scalar T, class V>
  BRISTLE_INLINE static T stored(const Params<T>& p, const V& z) {
    return T(Value<T>(0.5)) * p.stiffness * norm2(z);
  }
};

}  // namespace bristle
