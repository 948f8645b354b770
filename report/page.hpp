#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bristle/core/result.hpp"

// Pages to look at: the application of web/, which is part of this library, with the data
// that it shows inside, in one HTML file that needs nothing else.

namespace bristle::report {

using Json = nlohmann::ordered_json;

/// What a page shows: a description, and arrays of numbers that it refers to.
class PageData {
 public:
  Json head;

  /// Keeps the numbers, and returns what stands for them in the description.
  Json add(std::span<const float> numbers) { return add("f32", numbers); }
  Json add(std::span<const double> numbers) { return add("f64", numbers); }
  Json add(std::span<const std::uint32_t> numbers) { return add("u32", numbers); }
  Json add(std::span<const std::uint8_t> numbers) { return add("u8", numbers); }

  /// All of it, compressed: gzip of the length of the description (u32), the description,
  /// and the arrays, of which each keeps its first bytes together, then its second bytes,
  /// and so on.
  std::string packed() const;

 private:
  template <class T>
  Json add(const char* type, std::span<const T> numbers);

  std::string body_;
};

/// The page without data; empty where Bristle was built without Node.js.
std::string_view empty_page();

/// Why there are no pages, and what to do about it.
inline constexpr std::string_view no_pages =
    "reports are off: this program was built without Node.js and npm";

/// Writes a page that shows the data. Makes the folder if need be.
std::optional<Error> write_page(const PageData& data, std::string_view title,
                                const std::string& path);

}  // namespace bristle::report
