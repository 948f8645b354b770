#include "bristle/steppers.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "bristle/run.hpp"
#include "tests/contract/allocations.hpp"
#include "tests/validation/scenes.hpp"
#ifdef BRISTLE_WITH_SUNDIALS
#include "adapters/sundials/sundials_clock.hpp"
#endif

// What every stepper of the list keeps, whatever it is; a fixed step is tried with every
// method.

namespace bristle {
namespace {

using validation::add_free;
using validation::ball_inertia;
using validation::built;
using validation::put;

#ifdef BRISTLE_WITH_SUNDIALS
const bool registered = register_sundials();
#endif

struct Case {
  const StepperInfo* stepper;
  StepperOptions options;
  std::string name;
};

void PrintTo(const Case& c, std::ostream* to) { *to << c.name; }

/// Every stepper, and a fixed step with every method.
std::vector<Case> all_steppers() {
  std::vector<Case> cases;
  const auto add = [&](const StepperInfo& info, const StepperOptions& options,
                       std::string_view name) {
    std::string plain(name);
    std::erase_if(plain, [](char c) { return c == '-'; });
    cases.push_back({&info, options, std::move(plain)});
  };
  for (const StepperInfo& info : steppers()) {
    if (!info.fixed_step) {
      add(info, {.rtol = 1e-7}, info.name);
      continue;
    }
    if (info.method) {
      add(info, {.step = 1e-3, .substeps = 10, .method = *info.method}, info.name);
      continue;
    }
    for (const Method method : fixed_methods()) {
      if (method.info().impulses) continue;  // a stepper by its own name
      add(info, {.step = 1e-3, .substeps = 10, .method = method}, name_of(method));
    }
  }
  return cases;
}

class Steppers : public ::testing::TestWithParam<Case> {
 protected:
  static std::unique_ptr<Stepper> make(const Model& model) {
    return GetParam().stepper->make(model, GetParam().options);
  }
  static std::unique_ptr<Stepper> make(const Model& model,
                                       const StepperOptions& options) {
    return GetParam().stepper->make(model, options);
  }
  static bool fixed() { return GetParam().stepper->fixed_step; }
};

INSTANTIATE_TEST_SUITE_P(All, Steppers, ::testing::ValuesIn(all_steppers()),
                         [](const auto& c) { return c.param.name; });

/// A pendulum on a hinge: no contact.
Model pendulum() {
  ModelBuilder builder;
  builder.add_body({.name = "bob",
                    .mass = 1,
                    .com = {0.5, 0, 0},
                    .inertia = Sym3<double>::diagonal(1e-2, 1e-2, 1e-2)});
  builder.add_joint(
      {.name = "hinge", .child = "bob", .type = JointType::revolute, .axis = {0, 1, 0}});
  return built(builder);
}

/// A ball that falls, bounces and slides until it rolls.
Model thrown_ball() {
  ModelBuilder builder;
  builder.add_shape({.name = "ground", .shape = Plane{}});
  add_free(builder, "ball", 1, ball_inertia(1, 0.1), Sphere{0.1});
  builder.add_contact(
      {.normal =
           choose<HuntCrossley>({.stiffness = 1e5, .exponent = 1.5, .dissipation = 0.3}),
       .friction = choose<SpringSlider>({.mu = 0.3, .stiffness = 2e4, .damping = 60})});
  return built(builder);
}

State ball_in_the_air(const Model& model) {
  State state = make_state(model);
  put(model, state, "ball", {0, 0, 0.3}, {1, 0, 0});
  return state;
}

/// A pendulum after 0.4 s, from a start where it neither rests nor is level. Let go
/// there, some symplectic methods have angles of twice their order: the second-order part
/// of position Verlet's error is then in the rates alone.
State swung(Stepper& stepper, const Model& model) {
  State state = make_state(model);
  state.q[0] = 0.3;
  state.v[0] = 1;
  EXPECT_EQ(stepper.advance_to(state, 0.4), StepStatus::ok);
  EXPECT_NEAR(state.time, 0.4, 1e-9);
  return state;
}

/// How far two states of the pendulum are apart: by angle and rate, the latter over the
/// frequency of small swings. Either alone may pass through an error of zero.
double distance(const State& a, const State& b) {
  constexpr double frequency = 4.3;  // √(m g l/I) [1/s]
  return std::hypot(a.q[0] - b.q[0], (a.v[0] - b.v[0]) / frequency);
}

TEST_P(Steppers, SmoothMotionConvergesWithItsOrder) {
  const Model model = pendulum();
  const State exact =
      swung(*steppers().front().make(model, StepperOptions{.rtol = 1e-13}), model);
  const auto error = [&](const StepperOptions& options) {
    return distance(swung(*make(model, options), model), exact);
  };
  StepperOptions options = GetParam().options;
  if (fixed()) {
    options.substeps = 1;
    options.step = 0.02;
    const double coarse = error(options);
    options.step = 0.01;
    const double order = std::log2(coarse / error(options));
    EXPECT_NEAR(order, options.method.info().order, 0.3);
  } else {
    options.rtol = 1e-4;
    EXPECT_LT(error(options), 1e-2);
    options.rtol = 1e-9;
    EXPECT_LT(error(options), 1e-6);
  }
}

TEST_P(Steppers, TouchAndLiftOffAlternateAndNameTheirContact) {
  const Model model = thrown_ball();
  State state = ball_in_the_air(model);
  const auto stepper = make(model);
  int inside = 0, touches = 0, switches = 0;
  double last = 0;
  StepObserver observer;
  observer.on_event = [&](const State& now, const Event& event) {
    EXPECT_EQ(event.contact, (ContactKey{0, 1, 0}));
    EXPECT_EQ(event.joint_row, -1);
    EXPECT_NE(event.episode, 0u);
    EXPECT_GE(event.time, last);
    EXPECT_LE(event.time, now.time);
    last = event.time;
    if (event.kind == EventKind::touch) {
      EXPECT_EQ(inside++, 0);
      EXPECT_GT(event.speed, 0);
      ++touches;
    } else if (event.kind == EventKind::lift_off) {
      EXPECT_EQ(--inside, 0);
    } else {
      EXPECT_EQ(inside, 1);
      switches += event.kind == EventKind::slip || event.kind == EventKind::stick;
    }
  };
  ASSERT_EQ(stepper->advance_to(state, 0.8, observer), StepStatus::ok);
  // As many as a tight tolerance finds; the last of them is 0.05 s before the end.
  State exact = ball_in_the_air(model);
  const auto reference = steppers().front().make(model, {.rtol = 1e-10});
  ASSERT_EQ(reference->advance_to(exact, 0.8), StepStatus::ok);
  ASSERT_GE(reference->counts().touches, 2u);
  EXPECT_EQ(static_cast<std::uint64_t>(touches), reference->counts().touches);
  EXPECT_GE(switches, 1);
  EXPECT_EQ(stepper->counts().touches, static_cast<std::uint64_t>(touches));
}

/// To the tolerance; or at least to the first order of a fixed step, as what a method
/// damps and does not count goes with the step.
TEST_P(Steppers, TheLedgerCloses) {
  const Model model = thrown_ball();
  const auto balance_error = [&](const StepperOptions& options) {
    State state = ball_in_the_air(model);
    const auto stepper = make(model, options);
    const RunSummary summary = run(*stepper, state, {.end = 0.5});
    EXPECT_EQ(summary.status, StepStatus::ok);
    return summary.audit.relative();
  };
  StepperOptions options = GetParam().options;
  const double coarse = balance_error(options);
  if (!fixed()) {
    EXPECT_LT(coarse, 10 * options.rtol);
    return;
  }
  EXPECT_LT(coarse, 0.02);
  options.substeps *= 4;
  EXPECT_LT(balance_error(options), 0.4 * coarse + 1e-12);
}

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() &&
         std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

TEST_P(Steppers, ACopyGoesOnToTheSameBits) {
  const Model model = thrown_ball();
  State whole = ball_in_the_air(model);
  const auto stepper = make(model);
  ASSERT_EQ(stepper->advance_to(whole, 0.25), StepStatus::ok);
  State copy = whole;
  stepper->restart();
  ASSERT_EQ(stepper->advance_to(whole, 0.5), StepStatus::ok);
  ASSERT_EQ(make(model)->advance_to(copy, 0.5), StepStatus::ok);
  EXPECT_TRUE(same_bits(whole.q, copy.q));
  EXPECT_TRUE(same_bits(whole.v, copy.v));
  EXPECT_EQ(whole.episodes, copy.episodes);
  EXPECT_EQ(whole.works.friction.slip, copy.works.friction.slip);
}

TEST_P(Steppers, SamplesLieAtRegularTimesAndSeeASettledState) {
  const Model model = thrown_ball();
  State state = ball_in_the_air(model);
  const auto stepper = make(model);
  std::vector<double> times;
  StepObserver observer;
  observer.sample_interval = 0.02;
  observer.on_sample = [&](const State& now) {
    times.push_back(now.time);
    EXPECT_TRUE(now.begun);
    const Ledger ledger = make_ledger(stepper->system(), now);
    EXPECT_TRUE(std::isfinite(ledger.energy()));
  };
  ASSERT_EQ(stepper->advance_to(state, 0.4, observer), StepStatus::ok);
  ASSERT_EQ(times.size(), 20u);
  for (std::size_t i = 0; i < times.size(); ++i) {
    EXPECT_NEAR(times[i], 0.02 * static_cast<double>(i), 1e-9);
  }
}

TEST_P(Steppers, AnObserverEndsTheRun) {
  const Model model = thrown_ball();
  State state = ball_in_the_air(model);
  const auto stepper = make(model);
  StepObserver observer;
  observer.on_step = [](const State& now) { return now.time < 0.1; };
  ASSERT_EQ(stepper->advance_to(state, 10, observer), StepStatus::ok);
  EXPECT_LT(state.time, 5);
}

TEST_P(Steppers, BadOptionsAreAStatus) {
  const Model model = pendulum();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double bad : {0.0, -1.0, nan, 1e300}) {
    StepperOptions options = GetParam().options;
    if (fixed()) {
      options.step = bad;
    } else if (bad == 1e300) {
      continue;  // a tolerance may be as loose as one likes
    } else {
      options.rtol = bad;
    }
    State state = make_state(model);
    EXPECT_EQ(make(model, options)->advance_to(state, 1), StepStatus::wrong_step) << bad;
    EXPECT_EQ(state.time, 0);
  }
  State other = make_state(thrown_ball());
  EXPECT_EQ(make(model)->advance_to(other, 1), StepStatus::wrong_state);
}

TEST_P(Steppers, AFixedStepAllocatesNothing) {
  if (!fixed()) return;  // only steps of a fixed length promise that
  const Model model = thrown_ball();
  State state = ball_in_the_air(model);
  const StepperOptions& options = GetParam().options;
  FixedStep stepper(model, {.method = options.method, .step = 1e-3, .substeps = 10});
  ASSERT_EQ(stepper.step(state), StepStatus::ok);
  ASSERT_EQ(stepper.step(state), StepStatus::ok);
  const contract::AllocationCount count;
  for (int i = 0; i < 400; ++i) ASSERT_EQ(stepper.step(state), StepStatus::ok);
  EXPECT_EQ(count.since(), 0);
  EXPECT_GE(state.episodes, 1u);
}

TEST(StepperList, NamesAreUniqueAndRegisteringKeepsThemSo) {
  StepperInfo mine = steppers().front();
  EXPECT_FALSE(register_stepper(mine));
  mine.name = "mine-for-this-test";
  const auto added = register_stepper(mine);
  ASSERT_TRUE(added) << added.error();
  EXPECT_EQ((*find_stepper("mine-for-this-test"))->name, mine.name);
  const auto unknown = find_stepper("no-such-stepper");
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().find("adaptive"), std::string::npos);
  mine.name = "";
  EXPECT_FALSE(register_stepper(mine));
}

}  // namespace
}  // namespace bristle
