#pragma once

#include "bristle/core/vec.hpp"

// Directions that pass through zero with the slip: dir(v) = ψ(|v|/v_ε) v/v_ε, with
// ψ(x) = φ(x)/x for an odd φ that rises from 0 to 1.

namespace bristle {

/// φ = min(x, 1).
template <Scalar T>
BRISTLE_INLINE T linear_ramp(const T& x) {
  return T(1) / max(x, T(1));
}

/// φ = 3/2 x − ½ x³ up to 1: no corner at v_ε.
template <Scalar T>
BRISTLE_INLINE T cubic_ramp(const T& x) {
  using N = Value<T>;
  return select(x < T(1), T(N(1.5)) - T(N(0.5)) * square(x), T(1) / max(x, T(1)));
}

/// φ = tanh x, by its series where 1 − e^{−2x} would lose digits.
template <Scalar T>
BRISTLE_INLINE T tanh_ramp(const T& x) {
  using N = Value<T>;
  const T x2 = square(x);
  const T series =
      T(1) +
      x2 * (T(N(-1.0 / 3)) +
            x2 * (T(N(2.0 / 15)) + x2 * (T(N(-17.0 / 315)) + x2 * T(N(62.0 / 2835)))));
  const T e = exp(T(-2) * x);
  const auto small = x < T(N(0.05));  // the next term is below 1e-15
  return select(small, series, (T(1) - e) / ((T(1) + e) * select(small, T(1), x)));
}

}  // namespace bristle
