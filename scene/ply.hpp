#pragma once

#include <string_view>

#include "scene/mesh_import.hpp"

namespace bristle::scene {

/// The triangles of a PLY file (Turk 1994), text or binary of either byte order: x, y, z
/// of its vertices and the vertex_indices of its faces, of which larger ones become fans.
/// What else it holds is passed over. The error says what is wrong with the file.
Result<Triangles> parse_ply(std::string_view bytes);

}  // namespace bristle::scene
