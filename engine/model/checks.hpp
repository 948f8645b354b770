#pragma once

#include <array>
#include <cmath>
#include <cstdio>
#include <string>
#include <string_view>

#include "bristle/core/vec.hpp"

// What the builders of trees and models say and check alike.

namespace bristle::checks {

inline std::string number(double x) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.9g", x);
  return text.data();
}

inline std::string quoted(std::string_view name) { return '"' + std::string(name) + '"'; }

inline bool finite(const Vec3<double>& v) {
  return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z);
}

}  // namespace bristle::checks
