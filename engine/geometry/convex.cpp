#include "bristle/geometry/convex.hpp"

#include <algorithm>
#include <cmath>

namespace bristle::geometry {

namespace {

using V = Vec3<double>;

/// The farthest vertex in a direction. The search begins at vertex `from`, which becomes
/// the one that was found.
V hull_support(const ConvexHull& hull, const V& d, std::uint32_t& from) noexcept {
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
  double height = dot(hull.vertices[from], d);
  for (std::size_t step = 0; step < count; ++step) {
    const std::uint32_t here = from;
    for (std::uint32_t i = hull.neighbour_start[here]; i < hull.neighbour_start[here + 1];
         ++i) {
      const double h = dot(hull.vertices[hull.neighbours[i]], d);
      if (h > height) {
        height = h;
        from = hull.neighbours[i];
      }
    }
    if (from == here) break;
  }
  return hull.vertices[from];
}

/// The corner of a core's polyhedron that is farthest in a direction, in the core's axes.
/// Of a hull, `from` is as in hull_support().
BRISTLE_INLINE V corner_of(const Core& core, const V& d, std::uint32_t& from) noexcept {
  if (core.hull != nullptr) return hull_support(*core.hull, d, from);
  return {std::copysign(core.box.x, d.x), std::copysign(core.box.y, d.y),
          std::copysign(core.box.z, d.z)};
}

V scaled(const V& s, const V& v) { return {s.x * v.x, s.y * v.y, s.z * v.z}; }

/// An ellipsoid with semi-axes D = diag(s) where its normal is n. Its support function is
/// h = |D n|, the point there ∂h/∂n = D² n/h, and the second derivative (D² − p pᵀ)/h.
struct Bulge {
  V s{}, point{};
  double height = 0;

  Bulge(const V& semi_axes, const V& n) noexcept : s(semi_axes) {
    const V m = scaled(s, n);
    height = norm(m);
    if (height > 1e-12 * s.x) {
      point = (1 / height) * scaled(s, m);
    } else {
      height = 0;  // a disc seen along its axis: take its middle
    }
  }
  double second(const V& u, const V& v) const noexcept {
    return (dot(scaled(s, u), scaled(s, v)) - dot(point, u) * dot(point, v)) / height;
  }
};

/// A point of A − B, in the axes of A.
struct Corner {
  V w;           // the point
  V a;           // the point of A it comes from
  V sharp;       // its part from the two polyhedra alone
  V sharp_of_a;  // and what A has in that
};

/// A − B for two cores without their balls, in the axes of A; and further without the
/// `inner` ball, as far as `corner` is concerned.
class Difference {
 public:
  Difference(const Core& a, const Core& b) noexcept
      : a_(a), b_(b), pose_(relative(a.pose, b.pose)), inner_(a.inner + b.inner) {}

  /// From the middle of A to the middle of B.
  V centre() const noexcept {
    return place(pose_, b_.hull != nullptr ? b_.hull->centre : V{0, 0, 0}) -
           (a_.hull != nullptr ? a_.hull->centre : V{0, 0, 0});
  }
  V axis_of_b(int i) const noexcept { return axis(pose_, i); }
  double inner() const noexcept { return inner_; }
  double inner_of_a() const noexcept { return a_.inner; }
  bool round() const noexcept { return a_.rounded || b_.rounded; }
  /// Nothing but two ellipsoids?
  bool smooth() const noexcept { return is_smooth(a_) && is_smooth(b_); }

  Corner sharp_corner(const V& n) const noexcept {
    Corner c{};
    c.sharp_of_a = corner_of(a_, n, last_of_a_);
    c.sharp =
        c.sharp_of_a - place(pose_, corner_of(b_, -turn_back(pose_, n), last_of_b_));
    return c;
  }
  /// The farthest corner in the direction of the unit vector n.
  Corner corner(const V& n) const noexcept {
    Corner c = sharp_corner(n);
    c.a = c.sharp_of_a;
    c.w = c.sharp;
    if (a_.rounded) {
      const V p = Bulge(a_.round, n).point - a_.inner * n;
      c.a = c.a + p;
      c.w = c.w + p;
    }
    if (b_.rounded) {
      const V d = turn_back(pose_, n);
      c.w = c.w + turn(pose_, Bulge(b_.round, d).point - b_.inner * d);
    }
    return c;
  }
  /// h(n) for a unit n: the depth along n.
  double depth(const V& n) const noexcept {
    const V d = turn_back(pose_, n);
    double h = dot(corner_of(a_, n, last_of_a_), n) -
               dot(corner_of(b_, -d, last_of_b_), d) - dot(pose_.p, n);
    if (a_.rounded) h += norm(scaled(a_.round, n));
    if (b_.rounded) h += norm(scaled(b_.round, d));
    return h;
  }

  /// Both ellipsoids together where the normal is n.
  struct Bulges {
    Bulge a, b;
    V on_a, sum;  // points
    const Transform<double>* pose;

    double second(const V& u, const V& v) const noexcept {
      double sum2 = 0;
      if (a.height > 0) sum2 += a.second(u, v);
      if (b.height > 0) sum2 += b.second(turn_back(*pose, u), turn_back(*pose, v));
      return sum2;
    }
  };
  Bulges bulges(const V& n) const noexcept {
    Bulges both{Bulge(a_.round, n), Bulge(b_.round, turn_back(pose_, n)), {}, {}, &pose_};
    both.on_a = both.a.point;
    both.sum = both.a.point + turn(pose_, both.b.point);
    return both;
  }
  /// The axis of a cylinder, if n is about that.
  bool flat_axis(const V& n, V& found) const noexcept {
    constexpr double about = 0.95;
    if (is_flat(a_) && std::fabs(n.z) > about) {
      found = {0, 0, std::copysign(1, n.z)};
      return true;
    }
    const V axis_b = axis(pose_, 2);
    const double c = dot(axis_b, n);
    if (!is_flat(b_) || std::fabs(c) < about) return false;
    found = std::copysign(1, c) * axis_b;
    return true;
  }
  /// The radii of the flats that lie across n.
  void flat_reach(const Bulges& both, double& of_a, double& of_b) const noexcept {
    of_a = is_flat(a_) && both.a.height == 0 ? a_.round.x : 0;
    of_b = is_flat(b_) && both.b.height == 0 ? b_.round.x : 0;
  }
  /// Does a flat ellipsoid (the end of a cylinder) lie across n?
  bool flat(const Bulges& both) const noexcept {
    return (a_.rounded && both.a.height < 1e-6 * a_.size) ||
           (b_.rounded && both.b.height < 1e-6 * b_.size);
  }

 private:
  static bool is_flat(const Core& core) noexcept {
    return core.rounded && core.round.z == 0;
  }
  static bool is_smooth(const Core& core) noexcept {
    return core.hull == nullptr && norm2(core.box) == 0;
  }

  const Core& a_;
  const Core& b_;
  Transform<double> pose_;  // of B
  // Vertices of hulls that were found last: the next direction is close to the last one.
  mutable std::uint32_t last_of_a_ = 0, last_of_b_ = 0;
  double inner_;
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
  int corner[3];
  double weight[3];
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

/// The last corner, k, belongs to what is closest.
Nearest closest_on_triangle(const Simplex& s, int i, int j, int k) noexcept {
  // From the corner between the two shorter sides: thin triangles lose less that way.
  const double jk = norm2(s.corners[k].w - s.corners[j].w);
  const double ki = norm2(s.corners[i].w - s.corners[k].w);
  const double ij = norm2(s.corners[j].w - s.corners[i].w);
  int o = i;
  int l = j;
  int m = k;
  if (ki >= jk && ki >= ij) {
    std::swap(o, l);
  } else if (ij >= jk && ij >= ki) {
    std::swap(o, m);
  }
  const V& p = s.corners[o].w;
  const V e = s.corners[l].w - p;
  const V f = s.corners[m].w - p;
  const V n = cross(e, f);
  const double area2 = norm2(n);
  if (area2 > 1e-28 * norm2(e) * norm2(f)) {
    // The foot of the perpendicular p + v e + w f.
    const double below = 1 / area2;
    const double v = -dot(n, cross(p, f)) * below;
    const double w = -dot(n, cross(e, p)) * below;
    if (v > 0 && w > 0 && v + w < 1) {
      return {p + v * e + w * f, 3, {o, l, m}, {1 - v - w, v, w}};
    }
  }
  const Nearest one = closest_on_segment(s, i, k);
  const Nearest two = closest_on_segment(s, j, k);
  return norm2(two.point) < norm2(one.point) ? two : one;
}

/// On a simplex whose last corner has just been added. The count is 0 where it holds the
/// origin.
Nearest closest_on_simplex(const Simplex& s) noexcept {
  if (s.count == 1) return {s.corners[0].w, 1, {0}, {1}};
  if (s.count == 2) return closest_on_segment(s, 0, 1);
  if (s.count == 3) return closest_on_triangle(s, 0, 1, 2);
  Nearest best{};
  double best2 = HUGE_VAL;
  constexpr int faces[3][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}};
  const V& p = s.corners[3].w;
  for (const auto& f : faces) {
    const V n = cross(s.corners[f[0]].w - p, s.corners[f[1]].w - p);
    const V e = s.corners[f[2]].w - p;
    const double origin = -dot(n, p);
    const double other = dot(n, e);
    // On the other side of this face than the corner left out, or a flat tetrahedron?
    const bool flat = other * other <= 1e-28 * norm2(n) * norm2(e);
    if (!flat && origin * other > 0) continue;
    const Nearest here = closest_on_triangle(s, f[0], f[1], 3);
    if (norm2(here.point) < best2) {
      best2 = norm2(here.point);
      best = here;
    }
  }
  return best;
}

/// Up to three corners k of A − B without the ellipsoids: a vertex, an edge or a face.
struct Carrier {
  Corner corners[3];
  int count = 0;
  V k{}, e{}, f{};  // the first corner, and from it to the others
  V normal{};       // e × f

  /// The different corners of a simplex.
  Carrier(const Simplex& simplex, double size) noexcept {
    corners[count++] = simplex.corners[0];
    for (int i = 1; i < simplex.count && count < 3; ++i) {
      bool known = false;
      for (int j = 0; j < count; ++j) {
        known = known ||
                norm2(corners[j].sharp - simplex.corners[i].sharp) < 1e-24 * size * size;
      }
      if (!known) corners[count++] = simplex.corners[i];
    }
    span();
  }
  void add(const Corner& corner) noexcept {
    corners[count++] = corner;
    span();
  }
  void drop(int i) noexcept {
    corners[i] = corners[--count];
    span();
  }
  /// Turns n so that it stands across the carrier; false where a face is too thin.
  bool align(V& n) const noexcept {
    if (count == 3) {
      if (!(norm2(normal) > 1e-16 * norm2(e) * norm2(f))) return false;
      n = (std::copysign(1, dot(normal, n)) / norm(normal)) * normal;
    } else if (count == 2) {
      n = unit_or(n - (dot(n, e) / norm2(e)) * e, n);
    }
    return true;
  }
  /// The weights of the mean of the corners that lies across n from the origin, for the
  /// ellipsoids' point p seen from k. Returns the corner with the least.
  int weigh(const V& p, double (&weight)[3]) const noexcept {
    weight[1] = 0;
    weight[2] = 0;
    if (count == 2) {
      weight[1] = -dot(p, e) / norm2(e);
    } else if (count == 3) {
      const double below = 1 / norm2(normal);
      weight[1] = -dot(normal, cross(p, f)) * below;
      weight[2] = -dot(normal, cross(e, p)) * below;
    }
    weight[0] = 1 - weight[1] - weight[2];
    int least = 0;
    for (int i = 1; i < count; ++i) {
      if (weight[i] < weight[least]) least = i;
    }
    return least;
  }

 private:
  void span() noexcept {
    k = corners[0].sharp;
    e = count > 1 ? corners[1].sharp - k : V{};
    f = count > 2 ? corners[2].sharp - k : V{};
    normal = cross(e, f);
  }
};

/// Where the search for the least depth is.
struct Iterate {
  V n;                        // unit
  Difference::Bulges bulges;  // where the normal is n
  double depth;               // along n, as far as the carrier tells
  bool convex = true;         // the depth, about here
};

/// Newton's step of n across itself and the carrier; false where there is none.
bool newton_step(const Carrier& carrier, double size, Iterate& at, V& turn) noexcept {
  const V p = carrier.k + at.bulges.sum;
  // Gradient and second derivative along one or two directions across n.
  const bool edge = carrier.count == 2;
  const V u = edge ? unit_or(cross(at.n, carrier.e), at.n) : across(at.n);
  const double gu = dot(p, u);
  const double uu = at.bulges.second(u, u);
  if (edge) {
    if (!(uu - at.depth > 1e-11 * size)) return false;
    turn = (-gu / (uu - at.depth)) * u;
    return true;
  }
  const V v = cross(at.n, u);
  const double gv = dot(p, v);
  const double uv = at.bulges.second(u, v);
  const double vv = at.bulges.second(v, v);
  // Where the depth is not convex yet, go downhill as if the shapes just touched.
  double d = at.depth;
  double det = (uu - d) * (vv - d) - uv * uv;
  at.convex = uu > d && det > 0;
  if (d > 0 && !at.convex) {
    d = 0;
    det = uu * vv - uv * uv;
  }
  if (!(det > 1e-22 * size * size)) return false;
  turn = ((uv * gv - (vv - d) * gu) / det) * u + ((uv * gu - (uu - d) * gv) / det) * v;
  return true;
}

/// Minimises n·k + h(n) over the unit vectors n that stand across the carrier, with h of
/// the ellipsoids, by Newton's method on the sphere with step halving. False where that
/// leads nowhere, or to no minimum.
bool minimise(const Difference& difference, const Carrier& carrier, double size,
              Iterate& at) noexcept {
  bool settled = carrier.count == 3;
  for (int step = 0; step < 10 && !settled; ++step) {
    V turn{};
    if (!newton_step(carrier, size, at, turn)) return false;
    double length2 = norm2(turn);
    if (length2 > 0.25) {
      turn = (0.5 / std::sqrt(length2)) * turn;
      length2 = 0.25;
    }
    settled = length2 < 1e-16;
    for (int halving = 0;; ++halving) {
      const V there = unit_or(at.n + turn, at.n);
      at.bulges = difference.bulges(there);
      const double found = dot(carrier.k + at.bulges.sum, there);
      if (settled || found <= at.depth + 1e-15 * size) {
        at.n = there;
        at.depth = found;
        break;
      }
      if (halving == 3) return false;
      turn = 0.5 * turn;
    }
    if (difference.flat(at.bulges)) return false;
  }
  return settled && at.convex;
}

/// The point of A − B where the depth is least, as far as the polyhedra's corners in a
/// simplex tell. True if that is a minimum of the depth of A and B: a weighted mean of
/// the corners and the ellipsoids' point stand off the origin along n, and no other
/// corner reaches farther.
bool meet_exactly(const Difference& difference, const Simplex& simplex, V n, double size,
                  Separation& result) noexcept {
  Carrier carrier(simplex, size);
  for (int attempt = 0; attempt < 5; ++attempt) {
    if (!carrier.align(n)) return false;
    Iterate at{n, difference.bulges(n), 0};
    if (difference.flat(at.bulges)) return false;
    at.depth = dot(carrier.k + at.bulges.sum, n);
    if (!minimise(difference, carrier, size, at)) return false;
    n = at.n;
    const V p = carrier.k + at.bulges.sum;
    double weight[3];
    const int least = carrier.weigh(p, weight);
    if (weight[least] < -1e-12) {
      carrier.drop(least);
      continue;
    }
    const Corner top = difference.sharp_corner(n);
    if (dot(top.sharp - carrier.k, n) > 1e-11 * size) {
      if (carrier.count == 3) return false;
      carrier.add(top);
      continue;
    }
    result.normal = n;
    result.depth = at.depth;
    result.on_a = at.bulges.on_a;
    for (int i = 0; i < carrier.count; ++i) {
      result.on_a = result.on_a + weight[i] * carrier.corners[i].sharp_of_a;
    }
    result.on_b = result.on_a - (p + weight[1] * carrier.e + weight[2] * carrier.f);
    return true;
  }
  return false;
}

/// The same where the flat end of a cylinder lies on the other shape, so that n is the
/// cylinder's axis. The weights are those of the simplex's corners.
bool meet_flat(const Difference& difference, const Simplex& simplex, const double* weight,
               const V& n, double size, Separation& result) noexcept {
  V axis{};
  if (!difference.flat_axis(n, axis)) return false;
  const Difference::Bulges bulges = difference.bulges(axis);
  const Corner top = difference.sharp_corner(axis);
  // The mean of those corners that reach as far.
  double total = 0;
  V sharp{};
  V sharp_of_a{};
  for (int i = 0; i < simplex.count; ++i) {
    const Corner& c = simplex.corners[i];
    if (dot(top.sharp - c.sharp, axis) > 1e-11 * size) continue;
    total += weight[i];
    sharp = sharp + weight[i] * c.sharp;
    sharp_of_a = sharp_of_a + weight[i] * c.sharp_of_a;
  }
  if (!(total > 0)) return false;
  const V p = (1 / total) * sharp + bulges.sum;
  const double depth = dot(p, axis);
  // How far the flats have to reach sideways, and whether they do.
  const V aside = p - depth * axis;
  double reach_a = 0;
  double reach_b = 0;
  difference.flat_reach(bulges, reach_a, reach_b);
  const double reach = reach_a + reach_b;
  if (!(norm2(aside) < reach * reach)) return false;
  const V on_a = (1 / total) * sharp_of_a + bulges.on_a - (reach_a / reach) * aside;
  result = {axis, depth, on_a, on_a - depth * axis};
  return true;
}

struct Descent {
  enum class End {
    beyond,     // farther apart than asked for
    converged,  // on the closest points, as they are after the shift
    exact,      // on the least depth, without any shift
  } end;
  Separation found;
};

/// Gilbert, Johnson & Keerthi 1988: closest points of A and of B moved by `shift`, which
/// parts them, from the normal n on. Ends when the bracket |v| ≥ distance ≥ v·w/|v| has
/// closed. Polyhedra are done after a few corners, round shapes only come closer and
/// closer: as soon as the bracket is narrow, the rest is left to Newton's method, which
/// has to end no deeper than `at_most`.
Descent gjk(const Difference& difference, V n, const V& shift, double at_most,
            double beyond, double size) noexcept {
  Descent result{};
  Simplex simplex;
  double weight[3] = {};
  V v = -n;
  double v2 = 0;  // none yet
  const double inner = difference.inner();
  const bool round = difference.round();
  const double zero = 1e-14 * size;
  result.end = Descent::End::converged;
  const auto meet = [&](const double* weights) {
    if (!(meet_flat(difference, simplex, weights, n, size, result.found) ||
          meet_exactly(difference, simplex, n, size, result.found)) ||
        result.found.depth > at_most + 1e-11 * size) {
      return false;
    }
    result.end = Descent::End::exact;
    return true;
  };
  for (int iteration = 0; iteration < 100; ++iteration) {
    Corner c = difference.corner(n);
    const double depth = dot(c.w, n) + inner;
    if (-depth > beyond) {
      result.end = Descent::End::beyond;
      result.found = {n, depth, {}, {}};
      return result;
    }
    c.w = c.w - shift;
    double bracket = HUGE_VAL;
    if (v2 > 0) {
      bracket = v2 - dot(v, c.w);
      if (bracket <= 1e-14 * v2) break;
      bool known = false;
      for (int i = 0; i < simplex.count; ++i) {
        known = known || norm2(simplex.corners[i].w - c.w) <= 1e-32 * size * size;
      }
      if (known) break;
    }
    simplex.corners[simplex.count++] = c;
    const Nearest next = closest_on_simplex(simplex);
    const double next2 = norm2(next.point);
    // The shift keeps the origin out, so an end there, or no progress, is round-off.
    if (next.count == 0 || next2 <= zero * zero || (v2 > 0 && !(next2 < v2))) {
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
    v2 = next2;
    n = (-1 / std::sqrt(v2)) * v;
    if (difference.smooth() || (round && bracket < 0.5 * v2)) {
      if (meet(weight)) return result;
    }
  }
  if (norm2(shift) > 0 && meet(weight)) return result;
  V on_a{};
  for (int i = 0; i < simplex.count; ++i) {
    on_a = on_a + weight[i] * simplex.corners[i].a;
  }
  on_a = on_a + difference.inner_of_a() * n;
  result.found = {n, difference.depth(n), on_a, on_a - v - shift - inner * n};
  return result;
}

/// The least depth near the normal n.
///
/// B is moved away along n until a little lies between, about as much as they overlap
/// now, and GJK asked for the closest points. If these are not yet where the depth is
/// least, they are closer to it: look again from there. Deep inside round shapes each
/// look shrinks the error only by a factor: then leap ahead along the geometric series.
Separation descend(const Difference& difference, V n, double beyond,
                   double size) noexcept {
  double depth = difference.depth(n);
  Separation result{};
  double last_turn = 0;
  for (int look = 0; look < 16; ++look) {
    const double core_depth = depth - difference.inner();
    const double near = size * std::clamp(std::fabs(core_depth) / size, 1e-7, 1e-3);
    const double room = core_depth + near;
    const bool shifted = room > 0;
    const Descent moved =
        gjk(difference, n, shifted ? room * n : V{0, 0, 0}, depth, beyond, size);
    if (look > 0 && !(moved.found.depth < depth + 1e-11 * size)) break;
    result = moved.found;
    if (moved.end != Descent::End::converged || !shifted) break;
    const V step = result.normal - n;
    const double turn = norm(step);
    n = result.normal;
    depth = result.depth;
    if (turn < 1e-10) break;
    const double ratio = turn / last_turn;
    last_turn = turn;
    if (look % 2 == 1 && ratio > 0.05 && ratio < 0.95) {
      const V leap = unit_or(n + (ratio / (1 - ratio)) * step, n);
      const double there = difference.depth(leap);
      if (there < depth) {
        n = leap;
        depth = there;
        last_turn = 0;
      }
    }
  }
  return result;
}

/// Expanding polytope (van den Bergen 2001): grows inside A − B around the origin where
/// it is nearest to it.
class Expansion {
 public:
  /// The normal along which the depth is least: n, where it is `depth`, unless there is a
  /// better one.
  V shorter(const Difference& difference, const V& n, double depth,
            double size) noexcept {
    size_ = size;
    const double inner = difference.inner();
    if (!begin(difference, n, (depth - inner) * n)) {
      return flat_normal(difference, n, depth);
    }
    V best = n;
    double least = depth - inner;
    const double tight = std::min(1e-6 * size, 1e-3 * least);
    // Close around n GJK has looked already: the faces there need not be as good.
    // Polyhedra have ways out that are close to each other.
    const double loose = difference.round() && least < 0.1 * size ? 5e-3 * least : 0;
    const auto height_of = [&](const Face& face) {
      return face.at_end ? face.distance + loose : face.distance;
    };
    for (int iteration = 0; iteration < 190 && face_count_ > 0; ++iteration) {
      int nearest = 0;
      for (int f = 0; f < face_count_; ++f) {
        if (height_of(faces_[f]) < height_of(faces_[nearest])) nearest = f;
      }
      const Face face = faces_[nearest];
      if (height_of(face) >= least - tight) break;
      const V w = difference.corner(face.normal).w;
      const double height = dot(w, face.normal);
      if (height < least) {
        least = height;
        best = face.normal;
      }
      if (!add(w)) break;
    }
    return best;
  }

 private:
  static constexpr int max_corners = 200;
  static constexpr int max_faces = 400;

  struct Face {
    int v[3];
    V normal;
    double distance;
    bool at_end;  // has the first corner
  };

  bool make_face(int i, int j, int k) noexcept {
    if (face_count_ == max_faces) return false;
    const V n = cross(corners_[j] - corners_[i], corners_[k] - corners_[i]);
    const double length = norm(n);
    if (!(length > 1e-18 * size_ * size_)) return false;
    const V unit = (1 / length) * n;
    faces_[face_count_++] = {
        {i, j, k}, unit, dot(unit, corners_[i]), i == 0 || j == 0 || k == 0};
    return true;
  }

  /// A tetrahedron from the end of n and the farthest points in three directions around
  /// n: close to it, where the polytope has to be good, unless that leaves no volume.
  bool begin(const Difference& difference, const V& n, const V& end) noexcept {
    const V u = across(n);
    const V v = cross(n, u);
    constexpr double h = 0.86602540378443865;  // √3/2
    corners_[0] = end;
    corner_count_ = 4;
    for (const double along : {10.0, 1.0, -0.3}) {
      corners_[1] = difference.corner(unit_or(along * n + u, n)).w;
      corners_[2] = difference.corner(unit_or(along * n - 0.5 * u + h * v, n)).w;
      corners_[3] = difference.corner(unit_or(along * n - 0.5 * u - h * v, n)).w;
      face_count_ = 0;
      if (make_face(0, 1, 2) && make_face(0, 2, 3) && make_face(0, 3, 1) &&
          make_face(1, 3, 2)) {
        return true;
      }
    }
    return false;
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

  /// A − B has hardly any volume: the best of a fan of directions.
  static V flat_normal(const Difference& difference, const V& n, double depth) noexcept {
    V best = n;
    for (int i = 0; i < 27; ++i) {
      const int y = i / 3 % 3;
      const int z = i / 9;
      const V d = unit_or(V{i % 3 - 1.0, y - 1.0, z - 1.0}, n);
      const double there = difference.depth(d);
      if (there < depth) {
        depth = there;
        best = d;
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
  Core core{.shape = &shape, .pose = pose};
  switch (kind_of(shape)) {
    case ShapeKind::sphere:
      core.radius = std::get_if<Sphere>(&shape)->radius;
      core.size = core.radius;
      break;
    case ShapeKind::box:
      core.box = std::get_if<Box>(&shape)->half;
      core.size = std::min({core.box.x, core.box.y, core.box.z});
      break;
    case ShapeKind::cylinder: {
      const auto& c = *std::get_if<Cylinder>(&shape);
      core.box = {0, 0, c.half_length};
      core.round = {c.radius, c.radius, 0};
      core.rounded = true;
      core.size = std::min(c.radius, c.half_length);
      break;
    }
    case ShapeKind::capsule: {
      const auto& c = *std::get_if<Capsule>(&shape);
      core.box = {0, 0, c.half_length};
      core.radius = c.radius;
      core.size = c.radius;
      break;
    }
    case ShapeKind::ellipsoid: {
      const V& s = std::get_if<Ellipsoid>(&shape)->semi_axes;
      core.round = s;
      core.rounded = true;
      core.size = std::min({s.x, s.y, s.z});
      core.inner = core.size * core.size / std::max({s.x, s.y, s.z});
      break;
    }
    case ShapeKind::convex:
      core.hull = std::get_if<Convex>(&shape)->hull;
      core.size = core.hull->size;
      break;
    default:
      break;
  }
  return core;
}

Vec3<double> support(const Core& core, const Vec3<double>& direction) noexcept {
  const V d = turn_back(core.pose, direction);
  std::uint32_t from = 0;
  return place(core.pose, corner_of(core, d, from) + Bulge(core.round, d).point);
}

Separation separate(const Core& a, const Core& b, double margin) noexcept {
  const Difference difference(a, b);
  const double size = a.size + b.size;
  const double beyond = margin + a.radius + b.radius;
  const auto in_world = [&](const Separation& s) {
    return Separation{turn(a.pose, s.normal), s.depth, place(a.pose, s.on_a),
                      place(a.pose, s.on_b)};
  };

  // Start from the line of centres, or across a flat of A or B, whichever is less deep.
  V n = unit_or(difference.centre(), V{0, 0, 1});
  double depth = difference.depth(n);
  const auto consider = [&](const V& axis) {
    const V d = dot(axis, difference.centre()) < 0 ? -axis : axis;
    const double there = difference.depth(d);
    if (there < depth) {
      depth = there;
      n = d;
    }
  };
  constexpr V axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  for (int i = 0; i < 3; ++i) {
    if (at(a.box, i) > 0 && a.radius == 0) consider(axes[i]);
    if (at(b.box, i) > 0 && b.radius == 0) consider(difference.axis_of_b(i));
    if (-depth > beyond) return in_world({n, depth, {}, {}});
  }

  Separation best = descend(difference, n, beyond, size);
  // Inside there may be several ways out: is another one shorter?
  if (best.depth > difference.inner()) {
    Expansion expansion;
    const V other = expansion.shorter(difference, best.normal, best.depth, size);
    if (norm2(other - best.normal) > 0) {
      const Separation second = descend(difference, other, beyond, size);
      if (second.depth < best.depth) best = second;
    }
  }
  return in_world(best);
}

}  // namespace bristle::geometry
