#pragma once

#include "bristle/complementarity/solver.hpp"

namespace bristle {

/// Neighbouring units with entries at the same velocities: the contacts of a pair of
/// bodies. Their part of a matrix is summed in one dense block.
struct UnitGroup {
  static constexpr int most_quads = 16;

  int unit = 0, units = 0;  // of the island
  int quads = 0;
  int count = 0;                          // velocities that any of them touches
  int velocity[most_quads * quad_lanes];  // each of these,
  int lane[most_quads * quad_lanes];      // and where it lies in the quads

  /// The group that begins at a unit; false where it touches too many velocities.
  bool collect(const Island& island, int first_unit) noexcept;
};

/// 1 + Wᵀ D W of an island, factorised as L U without pivoting within an envelope that is
/// the same for rows of L and columns of U.
class Envelope {
 public:
  /// D of a unit: −∂z/∂w₀.
  using Slopes = double[contact_lanes][contact_lanes];

  static Room room(int velocities) noexcept;

  Envelope(int velocities, Scratch& scratch) noexcept;

  /// Finds the order of velocities and the envelope; false where it has no room.
  bool lay_out(const Island& island) noexcept;

  /// Sums the matrix; `slopes(unit, D)` says what D of each unit is.
  template <class F>
  void assemble(const Island& island, const F& slopes) noexcept {
    clear();
    UnitGroup group;
    for (int u = 0; u < static_cast<int>(island.units.size()); u += group.units) {
      group.collect(island, u);
      begin_block(group);
      for (int k = u; k < u + group.units; ++k) {
        const Unit& unit = island.units[static_cast<std::size_t>(k)];
        Slopes d;
        if (slopes(unit, d)) add_to_block(island, unit, d);
      }
      add_block(group);
    }
  }

  /// False where a pivot is not positive: never where D is symmetric.
  bool factorise() noexcept;

  /// x ← (1 + Wᵀ D W)⁻¹ x, by velocities of the island.
  void solve(double* x) noexcept;

 private:
  void clear() noexcept;
  void begin_block(const UnitGroup& group) noexcept;
  void add_to_block(const Island& island, const Unit& unit, const Slopes& d) noexcept;
  void add_block(const UnitGroup& group) noexcept;
  template <bool symmetric, int rows>
  bool factorise_panel(int i) noexcept;
  bool find_order(const Island& island) noexcept;

  static constexpr int panel = 4;  // rows that are factorised at once

  int m_;
  std::size_t capacity_;
  double *lower_, *upper_, *diagonal_, *x_;
  double* block_;  // of a group, by quads
  int *place_, *first_, *begin_, *queue_;
  bool symmetric_ = true;  // D of every unit
  UnitGroup group_;
};

}  // namespace bristle
