#pragma once

#include <cmath>

#include "bristle/core/vec.hpp"

namespace bristle {

/// An axis-aligned box in world axes, borders included.
struct Aabb {
  Vec3<double> low, high;  // [m]

  static Aabb empty() {
    return {{HUGE_VAL, HUGE_VAL, HUGE_VAL}, {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}};
  }
  void include(const Vec3<double>& x) {
    low = {std::fmin(low.x, x.x), std::fmin(low.y, x.y), std::fmin(low.z, x.z)};
    high = {std::fmax(high.x, x.x), std::fmax(high.y, x.y), std::fmax(high.z, x.z)};
  }
  void include(const Aabb& box) {
    include(box.low);
    include(box.high);
  }
  Aabb grown(double by) const {
    return {{low.x - by, low.y - by, low.z - by},
            {high.x + by, high.y + by, high.z + by}};
  }
};

BRISTLE_INLINE bool overlap(const Aabb& a, const Aabb& b) {
  // Without branches: the answer is hard to predict.
  return (a.low.x <= b.high.x) & (b.low.x <= a.high.x) & (a.low.y <= b.high.y) &
         (b.low.y <= a.high.y) & (a.low.z <= b.high.z) & (b.low.z <= a.high.z);
}

}  // namespace bristle
