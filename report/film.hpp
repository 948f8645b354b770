#pragma once

#include <string>
#include <vector>

#include "recording/header.hpp"

namespace bristle::report {

/// Bodies in motion, to look at: what there is, and where it was when.
struct Film {
  std::string title;
  recording::Header header;
  std::vector<double> times{};             // [s]
  std::vector<Transform<double>> poses{};  // of all bodies at the first time, then so on
};

}  // namespace bristle::report
