#include "scene/mass.hpp"

#include <array>
#include <cmath>
#include <numbers>

namespace bristle::scene {

namespace {

constexpr double pi = std::numbers::pi;

Solid round(double mass, double across, double along) {
  return {mass, {0, 0, 0}, Sym3<double>::diagonal(across, across, along)};
}

/// What is enclosed by triangles that turn counter-clockwise seen from outside:
/// tetrahedra from the origin.
class Enclosed {
 public:
  void add(const Vec3<double>& a, const Vec3<double>& b, const Vec3<double>& c) {
    const double six = dot(a, cross(b, c));
    volume_ += six / 6;
    const Vec3<double> sum = a + b + c;
    first_ = first_ + (six / 24) * sum;
    const auto second = [&](double x0, double x1, double x2, double y0, double y1,
                            double y2) {
      return six / 120 * ((x0 + x1 + x2) * (y0 + y1 + y2) + x0 * y0 + x1 * y1 + x2 * y2);
    };
    xx_ += second(a.x, b.x, c.x, a.x, b.x, c.x);
    yy_ += second(a.y, b.y, c.y, a.y, b.y, c.y);
    zz_ += second(a.z, b.z, c.z, a.z, b.z, c.z);
    xy_ += second(a.x, b.x, c.x, a.y, b.y, c.y);
    xz_ += second(a.x, b.x, c.x, a.z, b.z, c.z);
    yz_ += second(a.y, b.y, c.y, a.z, b.z, c.z);
  }
  std::optional<Solid> solid(double density) const {
    if (!(volume_ > 0)) return std::nullopt;
    const double mass = density * volume_;
    const Vec3<double> com = (1 / volume_) * first_;
    Sym3<double> inertia{density * (yy_ + zz_), density * (xx_ + zz_),
                         density * (xx_ + yy_), -density * xy_,
                         -density * xz_,        -density * yz_};
    inertia.xx -= mass * (com.y * com.y + com.z * com.z);
    inertia.yy -= mass * (com.x * com.x + com.z * com.z);
    inertia.zz -= mass * (com.x * com.x + com.y * com.y);
    inertia.xy += mass * com.x * com.y;
    inertia.xz += mass * com.x * com.z;
    inertia.yz += mass * com.y * com.z;
    return Solid{mass, com, inertia};
  }

 private:
  double volume_ = 0;
  Vec3<double> first_{0, 0, 0};
  double xx_ = 0, yy_ = 0, zz_ = 0, xy_ = 0, xz_ = 0, yz_ = 0;
};

struct Measure {
  double density;

  std::optional<Solid> operator()(const Sphere& s) const {
    const double r2 = s.radius * s.radius;
    const double m = density * 4 / 3 * pi * r2 * s.radius;
    return round(m, 0.4 * m * r2, 0.4 * m * r2);
  }
  std::optional<Solid> operator()(const Box& s) const {
    const Vec3<double> h = s.half;
    const double m = density * 8 * h.x * h.y * h.z;
    return Solid{m,
                 {0, 0, 0},
                 Sym3<double>::diagonal(m / 3 * (h.y * h.y + h.z * h.z),
                                        m / 3 * (h.x * h.x + h.z * h.z),
                                        m / 3 * (h.x * h.x + h.y * h.y))};
  }
  std::optional<Solid> operator()(const Cylinder& s) const {
    const double r2 = s.radius * s.radius, length = 2 * s.half_length;
    const double m = density * pi * r2 * length;
    return round(m, m * (r2 / 4 + length * length / 12), m * r2 / 2);
  }
  std::optional<Solid> operator()(const Capsule& s) const {
    const double r = s.radius, h = s.half_length;
    const double middle = density * pi * r * r * 2 * h;
    const double half = density * 2 / 3 * pi * r * r * r;  // of a ball, at each end
    const double to = h + 3.0 / 8 * r;                     // the centre of mass of a half
    const double own = 83.0 / 320 * half * r * r;
    return round(middle + 2 * half,
                 middle * (r * r / 4 + h * h / 3) + 2 * (own + half * to * to),
                 middle * r * r / 2 + 2 * half * 0.4 * r * r);
  }
  std::optional<Solid> operator()(const Ellipsoid& s) const {
    const Vec3<double> a = s.semi_axes;
    const double m = density * 4 / 3 * pi * a.x * a.y * a.z;
    return Solid{m,
                 {0, 0, 0},
                 Sym3<double>::diagonal(m / 5 * (a.y * a.y + a.z * a.z),
                                        m / 5 * (a.x * a.x + a.z * a.z),
                                        m / 5 * (a.x * a.x + a.y * a.y))};
  }
  std::optional<Solid> operator()(const Convex& s) const {
    Enclosed enclosed;
    const ConvexHull& hull = *s.hull;
    for (std::uint32_t f = 0; f < hull.face_count(); ++f) {
      const auto face = hull.face(f);
      for (std::size_t i = 1; i + 1 < face.size(); ++i) {
        enclosed.add(hull.vertices[face[0]], hull.vertices[face[i]],
                     hull.vertices[face[i + 1]]);
      }
    }
    return enclosed.solid(density);
  }
  std::optional<Solid> operator()(const Mesh& s) const {
    Enclosed enclosed;
    const TriangleSurface& surface = s.mesh->surface;
    for (const auto& edge : surface.edges) {
      if (edge.faces[1] == TriangleSurface::none) return std::nullopt;  // not closed
    }
    for (const auto& t : surface.triangles) {
      enclosed.add(surface.vertices[t[0]], surface.vertices[t[1]],
                   surface.vertices[t[2]]);
    }
    return enclosed.solid(density);
  }
  std::optional<Solid> operator()(const Plane&) const { return std::nullopt; }
  std::optional<Solid> operator()(const Cavity&) const { return std::nullopt; }
  std::optional<Solid> operator()(const Terrain&) const { return std::nullopt; }
};

}  // namespace

std::optional<Solid> solid_of(const Shape& shape, double density) {
  return std::visit(Measure{density}, shape);
}

Solid moved(const Solid& solid, const Transform<double>& pose) {
  return {solid.mass, pose.p + pose.R * solid.com, rotated(pose.R, solid.inertia)};
}

Solid joined(const Solid& a, const Solid& b) {
  Solid both;
  both.mass = a.mass + b.mass;
  if (!(both.mass > 0)) return both;
  both.com = (1 / both.mass) * (a.mass * a.com + b.mass * b.com);
  for (const Solid* part : {&a, &b}) {
    const Vec3<double> d = part->com - both.com;
    const double m = part->mass;
    both.inertia.xx += part->inertia.xx + m * (d.y * d.y + d.z * d.z);
    both.inertia.yy += part->inertia.yy + m * (d.x * d.x + d.z * d.z);
    both.inertia.zz += part->inertia.zz + m * (d.x * d.x + d.y * d.y);
    both.inertia.xy += part->inertia.xy - m * d.x * d.y;
    both.inertia.xz += part->inertia.xz - m * d.x * d.z;
    both.inertia.yz += part->inertia.yz - m * d.y * d.z;
  }
  return both;
}

bool is_possible(const Sym3<double>& i) {
  const double size = std::fabs(i.xx) + std::fabs(i.yy) + std::fabs(i.zz);
  const double slack = 1e-9 * size;
  // ∫ x² dm and the like, from the inertia: a symmetric matrix without negative
  // eigenvalues.
  const double half = 0.5 * (i.xx + i.yy + i.zz);
  const double a = half - i.xx, b = half - i.yy, c = half - i.zz;
  if (a < -slack || b < -slack || c < -slack) return false;
  const double ab = a * b - i.xy * i.xy, ac = a * c - i.xz * i.xz,
               bc = b * c - i.yz * i.yz;
  if (ab < -slack * size || ac < -slack * size || bc < -slack * size) return false;
  const double det =
      a * bc - i.xy * (i.xy * c - i.yz * i.xz) + i.xz * (i.xy * i.yz - b * i.xz);
  return det >= -slack * size * size;
}

}  // namespace bristle::scene
