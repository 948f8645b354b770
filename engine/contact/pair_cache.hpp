#pragma once

#include <cstdint>
#include <vector>

#include "bristle/contact/detect.hpp"
#include "bristle/contact/patch.hpp"
#include "bristle/model/state.hpp"

// Matching of contacts: the identity of contact points from one accepted state to the
// next, the frames that they carry along, and the memory that moves with them. What a
// contact's beginning and end mean to its laws is in episodes.hpp.

namespace bristle {

/// What became of a row between two accepted states.
struct RowChange {
  enum class Fate : std::uint8_t {
    found,  // its point was found; new where `was` is −1
    kept,   // its point is out of reach, but its ground still recovers
    lost,   // its point has vanished, with the row: `now` is −1
  };
  int now;
  int was;
  int block;  // among the contact blocks
  Fate fate;
  bool regenerates;  // its depth is not the integral of its rate
};

/// Where the force of a contact acts now, at an accepted state or within a step.
struct ContactPlace {
  Frame<double> frame{};
  Vec3<double> point{};
  int link_a = world_link;
  int link_b = world_link;
};

/// Each body takes its share of the depth; the force acts between the surfaces.
inline Vec3<double> force_point(double share_a, const ContactPoint<double>& contact) {
  return share_a * contact.on_b + (1 - share_a) * contact.on_a;
}

/// A frame carried to a new normal; unchanged where neither body has moved.
BRISTLE_INLINE Frame<double> carried(const Frame<double>& frame,
                                     const Vec3<double>& normal, double turn) {
  const bool same =
      frame.n.x == normal.x && frame.n.y == normal.y && frame.n.z == normal.z;
  if (turn == 0 && same) return frame;
  return transport(frame, normal, turn);
}

/// Which of the rows of a pair go on at the contact points that are found now: those of
/// the same feature; then, of the closed ones, those that are closest on A. The result
/// has a row for each point, counted from `first`, or −1; it does not depend on the order
/// of the points.
std::array<int, max_contacts> match_points(
    const ContactRows& rows, int first, int row_count,
    std::span<const ContactPoint<double>* const> points, const Model& model,
    const LinkMotion& links, std::uint32_t a, std::uint32_t b, double share_a);

/// Re-makes the contact rows of a state from what a detector found: identity, frames,
/// points, depths, memory, block by block.
class PairCache {
 public:
  explicit PairCache(const Model& model);

  ContactStatus renew(const LinkMotion& links, const Detector& found,
                      const ContactRows& old) noexcept;

  /// The rows made by the last renew(), not yet those of the state.
  ContactRows& rows() { return rows_; }
  const std::vector<ContactPlace>& places() const { return places_; }
  std::vector<ContactPlace>& places() { return places_; }
  /// The overlap of a row under a volumetric law.
  const PatchRow& patch(std::size_t row) const { return patches_[row]; }
  /// The fate of every old and new row, pair by pair.
  const std::vector<RowChange>& changes() const { return changes_; }

 private:
  using Fresh = std::span<const FoundContact* const>;

  bool renew_block(int block, const ContactRows& old, Detector::Cursor& found);
  bool renew_pair(int block, std::uint32_t candidate, Fresh fresh, const ContactRows& old,
                  int old_first, int old_end);
  void renew_row(int block, const ShapePair& pair, const FoundContact& found,
                 const ContactRows& old, int was);
  bool give_up(int block, const ContactRows& old, int was);
  bool still_recovers(int block, const ContactRows& old, int row) const;
  void carry_memory(const ContactRows& old, int from, int to);
  bool make_room(int rows);
  bool pad();
  void forget(std::size_t row);

  const Model* model_;
  MemoryLayout layout_;
  ContactRows rows_;
  std::vector<ContactPlace> places_;
  std::vector<PatchRow> patches_;  // where the model has volumetric contacts
  std::vector<RowChange> changes_;
  const Detector* detector_ = nullptr;  // during renew()
  LinkMotion links_{};
  int n_ = 0;  // rows made
};

}  // namespace bristle
