#include "bristle/geometry/surface.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <string>
#include <tuple>
#include <utility>

namespace bristle {

namespace {

using V = Vec3<double>;
using Index = std::uint32_t;
constexpr Index none = TriangleSurface::none;

bool finite(const V& v) {
  return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z);
}

V unit(const V& v, const V& otherwise) {
  const double length = norm(v);
  return length > 0 ? (1 / length) * v : otherwise;
}

/// Sets that grow together; the smallest member names a set.
class Sets {
 public:
  explicit Sets(std::size_t n) : parent_(n) {
    for (std::size_t i = 0; i < n; ++i) parent_[i] = static_cast<Index>(i);
  }
  Index find(Index i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void join(Index i, Index j) {
    i = find(i);
    j = find(j);
    parent_[std::max(i, j)] = std::min(i, j);
  }

 private:
  std::vector<Index> parent_;
};

void find_edges(TriangleSurface& s) {
  const auto faces = static_cast<Index>(s.triangles.size());
  struct Use {
    Index face, corner;
    bool forward;
  };
  std::map<std::pair<Index, Index>, std::vector<Use>> uses;
  for (Index f = 0; f < faces; ++f) {
    for (Index i = 0; i < 3; ++i) {
      const Index from = s.triangles[f][i];
      const Index to = s.triangles[f][(i + 1) % 3];
      uses[std::minmax(from, to)].push_back({f, i, from < to});
    }
  }
  s.face_edges.resize(faces);
  for (const auto& [ends, list] : uses) {
    const bool inner = list.size() == 2 && list[0].forward != list[1].forward;
    for (std::size_t k = 0; k < list.size(); ++k) {
      if (inner && k == 1) break;
      TriangleSurface::Edge edge{};
      edge.from = ends.first;
      edge.to = ends.second;
      edge.faces[0] = list[k].face;
      edge.faces[1] = inner ? list[1].face : none;
      edge.pseudo_normal = inner ? unit(s.normals[list[0].face] + s.normals[list[1].face],
                                        s.normals[list[0].face])
                                 : s.normals[list[k].face];
      const auto e = static_cast<Index>(s.edges.size());
      s.face_edges[list[k].face][list[k].corner] = e;
      if (inner) s.face_edges[list[1].face][list[1].corner] = e;
      s.edges.push_back(edge);
    }
  }
}

void find_vertices(TriangleSurface& s) {
  const std::size_t count = s.vertices.size();
  s.vertex_normal.assign(count, V{0, 0, 0});
  s.vertex_on_border.assign(count, 0);
  std::vector<std::vector<Index>> star(count);
  for (std::size_t f = 0; f < s.triangles.size(); ++f) {
    for (std::size_t i = 0; i < 3; ++i) {
      const Index v = s.triangles[f][i];
      const V a =
          unit(s.vertices[s.triangles[f][(i + 1) % 3]] - s.vertices[v], V{1, 0, 0});
      const V b =
          unit(s.vertices[s.triangles[f][(i + 2) % 3]] - s.vertices[v], V{1, 0, 0});
      const double angle = std::atan2(norm(cross(a, b)), dot(a, b));
      s.vertex_normal[v] = s.vertex_normal[v] + angle * s.normals[f];
    }
  }
  for (V& n : s.vertex_normal) n = unit(n, V{0, 0, 1});
  for (const auto& edge : s.edges) {
    star[edge.from].push_back(edge.to);
    star[edge.to].push_back(edge.from);
    if (edge.faces[1] == none)
      s.vertex_on_border[edge.from] = s.vertex_on_border[edge.to] = 1;
  }
  s.star_start.push_back(0);
  for (auto& list : star) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    s.star.insert(s.star.end(), list.begin(), list.end());
    s.star_start.push_back(static_cast<Index>(s.star.size()));
  }
}

/// Ids: flats, then straight edges, then corners.
void number_features(TriangleSurface& s) {
  const double size = norm(s.bounds.high - s.bounds.low);
  const double flat = 1e-7;  // sine of the angle that still counts as none
  Sets flats(s.triangles.size());
  const auto opposite = [&](Index f, const TriangleSurface::Edge& e) {
    for (const Index v : s.triangles[f]) {
      if (v != e.from && v != e.to) return v;
    }
    return e.from;
  };
  for (const auto& e : s.edges) {
    if (e.faces[1] == none) continue;
    const Index f = e.faces[0];
    const Index g = e.faces[1];
    const bool parallel = norm(cross(s.normals[f], s.normals[g])) < flat &&
                          dot(s.normals[f], s.normals[g]) > 0;
    const double step =
        std::fabs(dot(s.normals[f], s.vertices[opposite(g, e)] - s.vertices[e.from]));
    if (parallel && step < 1e-7 * size) flats.join(f, g);
  }
  // Flats that meet at an edge, the same for both directions; a border has one.
  const auto sides = [&](const TriangleSurface::Edge& e) {
    const Index f = flats.find(e.faces[0]);
    const Index g = e.faces[1] == none ? none : flats.find(e.faces[1]);
    return std::pair<Index, Index>(std::min(f, g), std::max(f, g));
  };
  const auto inside_flat = [&](const TriangleSurface::Edge& e) {
    const auto [f, g] = sides(e);
    return f == g;
  };
  // Straight edges: pieces end to end between the same flats.
  Sets lines(s.edges.size());
  std::vector<std::vector<Index>> at_vertex(s.vertices.size());
  for (Index e = 0; e < s.edges.size(); ++e) {
    if (inside_flat(s.edges[e])) continue;
    at_vertex[s.edges[e].from].push_back(e);
    at_vertex[s.edges[e].to].push_back(e);
  }
  for (const auto& list : at_vertex) {
    if (list.size() != 2) continue;
    const auto& e = s.edges[list[0]];
    const auto& g = s.edges[list[1]];
    const V u = unit(s.vertices[e.to] - s.vertices[e.from], V{1, 0, 0});
    const V v = unit(s.vertices[g.to] - s.vertices[g.from], V{1, 0, 0});
    if (sides(e) == sides(g) && norm(cross(u, v)) < flat) lines.join(list[0], list[1]);
  }
  const auto faces = static_cast<Index>(s.triangles.size());
  const auto edges = static_cast<Index>(s.edges.size());
  s.face_id.resize(faces);
  for (Index f = 0; f < faces; ++f) s.face_id[f] = flats.find(f);
  for (Index e = 0; e < edges; ++e) {
    auto& edge = s.edges[e];
    edge.id = inside_flat(edge) ? flats.find(edge.faces[0]) : faces + lines.find(e);
  }
  s.vertex_id.resize(s.vertices.size());
  std::vector<Index> some_face(s.vertices.size(), 0);
  for (Index f = 0; f < faces; ++f) {
    for (const Index v : s.triangles[f]) some_face[v] = f;
  }
  for (Index v = 0; v < s.vertices.size(); ++v) {
    const auto& list = at_vertex[v];
    s.vertex_id[v] = faces + edges + v;
    if (list.empty()) s.vertex_id[v] = flats.find(some_face[v]);
    if (list.size() == 2 && lines.find(list[0]) == lines.find(list[1])) {
      s.vertex_id[v] = faces + lines.find(list[0]);
    }
  }
}

struct TreeBuilder {
  TriangleMesh& mesh;
  std::vector<Aabb> boxes;
  std::vector<V> centres;

  void build(Index first, Index count) {
    const auto node = static_cast<Index>(mesh.nodes.size());
    Aabb box = Aabb::empty();
    Aabb middle = Aabb::empty();
    for (Index i = first; i < first + count; ++i) {
      box.include(boxes[mesh.order[i]]);
      middle.include(centres[mesh.order[i]]);
    }
    mesh.nodes.push_back({box, 0, first, count});
    if (count > 4) {
      const V extent = middle.high - middle.low;
      double V::* along = extent.x >= extent.y && extent.x >= extent.z ? &V::x
                          : extent.y >= extent.z                       ? &V::y
                                                                       : &V::z;
      const Index half = count / 2;
      const auto begin = mesh.order.begin() + first;
      std::nth_element(begin, begin + half, begin + count, [&](Index a, Index b) {
        return std::tuple(centres[a].*along, a) < std::tuple(centres[b].*along, b);
      });
      mesh.nodes[node].count = 0;
      build(first, half);
      build(first + half, count - half);
    }
    mesh.nodes[node].next = static_cast<Index>(mesh.nodes.size());
  }
};

}  // namespace

Result<TriangleSurface> make_surface(
    std::vector<Vec3<double>> vertices,
    std::vector<std::array<std::uint32_t, 3>> triangles) {
  TriangleSurface s;
  if (triangles.empty()) return Error{"a triangle mesh needs at least one triangle"};
  for (std::size_t v = 0; v < vertices.size(); ++v) {
    if (!finite(vertices[v]))
      return Error{"mesh vertex " + std::to_string(v) + " is not finite"};
  }
  s.vertices = std::move(vertices);
  s.bounds = Aabb::empty();
  for (std::size_t t = 0; t < triangles.size(); ++t) {
    for (const Index v : triangles[t]) {
      if (v >= s.vertices.size()) {
        return Error{"mesh triangle " + std::to_string(t) + " refers to vertex " +
                     std::to_string(v) + ", but there are " +
                     std::to_string(s.vertices.size())};
      }
    }
    const V& a = s.vertices[triangles[t][0]];
    const V& b = s.vertices[triangles[t][1]];
    const V& c = s.vertices[triangles[t][2]];
    const V n = cross(b - a, c - a);
    const double longest2 = std::max({norm2(b - a), norm2(c - b), norm2(a - c)});
    if (!(norm(n) > 1e-12 * longest2)) continue;
    s.triangles.push_back(triangles[t]);
    s.normals.push_back((1 / norm(n)) * n);
    for (const Index v : triangles[t]) s.bounds.include(s.vertices[v]);
  }
  if (s.triangles.empty()) return Error{"no triangle of the mesh has an area"};
  find_edges(s);
  find_vertices(s);
  number_features(s);
  const V extent = s.bounds.high - s.bounds.low;
  const double least = std::min({extent.x, extent.y, extent.z});
  const double most = std::max({extent.x, extent.y, extent.z});
  s.max_depth = std::max(0.5 * least, 0.02 * most);
  return s;
}

Result<TriangleMesh> make_mesh(std::span<const Vec3<double>> vertices,
                               std::span<const std::array<std::uint32_t, 3>> triangles) {
  // Join vertices at the same place.
  std::map<std::tuple<double, double, double>, Index> places;
  std::vector<V> joined;
  std::vector<Index> renumber;
  for (const V& v : vertices) {
    if (!finite(v)) {
      return Error{"mesh vertex " + std::to_string(renumber.size()) + " is not finite"};
    }
    const auto [found, fresh] =
        places.try_emplace({v.x, v.y, v.z}, static_cast<Index>(joined.size()));
    if (fresh) joined.push_back(v);
    renumber.push_back(found->second);
  }
  std::vector<std::array<Index, 3>> faces(triangles.begin(), triangles.end());
  for (std::size_t t = 0; t < faces.size(); ++t) {
    for (Index& v : faces[t]) {
      if (v >= renumber.size()) {
        return Error{"mesh triangle " + std::to_string(t) + " refers to vertex " +
                     std::to_string(v) + ", but there are " +
                     std::to_string(renumber.size())};
      }
      v = renumber[v];
    }
  }
  Result<TriangleSurface> surface = make_surface(std::move(joined), std::move(faces));
  if (!surface) return Error{surface.error()};
  TriangleMesh mesh;
  mesh.surface = std::move(*surface);
  const TriangleSurface& s = mesh.surface;
  TreeBuilder tree{mesh, {}, {}};
  for (const auto& triangle : s.triangles) {
    Aabb box = Aabb::empty();
    for (const Index v : triangle) box.include(s.vertices[v]);
    tree.boxes.push_back(box);
    tree.centres.push_back(0.5 * (box.low + box.high));
    mesh.order.push_back(static_cast<Index>(mesh.order.size()));
  }
  tree.build(0, static_cast<Index>(mesh.order.size()));
  return mesh;
}

Result<HeightField> make_height_field(int columns, int rows, double spacing_x,
                                      double spacing_y, std::span<const double> heights) {
  if (columns < 2 || rows < 2) {
    return Error{"a height field needs at least 2 × 2 points, got " +
                 std::to_string(columns) + " × " + std::to_string(rows)};
  }
  if (!(spacing_x > 0) || !(spacing_y > 0) || !std::isfinite(spacing_x + spacing_y)) {
    return Error{"the spacing of a height field must be > 0 m, got " +
                 std::to_string(spacing_x) + " and " + std::to_string(spacing_y)};
  }
  const auto nx = static_cast<std::size_t>(columns);
  const auto ny = static_cast<std::size_t>(rows);
  if (heights.size() != nx * ny) {
    return Error{"a height field of " + std::to_string(columns) + " × " +
                 std::to_string(rows) + " points needs " + std::to_string(nx * ny) +
                 " heights, got " + std::to_string(heights.size())};
  }
  std::vector<V> vertices;
  for (std::size_t j = 0; j < ny; ++j) {
    for (std::size_t i = 0; i < nx; ++i) {
      vertices.push_back({(static_cast<double>(i) - 0.5 * (columns - 1)) * spacing_x,
                          (static_cast<double>(j) - 0.5 * (rows - 1)) * spacing_y,
                          heights[j * nx + i]});
    }
  }
  std::vector<std::array<Index, 3>> triangles;
  for (std::size_t j = 0; j + 1 < ny; ++j) {
    for (std::size_t i = 0; i + 1 < nx; ++i) {
      const auto a = static_cast<Index>(j * nx + i);
      const Index b = a + 1;
      const auto c = static_cast<Index>(a + nx);
      const Index d = c + 1;
      triangles.push_back({a, b, d});
      triangles.push_back({a, d, c});
    }
  }
  Result<TriangleSurface> surface =
      make_surface(std::move(vertices), std::move(triangles));
  if (!surface) return Error{surface.error()};
  HeightField field{std::move(*surface), columns, rows, spacing_x, spacing_y};
  field.surface.max_depth = 2 * std::max(spacing_x, spacing_y);
  return field;
}

}  // namespace bristle
