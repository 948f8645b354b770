#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "bristle/core/vec.hpp"
#include "bristle/geometry/overlap_moments.hpp"
#include "bristle/laws/normal/volumetric.hpp"
#include "bristle/spatial/frame.hpp"

// A contact under a volumetric law, beyond what it has as a point: the overlap in the
// axes t1, t2 of its contact frame, from s_c; how the bodies turn against each other; and
// the couple that resists rolling.
//
// u_n = n·v of B relative to A at s_c and ω of B relative to A, so that a place (x, y) of
// the patch is approached at −(u_n + ω₁ y − ω₂ x), and a pressure p there is a force p n
// and a couple (p y, −p x) on B.

namespace bristle {

/// A symmetric 2×2 matrix.
struct Sym2 {
  double xx = 0, xy = 0, yy = 0;
};

/// Stiffness or damping against (u_n, ω₁, ω₂), symmetric: ∫ k (1, y, −x)(1, y, −x)ᵀ.
struct PatchSlopes {
  double nn = 0, n1 = 0, n2 = 0, t11 = 0, t12 = 0, t22 = 0;

  /// Adds k per `weight` (area, or volume) whose centroid is at `at` and whose second
  /// moments about it are `moments`.
  void add(double k, double weight, Vec2<double> at, const Sym2& moments) {
    nn += k * weight;
    n1 += k * weight * at.y;
    n2 -= k * weight * at.x;
    t11 += k * (moments.yy + weight * at.y * at.y);
    t12 -= k * (moments.xy + weight * at.x * at.y);
    t22 += k * (moments.xx + weight * at.x * at.x);
  }
  /// About another place than s_c.
  PatchSlopes about(Vec2<double> at) const {
    return {nn,
            n1 - nn * at.y,
            n2 + nn * at.x,
            t11 - 2 * at.y * n1 + at.y * at.y * nn,
            t12 + at.x * n1 - at.y * n2 - at.x * at.y * nn,
            t22 + 2 * at.x * n2 + at.x * at.x * nn};
  }
  friend PatchSlopes operator+(const PatchSlopes& a, const PatchSlopes& b) {
    return {a.nn + b.nn,   a.n1 + b.n1,   a.n2 + b.n2,
            a.t11 + b.t11, a.t12 + b.t12, a.t22 + b.t22};
  }
  friend PatchSlopes operator*(double k, const PatchSlopes& a) {
    return {k * a.nn, k * a.n1, k * a.n2, k * a.t11, k * a.t12, k * a.t22};
  }
};

/// The same as three decoupled rows: along n at `centre` (from s_c),
/// and about two axes.
struct PatchAxes {
  Vec2<double> centre{0, 0};
  std::array<Vec2<double>, 2> axis{{{1, 0}, {0, 1}}};
  std::array<double, 3> slope{};

  explicit PatchAxes(const PatchSlopes& s) {
    if (!(s.nn > 0)) return;
    const double n1 = s.n1 / s.nn, n2 = s.n2 / s.nn;
    centre = {-n2, n1};
    const double t11 = s.t11 - s.n1 * n1, t12 = s.t12 - s.n1 * n2,
                 t22 = s.t22 - s.n2 * n2;
    const double angle = 0.5 * std::atan2(2 * t12, t11 - t22);
    const double mean = 0.5 * (t11 + t22), half = std::hypot(0.5 * (t11 - t22), t12);
    axis = {{{std::cos(angle), std::sin(angle)}, {-std::sin(angle), std::cos(angle)}}};
    slope = {s.nn, std::max(mean + half, 0.0), std::max(mean - half, 0.0)};
  }
};

/// The overlap in the contact frame, from the place where the force acts, and the
/// relative motion of the bodies there.
struct PatchRow {
  double volume = 0;             // V [m³]
  double potential = 0;          // W [m⁴]
  double area = 0;               // A of the section [m²]
  Vec2<double> centroid{};       // s_c: zero, unless the overlap was moved [m]
  Vec2<double> area_centroid{};  // [m]
  Vec2<double> foot{};           // projection of the deepest point [m]
  Sym2 moments{};                // of the volume about s_c [m⁵]
  Sym2 area_moments{};           // of the section about its centroid [m⁴]
  double approach = 0;           // v_cn where the force acts [m/s]
  Vec2<double> turning{};        // ω_t [rad/s]
  double spin = 0;               // ω_n [rad/s]
  Vec2<double> rolling{};        // couple on B that resists rolling [N m]
  double rolling_power = 0;      // lost by it [W]

  /// The speed at which a place of the patch is approached [m/s].
  double approach_at(Vec2<double> at) const {
    return approach - turning.x * at.y + turning.y * at.x;
  }
  double depth_rate() const { return approach_at(foot); }
  double volume_rate() const { return area * approach_at(area_centroid); }
  /// r_g, r_g² = J_nn/V [m].
  double gyration() const {
    return volume > 0 ? std::sqrt((moments.xx + moments.yy) / volume) : 0;
  }
  /// The third component of slip [m/s].
  double spin_slip() const { return gyration() * spin; }
  /// How far the patch reaches across an axis: r of a disc [m].
  double reach(Vec2<double> axis) const {
    const double square = axis.x * axis.x * moments.yy -
                          2 * axis.x * axis.y * moments.xy + axis.y * axis.y * moments.xx;
    const double length = norm2(axis);
    return volume > 0 && length > 0 && square > 0
               ? 2 * std::sqrt(square / (volume * length))
               : 0;
  }

  /// An overlap, seen from `point`.
  static PatchRow of(const Overlap<double>& o, const Frame<double>& frame,
                     const Vec3<double>& point) {
    const auto moments = [&frame](const Sym3<double>& m) {
      const Vec3<double> by_1 = m * frame.t1, by_2 = m * frame.t2;
      return Sym2{dot(frame.t1, by_1), dot(frame.t1, by_2), dot(frame.t2, by_2)};
    };
    PatchRow row;
    row.volume = o.volume;
    row.potential = o.potential;
    row.area = o.area;
    row.centroid = frame.to_tangent(o.centroid - point);
    row.area_centroid = frame.to_tangent(o.area_centroid - point);
    row.foot = frame.to_tangent(o.foot - point);
    row.moments = moments(o.moments);
    row.area_moments = moments(o.area_moments);
    return row;
  }

  /// Slopes against an approach: k per area of the section, and the law's damping.
  PatchSlopes stiffness(double per_area) const {
    PatchSlopes slopes;
    slopes.add(per_area, area, area_centroid, area_moments);
    return slopes;
  }
  PatchSlopes damping(const RollingDamping<double>& law) const {
    PatchSlopes slopes;
    slopes.add(law.by_volume, volume, centroid, moments);
    slopes.add(law.by_area, area, area_centroid, area_moments);
    return slopes;
  }

  /// The couple about s_c of a pressure (k_v a δ + c) times the speed of approach, under
  /// the normal force f: bounded by f times the patch's reach, so that it ends with f.
  void roll(const RollingDamping<double>& law, double force) {
    const PatchSlopes d = damping(law).about(centroid);
    const double own = approach_at(centroid);
    rolling = {d.n1 * own - d.t11 * turning.x - d.t12 * turning.y,
               d.n2 * own - d.t12 * turning.x - d.t22 * turning.y};
    const double size = norm(rolling), most = force * reach(rolling);
    if (size > most) rolling = (most / size) * rolling;
    rolling_power = -dot(rolling, turning);
  }
  /// a |ω_t| R over 1 + a v_cn: above 1 the law pulls somewhere.
  double tension(double a) const {
    const double pulls = a * norm(turning) * reach(turning);
    return pulls > 0 ? pulls / std::max(1 + a * approach_at(centroid), 1e-3) : 0;
  }
};

}  // namespace bristle
