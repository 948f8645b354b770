#pragma once

#include "bristle/laws/friction/bristle.hpp"

namespace bristle {

struct LuGre : YieldingBristle<LuGre> {
  static constexpr LawInfo info{
      .name = "lugre",
      .title = "LuGre, bristles that yield along a Stribeck curve",
      .formula =
          "g = f_n (μ_C + (μ_S − μ_C) exp(−|v_t|²/v_S²))\n"
          "ż = v_t − σ₀ |v_t|/g z\n"
          "σ₁(v) = σ₁ exp(−|v_t|²/v_d²);  passive: at most 2 g/|v_t|\n"
          "f_t = −(σ₀ z + σ₁(v) ż + σ₂ v_t) while f_n > 0",
      .source =
          "Canudas de Wit, Olsson, Åström & Lischinsky 1995 (IEEE Trans. Automatic "
          "Control "
          "40(3), 419–425), the model of their section II, in one dimension there; the "
          "fading "
          "damping as in Åström & Canudas de Wit 2008 (IEEE Control Systems Magazine "
          "28(6), "
          "101–114). Ours: the vector form, z and v_t turning freely against each other; "
          "g "
          "in proportion to the normal force; the limit 2 g/|v_t|; the bound |z| ≤ "
          "max(μ_S, μ_C) f_n/σ₀; z = 0 in flight and at touch-down.",
      .limits =
          "Creeps under an oscillating load however small, because z yields at any slip. "
          "The rate σ₀|v_t|/g grows without limit as f_n falls: explicit methods need "
          "short steps near lift-off. Where g < σ₀ ℓ, ℓ = 1e-12 m, bristle slip and "
          "force "
          "are scaled by g/(σ₀ ℓ), and both vanish with the load. Without the bound a "
          "load "
          "that falls at rest leaves more than μ_S f_n in the bristles.",
      .energy =
          "Passive with passive = 1 or σ₁ = 0. As printed, not passive: the damper's "
          "power "
          "σ₁ ż·v_t is negative while σ₀|z| > g, as after breaking away fast, and "
          "exceeds "
          "the other losses where σ₁|v_t| > 4 g; this is counted as unsupplied. (At "
          "constant load and with "
          "|z| ≤ μ_S f_n/σ₀ it stays zero exactly if σ₂ ≥ σ₁ (μ_S − μ_C)/μ_C, the "
          "condition "
          "of "
          "Barahanov & Ortega 2000.) A fading σ₁ is passive where σ₁ v_d/√(2e) ≤ "
          "4 min(μ_S, μ_C) f_n, so not for every load."};

  template <class T>
  struct Params {
    T mu_static;       // μ_S
    T mu_coulomb;      // μ_C
    T stiffness;       // σ₀ [N/m]
    T damping;         // σ₁ [N s/m]
    T viscous;         // σ₂ [N s/m]
    T stribeck_speed;  // v_S [m/s]
    T damping_speed;   // v_d [m/s]
    T passive;         // 1: σ₁ ≤ 2 g/|v|
    T bound;           // 1: |z| ≤ max(μ_S, μ_C) f_n/σ₀
  };

  static constexpr auto parameters() {
    using P = Params<double>;
    return std::array{
        ParameterField<P>{&P::mu_static,
                          {"mu_static", "μ_S", "1", between(0, 10), 0.45,
                           "friction coefficient at break-away"}},
        ParameterField<P>{&P::mu_coulomb,
                          {"mu_coulomb", "μ_C", "1", between(0, 10), 0.4,
                           "friction coefficient of sliding"}},
        ParameterField<P>{
            &P::stiffness,
            {"stiffness", "σ₀", "N/m", between(1e-3, 1e12), 1e5, "bristle stiffness"}},
        ParameterField<P>{
            &P::damping,
            {"damping", "σ₁", "N s/m", between(0, 1e9), 316, "bristle damping"}},
        ParameterField<P>{
            &P::viscous,
            {"viscous", "σ₂", "N s/m", between(0, 1e9), 0.4, "viscous friction"}},
        ParameterField<P>{&P::stribeck_speed,
                          {"stribeck_speed", "v_S", "m/s", between(1e-6, 100), 0.001,
                           "slip speed at which μ − μ_C has fallen to 1/e of μ_S − μ_C"}},
        ParameterField<P>{&P::damping_speed,
                          {"damping_speed", "v_d", "m/s", between(1e-6, 1e6), 1e6,
                           "slip speed over which σ₁ fades; 1e6: constant, as printed"}},
        ParameterField<P>{&P::passive,
                          {"passive", "", "flag", yes_or_no, 1,
                           "whether σ₁ is limited to 2 g/|v|; 0 as printed"}},
        ParameterField<P>{&P::bound,
                          {"bound", "", "flag", yes_or_no, 1,
                           "whether |z| is kept below max(μ_S, μ_C) f_n/σ₀"}}};
  }

  static constexpr Passivity passivity(const Params<double>& p) {
    return {.unsupplied = p.passive == 0 && p.damping > 0};
  }

  static constexpr LedgerLines lines{
      .damping = true, .slip = true, .viscous = true, .unsupplied = true};

  static constexpr bool has_damper = true;

  template <Scalar T>
  BRISTLE_INLINE static T strength(const Params<T>& p, const T& speed2, const T& load) {
    return load * stribeck(p.mu_static, p.mu_coulomb, p.stribeck_speed, speed2);
  }

  template <Scalar T>
  BRISTLE_INLINE static T greatest_strength(const Params<T>& p, const T& load) {
    return load * max(p.mu_static, p.mu_coulomb);
  }

  template <Scalar T>
  BRISTLE_INLINE static T damping(const Params<T>& p, const T& speed, const T& speed2,
                                  const T& strength) {
    const auto fades = p.damping_speed < T(Value<T>(1e6));
    T damping = p.damping;
    if (any(fades)) {
      damping = select(fades, p.damping * exp(speed2 * (T(-1) / square(p.damping_speed))),
                       p.damping);
    }
    return select(p.passive != T(0), passive_damping(damping, speed, strength), damping);
  }

  template <Scalar T>
  BRISTLE_INLINE static T viscous(const Params<T>& p) {
    return p.viscous;
  }
};

}  // namespace bristle
