#include "bristle/adaptive/adaptive.hpp"

#include <gtest/gtest.h>

#include "bristle/adaptive/error_scales.hpp"
#include "bristle/run.hpp"
#include "tests/sanitizers.hpp"
#include "tests/validation/scenes.hpp"

// The adaptive integrator on the bouncing ball of Azad & Featherstone 2014, § II-C: 66 g
// dropped 1 m, g = 10 m/s², k = 1e10 N/m^1.5, λ = 1e5 N s/m^1.5. Reference times come
// from an event-driven solution in extended precision.

namespace bristle {
namespace {

using validation::about_y;
using validation::add_free;
using validation::ball_inertia;
using validation::box_inertia;
using validation::built;
using validation::numbered;
using validation::place_of;
using validation::put;

struct Bounce {
  std::vector<double> touches;
  StepCounts counts;
  double highest_gain = 0;  // of kinetic and potential energy over the start [J]
  double residual = 0;
  State state;
};

Bounce bounce(double rtol, bool contact_time, double until) {
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
  Adaptive clock(model, {.rtol = rtol, .contact_time = contact_time});
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
  for (const bool contact_time : {true, false}) {
    double before = HUGE_VAL;
    for (const double rtol : {1e-2, 1e-4, 1e-6, 1e-8}) {
      const Bounce run = bounce(rtol, contact_time, 5);
      // 12 touches, then 26 micro-bounces, then rest.
      ASSERT_EQ(run.touches.size(), 38u) << rtol << " " << contact_time;
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

// Laid on the ground without a gap, it sinks in slowly, over a tenth of a second; nothing
// has any energy yet that errors of the ledger could be measured by.
TEST(Adaptive, ABallLaidOnTheGroundCostsLittle) {
  ModelBuilder builder;
  builder.add_shape({.name = "ground", .shape = Plane{}});
  const double radius = 0.1, mass = 1, depth = 1e-5;
  add_free(builder, "ball", mass, ball_inertia(mass, radius), Sphere{radius});
  const double stiffness = mass * 9.81 / std::pow(depth, 1.5);
  builder.add_contact({.normal = choose<GonthierNormal>({.stiffness = stiffness,
                                                         .exponent = 1.5,
                                                         .restitution = 0.5,
                                                         .impact_speed_floor = 1e-4}),
                       .friction = choose<Frictionless>()});
  const Model model = built(builder);
  State state = make_state(model);
  put(model, state, "ball", {0, 0, radius});
  Adaptive clock(model, {.rtol = 1e-6});
  ASSERT_EQ(clock.advance_to(state, 2), StepStatus::ok);
  EXPECT_LT(clock.counts().steps, 200u);
  EXPECT_NEAR(radius - state.q[2], depth, 1e-3 * depth);
}

// A ball that rolls: the normal damping of a soft landing is stiff, nothing moves but
// evenly, and steps are far longer than stability allows within them.
TEST(Adaptive, SamplesOfARollingBallAreAsGoodAsItsSteps) {
  ModelBuilder builder;
  builder.add_shape({.name = "ground", .shape = Plane{}});
  const double radius = 0.1, mass = 2;
  add_free(builder, "ball", mass, ball_inertia(mass, radius), Sphere{radius});
  builder.add_contact({.normal = choose<GonthierNormal>({.stiffness = 1e6,
                                                         .exponent = 1.5,
                                                         .restitution = 0.5,
                                                         .impact_speed_floor = 1e-6}),
                       .friction = choose<GonthierFriction>({.mu_static = 0.45,
                                                             .mu_coulomb = 0.4,
                                                             .stiffness = 1e5,
                                                             .damping = 1e4,
                                                             .viscous = 0,
                                                             .stribeck_speed = 0.1,
                                                             .dwell_time = 0.01,
                                                             .bound = 0})});
  const Model model = built(builder);
  for (const double rtol : {1e-6, 1e-8, 1e-10, 1e-12}) {
    State state = make_state(model);
    put(model, state, "ball", {0, 0, 0.6}, {-1, 0.5, 0});
    Adaptive clock(model, {.rtol = rtol});
    double worst = 0;
    StepObserver observer;
    observer.sample_interval = 0.01;
    observer.on_sample = [&](const State& now) {
      if (now.time < 2.5) return;  // by then it rolls
      worst =
          std::max({worst, std::fabs(now.v[3] + 5.0 / 7), std::fabs(now.v[4] - 2.5 / 7)});
    };
    ASSERT_EQ(clock.advance_to(state, 4, observer), StepStatus::ok);
    EXPECT_LT(worst, 5e-8 + 100 * rtol) << rtol;
  }
}

// Other scenes: what they are made of, how they start, how long they run.

LawChoice gonthier(double stiffness, double restitution) {
  return choose<GonthierNormal>({.stiffness = stiffness,
                                 .exponent = 1.5,
                                 .restitution = restitution,
                                 .impact_speed_floor = 1e-3});
}

LawChoice bristles(double mu) {
  return choose<GonthierFriction>({.mu_static = 1.2 * mu,
                                   .mu_coulomb = mu,
                                   .stiffness = 1e5,
                                   .damping = 300,
                                   .viscous = 0,
                                   .stribeck_speed = 1e-3,
                                   .dwell_time = 0.5,
                                   .bound = 0});
}

struct Scene {
  const char* name;
  Model model;
  State start;
  double until;
};

/// Two rods, the lower one with a ball at its end that strikes the ground.
Scene double_pendulum(const LawChoice& normal, const LawChoice& friction) {
  ModelBuilder builder;
  builder.add_shape({.name = "ground", .shape = Plane{}, .pose = {.p = {0, 0, -1.2}}});
  for (int i = 0; i < 2; ++i) {
    BodySpec rod;
    rod.name = numbered("rod", i);
    rod.mass = 1;
    rod.com = {0, 0, -1};
    rod.inertia = Sym3<double>::diagonal(1.0 / 12, 1.0 / 12, 1e-4);
    builder.add_body(rod);
    JointSpec joint;
    joint.name = numbered("joint", i);
    if (i > 0) joint.parent = "rod0";
    joint.child = rod.name;
    joint.type = JointType::revolute;
    joint.axis = {0, 1, 0};
    if (i > 0) joint.on_parent.p = {0, 0, -1};
    builder.add_joint(joint);
  }
  builder.add_shape(
      {.name = "tip", .body = "rod1", .shape = Sphere{0.02}, .pose = {.p = {0, 0, -1}}});
  builder.add_contact({.normal = normal, .friction = friction});
  Scene scene{"double pendulum", built(builder), {}, 4};
  scene.start = make_state(scene.model);
  scene.start.q = {1.2, 0.5};
  return scene;
}

Scene viscoelastic_pendulum() {
  return double_pendulum(
      choose<AzadFeatherstone>({.stiffness = 1e7, .damping = 1e4, .clamp = 1}),
      choose<AzadFeatherstoneClutch>(
          {.mu = 0.3, .stiffness = 1.5e7, .damping = 1e4, .viscous = 0, .passive = 1}));
}

/// Five elastic balls that hang a trifle apart.
Scene cradle() {
  ModelBuilder builder;
  const double radius = 0.02, mass = 0.26, length = 0.3;
  for (int i = 0; i < 5; ++i) {
    BodySpec ball;
    ball.name = numbered("ball", i);
    ball.mass = mass;
    ball.com = {0, 0, -length};
    ball.inertia = ball_inertia(mass, radius);
    builder.add_body(ball);
    JointSpec joint;
    joint.name = numbered("string", i);
    joint.child = ball.name;
    joint.type = JointType::revolute;
    joint.axis = {0, 1, 0};
    joint.on_parent.p = {2 * radius * i * (1 + 1e-6), 0, 0};
    builder.add_joint(joint);
    builder.add_shape({.name = ball.name,
                       .body = ball.name,
                       .shape = Sphere{radius},
                       .pose = {.p = {0, 0, -length}}});
  }
  builder.add_contact({.normal = choose<Hertz>({.stiffness = 1e9, .exponent = 1.5}),
                       .friction = choose<Frictionless>()});
  Scene scene{"cradle", built(builder), {}, 3};
  scene.start = make_state(scene.model);
  scene.start.q[0] = 0.5;
  return scene;
}

/// A block on a spring, pressed onto a belt that moves at 0.1 m/s.
Scene stick_slip() {
  ModelBuilder builder;
  builder.add_body(
      {.name = "belt", .mass = 1, .inertia = Sym3<double>::diagonal(1, 1, 1)});
  builder.add_body(
      {.name = "block", .mass = 1, .inertia = Sym3<double>::diagonal(1, 1, 1)});
  JointSpec joint;
  joint.type = JointType::prismatic;
  joint.axis = {1, 0, 0};
  joint.name = "drive";
  joint.child = "belt";
  builder.add_joint(joint);
  builder.add_motor({.name = "drive",
                     .joint = "drive",
                     .kind = MotorKind::prescribed,
                     .target = {.slope = 0.1}});
  const double radius = 0.05, weight = 9.81, stiffness = 1e7;
  joint.name = "slide";
  joint.child = "block";
  joint.stiffness = 50;
  joint.on_parent.p = {0, 0, radius - std::pow(weight / stiffness, 2.0 / 3)};
  builder.add_joint(joint);
  builder.add_shape({.name = "belt", .body = "belt", .shape = Plane{}});
  builder.add_shape({.name = "block", .body = "block", .shape = Sphere{radius}});
  builder.add_contact({.normal = gonthier(stiffness, 0.3), .friction = bristles(0.3)});
  Scene scene{"stick-slip", built(builder), {}, 5};
  scene.start = make_state(scene.model);
  return scene;
}

/// A trunk on four legs that motors hold.
Scene robot() {
  ModelBuilder builder;
  builder.add_shape({.name = "ground", .shape = Plane{}});
  builder.add_body(
      {.name = "trunk", .mass = 20, .inertia = box_inertia(20, {0.3, 0.2, 0.05})});
  builder.add_joint({.name = "trunk moves", .child = "trunk", .type = JointType::free});
  for (int i = 0; i < 4; ++i) {
    BodySpec leg;
    leg.name = numbered("leg", i);
    leg.mass = 1;
    leg.com = {0, 0, -0.2};
    leg.inertia = box_inertia(1, {0.02, 0.02, 0.2});
    builder.add_body(leg);
    JointSpec hip;
    hip.name = numbered("hip", i);
    hip.parent = "trunk";
    hip.child = leg.name;
    hip.type = JointType::revolute;
    hip.axis = {0, 1, 0};
    hip.on_parent.p = {i % 2 == 0 ? -0.3 : 0.3, i < 2 ? -0.2 : 0.2, 0};
    builder.add_joint(hip);
    builder.add_motor({.name = hip.name,
                       .joint = hip.name,
                       .kind = MotorKind::position,
                       .kp = 500,
                       .kd = 20});
    builder.add_shape({.name = numbered("foot", i),
                       .body = leg.name,
                       .shape = Sphere{0.02},
                       .pose = {.p = {0, 0, -0.4}},
                       .surface = "foot"});
  }
  builder.add_contact({.a = "foot",
                       .b = "ground",
                       .normal = gonthier(1e6, 0.3),
                       .friction = bristles(0.6)});
  Scene scene{"robot", built(builder), {}, 100};
  scene.start = make_state(scene.model);
  put(scene.model, scene.start, "trunk", {0, 0, 0.43});
  return scene;
}

/// A box that falls turning, and slides to rest on a face.
Scene tumbling_box() {
  ModelBuilder builder;
  builder.add_shape({.name = "ground", .shape = Plane{}});
  const Vec3<double> half{0.1, 0.12, 0.07};
  add_free(builder, "box", 1, box_inertia(1, half), Box{half});
  builder.add_contact({.normal = gonthier(1e6, 0.5), .friction = bristles(0.4)});
  Scene scene{"tumbling box", built(builder), {}, 1.5};
  scene.start = make_state(scene.model);
  put(scene.model, scene.start, "box", {0, 0, 0.5}, {0.5, 0.2, 0}, {3, 2, 1});
  return scene;
}

/// An arm that falls against the limit of its joint.
Scene arm_at_its_limit() {
  ModelBuilder builder;
  BodySpec arm;
  arm.name = "arm";
  arm.mass = 1;
  arm.com = {0, 0, -0.5};
  arm.inertia = Sym3<double>::diagonal(0.1, 0.1, 0.01);
  builder.add_body(arm);
  JointSpec joint;
  joint.name = "pivot";
  joint.child = "arm";
  joint.type = JointType::revolute;
  joint.axis = {0, 1, 0};
  joint.lower = -0.3;
  joint.upper = 2;
  builder.add_joint(joint);
  Scene scene{"arm", built(builder), {}, 5};
  scene.start = make_state(scene.model);
  scene.start.q[0] = 1.5;
  return scene;
}

struct Outcome {
  StepStatus status = StepStatus::ok;
  State end;
  StepCounts counts;
  Audit audit;
  double gain = 0;  // of energy that nobody supplied, over the start [J]
};

Outcome run(const Scene& scene, double rtol) {
  Outcome result;
  result.end = scene.start;
  Adaptive clock(scene.model, {.rtol = rtol});
  double begins = 0;
  bool first = true;
  const auto on_step = [&](const State& now) {
    result.audit.observe(make_ledger(clock.system(), now));
    const Ledger& ledger = result.audit.last();
    const double energy = ledger.energy() - ledger.supplied();
    if (first) begins = energy;
    first = false;
    result.gain = std::max(result.gain, energy - begins);
    return clock.counts().steps < 100000;
  };
  result.status = clock.advance_to(result.end, scene.until,
                                   {.on_event = {}, .on_sample = {}, .on_step = on_step});
  result.counts = clock.counts();
  return result;
}

double distance(const State& a, const State& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.q.size(); ++i) {
    most = std::max(most, std::abs(a.q[i] - b.q[i]));
  }
  return most;
}

TEST(Adaptive, NeverGainsEnergyAndLosesNoContact) {
  for (const Scene& scene : {viscoelastic_pendulum(), cradle(), stick_slip()}) {
    const Outcome exact = run(scene, 1e-12);
    ASSERT_EQ(exact.status, StepStatus::ok) << scene.name;
    EXPECT_LT(exact.audit.relative(), 1e-10) << scene.name;
    double loose = 0;
    for (const double rtol : {1e-2, 1e-4, 1e-6, 1e-8, 1e-10}) {
      const Outcome now = run(scene, rtol);
      ASSERT_EQ(now.status, StepStatus::ok) << scene.name << " " << rtol;
      EXPECT_EQ(now.end.time, scene.until) << scene.name << " " << rtol;
      EXPECT_LE(now.gain, rtol * now.audit.scale()) << scene.name << " " << rtol;
      // Whatever is left over is what the tolerance allows.
      EXPECT_LE(now.audit.relative(), 5 * rtol) << scene.name << " " << rtol;
      const double error = distance(now.end, exact.end);
      if (rtol <= 1e-4) {
        EXPECT_EQ(now.counts.touches, exact.counts.touches) << scene.name << " " << rtol;
      }
      // Four decades of tolerance are worth more than one of error.
      if (rtol == 1e-4) loose = error;
      if (rtol == 1e-8) {
        EXPECT_LT(error, 0.1 * loose) << scene.name;
      }
      if (rtol == 1e-10) {
        EXPECT_LT(error, 1e-8) << scene.name;
      }
    }
  }
}

TEST(Adaptive, LedgerBalancesAtDefaultAndTightTolerance) {
  const LawChoice normal = gonthier(1e7, 0.5), friction = bristles(0.3);
  Scene scenes[] = {double_pendulum(normal, friction), tumbling_box(), arm_at_its_limit(),
                    robot()};
  scenes[3].until = 2;
  for (const Scene& scene : scenes) {
    const Outcome usual = run(scene, AdaptiveOptions{}.rtol);
    ASSERT_EQ(usual.status, StepStatus::ok) << scene.name;
    EXPECT_LT(usual.audit.relative(), 1e-6) << scene.name;
    EXPECT_GT(usual.counts.touches, 0u) << scene.name;
    const Outcome tight = run(scene, 1e-11);
    ASSERT_EQ(tight.status, StepStatus::ok) << scene.name;
    EXPECT_LT(tight.audit.relative(), 1e-10) << scene.name;
  }
}

/// Bodies that lie on a slope and on each other, all but for a gap that rounding may
/// hide.
struct Laid {
  const char* name;
  Shape shape;
  double half;  // of its height [m]
  int bodies;
  double angle;                    // of the slope
  double gap;                      // [m]
  double approach = 0, slide = 0;  // [m/s]
};

Outcome lay(const Laid& laid, const LawChoice& friction, double rtol) {
  const double mass = 1, depth = 1e-5;
  const Mat3<double> slope = about_y(laid.angle);
  ModelBuilder builder;
  builder.add_shape({.name = "ground", .shape = Plane{}, .pose = {slope, {0, 0, 0}}});
  for (int i = 0; i < laid.bodies; ++i) {
    add_free(builder, numbered("b", i), mass, ball_inertia(mass, laid.half), laid.shape);
  }
  const double stiffness = mass * 9.81 / std::pow(depth, 1.5);
  builder.add_contact({.normal = choose<GonthierNormal>({.stiffness = stiffness,
                                                         .exponent = 1.5,
                                                         .restitution = 0.5,
                                                         .impact_speed_floor = 1e-4}),
                       .friction = friction});
  const Model model = built(builder);
  State state = make_state(model);
  for (int i = 0; i < laid.bodies; ++i) {
    const double height = (2 * i + 1) * laid.half + (i + 1) * laid.gap;
    put(model, state, numbered("b", i), height * slope.z,
        laid.slide * slope.x - laid.approach * slope.z);
    double* turned = state.q.data() + place_of(model, numbered("b", i)).q + 3;
    turned[0] = std::cos(laid.angle / 2);
    turned[2] = std::sin(laid.angle / 2);
  }
  Adaptive clock(model, {.rtol = rtol});
  Outcome outcome;
  double before = 0;
  outcome.status =
      clock.advance_to(state, 0.2, {.on_step = [&](const State& now) {
                         EXPECT_GE(now.time, before);
                         before = now.time;
                         outcome.audit.observe(make_ledger(clock.system(), now));
                         return clock.counts().steps < 20000;
                       }});
  outcome.counts = clock.counts();
  outcome.end = state;
  return outcome;
}

// Touched at a speed of nearly nothing, a contact is at first no deeper than rounding:
// the clock must neither take that for a contact that is over, nor step as finely as
// that.
TEST(Adaptive, BodiesLaidOnEachOtherNeitherStallNorCreep) {
  const Shape ball = Sphere{0.1}, box = Box{{0.2, 0.1, 0.1}};
  const LawChoice friction = choose<GonthierFriction>({.mu_static = 0.4,
                                                       .mu_coulomb = 0.4,
                                                       .stiffness = 1.5e6,
                                                       .damping = 1200,
                                                       .viscous = 0,
                                                       .stribeck_speed = 1e-3,
                                                       .dwell_time = 0.01,
                                                       .bound = 1});
  const Laid scenes[] = {{"ball", ball, 0.1, 1, 0, 0},
                         {"box", box, 0.1, 1, 0, 0},
                         {"box on a slope", box, 0.1, 1, 0.3, 0},
                         {"two balls", ball, 0.1, 2, 0, 0},
                         {"small gap", ball, 0.1, 1, 0.1, 1e-15},
                         {"small overlap", ball, 0.1, 1, 0.1, -1e-13},
                         {"gap", box, 0.1, 1, 0, 1e-9},
                         {"approach", ball, 0.1, 1, 0, 0, 1e-12},
                         {"leaves", ball, 0.1, 1, 0, 0, -1e-12},
                         {"slides", ball, 0.1, 1, 0, 0, 0, 0.5}};
  for (const Laid& scene : scenes) {
    constexpr double tolerances[] = {1e-3, 1e-9, 1e-6, 1e-10, 1e-12};
    for (const double rtol :
         std::span(tolerances).first(static_cast<std::size_t>(test::some_of(5, 1)))) {
      const Outcome run = lay(scene, friction, rtol);
      ASSERT_EQ(run.status, StepStatus::ok) << scene.name << " " << rtol;
      EXPECT_EQ(run.end.time, 0.2) << scene.name << " " << rtol;
      // Errors of some hundred steps add up; below 1e-9 rounding has the word.
      EXPECT_LT(run.counts.steps, rtol > 1e-7 ? 2000u : 15000u)
          << scene.name << " " << rtol;
      EXPECT_LT(run.audit.relative(), 20 * std::max(rtol, 1e-9))
          << scene.name << " " << rtol;
    }
  }
}

// Bodies that touch in several points, which come and go as they turn and slide: each
// comes in at no depth, and what the bodies gain from that is next to nothing.
TEST(Adaptive, ContactPointsThatComeAndGoBringNoEnergy) {
  struct Body {
    Shape shape;
    Vec3<double> half;  // of a box of about that size
    Vec3<double> at;
    double lean = 0;  // about y [rad]
    Vec3<double> velocity{0, 0, 0};
    Vec3<double> turning{0, 0, 0};
  };
  struct Meeting {
    const char* name;
    Shape ground;
    Vec3<double> ground_at;
    std::vector<Body> bodies;
  };
  const Shape slab = Box{{1, 1, 0.1}}, block = Box{{0.1, 0.1, 0.1}};
  const Vec3<double> low{0, 0, -0.1}, brick{0.05, 0.05, 0.03}, rod{0.03, 0.03, 0.09},
      drum{0.05, 0.05, 0.06};
  const Shape capsule = Capsule{0.03, 0.06}, cylinder = Cylinder{0.05, 0.06};
  const auto spins = [&](double z, double rate) {
    return Body{Box{brick}, brick, {0.002, 0, z}, 0, {0, 0, 0}, {0, 0, rate}};
  };
  const Meeting scenes[] = {
      {"a capsule falls flat",
       slab,
       low,
       {{capsule, rod, {0, 0, 0.05}, 1.5, {0, 0.5, 0}, {0, 0, 2}}}},
      {"a capsule falls on its end",
       slab,
       low,
       {{capsule, rod, {0, 0, 0.15}, 1.2, {0.3, 0, 0}, {1, 0, 2}}}},
      {"a capsule slides over an edge",
       block,
       low,
       {{capsule, rod, {0.06, 0, 0.03}, 1.5707963267948966, {0.3, 0, 0}, {0, 0, 2}}}},
      {"a box turns on a box",
       Box{{0.05, 0.05, 0.1}},
       low,
       {{Box{brick}, brick, {0.002, 0, 0.031}, 0, {0, 0, 0}, {0.3, 0, 3}}}},
      {"a cylinder rocks on a plane",
       Plane{},
       {0, 0, 0},
       {{cylinder, drum, {0, 0, 0.08}, 0, {0, 0, 0}, {2, 1, 5}}}},
      {"a cylinder rocks on a slab",
       slab,
       low,
       {{cylinder, drum, {0, 0, 0.08}, 0, {0, 0, 0}, {2, 1, 5}}}},
      {"boxes turn on each other",
       Plane{},
       {0, 0, 0},
       {spins(0.03, 3), spins(0.0901, -3), spins(0.1502, 3)}}};
  for (const Meeting& scene : scenes) {
    ModelBuilder builder;
    builder.gravity({0, 0, -9.81});
    builder.add_shape({.name = "ground",
                       .shape = scene.ground,
                       .pose = {.R = Mat3<double>::identity(), .p = scene.ground_at}});
    int count = 0;
    for (const Body& body : scene.bodies) {
      add_free(builder, numbered("b", count++), 1, box_inertia(1, body.half), body.shape);
    }
    builder.add_contact(
        {.normal = choose<HuntCrossley>(
             {.stiffness = 1e6, .exponent = 1.5, .dissipation = 0.5}),
         .friction = choose<SpringSlider>({.mu = 0.4, .stiffness = 2e4, .damping = 5})});
    const Model model = built(builder);
    for (const double rtol : {1e-4, 1e-6, 1e-8}) {
      State state = make_state(model);
      count = 0;
      for (const Body& body : scene.bodies) {
        const std::string name = numbered("b", count++);
        put(model, state, name, body.at, body.velocity, body.turning);
        double* q = state.q.data() + place_of(model, name).q + 3;
        q[0] = std::cos(0.5 * body.lean);
        q[2] = std::sin(0.5 * body.lean);
      }
      Adaptive clock(model, {.rtol = rtol});
      Audit audit;
      const StepStatus status = clock.advance_to(
          state, 0.5, {.on_event = {}, .on_sample = {}, .on_step = [&](const State& now) {
                         audit.observe(make_ledger(clock.system(), now));
                         return true;
                       }});
      ASSERT_EQ(status, StepStatus::ok) << scene.name << " " << rtol;
      EXPECT_LT(clock.counts().steps, 10000u) << scene.name << " " << rtol;
      EXPECT_LT(audit.scale(), 10) << scene.name << " " << rtol;  // nothing fell through
      EXPECT_LT(std::fabs(state.works.regenerated), 1e-3 * audit.scale())
          << scene.name << " " << rtol;
      EXPECT_LT(audit.relative(), std::max(1e-5, 5 * rtol)) << scene.name << " " << rtol;
    }
  }
}

TEST(Adaptive, UnderEveryFrictionLawABallCanBeLaidOnTheGround) {
  for (const LawEntry& law : catalogue()) {
    if (law.family != LawFamily::friction) continue;
    const Result<LawChoice> friction = choose(law.info.name, {});
    ASSERT_TRUE(friction);
    for (const double rtol : {1e-4, 1e-6}) {
      for (const double slide : {0.0, 0.01}) {
        const Laid scene{"ball", Sphere{0.1}, 0.1, 1, 0, 0, 0, slide};
        const Outcome run = lay(scene, *friction, rtol);
        ASSERT_EQ(run.status, StepStatus::ok) << law.info.name << " " << rtol;
        EXPECT_EQ(run.end.time, 0.2) << law.info.name << " " << rtol << " " << slide;
        EXPECT_LT(run.audit.relative(), 20 * rtol) << law.info.name << " " << rtol;
      }
    }
  }
}

TEST(Adaptive, WhereTimeStandsStillTheRunEnds) {
  const Scene scene = cradle();
  State state = scene.start;
  Adaptive clock(scene.model, {.longest_step = 1e-15});
  EXPECT_EQ(clock.advance_to(state, 1), StepStatus::stalled);
  EXPECT_NE(explain(StepStatus::stalled).find("stalled"), std::string::npos);
}

/// A soft clutch is still stretched as the contact ends, and holds K_t √δ u²/2: nothing
/// at δ = 0, and not the trifle that the depth of the positions is off by.
TEST(Adaptive, AStretchedClutchHoldsNothingAtLiftOff) {
  const double mass = 0.2, radius = 0.0165;
  ModelBuilder builder;
  builder.add_shape({.name = "ground", .shape = Plane{}});
  add_free(builder, "ball", mass, ball_inertia(mass, radius), Sphere{radius});
  builder.add_contact({.normal = choose<AzadFeatherstone>(
                           {.stiffness = 2.2e7, .damping = 2.7e3, .clamp = 1}),
                       .friction = choose<AzadFeatherstoneClutch>({.mu = 0.43,
                                                                   .stiffness = 1.8e6,
                                                                   .damping = 515,
                                                                   .viscous = 1,
                                                                   .passive = 1})});
  const Model model = built(builder);
  State state = make_state(model);
  put(model, state, "ball", {0, 0, 0.2}, {-1.3, 0.65, 0});
  Adaptive clock(model, {.rtol = 1e-8});
  Audit audit;
  ASSERT_EQ(clock.settle(state), StepStatus::ok);
  audit.observe(make_ledger(clock.system(), state));
  ASSERT_EQ(clock.advance_to(state, 0.25), StepStatus::ok);
  audit.observe(make_ledger(clock.system(), state));
  EXPECT_EQ(clock.counts().touches, 1u);
  EXPECT_LT(audit.relative(), 3e-9);
}

TEST(Adaptive, ARobotStandsStill) {
  const Scene scene = robot();
  Scene early = scene;
  early.until = 50;
  const Outcome half = run(early, 1e-6), all = run(scene, 1e-6);
  ASSERT_EQ(all.status, StepStatus::ok);
  EXPECT_LT(all.counts.steps, 5000u);
  EXPECT_LT(distance(half.end, all.end), 1e-8);
}

TEST(Adaptive, SamplesLieBetweenTheStepsAndDoNotShortenThem) {
  const Scene scene = viscoelastic_pendulum();
  const Outcome plain = run(scene, 1e-6);
  State state = scene.start;
  std::vector<double> times;
  const RunSummary summary =
      simulate(scene.model, state,
               SimulateAdaptiveOptions{
                   .clock = {}, .duration = scene.until, .observe_every = 0.01},
               [&](const Observation& now) {
                 times.push_back(now.state.time);
                 return true;
               });
  ASSERT_EQ(summary.status, StepStatus::ok);
  EXPECT_EQ(summary.steps, plain.counts.steps);
  ASSERT_EQ(times.size(), 401u);
  for (std::size_t i = 0; i < times.size(); ++i) {
    EXPECT_NEAR(times[i], 0.01 * static_cast<double>(i), 1e-12);
  }
  EXPECT_LT(summary.audit.relative(), 1e-6);
  EXPECT_EQ(state.q, plain.end.q);
}

TEST(Adaptive, AnObserverEndsTheRun) {
  const Scene scene = viscoelastic_pendulum();
  State state = scene.start;
  const RunSummary summary =
      simulate(scene.model, state,
               SimulateAdaptiveOptions{.clock = {}, .duration = 4, .observe_every = 0.01},
               [](const Observation& now) { return now.state.time < 1; });
  EXPECT_EQ(summary.status, StepStatus::ok);
  EXPECT_GE(state.time, 1);
  EXPECT_LT(state.time, 1.5);
}

TEST(Adaptive, WrongOptionsAreRefused) {
  const Scene scene = cradle();
  State state = scene.start;
  EXPECT_EQ(Adaptive(scene.model, {.rtol = 0}).advance_to(state, 1),
            StepStatus::wrong_step);
  EXPECT_EQ(Adaptive(scene.model, {.longest_step = -1}).advance_to(state, 1),
            StepStatus::wrong_step);
  State other = make_state(stick_slip().model);
  EXPECT_EQ(Adaptive(scene.model).advance_to(other, 1), StepStatus::wrong_state);
}

// The order of the classical Runge–Kutta method from touch-down on, in plain time and in
// the contact's clock, on the double pendulum.

/// `steps` steps to `length`, by t or η.
MotionOde::Vector runge_kutta(MotionOde& motion, double length, int steps) {
  using Vector = MotionOde::Vector;
  Vector y = motion.start();
  const double h = length / steps;
  Vector k[4], at(y.size());
  for (Vector& rate : k) rate.resize(y.size());
  const double part[4] = {0, 0.5, 0.5, 1};
  for (int n = 0; n < steps; ++n) {
    for (int s = 0; s < 4; ++s) {
      for (std::size_t i = 0; i < y.size(); ++i) {
        at[i] = y[i] + (s > 0 ? h * part[s] * k[s - 1][i] : 0);
      }
      motion.rates(at, k[s].data());
    }
    for (std::size_t i = 0; i < y.size(); ++i) {
      y[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
    }
  }
  return y;
}

TEST(MotionOde, RungeKuttaKeepsItsOrderInTheContactsClock) {
  const Scene scene = double_pendulum(
      choose<AzadFeatherstone>({.stiffness = 1e7, .damping = 1e4, .clamp = 1}),
      choose<Frictionless>());
  State touch = scene.start;
  int row = -1;
  ASSERT_EQ(scene.model.joint_blocks, 0);
  const LocatedEvents nothing;
  Adaptive clock(scene.model, {.rtol = 1e-12});
  clock.advance_to(
      touch, scene.until,
      {.on_event =
           [&](const State& now, const Event& e) {
             const auto& keys = now.contacts.key;
             row = static_cast<int>(std::find(keys.begin(), keys.end(), e.contact) -
                                    keys.begin());
           },
       .on_sample = {},
       .on_step = [&](const State&) { return row < 0; }});
  ASSERT_GE(row, 0);
  const auto order = [&](bool with_clock, double length, double* end) {
    State state = touch;
    System system(scene.model);
    settle(system, 1e-3, state, {}, &nothing);
    MotionOde motion(scene.model);
    settle(motion.system(), 1e-3, state, {}, &nothing);
    motion.begin(state, with_clock ? row : -1, 0);
    const MotionOde::Vector exact = runge_kutta(motion, length, 1 << 14);
    double error[2];
    for (int k = 0; k < 2; ++k) {
      const MotionOde::Vector y = runge_kutta(motion, length, 40 << k);
      error[k] = 0;
      for (std::size_t i = 2; i < 4; ++i) {  // velocities
        error[k] = std::max(error[k], std::abs(y[i] - exact[i]));
      }
    }
    *end = with_clock ? exact[motion.t_at()] - touch.time : length;
    return std::log2(error[0] / error[1]);
  };
  MotionOde motion(scene.model);
  State state = touch;
  settle(motion.system(), 1e-3, state, {}, &nothing);
  ErrorScales scales(motion);
  const Impact impact = scales.impact(state, static_cast<std::size_t>(row));
  // Into the contact, to about half of its depth.
  double end = 0;
  const double in_clock = order(true, 0.7 * impact.time / std::sqrt(impact.depth), &end);
  EXPECT_GT(end, 0.2 * impact.time);
  EXPECT_GT(in_clock, 3.9);
  EXPECT_LT(in_clock, 4.4);
  const double plain = order(false, end, &end);
  EXPECT_GT(plain, 1.2);
  EXPECT_LT(plain, 1.8);
}

/// A chain that starts at rest under stiff motors: steps and the balance error follow the
/// tolerance.
TEST(Adaptive, AccuracyOfMotorsFollowsTheTolerance) {
  ModelBuilder builder;
  std::string parent{world_name};
  for (int i = 0; i < 3; ++i) {
    const std::string name = numbered("link", i);
    builder.add_body({.name = name,
                      .mass = 2,
                      .com = {0.2, 0, 0},
                      .inertia = box_inertia(2, {0.2, 0.03, 0.03})});
    JointSpec joint;
    joint.name = name + " joint";
    joint.parent = parent;
    joint.child = name;
    joint.type = JointType::revolute;
    joint.axis = {0, 1, 0};
    if (i > 0) joint.on_parent.p = {0.4, 0, 0};
    builder.add_joint(joint);
    builder.add_motor({.name = name + " motor",
                       .joint = joint.name,
                       .kind = MotorKind::position,
                       .kp = 1e5,
                       .kd = 300,
                       .target = {.offset = 0.3, .amplitude = 0.3, .frequency = 3}});
    parent = name;
  }
  const Model model = built(builder);
  const auto run_with = [&](double rtol, double& balance) {
    State state = make_state(model);
    Adaptive stepper(model, {.rtol = rtol});
    const RunSummary summary = run(stepper, state, {.end = 1, .every = Sampling::step});
    EXPECT_EQ(summary.status, StepStatus::ok);
    balance = summary.audit.relative();
    return stepper.counts().steps;
  };
  double coarse = 0, fine = 0;
  const std::uint64_t steps = run_with(1e-4, coarse);
  EXPECT_LT(4 * steps, run_with(1e-8, fine));
  EXPECT_LT(coarse, 1e-5);
  EXPECT_LT(fine, 1e-9);
}

}  // namespace
}  // namespace bristle
