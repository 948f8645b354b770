#include "bristle/laws/catalogue.hpp"

#include <array>

namespace bristle {

std::span<const std::string_view> law_names() noexcept {
  static constexpr std::array<std::string_view, 1> names{"placeholder"};
  return names;
}

}  // namespace bristle
