#pragma once

#include "bristle/contact/register_law.hpp"

// Laws that are not in laws.hpp: twins of listed ones under names of their own, so that
// results can be compared bit by bit.

namespace bristle::own {

constexpr LawInfo renamed(LawInfo info, std::string_view name) {
  info.name = name;
  return info;
}

struct Spring : HuntCrossley {
  static constexpr LawInfo info = renamed(HuntCrossley::info, "own-spring");
};
struct OtherSpring : HuntCrossley {
  static constexpr LawInfo info = renamed(HuntCrossley::info, "other-spring");
};
struct Slider : SpringSlider {
  static constexpr LawInfo info = renamed(SpringSlider::info, "own-slider");
};

}  // namespace bristle::own
