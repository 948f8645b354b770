#pragma once

#include "bristle/laws/law.hpp"

namespace bristle {

/// What every friction law gets for free.
template <class Law>
struct FrictionBase {
  template <class Params>
  static constexpr Passivity passivity(const Params&) {
    return {};
  }

  /// The derivatives of `evaluate`, by dual numbers: exact, and never out of step with
  /// it.
  template <class Params, class State, Scalar T>
  BRISTLE_INLINE static FrictionSlopes<T> linearise(const Params& params,
                                                    const State& state,
                                                    const Kinematics<T>& kin,
                                                    T normal_force) noexcept {
    using D = Dual<T, 5>;
    Kinematics<D> at =
        Kinematics<D>::at(D::variable(kin.depth, 0), D::variable(kin.rate, 1),
                          {D::variable(kin.slip.x, 2), D::variable(kin.slip.y, 3)});
    const auto f =
        Law::evaluate(cast_params<Law, D, T>(params), cast_state<Law, D, T>(state), at,
                      D::variable(normal_force, 4))
            .force;
    const auto by = [&f](int i) { return Vec2<T>{f.x.by[i], f.y.by[i]}; };
    return {.force = {f.x.value, f.y.value},
            .by_slip_x = by(2),
            .by_slip_y = by(3),
            .by_normal_force = by(4),
            .by_depth = by(0),
            .by_rate = by(1)};
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
