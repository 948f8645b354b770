#pragma once

#include <span>
#include <vector>

#include "bristle/contact/episodes.hpp"
#include "bristle/contact/law_pool.hpp"
#include "bristle/dynamics/jacobian_row.hpp"

// The pool of point contacts: pairs of shapes, each with up to max_contacts points.

namespace bristle {

class PointPool : public LawPool {
 public:
  using Rows = ContactRows;
  static constexpr int most_rows = 3;  // of J per contact: along n, t1, t2

  PointPool(const Model& model, Team& team);

  /// The contacts of an accepted state in two steps. find() searches them as far as the
  /// bodies may move within `horizon` [s] and matches them with the rows that the state
  /// has; it may fail, and does not change the state. accept() makes what was found the
  /// state's own: lasting contacts keep their memory, frames are carried along, new ones
  /// begin and old ones end. Done twice, it changes nothing the second time.
  ContactStatus find(const LinkMotion& links, double horizon,
                     const ContactRows& rows) noexcept;
  void accept(const LinkMotion& links, const AcceptedStep& step, State& state,
              std::vector<Event>& events) noexcept;

  /// Measures the rows of a settled state at other positions and velocities within the
  /// step; `memory` is the rows' memory there. Without `open`, pairs of which every
  /// contact was open are left out.
  void measure(const Placement& at, const ContactRows& rows,
               std::span<const double> memory, bool open) noexcept;
  /// Rates and slips at the same places for other velocities.
  void measure_rates(const Placement& at, const ContactRows& rows) noexcept;

  /// Adds the forces of all rows, in the order of the rows.
  void scatter(const Placement& at, const ContactRows& rows,
               const ForceSink& to) const noexcept;
  /// The same for one row with the given force.
  void scatter_row(const Placement& at, std::size_t i, double normal, Vec2<double> across,
                   const ForceSink& to) const noexcept;

  /// The couple on B of a row under a volumetric law; zero of other rows [N m].
  Vec3<double> couple(std::size_t i) const;
  void scatter_couple(std::size_t i, const Vec3<double>& couple,
                      const ForceSink& to) const noexcept;

  /// How far the frames turn over a step at these velocities, into the rows' memory.
  void put_turns(const Placement& at, double h, ContactRows& rows) const noexcept;

  /// The rows of J of contact i; their rates are −δ̇ and the two components of slip.
  int jacobian(const Placement& at, std::size_t i,
               std::span<JacobianRow<double>> out) const noexcept;
  /// The same, dense: most_rows rows of nᵥ numbers; `scratch` is room for as many more.
  int dense_jacobian(const Tree& tree, const Placement& at, std::size_t i,
                     std::span<double> out, std::span<double> scratch) const noexcept;

  /// The overlap of row i of a settled state, had B since moved against A: along n, and
  /// turned about the tangents at the place where the force acts.
  Overlap<double> displaced(const ContactRows& rows, std::size_t i, double along,
                            Vec2<double> turned) const noexcept;
  /// Makes the patches what they will be, had the bodies moved on for so long as they
  /// move now; their forces still act where they do.
  void foresee_patches(const ContactRows& rows, double ahead) noexcept;
  /// The rows of J of a patch: along n at a place, and about two axes.
  std::array<JacobianRow<double>, 3> patch_rows(const Placement& at, std::size_t i,
                                                const PatchAxes& axes) const noexcept;

  /// The row of J of the third component of slip, r_g ω_n.
  JacobianRow<double> spin_row(std::size_t i) const noexcept;

  const ContactPlace& place(std::size_t i) const { return places_[i]; }
  /// Whether the point of a row was not found again by the last measure().
  bool lost(std::size_t i) const { return lost_[i] != 0; }
  /// Depth of the deepest point of a pair that measure() found without a row [m].
  double unmatched(std::size_t pair) const { return unmatched_[pair]; }
  /// Pairs of shapes that may touch, as of the last find().
  const Candidates& candidates() const { return detector_.candidates(); }
  /// How far the points of a shape may move before a contact of it can have been
  /// missed, as of the last find() [m].
  double margin(std::size_t shape) const {
    return detector_.margin(static_cast<std::uint32_t>(shape));
  }

 private:
  RowMotion motion_at(const LinkMotion& links, std::size_t i, double depth,
                      double& spin) const;
  void meet(const LinkMotion& links, std::size_t i, PatchRow patch,
            const RowMotion& motion);
  JacobianRow<double> couple_row(std::size_t i, const Vec3<double>& axis) const noexcept;
  void fit_rows(const ContactRows& rows);
  void measure_pair(const LinkMotion& links, const ContactRows& rows, std::size_t pair,
                    const double* turns) noexcept;
  void measure_patch(const LinkMotion& links, const ContactRows& rows, std::size_t pair,
                     double turn) noexcept;

  const Model* model_;
  Detector detector_;
  PairCache cache_;
  std::vector<ContactPlace> places_;
  std::vector<std::uint8_t> lost_;
  std::vector<double> unmatched_;  // by pair
};

}  // namespace bristle
