#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bristle/geometry/broad_phase.hpp"
#include "bristle/model/model.hpp"

// Which pairs of shapes the narrow phase looks at: the list of the model, or among many
// shapes those whose boxes overlap.
//
// The broad phase searches wider boxes than it is asked about, so that its list holds for
// some steps: it is searched anew when a box leaves its wider one. Of the list only pairs
// whose own boxes overlap count: what is found depends on the present poses alone, in the
// order of a search of the boxes themselves.

namespace bristle {

/// Limits of what storage may grow to; more is an error, such as all bodies at one place,
/// and would exhaust memory and time. Pairs: this many times the initial capacity (32 for
/// each shape, and those with planes).
inline constexpr std::size_t most_pairs_factor = 4;
inline constexpr std::size_t few_pairs = 20'000;  // always allowed

enum class ContactStatus : std::uint8_t {
  ok,
  too_many_contacts,  // more than there is room for
  too_many_pairs,     // more overlapping boxes than the broad phase has room for
  not_finite,         // a position is not a number
};

class Candidates {
 public:
  explicit Candidates(const Model& model);

  /// Lists the pairs that may touch and whose boxes overlap, each grown by the margin of
  /// its shape [m].
  ContactStatus list(std::span<const Transform<double>> poses,
                     std::span<const double> margins) noexcept;

  std::size_t size() const { return size_; }
  /// By block, then by their shapes.
  const ShapePair& operator[](std::size_t k) const {
    return listed_ ? known_[k] : known_[chosen_[k]];
  }
  /// How often the broad phase was searched.
  std::uint64_t searches() const { return searches_; }

 private:
  void place(std::span<const Transform<double>> poses,
             std::span<const double> margins) noexcept;
  bool within_wide() const noexcept;
  ContactStatus search(std::span<const double> margins) noexcept;
  ContactStatus search(std::span<const Aabb> boxes,
                       std::span<const HalfSpace> half_spaces) noexcept;
  void widen(std::span<const double> margins) noexcept;
  void sort_by_block() noexcept;
  bool close(const ShapePair& pair) const noexcept;
  void choose() noexcept;

  const Model* model_;
  std::vector<Aabb> boxes_, wide_;
  std::vector<HalfSpace> half_spaces_, wide_half_spaces_;
  std::vector<int> half_space_of_;  // by shape; −1: it is no plane
  BroadPhase broad_;
  std::vector<ShapePair> known_;       // of the last search, sorted by block
  std::vector<std::uint32_t> chosen_;  // of these
  std::vector<std::uint32_t> block_counts_;
  std::size_t known_count_ = 0, size_ = 0;
  bool listed_ = true;    // all that is known counts
  bool is_wide_ = false;  // the last search was among wider boxes
  int uses_ = 0;          // of the last search
  int narrow_left_ = 0;   // searches until wider boxes are tried again
  std::uint64_t searches_ = 0;
};

}  // namespace bristle
