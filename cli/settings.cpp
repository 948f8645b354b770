#include "cli/settings.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bristle/laws/catalogue.hpp"

namespace bristle::cli {

namespace {

struct Reading {
  std::vector<double> values;
  std::vector<std::string> used;
  std::vector<std::string> unknown;
  std::vector<std::string> problems;
};

Reading read(std::span<const Parameter> parameters, const Settings& settings) {
  Reading r;
  for (const Parameter& p : parameters) r.values.push_back(p.preset);
  for (const std::string& setting : settings) {
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos) {
      r.problems.push_back(
          fmt::format("--set {}: write it as name=value, e.g. --set speed=2", setting));
      continue;
    }
    const std::string key = setting.substr(0, equals);
    const auto found = std::find_if(parameters.begin(), parameters.end(),
                                    [&key](const Parameter& p) { return p.name == key; });
    if (found == parameters.end()) {
      r.unknown.push_back(key);
      continue;
    }
    r.used.push_back(key);
    const auto value = parse_value(*found, setting.substr(equals + 1));
    if (value) {
      r.values[static_cast<std::size_t>(found - parameters.begin())] = *value;
    } else {
      r.problems.push_back(value.error());
    }
  }
  return r;
}

Error join(std::string_view owner, const std::vector<std::string>& problems) {
  std::string text;
  for (const std::string& p : problems) {
    text += fmt::format("{}{}: {}", text.empty() ? "" : "\n", owner, p);
  }
  return Error{text};
}

}  // namespace

Result<std::vector<double>> apply_settings(std::span<const Parameter> parameters,
                                           const Settings& settings,
                                           std::string_view owner) {
  Reading r = read(parameters, settings);
  std::vector<std::string_view> names;
  for (const Parameter& p : parameters) names.push_back(p.name);
  for (const std::string& key : r.unknown) {
    const std::string_view close = nearest(key, names);
    r.problems.push_back(
        fmt::format("unknown parameter \"{}\"{} Known: {}", key,
                    close.empty() ? "." : fmt::format("; did you mean \"{}\"?", close),
                    fmt::join(names, ", ")));
  }
  if (!r.problems.empty()) return join(owner, r.problems);
  return r.values;
}

Result<std::vector<double>> apply_known(std::span<const Parameter> parameters,
                                        const Settings& settings, std::string_view owner,
                                        std::vector<std::string>& used) {
  Reading r = read(parameters, settings);
  used.insert(used.end(), r.used.begin(), r.used.end());
  if (!r.problems.empty()) return join(owner, r.problems);
  return r.values;
}

Result<std::vector<double>> SettingsFor::apply(std::span<const Parameter> parameters,
                                               std::string_view owner) {
  for (const Parameter& p : parameters) {
    if (std::find(known_.begin(), known_.end(), p.name) == known_.end()) {
      known_.push_back(p.name);
    }
  }
  return apply_known(parameters, settings_, owner, used_);
}

std::string SettingsFor::unused() const {
  for (const std::string& setting : settings_) {
    const std::string key = setting.substr(0, setting.find('='));
    if (std::find(used_.begin(), used_.end(), key) != used_.end()) continue;
    const std::string_view close = nearest(key, known_);
    return fmt::format("unknown parameter \"{}\"{} Known: {}", key,
                       close.empty() ? "." : fmt::format("; did you mean \"{}\"?", close),
                       fmt::join(known_, ", "));
  }
  return {};
}

}  // namespace bristle::cli
