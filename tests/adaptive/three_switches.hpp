#pragma once

#include "bristle/laws/normal/spring_damper.hpp"

// A normal law with three switches that nothing but this header knows: a spring that is
// harder beyond a depth, a damper that is stronger above a speed, and a clamp.

namespace bristle {

struct ThreeSwitches : SpringDamper<ThreeSwitches> {
  static constexpr LawInfo info{
      .name = "three-switches",
      .title = "Three switches",
      .formula = "f_n = max(0, k δ + k₂ (δ − d)₊ + c δ̇ + c₂ (δ̇ − v)₊)",
      .source = "made for the tests",
      .limits = "none",
      .energy = "Passive: the springs store, the rest is damped."};

  template <class T>
  struct Params {
    T stiffness;  // k [N/m]
    T more;       // k₂ [N/m]
    T beyond;     // d [m]
    T damping;    // c [N s/m]
    T stronger;   // c₂ [N s/m]
    T above;      // v [m/s]
  };

  static constexpr auto parameters() {
    using P = Params<double>;
    return std::array{
        ParameterField<P>{&P::stiffness,
                          {"stiffness", "k", "N/m", above_zero, 1e5, "spring"}},
        ParameterField<P>{
            &P::more, {"more", "k_2", "N/m", above_zero, 3e5, "spring beyond a depth"}},
        ParameterField<P>{&P::beyond,
                          {"beyond", "d", "m", above_zero, 1e-3, "where it sets in"}},
        ParameterField<P>{&P::damping,
                          {"damping", "c", "N s/m", above_zero, 20, "damper"}},
        ParameterField<P>{
            &P::stronger,
            {"stronger", "c_2", "N s/m", above_zero, 100, "damper above a speed"}},
        ParameterField<P>{&P::above,
                          {"above", "v", "m/s", above_zero, 0.2, "where it sets in"}}};
  }

  static constexpr std::array<GuardInfo, 3> guard_list() {
    return {{{"hard", GuardRole::branch},
             {"clamp", GuardRole::clamp},
             {"fast", GuardRole::branch}}};
  }

  template <Scalar T>
  BRISTLE_INLINE static std::array<T, 3> guards(const Params<T>& p, const NoState<T>&,
                                                const Kinematics<T>& kin) noexcept {
    Kinematics<T> free = kin;
    free.held = nullptr;
    Sum<T> sum = sum_of(p, free);
    return {kin.depth - p.beyond, sum.elastic + sum.damping, kin.rate - p.above};
  }

  template <Scalar T>
  BRISTLE_INLINE static NormalForce<T, NoState<T>> evaluate(
      const Params<T>& p, const NoState<T>&, const Kinematics<T>& kin) noexcept {
    Sum<T> sum = sum_of(p, kin);
    const auto closed = kin.depth > T(0);
    const auto presses = positive(kin, 1, sum.elastic + sum.damping > T(0));
    const T force = select(closed && presses, sum.elastic + sum.damping, T(0));
    const T damping = select(closed, (force - sum.elastic) * kin.rate, T(0));
    return {
        force, select(closed, sum.stored, T(0)), {damping, T(0), T(0), T(0), T(0)}, {}};
  }

  template <Scalar T>
  BRISTLE_INLINE static NormalStep<T, NoState<T>> advance(const Params<T>& p,
                                                          const NoState<T>& state,
                                                          const Kinematics<T>& kin,
                                                          T /*h*/) noexcept {
    auto now = evaluate(p, state, kin);
    return {now.force, now.stored, now.powers, {}};
  }

  template <Scalar T>
  BRISTLE_INLINE static NormalSlopes<T> linearise(const Params<T>& p, const NoState<T>&,
                                                  const Kinematics<T>& kin) noexcept {
    Sum<T> sum = sum_of(p, kin);
    const T force = sum.elastic + sum.damping;
    const auto closed = kin.depth > T(0);
    const auto pushes = closed && force > T(0);
    const T by_depth = p.stiffness + select(kin.depth > p.beyond, p.more, T(0));
    const T by_rate = p.damping + select(kin.rate > p.above, p.stronger, T(0));
    return {select(pushes, force, T(0)), select(closed, sum.elastic, T(0)),
            select(pushes, by_depth, T(0)), select(pushes, by_rate, T(0))};
  }

 private:
  static constexpr Range above_zero = bristle::above(0, 1e12);

  template <Scalar T>
  struct Sum {
    T elastic;
    T damping;
    T stored;
  };

  template <Scalar T>
  BRISTLE_INLINE static Sum<T> sum_of(const Params<T>& p, const Kinematics<T>& kin) {
    const T past = kin.depth - p.beyond, faster = kin.rate - p.above;
    const T more = select(positive(kin, 0, past > T(0)), p.more, T(0));
    const T stronger = select(positive(kin, 2, faster > T(0)), p.stronger, T(0));
    const T half = T(Value<T>(0.5));
    return {p.stiffness * kin.depth + more * past,
            p.damping * kin.rate + stronger * faster,
            half * (p.stiffness * square(kin.depth) + more * square(past))};
  }
};

}  // namespace bristle
