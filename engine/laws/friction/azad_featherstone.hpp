#pragma once

#include "bristle/laws/friction/friction.hpp"

namespace bristle {

struct AzadFeatherstoneClutch : FrictionBase<AzadFeatherstoneClutch> {
  static constexpr LawInfo info{
      .name = "azad-featherstone-clutch",
      .title = "Azad–Featherstone, spring, damper and clutch",
      .formula =
          "f_s = −√δ (K_t u + D_t v_t),  gap = |f_s| − μ f_n\n"
          "stick (gap ≤ 0): V_c = 0,  f_t = f_s\n"
          "slip  (gap > 0): V_c = −gap/(D_t √δ + C_V) f_s/|f_s|,  f_t = f_s + D_t √δ "
          "V_c\n"
          "u̇ = v_t − V_c;  passive: − (δ̇/2δ) u more while δ̇ > 0;  u = 0 when open",
      .source =
          "Azad & Featherstone 2010, eqs. 19–33. The implicit eqs. 27, 30, 31 are solved "
          "exactly. Deviations: the clutch dissipates −F_f·V_clutch (eq. 29 prints the "
          "other sign); the stored energy is the state function ½ K_t √δ u² in place of "
          "eq. 33, and the work of the changing stiffness has its own line.",
      .limits =
          "For a sphere K_t = 2 E*√R = 3/2 k and D_t = λ. Reads the depth: stiffness and "
          "damping grow like √δ.",
      .energy =
          "Not passive as printed: the stiffness K_t√δ grows under load and puts in "
          "¼ K_t δ^{-1/2} δ̇ u² (counted as parametric; negative as the depth falls). "
          "With "
          "passive = 1 new contact area starts unstressed and this power is never "
          "positive."};

  template <class T>
  struct Params {
    T mu;         // μ
    T stiffness;  // K_t [N/m^{3/2}]
    T damping;    // D_t [N s/m^{3/2}]
    T viscous;    // C_V [N s/m]
    T passive;    // 1: new area is unstressed
  };

  static constexpr auto parameters() {
    using P = Params<double>;
    return std::array{
        ParameterField<P>{&P::mu,
                          {"mu", "μ", "1", between(0, 10), 0.2, "friction coefficient"}},
        ParameterField<P>{&P::stiffness,
                          {"stiffness", "K_t", "N/m^1.5", above(0, 1e15), 12.75e6,
                           "tangential stiffness over √δ; a sphere: 2 E*√R"}},
        ParameterField<P>{&P::damping,
                          {"damping", "D_t", "N s/m^1.5", between(1e-6, 1e12), 3.1e3,
                           "tangential damping over √δ; a sphere: λ"}},
        ParameterField<P>{&P::viscous,
                          {"viscous", "C_V", "N s/m", between(0, 1e9), 0.1,
                           "viscous friction of the slipping clutch"}},
        ParameterField<P>{&P::passive,
                          {"passive", "", "flag", yes_or_no, 1,
                           "whether new contact area starts unstressed; 0 as printed"}}};
  }

  template <class T, int D = 2>
  struct State {
    Vec<T, D> u;  // tangential deformation [m]
  };

  template <int D = 2>
  static constexpr auto state() {
    return vector_fields<D>("u_x", "u_y", "u_n", "tangential deformation");
  }

  static constexpr Passivity passivity(const Params<double>& p) {
    return {.parametric = p.passive != 0 ? Parametric::sink : Parametric::either};
  }

  static constexpr LedgerLines lines{
      .damping = true, .slip = true, .viscous = true, .parametric = true};

  static constexpr std::array<GuardInfo, 1> guard_list() {
    return {{{"slip", GuardRole::slip}}};
  }

  template <int D = 2, Scalar T>
  BRISTLE_INLINE static State<T, D> touch(const Params<T>&) noexcept {
    return zero_fields<State<T, D>, T>();
  }

  template <Scalar T, int D>
  BRISTLE_INLINE static FrictionForce<T, State<T, D>, D> evaluate(
      const Params<T>& p, const State<T, D>& state, const Kinematics<T, D>& kin,
      T normal_force) noexcept {
    using N = Value<T>;
    const auto closed = kin.depth > T(0);
    const T stiffness = p.stiffness * kin.root_depth;
    const T damping = p.damping * kin.root_depth;
    Clutch<T, D> c = clutch(p, p.stiffness * state.u, p.damping, kin, normal_force);
    const T u2 = norm2(state.u);
    // dE_T/dt at constant u: ¼ K_t δ^{-1/2} δ̇ u²
    const T growth =
        T(N(0.25)) * p.stiffness * kin.rate / select(closed, kin.root_depth, T(1));
    const auto fresh = closed && p.passive != T(0) && kin.rate > T(0);
    // Finite for any depth: at touch-down u = 0, and relax u must be 0 as well.
    constexpr N fastest = sizeof(N) == 8 ? N(1e300) : N(1e35f);
    const T relax = select(
        fresh, min(T(N(0.5)) * kin.rate / select(closed, kin.depth, T(1)), T(fastest)),
        T(0));
    State<T, D> zero = zero_fields<State<T, D>, T>();
    return {.force = c.force,
            .stored = T(N(0.5)) * stiffness * u2,
            .powers = {damping * norm2(c.stretch), c.slip_power, c.viscous_power,
                       // new area: K_t s u·(−δ̇/2δ u), twice the growth
                       select(closed, (growth - stiffness * relax) * u2, T(0)), T(0)},
            .rate = {select(closed, c.stretch - relax * state.u, zero.u)}};
  }

  /// Backward Euler in u at constant slip; first order, stable for any step.
  template <Scalar T, int D>
  BRISTLE_INLINE static FrictionStep<T, State<T, D>, D> advance(
      const Params<T>& p, const State<T, D>& state, const Kinematics<T, D>& kin,
      T normal_force, T h) noexcept {
    using N = Value<T>;
    const auto closed = kin.depth > T(0);
    const T s = kin.root_depth;
    const T s_before = root(kin.depth - h * kin.rate);
    // Area that is new in this step is unstressed: u̇ = −(δ̇/2δ) u keeps u √δ.
    const auto fresh = closed && p.passive != T(0) && kin.rate > T(0);
    T kept = T(1);
    if (any(fresh)) kept = select(fresh, s_before / select(closed, s, T(1)), T(1));
    Vec<T, D> u0 = kept * state.u;
    // With u = u₀ + h u̇ the locked clutch carries √δ pull; a slipping one carries the
    // share κ of it, from κ √δ|pull| = μ f_n + C_V |V_c| and (1 − κ) pull = (D_t + h K_t)
    // V_c.
    const T yield = p.damping + h * p.stiffness;
    Vec<T, D> pull = p.stiffness * u0 + yield * kin.slip;
    const T length = norm(pull);
    const T grip = p.mu * normal_force;
    const T over = (s * yield + p.viscous) * length;
    const auto slips = closed && s * length > grip && over > T(0);
    const T share = select(
        slips, (grip * yield + p.viscous * length) / select(slips, over, T(1)), T(1));
    // u from the force, f_t = −√δ (K_t u + D_t u̇): sound for any step
    const T per_yield = T(1) / yield;
    State<T, D> zero = zero_fields<State<T, D>, T>();
    Vec<T, D> u = select(
        closed, (p.damping * per_yield) * u0 + (h * per_yield * share) * pull, zero.u);
    Vec<T, D> u_rate = per_yield * (share * pull - p.stiffness * u0);
    const T slip_speed = (T(1) - share) * per_yield * length;  // |V_c|
    // stored(u₀ at this depth) − stored(u at the depth before)
    T change = s - s_before;
    if (any(fresh)) change = select(fresh, s_before * (kept - T(1)), change);
    const T growth = T(N(0.5)) * p.stiffness * change * norm2(state.u);
    return {.force = (-share * s) * pull,
            .stored = T(N(0.5)) * p.stiffness * s * norm2(u),
            .powers = {(p.damping + T(N(0.5)) * h * p.stiffness) * s * norm2(u_rate),
                       grip * slip_speed, p.viscous * square(slip_speed),
                       growth * (T(1) / h), T(0)},
            .state = {u}};
  }

  template <Scalar T, int D>
  BRISTLE_INLINE static FrictionSpring<T, D> spring(const Params<T>& p,
                                                    const State<T, D>& state,
                                                    const Kinematics<T, D>& kin,
                                                    T normal_force) noexcept {
    const T stiffness = p.stiffness * kin.root_depth;
    return {.stiffness = stiffness,
            .damping = p.damping * kin.root_depth,
            .elastic_force = -stiffness * state.u,
            .bound = p.mu * normal_force,
            .viscous = T(0)};
  }

  /// The clutch slips where |f_s| > μ f_n.
  template <Scalar T, int D>
  BRISTLE_INLINE static std::array<T, 1> guards(const Params<T>& p,
                                                const State<T, D>& state,
                                                const Kinematics<T, D>& kin,
                                                T normal_force) noexcept {
    const T magnitude =
        kin.root_depth * norm(p.stiffness * state.u + p.damping * kin.slip);
    return {magnitude - p.mu * normal_force};
  }

  /// The ground forgets its deformation when the contact is open; it holds no energy
  /// then.
  template <Scalar T, int D>
  BRISTLE_INLINE static Commit<T, State<T, D>> commit(const Params<T>&,
                                                      const State<T, D>& state,
                                                      const Kinematics<T, D>& kin,
                                                      T /*normal_force*/) noexcept {
    State<T, D> zero = zero_fields<State<T, D>, T>();
    return {{select(kin.depth > T(0), state.u, zero.u)}, T(0)};
  }

 private:
  template <Scalar T, int D>
  struct Clutch {
    Vec<T, D> force;    // on B [N]
    Vec<T, D> stretch;  // v_t − V_c, what spring and damper see [m/s]
    T slip_power;
    T viscous_power;
  };

  /// Spring and damper carry √δ (elastic + yield · stretch). Where the clutch slips, its
  /// force and the stretch are written without the difference of two large numbers:
  ///   f_t = −(μ f_n + C_V |V_c|) dir,  v_t − V_c = (C_V v_t + μ f_n dir − √δ
  ///   elastic)/(√δ yield + C_V).
  template <Scalar T, int D>
  BRISTLE_INLINE static Clutch<T, D> clutch(const Params<T>& p, const Vec<T, D>& elastic,
                                            const T& yield, const Kinematics<T, D>& kin,
                                            const T& normal_force) {
    const T s = kin.root_depth;
    Vec<T, D> pull = elastic + yield * kin.slip;  // over √δ, with the clutch locked
    const T length = norm(pull);
    const T grip = p.mu * normal_force;
    const T excess = s * length - grip;
    const auto slips = kin.depth > T(0) && positive(kin, 0, excess > T(0));
    const T give = T(1) / select(slips, s * yield + p.viscous, T(1));
    const T speed = select(slips, excess * give, T(0));  // |V_c|, along the pull
    Vec<T, D> along = (T(1) / select(slips && length > T(0), length, T(1))) * pull;
    Vec<T, D> stretch = give * (p.viscous * kin.slip + grip * along - s * elastic);
    return {-select(slips, grip + p.viscous * speed, s) * select(slips, along, pull),
            select(slips, stretch, kin.slip), grip * speed, p.viscous * square(speed)};
  }
};

}  // namespace bristle
