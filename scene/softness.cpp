#include "scene/softness.hpp"

#include <algorithm>
#include <cmath>

namespace bristle::scene {

namespace {

double within(double x) { return std::clamp(x, 1e-4, 0.9999); }

}  // namespace

double Softness::impedance(double depth) const {
  const double least = within(solimp[0]), most = within(solimp[1]);
  const double width = solimp[2], power = std::max(1.0, solimp[4]);
  const double middle = within(solimp[3]);
  if (!(width > 1e-10)) return 0.5 * (least + most);
  const double x = std::min(std::abs(depth) / width, 1.0);
  const double y = x <= middle
                       ? std::pow(x, power) / std::pow(middle, power - 1)
                       : 1 - std::pow(1 - x, power) / std::pow(1 - middle, power - 1);
  return least + y * (most - least);
}

double Softness::stiffness() const {
  const double most = within(solimp[1]);
  const double time = solref[0] * solref[1];
  return (solref[0] > 0 ? 1 / (time * time) : -solref[0]) / (most * most);
}

double Softness::depth_under(double acceleration) const {
  const double k = stiffness();
  // (1 − d) a₀ falls with the depth and d k r grows.
  double low = 0, high = acceleration / k;
  const auto holds = [&](double depth) {
    const double d = impedance(depth);
    return d * k * depth >= (1 - d) * acceleration;
  };
  while (!holds(high)) high *= 2;
  for (int i = 0; i < 100; ++i) {
    const double depth = 0.5 * (low + high);
    (holds(depth) ? high : low) = depth;
  }
  return high;
}

double Softness::frequency_under(double acceleration) const {
  return std::sqrt(acceleration / depth_under(acceleration));
}

double Softness::frequency() const {
  const double d = impedance(0);
  return std::sqrt(d * stiffness() / (1 - d));
}

double Softness::damping_ratio() const {
  if (solref[0] > 0) return solref[1];
  return -solref[1] / (2 * std::sqrt(-solref[0]));
}

}  // namespace bristle::scene
