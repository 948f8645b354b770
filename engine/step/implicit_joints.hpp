#pragma once

#include <span>
#include <vector>

#include "bristle/step/system.hpp"

// Springs, dampers and position motors of joints over an implicit step: forces at its
// end,
//
//   f⁺ = f(q⁻, v⁻) − h k v⁻ − (h k + d) Δv,
//
// so that h (h k + d) joins the joint's own inertia in M, and the rest is explicit.
// A motor that may reach its limit is a row of the complementarity problem instead.

namespace bristle {

class ImplicitJoints {
 public:
  explicit ImplicitJoints(const Model& model);

  /// Before a step: no motor is a row yet.
  void begin() noexcept;

  /// Adds the explicit parts to tau and the implicit ones to ws.armature.
  void add(const Model& model, const CouplingMotion& couplings, const State& state,
           double h, Commands commands, Workspace<double>& ws,
           std::span<double> tau) noexcept;

  /// Puts the tree's own inertias back.
  void remove(const Model& model, Workspace<double>& ws) const noexcept;

  /// A motor, or the spring and damper of a free joint's velocity, as a row:
  /// z/h = force − slope v between least and largest.
  struct Row {
    int dof;
    int motor;     // −1: spring and damper
    int coupling;  // that the motor drives in place of the joint velocity; −1: none
    double force;
    double slope;
    double least, largest;
  };
  static JacobianRow<double> jacobian(const CouplingMotion& couplings,
                                      const Row& row) noexcept;
  std::span<const Row> rows() const noexcept { return {rows_.data(), count_}; }
  std::size_t most_rows() const noexcept { return rows_.size(); }

  /// Motors at the velocity v⁺ that a step found; false where one is beyond its limit.
  /// It is a row from then on: the step has to be taken again.
  bool within_limits(const Model& model, const CouplingMotion& couplings,
                     std::span<const double> v) noexcept;

  /// The force of motor i at v⁺, one that is no row.
  double motor_force(const Model& model, const CouplingMotion& couplings, std::size_t i,
                     std::span<const double> v) const noexcept;
  bool is_row(std::size_t motor) const noexcept { return is_row_[motor] != 0; }

 private:
  struct Line {
    double force;  // at v = 0
    double slope;  // per velocity, downwards
  };
  std::vector<Line> motors_;
  GravityHold holding_;
  std::vector<std::uint8_t> is_row_;
  std::vector<Row> rows_;
  std::size_t count_ = 0;
};

}  // namespace bristle
