#pragma once

#include <cstdint>
#include <vector>

#include "bristle/core/fields.hpp"
#include "bristle/laws/law.hpp"
#include "bristle/model/model.hpp"
#include "bristle/spatial/frame.hpp"

// All that changes: positions, velocities, memory of contacts, and the energy ledger.
// A State is a plain value. A copy of it is a checkpoint: stepping on from the copy gives
// the same bytes.

namespace bristle {

inline constexpr std::uint32_t no_shape = 0xffffffff;

/// Which contact: two shapes, a < b, and which of their contact points. Empty places have
/// no shapes.
struct ContactKey {
  std::uint32_t a = no_shape;
  std::uint32_t b = no_shape;
  std::uint32_t feature = 0;  // ContactPoint::feature

  bool empty() const { return a == no_shape; }
  friend bool operator==(const ContactKey&, const ContactKey&) = default;
};

/// Forces of the last step, entered at the velocities of one of its ends. The ledger is
/// corrected to the mean velocity as soon as the other end is known.
struct LedgerForces {
  Vec2<double> slip{};      // at the step's beginning [m/s]
  Vec2<double> friction{};  // [N]
  double damper = 0;        // the dissipative part of the normal force [N]
  bool slipping = false;    // whether the correction of friction counts as slip
  // Of a patch: v_cn, r_g ω_n and ω_t at the step's beginning, with their resistances.
  double approach = 0;
  double spin = 0, spin_friction = 0;
  Vec2<double> turning{};
  Vec2<double> rolling{};
};

/// Impulses of a row over the step that led to the state, where that step solved for
/// impulses [N s].
struct RowImpulse {
  double normal = 0;
  Vec2<double> across{0, 0};  // in the contact's frame
  double spin = 0;            // of the third component of friction
};

/// Rows under contact laws, as of the last accepted state. Those of one pair of laws (a
/// block) lie together; each block begins at a multiple of the lanes, and the places up
/// to the next one are empty. Columns have room for capacity() rows.
struct LawRows {
  std::vector<int> begin;  // of each block, and the end of the last
  int count = 0;           // rows in use, empty places included

  std::vector<std::uint32_t> episode;  // 0 while open; else its number since the start
  std::vector<double> depth;           // [m]
  std::vector<double> rate;            // of the depth [m/s]
  std::vector<double> approach;        // rate at touch-down, also predicted; 0: not known
  std::vector<double> acceleration;    // of the depth, between accepted states [m/s²]
  std::vector<LedgerForces> entered;
  std::vector<RowImpulse> impulse;   // see State::impulses_known
  std::vector<double> lag;           // penetration beyond `depth` [m]
  std::vector<std::uint32_t> sides;  // signs of guards, where switches are noted
  std::vector<double> memory;        // columns of capacity() numbers, see MemoryLayout

  std::size_t capacity() const { return episode.size(); }
  /// Makes room for so many rows with so many columns of memory; the rows in use stay.
  void grow(std::size_t rows, std::size_t columns);
  void swap(LawRows& other) noexcept;
};

/// The contacts of two shapes: rows one after the other.
struct PairSlice {
  std::uint32_t a, b;  // shapes, a < b
  int first;
  int count;
  double share_a;  // A's fraction of the depth
  double margin;   // largest gap at which contact points were searched [m]
};

/// Contact points of pairs of shapes.
struct ContactRows : LawRows {
  std::vector<ContactKey> key;
  std::vector<Frame<double>> frame;  // n from A into B
  std::vector<Vec3<double>> point;   // where the force acts, in the world [m]
  std::vector<Vec3<double>> anchor;  // the same in A's link
  std::vector<PairSlice> pairs;      // without rows that only still recover

  void grow(std::size_t rows, std::size_t columns);
  void swap(ContactRows& other) noexcept;
};

/// The columns of the rows' memory.
struct MemoryLayout {
  explicit MemoryLayout(const Model& model)
      : friction(normal + model.normal_fields),
        normal_ledger(friction + model.friction_fields),
        friction_ledger(normal_ledger + (model.contact_ledger ? 5 : 0)),
        count(friction_ledger + (model.contact_ledger ? 5 : 0)) {}

  static constexpr int turn = 0;    // spin of the frame since the last accepted state
  static constexpr int travel = 1;  // depth gained since then
  int normal = 2;
  int friction;
  int normal_ledger;  // energy that went through this row in the five lines of Powers
  int friction_ledger;
  int count;
};

/// Work since the start of the run, by line of the ledger [J].
struct Works {
  Powers<double> normal;  // of contacts
  Powers<double> friction;
  Powers<double> limits;
  Powers<double> joint_friction;
  double dampers;      // of the joints: a loss
  double motors;       // work of motors
  double loads;        // work of loads
  double regenerated;  // stored energy that came or went as contact points were re-made
  double loops;        // of dampers between bodies and in loops: a loss
  double projection;   // work of closing rigid loops after a step
  double numerical;    // what an implicit step damps by itself: a loss
  double rolling;      // of couples that resist rolling: a loss
  double spin;         // of slip by spinning, beside friction.slip: a loss
};

inline constexpr std::size_t work_lines = field_count<Works, double>;

struct State {
  double time = 0;
  std::vector<double> q;
  std::vector<double> v;
  std::vector<double> v_stepped;  // v as the last step left it; differs where set by hand
  ContactRows contacts;           // of shapes, by the pair cache
  LawRows joints;                 // limits and friction of joints, as Model::joint_rows
  double rows_time = 0;           // of the accepted state that the rows were made for
  std::vector<double> lagged;     // what motors with a lag act by, c of MotorLag
  double lag_time = 0;            // when they were so [s]
  Works works{};
  double impulse_time = 0;     // of the state that the rows' impulses led to
  double impulse_step = 0;     // over which they acted; 0: there are none [s]
  std::uint32_t episodes = 0;  // begun so far
  bool committed = true;       // the laws have adjusted their memory to this state
  bool begun = false;          // it has been settled before

  /// Whether the step that led here solved for impulses.
  bool impulses_known() const { return impulse_step > 0 && impulse_time == time; }
};

/// Everything at rest in the neutral position, nothing touching yet.
State make_state(const Model& model);

}  // namespace bristle
