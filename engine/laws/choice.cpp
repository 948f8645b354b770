#include "bristle/laws/choice.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

namespace bristle {

namespace {

bool is_known(const LawChoice& choice) {
  return choice.index >= 0 &&
         static_cast<std::size_t>(choice.index) < laws_of(choice.family).size();
}

LawChoice at_defaults(const LawEntry& entry) {
  LawChoice choice{.family = entry.family, .index = entry.index};
  const std::vector<double> presets = entry.defaults();
  std::copy(presets.begin(), presets.end(), choice.parameters.begin());
  return choice;
}

/// Empty, or which kinds of spin a friction law has instead.
std::string spin_not_offered(const LawEntry& entry, Spin spin) {
  if (std::find(entry.spins.begin(), entry.spins.end(), spin) != entry.spins.end()) {
    return {};
  }
  const auto quoted = [](Spin kind) {
    return '"' + std::string(spin_names[static_cast<std::size_t>(kind)]) + '"';
  };
  std::string message =
      std::string(entry.info.name) + " has no spin = " + quoted(spin) + ": it offers ";
  for (std::size_t i = 0; i < entry.spins.size(); ++i) {
    message += (i > 0 ? ", " : "") + quoted(entry.spins[i]);
  }
  if (entry.spins.size() == 1)
    return message + "; it is written for two components of slip";
  return message + "; integrals over a disc exist for coulomb";
}

}  // namespace

const LawEntry& entry_of(const LawChoice& choice) {
  return *laws_of(choice.family)[static_cast<std::size_t>(choice.index)];
}

LawChoice detail::default_choice(std::type_index type, std::string_view name) {
  const LawEntry* entry = find_law(type);
  if (entry == nullptr) {
    throw std::logic_error("the law \"" + std::string(name) +
                           "\" is not registered: call register_law<…>() for its type "
                           "before it is chosen");
  }
  return at_defaults(*entry);
}

std::string out_of_range(const LawChoice& choice) {
  if (!is_known(choice)) {
    return "there is no law with the index " + std::to_string(choice.index) +
           ": choose() makes choices";
  }
  const LawEntry& entry = entry_of(choice);
  for (std::size_t i = 0; i < entry.parameters.size(); ++i) {
    std::string message = out_of_range(entry.parameters[i], choice.parameters[i]);
    if (!message.empty()) return std::string(entry.info.name) + ": " + message;
  }
  return entry.family == LawFamily::friction ? spin_not_offered(entry, choice.spin)
                                             : std::string{};
}

Result<LawChoice> choose(
    std::string_view law,
    std::span<const std::pair<std::string_view, double>> parameters) {
  const Result<const LawEntry*> found = find_law(law);
  if (!found) return Error{found.error()};
  const LawEntry& entry = **found;
  LawChoice choice = at_defaults(entry);
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
