#pragma once

#include "bristle/laws/friction/slider.hpp"

namespace bristle {

struct Liang : Slider<Liang> {
  static constexpr LawInfo info{
      .name = "liang",
      .title = "Liang, Fillmore & Ma, a bristle that stretches and turns",
      .formula =
          "F = f_n (μ_C + (μ_S − μ_C) exp(−|v_t|²/v_S²)),  s_max = F/k\n"
          "stick: ṡ = v_t,  f_t = −(k s + c ṡ) while |f_t| ≤ F\n"
          "slip:  |f_t| = F;  s keeps the length s_max and turns towards v_t",
      .source =
          "Liang, Fillmore & Ma 2012 (Mechanism and Machine Theory 56, 123–137) and 2010 "
          "(ASME DSCC 2010). Only the abstract of the latter was at hand: the "
          "one-dimensional integrated bristle, made two-dimensional by a bristle spring "
          "that stretches along its displacement and turns with the direction of the "
          "slip, "
          "in stick and in slip. Our reading of the rest: the largest stretch F/k, "
          "Stribeck's curve between static and sliding friction, a damper beside the "
          "spring and inside the friction cone, and the turning as a radial return, "
          "which "
          "aligns s with v_t over a slip of s_max. Equations of the paper are not "
          "quoted.",
      .limits =
          "Sticks without creep or drift, with a break-away peak. Where F falls with the "
          "speed, the bristle may be longer than s_max within a fixed step, whose end "
          "shortens it.",
      .energy =
          "Passive in this reading: the damper takes c |ṡ|², the slip F |v_t − ṡ|; what "
          "a "
          "falling load or a rising speed releases is counted as slip."};

  template <class T>
  struct Params {
    T mu_static;       // μ_S
    T mu_coulomb;      // μ_C
    T stiffness;       // k [N/m]
    T damping;         // c [N s/m]
    T stribeck_speed;  // v_S [m/s]
  };

  static constexpr auto parameters() {
    using P = Params<double>;
    return std::array{
        ParameterField<P>{&P::mu_static,
                          {"mu_static", "μ_S", "1", between(0, 10), 0.45,
                           "friction coefficient at break-away"}},
        ParameterField<P>{&P::mu_coulomb,
                          {"mu_coulomb", "μ_C", "1", between(0, 10), 0.4,
                           "friction coefficient of sliding"}},
        ParameterField<P>{
            &P::stiffness,
            {"stiffness", "k", "N/m", between(1e-3, 1e12), 1e5, "bristle stiffness"}},
        ParameterField<P>{
            &P::damping,
            {"damping", "c", "N s/m", between(0, 1e9), 316, "bristle damping"}},
        ParameterField<P>{
            &P::stribeck_speed,
            {"stribeck_speed", "v_S", "m/s", between(1e-6, 100), 0.001,
             "slip speed at which μ − μ_C has fallen to 1/e of μ_S − μ_C"}}};
  }

  template <Scalar T>
  BRISTLE_INLINE static T grip(const Params<T>& p, const T& speed2, const T& load) {
    return load * stribeck(p.mu_static, p.mu_coulomb, p.stribeck_speed, speed2);
  }
};

}  // namespace bristle
