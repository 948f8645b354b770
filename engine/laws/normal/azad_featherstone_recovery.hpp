#pragma once

#include "bristle/laws/normal/azad_featherstone.hpp"

namespace bristle {

// After the loss of contact the spring and the damper behind the gearbox recover alone:
// K x + D ẋ = 0. With x = 4/5 C δ_g^{5/4} for a ground surface at the depth δ_g, k = 4/5
// C² K and λ = C² D this is ẋ/x = 5/4 δ̇_g/δ_g = −K/D = −5/4 k/λ, thus
//
//   δ̇_g = −(k/λ) δ_g,
//
// the motion at which √δ (k δ + λ δ̇) is zero. While the body presses, the ground lies
// against it and has no memory of its own: δ_g = 0. On the accepted step that finds the
// body leaving faster than the ground can follow, `commit` lets the ground go where the
// body is; from then on δ_g decays, and the body feels nothing before it is that deep
// again.
struct AzadFeatherstoneRecovery : SpringDamper<AzadFeatherstoneRecovery> {
  static constexpr LawInfo info{
      .name = "azad-featherstone-recovery",
      .title = "Azad–Featherstone with a ground that recovers",
      .formula =
          "f_n = max(0, √δ (k δ + λ δ̇))  while the body touches the ground, δ ≥ δ_g\n"
          "δ̇_g = −(k/λ) δ_g  after it was left at δ_g = δ, where f_n fell to 0",
      .source =
          "Azad & Featherstone 2014, A new nonlinear model of contact normal force, "
          "eqs. 4, 7, 8 and § II-B: K x + D ẋ = 0 after the loss of contact, in terms of "
          "the depth of the ground: x = 4/5 C δ_g^{5/4}, k = 4/5 C² K, λ = C² D.",
      .limits =
          "As azad-featherstone with the clamp; it differs from it only where bodies "
          "meet "
          "again within a few λ/k after they parted. The ground is left where the step "
          "ends that finds f_n = 0: to locate the guard `clamp` makes that exact. The "
          "ground is one point: a body that comes back elsewhere finds the same dent.",
      .energy =
          "Passive. What is left in the spring at the loss of contact stays stored in "
          "the "
          "ground and goes into its damper as it recovers, k²/λ δ_g^{5/2} at a time."};

  template <class T>
  struct Params {
    T stiffness;  // k [N/m^{3/2}]
    T damping;    // λ [N s/m^{3/2}]
  };

  static constexpr auto parameters() {
    using P = Params<double>;
    return std::array{
        ParameterField<P>{
            &P::stiffness,
            {"stiffness", "k", "N/m^1.5", above(0, 1e15), 8.5e6, "Hertz: 4/3 E* √R"}},
        ParameterField<P>{&P::damping,
                          {"damping", "λ", "N s/m^1.5", between(1e-3, 1e12), 3.1e3,
                           "damping force over √δ, per unit approach speed"}}};
  }

  static constexpr std::string_view damping_parameter = "damping";

  template <class T>
  struct State {
    T ground;  // δ_g [m], 0 while the body presses
  };

  static constexpr auto state() {
    return std::array{
        StateField{"ground", "δ_g", "m", "depth of the ground that a body left"}};
  }

  static constexpr std::array<GuardInfo, 2> guard_list() {
    return {{{"clamp", GuardRole::clamp}, {"ground", GuardRole::branch}}};
  }

  template <Scalar T>
  BRISTLE_INLINE static State<T> touch(const Params<T>&, T /*impact_speed*/) noexcept {
    return {T(0)};
  }

  template <Scalar T>
  BRISTLE_INLINE static NormalForce<T, State<T>> evaluate(
      const Params<T>& p, const State<T>& state, const Kinematics<T>& kin) noexcept {
    auto touching = Pressed::evaluate(pressed(p), NoState<T>{}, kin);
    const auto free = is_free(p, state.ground, kin);
    const T recovery = p.stiffness / p.damping * state.ground;  // −δ̇_g
    const T elastic = p.stiffness * state.ground * root(state.ground);
    return {.force = select(free, T(0), touching.force),
            .stored = select(free, ground_energy(p, state.ground), touching.stored),
            .powers = {select(free, elastic * recovery, touching.powers.damping), T(0),
                       T(0), T(0), T(0)},
            .rate = {-recovery}};
  }

  /// The decay of a free ground is exact over the step.
  template <Scalar T>
  BRISTLE_INLINE static NormalStep<T, State<T>> advance(const Params<T>& p,
                                                        const State<T>& state,
                                                        const Kinematics<T>& kin,
                                                        T h) noexcept {
    auto touching = Pressed::evaluate(pressed(p), NoState<T>{}, kin);
    const T before = state.ground;
    const T after = before * exp(-(p.stiffness / p.damping * h));
    const auto free = is_free(p, after, kin);
    const T stored = ground_energy(p, after);
    const T damping = (ground_energy(p, before) - stored) / h;
    return {.force = select(free, T(0), touching.force),
            .stored = select(free, stored, touching.stored),
            .powers = {select(free, damping, touching.powers.damping), T(0), T(0), T(0),
                       T(0)},
            .state = {select(free, after, left_behind(touching.force, kin))}};
  }

  template <Scalar T>
  BRISTLE_INLINE static NormalSlopes<T> linearise(const Params<T>& p,
                                                  const State<T>& state,
                                                  const Kinematics<T>& kin) noexcept {
    NormalSlopes<T> f = Pressed::linearise(pressed(p), NoState<T>{}, kin);
    const auto free = is_free(p, state.ground, kin);
    return {select(free, T(0), f.force),
            select(state.ground > kin.depth, T(0), f.static_force),
            select(free, T(0), f.by_depth), select(free, T(0), f.by_rate)};
  }

  /// The body leaves the ground where f_K + f_D = 0; it meets a ground that recovers
  /// where δ = δ_g.
  template <Scalar T>
  BRISTLE_INLINE static std::array<T, 2> guards(const Params<T>& p, const State<T>& state,
                                                const Kinematics<T>& kin) noexcept {
    auto touching = Pressed::guards(pressed(p), NoState<T>{}, kin);
    return {touching[0], select(state.ground == T(0), T(0), kin.depth - state.ground)};
  }

  /// A body that touches takes the ground along, or leaves it behind. A ground that has
  /// come back, as far as a body can tell from where it is, is flat again.
  template <Scalar T>
  BRISTLE_INLINE static Commit<T, State<T>> commit(const Params<T>& p,
                                                   const State<T>& state,
                                                   const Kinematics<T>& kin) noexcept {
    const T force = Pressed::evaluate(pressed(p), NoState<T>{}, kin).force;
    const auto free = is_free(p, state.ground, kin);
    const auto flat = state.ground <= T(Value<T>(-1e-12)) * kin.depth;
    return {{select(flat, T(0), select(free, state.ground, left_behind(force, kin)))},
            select(flat, ground_energy(p, state.ground), T(0))};
  }

 private:
  using Pressed = AzadFeatherstone;

  template <Scalar T>
  BRISTLE_INLINE static Pressed::Params<T> pressed(const Params<T>& p) {
    return {p.stiffness, p.damping, T(1)};
  }

  /// Whether the ground at δ_g does not touch the body. Where it does and the body
  /// recedes faster than it, they are about to part: free as well.
  template <Scalar T>
  BRISTLE_INLINE static Mask<T> is_free(const Params<T>& p, const T& ground,
                                        const Kinematics<T>& kin) {
    const auto parts = p.stiffness * kin.depth + p.damping * kin.rate <= T(0);
    return ground > kin.depth || (ground == kin.depth && parts);
  }

  template <Scalar T>
  BRISTLE_INLINE static T left_behind(const T& force, const Kinematics<T>& kin) {
    return select(force > T(0), T(0), max(kin.depth, T(0)));
  }

  template <Scalar T>
  BRISTLE_INLINE static T ground_energy(const Params<T>& p, const T& ground) {
    return T(Value<T>(0.4)) * (p.stiffness * ground * root(ground)) * ground;
  }
};

}  // namespace bristle
