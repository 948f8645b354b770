#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numbers>
#include <random>

#include "bristle/run.hpp"
#include "tests/validation/scenes.hpp"

// The complementarity stepper: rigid impacts, rest, energy, order, and random scenes with
// any stiffness and step.

namespace bristle {
namespace {

using validation::add_free;
using validation::ball_inertia;
using validation::box_inertia;
using validation::built;
using validation::numbered;
using validation::place_of;
using validation::put;

constexpr double g = 9.81;

FixedStepOptions impulses(double step, const ComplementarityOptions& own = {}) {
  return {.method = Method::complementarity, .step = step, .complementarity = own};
}

SpringSlider::Params<double> slider(double mu, double stiffness, double damping) {
  return {.mu = mu, .stiffness = stiffness, .damping = damping};
}

Model ball_on_rigid_ground(double e, double mu) {
  ModelBuilder builder;
  builder.add_shape({.name = "ground", .shape = Plane{}});
  add_free(builder, "ball", 2, ball_inertia(2, 0.1), Sphere{0.1});
  builder.add_contact({.friction = choose<SpringSlider>(slider(mu, 1e5, 0)),
                       .rigid = true,
                       .restitution = e});
  return built(builder);
}

class RigidImpact : public ::testing::TestWithParam<double> {};
INSTANTIATE_TEST_SUITE_P(Steps, RigidImpact, ::testing::Values(1e-2, 1e-3, 1e-4, 1e-5));

/// The ball slides through its impact: J_T = μ J_N, and it leaves at e times its speed,
/// for any step.
TEST_P(RigidImpact, HasCoulombsFrictionAndNewtonsRestitution) {
  const double h = GetParam(), e = 0.6, mu = 0.2;
  const Model model = ball_on_rigid_ground(e, mu);
  State state = make_state(model);
  put(model, state, "ball", {0, 0, 0.1 + 0.5 * h}, {5, 0, -1});
  FixedStep stepper(model, impulses(h));
  ASSERT_EQ(stepper.step(state), StepStatus::ok);
  const std::size_t v = place_of(model, "ball").v;
  const double vz = state.v[v + 5], vx = state.v[v + 3];
  EXPECT_NEAR(vz, e * 1, 1e-9);
  const double normal = 2 * (vz + 1) + 2 * g * h;
  EXPECT_NEAR(2 * (5 - vx), mu * normal, 1e-9 * normal);
  // Its spin: friction at the arm of the radius.
  EXPECT_NEAR(0.4 * 2 * 0.01 * state.v[v + 1], 0.1 * mu * normal, 1e-9);
  EXPECT_EQ(stepper.counts().solves.unconverged, 0u);
}

/// A ball that falls from rest: its height after the bounce is e² of it, as h → 0.
TEST(RigidContact, ABallBouncesAndComesToRest) {
  const Model model = ball_on_rigid_ground(0.5, 0.3);
  State state = make_state(model);
  put(model, state, "ball", {0, 0, 1.1});
  FixedStep stepper(model, impulses(1e-4));
  double highest = 0;
  int touches = 0;
  StepObserver observer;
  observer.on_event = [&](const State&, const Event& event) {
    touches += event.kind == EventKind::touch;
  };
  observer.on_step = [&](const State& now) {
    if (touches == 1) highest = std::max(highest, now.q[place_of(model, "ball").q + 2]);
    return true;
  };
  const double first = std::sqrt(2 * 1.0 / g);
  ASSERT_EQ(stepper.advance_to(state, 3 * first, observer), StepStatus::ok);
  EXPECT_NEAR(highest - 0.1, 0.25, 1e-3);
  ASSERT_EQ(stepper.advance_to(state, 3, observer), StepStatus::ok);
  const std::size_t v = place_of(model, "ball").v;
  EXPECT_LT(std::fabs(state.v[v + 5]), 1e-12);
  EXPECT_NEAR(state.q[place_of(model, "ball").q + 2], 0.1, 1e-9);
  // At rest its force is its weight.
  settled_forces(stepper.system(), state);
  const ContactView view(model, state, stepper.system().pools.points);
  view.for_each([&](const ContactInfo& contact) {
    EXPECT_NEAR(contact.normal_force, 2 * g, 1e-9);
    EXPECT_NE(contact.episode, 0u);
  });
}

/// Where a body is after each step of a second. It stands on the ground and is then
/// pushed: the step in which a rigid contact closes has a friction of its own.
std::vector<Vec3<double>> pushed(const Shape& shape, const Sym3<double>& inertia,
                                 double height, const ContactSpec& contact) {
  ModelBuilder builder;
  builder.add_shape({.name = "ground", .shape = Plane{}});
  add_free(builder, "body", 2, inertia, shape);
  builder.add_contact(contact);
  const Model model = built(builder);
  State state = make_state(model);
  put(model, state, "body", {0, 0, height});
  FixedStep stepper(model, impulses(1e-3));
  for (int k = 0; k < 10; ++k) EXPECT_EQ(stepper.step(state), StepStatus::ok);
  const auto body = place_of(model, "body");
  state.v[body.v + 3] = 1;
  state.v[body.v + 4] = 0.5;
  std::vector<Vec3<double>> way;
  for (int k = 0; k < 1000; ++k) {
    EXPECT_EQ(stepper.step(state), StepStatus::ok);
    way.push_back(load_vec3(state.q.data() + body.q));
  }
  EXPECT_EQ(stepper.counts().solves.unconverged, 0u);
  return way;
}

/// Stiffer and stiffer springs lead to the rigid contact: the distance is as 1/k, for a
/// ball that slips until it rolls and for a block that slides on four points until it
/// sticks.
TEST(RigidContact, IsTheLimitOfStiffSprings) {
  const Vec3<double> half{0.1, 0.1, 0.05};
  struct Body {
    Shape shape;
    Sym3<double> inertia;
    double height;
  };
  for (const Body& body : {Body{Sphere{0.1}, ball_inertia(2, 0.1), 0.1},
                           Body{Box{half}, box_inertia(2, half), 0.05}}) {
    const LawChoice friction = choose<SpringSlider>(slider(0.2, 1e5, 50));
    const std::vector<Vec3<double>> rigid =
        pushed(body.shape, body.inertia, body.height,
               {.friction = friction, .rigid = true, .restitution = 0});
    double before = 0;
    for (const double stiffness : {1e6, 1e7, 1e8, 1e9, 1e10}) {
      const std::vector<Vec3<double>> soft = pushed(
          body.shape, body.inertia, body.height,
          {.normal =
               choose<KelvinVoigt>({.stiffness = stiffness, .damping = 0, .clamp = 1}),
           .friction = friction});
      double apart = 0;
      for (std::size_t k = 0; k < rigid.size(); ++k) {
        apart = std::max(apart, norm(soft[k] - rigid[k]));
      }
      if (before > 0) {
        EXPECT_NEAR(std::log10(before / apart), 1, 0.05) << stiffness;
      }
      before = apart;
    }
    EXPECT_LT(before, 1e-8);
  }
}

/// Two contacts of a rod, Newton's restitution and friction: no energy comes from
/// nowhere.
TEST(RigidContact, RestitutionIsLoweredWhereItWouldCreateEnergy) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> unit(-1, 1);
  std::uint64_t lowered = 0;
  for (int trial = 0; trial < 300; ++trial) {
    ModelBuilder builder;
    builder.gravity({0, 0, 0});
    builder.add_shape({.name = "ground", .shape = Plane{}});
    const Vec3<double> half{0.5, 0.05, 0.02};
    add_free(builder, "rod", 1, box_inertia(1, half), Box{half});
    builder.add_contact({.friction = choose<SpringSlider>(slider(1.5, 1e5, 0)),
                         .rigid = true,
                         .restitution = 0.9});
    const Model model = built(builder);
    State state = make_state(model);
    const double tilt = 0.9 * unit(random);
    put(model, state, "rod", {0, 0, 0}, {3 * unit(random), unit(random), -1},
        {unit(random), 5 * unit(random), unit(random)});
    double* q = state.q.data() + place_of(model, "rod").q;
    q[2] = std::fabs(0.5 * std::sin(tilt)) + 0.02 * std::cos(tilt) + 1e-4;
    q[3] = std::cos(tilt / 2);
    q[4] = 0;
    q[5] = std::sin(tilt / 2);
    q[6] = 0;
    FixedStep stepper(model, impulses(1e-3));
    ASSERT_EQ(stepper.settle(state), StepStatus::ok);
    const double before = make_ledger(stepper.system(), state).energy();
    for (int i = 0; i < 20; ++i) ASSERT_EQ(stepper.step(state), StepStatus::ok);
    ASSERT_EQ(stepper.settle(state), StepStatus::ok);
    const Ledger after = make_ledger(stepper.system(), state);
    EXPECT_LE(after.energy() - after.works.regenerated, before * (1 + 1e-9)) << trial;
    lowered += stepper.counts().solves.lowered;
  }
  EXPECT_GT(lowered, 0u);  // else the trials show nothing
}

class ImplicitLedger : public ::testing::TestWithParam<Method> {};
INSTANTIATE_TEST_SUITE_P(Methods, ImplicitLedger,
                         ::testing::Values(Method::complementarity,
                                           Method::linearly_implicit_euler));

/// A block that slides and stops, and a ball that bounces: nothing turns, M is constant,
/// and the ledger closes to rounding for any law and step.
TEST_P(ImplicitLedger, ClosesWhereTheMassMatrixIsConstant) {
  for (const double h : {1e-2, 1e-3}) {
    ModelBuilder builder;
    builder.add_shape({.name = "ground", .shape = Plane{}});
    builder.add_body({.name = "block", .mass = 3});
    builder.add_joint({.name = "slide",
                       .child = "block",
                       .type = JointType::prismatic,
                       .axis = {1, 0, 0},
                       .damping = 0.3,
                       .stiffness = 20});
    builder.add_body({.name = "foot", .mass = 1});
    builder.add_joint({.name = "lift",
                       .parent = "block",
                       .child = "foot",
                       .type = JointType::prismatic,
                       .axis = {0, 0, 1}});
    builder.add_shape({.name = "foot", .body = "foot", .shape = Sphere{0.1}});
    builder.add_contact({.normal = choose<GonthierNormal>({.stiffness = 1e6,
                                                           .exponent = 1.5,
                                                           .restitution = 0.5,
                                                           .impact_speed_floor = 1e-3}),
                         .friction = choose<Liang>({.mu_static = 0.4,
                                                    .mu_coulomb = 0.3,
                                                    .stiffness = 1e5,
                                                    .damping = 100,
                                                    .stribeck_speed = 0.05})});
    const Model model = built(builder);
    State state = make_state(model);
    state.q[1] = 0.3;
    state.v[0] = 2;
    FixedStep stepper(model, {.method = GetParam(), .step = h, .substeps = 1});
    const RunSummary summary = run(stepper, state, {.end = 3});
    ASSERT_EQ(summary.status, StepStatus::ok);
    EXPECT_LT(summary.audit.relative(), 1e-9) << h;
    EXPECT_GT(state.works.numerical, 0);
    EXPECT_GT(state.works.friction.slip, 0);
    EXPECT_LT(std::fabs(state.v[1]), 1e-6);
  }
}

/// A ball at rest a hair above a slope: the step that closes the contact stretches its
/// bristle as well, and the energy in it is not forgotten at the touch.
TEST(ComplementarityLedger, ClosesWhereATouchIsNotForeseen) {
  ModelBuilder builder;
  builder.gravity({3, 0, -9});
  builder.add_shape({.name = "ground", .shape = Plane{}});
  add_free(builder, "ball", 2, ball_inertia(2, 0.1), Sphere{0.1});
  builder.add_contact({.normal = choose<GonthierNormal>({.stiffness = 1e8,
                                                         .exponent = 1.5,
                                                         .restitution = 0.5,
                                                         .impact_speed_floor = 0.01}),
                       .friction = choose<SpringSlider>(slider(0.8, 1e4, 10))});
  const Model model = built(builder);
  State state = make_state(model);
  put(model, state, "ball", {0, 0, 0.1 + 1e-8});
  FixedStep stepper(model, impulses(1e-3));
  const RunSummary summary = run(stepper, state, {.end = 3e-3, .every = Sampling::step});
  ASSERT_EQ(summary.status, StepStatus::ok);
  EXPECT_GT(summary.audit.last().friction, 1e-6 * summary.audit.scale());
  EXPECT_LT(summary.audit.relative(), 1e-11);
}

/// Boxes a hair apart fall together: none approaches another until the lowest one is
/// stopped, and then all do within that step. No step may end with them inside each
/// other, which would lift those above.
TEST(ComplementarityStep, ContactsThatOthersCloseJoinTheStep) {
  for (const double h : {1e-3, 2e-3, 5e-3}) {
    for (const double gap : {1e-7, 1e-6, 1e-5}) {
      ModelBuilder builder;
      builder.add_shape({.name = "ground", .shape = Plane{}});
      const double half = 0.01, mass = 0.03;
      const Vec3<double> halves{2 * half, 2 * half, half};
      for (int i = 0; i < 7; ++i) {
        add_free(builder, numbered("box", i), mass, box_inertia(mass, halves),
                 Box{halves});
      }
      ContactSpec rule;
      rule.normal = choose<GonthierNormal>();
      rule.from_pair = {.stiffness = true,
                        .restitution = 0.5,
                        .impact_speed_floor = true,
                        .friction = 0.4};
      builder.add_contact(rule);
      const Model model = built(builder);
      State state = make_state(model);
      for (int i = 0; i < 7; ++i) {
        put(model, state, numbered("box", i), {0, 0, half + gap + i * (2 * half + gap)});
      }
      FixedStep stepper(model, impulses(h));
      double highest = -HUGE_VAL;
      const RunSummary run =
          bristle::run(stepper, state, {.end = 0.2, .every = Sampling::step},
                       {.on_sample = [&](const Observation& now) {
                         highest = std::max(highest, now.audit.last().energy());
                         return true;
                       }});
      ASSERT_EQ(run.status, StepStatus::ok);
      const double first = run.audit.first().energy();
      EXPECT_LE(highest - first, 1e-12 * first) << h << ", " << gap;
    }
  }
}

/// A free body that tumbles fast keeps its energy, goes straight, and keeps the size of
/// its angular momentum to the step.
TEST(ComplementarityStep, AFreeBodyTumblesForAnyStep) {
  for (const double h : {1e-3, 5e-2}) {
    ModelBuilder builder;
    builder.gravity({0, 0, 0});
    builder.add_body({.name = "body",
                      .mass = 2,
                      .com = {0.1, -0.2, 0.05},
                      .inertia = Sym3<double>::diagonal(0.02, 0.05, 0.06)});
    builder.add_joint({.name = "body moves", .child = "body", .type = JointType::free});
    const Model model = built(builder);
    State state = make_state(model);
    put(model, state, "body", {0, 0, 0}, {0, 0, 0}, {50, 0.5, 0.2});
    FixedStep stepper(model, impulses(h));
    const RunSummary summary = run(stepper, state, {.end = 10});
    ASSERT_EQ(summary.status, StepStatus::ok);
    EXPECT_LT(summary.audit.relative(), 1e-10) << h;
    EXPECT_LT(std::fabs(state.works.numerical), 1e-10 * summary.audit.scale());
  }
}

/// Mechanisms that turn fast keep their energy to rounding for any step, also under
/// gravity.
TEST(ComplementarityStep, MechanismsKeepTheirEnergyForAnyStep) {
  const Sym3<double> inertia = box_inertia(1, {0.15, 0.025, 0.05});
  const auto bar = [&](ModelBuilder& builder, const char* name) {
    builder.add_body({.name = name, .mass = 1, .com = {0.15, 0, 0}, .inertia = inertia});
  };
  const auto largest_change = [](const Model& model, const State& from, double h) {
    State state = from;
    FixedStep stepper(model, impulses(h));
    double first = 0, largest = 0;
    const RunSummary summary = run(stepper, state, {.end = 5, .every = Sampling::step},
                                   {.on_sample = [&](const Observation& now) {
                                     const double energy = now.audit.last().energy();
                                     if (now.state.time == 0) first = energy;
                                     largest =
                                         std::max(largest, std::fabs(energy - first));
                                     return true;
                                   }});
    EXPECT_EQ(summary.status, StepStatus::ok);
    return largest;
  };
  // A tumbling pair of bars that flies.
  ModelBuilder flying;
  flying.gravity({0, 0, 0});
  bar(flying, "a");
  bar(flying, "b");
  flying.add_joint({.name = "flight", .child = "a", .type = JointType::free});
  flying.add_joint({.name = "hinge",
                    .parent = "a",
                    .child = "b",
                    .type = JointType::revolute,
                    .on_parent = {.p = {0.3, 0, 0}},
                    .axis = {0, 1, 0}});
  const Model pair = built(flying);
  State tumbling = make_state(pair);
  tumbling.v = {10, 10, 10, 1, 2, 3, -10};
  for (const double h : {1e-2, 3e-3, 1e-3}) {
    EXPECT_LT(largest_change(pair, tumbling, h), 1e-10) << h;
  }
  // A top that hangs from a ball joint.
  ModelBuilder hanging;
  bar(hanging, "top");
  hanging.add_joint({.name = "ball", .child = "top", .type = JointType::spherical});
  const Model top = built(hanging);
  State spinning = make_state(top);
  spinning.v = {20, 3, 4};
  // Of m g times 0.15 m, and 0.6 J in motion.
  for (const double h : {1e-2, 1e-3}) {
    EXPECT_LT(largest_change(top, spinning, h), 1e-10) << h;
  }
}

/// Viscous friction ends with the contact: a ball that lifts off in a step with
/// viscous friction still converges, and nothing slows it in the air.
TEST(ComplementarityStep, NothingSlowsWhatHasLiftedOff) {
  ModelBuilder builder;
  builder.add_shape({.name = "ground", .shape = Plane{}});
  add_free(builder, "ball", 1, ball_inertia(1, 0.1), Sphere{0.1});
  builder.add_contact({.normal = choose<HuntCrossley>(
                           {.stiffness = 1e6, .exponent = 1.5, .dissipation = 0.1}),
                       .friction = choose<LuGre>({.mu_static = 0.3,
                                                  .mu_coulomb = 0.2,
                                                  .stiffness = 1e5,
                                                  .damping = 300,
                                                  .viscous = 5,
                                                  .stribeck_speed = 0.01,
                                                  .damping_speed = 1e6,
                                                  .passive = 1,
                                                  .bound = 1})});
  const Model model = built(builder);
  State state = make_state(model);
  put(model, state, "ball", {0, 0, 0.1 + 1e-3}, {3, 1, -2});
  FixedStep stepper(model, impulses(2e-3));
  bool touched = false, gone = false;
  double along = 0;
  for (int i = 0; i < 200 && !gone; ++i) {
    ASSERT_EQ(stepper.step(state), StepStatus::ok);
    const bool closed = state.contacts.impulse[0].normal > 0;
    gone = touched && !closed;
    if (gone) {
      EXPECT_DOUBLE_EQ(state.v[3], along);
    }
    touched = touched || closed;
    along = state.v[3];
  }
  EXPECT_TRUE(gone);
  EXPECT_EQ(stepper.counts().solves.unconverged, 0u);
}

/// Bounds by components keep the stretch that goes with them: friction along x is what it
/// would be without any along y.
TEST(ComplementarityStep, ComponentsOfTheBoxDoNotKnowOfEachOther) {
  const auto slide = [](double across) {
    ModelBuilder builder;
    builder.gravity({0, 0, -g});
    builder.add_shape({.name = "ground", .shape = Plane{}});
    add_free(builder, "block", 2, ball_inertia(2, 0.1), Sphere{0});
    builder.add_contact(
        {.friction = choose<SpringSlider>(slider(0.3, 1e4, 20)), .rigid = true});
    const Model model = built(builder);
    State state = make_state(model);
    put(model, state, "block", {0, 0, 0}, {0.2, across, 0});
    ComplementarityOptions own;
    own.cone = ConeShape::box;
    FixedStep stepper(model, impulses(1e-3, own));
    const RunSummary summary = run(stepper, state, {.end = 0.3});
    EXPECT_EQ(summary.status, StepStatus::ok);
    EXPECT_LT(summary.audit.relative(), 1e-9);
    return state.q[0];
  };
  const double alone = slide(0);
  EXPECT_NEAR(slide(1.5), alone, 1e-10);
  EXPECT_NEAR(slide(-0.1), alone, 1e-10);
}

/// Painlevé's rod on its end, 60° to the ground, μ = 1.5: μ A_NT/A_NN = 1.11. Where
/// friction presses it in it jams, and that is said; the other way it slides on.
TEST(ComplementarityStep, ARodThatJamsIsNamed) {
  const double angle = std::numbers::pi / 3, turning = 1.0 / 12;
  const auto slide = [&](double speed, bool strict, SolveCounts& counts) {
    ModelBuilder builder;
    builder.add_shape({.name = "ground", .shape = Plane{}});
    builder.add_body({.name = "rod",
                      .mass = 1,
                      .inertia = Sym3<double>::diagonal(turning, turning, turning)});
    builder.add_joint({.name = "moves", .child = "rod", .type = JointType::free});
    ShapeSpec end{.name = "end", .body = "rod"};
    end.pose.p = {0.5 * std::cos(angle), 0, -0.5 * std::sin(angle)};
    builder.add_shape(end);
    builder.add_contact(
        {.friction = choose<SpringSlider>(slider(1.5, 1e7, 0)), .rigid = true});
    const Model model = built(builder);
    State state = make_state(model);
    state.q[2] = 0.5 * std::sin(angle);
    state.v[3] = speed;
    ComplementarityOptions own;
    own.strict = strict;
    FixedStep stepper(model, impulses(1e-3, own));
    StepStatus status = StepStatus::ok;
    // The first step closes the contact, with friction as rigid as the normal.
    for (int i = 0; i < 3 && status == StepStatus::ok; ++i) {
      if (i == 1) state.v = {0, 0, 0, speed, 0, 0};
      status = stepper.step(state);
    }
    counts = stepper.counts().solves;
    if (counts.jammed > 0) {
      EXPECT_NE(stepper.advice(state).find("\"ground\" with \"end\""), std::string::npos);
    }
    return status;
  };
  SolveCounts counts;
  EXPECT_EQ(slide(2, false, counts), StepStatus::ok);
  EXPECT_EQ(counts.jammed, 1u);
  EXPECT_EQ(slide(2, true, counts), StepStatus::not_converged);
  EXPECT_EQ(slide(-2, true, counts), StepStatus::ok);
  EXPECT_EQ(counts.jammed, 0u);
}

/// A motor at its limit gives its limit, and one below it its own law at the end of the
/// step.
TEST(ComplementarityStep, MotorsKeepTheirLimits) {
  ModelBuilder builder;
  builder.gravity({0, 0, 0});
  builder.add_body({.name = "slide", .mass = 2});
  builder.add_joint({.name = "rail",
                     .child = "slide",
                     .type = JointType::prismatic,
                     .axis = {1, 0, 0},
                     .effort_limit = 10});
  MotorSpec motor{.name = "motor", .joint = "rail", .kind = MotorKind::position};
  motor.kp = 1e7;
  motor.kd = 1e3;
  motor.target.offset = 1;
  builder.add_motor(motor);
  const Model model = built(builder);
  State state = make_state(model);
  const double h = 1e-2;
  FixedStep stepper(model, impulses(h));
  ASSERT_EQ(stepper.step(state), StepStatus::ok);
  EXPECT_NEAR(stepper.system().motor_forces[0], 10, 1e-12);
  EXPECT_NEAR(state.v[0], 10.0 / 2 * h, 1e-12);
  state.q[0] = 1 - 1e-9;
  state.v[0] = 0;
  ASSERT_EQ(stepper.step(state), StepStatus::ok);
  // (m + h kd + h² kp) v⁺ = h kp 1e-9
  EXPECT_NEAR(state.v[0], h * 1e7 * 1e-9 / (2 + h * 1e3 + h * h * 1e7), 1e-12);
  for (int i = 0; i < 2000; ++i) ASSERT_EQ(stepper.step(state), StepStatus::ok);
  EXPECT_NEAR(state.q[0], 1, 1e-9);
}

/// As step → 0 it goes where the adaptive integrator goes, with order 1.
TEST(ComplementarityStep, ConvergesToTheAdaptiveMotion) {
  ModelBuilder builder;
  builder.add_shape({.name = "ground", .shape = Plane{}});
  add_free(builder, "ball", 1, ball_inertia(1, 0.1), Sphere{0.1});
  builder.add_contact({.normal = choose<HuntCrossley>(
                           {.stiffness = 1e5, .exponent = 1.5, .dissipation = 0.3}),
                       .friction = choose<SpringSlider>(slider(0.3, 2e4, 60))});
  const Model model = built(builder);
  const auto start = [&] {
    State state = make_state(model);
    put(model, state, "ball", {0, 0, 0.0995}, {1, 0, 0});
    return state;
  };
  State exact = start();
  Adaptive adaptive(model, {.rtol = 1e-11});
  ASSERT_EQ(adaptive.advance_to(exact, 0.1), StepStatus::ok);
  const auto error = [&](double h) {
    State state = start();
    FixedStep stepper(model, impulses(h));
    EXPECT_EQ(stepper.advance_to(state, 0.1), StepStatus::ok);
    double most = 0;
    for (std::size_t k = 0; k < state.v.size(); ++k) {
      most = std::max(most, std::fabs(state.v[k] - exact.v[k]));
    }
    return most;
  };
  const double coarse = error(1e-4), fine = error(5e-5);
  EXPECT_NEAR(std::log2(coarse / fine), 1, 0.15);
}

/// A skate on ice that turns as it glides: its side does not slip, its speed stays, and
/// it goes round a circle of radius v/ω (the Chaplygin sleigh with its centre of mass at
/// the blade).
TEST(VelocityConstraints, ASkateGoesRoundACircle) {
  const double speed = 2, turning = 1.5;
  const auto distance_from_circle = [&](double h) {
    ModelBuilder builder;
    builder.gravity({0, 0, 0});
    builder.add_body(
        {.name = "skate", .mass = 3, .inertia = Sym3<double>::diagonal(0.1, 0.1, 0.1)});
    builder.add_joint({.name = "ice", .child = "skate", .type = JointType::planar});
    builder.add_constraint({.name = "blade",
                            .body_b = "skate",
                            .directions = {{0, 1, 0}},
                            .turns_with_b = true});
    const Model model = built(builder);
    State state = make_state(model);
    state.v = {speed, 0, turning};
    FixedStep stepper(model, impulses(h));
    const RunSummary summary = run(stepper, state, {.end = 2});
    EXPECT_EQ(summary.status, StepStatus::ok);
    // Only the direction of the velocity changes, by an impulse across it.
    EXPECT_LT(summary.audit.relative(), 1e-12);
    const double across =
        -std::sin(state.q[2]) * state.v[0] + std::cos(state.q[2]) * state.v[1];
    EXPECT_LT(std::fabs(across), 2 * speed * turning * h);
    const double angle = turning * 2, radius = speed / turning;
    return std::hypot(state.q[0] - radius * std::sin(angle),
                      state.q[1] - radius * (1 - std::cos(angle)));
  };
  const double coarse = distance_from_circle(1e-3), fine = distance_from_circle(5e-4);
  EXPECT_LT(coarse, 2e-2);
  EXPECT_NEAR(std::log2(coarse / fine), 1, 0.1);
}

/// A ball that rolls down a tilt without slipping accelerates by 5/7 g sin α.
TEST(VelocityConstraints, ABallRollsWithoutSlipping) {
  const double radius = 0.2, mass = 2, pull = 3;
  ModelBuilder builder;
  builder.gravity({pull, 0, 0});
  add_free(builder, "ball", mass, ball_inertia(mass, radius), Sphere{radius});
  builder.add_constraint({.name = "rolls",
                          .body_b = "ball",
                          .offset = {0, 0, -radius},
                          .directions = {{1, 0, 0}, {0, 1, 0}}});
  const Model model = built(builder);
  State state = make_state(model);
  FixedStep stepper(model, impulses(1e-2));
  const RunSummary summary = run(stepper, state, {.end = 1});
  ASSERT_EQ(summary.status, StepStatus::ok);
  EXPECT_NEAR(state.v[3], 5.0 / 7 * pull, 1e-9);
  EXPECT_NEAR(state.v[1], state.v[3] / radius, 1e-9);
  EXPECT_LT(summary.audit.relative(), 1e-10);
}

TEST(VelocityConstraints, OtherSteppersRefuseThem) {
  ModelBuilder builder;
  add_free(builder, "ball", 1, ball_inertia(1, 0.1), Sphere{0.1});
  builder.add_constraint({.name = "rail", .body_b = "ball", .directions = {{1, 0, 0}}});
  const Model model = built(builder);
  State state = make_state(model);
  EXPECT_EQ(FixedStep(model, {.method = Method::runge_kutta_4}).step(state),
            StepStatus::needs_impulses);
  EXPECT_EQ(Adaptive(model).advance_to(state, 1), StepStatus::needs_impulses);
  for (ConstraintSpec bad :
       {ConstraintSpec{.name = "c", .body_b = "ball"},
        ConstraintSpec{.name = "c", .body_b = "bull", .directions = {{1, 0, 0}}},
        ConstraintSpec{.name = "c", .body_b = "ball", .directions = {{0, 0, 0}}},
        ConstraintSpec{
            .name = "c", .body_b = "ball", .directions = {{1, 0, 0}}, .damping = -1}}) {
    ModelBuilder other;
    add_free(other, "ball", 1, ball_inertia(1, 0.1), Sphere{0.1});
    other.add_constraint(std::move(bad));
    const auto refused = other.build();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error_subject().element, Element::constraint);
  }
}

Shape random_shape(std::mt19937& random, Sym3<double>& inertia, double mass) {
  std::uniform_real_distribution<double> size(0.03, 0.2);
  const double a = size(random), b = size(random), c = size(random);
  switch (std::uniform_int_distribution<int>(0, 3)(random)) {
    case 0:
      inertia = ball_inertia(mass, a);
      return Sphere{a};
    case 1:
      inertia = box_inertia(mass, {a, b, c});
      return Box{{a, b, c}};
    case 2:
      inertia = box_inertia(mass, {a, a, b});
      return Cylinder{a, b};
    default:
      inertia = box_inertia(mass, {a, a, a + b});
      return Capsule{a, b};
  }
}

LawChoice random_friction(int kind, double mu, double stiffness) {
  switch (kind % 7) {
    case 0:
      return choose<LuGre>({.mu_static = 1.2 * mu,
                            .mu_coulomb = mu,
                            .stiffness = stiffness,
                            .damping = 100,
                            .viscous = 0.4,
                            .stribeck_speed = 1e-2,
                            .damping_speed = 1e6,
                            .passive = 1,
                            .bound = 1});
    case 1:
      return choose<Dahl>({.mu = mu, .stiffness = stiffness, .bound = 1});
    case 2:
      return choose<Liang>({.mu_static = 1.2 * mu,
                            .mu_coulomb = mu,
                            .stiffness = stiffness,
                            .damping = 100,
                            .stribeck_speed = 1e-2});
    case 3:
      return choose<ElastoPlastic>({.mu_static = 1.2 * mu,
                                    .mu_coulomb = mu,
                                    .stiffness = stiffness,
                                    .damping = 100,
                                    .viscous = 0.4,
                                    .stribeck_speed = 1e-2,
                                    .breakaway = 0.7,
                                    .passive = 1,
                                    .bound = 1});
    case 4:
      return choose<Coulomb>({.mu_static = 1.2 * mu,
                              .mu_coulomb = mu,
                              .viscous = 0,
                              .stribeck_speed = 0.1,
                              .regularisation_speed = 1e-3,
                              .regularisation = 1});
    default:
      return choose<SpringSlider>(slider(mu, stiffness, 100));
  }
}

/// Cards in one place push each other whichever way, and no sweep settles that. Laws are
/// not asked again for what the solver has not found with all its iterations.
TEST(ComplementarityStep, PassesEndWithTheIterationsOfTheSolver) {
  ModelBuilder builder;
  builder.add_shape({.name = "ground", .shape = Plane{}});
  const Vec3<double> half{0.03, 0.04, 0.001};
  for (int i = 0; i < 8; ++i) {
    add_free(builder, numbered("card", i), 0.01, box_inertia(0.01, half), Box{half});
  }
  builder.add_contact(
      {.normal = choose<KelvinVoigt>({.stiffness = 1e5, .damping = 10, .clamp = 1}),
       .friction = choose<SpringSlider>(slider(0.5, 1e4, 1))});
  const Model model = built(builder);
  State state = make_state(model);
  for (int i = 0; i < 8; ++i) {
    put(model, state, numbered("card", i), {0, 0, 0.0005}, {0, 0, 0}, {0, 0, 0});
  }
  FixedStep stepper(model, impulses(1e-3, {.solver = "gauss-seidel", .iterations = 3}));
  ASSERT_EQ(stepper.step(state), StepStatus::ok);
  const SolveCounts counts = stepper.counts().solves;
  EXPECT_EQ(counts.unconverged, 1u);
  EXPECT_LE(counts.solves, 3u);  // once more for contacts that join
}

/// Bodies thrown onto each other, contacts of 1e4 … 1e12 N/m, steps of 0.1 … 20 ms: all
/// stays finite, and the energy never rises above what it began with and what was done.
TEST(ComplementarityStep, RandomScenesStayFiniteAndPassive) {
#ifdef NDEBUG
  constexpr int scenes = 1000;
#else
  constexpr int scenes = 60;
#endif
  std::mt19937 random(20);
  const auto between_log = [&](double low, double high) {
    std::uniform_real_distribution<double> unit(std::log(low), std::log(high));
    return std::exp(unit(random));
  };
  std::uniform_real_distribution<double> unit(-1, 1);
  std::uint64_t steps = 0, unconverged = 0;
  for (int scene = 0; scene < scenes; ++scene) {
    ModelBuilder builder;
    builder.add_shape({.name = "ground", .shape = Plane{}});
    const int bodies = std::uniform_int_distribution<int>(1, 5)(random);
    for (int i = 0; i < bodies; ++i) {
      const double mass = between_log(0.01, 100);
      Sym3<double> inertia = Sym3<double>::zero();
      const Shape shape = random_shape(random, inertia, mass);
      add_free(builder, numbered("b", i), mass, inertia, shape);
    }
    const double k = between_log(1e4, 1e12);
    const double mu = 0.5 * (1 + unit(random));
    ContactSpec contact;
    switch (scene % 4) {
      case 0:
        contact.normal = choose<KelvinVoigt>(
            {.stiffness = k, .damping = 1e-3 * k * (1 + unit(random)), .clamp = 1});
        break;
      case 1:
        contact.normal =
            choose<HuntCrossley>({.stiffness = k, .exponent = 1.5, .dissipation = 1});
        break;
      case 2:
        contact.normal = choose<GonthierNormal>({.stiffness = k,
                                                 .exponent = 1.5,
                                                 .restitution = 0.3,
                                                 .impact_speed_floor = 1e-3});
        break;
      default:
        contact.rigid = true;
        contact.restitution = 0.3;
    }
    contact.friction = random_friction(scene / 4, mu, between_log(1e3, 1e10));
    builder.add_contact(contact);
    const Model model = built(builder);
    State state = make_state(model);
    for (int i = 0; i < bodies; ++i) {
      put(model, state, numbered("b", i),
          {0.2 * unit(random), 0.2 * unit(random), 0.4 + 0.5 * i},
          {unit(random), unit(random), 3 * unit(random)},
          {20 * unit(random), 20 * unit(random), 20 * unit(random)});
    }
    const double h = between_log(1e-4, 2e-2);
    FixedStep stepper(model, impulses(h));
    ASSERT_EQ(stepper.settle(state), StepStatus::ok);
    const Ledger first = make_ledger(stepper.system(), state);
    // Above the lowest place that anything can be in.
    const double begun = first.energy();
    const double scale = begun + 1e-9;
    double worst = 0;
    const int count = std::min(300, static_cast<int>(2 / h));
    for (int i = 0; i < count; ++i) {
      const StepStatus status = stepper.step(state);
      ASSERT_EQ(status, StepStatus::ok)
          << "scene " << scene << ", step " << i << ": " << explain(status);
      if (i % 10 != 0) continue;
      ASSERT_EQ(stepper.settle(state), StepStatus::ok);
      const Ledger now = make_ledger(stepper.system(), state);
      worst = std::max(worst, (now.energy() - begun) / scale);
    }
    EXPECT_LT(worst, 1e-2) << "scene " << scene << ", k " << k << ", h " << h;
    steps += stepper.counts().steps + static_cast<std::uint64_t>(count);
    unconverged += stepper.counts().solves.unconverged;
  }
  RecordProperty("steps", static_cast<int>(steps));
  RecordProperty("unconverged", static_cast<int>(unconverged));
  EXPECT_LT(static_cast<double>(unconverged), 0.01 * static_cast<double>(steps));
}

}  // namespace
}  // namespace bristle
