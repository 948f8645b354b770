#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/canvas.hpp"

// Words in figures: what may be written, and how much room it takes. There is no font at
// hand; the widths are those of DejaVu Sans, which is wider than most that may stand in
// for it.

namespace bristle::report {

/// The text with control characters as blanks and what is not UTF-8 as U+FFFD.
std::string readable(std::string_view text);

/// Whether a byte of UTF-8 is a later one of its character.
constexpr bool continues_character(char c) {
  return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U;
}

/// Estimated width of UTF-8 text [px].
double text_width(std::string_view text, const TextStyle& style = {});

/// The text as it is when it fits, else its beginning and "…".
std::string shortened(std::string_view text, const TextStyle& style, double room);

/// The style with its size reduced, to `smallest` at most, so that the text fits.
TextStyle fitted(std::string_view text, TextStyle style, double room,
                 double smallest = 9);

/// The text broken at blanks into lines that fit; at least one line.
std::vector<std::string> wrapped(std::string_view text, const TextStyle& style,
                                 double room);

}  // namespace bristle::report
