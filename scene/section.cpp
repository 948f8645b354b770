#include "scene/section.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <sstream>

#include "bristle/laws/catalogue.hpp"
#include "scene/toml_text.hpp"

namespace bristle::scene {

namespace {

FileLine place_in(const Source& source, const toml::node& node) {
  const toml::source_region& from = node.source();  // perhaps an included file
  if (!from.path) return {source.file, static_cast<int>(from.begin.line)};
  const bool of_setting = from.path->starts_with(setting_prefix);
  return {*from.path, of_setting ? 0 : static_cast<int>(from.begin.line)};
}

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('|'), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

std::string unit_list(const Key& key) {
  std::vector<std::string> all;
  for (const Unit& unit : units_of(key.dimension)) {
    all.push_back(fmt::format("{}_{}", key.name, unit.suffix));
  }
  return fmt::format("{}", fmt::join(all, ", "));
}

/// What a value that does not lie in the range must be.
std::string range_text(const Range& range, double value) {
  if (!std::isfinite(value)) return "a finite number";
  if (range.high >= largest_number) {
    if (value > range.high) return fmt::format("at most {:g}", range.high);
    return fmt::format("{} {:g}", range.open_low ? "above" : "at least", range.low);
  }
  return fmt::format("in {}{:g}, {:g}]", range.open_low ? "(" : "[", range.low,
                     range.high);
}

/// Numbers with as many digits as tell them from all others.
std::string in_one_line(const toml::node& value) {
  if (const auto* number = value.as_floating_point()) {
    return fmt::format("{}", number->get());
  }
  if (const toml::array* list = value.as_array()) {
    std::vector<std::string> entries;
    for (const toml::node& one : *list) entries.push_back(in_one_line(one));
    return fmt::format("[{}]", fmt::join(entries, ", "));
  }
  std::ostringstream text;
  value.visit([&](const auto& content) { text << content; });
  return text.str();
}

}  // namespace

std::string did_you_mean(std::string_view word, std::span<const std::string_view> words) {
  const std::string_view close = nearest(word, words);
  return close.empty() ? std::string() : fmt::format("; did you mean \"{}\"?", close);
}

std::string called(const char* sort, const toml::table& table, std::size_t i) {
  const auto name = table["name"].value<std::string>();
  return name ? fmt::format("{} \"{}\"", sort, *name) : fmt::format("{} {}", sort, i + 1);
}

std::string shown(std::string_view key, const toml::node& value) {
  std::string all = in_one_line(value);
  if (all.size() > 60) all = fmt::format("{}…", all.substr(0, 57));
  return fmt::format("{} = {}", key, all);
}

Section::Section(const toml::table& table, std::span<const Key> keys, std::string what,
                 const Source& source)
    : table_(&table),
      keys_(keys),
      what_(std::move(what)),
      source_(&source),
      place_(place_in(source, table)) {
  for (const auto& [written, node] : table) {
    const std::string_view name = written.str();
    const Key* found = nullptr;
    const Key* base = nullptr;  // the same quantity with another unit
    double factor = 1;
    for (const Key& key : keys) {
      if (const auto f = factor_of(name, key.name, key.dimension)) {
        found = &key;
        factor = *f;
        break;
      }
      const bool same = name == key.name ||
                        (name.starts_with(key.name) && name[key.name.size()] == '_');
      if (same && (base == nullptr || key.name.size() > base->name.size())) base = &key;
    }
    if (found == nullptr) {
      std::vector<std::string> names;
      for (const Key& key : keys) names.push_back(usual_key(key.name, key.dimension));
      std::string hint;
      if (base != nullptr && !units_of(base->dimension).empty()) {
        hint = fmt::format("write it with a unit: {}", unit_list(*base));
      } else {
        const std::vector<std::string_view> views(names.begin(), names.end());
        const std::string_view close = nearest(name, views);
        hint = close.empty() ? fmt::format("known here: {}", fmt::join(names, ", "))
                             : fmt::format("did you mean {}?", close);
      }
      source.problems->error(place_in(source, node),
                             fmt::format("{}: unknown key {}; {}", what_, name, hint));
      continue;
    }
    if (const Entry* twice = entry(found->name)) {
      source.problems->error(
          place_in(source, node),
          fmt::format("{}: {} is already given as {}", what_, name, twice->as_written));
      continue;
    }
    entries_.push_back({found, std::string(name), &node, factor, true});
    entries_.back().good = check(entries_.back());
  }
  for (const Key& key : keys) {
    if (key.required && entry(key.name) == nullptr) {
      error("", fmt::format("{} is missing: {}", usual_key(key.name, key.dimension),
                            key.meaning));
    }
  }
}

const Section::Entry* Section::entry(std::string_view name) const {
  for (const Entry& e : entries_) {
    if (e.key->name == name) return &e;
  }
  return nullptr;
}

const toml::node* Section::find(std::string_view name) const {
  const Entry* e = entry(name);
  return e != nullptr && e->good ? e->node : nullptr;
}

std::string Section::key_of(std::string_view name) const {
  const Entry* e = entry(name);
  return e != nullptr ? e->as_written : std::string(name);
}

FileLine Section::place_of(std::string_view name) const {
  const Entry* e = entry(name);
  return e != nullptr ? place_in(*source_, *e->node) : place_;
}

FileLine Section::place_of(const toml::node& node) const {
  return place_in(*source_, node);
}

void Section::error(std::string_view name, const std::string& message) const {
  source_->problems->error(place_of(name), fmt::format("{}: {}", what_, message));
}

void Section::warning(std::string_view name, const std::string& message) const {
  source_->problems->warning(place_of(name), fmt::format("{}: {}", what_, message));
}

void Section::only(std::string_view chooser, std::string_view key,
                   std::string_view of) const {
  if (!given(key) || !has(chooser)) return;
  const std::string chosen = text_or(chooser, "");
  const auto words = split(of);
  for (const std::string_view word : words) {
    if (word == chosen) return;
  }
  error(key, fmt::format("{} belongs to {}, not to {} = \"{}\"", key_of(key),
                         fmt::join(words, ", "), chooser, chosen));
}

bool Section::check_number(const Entry& e, const toml::node& node) const {
  const std::optional<double> value = number_in(node);
  if (!value) {
    source_->problems->error(
        place_in(*source_, node),
        fmt::format("{}: {} must be a number", what_, shown(e.as_written, node)));
    return false;
  }
  const double si = *value * e.factor;
  if (!std::isfinite(si) || !e.key->range.contains(si)) {
    std::string in_unit;
    if (e.factor != 1) in_unit = " in SI units";
    source_->problems->error(
        place_in(*source_, node),
        fmt::format("{}: {} must be {}{}", what_, shown(e.as_written, node),
                    range_text(e.key->range, si), in_unit));
    return false;
  }
  if (e.key->kind == Kind::whole && *value != std::floor(*value)) {
    source_->problems->error(
        place_in(*source_, node),
        fmt::format("{}: {} must be a whole number", what_, shown(e.as_written, node)));
    return false;
  }
  return true;
}

bool Section::check(const Entry& e) const {
  const toml::node& node = *e.node;
  const auto wrong = [&](std::string_view wanted) {
    source_->problems->error(
        place_in(*source_, node),
        fmt::format("{}: {} must be {}", what_, shown(e.as_written, node), wanted));
    return false;
  };
  switch (e.key->kind) {
    case Kind::number:
    case Kind::whole:
      return check_number(e, node);
    case Kind::numbers: {
      const toml::array* list = node.as_array();
      if (list == nullptr) return wrong("a list of numbers");
      if (e.key->count > 0 && list->size() != static_cast<std::size_t>(e.key->count)) {
        return wrong(fmt::format("a list of {} numbers", e.key->count));
      }
      bool good = true;
      for (const toml::node& one : *list) good = check_number(e, one) && good;
      return good;
    }
    case Kind::text: {
      if (!node.is_string()) return wrong("a text in quotes");
      if (e.key->choices.empty()) return true;
      const std::string value = *node.value<std::string>();
      const auto words = split(e.key->choices);
      for (const std::string_view word : words) {
        if (word == value) return true;
      }
      return wrong(
          fmt::format("one of {}{}", fmt::join(words, ", "), did_you_mean(value, words)));
    }
    case Kind::texts: {
      const toml::array* list = node.as_array();
      if (list == nullptr) return wrong("a list of texts");
      for (const toml::node& one : *list) {
        if (!one.is_string()) return wrong("a list of texts");
      }
      return true;
    }
    case Kind::flag:
      return node.is_boolean() || wrong("true or false");
    case Kind::any:
      return true;
    case Kind::section:
      return node.is_table() || wrong("a table");
    case Kind::sections: {
      const toml::array* list = node.as_array();
      if (list == nullptr)
        return wrong(fmt::format("tables, each begun by [[{}]]", e.key->name));
      if (list->size() > list_entries) {
        return wrong(fmt::format("a list of at most {} tables", list_entries));
      }
      for (const toml::node& one : *list) {
        if (!one.is_table())
          return wrong(fmt::format("tables, each begun by [[{}]]", e.key->name));
      }
      return true;
    }
  }
  return false;
}

std::optional<double> Section::number(std::string_view name) const {
  const Entry* e = entry(name);
  if (e == nullptr || !e->good) return std::nullopt;
  return *number_in(*e->node) * e->factor;
}

std::vector<double> Section::numbers(std::string_view name) const {
  std::vector<double> all;
  const Entry* e = entry(name);
  if (e == nullptr || !e->good) return all;
  for (const toml::node& one : *e->node->as_array()) {
    all.push_back(*number_in(one) * e->factor);
  }
  return all;
}

std::optional<Vec3<double>> Section::vector(std::string_view name) const {
  const std::vector<double> all = numbers(name);
  if (all.size() != 3) return std::nullopt;
  return Vec3<double>{all[0], all[1], all[2]};
}

std::optional<std::string> Section::text(std::string_view name) const {
  const toml::node* node = find(name);
  return node != nullptr ? node->value<std::string>() : std::nullopt;
}

std::string Section::text_or(std::string_view name, std::string_view otherwise) const {
  return text(name).value_or(std::string(otherwise));
}

std::vector<std::string> Section::texts(std::string_view name) const {
  std::vector<std::string> all;
  const toml::node* node = find(name);
  if (node == nullptr) return all;
  for (const toml::node& one : *node->as_array()) {
    all.push_back(*one.value<std::string>());
  }
  return all;
}

bool Section::flag(std::string_view name, bool otherwise) const {
  const toml::node* node = find(name);
  return node != nullptr ? *node->value<bool>() : otherwise;
}

const toml::table* Section::table(std::string_view name) const {
  const toml::node* node = find(name);
  return node != nullptr ? node->as_table() : nullptr;
}

std::vector<const toml::table*> Section::tables(std::string_view name) const {
  std::vector<const toml::table*> all;
  const toml::node* node = find(name);
  if (node == nullptr) return all;
  for (const toml::node& one : *node->as_array()) all.push_back(one.as_table());
  return all;
}

}  // namespace bristle::scene
