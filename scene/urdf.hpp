#pragma once

#include <string>
#include <string_view>

#include "scene/parts.hpp"
#include "scene/robot.hpp"

// Robots in the Unified Robot Description Format, https://wiki.ros.org/urdf/XML.
//
// Every link becomes a body, every joint a joint, every collision a shape: box, cylinder,
// sphere, capsule, or mesh. A root link called "world" is ours. Collisions without a name
// are called after their link: arm.collision, arm.collision2. The base hangs from a joint
// called after the root link: pelvis.base.
//
// Mimic joints are refused. What else is not read, velocity limits among it, is named in
// one warning.

namespace bristle::scene {

/// Adds the robot to the parts. False: there are errors, and the parts are as before.
bool read_urdf(const std::string& path, const RobotOptions& options, Parts& parts,
               Problems& problems);

/// The same of a text, as if it stood in the file `path`.
bool read_urdf_text(std::string_view text, const std::string& path,
                    const RobotOptions& options, Parts& parts, Problems& problems);

}  // namespace bristle::scene
