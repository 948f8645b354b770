#include "scene/urdf.hpp"
#include "tests/fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace bristle;
  scene::Parts parts;
  scene::Problems problems;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (scene::read_urdf_text(text, test::nowhere, {}, parts, problems)) {
    test::build_model(parts);
  }
  return 0;
}
