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

/// One set of settings for several owners (laws), each of which takes what it knows.
class SettingsFor {
 public:
  explicit SettingsFor(const Settings& settings) : settings_(settings) {}

  Result<std::vector<double>> apply(std::span<const Parameter> parameters,
                                    std::string_view owner);

  /// A message when some key meant nothing to anyone.
  std::string unused() const;

 private:
  const Settings& settings_;
  std::vector<std::string> used_;
  std::vector<std::string_view> known_;
};

}  // namespace bristle::cli
