#pragma once

#include <cmath>

#include "bristle/core/dual.hpp"
#include "bristle/core/math.hpp"
#include "bristle/core/pack.hpp"
#include "bristle/core/scalar.hpp"

// sin and cos of one angle together, of our own for the reason given in math.hpp: one
// branch-free text, the same bits in every lane and on every machine. atan2, which no
// inner loop needs, is the library's, lane by lane.

namespace bristle {

template <class T>
struct SinCos {
  T sin;
  T cos;
};

namespace detail {

template <class Number>
struct SinCosConstants;

template <>
struct SinCosConstants<double> {
  static constexpr double two_over_pi = 0x1.45f306dc9c883p-1;
  // π/2 in three parts of 33, 33 and 53 bits: k times the first two is exact.
  static constexpr double half_pi_1 = 0x1.921fb544p0;
  static constexpr double half_pi_2 = 0x1.0b4611a6p-34;
  static constexpr double half_pi_3 = 0x1.3198a2e037073p-69;
  static constexpr double limit = 0x1p20;  // above it, full turns are taken off first
  static constexpr double two_pi = 0x1.921fb54442d18p2;
};

template <>
struct SinCosConstants<float> {
  static constexpr float two_over_pi = 0x1.45f306p-1f;
  static constexpr float half_pi_1 = 0x1.92p0f;  // 8, 8 and 24 bits
  static constexpr float half_pi_2 = 0x1.fap-12f;
  static constexpr float half_pi_3 = 0x1.54442ep-20f;
  static constexpr float limit = 0x1p15f;
  static constexpr float two_pi = 0x1.921fb6p2f;
};

/// (sin r − r)/r³ and (cos r − 1 + r²/2)/r⁴ in z = r², |r| ≤ π/4, by their Taylor series;
/// what is cut off is below 2⁻⁵⁶ (double) and 2⁻²⁷ (float) of the result.
template <class T>
BRISTLE_INLINE SinCos<T> sincos_tails(T z) {
  using N = Value<T>;
  const T z2 = z * z;
  const T s0 = T(N(-1.0 / 6)) + z * T(N(1.0 / 120));
  const T c0 = T(N(1.0 / 24)) + z * T(N(-1.0 / 720));
  const T s1 = T(N(-1.0 / 5040)) + z * T(N(1.0 / 362880));
  const T c1 = T(N(1.0 / 40320)) + z * T(N(-1.0 / 3628800));
  if constexpr (sizeof(N) == 4) {
    return {s0 + z2 * s1, c0 + z2 * c1};
  } else {
    const T z4 = z2 * z2;
    const T s2 = T(-1.0 / 39916800) + z * T(1.0 / 6227020800.0);
    const T c2 = T(1.0 / 479001600) + z * T(-1.0 / 87178291200.0);
    const T s3 = T(-1.0 / 1307674368000.0) + z * T(1.0 / 355687428096000.0);
    const T c3 = T(1.0 / 20922789888000.0);
    return {(s0 + z2 * s1) + z4 * (s2 + z2 * s3), (c0 + z2 * c1) + z4 * (c2 + z2 * c3)};
  }
}

/// x less its full turns, for angles so large that their own spacing exceeds the error of
/// 2π as a number.
template <PlainScalar T>
inline T without_turns(T x) {
  return std::fmod(x, SinCosConstants<T>::two_pi);
}
template <PlainScalar T, int N>
inline Pack<T, N> without_turns(Pack<T, N> x) {
  for (int i = 0; i < N; ++i) x.set(i, without_turns(x[i]));
  return x;
}

template <class T>
BRISTLE_INLINE SinCos<T> sincos_of(T x) {
  using N = Value<T>;
  using C = SinCosConstants<N>;
  using B = FloatBits<N>;
  const auto large = abs(x) > T(C::limit);
  if (any(large)) [[unlikely]] {
    x = select(large, without_turns(x), x);
  }
  // x = k π/2 + r (Cody and Waite's reduction)
  const T k = (x * T(C::two_over_pi) + T(B::round_magic)) - T(B::round_magic);
  const T r = ((x - k * T(C::half_pi_1)) - k * T(C::half_pi_2)) - k * T(C::half_pi_3);
  const T z = r * r;
  const SinCos<T> tails = sincos_tails(z);
  const T s = r + (r * z) * tails.sin;
  const T half = T(N(0.5)) * z;
  const T w = T(1) - half;
  const T c = w + (((T(1) - w) - half) + (z * z) * tails.cos);
  // Quarter turns: k mod 4 as −2 … 2, without integers so that packs need none.
  const T quarter = k * T(N(0.25));
  const T turns = (quarter + T(B::round_magic)) - T(B::round_magic);
  const T m = k - T(4) * turns;
  const auto odd = abs(m) == T(1);
  const T s1 = select(odd, c, s);
  const T c1 = select(odd, s, c);
  const auto flip_s = m == T(-1) || abs(m) == T(2);
  const auto flip_c = m == T(1) || abs(m) == T(2);
  return {select(flip_s, -s1, s1), select(flip_c, -c1, c1)};
}

}  // namespace detail

/// sin x and cos x, each within 1 unit in the last place of 1 (measured; see the tests).
template <PlainScalar T>
BRISTLE_INLINE SinCos<T> sincos(T x) {
  return detail::sincos_of(x);
}
template <PlainScalar T, int N>
BRISTLE_INLINE SinCos<Pack<T, N>> sincos(Pack<T, N> x) {
  return detail::sincos_of(x);
}
template <Scalar T, int N>
BRISTLE_INLINE SinCos<Dual<T, N>> sincos(const Dual<T, N>& x) {
  const SinCos<T> at = sincos(x.value);
  return {x.chain(at.sin, at.cos), x.chain(at.cos, -at.sin)};
}

/// The angle of the point (x, y), in [−π, π].
template <PlainScalar T>
BRISTLE_INLINE T atan2(T y, T x) {
  return std::atan2(y, x);
}
template <PlainScalar T, int N>
BRISTLE_INLINE Pack<T, N> atan2(Pack<T, N> y, Pack<T, N> x) {
  for (int i = 0; i < N; ++i) x.set(i, std::atan2(y[i], x[i]));
  return x;
}
template <Scalar T, int N>
BRISTLE_INLINE Dual<T, N> atan2(const Dual<T, N>& y, const Dual<T, N>& x) {
  Dual<T, N> d;
  d.value = atan2(y.value, x.value);
  const T norm2 = x.value * x.value + y.value * y.value;
  for (int i = 0; i < N; ++i) {
    d.by[i] = (x.value * y.by[i] - y.value * x.by[i]) / norm2;
  }
  return d;
}

}  // namespace bristle
