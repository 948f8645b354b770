#pragma once

#include <string>
#include <vector>

#include "identify/model.hpp"
#include "identify/statistics.hpp"

namespace bristle::identify {

/// Which of the free unknowns a linearised model determines.
struct Identifiability {
  std::vector<bool> determined;  // of each free unknown
  std::vector<bool> effect;      // false: the predictions do not depend on it at all
  /// What is determined in place of those that are not: "stiffness · tan(tilt)^-1.5".
  std::vector<std::string> products;
};

/// By the singular values of the Jacobian in relative changes of the unknowns. A
/// direction is not determined where the predictions along it change by less than a 500th
/// of what they do along others, each unknown by itself having the same effect; or where
/// the interval `half_width` [noise × t] leaves it open within a factor of two.
Identifiability identifiability(const Model& model, const std::vector<std::size_t>& free,
                                const std::vector<double>& values, const Matrix& jacobian,
                                double half_width);

}  // namespace bristle::identify
