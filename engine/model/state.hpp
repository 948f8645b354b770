#pragma once

#include <cstdint>
#include <vector>

#include "bristle/core/fields.hpp"
#include "bristle/laws/law.hpp"
#include "bristle/model/model.hpp"
#include "bristle/spatial/frame.hpp"

// All that changes: positions, velocities, what contacts remember, and the energy books.
// A State is a plain value. A copy of it is a checkpoint: stepping on from the copy gives
// the same bytes.

namespace bristle {

inline constexpr std::uint32_t no_shape = 0xffffffff;

/// A contact of two shapes, or an empty place (a == no_shape), or a row of a joint.
struct ContactRow {
  std::uint32_t a = no_shape;  // shapes, a < b
  std::uint32_t b = no_shape;
  std::uint32_t feature = 0;  // which of the contacts of the pair (ContactPoint::feature)
  std::uint32_t episode = 0;  // 0 while open; else its number since the start of the run
  Frame<double> frame{};      // n from A into B
  Vec3<double> point{};       // where the force acts, in the world [m]
  Vec3<double> anchor{};      // the same in A's link
  double depth = -1;          // at the last accepted state [m]
  double rate = 0;            // [m/s]
  double acceleration = 0;    // of the depth, between accepted states [m/s²]
  double approach = 0;        // rate at touch-down, also foreseen; 0: not known [m/s]
  double radius = 0;          // equivalent radius [m]
  int event = 0;              // located at this state: 1 it touches, −1 it leaves; −2
                              // it leaves where its own clock says δ = 0

  // Of the last step, where it was booked at the velocities of one of its ends: the books
  // are corrected to the mean velocity as soon as the other end is known.
  Vec2<double> slip{};      // at the step's beginning [m/s]
  Vec2<double> friction{};  // [N]
  double damper = 0;        // the dissipative part of the normal force [N]
  bool slipping = false;    // what the correction of friction counts as
};

/// The rows of all laws, block by block; each block begins at a multiple of the lanes,
/// and the places up to the next one are empty.
struct ContactRows {
  std::vector<ContactRow> rows;  // as many as the model has room for
  std::vector<double> memory;    // columns of that many numbers, see MemoryLayout
  std::vector<int> begin;        // of each block, and the end of the last
  int count = 0;                 // rows in use, empty places included
  double time = 0;               // of the accepted state that they were made for
};

/// The columns of a model's contact memory.
struct MemoryLayout {
  explicit MemoryLayout(const Model& model)
      : friction(normal + model.normal_fields),
        normal_books(friction + model.friction_fields),
        friction_books(normal_books + (model.contact_books ? 5 : 0)),
        count(friction_books + (model.contact_books ? 5 : 0)) {}

  static constexpr int turn = 0;    // spin of the frame since the last accepted state
  static constexpr int travel = 1;  // depth gained since then
  int normal = 2;
  int friction;
  int normal_books;  // energy that went through this contact in the five lines of Powers
  int friction_books;
  int count;
};

/// Energy that has gone one way since the start of the run [J].
struct Works {
  Powers<double> normal;  // of contacts
  Powers<double> friction;
  Powers<double> limits;
  Powers<double> joint_friction;
  double dampers;      // of the joints: a loss
  double motors;       // what motors put in
  double loads;        // what loads put in
  double regenerated;  // stored energy that came or went as contact points were re-made
  double loops;        // of the dampers in loops: a loss
  double projection;   // what closing rigid loops after a step put in
};

inline constexpr std::size_t work_lines = field_count<Works, double>;

struct State {
  double time = 0;
  std::vector<double> q;
  std::vector<double> v;
  std::vector<double> v_stepped;  // v as the last step left it; differs where set by hand
  ContactRows contacts;
  Works works{};
  std::uint32_t episodes = 0;  // begun so far
  bool committed = true;       // the laws have adjusted their memory to this state
  bool begun = false;          // it has been settled before
};

/// Everything at rest in the neutral position, nothing touching yet.
State make_state(const Model& model);

}  // namespace bristle
