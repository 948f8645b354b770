#pragma once

#include "bristle/geometry/overlap.hpp"
#include "studies/study.hpp"

// The payloads of Boos & McPhee on a plane: what their four studies share.

namespace bristle::studies::boos2013 {

inline constexpr double sphere_radius = 9.52e-3;  // [m]
inline constexpr double cylinder_radius = 5e-3;   // [m]
inline constexpr double open = std::numeric_limits<double>::quiet_NaN();

/// shape and radius, as every study has them.
Parameter shape_parameter();
Parameter radius_parameter();

/// The radius, of the paper's payload where it was left open.
double radius_of(Values& values);
bool is_sphere(const Values& values);

/// A payload in the plane z = 0, tilted about y so that its deep edge points along x.
struct Payload {
  bool sphere;
  double radius;
  double length;  // of the cylinder
  double tilt;    // [rad]
  double depth;   // normal to the plane [m]

  double end_x() const;      // of the projection of the end face's centre
  double deepest_x() const;  // of the deepest point
  Overlap<double> overlap() const;
};

/// The payload of values with radius, depth_m, tilt_deg and, where the study has it,
/// length; depth_m of a cylinder is along its axis. An error is about a value.
Result<Payload> payload_of(Values& values, double length);

/// The pressure p(x) = k δ (1 + a ω (x − x_c)), integrated without the closed forms: the
/// couple about y on the payload, with and without its tension, and the ends of the
/// patch.
struct Rolling {
  double volume;
  double torque;
  double torque_without_tension;
  double low_x, high_x;  // of the projection, from x_c
};
Rolling integrate_rolling(const Payload& payload, double stiffness, double dissipation,
                          double omega);

}  // namespace bristle::studies::boos2013
