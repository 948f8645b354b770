#pragma once

#include "bristle/laws/normal/relative_damper.hpp"

namespace bristle {

struct LankaraniNikravesh : LatchedDamper<LankaraniNikravesh> {
  static constexpr LawInfo info{
      .name = "lankarani-nikravesh",
      .title = "Lankarani–Nikravesh",
      .formula = "f_n = k δ^p (1 + a δ̇)₊,  a = 3 (1 − e²)/(4 v_i)",
      .source =
          "Lankarani & Nikravesh 1990, A contact force model with hysteresis damping for "
          "impact analysis of multibody systems, J. Mech. Des. 112, 369–376: the "
          "hysteresis damping factor a k. We add ( )₊ to forbid tension and a floor of "
          "v_i.",
      .limits =
          "For hard contact: a is right as e → 1 only. The e that comes back solves "
          "V − ln(1+V) = −eV − ln(1−eV) with V = 3 (1 − e²)/4 and is always more than "
          "the e that was typed: 0.73 for 0.5, 0.66 for 0. The law gonthier has no such "
          "error.",
      .energy =
          "Passive. The clamp acts only when the bodies are pulled apart faster than "
          "1/a; what it takes from the spring is counted as damping."};

  static constexpr Range restitution_range = between(0, 1);

  template <Scalar T>
  BRISTLE_INLINE static T impact_damping(const T& e) {
    return T(Value<T>(0.75)) * (T(1) - e) * (T(1) + e);
  }
};

}  // namespace bristle
