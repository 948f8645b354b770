#pragma once

#include "bristle/laws/normal/spring_damper.hpp"

namespace bristle {

struct HuntCrossleyGeneral : SpringDamper<HuntCrossleyGeneral> {
  static constexpr LawInfo info{
      .name = "hunt-crossley-general",
      .title = "Hunt–Crossley, general exponents",
      .formula = "f_n = max(0, k δⁿ + λ δ^p sgn(δ̇) |δ̇|^q)",
      .source =
          "Hunt & Crossley 1975, Coefficient of restitution interpreted as damping in "
          "vibroimpact; as quoted by Azad & Featherstone 2014, A new nonlinear model of "
          "contact normal force, eq. 1. We write sgn(δ̇)|δ̇|^q for δ̇^q and add max( ) to "
          "forbid tension.",
      .limits =
          "n = p, q = 1 is hunt-crossley with λ = a k; n = 3/2, p = 1/2, q = 1 "
          "azad-featherstone; n = 1, p = 0, q = 1 kelvin-voigt. q ≥ 1 keeps ∂f/∂δ̇ finite "
          "at rest. For p < 1, ∂f/∂δ is infinite at touch-down, and for p = 0 the force "
          "jumps there. With clamp = 0 the law may pull.",
      .energy =
          "Passive. With the clamp, contact ends at f = 0 before δ = 0 and the energy "
          "left in the spring is counted as damping."};

  template <class T>
  struct Params {
    T stiffness;         // k [N/mⁿ]
    T damping;           // λ [N/m^p (s/m)^q]
    T exponent;          // n
    T damping_exponent;  // p
    T rate_exponent;     // q
    T clamp;             // 1: no tension
  };

  static constexpr auto parameters() {
    using P = Params<double>;
    return std::array{
        ParameterField<P>{&P::stiffness,
                          {"stiffness", "k", "N/m^n", above(0, 1e15), 8.5e6,
                           "force per depth to the power n; Hertz: 4/3 E* √R"}},
        ParameterField<P>{&P::damping,
                          {"damping", "λ", "N/m^p (s/m)^q", between(0, 1e15), 3.1e6,
                           "damping force over δ^p |δ̇|^q"}},
        ParameterField<P>{&P::exponent,
                          {"exponent", "n", "1", between(1, 4), 1.5,
                           "of the depth in the spring's force; 3/2 for a sphere"}},
        ParameterField<P>{&P::damping_exponent,
                          {"damping_exponent", "p", "1", between(0, 4), 1.5,
                           "of the depth in the damping force"}},
        ParameterField<P>{&P::rate_exponent,
                          {"rate_exponent", "q", "1", between(1, 3), 1,
                           "of the approach speed in the damping force"}},
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
    const T spring = p.stiffness * depth_power(kin, p.exponent);
    return {
        .elastic = spring,
        .damping = damper(p, kin.rate) * kin.rate * depth_power(kin, p.damping_exponent),
        .stored = spring * kin.depth * (T(1) / (p.exponent + T(1))),
        .clamp = p.clamp};
  }

  template <Scalar T>
  BRISTLE_INLINE static PartSlopes<T> slopes(const Params<T>& p, const State<T>&,
                                             const Kinematics<T>& kin) {
    const T speed_part = damper(p, kin.rate);
    return {
        .by_depth = p.stiffness * depth_power_slope(kin, p.exponent) +
                    steep_slope(kin, speed_part * kin.rate, p.damping_exponent),
        .by_rate = p.rate_exponent * speed_part * depth_power(kin, p.damping_exponent)};
  }

 private:
  /// λ |δ̇|^{q−1}; at rest λ for q = 1, else 0.
  template <Scalar T>
  BRISTLE_INLINE static T damper(const Params<T>& p, const T& rate) {
    const T speed = abs(rate);
    return p.damping * select(speed > T(0), pow(speed, p.rate_exponent - T(1)),
                              select(p.rate_exponent > T(1), T(0), T(1)));
  }
};

}  // namespace bristle
