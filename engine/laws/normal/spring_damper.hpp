#pragma once

#include <array>
#include <string_view>

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
/// continuous memory. A law derives from this, writes `parts` and `slopes`, and may
/// shadow State, state() and touch() if it latches something at touch-down (Gonthier
/// does).
template <class Law>
struct SpringDamper {
  template <class T>
  using State = NoState<T>;

  static constexpr std::array<StateField, 0> state() { return {}; }

  static constexpr std::array<std::string_view, 2> guard_names() {
    return {"touch", "clamp"};
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
    const NormalParts<T> parts = Law::parts(params, state, kin);
    const T force = clamped(parts, kin);
    // What the clamp takes from the spring, the damper dissipates.
    const T damping = select(kin.depth > T(0), (force - parts.elastic) * kin.rate, T(0));
    return {
        force, parts.stored, {damping, T(0), T(0), T(0), T(0)}, zero_fields<State, T>()};
  }

  /// Nothing to integrate: the force of the moment.
  template <class Params, class State, Scalar T>
  BRISTLE_INLINE static NormalStep<T, State> advance(const Params& params,
                                                     const State& state,
                                                     const Kinematics<T>& kin,
                                                     T /*h*/) noexcept {
    const NormalForce<T, State> now = evaluate(params, state, kin);
    return {now.force, now.stored, now.powers, state};
  }

  template <class Params, class State, Scalar T>
  BRISTLE_INLINE static NormalSlopes<T> linearise(const Params& params,
                                                  const State& state,
                                                  const Kinematics<T>& kin) noexcept {
    const NormalParts<T> parts = Law::parts(params, state, kin);
    const PartSlopes<T> slopes = Law::slopes(params, state, kin);
    const T unclamped = parts.elastic + parts.damping;
    const auto pushes = kin.depth > T(0) && (parts.clamp == T(0) || unclamped > T(0));
    return {clamped(parts, kin), parts.elastic, select(pushes, slopes.by_depth, T(0)),
            select(pushes, slopes.by_rate, T(0))};
  }

  /// Touch and lift-off at δ = 0; the clamp begins or ends where f_K + f_D = 0.
  template <class Params, class State, Scalar T>
  BRISTLE_INLINE static std::array<T, 2> guards(const Params& params, const State& state,
                                                const Kinematics<T>& kin) noexcept {
    const NormalParts<T> parts = Law::parts(params, state, kin);
    return {kin.depth, parts.elastic + parts.damping};
  }

 private:
  template <Scalar T>
  BRISTLE_INLINE static T clamped(const NormalParts<T>& parts, const Kinematics<T>& kin) {
    const T sum = parts.elastic + parts.damping;
    const T force = select(parts.clamp == T(0), sum, max(sum, T(0)));
    return select(kin.depth > T(0), force, T(0));
  }
};

/// δ^p of an overlap, 0 when open. Hertz's 3/2 costs no more than δ√δ; a general exponent
/// is computed only where a lane asks for it.
template <Scalar T>
BRISTLE_INLINE T depth_power(const Kinematics<T>& kin, const T& exponent) {
  const T depth = max(kin.depth, T(0));
  const T hertz = depth * kin.root_depth;
  const auto general = exponent != T(Value<T>(1.5));
  if (any(general)) return select(general, pow(depth, exponent), hertz);
  return hertz;
}

/// p δ^{p−1}, the slope of the above.
template <Scalar T>
BRISTLE_INLINE T depth_power_slope(const Kinematics<T>& kin, const T& exponent) {
  const T hertz = exponent * kin.root_depth;
  const auto general = exponent != T(Value<T>(1.5));
  if (any(general)) {
    return select(general, exponent * pow(max(kin.depth, T(0)), exponent - T(1)), hertz);
  }
  return hertz;
}

}  // namespace bristle
