#pragma once

#include <cmath>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "bristle/geometry/pairs.hpp"

namespace bristle::test {

using V = Vec3<double>;
using Pose = Transform<double>;

inline constexpr double far_away = 1e9;  // a margin that reports everything

inline Pose turned(const V& axis, double angle, const V& p = {0, 0, 0}) {
  const V u = (1 / norm(axis)) * axis;
  const double c = std::cos(angle);
  const double s = std::sin(angle);
  const auto column = [&](const V& e) {
    return c * e + s * cross(u, e) + ((1 - c) * dot(u, e)) * u;
  };
  return {{column({1, 0, 0}), column({0, 1, 0}), column({0, 0, 1})}, p};
}
inline Pose at(const V& p) { return turned({0, 0, 1}, 0, p); }

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  double uniform(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(engine_);
  }
  int below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(engine_); }
  V direction() {
    for (;;) {
      const V v{uniform(-1, 1), uniform(-1, 1), uniform(-1, 1)};
      const double l = norm(v);
      if (l > 0.1 && l < 1) return (1 / l) * v;
    }
  }
  Pose pose(double distance) {
    return turned(direction(), uniform(-3.1, 3.1), uniform(0, distance) * direction());
  }

 private:
  std::mt19937_64 engine_;
};

/// first, then second: x ↦ second(first(x)).
inline Pose after(const Pose& second, const Pose& first) {
  using geometry::turn;
  return {{turn(second, first.R.x), turn(second, first.R.y), turn(second, first.R.z)},
          geometry::place(second, first.p)};
}

inline Contacts<double> contacts(const Shape& a, const Pose& pose_a, const Shape& b,
                                 const Pose& pose_b, double margin = far_away) {
  Contacts<double> out;
  const auto find = pair_function<double>(kind_of(a), kind_of(b));
  if (find != nullptr) find(a, pose_a, b, pose_b, margin, out);
  return out;
}

inline const ContactPoint<double>& deepest(const Contacts<double>& all) {
  const ContactPoint<double>* best = all.begin();
  for (const auto& c : all) {
    if (c.depth > best->depth) best = &c;
  }
  return *best;
}

inline std::vector<V> random_cloud(unsigned seed, int count, const V& half) {
  Random random(seed);
  std::vector<V> points;
  for (int i = 0; i < count; ++i) {
    const V d = random.direction();
    points.push_back({half.x * d.x, half.y * d.y, half.z * d.z});
  }
  return points;
}

inline const ConvexHull& cloud_hull() {
  static const ConvexHull hull = *make_hull(random_cloud(11, 30, {0.5, 0.4, 0.6}));
  return hull;
}
inline const ConvexHull& large_hull() {
  static const ConvexHull hull = *make_hull(random_cloud(12, 150, {0.5, 0.5, 0.5}));
  return hull;
}
inline std::vector<V> box_corners(const V& h) {
  std::vector<V> corners;
  for (int v = 0; v < 8; ++v) {
    corners.push_back({(v & 1) != 0 ? h.x : -h.x, (v & 2) != 0 ? h.y : -h.y,
                       (v & 4) != 0 ? h.z : -h.z});
  }
  return corners;
}
inline const ConvexHull& cube_hull() {
  static const ConvexHull hull = *make_hull(box_corners({0.5, 0.4, 0.3}));
  return hull;
}

/// Convex bodies of about the same size.
inline std::vector<Shape> bodies() {
  return {Sphere{0.45},          Box{{0.5, 0.4, 0.3}},       Cylinder{0.35, 0.5},
          Capsule{0.3, 0.4},     Ellipsoid{{0.5, 0.3, 0.4}}, Convex{&cloud_hull()},
          Convex{&large_hull()}, Convex{&cube_hull()}};
}

inline std::string describe(const Shape& a, const Shape& b, int trial) {
  return std::string(name_of(kind_of(a))) + " and " + std::string(name_of(kind_of(b))) +
         ", trial " + std::to_string(trial);
}

}  // namespace bristle::test
