#pragma once

#include <array>
#include <charconv>
#include <string>
#include <type_traits>

namespace bristle::recording {

/// The shortest text that reads back as the same number; "nan", "inf".
template <class T>
std::string number_text(T number) {
  std::array<char, 64> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
  return {text.data(), end};
}

/// Texts and numbers one after the other. (Not by `"a" + to_string(…)`: GCC 12 then warns
/// of an overlap.)
template <class... Parts>
std::string text_of(const Parts&... parts) {
  std::string text;
  const auto add = [&](const auto& part) {
    using Part = std::remove_cvref_t<decltype(part)>;
    if constexpr (std::is_arithmetic_v<Part> && !std::is_same_v<Part, char>) {
      text += number_text(part);
    } else {
      text += part;
    }
  };
  (add(parts), ...);
  return text;
}

}  // namespace bristle::recording
