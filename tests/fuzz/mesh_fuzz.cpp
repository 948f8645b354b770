// Mesh files: the first byte says which sort, the rest is the file.

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "scene/mesh_file.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/fuzz/scratch.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace bristle;
  static const test::FuzzFolder folder;
  if (size == 0) return 0;
  constexpr const char* endings[] = {"stl", "obj", "ply", "dae"};
  const std::string path =
      folder.put(std::string("mesh.") + endings[data[0] % 4],
                 {reinterpret_cast<const char*>(data + 1), size - 1});
  for (const char* kind : {"hull", "mesh"}) {
    scene::RobotOptions options;
    options.meshes = kind;
    scene::Geometry geometry;
    scene::Problems problems;
    scene::Meshes meshes(options, geometry, problems);
    const scene::Triangles* triangles = meshes.read(path, {path, 0}, "mesh");
    if (triangles == nullptr) {
      if (!problems.any()) __builtin_trap();
      return 0;
    }
    scene::enclosed(*triangles);
    if (!meshes.shape(path, *triangles, {1, 1, 1}, {path, 0}, "mesh") &&
        !problems.any()) {
      __builtin_trap();
    }
  }
  return 0;
}
