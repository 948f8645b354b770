#pragma once

#include "bristle/laws/normal/spring_damper.hpp"

namespace bristle {

struct Hertz : SpringDamper<Hertz> {
  static constexpr LawInfo info{
      .name = "hertz",
      .title = "Hertz, elastic",
      .formula = "f_n = k δ^p",
      .source =
          "Hertz 1882, Über die Berührung fester elastischer Körper; for two spheres "
          "p = 3/2, k = 4/3 E* √R, 1/R = 1/R₁ + 1/R₂, 1/E* = Σ(1 − ν²)/E (Azad & "
          "Featherstone 2014, A new nonlinear model of contact normal force, eqs. 5, 6, "
          "10). Other exponents: a power law without that derivation.",
      .limits =
          "Small depth against the radius, linear elasticity, no friction in the patch. "
          "An impact at speed v reaches δ = ((p+1) m v²/2k)^{1/(p+1)}; for p = 3/2 it "
          "lasts 2.943275 δ/v.",
      .energy = "Conservative: an impact returns all of its energy."};

  template <class T>
  struct Params {
    T stiffness;  // k [N/m^p]
    T exponent;   // p
  };

  static constexpr auto parameters() {
    using P = Params<double>;
    return std::array{
        ParameterField<P>{&P::stiffness,
                          {"stiffness", "k", "N/m^p", above(0, 1e15), 8.5e6,
                           "force per depth to the power p; Hertz: 4/3 E* √R"}},
        ParameterField<P>{&P::exponent,
                          {"exponent", "p", "1", between(1, 4), 1.5,
                           "3/2 for a sphere (Hertz), 1 for a flat punch"}}};
  }

  static constexpr LedgerLines lines{};

  template <Scalar T>
  BRISTLE_INLINE static NormalParts<T> parts(const Params<T>& p, const State<T>&,
                                             const Kinematics<T>& kin) {
    const T spring = p.stiffness * depth_power(kin, p.exponent);
    return {.elastic = spring,
            .damping = T(0),
            .stored = spring * kin.depth * (T(1) / (p.exponent + T(1))),
            .clamp = T(1)};
  }

  template <Scalar T>
  BRISTLE_INLINE static PartSlopes<T> slopes(const Params<T>& p, const State<T>&,
                                             const Kinematics<T>& kin) {
    return {.by_depth = p.stiffness * depth_power_slope(kin, p.exponent),
            .by_rate = T(0)};
  }
};

}  // namespace bristle
