#pragma once

#include <array>
#include <concepts>
#include <limits>
#include <string_view>
#include <type_traits>

#include "bristle/laws/law.hpp"

namespace bristle {

/// Spring and damper before the clamp.
template <Scalar T>
struct NormalParts {
  T elastic;  // f_K [N]
  T damping;  // f_D [N]
  T stored;   // ∫ f_K dδ [J]
  T clamp;    // 1: f = max(0, f_K + f_D); 0: as it is, tension included
};

/// First derivatives of f_K + f_D.
template <Scalar T>
struct PartSlopes {
  T by_depth;
  T by_rate;
};

/// The operations of every law of the form f_n = max(0, f_K(δ) + f_D(δ, δ̇)) without
/// continuous memory. A law derives from this and writes `parts` and `slopes`, for
/// overlaps only: they are called with δ ≥ 0, and what they say at δ = 0 is not used. It
/// may shadow State, state() and touch() if it latches something at touch-down
/// (relative_damper.hpp), and passivity() if it can pull.
template <class Law>
struct SpringDamper {
  template <class T>
  using State = NoState<T>;

  static constexpr std::array<StateField, 0> state() { return {}; }

  static constexpr std::array<GuardInfo, 1> guard_list() {
    return {{{"clamp", GuardRole::clamp}}};
  }

  template <class Params>
  static constexpr Passivity passivity(const Params&) {
    return {};
  }

  static constexpr LedgerLines lines{.damping = true};

  /// A law whose damping can be tuned names the parameter here.
  static constexpr std::string_view damping_parameter = "";

  template <class Params, Scalar T>
  BRISTLE_INLINE static NoState<T> touch(const Params&, T /*impact_speed*/) noexcept {
    return {};
  }

  template <class Params, class State, Scalar T>
  BRISTLE_INLINE static NormalForce<T, State> evaluate(
      const Params& params, const State& state, const Kinematics<T>& kin) noexcept {
    NormalParts<T> parts = parts_of(params, state, overlap(kin));
    const auto closed = kin.depth > T(0);
    // Held on the side where it presses, the force goes on below zero.
    const auto presses = positive(kin, 0, parts.elastic + parts.damping > T(0));
    const T sum =
        select(parts.clamp == T(0) || presses, parts.elastic + parts.damping, T(0));
    const T force = select(closed, sum, T(0));
    // What the clamp takes from the spring, the damper dissipates.
    const T damping = select(closed, (force - parts.elastic) * kin.rate, T(0));
    return {
        force, parts.stored, {damping, T(0), T(0), T(0), T(0)}, zero_fields<State, T>()};
  }

  /// Nothing to integrate: the force of the moment.
  template <class Params, class State, Scalar T>
  BRISTLE_INLINE static NormalStep<T, State> advance(const Params& params,
                                                     const State& state,
                                                     const Kinematics<T>& kin,
                                                     T /*h*/) noexcept {
    NormalForce<T, State> now = evaluate(params, state, kin);
    return {now.force, now.stored, now.powers, state};
  }

  template <class Params, class State, Scalar T>
  BRISTLE_INLINE static NormalSlopes<T> linearise(const Params& params,
                                                  const State& state,
                                                  const Kinematics<T>& kin) noexcept {
    static_assert(
        requires {
          { Law::slopes(params, state, kin) } -> std::same_as<PartSlopes<T>>;
        },
        "a law on SpringDamper writes PartSlopes<T> slopes(const Params<T>&, const "
        "State<T>&, const Kinematics<T>&), a static template in T");
    NormalParts<T> parts = parts_of(params, state, overlap(kin));
    PartSlopes<T> slopes = Law::slopes(params, state, overlap(kin));
    const auto closed = kin.depth > T(0);
    const T unclamped = parts.elastic + parts.damping;
    const auto pushes = closed && (parts.clamp == T(0) || unclamped > T(0));
    return {clamped(parts, closed), select(closed, parts.elastic, T(0)),
            select(pushes, slopes.by_depth, T(0)), select(pushes, slopes.by_rate, T(0))};
  }

  /// The clamp begins or ends where f_K + f_D = 0.
  template <class Params, class State, Scalar T>
  BRISTLE_INLINE static std::array<T, 1> guards(const Params& params, const State& state,
                                                const Kinematics<T>& kin) noexcept {
    NormalParts<T> parts = parts_of(params, state, overlap(kin));
    return {parts.elastic + parts.damping};
  }

  /// Nothing to adjust.
  template <class Params, class State, Scalar T>
  BRISTLE_INLINE static Commit<T, State> commit(const Params&, const State& state,
                                                const Kinematics<T>&) noexcept {
    return {state, T(0)};
  }

 private:
  template <Scalar T>
  BRISTLE_INLINE static Kinematics<T> overlap(const Kinematics<T>& kin) {
    return {max(kin.depth, T(0)), kin.root_depth, kin.rate, kin.slip, nullptr, kin.patch};
  }

  template <class Params, class State, Scalar T>
  BRISTLE_INLINE static NormalParts<T> parts_of(const Params& params, const State& state,
                                                const Kinematics<T>& kin) {
    static_assert(
        requires {
          { Law::parts(params, state, kin) } -> std::same_as<NormalParts<T>>;
        },
        "a law on SpringDamper writes NormalParts<T> parts(const Params<T>&, const "
        "State<T>&, const Kinematics<T>&), a static template in T");
    return Law::parts(params, state, kin);
  }

  template <Scalar T, class M>
  BRISTLE_INLINE static T clamped(const NormalParts<T>& parts, const M& closed) {
    const T sum = parts.elastic + parts.damping;
    const T force = select(parts.clamp == T(0), sum, max(sum, T(0)));
    return select(closed, force, T(0));
  }
};

/// y ∝ δ^p computed without the exponent, given its derivative by it, y ln δ. Only a dual
/// exponent has one.
template <Scalar T>
BRISTLE_INLINE T with_exponent(const T& y, const Kinematics<T>& kin, const T& exponent) {
  if constexpr (requires { exponent.chain(exponent.value, exponent.value); }) {
    using V = std::remove_cvref_t<decltype(y.value)>;
    const V depth = select(kin.depth.value > V(0), kin.depth.value, V(1));
    return y + exponent.chain(V(0), y.value * log(depth));
  } else {
    return y;
  }
}

/// δ^p of an overlap, δ ≥ 0. Hertz's 3/2 costs no more than δ√δ; a general exponent
/// is computed only where a lane asks for it.
template <Scalar T>
BRISTLE_INLINE T depth_power(const Kinematics<T>& kin, const T& exponent) {
  const T hertz = with_exponent(kin.depth * kin.root_depth, kin, exponent);
  const auto general = exponent != T(Value<T>(1.5));
  if (any(general)) return select(general, pow(kin.depth, exponent), hertz);
  return hertz;
}

/// p δ^{p−1}, the slope of the above.
template <Scalar T>
BRISTLE_INLINE T depth_power_slope(const Kinematics<T>& kin, const T& exponent) {
  const T hertz = with_exponent(exponent * kin.root_depth, kin, exponent);
  const auto general = exponent != T(Value<T>(1.5));
  if (any(general)) {
    return select(general, exponent * pow(kin.depth, exponent - T(1)), hertz);
  }
  return hertz;
}

/// factor · p δ^{p−1} for 0 ≤ p, factor of any sign: the depth slope of a damping force
/// λ δ^p δ̇. It is infinite at δ → 0 for p < 1; here it ends at a large number.
template <Scalar T>
BRISTLE_INLINE T steep_slope(const Kinematics<T>& kin, const T& factor,
                             const T& exponent) {
  const T largest = T(std::numeric_limits<Value<T>>::max() / 2);
  const T size = factor * exponent;
  const T slope = size * pow(kin.depth, exponent - T(1));
  return select(size == T(0), T(0), min(max(slope, -largest), largest));
}

}  // namespace bristle
