#pragma once

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
#include "bristle/laws/normal/gonthier.hpp"
#include "bristle/laws/normal/hunt_crossley.hpp"

// The one list of laws. A law that stands here is known to the command line, the docs and
// the contract tests; nothing else has to be touched. CONTRIBUTING.md shows how to write
// one.

namespace bristle {

template <class... Laws>
struct LawList {};

using NormalLaws = LawList<HuntCrossley, GonthierNormal, AzadFeatherstone>;

using FrictionLaws = LawList<GonthierFriction, AzadFeatherstoneClutch, LuGre, Dahl,
                             ElastoPlastic, Liang, SpringSlider, Coulomb, Frictionless>;

/// Calls f.operator()<Law>() for each law of a list, in order.
template <class... Laws, class F>
constexpr void for_each_law(LawList<Laws...>, F&& f) {
  (f.template operator()<Laws>(), ...);
}

/// Calls f.operator()<Law>() for the law of that name; false when there is none.
template <class... Laws, class F>
constexpr bool with_law(LawList<Laws...>, std::string_view name, F&& f) {
  return ((name == Laws::info.name && (f.template operator()<Laws>(), true)) || ...);
}

namespace detail {
template <class... Laws>
constexpr bool all_normal(LawList<Laws...>) {
  return (NormalLaw<Laws> && ...);
}
template <class... Laws>
constexpr bool all_friction(LawList<Laws...>) {
  return (FrictionLaw<Laws> && ...);
}
}  // namespace detail

static_assert(detail::all_normal(NormalLaws{}));
static_assert(detail::all_friction(FrictionLaws{}));

}  // namespace bristle
