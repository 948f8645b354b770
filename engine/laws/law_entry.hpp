#pragma once

#include <span>
#include <typeindex>
#include <vector>

#include "bristle/laws/catalogue.hpp"
#include "bristle/laws/friction/spinning_disc.hpp"

// A law's entry in the catalogue, made from its type.

namespace bristle {

namespace detail {

/// Whether a law is one of normal force or of friction; the compiler says in words what
/// it lacks to be either.
template <class Law>
constexpr LawFamily family_of() {
  if constexpr (NormalLaw<Law>) {
    static_assert(CheckNormalLaw<Law>::fine);
    return LawFamily::normal;
  } else if constexpr (FrictionLaw<Law>) {
    static_assert(CheckFrictionLaw<Law>::fine);
    return LawFamily::friction;
  } else if constexpr (requires { Law::damping_parameter; }) {
    static_assert(CheckNormalLaw<Law>::fine, "see the law named above");
    return LawFamily::normal;
  } else {
    static_assert(CheckFrictionLaw<Law>::fine,
                  "see the law named above; a normal law also needs damping_parameter, "
                  "which SpringDamper has");
    return LawFamily::friction;
  }
}

template <class Law>
typename Law::template Params<double> to_params(std::span<const double> values) {
  auto params = default_params<Law>();
  std::size_t i = 0;
  for (const auto& field : Law::parameters()) params.*field.member = values[i++];
  return params;
}

template <NormalLaw Law>
Result<ImpactReport> impact_of(std::span<const double> values, double mass, double speed,
                               std::vector<ImpactSample>* trace, const Punch& punch) {
  return impact<Law>(to_params<Law>(values), mass, speed, trace, 1e-13, punch);
}

template <NormalLaw Law>
NormalSlopes<double> at_rest_of(std::span<const double> values, double depth,
                                double impact_speed, const Punch& punch) {
  const auto params = to_params<Law>(values);
  const auto state = Law::touch(params, impact_speed);
  const PatchMotion<double> patch = punch.at(depth, 0);
  auto kin = Kinematics<double>::at(depth, 0);
  kin.patch = &patch;
  return Law::linearise(params, state, kin);
}

template <FrictionLaw Law>
std::vector<SlideSample> slide_of(std::span<const double> values,
                                  const SlideProgram& program) {
  return slide<Law>(to_params<Law>(values), program);
}

template <FrictionLaw Law>
double steady_resistance_of(std::span<const double> values, double speed,
                            double normal_force, double depth) {
  return steady_resistance<Law>(to_params<Law>(values), speed, normal_force, depth);
}

}  // namespace detail

template <class Law>
LawEntry law_entry() {
  constexpr LawFamily family = detail::family_of<Law>();
  static_assert(Law::parameters().size() <= max_law_parameters,
                "a law has more parameters than LawChoice has room for");
  LawEntry entry{.info = Law::info, .family = family, .type = typeid(Law)};
  for (const auto& field : Law::parameters()) entry.parameters.push_back(field.about);
  for (const auto& field : Law::state()) entry.state.push_back(field);
  for (const auto& name : Law::guard_list()) entry.guards.push_back(name);
  if constexpr (family == LawFamily::normal) {
    entry.damping_parameter = Law::damping_parameter;
    entry.volumetric = volumetric_law<Law>;
    entry.impact_function = &detail::impact_of<Law>;
    entry.rest_function = &detail::at_rest_of<Law>;
    entry.normal_along = &detail::normal_along<Law, double>;
    entry.normal_sensitive = &detail::normal_along<Law, Sensitive>;
  } else {
    entry.spins = {Spin::none};
    if constexpr (SpinFrictionLaw<Law>) {
      entry.spins.push_back(Spin::elliptic);
      for (const auto& field : WithSpin<Law>::state()) entry.spin_state.push_back(field);
    }
    if constexpr (has_disc_integrals<Law>) {
      for (const Spin disc : {Spin::uniform, Spin::paraboloid, Spin::hertz}) {
        entry.spins.push_back(disc);
      }
    }
    entry.slide = &detail::slide_of<Law>;
    entry.steady_resistance = &detail::steady_resistance_of<Law>;
    entry.slide_along = &detail::slide_along<Law, double>;
    entry.slide_sensitive = &detail::slide_along<Law, Sensitive>;
  }
  return entry;
}

}  // namespace bristle
