#include <algorithm>
#include <array>
#include <cmath>

#include "bristle/geometry/closest.hpp"
#include "bristle/geometry/convex.hpp"

namespace bristle::geometry {

namespace {

using V = Vec3<double>;

constexpr double lying_cosine = 0.98;  // faces within 11° of an edge contact's normal
constexpr double lying_depth = 1.5;    // take its place while no deeper than this times
constexpr double facing = 0.966;       // cos 15°: a side this close to across n may carry
constexpr double straight_on = 0.1;    // sine of 6°: a corner that turns less is none

// Ids of manifold points, the same whichever side is the clipped one; 0 is a contact that
// stands alone.
constexpr std::uint32_t vertex_of_a(std::uint32_t v) { return (v + 1) & 0x7fffffu; }
constexpr std::uint32_t vertex_of_b(std::uint32_t v) {
  return (1u << 30) | ((v + 1) & 0x7fffffu);
}
constexpr std::uint32_t edge_id(std::uint32_t u, std::uint32_t v) {
  return (std::min(u, v) * 181 + std::max(u, v)) & 0x7fffu;  // unique up to 181 vertices
}
constexpr std::uint32_t edges_of(std::uint32_t a, std::uint32_t b) {
  return (2u << 30) | (a << 15) | b;
}

// The topology of a box: bit i of a vertex is set on the positive side of axis i.
constexpr std::array<std::uint32_t, 7> box_face_start{0, 4, 8, 12, 16, 20, 24};
constexpr std::array<std::uint32_t, 24> box_face_vertices{
    1, 3, 7, 5,  // +x
    0, 4, 6, 2,  // −x
    2, 6, 7, 3,  // +y
    0, 1, 5, 4,  // −y
    4, 5, 7, 6,  // +z
    0, 2, 3, 1,  // −z
};
constexpr std::array<ConvexHull::Edge, 12> box_edges = [] {
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
  std::span<const V> vertices;
  std::span<const std::uint32_t> face_start, face_vertices;
  std::span<const V> normals;
  std::span<const double> offsets;
  std::span<const ConvexHull::Edge> edges;
  V centre{};
  double size = 0;
  V box_vertices[8];
  V box_normals[6];
  double box_offsets[6];

  explicit Polyhedron(const Shape& shape) noexcept {
    if (const auto* convex = std::get_if<Convex>(&shape)) {
      const ConvexHull& hull = *convex->hull;
      vertices = hull.vertices;
      face_start = hull.face_start;
      face_vertices = hull.face_vertices;
      normals = hull.normals;
      offsets = hull.offsets;
      edges = hull.edges;
      centre = hull.centre;
      size = hull.size;
      return;
    }
    const V& h = std::get_if<Box>(&shape)->half;
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
  std::uint32_t face_towards(const V& d) const noexcept {
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
  double lowest(const V& d) const noexcept {
    double least = HUGE_VAL;
    for (const V& v : vertices) least = std::min(least, dot(v, d));
    return least;
  }
  Side side(std::uint32_t f, const Transform<double>& pose) const noexcept {
    Side side;
    const std::uint32_t count = face_start[f + 1] - face_start[f];
    // A face with too many corners is taken with every second, third, … of them.
    const std::uint32_t stride = (count + Side::capacity - 1) / Side::capacity;
    for (std::uint32_t i = 0; i < count; i += stride) {
      const std::uint32_t v = face_vertices[face_start[f] + i];
      side.points[side.count] = place(pose, vertices[v]);
      side.ids[side.count++] = v;
    }
    side.normal = turn(pose, normals[f]);
    return side;
  }
};

/// Where two sides meet, on their cores.
struct Laid {
  V on_a, on_b;
  V normal;
  double depth;
};

struct ClipPoint {
  V point;
  std::uint32_t id;
  // The edge that leaves this point: an edge of the clipped side, or along a border of
  // the other side.
  std::uint32_t edge;
  int border;  // −1: an edge of the clipped side
  int side;    // which
  // What it is made of: a corner of the clipped side, or of the other one, or where an
  // edge of the clipped side crosses a border.
  int corner = -1;
  int crossing = -1;  // the edge
  int crossed = -1;   // the border
};

/// Leaves out corners where a convex polygon goes straight on, and returns how many are
/// left. Where edges of two faces run along each other the place where they cross is
/// such a corner: it comes, goes and races to and fro at the least turn of the bodies,
/// and carries nothing that its neighbours do not carry.
int keep_corners(ClipPoint* polygon, int count) noexcept {
  int kept = 0;
  for (int i = 0; i < count; ++i) {
    const V& before = polygon[kept > 0 ? kept - 1 : count - 1].point;
    const V& after = polygon[i + 1 == count ? 0 : i + 1].point;
    const V in = polygon[i].point - before;
    const V out = after - polygon[i].point;
    const double turn2 = norm2(cross(in, out));
    const double most = straight_on * straight_on * norm2(in) * norm2(out);
    if (turn2 <= most && dot(in, out) >= 0) continue;
    polygon[kept++] = polygon[i];
  }
  return kept;
}

/// Whether at least two points are inside.
bool several_inside(const Contacts<double>& contacts) noexcept {
  const auto inside = [](const ContactPoint<double>& point) { return point.depth > 0; };
  return std::count_if(contacts.begin(), contacts.end(), inside) > 1;
}

}  // namespace

Side side_towards(const Core& core, const Vec3<double>& direction) noexcept {
  Side side;
  const V d = turn_back(core.pose, direction);
  switch (kind_of(*core.shape)) {
    case ShapeKind::box:
    case ShapeKind::convex: {
      const Polyhedron polyhedron(*core.shape);
      const std::uint32_t f = polyhedron.face_towards(d);
      if (dot(polyhedron.normals[f], d) > facing) return polyhedron.side(f, core.pose);
      // An edge that lies across the direction, at the far end.
      const double top = -polyhedron.lowest(-d);
      double flattest = std::sqrt(1 - facing * facing);
      for (const ConvexHull::Edge& edge : polyhedron.edges) {
        const V& p = polyhedron.vertices[edge.from];
        const V& q = polyhedron.vertices[edge.to];
        const double length = norm(q - p);
        const double slope = std::fabs(dot(q - p, d)) / length;
        if (std::max(dot(p, d), dot(q, d)) < top - 1e-9 * polyhedron.size) continue;
        if (slope >= flattest) continue;
        flattest = slope;
        side.count = 2;
        side.points[0] = place(core.pose, p);
        side.points[1] = place(core.pose, q);
        side.ids[0] = edge.from;
        side.ids[1] = edge.to;
      }
      return side;
    }
    case ShapeKind::cylinder: {
      const auto& c = *std::get_if<Cylinder>(core.shape);
      const double tilt = std::sqrt(d.x * d.x + d.y * d.y);
      const double sign = d.z < 0 ? -1 : 1;
      if (std::fabs(d.z) >
          facing) {  // an end, as an octagon with a corner at its far point
        const V e = tilt > 1e-6 ? V{d.x / tilt, d.y / tilt, 0} : V{1, 0, 0};
        const V f{-e.y, e.x, 0};
        constexpr double h = 0.70710678118654752;
        constexpr double cosine[8] = {1, h, 0, -h, -1, -h, 0, h};
        constexpr double sine[8] = {0, h, 1, h, 0, -h, -1, -h};
        for (int i = 0; i < 8; ++i) {
          const V x = (c.radius * cosine[i]) * e + (sign * c.radius * sine[i]) * f +
                      V{0, 0, sign * c.half_length};
          side.points[i] = place(core.pose, x);
          side.ids[i] = static_cast<std::uint32_t>((sign < 0 ? 16 : 0) + i);
        }
        side.count = 8;
        side.normal = turn(core.pose, V{0, 0, sign});
      } else if (tilt > facing) {  // a line along the mantle
        const V e{c.radius * d.x / tilt, c.radius * d.y / tilt, 0};
        side.points[0] = place(core.pose, e + V{0, 0, c.half_length});
        side.points[1] = place(core.pose, e - V{0, 0, c.half_length});
        side.ids[0] = 32;
        side.ids[1] = 33;
        side.count = 2;
      }
      return side;
    }
    case ShapeKind::capsule: {
      const auto& c = *std::get_if<Capsule>(core.shape);
      if (d.x * d.x + d.y * d.y > facing * facing && c.half_length > 0) {
        side.points[0] = place(core.pose, V{0, 0, c.half_length});
        side.points[1] = place(core.pose, V{0, 0, -c.half_length});
        side.ids[0] = 0;
        side.ids[1] = 1;
        side.count = 2;
      }
      return side;
    }
    default:
      return side;
  }
}

double lay_together(const Side& a, const Side& b, const Vec3<double>& n, double radius_a,
                    double radius_b, double margin, Contacts<double>& out) noexcept {
  double deepest = -HUGE_VAL;
  if (a.count < 2 || b.count < 2) return deepest;
  const auto report = [&](const Laid& at, std::uint32_t id) {
    const double depth = at.depth + radius_a + radius_b;
    deepest = std::max(deepest, depth);
    if (-depth > margin) return;
    for (int i = 0; i < out.count; ++i) {
      if (out[i].feature == id) return;
    }
    out.add({.on_a = at.on_a + radius_a * at.normal,
             .on_b = at.on_b - radius_b * at.normal,
             .normal = at.normal,
             .depth = depth,
             .radius = HUGE_VAL,
             .patch = Patch::flat,
             .feature = id});
  };

  if (a.count == 2 && b.count == 2) {
    // Two lines side by side: where they run together.
    const V ea = a.points[1] - a.points[0];
    const V eb = b.points[1] - b.points[0];
    const double la = norm(ea);
    const double lb = norm(eb);
    const double c = dot(ea, eb) / (la * lb);
    if (std::fabs(c) < 0.996) return deepest;
    double low = dot(b.points[0] - a.points[0], ea) / (la * la);
    double high = dot(b.points[1] - a.points[0], ea) / (la * la);
    int low_end = 0;  // of B; −1: the end of A bounds the stretch
    int high_end = 1;
    if (low > high) {
      std::swap(low, high);
      std::swap(low_end, high_end);
    }
    if (low < 0) {
      low = 0;
      low_end = -1;
    }
    if (high > 1) {
      high = 1;
      high_end = -1;
    }
    if (!(low < high)) return deepest;
    for (int end = 0; end < 2; ++end) {
      const int of_b = end == 0 ? low_end : high_end;
      const V p = a.points[0] + (end == 0 ? low : high) * ea;
      const double t = std::clamp(dot(p - b.points[0], eb) / (lb * lb), 0.0, 1.0);
      const V q = of_b >= 0 ? b.points[of_b] : b.points[0] + t * eb;
      const double depth = dot(p - q, n);
      const V middle = 0.5 * (p + q);
      report({middle + (0.5 * depth) * n, middle - (0.5 * depth) * n, n, depth},
             of_b >= 0 ? vertex_of_b(b.ids[of_b]) : vertex_of_a(a.ids[end]));
    }
    return deepest;
  }

  // The face that looks straighter along n stays, the other side is clipped by its
  // borders.
  const double straight_a = a.count > 2 ? dot(a.normal, n) : -1;
  const double straight_b = b.count > 2 ? -dot(b.normal, n) : -1;
  const bool stays_a = straight_a >= straight_b - 1e-6;
  const Side& stays = stays_a ? a : b;
  const Side& clipped = stays_a ? b : a;
  constexpr int capacity = 2 * Side::capacity + 2;
  ClipPoint polygon[capacity];
  ClipPoint next[capacity];
  int count = clipped.count;
  for (int i = 0; i < count; ++i) {
    const int following = i + 1 == count ? 0 : i + 1;
    polygon[i] = {clipped.points[i],
                  stays_a ? vertex_of_b(clipped.ids[i]) : vertex_of_a(clipped.ids[i]),
                  edge_id(clipped.ids[i], clipped.ids[following]), -1, i};
  }
  const bool line = count == 2;
  const auto corner_of_stays = [&](int i) {
    const std::uint32_t v = stays.ids[i % stays.count];
    return stays_a ? vertex_of_a(v) : vertex_of_b(v);
  };
  for (int k = 0; k < stays.count && count > 0; ++k) {
    const V& p = stays.points[k];
    const V& q = stays.points[k + 1 == stays.count ? 0 : k + 1];
    const V inward = unit_or(cross(stays.normal, q - p), V{0, 0, 0});
    const std::uint32_t border_edge =
        edge_id(stays.ids[k], stays.ids[k + 1 == stays.count ? 0 : k + 1]);
    // A hair of slack keeps what lies exactly on the border.
    const double slack = 1e-10 * norm(q - p);
    int made = 0;
    const auto push = [&](const ClipPoint& point) {
      if (made < capacity) next[made++] = point;
    };
    const int edges = line ? 1 : count;
    for (int i = 0; i < edges; ++i) {
      const ClipPoint& from = polygon[i];
      const ClipPoint& to = polygon[i + 1 == count ? 0 : i + 1];
      const double hf = dot(from.point - p, inward) + slack;
      const double ht = dot(to.point - p, inward) + slack;
      const bool from_in = hf >= 0;
      const bool to_in = ht >= 0;
      ClipPoint cut{};
      if (from_in != to_in) {
        const double t = std::clamp(hf / (hf - ht), 0.0, 1.0);
        cut.point = from.point + t * (to.point - from.point);
        if (from.border >= 0) {
          // Two borders meet in a corner of the side that stays.
          const bool before = (k + 1) % stays.count == from.border;
          cut.id = corner_of_stays(before ? from.border : k);
          if (before || from.border + 1 == k) cut.corner = before ? from.border : k;
        } else {
          cut.crossing = from.side;
          cut.crossed = k;
          cut.id = stays_a ? edges_of(border_edge, from.edge)
                           : edges_of(from.edge, border_edge);
        }
        // Leaving the inside the border goes on, coming back the edge does.
        cut.edge = from_in ? border_edge : from.edge;
        cut.border = from_in ? k : from.border;
        cut.side = from.side;
      }
      if (from_in) push(from);
      if (from_in != to_in) push(cut);
      if (line && to_in) push(to);
    }
    std::copy(next, next + made, polygon);
    count = made;
  }
  // Each point has the normal of what meets there, so that its depth follows the motion
  // of the bodies: a corner that of the face it lies on, two edges that across both.
  const V across = stays_a ? stays.normal : -stays.normal;  // from A into B
  const auto laid = [&](const ClipPoint& from) {
    V x = from.point;  // on the side that is clipped
    V y = x - dot(x - stays.points[0], stays.normal) * stays.normal;
    V m = across;
    if (from.corner >= 0) {
      const V other = stays_a ? -clipped.normal : clipped.normal;
      if (dot(other, across) > lying_cosine) {
        y = stays.points[from.corner];
        x = y + dot(clipped.points[0] - y, clipped.normal) * clipped.normal;
        m = other;
      }
    } else if (from.crossing >= 0) {
      const V& p = clipped.points[from.crossing];
      const V& q = stays.points[from.crossed];
      const V u = clipped.points[(from.crossing + 1) % clipped.count] - p;
      const V w = stays.points[(from.crossed + 1) % stays.count] - q;
      const double uu = norm2(u), uw = dot(u, w), ww = norm2(w);
      const double below = uu * ww - uw * uw;
      V other = cross(u, w);
      other = (dot(other, across) < 0 ? -1 : 1) * unit_or(other, across);
      if (below > straight_on * straight_on * uu * ww &&
          dot(other, across) > lying_cosine) {
        const V r = q - p;
        x = p + ((dot(r, u) * ww - dot(r, w) * uw) / below) * u;
        y = q + (dot(x - q, w) / ww) * w;
        m = other;
      }
    }
    return stays_a ? Laid{y, x, m, dot(y - x, m)} : Laid{x, y, m, dot(x - y, m)};
  };
  // Bodies that are apart are as far apart as along n.
  const double slope = dot(across, n);
  const auto straight = [&](const ClipPoint& from) {
    const V& x = from.point;
    const double depth = -dot(x - stays.points[0], stays.normal) / slope;
    return stays_a ? Laid{x + depth * n, x, n, depth} : Laid{x, x - depth * n, n, depth};
  };
  const auto deepest_of = [&](const auto& placed) {
    double most = -HUGE_VAL;
    for (int i = 0; i < count; ++i) {
      most = std::max(most, placed(polygon[i]).depth + radius_a + radius_b);
    }
    return most;
  };
  const bool apart = deepest_of(laid) <= 0;
  deepest = apart ? deepest_of(straight) : deepest_of(laid);
  if (!line) count = keep_corners(polygon, count);
  for (int i = 0; i < count; ++i) {
    report(apart ? straight(polygon[i]) : laid(polygon[i]), polygon[i].id);
  }
  return deepest;
}

Curvature<double> curvature_at(const Core& core, const Vec3<double>& point,
                               const Vec3<double>& normal) noexcept {
  constexpr double aligned = 1 - 1e-7;
  const V d = turn_back(core.pose, normal);
  switch (kind_of(*core.shape)) {
    case ShapeKind::sphere:
      return core.radius > 0 ? Curvature<double>::round(1 / core.radius)
                             : Curvature<double>::edge();
    case ShapeKind::box:
    case ShapeKind::convex: {
      const Polyhedron polyhedron(*core.shape);
      return dot(polyhedron.normals[polyhedron.face_towards(d)], d) > aligned
                 ? Curvature<double>::flat()
                 : Curvature<double>::edge();
    }
    case ShapeKind::cylinder: {
      const auto& c = *std::get_if<Cylinder>(core.shape);
      if (std::fabs(d.z) > aligned) return Curvature<double>::flat();
      if (std::fabs(d.z) > 1e-4) return Curvature<double>::edge();
      return {0, 1 / c.radius, axis(core.pose, 2), false};
    }
    case ShapeKind::capsule: {
      if (std::fabs(d.z) < 1e-7) return {0, 1 / core.radius, axis(core.pose, 2), false};
      return Curvature<double>::round(1 / core.radius);
    }
    case ShapeKind::ellipsoid: {
      const auto& e = *std::get_if<Ellipsoid>(core.shape);
      Curvature<double> c = ellipsoid_curvature(e, locate(core.pose, point), d);
      c.direction = turn(core.pose, c.direction);
      return c;
    }
    default:
      return Curvature<double>::flat();
  }
}

void convex_against_convex(const Shape& a, const Transform<double>& pose_a,
                           const Shape& b, const Transform<double>& pose_b, double margin,
                           Contacts<double>& out) noexcept {
  const Core core_a = core_of(a, pose_a);
  const Core core_b = core_of(b, pose_b);
  const Separation s = separate(core_a, core_b, margin);
  if (!(-s.depth - core_a.radius - core_b.radius <= margin)) return;
  V n = s.normal;
  double core_depth = s.depth;
  const Side side_a = side_towards(core_a, n);
  const Side side_b = side_a.count > 1 ? side_towards(core_b, -n) : Side{};
  // A normal that is a face's own within round-off is that.
  const V straight = side_a.count > 2 && norm(side_a.normal - n) < 1e-5   ? side_a.normal
                     : side_b.count > 2 && norm(side_b.normal + n) < 1e-5 ? -side_b.normal
                                                                          : n;
  if (norm(straight - n) > 0) {
    n = straight;
    core_depth = dot(support(core_a, n) - support(core_b, -n), n);
  }
  const double depth = core_depth + core_a.radius + core_b.radius;
  const Meeting<double> meeting =
      meet(curvature_at(core_a, s.on_a, n), curvature_at(core_b, s.on_b, -n));

  // Sides carry where one is a face across n, or both are lines. Which they are does not
  // depend on the margin, so that the same contacts are found with any.
  const auto lay = [&](const V& along, Contacts<double>& several) {
    return lay_together(side_a, side_b, along, core_a.radius, core_b.radius, HUGE_VAL,
                        several);
  };
  const auto carry = [&](const Contacts<double>& several) {
    const bool line = several.count == 2;
    bool all = true;
    for (ContactPoint<double> point : several) {
      if (-point.depth > margin) {
        all = false;
        continue;
      }
      if (line) {
        point.patch = meeting.patch;
        point.radius = meeting.radius;
      }
      out.add(point);
    }
    if (all) out.dropped += several.dropped;
  };
  const bool face_a = side_a.count > 2 && norm(side_a.normal - n) < 1e-12;
  const bool face_b = side_b.count > 2 && norm(side_b.normal + n) < 1e-12;
  const bool lines = side_a.count == 2 && side_b.count == 2;
  // A manifold that misses the deepest point is none. Along a face's own normal that may
  // be one that hangs over the face's edge.
  const double size = std::min(core_a.size, core_b.size);
  const double closest = s.depth + core_a.radius + core_b.radius;
  const auto complete = [&](double deepest) {
    return std::min(std::fabs(deepest - depth), std::fabs(deepest - closest)) <
           1e-9 * size;
  };
  Contacts<double> several;
  if (lines || (face_a && side_b.count > 1) || (face_b && side_a.count > 1)) {
    if (complete(lay(n, several)) && several.count > 1) {
      carry(several);
      return;
    }
  } else if (depth > 0 && side_a.count > 1 && side_b.count > 1) {
    // What leans over an edge is deepest there, with a normal of its own: the sides carry
    // as long as another point is inside.
    const double straight_a = side_a.count > 2 ? dot(side_a.normal, n) : -1;
    const double straight_b = side_b.count > 2 ? -dot(side_b.normal, n) : -1;
    const V along = straight_a >= straight_b ? side_a.normal : -side_b.normal;
    if (std::max(straight_a, straight_b) > lying_cosine &&
        complete(lay(along, several)) && several_inside(several)) {
      carry(several);
      return;
    }
  }
  const V middle = 0.5 * (s.on_a + s.on_b);
  out.add({.on_a = middle + (0.5 * core_depth + core_a.radius) * n,
           .on_b = middle - (0.5 * core_depth + core_b.radius) * n,
           .normal = n,
           .depth = depth,
           .radius = meeting.radius,
           .patch = meeting.patch,
           .feature = 0});
}

void polyhedron_against_polyhedron(const Shape& a, const Transform<double>& pose_a,
                                   const Shape& b, const Transform<double>& pose_b,
                                   double margin, Contacts<double>& out) noexcept {
  const Polyhedron pa(a);
  const Polyhedron pb(b);
  // Everything about B in the axes of A.
  const Transform<double> pose = relative(pose_a, pose_b);
  const double size = std::min(pa.size, pb.size);

  // The largest gap along a face normal of A, of B, and across a pair of edges.
  double gap_a = -HUGE_VAL;
  std::uint32_t face_a = 0;
  for (std::uint32_t f = 0; f < pa.normals.size(); ++f) {
    const V& n = pa.normals[f];
    const double gap = pb.lowest(turn_back(pose, n)) + dot(n, pose.p) - pa.offsets[f];
    if (gap > gap_a) {
      gap_a = gap;
      face_a = f;
    }
  }
  if (gap_a > margin) return;
  double gap_b = -HUGE_VAL;
  std::uint32_t face_b = 0;
  for (std::uint32_t f = 0; f < pb.normals.size(); ++f) {
    const V n = turn(pose, pb.normals[f]);
    const double gap = pa.lowest(n) - dot(n, pose.p) - pb.offsets[f];
    if (gap > gap_b) {
      gap_b = gap;
      face_b = f;
    }
  }
  if (gap_b > margin) return;
  // Many edges: support functions find the normal sooner than all pairs of edges do.
  if (pa.edges.size() * pb.edges.size() > 2500) {
    convex_against_convex(a, pose_a, b, pose_b, margin, out);
    return;
  }
  double gap_e = -HUGE_VAL;
  V normal_e{};
  const ConvexHull::Edge* edge_a = nullptr;
  const ConvexHull::Edge* edge_b = nullptr;
  for (const ConvexHull::Edge& eb : pb.edges) {
    const V p = place(pose, pb.vertices[eb.from]);
    const V along_b = place(pose, pb.vertices[eb.to]) - p;
    // The arcs of the two edges on the sphere of normals must cross (Gregorius, "The
    // separating axis test between convex polyhedra", GDC 2013).
    const V c = -turn(pose, pb.normals[eb.left]);
    const V d = -turn(pose, pb.normals[eb.right]);
    const V dc = cross(d, c);
    for (const ConvexHull::Edge& ea : pa.edges) {
      const V& na = pa.normals[ea.left];
      const V& nb = pa.normals[ea.right];
      const double adc = dot(na, dc);
      const double bdc = dot(nb, dc);
      if (adc * bdc >= 0) continue;
      const V ba = cross(nb, na);
      const double cba = dot(c, ba);
      const double dba = dot(d, ba);
      if (cba * dba >= 0 || cba * bdc <= 0) continue;
      const V& o = pa.vertices[ea.from];
      const V along_a = pa.vertices[ea.to] - o;
      V n = cross(along_a, along_b);
      const double sine2 = norm2(n);
      if (sine2 < 1e-8 * norm2(along_a) * norm2(along_b)) continue;  // parallel
      n = (1 / std::sqrt(sine2)) * n;
      if (dot(n, o - pa.centre) < 0) n = -n;
      const double gap = dot(n, p - o);
      if (gap > gap_e) {
        gap_e = gap;
        normal_e = n;
        edge_a = &ea;
        edge_b = &eb;
      }
    }
  }
  if (gap_e > margin) return;

  // Equal within round-off: a face rather than edges, and A's rather than B's, so that
  // the choice does not flicker.
  const double tie = 1e-9 * size;
  const double gap_f = std::max(gap_a, gap_b);
  Side side_a;
  Side side_b;
  V n{};
  if (gap_b > gap_a + tie) {
    n = -turn(pose, pb.normals[face_b]);
    side_b = pb.side(face_b, pose_b);
    side_a = pa.side(pa.face_towards(n), pose_a);
  } else {
    n = pa.normals[face_a];
    side_a = pa.side(face_a, pose_a);
    side_b = pb.side(pb.face_towards(-turn_back(pose, n)), pose_b);
  }
  if (edge_a != nullptr && gap_e > gap_f + tie) {
    // Two faces that almost lie on each other carry as faces do, although a pair of their
    // edges may be a little less deep: a single point would let them rock to and fro.
    if (gap_e < 0 && dot(n, normal_e) > lying_cosine) {
      Contacts<double> several;
      const double deepest =
          lay_together(side_a, side_b, turn(pose_a, n), 0, 0, margin, several);
      if (several_inside(several) && deepest < -lying_depth * gap_e) {
        for (const auto& point : several) out.add(point);
        out.dropped += several.dropped;
        return;
      }
    }
    const V& p = pa.vertices[edge_a->from];
    const V u = pa.vertices[edge_a->to] - p;
    const V q = place(pose, pb.vertices[edge_b->from]);
    const V w = place(pose, pb.vertices[edge_b->to]) - q;
    // Closest points of the two lines.
    const double uu = norm2(u);
    const double uw = dot(u, w);
    const double ww = norm2(w);
    const V r = q - p;
    const double below = uu * ww - uw * uw;
    const double s = std::clamp((dot(r, u) * ww - dot(r, w) * uw) / below, 0.0, 1.0);
    const V on_a = p + s * u;
    const double t = dot(on_a - q, w) / ww;
    if (gap_e > tie && (s <= 0 || s >= 1 || t < 0 || t > 1)) {
      convex_against_convex(a, pose_a, b, pose_b, margin, out);
      return;
    }
    out.add({.on_a = place(pose_a, on_a),
             .on_b = place(pose_a, on_a + gap_e * normal_e),
             .normal = turn(pose_a, normal_e),
             .depth = -gap_e,
             .radius = 0,
             .patch = Patch::sharp,
             .feature = edges_of(edge_id(edge_a->from, edge_a->to),
                                 edge_id(edge_b->from, edge_b->to))});
    return;
  }
  const int before = out.count;
  const double deepest = lay_together(side_a, side_b, turn(pose_a, n), 0, 0, margin, out);
  // The gap is the distance, or the depth, only where the closest point lies over the
  // face. Deep inside the faces may overlap elsewhere, and that will do.
  if (deepest < -gap_f - 1e-9 * size && (gap_f > -tie || deepest < -0.5 * gap_f)) {
    out.count = before;
    convex_against_convex(a, pose_a, b, pose_b, margin, out);
    return;
  }
  if (out.count - before < 3) {
    for (int i = before; i < out.count; ++i) {
      out[i].patch = Patch::sharp;
      out[i].radius = 0;
    }
  }
}

}  // namespace bristle::geometry
