#pragma once

#include "bristle/laws/friction/bristle.hpp"

namespace bristle {

namespace detail {

/// ½(1 + sin(π(t − ½))) for t in [0, 1]; 0 below, 1 above. The sine by its Taylor series,
/// whose remainder is below 2⁻⁵³ on the quarter turn.
template <Scalar T>
BRISTLE_INLINE T sine_step(const T& t) {
  using N = Value<T>;
  const T x = T(N(3.14159265358979323846)) * (min(max(t, T(0)), T(1)) - T(N(0.5)));
  const T x2 = square(x);
  T series = T(1);
  for (const double n : {20.0, 18.0, 16.0, 14.0, 12.0, 10.0, 8.0, 6.0, 4.0, 2.0}) {
    series = T(1) - x2 * T(N(1 / (n * (n + 1)))) * series;
  }
  return min(max(T(N(0.5)) * (T(1) + x * series), T(0)), T(1));
}

}  // namespace detail

struct ElastoPlastic : YieldingBristle<ElastoPlastic> {
  static constexpr LawInfo info{
      .name = "elasto-plastic",
      .title = "Elasto-plastic bristles of Dupont et al., which stick without drift",
      .formula =
          "g = f_n (μ_C + (μ_S − μ_C) exp(−|v_t|²/v_S²)),  z_max = g/σ₀,  z_ba = b "
          "z_max\n"
          "α = 0 for |z| ≤ z_ba, 1 for |z| ≥ z_max,\n"
          "    ½ + ½ sin(π (|z| − (z_max + z_ba)/2)/(z_max − z_ba)) between\n"
          "ż = v_t − α σ₀/g max(0, z·v_t/|z|) z\n"
          "f_t = −(σ₀ z + σ₁ ż + σ₂ v_t) while f_n > 0;  passive: σ₁ at most 2 g/|v_t|",
      .source =
          "Dupont, Hayward, Armstrong & Altpeter 2002 (IEEE Trans. Automatic Control "
          "47(5), "
          "787–792): α(z, ẋ) between break-away and z_max = f_ss(ẋ)/σ₀, zero where z and "
          "ẋ "
          "point against each other. Deviations: the vector form, in which only the part "
          "of "
          "v_t along z yields, in one dimension the paper's law exactly; the break-away "
          "deflection as a share b of z_max, so that it follows the load; the limit on "
          "σ₁ "
          "and the bound of the LuGre law here.",
      .limits =
          "Below b g the bristles are a spring and damper: no drift under an oscillating "
          "load that stays below it. Unlike Dahl's and LuGre's, z turns with the slip as "
          "a "
          "plastic flow does. Small loads as in the LuGre law.",
      .energy =
          "Passive with passive = 1 or σ₁ = 0. Otherwise the damper's power σ₁ ż·v_t can "
          "be "
          "negative while |z| > z_max, as after breaking away fast, and exceed the other "
          "losses where σ₁|v_t| > 4 g; counted as unsupplied."};

  template <class T>
  struct Params {
    T mu_static;       // μ_S
    T mu_coulomb;      // μ_C
    T stiffness;       // σ₀ [N/m]
    T damping;         // σ₁ [N s/m]
    T viscous;         // σ₂ [N s/m]
    T stribeck_speed;  // v_S [m/s]
    T breakaway;       // b = z_ba/z_max
    T passive;         // 1: σ₁ ≤ 2 g/|v|
    T bound;           // 1: |z| ≤ max(μ_S, μ_C) f_n/σ₀
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
            {"stiffness", "σ₀", "N/m", between(1e-3, 1e12), 1e5, "bristle stiffness"}},
        ParameterField<P>{
            &P::damping,
            {"damping", "σ₁", "N s/m", between(0, 1e9), 316, "bristle damping"}},
        ParameterField<P>{
            &P::viscous,
            {"viscous", "σ₂", "N s/m", between(0, 1e9), 0.4, "viscous friction"}},
        ParameterField<P>{&P::stribeck_speed,
                          {"stribeck_speed", "v_S", "m/s", between(1e-6, 100), 0.001,
                           "slip speed at which μ − μ_C has fallen to 1/e of μ_S − μ_C"}},
        ParameterField<P>{&P::breakaway,
                          {"breakaway", "b", "1", between(0, 0.99), 0.7,
                           "share of z_max up to which the bristles are elastic"}},
        ParameterField<P>{&P::passive,
                          {"passive", "", "flag", yes_or_no, 1,
                           "whether σ₁ is limited to 2 g/|v|; 0 as printed"}},
        ParameterField<P>{&P::bound,
                          {"bound", "", "flag", yes_or_no, 1,
                           "whether |z| is kept below max(μ_S, μ_C) f_n/σ₀"}}};
  }

  static constexpr Passivity passivity(const Params<double>& p) {
    return {.unsupplied = p.passive == 0 && p.damping > 0};
  }

  static constexpr LedgerLines lines{
      .damping = true, .slip = true, .viscous = true, .unsupplied = true};

  static constexpr bool has_damper = true;

  template <Scalar T>
  BRISTLE_INLINE static T strength(const Params<T>& p, const T& speed2, const T& load) {
    return load * stribeck(p.mu_static, p.mu_coulomb, p.stribeck_speed, speed2);
  }

  template <Scalar T>
  BRISTLE_INLINE static T greatest_strength(const Params<T>& p, const T& load) {
    return load * max(p.mu_static, p.mu_coulomb);
  }

  /// α max(0, z·v/|z|), with |z|/z_max = |z| σ₀/g.
  template <Scalar T, class V>
  BRISTLE_INLINE static T yield_speed(const Params<T>& p, const V& z, const V& slip,
                                      const T& /*speed*/, const T& relax) {
    const T length = norm(z);
    return plastic_share(p, length * relax) * speed_along(z, length, slip);
  }

  /// Backward Euler asks for α = S(x/(1 + q α)), S rising, where x and x/(1 + q α) are
  /// |z|/z_max without yielding and with. S(x) is above the root; S at that α is below;
  /// one step of the secant between them; and no less than keeps |z| ≤ z_max.
  template <Scalar T, class V>
  BRISTLE_INLINE static T step_yield_speed(const Params<T>& p, const V& elastic,
                                           const V& slip, const T& /*speed*/,
                                           const T& relax, const T& h) {
    const T length = norm(elastic);
    const T along = speed_along(elastic, length, slip);
    const T x = length * relax;
    const T q = h * relax * along;
    T alpha = plastic_share(p, x);
    const auto yields = alpha * q > T(0);
    if (any(yields)) {
      const T below = plastic_share(p, x / (T(1) + q * alpha));
      const T over = alpha - below;
      const T under = plastic_share(p, x / (T(1) + q * below)) - below;
      const T whole = over + under;
      const T secant = below + over * under / select(whole > T(0), whole, T(1));
      const T least = min((x - T(1)) / select(yields, q, T(1)), T(1));
      alpha = select(yields, max(secant, least), alpha);
    }
    return alpha * along;
  }

  template <Scalar T>
  BRISTLE_INLINE static T damping(const Params<T>& p, const T& speed, const T& /*speed2*/,
                                  const T& strength) {
    return select(p.passive != T(0), passive_damping(p.damping, speed, strength),
                  p.damping);
  }

  template <Scalar T>
  BRISTLE_INLINE static T viscous(const Params<T>& p) {
    return p.viscous;
  }

 private:
  /// α at |z|/z_max
  template <Scalar T>
  BRISTLE_INLINE static T plastic_share(const Params<T>& p, const T& stretch) {
    return detail::sine_step((stretch - p.breakaway) * (T(1) / (T(1) - p.breakaway)));
  }

  template <class V, Scalar T>
  BRISTLE_INLINE static T speed_along(const V& z, const T& length, const V& slip) {
    return max(dot(z, slip), T(0)) / select(length > T(0), length, T(1));
  }
};

}  // namespace bristle
