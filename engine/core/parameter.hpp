#pragma once

#include <array>
#include <cstddef>
#include <string_view>

// What people type and read: every parameter says its name, symbol, unit, range, default
// and meaning once, here, and the command line, the checks, the docs and the tests
// follow.

namespace bristle {

/// Numbers from low to high; an open end is not itself allowed.
struct Range {
  double low;
  double high;
  bool open_low = false;

  constexpr bool contains(double x) const {  // false for NaN
    return (open_low ? x > low : x >= low) && x <= high;
  }
};

constexpr Range between(double low, double high) { return {low, high, false}; }
constexpr Range above(double low, double high) { return {low, high, true}; }

/// A yes/no parameter, kept as 0 or 1.
inline constexpr Range yes_or_no{0, 1, false};

/// A choice among n named possibilities, kept as its number 0, 1, …
constexpr Range choice_of(int n) { return {0, static_cast<double>(n - 1), false}; }

struct Parameter {
  std::string_view name;
  std::string_view symbol;
  std::string_view unit;  // "1" for a plain number; "count": whole; "flag", "choice"
  Range range;
  double preset;
  std::string_view meaning;
  std::array<std::string_view, 12> choices{};  // names of a choice, in order

  constexpr bool is_flag() const { return unit == "flag"; }
  constexpr bool is_choice() const { return unit == "choice"; }

  /// How many possibilities a choice has.
  constexpr std::size_t choice_count() const {
    std::size_t n = 0;
    while (n < choices.size() && !choices[n].empty()) ++n;
    return n;
  }
};

/// A parameter and the member of Params<double> that holds it.
template <class Params>
struct ParameterField {
  double Params::* member;
  Parameter about;
};

/// One number of a law's memory.
struct StateField {
  std::string_view name;
  std::string_view symbol;
  std::string_view unit;
  std::string_view meaning;
};

}  // namespace bristle
