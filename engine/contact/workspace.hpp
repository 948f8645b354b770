#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "bristle/contact/law_table.hpp"
#include "bristle/core/team.hpp"
#include "bristle/geometry/broad_phase.hpp"
#include "bristle/model/state.hpp"
#include "bristle/spatial/force.hpp"

// Contacts of a model: room for everything that finding them and computing their forces
// needs. Nothing allocates after this.

namespace bristle {

enum class ContactStatus : std::uint8_t {
  ok,
  too_many_contacts,  // more than ModelOptions::contact_capacity has room for
  too_many_pairs,     // more overlapping boxes than the broad phase has room for
  not_finite,         // a position is not a number
};

/// Where the links are and how they move, as dynamics/kinematics.hpp fills it in.
struct LinkMotion {
  std::span<const Transform<double>> poses;
  std::span<const Motion<double>> velocities;
};

/// A contact as the narrow phase found it.
struct FoundContact {
  std::uint32_t pair;  // in the list of candidates
  ContactPoint<double> at;
};

/// Rows of one pair of shapes.
struct PairGroup {
  std::uint32_t pair;  // in the list of candidates
  int first;
  int count;
  /// Within a step: depth of the deepest point found that no row stands for [m].
  double stranger = -HUGE_VAL;
};

/// Where a row's force acts now, be it at an accepted state or within a step.
struct RowPlace {
  Frame<double> frame;
  Vec3<double> point;
  int link_a;
  int link_b;
  double spin;  // mean spin of the two bodies about n [rad/s]
};

/// Columns of what moves a row and what it answers.
struct RowColumns {
  static constexpr std::size_t depth = 0, rate = 1, slip_x = 2, slip_y = 3, normal = 4,
                               friction_x = 5, friction_y = 6, count = 7;
};

struct ContactWorkspace {
  explicit ContactWorkspace(const Model& model, int threads = 1);

  MemoryLayout layout;
  std::size_t capacity;  // of rows: the stride of all columns

  // Candidates.
  std::vector<Transform<double>> shape_poses;
  std::vector<double> margins;  // per shape: how far its points may move in a step
  std::vector<Aabb> boxes;
  std::vector<HalfSpace> half_spaces;
  BroadPhase broad;
  std::vector<ShapePair> candidates;  // sorted by block
  std::vector<std::uint32_t> block_counts;

  // Narrow phase, a list per thread.
  std::vector<std::vector<FoundContact>> found;
  std::vector<std::size_t> found_count;
  std::vector<std::uint8_t> overflow;

  // Rows.
  ContactRows next;  // exchanged with the state's rows when they are re-made
  std::vector<PairGroup> groups;
  std::vector<RowPlace> places;
  std::vector<std::uint8_t> lost;  // rows whose point was not found again within the step
  std::vector<double> columns;     // RowColumns
  std::vector<double> rates;       // of the memory, or its next value
  std::vector<double> books;       // stored and powers of normal and friction, per row
  std::vector<LawTotals> totals;   // per piece of a block: normal, friction

  Team team;

  std::span<double> column(std::size_t k) {
    return {columns.data() + k * capacity, capacity};
  }
  LawColumns law_columns(std::vector<double>& memory, std::vector<double>& next_memory);
};

}  // namespace bristle
