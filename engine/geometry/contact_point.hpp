#pragma once

#include <cstdint>
#include <limits>

#include "bristle/geometry/pose.hpp"

// The results of the narrow phase: contact points of two shapes.
//
//   n   unit normal from A into B, world axes
//   δ   depth, (a − b)·n: > 0 in overlap of the undeformed shapes, < 0 apart
//   a   on the surface of A, b on the surface of B
//
// Moving B by dx changes the depth by dδ = −n·dx, moving A by dx by +n·dx.

namespace bristle {

/// How the two surfaces meet at a contact point.
enum class Patch : std::uint8_t {
  sharp,  // a vertex, an edge, a point: no radius (0)
  point,  // Hertz's elliptical contact
  line,   // a cylinder along a flat or another cylinder: one curvature only
  flat,   // face on face, or surfaces that conform: the radius is infinite
};

/// Contacts of one pair of shapes, at most.
inline constexpr int max_contacts = 8;

template <Scalar T>
struct ContactPoint {
  Vec3<T> on_a;    // a [m]
  Vec3<T> on_b;    // b [m]
  Vec3<T> normal;  // n
  T depth;         // δ [m]
  /// Equivalent radius R [m] from the relative principal curvatures κ₁ ≥ κ₂ (those of A
  /// plus those of B; a hollow counts negative). Point: R = 1/√(κ₁κ₂) (Johnson, Contact
  /// Mechanics, 1985, § 4.1: R_e = √(R′R″)), which for two spheres is 1/R = 1/R₁ + 1/R₂.
  /// Line: R = 1/κ₁, across the line. Flat: infinity. Sharp: 0.
  T radius;
  Patch patch;
  /// Which features meet: the same number while the same contact lasts, different for the
  /// contacts of one pair. 0 where a pair of shapes has one contact at most.
  std::uint32_t feature;
};

template <Scalar T>
struct Contacts {
  ContactPoint<T> points[max_contacts];
  int count = 0;
  int dropped = 0;  // contacts beyond max_contacts; the shallowest are the ones left out
  bool radii = true;  // false: radius and patch of the contacts may be left out

  ContactPoint<T>* begin() { return points; }
  ContactPoint<T>* end() { return points + count; }
  const ContactPoint<T>* begin() const { return points; }
  const ContactPoint<T>* end() const { return points + count; }
  ContactPoint<T>& operator[](int i) { return points[i]; }
  const ContactPoint<T>& operator[](int i) const { return points[i]; }

  /// Adds a contact; when full, in place of the shallowest.
  void add(const ContactPoint<T>& point) noexcept {
    if (count < max_contacts) {
      points[count++] = point;
      return;
    }
    ++dropped;
    int shallowest = 0;
    for (int i = 1; i < count; ++i) {
      if (value_of(points[i].depth) < value_of(points[shallowest].depth)) shallowest = i;
    }
    if (value_of(point.depth) > value_of(points[shallowest].depth)) {
      points[shallowest] = point;
    }
  }
};

namespace geometry {

/// Curvature of a surface at a point; positive where the body bulges out.
template <Scalar T>
struct Curvature {
  T first, second;    // principal curvatures [1/m]
  Vec3<T> direction;  // of the first, unit
  bool sharp;         // vertex or edge: infinite

  static Curvature flat() { return {T(0), T(0), Vec3<T>{T(1), T(0), T(0)}, false}; }
  static Curvature edge() { return {T(0), T(0), Vec3<T>{T(1), T(0), T(0)}, true}; }
  static Curvature round(const T& k) { return {k, k, Vec3<T>{T(1), T(0), T(0)}, false}; }
};

template <Scalar T>
struct Meeting {
  T radius;
  Patch patch;
};

/// Relative principal curvatures of two touching surfaces, reduced to one radius.
/// κ₁,₂ = ½(Σκ ± √(Δ_A² + Δ_B² + 2 Δ_A Δ_B cos 2α)), Δ = difference of the principal
/// curvatures of a body, α the angle between the principal directions (Johnson 1985,
/// eq. 4.3).
template <Scalar T>
Meeting<T> meet(const Curvature<T>& a, const Curvature<T>& b) noexcept {
  using N = Value<T>;
  if (a.sharp || b.sharp) return {T(0), Patch::sharp};
  const T sum = a.first + a.second + b.first + b.second;
  const T da = a.first - a.second;
  const T db = b.first - b.second;
  const T c = dot(a.direction, b.direction);
  const T cos2 = T(2) * c * c - T(1);
  const T spread = root(da * da + db * db + T(2) * da * db * cos2);
  const T k1 = T(N(0.5)) * (sum + spread);
  const T k2 = T(N(0.5)) * (sum - spread);
  const N small = N(1e-9) * (value_of(abs(a.first)) + value_of(abs(a.second)) +
                             value_of(abs(b.first)) + value_of(abs(b.second)));
  if (value_of(k2) > small) return {T(1) / sqrt(k1 * k2), Patch::point};
  if (value_of(k2) >= -small && value_of(k1) > small) return {T(1) / k1, Patch::line};
  return {T(std::numeric_limits<N>::infinity()), Patch::flat};
}

}  // namespace geometry
}  // namespace bristle
