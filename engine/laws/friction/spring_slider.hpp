#pragma once

#include "bristle/laws/friction/slider.hpp"

namespace bristle {

struct SpringSlider : Slider<SpringSlider> {
  static constexpr LawInfo info{
      .name = "spring-slider",
      .title = "Spring and slider, elastic and perfectly plastic",
      .formula =
          "ż = v_t − V,  f_t = −(k z + c ż),  |f_t| ≤ μ f_n\n"
          "stick: V = 0;  slip: |f_t| = μ f_n,  V along −f_t,  |V| = (|k z + c v_t| − "
          "μ f_n)₊/c\n"
          "c = 0: V = max(0, v_t·z/|z|) z/|z| where k|z| = μ f_n",
      .source =
          "The one-element Jenkin or Prandtl model, with the radial return of "
          "computational "
          "plasticity (Simo & Hughes 1998, § 3.3); the law that most granular codes know "
          "as "
          "tangential history (Cundall & Strack 1979). Ours: the return of spring and "
          "damper together, exact over a step at constant slip; |z| ≤ μ f_n/k, "
          "so that a falling load releases the spring; z = 0 in flight and at "
          "touch-down.",
      .limits =
          "Sticks without creep or drift; one friction coefficient, a sharp change from "
          "stick to "
          "slip. c/k below a nanosecond counts as no damper in `evaluate`.",
      .energy =
          "Passive: the damper takes c |ż|², the slider μ f_n |V|. What a falling load "
          "releases is counted as slip."};

  template <class T>
  struct Params {
    T mu;         // μ
    T stiffness;  // k [N/m]
    T damping;    // c [N s/m]
  };

  static constexpr auto parameters() {
    using P = Params<double>;
    return std::array{
        ParameterField<P>{&P::mu,
                          {"mu", "μ", "1", between(0, 10), 0.4, "friction coefficient"}},
        ParameterField<P>{
            &P::stiffness,
            {"stiffness", "k", "N/m", between(1e-3, 1e12), 1e5, "spring stiffness"}},
        ParameterField<P>{&P::damping,
                          {"damping", "c", "N s/m", between(0, 1e9), 0,
                           "damper beside the spring; the friction cone limits both"}}};
  }

  template <Scalar T>
  BRISTLE_INLINE static T grip(const Params<T>& p, const T& /*speed2*/, const T& load) {
    return p.mu * load;
  }
};

}  // namespace bristle
