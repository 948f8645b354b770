#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bristle/contact/candidates.hpp"
#include "bristle/core/team.hpp"
#include "bristle/model/model.hpp"
#include "bristle/spatial/motion.hpp"

// From poses of links to contact points: candidates (a list of the model, or the
// broad phase) → narrow phase.

namespace bristle {

/// More contacts are an error, such as all bodies at one place.
inline constexpr std::size_t most_contacts_found = 1'000'000;

/// Poses and velocities of links, as dynamics/kinematics.hpp fills them in.
struct LinkMotion {
  std::span<const Transform<double>> poses;
  std::span<const Motion<double>> velocities;
};

/// A contact as the narrow phase found it.
struct FoundContact {
  std::uint32_t pair;         // in the list of candidates
  std::uint32_t overlap = 0;  // under a volumetric law: see Detector::overlap
  ContactPoint<double> at;
};

/// An overlap as a contact point: with a plane its force acts at s_c − 2σζ n, n out of
/// the plane and σ the plane's share; else at s_c.
ContactPoint<double> point_of(const Overlap<double>& overlap, ShapeKind a,
                              ShapeKind b) noexcept;

class Detector {
 public:
  Detector(const Model& model, Team& team);

  /// Updates the poses of the shapes of moving links.
  void place_shapes(const LinkMotion& links) noexcept;

  /// Finds the contacts that exist or may come to exist within `horizon` [s].
  ContactStatus detect(const LinkMotion& links, double horizon) noexcept;

  /// Lists the pairs that may touch and whose shapes come, by the balls around them, to
  /// within these margins of each other, one per shape [m].
  ContactStatus list_near(const LinkMotion& links, std::span<const double> margins,
                          std::vector<ShapePair>& near) noexcept;

  const Transform<double>& pose(std::uint32_t shape) const { return poses_[shape]; }
  /// How far the points of a shape may move, as of the last detect() [m].
  double margin(std::uint32_t shape) const { return margins_[shape]; }
  const ShapePair& candidate(std::uint32_t i) const { return candidates_[i]; }
  /// Pairs that may touch within the horizon of the last detect().
  const Candidates& candidates() const { return candidates_; }
  /// The overlap of a contact found under a volumetric law.
  const Overlap<double>& overlap(const FoundContact& contact) const noexcept;

  /// The contacts found, by block, then pair: one after the other.
  class Cursor {
   public:
    explicit Cursor(const Detector& from) : from_(&from) {}
    /// The next one, or nothing.
    const FoundContact* peek() {
      const auto& lists = from_->lists_;
      while (list_ < lists.size() && taken_ == lists[list_].count) {
        ++list_;
        taken_ = 0;
      }
      return list_ < lists.size() ? &lists[list_].found[taken_] : nullptr;
    }
    void take() { ++taken_; }

   private:
    const Detector* from_;
    std::size_t list_ = 0;
    std::size_t taken_ = 0;  // contacts of that list
  };

 private:
  /// What one member of the team found.
  struct List {
    std::vector<FoundContact> found;
    std::vector<Overlap<double>> overlaps;  // of those under volumetric laws
    std::size_t count = 0;
    ContactStatus status = ContactStatus::ok;
  };

  void spread_margins(const LinkMotion& links, double horizon) noexcept;
  void look(List& list, Share share) const noexcept;
  bool make_room(List& list, std::size_t needed) const noexcept;

  const Model* model_;
  Team* team_;
  std::vector<Transform<double>> poses_;  // of shapes
  std::vector<double> margins_;           // of shapes
  Candidates candidates_;
  std::vector<List> lists_;
};

}  // namespace bristle
