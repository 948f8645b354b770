#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <span>

#include "bristle/geometry/manifold.hpp"
#include "bristle/geometry/shapes.hpp"

namespace bristle::geometry {

// The topology of a box: bit i of a vertex is set on the positive side of axis i.
inline constexpr std::array<std::uint32_t, 7> box_face_start{0, 4, 8, 12, 16, 20, 24};
inline constexpr std::array<std::uint32_t, 24> box_face_vertices{
    1, 3, 7, 5,  // +x
    0, 4, 6, 2,  // −x
    2, 6, 7, 3,  // +y
    0, 1, 5, 4,  // −y
    4, 5, 7, 6,  // +z
    0, 2, 3, 1,  // −z
};
inline constexpr std::array<ConvexHull::Edge, 12> box_edges = [] {
  std::array<ConvexHull::Edge, 12> edges{};
  std::size_t count = 0;
  for (std::uint32_t f = 0; f < 6; ++f) {
    for (std::uint32_t i = 0; i < 4; ++i) {
      const std::uint32_t from = box_face_vertices[4 * f + i];
      const std::uint32_t to = box_face_vertices[4 * f + (i + 1) % 4];
      if (from > to) continue;
      std::uint32_t right = 0;
      for (std::uint32_t g = 0; g < 6; ++g) {
        for (std::uint32_t k = 0; k < 4; ++k) {
          if (box_face_vertices[4 * g + k] == to &&
              box_face_vertices[4 * g + (k + 1) % 4] == from) {
            right = g;
          }
        }
      }
      edges[count++] = {from, to, f, right};
    }
  }
  return edges;
}();

/// A polyhedron in its own axes; a box brings its numbers along.
struct Polyhedron {
  std::span<const Vec3<double>> vertices;
  std::span<const std::uint32_t> face_start, face_vertices, face_edges;
  std::span<const Vec3<double>> normals;
  std::span<const double> offsets;
  std::span<const ConvexHull::Edge> edges;
  Vec3<double> centre{};
  double size = 0;
  Vec3<double> box_vertices[8];
  Vec3<double> box_normals[6];
  double box_offsets[6];

  explicit Polyhedron(const Shape& shape) noexcept {
    if (const auto* convex = std::get_if<Convex>(&shape)) {
      const ConvexHull& hull = *convex->hull;
      vertices = hull.vertices;
      face_start = hull.face_start;
      face_vertices = hull.face_vertices;
      face_edges = hull.face_edges;
      normals = hull.normals;
      offsets = hull.offsets;
      edges = hull.edges;
      centre = hull.centre;
      size = hull.size;
      return;
    }
    const Vec3<double>& h = std::get_if<Box>(&shape)->half;
    for (int v = 0; v < 8; ++v) {
      box_vertices[v] = {(v & 1) != 0 ? h.x : -h.x, (v & 2) != 0 ? h.y : -h.y,
                         (v & 4) != 0 ? h.z : -h.z};
    }
    for (int f = 0; f < 6; ++f) {
      box_normals[f] = {0, 0, 0};
      at(box_normals[f], f / 2) = f % 2 == 0 ? 1 : -1;
      box_offsets[f] = at(h, f / 2);
    }
    vertices = box_vertices;
    face_start = box_face_start;
    face_vertices = box_face_vertices;
    normals = box_normals;
    offsets = box_offsets;
    edges = box_edges;
    size = norm(h);
  }
  Polyhedron(const Polyhedron&) = delete;
  Polyhedron& operator=(const Polyhedron&) = delete;

  /// Face whose normal is closest to a direction.
  std::uint32_t face_towards(const Vec3<double>& d) const noexcept {
    std::uint32_t best = 0;
    double most = -HUGE_VAL;
    for (std::uint32_t f = 0; f < normals.size(); ++f) {
      const double c = dot(normals[f], d);
      if (c > most) {
        most = c;
        best = f;
      }
    }
    return best;
  }
  double lowest(const Vec3<double>& d) const noexcept {
    double least = HUGE_VAL;
    for (const Vec3<double>& v : vertices) least = std::min(least, dot(v, d));
    return least;
  }
  /// Whether edges are numbered by their vertices.
  bool small() const noexcept { return vertices.size() <= small_vertex_count; }
  std::uint32_t edge_range() const noexcept {
    return small() ? small_edge_range : ConvexHull::max_edges;
  }
  /// The number of an edge in the features of contacts (manifold.hpp).
  std::uint32_t edge_number(const ConvexHull::Edge& edge) const noexcept {
    return small() ? small_edge(edge.from, edge.to)
                   : static_cast<std::uint32_t>(&edge - edges.data());
  }

  /// A face as a side.
  Side side(std::uint32_t f, const Transform<double>& pose) const noexcept {
    Side side;
    const std::uint32_t start = face_start[f];
    const std::uint32_t count = face_start[f + 1] - start;
    // A face with too many corners is taken with every second, third, … of them.
    const std::uint32_t stride = (count + Side::capacity - 1) / Side::capacity;
    for (std::uint32_t i = start; i < start + count; i += stride) {
      const std::uint32_t v = face_vertices[i];
      if (!small()) side.edges[side.count] = face_edges[i];
      side.add(place(pose, vertices[v]), v);
    }
    if (small()) side.number_edges();
    side.edge_range = edge_range();
    side.normal = turn(pose, normals[f]);
    return side;
  }
  /// An edge as a side.
  Side side(const ConvexHull::Edge& edge, const Transform<double>& pose) const noexcept {
    Side side;
    side.add(place(pose, vertices[edge.from]), edge.from);
    side.add(place(pose, vertices[edge.to]), edge.to);
    side.edges[0] = side.edges[1] = edge_number(edge);
    side.edge_range = edge_range();
    return side;
  }
};

}  // namespace bristle::geometry
