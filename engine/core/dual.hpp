#pragma once

#include "bristle/core/math.hpp"
#include "bristle/core/scalar.hpp"

namespace bristle {

/// A number with its derivatives by N variables (forward-mode differentiation).
/// Comparisons and `select` look at the value alone. T is double, float or a pack of
/// them.
template <Scalar T, int N>
struct Dual {
  T value;
  T by[N];  // ∂value/∂xᵢ

  Dual() = default;

  /// A constant.
  template <Arithmetic U>
  BRISTLE_INLINE constexpr Dual(U x)  // NOLINT(google-explicit-constructor)
      : value(static_cast<Value<T>>(x)) {
    for (int i = 0; i < N; ++i) by[i] = T(0);
  }
  BRISTLE_INLINE constexpr Dual(T x)  // NOLINT(google-explicit-constructor)
    requires(!Arithmetic<T>)
      : value(x) {
    for (int i = 0; i < N; ++i) by[i] = T(0);
  }

  /// The variable xᵢ.
  BRISTLE_INLINE static constexpr Dual variable(T x, int i) {
    Dual d;
    d.value = x;
    for (int j = 0; j < N; ++j) d.by[j] = T(j == i ? 1 : 0);
    return d;
  }

  /// f(x) and f′(x) for an inner x: the chain rule.
  BRISTLE_INLINE constexpr Dual chain(T f, T derivative) const {
    Dual d;
    d.value = f;
    for (int i = 0; i < N; ++i) d.by[i] = derivative * by[i];
    return d;
  }

  BRISTLE_INLINE friend constexpr Dual operator-(const Dual& a) {
    Dual d;
    d.value = -a.value;
    for (int i = 0; i < N; ++i) d.by[i] = -a.by[i];
    return d;
  }
  BRISTLE_INLINE friend constexpr Dual operator+(const Dual& a, const Dual& b) {
    Dual d;
    d.value = a.value + b.value;
    for (int i = 0; i < N; ++i) d.by[i] = a.by[i] + b.by[i];
    return d;
  }
  BRISTLE_INLINE friend constexpr Dual operator-(const Dual& a, const Dual& b) {
    Dual d;
    d.value = a.value - b.value;
    for (int i = 0; i < N; ++i) d.by[i] = a.by[i] - b.by[i];
    return d;
  }
  BRISTLE_INLINE friend constexpr Dual operator*(const Dual& a, const Dual& b) {
    Dual d;
    d.value = a.value * b.value;
    for (int i = 0; i < N; ++i) d.by[i] = a.by[i] * b.value + a.value * b.by[i];
    return d;
  }
  BRISTLE_INLINE friend constexpr Dual operator/(const Dual& a, const Dual& b) {
    Dual d;
    d.value = a.value / b.value;
    for (int i = 0; i < N; ++i) d.by[i] = (a.by[i] - d.value * b.by[i]) / b.value;
    return d;
  }
  BRISTLE_INLINE constexpr Dual& operator+=(const Dual& b) { return *this = *this + b; }
  BRISTLE_INLINE constexpr Dual& operator-=(const Dual& b) { return *this = *this - b; }
  BRISTLE_INLINE constexpr Dual& operator*=(const Dual& b) { return *this = *this * b; }
  BRISTLE_INLINE constexpr Dual& operator/=(const Dual& b) { return *this = *this / b; }

  BRISTLE_INLINE friend constexpr Mask<T> operator<(const Dual& a, const Dual& b) {
    return a.value < b.value;
  }
  BRISTLE_INLINE friend constexpr Mask<T> operator>(const Dual& a, const Dual& b) {
    return a.value > b.value;
  }
  BRISTLE_INLINE friend constexpr Mask<T> operator<=(const Dual& a, const Dual& b) {
    return a.value <= b.value;
  }
  BRISTLE_INLINE friend constexpr Mask<T> operator>=(const Dual& a, const Dual& b) {
    return a.value >= b.value;
  }
  BRISTLE_INLINE friend constexpr Mask<T> operator==(const Dual& a, const Dual& b) {
    return a.value == b.value;
  }
  BRISTLE_INLINE friend constexpr Mask<T> operator!=(const Dual& a, const Dual& b) {
    return a.value != b.value;
  }

  BRISTLE_INLINE friend constexpr Dual select(Mask<T> m, const Dual& a, const Dual& b) {
    Dual d;
    d.value = select(m, a.value, b.value);
    for (int i = 0; i < N; ++i) d.by[i] = select(m, a.by[i], b.by[i]);
    return d;
  }

  BRISTLE_INLINE friend Dual sqrt(const Dual& x) {
    const T r = sqrt(x.value);
    return x.chain(r, T(Value<T>(0.5)) / r);
  }

  /// √max(x, 0) with derivative 0 at x ≤ 0.
  BRISTLE_INLINE friend Dual root(const Dual& x) {
    const T r = root(x.value);
    const auto positive = r > T(0);
    return x.chain(r,
                   select(positive, T(Value<T>(0.5)) / select(positive, r, T(1)), T(0)));
  }

  BRISTLE_INLINE friend Dual exp(const Dual& x) {
    const T e = exp(x.value);
    return x.chain(e, e);
  }

  BRISTLE_INLINE friend Dual log(const Dual& x) {
    return x.chain(log(x.value), T(1) / x.value);
  }

  /// x^p; value and derivatives are 0 at x ≤ 0.
  BRISTLE_INLINE friend Dual pow(const Dual& x, const Dual& p) {
    const auto positive = x.value > T(0);
    const T base = select(positive, x.value, T(1));
    const T y = pow(x.value, p.value);
    const T by_x = select(positive, p.value * y / base, T(0));
    const T by_p = y * log(base);
    Dual d;
    d.value = y;
    for (int i = 0; i < N; ++i) d.by[i] = by_x * x.by[i] + by_p * p.by[i];
    return d;
  }
};

template <Scalar T, int N>
struct ScalarTraits<Dual<T, N>> {
  using value_type = Value<T>;
  using mask_type = Mask<T>;
  static constexpr int lanes = ScalarTraits<T>::lanes;
};

/// The value without its derivatives.
template <class T>
  requires(Scalar<T> && !requires(T x) { x.value; })
BRISTLE_INLINE constexpr T value_of(T x) {
  return x;
}
template <Scalar T, int N>
BRISTLE_INLINE constexpr T value_of(const Dual<T, N>& x) {
  return x.value;
}

}  // namespace bristle
