#include "bristle/integrate/adaptive.hpp"

#include <gtest/gtest.h>

#include "tests/validation/scenes.hpp"

// The adaptive clock on the bouncing ball of Azad & Featherstone 2014, § II-C: 66 g
// dropped 1 m, g = 10 m/s², k = 1e10 N/m^1.5, λ = 1e5 N s/m^1.5. Reference times come
// from an event-driven solution in extended precision.

namespace bristle {
namespace {

using validation::add_free;
using validation::ball_inertia;
using validation::built;
using validation::put;

struct Bounce {
  std::vector<double> touches;
  AdaptiveCounts counts;
  double highest_gain = 0;  // of kinetic and potential energy over the start [J]
  double residual = 0;
  State state;
};

Bounce bounce(double rtol, bool contact_clock, double until) {
  ModelBuilder builder;
  builder.gravity({0, 0, -10});
  builder.add_shape({.name = "ground", .shape = Plane{}});
  const double radius = 0.01, mass = 0.066;
  add_free(builder, "ball", mass, ball_inertia(mass, radius), Sphere{radius});
  builder.add_contact({.normal = choose<AzadFeatherstone>(
                           {.stiffness = 1e10, .damping = 1e5, .clamp = 1}),
                       .friction = choose<Frictionless>()});
  const Model model = built(builder);
  Bounce result;
  State& state = result.state;
  state = make_state(model);
  put(model, state, "ball", {0, 0, 1 + radius});
  const double start = mass * 10 * (1 + radius);
  Adaptive clock(model, {.rtol = rtol, .contact_clock = contact_clock});
  Audit audit;
  const StepStatus status = clock.advance_to(
      state, until, {.on_event = [&](const State& now, const Event& event) {
        if (event.kind == EventKind::touch) result.touches.push_back(now.time);
        const double energy =
            0.5 * mass * now.v[5] * now.v[5] + mass * 10 * now.q[2] - start;
        result.highest_gain = std::max(result.highest_gain, energy);
        audit.observe(make_ledger(clock.system(), now));
      }});
  EXPECT_EQ(status, StepStatus::ok) << explain(status);
  EXPECT_EQ(state.time, until);
  result.counts = clock.counts();
  result.residual = audit.relative();
  return result;
}

TEST(Adaptive, EveryBounceIsFoundAtEveryTolerance) {
  for (const bool contact_clock : {true, false}) {
    double before = HUGE_VAL;
    for (const double rtol : {1e-2, 1e-4, 1e-6, 1e-8}) {
      const Bounce run = bounce(rtol, contact_clock, 5);
      // 12 touches, then 26 micro-bounces, then rest.
      ASSERT_EQ(run.touches.size(), 38u) << rtol << " " << contact_clock;
      EXPECT_NEAR(run.touches[0], 0.447213595499958, 1e-14);
      const double error = std::fabs(run.touches[11] - 2.391673406);
      EXPECT_LT(error, before) << rtol;
      before = error;
      EXPECT_LT(run.highest_gain, rtol * 0.66) << rtol;
      if (rtol <= 1e-4) {
        EXPECT_LT(error, 1e-3) << rtol;
      }
      if (rtol >= 1e-4) {
        EXPECT_LT(run.counts.steps, 2100u) << rtol;
      }
    }
  }
}

TEST(Adaptive, TheContactsClockIsExactAtTightTolerance) {
  const Bounce run = bounce(1e-10, true, 2.6);
  ASSERT_EQ(run.touches.size(), 38u);
  EXPECT_NEAR(run.touches[1], 1.032205340625007, 1e-10);
  EXPECT_NEAR(run.touches[9], 2.326554471894182, 1e-9);
  EXPECT_NEAR(run.touches[11], 2.391673406, 1e-8);
  EXPECT_NEAR(run.touches[37], 2.529867593, 1e-8);
}

TEST(Adaptive, ABallAtRestCostsNothing) {
  const Bounce moving = bounce(1e-6, true, 3);
  const Bounce resting = bounce(1e-6, true, 1000);
  EXPECT_LT(resting.counts.steps, moving.counts.steps + 100);
  EXPECT_NEAR(resting.state.q[2], moving.state.q[2], 1e-12);
  EXPECT_LT(std::fabs(resting.state.v[5]), 1e-9);
}

}  // namespace
}  // namespace bristle
