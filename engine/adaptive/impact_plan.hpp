#pragma once

#include <array>
#include <cstddef>

namespace bristle {

/// Lengths of the steps while a contact presses, from touch-down on, in units of the
/// impact's own length. Impacts are much alike, and how long a step may be depends on
/// where in the impact it is taken: every step is planned by what the same one would have
/// liked to be the last time, and all together so that the last one ends early. Of that,
/// everything in between is as good as its end.
class ImpactPlan {
 public:
  /// With the length of the first step of the first impact.
  explicit ImpactPlan(double first) : lengths_{first} {}

  void begin();
  /// The length of the next step; `otherwise` where none was as late.
  double next(double otherwise) const;
  /// A step of this length was taken up to a part of it, and should have been `ideal`.
  void note(double length, double part, double ideal);
  /// It presses no more.
  void end();

 private:
  std::array<double, 64> lengths_;
  std::size_t known_ = 1, next_ = 0, count_ = 0;
  double sum_ = 0;  // of the steps in terms of ideal ones
  double scale_ = 1;
};

}  // namespace bristle
