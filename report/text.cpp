#include "report/text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace bristle::report {

namespace {

// Advance of the characters from blank to ~ in hundredths of the font size.
constexpr std::array<std::uint8_t, 95> ascii_widths{
    32, 41, 46, 84, 64, 96, 78, 28, 39, 39, 50, 84, 32, 37,  32, 34, 64, 64, 64,
    64, 64, 64, 64, 64, 64, 64, 34, 34, 84, 84, 84, 54, 100, 69, 69, 70, 77, 64,
    58, 78, 76, 30, 30, 66, 56, 87, 75, 79, 61, 79, 70, 64,  62, 74, 69, 99, 69,
    62, 69, 39, 34, 39, 84, 50, 50, 62, 64, 55, 64, 62, 36,  64, 64, 28, 28, 58,
    28, 98, 64, 62, 64, 64, 42, 53, 40, 64, 60, 82, 60, 60,  53, 64, 34, 64, 84};
constexpr double other_width = 0.7;  // Greek, signs, raised digits: 0.4 to 0.83
constexpr double bold_factor = 1.14;

/// U+0300 to U+036F, marks above and below the letter before.
bool is_combining(unsigned char first, unsigned char second) {
  return first == 0xcc || (first == 0xcd && second <= 0xaf);
}

/// Bytes of the UTF-8 character that starts here; 0 when none does.
std::size_t character_length(std::string_view text) {
  const auto byte = [&text](std::size_t i) {
    return static_cast<unsigned char>(i < text.size() ? text[i] : '\0');
  };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  std::size_t length = 0;
  unsigned lowest =
      0x80;  // of the second byte: shorter forms and surrogates are forbidden
  unsigned highest = 0xbf;
  if (first >= 0xc2 && first <= 0xdf) length = 2;
  if (first >= 0xe0 && first <= 0xef) length = 3;
  if (first >= 0xf0 && first <= 0xf4) length = 4;
  if (first == 0xe0) lowest = 0xa0;
  if (first == 0xed) highest = 0x9f;
  if (first == 0xf0) lowest = 0x90;
  if (first == 0xf4) highest = 0x8f;
  if (length == 0 || byte(1) < lowest || byte(1) > highest) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if (byte(i) < 0x80 || byte(i) > 0xbf) return 0;
  }
  return length;
}

}  // namespace

std::string readable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    if (length == 0) {
      out += "\uFFFD";
    } else if (length == 1 &&
               (static_cast<unsigned char>(text[0]) < 0x20 || text[0] == 0x7f)) {
      out += ' ';
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

double text_width(std::string_view text, const TextStyle& style) {
  double ems = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const auto next =
        static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : '\0');
    if (c >= 0x20 && c < 0x7f) {
      ems += 0.01 * ascii_widths[c - 0x20U];
    } else if (!continues_character(text[i]) && !is_combining(c, next)) {
      ems += other_width;
    }
  }
  return ems * style.size * (style.bold ? bold_factor : 1);
}

std::string shortened(std::string_view text, const TextStyle& style, double room) {
  if (text_width(text, style) <= room) return std::string(text);
  const double dots = text_width("…", style);
  while (!text.empty() && text_width(text, style) + dots > room) {
    while (text.size() > 1 && continues_character(text.back())) text.remove_suffix(1);
    text.remove_suffix(1);
  }
  return std::string(text) + "…";
}

TextStyle fitted(std::string_view text, TextStyle style, double room, double smallest) {
  const double width = text_width(text, style);
  if (width > room) style.size = std::max(smallest, style.size * room / width);
  return style;
}

std::vector<std::string> wrapped(std::string_view text, const TextStyle& style,
                                 double room) {
  std::vector<std::string> lines{""};
  while (!text.empty()) {
    const std::size_t blank = text.find(' ');
    const std::string word(text.substr(0, blank));
    text.remove_prefix(blank == std::string_view::npos ? text.size() : blank + 1);
    std::string& last = lines.back();
    if (last.empty()) {
      last = word;
    } else if (text_width(last, style) + text_width(" ", style) +
                   text_width(word, style) <=
               room) {
      last += ' ';
      last += word;
    } else {
      lines.push_back(word);
    }
  }
  for (std::string& line : lines) line = shortened(line, style, room);
  return lines;
}

}  // namespace bristle::report
