#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bristle/core/result.hpp"

namespace bristle::recording {

/// Datasets of one dimension of any HDF5 file, as numbers; nothing in the place of a path
/// that the file does not have. The file is read by a child process, which it may lead
/// astray. At most 10⁷ rows of each.
Result<std::vector<std::optional<std::vector<double>>>> read_hdf5_columns(
    const std::string& path, std::span<const std::string> datasets);

}  // namespace bristle::recording
