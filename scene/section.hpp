#pragma once

#include <toml++/toml.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bristle/core/parameter.hpp"
#include "bristle/core/vec.hpp"
#include "scene/limits.hpp"
#include "scene/problem.hpp"
#include "scene/units.hpp"

// A table of a TOML file, read against the list of what may stand in it. The list is also
// what the schema and the messages are made of, so that nothing is said twice.

namespace bristle::scene {

enum class Kind {
  number,   // of a dimension
  whole,    // a number without a fraction
  numbers,  // a list of them, `count` long (0: any length)
  text,
  texts,  // a list
  flag,
  any,      // read by hand
  section,  // a table inside
  sections  // a list of tables: [[bodies]]
};

struct Key {
  std::string_view name;  // without its unit
  Kind kind;
  Dimension dimension = Dimension::none;
  std::string_view meaning = "";
  Range range = {-largest_number, largest_number};
  std::string_view choices = "";  // of a text: "a|b|c"
  int count = 0;
  bool required = false;
  std::span<const Key> inside = {};  // of sections
};

/// The file, its problems.
struct Source {
  std::string file;
  Problems* problems;
};

class Section {
 public:
  /// Checks every key of the table at once: unknown ones, units, types, ranges. `what` is
  /// how messages call it: body "ball".
  Section(const toml::table& table, std::span<const Key> keys, std::string what,
          const Source& source);

  bool has(std::string_view name) const { return find(name) != nullptr; }
  /// Also where what it says is wrong.
  bool given(std::string_view name) const { return entry(name) != nullptr; }
  std::optional<double> number(std::string_view name) const;
  double number_or(std::string_view name, double otherwise) const {
    return number(name).value_or(otherwise);
  }
  /// Empty where it is absent or wrong, which has been said then.
  std::vector<double> numbers(std::string_view name) const;
  std::optional<Vec3<double>> vector(std::string_view name) const;
  std::optional<std::string> text(std::string_view name) const;
  std::string text_or(std::string_view name, std::string_view otherwise) const;
  std::vector<std::string> texts(std::string_view name) const;
  bool flag(std::string_view name, bool otherwise = false) const;
  const toml::node* node(std::string_view name) const { return find(name); }
  const toml::table* table(std::string_view name) const;
  std::vector<const toml::table*> tables(std::string_view name) const;

  /// The key of the file with its unit: "radius_mm"; for messages.
  std::string key_of(std::string_view name) const;
  const toml::table& whole() const { return *table_; }
  std::span<const Key> keys() const { return keys_; }
  FileLine place() const { return place_; }
  FileLine place_of(std::string_view name) const;
  FileLine place_of(const toml::node& node) const;  // perhaps in an included file
  const Source& source() const { return *source_; }
  const std::string& what() const { return what_; }

  /// An error where `key` is given though `chooser` (type, kind) is none of "a|b|c".
  void only(std::string_view chooser, std::string_view key, std::string_view of) const;

  /// "file:12: body "ball": MESSAGE", at a key or at the table.
  void error(std::string_view name, const std::string& message) const;
  void warning(std::string_view name, const std::string& message) const;

 private:
  struct Entry {
    const Key* key;
    std::string as_written;
    const toml::node* node;
    double factor;
    bool good;
  };
  const toml::node* find(std::string_view name) const;
  const Entry* entry(std::string_view name) const;
  bool check(const Entry& entry) const;
  bool check_number(const Entry& entry, const toml::node& node) const;

  const toml::table* table_;
  std::span<const Key> keys_;
  std::vector<Entry> entries_;
  std::string what_;
  const Source* source_;
  FileLine place_;
};

/// What a value of the command line has in place of a file: "--set KEY=VALUE".
inline constexpr std::string_view setting_prefix = "--set ";

/// "; did you mean \"ball\"?", or nothing where no word is close.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> words);

/// How messages call a table of a list: body "ball", or body 3 where it has no name.
std::string called(const char* sort, const toml::table& table, std::size_t i);

/// "mass_kg = -1"
std::string shown(std::string_view key, const toml::node& value);

}  // namespace bristle::scene
