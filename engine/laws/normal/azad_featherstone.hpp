#pragma once

#include "bristle/laws/normal/spring_damper.hpp"

namespace bristle {

struct AzadFeatherstone : SpringDamper<AzadFeatherstone> {
  static constexpr LawInfo info{
      .name = "azad-featherstone",
      .title = "Azad–Featherstone, viscoelastic sphere",
      .formula = "f_n = max(0, √δ (k δ + λ δ̇))",
      .source =
          "Azad & Featherstone 2010, Modeling the contact between a rolling sphere and a "
          "compliant ground plane, eqs. 10, 12–14, 17; 2014, A new nonlinear model of "
          "contact normal force, eqs. 8, 11.",
      .limits =
          "Restitution depends on the one group Λ = λ v^{1/5}/(m^{2/5} k^{3/5}): only "
          "λ/k^{3/5} can be identified from restitution data. λ = λ*√R. The force leaves "
          "δ = 0 like √δ: ∂f/∂δ is infinite at touch-down. With clamp = 0 the law as "
          "derived, which pulls at the end of contact; always say which one was used.",
      .energy =
          "Passive. With the clamp, contact ends at f = 0 before δ = 0 and the energy "
          "left "
          "in the spring is counted as damping (2010, eq. 14)."};

  template <class T>
  struct Params {
    T stiffness;  // k [N/m^{3/2}]
    T damping;    // λ [N s/m^{3/2}]
    T clamp;      // 1: no tension
  };

  static constexpr auto parameters() {
    using P = Params<double>;
    return std::array{
        ParameterField<P>{
            &P::stiffness,
            {"stiffness", "k", "N/m^1.5", above(0, 1e15), 8.5e6, "Hertz: 4/3 E* √R"}},
        ParameterField<P>{&P::damping,
                          {"damping", "λ", "N s/m^1.5", between(0, 1e12), 3.1e3,
                           "damping force over √δ, per unit approach speed"}},
        ParameterField<P>{&P::clamp,
                          {"clamp", "", "flag", yes_or_no, 1,
                           "whether tension is cut off: f_n = max(0, …)"}}};
  }

  static constexpr std::string_view damping_parameter = "damping";

  static constexpr Passivity passivity(const Params<double>& p) {
    return {.tension = p.clamp == 0};
  }

  template <Scalar T>
  BRISTLE_INLINE static NormalParts<T> parts(const Params<T>& p, const State<T>&,
                                             const Kinematics<T>& kin) {
    const T spring = p.stiffness * kin.depth * kin.root_depth;
    return {.elastic = spring,
            .damping = p.damping * kin.root_depth * kin.rate,
            .stored = T(Value<T>(0.4)) * spring * kin.depth,
            .clamp = p.clamp};
  }

  template <Scalar T>
  BRISTLE_INLINE static PartSlopes<T> slopes(const Params<T>& p, const State<T>&,
                                             const Kinematics<T>& kin) {
    using N = Value<T>;
    const T s = select(kin.root_depth > T(0), kin.root_depth, T(1));
    return {.by_depth = T(N(1.5)) * p.stiffness * kin.root_depth +
                        T(N(0.5)) * p.damping * kin.rate / s,
            .by_rate = p.damping * kin.root_depth};
  }
};

}  // namespace bristle
