#pragma once

#include <array>
#include <cstddef>

namespace bristle {

enum class LawFamily { normal, friction };

/// Room for the parameters of any law.
inline constexpr std::size_t max_law_parameters = 12;

/// A law of the catalogue with its parameters, as a plain value: what a model stores for
/// a pair of surfaces. choice.hpp makes them.
struct LawChoice {
  LawFamily family = LawFamily::normal;
  int index = 0;  // among the laws of its family: laws.hpp, then registered ones
  std::array<double, max_law_parameters> parameters{};  // as the law lists them, then 0

  friend bool operator==(const LawChoice&, const LawChoice&) = default;
};

}  // namespace bristle
