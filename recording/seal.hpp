#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "bristle/core/result.hpp"

// The seal of an HDF5 file: its length and a checksum of its bytes, in the user block
// that the format leaves to the application (HDF5 File Format Specification, section II).
// The library that reads HDF5 trusts what a file says about itself, and a bit that is
// wrong there can lead it anywhere; a file is checked here first.
//
//   magic "BRSTLHDF", length u64, CRC-32C u32 of all bytes after the seal, CRC-32C u32 of
//   the 20 bytes before; zeros to the end of the block

namespace bristle::recording {

inline constexpr std::uint64_t user_block = 512;  // bytes; the least that HDF5 allows

enum class Seal : std::uint8_t {
  whole,    // the bytes are those that were sealed
  none,     // an HDF5 file without a user block: written by another program
  damaged,  // other bytes than those that were sealed
  foreign,  // neither sealed nor HDF5
};

/// Seals a file that has an empty user block, and brings it to the disk.
std::optional<Error> seal(const std::string& path);

/// Reads the whole file once.
Result<Seal> seal_of(const std::string& path);

}  // namespace bristle::recording
