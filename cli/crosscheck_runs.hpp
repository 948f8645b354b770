#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "scene/scene.hpp"

// One scene under several clocks, and how far apart they are.

namespace bristle::cli {

struct CrosscheckPlan {
  double until = 1;           // [s]
  std::vector<double> steps;  // of the clocks of fixed step, the longest first [s]
  double rtol = 1e-10;        // of the reference
  bool quiet = false;         // no progress
};

/// A run under one integrator, and how far it is from the reference.
struct ClockRun {
  const StepperInfo* stepper = nullptr;
  StepperOptions options{};
  std::string trouble{};  // why it did not come to its end

  std::vector<double> times{};         // of the samples [s]
  std::vector<Vec3<double>> places{};  // of all bodies that move, sample by sample [m]
  double cpu = 0;                      // [s]
  double balance_error = 0;            // of the energy, relative
  StepCounts counts{};

  double difference = std::numeric_limits<double>::quiet_NaN();  // the largest [m]
  std::vector<double> differences{};  // over all bodies, sample by sample [m]
  int body = -1;                      // of the model, where it is largest
  double time = 0;                    // when it is
  /// From the step before, which is longer; no number where there is none.
  double order = std::numeric_limits<double>::quiet_NaN();

  bool fixed_step() const { return stepper->fixed_step; }
  /// "adaptive", "rk4 × 10", "complementarity".
  std::string name() const;
};

struct Crosscheck {
  ClockRun reference{};
  std::string why_not_adaptive{};  // where the reference is another integrator
  std::vector<ClockRun> runs{};
};

/// The scene's [clock] gives rtol, method, substeps and the solver's options to the
/// clocks that know them. Where the adaptive integrator cannot run the scene, the
/// reference is the complementarity integrator with a sixteenth of the shortest step.
Crosscheck crosscheck(const scene::Scene& scene, const CrosscheckPlan& plan);

}  // namespace bristle::cli
