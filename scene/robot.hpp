#pragma once

#include <string>
#include <vector>

#include "bristle/spatial/transform.hpp"

namespace bristle::scene {

/// What a robot file leaves open.
struct RobotOptions {
  /// The root link of a URDF file: "fixed" to the world, or "free" to move in it. One
  /// called "world", or without mass in all that is welded to it, is fixed.
  std::string base = "fixed";
  /// Meshes as they collide: "hull", their convex hulls, or "mesh", their triangles.
  std::string meshes = "hull";
  /// The keyframe of an MJCF file where it begins; empty: the first.
  std::string key{};
  /// The surface of every shape; empty: each link's name.
  std::string surface{};
  /// Folders that hold packages, or are one, for package:// addresses. The folders above
  /// the file are searched first.
  std::vector<std::string> packages{};
  /// Where the file's world stands in ours: its fixed bases, and the frame in which its
  /// free bases are placed.
  Transform<double> pose{};
};

}  // namespace bristle::scene
