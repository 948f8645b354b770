#pragma once

#include "bristle/laws/friction/friction.hpp"

namespace bristle {

struct Frictionless : FrictionBase<Frictionless> {
  static constexpr LawInfo info{
      .name = "frictionless",
      .title = "No friction",
      .formula = "f_t = 0",
      .source = "By definition.",
      .limits = "For contacts that only push, and to see what friction does.",
      .energy = "Passive: no power at all."};

  template <class T>
  struct Params {};

  static constexpr std::array<ParameterField<Params<double>>, 0> parameters() {
    return {};
  }

  template <class T, int D = 2>
  using State = NoState<T>;

  template <int D = 2>
  static constexpr std::array<StateField, 0> state() {
    return {};
  }

  static constexpr LedgerLines lines{};

  static constexpr std::array<GuardInfo, 0> guard_list() { return {}; }

  template <int D = 2, Scalar T>
  BRISTLE_INLINE static State<T, D> touch(const Params<T>&) noexcept {
    return {};
  }

  template <Scalar T, int D>
  BRISTLE_INLINE static FrictionForce<T, State<T, D>, D> evaluate(const Params<T>&,
                                                                  const State<T, D>&,
                                                                  const Kinematics<T, D>&,
                                                                  T) noexcept {
    return {.force = Kinematics<T, D>::no_slip(),
            .stored = T(0),
            .powers = {T(0), T(0), T(0), T(0), T(0)},
            .rate = {}};
  }

  template <Scalar T, int D>
  BRISTLE_INLINE static FrictionStep<T, State<T, D>, D> advance(const Params<T>&,
                                                                const State<T, D>&,
                                                                const Kinematics<T, D>&,
                                                                T, T) noexcept {
    return {.force = Kinematics<T, D>::no_slip(),
            .stored = T(0),
            .powers = {T(0), T(0), T(0), T(0), T(0)},
            .state = {}};
  }

  template <Scalar T, int D>
  BRISTLE_INLINE static FrictionSpring<T, D> spring(const Params<T>&, const State<T, D>&,
                                                    const Kinematics<T, D>&, T) noexcept {
    return {T(0), T(0), Kinematics<T, D>::no_slip(), T(0), T(0)};
  }

  template <Scalar T, int D>
  BRISTLE_INLINE static std::array<T, 0> guards(const Params<T>&, const State<T, D>&,
                                                const Kinematics<T, D>&, T) noexcept {
    return {};
  }

  template <Scalar T, int D>
  BRISTLE_INLINE static Commit<T, State<T, D>> commit(const Params<T>&,
                                                      const State<T, D>&,
                                                      const Kinematics<T, D>&,
                                                      T) noexcept {
    return {{}, T(0)};
  }
};

}  // namespace bristle
