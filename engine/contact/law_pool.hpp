#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "bristle/contact/detect.hpp"
#include "bristle/contact/law_table.hpp"
#include "bristle/contact/patch.hpp"
#include "bristle/core/team.hpp"
#include "bristle/dynamics/jacobian_row.hpp"
#include "bristle/model/state.hpp"

// Rows under contact laws within a step. The memory of a row lies in the State
// (model/state.hpp); here are its motion (depth, rate, slip) and the results of its laws
// (forces), in columns. Point contacts and joint rows are such pools.

namespace bristle {

/// How a row moves now.
struct RowMotion {
  double depth;
  double rate;  // of the depth; what the laws of a patch see is the rate at s_c
  Vec2<double> slip;
  const PatchRow* patch = nullptr;  // under a volumetric law
};

/// The columns of a pool.
struct RowColumns {
  static constexpr std::size_t depth = 0, rate = 1, slip_x = 2, slip_y = 3, normal = 4,
                               friction_x = 5, friction_y = 6,
                               spin = 7,  // mean, of the two bodies about n [rad/s]
      count = 8;
};

/// Poses and velocities of the bodies: the tree after kinematics() for q and v.
struct Placement {
  const Workspace<double>& tree;
  std::span<const double> q;
  std::span<const double> v;

  LinkMotion links() const { return {tree.poses, tree.velocities}; }
};

/// Where forces are added: on links, about their origins in world axes, and on joints.
struct ForceSink {
  std::span<Force<double>> on_links;
  std::span<double> on_joints;
};

/// The sides of guards that laws are held on while an integrator tries a step beyond an
/// event, so that rates stay smooth; and roots of depths where a contact time runs.
struct HeldLaws {
  Columns<const double> normal{};  // a column per guard: −1, 1, or 0: free
  Columns<const double> friction{};
  const double* roots = nullptr;  // of depths; none: the laws compute them
};

/// What the laws compute: a step of length h, or forces and the memory's rates.
struct Evaluation {
  Form form = Form::evaluate;
  double h = 0;                    // [s]
  const HeldLaws* held = nullptr;  // Form::evaluate only
  /// Normal forces that friction is under, per row; none: those of the normal laws.
  double* loads = nullptr;
};

/// What the laws store and lose, summed over the rows of a pool [J, W].
struct LawSums {
  LawTotals normal, friction;
  double rolling = 0;  // lost by the couples of patches
};

/// The columns of patches: PatchMotion, then the rate of the depth.
inline constexpr std::size_t patch_motions = field_count<PatchMotion<double>, double>;
inline constexpr std::size_t patch_columns = patch_motions + 1;

/// Of row i, where it is under a volumetric law.
inline PatchMotion<double> load_patch(const LawColumns& columns, std::size_t i) {
  return detail::load_fields<PatchMotion<double>, double>(columns.patch, i);
}

/// One row with its laws, at the motion that was measured last. A view: cheap to make.
struct LawRow {
  const LawBlock& laws;
  const LawColumns& columns;
  std::size_t i;
  PatchMotion<double> patch;  // under a volumetric law

  LawRow(const LawBlock& of, const LawColumns& from, std::size_t row)
      : laws(of), columns(from), i(row) {
    if (laws.volumetric) patch = load_patch(columns, i);
  }

  bool closed() const {
    return columns.depth[i] > 0 || (laws.rigid && columns.normal_force[i] > 0);
  }
  double normal_force() const { return columns.normal_force[i]; }
  Kinematics<double> kinematics() const {
    auto kin = Kinematics<double>::at(columns.depth[i], columns.rate[i],
                                      {columns.slip_x[i], columns.slip_y[i]});
    if (laws.volumetric) kin.patch = &patch;
    return kin;
  }
  /// With the slip of spinning, where friction has three components, and the rate of the
  /// depth.
  SpinKinematics friction_kinematics() const {
    const double spin = laws.spins() ? columns.slip_z[i] : 0;
    const double* rate =
        laws.volumetric ? columns.patch.column(patch_motions) : columns.rate;
    return SpinKinematics::at(columns.depth[i], rate[i],
                              {columns.slip_x[i], columns.slip_y[i], spin});
  }
  VolumeLaw volume_law() const {
    return normal_law(laws.normal).volume(laws.normal, columns.normal_state, i);
  }
  /// Zero for friction with a given load, which has no normal law.
  NormalSlopes<double> normal_slopes(const Kinematics<double>& kin) const {
    if (!laws.has_normal_law()) return {normal_force(), normal_force(), 0, 0};
    return normal_law(laws.normal).linearise(laws.normal, columns.normal_state, i, kin);
  }
  FrictionSpring<double, 3> spring(const SpinKinematics& kin, double force) const {
    return friction_law(laws.friction)
        .spring(laws.friction, columns.friction_state, i, kin, force);
  }
  /// Friction over a step h: how its force follows the slip, and the force itself, the
  /// memory's response included.
  StepSlopes friction_step_slopes(const SpinKinematics& kin, double h) const {
    return friction_law(laws.friction)
        .slopes(laws.friction, columns.friction_state, i, kin, normal_force(), h);
  }
  Vec3<double> friction_step_force(const SpinKinematics& kin, double force,
                                   double h) const {
    return friction_law(laws.friction)
        .force(laws.friction, columns.friction_state, i, kin, force, h);
  }
  /// Stiffness or damping along n, t1 and t2, as far as it resists [N/m], [N s/m].
  std::array<double, 3> stiffness() const {
    const double tangent = spring(friction_kinematics(), normal_force()).stiffness;
    return {std::max(0.0, normal_slopes(kinematics()).by_depth), tangent, tangent};
  }
  std::array<double, 3> damping() const {
    const FrictionSpring<double, 3> f = spring(friction_kinematics(), normal_force());
    const double tangent = f.damping + f.viscous;
    return {std::max(0.0, normal_slopes(kinematics()).by_rate), tangent, tangent};
  }
  /// Energy stored at a depth, the memory as it is [J].
  double normal_energy(double depth) const {
    return normal_law(laws.normal).stored(laws.normal, columns.normal_state, i, depth);
  }
  double friction_energy(double depth, double force) const {
    return friction_law(laws.friction)
        .stored(laws.friction, columns.friction_state, i, depth, force);
  }
};

/// Room for the rows of some blocks of laws, and the passes of their laws.
class LawPool {
 public:
  LawPool(const Model& model, std::span<const LawBlock> blocks, Team& team);

  /// Room for as many rows as a state has; allocates where that is more than before.
  void fit(const LawRows& rows);
  std::size_t capacity() const { return capacity_; }
  const MemoryLayout& layout() const { return layout_; }
  std::span<const LawBlock> blocks() const { return blocks_; }
  /// The numbers of memory that the normal law of a block uses.
  static int normal_fields(const LawBlock& laws) {
    return laws.has_normal_law() ? normal_law(laws.normal).fields : 0;
  }

  std::span<double> column(std::size_t k) {
    return std::span(columns_).subspan(k * capacity_, capacity_);
  }
  std::span<const double> column(std::size_t k) const {
    return std::span(columns_).subspan(k * capacity_, capacity_);
  }
  double value(std::size_t k, std::size_t i) const { return columns_[k * capacity_ + i]; }
  /// As many numbers as the memory of the rows: room for its rates or next values.
  std::span<double> rates() { return rates_; }

  /// Whether some rows are under volumetric laws, and have a patch.
  bool has_patches() const { return !patch_columns_.empty(); }
  const PatchRow& patch(std::size_t i) const { return patches_[i]; }
  void put_patch(std::size_t i, const PatchRow& patch) {
    patches_[i] = patch;
    double* c = patch_columns_.data() + i;
    c[0] = patch.volume;
    c[capacity_] = patch.potential;
    c[2 * capacity_] = patch.area;
    c[3 * capacity_] = patch.volume_rate();
    c[patch_motions * capacity_] = patch.depth_rate();
    spin_columns_[i] = patch.spin_slip();
    if (patch.volume == 0) spin_columns_[capacity_ + i] = 0;
  }
  /// The rate of a patch's depth that friction sees, where it is not the one now.
  void put_depth_rate(std::size_t i, double rate) {
    patch_columns_[patch_motions * capacity_ + i] = rate;
  }
  /// Of friction in three components: r_g ω_n [m/s], and the third force [N].
  double spin_slip(std::size_t i) const { return has_patches() ? spin_columns_[i] : 0; }
  double spin_friction(std::size_t i) const {
    return has_patches() ? spin_columns_[capacity_ + i] : 0;
  }
  void put_spin_slip(std::size_t i, double slip) {
    if (has_patches()) spin_columns_[i] = slip;
  }
  void put_spin_friction(std::size_t i, double force) {
    if (has_patches()) spin_columns_[capacity_ + i] = force;
  }

  /// How fast the depth of a row grows: of a patch, at its deepest point [m/s].
  double depth_rate(std::size_t i) const {
    const bool of_patch = has_patches() && patches_[i].volume > 0;
    return of_patch ? patches_[i].depth_rate() : value(RowColumns::rate, i);
  }
  /// Marks row i as open: no depth, no overlap.
  void open(std::size_t i) {
    columns_[RowColumns::depth * capacity_ + i] = -1;
    if (!has_patches()) return;
    for (std::size_t k = 0; k < 3; ++k) patch_columns_[k * capacity_ + i] = 0;
  }

  /// The columns as the laws see them, for rows that remember `memory`.
  LawColumns law_columns(std::span<const double> memory, std::span<double> next,
                         const HeldLaws* held = nullptr);
  LawColumns law_columns(std::span<const double> memory) {
    return law_columns(memory, rates_);
  }

  /// The forces of all rows into the columns; their memory a step later, or its rates,
  /// into `next`, which may be the memory itself. The ledger of single rows is kept by
  /// Form::advance, and where the model asks for it.
  LawSums forces(const LawRows& rows, std::span<const double> memory,
                 std::span<double> next, const Evaluation& what) noexcept {
    if (rows.count == 0) return {};
    return run(rows, memory, next, what);
  }

  /// Notes the forces of a step in the rows, so that the next accepted state can correct
  /// the ledger to the mean velocity. They were counted at the velocities of the step's
  /// beginning (`at_end` false) or its end; after forces() with Form::advance.
  void note_forces(LawRows& rows, bool at_end) noexcept;

  /// The laws adjust the rows' memory to an accepted state; what that releases goes to
  /// the two lines of the ledger. Runs the normal laws, for their force.
  void commit(LawRows& rows, double& normal_damping, double& friction_slip) noexcept;

  /// work(row) for every row, in order; `row` is a LawRow.
  template <class Work>
  void for_each_row(const LawRows& rows, const LawColumns& columns,
                    const Work& work) const {
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      for (int i = rows.begin[b]; i < rows.begin[b + 1]; ++i) {
        work(LawRow{blocks_[b], columns, static_cast<std::size_t>(i)});
      }
    }
  }
  const LawBlock& laws_of(const LawRows& rows, std::size_t i) const {
    const auto end = std::upper_bound(
        rows.begin.begin() + 1, rows.begin.end(), i,
        [](std::size_t row, int begin) { return row < static_cast<std::size_t>(begin); });
    return blocks_[static_cast<std::size_t>(end - rows.begin.begin()) - 1];
  }

 protected:
  Team& team() { return *team_; }
  void put(std::size_t i, const RowMotion& motion, double spin) {
    double* c = columns_.data() + i;
    c[RowColumns::depth * capacity_] = motion.depth;
    c[RowColumns::rate * capacity_] = motion.rate;
    c[RowColumns::slip_x * capacity_] = motion.slip.x;
    c[RowColumns::slip_y * capacity_] = motion.slip.y;
    c[RowColumns::spin * capacity_] = spin;
  }
  void clear(std::size_t i) {
    for (std::size_t k = 0; k < RowColumns::count; ++k) columns_[k * capacity_ + i] = 0;
    columns_[RowColumns::depth * capacity_ + i] = -1;
    if (has_patches()) put_patch(i, {});
  }

 private:
  struct Piece;
  struct Pass;
  template <class Work>
  void for_each_piece(const LawRows& rows, const Work& work) const;
  LawSums run(const LawRows& rows, std::span<const double> memory, std::span<double> next,
              const Evaluation& what) noexcept;
  void run_piece(const Pass& pass, const Piece& piece, LawSums& sums) noexcept;
  void roll(const Pass& pass, const Piece& piece, LawSums& sums) noexcept;

  std::span<const LawBlock> blocks_;
  MemoryLayout layout_;
  bool contact_ledger_;
  Team* team_;
  std::size_t capacity_ = 0;
  std::vector<double> columns_;        // RowColumns
  std::vector<PatchRow> patches_;      // where some laws are volumetric, per row; and
  std::vector<double> patch_columns_;  // as their passes read them: PatchMotion; and
  std::vector<double> spin_columns_;   // r_g ω_n, third force of friction, spin's loss
  std::vector<double> rates_;
  std::vector<double> ledger_;   // stored and powers of normal and friction, per row
  std::vector<LawSums> pieces_;  // sums per piece of a block
};

inline LawColumns LawPool::law_columns(std::span<const double> memory,
                                       std::span<double> next, const HeldLaws* held) {
  const auto from = [&](int k) {
    return Columns<const double>{memory.data() + static_cast<std::size_t>(k) * capacity_,
                                 capacity_};
  };
  const auto to = [&](int k) {
    return Columns<double>{next.data() + static_cast<std::size_t>(k) * capacity_,
                           capacity_};
  };
  const HeldLaws free;
  const HeldLaws& sides = held != nullptr ? *held : free;
  double* c = columns_.data();
  return {.depth = c + RowColumns::depth * capacity_,
          .rate = c + RowColumns::rate * capacity_,
          .slip_x = c + RowColumns::slip_x * capacity_,
          .slip_y = c + RowColumns::slip_y * capacity_,
          .normal_state = from(layout_.normal),
          .friction_state = from(layout_.friction),
          .normal_force = c + RowColumns::normal * capacity_,
          .friction_x = c + RowColumns::friction_x * capacity_,
          .friction_y = c + RowColumns::friction_y * capacity_,
          .normal_next = to(layout_.normal),
          .friction_next = to(layout_.friction),
          .root_depth = sides.roots,
          .normal_held = sides.normal,
          .friction_held = sides.friction,
          .normal_ledger = {ledger_.data(), capacity_},
          .friction_ledger = {ledger_.data() + book_columns * capacity_, capacity_},
          .patch = {patch_columns_.data(), capacity_},
          .slip_z = spin_columns_.data(),
          .friction_z = spin_columns_.data() + (has_patches() ? capacity_ : 0),
          .spin_loss = spin_columns_.data() + (has_patches() ? 2 * capacity_ : 0)};
}

}  // namespace bristle
