#pragma once

#include "bristle/laws/choice.hpp"

// Impacts without an integrator, to check those with one by.

namespace bristle::studies {

/// e of Hunt–Crossley damping at x = a v, whatever the mass and the stiffness.
double hunt_crossley_restitution(double x);

/// e of the linear spring and damper at ζ = c/(2 √(k m)), whatever the speed. Without the
/// clamp nothing separates where ζ ≥ 1: 0.
double kelvin_voigt_restitution(double damping_ratio, bool clamped);

/// Λ = λ v^{1/5}/(m^{2/5} k^{3/5}), the group that the Azad–Featherstone restitution
/// depends on.
double azad_featherstone_group_of(double stiffness, double damping, double mass,
                                  double speed);

/// The impact in the contact time, one degree of freedom, by the law alone.
Result<ImpactReport> impact_by_law(const LawChoice& law, double mass, double speed);

}  // namespace bristle::studies
