#include "scene/solid.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>

namespace bristle::scene {

namespace {

using std::numbers::pi;

constexpr double tolerance = 1e-6;  // of the triangle inequality, as people type digits

/// A, B, C: second moments ∫x², ∫y², ∫z² of the mass.
Solid of_second_moments(double mass, double a, double b, double c) {
  Solid s;
  s.mass = mass;
  s.inertia = Sym3<double>::diagonal(b + c, a + c, a + b);
  return s;
}

}  // namespace

Solid moved(const Transform<double>& x, const Solid& solid) {
  return {solid.mass, x * solid.com, rotated(x.R, solid.inertia)};
}

Solid operator+(const Solid& a, const Solid& b) {
  const double mass = a.mass + b.mass;
  if (!(mass > 0)) return {};
  const Vec3<double> com = (1 / mass) * (a.mass * a.com + b.mass * b.com);
  return {mass, com,
          a.inertia + b.inertia + a.mass * point_inertia(a.com - com) +
              b.mass * point_inertia(b.com - com)};
}

Solid scaled(const Solid& solid, double factor) {
  return {factor * solid.mass, solid.com, factor * solid.inertia};
}

Solid solid_ball(double radius) { return solid_ellipsoid({radius, radius, radius}); }

Solid solid_box(const Vec3<double>& half) {
  const double mass = 8 * half.x * half.y * half.z;
  const double k = mass / 3;
  return of_second_moments(mass, k * half.x * half.x, k * half.y * half.y,
                           k * half.z * half.z);
}

Solid solid_cylinder(double radius, double half_length) {
  const double r2 = radius * radius;
  const double mass = 2 * pi * r2 * half_length;
  return of_second_moments(mass, mass * r2 / 4, mass * r2 / 4,
                           mass * half_length * half_length / 3);
}

Solid solid_capsule(double radius, double half_length) {
  const double r2 = radius * radius;
  const double h = half_length;
  const Solid middle = solid_cylinder(radius, half_length);
  // Two half balls, each centred 3r/8 beyond the end of the segment.
  const double ends = 4.0 / 3 * pi * r2 * radius;
  const Solid caps = of_second_moments(ends, ends * r2 / 5, ends * r2 / 5,
                                       ends * (r2 / 5 + h * h + 0.75 * h * radius));
  return {middle.mass + caps.mass, {0, 0, 0}, middle.inertia + caps.inertia};
}

Solid solid_ellipsoid(const Vec3<double>& s) {
  const double mass = 4.0 / 3 * pi * s.x * s.y * s.z;
  const double k = mass / 5;
  return of_second_moments(mass, k * s.x * s.x, k * s.y * s.y, k * s.z * s.z);
}

namespace {

struct Moments {
  double least, middle, most;
};

/// Eigenvalues by the trigonometric solution (Smith 1961, Comm. ACM 4, 168), of the
/// matrix scaled to 1 so that no digits overflow.
Moments principal_moments(const Sym3<double>& s) {
  const double scale = std::max({std::abs(s.xx), std::abs(s.yy), std::abs(s.zz),
                                 std::abs(s.xy), std::abs(s.xz), std::abs(s.yz)});
  if (!(scale > 0)) return {0, 0, 0};
  const Sym3<double> unit{s.xx / scale, s.yy / scale, s.zz / scale,
                          s.xy / scale, s.xz / scale, s.yz / scale};
  const double mean = trace(unit) / 3;
  const Sym3<double> d = unit - Sym3<double>::diagonal(mean, mean, mean);
  const double p = std::sqrt((d.xx * d.xx + d.yy * d.yy + d.zz * d.zz +
                              2 * (d.xy * d.xy + d.xz * d.xz + d.yz * d.yz)) /
                             6);
  if (!(p > 0)) return {scale * mean, scale * mean, scale * mean};
  const Mat3<double> m = full((1 / p) * d);
  const double phi = std::acos(std::clamp(dot(m.x, cross(m.y, m.z)) / 2, -1.0, 1.0)) / 3;
  const double most = mean + 2 * p * std::cos(phi);
  const double least = mean + 2 * p * std::cos(phi + 2 * pi / 3);
  return {scale * least, scale * (3 * mean - most - least), scale * most};
}

}  // namespace

std::optional<std::string> impossible(const Sym3<double>& s) {
  const auto number = [](double x) {
    char text[32];
    std::snprintf(text, sizeof text, "%.6g", x);
    return std::string(text);
  };
  const auto [least, middle, most] = principal_moments(s);
  const double allowed = tolerance * std::abs(most);
  std::string about = " (principal moments ";
  about += number(least) + ", " + number(middle) + ", ";
  about += number(most) + " kg m^2)";
  if (least < -allowed) return "must have no negative principal moment" + about;
  if (most > least + middle + allowed) {
    return "must have no principal moment above the sum of the other two" + about;
  }
  return {};
}

double missing_inertia(const Sym3<double>& s) {
  const auto [least, middle, most] = principal_moments(s);
  return std::max({0.0, -least, most - least - middle});
}

PrincipalAxes principal_axes(const Sym3<double>& s) {
  // Cyclic Jacobi rotations.
  double m[3][3] = {{s.xx, s.xy, s.xz}, {s.xy, s.yy, s.yz}, {s.xz, s.yz, s.zz}};
  double v[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};  // v[row][column]
  for (int sweep = 0; sweep < 50; ++sweep) {
    const double off = m[0][1] * m[0][1] + m[0][2] * m[0][2] + m[1][2] * m[1][2];
    const double size = m[0][0] * m[0][0] + m[1][1] * m[1][1] + m[2][2] * m[2][2];
    if (!(off > 1e-34 * size)) break;
    for (int p = 0; p < 2; ++p) {
      for (int q = p + 1; q < 3; ++q) {
        if (m[p][q] == 0) continue;
        const double theta = (m[q][q] - m[p][p]) / (2 * m[p][q]);
        const double t =
            std::copysign(1 / (std::abs(theta) + std::hypot(theta, 1)), theta);
        const double c = 1 / std::hypot(t, 1), sine = t * c;
        for (auto& row : m) {
          const double a = row[p], b = row[q];
          row[p] = c * a - sine * b;
          row[q] = sine * a + c * b;
        }
        for (int k = 0; k < 3; ++k) {
          const double a = m[p][k], b = m[q][k];
          m[p][k] = c * a - sine * b;
          m[q][k] = sine * a + c * b;
        }
        for (auto& row : v) {
          const double a = row[p], b = row[q];
          row[p] = c * a - sine * b;
          row[q] = sine * a + c * b;
        }
      }
    }
  }
  int order[3] = {0, 1, 2};
  std::sort(order, order + 3, [&](int i, int j) { return m[i][i] > m[j][j]; });
  const auto column = [&](int i) { return Vec3<double>{v[0][i], v[1][i], v[2][i]}; };
  const Vec3<double> x = column(order[0]), y = column(order[1]);
  return {{m[order[0]][order[0]], m[order[1]][order[1]], m[order[2]][order[2]]},
          {x, y, cross(x, y)}};
}

Mat3<double> turn(const Vec3<double>& axis, double angle) {
  const Vec3<double> half = (std::sin(angle / 2) / norm(axis)) * axis;
  return to_matrix(Quaternion<double>{std::cos(angle / 2), half.x, half.y, half.z});
}

Mat3<double> from_roll_pitch_yaw(const Vec3<double>& rpy) {
  return turn({0, 0, 1}, rpy.z) * turn({0, 1, 0}, rpy.y) * turn({1, 0, 0}, rpy.x);
}

Mat3<double> z_to(const Vec3<double>& direction) {
  const Vec3<double> z{0, 0, 1};
  const Vec3<double> axis = cross(z, direction);
  const double sine = norm(axis);
  if (sine <= 1e-12 * norm(direction)) {
    return direction.z < 0 ? turn({1, 0, 0}, pi) : Mat3<double>::identity();
  }
  return turn(axis, std::atan2(sine, direction.z));
}

}  // namespace bristle::scene
