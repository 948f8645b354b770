#pragma once

#include <cmath>

#include "bristle/geometry/contact_point.hpp"
#include "bristle/geometry/shapes.hpp"

// The point of a shape's surface that is closest to a given point, for every convex shape
// and the plane: all that contacts of spheres and points need of the other shape.
//
// One source for double, float and dual numbers: decisions look at values, formulas carry
// the derivatives.

namespace bristle::geometry {

template <Scalar T>
struct SurfacePoint {
  T distance;      // signed: < 0 inside the body [m]
  Vec3<T> point;   // on the surface
  Vec3<T> normal;  // outward, unit
  Curvature<T> curvature;
};

template <Scalar T>
SurfacePoint<T> closest(const Plane&, const Vec3<T>& x) noexcept {
  return {x.z, {x.x, x.y, T(0)}, {T(0), T(0), T(1)}, Curvature<T>::flat()};
}

template <Scalar T>
SurfacePoint<T> closest(const Sphere& sphere, const Vec3<T>& x) noexcept {
  const T radius = constant<T>(sphere.radius);
  const T d = norm(x);
  const Vec3<T> n = unit_or(x, Vec3<T>{T(0), T(0), T(1)});
  return {d - radius, radius * n, n,
          sphere.radius > 0 ? Curvature<T>::round(T(1) / radius) : Curvature<T>::edge()};
}

template <Scalar T>
SurfacePoint<T> closest(const Capsule& capsule, const Vec3<T>& x) noexcept {
  const T half = constant<T>(capsule.half_length);
  const T radius = constant<T>(capsule.radius);
  const bool side = abs(x.z) < half;
  const T z = min(half, max(-half, x.z));
  const Vec3<T> out{x.x, x.y, x.z - z};
  const Vec3<T> n = unit_or(out, Vec3<T>{T(1), T(0), T(0)});
  const T k = T(1) / radius;
  const Curvature<T> curvature =
      side ? Curvature<T>{T(0), k, {T(0), T(0), T(1)}, false} : Curvature<T>::round(k);
  return {norm(out) - radius, Vec3<T>{T(0), T(0), z} + radius * n, n, curvature};
}

template <Scalar T>
SurfacePoint<T> closest(const Box& box, const Vec3<T>& x) noexcept {
  const Vec3<T> half = constant<T>(box.half);
  const Vec3<T> q{min(half.x, max(-half.x, x.x)), min(half.y, max(-half.y, x.y)),
                  min(half.z, max(-half.z, x.z))};
  const Vec3<T> out = x - q;
  const int beyond =
      (out.x == T(0) ? 0 : 1) + (out.y == T(0) ? 0 : 1) + (out.z == T(0) ? 0 : 1);
  if (beyond > 1) {
    const Vec3<T> n = unit_or(out, Vec3<T>{T(0), T(0), T(1)});
    return {dot(out, n), q, n, Curvature<T>::edge()};
  }
  // Beyond one face, or inside: the face with the largest signed distance.
  int face = 0;
  T distance = abs(x.x) - half.x;
  for (int i = 1; i < 3; ++i) {
    const T d = abs(at(x, i)) - at(half, i);
    if (d > distance) {
      distance = d;
      face = i;
    }
  }
  const T sign = at(x, face) < T(0) ? T(-1) : T(1);
  Vec3<T> n{T(0), T(0), T(0)};
  at(n, face) = sign;
  Vec3<T> on_face = x;
  at(on_face, face) = sign * at(half, face);
  return {distance, on_face, n, Curvature<T>::flat()};
}

template <Scalar T>
SurfacePoint<T> closest(const Cylinder& cylinder, const Vec3<T>& x) noexcept {
  const T half = constant<T>(cylinder.half_length);
  const T radius = constant<T>(cylinder.radius);
  const Vec3<T> radial{x.x, x.y, T(0)};
  const T rho = norm(radial);
  const Vec3<T> e = unit_or(radial, Vec3<T>{T(1), T(0), T(0)});
  const Vec3<T> axis{T(0), T(0), x.z < T(0) ? T(-1) : T(1)};
  const T side = rho - radius;      // signed distance from the mantle
  const T cap = abs(x.z) - half;    // and from the nearer end
  if (side > T(0) && cap > T(0)) {  // the rim
    const T d = sqrt(side * side + cap * cap);
    const Vec3<T> n = unit_or(side * e + cap * axis, axis);
    return {d, radius * e + half * axis, n, Curvature<T>::edge()};
  }
  if (cap > side) {
    return {cap, radial + half * axis, axis, Curvature<T>::flat()};
  }
  return {side, radius * e + Vec3<T>{T(0), T(0), x.z}, e,
          Curvature<T>{T(0), T(1) / radius, {T(0), T(0), T(1)}, false}};
}

/// Principal curvatures of x²/a² + y²/b² + z²/c² = 1 at p: with g = (x/a², y/b², z/c²),
/// Gauss K = 1/((abc)² |g|⁴), sum = (1/a² + 1/b² + 1/c² − gᵀDg/|g|²)/|g|, D = diag(1/a²,
/// …).
template <Scalar T>
Curvature<T> ellipsoid_curvature(const Ellipsoid& ellipsoid, const Vec3<T>& p,
                                 const Vec3<T>& n) noexcept {
  using N = Value<T>;
  const Vec3<T> s = constant<T>(ellipsoid.semi_axes);
  const Vec3<T> d{T(1) / square(s.x), T(1) / square(s.y), T(1) / square(s.z)};
  const Vec3<T> g{p.x * d.x, p.y * d.y, p.z * d.z};
  const T g2 = norm2(g);
  const T size = sqrt(g2);
  const T sum =
      (d.x + d.y + d.z - (g.x * g.x * d.x + g.y * g.y * d.y + g.z * g.z * d.z) / g2) /
      size;
  // The shape operator P D P/|g| on two tangents gives the principal directions.
  const Vec3<T> t1 = across(n);
  const Vec3<T> t2 = cross(n, t1);
  const auto form = [&](const Vec3<T>& u, const Vec3<T>& v) {
    return (u.x * d.x * v.x + u.y * d.y * v.y + u.z * d.z * v.z) / size;
  };
  const T a = form(t1, t1);
  const T b = form(t1, t2);
  const T c = form(t2, t2);
  const T spread = root(square(a - c) + T(4) * b * b);
  const T first = T(N(0.5)) * (sum + spread);
  const T second = T(N(0.5)) * (sum - spread);
  // Eigenvector of the larger one: (b, λ − a) or (λ − c, b), whichever is longer.
  const Vec3<T> v = abs(first - a) > abs(first - c) ? b * t1 + (first - a) * t2
                                                    : (first - c) * t1 + b * t2;
  return {first, second, unit_or(v, t1), false};
}

/// The closest point q solves x = q + t ∇, i.e. qᵢ = aᵢ² xᵢ/(t + aᵢ²) with
/// F(t) = Σ (aᵢ xᵢ/(t + aᵢ²))² − 1 = 0 for t > −min aᵢ² (Eberly, "Distance from a point
/// to an ellipse, an ellipsoid, or a hyperellipsoid", Geometric Tools, 2013). F is convex
/// and falls there, so that Newton's method from the left never overshoots.
template <Scalar T>
SurfacePoint<T> closest(const Ellipsoid& ellipsoid, const Vec3<T>& x) noexcept {
  const Vec3<double> s = ellipsoid.semi_axes;
  Vec3<double> y = values(x);
  int least = 0;
  for (int i = 1; i < 3; ++i) {
    if (at(s, i) < at(s, least)) least = i;
  }
  // In the middle plane of the shortest axis there are two closest points: take one side.
  const double nudge = 1e-9 * at(s, least);
  Vec3<T> moved = x;
  if (std::fabs(at(y, least)) < nudge) {
    const double inside =
        y.x * y.x / (s.x * s.x) + y.y * y.y / (s.y * s.y) + y.z * y.z / (s.z * s.z);
    if (inside < 1) {
      const double side = at(y, least) < 0 ? -nudge : nudge;
      at(moved, least) = at(moved, least) + constant<T>(side - at(y, least));
      at(y, least) = side;
    }
  }
  // In τ = t + min aᵢ², so that nothing cancels next to the pole.
  Vec3<double> rest;  // aᵢ² − min aᵢ²
  for (int i = 0; i < 3; ++i) {
    at(rest, i) = (at(s, i) - at(s, least)) * (at(s, i) + at(s, least));
  }
  // F ≥ 0 at the start: one term alone already reaches 1.
  double tau = 0;
  for (int i = 0; i < 3; ++i) {
    tau = std::fmax(tau, at(s, i) * std::fabs(at(y, i)) - at(rest, i));
  }
  for (int iteration = 0; iteration < 64; ++iteration) {
    double f = -1;
    double slope = 0;
    for (int i = 0; i < 3; ++i) {
      const double below = tau + at(rest, i);
      const double term = at(s, i) * at(y, i) / below;
      f += term * term;
      slope -= 2 * term * term / below;
    }
    if (!(slope < 0)) break;
    const double next = tau - f / slope;
    if (!(std::fabs(next - tau) > 4e-16 * tau)) break;
    tau = next;
  }
  // One step in T at the solution leaves the value and adds the derivatives of τ.
  const Vec3<T> sT = constant<T>(s);
  const Vec3<T> restT = constant<T>(rest);
  const T tau0 = constant<T>(tau);
  T f = T(-1);
  T slope = T(0);
  for (int i = 0; i < 3; ++i) {
    const T below = tau0 + at(restT, i);
    const T term = at(sT, i) * at(moved, i) / below;
    f += term * term;
    slope -= T(2) * term * term / below;
  }
  const T tauT = tau0 - f / slope;
  Vec3<T> q;
  Vec3<T> g;
  for (int i = 0; i < 3; ++i) {
    at(g, i) = at(moved, i) / (tauT + at(restT, i));
    at(q, i) = square(at(sT, i)) * at(g, i);
  }
  const Vec3<T> n = unit_or(g, Vec3<T>{T(0), T(0), T(1)});
  return {dot(x - q, n), q, n, ellipsoid_curvature(ellipsoid, q, n)};
}

/// A vertex, edge or face near x, chosen by value and measured in T. `along` is the unit
/// direction of an edge, `normal` the outward normal of a face, or where to look when x
/// lies on the edge or vertex itself.
enum class FeatureKind : int { face, edge, vertex };

template <Scalar T>
SurfacePoint<T> closest_on_feature(FeatureKind kind, const Vec3<double>& origin,
                                   const Vec3<double>& along, const Vec3<double>& normal,
                                   bool inside, const Vec3<T>& x) noexcept {
  const Vec3<T> o = constant<T>(origin);
  const Vec3<T> n = constant<T>(normal);
  if (kind == FeatureKind::face) {
    const T d = dot(x - o, n);
    return {d, x - d * n, n, Curvature<T>::flat()};
  }
  Vec3<T> q = o;
  if (kind == FeatureKind::edge) {
    const Vec3<T> e = constant<T>(along);
    q = o + dot(x - o, e) * e;
  }
  const T sign = inside ? T(-1) : T(1);
  const Vec3<T> m = unit_or(sign * (x - q), n);
  return {dot(x - q, m), q, m, Curvature<T>::edge()};
}

/// Outside: the nearest of the faces that see x. Inside: the face with the least depth.
template <Scalar T>
SurfacePoint<T> closest(const Convex& convex, const Vec3<T>& xT) noexcept {
  const ConvexHull& hull = *convex.hull;
  const Vec3<double> x = values(xT);
  FeatureKind kind = FeatureKind::face;
  Vec3<double> origin{};
  Vec3<double> along{};
  Vec3<double> normal{};
  double best = HUGE_VAL;
  double highest = -HUGE_VAL;  // largest signed distance from a face's plane
  for (std::uint32_t f = 0; f < hull.face_count(); ++f) {
    const Vec3<double>& n = hull.normals[f];
    const double height = dot(x, n) - hull.offsets[f];
    if (height <= 0) {
      if (best == HUGE_VAL && height > highest) {
        highest = height;
        kind = FeatureKind::face;
        origin = hull.vertices[hull.face_vertices[hull.face_start[f]]];
        normal = n;
      }
      continue;
    }
    if (height * height >= best) continue;
    // Is x above the polygon, or beyond one of its edges?
    const auto face = hull.face(f);
    bool above = true;
    for (std::size_t i = 0; i < face.size(); ++i) {
      const Vec3<double>& p = hull.vertices[face[i]];
      const Vec3<double>& q = hull.vertices[face[i + 1 == face.size() ? 0 : i + 1]];
      const Vec3<double> e = q - p;
      if (dot(cross(n, e), x - p) >= 0) continue;
      above = false;
      const double length2 = norm2(e);
      const double s = dot(x - p, e);
      const bool at_p = s <= 0;
      const bool at_q = s >= length2;
      const Vec3<double> c = at_p ? p : (at_q ? q : p + (s / length2) * e);
      const double d2 = norm2(x - c);
      if (d2 < best) {
        best = d2;
        kind = at_p || at_q ? FeatureKind::vertex : FeatureKind::edge;
        origin = at_q ? q : p;
        along = (1 / std::sqrt(length2)) * e;
        normal = n;
      }
    }
    if (above) {
      best = height * height;
      kind = FeatureKind::face;
      origin = hull.vertices[face[0]];
      normal = n;
    }
  }
  return closest_on_feature<T>(kind, origin, along, normal, false, xT);
}

}  // namespace bristle::geometry
