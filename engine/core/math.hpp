#pragma once

#include <initializer_list>
#include <limits>

#include "bristle/core/pack.hpp"
#include "bristle/core/scalar.hpp"

// exp and pow of our own: one branch-free text for double, float and packs, so that each
// lane equals the scalar result bit for bit on every machine. No fused multiply-add is
// used.

namespace bristle {

namespace detail {

template <class Number>
struct ExpConstants;

template <>
struct ExpConstants<double> {
  static constexpr double log2_e = 0x1.71547652b82fep0;
  static constexpr double ln2_hi = 0x1.62e42feep-1;  // 33 bits: k · ln2_hi is exact
  static constexpr double ln2_lo = 0x1.a39ef35793c76p-33;
  static constexpr double highest = 710;  // exp overflows above 709.78
  static constexpr double lowest = -746;  // exp is zero below -745.13
  static constexpr double half_range = 1000;
  static constexpr double subnormal_scale = 0x1p54;
  static constexpr double subnormal_shift = 54;
  static constexpr double split_factor = 0x1p27 + 1;  // Dekker
};

template <>
struct ExpConstants<float> {
  static constexpr float log2_e = 0x1.715476p0f;
  static constexpr float ln2_hi = 0x1.62ep-1f;
  static constexpr float ln2_lo = 0x1.0bfbe8p-15f;
  static constexpr float highest = 89;
  static constexpr float lowest = -104;
  static constexpr float half_range = 100;
  static constexpr float subnormal_scale = 0x1p25f;
  static constexpr float subnormal_shift = 25;
  static constexpr float split_factor = 0x1p12f + 1;
};

/// (exp(r) − 1 − r)/r² for |r| ≤ ln2/2, by its Taylor series grouped for short chains.
template <class T>
BRISTLE_INLINE T exp_tail(T r) {
  using N = Value<T>;
  const T r2 = r * r;
  const T r4 = r2 * r2;
  // The truncated remainder is below 2⁻⁵⁷ (double, r¹⁴/14!) and 2⁻²⁷ (float, r⁸/8!).
  const T low =
      (T(N(1.0 / 2)) + r * T(N(1.0 / 6))) + r2 * (T(N(1.0 / 24)) + r * T(N(1.0 / 120)));
  if constexpr (sizeof(N) == 4) {
    return low + r4 * (T(N(1.0 / 720)) + r * T(N(1.0 / 5040)));
  } else {
    const T mid =
        (T(1.0 / 720) + r * T(1.0 / 5040)) + r2 * (T(1.0 / 40320) + r * T(1.0 / 362880));
    const T high = (T(1.0 / 3628800) + r * T(1.0 / 39916800)) +
                   r2 * (T(1.0 / 479001600) + r * T(1.0 / 6227020800.0));
    return low + r4 * (mid + r4 * high);
  }
}

/// exp(x + dx) for |dx| far below one.
template <class T>
BRISTLE_INLINE T exp_sum(T x, T dx) {
  using C = ExpConstants<Value<T>>;
  using B = FloatBits<Value<T>>;
  const T y = min(T(C::highest), max(T(C::lowest), x));  // this order lets a NaN through
  // y = k ln2 + r, |r| ≤ ln2/2
  const T k = (y * T(C::log2_e) + T(B::round_magic)) - T(B::round_magic);
  const T r = ((y - k * T(C::ln2_hi)) - k * T(C::ln2_lo)) + dx;
  const T e = T(1) + (r + (r * r) * exp_tail(r));
  // 2^k in two factors: k reaches into overflow and into the subnormal numbers.
  const T k1 = min(T(C::half_range), max(T(-C::half_range), k));
  return (e * two_to(k1)) * two_to(k - k1);
}

}  // namespace detail

/// e^x, within 1 unit in the last place (measured; see the tests).
template <class T>
  requires PlainScalar<T>
BRISTLE_INLINE T exp(T x) {
  return detail::exp_sum(x, T(0));
}

template <PlainScalar T, int N>
BRISTLE_INLINE Pack<T, N> exp(Pack<T, N> x) {
  return detail::exp_sum(x, Pack<T, N>(0));
}

namespace detail {

/// ln x = hi + lo for x > 0, with lo below the last place of hi.
template <class T>
struct LogParts {
  T hi;
  T lo;
};

template <class T>
BRISTLE_INLINE LogParts<T> log_parts(T x) {
  using N = Value<T>;
  using C = ExpConstants<N>;
  const auto tiny = x < T(std::numeric_limits<N>::min());
  const Split<T> parts = split(select(tiny, x * T(C::subnormal_scale), x));
  const auto upper = parts.mantissa > T(N(1.4142135623730951));
  const T k = parts.exponent + select(upper, T(1), T(0)) -
              select(tiny, T(C::subnormal_shift), T(0));
  const T f = select(upper, parts.mantissa * T(N(0.5)), parts.mantissa) - T(1);  // exact
  // ln(1+f) = f − f²/2 + s(f²/2 + R(s²)), s = f/(2+f); R = Σ 2 s^{2i}/(2i+1), i ≥ 1
  const T s = f / (T(2) + f);
  const T w = s * s;
  T series = T(N(2.0 / 23));
  for (const double n : {21.0, 19.0, 17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0}) {
    series = series * w + T(N(2.0 / n));
  }
  const T half_square = T(N(0.5)) * f * f;
  const T rest = (s * (half_square + w * series) - half_square) + k * T(C::ln2_lo);
  // k ln2_hi + f without loss (fast two-sum: k ln2_hi is 0 or larger than f)
  const T big = k * T(C::ln2_hi);
  const T hi = big + f;
  const T error = select(big == T(0), T(0), f - (hi - big));
  // The rest reaches 0.07: made small against the sum, as exp_sum asks for.
  const T lo = rest + error;
  const T sum = hi + lo;
  return {sum, lo - (sum - hi)};
}

template <class T>
BRISTLE_INLINE T pow_positive(T x, T p) {
  using C = ExpConstants<Value<T>>;
  const LogParts<T> log = log_parts(x);
  // p · hi with its rounding error (Dekker's product)
  const T product = p * log.hi;
  const T cp = p * T(C::split_factor);
  const T cl = log.hi * T(C::split_factor);
  const T p_hi = cp - (cp - p);
  const T l_hi = cl - (cl - log.hi);
  const T p_lo = p - p_hi;
  const T l_lo = log.hi - l_hi;
  const T error = ((p_hi * l_hi - product) + p_hi * l_lo + p_lo * l_hi) + p_lo * l_lo;
  return exp_sum(product, error + p * log.lo);
}

}  // namespace detail

/// ln x for finite x > 0; −∞ at 0, NaN below.
template <class T>
  requires(Scalar<T> && !requires(T x) { x.value; })
BRISTLE_INLINE T log(T x) {
  using N = Value<T>;
  const detail::LogParts<T> parts = detail::log_parts(x);
  const T below = select(x == T(0), T(-std::numeric_limits<N>::infinity()),
                         T(std::numeric_limits<N>::quiet_NaN()));
  return select(x > T(0), parts.hi, below);
}

/// x^p for a depth x ≥ 0 and an exponent p; 0 at x ≤ 0 (an open contact), also for p ≤ 0.
template <class T>
  requires(Scalar<T> && !requires(T x) { x.value; })
BRISTLE_INLINE T pow(T x, T p) {
  return select(x > T(0), detail::pow_positive(select(x > T(0), x, T(1)), p), T(0));
}

}  // namespace bristle
