#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

// Numbers as bytes, little-endian, one after the other without gaps.

namespace bristle::recording {

static_assert(std::endian::native == std::endian::little,
              "recordings are little-endian; this machine would need to swap bytes");

using Bytes = std::vector<std::byte>;

template <class T>
concept Number = std::is_arithmetic_v<T>;

/// Appends to a list of bytes.
class ByteWriter {
 public:
  explicit ByteWriter(Bytes& to) : to_(to) {}

  template <Number T>
  void put(T number) {
    const std::size_t at = to_.size();
    to_.resize(at + sizeof(T));
    std::memcpy(to_.data() + at, &number, sizeof(T));
  }
  void put_doubles(std::span<const double> numbers) {
    if (numbers.empty()) return;
    const std::size_t at = to_.size();
    to_.resize(at + numbers.size_bytes());
    std::memcpy(to_.data() + at, numbers.data(), numbers.size_bytes());
  }
  /// Its length, then its letters.
  void put_text(std::string_view text) {
    put(static_cast<std::uint32_t>(text.size()));
    const std::span<const std::byte> letters = std::as_bytes(std::span(text));
    to_.insert(to_.end(), letters.begin(), letters.end());
  }
  /// The length of a list that follows.
  void put_count(std::size_t count) { put(static_cast<std::uint32_t>(count)); }

 private:
  Bytes& to_;
};

/// Reads them again. Once something is missing, ok() is false and every number is 0.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> from) : from_(from) {}

  bool ok() const { return ok_; }
  std::size_t left() const { return from_.size(); }
  void fail() {
    ok_ = false;
    from_ = {};
  }

  template <Number T>
  T get() {
    if constexpr (std::is_same_v<T, bool>) {
      return get<std::uint8_t>() != 0;
    }
    T number{};
    if (!has(sizeof(T))) return number;
    std::memcpy(&number, from_.data(), sizeof(T));
    from_ = from_.subspan(sizeof(T));
    return number;
  }
  void get_doubles(std::span<double> to) {
    if (to.empty() || !has(to.size_bytes())) return;
    std::memcpy(to.data(), from_.data(), to.size_bytes());
    from_ = from_.subspan(to.size_bytes());
  }
  std::string get_text() {
    const auto length = get<std::uint32_t>();
    if (!has(length)) return {};
    std::string text(length, '\0');
    if (length > 0) std::memcpy(text.data(), from_.data(), length);
    from_ = from_.subspan(length);
    return text;
  }
  /// The length of a list whose entries take at least so many bytes each; 0 where that
  /// many cannot follow, so that nothing is allocated for a length that is nonsense.
  std::size_t get_count(std::size_t least_bytes) {
    const std::size_t count = get<std::uint32_t>();
    if (least_bytes > 0 && count > from_.size() / least_bytes) {
      fail();
      return 0;
    }
    return count;
  }
  std::span<const std::byte> get_bytes(std::size_t length) {
    if (!has(length)) return {};
    const std::span<const std::byte> bytes = from_.first(length);
    from_ = from_.subspan(length);
    return bytes;
  }

 private:
  bool has(std::size_t length) {
    if (from_.size() < length) fail();
    return ok_;
  }

  std::span<const std::byte> from_;
  bool ok_ = true;
};

}  // namespace bristle::recording
