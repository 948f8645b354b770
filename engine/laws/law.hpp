#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "bristle/core/fields.hpp"
#include "bristle/core/parameter.hpp"
#include "bristle/core/vec.hpp"

// What a contact law is.
//
// A law is a struct without data members, with
//   info, parameters(), state()         what it is, in words and numbers
//   Params<T>, State<T>                 plain values; State is all that the law remembers
//   touch, evaluate, advance,           pure functions, templated on the scalar kind T
//   linearise, guards, commit
//
// Two bodies A and B touch; the unit normal n points from A into B. The depth δ is
// positive when the undeformed shapes overlap, the rate δ̇ when they approach, and the
// slip v_t is the tangential velocity of B relative to A, in two components of the
// contact frame. The force on B is f_n n + f_t, on A the opposite. SI units and radians
// throughout.
//
// A contact with a patch also spins, at ω_n about n. Its slip has a third component
// r_g ω_n, r_g the patch's radius of gyration, and so have the friction force and what a
// friction law remembers; r_g times the third force is the spinning couple (friction/
// with_spin.hpp). Friction laws are written for D components, D = 2 or 3.

namespace bristle {

/// The overlap of a volumetric contact, as its normal law sees it.
template <Scalar T>
struct PatchMotion {
  T volume;       // V [m³]
  T potential;    // W = ∫ V dδ [m⁴]
  T area;         // A of the section [m²]
  T volume_rate;  // dV/dt [m³/s]
};

/// How two surfaces move against each other at one contact. Depth and root both, because
/// the derivative of √δ is singular at touch-down, and in contact time s is integrated.
template <Scalar T, int D = 2>
struct Kinematics {
  T depth;         // δ [m]
  T root_depth;    // s = √max(δ, 0) [√m]
  T rate;          // δ̇ [m/s]
  Vec<T, D> slip;  // v_t, and r_g ω_n where D = 3 [m/s]
  /// The side of each guard that the law is held on, in the order of its guard_list(): 0,
  /// the side where it is; or ±1, so that its rates stay smooth for an integrator that
  /// tries a step beyond an event before it locates it. Null: free. `evaluate` reads it
  /// through positive(), and `guards` and `commit` where a law has a bound.
  const T* held = nullptr;
  /// Of a volumetric contact, whose rate is that of the patch's weighted centroid along
  /// the normal, v_cn; null elsewhere.
  const PatchMotion<T>* patch = nullptr;

  BRISTLE_INLINE static Kinematics at(T depth, T rate, Vec<T, D> slip = no_slip()) {
    return {depth, root(depth), rate, slip};
  }
  BRISTLE_INLINE static Vec<T, D> no_slip() {
    if constexpr (D == 2) return {T(0), T(0)};
    if constexpr (D == 3) return {T(0), T(0), T(0)};
  }

  /// The same motion without spin.
  BRISTLE_INLINE operator Kinematics<T, 3>() const
    requires(D == 2)
  {
    return {depth, root_depth, rate, {slip.x, slip.y, T(0)}, held, patch};
  }
};

/// Whether guard number k of a law is positive: by itself, or because the law is held
/// there.
template <Scalar T, int D, class M>
BRISTLE_INLINE M positive(const Kinematics<T, D>& kin, std::size_t k, const M& itself) {
  if (kin.held == nullptr) return itself;
  const T& side = kin.held[k];
  return side > T(0) || (side == T(0) && itself);
}

/// Whether a law is held on its bound, guard number k. Free, it is not.
template <Scalar T, int D>
BRISTLE_INLINE auto on_bound(const Kinematics<T, D>& kin, std::size_t k) {
  const T side = kin.held == nullptr ? T(0) : kin.held[k];
  return side > T(0);
}

/// What the sign of a guard says.
enum class GuardRole : std::uint8_t {
  clamp,   // positive while the contact presses, negative while its force is cut to zero
  slip,    // positive while it slips, negative while it sticks
  branch,  // any other switch between two branches of the law
  bound,   // positive while the memory exceeds a bound that it is kept within
  drift,   // no switch: see below
};

// A bound moves with the load, so that a law cannot say when its memory leaves it again.
// It says instead how fast the memory would grow across the bound: the guard after the
// one of the role `bound`, of the role `drift`, per second. Held on the positive side of
// the bound, a law acts as if its memory were on it, whatever the length of the memory;
// that length stays, and `commit`, held so too, puts the memory on the bound. The memory
// leaves the bound where drift + d(guard)/dt becomes negative.

/// A guard: a function of a law that changes its sign where the law changes its branch.
/// Exactly 0 says that the switch is not in force; an integrator then holds neither side.
/// Touching and parting, at δ = 0, are no guard of a law.
struct GuardInfo {
  std::string_view name;
  GuardRole role;
};

/// The power that the bodies spend on a contact, by ledger line [W]. The first three are
/// losses and never negative. The last two are sources: power that enters the stored
/// energy although no body supplied it, by a law that is not passive. For every law
///
///   spent + parametric + unsupplied = d(stored)/dt + damping + slip + viscous,
///
/// where `spent` is f_n δ̇ for a normal law and −f_t·v_t for a friction law.
template <Scalar T>
struct Powers {
  T damping;
  T slip;
  T viscous;
  T parametric;  // a stiffness that changes with depth, under load
  T unsupplied;  // a defect of the law; its metadata says when

  BRISTLE_INLINE friend constexpr T dissipated(const Powers& p) {
    return p.damping + p.slip + p.viscous;
  }
  BRISTLE_INLINE friend constexpr T sources(const Powers& p) {
    return p.parametric + p.unsupplied;
  }
};

/// The lines that a law ever writes; the others are zero.
struct LedgerLines {
  bool damping = false;
  bool slip = false;
  bool viscous = false;
  bool parametric = false;
  bool unsupplied = false;
};

template <Scalar T, class State>
struct NormalForce {
  T force;   // f_n [N]
  T stored;  // [J]
  Powers<T> powers;
  [[no_unique_address]] State rate;
};

template <Scalar T, class State>
struct NormalStep {
  T force;
  T stored;
  Powers<T> powers;
  [[no_unique_address]] State state;
};

/// f_n to first order around a point.
template <Scalar T>
struct NormalSlopes {
  T force;         // f(δ, δ̇) [N]
  T static_force;  // f(δ, 0) [N]
  T by_depth;      // ∂f/∂δ [N/m]
  T by_rate;       // ∂f/∂δ̇ [N s/m]
};

template <Scalar T, class State, int D = 2>
struct FrictionForce {
  Vec<T, D> force;  // f_t on B [N]
  T stored;
  Powers<T> powers;
  [[no_unique_address]] State rate;
};

/// One step of length h at constant kinematics. The ledger balances over the step:
///   h (spent + parametric + unsupplied) = stored(new) − stored(old) + h (losses).
/// For a law whose stiffness follows the depth, `old` is taken at the depth δ − h δ̇ of
/// the step's beginning.
template <Scalar T, class State, int D = 2>
struct FrictionStep {
  Vec<T, D> force;
  T stored;
  Powers<T> powers;  // means over the step
  [[no_unique_address]] State state;
};

/// f_t to first order around a point, the memory held.
template <Scalar T, int D = 2>
struct FrictionSlopes {
  Vec<T, D> force;
  std::array<Vec<T, D>, D> by_slip;  // ∂f_t/∂v by component of the slip [N s/m]
  Vec<T, D> by_normal_force;         // ∂f_t/∂f_n
  Vec<T, D> by_depth;                // ∂f_t/∂δ [N/m]
  Vec<T, D> by_rate;                 // ∂f_t/∂δ̇ [N s/m]
};

/// A friction law seen as a bounded spring and damper: the tangent row of a
/// complementarity step. The elastic force is what the memory exerts on B with nothing
/// moving.
template <Scalar T, int D = 2>
struct FrictionSpring {
  T stiffness;              // K_T [N/m]
  T damping;                // D_T [N s/m]
  Vec<T, D> elastic_force;  // −K_T z [N]
  T bound;                  // largest |f_t| of spring and damper [N]
  T viscous;                // outside the bound [N s/m]
};

/// A row of the boxed complementarity problem w = A z + b for impulses z over a step h:
/// `compliance` is added to the diagonal of A, `bias` to b.
template <Scalar T>
struct ComplementarityRow {
  T compliance;  // C
  T bias;        // r
};

/// C = 1/(h²K + hD), r = −f(δ, 0)/(hK + D): backward Euler on any law, linearised. (Φ
/// K/(hK + D) as printed for a linear spring would be wrong by a factor 3/2 for Hertz.)
/// Where hK + D is not positive, the row is so soft that it carries h f(δ, 0) whatever
/// moves: nothing in an open contact.
template <Scalar T>
BRISTLE_INLINE ComplementarityRow<T> complementarity_row(const NormalSlopes<T>& n, T h) {
  const T d = max(h * n.by_depth + n.by_rate, T(Value<T>(1e-20)));
  return {T(1) / (h * d), -n.static_force / d};
}

/// The tangent rows share C, also the third one in units of r_g ω_n; r = −λ_E/(hK + D)
/// per component. Rows of a law without spring and damper are so soft that they carry
/// nothing.
template <Scalar T, int D = 2>
struct TangentRows {
  T compliance;
  Vec<T, D> bias;
  T bound;  // impulse [N s]
};

template <Scalar T, int D>
BRISTLE_INLINE TangentRows<T, D> complementarity_rows(const FrictionSpring<T, D>& f,
                                                      T h) {
  const T d = max(h * f.stiffness + f.damping, T(Value<T>(1e-20)));
  return {T(1) / (h * d), (T(-1) / d) * f.elastic_force, h * f.bound};
}

/// The memory after an accepted step, and what adjusting it released [J] (counted as slip
/// by a friction law, as damping by a normal law).
template <Scalar T, class State>
struct Commit {
  [[no_unique_address]] State state;
  T released;
};

/// Whether, and in which sense, a law creates energy.
enum class Parametric { none, sink, either };

struct Passivity {
  bool tension = false;  // may pull (f_n < 0)
  Parametric parametric = Parametric::none;
  bool unsupplied = false;
};

struct LawInfo {
  std::string_view name;     // as typed: "hunt-crossley"
  std::string_view title;    // as read: "Hunt–Crossley"
  std::string_view formula;  // the equations, one per line
  std::string_view source;   // where from, with equation numbers, and our deviation
  std::string_view limits;   // where it holds and what to beware of
  std::string_view energy;   // whether it is passive, and where not
};

/// A law that remembers nothing.
template <class T>
struct NoState {};

namespace detail {
template <class L>
constexpr int slip_components_of() {
  if constexpr (requires { L::slip_components; }) return L::slip_components;
  return 2;
}
}  // namespace detail

/// The components of a friction law's slip, force and memory: three where it says so.
template <class L>
inline constexpr int slip_components = detail::slip_components_of<L>();

namespace detail {

template <class L>
concept HasInfo = requires {
  { L::info } -> std::convertible_to<LawInfo>;
};

/// A struct of T and Vec2<T> alone, in two scalar kinds.
template <class InDouble, class InFloat>
inline constexpr bool is_row =
    std::is_trivially_copyable_v<InDouble> &&
    field_count<InDouble, double> == field_count<InFloat, float>;

template <class L>
concept HasParams = requires {
  L::parameters();
} && is_row<typename L::template Params<double>, typename L::template Params<float>>;

template <class L>
concept HasState =
    requires { L::state(); } &&
    is_row<typename L::template State<double>, typename L::template State<float>> &&
    L::state().size() == field_count<typename L::template State<double>, double>;

/// parameters() lists each member of Params once, in the order of the struct.
template <class L>
constexpr bool lists_parameters_in_order() {
  using Params = typename L::template Params<double>;
  if (L::parameters().size() != field_count<Params, double>) return false;
  if constexpr (field_count<Params, double> > 0) {
    Params p{};
    double n = 0;
    for (const auto& field : L::parameters()) p.*field.member = ++n;
    const auto row = std::bit_cast<std::array<double, field_count<Params, double>>>(p);
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (row[i] != static_cast<double>(i + 1)) return false;
    }
  }
  return true;
}

template <class L>
constexpr bool defaults_lie_in_range() {
  for (const auto& field : L::parameters()) {
    if (!field.about.range.contains(field.about.preset)) return false;
  }
  return true;
}

template <class L>
constexpr bool has_parameter(std::string_view name) {
  for (const auto& field : L::parameters()) {
    if (field.about.name == name) return true;
  }
  return false;
}

template <class L>
concept HasLedger = requires {
  { L::lines } -> std::convertible_to<LedgerLines>;
  { L::guard_list()[0] } -> std::convertible_to<GuardInfo>;
  { L::passivity(typename L::template Params<double>{}) } -> std::same_as<Passivity>;
};

template <class L>
concept HasDampingParameter = requires {
  { L::damping_parameter } -> std::convertible_to<std::string_view>;
} && (L::damping_parameter.empty() || has_parameter<L>(L::damping_parameter));

template <class L>
concept Described = HasInfo<L> && HasParams<L> && HasState<L> &&
                    lists_parameters_in_order<L>() && HasLedger<L>;

template <class L, class T>
concept NormalLawFor =
    requires(typename L::template Params<T> params, typename L::template State<T> state,
             Kinematics<T> kin, T x) {
      { L::touch(params, x) } noexcept -> std::same_as<typename L::template State<T>>;
      {
        L::evaluate(params, state, kin)
      } noexcept -> std::same_as<NormalForce<T, typename L::template State<T>>>;
      {
        L::advance(params, state, kin, x)
      } noexcept -> std::same_as<NormalStep<T, typename L::template State<T>>>;
      { L::linearise(params, state, kin) } noexcept -> std::same_as<NormalSlopes<T>>;
      {
        L::guards(params, state, kin)
      } noexcept -> std::same_as<std::array<T, L::guard_list().size()>>;
      {
        L::commit(params, state, kin)
      } noexcept -> std::same_as<Commit<T, typename L::template State<T>>>;
    };

template <class L, class T, int D = slip_components<L>>
concept FrictionLawFor =
    requires(typename L::template Params<T> params, typename L::template State<T> state,
             Kinematics<T, D> kin, T f_n, T h) {
      { L::touch(params) } noexcept -> std::same_as<typename L::template State<T>>;
      {
        L::evaluate(params, state, kin, f_n)
      } noexcept -> std::same_as<FrictionForce<T, typename L::template State<T>, D>>;
      {
        L::advance(params, state, kin, f_n, h)
      } noexcept -> std::same_as<FrictionStep<T, typename L::template State<T>, D>>;
      {
        L::linearise(params, state, kin, f_n)
      } noexcept -> std::same_as<FrictionSlopes<T, D>>;
      {
        L::spring(params, state, kin, f_n)
      } noexcept -> std::same_as<FrictionSpring<T, D>>;
      {
        L::guards(params, state, kin, f_n)
      } noexcept -> std::same_as<std::array<T, L::guard_list().size()>>;
      {
        L::commit(params, state, kin, f_n)
      } noexcept -> std::same_as<Commit<T, typename L::template State<T>>>;
    };

}  // namespace detail

/// A law of the normal force. `touch` makes the memory of a new contact from the approach
/// speed; it stays as it is until the contact ends, but for what `evaluate` gives a rate
/// and what `commit` adjusts on accepted steps. A contact ends when the bodies have
/// parted and the law stores nothing more: a ground that still recovers is not forgotten.
///
/// `damping_parameter` names the parameter that is tuned to reach a given restitution; it
/// is empty where there is none.
template <class L>
concept NormalLaw = detail::Described<L> && detail::HasDampingParameter<L> &&
                    detail::NormalLawFor<L, double> && detail::NormalLawFor<L, float>;

/// A law of friction, given the normal force. `commit` runs on accepted steps only.
template <class L>
concept FrictionLaw = detail::Described<L> && detail::FrictionLawFor<L, double> &&
                      detail::FrictionLawFor<L, float>;

namespace detail {

/// Reports what a law lacks; the compiler prints the law's name with it.
template <class L>
struct CheckDescription {
  static_assert(HasInfo<L>, "a law needs: static constexpr LawInfo info{.name = …}");
  static_assert(
      HasParams<L>,
      "a law needs: template <class T> struct Params, of fields of type T only, "
      "and static constexpr auto parameters(), an array of ParameterField");
  static_assert(HasState<L>,
                "State<T> holds fields of type T and Vec2<T> only, and state() describes "
                "each number in it, in order: shadow both or neither");
  static_assert(lists_parameters_in_order<L>(),
                "parameters() must list every member of Params once, in the same order");
  static_assert(defaults_lie_in_range<L>(), "a default lies outside its range");
  static_assert(HasLedger<L>,
                "a law needs lines, guard_list() and passivity(const Params<double>&); "
                "SpringDamper and FrictionBase have them");
};

template <class L>
struct CheckNormalLaw : CheckDescription<L> {
  static_assert(HasDampingParameter<L>,
                "damping_parameter must be the name of a parameter, or empty");
  static_assert(
      NormalLawFor<L, double> && NormalLawFor<L, float>,
      "an operation is missing or has another signature: touch, evaluate, "
      "advance, linearise, guards, commit, all noexcept, as law.hpp states them; "
      "a law that shadows State must shadow touch");
  static constexpr bool fine = NormalLaw<L>;
};

template <class L>
struct CheckFrictionLaw : CheckDescription<L> {
  static_assert(FrictionLawFor<L, double> && FrictionLawFor<L, float>,
                "an operation is missing or has another signature: touch, evaluate, "
                "advance, linearise, spring, guards, commit, all noexcept, as law.hpp "
                "states them");
  static constexpr bool fine = FrictionLaw<L>;
};

}  // namespace detail

/// Whether a normal law is one of the overlap's volume: it reads Kinematics::patch.
template <class L>
inline constexpr bool volumetric_law = requires { requires L::volumetric; };

/// The number of the first guard of that role; past the last one where there is none.
template <class L>
constexpr std::size_t guard_of(GuardRole role) {
  std::size_t k = 0;
  for (const GuardInfo& guard : L::guard_list()) {
    if (guard.role == role) break;
    ++k;
  }
  return k;
}

/// The parameters of a law at their defaults.
template <class L>
constexpr typename L::template Params<double> default_params() {
  typename L::template Params<double> p{};
  for (const auto& field : L::parameters()) p.*field.member = field.about.preset;
  return p;
}

/// A law's parameters in another scalar kind.
template <class L, Scalar T, Scalar From>
BRISTLE_INLINE typename L::template Params<T> cast_params(
    const typename L::template Params<From>& p) {
  return cast_fields<L::template Params, T, From>(p);
}

/// A law's memory in another scalar kind.
template <class L, Scalar T, Scalar From>
BRISTLE_INLINE typename L::template State<T> cast_state(
    const typename L::template State<From>& s) {
  return cast_fields_to<typename L::template State<T>, T, From>(s);
}

}  // namespace bristle
