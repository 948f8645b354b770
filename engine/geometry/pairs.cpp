#include "bristle/geometry/pairs.hpp"

namespace bristle {

namespace {

std::string partners(ShapeKind kind) {
  std::string list;
  for (int i = 0; i < shape_kinds; ++i) {
    if (pair_function<double>(kind, static_cast<ShapeKind>(i)) == nullptr) continue;
    if (!list.empty()) list += ", ";
    list += name_of(static_cast<ShapeKind>(i));
  }
  return list;
}

}  // namespace

std::string missing_pair_message(ShapeKind a, ShapeKind b) {
  if (pair_function<double>(a, b) != nullptr) return {};
  std::string text = "no contact between ";
  text += std::string(name_of(a)) + " and " + std::string(name_of(b)) + "; ";
  text += std::string(name_of(a)) + " touches " + partners(a);
  if (a != b) text += "; " + std::string(name_of(b)) + " touches " + partners(b);
  return text;
}

}  // namespace bristle
