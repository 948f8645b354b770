#pragma once

#include <optional>
#include <string>

#include "bristle/model/tree.hpp"

// Masses as robot files state them.

namespace bristle::scene {

/// The mass of a rigid body, in the axes of some frame.
struct Solid {
  double mass = 0;                              // [kg]
  Vec3<double> com{0, 0, 0};                    // [m]
  Sym3<double> inertia = Sym3<double>::zero();  // about com, in the axes of the frame
};

/// The same body seen from the frame in which its own stands at x.
Solid moved(const Transform<double>& x, const Solid& solid);
Solid operator+(const Solid& a, const Solid& b);
/// With another mass, all else in proportion.
Solid scaled(const Solid& solid, double factor);

/// Of density 1, about the origin of their own axes, as engine/geometry/shapes.hpp has
/// them.
Solid solid_ball(double radius);
Solid solid_box(const Vec3<double>& half);
Solid solid_cylinder(double radius, double half_length);
Solid solid_capsule(double radius, double half_length);
Solid solid_ellipsoid(const Vec3<double>& semi_axes);

/// Why no mass can have the inertia s about its centre; nothing where one can. A point
/// mass has none.
std::optional<std::string> impossible(const Sym3<double>& s);

/// What all three principal moments lack for some mass to have them.
double missing_inertia(const Sym3<double>& s);

/// The principal moments, the largest first, and their axes as the columns of a rotation.
struct PrincipalAxes {
  Vec3<double> moments;
  Mat3<double> axes;
};
PrincipalAxes principal_axes(const Sym3<double>& s);

/// Roll, pitch, yaw about fixed x, y, z.
Mat3<double> from_roll_pitch_yaw(const Vec3<double>& rpy);
/// The turn by `angle` about an axis of any length above 0.
Mat3<double> turn(const Vec3<double>& axis, double angle);
/// The smallest turn that takes z to the direction.
Mat3<double> z_to(const Vec3<double>& direction);

}  // namespace bristle::scene
