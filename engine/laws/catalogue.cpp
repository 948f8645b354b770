#include "bristle/laws/catalogue.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <numeric>
#include <utility>

#include "bristle/laws/law_entry.hpp"
#include "bristle/laws/laws.hpp"

namespace bristle {

namespace {

/// Entries in a deque, which grows without moving what it holds.
struct Catalogue {
  std::deque<LawEntry> entries;
  std::vector<const LawEntry*> normal, friction;

  Catalogue() {
    const auto add_listed = [this]<class Law>() { add(law_entry<Law>()); };
    for_each_law(NormalLaws{}, add_listed);
    for_each_law(FrictionLaws{}, add_listed);
  }

  const LawEntry* add(LawEntry entry) {
    auto& family = entry.family == LawFamily::normal ? normal : friction;
    entry.index = static_cast<int>(family.size());
    family.push_back(&entries.emplace_back(std::move(entry)));
    return family.back();
  }
};

Catalogue& all_laws() {
  static Catalogue laws;
  return laws;
}

std::string concat(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) text += part;
  return text;
}

std::string number(double x) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), x).ptr;
  return {text.data(), end};
}

}  // namespace

std::vector<double> LawEntry::defaults() const {
  std::vector<double> values;
  values.reserve(parameters.size());
  for (const Parameter& p : parameters) values.push_back(p.preset);
  return values;
}

int LawEntry::find_parameter(std::string_view name) const {
  const auto found = std::find_if(parameters.begin(), parameters.end(),
                                  [&](const Parameter& p) { return p.name == name; });
  return found == parameters.end() ? -1 : static_cast<int>(found - parameters.begin());
}

const std::deque<LawEntry>& catalogue() { return all_laws().entries; }

std::span<const LawEntry* const> laws_of(LawFamily family) {
  return family == LawFamily::normal ? all_laws().normal : all_laws().friction;
}

Result<const LawEntry*> detail::add_to_catalogue(LawEntry entry) {
  const std::string_view name = entry.info.name;
  for (const LawEntry& other : catalogue()) {
    if (other.info.name != name) continue;
    return Error{other.type == entry.type
                     ? concat({"the law \"", name, "\" is registered already"})
                     : concat({"another law has the name \"", name,
                               "\": give this one a name of its own in its info"})};
  }
  return all_laws().add(std::move(entry));
}

const LawEntry* find_law(std::type_index type) {
  for (const LawEntry& entry : catalogue()) {
    if (entry.type == type) return &entry;
  }
  return nullptr;
}

Result<const LawEntry*> find_law(std::string_view name) {
  std::vector<std::string_view> names;
  std::string list;
  for (const LawEntry& entry : catalogue()) {
    if (entry.info.name == name) return &entry;
    names.push_back(entry.info.name);
    list += concat({list.empty() ? "" : ", ", entry.info.name});
  }
  const std::string_view close = nearest(name, names);
  const std::string hint =
      close.empty() ? "." : concat({"; did you mean \"", close, "\"?"});
  return Error{concat({"there is no law \"", name, "\"", hint, " Known laws: ", list})};
}

std::string choice_names(const Parameter& p) {
  std::string text;
  const std::size_t n = p.choice_count();
  for (std::size_t i = 0; i < n; ++i) {
    text += concat({i == 0 ? "" : i + 1 < n ? ", " : " or ", p.choices[i]});
  }
  return text;
}

std::string out_of_range(const Parameter& p, double value) {
  const bool whole = p.range.contains(value) && value == std::floor(value);
  const bool allowed = p.is_flag() || p.is_choice() ? whole : p.range.contains(value);
  if (allowed) return {};
  if (p.is_choice())
    return concat({p.name, " = ", number(value), " must be ", choice_names(p)});
  if (p.is_flag())
    return concat({p.name, " = ", number(value), " must be true or false"});
  return concat({p.name, " = ", number(value), " must lie in ",
                 p.range.open_low ? "(" : "[", number(p.range.low), ", ",
                 number(p.range.high), "]", p.unit == "1" ? "" : " ",
                 p.unit == "1" ? "" : p.unit});
}

Result<double> parse_value(const Parameter& p, std::string_view text) {
  double value = 0;
  if (p.is_flag() && (text == "true" || text == "yes" || text == "on")) {
    value = 1;
  } else if (p.is_flag() && (text == "false" || text == "no" || text == "off")) {
    value = 0;
  } else if (const auto chosen = std::find(p.choices.begin(), p.choices.end(), text);
             !text.empty() && chosen != p.choices.end()) {
    value = static_cast<double>(chosen - p.choices.begin());
  } else {
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) {
      const std::string kind = p.is_flag()     ? "true or false"
                               : p.is_choice() ? choice_names(p)
                                               : "a number";
      return Error{concat({p.name, " = \"", text, "\" must be ", kind})};
    }
  }
  if (std::string problem = out_of_range(p, value); !problem.empty())
    return Error{problem};
  return value;
}

std::string_view nearest(std::string_view word, std::span<const std::string_view> words) {
  // Levenshtein's distance, a row at a time
  const auto distance = [](std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
      std::size_t diagonal = std::exchange(row[0], i);
      for (std::size_t j = 1; j <= b.size(); ++j) {
        const std::size_t substitute = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
        diagonal =
            std::exchange(row[j], std::min({substitute, row[j] + 1, row[j - 1] + 1}));
      }
    }
    return row.back();
  };
  std::string_view best;
  std::size_t least = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string_view w : words) {
    if (const std::size_t d = distance(word, w); d < least) {
      least = d;
      best = w;
    }
  }
  return best;
}

}  // namespace bristle
