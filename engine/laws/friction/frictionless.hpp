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

  template <class T>
  using State = NoState<T>;

  static constexpr std::array<StateField, 0> state() { return {}; }

  static constexpr LedgerLines lines{};

  static constexpr std::array<GuardInfo, 0> guard_list() { return {}; }

  template <Scalar T>
  BRISTLE_INLINE static State<T> touch(const Params<T>&) noexcept {
    return {};
  }

  template <Scalar T>
  BRISTLE_INLINE static FrictionForce<T, State<T>> evaluate(const Params<T>&,
                                                            const State<T>&,
                                                            const Kinematics<T>&,
                                                            T) noexcept {
    return {.force = {T(0), T(0)},
            .stored = T(0),
            .powers = {T(0), T(0), T(0), T(0), T(0)},
            .rate = {}};
  }

  template <Scalar T>
  BRISTLE_INLINE static FrictionStep<T, State<T>> advance(const Params<T>&,
                                                          const State<T>&,
                                                          const Kinematics<T>&, T,
                                                          T) noexcept {
    return {.force = {T(0), T(0)},
            .stored = T(0),
            .powers = {T(0), T(0), T(0), T(0), T(0)},
            .state = {}};
  }

  template <Scalar T>
  BRISTLE_INLINE static FrictionSpring<T> spring(const Params<T>&, const State<T>&,
                                                 const Kinematics<T>&, T) noexcept {
    return {T(0), T(0), {T(0), T(0)}, T(0), T(0)};
  }

  template <Scalar T>
  BRISTLE_INLINE static std::array<T, 0> guards(const Params<T>&, const State<T>&,
                                                const Kinematics<T>&, T) noexcept {
    return {};
  }

  template <Scalar T>
  BRISTLE_INLINE static Commit<T, State<T>> commit(const Params<T>&, const State<T>&,
                                                   const Kinematics<T>&, T) noexcept {
    return {{}, T(0)};
  }
};

}  // namespace bristle
