#include "cli/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "bristle/laws/catalogue.hpp"
#include "scene/limits.hpp"

namespace bristle::cli {

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    // C1 controls are U+0080 to U+009F: c2 80 to c2 9f in UTF-8.
    const bool c1 = c == 0xc2 && i + 1 < text.size() &&
                    static_cast<unsigned char>(text[i + 1]) < 0xa0;
    if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f) {
      out += fmt::format("\\x{:02x}", c);
    } else if (c1) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[++i]));
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string json_text(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

int fail(const std::string& message, int status) {
  tell("bristle: {}\n", printable(message));
  return status;
}

std::string range_text(const Parameter& p) {
  if (p.is_flag()) return "true or false";
  if (p.is_choice()) return choice_names(p);
  return fmt::format("{}{:g}, {:g}]", p.range.open_low ? "(" : "[", p.range.low,
                     p.range.high);
}

std::string value_text(const Parameter& p, double value) {
  if (p.is_flag()) return value != 0 ? "true" : "false";
  if (p.is_choice()) return std::string(p.choices[static_cast<std::size_t>(value)]);
  return fmt::format("{:g}", value);
}

Json value_json(const Parameter& p, double value) {
  if (p.is_flag()) return value != 0;
  if (p.is_choice()) return p.choices[static_cast<std::size_t>(value)];
  return value;
}

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string padded(std::string_view text, std::size_t width) {
  return std::string(text) +
         std::string(width > width_of(text) ? width - width_of(text) : 0, ' ');
}

void print_wrapped(std::string_view head, std::string_view text) {
  constexpr std::size_t indent = 10;
  constexpr std::size_t limit = 92;
  std::string line = padded(head, indent);
  std::size_t used = indent;
  const auto flush = [&] {
    fmt::print("{}\n", line);
    line = std::string(indent, ' ');
    used = indent;
  };
  std::size_t at = 0;
  while (at <= text.size()) {
    const std::size_t end = std::min(text.find_first_of(" \n", at), text.size());
    const std::string_view word = text.substr(at, end - at);
    if (used > indent && used + 1 + width_of(word) > limit) flush();
    if (used > indent) line += ' ', ++used;
    line += word;
    used += width_of(word);
    if (end < text.size() && text[end] == '\n') flush();
    at = end + 1;
  }
  flush();
}

std::string_view unit_text(const Parameter& p) {
  return p.unit == "1" || p.is_flag() || p.is_choice() ? std::string_view() : p.unit;
}

std::optional<double> number_in(std::string_view text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  if (read.ec != std::errc() || read.ptr != end || !std::isfinite(value)) return {};
  return value;
}

std::string empty_name(const std::string& name) {
  return name.empty() ? "it must not be empty" : "";
}

namespace {

std::string wrong_time(const std::string& text, const Range& range) {
  const std::optional<double> time = number_in(text);
  if (time && range.contains(*time)) return "";
  return fmt::format("{} must be a time in seconds, in {}{:g}, {:g}]", printable(text),
                     range.open_low ? "(" : "[", range.low, range.high);
}

}  // namespace

std::string time_above_zero(const std::string& text) {
  return wrong_time(text, {0, scene::longest_time, true});
}

std::string time_or_zero(const std::string& text) {
  return wrong_time(text, {0, scene::longest_time});
}

}  // namespace bristle::cli
