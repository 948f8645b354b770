#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "bristle/core/result.hpp"
#include "bristle/core/vec.hpp"

namespace bristle::scene {

struct Triangles {
  std::vector<Vec3<double>> vertices;  // [m]
  std::vector<std::array<std::uint32_t, 3>> faces;
};

/// The triangles of an STL, OBJ, PLY or COLLADA file, within the limits of
/// scene/limits.hpp. The error reads on with the file's name: "there are no triangles in
/// ". Assimp reads all but PLY, in a child process: what damaged files do to it stays
/// there.
Result<Triangles> import_mesh(const std::string& path);

}  // namespace bristle::scene
