#pragma once

#include "bristle/laws/normal/relative_damper.hpp"

namespace bristle {

struct Flores : LatchedDamper<Flores> {
  static constexpr LawInfo info{
      .name = "flores",
      .title = "Flores, soft materials",
      .formula = "f_n = k δ^p (1 + a δ̇)₊,  a = 8 (1 − e)/(5 e v_i)",
      .source =
          "Flores, Machado, Silva & Martins 2011, On the continuous contact force models "
          "for soft materials in multibody dynamics, Multibody Syst. Dyn. 25, 357–375: "
          "the hysteresis damping factor a k. We add ( )₊ to forbid tension and a floor "
          "of v_i.",
      .limits =
          "Made for the whole range of e, and more accurate there than "
          "lankarani-nikravesh, but not at e → 1, where it has 8/5 for 3/2. The e that "
          "comes back solves V − ln(1+V) = −eV − ln(1−eV) with V = 8 (1 − e)/(5 e) and "
          "is "
          "a little less than the e that was typed: 0.47 for 0.5, 0.89 for 0.9. The law "
          "gonthier has no such error.",
      .energy =
          "Passive. The clamp acts only when the bodies are pulled apart faster than "
          "1/a; what it takes from the spring is counted as damping."};

  static constexpr Range restitution_range = between(1e-3, 1);

  template <Scalar T>
  BRISTLE_INLINE static T impact_damping(const T& e) {
    return T(Value<T>(1.6)) * (T(1) - e) / e;
  }
};

}  // namespace bristle
