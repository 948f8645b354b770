#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>

#include "bristle/core/dual.hpp"
#include "bristle/core/math.hpp"
#include "bristle/core/trigonometry.hpp"

// Coulomb friction of a disc that slides and spins at once: friction and torque by
// integration of μ p over the disc against the local slip (Contensou 1963), and the
// elliptic closure by the radius of gyration (Gonthier 2007).
//
// A disc of radius R slides at v and spins at ω; u = v/(ω R). Results are F/(μ N) against
// v and T/(μ N R) against ω, in closed form. A uniform disc has complete elliptic
// integrals (Farkas, Bartels, Unger & Wolf 2003); a paraboloid, the sum of uniform discs
// of all radii a < 1 weighted by −p′(a) π a², has them too. Under Hertz's pressure the
// power per ω, Φ = ∫ p |r − r₀| dA with the centre of rotation r₀ at the distance u,
// obeys ΔΦ = ∫ p/|r − r₀| dA, which is Hertz's displacement: a polynomial inside the disc
// and an arcsine outside; F = Φ′ and T = Φ − u Φ′.

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

/// Force and torque that stay finite and smooth at both ends: F/u and T of a disc whose
/// centre of rotation lies inside it, u ≤ 1; F and u T outside.
template <Scalar T>
struct DiscFriction {
  T force;
  T torque;
};

namespace detail {

/// Complete elliptic integrals of the parameter m in [0, 1]: K = ∫ 1/Δ, D = ∫ sin²/Δ with
/// Δ² = 1 − m sin² over a quarter turn. At m = 1, where they are infinite, of the m next
/// to it, which serves all products with 1 − m.
template <Scalar T>
struct EllipticIntegrals {
  T K, D;

  BRISTLE_INLINE explicit EllipticIntegrals(const T& m) {
    using N = Value<T>;
    constexpr N least =
        std::numeric_limits<N>::epsilon() * std::numeric_limits<N>::epsilon();
    // Gauss's mean of a and b, c = (a₋ − b₋)/2; D/K = ½ (1 + Σ 2ⁿ cₙ²/m), all positive
    const T b0 = sqrt(max(T(1) - m, T(least)));
    const T first = T(1) / (T(1) + b0);
    T a = T(N(0.5)) * (T(1) + b0), b = sqrt(b0);
    T c2 = square(T(N(0.5)) * m * first);
    T share = m * square(T(N(0.5)) * first);  // c²/m
    T sum = T(2) * share;
    N power = 2;
    for (int i = 0; i < 8; ++i) {
      const T next = T(N(0.5)) * (a + b);
      b = sqrt(a * b);
      a = next;
      const T fall = c2 * square(T(N(0.25)) / a);
      share = share * fall;
      c2 = c2 * fall;
      power *= 2;
      sum += T(power) * share;
    }
    K = T(N(0.5 * std::numbers::pi)) / a;
    D = T(N(0.5)) * K * (T(1) + sum);
  }
};

/// Power series of F and u T in m = 1/u² far outside.
inline constexpr std::size_t far_terms = 12;
struct FarSeries {
  std::array<double, far_terms> force, torque;
};
/// Of a uniform disc of radius a in units of 1: F(m a²), and a (a u T)(m a²) after the
/// mean over a with the weight −p′(a) π a², whose moments ∫ … a^{2k} da are `moment`.
constexpr FarSeries far_series(DiscPressure pressure) {
  FarSeries series{};
  double c = 1;       // (2k − 1)!!/(2k)!!
  double moment = 1;  // of a^{2k}
  for (std::size_t i = 0; i < far_terms; ++i) {
    const double k = static_cast<double>(i);
    const double next = c * (2 * k + 1) / (2 * k + 2);
    const double after = next * (2 * k + 3) / (2 * k + 4);
    const double force = c * c / (1 - 2 * k) + c * c - c * next;
    const double torque = 2 * next * after - next * next + 3 * c * c - 4 * c * next;
    const double later = pressure == DiscPressure::uniform ? 1
                         : pressure == DiscPressure::paraboloid
                             ? 2 / (k + 3)
                             : moment * (2 * k + 4) / (2 * k + 5);
    series.force[i] = 2.0 / 3 * force * moment;
    series.torque[i] = 2.0 / 9 * torque * later;
    moment = later;
    c = next;
  }
  return series;
}

template <Scalar T>
BRISTLE_INLINE T horner(const std::array<double, far_terms>& series, const T& m) {
  T sum = T(0);
  for (std::size_t i = far_terms; i-- > 0;) sum = sum * m + T(Value<T>(series[i]));
  return sum;
}

template <DiscPressure pressure, Scalar T>
BRISTLE_INLINE DiscFriction<T> far_disc(const T& m) {
  constexpr FarSeries series = far_series(pressure);
  return {horner(series.force, m), horner(series.torque, m)};
}

}  // namespace detail

/// F/u and T where the centre of rotation lies inside, m = u² ≤ 1.
template <DiscPressure pressure, Scalar T>
BRISTLE_INLINE DiscFriction<T> inner_disc(const T& m,
                                          const detail::EllipticIntegrals<T>& e) {
  using N = Value<T>;
  using std::numbers::pi;
  if constexpr (pressure == DiscPressure::uniform) {
    return {T(N(4 / (3 * pi))) * (T(2) * e.K - (T(1) + m) * e.D),
            T(N(4 / (9 * pi))) * (T(3) * e.K - m * (e.K + T(4) * e.D - T(2) * m * e.D))};
  } else if constexpr (pressure == DiscPressure::paraboloid) {
    return {
        T(N(16 / (45 * pi))) * ((T(9) - m) * e.K - (T(3) + m * (T(7) - T(2) * m)) * e.D),
        T(N(16 / (225 * pi))) * ((T(15) - m * (T(11) - T(4) * m)) * e.K -
                                 m * (T(23) - m * (T(23) - T(8) * m)) * e.D)};
  } else {
    return {T(N(3 * pi / 8)) * (T(1) - T(N(0.25)) * m),
            T(N(3 * pi / 16)) * (T(1) - m * (T(1) - T(N(0.375)) * m))};
  }
}

/// F and u T where it lies outside, m = 1/u² ≤ 1.
template <DiscPressure pressure, Scalar T>
BRISTLE_INLINE DiscFriction<T> outer_disc(const T& m,
                                          const detail::EllipticIntegrals<T>& e) {
  using N = Value<T>;
  using std::numbers::pi;
  const auto far = m < T(N(0.0625));  // the closed forms lose digits like 1/m²
  const T n = select(far, T(1), m);
  const T per = T(1) / n;
  DiscFriction<T> near;
  if constexpr (pressure == DiscPressure::uniform) {
    near = {T(N(4 / (3 * pi))) * (T(2) * e.K - (T(1) + n) * e.D),
            T(N(4 / (9 * pi))) * (per * (T(2) * e.D - e.K) + T(3) * e.K - T(4) * e.D)};
  } else if constexpr (pressure == DiscPressure::paraboloid) {
    near = {T(N(16 / (45 * pi))) * per *
                ((T(9) * n - T(1)) * e.K + (T(2) - n * (T(7) + T(3) * n)) * e.D),
            T(N(16 / (225 * pi))) * per * per *
                ((T(4) - n * (T(11) - T(15) * n)) * e.K -
                 (T(8) - n * (T(23) - T(23) * n)) * e.D)};
  } else {
    const T side = root(T(1) - n), sine = root(n);
    const T arc = atan2(sine, side) / sine;  // u arcsin(1/u)
    near = {T(N(3.0 / 16)) * ((T(4) - per) * arc + side * (T(2) + per)),
            T(N(3.0 / 64)) * ((T(3) * per * per - T(8) * per + T(8)) * arc +
                              side * per * (T(6) - T(3) * per))};
  }
  DiscFriction<T> series = detail::far_disc<pressure>(m);
  return {select(far, series.force, near.force), select(far, series.torque, near.torque)};
}

/// Force and torque of a disc at u = v/(ω R) ≥ 0.
template <DiscPressure pressure>
SpinFriction spinning_disc(double u) {
  const double m = u <= 1 ? u * u : 1 / (u * u);
  const detail::EllipticIntegrals<double> e(m);
  if (u <= 1) {
    const auto inner = inner_disc<pressure>(m, e);
    return {u * inner.force, inner.torque};
  }
  const auto outer = outer_disc<pressure>(m, e);
  return {outer.force, outer.torque / u};
}
inline SpinFriction spinning_disc(DiscPressure pressure, double u) {
  switch (pressure) {
    case DiscPressure::uniform:
      return spinning_disc<DiscPressure::uniform>(u);
    case DiscPressure::paraboloid:
      return spinning_disc<DiscPressure::paraboloid>(u);
    case DiscPressure::hertz:
      break;
  }
  return spinning_disc<DiscPressure::hertz>(u);
}

/// The elliptic closure: F² + (T/r_g)² = 1 with the direction of (v, r_g ω).
inline SpinFriction elliptic_disc(DiscPressure pressure, double u) {
  const double g2 = gyration_square(pressure);
  const double average = std::sqrt(u * u + g2);
  return {u / average, g2 / average};
}

}  // namespace bristle
