#pragma once

#include "bristle/contact/law_table_entry.hpp"
#include "bristle/laws/law_entry.hpp"

// A law of one's own, beside those of laws.hpp:
//
//   if (const auto own = register_law<SoftWall>(); !own) return fail(own.error());
//
// From then on choose<SoftWall>(…), scenes, the commands and recordings know it. At
// start-up only: on one thread, before a model is built. The laws that are there keep
// their index, and references to their entries stay valid.

namespace bristle {

/// Room for the laws of one family, those of laws.hpp included.
inline constexpr std::size_t max_laws = 64;

namespace detail {
Result<const LawEntry*> add_law(LawEntry entry, const NormalLawTable& functions);
Result<const LawEntry*> add_law(LawEntry entry, const FrictionLawTable& functions);
}  // namespace detail

/// Adds a normal or friction law; an error where its name is taken. The compiler says in
/// words what a type lacks to be a law.
template <class Law>
Result<const LawEntry*> register_law() {
  if constexpr (detail::family_of<Law>() == LawFamily::normal) {
    return detail::add_law(law_entry<Law>(), normal_table_entry<Law>());
  } else {
    return detail::add_law(law_entry<Law>(), friction_table_entry<Law>());
  }
}

}  // namespace bristle
