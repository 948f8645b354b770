#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

#include "bristle/laws/friction/azad_featherstone.hpp"
#include "bristle/laws/friction/coulomb.hpp"
#include "bristle/laws/friction/dahl.hpp"
#include "bristle/laws/friction/elasto_plastic.hpp"
#include "bristle/laws/friction/frictionless.hpp"
#include "bristle/laws/friction/gonthier.hpp"
#include "bristle/laws/friction/liang.hpp"
#include "bristle/laws/friction/lugre.hpp"
#include "bristle/laws/friction/spring_slider.hpp"
#include "bristle/laws/normal/azad_featherstone.hpp"
#include "bristle/laws/normal/azad_featherstone_recovery.hpp"
#include "bristle/laws/normal/flores.hpp"
#include "bristle/laws/normal/gearbox.hpp"
#include "bristle/laws/normal/gonthier.hpp"
#include "bristle/laws/normal/hertz.hpp"
#include "bristle/laws/normal/hunt_crossley.hpp"
#include "bristle/laws/normal/hunt_crossley_general.hpp"
#include "bristle/laws/normal/kelvin_voigt.hpp"
#include "bristle/laws/normal/lankarani_nikravesh.hpp"
#include "bristle/laws/normal/lee_wang.hpp"
#include "bristle/laws/normal/volumetric.hpp"

// The library's list of laws. A law in this list is known to the command line, scenes and
// contract tests; its page needs docs/theory/prose/NAME.md. CONTRIBUTING.md shows how to
// write one, here or in a program of your own (contact/register_law.hpp).

namespace bristle {

template <class... Laws>
struct LawList {};

using NormalLaws =
    LawList<Hertz, KelvinVoigt, HuntCrossley, HuntCrossleyGeneral, LankaraniNikravesh,
            Flores, GonthierNormal, LeeWang, AzadFeatherstone, AzadFeatherstoneRecovery,
            Gearbox, Volumetric, VolumetricDissipation, VolumetricRate>;

using FrictionLaws =
    LawList<Frictionless, Coulomb, SpringSlider, Dahl, LuGre, ElastoPlastic, Liang,
            GonthierFriction, AzadFeatherstoneClutch>;

/// Calls `f.operator()<Law>()` for each law of a list, in order.
template <class... Laws, class F>
constexpr void for_each_law(LawList<Laws...>, F&& f) {
  (f.template operator()<Laws>(), ...);
}

/// Calls `f.operator()<Law>()` for the law of that name; false when there is none.
template <class... Laws, class F>
constexpr bool with_law(LawList<Laws...>, std::string_view name, F&& f) {
  return ((name == Laws::info.name && (f.template operator()<Laws>(), true)) || ...);
}

namespace detail {
template <class... Laws>
constexpr bool all_normal(LawList<Laws...>) {
  return (CheckNormalLaw<Laws>::fine && ...);
}
template <class... Laws>
constexpr bool all_friction(LawList<Laws...>) {
  return (CheckFrictionLaw<Laws>::fine && ...);
}
template <class... A, class... B>
constexpr bool names_differ(LawList<A...>, LawList<B...>) {
  const std::array names{A::info.name..., B::info.name...};
  for (std::size_t i = 0; i < names.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (names[i] == names[j]) return false;
    }
  }
  return true;
}
}  // namespace detail

static_assert(detail::all_normal(NormalLaws{}), "see the law named above");
static_assert(detail::all_friction(FrictionLaws{}), "see the law named above");
static_assert(detail::names_differ(NormalLaws{}, FrictionLaws{}),
              "two laws have the same name");

}  // namespace bristle
