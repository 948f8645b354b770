#pragma once

#include <array>
#include <cmath>

#include "bristle/core/trigonometry.hpp"
#include "bristle/geometry/pose.hpp"
#include "bristle/geometry/shapes.hpp"
#include "bristle/spatial/sym3.hpp"

// The volume that two undeformed shapes share, as a volumetric contact needs it.
//
// δ(s) is the chord of the overlap along the normal n, S the projection of the overlap
// along n, so that every integral over S weighted by δ is a volume integral of tangential
// coordinates. The section is the part of the surface of one body inside the other: of
// the plane inside a body, of the disc that the intersection of two spheres bounds.

namespace bristle {

template <Scalar T>
struct Overlap {
  Vec3<T> normal;         // n from A into B, unit
  T depth;                // δ, the deepest chord to the plane [m]; negative apart
  T volume;               // V = ∫ δ dS [m³]
  T potential;            // W = ∫ V dδ [m⁴]; V ζ for a plane
  T centroid_depth;       // ζ, depth of the volume's centroid below the section [m]
  Vec3<T> centroid;       // s_c = ∫ s δ dS / V, in the section's plane, world [m]
  Sym3<T> moments;        // ∫ ρ ρᵀ δ dS about s_c, tangential, world axes [m⁵]
  T area;                 // A of the section = ∂V/∂δ [m²]
  Vec3<T> area_centroid;  // of the section, world [m]
  Sym3<T> area_moments;   // of the section about its centroid, tangential, world [m⁴]
  Vec3<T> foot;           // projection of the deepest point on the section's plane [m]
};

namespace geometry {

/// Volume integrals about a reference point, in world axes. Only tangential components
/// of `first` and `second` are used.
template <Scalar T>
struct VolumeMoments {
  T volume = T(0);
  Vec3<T> first{T(0), T(0), T(0)};   // ∫ p dV
  Sym3<T> second = Sym3<T>::zero();  // ∫ p pᵀ dV
  T depth = T(0);                    // ∫ (depth below the plane) dV
};

/// Area integrals of a section about a reference point, in world axes.
template <Scalar T>
struct AreaMoments {
  T area = T(0);
  Vec3<T> first{T(0), T(0), T(0)};
  Sym3<T> second = Sym3<T>::zero();
};

/// u vᵀ + v uᵀ
template <Scalar T>
BRISTLE_INLINE Sym3<T> outer_sum(const Vec3<T>& u, const Vec3<T>& v) {
  return {T(2) * u.x * v.x,      T(2) * u.y * v.y,      T(2) * u.z * v.z,
          u.x * v.y + u.y * v.x, u.x * v.z + u.z * v.x, u.y * v.z + u.z * v.y};
}

/// 1 − n nᵀ
template <Scalar T>
BRISTLE_INLINE Sym3<T> across_projection(const Vec3<T>& n) {
  return Sym3<T>::diagonal(T(1), T(1), T(1)) - outer(n);
}

/// P S P with P = 1 − n nᵀ
template <Scalar T>
BRISTLE_INLINE Sym3<T> projected(const Sym3<T>& s, const Vec3<T>& n) {
  const Vec3<T> v = s * n;
  return s - outer_sum(n, v) + dot(n, v) * outer(n);
}

/// The same integrals about a reference point from which the old one is at `offset`.
template <Scalar T>
VolumeMoments<T> moved(const VolumeMoments<T>& m, const Vec3<T>& offset) noexcept {
  return {m.volume, m.first + m.volume * offset,
          m.second + outer_sum(m.first, offset) + m.volume * outer(offset), m.depth};
}
template <Scalar T>
AreaMoments<T> moved(const AreaMoments<T>& m, const Vec3<T>& offset) noexcept {
  return {m.area, m.first + m.area * offset,
          m.second + outer_sum(m.first, offset) + m.area * outer(offset)};
}
template <Scalar T>
VolumeMoments<T> operator+(const VolumeMoments<T>& a, const VolumeMoments<T>& b) {
  return {a.volume + b.volume, a.first + b.first, a.second + b.second, a.depth + b.depth};
}
template <Scalar T>
AreaMoments<T> operator+(const AreaMoments<T>& a, const AreaMoments<T>& b) {
  return {a.area + b.area, a.first + b.first, a.second + b.second};
}

/// A half-space with normal n that a shape enters to the depth δ at its deepest point,
/// whose projection on the plane is `foot`.
template <Scalar T>
struct PlaneMeeting {
  Vec3<T> normal;
  T depth;
  Vec3<T> foot;
};

/// Volumes below this count as 0: centroids would be quotients of underflowing numbers.
inline constexpr double least_volume = 1e-100;

template <Scalar T>
Overlap<T> no_overlap(const PlaneMeeting<T>& meeting) noexcept {
  return {.normal = meeting.normal,
          .depth = meeting.depth,
          .volume = T(0),
          .potential = T(0),
          .centroid_depth = T(0),
          .centroid = meeting.foot,
          .moments = Sym3<T>::zero(),
          .area = T(0),
          .area_centroid = meeting.foot,
          .area_moments = Sym3<T>::zero(),
          .foot = meeting.foot};
}

/// The overlap with a half-space from integrals about the foot.
template <Scalar T>
Overlap<T> plane_overlap(const PlaneMeeting<T>& meeting, const VolumeMoments<T>& volume,
                         const AreaMoments<T>& section) noexcept {
  Overlap<T> o = no_overlap(meeting);
  if (!(value_of(volume.volume) > Value<T>(least_volume))) return o;
  const Vec3<T>& n = meeting.normal;
  const auto tangential = [&n](const Vec3<T>& v) { return v - dot(n, v) * n; };
  o.volume = volume.volume;
  o.potential = volume.depth;
  o.centroid_depth = volume.depth / volume.volume;
  const Vec3<T> c = tangential((T(1) / volume.volume) * volume.first);
  o.centroid = meeting.foot + c;
  o.moments = projected(volume.second, n) - volume.volume * outer(c);
  if (!(value_of(section.area) > Value<T>(least_volume))) {
    o.area_centroid = o.centroid;
    return o;
  }
  o.area = section.area;
  const Vec3<T> a = tangential((T(1) / section.area) * section.first);
  o.area_centroid = meeting.foot + a;
  o.area_moments = projected(section.second, n) - section.area * outer(a);
  return o;
}

/// Gauss & Legendre's 16 points on [0, 1]: pairs x and 1 − x with their weight.
struct GaussPair {
  double high, low, weight;
};
inline constexpr std::array<GaussPair, 8> gauss_pairs{{
    {0.994700467495825, 0.005299532504175033, 0.013576229705877048},
    {0.9722875115366163, 0.02771248846338371, 0.031126761969323947},
    {0.9328156011939158, 0.06718439880608412, 0.04757925584124639},
    {0.8777022041775016, 0.12229779582249849, 0.06231448562776694},
    {0.8089381222013219, 0.19106187779867811, 0.07479799440828837},
    {0.7290083888286137, 0.2709916111713863, 0.08457825969750127},
    {0.6408017753896295, 0.35919822461037054, 0.09130170752246179},
    {0.5475062549188188, 0.4524937450811813, 0.09472530522753425},
}};

/// Calls visit(x, w) at the points of [a, b] with their weights.
template <class Visit>
void gauss(double a, double b, const Visit& visit) {
  for (const GaussPair& p : gauss_pairs) {
    visit(a + (b - a) * p.low, (b - a) * p.weight);
    visit(b - (b - a) * p.low, (b - a) * p.weight);
  }
}

/// What is left of sin x when its Taylor series up to x^{k−2} is taken off, k = 3, 5, 7;
/// without cancellation for small x.
template <int k, Scalar T>
T sin_remainder(const T& x) {
  using N = Value<T>;
  static_assert(k == 3 || k == 5 || k == 7);
  const T z = x * x;
  if (value_of(z) < N(4)) {
    // x^k/k! (1 − z/((k+1)(k+2)) (1 − …)); for |x| < 2 the terms left out are below
    // 1e-18.
    T sum = T(1);
    for (int i = k + 24; i >= k + 2; i -= 2) {
      sum = T(1) - z * T(N(1.0 / (i * (i - 1)))) * sum;
    }
    T power = x;
    double factorial = 1;
    for (int i = 2; i < k; i += 2) {
      power = power * z;
      factorial *= -i * (i + 1);
    }
    return T(N(1 / factorial)) * power * sum;
  }
  T rest = sincos(x).sin - x;
  if constexpr (k >= 5) rest = rest + x * z * T(N(1.0 / 6));
  if constexpr (k >= 7) rest = rest - x * z * z * T(N(1.0 / 120));
  return rest;
}

/// The part of a disc within the angle φ of a direction, by u, the distance from the rim
/// along that direction, and y across: φ in [0, π].
template <Scalar T>
struct Segment {
  T area;
  T first;     // ∫ u dA
  T second_u;  // ∫ u² dA
  T second_y;  // ∫ y² dA
};

template <Scalar T>
Segment<T> segment(const T& r, const T& phi) {
  using N = Value<T>;
  const T r2 = r * r;
  const auto s5 = [&phi](double m) { return sin_remainder<5>(T(N(m)) * phi); };
  const auto s7 = [&phi](double m) { return sin_remainder<7>(T(N(m)) * phi); };
  const T one = s5(1), two = s5(2), three = s5(3), four = s5(4);
  return {
      T(N(-0.5)) * r2 * sin_remainder<3>(T(2) * phi),
      r2 * r * (three * T(N(1.0 / 6)) - T(N(0.5)) * (one + two)),
      r2 * r2 *
          (s7(3) * T(N(1.0 / 3)) - s7(1) - T(N(0.5)) * s7(2) - s7(4) * T(N(1.0 / 16))),
      r2 * r2 * T(N(2.0 / 3)) * (four * T(N(1.0 / 32)) - two * T(N(0.25)))};
}

/// The angle φ at which u = r (1 − cos φ), for u in [0, 2r].
template <Scalar T>
BRISTLE_INLINE T segment_angle(const T& u, const T& r) {
  return T(2) * atan2(root(u), root(T(2) * r - u));
}

}  // namespace geometry
}  // namespace bristle
