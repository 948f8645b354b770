#pragma once

#include "bristle/laws/normal/spring_damper.hpp"

namespace bristle {

/// f_n = k δ^p (1 + a δ̇)₊: the laws whose damping force is a share of the spring's. A law
/// derives from this, has the parameters stiffness and exponent, and writes
///   T dissipation(const Params<T>&, const State<T>&)     a [s/m]
template <class Law>
struct RelativeDamper : SpringDamper<Law> {
  template <class Params, class State, Scalar T>
  BRISTLE_INLINE static NormalParts<T> parts(const Params& p, const State& state,
                                             const Kinematics<T>& kin) {
    const T spring = p.stiffness * depth_power(kin, p.exponent);
    return {.elastic = spring,
            .damping = spring * (Law::dissipation(p, state) * kin.rate),
            .stored = spring * kin.depth * (T(1) / (p.exponent + T(1))),
            .clamp = T(1)};
  }

  template <class Params, class State, Scalar T>
  BRISTLE_INLINE static PartSlopes<T> slopes(const Params& p, const State& state,
                                             const Kinematics<T>& kin) {
    const T a = Law::dissipation(p, state);
    return {.by_depth =
                p.stiffness * depth_power_slope(kin, p.exponent) * (T(1) + a * kin.rate),
            .by_rate = p.stiffness * depth_power(kin, p.exponent) * a};
  }
};

/// The same with a = V(e)/v_i, chosen at touch-down from a coefficient of restitution e
/// and the approach speed v_i, and kept until the contact ends. A law derives from this
/// and writes
///   T impact_damping(T e)                                V = a v_i
///   static constexpr Range restitution_range
template <class Law>
struct LatchedDamper : RelativeDamper<Law> {
  static constexpr std::string_view damping_parameter = "restitution";

  template <class T>
  struct Params {
    T stiffness;           // k [N/m^p]
    T exponent;            // p
    T restitution;         // e
    T impact_speed_floor;  // least v_i [m/s]
  };

  static constexpr auto parameters() {
    using P = Params<double>;
    return std::array{
        ParameterField<P>{&P::stiffness,
                          {"stiffness", "k", "N/m^p", above(0, 1e15), 8.5e6,
                           "force per depth to the power p; Hertz: 4/3 E* √R"}},
        ParameterField<P>{&P::exponent,
                          {"exponent", "p", "1", between(1, 4), 1.5,
                           "3/2 for a sphere (Hertz), 1 for a flat punch"}},
        ParameterField<P>{
            &P::restitution,
            {"restitution", "e", "1", Law::restitution_range, 0.5,
             "coefficient of restitution: separation speed over impact speed"}},
        ParameterField<P>{
            &P::impact_speed_floor,
            {"impact_speed_floor", "v_min", "m/s", between(1e-9, 1e3), 1e-6,
             "slower touch-downs are damped as if they came at this speed"}}};
  }

  /// The damping that was chosen at touch-down, for the whole contact.
  template <class T>
  struct State {
    T dissipation;  // a [s/m]
  };

  static constexpr auto state() {
    return std::array{StateField{"dissipation", "a", "s/m", "latched at touch-down"}};
  }

  template <Scalar T>
  BRISTLE_INLINE static State<T> touch(const Params<T>& p, T impact_speed) noexcept {
    const T speed = max(impact_speed, p.impact_speed_floor);
    return {Law::impact_damping(p.restitution) / speed};
  }

  template <Scalar T>
  BRISTLE_INLINE static T dissipation(const Params<T>&, const State<T>& state) {
    return state.dissipation;
  }
};

}  // namespace bristle
