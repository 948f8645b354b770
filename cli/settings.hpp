#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "bristle/core/parameter.hpp"
#include "bristle/core/result.hpp"

namespace bristle::cli {

/// `--set key=value` as typed, in order.
using Settings = std::vector<std::string>;

/// The values of parameters after the settings: defaults where nothing is set. Every
/// problem is reported at once, each with name, value and what is allowed.
Result<std::vector<double>> apply_settings(std::span<const Parameter> parameters,
                                           const Settings& settings,
                                           std::string_view owner);

/// As above, but keys that are not among the parameters are left to others; `used` gets
/// the keys that were taken.
Result<std::vector<double>> apply_known(std::span<const Parameter> parameters,
                                        const Settings& settings, std::string_view owner,
                                        std::vector<std::string>& used);

}  // namespace bristle::cli
