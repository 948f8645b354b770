#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "bristle/core/result.hpp"

namespace bristle::files {

/// Why a path is not a regular file that can be opened for reading, or nothing where it
/// is. A pipe or a device is none, and is never waited for. Without the path: "there is
/// no such file".
std::optional<Error> unreadable(const std::string& path);

/// The bytes of a regular file that holds at most `most` of them; the size is looked at
/// before any memory is taken. The error is without the path.
Result<std::string> read_file(const std::string& path, std::size_t most);

}  // namespace bristle::files
