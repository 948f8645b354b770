#include "scene/mass.hpp"

#include "scene/mesh_file.hpp"

namespace bristle::scene {

namespace {

/// Of density 1.
struct Measure {
  std::optional<Solid> operator()(const Sphere& s) const { return solid_ball(s.radius); }
  std::optional<Solid> operator()(const Box& s) const { return solid_box(s.half); }
  std::optional<Solid> operator()(const Cylinder& s) const {
    return solid_cylinder(s.radius, s.half_length);
  }
  std::optional<Solid> operator()(const Capsule& s) const {
    return solid_capsule(s.radius, s.half_length);
  }
  std::optional<Solid> operator()(const Ellipsoid& s) const {
    return solid_ellipsoid(s.semi_axes);
  }
  std::optional<Solid> operator()(const Convex& s) const {
    const ConvexHull& hull = *s.hull;
    Triangles all{hull.vertices, {}};
    for (std::uint32_t f = 0; f < hull.face_count(); ++f) {
      const auto face = hull.face(f);
      for (std::size_t i = 1; i + 1 < face.size(); ++i) {
        all.faces.push_back({face[0], face[i], face[i + 1]});
      }
    }
    return enclosed(all);
  }
  std::optional<Solid> operator()(const Mesh& s) const {
    const TriangleSurface& surface = s.mesh->surface;
    for (const auto& edge : surface.edges) {
      if (edge.faces[1] == TriangleSurface::none) return std::nullopt;  // not closed
    }
    return enclosed({surface.vertices, surface.triangles});
  }
  std::optional<Solid> operator()(const Plane&) const { return std::nullopt; }
  std::optional<Solid> operator()(const Cavity&) const { return std::nullopt; }
  std::optional<Solid> operator()(const Terrain&) const { return std::nullopt; }
};

}  // namespace

std::optional<Solid> solid_of(const Shape& shape, double density) {
  const auto solid = std::visit(Measure{}, shape);
  if (!solid || !(solid->mass > 0)) return std::nullopt;
  return scaled(*solid, density);
}

}  // namespace bristle::scene
