#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bristle/core/result.hpp"
#include "bristle/core/vec.hpp"

namespace bristle {

/// A convex polyhedron with its topology, made once from points. Faces are polygons:
/// coplanar triangles are merged, so that a box given by its corners has six faces.
struct ConvexHull {
  /// As many edges of two hulls can be told apart in the 31 bits of a contact's feature
  /// (manifold.hpp). A hull of triangles has about three times as many edges as vertices.
  static constexpr std::uint32_t max_edges = 46340;

  struct Edge {
    std::uint32_t from, to;     // vertices
    std::uint32_t left, right;  // faces; `left` runs from → to counter-clockwise
  };

  std::vector<Vec3<double>> vertices;        // [m]
  std::vector<std::uint32_t> face_start;     // of faces + 1, into face_vertices
  std::vector<std::uint32_t> face_vertices;  // counter-clockwise seen from outside
  std::vector<std::uint32_t> face_edges;     // the edge from each of them to the next one
  std::vector<Vec3<double>> normals;         // of faces, outward, unit
  std::vector<double> offsets;               // of faces: n·x = offset [m]
  std::vector<Edge> edges;
  std::vector<std::uint32_t> neighbour_start;  // of vertices + 1, into neighbours
  std::vector<std::uint32_t> neighbours;       // vertices joined by an edge
  Vec3<double> centre;                         // a point well inside
  double size;  // largest distance of a vertex from the centre

  std::uint32_t face_count() const { return static_cast<std::uint32_t>(normals.size()); }
  std::span<const std::uint32_t> face(std::uint32_t f) const {
    return std::span(face_vertices)
        .subspan(face_start[f], face_start[f + 1] - face_start[f]);
  }
};

/// The convex hull of a set of points (an incremental hull that always takes the farthest
/// point next, after Barber, Dobkin & Huhdanpaa, "The quickhull algorithm for convex
/// hulls", ACM TOMS 22 (1996)). Points closer to the hull than 1e-10 of the extent are
/// taken as lying on it. An error says why there is no hull: fewer than four points,
/// points that are not finite, all in one plane, line or place, or a hull of more than
/// max_edges edges.
Result<ConvexHull> make_hull(std::span<const Vec3<double>> points);

}  // namespace bristle
