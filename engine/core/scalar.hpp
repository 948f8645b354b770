#pragma once

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include "bristle/core/platform.hpp"

// The vocabulary in which laws are written, for the plain kinds double and float:
//
//   select(mask, a, b)   a where mask, else b; both are evaluated
//   &&  ||  !            on masks; any(mask), all(mask) reduce to bool
//   sqrt root exp pow max min abs
//
// Pack<T, N> (pack.hpp) and Dual<T, N> (dual.hpp) offer the same words, so one text of a
// law serves them all. A law selects; it does not branch on T. `any` may guard work that
// no lane needs, as long as the result does not change.

namespace bristle {

template <class T>
concept PlainScalar = std::same_as<T, double> || std::same_as<T, float>;

/// Numbers that a scalar kind can be made from: `T(1)`, `2 * x`.
template <class U>
concept Arithmetic = std::is_arithmetic_v<U>;

/// What is known about a scalar kind. `value_type` is the number in one lane.
template <class T>
struct ScalarTraits;

template <PlainScalar T>
struct ScalarTraits<T> {
  using value_type = T;
  using mask_type = bool;
  static constexpr int lanes = 1;
};

template <class T>
using Mask = typename ScalarTraits<T>::mask_type;

/// The number behind one lane of T: double or float.
template <class T>
using Value = typename ScalarTraits<T>::value_type;

template <class T>
concept Scalar = requires { typename ScalarTraits<T>::value_type; };

BRISTLE_INLINE constexpr bool any(bool mask) { return mask; }
BRISTLE_INLINE constexpr bool all(bool mask) { return mask; }

BRISTLE_INLINE constexpr double select(bool mask, double a, double b) {
  return mask ? a : b;
}
BRISTLE_INLINE constexpr float select(bool mask, float a, float b) {
  return mask ? a : b;
}

BRISTLE_INLINE double sqrt(double x) { return std::sqrt(x); }
BRISTLE_INLINE float sqrt(float x) { return std::sqrt(x); }

template <Scalar T>
BRISTLE_INLINE constexpr T max(const T& a, const T& b) {
  return select(a > b, a, b);
}

template <Scalar T>
BRISTLE_INLINE constexpr T min(const T& a, const T& b) {
  return select(a < b, a, b);
}

template <Scalar T>
BRISTLE_INLINE constexpr T abs(const T& x) {
  return select(x < T(0), -x, x);
}

template <Scalar T>
BRISTLE_INLINE constexpr T square(const T& x) {
  return x * x;
}

/// √max(x, 0). Unlike sqrt, its derivative at x ≤ 0 is 0 and not NaN (see the Dual
/// overload), which is what a contact that is open, or just touching, must report.
template <PlainScalar T>
BRISTLE_INLINE T root(T x) {
  return sqrt(max(x, T(0)));
}

// The three operations on the bits of a floating-point number that exp and pow need.

template <PlainScalar T>
struct FloatBits;

template <>
struct FloatBits<double> {
  using Int = std::int64_t;
  static constexpr int mantissa_bits = 52;
  static constexpr Int bias = 1023;
  static constexpr double round_magic = 0x1.8p52;  // x + magic rounds x to an integer
  static constexpr double integer_magic =
      0x1.0p52;  // its low mantissa bits hold an integer
};

template <>
struct FloatBits<float> {
  using Int = std::int32_t;
  static constexpr int mantissa_bits = 23;
  static constexpr Int bias = 127;
  static constexpr float round_magic = 0x1.8p23f;
  static constexpr float integer_magic = 0x1.0p23f;
};

/// 2^k for an integer-valued k whose power is a normal number.
template <PlainScalar T>
BRISTLE_INLINE T two_to(T k) {
  using B = FloatBits<T>;
  using U = std::make_unsigned_t<typename B::Int>;
  const auto bits = std::bit_cast<U>(k + B::round_magic) + static_cast<U>(B::bias);
  return std::bit_cast<T>(static_cast<U>(bits << B::mantissa_bits));
}

/// x = mantissa · 2^exponent with the mantissa in [1, 2), for normal x > 0.
template <class T>
struct Split {
  T mantissa;
  T exponent;
};

template <PlainScalar T>
BRISTLE_INLINE Split<T> split(T x) {
  using B = FloatBits<T>;
  using U = std::make_unsigned_t<typename B::Int>;
  constexpr U one_bits = static_cast<U>(B::bias) << B::mantissa_bits;
  constexpr U mantissa_mask = (U{1} << B::mantissa_bits) - 1;
  const U bits = std::bit_cast<U>(x);
  const T biased = std::bit_cast<T>(static_cast<U>((bits >> B::mantissa_bits) |
                                                   std::bit_cast<U>(B::integer_magic))) -
                   B::integer_magic;
  return {std::bit_cast<T>(static_cast<U>((bits & mantissa_mask) | one_bits)),
          biased - static_cast<T>(B::bias)};
}

}  // namespace bristle
