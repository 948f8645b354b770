#pragma once

#include <limits>
#include <memory>
#include <string>

#include "bristle/step/stepper.hpp"

// SUNDIALS (Hindmarsh et al. 2005, ACM TOMS 31, 363; Gardner et al. 2022, ACM TOMS 48) as
// a clock: the same motion as Adaptive's, integrated by CVODE or ARKODE in plain time.
//
//   step       one of SUNDIALS' own; its root finding stops it at the first event
//   accept     the state there, with its events, settled
//   restart    only where a contact began or ended, a law switched or memory was
//   adjusted:
//              otherwise multistep methods keep their past
//
// An alternative to our own methods, and an independent check of them. It
// has no contact time: where depth begins with a root, every method is of low order.

namespace bristle {

enum class SundialsMethod : std::uint8_t {
  cvode_bdf,    // stiff, orders 1 … 5
  cvode_adams,  // not stiff, orders 1 … 12
  arkode_erk,   // explicit Runge–Kutta, orders 2 … 6, 8
  arkode_dirk,  // diagonally implicit Runge–Kutta, orders 2 … 5
};

struct SundialsOptions {
  double rtol = 1e-6;  // of velocities, depths and bristles, as AdaptiveOptions::rtol
  SundialsMethod method = SundialsMethod::cvode_bdf;
  int order = 0;  // the highest of a multistep method; 0: 5, 12, 5, 4
  double longest_step = std::numeric_limits<double>::infinity();  // [s]
};

/// Steps states of one model, which must outlive it. Not to be copied or moved.
class SundialsIntegrator final : public Stepper {
 public:
  explicit SundialsIntegrator(const Model& model, const SundialsOptions& options = {});
  ~SundialsIntegrator() override;
  SundialsIntegrator(const SundialsIntegrator&) = delete;
  SundialsIntegrator& operator=(const SundialsIntegrator&) = delete;

  StepStatus settle(State& state) override;
  StepStatus advance_to(State& state, double until,
                        const StepObserver& observer = {}) override;
  void restart() override;
  StepCounts counts() const noexcept override;
  System& system() noexcept override;
  /// What SUNDIALS said last, in its own words; empty when nothing went wrong.
  const std::string& error() const noexcept;

 private:
  class Run;
  SundialsOptions options_;
  std::unique_ptr<Run> run_;
  StepCounts before_;  // until the last restart
};

/// Adds them to the list of steppers, where scenes find them: clock.kind = "cvode" (BDF),
/// "cvode-adams", "arkode-erk" or "arkode-dirk", with clock.rtol. At start-up; false
/// where a name was taken, as it is the second time.
bool register_sundials();

}  // namespace bristle
