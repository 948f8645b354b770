#include "studies/boos2013.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace bristle::studies::boos2013 {

using std::numbers::pi;

Parameter shape_parameter() {
  return {"shape", "", "choice", choice_of(2), 0, "payload", {"sphere", "cylinder"}};
}

Parameter radius_parameter() {
  return {
      "radius", "r",
      "m",      above(0, 1e3),
      open,     "of the payload; left open 9.52e-3 of the sphere, 5e-3 of the cylinder"};
}

double radius_of(Values& values) {
  if (values.open("radius")) {
    values.resolve("radius", is_sphere(values) ? sphere_radius : cylinder_radius);
  }
  return values["radius"];
}

bool is_sphere(const Values& values) { return values.choice("shape") == "sphere"; }

Result<Payload> payload_of(Values& values, double length) {
  const double radius = radius_of(values);
  const double depth = values["depth_m"];
  if (is_sphere(values)) {
    if (depth > 2 * radius) {
      return Error{"depth_m = " + std::to_string(depth) +
                   " must lie in (0, 2 radius], the sphere's diameter"};
    }
    return Payload{true, radius, 0, 0, depth};
  }
  if (depth > length) {
    return Error{"depth_m = " + std::to_string(depth) + " must lie in (0, " +
                 std::to_string(length) + "] m, the length of the cylinder"};
  }
  const double tilt = values["tilt_deg"] * pi / 180;
  return Payload{false, radius, length, tilt, depth * std::cos(tilt)};
}

double Payload::end_x() const { return -0.5 * length * std::sin(tilt); }

double Payload::deepest_x() const {
  return sphere ? 0 : end_x() + radius * std::cos(tilt);
}

/// With the depth as it was given: a pose would round it.
Overlap<double> Payload::overlap() const {
  const Transform<double> plane;
  if (sphere) return geometry::ball_overlap<double>({{0, 0, 1}, depth, {}}, radius);
  const double s = std::sin(tilt), c = std::cos(tilt);
  const Transform<double> pose{{{c, 0, -s}, {0, 1, 0}, {s, 0, c}},
                               {0, 0, 0.5 * length * c + radius * s - depth}};
  const geometry::StandingCylinder<double> cylinder(plane, pose, radius, 0.5 * length);
  return geometry::cylinder_overlap(cylinder.at_depth(depth));
}

namespace {

struct Corner {
  double x, z;
};
/// A convex polygon of a slice along the tilt plane.
struct Polygon {
  std::array<Corner, 12> corners{};
  std::size_t count = 0;

  void add(Corner c) { corners[count++] = c; }

  /// What is left where a·x + b·z ≤ limit.
  Polygon cut(double a, double b, double limit) const {
    Polygon kept;
    for (std::size_t i = 0; i < count; ++i) {
      const Corner p = corners[i], q = corners[(i + 1) % count];
      const double at_p = limit - a * p.x - b * p.z;
      const double at_q = limit - a * q.x - b * q.z;
      if (at_p >= 0) kept.add(p);
      if ((at_p < 0) != (at_q < 0)) {
        const double t = at_p / (at_p - at_q);
        kept.add({p.x + t * (q.x - p.x), p.z + t * (q.z - p.z)});
      }
    }
    return kept;
  }

  /// ∫ 1, x, x² dA
  std::array<double, 3> moments() const {
    std::array<double, 3> m{};
    for (std::size_t i = 1; i + 1 < count; ++i) {
      const Corner &a = corners[0], &b = corners[i], &c = corners[i + 1];
      const double area =
          0.5 * std::fabs((b.x - a.x) * (c.z - a.z) - (c.x - a.x) * (b.z - a.z));
      const double sum = a.x + b.x + c.x;
      m[0] += area;
      m[1] += area * sum / 3;
      m[2] += area * (a.x * a.x + b.x * b.x + c.x * c.x + sum * sum) / 12;
    }
    return m;
  }
};

/// The slice at y of the cylinder below the plane, x from the deepest point: u from the
/// deep side and z along the axis give x = s z − c u and the height s u + c z over that
/// point. Nothing cancels however small the patch is.
Polygon slice(const Payload& p, double y) {
  const double s = std::sin(p.tilt), c = std::cos(p.tilt);
  const double w = std::sqrt(std::max(0.0, (p.radius - y) * (p.radius + y)));
  const double near = y * y / (p.radius + w), far = p.radius + w;
  Polygon polygon;
  const auto add = [&](double u, double z) {
    polygon.add({s * z - c * u, s * u + c * z});
  };
  add(near, 0);
  add(near, p.length);
  add(far, p.length);
  add(far, 0);
  return polygon.cut(0, 1, p.depth);
}

/// How far the patch of the cylinder reaches across the tilt.
double half_width(const Payload& p) {
  const double s = std::sin(p.tilt);
  const double u = s > 0 ? std::min(p.depth / s, p.radius) : p.radius;
  return std::sqrt(u * (2 * p.radius - u));
}

/// The slice at x of the sphere below the plane, as an area.
double sphere_slice(const Payload& p, double x) {
  const double above = p.radius - p.depth;
  const double r2 = p.radius * p.radius - x * x;
  const double half2 = r2 - above * above;
  if (r2 <= 0 || (half2 <= 0 && above > 0)) return 0;
  if (half2 <= 0) return pi * r2;
  const double half = std::sqrt(half2);
  return r2 * std::atan2(half, above) - above * half;
}

}  // namespace

Rolling integrate_rolling(const Payload& payload, double stiffness, double dissipation,
                          double omega) {
  Rolling sum{};
  const double centroid_x = payload.overlap().centroid.x - payload.deepest_x();
  const double rate = dissipation * omega;
  const double edge = rate != 0 ? centroid_x - 1 / rate : 0;  // 1 + a ω (x − x_c) = 0
  std::array<double, 3> all{}, pressed{};
  const auto add = [](std::array<double, 3>& to, const std::array<double, 3>& m,
                      double w) {
    for (std::size_t i = 0; i < 3; ++i) to[i] += w * m[i];
  };
  // Panels that shrink towards both ends, where slices end like a power.
  constexpr int panels = 400;
  const auto over = [&](double from, double to, const auto& visit) {
    for (int k = 0; k < panels; ++k) {
      geometry::gauss(pi * k / panels, pi * (k + 1) / panels, [&](double t, double w) {
        const double half = 0.5 * (to - from);
        visit(from + half * (1 - std::cos(t)), w * half * std::sin(t));
      });
    }
  };
  if (payload.sphere) {
    const double d = std::min(payload.depth, payload.radius);
    const double reach = std::sqrt(d * (2 * payload.radius - d));
    sum.low_x = -reach;
    sum.high_x = reach;
    const auto collect = [&](std::array<double, 3>& to, double low, double high) {
      if (!(high > low)) return;
      over(low, high, [&](double x, double w) {
        const double area = sphere_slice(payload, x);
        add(to, {area, area * x, area * x * x}, w);
      });
    };
    collect(all, -reach, reach);
    const double limit = std::clamp(edge, -reach, reach);
    if (rate > 0) collect(pressed, limit, reach);
    if (rate < 0) collect(pressed, -reach, limit);
  } else {
    const double half = half_width(payload);
    over(-half, half, [&](double y, double w) {
      const Polygon whole = slice(payload, y);
      add(all, whole.moments(), w);
      if (rate > 0) add(pressed, whole.cut(-1, 0, -edge).moments(), w);
      if (rate < 0) add(pressed, whole.cut(1, 0, edge).moments(), w);
    });
    sum.low_x = HUGE_VAL;
    sum.high_x = -HUGE_VAL;
    const Polygon widest = slice(payload, 0);
    for (std::size_t i = 0; i < widest.count; ++i) {
      sum.low_x = std::min(sum.low_x, widest.corners[i].x - centroid_x);
      sum.high_x = std::max(sum.high_x, widest.corners[i].x - centroid_x);
    }
  }
  // τ_y = −∫ (x − x_c) k δ (1 + a ω (x − x_c)) dS
  const auto torque = [&](const std::array<double, 3>& m) {
    const double first = m[1] - centroid_x * m[0];
    const double second = m[2] - 2 * centroid_x * m[1] + centroid_x * centroid_x * m[0];
    return -stiffness * (first + rate * second);
  };
  sum.volume = all[0];
  sum.torque = torque(all);
  sum.torque_without_tension = rate != 0 ? torque(pressed) : 0;
  return sum;
}

}  // namespace bristle::studies::boos2013
