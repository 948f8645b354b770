#pragma once

#include <algorithm>
#include <cstdint>

#include "bristle/geometry/contact_point.hpp"
#include "bristle/geometry/hull.hpp"

// Contact manifolds of two convex shapes: a side of one shape clipped by a side of the
// other.

namespace bristle::geometry {

// Features of the points of a manifold, the same whichever side is the clipped one:
//
//   0                              a contact that stands alone
//   1 + v                          vertex v of A
//   2³⁰ + 1 + v                    vertex v of B
//   2³¹ + edge of A · R + edge of B    two edges that cross, R the edge range of B
//
// Vertices stay below 2³⁰, and the edge ranges R of two shapes multiply to less than 2³¹.

/// Edges of a shape of up to 181 vertices are numbered by their vertices, those of larger
/// hulls as in ConvexHull::edges.
inline constexpr std::uint32_t small_vertex_count = 181;
inline constexpr std::uint32_t small_edge_range = 1u << 15;
static_assert((small_vertex_count - 2) * small_vertex_count + small_vertex_count - 1 <
              small_edge_range);
static_assert(std::uint64_t{std::max(small_edge_range, ConvexHull::max_edges)} *
                  std::max(small_edge_range, ConvexHull::max_edges) <=
              1u << 31);

constexpr std::uint32_t vertex_of_a(std::uint32_t v) { return v + 1; }
constexpr std::uint32_t vertex_of_b(std::uint32_t v) { return (1u << 30) + v + 1; }
constexpr std::uint32_t small_edge(std::uint32_t u, std::uint32_t v) {
  return std::min(u, v) * small_vertex_count + std::max(u, v);
}
constexpr std::uint32_t crossing_edges(std::uint32_t of_a, std::uint32_t of_b,
                                       std::uint32_t range_of_b) {
  return (1u << 31) + of_a * range_of_b + of_b;
}

/// The side of a shape that faces a direction: a face, a line or nothing. Two shapes lie
/// on each other with such sides.
struct Side {
  static constexpr int capacity = 32;
  Vec3<double> points[capacity];  // world; counter-clockwise about the normal
  std::uint32_t ids[capacity];    // of the vertices
  std::uint32_t edges[capacity];  // the edge from each point to the next one
  std::uint32_t edge_range = small_edge_range;  // edges of the shape are numbered below
  int count = 0;
  Vec3<double> normal{};  // of a face, outward

  /// Adds a point; the edges are numbered later.
  void add(const Vec3<double>& point, std::uint32_t id) noexcept {
    points[count] = point;
    ids[count++] = id;
  }
  /// Numbers the edges of a shape of few vertices.
  void number_edges() noexcept {
    for (int i = 0; i < count; ++i) {
      edges[i] = small_edge(ids[i], ids[i + 1 == count ? 0 : i + 1]);
    }
  }
};

/// Contacts where side a of A and side b of B lie on each other along n (A into B): one
/// side clipped by the other. Adds the corners with a depth over −margin, each with the
/// normal of the features there, and returns the largest depth, −∞ where they do not
/// meet. radius_a and radius_b are the radii around the cores.
double clip_manifold(const Side& a, const Side& b, const Vec3<double>& n, double radius_a,
                     double radius_b, double margin, Contacts<double>& out) noexcept;

/// Faces within 11° of the normal of an edge contact may replace it.
inline constexpr double lying_cosine = 0.98;

/// Whether at least two points of a manifold are inside.
inline bool several_inside(const Contacts<double>& contacts) noexcept {
  const auto inside = [](const ContactPoint<double>& point) { return point.depth > 0; };
  return std::count_if(contacts.begin(), contacts.end(), inside) > 1;
}

}  // namespace bristle::geometry
