#include "studies/closed_forms.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace bristle::studies {

/// x − ln(1+x) = −e x − ln(1 − e x); that is L(x) = e² L(−e x).
double hunt_crossley_restitution(double x) {
  double low = 0, high = std::min(1.0, x > 0 ? 1 / x : 1.0);
  for (int i = 0; i < 60; ++i) {
    const double e = 0.5 * (low + high);
    (e * e * detail::log_defect(-e * x) < detail::log_defect(x) ? low : high) = e;
  }
  return 0.5 * (low + high);
}

double kelvin_voigt_restitution(double damping_ratio, bool clamped) {
  const double z = damping_ratio;
  if (!clamped) {
    return z < 1 ? std::exp(-std::numbers::pi * z / std::sqrt(1 - z * z)) : 0;
  }
  // arccos ζ/√(1 − ζ²) and its continuation beyond ζ = 1
  double angle = 1;
  if (z < 1) angle = std::acos(z) / std::sqrt((1 - z) * (1 + z));
  if (z > 1) angle = std::acosh(z) / std::sqrt((z - 1) * (z + 1));
  return std::exp(-2 * z * angle);
}

double azad_featherstone_group_of(double stiffness, double damping, double mass,
                                  double speed) {
  return damping * std::pow(speed, 0.2) /
         (std::pow(mass, 0.4) * std::pow(stiffness, 0.6));
}

Result<ImpactReport> impact_by_law(const LawChoice& law, double mass, double speed) {
  const LawEntry& entry = entry_of(law);
  return entry.impact({law.parameters.data(), entry.parameters.size()}, mass, speed,
                      nullptr);
}

}  // namespace bristle::studies
