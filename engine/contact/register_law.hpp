#pragma once

#include "bristle/contact/law_table_entry.hpp"
#include "bristle/laws/law_entry.hpp"

// A law of your own, beside those of laws.hpp:
//
//   if (const auto own = register_law<SoftWall>(); !own) return fail(own.error());
//
// From then on choose<SoftWall>(…), scenes, the commands and recordings know it. At
// start-up only: on one thread, before a model is built. The laws that are there keep
// their index, and references to their entries stay valid.

namespace bristle {

/// Room for the laws of one family, those of laws.hpp included.
inline constexpr std::size_t max_laws = 64;

/// Functions of the laws of one family by their index. Storage of a fixed size: the first
/// contact of a run allocates nothing, and no entry moves.
template <class Functions>
struct LawTable {
  std::array<Functions, max_laws> laws{};
  std::size_t count = 0;

  constexpr void add(const Functions& functions) { laws[count++] = functions; }
  std::span<const Functions> all() const noexcept { return {laws.data(), count}; }
};

/// Friction with spin: a table per kind.
struct SpinTables {
  std::array<LawTable<FrictionLawTable>, std::tuple_size_v<SpinLawTables>> kinds{};

  constexpr void add(const SpinLawTables& of_law) {
    for (std::size_t i = 0; i < of_law.size(); ++i) kinds[i].add(of_law[i]);
  }
};

namespace detail {
Result<const LawEntry*> add_law(LawEntry entry, const NormalLawTable& functions);
Result<const LawEntry*> add_law(LawEntry entry, const FrictionLawTable& functions,
                                const SpinLawTables& with_spin);
SpinTables& spin_tables() noexcept;  // spin_laws.cpp
}  // namespace detail

/// Adds a normal or friction law; an error where its name is taken. The compiler says in
/// words what a type lacks to be a law.
template <class Law>
Result<const LawEntry*> register_law() {
  if constexpr (detail::family_of<Law>() == LawFamily::normal) {
    return detail::add_law(law_entry<Law>(), normal_table_entry<Law>());
  } else {
    return detail::add_law(law_entry<Law>(), friction_table_entry<Law>(),
                           spin_table_entries<Law>());
  }
}

}  // namespace bristle
