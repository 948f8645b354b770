#include "bristle/contact/register_law.hpp"

#include <string>
#include <utility>

namespace bristle {

namespace {

template <class... Laws>
constexpr LawTable<NormalLawTable> normal_entries(LawList<Laws...>) {
  LawTable<NormalLawTable> table;
  (table.add(normal_table_entry<Laws>()), ...);
  return table;
}
template <class... Laws>
constexpr LawTable<FrictionLawTable> friction_entries(LawList<Laws...>) {
  LawTable<FrictionLawTable> table;
  (table.add(friction_table_entry<Laws>()), ...);
  return table;
}

constinit LawTable<NormalLawTable> normal_table = normal_entries(NormalLaws{});
constinit LawTable<FrictionLawTable> friction_table = friction_entries(FrictionLaws{});

template <class Functions>
Result<const LawEntry*> add(LawTable<Functions>& table, LawEntry entry,
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
std::span<const FrictionLawTable> friction_laws(Spin spin) noexcept {
  if (spin == Spin::none) return friction_table.all();
  return detail::spin_tables().kinds[static_cast<std::size_t>(spin) - 1].all();
}

Result<const LawEntry*> detail::add_law(LawEntry entry, const NormalLawTable& functions) {
  return add(normal_table, std::move(entry), functions);
}
Result<const LawEntry*> detail::add_law(LawEntry entry, const FrictionLawTable& functions,
                                        const SpinLawTables& with_spin) {
  const Result<const LawEntry*> added = add(friction_table, std::move(entry), functions);
  if (added) spin_tables().add(with_spin);
  return added;
}

}  // namespace bristle
