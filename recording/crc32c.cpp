#include "recording/crc32c.hpp"

#include <array>
#include <cstring>

#if defined(__SSE4_2__)
#include <nmmintrin.h>
#endif

namespace bristle::recording {

namespace detail {

namespace {

constexpr std::array<std::uint32_t, 256> make_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t c = i;
    for (int bit = 0; bit < 8; ++bit) c = (c & 1) != 0 ? 0x82f63b78u ^ (c >> 1) : c >> 1;
    table[i] = c;
  }
  return table;
}

constexpr std::array<std::uint32_t, 256> table = make_table();

}  // namespace

std::uint32_t crc32c_by_table(std::span<const std::byte> bytes,
                              std::uint32_t before) noexcept {
  std::uint32_t c = ~before;
  for (const std::byte b : bytes) {
    c = table[(c ^ static_cast<std::uint32_t>(b)) & 0xffu] ^ (c >> 8);
  }
  return ~c;
}

}  // namespace detail

#if defined(__SSE4_2__)
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before) noexcept {
  std::uint64_t c = ~before;
  const std::byte* p = bytes.data();
  std::size_t n = bytes.size();
  for (; n >= 8; n -= 8, p += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, p, 8);
    c = _mm_crc32_u64(c, word);
  }
  auto rest = static_cast<std::uint32_t>(c);
  for (; n > 0; --n, ++p) rest = _mm_crc32_u8(rest, static_cast<std::uint8_t>(*p));
  return ~rest;
}
#else
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before) noexcept {
  return detail::crc32c_by_table(bytes, before);
}
#endif

}  // namespace bristle::recording
