#include "bristle/geometry/overlap.hpp"

namespace bristle {

namespace {

std::string partners(ShapeKind kind) {
  std::string list;
  for (int i = 0; i < shape_kinds; ++i) {
    if (overlap_function<double>(kind, static_cast<ShapeKind>(i)) == nullptr) continue;
    if (!list.empty()) list += ", ";
    list += name_of(static_cast<ShapeKind>(i));
  }
  return list.empty() ? "nothing" : list;
}

std::string without_volume(const Shape& shape) {
  const auto* sphere = std::get_if<Sphere>(&shape);
  if (sphere == nullptr || sphere->radius > 0) return {};
  return "a sphere of radius 0 has no volume; a volumetric law needs a radius above 0";
}

}  // namespace

std::string missing_overlap_message(const Shape& a, const Shape& b) {
  const std::string_view one = name_of(kind_of(a)), two = name_of(kind_of(b));
  if (overlap_function<double>(kind_of(a), kind_of(b)) == nullptr) {
    std::string text = "no overlap volume between ";
    text.append(one).append(" and ").append(two).append("; a volumetric law takes ");
    text.append(one).append(" with ").append(partners(kind_of(a)));
    if (one != two) {
      text.append("; ").append(two).append(" with ").append(partners(kind_of(b)));
    }
    return text;
  }
  std::string text = without_volume(a);
  return text.empty() ? without_volume(b) : text;
}

}  // namespace bristle
