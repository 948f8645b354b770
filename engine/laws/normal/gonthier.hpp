#pragma once

#include "bristle/laws/normal/relative_damper.hpp"

namespace bristle {

namespace detail {

/// L(x) = (x − ln(1+x))/x² for x > −1, without cancellation; L(0) = 1/2, falling. With
/// u = x/(2+x), ln(1+x) = 2 artanh u, so L = 1/(2+x) − 2x/(2+x)³ (1/3 + u²/5 + u⁴/7 + …).
template <Scalar T>
BRISTLE_INLINE T log_defect(const T& x) {
  using N = Value<T>;
  const auto near = x > T(N(-0.5)) && x < T(1);
  const T a = select(near, x, T(0));
  const T q = T(1) / (T(2) + a);
  const T w = square(a * q);
  T series = T(N(1.0 / 37));
  for (int n = 35; n >= 3; n -= 2) series = series * w + T(N(1.0 / n));
  const T b = select(near, T(1), x);
  return select(near, q - T(2) * a * q * q * q * series, (b - log(T(1) + b)) / square(b));
}

/// L′(x) = (1/(1+x) − 2 L(x))/x … used for a Newton step only, where a rough value
/// serves.
template <Scalar T>
BRISTLE_INLINE T log_defect_slope(const T& x, const T& l) {
  using N = Value<T>;
  const auto near = abs(x) < T(N(1e-2));
  const T b = select(near, T(1), x);
  return select(near, T(N(-1.0 / 3)) + T(N(0.5)) * x, (T(1) / (T(1) + b) - T(2) * l) / b);
}

}  // namespace detail

/// d(e): the damping that gives a coefficient of restitution e exactly. Solves
///   (1 + d/e)/(1 − d) = exp(d (1 + 1/e)),  0 < d ≤ 1        (Gonthier 2004, eq. 10)
/// on the branch away from the spurious root d = 0, in the well-conditioned form
/// e² L(−d) = L(d/e), by bisection; a last Newton step carries derivatives by e.
template <Scalar T>
BRISTLE_INLINE T damping_factor(const T& e) {
  using N = Value<T>;
  const auto defect = [](const auto& d, const auto& restitution) {
    return square(restitution) * detail::log_defect(-d) -
           detail::log_defect(d / restitution);
  };
  const auto e0 = value_of(e);
  using V = std::remove_const_t<decltype(e0)>;
  V low = V(0);
  V high = V(1);
  constexpr int halvings = sizeof(N) == 8 ? 54 : 25;
  for (int i = 0; i < halvings; ++i) {
    const V middle = V(N(0.5)) * (low + high);
    const auto below = defect(middle, e0) < V(0);
    low = select(below, middle, low);
    high = select(below, high, middle);
  }
  const T d = T(high);
  const T slope = -square(e) * detail::log_defect_slope(-d, detail::log_defect(-d)) -
                  detail::log_defect_slope(d / e, detail::log_defect(d / e)) / e;
  const T newton = d - defect(d, e) / T(value_of(slope));
  // Near d = 1, L(−d) overflows and the bisected value is exact to the last bit already.
  const auto sound = newton > T(0) && newton < T(1);
  return select(e >= T(1), T(0), select(sound, newton, d));
}

struct GonthierNormal : LatchedDamper<GonthierNormal> {
  static constexpr LawInfo info{
      .name = "gonthier",
      .title = "Gonthier, restitution-exact damping",
      .formula =
          "f_n = k δ^p (1 + a δ̇)₊,  a = d(e)/(e v_i)\n"
          "(1 + d/e)/(1 − d) = exp(d (1 + 1/e)),  0 < d ≤ 1",
      .source =
          "Gonthier, McPhee, Lange & Piedbœuf 2004, A regularized contact model with "
          "asymmetric damping and dwell-time dependent friction, eqs. 5, 10, 11. Printed "
          "with x < 0 in contact; here δ, δ̇ and v_i are positive in approach, d comes "
          "from e² L(−d) = L(d/e), L(x) = (x − ln(1+x))/x².",
      .limits =
          "Type e, get e: a central impact under the contact force alone returns e for "
          "any "
          "stiffness, exponent, mass and speed. The approach speed v_i is latched at "
          "touch-down, with a floor, and kept through lasting contact. Under gravity a "
          "soft contact returns less than e: physics, not an error.",
      .energy =
          "Passive. The clamp acts only when the bodies are pulled apart faster than "
          "1/a; "
          "what it takes from the spring is counted as damping."};

  static constexpr Range restitution_range = between(1e-3, 1);

  template <Scalar T>
  BRISTLE_INLINE static T impact_damping(const T& restitution) {
    return damping_factor(restitution) / restitution;
  }
};

}  // namespace bristle
