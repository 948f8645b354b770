#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "bristle/core/parameter.hpp"
#include "cli/exit.hpp"

// How the program speaks: messages, columns, wrapped text, numbers.

namespace bristle::cli {

/// To standard error; where nobody reads that, the program goes on.
template <class... Values>
void tell(fmt::format_string<Values...> format, Values&&... values) {
  std::fputs(fmt::format(format, std::forward<Values>(values)...).c_str(), stderr);
}

using Json = nlohmann::ordered_json;

/// As a terminal may show it: control characters, line breaks and tabs apart, are spelled
/// out ("\\x1b").
std::string printable(std::string_view text);

/// As JSON; names of files may not be UTF-8, and what is not is replaced.
std::string json_text(const Json& json, int indent = 2);

/// Says what is wrong on standard error, and returns the status.
int fail(const std::string& message, int status = bad_input);

std::string range_text(const Parameter& p);
std::string value_text(const Parameter& p, double value);
Json value_json(const Parameter& p, double value);

/// The unit as it is read: nothing for a plain number or a flag.
std::string_view unit_text(const Parameter& p);

/// Characters as a reader counts them, for columns with Greek letters.
std::size_t width_of(std::string_view text);
std::string padded(std::string_view text, std::size_t width);

/// Text under a heading, wrapped and indented.
void print_wrapped(std::string_view head, std::string_view text);

/// A text that is a finite number and nothing else.
std::optional<double> number_in(std::string_view text);

/// For options: what is wrong with a name that must not be empty, as that of a variable
/// of a script that is not set; nothing where it is not.
std::string empty_name(const std::string& name);

/// For options: what is wrong with a time [s]; nothing where it is good.
std::string time_above_zero(const std::string& text);
std::string time_or_zero(const std::string& text);

}  // namespace bristle::cli
