#pragma once

#include "bristle/laws/normal/spring_damper.hpp"

namespace bristle {

struct LeeWang : SpringDamper<LeeWang> {
  static constexpr LawInfo info{
      .name = "lee-wang",
      .title = "Lee–Wang",
      .formula = "f_n = max(0, δ (k √δ + λ δ̇))",
      .source =
          "Lee & Wang 1983, On the dynamics of intermittent-motion mechanisms, part 1; "
          "as "
          "quoted by Azad & Featherstone 2014, A new nonlinear model of contact normal "
          "force, eq. 1 with n = 3/2, p = q = 1. We add max( ) to forbid tension.",
      .limits =
          "Restitution depends on the one group λ v^{3/5}/(m^{1/5} k^{4/5}) and falls "
          "with "
          "the speed. With clamp = 0 the law pulls at the end of contact.",
      .energy =
          "Passive. With the clamp, contact ends at f = 0 before δ = 0 and the energy "
          "left in the spring is counted as damping."};

  template <class T>
  struct Params {
    T stiffness;  // k [N/m^{3/2}]
    T damping;    // λ [N s/m²]
    T clamp;      // 1: no tension
  };

  static constexpr auto parameters() {
    using P = Params<double>;
    return std::array{
        ParameterField<P>{
            &P::stiffness,
            {"stiffness", "k", "N/m^1.5", above(0, 1e15), 8.5e6, "Hertz: 4/3 E* √R"}},
        ParameterField<P>{&P::damping,
                          {"damping", "λ", "N s/m^2", between(0, 1e15), 1e5,
                           "damping force over δ, per unit approach speed"}},
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
            .damping = p.damping * kin.depth * kin.rate,
            .stored = T(Value<T>(0.4)) * spring * kin.depth,
            .clamp = p.clamp};
  }

  template <Scalar T>
  BRISTLE_INLINE static PartSlopes<T> slopes(const Params<T>& p, const State<T>&,
                                             const Kinematics<T>& kin) {
    return {.by_depth =
                T(Value<T>(1.5)) * p.stiffness * kin.root_depth + p.damping * kin.rate,
            .by_rate = p.damping * kin.depth};
  }
};

}  // namespace bristle
