#pragma once

#include "bristle/laws/normal/relative_damper.hpp"

namespace bristle {

struct HuntCrossley : RelativeDamper<HuntCrossley> {
  static constexpr LawInfo info{
      .name = "hunt-crossley",
      .title = "Hunt–Crossley",
      .formula = "f_n = k δ^p (1 + a δ̇)₊",
      .source =
          "Hunt & Crossley 1975, Coefficient of restitution interpreted as damping in "
          "vibroimpact, eq. 9 (λ = a k). We add ( )₊ to forbid tension.",
      .limits =
          "a = 3/2 α reproduces e = 1 − α v only as e → 1; the exact relation for an "
          "impact at speed v is V − ln(1+V) = −eV − ln(1−eV) with V = a v, whatever the "
          "mass, the stiffness and the exponent. e falls with the impact speed.",
      .energy =
          "Passive. The clamp acts only when the bodies are pulled apart faster than "
          "1/a; "
          "what it takes from the spring is counted as damping."};

  template <class T>
  struct Params {
    T stiffness;    // k [N/m^p]
    T exponent;     // p
    T dissipation;  // a in f = kδ^p(1 + aδ̇) [s/m]
  };

  static constexpr auto parameters() {
    using P = Params<double>;
    return std::array{
        ParameterField<P>{&P::stiffness,
                          {"stiffness", "k", "N/m^p", above(0, 1e15), 8.5e6,
                           "force per depth to the power p; Hertz: 4/3 E* √R"}},
        ParameterField<P>{&P::exponent,
                          {"exponent", "p", "1", between(1, 4), 1.5,
                           "3/2 for a sphere (Hertz), 1 for a flat punch"}},
        ParameterField<P>{&P::dissipation,
                          {"dissipation", "a", "s/m", between(0, 1e6), 0.365,
                           "damping force over spring force, per unit approach speed"}}};
  }

  static constexpr std::string_view damping_parameter = "dissipation";

  template <Scalar T>
  BRISTLE_INLINE static T dissipation(const Params<T>& p, const State<T>&) {
    return p.dissipation;
  }
};

}  // namespace bristle
