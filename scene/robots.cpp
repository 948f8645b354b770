#include "scene/draft.hpp"

namespace bristle::scene {

std::optional<Shape> read_mesh(const Section& at, const std::string& file, double, bool,
                               Draft&) {
  at.error("file", "cannot read " + file);
  return std::nullopt;
}

void read_robots(const Section&, Draft&) {}

}  // namespace bristle::scene
