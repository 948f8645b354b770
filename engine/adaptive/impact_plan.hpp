#pragma once

#include <array>
#include <cstddef>

namespace bristle {

/// Lengths of the steps while a contact presses, from touch-down on, in units of the
/// impact's own length. Impacts are much alike, and how long a step may be depends on
/// where in the impact it is taken: every step is planned by what would have been ideal
/// for the same step of the last impact, and the last one ends early. Dense output is
/// as accurate as the ends of steps.
class ImpactPlan {
 public:
  /// With the length of the first step of the first impact.
  explicit ImpactPlan(double first) : lengths_{first} {}

  void begin();
  /// The length of the next step; `otherwise` where no step was as late in an impact.
  double next(double otherwise) const;
  /// A step of this length was taken up to a part of it, and should have been `ideal`.
  void note(double length, double part, double ideal);
  /// The contact presses no more.
  void end();

 private:
  std::array<double, 64> lengths_;
  std::size_t known_ = 1, next_ = 0, count_ = 0;
  double sum_ = 0;  // of the steps in terms of ideal ones
  double scale_ = 1;
};

}  // namespace bristle
