#pragma once

#include <span>
#include <string_view>

namespace bristle {

// Names of the laws the library was built with.
[[nodiscard]] std::span<const std::string_view> law_names() noexcept;

}  // namespace bristle
