#pragma once

#include <array>
#include <string_view>

#include "bristle/laws/law.hpp"

namespace bristle {

namespace detail {
template <class L, class T, bool own>
struct StateOfDimension {
  using type = typename L::template State<T, 3>;
};
template <class L, class T>
struct StateOfDimension<L, T, true> {
  using type = typename L::template State<T>;
};
}  // namespace detail

/// The memory of a friction law under slip of D components.
template <class L, class T, int D>
using StateIn = typename detail::StateOfDimension<L, T, D == slip_components<L>>::type;

/// A vector of D components as a law remembers it, the third one due to spin; then what
/// else it remembers.
template <int D, class... Others>
constexpr auto vector_fields(std::string_view x, std::string_view y,
                             std::string_view spin, std::string_view meaning,
                             const Others&... others) {
  const StateField along_x{x, x, "m", meaning}, along_y{y, y, "m", meaning};
  if constexpr (D == 2) {
    return std::array{along_x, along_y, others...};
  } else {
    return std::array{along_x, along_y, StateField{spin, spin, "m", meaning}, others...};
  }
}

/// The base of every friction law.
template <class Law>
struct FrictionBase {
  template <class Params>
  static constexpr Passivity passivity(const Params&) {
    return {};
  }

  /// The derivatives of `evaluate`, by dual numbers: exact, and never out of step with
  /// it.
  template <class Params, class State, Scalar T, int D>
  BRISTLE_INLINE static FrictionSlopes<T, D> linearise(const Params& params,
                                                       const State& state,
                                                       const Kinematics<T, D>& kin,
                                                       T normal_force) noexcept {
    using X = Dual<T, 3 + D>;
    const auto at = Kinematics<X, D>::at(
        X::variable(kin.depth, 0), X::variable(kin.rate, 1), variables<X>(kin.slip));
    const auto f = Law::evaluate(cast_params<Law, X, T>(params),
                                 cast_fields_to<StateIn<Law, X, D>, X, T>(state), at,
                                 X::variable(normal_force, 2 + D))
                       .force;
    const auto by = [&f](int i) {
      Vec<T, D> slope;
      for (std::size_t k = 0; k < D; ++k) field<T>(slope, k) = field<X>(f, k).by[i];
      return slope;
    };
    FrictionSlopes<T, D> slopes;
    for (std::size_t k = 0; k < D; ++k) {
      field<T>(slopes.force, k) = field<X>(f, k).value;
      slopes.by_slip[k] = by(2 + static_cast<int>(k));
    }
    slopes.by_normal_force = by(2 + D);
    slopes.by_depth = by(0);
    slopes.by_rate = by(1);
    return slopes;
  }

 private:
  /// A slip as variables number 2 and on.
  template <class X, class V>
  BRISTLE_INLINE static auto variables(const V& slip) {
    if constexpr (requires { slip.z; }) {
      return Vec3<X>{X::variable(slip.x, 2), X::variable(slip.y, 3),
                     X::variable(slip.z, 4)};
    } else {
      return Vec2<X>{X::variable(slip.x, 2), X::variable(slip.y, 3)};
    }
  }
};

/// `power` as a loss where it is one, as unsupplied power where it is negative.
template <Scalar T>
struct SignedPower {
  T loss;
  T unsupplied;
};

template <Scalar T>
BRISTLE_INLINE SignedPower<T> by_sign(const T& power) {
  return {max(power, T(0)), max(-power, T(0))};
}

}  // namespace bristle
