#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bristle/model/tree.hpp"
#include "bristle/spatial/force.hpp"

// The way of a string: straight from point to point, around spheres and cylinders, in
// branches behind pulleys. Its length L(q), and how that changes with what moves: the
// ends of its straight pieces are fixed in their bodies for a moment, since the arc over
// a round body is the shortest one.

namespace bristle {

enum class PathPart : std::uint8_t {
  point,     // that the string passes through
  sphere,    // that it goes around, between two points
  cylinder,  // the same, about its z axis, endless
  pulley,    // begins a branch, whose length counts divided by a number
};

/// A part of a path, on a link.
struct PathElement {
  PathPart part = PathPart::point;
  int link = world_link;
  Transform<double> pose{};  // in the link; of a point, p alone
  double radius = 0;         // [m]
  double divisor = 1;
  /// A point that says on which side of a round body the string lies; within that body,
  /// the string passes through the inside and touches the surface from there.
  bool has_side = false;
  int side_link = world_link;
  Vec3<double> side{0, 0, 0};  // in that link
};

/// A unit of a string's tension pulls so on a link: a force at a point, in the world.
struct PathPull {
  int link;
  Vec3<double> point;
  Vec3<double> force;  // by which the length grows as the point moves along it
};

/// The length [m]. Adds the pulls of all straight pieces between two links; there are at
/// most four for each element.
double follow_path(std::span<const PathElement> path,
                   std::span<const Transform<double>> poses,
                   std::vector<PathPull>& pulls) noexcept;

}  // namespace bristle
