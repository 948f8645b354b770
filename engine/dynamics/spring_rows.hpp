#pragma once

#include "bristle/dynamics/jacobian_row.hpp"

namespace bristle {

/// The directions in which one spring acts; stiffness and damping of each.
struct SpringRows {
  int count = 0;
  JacobianRow<double> row[6];
  double stiffness[6];
  double damping[6];
  double elastic[6];  // the spring's force along the row [N], [N m]
};

}  // namespace bristle
