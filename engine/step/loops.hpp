#pragma once

#include <string>

#include "bristle/step/system.hpp"

// Rigid loops over a run. Accelerations keep them closed up to the error of the method;
// after every accepted step positions and velocities are brought back, by the shortest
// way in the metric of the mass matrix, so that nothing drifts and no parameter has to be
// chosen:
//
//   q ← q ⊕ M⁻¹ Jᵀ (J M⁻¹ Jᵀ)⁻¹ (−c), a few times;   v ← v − M⁻¹ Jᵀ (J M⁻¹ Jᵀ)⁻¹ J v
//
// Joints of prescribed motion stay where they are.

namespace bristle {

/// The forces of rigid loops, after forward or hybrid dynamics: corrects
/// system.acceleration and adds to system.on_links. accelerate() does so by itself.
void hold_loops(System& system) noexcept;
/// The same for other accelerations and forces on links.
void hold_loops(const Model& model, Workspace<double>& tree, LoopWorkspace& loops,
                std::span<double> acceleration,
                std::span<Force<double>> on_links) noexcept;

/// Closes the rigid loops of an accepted state: positions and velocities. What that
/// changes in the energy of a run that has begun goes to works.projection. Where they
/// cannot be closed the state stays as it was.
StepStatus project_loops(System& system, State& state) noexcept;

/// The same where loops are further open than a step leaves them: at the start, from a
/// rough guess, and after positions were set by hand or prescribed. settle() does so by
/// itself.
StepStatus settle_loops(System& system, State& state) noexcept;

/// The largest opening of any rigid loop: of its points [m] and of its axes [rad]. After
/// kinematics().
struct LoopGap {
  double distance = 0;
  double angle = 0;
};
LoopGap loop_gap(System& system) noexcept;
LoopGap loop_gap(System& system, const Loop& loop) noexcept;  // of one

/// Which rigid loop of a state is open most, and by how much; empty where all are closed.
std::string open_loop(System& system, const State& state);

}  // namespace bristle
