#include "bristle/contact/register_law.hpp"

#include <string>
#include <utility>

namespace bristle {

namespace {

/// Functions of the laws of one family by their index. Storage of a fixed size: the first
/// contact of a run allocates nothing, and no entry moves.
template <class Functions>
struct Table {
  std::array<Functions, max_laws> laws{};
  std::size_t count = 0;

  constexpr void add(const Functions& functions) { laws[count++] = functions; }
  std::span<const Functions> all() const noexcept { return {laws.data(), count}; }
};

template <class... Laws>
constexpr Table<NormalLawTable> normal_entries(LawList<Laws...>) {
  Table<NormalLawTable> table;
  (table.add(normal_table_entry<Laws>()), ...);
  return table;
}
template <class... Laws>
constexpr Table<FrictionLawTable> friction_entries(LawList<Laws...>) {
  Table<FrictionLawTable> table;
  (table.add(friction_table_entry<Laws>()), ...);
  return table;
}

constinit Table<NormalLawTable> normal_table = normal_entries(NormalLaws{});
constinit Table<FrictionLawTable> friction_table = friction_entries(FrictionLaws{});

template <class Functions>
Result<const LawEntry*> add(Table<Functions>& table, LawEntry entry,
                            const Functions& functions) {
  if (table.count == max_laws) {
    return Error{"no room for the law \"" + std::string(entry.info.name) +
                 "\": there are " + std::to_string(max_laws) +
                 " laws of its family already"};
  }
  const Result<const LawEntry*> added = detail::add_to_catalogue(std::move(entry));
  if (added) table.add(functions);
  return added;
}

}  // namespace

std::span<const NormalLawTable> normal_laws() noexcept { return normal_table.all(); }
std::span<const FrictionLawTable> friction_laws() noexcept {
  return friction_table.all();
}

Result<const LawEntry*> detail::add_law(LawEntry entry, const NormalLawTable& functions) {
  return add(normal_table, std::move(entry), functions);
}
Result<const LawEntry*> detail::add_law(LawEntry entry,
                                        const FrictionLawTable& functions) {
  return add(friction_table, std::move(entry), functions);
}

}  // namespace bristle
