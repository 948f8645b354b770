#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace bristle::recording {

/// The checksum of Castagnoli's polynomial 0x1EDC6F41, as iSCSI and ext4 use it (RFC
/// 3720, B.4): it finds every burst of up to 32 wrong bits. `before` is the checksum of
/// the bytes that come before these.
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before = 0) noexcept;

namespace detail {
/// The same without the processor's instruction for it.
std::uint32_t crc32c_by_table(std::span<const std::byte> bytes,
                              std::uint32_t before = 0) noexcept;
}  // namespace detail

}  // namespace bristle::recording
