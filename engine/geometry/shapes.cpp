#include "bristle/geometry/shapes.hpp"

#include <array>
#include <cstdio>
#include <string>

namespace bristle {

namespace {

using V = Vec3<double>;

std::string text(double x) {
  std::array<char, 32> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%g", x);
  return buffer.data();
}

/// "" or "sphere: radius = -1 must be > 0 m".
std::string must_be_positive(std::string_view shape, std::string_view what, double x,
                             bool zero_too = false, bool infinite_too = false) {
  const bool fine = (zero_too ? x >= 0 : x > 0) && (infinite_too || std::isfinite(x));
  if (fine) return {};
  return std::string(shape) + ": " + std::string(what) + " = " + text(x) + " must be " +
         (zero_too ? "≥" : ">") + " 0 m" + (infinite_too ? "" : " and finite");
}

struct Check {
  static std::string all(const std::string& first, const std::string& second,
                         const std::string& third = {}) {
    if (!first.empty()) return first;
    return second.empty() ? third : second;
  }
  std::string operator()(const Sphere& s) const {
    return must_be_positive("sphere", "radius", s.radius, true);
  }
  std::string operator()(const Plane&) const { return {}; }
  std::string operator()(const Box& b) const {
    return all(must_be_positive("box", "half.x", b.half.x),
               must_be_positive("box", "half.y", b.half.y),
               must_be_positive("box", "half.z", b.half.z));
  }
  std::string operator()(const Cylinder& c) const {
    return all(must_be_positive("cylinder", "radius", c.radius),
               must_be_positive("cylinder", "half_length", c.half_length));
  }
  std::string operator()(const Cavity& c) const {
    return all(must_be_positive("cavity", "radius", c.radius),
               must_be_positive("cavity", "half_length", c.half_length, false, true));
  }
  std::string operator()(const Capsule& c) const {
    return all(must_be_positive("capsule", "radius", c.radius),
               must_be_positive("capsule", "half_length", c.half_length, true));
  }
  std::string operator()(const Ellipsoid& e) const {
    return all(must_be_positive("ellipsoid", "semi_axes.x", e.semi_axes.x),
               must_be_positive("ellipsoid", "semi_axes.y", e.semi_axes.y),
               must_be_positive("ellipsoid", "semi_axes.z", e.semi_axes.z));
  }
  std::string operator()(const Terrain& t) const {
    return t.field != nullptr ? "" : "height field: there is none; see make_height_field";
  }
  std::string operator()(const Convex& c) const {
    return c.hull != nullptr ? "" : "convex: there is no hull; see make_hull";
  }
  std::string operator()(const Mesh& m) const {
    return m.mesh != nullptr ? "" : "mesh: there is none; see make_mesh";
  }
};

/// A box of half-extents h about x, in the axes of a pose, as a box in world axes.
Aabb turned(const Transform<double>& pose, const V& x, const V& h) {
  const V centre = geometry::place(pose, x);
  const auto reach = [&](double a, double b, double c) {
    return std::fabs(a) * h.x + std::fabs(b) * h.y + std::fabs(c) * h.z;
  };
  const V r{reach(pose.R.x.x, pose.R.y.x, pose.R.z.x),
            reach(pose.R.x.y, pose.R.y.y, pose.R.z.y),
            reach(pose.R.x.z, pose.R.y.z, pose.R.z.z)};
  return {centre - r, centre + r};
}

constexpr V everything{HUGE_VAL, HUGE_VAL, HUGE_VAL};

struct Bounds {
  const Transform<double>& pose;

  Aabb about(const V& r) const { return {pose.p - r, pose.p + r}; }
  Aabb operator()(const Sphere& s) const { return about({s.radius, s.radius, s.radius}); }
  Aabb operator()(const Plane&) const { return {-everything, everything}; }
  Aabb operator()(const Cavity&) const { return {-everything, everything}; }
  Aabb operator()(const Box& b) const { return turned(pose, {0, 0, 0}, b.half); }
  Aabb operator()(const Cylinder& c) const {
    const V& z = pose.R.z;
    const auto reach = [&](double a) {
      return c.half_length * std::fabs(a) + c.radius * std::sqrt(std::fmax(0, 1 - a * a));
    };
    return about({reach(z.x), reach(z.y), reach(z.z)});
  }
  Aabb operator()(const Capsule& c) const {
    const V& z = pose.R.z;
    const auto reach = [&](double a) { return c.half_length * std::fabs(a) + c.radius; };
    return about({reach(z.x), reach(z.y), reach(z.z)});
  }
  Aabb operator()(const Ellipsoid& e) const {
    const V& s = e.semi_axes;
    const auto reach = [&](double a, double b, double c) {
      return std::sqrt(a * a * s.x * s.x + b * b * s.y * s.y + c * c * s.z * s.z);
    };
    const Mat3<double>& R = pose.R;
    return about({reach(R.x.x, R.y.x, R.z.x), reach(R.x.y, R.y.y, R.z.y),
                  reach(R.x.z, R.y.z, R.z.z)});
  }
  Aabb box(const Aabb& local) const {
    return turned(pose, 0.5 * (local.low + local.high), 0.5 * (local.high - local.low));
  }
  Aabb operator()(const Terrain& t) const {
    Aabb local = t.field->surface.bounds;
    local.low.z -= t.field->surface.max_depth;  // solid below
    return box(local);
  }
  Aabb operator()(const Mesh& m) const { return box(m.mesh->surface.bounds); }
  Aabb operator()(const Convex& c) const {
    Aabb all = Aabb::empty();
    const auto widen = [](double x, double& low, double& high) {
      low = x < low ? x : low;
      high = x > high ? x : high;
    };
    for (const V& v : c.hull->vertices) {
      const V x = geometry::place(pose, v);
      widen(x.x, all.low.x, all.high.x);
      widen(x.y, all.low.y, all.high.y);
      widen(x.z, all.low.z, all.high.z);
    }
    return all;
  }
};

}  // namespace

std::string_view name_of(ShapeKind kind) noexcept {
  constexpr std::array<std::string_view, shape_kinds> names{
      "sphere",  "plane",     "box",          "cylinder", "cavity",
      "capsule", "ellipsoid", "height field", "convex",   "mesh"};
  return names[static_cast<std::size_t>(kind)];
}

Result<Shape> checked(const Shape& shape) {
  const std::string wrong = std::visit(Check{}, shape);
  if (!wrong.empty()) return Error{wrong};
  return shape;
}

Aabb bounds(const Shape& shape, const Transform<double>& pose, double margin) noexcept {
  return std::visit(Bounds{pose}, shape).grown(margin);
}

}  // namespace bristle
