#include "bristle/geometry/convex.hpp"

#include <algorithm>
#include <cmath>

namespace bristle::geometry {

namespace {

using V = Vec3<double>;

double sign_of(double x) { return x < 0 ? -1 : 1; }

V hull_support(const ConvexHull& hull, const V& d) noexcept {
  const std::size_t count = hull.vertices.size();
  if (count <= 48) {
    std::size_t best = 0;
    double height = dot(hull.vertices[0], d);
    for (std::size_t i = 1; i < count; ++i) {
      const double h = dot(hull.vertices[i], d);
      if (h > height) {
        height = h;
        best = i;
      }
    }
    return hull.vertices[best];
  }
  // Uphill along edges: on a convex body every local maximum is the maximum.
  std::uint32_t best = 0;
  double height = dot(hull.vertices[0], d);
  for (std::size_t step = 0; step < count; ++step) {
    const std::uint32_t from = best;
    for (std::uint32_t i = hull.neighbour_start[from]; i < hull.neighbour_start[from + 1];
         ++i) {
      const double h = dot(hull.vertices[hull.neighbours[i]], d);
      if (h > height) {
        height = h;
        best = hull.neighbours[i];
      }
    }
    if (best == from) break;
  }
  return hull.vertices[best];
}

V local_support(const Shape& shape, const V& d) noexcept {
  switch (kind_of(shape)) {
    case ShapeKind::box: {
      const V& h = std::get_if<Box>(&shape)->half;
      return {sign_of(d.x) * h.x, sign_of(d.y) * h.y, sign_of(d.z) * h.z};
    }
    case ShapeKind::cylinder: {
      const auto& c = *std::get_if<Cylinder>(&shape);
      const V level = unit_or(V{d.x, d.y, 0}, V{1, 0, 0});
      return {c.radius * level.x, c.radius * level.y, sign_of(d.z) * c.half_length};
    }
    case ShapeKind::capsule:
      return {0, 0, sign_of(d.z) * std::get_if<Capsule>(&shape)->half_length};
    case ShapeKind::ellipsoid: {
      const V& s = std::get_if<Ellipsoid>(&shape)->semi_axes;
      const V u = unit_or(V{s.x * d.x, s.y * d.y, s.z * d.z}, V{0, 0, 1});
      return {s.x * u.x, s.y * u.y, s.z * u.z};
    }
    case ShapeKind::convex:
      return hull_support(*std::get_if<Convex>(&shape)->hull, d);
    default:
      return {0, 0, 0};
  }
}

/// A point of A − B with the points it comes from.
struct Corner {
  V w, a, b;
};

struct Difference {
  const Core* a;
  const Core* b;
  V shift;  // B is moved by this

  Corner corner(const V& d) const noexcept {
    const V on_a = support(*a, d);
    const V on_b = support(*b, -d) + shift;
    return {on_a - on_b, on_a, on_b};
  }
  /// h(d) for a unit d, without the shift.
  double depth(const V& d) const noexcept {
    return dot(support(*a, d) - support(*b, -d), d);
  }
};

struct Simplex {
  Corner corners[4];
  int count = 0;
};

/// Which corners of a simplex carry its point closest to the origin, and with what
/// weights.
struct Nearest {
  V point;
  int count;
  int corner[4];
  double weight[4];
};

Nearest closest_on_segment(const Simplex& s, int i, int j) noexcept {
  const V& p = s.corners[i].w;
  const V e = s.corners[j].w - p;
  const double length2 = norm2(e);
  const double t = length2 > 0 ? -dot(p, e) / length2 : 0;
  if (!(t > 0)) return {p, 1, {i}, {1}};
  if (t >= 1) return {s.corners[j].w, 1, {j}, {1}};
  return {p + t * e, 2, {i, j}, {1 - t, t}};
}

Nearest closest_on_triangle(const Simplex& s, int i, int j, int k) noexcept {
  // From the corner between the two shorter sides: thin triangles lose less that way.
  const double jk = norm2(s.corners[k].w - s.corners[j].w);
  const double ki = norm2(s.corners[i].w - s.corners[k].w);
  const double ij = norm2(s.corners[j].w - s.corners[i].w);
  if (ki >= jk && ki >= ij) {
    std::swap(i, j);
  } else if (ij >= jk && ij >= ki) {
    std::swap(i, k);
  }
  const V& p = s.corners[i].w;
  const V e = s.corners[j].w - p;
  const V f = s.corners[k].w - p;
  const V n = cross(e, f);
  const double area2 = norm2(n);
  if (area2 > 1e-28 * norm2(e) * norm2(f)) {
    // The foot of the perpendicular p + v e + w f.
    const double v = -dot(n, cross(p, f)) / area2;
    const double w = -dot(n, cross(e, p)) / area2;
    if (v > 0 && w > 0 && v + w < 1) {
      return {p + v * e + w * f, 3, {i, j, k}, {1 - v - w, v, w}};
    }
  }
  Nearest best = closest_on_segment(s, i, j);
  const int pairs[2][2] = {{j, k}, {k, i}};
  for (const auto& pair : pairs) {
    const Nearest other = closest_on_segment(s, pair[0], pair[1]);
    if (norm2(other.point) < norm2(best.point)) best = other;
  }
  return best;
}

/// On the whole simplex; count 4 means that it holds the origin.
Nearest closest_on_simplex(const Simplex& s) noexcept {
  if (s.count == 1) return {s.corners[0].w, 1, {0}, {1}};
  if (s.count == 2) return closest_on_segment(s, 0, 1);
  if (s.count == 3) return closest_on_triangle(s, 0, 1, 2);
  const int faces[4][4] = {{0, 1, 2, 3}, {0, 3, 1, 2}, {0, 2, 3, 1}, {1, 3, 2, 0}};
  Nearest best{{0, 0, 0}, 4, {0, 1, 2, 3}, {}};
  double best2 = HUGE_VAL;
  for (const auto& f : faces) {
    const V& p = s.corners[f[0]].w;
    const V n = cross(s.corners[f[1]].w - p, s.corners[f[2]].w - p);
    const double origin = -dot(n, p);
    const double fourth = dot(n, s.corners[f[3]].w - p);
    // On the other side of this face than the fourth corner, or a flat tetrahedron?
    const bool flat = fourth * fourth <= 1e-28 * norm2(n) * norm2(s.corners[f[3]].w - p);
    if (!flat && origin * fourth > 0) continue;
    const Nearest other = closest_on_triangle(s, f[0], f[1], f[2]);
    if (norm2(other.point) < best2) {
      best2 = norm2(other.point);
      best = other;
    }
  }
  return best;
}

struct Distance {
  bool apart;
  double distance;
  V normal;  // A into B, when apart
  V on_a, on_b;
  Simplex simplex;
};

/// Gilbert, Johnson & Keerthi 1988: closest points of two convex shapes. Ends when the
/// bracket |v| ≥ distance ≥ v·w/|v| has closed.
Distance gjk(const Difference& difference, const V& start, double size) noexcept {
  Distance result{};
  Simplex& simplex = result.simplex;
  double weight[4] = {};
  V v = start;
  if (!(norm2(v) > 0)) v = {1, 0, 0};
  const double zero = 1e-14 * size;
  bool first = true;
  for (int iteration = 0; iteration < 100; ++iteration) {
    const Corner c = difference.corner(-v);
    const double v2 = norm2(v);
    if (!first) {
      if (v2 - dot(v, c.w) <= 1e-14 * v2) break;
      bool known = false;
      for (int i = 0; i < simplex.count; ++i) {
        known = known || norm2(simplex.corners[i].w - c.w) <= 1e-32 * size * size;
      }
      if (known) break;
    }
    simplex.corners[simplex.count++] = c;
    const Nearest next = closest_on_simplex(simplex);
    if (next.count == 4 || norm2(next.point) <= zero * zero) return result;
    if (!first && !(norm2(next.point) < v2)) {  // round-off: as close as it gets
      --simplex.count;
      break;
    }
    Corner kept[3];
    for (int i = 0; i < next.count; ++i) kept[i] = simplex.corners[next.corner[i]];
    for (int i = 0; i < next.count; ++i) {
      simplex.corners[i] = kept[i];
      weight[i] = next.weight[i];
    }
    simplex.count = next.count;
    v = next.point;
    first = false;
  }
  result.apart = true;
  result.distance = norm(v);
  result.normal = (-1 / result.distance) * v;
  for (int i = 0; i < simplex.count; ++i) {
    result.on_a = result.on_a + weight[i] * simplex.corners[i].a;
    result.on_b = result.on_b + weight[i] * simplex.corners[i].b;
  }
  return result;
}

/// Expanding polytope (van den Bergen 2001): the face of A − B nearest to the origin, to
/// 1e-8 of the size; `separate` goes on from there. Returns its outward normal,
/// from A into B.
class Expansion {
 public:
  V normal(const Difference& difference, const Simplex& start, double size) noexcept {
    size_ = size;
    if (!begin(difference, start)) return flat_normal(difference);
    V best{0, 0, 1};
    double best_depth = HUGE_VAL;
    for (int iteration = 0; iteration < 60; ++iteration) {
      int nearest = -1;
      for (int f = 0; f < face_count_; ++f) {
        if (nearest < 0 || faces_[f].distance < faces_[nearest].distance) nearest = f;
      }
      if (nearest < 0) break;
      const Face face = faces_[nearest];
      const V w = difference.corner(face.normal).w;
      const double height = dot(w, face.normal);
      if (height < best_depth) {
        best_depth = height;
        best = face.normal;
      }
      if (height - face.distance <= 1e-8 * size || best_depth <= face.distance) break;
      if (!add(w)) break;
    }
    return best;
  }

 private:
  static constexpr int max_corners = 72;
  static constexpr int max_faces = 160;

  struct Face {
    int v[3];
    V normal;
    double distance;
  };

  bool make_face(int i, int j, int k) noexcept {
    if (face_count_ == max_faces) return false;
    const V n = cross(corners_[j] - corners_[i], corners_[k] - corners_[i]);
    const double length = norm(n);
    if (!(length > 1e-20 * size_ * size_)) return false;
    const V unit = (1 / length) * n;
    faces_[face_count_++] = {{i, j, k}, unit, dot(unit, corners_[i])};
    return true;
  }

  /// A tetrahedron with some volume around the origin, from the simplex GJK ended with.
  bool begin(const Difference& difference, const Simplex& start) noexcept {
    for (int i = 0; i < start.count; ++i) corners_[corner_count_++] = start.corners[i].w;
    const double small = 1e-9 * size_;
    const V axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    if (corner_count_ == 0) corners_[corner_count_++] = difference.corner(axes[0]).w;
    for (int attempt = 0; attempt < 12 && corner_count_ < 4; ++attempt) {
      const V axis = axes[attempt % 3];
      V d{};
      if (corner_count_ == 1) {
        d = axis;
      } else if (corner_count_ == 2) {
        d = cross(corners_[1] - corners_[0], axis);
      } else {
        d = cross(corners_[1] - corners_[0], corners_[2] - corners_[0]);
      }
      if (attempt % 2 == 1) d = -d;
      if (!(norm2(d) > 0)) continue;
      const V w = difference.corner(d).w;
      double away = 0;
      if (corner_count_ == 1) {
        away = norm(w - corners_[0]);
      } else if (corner_count_ == 2) {
        const V e = corners_[1] - corners_[0];
        away = norm(cross(e, w - corners_[0])) / norm(e);
      } else {
        const V n = cross(corners_[1] - corners_[0], corners_[2] - corners_[0]);
        away = std::fabs(dot(n, w - corners_[0])) / norm(n);
      }
      if (away > small) corners_[corner_count_++] = w;
    }
    if (corner_count_ < 4) return false;
    const V n = cross(corners_[1] - corners_[0], corners_[2] - corners_[0]);
    if (dot(n, corners_[3] - corners_[0]) > 0) std::swap(corners_[1], corners_[2]);
    if (!(std::fabs(dot(n, corners_[3] - corners_[0])) > 0)) return false;
    if (!(make_face(0, 1, 2) && make_face(0, 3, 1) && make_face(0, 2, 3) &&
          make_face(1, 3, 2))) {
      return false;
    }
    // The origin may lie a little outside of a tetrahedron that grew from a flat simplex.
    for (int grow = 0; grow < 8; ++grow) {
      int worst = 0;
      for (int f = 1; f < face_count_; ++f) {
        if (faces_[f].distance < faces_[worst].distance) worst = f;
      }
      if (faces_[worst].distance >= 0) break;
      if (!add(difference.corner(faces_[worst].normal).w)) break;
    }
    return true;
  }

  /// Replaces the faces that see w by a cone from w to their rim.
  bool add(const V& w) noexcept {
    if (corner_count_ == max_corners) return false;
    struct Rim {
      int i, j;
    };
    Rim rim[max_faces];
    int rim_count = 0;
    const int corner = corner_count_;
    int kept = 0;
    bool seen = false;
    for (int f = 0; f < face_count_; ++f) {
      const Face face = faces_[f];
      if (dot(face.normal, w) - face.distance <= 1e-15 * size_) {
        faces_[kept++] = face;
        continue;
      }
      seen = true;
      for (int e = 0; e < 3; ++e) {
        const int i = face.v[e];
        const int j = face.v[(e + 1) % 3];
        bool shared = false;
        for (int r = 0; r < rim_count; ++r) {
          if (rim[r].i == j && rim[r].j == i) {
            rim[r] = rim[--rim_count];
            shared = true;
            break;
          }
        }
        if (!shared && rim_count < max_faces) rim[rim_count++] = {i, j};
      }
    }
    face_count_ = kept;
    if (!seen) return false;
    corners_[corner_count_++] = w;
    for (int r = 0; r < rim_count; ++r) {
      if (!make_face(rim[r].i, rim[r].j, corner) && face_count_ == max_faces)
        return false;
    }
    return true;
  }

  /// A − B has no volume: the best of a fan of directions.
  static V flat_normal(const Difference& difference) noexcept {
    V best{0, 0, 1};
    double least = HUGE_VAL;
    for (int x = -1; x <= 1; ++x) {
      for (int y = -1; y <= 1; ++y) {
        for (int z = -1; z <= 1; ++z) {
          if (x == 0 && y == 0 && z == 0) continue;
          const V d = unit_or(V{double(x), double(y), double(z)}, V{0, 0, 1});
          const double depth = difference.depth(d);
          if (depth < least) {
            least = depth;
            best = d;
          }
        }
      }
    }
    return best;
  }

  V corners_[max_corners];
  Face faces_[max_faces];
  int corner_count_ = 0;
  int face_count_ = 0;
  double size_ = 1;
};

}  // namespace

Core core_of(const Shape& shape, const Transform<double>& pose) noexcept {
  Core core{&shape, pose, 0, 1};
  switch (kind_of(shape)) {
    case ShapeKind::sphere:
      core.radius = std::get_if<Sphere>(&shape)->radius;
      core.size = core.radius;
      break;
    case ShapeKind::box: {
      const V& h = std::get_if<Box>(&shape)->half;
      core.size = std::min({h.x, h.y, h.z});
      break;
    }
    case ShapeKind::cylinder: {
      const auto& c = *std::get_if<Cylinder>(&shape);
      core.size = std::min(c.radius, c.half_length);
      break;
    }
    case ShapeKind::capsule:
      core.radius = std::get_if<Capsule>(&shape)->radius;
      core.size = core.radius;
      break;
    case ShapeKind::ellipsoid: {
      const V& s = std::get_if<Ellipsoid>(&shape)->semi_axes;
      core.size = std::min({s.x, s.y, s.z});
      break;
    }
    case ShapeKind::convex:
      core.size = std::get_if<Convex>(&shape)->hull->size;
      break;
    default:
      break;
  }
  return core;
}

Vec3<double> support(const Core& core, const Vec3<double>& direction) noexcept {
  return place(core.pose, local_support(*core.shape, turn_back(core.pose, direction)));
}

Separation separate(const Core& a, const Core& b) noexcept {
  Difference difference{&a, &b, {0, 0, 0}};
  const double size = a.size + b.size;
  const V start = a.pose.p - b.pose.p;
  const Distance direct = gjk(difference, start, size);
  const double near = 2e-2 * std::min(a.size, b.size);
  if (direct.apart && direct.distance > near) {
    return {direct.normal, -direct.distance, direct.on_a, direct.on_b};
  }
  V n{};
  if (direct.apart && direct.distance > 1e-9 * size) {
    n = direct.normal;
  } else {
    Expansion expansion;
    n = expansion.normal(difference, direct.simplex, size);
  }
  // Move B away until `near` lies between, and look again. Deep inside round shapes each
  // look shrinks the error only by a factor: then leap ahead along the geometric series.
  double depth = difference.depth(n);
  Separation result{n, depth, {}, {}};
  bool measured = false;
  double last_turn = 0;
  for (int k = 0; k < 16; ++k) {
    difference.shift = (depth + near) * n;
    const Distance moved = gjk(difference, -n, size);
    if (!moved.apart) break;
    const double found = difference.depth(moved.normal);
    if (measured && !(found < depth)) break;
    const V step = moved.normal - n;
    const double turn = norm(step);
    result = {moved.normal, found, moved.on_a, moved.on_b - difference.shift};
    n = moved.normal;
    depth = found;
    measured = true;
    if (turn < 1e-10) break;
    const double ratio = turn / last_turn;
    last_turn = turn;
    if (k % 2 == 1 && ratio > 0.05 && ratio < 0.95) {
      const V leap = unit_or(n + (ratio / (1 - ratio)) * step, n);
      const double there = difference.depth(leap);
      if (there < depth) {
        n = leap;
        depth = there;
        last_turn = 0;
      }
    }
  }
  if (!measured) {
    result.on_a = support(a, n);
    result.on_b = support(b, -n);
  }
  return result;
}

}  // namespace bristle::geometry
