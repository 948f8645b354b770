#pragma once

#include <array>
#include <cmath>
#include <numbers>

// Coulomb friction of a disc that slides and spins at once: friction and torque by
// integration of μ p over the disc against the local slip (Contensou 1963), and the
// elliptic closure by the radius of gyration (Gonthier 2007).
//
// A disc of radius R slides at v and spins at ω; u = v/(ω R). Results are F/(μ N) against
// v and T/(μ N R) against ω. The uniform disc has complete elliptic integrals; the others
// are sums of uniform discs of all radii a < 1, weighted by −p′(a) π a².

namespace bristle {

enum class DiscPressure { uniform, paraboloid, hertz };

/// Friction force and torque in units of μ N and μ N R.
struct SpinFriction {
  double force;
  double torque;
};

/// r_g²/R² = ∫ p r² dA / (N R²).
constexpr double gyration_square(DiscPressure pressure) {
  switch (pressure) {
    case DiscPressure::uniform:
      return 1.0 / 2;
    case DiscPressure::paraboloid:
      return 1.0 / 3;
    case DiscPressure::hertz:
      break;
  }
  return 2.0 / 5;
}

namespace detail {

/// Complete elliptic integrals of the parameter m in [0, 1): K = ∫ 1/Δ, D = ∫ sin²/Δ,
/// C = ∫ sin² cos²/Δ³ with Δ² = 1 − m sin² over a quarter turn.
struct EllipticIntegrals {
  double K, D, C;

  explicit EllipticIntegrals(double m) {
    if (m < 0.5) {  // a smooth periodic integrand: the midpoint rule, error below 1e-16
      K = D = C = 0;
      constexpr int points = 24;
      constexpr double step = 0.5 * std::numbers::pi / points;
      for (int i = 0; i < points; ++i) {
        const double s = std::sin((i + 0.5) * step);
        const double s2 = s * s;
        const double delta2 = 1 - m * s2;
        const double per = step / std::sqrt(delta2);
        K += per;
        D += per * s2;
        C += per * s2 * (1 - s2) / delta2;
      }
      return;
    }
    // Gauss's arithmetic–geometric mean: 1 − E/K = ½ Σ 2ⁿ cₙ²
    double a = 1, b = std::sqrt(1 - m), power = 0.5, sum = 0.5 * m;
    for (int i = 0; i < 40 && a - b > 1e-16 * a; ++i) {
      const double c = 0.5 * (a - b);
      const double next = 0.5 * (a + b);
      b = std::sqrt(a * b);
      a = next;
      power *= 2;
      sum += power * c * c;
    }
    K = 0.5 * std::numbers::pi / a;
    D = K * sum / m;
    C = (2 * D - K) / m;  // D − B, and K = B + D
  }
};

/// Points and weights of Gauss & Legendre's rule of order 16 on [0, 1], half of them: the
/// others are 1 − x.
struct HalfRule {
  double x, weight;
};
inline constexpr std::array<HalfRule, 8> half_rule{{
    {0.005299532504175033, 0.013576229705877048},
    {0.02771248846338371, 0.031126761969323947},
    {0.06718439880608412, 0.04757925584124639},
    {0.12229779582249849, 0.06231448562776694},
    {0.19106187779867811, 0.07479799440828837},
    {0.2709916111713863, 0.08457825969750127},
    {0.35919822461037054, 0.09130170752246179},
    {0.4524937450811813, 0.09472530522753425},
}};

}  // namespace detail

/// The uniform disc. (Farkas, Bartels, Unger & Wolf 2003 give the same integrals in E and
/// K; D and C lose nothing at either end.)
inline SpinFriction uniform_disc(double u) {
  using std::numbers::pi;
  if (u < 1) {
    const double m = u * u;
    const detail::EllipticIntegrals e(m);
    return {4 * u / (3 * pi) * (2 * e.K - (1 + m) * e.D),
            4 / (9 * pi) * (3 * e.K - m * (e.K + 4 * e.D - 2 * m * e.D))};
  }
  if (u == 1) return {8 / (3 * pi), 8 / (9 * pi)};
  const double m = 1 / (u * u);
  const detail::EllipticIntegrals e(m);
  const double E = e.K - m * e.D;
  return {4 / (3 * pi) * (E + e.K - e.D), 4 / (9 * pi * u) * (e.C + 3 * e.K - 4 * e.D)};
}

/// Force and torque of a disc at u = v/(ω R) ≥ 0.
inline SpinFriction spinning_disc(DiscPressure pressure, double u) {
  if (pressure == DiscPressure::uniform) return uniform_disc(u);
  SpinFriction sum{0, 0};
  // A uniform disc of radius a = sin β counts −p′(a) π a² da: nothing is singular at the
  // rim in β. Towards a = u, where (a − u) ln|a − u| begins, points crowd like t³.
  const auto add = [&](double beta, double weight) {
    const double a = std::sin(beta);
    const double share =
        a * a * a * (pressure == DiscPressure::paraboloid ? 4 * std::cos(beta) : 1.5);
    const SpinFriction disc = uniform_disc(u / a);
    sum.force += weight * share * disc.force;
    sum.torque += weight * share * a * disc.torque;
  };
  constexpr double rim = 0.5 * std::numbers::pi;
  const double split = u < 1 ? std::asin(u) : rim;
  for (const detail::HalfRule& rule : detail::half_rule) {
    for (const double t : {rule.x, 1 - rule.x}) {
      const double crowded = t * t * t, density = 3 * t * t * rule.weight;
      if (split > 0) add(split * (1 - crowded), split * density);
      if (split < rim) add(split + (rim - split) * crowded, (rim - split) * density);
    }
  }
  return sum;
}

/// The elliptic closure: F² + (T/r_g)² = 1 with the direction of (v, r_g ω).
inline SpinFriction elliptic_disc(DiscPressure pressure, double u) {
  const double g2 = gyration_square(pressure);
  const double average = std::sqrt(u * u + g2);
  return {u / average, g2 / average};
}

}  // namespace bristle
