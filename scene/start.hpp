#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bristle/model/state.hpp"

// How a scene starts: which shapes overlap, and which joints and
// couplings are beyond their limits.

namespace bristle::scene {

/// Two shapes that overlap, at their deepest point.
struct StartOverlap {
  std::uint32_t a, b;
  double depth;       // [m]
  double rest_depth;  // at which one contact carries the weight of the pair [m]

  /// As deep as bodies at rest are. The rest depth of a patch is estimated by a power law
  /// through its volume at the default depth, a few percent off elsewhere.
  bool rests() const { return depth <= rest_depth * 1.05; }
};

struct StartLimit {
  int joint;          // in Tree::joints(); −1: of a coupling
  bool linear;        // [m]; else [rad], or of a sum both
  bool upper;         // which limit
  double beyond;      // [m] or [rad]
  int coupling = -1;  // in Model::couplings
};

struct StartReport {
  std::vector<StartOverlap> overlaps;
  std::vector<StartLimit> limits;
  double contact_energy = 0;  // stored in overlaps [J]
  double limit_energy = 0;    // stored in their limits [J]
  bool crowded = false;       // more shapes are close to each other than can be kept
};

/// "knee" by 3.2° above its upper limit
std::string text_of(const StartLimit& limit, const Model& model);

StartReport inspect_start(const Model& model, State start);

}  // namespace bristle::scene
