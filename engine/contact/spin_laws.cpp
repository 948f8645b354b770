#include "bristle/contact/register_law.hpp"

// The listed friction laws in three components of slip, compiled apart from those of two.

namespace bristle {

namespace {

template <class... Laws>
constexpr SpinTables tables_of(LawList<Laws...>) {
  SpinTables tables;
  (tables.add(spin_table_entries<Laws>()), ...);
  return tables;
}

constinit SpinTables tables = tables_of(FrictionLaws{});

}  // namespace

SpinTables& detail::spin_tables() noexcept { return tables; }

}  // namespace bristle
