#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scene/problem.hpp"

namespace bristle::scene {

/// Columns of numbers with their names: a CSV file.
struct TableFile {
  std::vector<std::string> names;
  std::vector<std::vector<double>> columns;  // as long as each other
};

/// A table of a name in each column, then numbers, separated by commas; empty lines and
/// those that begin with # are passed over. Nothing where something is wrong, which has
/// been said, with the line; `file` is how messages call it.
std::optional<TableFile> read_table(std::string_view text, const std::string& file,
                                    Problems& problems);

}  // namespace bristle::scene
