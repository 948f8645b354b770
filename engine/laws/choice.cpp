#include "bristle/laws/choice.hpp"

#include <string>
#include <vector>

namespace bristle {

const LawEntry& entry_of(const LawChoice& choice) {
  const int before = choice.family == LawFamily::normal ? 0 : normal_law_count;
  const int place = before + choice.index;
  return catalogue()[static_cast<std::size_t>(place)];
}

std::string out_of_range(const LawChoice& choice) {
  const LawEntry& entry = entry_of(choice);
  for (std::size_t i = 0; i < entry.parameters.size(); ++i) {
    std::string message = out_of_range(entry.parameters[i], choice.parameters[i]);
    if (!message.empty()) return std::string(entry.info.name) + ": " + message;
  }
  return {};
}

Result<LawChoice> choose(
    std::string_view law,
    std::span<const std::pair<std::string_view, double>> parameters) {
  const Result<const LawEntry*> found = find_law(law);
  if (!found) return Error{found.error()};
  const LawEntry& entry = **found;
  LawChoice choice;
  choice.family = entry.family;
  const auto place = static_cast<int>(&entry - catalogue().data());
  choice.index = place - (entry.family == LawFamily::normal ? 0 : normal_law_count);
  const std::vector<double> presets = entry.defaults();
  std::copy(presets.begin(), presets.end(), choice.parameters.begin());
  for (const auto& [name, value] : parameters) {
    const auto known = std::find_if(entry.parameters.begin(), entry.parameters.end(),
                                    [&](const Parameter& p) { return p.name == name; });
    if (known == entry.parameters.end()) {
      std::vector<std::string_view> names;
      names.reserve(entry.parameters.size());
      for (const Parameter& p : entry.parameters) names.push_back(p.name);
      std::string text(law);
      text += " has no parameter '" + std::string(name) + "'";
      const std::string_view close = nearest(name, names);
      if (!close.empty()) text += "; did you mean '" + std::string(close) + "'?";
      return Error{text};
    }
    choice.parameters[static_cast<std::size_t>(known - entry.parameters.begin())] = value;
  }
  std::string message = out_of_range(choice);
  if (!message.empty()) return Error{std::move(message)};
  return choice;
}

}  // namespace bristle
