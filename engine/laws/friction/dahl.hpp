#pragma once

#include "bristle/laws/friction/bristle.hpp"

namespace bristle {

struct Dahl : YieldingBristle<Dahl> {
  static constexpr LawInfo info{
      .name = "dahl",
      .title = "Dahl, the solid friction of rolling and pre-sliding",
      .formula =
          "ż = v_t − σ₀ |v_t|/(μ f_n) z\n"
          "f_t = −σ₀ z while f_n > 0",
      .source =
          "Dahl 1968 (A solid friction model, Aerospace Corporation "
          "TOR-0158(3107-18)-1), "
          "with the exponent 1 that he and most later authors use: dF/dx = "
          "σ₀ (1 − F/F_C sgn ẋ). Ours: the vector form; F_C = μ f_n; the bound |z| ≤ "
          "μ f_n/σ₀; z = 0 in flight and at touch-down.",
      .limits =
          "Rate-independent: no break-away peak, no Stribeck, no viscous part. Creeps "
          "under "
          "an oscillating load. The rate σ₀|v_t|/(μ f_n) grows without limit as f_n "
          "falls; "
          "where μ f_n < σ₀ ℓ, ℓ = 1e-12 m, bristle slip and force are scaled by "
          "μ f_n/(σ₀ ℓ), and both vanish with the load. Without the bound a load that "
          "falls "
          "at rest leaves more than μ f_n in the bristles.",
      .energy = "Passive: the slip's power is σ₀² |v_t| |z|²/(μ f_n)."};

  template <class T>
  struct Params {
    T mu;         // μ
    T stiffness;  // σ₀ [N/m]
    T bound;      // 1: |z| ≤ μ f_n/σ₀
  };

  static constexpr auto parameters() {
    using P = Params<double>;
    return std::array{
        ParameterField<P>{&P::mu,
                          {"mu", "μ", "1", between(0, 10), 0.4, "friction coefficient"}},
        ParameterField<P>{&P::stiffness,
                          {"stiffness", "σ₀", "N/m", between(1e-3, 1e12), 1e5,
                           "stiffness at zero force"}},
        ParameterField<P>{
            &P::bound,
            {"bound", "", "flag", yes_or_no, 1, "whether |z| is kept below μ f_n/σ₀"}}};
  }

  static constexpr LedgerLines lines{.damping = true, .slip = true};

  static constexpr bool has_damper = false;

  template <Scalar T>
  BRISTLE_INLINE static T strength(const Params<T>& p, const T& /*speed2*/,
                                   const T& load) {
    return p.mu * load;
  }

  template <Scalar T>
  BRISTLE_INLINE static T greatest_strength(const Params<T>& p, const T& load) {
    return p.mu * load;
  }
};

}  // namespace bristle
