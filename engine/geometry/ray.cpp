#include "bristle/geometry/ray.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace bristle {

namespace {

using V = Vec3<double>;
constexpr double infinity = std::numeric_limits<double>::infinity();

/// origin + t direction, in the axes of a shape.
struct Ray {
  V from, along;
};

/// The part of a ray's line that lies in a convex solid; empty where from > to.
struct Span {
  double from = -infinity, to = infinity;

  Span cut(const Span& other) const {
    return {std::max(from, other.from), std::min(to, other.to)};
  }
  /// Of a convex solid made of two that overlap.
  Span joined(const Span& other) const {
    if (!(from <= to)) return other;
    if (!(other.from <= other.to)) return *this;
    return {std::min(from, other.from), std::max(to, other.to)};
  }
  /// Where the surface is met first.
  double first() const {
    if (!(from <= to) || to < 0) return infinity;
    return from >= 0 ? from : to;
  }
};
constexpr Span nothing{infinity, -infinity};

/// |x| ≤ half
Span slab(double x, double rate, double half) {
  if (rate == 0) return std::abs(x) <= half ? Span{} : nothing;
  const double one = (-half - x) / rate, two = (half - x) / rate;
  return {std::min(one, two), std::max(one, two)};
}

/// a t² + 2 b t + c ≤ 0, a ≥ 0
Span below(double a, double b, double c) {
  if (a == 0) return c <= 0 ? Span{} : nothing;
  const double root = b * b - a * c;
  if (root < 0) return nothing;
  // The root without cancellation, and the other one by their product c/a.
  const double sum = -(b + std::copysign(std::sqrt(root), b));
  if (sum == 0) return {0, 0};
  const double one = sum / a, two = c / sum;
  return {std::min(one, two), std::max(one, two)};
}

Span ball(const V& centre, double radius, const Ray& ray) {
  const V at = ray.from - centre;
  return below(dot(ray.along, ray.along), dot(at, ray.along),
               dot(at, at) - radius * radius);
}

Span tube(double radius, const Ray& ray) {
  const V &p = ray.from, &d = ray.along;
  return below(d.x * d.x + d.y * d.y, p.x * d.x + p.y * d.y,
               p.x * p.x + p.y * p.y - radius * radius);
}

double first_of(const Sphere& s, const Ray& ray) {
  return ball({0, 0, 0}, s.radius, ray).first();
}

double first_of(const Plane&, const Ray& ray) {
  const double t = -ray.from.z / ray.along.z;
  return ray.along.z != 0 && t >= 0 ? t : infinity;
}

Span span_of(const Aabb& box, const Ray& ray) {
  const V centre = 0.5 * (box.low + box.high), half = 0.5 * (box.high - box.low);
  const V at = ray.from - centre;
  return slab(at.x, ray.along.x, half.x)
      .cut(slab(at.y, ray.along.y, half.y))
      .cut(slab(at.z, ray.along.z, half.z));
}

double first_of(const Box& b, const Ray& ray) {
  return span_of({-b.half, b.half}, ray).first();
}

double first_of(const Cylinder& c, const Ray& ray) {
  return tube(c.radius, ray).cut(slab(ray.from.z, ray.along.z, c.half_length)).first();
}

/// The wall is the surface of the hollow.
double first_of(const Cavity& c, const Ray& ray) {
  const Span hollow = tube(c.radius, ray);
  if (std::isinf(c.half_length)) return hollow.first();
  return hollow.cut(slab(ray.from.z, ray.along.z, c.half_length)).first();
}

double first_of(const Capsule& c, const Ray& ray) {
  const Span middle =
      tube(c.radius, ray).cut(slab(ray.from.z, ray.along.z, c.half_length));
  return middle.joined(ball({0, 0, c.half_length}, c.radius, ray))
      .joined(ball({0, 0, -c.half_length}, c.radius, ray))
      .first();
}

double first_of(const Ellipsoid& e, const Ray& ray) {
  const auto scaled = [&](const V& v) {
    return V{v.x / e.semi_axes.x, v.y / e.semi_axes.y, v.z / e.semi_axes.z};
  };
  return ball({0, 0, 0}, 1, {scaled(ray.from), scaled(ray.along)}).first();
}

double first_of(const Convex& c, const Ray& ray) {
  const ConvexHull& hull = *c.hull;
  Span inside;
  for (std::size_t f = 0; f < hull.normals.size(); ++f) {
    const double rate = dot(hull.normals[f], ray.along);
    const double height = dot(hull.normals[f], ray.from) - hull.offsets[f];
    if (rate == 0) {
      if (height > 0) return infinity;
    } else if (rate < 0) {
      inside.from = std::max(inside.from, -height / rate);
    } else {
      inside.to = std::min(inside.to, -height / rate);
    }
  }
  return inside.first();
}

/// A triangle from either side (Möller & Trumbore 1997).
double first_of(const TriangleSurface& surface, std::size_t triangle, const Ray& ray) {
  const auto& [i, j, k] = surface.triangles[triangle];
  const V& a = surface.vertices[i];
  const V e1 = surface.vertices[j] - a, e2 = surface.vertices[k] - a;
  const V p = cross(ray.along, e2);
  const double det = dot(e1, p);
  if (det == 0) return infinity;
  const V s = ray.from - a;
  const V q = cross(s, e1);
  const double u = dot(s, p) / det, v = dot(ray.along, q) / det;
  // Rays along an edge that two triangles share do not slip through.
  constexpr double rounding = -1e-12;
  if (u < rounding || v < rounding || u + v > 1 - rounding) return infinity;
  const double t = dot(e2, q) / det;
  return t >= 0 ? t : infinity;
}

double first_of(const Mesh& m, const Ray& ray) {
  const TriangleMesh& mesh = *m.mesh;
  double first = infinity;
  for (std::uint32_t n = 0; n < mesh.nodes.size();) {
    const TriangleMesh::Node& node = mesh.nodes[n];
    const Span span = span_of(node.box, ray);
    if (!(span.from <= span.to) || span.to < 0 || span.from > first) {
      n = node.next;
      continue;
    }
    for (std::uint32_t i = node.first; i < node.first + node.count; ++i) {
      first = std::min(first, first_of(mesh.surface, mesh.order[i], ray));
    }
    ++n;
  }
  return first;
}

/// Cell after cell along the ray (Amanatides & Woo 1987): two triangles in each.
double first_of(const Terrain& t, const Ray& ray) {
  const HeightField& field = *t.field;
  const Span inside = span_of(field.surface.bounds, ray);
  if (!(inside.from <= inside.to) || inside.to < 0) return infinity;
  double now = std::max(inside.from, 0.0);
  struct Axis {
    int cell, cells, step;
    double next, across;  // of the ray: to the next border, and from border to border
  };
  const auto begin = [&](double from, double rate, double spacing, int points) {
    const double low = -0.5 * (points - 1) * spacing;
    const double place = (from + now * rate - low) / spacing;
    Axis axis{std::clamp(static_cast<int>(place), 0, points - 2), points - 1,
              rate > 0 ? 1 : -1, infinity, infinity};
    if (rate != 0) {
      const double border = low + (axis.cell + (rate > 0 ? 1 : 0)) * spacing;
      axis.next = (border - from) / rate;
      axis.across = spacing / std::abs(rate);
    }
    return axis;
  };
  Axis x = begin(ray.from.x, ray.along.x, field.spacing_x, field.columns);
  Axis y = begin(ray.from.y, ray.along.y, field.spacing_y, field.rows);
  while (now <= inside.to) {
    const auto cell = 2 * static_cast<std::size_t>(y.cell * x.cells + x.cell);
    const double here = std::min(first_of(field.surface, cell, ray),
                                 first_of(field.surface, cell + 1, ray));
    if (here < infinity) return here;
    Axis& turn = x.next < y.next ? x : y;
    if (!(turn.next < infinity)) return infinity;
    now = turn.next;
    turn.next += turn.across;
    turn.cell += turn.step;
    if (turn.cell < 0 || turn.cell >= turn.cells) return infinity;
  }
  return infinity;
}

/// Of whichever shape it is; not by std::visit, which may throw.
template <class... Shapes>
double first_of_shape(const std::variant<Shapes...>& shape, const Ray& ray) noexcept {
  double first = infinity;
  const auto look = [&](const auto* one) noexcept {
    if (one != nullptr) first = first_of(*one, ray);
  };
  (look(std::get_if<Shapes>(&shape)), ...);
  return first;
}

}  // namespace

double ray_distance(const Shape& shape, const Transform<double>& pose,
                    const Vec3<double>& origin, const Vec3<double>& direction) noexcept {
  const Ray ray{transpose_times(pose.R, origin - pose.p),
                transpose_times(pose.R, direction)};
  return first_of_shape(shape, ray);
}

}  // namespace bristle
