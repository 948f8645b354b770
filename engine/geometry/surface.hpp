#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "bristle/core/result.hpp"
#include "bristle/geometry/aabb.hpp"

namespace bristle {

/// Triangles with their neighbourhood. Triangles turn counter-clockwise seen from
/// outside; the body lies behind them. A surface with borders is a body with one side.
///
/// Contact identity: coplanar neighbours share one id, and so do the pieces of a straight
/// edge, so that a contact that slides over a triangulated flat stays the same contact.
struct TriangleSurface {
  static constexpr std::uint32_t none = 0xffffffffu;

  struct Edge {
    std::uint32_t from, to;
    std::uint32_t faces[2];      // second is `none` on a border
    Vec3<double> pseudo_normal;  // unit
    std::uint32_t id;
  };

  std::vector<Vec3<double>> vertices;                   // [m]
  std::vector<std::array<std::uint32_t, 3>> triangles;  // vertices
  std::vector<std::array<std::uint32_t, 3>>
      face_edges;                     // edge i joins vertices i and i + 1
  std::vector<Vec3<double>> normals;  // of triangles, unit
  std::vector<std::uint32_t> face_id;
  std::vector<Edge> edges;
  std::vector<Vec3<double>>
      vertex_normal;  // angle-weighted (Bærentzen & Aanæs 2005), unit
  std::vector<std::uint32_t> vertex_id;
  std::vector<std::uint8_t> vertex_on_border;
  std::vector<std::uint32_t> star_start;  // of vertices + 1, into star
  std::vector<std::uint32_t> star;        // vertices joined by an edge
  Aabb bounds;                            // in body axes

  /// How far below the surface a centre is still found [m].
  double max_depth = 0;
  /// Contacts of one sphere whose normals differ by less than this are one contact, the
  /// deepest [rad]: a slightly hollow triangulation is not twice as stiff as a flat one.
  double merge_angle = 0.26;
};

/// Builds the neighbourhood. Leaves out triangles without area; an edge of three or more
/// triangles, or of two that turn against each other, counts as a border of each.
Result<TriangleSurface> make_surface(std::vector<Vec3<double>> vertices,
                                     std::vector<std::array<std::uint32_t, 3>> triangles);

/// A triangle mesh with a tree of boxes over it.
struct TriangleMesh {
  /// Depth-first order: the first child follows its parent, `next` is where to go on when
  /// the box is missed.
  struct Node {
    Aabb box;
    std::uint32_t next;
    std::uint32_t first, count;  // triangles in `order`; count 0 for an inner node
  };

  TriangleSurface surface;
  std::vector<Node> nodes;
  std::vector<std::uint32_t> order;
};

/// Vertices at the same place are joined first, so that a soup of triangles will do.
Result<TriangleMesh> make_mesh(std::span<const Vec3<double>> vertices,
                               std::span<const std::array<std::uint32_t, 3>> triangles);

/// Ground z = h(x, y) over a rectangle centred on the origin; solid below. Two triangles
/// per cell.
struct HeightField {
  TriangleSurface surface;
  int columns, rows;            // points along x and y
  double spacing_x, spacing_y;  // [m]
};

/// heights[row · columns + column] [m]; columns run along x, rows along y.
Result<HeightField> make_height_field(int columns, int rows, double spacing_x,
                                      double spacing_y, std::span<const double> heights);

}  // namespace bristle
