#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/robots/spec.hpp"

namespace bristle::bench {

/// One simulator with one robot in it.
struct Driver {
  std::string name;
  std::function<void()> reset;         // to time 0
  std::function<void(int steps)> run;  // of time_step each
  std::function<double()> time;        // at which positions() are
  /// x y z and a quaternion w x y z of any length where there is a trunk; then the
  /// joints.
  std::function<std::vector<double>()> positions;
};

/// The semi-implicit step that all explicit drivers make, and methods that take contact
/// and motors at the end of the step.
enum class OurStep { semi_implicit, linearly_implicit, complementarity };

Driver bristle_arm(OurStep how = OurStep::semi_implicit);
Driver bristle_quadruped(OurStep how = OurStep::semi_implicit);

/// Articulated bodies and the contact law as one would write them by hand for this
/// workload: no shapes, no pairs, one kind of joint. With substeps, the law's own motion.
Driver plain_loop(const RobotSpec& robot, int substeps = 1);

/// Solver "Newton", "PGS" or "CG"; MuJoCo's own soft contacts at their defaults.
Driver mujoco(const RobotSpec& robot, const std::string& solver);

/// With the contact law of this workload as a custom force.
Driver simbody(const RobotSpec& robot);

}  // namespace bristle::bench
