#pragma once

#include <cstdint>
#include <vector>

#include "bristle/model/state.hpp"

// The rows of a state as an integrator by events sees them.

namespace bristle {

/// A row, whichever place of the state it stands in.
struct RowId {
  std::uint32_t a = no_shape;  // shapes; of a joint's row b is its place, which is fixed
  std::uint32_t b = no_shape;
  std::uint32_t feature = 0;
  std::uint32_t episode = 0;

  /// Closed, or not yet recovered.
  bool acts() const { return episode != 0; }
  bool operator==(const RowId&) const = default;
};

/// An empty place between two blocks.
inline constexpr RowId empty_row{};

/// All rows of a state, in their order.
void list_rows(const Model& model, const State& state, std::vector<RowId>& rows);

}  // namespace bristle
