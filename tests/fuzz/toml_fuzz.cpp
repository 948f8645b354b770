#include <cstdint>

#include "scene/scene.hpp"
#include "tests/fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace bristle;
  scene::Problems problems;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto scene = scene::read_scene_text(text, test::nowhere, {}, problems);
  // Either there is a scene, or it is said why not.
  if (!scene && !problems.any()) __builtin_trap();
  return 0;
}
