#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bristle/model/model.hpp"
#include "scene/mesh_import.hpp"

// How robots look: the colours of their shapes, and what is seen of them and touches
// nothing. No motion depends on it, so that what cannot be read is told and left out.

namespace bristle::scene {

using Colour = std::array<float, 4>;  // sRGB and opacity, from 0 to 1

/// How a shape that touches is seen.
struct ShapeLook {
  std::string shape;  // its name
  bool drawn = true;  // else only where nothing else is seen of its body
  std::optional<Colour> colour{};
};

/// A mesh file as it is seen: each vertex v stands at scale (turnedᵀ (v − away)).
struct SeenMesh {
  std::string path;
  Vec3<double> scale{1, 1, 1};
  Vec3<double> away{0, 0, 0};  // [m]
  Mat3<double> turned = Mat3<double>::identity();
};

/// A shape or a mesh on a body that is seen and touches nothing.
struct Visual {
  std::string name;
  std::string body;
  Transform<double> pose{};      // in the body
  std::optional<Shape> shape{};  // or
  std::optional<SeenMesh> mesh{};
  std::optional<Colour> colour{};
};

/// The same with its triangles, where it is a mesh.
struct SeenVisual {
  const Visual* visual;
  int body;  // −1: the world
  Triangles triangles{};
};

/// What was read of the visuals, and a line about what was not.
struct SeenVisuals {
  std::vector<SeenVisual> visuals;
  std::vector<std::string> notes;
};

/// The visuals of bodies of the tree, with meshes read from their files, each once, and
/// made coarser where they have more triangles than a picture needs.
SeenVisuals read_visuals(const std::vector<Visual>& visuals, const Tree& tree);

/// With about `most` triangles at most: vertices of one cell of a grid become one.
Triangles coarser(Triangles triangles, std::size_t most);

}  // namespace bristle::scene
