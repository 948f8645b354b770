#pragma once

#include <string>
#include <string_view>

#include "scene/parts.hpp"
#include "scene/robot.hpp"

// Models in MuJoCo's own format,
// https://mujoco.readthedocs.io/en/stable/XMLreference.html: bodies, joints, geoms,
// meshes, default classes, excluded pairs, connect and weld, motor and position
// actuators, the first keyframe, and included files.
//
// - A body with several joints hangs from a chain of bodies without mass, called after
//   the joints: arm.shoulder_x. Joints without a name are called after their body:
//   arm.joint, arm.joint2; so are geoms.
// - Our positions are 0 where MuJoCo's equal `ref`: q = qpos − ref, in limits, springs,
//   targets and the start alike. A free joint has MuJoCo's qpos.
// - A motor is commanded in N m or N at the joint, its gear counted in already; a
//   position actuator by the position of the joint.
// - A range limits where `limited` is not given, as in MuJoCo 3, unless autolimits =
// false.
// - Geoms that touch nothing (contype = conaffinity = 0) have mass, but make no shape.
//
// What is not read is named in one warning, by element and attribute.

namespace bristle::scene {

/// Adds the model to the parts. False: there are errors, and the parts are as before.
bool read_mjcf(const std::string& path, const RobotOptions& options, Parts& parts,
               Problems& problems);

/// The same of a text, as if it stood in the file `path`.
bool read_mjcf_text(std::string_view text, const std::string& path,
                    const RobotOptions& options, Parts& parts, Problems& problems);

}  // namespace bristle::scene
