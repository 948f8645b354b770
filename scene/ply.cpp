#include "scene/ply.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>

#include "scene/limits.hpp"
#include "scene/xml.hpp"

namespace bristle::scene {

namespace {

using xml::shown;
using xml::words;

enum class Format : std::uint8_t { text, little_endian, big_endian };

struct Type {
  std::string_view name, other_name;
  std::size_t bytes;
  bool real, is_signed;
};

constexpr Type types[] = {
    {"char", "int8", 1, false, true},    {"uchar", "uint8", 1, false, false},
    {"short", "int16", 2, false, true},  {"ushort", "uint16", 2, false, false},
    {"int", "int32", 4, false, true},    {"uint", "uint32", 4, false, false},
    {"float", "float32", 4, true, true}, {"double", "float64", 8, true, true}};

const Type* type_of(std::string_view name) {
  const auto* found = std::ranges::find_if(
      types, [&](const Type& t) { return t.name == name || t.other_name == name; });
  return found == std::end(types) ? nullptr : found;
}

struct Property {
  std::string_view name;
  const Type* type;
  const Type* count = nullptr;  // of a list
};

struct Part {
  std::string_view name;
  std::uint64_t count = 0;
  std::vector<Property> properties{};
};

struct Header {
  Format format = Format::text;
  std::vector<Part> parts{};
};

/// Reads words and numbers one after the other; after an error only nothing.
class Cursor {
 public:
  explicit Cursor(std::string_view bytes) : rest_(bytes) {}

  /// A line without its end; the words of it.
  std::vector<std::string_view> line() {
    const std::size_t end = std::min(rest_.find('\n'), rest_.size());
    std::string_view text = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    std::vector<std::string_view> found;
    while (true) {
      const std::size_t begin = text.find_first_not_of(" \t\r");
      if (begin == std::string_view::npos) return found;
      text.remove_prefix(begin);
      const std::size_t length = std::min(text.find_first_of(" \t\r"), text.size());
      found.push_back(text.substr(0, length));
      text.remove_prefix(length);
    }
  }

  std::optional<double> number(const Type& type, Format format) {
    return format == Format::text ? text_number()
                                  : binary_number(type, format == Format::big_endian);
  }

  std::size_t left() const { return rest_.size(); }

 private:
  std::optional<double> text_number() {
    const std::size_t begin = rest_.find_first_not_of(" \t\r\n");
    if (begin == std::string_view::npos) return std::nullopt;
    rest_.remove_prefix(begin);
    double value = 0;
    const auto [end, error] =
        std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc{}) return std::nullopt;
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }

  std::optional<double> binary_number(const Type& type, bool big_endian) {
    if (rest_.size() < type.bytes) return std::nullopt;
    std::array<unsigned char, 8> raw{};
    std::memcpy(raw.data(), rest_.data(), type.bytes);
    rest_.remove_prefix(type.bytes);
    if (big_endian) std::reverse(raw.begin(), raw.begin() + type.bytes);
    std::uint64_t bits = 0;
    for (std::size_t k = type.bytes; k-- > 0;) bits = bits << 8 | raw[k];
    if (type.real && type.bytes == 4) {
      return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    }
    if (type.real) return std::bit_cast<double>(bits);
    const std::uint64_t sign = std::uint64_t{1} << (8 * type.bytes - 1);
    const bool negative = type.is_signed && (bits & sign) != 0;
    return static_cast<double>(bits) - (negative ? 2.0 * static_cast<double>(sign) : 0.0);
  }

  std::string_view rest_;
};

std::optional<std::uint64_t> count_of(std::string_view word) {
  std::uint64_t number = 0;
  const auto [end, error] =
      std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
  return number;
}

Result<Header> read_header(Cursor& from) {
  Header header;
  if (from.line() != std::vector<std::string_view>{"ply"}) {
    return Error{"it does not begin with ply"};
  }
  bool has_format = false;
  while (from.left() > 0) {
    const std::vector<std::string_view> line = from.line();
    const auto wrong = [&] {
      return Error{words({"its header has a line that begins with ", shown(line[0]),
                          " and cannot be read"})};
    };
    if (line.empty() || line[0] == "comment" || line[0] == "obj_info") continue;
    if (line[0] == "end_header") {
      if (!has_format) return Error{"its header does not say the format"};
      return header;
    }
    if (line[0] == "format" && line.size() == 3) {
      has_format = true;
      if (line[1] == "binary_little_endian") {
        header.format = Format::little_endian;
      } else if (line[1] == "binary_big_endian") {
        header.format = Format::big_endian;
      } else if (line[1] != "ascii") {
        return wrong();
      }
    } else if (line[0] == "element" && line.size() == 3) {
      const auto count = count_of(line[2]);
      if (!count) return wrong();
      header.parts.push_back({line[1], *count});
    } else if (line[0] == "property" && !header.parts.empty() &&
               (line.size() == 3 || (line.size() == 5 && line[1] == "list"))) {
      Property property{line.back(), type_of(line[line.size() - 2])};
      if (line.size() == 5) property.count = type_of(line[2]);
      if (property.type == nullptr || (line.size() == 5 && property.count == nullptr)) {
        return wrong();
      }
      header.parts.back().properties.push_back(property);
    } else {
      return wrong();
    }
  }
  return Error{"its header has no end"};
}

/// One element: its x, y, z where it is a vertex, its corners where it is a face.
struct Row {
  Vec3<double> point{0, 0, 0};
  std::vector<double> corners{};
};

std::optional<Error> read_row(Cursor& from, const Header& header, const Part& part,
                              Row& row) {
  const Error short_file{"it ends before all that its header promises"};
  row.corners.clear();
  for (const Property& property : part.properties) {
    std::uint64_t times = 1;
    if (property.count != nullptr) {
      const auto count = from.number(*property.count, header.format);
      if (!count) return short_file;
      if (!(*count >= 0 && *count <= static_cast<double>(mesh_corners))) {
        return Error{words({"a face must not have more than ",
                            std::to_string(mesh_corners), " corners"})};
      }
      times = static_cast<std::uint64_t>(*count);
    }
    const bool corners =
        property.name == "vertex_indices" || property.name == "vertex_index";
    for (std::uint64_t k = 0; k < times; ++k) {
      const auto value = from.number(*property.type, header.format);
      if (!value) return short_file;
      if (property.count != nullptr && corners) row.corners.push_back(*value);
      if (property.count == nullptr) {
        if (property.name == "x") row.point.x = *value;
        if (property.name == "y") row.point.y = *value;
        if (property.name == "z") row.point.z = *value;
      }
    }
  }
  return std::nullopt;
}

}  // namespace

Result<Triangles> parse_ply(std::string_view bytes) {
  Cursor from(bytes);
  const Result<Header> header = read_header(from);
  if (!header) return Error{header.error()};
  Triangles all;
  Row row;
  for (const Part& part : header->parts) {
    // Every element takes a byte at least, unless it is nothing at all.
    if (part.properties.empty()) continue;
    if (part.count > from.left()) {
      return Error{"it ends before all that its header promises"};
    }
    for (std::uint64_t i = 0; i < part.count; ++i) {
      if (auto error = read_row(from, *header, part, row)) return *error;
      if (part.name == "vertex") all.vertices.push_back(row.point);
      if (part.name != "face") continue;
      if (all.faces.size() + row.corners.size() > mesh_triangles) {
        return Error{words({"there are more than ", std::to_string(mesh_triangles),
                            " triangles in it"})};
      }
      for (std::size_t k = 2; k < row.corners.size(); ++k) {
        std::array<std::uint32_t, 3> face{};
        const double corners[] = {row.corners[0], row.corners[k - 1], row.corners[k]};
        for (std::size_t c = 0; c < 3; ++c) {
          if (!(corners[c] >= 0 && corners[c] <= 4e9)) {
            return Error{"a face names a vertex that is not there"};
          }
          face[c] = static_cast<std::uint32_t>(corners[c]);
        }
        all.faces.push_back(face);
      }
    }
  }
  for (const auto& face : all.faces) {
    for (const std::uint32_t v : face) {
      if (v >= all.vertices.size())
        return Error{"a face names a vertex that is not there"};
    }
  }
  return all;
}

}  // namespace bristle::scene
