#pragma once

#include <numbers>

#include "bristle/geometry/overlap_moments.hpp"
#include "bristle/geometry/round_overlaps.hpp"

// Cylinders and capsules against a half-space, at any tilt.
//
// The cylinder stands on its lower end: ẑ along its axis away from that end, x̂ across it,
// rising with the plane's normal, ŷ along the plane: n = s x̂ + c ẑ with s, c ≥ 0. Points
// are u x̂ + y ŷ + z ẑ from the deepest point of the lower rim; their depth below the
// plane is δ − s u − c z.
//
// Where a boundary of an integral moves with the pose, the integrand either vanishes
// there or goes on continuously on its other side; derivatives then follow from the
// integrand alone (Leibniz), and nodes are plain numbers.

namespace bristle::geometry {

template <Scalar T>
struct StandingCylinder {
  Vec3<T> x, y, z;  // axes, world
  T s, c;           // sine and cosine of the tilt
  T radius, length;
  T end_depth;         // of the lower end's centre
  T depth;             // δ of the deepest point
  Vec3<T> end_centre;  // world
  PlaneMeeting<T> meeting;
  Vec3<T> rim_from_foot;  // the deepest rim point from the foot

  StandingCylinder(const Transform<T>& plane, const Transform<T>& pose, const T& r,
                   const T& half_length) noexcept {
    const Vec3<T> n = axis(plane, 2);
    const Vec3<T> a = axis(pose, 2);
    const T cosine = dot(n, a);
    const bool upright = value_of(cosine) >= Value<T>(0);
    z = upright ? a : -a;
    c = upright ? cosine : -cosine;
    const Vec2<T> sideways{dot(n, axis(pose, 0)), dot(n, axis(pose, 1))};
    s = norm(sideways);
    x = value_of(s) > Value<T>(0)
            ? (sideways.x / s) * axis(pose, 0) + (sideways.y / s) * axis(pose, 1)
            : axis(pose, 0);
    y = cross(z, x);
    radius = r;
    length = T(2) * half_length;
    end_centre = pose.p - half_length * z;
    end_depth = half_length * c - dot(pose.p - plane.p, n);
    depth = end_depth + r * s;
    rim_from_foot = -depth * n;
    meeting = {n, depth, end_centre - r * x + depth * n};
  }

  /// The same, entering the plane to a depth that is known better than by the poses.
  StandingCylinder at_depth(const T& known) const noexcept {
    StandingCylinder k = *this;
    k.depth = k.meeting.depth = known;
    k.end_depth = known - radius * s;
    k.rim_from_foot = -known * meeting.normal;
    return k;
  }
};

/// Integrals in u, y and z about the deepest rim point.
template <Scalar T>
struct AxisMoments {
  T volume = T(0);
  T u = T(0), z = T(0);
  T uu = T(0), yy = T(0), zz = T(0), uz = T(0);
  T depth = T(0);

  VolumeMoments<T> in_world(const StandingCylinder<T>& k) const {
    return {
        volume, u * k.x + z * k.z,
        uu * outer(k.x) + yy * outer(k.y) + zz * outer(k.z) + uz * outer_sum(k.x, k.z),
        depth};
  }
};

/// The plane cuts every line of the mantle: polynomials, no direction of tilt needed.
template <Scalar T>
Overlap<T> cut_across(const StandingCylinder<T>& k) noexcept {
  using N = Value<T>;
  const Vec3<T>& n = k.meeting.normal;
  const T r2 = k.radius * k.radius;
  const T disc = T(std::numbers::pi_v<N>) * r2;
  const T quarter = T(N(0.25)) * disc * r2;  // ∫ x² over the end
  const T e = k.end_depth;
  const T per_c = T(1) / k.c;
  const Vec3<T> tilt = n - k.c * k.z;  // s x̂
  const T tilt2 = norm2(tilt);
  const T squares = e * e * disc + tilt2 * quarter;  // ∫ e(x)²
  VolumeMoments<T> volume;
  volume.volume = disc * e * per_c;
  volume.first = (T(N(0.5)) * squares * per_c * per_c) * k.z - (quarter * per_c) * tilt;
  volume.second = (e * quarter * per_c) * across_projection(k.z) -
                  (e * quarter * per_c * per_c) * outer_sum(tilt, k.z) +
                  (e * (e * e * disc + T(3) * tilt2 * quarter) * per_c * per_c * per_c *
                   T(N(1.0 / 3))) *
                      outer(k.z);
  volume.depth = T(N(0.5)) * squares * per_c;
  AreaMoments<T> section;
  section.area = disc * per_c;
  section.first = (section.area * e * per_c) * k.z;
  // Points of the section are p + (e − tilt·p)/c ẑ.
  section.second =
      (quarter * per_c) * (across_projection(k.z) - per_c * outer_sum(tilt, k.z) +
                           (tilt2 * per_c * per_c) * outer(k.z)) +
      (section.area * square(e * per_c)) * outer(k.z);
  const Vec3<T> from_foot = k.end_centre - k.meeting.foot;
  return plane_overlap(k.meeting, moved(volume, from_foot), moved(section, from_foot));
}

/// A piece of length ℓ that the plane does not reach, over a segment of the end.
template <Scalar T>
void add_prism(AxisMoments<T>& m, const StandingCylinder<T>& k,
               const Segment<T>& g) noexcept {
  using N = Value<T>;
  const T& l = k.length;
  m.volume += g.area * l;
  m.u += g.first * l;
  m.z += T(N(0.5)) * g.area * l * l;
  m.uu += g.second_u * l;
  m.yy += g.second_y * l;
  m.zz += T(N(1.0 / 3)) * g.area * l * l * l;
  m.uz += T(N(0.5)) * g.first * l * l;
  m.depth += l * (g.area * (k.depth - T(N(0.5)) * k.c * l) - k.s * g.first);
}

/// Slices across u = r (1 − cos φ): prisms up to φ₂, then lines that end in the plane.
template <Scalar T>
AxisMoments<T> slices_of_mantle(const StandingCylinder<T>& k, double phi_1,
                                double phi_2) noexcept {
  using N = Value<T>;
  AxisMoments<T> m;
  if (phi_2 > 0) add_prism(m, k, segment(k.radius, T(static_cast<N>(phi_2))));
  if (!(phi_1 > phi_2)) return m;
  gauss(phi_2, phi_1, [&](double phi, double weight) {
    const SinCos<double> half = sincos(0.5 * phi);
    const double sine = 2 * half.sin * half.cos;
    const T u = T(static_cast<N>(2 * half.sin * half.sin)) * k.radius;
    const T w = T(static_cast<N>(sine)) * k.radius;
    const T e = k.depth - k.s * u;
    const T l = max(e, T(0)) / k.c;
    const T chord = T(static_cast<N>(2 * weight * sine)) * k.radius * w;  // 2 w du
    const T l2 = l * l;
    m.volume += chord * l;
    m.u += chord * l * u;
    m.z += T(N(0.5)) * chord * l2;
    m.uu += chord * l * u * u;
    m.yy += T(N(1.0 / 3)) * chord * w * w * l;
    m.zz += T(N(1.0 / 3)) * chord * l2 * l;
    m.uz += T(N(0.5)) * chord * l2 * u;
    m.depth += T(N(0.5)) * chord * l * max(e, T(0));
  });
  return m;
}

/// Slices across the axis, each a segment of a disc: a cylinder that lies, or nearly.
template <Scalar T>
AxisMoments<T> slices_of_length(const StandingCylinder<T>& k) noexcept {
  using N = Value<T>;
  AxisMoments<T> m;
  gauss(0, 1, [&](double part, double weight) {
    const T z = T(static_cast<N>(part)) * k.length;
    const T dz = T(static_cast<N>(weight)) * k.length;
    const T e = k.depth - k.c * z;
    const Segment<T> g = segment(k.radius, segment_angle(e / k.s, k.radius));
    m.volume += dz * g.area;
    m.u += dz * g.first;
    m.z += dz * z * g.area;
    m.uu += dz * g.second_u;
    m.yy += dz * g.second_y;
    m.zz += dz * z * z * g.area;
    m.uz += dz * z * g.first;
    m.depth += dz * (e * g.area - k.s * g.first);
  });
  return m;
}

/// The section: a strip of the ellipse in which the plane cuts the mantle, of half-width
/// √(u (2r − u)), from one end of the line (u, z) to the other.
template <Scalar T>
AreaMoments<T> strip(const StandingCylinder<T>& k, double phi_1, double phi_2,
                     bool narrow) noexcept {
  using N = Value<T>;
  AreaMoments<T> a;
  const T full = T(2) * k.radius;
  const bool rim_1 = value_of(k.depth) < value_of(k.s * full);  // meets the lower end
  const bool rim_2 = value_of(k.depth) > value_of(k.c * k.length);
  const T u1 = rim_1 ? k.depth / k.s : full;
  const T z1 = rim_1 ? T(0) : (k.depth - k.s * full) / k.c;
  const T u2 = rim_2 ? (k.depth - k.c * k.length) / k.s : T(0);
  const T z2 = rim_2 ? k.length : k.depth / k.c;
  if (!(value_of(u1) > value_of(u2)) && !(value_of(z2) > value_of(z1))) return a;
  const T span = value_of(k.s) > value_of(k.c) ? (z2 - z1) / k.s : (u1 - u2) / k.c;
  const auto add = [&](const T& part, const T& u, const T& dt) {
    const T z = z2 + part * (z1 - z2);
    const T w = root(u * (full - u));
    const T strip_area = T(2) * w * dt;
    const Vec3<T> p = u * k.x + z * k.z;
    a.area += strip_area;
    a.first = a.first + strip_area * p;
    a.second = a.second + strip_area * outer(p) +
               (T(N(1.0 / 3)) * strip_area * w * w) * outer(k.y);
  };
  if (narrow) {
    gauss(0, 1, [&](double part, double weight) {
      const T at = T(static_cast<N>(part));
      add(at, u2 + at * (u1 - u2), T(static_cast<N>(weight)) * span);
    });
  } else {
    gauss(phi_2, phi_1, [&](double phi, double weight) {
      const SinCos<double> half = sincos(0.5 * phi);
      const T u = T(static_cast<N>(2 * half.sin * half.sin)) * k.radius;
      const T du = T(static_cast<N>(2 * weight * half.sin * half.cos)) * k.radius;
      add((u - u2) / (u1 - u2), u, du / (u1 - u2) * span);
    });
  }
  return a;
}

/// The integrals of a clipped cylinder about the foot of its deepest rim point.
template <Scalar T>
struct ClippedCylinder {
  VolumeMoments<T> volume;
  AreaMoments<T> section;
};

template <Scalar T>
ClippedCylinder<T> clip_tilted(const StandingCylinder<T>& k) noexcept {
  const double s = static_cast<double>(value_of(k.s));
  const double c = static_cast<double>(value_of(k.c));
  const double d = 2 * static_cast<double>(value_of(k.radius));
  const double depth = static_cast<double>(value_of(k.depth));
  const double above = depth - c * static_cast<double>(value_of(k.length));
  const auto angle = [&](double e) {
    if (!(e > 0)) return 0.0;
    if (!(e < s * d)) return std::numbers::pi;
    return segment_angle(e / s, 0.5 * d);
  };
  const double phi_1 = angle(depth);
  const double phi_2 = angle(above);
  // Narrow: √(u (2r − u)) is smooth over the strip, which Gauss then integrates to
  // rounding: its branch points 0 and 2r are at least 5/3 of the half-width from the
  // middle.
  const bool narrow = above > 0.25 * depth && 4 * (s * d - depth) > s * d - above;
  const AxisMoments<T> m =
      narrow ? slices_of_length(k) : slices_of_mantle(k, phi_1, phi_2);
  return {moved(m.in_world(k), k.rim_from_foot),
          moved(strip(k, phi_1, phi_2, narrow), k.rim_from_foot)};
}

template <Scalar T>
Overlap<T> cylinder_overlap(const StandingCylinder<T>& k) noexcept {
  using N = Value<T>;
  if (!(value_of(k.depth) > N(0))) return no_overlap(k.meeting);
  const bool whole_end = value_of(k.end_depth - k.radius * k.s) >= N(0);
  if (whole_end && value_of(k.depth) <= value_of(k.c * k.length)) return cut_across(k);
  const ClippedCylinder<T> clipped = clip_tilted(k);
  return plane_overlap(k.meeting, clipped.volume, clipped.section);
}

template <Scalar T>
Overlap<T> overlap_of(const Plane&, const Transform<T>& plane, const Cylinder& cylinder,
                      const Transform<T>& pose) noexcept {
  return cylinder_overlap(StandingCylinder<T>(plane, pose, constant<T>(cylinder.radius),
                                              constant<T>(cylinder.half_length)));
}

/// Gauss on panels of [a, b] that shrink towards π/2, where the integrand varies over a
/// length of `scale`.
template <class Visit>
void graded(double a, double b, double scale, const Visit& visit) {
  double width = std::fmax(scale, std::fmax(1e-9, 0.5 * std::numbers::pi - b));
  if (width > 0.9) width = 4;
  for (; b > a; width *= 3) {
    const double low = std::fmax(a, b - width);
    gauss(low, b, visit);
    b = low;
  }
}

/// The half of a ball beyond its equator: the side of the unit vector m, clipped by the
/// half-space at the height d of its centre. In polar coordinates ϱ, θ about the line
/// through the centre along both planes, θ from −n, each half-plane of constant θ holds a
/// segment of the disc of radius r, cut at ϱ = d/cos θ = r cos ψ.
template <Scalar T>
struct HalfBall {
  Vec3<T> n, t, y;  // t: tangential part of m, unit
  T r, depth;       // depth = r − d
  T mt, mn;         // m = mt t − mn n, mt ≥ 0

  HalfBall(const Vec3<T>& normal, const Vec3<T>& m, const T& radius,
           const T& ball_depth) noexcept
      : n(normal), r(radius), depth(ball_depth), mn(-dot(normal, m)) {
    const Vec3<T> sideways = m + mn * n;
    mt = norm(sideways);
    t = value_of(mt) > Value<T>(0) ? (T(1) / mt) * sideways : across(n);
    y = cross(n, t);
  }

  /// About the centre, for a centre not below the plane; d ≥ 0.
  VolumeMoments<T> clipped() const noexcept {
    using N = Value<T>;
    VolumeMoments<T> all;
    const T chord2 = depth * (T(2) * r - depth);  // (r sin θ_max)²
    if (!(value_of(depth) > N(0))) return all;
    const double versine =  // 1 − cos θ_max
        static_cast<double>(value_of(depth)) / static_cast<double>(value_of(r));
    const double cosine = 1 - versine;
    const double sigma = std::sqrt(versine * (2 - versine));
    const double across_cut = static_cast<double>(value_of(mt));
    const double along_cut = static_cast<double>(value_of(mn));
    const bool below = value_of(mn) > N(0);
    // sin² θ_max − sin² θ of the cut, by whichever form loses less
    const double beyond = versine < 0.5 ? (sigma - along_cut) * (sigma + along_cut)
                                        : (across_cut - cosine) * (across_cut + cosine);
    if (!(beyond > 0)) {  // the equator does not reach the plane
      if (!below) return all;
      const UnitCap<T> cap = unit_cap(depth / r);
      all.volume = r * r * r * cap.volume;
      all.depth = all.volume * r * cap.depth;
      all.second = (square(r * r) * r * cap.across) * across_projection(n);
      return all;
    }
    const T cut = atan2(-mn, mt);  // θ ≥ cut
    const T turn_of_cut = cut - T(value_of(cut));
    const auto at = [&](double v, double weight) {
      const SinCos<double> angle = sincos(v);
      const double sin_0 = sigma * angle.sin;
      const double cos_0 = std::hypot(cosine, sigma * angle.cos);
      const T sin_theta =
          T(static_cast<N>(sin_0)) + T(static_cast<N>(cos_0)) * turn_of_cut;
      const T cos_theta =
          T(static_cast<N>(cos_0)) - T(static_cast<N>(sin_0)) * turn_of_cut;
      add(all, sin_theta, cos_theta, chord2,
          T(static_cast<N>(weight * sigma * angle.cos / cos_0)));
    };
    // sin θ = σ sin v from the cut to v = π/2.
    const double from = std::atan2(-along_cut, std::sqrt(beyond));
    graded(std::fmax(from, 0), 0.5 * std::numbers::pi, cosine, at);
    if (from < 0) {
      graded(0, -from, cosine, [&at](double v, double weight) { at(-v, weight); });
    }
    return all;
  }

  /// The part of the section on the side of m, about the foot of the centre.
  AreaMoments<T> section() const noexcept {
    using N = Value<T>;
    AreaMoments<T> a;
    const T rho = root(depth * (T(2) * r - depth));
    if (!(value_of(rho) > N(0))) return a;
    const T d = r - depth;
    // Points ξ t + y ŷ at mt ξ + mn d > 0.
    const T reach = mt * rho;
    const T edge = -mn * d;
    // An equator in the plane itself belongs to the half below it.
    const bool whole = value_of(edge) <= -value_of(reach) && value_of(mn) > N(0);
    if (!whole && value_of(edge) >= value_of(reach)) return a;
    T phi = T(std::numbers::pi_v<N>);
    if (value_of(edge) > -value_of(reach)) {
      const T xi = edge / mt;
      phi = atan2(root((rho - xi) * (rho + xi)), xi);
    }
    const Segment<T> g = segment(rho, phi);
    a.area = g.area;
    a.first = (rho * g.area - g.first) * t;
    a.second = (rho * rho * g.area - T(2) * rho * g.first + g.second_u) * outer(t) +
               g.second_y * outer(y);
    return a;
  }

 private:
  void add(VolumeMoments<T>& all, const T& sin_theta, const T& cos_theta, const T& chord2,
           const T& weight) const noexcept {
    using N = Value<T>;
    const T e = (r - depth) / cos_theta;
    // r² cos² θ − d², by whichever form loses less
    const T rc = r * cos_theta, d = r - depth;
    const T q2 = value_of(d) < N(0.5) * value_of(r) ? (rc - d) * (rc + d)
                                                    : chord2 - square(r * sin_theta);
    const T q = root(q2) / cos_theta;
    const T psi = atan2(q, e);
    const T r4 = square(r * r);
    const T q3 = q * q * q;
    // ∫∫ ϱ, ϱ², ϱ³, ϱ y² and ϱ (ϱ − e) over the segment ϱ > e of the disc
    const T one = T(N(2.0 / 3)) * q3;
    const T two = r4 * T(N(-1.0 / 16)) * sin_remainder<3>(T(4) * psi);
    const T three = q3 * (T(N(2.0 / 3)) * e * e + T(N(4.0 / 15)) * q * q);
    const T across_y = T(N(2.0 / 15)) * q3 * q * q;
    const T deep = r4 * (sin_remainder<5>(T(4) * psi) * T(N(1.0 / 48)) -
                         sin_remainder<5>(T(2) * psi) * T(N(1.0 / 6)));
    all.volume += weight * one;
    all.first = all.first + (weight * two * sin_theta) * t;
    all.second = all.second + (weight * three * square(sin_theta)) * outer(t) +
                 (weight * across_y) * outer(y);
    all.depth += weight * cos_theta * deep;
  }
};

/// The clipped half of a ball on the side of m, about the centre, whether the centre is
/// above the plane or below.
template <Scalar T>
VolumeMoments<T> half_ball(const Vec3<T>& n, const Vec3<T>& m, const T& r,
                           const T& depth) noexcept {
  using N = Value<T>;
  if (value_of(depth) <= value_of(r)) return HalfBall<T>(n, m, r, depth).clipped();
  const VolumeMoments<T> dry = HalfBall<T>(-n, m, r, T(2) * r - depth).clipped();
  const T pi = T(std::numbers::pi_v<N>);
  VolumeMoments<T> wet;
  const T half = T(N(2.0 / 3)) * pi * r * r * r;
  const Vec3<T> centre = (T(N(0.375)) * r) * m;
  wet.volume = half - dry.volume;
  wet.first = half * centre - dry.first;
  wet.second = (T(N(0.2)) * half * r * r) * across_projection(n) - dry.second;
  wet.depth = half * (depth - r - dot(n, centre)) + dry.depth;
  return wet;
}

template <Scalar T>
Overlap<T> overlap_of(const Plane&, const Transform<T>& plane, const Capsule& capsule,
                      const Transform<T>& pose) noexcept {
  using N = Value<T>;
  const T r = constant<T>(capsule.radius);
  const StandingCylinder<T> k(plane, pose, r, constant<T>(capsule.half_length));
  const Vec3<T>& n = k.meeting.normal;
  const T depth = k.end_depth + r;  // of the lower ball
  const Vec3<T> foot = k.end_centre + k.end_depth * n;
  const PlaneMeeting<T> meeting{n, depth, foot};
  if (!(value_of(depth) > N(0))) return no_overlap(meeting);
  const T upper = depth - k.c * k.length;
  const Vec3<T> to_upper = k.length * (k.z - k.c * n);  // between the balls' feet
  VolumeMoments<T> volume =
      half_ball(n, -k.z, r, depth) + moved(half_ball(n, k.z, r, upper), to_upper);
  AreaMoments<T> section = HalfBall<T>(n, -k.z, r, depth).section() +
                           moved(HalfBall<T>(n, k.z, r, upper).section(), to_upper);
  // Less deep than the ball by r (1 − s), without the rounding of r s.
  const StandingCylinder<T> between = k.at_depth(depth - r * k.c * k.c / (T(1) + k.s));
  if (value_of(between.depth) > N(0) && value_of(k.length) > N(0)) {
    const ClippedCylinder<T> mantle = clip_tilted(between);
    const Vec3<T> from_foot = k.meeting.foot - foot;
    volume = volume + moved(mantle.volume, from_foot);
    section = section + moved(mantle.section, from_foot);
  }
  return plane_overlap(meeting, volume, section);
}

}  // namespace bristle::geometry
