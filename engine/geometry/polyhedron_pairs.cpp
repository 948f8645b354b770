#include <algorithm>
#include <cmath>

#include "bristle/geometry/convex.hpp"
#include "bristle/geometry/polyhedron.hpp"

// Two polyhedra by the separating-axis test. Everything about B is in the axes of A.

namespace bristle::geometry {

namespace {

using V = Vec3<double>;

constexpr std::size_t many_edge_pairs = 2500;  // GJK finds the normal sooner beyond
constexpr double lying_depth = 1.5;  // faces carry while no deeper than this times edges

/// The largest gap along a face normal, and the face.
struct FaceGap {
  double gap = -HUGE_VAL;
  std::uint32_t face = 0;

  void offer(double other, std::uint32_t f) noexcept {
    if (other > gap) {
      gap = other;
      face = f;
    }
  }
};

FaceGap gap_along_faces_of_a(const Polyhedron& a, const Polyhedron& b,
                             const Transform<double>& pose) noexcept {
  FaceGap largest;
  for (std::uint32_t f = 0; f < a.normals.size(); ++f) {
    const V& n = a.normals[f];
    largest.offer(b.lowest(turn_back(pose, n)) + dot(n, pose.p) - a.offsets[f], f);
  }
  return largest;
}

FaceGap gap_along_faces_of_b(const Polyhedron& a, const Polyhedron& b,
                             const Transform<double>& pose) noexcept {
  FaceGap largest;
  for (std::uint32_t f = 0; f < b.normals.size(); ++f) {
    const V n = turn(pose, b.normals[f]);
    largest.offer(a.lowest(n) - dot(n, pose.p) - b.offsets[f], f);
  }
  return largest;
}

/// The largest gap across an edge of A and one of B, and the two.
struct EdgeGap {
  double gap = -HUGE_VAL;
  V normal{};
  const ConvexHull::Edge* of_a = nullptr;
  const ConvexHull::Edge* of_b = nullptr;
};

EdgeGap gap_across_edges(const Polyhedron& a, const Polyhedron& b,
                         const Transform<double>& pose) noexcept {
  EdgeGap largest;
  for (const ConvexHull::Edge& eb : b.edges) {
    const V p = place(pose, b.vertices[eb.from]);
    const V along_b = place(pose, b.vertices[eb.to]) - p;
    // The arcs of the two edges on the sphere of normals must cross (Gregorius, "The
    // separating axis test between convex polyhedra", GDC 2013).
    const V c = -turn(pose, b.normals[eb.left]);
    const V d = -turn(pose, b.normals[eb.right]);
    const V dc = cross(d, c);
    for (const ConvexHull::Edge& ea : a.edges) {
      const V& na = a.normals[ea.left];
      const V& nb = a.normals[ea.right];
      const double adc = dot(na, dc);
      const double bdc = dot(nb, dc);
      if (adc * bdc >= 0) continue;
      const V ba = cross(nb, na);
      const double cba = dot(c, ba);
      const double dba = dot(d, ba);
      if (cba * dba >= 0 || cba * bdc <= 0) continue;
      const V& o = a.vertices[ea.from];
      const V along_a = a.vertices[ea.to] - o;
      V n = cross(along_a, along_b);
      const double sine2 = norm2(n);
      if (sine2 < 1e-8 * norm2(along_a) * norm2(along_b)) continue;  // parallel
      n = (1 / std::sqrt(sine2)) * n;
      if (dot(n, o - a.centre) < 0) n = -n;
      const double gap = dot(n, p - o);
      if (gap > largest.gap) largest = {gap, n, &ea, &eb};
    }
  }
  return largest;
}

/// The sides that face each other where a face normal has the largest gap.
struct Faces {
  Side a, b;
  V normal;  // in the axes of A, from A into B

  /// Of equal faces A's, so that the choice does not flicker.
  Faces(const Polyhedron& pa, const Transform<double>& pose_a, const FaceGap& gap_a,
        const Polyhedron& pb, const Transform<double>& pose_b, const FaceGap& gap_b,
        const Transform<double>& pose, double tie) noexcept {
    if (gap_b.gap > gap_a.gap + tie) {
      normal = -turn(pose, pb.normals[gap_b.face]);
      b = pb.side(gap_b.face, pose_b);
      a = pa.side(pa.face_towards(normal), pose_a);
    } else {
      normal = pa.normals[gap_a.face];
      a = pa.side(gap_a.face, pose_a);
      b = pb.side(pb.face_towards(-turn_back(pose, normal)), pose_b);
    }
  }
};

/// Two faces that almost lie on each other carry as faces do, although a pair of their
/// edges may be a little less deep: a single point would let them rock to and fro.
bool faces_carry(const Faces& faces, const EdgeGap& edges,
                 const Transform<double>& pose_a, double margin,
                 Contacts<double>& out) noexcept {
  if (!(edges.gap < 0) || !(dot(faces.normal, edges.normal) > lying_cosine)) return false;
  Contacts<double> several;
  const double deepest =
      clip_manifold(faces.a, faces.b, turn(pose_a, faces.normal), 0, 0, margin, several);
  if (!several_inside(several) || !(deepest < -lying_depth * edges.gap)) return false;
  for (const auto& point : several) out.add(point);
  out.dropped += several.dropped;
  return true;
}

/// The contact of two edges, at the closest points of their lines; none where bodies are
/// apart by more than `tie` and these lie beyond the edges' ends.
bool edges_touch(const Polyhedron& a, const Transform<double>& pose_a,
                 const Polyhedron& b, const Transform<double>& pose, const EdgeGap& edges,
                 double tie, Contacts<double>& out) noexcept {
  const V& p = a.vertices[edges.of_a->from];
  const V u = a.vertices[edges.of_a->to] - p;
  const V q = place(pose, b.vertices[edges.of_b->from]);
  const V w = place(pose, b.vertices[edges.of_b->to]) - q;
  const double uu = norm2(u);
  const double uw = dot(u, w);
  const double ww = norm2(w);
  const V r = q - p;
  const double below = uu * ww - uw * uw;
  const double s = std::clamp((dot(r, u) * ww - dot(r, w) * uw) / below, 0.0, 1.0);
  const V on_a = p + s * u;
  const double t = dot(on_a - q, w) / ww;
  if (edges.gap > tie && (s <= 0 || s >= 1 || t < 0 || t > 1)) return false;
  out.add({.on_a = place(pose_a, on_a),
           .on_b = place(pose_a, on_a + edges.gap * edges.normal),
           .normal = turn(pose_a, edges.normal),
           .depth = -edges.gap,
           .radius = 0,
           .patch = Patch::sharp,
           .feature = crossing_edges(a.edge_number(*edges.of_a),
                                     b.edge_number(*edges.of_b), b.edge_range())});
  return true;
}

/// The manifold of two faces, unless its depth is not the one of the bodies: the gap is
/// that only where the closest point lies over the face. Deep inside the faces may
/// overlap elsewhere, and that will do.
bool faces_touch(const Faces& faces, const Transform<double>& pose_a, double gap,
                 double size, double tie, double margin, Contacts<double>& out) noexcept {
  const int before = out.count;
  const double deepest =
      clip_manifold(faces.a, faces.b, turn(pose_a, faces.normal), 0, 0, margin, out);
  if (deepest < -gap - 1e-9 * size && (gap > -tie || deepest < -0.5 * gap)) {
    out.count = before;
    return false;
  }
  if (out.count - before < 3) {
    for (int i = before; i < out.count; ++i) {
      out[i].patch = Patch::sharp;
      out[i].radius = 0;
    }
  }
  return true;
}

}  // namespace

void polyhedron_against_polyhedron(const Shape& a, const Transform<double>& pose_a,
                                   const Shape& b, const Transform<double>& pose_b,
                                   double margin, Contacts<double>& out) noexcept {
  const Polyhedron pa(a);
  const Polyhedron pb(b);
  // The balls around both: a mesh may lie far from where its frame is.
  const double reach = pa.size + pb.size + margin;
  const Vec3<double> between = place(pose_b, pb.centre) - place(pose_a, pa.centre);
  if (norm2(between) > reach * reach) return;
  if (pa.edges.size() * pb.edges.size() > many_edge_pairs) {
    convex_against_convex(a, pose_a, b, pose_b, margin, out);
    return;
  }
  const Transform<double> pose = relative(pose_a, pose_b);
  const double size = std::min(pa.size, pb.size);

  const FaceGap gap_a = gap_along_faces_of_a(pa, pb, pose);
  if (gap_a.gap > margin) return;
  const FaceGap gap_b = gap_along_faces_of_b(pa, pb, pose);
  if (gap_b.gap > margin) return;
  const EdgeGap edges = gap_across_edges(pa, pb, pose);
  if (edges.gap > margin) return;

  // Equal within round-off: a face rather than edges.
  const double tie = 1e-9 * size;
  const double gap = std::max(gap_a.gap, gap_b.gap);
  const Faces faces(pa, pose_a, gap_a, pb, pose_b, gap_b, pose, tie);
  const bool by_edges = edges.of_a != nullptr && edges.gap > gap + tie;
  const bool found = by_edges ? faces_carry(faces, edges, pose_a, margin, out) ||
                                    edges_touch(pa, pose_a, pb, pose, edges, tie, out)
                              : faces_touch(faces, pose_a, gap, size, tie, margin, out);
  if (!found) convex_against_convex(a, pose_a, b, pose_b, margin, out);
}

}  // namespace bristle::geometry
