#pragma once

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "bristle/core/result.hpp"

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

/// A file that is written from the beginning to the end. Trouble shows at close().
class FileOut {
 public:
  explicit FileOut(std::string path)
      : path_(std::move(path)), file_(std::fopen(path_.c_str(), "wbe")) {
    if (file_ == nullptr) error_ = errno;
  }
  FileOut(const FileOut&) = delete;
  FileOut& operator=(const FileOut&) = delete;
  ~FileOut() {
    if (file_ != nullptr) std::fclose(file_);
  }

  void write(std::string_view text) { write(text.data(), text.size()); }
  void write(std::span<const std::byte> bytes) { write(bytes.data(), bytes.size()); }
  void write_number(double number) {
    std::array<char, 64> text;
    const auto end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
    write(text.data(), static_cast<std::size_t>(end - text.data()));
  }
  bool ok() const { return error_ == 0; }
  const std::string& path() const { return path_; }

  /// Why the file is not whole, or nothing.
  std::optional<Error> close() {
    if (file_ != nullptr) {
      if (std::fclose(file_) != 0 && error_ == 0) error_ = errno;
      file_ = nullptr;
    }
    if (error_ == 0) return std::nullopt;
    return Error{path_ + ": cannot be written: " + std::strerror(error_)};
  }

 private:
  void write(const void* from, std::size_t length) {
    if (error_ != 0 || length == 0) return;
    if (std::fwrite(from, 1, length, file_) != length) error_ = errno;
  }

  std::string path_;
  std::FILE* file_;
  int error_ = 0;
};

}  // namespace bristle::recording
