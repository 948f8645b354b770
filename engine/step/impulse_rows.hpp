#pragma once

#include <span>
#include <vector>

#include "bristle/complementarity/problem.hpp"
#include "bristle/contact/law_pool.hpp"
#include "bristle/step/patch_lines.hpp"

// The rows of a pool under laws in a complementarity step, and the laws' forces at a
// solution.
//
// Normal, over the step, about the rate δ̇_k (Peiret, Kövecses & Font-Llagunes have
// δ̇_k = 0):
//
//   z/h = f_k + (h K + D)(δ̇⁺ − δ̇_k)   ⇒   C = 1/(h (h K + D)),  r = δ̇_k − f_k/(h K + D)
//
// with f, K, D of the law at the depth δ⁻ + h δ̇_k. A contact that closes within the step
// has no slope at δ⁻: it gets the line from no force at δ = 0 to where the free motion
// leads, less the jump of a law that has one. Friction is the law's bounded spring,
//
//   z_t/h = λ_E − (h K_T + D_T) v_t⁺   within |z_t| ≤ μ z_n,
//
// where μ, which may depend on slip and dwell, is that of the step's beginning. Laws that
// disagree with the solution are linearised again at it.

namespace bristle {

inline constexpr double return_speed = 0.1;  // of depth that geometry has added [m/s]

/// What a row adds to the ledger beyond its laws' entries at the end of the step [J].
struct ImpulseLedger {
  double normal_damping = 0;
  double friction_slip = 0;
  double stretched = 0;  // ½K|Δs|², from the damping of friction to `numerical`
  double numerical = 0;
  double regenerated = 0;
};

/// A row of a pool over the step.
struct ImpulseRow {
  int first = -1;    // its row in the problem, tangents after it; −1: none
  int tangents = 0;  // 0: the normal alone, or the friction of a joint; 3: with spin
  int damper = -1;   // rows of friction outside the bound, one per component of slip

  // At the step's beginning, and in free motion.
  double depth = 0, lag = 0;
  double lag_speed = 0;  // that rates of the row contain, beyond those of the bodies
  bool joins = false;    // it closes within the step because of other impulses
  double start_rate = 0, free_rate = 0;
  Vec3<double> start_slip{0, 0, 0}, free_slip{0, 0, 0};

  // The linearised normal force; jump: the force of a law that does not begin at 0.
  double rate = 0, force = 0, slope = 0, jump = 0;
  double last_rate = 0, last_force = 0;  // of the previous solution
  bool solved_before = false;
  double last_normal_off = 0;  // disagreement of law and previous solution [m/s]

  // The linearised friction.
  double mu = 0;
  double start_mu = 0;  // of the law at the step's beginning
  double drag = 0;      // [N s/m]
  double viscous = 0;
  double bound = 0;      // of a joint's friction [N]
  bool elastic = false;  // it has a spring
  Vec3<double> slip{0, 0, 0}, friction{0, 0, 0};
  double start_drag = 0, start_bound = 0;  // of the line at the step's beginning
  Vec3<double> start_friction{0, 0, 0};
  bool began_again = false;
  double last_off = 0;    // the same of friction; 0: not known [m/s]
  double load = 0;        // normal force that bounds it; 0 in a joint [N]
  double steepness = 0;   // slope of the law; 0: as linearised [N s/m]
  double best_apart = 0;  // least difference of law and solution so far [N s], found at
  Vec3<double> best_slip{0, 0, 0}, best_friction{0, 0, 0};
  int failures = 0;       // solutions since then that did not reduce best_apart
  bool undamped = false;  // the contact is open: no viscous friction
  int switched = 0;       // how often `undamped` has changed

  // Of a rigid contact.
  bool rigid = false;
  bool closes = false;     // it was open and would penetrate at the end of the step
  bool impact = false;     // in an island where one closes: friction is rigid, too
  double restitution = 0;  // may be lowered, so that the impact creates no energy
  double least = 0;        // the least speed of separation at the end of the step [m/s]
};

class ImpulseRows {
 public:
  /// Of a settled state: depths, rates and slips at the beginning of the step.
  void begin(LawPool& pool, const LawRows& rows);
  /// The same where some rows may be patches.
  void begin(const PointPool& pool, const ContactRows& rows);
  /// The overlaps of the step's beginning, where a solution has put others.
  void put_back_patches(LawPool& pool) noexcept;
  /// Of a row under a volumetric law; null of other rows.
  PatchLine* patch_line(std::size_t i) noexcept {
    return i < patches_.size() && patches_[i].is_patch() ? &patches_[i] : nullptr;
  }
  std::span<ImpulseRow> rows() noexcept { return rows_; }
  /// Gives the rows the memory that they began with.
  void restore(LawRows& rows) const noexcept;

  /// Reads the free motion that the pool measured, decides which rows take part, and
  /// linearises their laws. takes_part(i) says whether there is such a row at all.
  template <class TakesPart>
  void linearise(LawPool& pool, const LawRows& rows, double h, double impulse_step,
                 const TakesPart& takes_part);

  /// The numbers of row i for the problem.
  ConeRows cone_rows(const ImpulseRow& row, double h) const noexcept;
  struct Line {
    double b, compliance, lower, upper;
  };
  Line line(const LawBlock& laws, const ImpulseRow& row, double h) const noexcept;
  /// Of a patch's row about one of its axes.
  Line rolling_line(std::size_t i, int axis, double h) const noexcept;
  Line damper_line(const ImpulseRow& row, int component, double h) const noexcept;

  /// The motion at the end of the step into the pool's columns: u = J v⁺ and z by rows of
  /// the problem. Forces and memory at the end of the step follow by advance().
  /// `loads` are the normal impulses that bound friction. A law has an isotropic bound.
  /// Where a box allows more than that, the law is evaluated at the slip at which its
  /// force agrees with the solution; finish() counts the loss of the remaining slip.
  void put_motion(LawPool& pool, const LawRows& rows, std::span<const double> u,
                  std::span<const double> z, std::span<const double> loads, double h,
                  ConeShape cone) noexcept;
  LawSums advance(LawPool& pool, LawRows& rows, double h) noexcept;

  /// The largest velocity that laws and solution disagree by [m/s], and where.
  struct Disagreement {
    double speed = 0;
    int row = -1;  // of the pool
  };
  /// Rows that disagree by more than `tolerance` [m/s] are linearised again. `diagonal`
  /// is that of A. Where friction is at bounds by components, laws are not evaluated.
  Disagreement improve(LawPool& pool, const LawRows& rows, std::span<const double> z,
                       std::span<const double> diagonal, double h, double tolerance,
                       ConeShape cone) noexcept;

  /// After the last solution: impulses into the rows, forces into the columns, and what
  /// the laws did not count.
  ImpulseLedger finish(LawPool& pool, LawRows& rows, std::span<const double> u,
                       std::span<const double> z, double h) noexcept;

 private:
  bool linearise_at_load(const LawRow& law, ImpulseRow& row, double h,
                         double load) noexcept;
  bool linearise_at_rate(const LawRow& law, ImpulseRow& row, double h,
                         double load) noexcept;
  void linearise_row(const LawRow& law, ImpulseRow& row, double h, double load) noexcept;
  void linearise_rigid(const LawRow& law, bool was_open, ImpulseRow& row,
                       double h) noexcept;
  void improve_normal(const LawRow& law, ImpulseRow& row, double found, double rate,
                      bool worse, double h) noexcept;
  static bool begin_again(ImpulseRow& row, Vec3<double> own, Vec3<double> slip) noexcept;
  double slope_along(const LawRow& law, const ImpulseRow& row, Vec3<double> own,
                     Vec3<double> d, double step, double h) const noexcept;
  bool slide_on(const LawRow& law, ImpulseRow& row, Vec3<double> own, double off,
                double h) noexcept;
  void hold_on(const LawRow& law, ImpulseRow& row, Vec3<double> own, Vec3<double> missing,
               double off, double resistance, double h) noexcept;

  void linearise_friction(const LawRow& law, ImpulseRow& row, double h, double load,
                          double depth) noexcept;
  void linearise_patch(const LawRow& law, PatchLine& line, ImpulseRow& row,
                       double h) noexcept;
  double improve_patch(PatchLine& line, ImpulseRow& row, std::span<const double> z,
                       std::span<const double> diagonal, double h,
                       double tolerance) noexcept;
  void put_patch(LawPool& pool, const LawRow& law, PatchLine& line, const ImpulseRow& row,
                 std::span<const double> u, std::span<const double> z, double h) noexcept;
  void finish_point(const LawRow& law, const LawRow& as_it_was, const ImpulseRow& row,
                    double normal, double force, double rate, double h,
                    ImpulseLedger& ledger) noexcept;
  double finish_patch(const LawRow& law, const PatchLine& line, const ImpulseRow& row,
                      std::span<const double> u, std::span<const double> z, double h,
                      ImpulseLedger& ledger) noexcept;

  std::vector<ImpulseRow> rows_;
  std::vector<PatchLine> patches_;     // as many; none where there are no patches
  const PointPool* points_ = nullptr;  // of the patches
  const ContactRows* contacts_ = nullptr;
  std::vector<double> memory_;
  std::vector<double> loads_;  // that friction is under
};

/// z_t of a row, from its cone and from the dampers outside it, as one impulse.
Vec3<double> across(const ImpulseRow& row, std::span<const double> z) noexcept;

template <class TakesPart>
void ImpulseRows::linearise(LawPool& pool, const LawRows& rows, double h,
                            double impulse_step, const TakesPart& takes_part) {
  const LawColumns c = pool.law_columns(memory_);
  pool.for_each_row(rows, c, [&](const LawRow& law) {
    const std::size_t i = law.i;
    ImpulseRow& row = rows_[i];
    row.first = -1;
    if (!takes_part(i)) return;
    // Depth that geometry has added is corrected at a bounded speed: as if the bodies
    // approached faster than they do.
    const double lag_speed = law.laws.rigid ? 0 : std::min(row.lag / h, return_speed);
    const double free_rate = c.rate[i] + lag_speed;
    // How far the row may close within the step, by itself or pushed.
    const double speed = std::max(std::abs(free_rate), std::abs(row.start_rate));
    const bool near = row.joins || row.depth > -2 * h * speed - 1e-12;
    const bool volumetric = patch_line(i) != nullptr;
    if (!near && !law.laws.given_load && !volumetric) return;
    row = {.depth = row.depth,
           .lag = row.lag,
           .lag_speed = lag_speed,
           .joins = row.joins,
           .start_rate = row.start_rate,
           .free_rate = free_rate,
           .start_slip = row.start_slip,
           .free_slip = law.friction_kinematics().slip};
    if (PatchLine* patch = patch_line(i); patch != nullptr) {
      linearise_patch(law, *patch, row, h);
      return;
    }
    if (law.laws.rigid) linearise_rigid(law, rows.episode[i] == 0, row, h);
    const double last = impulse_step > 0 ? rows.impulse[i].normal / impulse_step : 0;
    linearise_row(law, row, h, last);
  });
}

}  // namespace bristle
