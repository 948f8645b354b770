#pragma once

#include <span>
#include <vector>

#include "bristle/dynamics/dynamics.hpp"
#include "bristle/dynamics/spring_rows.hpp"
#include "bristle/model/model.hpp"

// Loop closures of the tree, at the positions and velocities of the last
// kinematics().
//
// A spring acts at the middle between its two points, on both bodies alike: the elastic
// force −k d runs along the line through them, and the damper sees the velocities of both
// bodies at that same place, so that no moment is left over and its loss is c|u|².
//
// A rigid loop is rows c(q) = 0 in the axes of its frame on body a. Its forces λ follow
// from the accelerations v̇₀ without them (index 1):
//
//   J M⁻¹ Jᵀ λ = −(J v̇₀ + J̇ v),   v̇ = v̇₀ + M⁻¹ Jᵀ λ
//
// Redundant rows, like those across a planar mechanism, are found by a
// pivoted Cholesky factorisation and left out.

namespace bristle {

/// Room for the rigid loops of a model. No function below allocates.
struct LoopWorkspace {
  explicit LoopWorkspace(const Model& model);

  // Of each row: its direction, its row of J, its opening or rate of opening (error), its
  // force (lambda), and the mobility that it would have if every joint axis on the way to
  // the world were along the force (natural): the scale in which rows are redundant.
  std::vector<Vec3<double>> axis;
  std::vector<JacobianRow<double>> rows;
  std::vector<double> error;
  std::vector<double> lambda;
  std::vector<double> natural;
  std::vector<double> relative;  // |error| over the mechanism's size

  std::vector<double> halves;  // of J M⁻¹ Jᵀ
  std::vector<double> matrix;  // J M⁻¹ Jᵀ
  std::vector<double> factor;  // its pivoted Cholesky factor, scaled
  std::vector<double> left;    // of its diagonal
  std::vector<std::size_t> order;
  std::size_t rank = 0;

  std::vector<Force<double>> on_links;  // the forces of the rows
  std::vector<double> change;           // of the velocities, M⁻¹ Jᵀ λ
  std::vector<double> none;             // as many zeros
  std::vector<double> q, q_before;

  /// Of every rigid loop: the force and torque on body b at its frame's origin, in the
  /// axes of frame a, as of the last evaluation [N], [N m].
  std::vector<Force<double>> forces;
};

/// The rows of a loop's spring.
SpringRows spring_rows(const Loop& loop, const Workspace<double>& ws) noexcept;

/// The forces of all springs, added to those on the links; returns the dampers' losses
/// [W]. `forces` has one entry per loop, in the form of LoopWorkspace::forces.
double add_loop_springs(const Model& model, const Workspace<double>& ws,
                        Out<Force<double>> on_links, Out<Force<double>> forces) noexcept;

/// Energy in the springs [J].
double loop_energy(const Model& model, const Workspace<double>& ws) noexcept;

/// Rigid loops: by how much each row is open [m], [rad].
void loop_errors(const Model& model, const Workspace<double>& ws,
                 LoopWorkspace& loops) noexcept;
/// Their rows, needed by all functions below.
void place_loops(const Model& model, const Workspace<double>& ws,
                 LoopWorkspace& loops) noexcept;
/// J v into `error`.
void loop_rates(const Workspace<double>& ws, LoopWorkspace& loops) noexcept;
/// J v̇ + J̇ v into `error`, after forward or hybrid dynamics; J̇ v alone with what inverse
/// dynamics without accelerations leaves.
void loop_accelerations(const Model& model, const Workspace<double>& ws,
                        bool joints_respond, LoopWorkspace& loops) noexcept;

/// J M⁻¹ Jᵀ and its factors, with the last factorisation of M.
void factorise_loops(const Model& model, const Workspace<double>& ws,
                     LoopWorkspace& loops) noexcept;
/// Takes the rows out of loops.matrix that depend on others by more than 1 − threshold.
void pivot_loops(double threshold, LoopWorkspace& loops) noexcept;
/// λ with J M⁻¹ Jᵀ λ = −error; zero for rows that were left out.
void solve_loops(LoopWorkspace& loops) noexcept;
/// λ as forces on the links.
void push_loops(LoopWorkspace& loops) noexcept;
/// λ as forces of the loops.
void note_loops(const Model& model, const Workspace<double>& ws,
                LoopWorkspace& loops) noexcept;

}  // namespace bristle
