#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bristle/core/vec.hpp"
#include "scene/problem.hpp"

// XML as the readers of robot files see it: a tree of elements that know where they
// stand, and numbers that are checked as they are read. No bytes whatever may do more
// than leave a problem.

namespace bristle::scene::xml {

struct Attribute {
  std::string name;
  std::string value;
  const std::string* file = nullptr;
  int line = 0;

  FileLine place() const { return {*file, line}; }
};

struct Element {
  std::string tag;
  const std::string* file = nullptr;
  int line = 0;
  std::vector<Attribute> attributes{};
  std::vector<Element> children{};

  FileLine place() const { return {*file, line}; }
  const Attribute* find(std::string_view name) const;
  std::string_view value(std::string_view name) const;  // empty where there is none
  /// The first child of that tag.
  const Element* child(std::string_view tag_wanted) const;
};

struct Document {
  std::deque<std::string> files{};  // that elements refer to
  Element root{};
};

/// What one file may hold; a robot has far less.
inline constexpr std::size_t max_bytes = std::size_t{1} << 26;
inline constexpr std::size_t max_elements = 200'000;
inline constexpr std::size_t max_attributes = 200;  // of an element

/// Adds the file's root to the document. False: there are problems, and no root.
bool parse(std::string_view text, const std::string& file, Document& document,
           Element& root, Problems& problems);

/// A regular file's bytes; nothing, and a problem at `from`, where it cannot be read.
std::optional<std::string> read_file(const std::string& path, const FileLine& from,
                                     const std::string& who, Problems& problems);

/// As it may be printed: without control characters, and not longer than a line.
std::string shown(std::string_view text);
/// link "arm"; link where it has no name.
std::string called(std::string_view tag, std::string_view name);
/// The parts, joined.
std::string words(std::initializer_list<std::string_view> parts);

/// `size`: of a shape, between smallest_size and largest_size. None goes beyond
/// largest_number.
enum class Range : std::uint8_t { any, not_negative, positive, size };

/// The numbers of an attribute, from `least` to `most` of them, all finite and in range;
/// nothing, and a problem, where they are not.
std::optional<std::vector<double>> numbers(const Attribute& from, const std::string& who,
                                           std::size_t least, std::size_t most,
                                           Range range, Problems& problems);
/// One number; `otherwise` where the attribute is not there or wrong.
double number(const Attribute* from, const std::string& who, double otherwise,
              Range range, Problems& problems);
Vec3<double> vector(const Attribute* from, const std::string& who,
                    const Vec3<double>& otherwise, Problems& problems);

/// What follows from something that is not read, the most serious first.
enum class Consequence : std::uint8_t {
  undriven,    // an actuator
  uncoupled,   // what holds joints or bodies together
  motion,      // forces, inertias, limits
  contact,     // what touches, and how
  softness,    // how hard limits and couplings are
  unmeasured,  // a sensor
  appearance,  // a picture only
  nothing,     // it concerns another program
};

/// What was in a file and is not read, by name.
class Unread {
 public:
  void count(const std::string& what, Consequence then = Consequence::motion) {
    if (then != Consequence::nothing) ++counts_[{then, what}];
  }
  /// One warning for each consequence, the most serious first.
  void report(const std::string& file, Problems& problems) const;

 private:
  std::map<std::pair<Consequence, std::string>, int> counts_;
};

}  // namespace bristle::scene::xml
