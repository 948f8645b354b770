#include "recording/surfaces.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <string>

namespace bristle::recording {

namespace {

constexpr double pi = 3.14159265358979323846;

Vec3<double> unit(const Vec3<double>& v) {
  const double length = norm(v);
  return length > 0 ? (1 / length) * v : Vec3<double>{0, 0, 1};
}

/// Builds surfaces of revolution about z from rings of corners.
class Turner {
 public:
  Turner(SurfaceMesh& to, int around) : to_(to), around_(around) {}

  std::uint32_t ring(double radius, double z, double normal_r, double normal_z) {
    const auto first = static_cast<std::uint32_t>(to_.vertices.size());
    for (int k = 0; k < around_; ++k) {
      const double angle = 2 * pi * k / around_;
      const double c = std::cos(angle), s = std::sin(angle);
      to_.vertices.push_back({radius * c, radius * s, z});
      to_.normals.push_back(unit({normal_r * c, normal_r * s, normal_z}));
    }
    return first;
  }
  std::uint32_t point(double z, double normal_z) {
    to_.vertices.push_back({0, 0, z});
    to_.normals.push_back({0, 0, normal_z});
    return static_cast<std::uint32_t>(to_.vertices.size() - 1);
  }
  /// Between a lower and an upper ring, seen from outside; or from the inside.
  void band(std::uint32_t lower, std::uint32_t upper, bool inside = false) {
    for (std::uint32_t k = 0; k < corners(); ++k) {
      const std::uint32_t n = (k + 1) % corners();
      triangle(lower + k, lower + n, upper + n, inside);
      triangle(lower + k, upper + n, upper + k, inside);
    }
  }
  /// Between a ring and a point above it; or below it.
  void fan(std::uint32_t ring, std::uint32_t tip, bool below) {
    for (std::uint32_t k = 0; k < corners(); ++k) {
      triangle(ring + k, ring + (k + 1) % corners(), tip, below);
    }
  }

 private:
  std::uint32_t corners() const { return static_cast<std::uint32_t>(around_); }
  void triangle(std::uint32_t a, std::uint32_t b, std::uint32_t c, bool turned) {
    if (turned) std::swap(b, c);
    to_.triangles.push_back({a, b, c});
  }
  SurfaceMesh& to_;
  int around_;
};

/// A ball of radius 1 whose halves are moved apart by `gap` each, with the radius r.
void add_ball(SurfaceMesh& to, double r, double gap, int around) {
  Turner turner(to, around);
  const int rings = std::max(2, around / 4);  // of a half, with the equator
  std::uint32_t last = turner.point(-gap - r, -1);
  bool first = true;
  const auto add = [&](double latitude, double z) {
    const double c = std::cos(latitude), s = std::sin(latitude);
    const std::uint32_t ring = turner.ring(r * c, z + r * s, c, s);
    if (first) {
      turner.fan(ring, last, true);
    } else {
      turner.band(last, ring);
    }
    first = false;
    last = ring;
  };
  for (int k = 1; k <= rings; ++k)
    add(-0.5 * pi * (1 - static_cast<double>(k) / rings), -gap);
  for (int k = gap > 0 ? 0 : 1; k < rings; ++k) add(0.5 * pi * k / rings, gap);
  const std::uint32_t top = turner.point(gap + r, 1);
  turner.fan(last, top, false);
}

void add_cylinder(SurfaceMesh& to, double radius, double half, int around, bool hollow,
                  bool ends) {
  Turner turner(to, around);
  const double out = hollow ? -1 : 1;
  const std::uint32_t lower = turner.ring(radius, -half, out, 0);
  const std::uint32_t upper = turner.ring(radius, half, out, 0);
  turner.band(lower, upper, hollow);
  if (!ends) return;
  const std::uint32_t floor = turner.ring(radius, -half, 0, -out);
  turner.fan(floor, turner.point(-half, -out), !hollow);
  const std::uint32_t roof = turner.ring(radius, half, 0, out);
  turner.fan(roof, turner.point(half, out), hollow);
}

void add_box(SurfaceMesh& to, const Vec3<double>& half) {
  for (int axis = 0; axis < 3; ++axis) {
    for (const double side : {-1.0, 1.0}) {
      const auto first = static_cast<std::uint32_t>(to.vertices.size());
      for (int corner = 0; corner < 4; ++corner) {
        // Counter-clockwise about +axis: (+,+), (−,+), (−,−), (+,−) of the next two.
        const double u = corner == 0 || corner == 3 ? 1 : -1;
        const double v = corner < 2 ? 1 : -1;
        double x[3], n[3] = {0, 0, 0};
        x[axis] = side;
        x[(axis + 1) % 3] = u;
        x[(axis + 2) % 3] = v;
        n[axis] = side;
        to.vertices.push_back({x[0] * half.x, x[1] * half.y, x[2] * half.z});
        to.normals.push_back({n[0], n[1], n[2]});
      }
      const std::uint32_t b = side > 0 ? 1 : 3, d = side > 0 ? 3 : 1;
      to.triangles.push_back({first, first + b, first + 2});
      to.triangles.push_back({first, first + 2, first + d});
    }
  }
}

}  // namespace

SurfaceMesh make_surface_mesh(const ShapeInfo& shape, const SurfaceOptions& options) {
  const int around = std::clamp(options.around, 3, 1000);
  const double plane = options.plane > 0 ? options.plane : 5;
  SurfaceMesh mesh;
  const std::vector<double>& x = shape.numbers;
  switch (shape.kind) {
    case ShapeKind::sphere:
      if (x[0] > 0) add_ball(mesh, x[0], 0, around);
      break;
    case ShapeKind::capsule:
      add_ball(mesh, x[0], x[1], around);
      break;
    case ShapeKind::ellipsoid:
      add_ball(mesh, 1, 0, around);
      for (Vec3<double>& v : mesh.vertices) v = {x[0] * v.x, x[1] * v.y, x[2] * v.z};
      for (Vec3<double>& n : mesh.normals) n = unit({n.x / x[0], n.y / x[1], n.z / x[2]});
      break;
    case ShapeKind::box:
      add_box(mesh, {x[0], x[1], x[2]});
      break;
    case ShapeKind::cylinder:
      add_cylinder(mesh, x[0], x[1], around, false, true);
      break;
    case ShapeKind::cavity:
      add_cylinder(mesh, x[0], std::isfinite(x[1]) ? x[1] : plane, around, true,
                   std::isfinite(x[1]));
      break;
    case ShapeKind::plane:
      mesh.vertices = {
          {-plane, -plane, 0}, {plane, -plane, 0}, {plane, plane, 0}, {-plane, plane, 0}};
      mesh.normals.assign(4, {0, 0, 1});
      mesh.triangles = {{0, 1, 2}, {0, 2, 3}};
      break;
    case ShapeKind::height_field:
    case ShapeKind::convex:
    case ShapeKind::mesh:
      mesh.vertices = shape.vertices;
      mesh.triangles = shape.triangles;
      break;
  }
  const bool finite = std::ranges::all_of(mesh.vertices, [](const Vec3<double>& v) {
    return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z);
  });
  return finite ? mesh : SurfaceMesh{};
}

std::vector<std::size_t> alike(const std::vector<ShapeInfo>& shapes) {
  std::map<std::string, std::size_t> known;
  std::vector<std::size_t> first;
  first.reserve(shapes.size());
  for (const ShapeInfo& shape : shapes) {
    std::string key(1, static_cast<char>(shape.kind));
    const auto add = [&](const auto& list) {
      const std::span<const std::byte> bytes = std::as_bytes(std::span(list));
      key += std::to_string(list.size());
      key += ' ';
      key.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    };
    add(shape.numbers);
    add(shape.vertices);
    add(shape.triangles);
    first.push_back(known.try_emplace(std::move(key), first.size()).first->second);
  }
  return first;
}

SurfaceOptions fitted(Reader& reader, const SurfaceOptions& options) {
  if (options.plane > 0) return options;
  double far = 0;
  Sample sample;
  const std::size_t stride = std::max<std::size_t>(1, reader.size() / 200);
  for (std::size_t i = 0; i < reader.size(); i += stride) {
    if (!reader.read(i, sample)) break;
    for (const BodySample& body : sample.bodies) {
      const double distance = norm(body.position);
      if (std::isfinite(distance)) far = std::max(far, distance);
    }
  }
  return fitted(reader.header(), far, options);
}

SurfaceOptions fitted(const Header& header, double far, const SurfaceOptions& options) {
  SurfaceOptions out = options;
  if (out.plane > 0) return out;
  double size = 0;
  for (const ShapeInfo& shape : header.shapes) {
    for (const double x : shape.numbers) {
      if (std::isfinite(x)) size = std::max(size, x);
    }
    for (const Vec3<double>& v : shape.vertices) size = std::max(size, norm(v));
  }
  out.plane = std::clamp(1.5 * far + 4 * size, 1e-3, 1e4);
  return out;
}

}  // namespace bristle::recording
