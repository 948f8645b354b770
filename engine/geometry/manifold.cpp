#include "bristle/geometry/manifold.hpp"

#include <cmath>
#include <utility>

#include "bristle/geometry/closest.hpp"

namespace bristle::geometry {

namespace {

using V = Vec3<double>;

constexpr double straight_on = 0.1;  // sine of 6°: a corner that turns less is none

/// A point of the manifold, on the cores.
struct CorePoint {
  V on_a, on_b;
  V normal;
  double depth;
};

/// Where the points of a manifold go: cores become surfaces.
struct Report {
  double radius_a, radius_b;  // around the cores
  double margin;
  Contacts<double>* out;

  double depth(const CorePoint& at) const noexcept {
    return at.depth + radius_a + radius_b;
  }
  /// Adds a point, unless it lies beyond the margin or its feature is there already.
  void add(const CorePoint& at, std::uint32_t feature) const noexcept {
    if (-depth(at) > margin) return;
    for (int i = 0; i < out->count; ++i) {
      if ((*out)[i].feature == feature) return;
    }
    out->add({.on_a = at.on_a + radius_a * at.normal,
              .on_b = at.on_b - radius_b * at.normal,
              .normal = at.normal,
              .depth = depth(at),
              .radius = HUGE_VAL,
              .patch = Patch::flat,
              .feature = feature});
  }
};

/// Two lines side by side carry at the ends of the stretch where they run together.
double clip_lines(const Side& a, const Side& b, const V& n,
                  const Report& report) noexcept {
  double deepest = -HUGE_VAL;
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
    const CorePoint at{middle + (0.5 * depth) * n, middle - (0.5 * depth) * n, n, depth};
    deepest = std::max(deepest, report.depth(at));
    report.add(at, of_b >= 0 ? vertex_of_b(b.ids[of_b]) : vertex_of_a(a.ids[end]));
  }
  return deepest;
}

/// A corner of the clipped polygon, and the edge that leaves it.
struct ClipPoint {
  V point;
  std::uint32_t id;
  // The edge: one of the clipped side, or along a border of the other side.
  std::uint32_t edge;
  int border;  // −1: an edge of the clipped side
  int side;    // which
  // The corner: one of the clipped side, or of the other one, or where an edge of the
  // clipped side crosses a border.
  int corner;    // of the side that stays; −1: none
  int crossing;  // the edge; −1: none
  int crossed;   // the border
};

struct Polygon {
  static constexpr int capacity = 2 * Side::capacity + 2;
  ClipPoint points[capacity];
  int count = 0;

  int after(int i) const noexcept { return i + 1 == count ? 0 : i + 1; }
  void add(const ClipPoint& point) noexcept {
    if (count < capacity) points[count++] = point;
  }
};

/// Leaves out corners where a convex polygon goes straight on. Where edges of two faces
/// run along each other the place where they cross is such a corner: it comes, goes and
/// races to and fro at the least turn of the bodies, and carries nothing that its
/// neighbours do not carry.
void keep_corners(Polygon& polygon) noexcept {
  ClipPoint* const points = polygon.points;
  int kept = 0;
  for (int i = 0; i < polygon.count; ++i) {
    const V& before = points[kept > 0 ? kept - 1 : polygon.count - 1].point;
    const V& after = points[polygon.after(i)].point;
    const V in = points[i].point - before;
    const V out = after - points[i].point;
    const double turn2 = norm2(cross(in, out));
    const double most = straight_on * straight_on * norm2(in) * norm2(out);
    if (turn2 <= most && dot(in, out) >= 0) continue;
    points[kept++] = points[i];
  }
  polygon.count = kept;
}

/// Two sides of which one stays, a face, and its borders clip the other, a face or a
/// line. The face whose normal is closer to n stays.
class Clip {
 public:
  Clip(const Side& a, const Side& b, const V& n) noexcept
      : stays_a_(straight(a, n) >= straight(b, -n) - 1e-6),
        stays_(stays_a_ ? a : b),
        clipped_(stays_a_ ? b : a),
        across_(stays_a_ ? stays_.normal : -stays_.normal),
        n_(n),
        slope_(dot(across_, n)) {}

  bool line() const noexcept { return clipped_.count == 2; }

  /// What the borders leave of the clipped side, in one of two polygons.
  Polygon& run(Polygon& first, Polygon& second) const noexcept {
    Polygon* polygon = &first;
    Polygon* next = &second;
    for (int i = 0; i < clipped_.count; ++i) {
      const std::uint32_t v = clipped_.ids[i];
      polygon->add({clipped_.points[i], stays_a_ ? vertex_of_b(v) : vertex_of_a(v),
                    clipped_.edges[i], -1, i, -1, -1, -1});
    }
    for (int k = 0; k < stays_.count && polygon->count > 0; ++k) {
      clip_by_border(k, *polygon, *next);
      std::swap(polygon, next);
    }
    return *polygon;
  }

  /// A corner of the polygon between the bodies, with the normal of what meets there, so
  /// that its depth follows the motion of the bodies: a corner has that of the face it
  /// lies on, two edges that across both.
  CorePoint meet(const ClipPoint& from) const noexcept {
    V x = from.point;  // on the side that is clipped
    V y = x - dot(x - stays_.points[0], stays_.normal) * stays_.normal;
    V m = across_;
    if (from.corner >= 0) {
      const V other = stays_a_ ? -clipped_.normal : clipped_.normal;
      if (dot(other, across_) > lying_cosine) {
        y = stays_.points[from.corner];
        x = y + dot(clipped_.points[0] - y, clipped_.normal) * clipped_.normal;
        m = other;
      }
    } else if (from.crossing >= 0) {
      meet_edges(from.crossing, from.crossed, x, y, m);
    }
    return stays_a_ ? CorePoint{y, x, m, dot(y - x, m)}
                    : CorePoint{x, y, m, dot(x - y, m)};
  }

  /// The same for bodies that are apart: they are as far apart as along n.
  CorePoint project(const ClipPoint& from) const noexcept {
    const V& x = from.point;
    const double depth = -dot(x - stays_.points[0], stays_.normal) / slope_;
    return stays_a_ ? CorePoint{x + depth * n_, x, n_, depth}
                    : CorePoint{x, x - depth * n_, n_, depth};
  }

 private:
  static double straight(const Side& side, const V& n) noexcept {
    return side.count > 2 ? dot(side.normal, n) : -1;
  }

  std::uint32_t corner_of_stays(int i) const noexcept {
    const std::uint32_t v = stays_.ids[i % stays_.count];
    return stays_a_ ? vertex_of_a(v) : vertex_of_b(v);
  }

  /// Cuts off what lies outside border k of the side that stays (Sutherland & Hodgman,
  /// "Reentrant polygon clipping", Comm. ACM 17 (1974)).
  void clip_by_border(int k, const Polygon& polygon, Polygon& next) const noexcept {
    next.count = 0;
    const V& p = stays_.points[k];
    const V& q = stays_.points[k + 1 == stays_.count ? 0 : k + 1];
    const V inward = unit_or(cross(stays_.normal, q - p), V{0, 0, 0});
    // A little slack keeps points that lie exactly on the border.
    const double slack = 1e-10 * norm(q - p);
    const int edges = line() ? 1 : polygon.count;
    for (int i = 0; i < edges; ++i) {
      const ClipPoint& from = polygon.points[i];
      const ClipPoint& to = polygon.points[polygon.after(i)];
      const double hf = dot(from.point - p, inward) + slack;
      const double ht = dot(to.point - p, inward) + slack;
      const bool from_in = hf >= 0;
      const bool to_in = ht >= 0;
      if (from_in) next.add(from);
      if (from_in != to_in) {
        const double t = std::clamp(hf / (hf - ht), 0.0, 1.0);
        next.add(cut(from, from.point + t * (to.point - from.point), k, from_in));
      }
      if (line() && to_in) next.add(to);
    }
  }

  /// Where the edge that leaves a corner crosses border k, on its way out or back in.
  ClipPoint cut(const ClipPoint& from, const V& point, int k,
                bool leaving) const noexcept {
    const std::uint32_t border_edge = stays_.edges[k];
    // Leaving the inside the border goes on, coming back the edge does.
    ClipPoint cut{.point = point,
                  .id = 0,
                  .edge = leaving ? border_edge : from.edge,
                  .border = leaving ? k : from.border,
                  .side = from.side,
                  .corner = -1,
                  .crossing = -1,
                  .crossed = -1};
    if (from.border >= 0) {
      // Two borders meet in a corner of the side that stays.
      const bool before = (k + 1) % stays_.count == from.border;
      cut.id = corner_of_stays(before ? from.border : k);
      if (before || from.border + 1 == k) cut.corner = before ? from.border : k;
    } else {
      cut.crossing = from.side;
      cut.crossed = k;
      cut.id = stays_a_ ? crossing_edges(border_edge, from.edge, clipped_.edge_range)
                        : crossing_edges(from.edge, border_edge, stays_.edge_range);
    }
    return cut;
  }

  /// Closest points of an edge of the clipped side (x) and a border (y), and the normal
  /// across both, unless they run along each other or that normal leans too far.
  void meet_edges(int edge, int border, V& x, V& y, V& m) const noexcept {
    const V& p = clipped_.points[edge];
    const V& q = stays_.points[border];
    const V u = clipped_.points[(edge + 1) % clipped_.count] - p;
    const V w = stays_.points[(border + 1) % stays_.count] - q;
    const double uu = norm2(u), uw = dot(u, w), ww = norm2(w);
    const double below = uu * ww - uw * uw;
    V other = cross(u, w);
    other = (dot(other, across_) < 0 ? -1 : 1) * unit_or(other, across_);
    if (!(below > straight_on * straight_on * uu * ww) ||
        !(dot(other, across_) > lying_cosine)) {
      return;
    }
    const V r = q - p;
    x = p + ((dot(r, u) * ww - dot(r, w) * uw) / below) * u;
    y = q + (dot(x - q, w) / ww) * w;
    m = other;
  }

  bool stays_a_;
  const Side& stays_;
  const Side& clipped_;
  V across_;  // the normal of the side that stays, from A into B
  V n_;
  double slope_;  // cosine between the two
};

double clip_faces(const Side& a, const Side& b, const V& n,
                  const Report& report) noexcept {
  const Clip clip(a, b, n);
  Polygon first, second;
  Polygon& polygon = clip.run(first, second);
  double deepest = -HUGE_VAL;
  for (int i = 0; i < polygon.count; ++i) {
    deepest = std::max(deepest, report.depth(clip.meet(polygon.points[i])));
  }
  const bool apart = deepest <= 0;
  if (apart) {
    deepest = -HUGE_VAL;
    for (int i = 0; i < polygon.count; ++i) {
      deepest = std::max(deepest, report.depth(clip.project(polygon.points[i])));
    }
  }
  if (!clip.line()) keep_corners(polygon);
  for (int i = 0; i < polygon.count; ++i) {
    const ClipPoint& point = polygon.points[i];
    report.add(apart ? clip.project(point) : clip.meet(point), point.id);
  }
  return deepest;
}

}  // namespace

double clip_manifold(const Side& a, const Side& b, const Vec3<double>& n, double radius_a,
                     double radius_b, double margin, Contacts<double>& out) noexcept {
  if (a.count < 2 || b.count < 2) return -HUGE_VAL;
  const Report report{radius_a, radius_b, margin, &out};
  return a.count == 2 && b.count == 2 ? clip_lines(a, b, n, report)
                                      : clip_faces(a, b, n, report);
}

}  // namespace bristle::geometry
