#include "bristle/step/patch_lines.hpp"

#include <algorithm>
#include <cmath>

namespace bristle {

namespace {

constexpr double rounding = 1e-9;  // of the area of a flat patch

}  // namespace

PatchSlopes step_slopes(const PatchRow& patch, double depth, double by_depth,
                        const VolumeLaw& law, double h) noexcept {
  PatchSlopes slopes = patch.damping(law.rolling);
  if (patch.area > 0) {
    slopes = slopes + h * patch.stiffness(std::max(by_depth, 0.0) / patch.area);
  }
  const double chord = patch.volume / depth;
  if (chord > (1 + rounding) * patch.area) {
    slopes.nn += h * law.stiffness * (chord - patch.area);
  }
  return slopes;
}

void PatchLine::begin(const PatchRow& patch, double depth, double stored) {
  is_patch_ = true;
  start_ = patch;
  start_depth_ = depth;
  start_energy_ = stored;
  axes_ = PatchAxes(PatchSlopes{});
  rate = force = slope = {};
  bound = 0;
  rolling = -1;
  found = {};
}

std::array<double, 3> PatchLine::rates(const PatchRates& of) const {
  return {of.along + of.turning.x * axes_.centre.y - of.turning.y * axes_.centre.x,
          dot(of.turning, axes_.axis[0]), dot(of.turning, axes_.axis[1])};
}

PatchRates PatchLine::rates_from(std::span<const double> u) const {
  const Vec2<double> turning = u[1] * axes_.axis[0] + u[2] * axes_.axis[1];
  return {u[0] - turning.x * axes_.centre.y + turning.y * axes_.centre.x, turning};
}

std::array<double, 3> PatchLine::forces(double of_normal, Vec2<double> couple) const {
  const Vec2<double> rest{couple.x - axes_.centre.y * of_normal,
                          couple.y + axes_.centre.x * of_normal};
  return {of_normal, dot(rest, axes_.axis[0]), dot(rest, axes_.axis[1])};
}

Vec2<double> PatchLine::couple(double along, double about_first,
                               double about_second) const {
  return Vec2<double>{axes_.centre.y * along, -axes_.centre.x * along} +
         about_first * axes_.axis[0] + about_second * axes_.axis[1];
}

void PatchLine::linearise(const PatchRates& at, const PatchResponse& there) {
  axes_ = PatchAxes(there.slopes);
  linearise_again(at, there);
}

void PatchLine::linearise_again(const PatchRates& at, const PatchResponse& there) {
  rate = rates(at);
  force = forces(there.force, there.couple);
  const PatchSlopes s = there.slopes.about(axes_.centre);
  const auto about = [&s](Vec2<double> e) {
    return e.x * e.x * s.t11 + 2 * e.x * e.y * s.t12 + e.y * e.y * s.t22;
  };
  slope = {s.nn, about(axes_.axis[0]), about(axes_.axis[1])};
  const Vec2<double> off = there.patch.centroid - axes_.centre;
  const double reach =
      std::max(there.patch.reach(axes_.axis[0]), there.patch.reach(axes_.axis[1]));
  bound = there.force * (reach + norm(off));
}

PatchResponse respond(const LawRow& law, const PointPool& pool, const ContactRows& rows,
                      const PatchRow& start, const PatchRates& rates, double h) noexcept {
  const Overlap<double> overlap =
      pool.displaced(rows, law.i, h * rates.along, h * rates.turning);
  const ContactPlace& place = pool.place(law.i);
  PatchResponse there;
  PatchRow& patch = there.patch;
  patch = PatchRow::of(overlap, place.frame, place.point);
  patch.approach = -rates.along;
  patch.turning = rates.turning;
  patch.spin = start.spin;
  there.depth = overlap.depth;
  if (!(overlap.depth > 0)) return there;
  const double own = patch.approach_at(patch.centroid);
  const PatchMotion<double> motion{patch.volume, patch.potential, patch.area,
                                   patch.volume_rate()};
  auto kin = Kinematics<double>::at(overlap.depth, own);
  kin.patch = &motion;
  const NormalSlopes<double> slopes = law.normal_slopes(kin);
  const VolumeLaw volume_law = law.volume_law();
  there.force = slopes.force;
  patch.roll(volume_law.rolling, slopes.force);
  there.couple = patch.rolling + Vec2<double>{patch.centroid.y * slopes.force,
                                              -patch.centroid.x * slopes.force};
  if (!(slopes.force > 0)) return there;
  there.slopes = step_slopes(patch, overlap.depth, slopes.by_depth, volume_law, h);
  return there;
}

}  // namespace bristle
