#pragma once

#include <deque>

#include "bristle/step/stepper.hpp"

// The one list of steppers. Scenes (clock.kind), --set, studies, docs and the contract
// tests take their steppers from it. Programs and adapters add to it at start-up.

namespace bristle {

/// All steppers: those of the library, then those registered.
const std::deque<StepperInfo>& steppers();

/// By name, or a message with the names there are.
Result<const StepperInfo*> find_stepper(std::string_view name);

/// Adds a stepper to the list. At start-up, before other threads look at it; an error
/// where the name is taken or a parameter's default lies outside its range.
Result<const StepperInfo*> register_stepper(StepperInfo info);

}  // namespace bristle
