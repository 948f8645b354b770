#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

#include "bristle/core/result.hpp"
#include "bristle/laws/catalogue.hpp"
#include "bristle/laws/law_choice.hpp"
#include "bristle/laws/laws.hpp"

// Makes LawChoice values: by type, or by name.

namespace bristle {

namespace detail {

template <class... Laws>
constexpr std::size_t most_parameters(LawList<Laws...>) {
  return std::max({Laws::parameters().size()...});
}

template <class Law, class... Laws>
constexpr int index_in(LawList<Laws...>) {
  const std::array same{std::is_same_v<Law, Laws>...};
  for (std::size_t i = 0; i < same.size(); ++i) {
    if (same[i]) return static_cast<int>(i);
  }
  return -1;
}

template <class... Laws>
constexpr int law_count(LawList<Laws...>) {
  return static_cast<int>(sizeof...(Laws));
}

}  // namespace detail

static_assert(std::max(detail::most_parameters(NormalLaws{}),
                       detail::most_parameters(FrictionLaws{})) <= max_law_parameters,
              "a law has more parameters than LawChoice has room for");

inline constexpr int normal_law_count = detail::law_count(NormalLaws{});
inline constexpr int friction_law_count = detail::law_count(FrictionLaws{});

/// choose<Hertz>({.stiffness = 1e6, .exponent = 1.5})
template <class Law>
LawChoice choose(const typename Law::template Params<double>& params) {
  constexpr int normal = detail::index_in<Law>(NormalLaws{});
  constexpr int friction = detail::index_in<Law>(FrictionLaws{});
  static_assert(normal >= 0 || friction >= 0, "the law is not in the list of laws.hpp");
  LawChoice choice;
  choice.family = normal >= 0 ? LawFamily::normal : LawFamily::friction;
  choice.index = normal >= 0 ? normal : friction;
  std::size_t i = 0;
  for (const auto& field : Law::parameters()) {
    choice.parameters[i++] = params.*field.member;
  }
  return choice;
}

/// The same with defaults.
template <class Law>
LawChoice choose() {
  return choose<Law>(default_params<Law>());
}

/// The parameters of a choice as the law reads them.
template <class Law>
typename Law::template Params<double> params_of(const LawChoice& choice) {
  using Params = typename Law::template Params<double>;
  Params params{};  // its members stand in the order of parameters()
  for (std::size_t i = 0; i < field_count<Params, double>; ++i) {
    field<double>(params, i) = choice.parameters[i];
  }
  return params;
}

/// A law by name, with some of its parameters; the others keep their defaults. Names and
/// ranges are checked.
Result<LawChoice> choose(std::string_view law,
                         std::span<const std::pair<std::string_view, double>> parameters);

/// Empty, or the first parameter that lies outside its range.
std::string out_of_range(const LawChoice& choice);

/// The law's name and description.
const LawEntry& entry_of(const LawChoice& choice);

}  // namespace bristle
