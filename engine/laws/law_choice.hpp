#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace bristle {

enum class LawFamily { normal, friction };

/// How friction resists spinning in a contact with a patch: not at all; as a third
/// component of slip, by the radius of gyration (friction/with_spin.hpp), which is an
/// ellipse in force and couple; or by exact integrals over a disc of this pressure
/// (friction/spinning_disc.hpp). Contacts without a patch have none.
enum class Spin : std::uint8_t { none, elliptic, uniform, paraboloid, hertz };

inline constexpr std::array<std::string_view, 5> spin_names{"none", "elliptic", "uniform",
                                                            "paraboloid", "hertz"};

/// Room for the parameters of any law.
inline constexpr std::size_t max_law_parameters = 12;

/// A law of the catalogue with its parameters, as a plain value: what a model stores for
/// a pair of surfaces. choice.hpp makes them.
struct LawChoice {
  LawFamily family = LawFamily::normal;
  int index = 0;  // among the laws of its family: laws.hpp, then registered ones
  std::array<double, max_law_parameters> parameters{};  // as the law lists them, then 0
  Spin spin = Spin::none;                               // of a friction law

  friend bool operator==(const LawChoice&, const LawChoice&) = default;
};

}  // namespace bristle
