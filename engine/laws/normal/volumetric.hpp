#pragma once

#include "bristle/laws/normal/gonthier.hpp"
#include "bristle/laws/normal/spring_damper.hpp"

namespace bristle {

/// V, W, A and dV/dt of the contact; where the kinematics have no patch, of a flat punch
/// of one square metre.
template <Scalar T>
BRISTLE_INLINE PatchMotion<T> patch_of(const Kinematics<T>& kin) {
  if (kin.patch != nullptr) return *kin.patch;
  const T volume = max(kin.depth, T(0));
  return {volume, T(Value<T>(0.5)) * volume * volume, T(1), kin.rate};
}

/// How a volumetric law resists rolling: the couple −(k_v a J_s + c I_A) ω_t with the
/// moments of the volume and of the section.
template <Scalar T>
struct RollingDamping {
  T by_volume;  // k_v a [N s/m⁴]
  T by_area;    // c [N s/m³]
};

/// f_n = k_v V (1 + a v_cn)₊, stored k_v W. A law derives from this, has the parameter
/// stiffness, and writes
///   T dissipation(const Params<T>&, const State<T>&)     a [s/m]
template <class Law>
struct VolumeDamper : SpringDamper<Law> {
  static constexpr bool volumetric = true;

  template <class Params, class State, Scalar T>
  BRISTLE_INLINE static NormalParts<T> parts(const Params& p, const State& state,
                                             const Kinematics<T>& kin) {
    const PatchMotion<T> patch = patch_of(kin);
    const T spring = p.stiffness * patch.volume;
    return {.elastic = spring,
            .damping = spring * (Law::dissipation(p, state) * kin.rate),
            .stored = p.stiffness * patch.potential,
            .clamp = T(1)};
  }

  template <class Params, class State, Scalar T>
  BRISTLE_INLINE static PartSlopes<T> slopes(const Params& p, const State& state,
                                             const Kinematics<T>& kin) {
    const PatchMotion<T> patch = patch_of(kin);
    const T a = Law::dissipation(p, state);
    return {.by_depth = p.stiffness * patch.area * (T(1) + a * kin.rate),
            .by_rate = p.stiffness * patch.volume * a};
  }

  template <class Params, class State>
  BRISTLE_INLINE static auto rolling(const Params& p, const State& state) {
    const auto by_volume = p.stiffness * Law::dissipation(p, state);
    using T = std::remove_const_t<decltype(by_volume)>;
    return RollingDamping<T>{by_volume, T(0)};
  }
};

namespace detail {

inline constexpr Range volumetric_stiffness_range = above(0, 1e18);
inline constexpr std::string_view volumetric_stiffness_meaning =
    "force per volume of overlap; no material constant: it falls with the size of the "
    "patch";

inline constexpr std::string_view volumetric_limits =
    "k_v is no material constant: 2E*/(π r) makes a flat punch of radius r as stiff as "
    "in elastic theory, 8E*/(5π √(R δ)) does the same work as Hertz at the depth δ of a "
    "sphere. The pressure k_v δ(s) (1 + a v_n(s)) of a patch that turns at ω_t is "
    "negative somewhere once a |ω_t| R > 1, R the patch's radius: the closed form of "
    "the couple, −k_v a J_s ω_t, then pulls there, and at a |ω_t| R = 2 the couple of a "
    "flat disc is 14 % above that of a pressure without tension.";

}  // namespace detail

struct Volumetric : VolumeDamper<Volumetric> {
  static constexpr LawInfo info{
      .name = "volumetric",
      .title = "Volumetric, restitution-exact damping",
      .formula =
          "f_n = k_v V (1 + a v_cn)₊,  a = d(e)/(e v_i)\n"
          "(1 + d/e)/(1 − d) = exp(d (1 + 1/e)),  0 < d ≤ 1\n"
          "τ_r = −k_v a J_s ω_t",
      .source =
          "Boos & McPhee 2013, Volumetric modeling and experimental validation of normal "
          "contact dynamic forces, eqs. 6–15, after Gonthier et al. 2005. Deviations: "
          "( )₊ forbids tension, τ_r has its sign, J_s is about s_c and not about the "
          "volume's centroid, d comes from e² L(−d) = L(d/e).",
      .limits = detail::volumetric_limits,
      .energy =
          "Passive. Stored k_v W, W = ∫ V dδ: for a plane the work of buoyancy, V times "
          "the depth of the volume's centroid. The clamp acts only when the bodies are "
          "pulled apart faster than 1/a; what it takes from the spring is counted as "
          "damping."};

  static constexpr std::string_view damping_parameter = "restitution";

  template <class T>
  struct Params {
    T stiffness;           // k_v [N/m³]
    T restitution;         // e
    T impact_speed_floor;  // least v_i [m/s]
  };

  static constexpr auto parameters() {
    using P = Params<double>;
    return std::array{
        ParameterField<P>{
            &P::stiffness,
            {"stiffness", "k_v", "N/m^3", detail::volumetric_stiffness_range, 1e10,
             detail::volumetric_stiffness_meaning}},
        ParameterField<P>{
            &P::restitution,
            {"restitution", "e", "1", GonthierNormal::restitution_range, 0.5,
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
    return {GonthierNormal::impact_damping(p.restitution) / speed};
  }

  template <Scalar T>
  BRISTLE_INLINE static T dissipation(const Params<T>&, const State<T>& state) {
    return state.dissipation;
  }
};

struct VolumetricDissipation : VolumeDamper<VolumetricDissipation> {
  static constexpr LawInfo info{
      .name = "volumetric-dissipation",
      .title = "Volumetric, damping factor given",
      .formula =
          "f_n = k_v V (1 + a v_cn)₊\n"
          "τ_r = −k_v a J_s ω_t",
      .source =
          "Boos & McPhee 2013, Volumetric modeling and experimental validation of normal "
          "contact dynamic forces, eqs. 11 and 15, with the damping factor a that their "
          "experiments give. We add ( )₊ to forbid tension.",
      .limits = detail::volumetric_limits,
      .energy =
          "Passive. Stored k_v W, W = ∫ V dδ. The clamp acts only when the bodies are "
          "pulled apart faster than 1/a; what it takes from the spring is counted as "
          "damping. Restitution falls with the impact speed as for hunt-crossley."};

  static constexpr std::string_view damping_parameter = "dissipation";

  template <class T>
  struct Params {
    T stiffness;    // k_v [N/m³]
    T dissipation;  // a [s/m]
  };

  static constexpr auto parameters() {
    using P = Params<double>;
    return std::array{
        ParameterField<P>{
            &P::stiffness,
            {"stiffness", "k_v", "N/m^3", detail::volumetric_stiffness_range, 1e10,
             detail::volumetric_stiffness_meaning}},
        ParameterField<P>{&P::dissipation,
                          {"dissipation", "a", "s/m", between(0, 1e9), 0.5,
                           "share of the elastic force added per speed of the patch's "
                           "centroid along the normal"}}};
  }

  template <Scalar T>
  BRISTLE_INLINE static T dissipation(const Params<T>& p, const NoState<T>&) {
    return p.dissipation;
  }
};

struct VolumetricRate : SpringDamper<VolumetricRate> {
  static constexpr bool volumetric = true;

  static constexpr LawInfo info{
      .name = "volumetric-rate",
      .title = "Volumetric, damping by the rate of the volume",
      .formula =
          "f_n = max(0, k_v V + c dV/dt)\n"
          "τ_r = −c I_A ω_t, and c dV/dt acts at the section's centroid",
      .source =
          "Roy & Carretero 2009, as Boos & McPhee 2013, § 1.2, describe them: the "
          "pressure k_v δ(s) + c dδ(s)/dt, integrated. We add max( ) to forbid tension.",
      .limits =
          "The force jumps at touch-down where faces conform, to c A v. The restitution "
          "depends on the shape, the mass and the speed. k_v is no material constant, as "
          "for volumetric.",
      .energy =
          "Passive. Stored k_v W, W = ∫ V dδ; lost c ∫ (dδ/dt)² dS over the section, of "
          "which the couple's share is counted as rolling. With the clamp, contact ends "
          "before δ = 0 and the energy left is counted as damping."};

  static constexpr std::string_view damping_parameter = "damping";

  template <class T>
  struct Params {
    T stiffness;  // k_v [N/m³]
    T damping;    // c [N s/m³]
  };

  static constexpr auto parameters() {
    using P = Params<double>;
    return std::array{ParameterField<P>{&P::stiffness,
                                        {"stiffness", "k_v", "N/m^3",
                                         detail::volumetric_stiffness_range, 1e10,
                                         detail::volumetric_stiffness_meaning}},
                      ParameterField<P>{&P::damping,
                                        {"damping", "c", "N s/m^3", between(0, 1e15), 1e6,
                                         "force per rate of the volume of overlap"}}};
  }

  template <Scalar T>
  BRISTLE_INLINE static NormalParts<T> parts(const Params<T>& p, const NoState<T>&,
                                             const Kinematics<T>& kin) {
    const PatchMotion<T> patch = patch_of(kin);
    return {.elastic = p.stiffness * patch.volume,
            .damping = p.damping * patch.volume_rate,
            .stored = p.stiffness * patch.potential,
            .clamp = T(1)};
  }

  template <Scalar T>
  BRISTLE_INLINE static PartSlopes<T> slopes(const Params<T>& p, const NoState<T>&,
                                             const Kinematics<T>& kin) {
    const PatchMotion<T> patch = patch_of(kin);
    return {.by_depth = p.stiffness * patch.area, .by_rate = p.damping * patch.area};
  }

  template <Scalar T>
  BRISTLE_INLINE static RollingDamping<T> rolling(const Params<T>& p, const NoState<T>&) {
    return {T(0), p.damping};
  }
};

}  // namespace bristle
