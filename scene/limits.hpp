#pragma once

#include <cstddef>

// What files may hold. Each limit is checked before memory is taken for what it bounds,
// and docs/scenes.md states them; real scenes and robots stay far below.

namespace bristle::scene {

inline constexpr double largest_number = 1e30;  // of any number in a scene or robot file
inline constexpr double smallest_size = 1e-9;   // of a shape [m]
inline constexpr double largest_size = 1e9;

inline constexpr std::size_t scene_bytes = std::size_t{1} << 26;  // of a TOML file
inline constexpr std::size_t scene_depth = 64;                    // of tables in tables
inline constexpr std::size_t list_entries = 100'000;              // bodies, joints, …
inline constexpr std::size_t include_depth = 16;
inline constexpr std::size_t include_files = 1000;  // in all
inline constexpr std::size_t group_names = 200;     // of a contact group
inline constexpr std::size_t errors_said = 100;     // further ones are counted

inline constexpr double longest_time = 1e9;  // of a run, a step, an interval [s]
inline constexpr double most_steps = 1e12;   // of a run
inline constexpr double most_samples = 1e9;

inline constexpr std::size_t table_bytes = std::size_t{1} << 26;  // of a CSV file
inline constexpr std::size_t table_columns = 10'000;

inline constexpr std::size_t mesh_bytes = std::size_t{1} << 29;
/// What assimp is given processor time for, besides two seconds.
inline constexpr std::size_t mesh_bytes_per_second = std::size_t{1} << 23;
inline constexpr std::size_t mesh_triangles = 2'000'000;
inline constexpr std::size_t mesh_corners = 1000;      // of a face
inline constexpr std::size_t mesh_depth = 64;          // of nodes in nodes
inline constexpr std::size_t mesh_instances = 10'000;  // of nodes, one in another

}  // namespace bristle::scene
