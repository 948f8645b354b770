#include "bristle/adaptive/impact_plan.hpp"

#include <gtest/gtest.h>

#include "bristle/adaptive/sampler.hpp"
#include "tests/adaptive/falling_ball.hpp"

namespace bristle {
namespace {

/// An impact of a length, in which every step may be `ideal` long. Returns the steps, and
/// how far into the last one the end is.
struct Taken {
  std::size_t steps = 0;
  double last = 0;
};
Taken impact(ImpactPlan& plan, double length, double ideal) {
  plan.begin();
  Taken taken;
  double now = 0, next = plan.next(1);
  for (;;) {
    const double part = (length - now) / next;
    plan.note(next, std::min(part, 1.0), ideal);
    ++taken.steps;
    if (part <= 1) {
      taken.last = part;
      break;
    }
    now += next;
    next = plan.next(ideal);
  }
  plan.end();
  return taken;
}

TEST(ImpactPlan, TheLastStepOfAnImpactLikeTheLastEndsEarlyInTheStep) {
  for (const double length : {1.3, 1.45, 1.6, 1.75, 1.9}) {
    ImpactPlan plan(0.3);
    for (int k = 0; k < 3; ++k) impact(plan, length, 0.2);
    const Taken again = impact(plan, length, 0.2);
    // In parts of an ideal step its end is at 0.65; the plan leads a tenth beyond.
    EXPECT_NEAR(again.last, 1 / 1.1, 0.02) << length;
    const double ideal = length / 0.2;
    EXPECT_GE(static_cast<double>(again.steps), ideal / 1.03) << length;
    EXPECT_LE(static_cast<double>(again.steps), std::ceil(ideal) + 1) << length;
  }
}

TEST(ImpactPlan, NoStepLeapsOverAnImpact) {
  ImpactPlan plan(0.3);
  plan.begin();
  plan.note(0.3, 1, 100);
  EXPECT_LE(plan.next(100), 0.5);
}

TEST(Sampler, TimesAreMultiplesOfTheIntervalWithoutDrift) {
  const Model model = validation::ball_on_guide();
  MotionOde ode(model);
  State state = make_state(model);
  state.q[0] = 1;
  ASSERT_EQ(ode.settle(state, 1e-3).status, StepStatus::ok);
  ode.begin(state);
  Sampler sampler;
  sampler.begin(2, 0.1);
  int count = 0;
  while (sampler.due_before(1002)) {
    sampler.take(ode, ode.start(), state, [&](const State& now) {
      EXPECT_EQ(now.time, 2 + count * 0.1);
      ++count;
    });
  }
  EXPECT_EQ(count, 10000);  // that at 1002 is not before
  sampler.begin(0, 0);
  EXPECT_FALSE(sampler.is_on());
  EXPECT_FALSE(sampler.due_before(1));
}

}  // namespace
}  // namespace bristle
