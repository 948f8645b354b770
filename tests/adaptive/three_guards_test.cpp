#include <gtest/gtest.h>

#include "bristle/adaptive/adaptive.hpp"
#include "bristle/contact/register_law.hpp"
#include "tests/adaptive/falling_ball.hpp"
#include "tests/adaptive/three_switches.hpp"

// A law with three guards works by declaring them: nothing in the library knows it.

namespace bristle {
namespace {

static_assert(NormalLaw<ThreeSwitches>);
static_assert(guard_of<ThreeSwitches>(GuardRole::clamp) == 1);
static_assert(guard_of<ThreeSwitches>(GuardRole::slip) == 3);

// One contact for each of the 27 ways to hold three guards: a few packs and some more.
TEST(ThreeGuards, APassHoldsEachOnItsSide) {
  constexpr std::size_t n = 27;
  const auto p = default_params<ThreeSwitches>();
  std::vector<double> depth(n, 0.9e-3), rate(n, 0.21), force(n), sides(3 * n);
  for (std::size_t i = 0; i < n; ++i) {
    std::size_t way = i;
    for (std::size_t k = 0; k < 3; ++k, way /= 3) {
      sides[k * n + i] = static_cast<double>(way % 3) - 1;
    }
  }
  ContactColumns<double> columns{};
  columns.depth = depth.data();
  columns.rate = rate.data();
  columns.normal_force = force.data();
  columns.normal_held = {sides.data(), n};
  LawTotals totals;
  normal_pass<ThreeSwitches, LedgerDetail::none, double, Form::evaluate>(
      p, columns, {0, n}, 0, totals);
  const double spring = p.stiffness * depth[0], damper = p.damping * rate[0];
  for (std::size_t i = 0; i < n; ++i) {
    const double hard = sides[i], presses = sides[n + i], fast = sides[2 * n + i];
    // Free, the contact is not as deep, presses, and is faster.
    const double more = hard > 0 ? p.more * (depth[i] - p.beyond) : 0;
    const double stronger = fast >= 0 ? p.stronger * (rate[i] - p.above) : 0;
    const double sum = spring + more + damper + stronger;
    EXPECT_NEAR(force[i], presses >= 0 ? sum : 0, 1e-12 * spring) << i;
  }
}

/// When a ball that touches at 1 m/s switches each guard, by the classical Runge–Kutta
/// method in steps of a tenth of a microsecond.
struct Crossing {
  std::size_t guard;  // of the law; 3: the depth
  double time;
};
std::vector<Crossing> crossings() {
  using validation::ball_gravity;
  using validation::ball_mass;
  const auto p = default_params<ThreeSwitches>();
  const auto slope = [&](double depth, double rate) {
    const double force =
        ThreeSwitches::evaluate(p, {}, Kinematics<double>::at(depth, rate)).force;
    return ball_gravity - force / ball_mass;
  };
  const auto guards = [&](double depth, double rate) {
    const auto law = ThreeSwitches::guards(p, {}, Kinematics<double>::at(depth, rate));
    return std::array{law[0], law[1], law[2], depth};
  };
  std::vector<Crossing> found;
  const double h = 1e-7;
  double depth = 1e-18, rate = 1;  // closed: the damper's force sets in at once
  for (int n = 0; depth > 0; ++n) {
    const auto before = guards(depth, rate);
    const double k1 = slope(depth, rate);
    const double k2 = slope(depth + h / 2 * rate, rate + h / 2 * k1);
    const double k3 = slope(depth + h / 2 * (rate + h / 2 * k1), rate + h / 2 * k2);
    const double k4 = slope(depth + h * (rate + h / 2 * k2), rate + h * k3);
    depth += h * rate + h * h / 6 * (k1 + k2 + k3);
    rate += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
    const auto after = guards(depth, rate);
    for (std::size_t k = 0; k < 4; ++k) {
      if (before[k] * after[k] > 0) continue;
      const double part = before[k] / (before[k] - after[k]);
      found.push_back({k, h * (n + part)});
    }
  }
  return found;
}

TEST(ThreeGuards, TheAdaptiveIntegratorLocatesEachAsAnEvent) {
  static const Result<const LawEntry*> own = register_law<ThreeSwitches>();
  ASSERT_TRUE(own) << own.error();
  const std::vector<Crossing> expected = crossings();
  // Hard, no longer fast, no longer hard, the clamp, lift-off.
  ASSERT_EQ(expected.size(), 5u);
  const std::size_t order[] = {0, 2, 0, 1, 3};
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(expected[i].guard, order[i]) << i;
  const auto p = default_params<ThreeSwitches>();
  const Model model = validation::ball_on_guide(0, choose<ThreeSwitches>());
  for (const bool contact_time : {true, false}) {
    for (const double rtol : {1e-6, 1e-10}) {
      State state = make_state(model);
      state.q[0] = 0.05;  // 1 m/s at the ground
      Adaptive stepper(model, {.rtol = rtol, .contact_time = contact_time});
      std::vector<Event> events;
      std::vector<std::array<double, 3>> guards;
      StepObserver observer;
      observer.on_event = [&](const State& now, const Event& event) {
        events.push_back(event);
        const auto motion = motion_of(now, 0);  // the only contact
        guards.push_back(ThreeSwitches::guards(
            p, {}, Kinematics<double>::at(motion.depth, motion.rate)));
      };
      ASSERT_EQ(stepper.advance_to(state, 0.13, observer), StepStatus::ok);
      ASSERT_EQ(events.size(), 6u) << rtol << " " << contact_time;
      EXPECT_EQ(events[0].kind, EventKind::touch);
      EXPECT_EQ(events[5].kind, EventKind::lift_off);
      // What a guard may be off by: the depth, the force, the speed of the impact, each
      // to what rounding of positions and the tolerance leave.
      const double size[] = {1e-3, 100, 1};
      for (std::size_t i = 0; i < 5; ++i) {
        const Event& event = events[i + 1];
        const std::size_t guard = expected[i].guard;
        EXPECT_NEAR(event.time - events[0].time, expected[i].time, 10 * rtol * 5e-3)
            << i << " " << rtol << " " << contact_time;
        if (guard == 3) continue;
        const EventKind kind = guard == 1 ? EventKind::clamp : EventKind::branch;
        EXPECT_EQ(event.kind, kind) << i;
        EXPECT_EQ(event.law, LawFamily::normal) << i;
        EXPECT_NEAR(guards[i + 1][guard], 0, 10 * rtol * size[guard]) << i << " " << rtol;
      }
    }
  }
}

}  // namespace
}  // namespace bristle
