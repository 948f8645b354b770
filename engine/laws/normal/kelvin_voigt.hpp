#pragma once

#include "bristle/laws/normal/spring_damper.hpp"

namespace bristle {

struct KelvinVoigt : SpringDamper<KelvinVoigt> {
  static constexpr LawInfo info{
      .name = "kelvin-voigt",
      .title = "Kelvin–Voigt, linear spring and damper",
      .formula = "f_n = max(0, k δ + c δ̇)",
      .source =
          "The linear model of Azad & Featherstone 2014, A new nonlinear model of "
          "contact "
          "normal force, eq. 1 with n = q = 1, p = 0. We add max( ) to forbid tension.",
      .limits =
          "The force jumps to c v at touch-down. Restitution does not depend on the "
          "speed: with ζ = c/(2 √(k m)) < 1 it is exp(−2ζ arccos ζ/√(1−ζ²)) with the "
          "clamp, exp(−π ζ/√(1−ζ²)) without: then the law pulls at the end of contact.",
      .energy =
          "Passive. With the clamp, contact ends at f = 0 before δ = 0 and the energy "
          "left in the spring is counted as damping."};

  template <class T>
  struct Params {
    T stiffness;  // k [N/m]
    T damping;    // c [N s/m]
    T clamp;      // 1: no tension
  };

  static constexpr auto parameters() {
    using P = Params<double>;
    return std::array{ParameterField<P>{&P::stiffness,
                                        {"stiffness", "k", "N/m", above(0, 1e15), 1e5,
                                         "force per depth"}},
                      ParameterField<P>{&P::damping,
                                        {"damping", "c", "N s/m", between(0, 1e12), 50,
                                         "force per approach speed"}},
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
    const T spring = p.stiffness * kin.depth;
    return {.elastic = spring,
            .damping = p.damping * kin.rate,
            .stored = T(Value<T>(0.5)) * spring * kin.depth,
            .clamp = p.clamp};
  }

  template <Scalar T>
  BRISTLE_INLINE static PartSlopes<T> slopes(const Params<T>& p, const State<T>&,
                                             const Kinematics<T>&) {
    return {.by_depth = p.stiffness, .by_rate = p.damping};
  }
};

}  // namespace bristle
