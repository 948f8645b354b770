#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bristle/step/system.hpp"

// The rows of a state as an event-locating integrator needs them: identity, motion,
// laws. Rows of joints come first, then those of contacts, counted
// on. Only this file and motion_ode.cpp know how a state stores them.

namespace bristle {

/// A row of a joint or a contact.
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
void list_rows(const State& state, std::vector<RowId>& rows);
/// Where each block of laws begins among them, and the end of the last.
void list_blocks(const State& state, std::vector<int>& begin);

/// The index of the same contact or joint among other rows, whatever its episode; −1
/// where it has none.
int find_row(std::span<const RowId> rows, const RowId& row);
/// The row of an episode, or −1.
int find_episode(std::span<const RowId> rows, std::uint32_t episode);

std::uint32_t episode_of(const State& state, std::size_t row);

/// A row as of the accepted state.
struct SettledRow {
  double depth;  // [m]
  double rate;   // [m/s]
};
SettledRow motion_of(const State& state, std::size_t row);
/// The rate at which it touched [m/s].
double approach_speed(const State& state, std::size_t row);

/// What an event does to the episode of a row (LocatedEvents); the next settle() carries
/// it out.
enum class RowEvent : std::int8_t {
  touches = 1,
  leaves = -1,
  leaves_by_clock = -2,  // where its contact time says δ = 0
};

/// The overlap of two shapes, as it would be at another depth.
struct SunkOverlap {
  const Shape* a = nullptr;
  const Shape* b = nullptr;
  Transform<double> pose_a{}, pose_b{};
  double depth = 0;
  Vec3<double> normal{};

  PatchMotion<double> at(double wanted) const;
};

/// The laws of a row with their memory.
struct RowLaws {
  const LawBlock* laws;
  std::vector<double> normal_memory, friction_memory;
  SunkOverlap overlap;  // under a volumetric law

  NormalSlopes<double> linearise(double depth);  // at rest
  double stored(double depth);                   // by the normal law [J]
  FrictionSpring<double, 3> spring(double depth, double normal_force);
};
void laws_of(const System& system, const State& state, std::size_t row, RowLaws& laws);

/// The load of a row of joint friction [N m or N]; 0 where the row is a contact or a
/// joint's limit.
double friction_load(const System& system, const State& state, std::size_t row);

/// How a row's normal force accelerates its own depth, per newton. After factorise() at
/// the settled state. `scratch` has room for a number per velocity.
double inverse_mass(System& system, const State& state, std::size_t row,
                    std::span<double> scratch);

}  // namespace bristle
