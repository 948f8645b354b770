#pragma once

#include "bristle/geometry/closest.hpp"

// A sphere (or a point: radius 0) as body A against every other shape as body B.

namespace bristle::geometry {

/// The contact of a sphere with a surface point given in the axes of B.
template <Scalar T>
BRISTLE_INLINE ContactPoint<T> sphere_contact(const Sphere& sphere, const Vec3<T>& centre,
                                              const Transform<T>& pose_b,
                                              const SurfacePoint<T>& on,
                                              std::uint32_t feature,
                                              bool radii) noexcept {
  const T radius = constant<T>(sphere.radius);
  const Vec3<T> n = -turn(pose_b, on.normal);
  Meeting<T> meeting{T(0), Patch::sharp};
  if (radii && sphere.radius > 0) {
    meeting = meet(Curvature<T>::round(T(1) / radius), on.curvature);
  }
  return {.on_a = centre + radius * n,
          .on_b = place(pose_b, on.point),
          .normal = n,
          .depth = radius - on.distance,
          .radius = meeting.radius,
          .patch = meeting.patch,
          .feature = feature};
}

/// Against a shape with one closest point: plane, sphere, box, cylinder, capsule,
/// ellipsoid, convex hull.
template <Scalar T, class Other>
void sphere_against(const Sphere& sphere, const Transform<T>& pose_a, const Other& other,
                    const Transform<T>& pose_b, double margin,
                    Contacts<T>& out) noexcept {
  const SurfacePoint<T> on = closest(other, locate(pose_b, pose_a.p));
  if (value_of(on.distance) - sphere.radius > margin) return;
  out.add(sphere_contact(sphere, pose_a.p, pose_b, on, 0, out.radii));
}

/// In a cylindrical hollow: the wall (feature 0) and the two ends (1 and 2) each on their
/// own, because the hollow is concave.
template <Scalar T>
void sphere_against(const Sphere& sphere, const Transform<T>& pose_a,
                    const Cavity& cavity, const Transform<T>& pose_b, double margin,
                    Contacts<T>& out) noexcept {
  const Vec3<T> x = locate(pose_b, pose_a.p);
  const T wall = constant<T>(cavity.radius);
  const Vec3<T> radial{x.x, x.y, T(0)};
  const T gap = wall - norm(radial);
  if (value_of(gap) - sphere.radius <= margin) {
    const Vec3<T> e = unit_or(radial, Vec3<T>{T(1), T(0), T(0)});
    const SurfacePoint<T> on{gap, wall * e + Vec3<T>{T(0), T(0), x.z}, -e,
                             Curvature<T>{T(0), T(-1) / wall, {T(0), T(0), T(1)}, false}};
    out.add(sphere_contact(sphere, pose_a.p, pose_b, on, 0, out.radii));
  }
  if (!std::isfinite(cavity.half_length)) return;
  const T half = constant<T>(cavity.half_length);
  for (int end = 0; end < 2; ++end) {
    const T sign = end == 0 ? T(1) : T(-1);
    const T distance = half - sign * x.z;
    if (value_of(distance) - sphere.radius > margin) continue;
    const SurfacePoint<T> on{
        distance, {x.x, x.y, sign * half}, {T(0), T(0), -sign}, Curvature<T>::flat()};
    out.add(sphere_contact(sphere, pose_a.p, pose_b, on,
                           static_cast<std::uint32_t>(1 + end), out.radii));
  }
}

// Triangulated surfaces: a contact at every local minimum of the distance from the
// centre, so that a sphere in a corner touches each wall, and a sphere on a triangulated
// flat touches once.

struct SurfaceCandidate {
  FeatureKind kind;
  std::uint32_t index;  // of the face, edge or vertex
  std::uint32_t id;
  double distance;  // ≥ 0
  Vec3<double> point;
};

/// The closest point of a triangle, with the feature it lies on.
inline SurfaceCandidate closest_on_triangle(const TriangleSurface& s, std::uint32_t f,
                                            const Vec3<double>& x) noexcept {
  const auto& tri = s.triangles[f];
  const Vec3<double>& n = s.normals[f];
  SurfaceCandidate best{FeatureKind::face, f, s.face_id[f], HUGE_VAL, {}};
  bool above = true;
  for (std::size_t i = 0; i < 3; ++i) {
    const Vec3<double>& p = s.vertices[tri[i]];
    const Vec3<double>& q = s.vertices[tri[(i + 1) % 3]];
    const Vec3<double> e = q - p;
    if (dot(cross(n, e), x - p) >= 0) continue;
    above = false;
    const double length2 = norm2(e);
    const double t = dot(x - p, e);
    SurfaceCandidate c;
    if (t <= 0 || t >= length2) {
      const std::uint32_t v = t <= 0 ? tri[i] : tri[(i + 1) % 3];
      c = {FeatureKind::vertex, v, s.vertex_id[v], 0, s.vertices[v]};
    } else {
      const std::uint32_t edge = s.face_edges[f][i];
      c = {FeatureKind::edge, edge, s.edges[edge].id, 0, p + (t / length2) * e};
    }
    c.distance = norm(x - c.point);
    if (c.distance < best.distance) best = c;
  }
  if (above) {
    const double height = dot(x - s.vertices[tri[0]], n);
    best.point = x - height * n;
    best.distance = std::fabs(height);
  }
  return best;
}

/// Is x in front of the surface, judged at its closest point? A border counts as front.
inline bool in_front(const TriangleSurface& s, const SurfaceCandidate& c,
                     const Vec3<double>& x) noexcept {
  const Vec3<double> out = x - c.point;
  switch (c.kind) {
    case FeatureKind::face:
      return dot(out, s.normals[c.index]) >= 0;
    case FeatureKind::edge: {
      const auto& edge = s.edges[c.index];
      return edge.faces[1] == TriangleSurface::none || dot(out, edge.pseudo_normal) >= 0;
    }
    case FeatureKind::vertex:
      break;
  }
  return s.vertex_on_border[c.index] != 0 || dot(out, s.vertex_normal[c.index]) >= 0;
}

/// Is the point closest on every triangle around its feature, not just on one of them?
inline bool is_local_minimum(const TriangleSurface& s, const SurfaceCandidate& c,
                             const Vec3<double>& x) noexcept {
  const Vec3<double> out = x - c.point;
  if (c.kind == FeatureKind::edge) {
    const auto& edge = s.edges[c.index];
    for (const std::uint32_t f : edge.faces) {
      if (f == TriangleSurface::none) continue;
      const auto& tri = s.triangles[f];
      // From the edge into the triangle, across the edge.
      const Vec3<double> e = s.vertices[edge.to] - s.vertices[edge.from];
      Vec3<double> into{};
      for (const std::uint32_t v : tri) {
        if (v != edge.from && v != edge.to) into = s.vertices[v] - s.vertices[edge.from];
      }
      into = into - (dot(into, e) / norm2(e)) * e;
      if (dot(out, into) > 1e-12 * c.distance * norm(into)) return false;
    }
  }
  if (c.kind == FeatureKind::vertex) {
    for (std::uint32_t i = s.star_start[c.index]; i < s.star_start[c.index + 1]; ++i) {
      const Vec3<double> e = s.vertices[s.star[i]] - s.vertices[c.index];
      if (dot(out, e) > 1e-12 * c.distance * norm(e)) return false;
    }
  }
  return true;
}

/// Calls visit(triangle) for the triangles near a box, in a fixed order.
template <class Visit>
void visit_triangles(const TriangleMesh& mesh, const Aabb& box, Visit&& visit) noexcept {
  const auto count = static_cast<std::uint32_t>(mesh.nodes.size());
  std::uint32_t i = 0;
  while (i < count) {
    const TriangleMesh::Node& node = mesh.nodes[i];
    if (!overlap(node.box, box)) {
      i = node.next;
      continue;
    }
    for (std::uint32_t k = 0; k < node.count; ++k) visit(mesh.order[node.first + k]);
    ++i;
  }
}
template <class Visit>
void visit_triangles(const HeightField& field, const Aabb& box, Visit&& visit) noexcept {
  if (!overlap(field.surface.bounds, box)) return;
  const auto cell = [](double x, double spacing, int points) {
    const double i = std::floor(x / spacing + 0.5 * (points - 1));
    return static_cast<int>(std::fmin(std::fmax(i, 0), points - 2));
  };
  const int i1 = cell(box.high.x, field.spacing_x, field.columns);
  const int j1 = cell(box.high.y, field.spacing_y, field.rows);
  for (int j = cell(box.low.y, field.spacing_y, field.rows); j <= j1; ++j) {
    for (int i = cell(box.low.x, field.spacing_x, field.columns); i <= i1; ++i) {
      const auto first = static_cast<std::uint32_t>(2 * (j * (field.columns - 1) + i));
      visit(first);
      visit(first + 1);
    }
  }
}

/// The candidate measured in T.
template <Scalar T>
SurfacePoint<T> measure(const TriangleSurface& s, const SurfaceCandidate& c, bool inside,
                        const Vec3<T>& x) noexcept {
  switch (c.kind) {
    case FeatureKind::face:
      return closest_on_feature<T>(FeatureKind::face, s.vertices[s.triangles[c.index][0]],
                                   {}, s.normals[c.index], inside, x);
    case FeatureKind::edge: {
      const auto& edge = s.edges[c.index];
      const Vec3<double> e = s.vertices[edge.to] - s.vertices[edge.from];
      return closest_on_feature<T>(FeatureKind::edge, s.vertices[edge.from],
                                   (1 / norm(e)) * e, edge.pseudo_normal, inside, x);
    }
    case FeatureKind::vertex:
      break;
  }
  return closest_on_feature<T>(FeatureKind::vertex, s.vertices[c.index], {},
                               s.vertex_normal[c.index], inside, x);
}

template <Scalar T, class Ground>
void sphere_against_surface(const Sphere& sphere, const Transform<T>& pose_a,
                            const Ground& ground, const Transform<T>& pose_b,
                            double margin, Contacts<T>& out) noexcept {
  const TriangleSurface& s = ground.surface;
  const Vec3<T> xT = locate(pose_b, pose_a.p);
  const Vec3<double> x = values(xT);
  const double reach = sphere.radius + margin;

  // Local minima of the distance in front, the nearest feature whatever its side.
  constexpr int capacity = 16;
  SurfaceCandidate found[capacity];
  int count = 0;
  SurfaceCandidate nearest{FeatureKind::face, 0, 0, HUGE_VAL, {}};
  const auto consider = [&](std::uint32_t f) {
    const SurfaceCandidate c = closest_on_triangle(s, f, x);
    if (c.distance < nearest.distance) nearest = c;
    if (c.distance > reach || !in_front(s, c, x) || !is_local_minimum(s, c, x)) return;
    int shallowest = 0;
    for (int i = 0; i < count; ++i) {
      if (found[i].id == c.id) {
        if (c.distance < found[i].distance) found[i] = c;
        return;
      }
      if (found[i].distance > found[shallowest].distance) shallowest = i;
    }
    if (count < capacity) {
      found[count++] = c;
    } else if (c.distance < found[shallowest].distance) {
      found[shallowest] = c;
    }
  };
  const Aabb point{x, x};
  visit_triangles(ground, point.grown(reach), consider);

  // No triangle in reach: perhaps the centre is far below the surface.
  if (nearest.distance > reach && s.max_depth > reach) {
    visit_triangles(ground, point.grown(s.max_depth), [&](std::uint32_t f) {
      const SurfaceCandidate c = closest_on_triangle(s, f, x);
      if (c.distance < nearest.distance) nearest = c;
    });
  }
  if (nearest.distance > reach && nearest.distance > s.max_depth) return;
  if (!in_front(s, nearest, x)) {
    out.add(sphere_contact(sphere, pose_a.p, pose_b, measure(s, nearest, true, xT),
                           nearest.id, out.radii));
    return;
  }

  // The deepest first; one with almost the same normal as a deeper one is the same
  // contact.
  for (int i = 1; i < count; ++i) {
    const SurfaceCandidate c = found[i];
    int k = i;
    while (k > 0 && (found[k - 1].distance > c.distance ||
                     (found[k - 1].distance == c.distance && found[k - 1].id > c.id))) {
      found[k] = found[k - 1];
      --k;
    }
    found[k] = c;
  }
  const double alike = std::cos(s.merge_angle);
  const int before = out.count;
  for (int i = 0; i < count; ++i) {
    const ContactPoint<T> contact =
        sphere_contact(sphere, pose_a.p, pose_b, measure(s, found[i], false, xT),
                       found[i].id, out.radii);
    bool same = false;
    for (int k = before; k < out.count; ++k) {
      same = same || dot(values(out[k].normal), values(contact.normal)) > alike;
    }
    if (!same) out.add(contact);
  }
}

template <Scalar T>
void sphere_against(const Sphere& sphere, const Transform<T>& pose_a, const Mesh& mesh,
                    const Transform<T>& pose_b, double margin,
                    Contacts<T>& out) noexcept {
  sphere_against_surface(sphere, pose_a, *mesh.mesh, pose_b, margin, out);
}
template <Scalar T>
void sphere_against(const Sphere& sphere, const Transform<T>& pose_a,
                    const Terrain& terrain, const Transform<T>& pose_b, double margin,
                    Contacts<T>& out) noexcept {
  sphere_against_surface(sphere, pose_a, *terrain.field, pose_b, margin, out);
}

}  // namespace bristle::geometry
