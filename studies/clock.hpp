#pragma once

#include <vector>

#include "bristle/steppers.hpp"
#include "studies/study.hpp"

namespace bristle::studies {

/// The clock that a study runs under, as its parameters say.
struct Clock {
  const StepperInfo* stepper = &steppers().front();
  StepperOptions options{.rtol = 1e-10};

  bool locates_events() const { return stepper->locates_events; }
  double rtol() const { return options.rtol; }
  double substep() const { return options.step / options.substeps; }
};

Clock clock_of(const Values& values);

/// A study's own parameters, and those of the clock: the tolerance, and into how many
/// substeps a fixed step of 1 ms is to be divided, unless set.
std::vector<Parameter> with_clock(std::vector<Parameter> own, double rtol, int substeps);

/// Whether a parameter is one of the clock's.
bool is_of_clock(std::string_view name);

/// How far a check's value may be from a reference under this clock: under the fixed one,
/// one per cent.
double tolerance(const Clock& clock, double adaptive, double reference);

/// Adds checks with that tolerance to an outcome.
struct Against {
  Outcome& outcome;
  const Clock& clock;

  void operator()(const char* name, double value, double reference, double within,
                  const char* source) const;
};

/// That the energy ledger closes: to the tolerance, or 1 % under the fixed-step
/// integrator.
Check ledger_balances(const Clock& clock, double residual, double scale);

}  // namespace bristle::studies
