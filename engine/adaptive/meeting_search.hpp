#pragma once

#include <memory>
#include <vector>

#include "bristle/adaptive/link_paths.hpp"

// First touches: where pairs of shapes that are apart as a step begins come to overlap
// within it. The result is a bound: no pair comes to overlap by more than its tolerance
// along the dense output of the step unless it is reported. Three tests in turn, so that
// few pairs are followed along the dense output:
//
//   1  the distances at both ends of the step against how far the shapes move;
//   2  the gap along a normal at either end against how fast it can close;
//   3  conservative advancement along the dense output (contact/sweep.hpp).
//
// In an explicit step, 1 and 2 use twice the largest rates of its thirteen evaluations
// (rate_safety in meeting_search.cpp); in an implicit one, and in 3, polynomials.

namespace bristle {

class MeetingSearch {
 public:
  /// Both must outlive it.
  MeetingSearch(MotionOde& ode, SwitchingStep& step);

  /// The first touch up to a place of a completed step, by what was measured at its
  /// ends.
  Meeting first(const GuardReading& begin, const GuardReading& end, double to);

  /// Whether the last search used dense output: contacts may have been evaluated
  /// elsewhere than where they were last.
  bool followed_dense() const { return followed_dense_; }
  /// Distance queries of pairs of shapes, since construction.
  std::uint64_t distance_queries() const { return queries_; }

 private:
  void bound_links();
  JointBounds joint_bounds_by_rates(const Link& link) const;
  JointBounds joint_bounds_by_cubics(const Link& link) const;
  bool bound_shapes(const GuardReading& begin);
  ShapeMotion motion_of(const GuardReading& reading, std::uint32_t number,
                        double pace) const;
  MotionBounds bounds_of(std::uint32_t shape) const;
  SweptPair swept(std::uint32_t a, std::uint32_t b) const;
  bool stays_apart(const SweptPair& pair, std::uint32_t a, std::uint32_t b,
                   const GuardReading& begin, const GuardReading& end, double to);
  void look_at(std::uint32_t a, std::uint32_t b, double apart, const GuardReading& begin,
               const GuardReading& end, double to, Meeting& first);
  void look_farther(const GuardReading& begin, const GuardReading& end, double to,
                    Meeting& first);

  MotionOde* ode_;
  SwitchingStep* step_;
  LinkPaths paths_;
  bool any_pairs_;
  std::vector<double> thicknesses_;  // of shapes
  double tolerance_ = 0;             // of a thickness
  double least_tolerance_ = 0;       // [m]
  bool second_order_ = false;        // accelerations are bounded over the step
  double span_ = 0;                  // time that the step takes, at most [s]
  std::vector<LinkBounds> links_;    // over the whole step
  std::vector<double> travel_;       // of shapes over it, at most [m]
  // Pairs that were too far apart as the step began.
  std::unique_ptr<Team> team_;
  std::unique_ptr<Detector> detector_;
  std::vector<ShapePair> beyond_;
  bool followed_dense_ = false;
  std::uint64_t queries_ = 0;
};

}  // namespace bristle
