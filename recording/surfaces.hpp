#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "recording/export.hpp"

namespace bristle::recording {

/// A shape as triangles, in its own axes, counter-clockwise seen from outside.
struct SurfaceMesh {
  std::vector<Vec3<double>> vertices{};                   // [m]
  std::vector<Vec3<double>> normals{};                    // unit; none: flat triangles
  std::vector<std::array<std::uint32_t, 3>> triangles{};  // vertices
};

/// Of a point: nothing.
SurfaceMesh make_surface_mesh(const ShapeInfo& shape, const SurfaceOptions& options);

/// For each shape the first one that has the same surface.
std::vector<std::size_t> alike(const std::vector<ShapeInfo>& shapes);

/// With the size of planes filled in: as far as anything moves in the recording.
SurfaceOptions fitted(Reader& reader, const SurfaceOptions& options);
/// The same where bodies are known to stay within `far` [m] of the origin.
SurfaceOptions fitted(const Header& header, double far, const SurfaceOptions& options);

}  // namespace bristle::recording
