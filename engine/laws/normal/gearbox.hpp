#pragma once

#include "bristle/laws/normal/spring_damper.hpp"

namespace bristle {

struct Gearbox : SpringDamper<Gearbox> {
  static constexpr LawInfo info{
      .name = "gearbox",
      .title = "Gearbox family of Azad & Featherstone",
      .formula = "f_n = max(0, δ^{2m} (k δ + λ δ̇))",
      .source =
          "Azad & Featherstone 2014, A new nonlinear model of contact normal force, "
          "eqs. 3, 7 with the gear ratio g = C δ^m in place of eq. 4: k = C² K/(m + 1), "
          "λ = C² D. We add max( ) to forbid tension.",
      .limits =
          "m = 0 is Kelvin–Voigt, m = 1/4 Azad–Featherstone's sphere, m = 1/2 a cone. "
          "Restitution depends on the one group λ v^{m/(m+1)} / (m_b^{1/(2m+2)} "
          "k^{(2m+1)/(2m+2)}) with m_b the mass. For m < 1/2, ∂f/∂δ is infinite at "
          "touch-down. With clamp = 0 the law pulls at the end of contact.",
      .energy =
          "Passive. With the clamp, contact ends at f = 0 before δ = 0 and the energy "
          "left in the spring is counted as damping."};

  template <class T>
  struct Params {
    T stiffness;      // k [N/m^{2m+1}]
    T damping;        // λ [N s/m^{2m+1}]
    T gear_exponent;  // m
    T clamp;          // 1: no tension
  };

  static constexpr auto parameters() {
    using P = Params<double>;
    return std::array{
        ParameterField<P>{&P::stiffness,
                          {"stiffness", "k", "N/m^(2m+1)", above(0, 1e15), 8.5e6,
                           "force per depth to the power 2m + 1"}},
        ParameterField<P>{&P::damping,
                          {"damping", "λ", "N s/m^(2m+1)", between(0, 1e12), 3.1e3,
                           "damping force over δ^{2m}, per unit approach speed"}},
        ParameterField<P>{&P::gear_exponent,
                          {"gear_exponent", "m", "1", between(0, 1.5), 0.25,
                           "the gear ratio between depth and spring grows like δ^m"}},
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
    // Two powers, not δ times the other one: the slope of δ^{2m} is infinite at 0.
    const T exponent = T(2) * p.gear_exponent;
    const T spring = p.stiffness * depth_power(kin, exponent + T(1));
    return {.elastic = spring,
            .damping = (p.damping * kin.rate) * pow(kin.depth, exponent),
            .stored = spring * kin.depth * (T(Value<T>(0.5)) / (p.gear_exponent + T(1))),
            .clamp = p.clamp};
  }

  template <Scalar T>
  BRISTLE_INLINE static PartSlopes<T> slopes(const Params<T>& p, const State<T>&,
                                             const Kinematics<T>& kin) {
    const T exponent = T(2) * p.gear_exponent;
    const T gear = pow(kin.depth, exponent);
    return {.by_depth = (exponent + T(1)) * p.stiffness * gear +
                        steep_slope(kin, p.damping * kin.rate, exponent),
            .by_rate = p.damping * gear};
  }
};

}  // namespace bristle
