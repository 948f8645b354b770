#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "scene/parts.hpp"
#include "scene/problem.hpp"

// A robot's file as a scene of its own: the robot, a floor where it needs one, and the
// options that the file states.

namespace bristle::scene {

enum class RobotFormat { none, urdf, mjcf, other };

/// What a text is, by its first element: <robot>, <mujoco>, another one, or no XML.
RobotFormat robot_format(std::string_view text);

/// The first element of an XML text; empty where there is none.
std::string first_element(std::string_view text);

/// The scene of a robot's file, in TOML with comments; nothing where there are problems.
/// `shown_as` is how the scene names the file. Meshes that are read stay in `geometry`.
std::optional<std::string> robot_scene(std::string_view text, const std::string& file,
                                       const std::string& shown_as,
                                       const std::shared_ptr<Geometry>& geometry,
                                       Problems& problems);

}  // namespace bristle::scene
