#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <typeindex>
#include <utility>

#include "bristle/core/result.hpp"
#include "bristle/laws/catalogue.hpp"
#include "bristle/laws/law_choice.hpp"
#include "bristle/laws/laws.hpp"

// Makes LawChoice values: by type, or by name.

namespace bristle {

namespace detail {
/// The law of that type at its defaults; throws std::logic_error where it is not
/// registered.
LawChoice default_choice(std::type_index type, std::string_view name);
}  // namespace detail

/// choose<Hertz>({.stiffness = 1e6, .exponent = 1.5}). A law that is not in laws.hpp must
/// have been registered (contact/register_law.hpp); std::logic_error otherwise.
template <class Law>
LawChoice choose(const typename Law::template Params<double>& params) {
  LawChoice choice = detail::default_choice(typeid(Law), Law::info.name);
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

/// Empty, or the first parameter that lies outside its range; also says where no law has
/// the index, and where the law does not offer that kind of spin.
std::string out_of_range(const LawChoice& choice);

/// The law's name and description.
const LawEntry& entry_of(const LawChoice& choice);

}  // namespace bristle
