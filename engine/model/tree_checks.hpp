#pragma once

#include "bristle/model/checks.hpp"
#include "bristle/model/tree.hpp"

// Checks of TreeBuilder: of bodies and joints one by one, and of the tree they make.

namespace bristle::checks {

/// A mass and an inertia that a body can have. A body without mass is fine where it is
/// welded to another or carries others.
Problem check_body(const BodySpec& body, std::size_t index, bool may_lack_mass);

Problem check_joint(const JointSpec& joint, std::size_t index);

/// The first joint whose motion no inertia determines, whatever the positions.
Problem check_determinate(const Tree& tree);

}  // namespace bristle::checks
