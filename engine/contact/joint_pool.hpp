#pragma once

#include <span>

#include "bristle/contact/episodes.hpp"
#include "bristle/contact/law_pool.hpp"
#include "bristle/dynamics/coupling_motion.hpp"
#include "bristle/dynamics/jacobian_row.hpp"

// The pool of joint rows: limits (a normal law on how far a joint or a coupling is beyond
// its bound) and friction of joints (a friction law under a given load), as
// Model::joint_rows lists them. They always exist and never change their index.

namespace bristle {

/// The joint of a row of State::joints; none for padding.
const JointRow* joint_of_row(const Model& model, std::size_t row);

class JointPool : public LawPool {
 public:
  using Rows = LawRows;
  static constexpr int most_rows = 1;

  JointPool(const Model& model, Team& team);

  /// Brings the rows of an accepted state up to date: depths, rates, episodes.
  void settle(const AcceptedStep& step, const Workspace<double>& ws, State& state,
              std::vector<Event>& events) noexcept;

  /// Measures the rows at other positions and velocities within the step.
  void measure(const Placement& at, const LawRows& rows, std::span<const double> memory,
               bool open) noexcept;
  /// Rates and slips for other velocities.
  void measure_rates(const Placement& at, const LawRows& rows) noexcept;

  /// Adds the forces of all rows to those on the joints.
  void scatter(const Placement& at, const LawRows& rows,
               const ForceSink& to) const noexcept;
  /// The same for one row with the given force.
  void scatter_row(const Placement& at, std::size_t i, double normal, Vec2<double> across,
                   const ForceSink& to) const noexcept;

  /// The row of J of row i: its rate is −δ̇ of a limit, or the slip of friction.
  int jacobian(const Placement& at, std::size_t i,
               std::span<JacobianRow<double>> out) const noexcept;
  int dense_jacobian(const Tree& tree, const Placement& at, std::size_t i,
                     std::span<double> out, std::span<double> scratch) const noexcept;

  /// The joint that row i belongs to; none for padding.
  const JointRow* joint(std::size_t i) const {
    return joint_of_[i] < 0 ? nullptr
                            : &model_->joint_rows[static_cast<std::size_t>(joint_of_[i])];
  }

 private:
  void measure_rows(const Placement& at) noexcept;
  void measure_coupling(const JointRow& row, const Placement& at, std::size_t i) noexcept;

  const Model* model_;
  CouplingMotion couplings_;  // at the last settle() or measure()
  /// Rows of J of the limits of couplings, by row, and where each begins.
  std::vector<DofWeight> arms_;
  std::vector<std::size_t> first_arm_;
  std::vector<int> joint_of_;  // Model::joint_rows by row; −1: padding
  std::vector<int> begin_;     // of each block, and the end of the last
};

}  // namespace bristle
