#pragma once

#include <string_view>

namespace bristle {

// The one place where the version is written; the build reads it from here.
[[nodiscard]] constexpr std::string_view version() noexcept { return "0.2.0"; }

}  // namespace bristle
