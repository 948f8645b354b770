#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "bristle/dynamics/motors.hpp"
#include "bristle/step/gyroscopic.hpp"
#include "bristle/step/method.hpp"
#include "bristle/step/patch_lines.hpp"
#include "bristle/step/time_scales.hpp"

// Newton's first step of backward Euler: (M + h Σ Jᵀ G J) Δv = h (τ + Σ Jᵀ (f + ½ h K
// δ̇)), then q⁺ = q ⊕ h (v + Δv). Solved again only where rows would pull or friction
// would turn the slip round. The rows' memory then moves with the new slip. Order 1; for
// stiff contacts. The matrix is dense.
//
// Forces are counted at v⁺, so that kinetic energy changes by their work less ½ Δvᵀ M Δv:
// that, and ½ K Δδ² of springs, is the line `numerical` of the ledger.

namespace bristle {

namespace {

using detail::at;

/// L Lᵀ in place of a symmetric matrix, lower half; false where it is not positive.
bool cholesky(std::span<double> a, std::size_t n) {
  for (std::size_t j = 0; j < n; ++j) {
    double* row_j = a.data() + j * n;
    double d = row_j[j];
    for (std::size_t k = 0; k < j; ++k) d -= row_j[k] * row_j[k];
    if (!(d > 0)) return false;
    const double root = std::sqrt(d);
    row_j[j] = root;
    for (std::size_t i = j + 1; i < n; ++i) {
      double* row_i = a.data() + i * n;
      double x = row_i[j];
      for (std::size_t k = 0; k < j; ++k) x -= row_i[k] * row_j[k];
      row_i[j] = x / root;
    }
  }
  return true;
}

/// L⁻¹ x and L⁻ᵀ x.
void forward(std::span<const double> l, std::size_t n, std::span<double> x) {
  for (std::size_t i = 0; i < n; ++i) {
    double sum = x[i];
    for (std::size_t k = 0; k < i; ++k) sum -= l[i * n + k] * x[k];
    x[i] = sum / l[i * n + i];
  }
}
void backward(std::span<const double> l, std::size_t n, std::span<double> x) {
  for (std::size_t i = n; i-- > 0;) {
    double sum = x[i];
    for (std::size_t k = i + 1; k < n; ++k) sum -= l[k * n + i] * x[k];
    x[i] = sum / l[i * n + i];
  }
}

/// A row linearised about the step: its forces and slopes, how it moved at the step's
/// beginning, and the slip at which a secant took the place of friction's own slope.
struct RowLinearisation {
  double force = 0;       // normal [N]
  double extra = 0;       // ½ h K δ̇ [N]
  double resistance = 0;  // h K + D [N s/m]
  Vec3<double> friction{0, 0, 0};
  double xx = 0, xy = 0, yy = 0;  // −∂f_t/∂v_t over the step [N s/m]
  double zz = 0;                  // the same of spinning
  double secant = 0;              // [m/s]
  double rate = 0;                // at the step's beginning
  Vec3<double> slip{0, 0, 0};
  Vec2<double> turning{0, 0};
  double spin = 0;  // ω_n [rad/s]
  // Of a patch, whose normal rows are three: their slopes h K + D, the couple that is
  // applied with the law's force and what is added to it, the potential W at the step's
  // beginning, and whether the overlap is the one that the step leads to by itself.
  bool is_patch = false;
  PatchSlopes patch{};
  Vec2<double> couple{0, 0}, extra_couple{0, 0};
  double potential = 0;
  bool foreseen = false;
  int follows = 0;
  double gyration = 0;  // by which friction resisted spinning [m]

  /// What it says about the motion at the step's beginning stays.
  void let_go() {
    force = extra = resistance = xx = xy = yy = zz = secant = 0;
    friction = {0, 0, 0};
    couple = extra_couple = {0, 0};
    patch = {};
    is_patch = false;
  }

  double normal_at(double now) const { return force + extra + resistance * (now - rate); }
  /// The same of a patch, which also turns.
  double normal_at(const PatchRow& now) const {
    const Vec2<double> turned = now.turning - turning;
    return normal_at(now.approach) - patch.n1 * turned.x - patch.n2 * turned.y;
  }
  Vec3<double> friction_at(const Vec3<double>& now) const {
    const Vec3<double> change = now - slip;
    return friction - Vec3<double>{xx * change.x + xy * change.y,
                                   xy * change.x + yy * change.y, zz * change.z};
  }
  /// What a patch takes from the bodies that move so [W].
  double power_at(const PatchRow& now) const {
    const double along = rate - now.approach;
    const Vec2<double> turned = now.turning - turning;
    const Vec2<double> about =
        couple + extra_couple -
        Vec2<double>{patch.n1 * along + patch.t11 * turned.x + patch.t12 * turned.y,
                     patch.n2 * along + patch.t12 * turned.x + patch.t22 * turned.y};
    return normal_at(now) * now.approach - dot(about, now.turning);
  }
};

/// How a row pushes at the velocities that were measured last [N].
template <class Pool>
double pushes(const Pool& pool, const RowLinearisation& row, std::size_t i) {
  if (row.is_patch) return row.normal_at(pool.patch(i));
  return row.normal_at(pool.value(RowColumns::rate, i));
}

/// A position motor over a step: force − slope Δv, or its limit.
struct MotorStep {
  double force;
  double slope;
};

/// The couple of a patch; rows of other pools have none.
template <class Pool>
void scatter_couple(const Pool& pool, std::size_t i, Vec2<double> couple,
                    const ForceSink& to) {
  if constexpr (std::is_same_v<Pool, PointPool>) {
    if (couple.x == 0 && couple.y == 0) return;
    pool.scatter_couple(i, pool.place(i).frame.to_world(couple), to);
  }
}

/// A row's normal force and its friction, the third component of that as a couple.
template <class Pool>
void scatter_friction(const Pool& pool, const Placement& place, std::size_t i,
                      double normal, const Vec3<double>& friction, const ForceSink& to) {
  pool.scatter_row(place, i, normal, in_plane(friction), to);
  if constexpr (std::is_same_v<Pool, PointPool>) {
    if (friction.z == 0) return;
    pool.scatter_couple(i, pool.patch(i).gyration() * friction.z * pool.place(i).frame.n,
                        to);
  }
}

/// Of a row that moves as it did.
void put_overlap(PointPool& pool, const Overlap<double>& overlap, std::size_t i) {
  const PatchRow& was = pool.patch(i);
  PatchRow now = PatchRow::of(overlap, pool.place(i).frame, pool.place(i).point);
  now.approach = was.approach;
  now.turning = was.turning;
  now.spin = was.spin;
  pool.put_patch(i, now);
}

/// What a patch took from the bodies over the step, less what its law lost.
double taken_by_patch(const PointPool& pool, const ContactRows& rows, const LawRow& law,
                      const RowLinearisation& row, double h) {
  const std::size_t i = law.i;
  if (rows.key[i].empty()) return 0;
  const PatchRow& now = pool.patch(i);
  const double lost =
      (law.columns.normal_force[i] - law.volume_law().stiffness * now.volume) *
          law.columns.rate[i] +
      now.rolling_power;
  return h * (row.power_at(now) - lost);
}

constexpr int most_solves = 8;  // of one step
// Where a patch is much deeper than it can be: the overlap of a corner falls to 2/3 with
// every solution, to a thousandth in 17.
constexpr int most_follows = 20, most_patch_solves = most_follows + most_solves;
constexpr double most_created = 1e-2;   // by a step, of the kinetic energy: no word of it
constexpr double most_multiplied = 10;  // the same, of all energy: the step is not taken
constexpr double least_created = 1e-3;  // of the energy in a patch
constexpr std::size_t most_rows = PointPool::most_rows;  // of J, of any pool

class LinearlyImplicitEuler final : public FixedMethod {
 public:
  explicit LinearlyImplicitEuler(const System& system);
  StepStatus step(System& system, State& state, double h,
                  Commands commands) noexcept override;
  std::string advice(const Model& model) const override;

 private:
  using Rows = std::vector<RowLinearisation>;

  template <class Work>
  void for_each_pool(System& system, const State& state, const Work& work);
  void begin(System& system, State& state, double h, Commands commands) noexcept;
  void linearise(LawPool& pool, const LawRows& rows, double h, Rows& known) noexcept;
  void linearise_patch(const LawPool& pool, const LawRow& row, double h,
                       RowLinearisation& to) noexcept;
  void add_row(System& system, const JacobianRow<double>& row, double slope) noexcept;
  void assemble(System& system, const State& state, double h) noexcept;
  template <class Pool>
  void assemble_pool(System& system, const State& state, const Pool& pool,
                     std::span<const RowLinearisation> known, double h) noexcept;
  void assemble_springs(System& system, const State& state, double h) noexcept;
  template <std::size_t rows>
  std::size_t pack(std::size_t n) noexcept;
  bool solve(System& system, const State& state, double h, Commands commands) noexcept;
  void fix_prescribed(System& system, const State& state, double h,
                      Commands commands) noexcept;
  void foresee_patches(PointPool& pool, const ContactRows& rows, double h) noexcept;
  bool follow_patch(PointPool& pool, const ContactRows& rows, const LawRow& row,
                    const Placement& place, double h, RowLinearisation& to,
                    const ForceSink& sink) noexcept;
  bool thrown_out(const PointPool& pool, const ContactRows& rows, const LawRow& row,
                  double depth, double h, RowLinearisation& to) noexcept;
  template <class Pool>
  bool improve(System& system, const State& state, Pool& pool,
               const typename Pool::Rows& rows, double h, Rows& known) noexcept;
  void prepare_motors(System& system, const State& state, double h) noexcept;
  bool improve_motors(System& system) noexcept;
  void prepare_loops(System& system) noexcept;
  void hold_loops(System& system, double h) noexcept;
  void note_loops(System& system, const State& state, double h) noexcept;
  void book_prescribed(System& system, double h) noexcept;
  void finish(System& system, State& state, double h, Commands commands) noexcept;
  void book_rows(System& system, State& state, double h) noexcept;
  void finish_patches(PointPool& pool, const ContactRows& rows, double h) noexcept;
  void book_patches(System& system, State& state) noexcept;
  bool runs_away(System& system, const State& state) noexcept;
  void book_springs(System& system, State& state, double h) noexcept;
  void book_links(System& system, State& state, double h) noexcept;

  std::vector<double> matrix_;      // M + h Σ Jᵀ G J, then its Cholesky factor
  std::vector<double> momentum_;    // the right-hand side, then Δv
  std::vector<double> velocity_;    // v⁺
  std::vector<double> jacobian_;    // of one contact: rows of nᵥ numbers
  std::vector<double> scratch_;     // as many
  std::vector<std::size_t> moved_;  // the velocities that move it
  std::vector<double> loop_jacobian_;
  Rows joints_, contacts_;
  std::vector<MotorStep> motors_;
  GyroscopicStep gyroscopic_;
  std::vector<Motion<double>> links_before_;

  // Steps in which patches stored more than they took, and how much [J].
  std::uint64_t creations_ = 0;
  double created_ = 0, first_creation_ = 0;
  double kinetic_ = 0, in_patches_ = 0;  // of this step: at its beginning, and lost [J]
  double known_ = 0;                     // kinetic and in patches at its beginning [J]
  State before_;                         // where it began, of models with patches
  // Of a step that was not taken.
  ContactKey away_;
  double away_time_ = 0;
};

LinearlyImplicitEuler::LinearlyImplicitEuler(const System& system)
    : gyroscopic_(system.model->tree),
      links_before_(at(system.model->tree.link_count()), Motion<double>::zero()) {
  const Model& model = *system.model;
  const std::size_t n = at(model.tree.velocity_count());
  matrix_.resize(n * n);
  momentum_.resize(n);
  velocity_.resize(n);
  jacobian_.resize(most_rows * n);
  scratch_.resize(most_rows * n);
  loop_jacobian_.resize(at(model.loop_rows) * n);
  moved_.resize(n);
  joints_.resize(system.pools.joints.capacity());
  contacts_.resize(system.pools.points.capacity());
  motors_.resize(model.motors.size());
}

/// work(pool, rows, linearisations) for the pools under laws that have rows.
template <class Work>
void LinearlyImplicitEuler::for_each_pool(System& system, const State& state,
                                          const Work& work) {
  if (state.joints.count > 0) work(system.pools.joints, state.joints, joints_);
  if (state.contacts.count > 0) work(system.pools.points, state.contacts, contacts_);
}

/// Friction: the slopes of its own step, which hold the memory's response; what does not
/// resist is left to the explicit part.
void linearise_friction(const LawRow& row, const SpinKinematics& kin, double h,
                        RowLinearisation& to) {
  const StepSlopes slopes = row.friction_step_slopes(kin, h);
  to.xx = std::max(-slopes.by_slip_x.x, 0.0);
  to.yy = std::max(-slopes.by_slip_y.y, 0.0);
  to.zz = std::max(-slopes.by_slip_z.z, 0.0);
  const double bound = std::sqrt(to.xx * to.yy);
  to.xy = std::clamp(-0.5 * (slopes.by_slip_x.y + slopes.by_slip_y.x), -bound, bound);
}

/// Friction that stops a slip which would turn round: a secant between no slip and the
/// slip found takes the place of its slope. Returns it at the slip of the step's
/// beginning.
Vec3<double> stop(const LawRow& row, SpinKinematics kin, const Vec3<double>& slip,
                  double h, RowLinearisation& to) {
  const double speed = norm(slip);
  kin.slip = {0, 0, 0};
  const Vec3<double> still = row.friction_step_force(kin, to.force, h);
  kin.slip = slip;
  const Vec3<double> sliding = row.friction_step_force(kin, to.force, h);
  const double slope =
      speed > 0 ? std::max(0.0, dot(still - sliding, slip) / (speed * speed)) : 0;
  to.xx = to.yy = slope;
  to.xy = 0;
  to.zz = row.laws.spins() ? slope : 0;
  to.secant = speed;
  return still - slope * to.slip;
}

/// Normal: over the step f⁺ = f + ½ h K δ̇ + (h K + D) (δ̇⁺ − δ̇), with f, K and D where the
/// step leads by itself, in its middle: at touch-down √δ has no slope.
void LinearlyImplicitEuler::linearise(LawPool& pool, const LawRows& rows, double h,
                                      Rows& known) noexcept {
  const LawColumns c = pool.law_columns(rows.memory);
  pool.for_each_row(rows, c, [&](const LawRow& row) {
    RowLinearisation& to = known[row.i];
    to.let_go();
    if (!row.laws.spins()) to.slip.z = 0;
    if (!row.closed()) return;
    const Kinematics<double> kin = row.kinematics();
    to.force = row.normal_force();
    if (row.laws.volumetric) {
      linearise_patch(pool, row, h, to);
    } else if (row.laws.has_normal_law()) {
      const NormalSlopes<double> slopes = row.normal_slopes(kin);
      const double stiffness = h * std::max(0.0, slopes.by_depth);
      to.extra = 0.5 * stiffness * kin.rate;
      to.resistance = stiffness + std::max(0.0, slopes.by_rate);
    }
    to.friction = {c.friction_x[row.i], c.friction_y[row.i], pool.spin_friction(row.i)};
    if (!(row.normal_force() > 0)) return;
    linearise_friction(row, row.friction_kinematics(), h, to);
  });
}

/// Makes the patches what the step leads to by itself. One that would be over stays as it
/// is.
void LinearlyImplicitEuler::foresee_patches(PointPool& pool, const ContactRows& rows,
                                            double h) noexcept {
  const std::span<double> depth = pool.column(RowColumns::depth);
  for (std::size_t b = 0; b < pool.blocks().size(); ++b) {
    if (!pool.blocks()[b].volumetric) continue;
    for (auto i = at(rows.begin[b]); i < at(rows.begin[b + 1]); ++i) {
      if (rows.key[i].empty()) continue;
      const PatchRow& start = pool.patch(i);
      RowLinearisation& known = contacts_[i];
      known.turning = start.turning;
      known.spin = start.spin;
      known.potential = start.potential;
      known.follows = 0;
      const Overlap<double> overlap =
          pool.displaced(rows, i, -h * start.approach, h * start.turning);
      known.foreseen = overlap.depth > 0 || !(rows.depth[i] > 0);
      depth[i] = known.foreseen ? overlap.depth : rows.depth[i];
      if (!known.foreseen) continue;
      put_overlap(pool, overlap, i);
      known.slip.z = pool.spin_slip(i);
    }
  }
}

/// The same for the three rows of a patch, u = (u_n, ω₁, ω₂) about the place where its
/// force acts at the step's beginning: w⁺ = w − (h K + D) (u⁺ − u) for the wrench w of
/// the overlap that u leads to; of the one at the step's beginning, w − h K u takes the
/// place of w.
void LinearlyImplicitEuler::linearise_patch(const LawPool& pool, const LawRow& row,
                                            double h, RowLinearisation& to) noexcept {
  const PatchRow& patch = pool.patch(row.i);
  to.is_patch = true;
  to.couple = patch.rolling;
  to.extra_couple = to.force * Vec2<double>{patch.centroid.y, -patch.centroid.x};
  const NormalSlopes<double> slopes = row.normal_slopes(row.kinematics());
  PatchSlopes k;
  if (patch.area > 0) {
    k = h * patch.stiffness(std::max(0.0, slopes.by_depth) / patch.area);
  }
  to.patch = to.force > 0 ? step_slopes(patch, row.columns.depth[row.i], slopes.by_depth,
                                        row.volume_law(), h)
                          : k;
  to.resistance = to.patch.nn;
  if (to.foreseen) return;
  const Vec2<double>& turning = patch.turning;
  to.extra = k.nn * patch.approach - k.n1 * turning.x - k.n2 * turning.y;
  to.extra_couple =
      to.extra_couple +
      Vec2<double>{k.n1 * patch.approach - k.t11 * turning.x - k.t12 * turning.y,
                   k.n2 * patch.approach - k.t12 * turning.x - k.t22 * turning.y};
}

/// Where a patch would store and lose more than it takes, it is deeper than it can be,
/// and is linearised again where the solution leads: true. A force that grows with the
/// overlap faster than in proportion is thereby approached from above, and a patch that
/// is not followed any more has created nothing.
bool LinearlyImplicitEuler::follow_patch(PointPool& pool, const ContactRows& rows,
                                         const LawRow& row, const Placement& place,
                                         double h, RowLinearisation& to,
                                         const ForceSink& sink) noexcept {
  if (to.follows == most_follows) return false;
  const std::size_t i = row.i;
  const PatchRow now = pool.patch(i);
  const PatchRates found = PatchLine::rates_of(now);
  const PatchResponse there = respond(row, pool, rows, now, found, h);
  if (!(there.depth > 0)) return thrown_out(pool, rows, row, there.depth, h, to);
  if (!(there.force > 0)) return false;
  const double stiffness = row.volume_law().stiffness;
  const double stored = stiffness * there.patch.potential;
  const double own = there.patch.approach_at(there.patch.centroid);
  const double lost =
      (there.force - stiffness * there.patch.volume) * own + there.patch.rolling_power;
  const double created =
      stored - stiffness * to.potential - h * (to.power_at(now) - std::max(lost, 0.0));
  if (to.normal_at(now) >= 0 && !(created > least_created * stored)) return false;
  ++to.follows;
  // The wrench at the velocities of the step's beginning, on the new line.
  const double along = found.along + to.rate;
  const Vec2<double> turned = found.turning - to.turning;
  const PatchSlopes& s = there.slopes;
  const double force = there.force + s.nn * along + s.n1 * turned.x + s.n2 * turned.y;
  const Vec2<double> couple =
      there.couple + Vec2<double>{s.n1 * along + s.t11 * turned.x + s.t12 * turned.y,
                                  s.n2 * along + s.t12 * turned.x + s.t22 * turned.y};
  scatter_friction(pool, place, i, force - to.force - to.extra, -to.friction, sink);
  scatter_couple(pool, i, couple - to.couple - to.extra_couple, sink);
  pool.put_patch(i, there.patch);
  pool.column(RowColumns::depth)[i] = there.depth;
  pool.column(RowColumns::normal)[i] = there.force;
  to.force = there.force;
  to.extra = force - there.force;
  to.couple = there.couple;
  to.extra_couple = couple - there.couple;
  to.patch = s;
  to.resistance = s.nn;
  // Friction under that force: from the slip at the step's beginning, or by a secant
  // where the slip has turned round.
  to.slip.z = row.laws.spins() ? there.patch.gyration() * to.spin : 0;
  SpinKinematics kin = row.friction_kinematics();
  const Vec3<double> slip = kin.slip;
  kin.depth = there.depth;
  kin.root_depth = std::sqrt(there.depth);
  if (to.secant > 0 || dot(slip, to.slip) < 0) {
    to.friction = stop(row, kin, slip, h, to);
  } else {
    kin.slip = to.slip;
    to.friction = row.friction_step_force(kin, there.force, h);
    linearise_friction(row, kin, h, to);
  }
  scatter_friction(pool, place, i, 0, to.friction, sink);
  return true;
}

/// Where a solution leads out of a patch with more energy than that stored, its line is
/// too soft: it goes on pushing where nothing touches. It gets the slope by which it ends
/// where the overlap does: true. `depth` is that of the solution.
bool LinearlyImplicitEuler::thrown_out(const PointPool& pool, const ContactRows& rows,
                                       const LawRow& row, double depth, double h,
                                       RowLinearisation& to) noexcept {
  const PatchRow& now = pool.patch(row.i);
  const double push = to.force + to.extra, left = to.normal_at(now);
  const double stored = row.volume_law().stiffness * to.potential;
  const double given = -h * to.power_at(now);
  if (!(left > 0) || !(push > left) || !(given > (1 + least_created) * stored)) {
    return false;
  }
  const double begun = pool.displaced(rows, row.i, -h * to.rate, h * to.turning).depth;
  if (!(begun > 0)) return false;
  const double way = begun / (begun - depth);  // to the end of the overlap, of all
  const double steeper = push / (way * (push - left));
  if (!(steeper > 1)) return false;
  ++to.follows;
  to.patch = steeper * to.patch;
  to.resistance = to.patch.nn;
  return true;
}

/// Packs the rows of jacobian_ to the velocities that move them; returns how many.
template <std::size_t rows>
std::size_t LinearlyImplicitEuler::pack(std::size_t n) noexcept {
  double* const along = jacobian_.data();
  std::size_t* const moved = moved_.data();
  std::size_t used = 0;
  for (std::size_t k = 0; k < n; ++k) {
    bool moves = false;
    for (std::size_t r = 0; r < rows; ++r) moves = moves || along[r * n + k] != 0;
    if (!moves) continue;
    for (std::size_t r = 0; r < rows; ++r) along[r * n + used] = along[r * n + k];
    moved[used++] = k;
  }
  return used;
}

/// Adds h Jᵀ G J of the rows of a pool under laws.
template <class Pool>
void LinearlyImplicitEuler::assemble_pool(System& system, const State& state,
                                          const Pool& pool,
                                          std::span<const RowLinearisation> known,
                                          double h) noexcept {
  const Tree& tree = system.model->tree;
  const std::size_t n = at(tree.velocity_count());
  const Placement place = system.placement(state.q, state.v);
  for (std::size_t i = 0; i < known.size(); ++i) {
    const RowLinearisation& row = known[i];
    if (row.resistance == 0 && row.xx == 0 && row.yy == 0) continue;
    double along_normal = row.resistance;
    if constexpr (std::is_same_v<Pool, PointPool>) {
      if (row.is_patch) {
        const PatchAxes axes(row.patch);
        const auto rows = pool.patch_rows(place, i, axes);
        for (std::size_t k = 0; k < 3; ++k) {
          if (axes.slope[k] > 0) add_row(system, rows[k], h * axes.slope[k]);
        }
        if (row.zz > 0) add_row(system, pool.spin_row(i), h * row.zz);
        along_normal = 0;
      }
    }
    if (pool.dense_jacobian(tree, place, i, jacobian_, scratch_) == 0) continue;
    const std::size_t used = pack<std::size_t{Pool::most_rows}>(n);
    if constexpr (Pool::most_rows == 1) {
      const double slope = h * (row.resistance != 0 ? row.resistance : row.xx);
      for (std::size_t k = 0; k < used; ++k) {
        matrix_[moved_[k] * n + moved_[k]] += slope * jacobian_[k] * jacobian_[k];
      }
    } else {
      const double* along = jacobian_.data();
      const double* x = along + n;
      const double* y = x + n;
      for (std::size_t k = 0; k < used; ++k) {
        const double by_n = h * along_normal * along[k];
        const double by_x = h * (row.xx * x[k] + row.xy * y[k]);
        const double by_y = h * (row.xy * x[k] + row.yy * y[k]);
        double* to = matrix_.data() + moved_[k] * n;
        for (std::size_t j = 0; j <= k; ++j) {
          to[moved_[j]] += by_n * along[j] + by_x * x[j] + by_y * y[j];
        }
      }
    }
  }
}

/// Adds slope Jᵀ J of a row.
void LinearlyImplicitEuler::add_row(System& system, const JacobianRow<double>& row,
                                    double slope) noexcept {
  const Tree& tree = system.model->tree;
  const std::size_t n = at(tree.velocity_count());
  dense_row(tree, system.tree, row, std::span(jacobian_).first(n));
  const std::size_t used = pack<1>(n);
  for (std::size_t k = 0; k < used; ++k) {
    double* to = matrix_.data() + moved_[k] * n;
    for (std::size_t j = 0; j <= k; ++j) {
      to[moved_[j]] += slope * jacobian_[k] * jacobian_[j];
    }
  }
}

/// Adds h Jᵀ (h K + D) J of springs between bodies.
void LinearlyImplicitEuler::assemble_springs(System& system, const State& state,
                                             double h) noexcept {
  const Placement place = system.placement(state.q, state.v);
  for_each_spring(system.pools.springs, place, [&](const SpringRows& rows) {
    for (int r = 0; r < rows.count; ++r) {
      add_row(system, rows.row[r], h * (h * rows.stiffness[r] + rows.damping[r]));
    }
  });
}

/// M + h Σ Jᵀ G J with the slopes G of rows, springs, dampers and motors.
void LinearlyImplicitEuler::assemble(System& system, const State& state,
                                     double h) noexcept {
  const Model& model = *system.model;
  const Tree& tree = model.tree;
  const std::size_t n = at(tree.velocity_count());
  mass_matrix<double>(tree, system.tree, matrix_);
  const std::span<const Dof> dofs = tree.dofs();
  for (std::size_t k = 0; k < n; ++k) {
    const double stiffness = dofs[k].q >= 0 ? dofs[k].stiffness : 0;
    matrix_[k * n + k] += h * (dofs[k].damping + h * stiffness);
  }
  for (std::size_t i = 0; i < model.motors.size(); ++i) {
    if (model.motors[i].coupling >= 0) continue;
    const std::size_t k = at(model.motors[i].v);
    matrix_[k * n + k] += h * motors_[i].slope;
  }
  for_each_pool(system, state, [&](auto& pool, const LawRows& rows, const Rows& known) {
    assemble_pool(system, state, pool, std::span(known).first(at(rows.count)), h);
  });
  assemble_springs(system, state, h);
}

/// The rigid loops at the step's beginning: their rows, which of them count, and J.
void LinearlyImplicitEuler::prepare_loops(System& system) noexcept {
  const Model& model = *system.model;
  LoopWorkspace& loops = system.loops;
  const std::size_t n = at(model.tree.velocity_count());
  place_loops(model, system.tree, loops);
  factorise<double>(model.tree, system.tree, model.prescribed);
  factorise_loops(model, system.tree, loops);
  for (std::size_t i = 0; i < loops.rows.size(); ++i) {
    dense_row(model.tree, system.tree, loops.rows[i],
              std::span(loop_jacobian_).subspan(i * n, n));
  }
}

/// Corrects Δv by what rigid loops push: J Δv = −h J̇ v, with z = h λ from
/// J (M + h Σ Jᵀ G J)⁻¹ Jᵀ. Rows without compliance, as those of springs at no stiffness.
void LinearlyImplicitEuler::hold_loops(System& system, double h) noexcept {
  const Model& model = *system.model;
  LoopWorkspace& loops = system.loops;
  const std::size_t n = at(model.tree.velocity_count());
  const std::size_t m = loops.rows.size();
  loop_accelerations(model, system.tree, false, loops);
  for (std::size_t i = 0; i < m; ++i) {
    double* row = loop_jacobian_.data() + i * n;
    double* half = loops.halves.data() + i * n;  // L⁻¹ Jᵀ
    loops.error[i] *= h;
    for (std::size_t k = 0; k < n; ++k) {
      loops.error[i] += row[k] * momentum_[k];
      half[k] = row[k];
    }
    for (const Motor& motor : model.motors) {
      if (motor.kind == MotorKind::prescribed) half[at(motor.v)] = 0;
    }
    forward(matrix_, n, std::span(half, n));
    for (std::size_t j = 0; j <= i; ++j) {
      const double* other = loops.halves.data() + j * n;
      double sum = 0;
      for (std::size_t k = 0; k < n; ++k) sum += half[k] * other[k];
      loops.matrix[i * m + j] = loops.matrix[j * m + i] = sum;
    }
    loops.natural[i] = loops.matrix[i * m + i];
  }
  pivot_loops(1e-14, loops);  // those that count are known
  solve_loops(loops);
  std::fill(loops.change.begin(), loops.change.end(), 0.0);
  for (std::size_t i = 0; i < m; ++i) {
    const double* half = loops.halves.data() + i * n;
    for (std::size_t k = 0; k < n; ++k) loops.change[k] += loops.lambda[i] * half[k];
    loops.lambda[i] /= h;
  }
  backward(matrix_, n, loops.change);
  for (std::size_t k = 0; k < n; ++k) momentum_[k] += loops.change[k];
}

/// Prescribed joints do not give way.
void LinearlyImplicitEuler::fix_prescribed(System& system, const State& state, double h,
                                           Commands commands) noexcept {
  const Model& model = *system.model;
  const std::size_t n = momentum_.size();
  for (std::size_t i = 0; i < model.motors.size(); ++i) {
    const Motor& motor = model.motors[i];
    if (motor.kind != MotorKind::prescribed) continue;
    const double change = h * prescribed_acceleration(motor, i, state.time, h, commands);
    const std::size_t k = at(motor.v);
    for (std::size_t j = 0; j < n; ++j) {
      if (j == k) continue;
      double& entry = matrix_[std::max(j, k) * n + std::min(j, k)];
      momentum_[j] -= entry * change;
      entry = 0;
    }
    matrix_[k * n + k] = 1;
    momentum_[k] = change;
  }
}

/// The change of velocity over the step, into momentum_; false where there is none.
bool LinearlyImplicitEuler::solve(System& system, const State& state, double h,
                                  Commands commands) noexcept {
  const Model& model = *system.model;
  const Tree& tree = model.tree;
  const std::size_t n = at(tree.velocity_count());
  assemble(system, state, h);
  // h (τ + Jᵀ f − c): what inverse dynamics misses without an acceleration.
  std::vector<double>& still = system.acceleration;
  std::fill(still.begin(), still.end(), 0.0);
  inverse_dynamics<double>(tree, state.v, still, system.on_links, system.tree, momentum_);
  for (std::size_t k = 0; k < n; ++k) momentum_[k] = h * (system.tau[k] - momentum_[k]);
  fix_prescribed(system, state, h, commands);
  if (!cholesky(matrix_, n)) return false;
  forward(matrix_, n, momentum_);
  backward(matrix_, n, momentum_);
  if (model.loop_rows > 0) hold_loops(system, h);
  return true;
}

/// Looks at a solution: rows that would pull are let go; where the slip turned round,
/// friction did not stop at zero as it should, and a secant between no slip and the slip
/// found takes the place of its slope. False when nothing had to be changed.
template <class Pool>
bool LinearlyImplicitEuler::improve(System& system, const State& state, Pool& pool,
                                    const typename Pool::Rows& rows, double h,
                                    Rows& known) noexcept {
  const LawColumns c = pool.law_columns(rows.memory);
  const Placement place = system.placement(state.q, velocity_);
  bool changed = false;
  pool.for_each_row(rows, c, [&](const LawRow& row) {
    RowLinearisation& to = known[row.i];
    if constexpr (std::is_same_v<Pool, PointPool>) {
      if (to.is_patch && follow_patch(pool, rows, row, place, h, to, system.sink())) {
        changed = true;
        return;
      }
    }
    if (to.resistance != 0) {
      const double now = to.force + to.extra;
      if (pushes(pool, to, row.i) < 0) {
        scatter_friction(pool, place, row.i, -now, -to.friction, system.sink());
        scatter_couple(pool, row.i, -(to.couple + to.extra_couple), system.sink());
        to.let_go();
        changed = true;
        return;
      }
    }
    if (to.friction.x == 0 && to.friction.y == 0 && to.friction.z == 0) return;
    const Vec3<double> slip = row.friction_kinematics().slip;
    const double speed = norm(slip);
    const bool turned = to.secant == 0 && dot(slip, to.slip) < 0;
    const bool closer = to.secant > 0 && speed < 0.5 * to.secant;
    if ((!turned && !closer) || speed == 0) return;
    const Vec3<double> f =
        stop(row, SpinKinematics::at(c.depth[row.i], to.rate), slip, h, to);
    scatter_friction(pool, place, row.i, 0, f - to.friction, system.sink());
    to.friction = f;
    changed = true;
  });
  return changed;
}

/// Motors at the end of the step, were the velocities to stay. One at its limit holds it.
void LinearlyImplicitEuler::prepare_motors(System& system, const State& state,
                                           double h) noexcept {
  const Model& model = *system.model;
  for (std::size_t i = 0; i < model.motors.size(); ++i) {
    const Motor& motor = model.motors[i];
    const double now = system.motor_forces[i];
    motors_[i] = {motor.kind == MotorKind::prescribed ? 0 : now, 0};
    // One that drives a coupling acts as it does at the step's beginning.
    if (motor.kind != MotorKind::position || motor.coupling >= 0 ||
        now <= motor.least_force || now >= motor.largest_force) {
      continue;
    }
    const double change = -h * motor.kp * state.v[at(motor.v)];
    system.tau[at(motor.v)] += change;
    motors_[i] = {now + change, motor.kd + h * motor.kp};
  }
}

/// Motors that would exceed their limits over the step are set to them.
bool LinearlyImplicitEuler::improve_motors(System& system) noexcept {
  const Model& model = *system.model;
  bool changed = false;
  for (std::size_t i = 0; i < model.motors.size(); ++i) {
    const Motor& motor = model.motors[i];
    MotorStep& step = motors_[i];
    if (step.slope == 0) continue;
    const double found = step.force - step.slope * momentum_[at(motor.v)];
    if (within_limits(motor, found)) continue;
    const double limit = limited(motor, found);
    system.tau[at(motor.v)] += limit - step.force;
    step = {limit, 0};
    changed = true;
  }
  return changed;
}

/// Forces at the step's beginning and how they change over it.
void LinearlyImplicitEuler::begin(System& system, State& state, double h,
                                  Commands commands) noexcept {
  const Model& model = *system.model;
  joints_.resize(state.joints.capacity());
  contacts_.resize(state.contacts.capacity());
  for_each_pool(system, state, [&](LawPool& pool, const LawRows& rows, Rows& known) {
    const std::span<double> depth = pool.column(RowColumns::depth);
    const std::span<const double> rate = pool.column(RowColumns::rate);
    const std::span<const double> slip_x = pool.column(RowColumns::slip_x);
    const std::span<const double> slip_y = pool.column(RowColumns::slip_y);
    for (std::size_t i = 0; i < at(rows.count); ++i) {
      known[i].rate = rate[i];
      known[i].slip = {slip_x[i], slip_y[i], pool.spin_slip(i)};
      depth[i] += 0.5 * h * rate[i];
    }
  });
  if (model.has_patches) {
    kinetic_ = kinetic_energy<double>(model.tree, state.v, system.tree);
    in_patches_ = 0;
    foresee_patches(system.pools.points, state.contacts, h);
  }
  apply_forces(system, {Form::advance, h}, state.time, state.q, state.v, state,
               memory_of(std::as_const(state)), rates_of(system.pools), commands);
  gyroscopic_.add(model.tree, system.tree, h, system.on_links);
  for_each_pool(system, state, [&](LawPool& pool, const LawRows& rows, Rows& known) {
    linearise(pool, rows, h, known);
  });
  // Springs and motors at the end of the step, were the velocities to stay.
  const std::span<const Dof> dofs = model.tree.dofs();
  for (std::size_t k = 0; k < dofs.size(); ++k) {
    if (dofs[k].q >= 0) system.tau[k] -= h * dofs[k].stiffness * state.v[k];
  }
  const Placement place = system.placement(state.q, state.v);
  add_spring_slopes(system.pools.springs, place, h, 0, system.sink());
  prepare_motors(system, state, h);
  if (model.loop_rows > 0) prepare_loops(system);
  for_each_pool(system, state, [&](auto& pool, const LawRows& rows, Rows& known) {
    for (std::size_t i = 0; i < at(rows.count); ++i) {
      if (known[i].extra == 0 && !known[i].is_patch) continue;
      pool.scatter_row(place, i, known[i].extra, {0, 0}, system.sink());
      scatter_couple(pool, i, known[i].extra_couple, system.sink());
    }
  });
}

StepStatus LinearlyImplicitEuler::step(System& system, State& state, double h,
                                       Commands commands) noexcept {
  links_before_ = system.tree.velocities;
  const bool patches = system.model->has_patches;
  if (patches) before_ = state;
  begin(system, state, h, commands);
  const Tree& tree = system.model->tree;
  for (int solves = 1;; ++solves) {
    if (!solve(system, state, h, commands)) return StepStatus::not_converged;
    for (std::size_t k = 0; k < state.v.size(); ++k) {
      velocity_[k] = state.v[k] + momentum_[k];
    }
    if (!all_finite(velocity_)) {
      return patches && runs_away(system, state) ? StepStatus::energy_created
                                                 : StepStatus::not_finite;
    }
    kinematics<double>(tree, state.q, velocity_, system.tree);
    for_each_pool(system, state, [&](auto& pool, const auto& rows, Rows&) {
      pool.measure_rates(system.placement(state.q, velocity_), rows);
    });
    bool changed = improve_motors(system);
    if (solves >= (patches ? most_patch_solves : most_solves)) break;
    for_each_pool(system, state, [&](auto& pool, const auto& rows, Rows& known) {
      changed = improve(system, state, pool, rows, h, known) || changed;
    });
    if (!changed) break;
    kinematics<double>(tree, state.q, state.v, system.tree);
  }
  finish(system, state, h, commands);
  // Many times all that bodies and patches had: no motion of these bodies.
  const double created = before_.works.numerical - state.works.numerical;
  if (patches && !(created <= most_multiplied * known_) && runs_away(system, before_)) {
    std::swap(state, before_);
    return StepStatus::energy_created;
  }
  return StepStatus::ok;
}

/// Notes the patch that presses most, if there is one.
bool LinearlyImplicitEuler::runs_away(System& system, const State& state) noexcept {
  PointPool& pool = system.pools.points;
  double most = 0;
  pool.for_each_row(state.contacts, pool.law_columns(state.contacts.memory),
                    [&](const LawRow& law) {
                      const RowLinearisation& row = contacts_[law.i];
                      if (!law.laws.volumetric || !(row.force > most)) return;
                      most = row.force;
                      away_ = state.contacts.key[law.i];
                      away_time_ = state.time;
                    });
  return most > 0;
}

/// Laws, their losses and the memory of friction see the overlaps that the step leads to.
void LinearlyImplicitEuler::finish_patches(PointPool& pool, const ContactRows& rows,
                                           double h) noexcept {
  for (std::size_t b = 0; b < pool.blocks().size(); ++b) {
    if (!pool.blocks()[b].volumetric) continue;
    for (auto i = at(rows.begin[b]); i < at(rows.begin[b + 1]); ++i) {
      if (rows.key[i].empty()) continue;
      const PatchRow& now = pool.patch(i);
      contacts_[i].gyration = now.gyration();
      const Overlap<double> overlap =
          pool.displaced(rows, i, -h * now.approach, h * now.turning);
      put_overlap(pool, overlap, i);
      pool.column(RowColumns::depth)[i] = overlap.depth;
      pool.column(RowColumns::rate)[i] =
          pool.patch(i).approach_at(pool.patch(i).centroid);
    }
  }
}

/// Memory and powers follow the new velocities.
void LinearlyImplicitEuler::finish(System& system, State& state, double h,
                                   Commands commands) noexcept {
  const Model& model = *system.model;
  if (model.has_patches) finish_patches(system.pools.points, state.contacts, h);
  apply_forces(system, {Form::advance, h}, state.time, state.q, velocity_, state,
               memory_of(std::as_const(state)), memory_of(state), commands);
  system.powers.motors = 0;
  for (std::size_t i = 0; i < motors_.size(); ++i) {
    const Motor& motor = model.motors[i];
    system.motor_forces[i] =
        motors_[i].force -
        motors_[i].slope * travel_rate(system.drives.couplings, motor, momentum_);
    system.powers.motors +=
        system.motor_forces[i] * travel_rate(system.drives.couplings, motor, velocity_);
  }
  book_rows(system, state, h);
  book_springs(system, state, h);
  note_loops(system, state, h);
  book_prescribed(system, h);
  book_links(system, state, h);
  state.v = velocity_;
  gyroscopic_.move_on(model.tree, system.tree, h, state.q, state.v);
  if (model.has_patches) book_patches(system, state);
  state.v_stepped = state.v;
  for (std::size_t k = 0; k < work_lines; ++k) {
    field<double>(state.works, k) += h * field<double>(system.powers, k);
  }
  state.time += h;
}

/// What the rows pushed with is not quite what their laws say at the end of the step: the
/// difference damps, as backward Euler does in their springs.
void LinearlyImplicitEuler::book_rows(System& system, State& state, double h) noexcept {
  double& numerical = state.works.numerical;
  for_each_pool(system, state, [&](auto& pool, const auto& rows, Rows& known) {
    const LawColumns c = pool.law_columns(rows.memory);
    pool.for_each_row(rows, c, [&](const LawRow& law) {
      const std::size_t i = law.i;
      const RowLinearisation& row = known[i];
      const Vec3<double> slip = law.friction_kinematics().slip;
      const Vec3<double> of_law{c.friction_x[i], c.friction_y[i], pool.spin_friction(i)};
      Vec3<double> acted = slip;
      if (law.laws.spins()) acted.z = row.gyration * pool.patch(i).spin;
      numerical -= h * (dot(row.friction_at(acted), acted) - dot(of_law, slip));
      if (!law.laws.has_normal_law()) return;
      if constexpr (std::is_same_v<std::decay_t<decltype(pool)>, PointPool>) {
        if (law.laws.volumetric) {
          in_patches_ += taken_by_patch(pool, rows, law, row, h);
          return;
        }
      }
      const Kinematics<double> kin = law.kinematics();
      const double elastic = law.normal_slopes(kin).static_force;
      const double begun = std::max(rows.depth[i], 0.0);
      const double ended = std::max(rows.depth[i] + h * kin.rate, 0.0);
      numerical +=
          h * (row.normal_at(kin.rate) - c.normal_force[i] + elastic) * kin.rate -
          (law.normal_energy(ended) - law.normal_energy(begun));
    });
  });
}

/// What patches store where the step has led.
void LinearlyImplicitEuler::book_patches(System& system, State& state) noexcept {
  const Model& model = *system.model;
  PointPool& pool = system.pools.points;
  const ContactRows& rows = state.contacts;
  kinematics<double>(model.tree, state.q, state.v, system.tree);
  known_ = kinetic_;
  pool.for_each_row(rows, pool.law_columns(rows.memory), [&](const LawRow& law) {
    const ContactKey& key = rows.key[law.i];
    if (!law.laws.volumetric || key.empty()) return;
    const ModelShape& a = model.shapes[key.a];
    const ModelShape& b = model.shapes[key.b];
    const auto find = overlap_function<double>(kind_of(a.shape), kind_of(b.shape));
    const auto pose = [&](const ModelShape& shape) {
      return system.tree.poses[at(shape.link)] * shape.in_link;
    };
    const double potential = find(a.shape, pose(a), b.shape, pose(b)).potential;
    const double stiffness = law.volume_law().stiffness;
    in_patches_ -= stiffness * (potential - contacts_[law.i].potential);
    known_ += stiffness * contacts_[law.i].potential;
  });
  state.works.numerical += in_patches_;
  if (!(in_patches_ < -most_created * kinetic_)) return;
  if (creations_++ == 0) first_creation_ = state.time;
  created_ -= in_patches_;
}

/// ½ K Δx² of springs that were taken at the end of the step.
void LinearlyImplicitEuler::book_springs(System& system, State& state,
                                         double h) noexcept {
  double& numerical = state.works.numerical;
  const std::span<const Dof> dofs = system.model->tree.dofs();
  for (std::size_t k = 0; k < dofs.size(); ++k) {
    const double moved = h * velocity_[k];
    if (dofs[k].q >= 0) numerical += 0.5 * dofs[k].stiffness * moved * moved;
  }
  const Placement place = system.placement(state.q, velocity_);
  for_each_spring(system.pools.springs, place, [&](const SpringRows& rows) {
    for (int k = 0; k < rows.count; ++k) {
      const double moved = h * row_rate<double>(system.tree, velocity_, rows.row[k]);
      numerical += 0.5 * rows.stiffness[k] * moved * moved;
    }
  });
}

/// ½ Δvᵀ M Δv, by the links' velocities, and gyroscopic torques.
void LinearlyImplicitEuler::book_links(System& system, State& state, double h) noexcept {
  Workspace<double>& tree = system.tree;
  double& numerical = state.works.numerical;
  for (std::size_t i = 1; i < links_before_.size(); ++i) {
    numerical -= h * gyroscopic_.power(tree, i);
    tree.velocities[i] = tree.velocities[i] - links_before_[i];
  }
  for (std::size_t k = 0; k < momentum_.size(); ++k) {
    momentum_[k] = velocity_[k] - state.v[k];
  }
  numerical += kinetic_energy<double>(system.model->tree, momentum_, tree);
}

/// What springs and loops pushed with, after the other forces were applied once more.
void LinearlyImplicitEuler::note_loops(System& system, const State& state,
                                       double h) noexcept {
  const Model& model = *system.model;
  add_spring_slopes(system.pools.springs, system.placement(state.q, velocity_), h, 0,
                    system.sink());
  if (model.loop_rows == 0) return;
  push_loops(system.loops);
  bristle::note_loops(model, system.tree, system.loops);
  for (std::size_t i = 0; i < system.on_links.size(); ++i) {
    system.on_links[i] = system.on_links[i] + system.loops.on_links[i];
  }
}

/// What prescribed joints took, beyond the other forces on them.
void LinearlyImplicitEuler::book_prescribed(System& system, double h) noexcept {
  const Model& model = *system.model;
  for (std::size_t k = 0; k < momentum_.size(); ++k) {
    system.acceleration[k] = momentum_[k] / h;
  }
  if (model.prescribed.empty()) return;
  inverse_dynamics<double>(model.tree, velocity_, system.acceleration, system.on_links,
                           system.tree, momentum_);
  for (std::size_t i = 0; i < model.motors.size(); ++i) {
    const Motor& motor = model.motors[i];
    if (motor.kind != MotorKind::prescribed) continue;
    const std::size_t k = at(motor.v);
    system.motor_forces[i] = momentum_[k] - system.tau[k];
    system.powers.motors += system.motor_forces[i] * velocity_[k];
  }
}

std::string LinearlyImplicitEuler::advice(const Model& model) const {
  char text[240];
  if (!away_.empty()) {
    std::snprintf(text, sizeof text,
                  "the step at %.6g s would create ten times the energy there is, ",
                  away_time_);
    return text + ("at the contact of \"" + model.shapes[away_.a].name + "\" with \"" +
                   model.shapes[away_.b].name +
                   "\": it moves or turns too far within a step. Take a shorter step, or "
                   "the method complementarity");
  }
  if (creations_ == 0) return {};
  std::snprintf(text, sizeof text,
                "%llu steps created energy in patches, %.2g J in all (the ledger's line "
                "numerical); the first at %.6g s. One linearisation of their laws is too "
                "coarse: take a shorter step, or the method complementarity",
                static_cast<unsigned long long>(creations_), created_, first_creation_);
  return text;
}

double no_bound(const TimeScales&) noexcept {
  return std::numeric_limits<double>::infinity();
}

}  // namespace

const MethodInfo linearly_implicit_euler_method{
    .name = "linearly-implicit-euler",
    .title = "linearly implicit Euler",
    .order = 1,
    .evaluations = 1,
    .stable_step = no_bound,
    .make = [](const System& system,
               const FixedStepOptions&) -> std::unique_ptr<FixedMethod> {
      return std::make_unique<LinearlyImplicitEuler>(system);
    }};

}  // namespace bristle
