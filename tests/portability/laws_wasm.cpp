// Placeholder: a law-like function, compiled for the browser.
#include <array>
#include <cmath>
#include <concepts>
#include <string_view>

#include "bristle/core/version.hpp"

template <std::floating_point T>
static T force(T depth) {
  const std::array<T, 2> parts{depth, std::sqrt(depth)};
  return parts[0] * std::exp(parts[1]) + static_cast<T>(bristle::version().size());
}

extern "C" double bristle_force(double depth) { return force(depth); }
