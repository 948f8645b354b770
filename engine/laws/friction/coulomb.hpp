#pragma once

#include "bristle/laws/friction/bristle.hpp"
#include "bristle/laws/friction/regularised.hpp"

namespace bristle {

struct Coulomb : FrictionBase<Coulomb> {
  static constexpr LawInfo info{
      .name = "coulomb",
      .title = "Coulomb with Stribeck, regularised in the slip speed",
      .formula =
          "μ = μ_C + (μ_S − μ_C) exp(−|v_t|²/v_S²)\n"
          "f_t = −(μ f_n φ(|v_t|/v_ε) v_t/|v_t| + σ₂ v_t) while f_n > 0\n"
          "φ(x) = min(x, 1)  |  3/2 x − ½ x³ up to 1  |  tanh x",
      .source =
          "The friction of most simulators, a function of the slip speed alone; surveyed "
          "by "
          "Pennestrì, Rossi, Salvini & Valentini 2016 (Nonlinear Dynamics 83, "
          "1785–1801). "
          "The tanh curve is at 0.76 at v_ε, the other two at 1.",
      .limits =
          "Never sticks: creeps at v_ε tan α/μ_S on a slope α (linear), however long one "
          "waits. A small v_ε is stiff: the slope of the force is μ_S f_n/v_ε. The peak "
          "stays below "
          "μ_S where v_ε is not small against v_S. Here as the baseline for the others.",
      .energy = "Passive: all power is lost in slip and viscosity, nothing is stored."};

  template <class T>
  struct Params {
    T mu_static;             // μ_S
    T mu_coulomb;            // μ_C
    T viscous;               // σ₂ [N s/m]
    T stribeck_speed;        // v_S [m/s]
    T regularisation_speed;  // v_ε [m/s]
    T regularisation;        // 0 linear, 1 cubic, 2 tanh
  };

  static constexpr auto parameters() {
    using P = Params<double>;
    return std::array{
        ParameterField<P>{&P::mu_static,
                          {"mu_static", "μ_S", "1", between(0, 10), 0.45,
                           "friction coefficient of slow slip"}},
        ParameterField<P>{&P::mu_coulomb,
                          {"mu_coulomb", "μ_C", "1", between(0, 10), 0.4,
                           "friction coefficient of fast slip"}},
        ParameterField<P>{
            &P::viscous,
            {"viscous", "σ₂", "N s/m", between(0, 1e9), 0, "viscous friction"}},
        ParameterField<P>{&P::stribeck_speed,
                          {"stribeck_speed", "v_S", "m/s", between(1e-6, 100), 0.1,
                           "slip speed at which μ − μ_C has fallen to 1/e of μ_S − μ_C"}},
        ParameterField<P>{&P::regularisation_speed,
                          {"regularisation_speed", "v_ε", "m/s", between(1e-9, 100), 1e-3,
                           "slip speed below which friction fades"}},
        ParameterField<P>{&P::regularisation,
                          {"regularisation",
                           "φ",
                           "choice",
                           choice_of(3),
                           1,
                           "how friction passes through zero slip",
                           {"linear", "cubic", "tanh"}}}};
  }

  template <class T, int D = 2>
  using State = NoState<T>;

  template <int D = 2>
  static constexpr std::array<StateField, 0> state() {
    return {};
  }

  static constexpr LedgerLines lines{.slip = true, .viscous = true};

  static constexpr std::array<GuardInfo, 0> guard_list() { return {}; }

  template <int D = 2, Scalar T>
  BRISTLE_INLINE static State<T, D> touch(const Params<T>&) noexcept {
    return {};
  }

  template <Scalar T, int D>
  BRISTLE_INLINE static FrictionForce<T, State<T, D>, D> evaluate(
      const Params<T>& p, const State<T, D>&, const Kinematics<T, D>& kin,
      T normal_force) noexcept {
    Drag<T> d = drag(p, kin, normal_force);
    const T speed2 = norm2(kin.slip);
    return {.force = -(d.dry + d.viscous) * kin.slip,
            .stored = T(0),
            .powers = {T(0), d.dry * speed2, d.viscous * speed2, T(0), T(0)},
            .rate = {}};
  }

  template <Scalar T, int D>
  BRISTLE_INLINE static FrictionStep<T, State<T, D>, D> advance(
      const Params<T>& p, const State<T, D>& state, const Kinematics<T, D>& kin,
      T normal_force, T) noexcept {
    FrictionForce<T, State<T, D>, D> now = evaluate(p, state, kin, normal_force);
    return {.force = now.force, .stored = T(0), .powers = now.powers, .state = {}};
  }

  /// A damper without a spring: this law holds nothing at rest.
  template <Scalar T, int D>
  BRISTLE_INLINE static FrictionSpring<T, D> spring(const Params<T>& p,
                                                    const State<T, D>&,
                                                    const Kinematics<T, D>& kin,
                                                    T normal_force) noexcept {
    const T grip = load(kin, normal_force) *
                   stribeck(p.mu_static, p.mu_coulomb, p.stribeck_speed, norm2(kin.slip));
    return {.stiffness = T(0),
            .damping = grip * ramp(p, T(0)) * (T(1) / p.regularisation_speed),
            .elastic_force = Kinematics<T, D>::no_slip(),
            .bound = grip,
            .viscous = select(grip > T(0), p.viscous, T(0))};
  }

  template <Scalar T, int D>
  BRISTLE_INLINE static std::array<T, 0> guards(const Params<T>&, const State<T, D>&,
                                                const Kinematics<T, D>&, T) noexcept {
    return {};
  }

  template <Scalar T, int D>
  BRISTLE_INLINE static Commit<T, State<T, D>> commit(const Params<T>&,
                                                      const State<T, D>&,
                                                      const Kinematics<T, D>&,
                                                      T) noexcept {
    return {{}, T(0)};
  }

 protected:
  /// Force over slip [N s/m].
  template <Scalar T>
  struct Drag {
    T dry;
    T viscous;
  };

  template <Scalar T, int D>
  BRISTLE_INLINE static T load(const Kinematics<T, D>& kin, const T& normal_force) {
    return select(kin.depth > T(0), max(normal_force, T(0)), T(0));
  }

  /// φ(x)/x
  template <Scalar T>
  BRISTLE_INLINE static T ramp(const Params<T>& p, const T& x) {
    using N = Value<T>;
    T psi = select(p.regularisation < T(N(0.5)), linear_ramp(x), cubic_ramp(x));
    const auto smooth = p.regularisation > T(N(1.5));
    if (any(smooth)) psi = select(smooth, tanh_ramp(x), psi);
    return psi;
  }

  template <Scalar T, int D>
  BRISTLE_INLINE static Drag<T> drag(const Params<T>& p, const Kinematics<T, D>& kin,
                                     const T& normal_force) {
    const T per_small = T(1) / p.regularisation_speed;
    const T speed2 = norm2(kin.slip);
    const T pressed = load(kin, normal_force);
    const T mu = stribeck(p.mu_static, p.mu_coulomb, p.stribeck_speed, speed2);
    return {pressed * mu * per_small * ramp(p, root(speed2) * per_small),
            select(pressed > T(0), p.viscous, T(0))};
  }
};

}  // namespace bristle
