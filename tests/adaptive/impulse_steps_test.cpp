#include "bristle/adaptive/impulse_steps.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "bristle/run.hpp"
#include "tests/validation/scenes.hpp"

// Error-controlled steps by impulses, by themselves and where the adaptive integrator
// takes them: in heaps, and instead of a stall.

namespace bristle {
namespace {

using validation::add_free;
using validation::ball_inertia;
using validation::box_inertia;
using validation::built;
using validation::numbered;
using validation::place_of;
using validation::put;

constexpr double g = 9.81, radius = 0.1, stiffness = 1e6;

/// A ball that falls on a plane; its contact has Gonthier's law, restitution 0.8.
Model falling_ball() {
  ModelBuilder builder;
  builder.gravity({0, 0, -g});
  builder.add_shape({.name = "ground", .shape = Plane{}});
  add_free(builder, "ball", 1, ball_inertia(1, radius), Sphere{radius});
  builder.add_contact({.normal = choose<GonthierNormal>({.stiffness = stiffness,
                                                         .exponent = 1.5,
                                                         .restitution = 0.8,
                                                         .impact_speed_floor = 1e-2}),
                       .friction = choose<Frictionless>()});
  return built(builder);
}

struct Rebound {
  double ratio;  // of speeds
  int steps;
  double balance;  // error over the scale
};

Rebound rebound_by_impulses(double rtol) {
  const Model model = falling_ball();
  State state = make_state(model);
  put(model, state, "ball", {0, 0, radius + 1e-3}, {0, 0, -3});
  const std::size_t vz = place_of(model, "ball").v + 5;
  System system(model);
  ImpulseSteps steps(system, rtol, HUGE_VAL);
  EXPECT_EQ(settle(system, 1e-3, state), StepStatus::ok);
  Audit audit;
  audit.observe(make_ledger(system, state));
  steps.begin(state);
  Rebound rebound{};
  bool touched = false;
  while (rebound.steps < 10000) {
    EXPECT_EQ(steps.step(state, 1), StepStatus::ok);
    ++rebound.steps;
    audit.observe(make_ledger(system, state));
    touched = touched || state.contacts.episode[0] != 0;
    if (touched && state.contacts.episode[0] == 0) break;
  }
  rebound.ratio = state.v[vz] / std::sqrt(9 + 2 * g * 1e-3);
  rebound.balance = audit.relative();
  return rebound;
}

/// The reference is the adaptive integrator with located events, at rtol 1e-10.
TEST(ImpulseSteps, RestitutionFollowsTheTolerance) {
  const Model model = falling_ball();
  State state = make_state(model);
  put(model, state, "ball", {0, 0, radius + 1e-3}, {0, 0, -3});
  const std::size_t vz = place_of(model, "ball").v + 5;
  Adaptive reference(model, {.rtol = 1e-10});
  double left = 0;
  StepObserver watch;
  watch.on_event = [&](const State& now, const Event& event) {
    if (event.kind == EventKind::lift_off && left == 0) left = now.v[vz];
  };
  ASSERT_EQ(reference.advance_to(state, 0.1, watch), StepStatus::ok);
  EXPECT_EQ(reference.counts().impulse_steps, 0U);
  const double expected = left / std::sqrt(9 + 2 * g * 1e-3);
  double before = HUGE_VAL;
  for (const double rtol : {1e-3, 1e-6, 1e-9}) {
    const Rebound rebound = rebound_by_impulses(rtol);
    // The tolerance of a step is the cube root of rtol; steps of a halved tolerance are
    // shorter by √2, and the error of the second order halves.
    const double off = std::abs(rebound.ratio - expected);
    EXPECT_LT(off, std::cbrt(rtol)) << rtol;
    EXPECT_LT(off, 0.5 * before) << rtol;
    EXPECT_LT(rebound.balance, 1e-10) << rtol;
    before = off;
  }
}

/// What is thinner than the way of a step is met all the same.
TEST(ImpulseSteps, NothingIsSteppedOver) {
  ModelBuilder builder;
  builder.gravity({0, 0, 0});
  builder.add_shape({.name = "plate", .shape = Box{{0.5, 0.5, 5e-4}}});
  add_free(builder, "ball", 1, ball_inertia(1, 0.01), Sphere{0.01});
  builder.add_contact({.normal = choose<GonthierNormal>({.stiffness = 1e9,
                                                         .exponent = 1.5,
                                                         .restitution = 0.5,
                                                         .impact_speed_floor = 1e-2}),
                       .friction = choose<Frictionless>()});
  const Model model = built(builder);
  State state = make_state(model);
  put(model, state, "ball", {0, 0, 1}, {0, 0, -40});
  System system(model);
  ASSERT_EQ(settle(system, 1e-3, state), StepStatus::ok);
  ImpulseSteps steps(system, 1e-2, HUGE_VAL);
  steps.begin(state);
  for (int k = 0; k < 10000 && state.time < 0.1; ++k) {
    ASSERT_EQ(steps.step(state, 0.1), StepStatus::ok);
  }
  EXPECT_GT(state.v[place_of(model, "ball").v + 5], 0);
}

/// Boxes of 10 cm on each other.
Model stack(int boxes) {
  ModelBuilder builder;
  builder.gravity({0, 0, -g});
  builder.add_shape({.name = "ground", .shape = Plane{}});
  for (int i = 0; i < boxes; ++i) {
    add_free(builder, numbered("box", i), 1, box_inertia(1, {0.05, 0.05, 0.05}),
             Box{{0.05, 0.05, 0.05}});
  }
  builder.add_contact(
      {.normal = choose<GonthierNormal>({.stiffness = 1e7,
                                         .exponent = 1.5,
                                         .restitution = 0.3,
                                         .impact_speed_floor = 1e-2}),
       .friction = choose<SpringSlider>({.mu = 0.5, .stiffness = 1e5, .damping = 50})});
  return built(builder);
}

void pile(const Model& model, int boxes, State& state) {
  for (int i = 0; i < boxes; ++i) {
    put(model, state, numbered("box", i), {1e-3 * (i % 3), 0, 0.05 + 0.1001 * i});
  }
}

TEST(Adaptive, StacksComeToRestByImpulses) {
  constexpr int boxes = 8;
  const Model model = stack(boxes);
  State state = make_state(model);
  pile(model, boxes, state);
  Adaptive stepper(model);
  double highest = -HUGE_VAL;
  const RunSummary summary = run(stepper, state, {.end = 100, .every = Sampling::step},
                                 {.on_sample = [&](const Observation& now) {
                                   highest = std::max(highest, now.audit.last().energy());
                                   return true;
                                 }});
  ASSERT_EQ(summary.status, StepStatus::ok);
  EXPECT_GT(summary.counts.impulse_steps, 0U);
  EXPECT_LT(summary.steps, 2000U);
  EXPECT_LT(summary.audit.relative(), 1e-6);
  EXPECT_LE(highest, summary.audit.first().energy() + 1e-9 * summary.audit.scale());
  for (const double v : state.v) EXPECT_LT(std::abs(v), 1e-8);
}

TEST(Adaptive, EventsOfFewContactsAreLocated) {
  const Model model = stack(2);
  State state = make_state(model);
  pile(model, 2, state);
  Adaptive stepper(model);
  ASSERT_EQ(run(stepper, state, {.end = 1}).status, StepStatus::ok);
  EXPECT_EQ(stepper.counts().impulse_steps, 0U);
}

/// A ball that begins in touch with two hundred tables at once, and slides: no step looks
/// for so many events one by one.
TEST(Adaptive, ManyEventsAtOnceAreNotLocatedOneByOne) {
  constexpr int tables = 200;
  ModelBuilder builder;
  builder.gravity({0, 0, -g});
  for (int i = 0; i < tables; ++i) {
    builder.add_shape({.name = numbered("table", i), .shape = Plane{}});
  }
  add_free(builder, "ball", 1, ball_inertia(1, radius), Sphere{radius});
  builder.add_contact(
      {.normal = choose<HuntCrossley>(
           {.stiffness = stiffness, .exponent = 1.5, .dissipation = 0.5}),
       .friction = choose<SpringSlider>({.mu = 0.3, .stiffness = 1e5, .damping = 50})});
  const Model model = built(builder);
  State state = make_state(model);
  put(model, state, "ball", {0, 0, radius}, {1, 0, 0});
  Adaptive stepper(model);
  ASSERT_EQ(run(stepper, state, {.end = 1e-3}).status, StepStatus::ok);
  EXPECT_GT(stepper.counts().impulse_steps, 0U);
  // Three attempts of 2000 at most, and what the steps themselves take.
  EXPECT_LT(stepper.counts().contact_evaluations, 7000U);
}

/// Samples lie between the steps and do not change them.
TEST(Adaptive, SamplesDoNotShortenStepsByImpulses) {
  constexpr int boxes = 6;
  const Model model = stack(boxes);
  std::vector<double> ends;
  for (const double interval : {0.0, 1e-3}) {
    State state = make_state(model);
    pile(model, boxes, state);
    Adaptive stepper(model);
    int samples = 0;
    StepObserver watch;
    watch.sample_interval = interval;
    watch.on_sample = [&](const State& now) {
      EXPECT_NEAR(now.time, interval * samples, 1e-12);
      ++samples;
    };
    ASSERT_EQ(stepper.advance_to(state, 0.3, watch), StepStatus::ok);
    EXPECT_EQ(samples, interval > 0 ? 300 : 0);
    EXPECT_GT(stepper.counts().impulse_steps, 0U);
    ends.push_back(state.q[2]);
    ends.push_back(static_cast<double>(stepper.counts().steps));
  }
  EXPECT_EQ(ends[0], ends[2]);
  EXPECT_EQ(ends[1], ends[3]);
}

/// A copy of the state goes on with the same bits.
TEST(Adaptive, ACopyOfAHeapGoesOnWithTheSameBits) {
  constexpr int boxes = 6;
  const Model model = stack(boxes);
  State state = make_state(model);
  pile(model, boxes, state);
  Adaptive stepper(model);
  ASSERT_EQ(stepper.advance_to(state, 0.1), StepStatus::ok);
  State copy = state;
  stepper.restart();
  Adaptive other(model);
  ASSERT_EQ(stepper.advance_to(state, 0.2), StepStatus::ok);
  ASSERT_EQ(other.advance_to(copy, 0.2), StepStatus::ok);
  EXPECT_EQ(state.q, copy.q);
  EXPECT_EQ(state.v, copy.v);
}

}  // namespace
}  // namespace bristle
