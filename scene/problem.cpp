#include "scene/problem.hpp"

namespace bristle::scene {

std::string Problem::text() const {
  std::string all = at.file;
  if (at.line > 0) {
    all += ':';
    all += std::to_string(at.line);
  }
  if (!all.empty()) all += ": ";
  return all + message;
}

std::string Problems::text() const {
  std::string all;
  for (const Problem& problem : errors_) {
    if (!all.empty()) all += '\n';
    all += problem.text();
  }
  if (full()) all += "\nand more errors; these are the first";
  return all;
}

}  // namespace bristle::scene
