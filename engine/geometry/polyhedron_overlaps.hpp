#pragma once

#include "bristle/geometry/overlap_moments.hpp"
#include "bristle/geometry/polyhedron.hpp"

// Boxes and convex hulls against a half-space: clipped faces, summed as tetrahedra from a
// point on the plane, so that the section needs no faces of its own.

namespace bristle::geometry {

/// Sums of signed tetrahedra (o, a, b, c) and, on the plane, of triangles (o, p, q).
template <Scalar T>
struct ClippedSum {
  Vec3<T> up;  // the plane's normal
  VolumeMoments<T> volume;
  AreaMoments<T> section;

  void add_face(const Vec3<T>& a, const Vec3<T>& b, const Vec3<T>& c) noexcept {
    using N = Value<T>;
    const T v = dot(a, cross(b, c)) * T(N(1.0 / 6));
    const Vec3<T> sum = a + b + c;
    volume.volume += v;
    volume.first = volume.first + (T(N(0.25)) * v) * sum;
    volume.second =
        volume.second + (T(N(0.05)) * v) * (outer(a) + outer(b) + outer(c) + outer(sum));
    volume.depth += T(N(-0.25)) * v * dot(up, sum);
  }
  void add_edge(const Vec3<T>& p, const Vec3<T>& q) noexcept {
    using N = Value<T>;
    const T area = T(N(0.5)) * dot(up, cross(p, q));
    const Vec3<T> sum = p + q;
    section.area += area;
    section.first = section.first + (T(N(1.0 / 3)) * area) * sum;
    section.second =
        section.second + (T(N(1.0 / 12)) * area) * (outer(p) + outer(q) + outer(sum));
  }

  /// A triangle that turns counter-clockwise seen from outside, with the heights of its
  /// corners above the plane.
  void add_clipped(const Vec3<T>* p, const T* height) noexcept {
    using N = Value<T>;
    int below = 0;
    for (int i = 0; i < 3; ++i) below += value_of(height[i]) < N(0) ? 1 : 0;
    if (below == 0) return;
    if (below == 3) return add_face(p[0], p[1], p[2]);
    // First the corner that is alone on its side.
    int k = 0;
    while ((value_of(height[k]) < N(0)) != (below == 1)) ++k;
    const int next = (k + 1) % 3, last = (k + 2) % 3;
    const auto cut = [&](int from, int to) {
      return p[from] + (height[from] / (height[from] - height[to])) * (p[to] - p[from]);
    };
    const Vec3<T> towards_next = cut(k, next), towards_last = cut(k, last);
    if (below == 1) {
      add_face(p[k], towards_next, towards_last);
      add_edge(towards_last, towards_next);
    } else {
      add_face(towards_next, p[next], p[last]);
      add_face(towards_next, p[last], towards_last);
      add_edge(towards_next, towards_last);
    }
  }
};

template <Scalar T>
Overlap<T> polyhedron_overlap(const Transform<T>& plane, const Polyhedron& body,
                              const Transform<T>& pose) noexcept {
  const Vec3<T> n = axis(plane, 2);
  const Vec3<T> up = turn_back(pose, n);
  const Vec3<double> direction = values(up);
  std::size_t lowest = 0;
  for (std::size_t i = 1; i < body.vertices.size(); ++i) {
    if (dot(body.vertices[i] - body.vertices[lowest], direction) < 0) lowest = i;
  }
  // Everything in body axes from the lowest vertex, which is exact however shallow the
  // overlap is; o is its foot.
  const Vec3<double> origin = body.vertices[lowest];
  const Vec3<T> at = place(pose, constant<T>(origin));
  const T depth = -dot(at - plane.p, n);
  const PlaneMeeting<T> meeting{n, depth, at + depth * n};
  if (!(value_of(depth) > Value<T>(0))) return no_overlap(meeting);
  const Vec3<T> from_foot = -depth * up;
  ClippedSum<T> sum;
  sum.up = up;
  const auto corner = [&](std::uint32_t v, Vec3<T>& p, T& height) {
    const Vec3<T> x = constant<T>(body.vertices[v] - origin);
    p = x + from_foot;
    height = dot(x, up) - depth;
  };
  for (std::size_t f = 0; f + 1 < body.face_start.size(); ++f) {
    const std::uint32_t start = body.face_start[f], end = body.face_start[f + 1];
    Vec3<T> p[3];
    T height[3];
    corner(body.face_vertices[start], p[0], height[0]);
    corner(body.face_vertices[start + 1], p[1], height[1]);
    for (std::uint32_t i = start + 2; i < end; ++i) {
      corner(body.face_vertices[i], p[2], height[2]);
      sum.add_clipped(p, height);
      p[1] = p[2];
      height[1] = height[2];
    }
  }
  const auto world = [&](auto m) {
    m.first = turn(pose, m.first);
    m.second = rotated(pose.R, m.second);
    return m;
  };
  return plane_overlap(meeting, world(sum.volume), world(sum.section));
}

template <Scalar T>
Overlap<T> overlap_of(const Plane&, const Transform<T>& plane, const Box& box,
                      const Transform<T>& pose) noexcept {
  return polyhedron_overlap(plane, Polyhedron(Shape(box)), pose);
}
template <Scalar T>
Overlap<T> overlap_of(const Plane&, const Transform<T>& plane, const Convex& convex,
                      const Transform<T>& pose) noexcept {
  return polyhedron_overlap(plane, Polyhedron(Shape(convex)), pose);
}

}  // namespace bristle::geometry
