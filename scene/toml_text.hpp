#pragma once

#include <toml++/toml.h>

#include <optional>
#include <string>
#include <string_view>

#include "bristle/core/result.hpp"
#include "scene/problem.hpp"

namespace bristle::scene {

/// The line where tables and lists lie deeper in each other than scene_depth, or nothing.
/// toml++ bounds brackets only, and follows dotted keys as deep as they go.
std::optional<int> too_deep(std::string_view text);

/// The number of a node that is one; of a whole number the nearest, where toml++ itself
/// gives none beyond 2⁵³.
std::optional<double> number_in(const toml::node& node);

/// A TOML text as a table; nothing, and a problem, where it is none.
std::optional<toml::table> parse_toml(const std::string& text, const std::string& file,
                                      Problems& problems);

}  // namespace bristle::scene
