#pragma once

#include "studies/motion.hpp"

// A mass on a straight line meets a fixed plane under its contact force alone: the impact
// that restitution is defined by.

namespace bristle::studies {

struct CentralImpact {
  double restitution = 0;       // separation speed over impact speed
  double peak_force = 0;        // [N]
  double peak_depth = 0;        // [m]
  double contact_time = 0;      // until the force ends [s]
  double depth_at_release = 0;  // where the force ends [m]
  Series force_depth{};         // the loop
  std::string trouble{};
};

enum class Detail { restitution_only, all };

/// `clamped`: the contact ends where the force does, not at δ = 0.
CentralImpact central_impact(const LawChoice& law, bool clamped, double mass,
                             double speed, const Clock& clock,
                             Detail detail = Detail::all);

}  // namespace bristle::studies
