#pragma once

#include <vector>

#include "bristle/complementarity/problem.hpp"
#include "bristle/contact/point_pool.hpp"

// Patches under volumetric laws in a complementarity step. The wrench of a patch over the
// step is its law's at the overlap that the step leads to, linearised there (Peiret,
// Kövecses & Font-Llagunes: K = k_v A, D = k_v a V):
//
//   z/h = w_k − (h K + D)(u⁺ − u_k)     for u = (u_n, ω₁, ω₂)
//
// K and D are matrices (contact/patch.hpp). In the axes in which h K + D is diagonal at
// the first linearisation, these are a normal row and two rows of rolling, which the
// problem treats as independent. The overlap at u is that of the two shapes,
// one moved against the other by h u.

namespace bristle {

/// How B moves against A at the place where the patch's force acts.
struct PatchRates {
  double along = 0;        // u_n [m/s]
  Vec2<double> turning{};  // ω_t [rad/s]
};

/// Force and slopes of the law at the overlap that some rates lead to; they are
/// about the place where the force acted at the step's beginning.
struct PatchResponse {
  PatchRow patch;
  double depth = 0;
  double force = 0;  // f_n [N]
  Vec2<double> couple{};
  PatchSlopes slopes;  // h K + D
};

/// K and D of a patch over a step h, as h K + D, where its law has the slope `by_depth`
/// [N/m]. A body that is deeper than its widest section, or wholly inside, has a section
/// smaller than V/δ, or none: it leaves by the chord k_v V/δ.
PatchSlopes step_slopes(const PatchRow& patch, double depth, double by_depth,
                        const VolumeLaw& law, double h) noexcept;

/// A patch over a step.
class PatchLine {
 public:
  /// Of a settled state.
  void begin(const PatchRow& patch, double depth, double stored);
  bool is_patch() const { return is_patch_; }
  const PatchRow& start() const { return start_; }
  double start_depth() const { return start_depth_; }
  double start_energy() const { return start_energy_; }
  PatchRates start_rates() const { return rates_of(start_); }
  static PatchRates rates_of(const PatchRow& patch) {
    return {-patch.approach, patch.turning};
  }

  /// The first linearisation of the step: its axes are kept until the step ends.
  void linearise(const PatchRates& at, const PatchResponse& there);
  /// A later linearisation of the step, in the axes of the first.
  void linearise_again(const PatchRates& at, const PatchResponse& there);

  const PatchAxes& axes() const { return axes_; }
  /// Along n at the axes' centre, and about the axes.
  std::array<double, 3> rates(const PatchRates& of) const;
  PatchRates rates_from(std::span<const double> u) const;
  std::array<double, 3> forces(double of_normal, Vec2<double> couple) const;
  /// The couple, about the place where the force acts, of impulses along the rows.
  Vec2<double> couple(double along, double about_first, double about_second) const;

  /// Rate, force and slope of each row's line.
  std::array<double, 3> rate{}, force{}, slope{};
  double bound = 0;       // of each couple [N m]
  int rolling = -1;       // the first of two rows in the problem; −1: none
  PatchRow free{};        // as the free motion moves it
  PatchRates solved{};    // of the last solution
  PatchResponse found{};  // there

 private:
  bool is_patch_ = false;
  PatchRow start_{};
  double start_depth_ = 0, start_energy_ = 0;
  PatchAxes axes_{PatchSlopes{}};
};

/// The law of a row at the overlap that rates lead to over h.
PatchResponse respond(const LawRow& law, const PointPool& pool, const ContactRows& rows,
                      const PatchRow& start, const PatchRates& rates, double h) noexcept;

}  // namespace bristle
