#pragma once

#include <string>
#include <vector>

#include "bristle/step/fixed_step.hpp"

namespace bristle {

/// The fastest motions of a model at a state, from the slopes of all contacts, joints,
/// motors and loops together and the inertia that they act on.
struct TimeScales {
  double frequency = 0;   // ω of the stiffest mode, its dampers aside [rad/s]
  double decay = 0;       // of the most damped mode, its springs aside [1/s]
  double memory = 0;      // at which bristles relax, where a method integrates them [1/s]
  std::string fastest{};  // by name: a contact, a joint or a loop; empty: none

  /// The longest step at which a method is stable for these [s]; infinite where nothing
  /// is stiff. Explicit methods only: the implicit one has no bound.
  double stable_step(Method method) const noexcept;

  /// The longest step that is accurate, not only stable: a tenth of a radian of the
  /// stiffest mode for the first-order methods, a third for the others [s].
  double recommended_step(Method method) const noexcept;
  /// How many such substeps make a step [s].
  int recommended_substeps(Method method, double step) const noexcept;
};

/// At a settled state. Contacts count as deep as they are now, so that an impact still to
/// come may be stiffer.
TimeScales time_scales(System& system, const State& state);

/// Empty where a step is short enough; else which row is too stiff, and what to do.
std::string step_warning(System& system, const State& state,
                         const FixedStepOptions& options);

/// The name of a row: a joint, or two shapes.
std::string joint_row_name(const Model& model, int row);
std::string contact_name(const Model& model, const ContactKey& contact);

}  // namespace bristle
