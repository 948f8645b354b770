#include "bristle/geometry/hull.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <utility>

namespace bristle {

namespace {

using V = Vec3<double>;
using Index = std::uint32_t;

struct Triangle {
  std::array<Index, 3> v;
  V normal;
  double offset;
  bool alive = true;
  std::vector<Index> outside;  // points that see this triangle
};

class Builder {
 public:
  explicit Builder(std::span<const V> points) : points_(points) {}

  /// Empty when there is a hull, else why not.
  std::string build() {
    for (const V& p : points_) {
      if (!std::isfinite(p.x) || !std::isfinite(p.y) || !std::isfinite(p.z)) {
        return "a point of the convex hull is not finite";
      }
    }
    if (points_.size() < 4) {
      return "a convex hull needs at least 4 points, got " +
             std::to_string(points_.size());
    }
    if (std::string wrong = begin(); !wrong.empty()) return wrong;
    for (std::size_t t = 0; t < triangles_.size(); ++t) {
      while (triangles_[t].alive && !triangles_[t].outside.empty()) add(t);
    }
    return {};
  }

  ConvexHull finish() {
    const std::vector<Index> alive = largest_first();
    const Groups groups = join_coplanar(alive);
    write_faces(groups, borders_of(groups, alive));
    write_edges();
    write_size();
    return std::move(hull_);
  }

 private:
  double height(const Triangle& t, const V& p) const {
    return dot(t.normal, p) - t.offset;
  }

  Triangle make(Index a, Index b, Index c) const {
    const V n = cross(points_[b] - points_[a], points_[c] - points_[a]);
    const double length = norm(n);
    const V unit = length > 0 ? (1 / length) * n : V{0, 0, 0};
    const V middle = (1.0 / 3) * (points_[a] + points_[b] + points_[c]);
    return {{a, b, c}, unit, dot(unit, middle), true, {}};
  }

  std::string begin() {
    // The two points farthest apart along an axis, the farthest from their line, the
    // farthest from their plane.
    std::array<Index, 6> extreme{};
    for (Index i = 0; i < points_.size(); ++i) {
      const V& p = points_[i];
      if (p.x < points_[extreme[0]].x) extreme[0] = i;
      if (p.x > points_[extreme[1]].x) extreme[1] = i;
      if (p.y < points_[extreme[2]].y) extreme[2] = i;
      if (p.y > points_[extreme[3]].y) extreme[3] = i;
      if (p.z < points_[extreme[4]].z) extreme[4] = i;
      if (p.z > points_[extreme[5]].z) extreme[5] = i;
    }
    Index a = 0;
    Index b = 0;
    double farthest = 0;
    for (const Index i : extreme) {
      for (const Index j : extreme) {
        const double d = norm(points_[i] - points_[j]);
        if (d > farthest) {
          farthest = d;
          a = i;
          b = j;
        }
      }
    }
    extent_ = farthest;
    tolerance_ = 1e-10 * extent_;
    if (!(farthest > 0)) return "all points of the convex hull lie in one place";
    const double thin = 1e-9 * extent_;
    Index c = 0;
    double away = 0;
    const V e = (1 / farthest) * (points_[b] - points_[a]);
    for (Index i = 0; i < points_.size(); ++i) {
      const double d = norm(cross(e, points_[i] - points_[a]));
      if (d > away) {
        away = d;
        c = i;
      }
    }
    if (away <= thin) return "all points of the convex hull lie on one line";
    const Triangle base = make(a, b, c);
    Index d = 0;
    away = 0;
    for (Index i = 0; i < points_.size(); ++i) {
      const double h = std::fabs(height(base, points_[i]));
      if (h > away) {
        away = h;
        d = i;
      }
    }
    if (away <= thin) return "all points of the convex hull lie in one plane";
    if (height(base, points_[d]) > 0) std::swap(b, c);
    triangles_ = {make(a, b, c), make(a, d, b), make(b, d, c), make(c, d, a)};
    for (Index t = 0; t < 4; ++t) link(t);
    std::vector<Index> all(points_.size());
    for (Index i = 0; i < all.size(); ++i) all[i] = i;
    hand_out(all, 0);
    return {};
  }

  void link(Index t) {
    const auto& v = triangles_[t].v;
    for (std::size_t i = 0; i < 3; ++i) owner_[{v[i], v[(i + 1) % 3]}] = t;
  }

  /// Gives each point to the first triangle from `from` on that it sees.
  void hand_out(const std::vector<Index>& points, std::size_t from) {
    for (const Index p : points) {
      double most = tolerance_;
      std::size_t best = triangles_.size();
      for (std::size_t t = from; t < triangles_.size(); ++t) {
        if (!triangles_[t].alive) continue;
        const double h = height(triangles_[t], points_[p]);
        if (h > most) {
          most = h;
          best = t;
        }
      }
      if (best < triangles_.size()) triangles_[best].outside.push_back(p);
    }
  }

  /// Adds the farthest point that sees triangle t.
  void add(std::size_t t) {
    Index eye = triangles_[t].outside[0];
    for (const Index p : triangles_[t].outside) {
      if (height(triangles_[t], points_[p]) > height(triangles_[t], points_[eye]))
        eye = p;
    }
    // Everything the point sees, from t outward over shared edges: one connected piece
    // with one rim.
    std::vector<Index> seen{static_cast<Index>(t)};
    triangles_[t].alive = false;
    std::vector<std::pair<Index, Index>> rim;
    std::vector<Index> orphans;
    for (std::size_t k = 0; k < seen.size(); ++k) {
      const auto v = triangles_[seen[k]].v;
      for (std::size_t i = 0; i < 3; ++i) {
        const Index from = v[i];
        const Index to = v[(i + 1) % 3];
        const Index across = owner_.at({to, from});
        if (!triangles_[across].alive) continue;
        if (height(triangles_[across], points_[eye]) > tolerance_ * 1e-2) {
          triangles_[across].alive = false;
          seen.push_back(across);
        } else {
          rim.emplace_back(from, to);
        }
      }
    }
    // An edge put on the rim before its other side was seen is not on the rim.
    std::erase_if(rim, [&](const auto& edge) {
      return !triangles_[owner_.at({edge.second, edge.first})].alive;
    });
    for (const Index s : seen) {
      const auto& v = triangles_[s].v;
      for (std::size_t i = 0; i < 3; ++i) {
        const auto edge = owner_.find({v[i], v[(i + 1) % 3]});
        if (edge != owner_.end() && edge->second == s) owner_.erase(edge);
      }
      orphans.insert(orphans.end(), triangles_[s].outside.begin(),
                     triangles_[s].outside.end());
      triangles_[s].outside.clear();
    }
    std::erase(orphans, eye);
    const std::size_t first = triangles_.size();
    for (const auto& [from, to] : rim) {
      triangles_.push_back(make(from, to, eye));
      link(static_cast<Index>(triangles_.size() - 1));
    }
    hand_out(orphans, first);
  }

  double area(Index t) const {
    const auto& v = triangles_[t].v;
    return norm(cross(points_[v[1]] - points_[v[0]], points_[v[2]] - points_[v[0]]));
  }

  /// Triangles of the hull, the largest first.
  std::vector<Index> largest_first() const {
    std::vector<Index> alive;
    for (Index t = 0; t < triangles_.size(); ++t) {
      if (triangles_[t].alive) alive.push_back(t);
    }
    std::sort(alive.begin(), alive.end(), [&](Index s, Index t) {
      return area(s) != area(t) ? area(s) > area(t) : s < t;
    });
    return alive;
  }

  /// Triangles joined to faces.
  struct Groups {
    std::map<Index, Index> of;  // triangle → face
    std::vector<Index> seeds;   // of faces: the triangle that gives the plane
  };

  /// Coplanar neighbours form a face. Its largest triangle gives its plane: each face
  /// grows from the largest triangle left.
  Groups join_coplanar(const std::vector<Index>& largest_first) const {
    const double coplanar = 1e-9 * extent_;
    Groups groups;
    for (const Index seed : largest_first) {
      if (groups.of.contains(seed)) continue;
      const auto g = static_cast<Index>(groups.seeds.size());
      groups.seeds.push_back(seed);
      groups.of[seed] = g;
      const Triangle& plane = triangles_[seed];
      const auto in_plane = [&](Index p) {
        return std::fabs(height(plane, points_[p])) <= coplanar;
      };
      std::vector<Index> queue{seed};
      for (std::size_t k = 0; k < queue.size(); ++k) {
        const auto v = triangles_[queue[k]].v;
        for (std::size_t i = 0; i < 3; ++i) {
          const Index next = owner_.at({v[(i + 1) % 3], v[i]});
          if (groups.of.contains(next)) continue;
          const auto& corners = triangles_[next].v;
          if (!std::all_of(corners.begin(), corners.end(), in_plane)) continue;
          groups.of[next] = g;
          queue.push_back(next);
        }
      }
    }
    return groups;
  }

  /// The border of each face: its directed edges, from → to.
  std::vector<std::map<Index, Index>> borders_of(const Groups& groups,
                                                 const std::vector<Index>& alive) const {
    std::vector<std::map<Index, Index>> borders(groups.seeds.size());
    for (const Index t : alive) {
      const auto& v = triangles_[t].v;
      for (std::size_t i = 0; i < 3; ++i) {
        const Index from = v[i];
        const Index to = v[(i + 1) % 3];
        if (groups.of.at(owner_.at({to, from})) != groups.of.at(t))
          borders[groups.of.at(t)][from] = to;
      }
    }
    return borders;
  }

  /// Vertices in the order in which the faces meet them, and the faces.
  void write_faces(const Groups& groups,
                   const std::vector<std::map<Index, Index>>& borders) {
    std::map<Index, Index> renumber;
    const auto vertex = [&](Index p) {
      const auto [found, fresh] =
          renumber.try_emplace(p, static_cast<Index>(hull_.vertices.size()));
      if (fresh) hull_.vertices.push_back(points_[p]);
      return found->second;
    };
    hull_.face_start.push_back(0);
    for (std::size_t g = 0; g < groups.seeds.size(); ++g) {
      if (borders[g].empty()) continue;
      const auto f = static_cast<Index>(hull_.normals.size());
      const Index start = borders[g].begin()->first;
      Index at = start;
      do {
        hull_.face_vertices.push_back(vertex(at));
        at = borders[g].at(at);
      } while (at != start);
      hull_.face_start.push_back(static_cast<Index>(hull_.face_vertices.size()));
      const Triangle& plane = triangles_[groups.seeds[g]];
      hull_.normals.push_back(plane.normal);
      double offset = plane.offset;
      for (const Index v : hull_.face(f))
        offset = std::max(offset, dot(plane.normal, hull_.vertices[v]));
      hull_.offsets.push_back(offset);
    }
  }

  /// The edges between the faces, and which of them leaves each corner of a face.
  void write_edges() {
    std::map<std::pair<Index, Index>, Index> half_edges;  // directed edge → face
    for (Index f = 0; f < hull_.face_count(); ++f) {
      const auto face = hull_.face(f);
      for (std::size_t i = 0; i < face.size(); ++i) {
        half_edges[{face[i], face[(i + 1) % face.size()]}] = f;
      }
    }
    std::map<std::pair<Index, Index>, Index> number;  // of an edge
    std::vector<std::vector<Index>> near(hull_.vertices.size());
    for (const auto& [edge, left] : half_edges) {
      near[edge.first].push_back(edge.second);
      const auto back = half_edges.find({edge.second, edge.first});
      if (edge.first < edge.second && back != half_edges.end()) {
        number[edge] = static_cast<Index>(hull_.edges.size());
        hull_.edges.push_back({edge.first, edge.second, left, back->second});
      }
    }
    for (Index f = 0; f < hull_.face_count(); ++f) {
      const auto face = hull_.face(f);
      for (std::size_t i = 0; i < face.size(); ++i) {
        const std::pair<Index, Index> edge =
            std::minmax(face[i], face[(i + 1) % face.size()]);
        hull_.face_edges.push_back(
            number.try_emplace(edge, static_cast<Index>(number.size())).first->second);
      }
    }
    hull_.neighbour_start.push_back(0);
    for (const auto& list : near) {
      hull_.neighbours.insert(hull_.neighbours.end(), list.begin(), list.end());
      hull_.neighbour_start.push_back(static_cast<Index>(hull_.neighbours.size()));
    }
  }

  void write_size() {
    V sum{0, 0, 0};
    for (const V& v : hull_.vertices) sum = sum + v;
    hull_.centre = (1.0 / static_cast<double>(hull_.vertices.size())) * sum;
    hull_.size = 0;
    for (const V& v : hull_.vertices)
      hull_.size = std::max(hull_.size, norm(v - hull_.centre));
  }

  std::span<const V> points_;
  std::vector<Triangle> triangles_;
  std::map<std::pair<Index, Index>, Index> owner_;  // directed edge → triangle
  double extent_ = 0;
  double tolerance_ = 0;
  ConvexHull hull_;
};

}  // namespace

Result<ConvexHull> make_hull(std::span<const Vec3<double>> points) {
  Builder builder(points);
  if (std::string wrong = builder.build(); !wrong.empty()) return Error{wrong};
  ConvexHull hull = builder.finish();
  const auto largest = std::max_element(hull.face_edges.begin(), hull.face_edges.end());
  if (*largest >= ConvexHull::max_edges) {
    return Error{"a convex hull has at most " + std::to_string(ConvexHull::max_edges) +
                 " edges, got " + std::to_string(hull.edges.size()) + " (" +
                 std::to_string(hull.vertices.size()) +
                 " vertices); take fewer points of the surface"};
  }
  return hull;
}

}  // namespace bristle
