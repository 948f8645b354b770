#include "bristle/step/loops.hpp"

#include <gtest/gtest.h>

#include "bristle/adaptive/adaptive.hpp"
#include "bristle/run.hpp"
#include "tests/contract/allocations.hpp"
#include "tests/validation/scenes.hpp"

// Loops against closed forms, and against trees that need none.

namespace bristle {
namespace {

using validation::add_free;
using validation::ball_inertia;
using validation::built;
using validation::pi;
using validation::put;

constexpr Method methods[] = {Method::semi_implicit_euler, Method::bogacki_shampine,
                              Method::runge_kutta_4, Method::linearly_implicit_euler};

/// A bar along x from its origin, of a length.
BodySpec bar(const char* name, double mass, double length) {
  const double i = mass * length * length / 12;
  return {.name = name,
          .mass = mass,
          .com = {length / 2, 0, 0},
          .inertia = Sym3<double>::diagonal(1e-3 * i, i, i)};
}

/// Four bars in the plane of x and y, gravity along −y. Crank and rocker turn about the
/// world's z, the coupler about the crank's end; the loop joins coupler and rocker.
struct FourBar {
  double ground = 1.0, crank = 0.4, coupler = 0.9, rocker = 0.7;

  ModelBuilder builder(LoopSpec loop, double damping = 0) const {
    ModelBuilder b;
    b.gravity({0, -9.81, 0});
    b.add_body(bar("crank", 1, crank));
    b.add_joint({.name = "axle",
                 .child = "crank",
                 .type = JointType::revolute,
                 .damping = damping});
    b.add_body(bar("coupler", 2, coupler));
    b.add_joint({.name = "pin",
                 .parent = "crank",
                 .child = "coupler",
                 .type = JointType::revolute,
                 .on_parent = {.p = {crank, 0, 0}}});
    b.add_body(bar("rocker", 1.5, rocker));
    b.add_joint({.name = "post",
                 .child = "rocker",
                 .type = JointType::revolute,
                 .on_parent = {.p = {ground, 0, 0}}});
    loop.body_a = "coupler";
    loop.pose_a = {.p = {coupler, 0, 0}};
    loop.body_b = "rocker";
    loop.pose_b = {.p = {rocker, 0, 0}};
    b.add_loop(loop);
    return b;
  }

  /// The rocker's angle for a crank angle: Freudenstein's equation, open branch.
  double rocker_angle(double theta) const {
    const double k1 = ground / crank, k2 = ground / rocker;
    const double k3 =
        (crank * crank - coupler * coupler + rocker * rocker + ground * ground) /
        (2 * crank * rocker);
    const double c = std::cos(theta);
    const double a2 = c - k1 - k2 * c + k3;
    const double a1 = -2 * std::sin(theta);
    const double a0 = k1 - (k2 + 1) * c + k3;
    return 2 * std::atan2(-a1 - std::sqrt(a1 * a1 - 4 * a2 * a0), 2 * a2);
  }
  double coupler_angle(double theta) const {
    const double psi = rocker_angle(theta);
    return std::atan2(rocker * std::sin(psi) - crank * std::sin(theta),
                      ground + rocker * std::cos(psi) - crank * std::cos(theta));
  }
  double rocker_rate(double theta, double rate) const {
    const double phi = coupler_angle(theta), psi = rocker_angle(theta);
    return crank * rate / rocker * std::sin(theta - phi) / std::sin(psi - phi);
  }
  /// Joint positions, exactly closed.
  std::vector<double> closed(double theta) const {
    return {theta, coupler_angle(theta) - theta, rocker_angle(theta)};
  }
};

double wrapped(double angle) { return std::remainder(angle, 2 * pi); }

LoopGap gap_at(System& system, const State& state) {
  kinematics<double>(system.model->tree, state.q, state.v, system.tree);
  return loop_gap(system);
}

/// Accelerations at a state, and with them the forces of loops.
const System& evaluate(FixedStep& clock, State& state) {
  EXPECT_EQ(clock.settle(state), StepStatus::ok);
  System& system = clock.system();
  apply_forces(system, {}, state.time, state.q, state.v, state,
               memory_of(std::as_const(state)), rates_of(system.pools), {});
  accelerate(system, state.time, 0, state.v, {});
  return system;
}

State run(const Model& model, State state, Method method, double step, double duration) {
  FixedStep clock(model, {.method = method, .step = step});
  const auto steps = static_cast<int>(std::round(duration / step));
  for (int i = 0; i < steps; ++i) {
    const StepStatus status = clock.step(state);
    EXPECT_EQ(status, StepStatus::ok) << explain(status);
    if (status != StepStatus::ok) break;
  }
  return state;
}

double far(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0;
  for (std::size_t k = 0; k < a.size(); ++k)
    most = std::max(most, std::fabs(a[k] - b[k]));
  return most;
}

/// Two runs of order p at steps h and h/2: the error of the finer one is below their
/// difference (over 2^p − 1); twice that bounds the coarser one too.
double error_bound(const std::vector<double>& coarse, const std::vector<double>& fine) {
  return 2 * far(coarse, fine);
}

// Kinematics.

TEST(Loops, ADrivenFourBarFollowsFreudenstein) {
  const FourBar bars;
  for (const LoopKind kind : {LoopKind::point, LoopKind::hinge}) {
    for (const Method method : methods) {
      ModelBuilder builder = bars.builder({.name = "knuckle", .kind = kind});
      builder.add_motor({.name = "drive",
                         .joint = "axle",
                         .kind = MotorKind::prescribed,
                         .target = {.offset = 0.3, .slope = 4}});
      const Model model = built(builder);
      State state = make_state(model);
      state.q = {0, 0.5, 1.5};  // a rough guess
      FixedStep clock(model, {.method = method, .step = 2e-3});
      for (int i = 0; i < 1000; ++i) {
        ASSERT_EQ(clock.settle(state), StepStatus::ok) << i;
        const double theta = 0.3 + 4 * state.time;
        ASSERT_NEAR(wrapped(state.q[0] - theta), 0, 1e-13);
        // Closed to 1e-11 of about 4 m; the transmission angle is never below 20°.
        ASSERT_NEAR(wrapped(state.q[2] - bars.rocker_angle(theta)), 0, 3e-10);
        ASSERT_NEAR(state.v[2], bars.rocker_rate(theta, 4), 3e-9);
        ASSERT_EQ(clock.step(state), StepStatus::ok) << i;
      }
    }
  }
}

/// Rods whose motion and energy are known in closed form: what the motor did is what they
/// gained.
TEST(Loops, ADrivenSliderCrankTakesTheWorkItsBarsGain) {
  const double r = 0.3, l = 0.8, rate = 5;
  ModelBuilder builder;
  builder.gravity({0, 0, 0});
  builder.add_body(bar("crank", 1, r));
  builder.add_joint({.name = "axle", .child = "crank", .type = JointType::revolute});
  builder.add_body(bar("rod", 2, l));
  builder.add_joint({.name = "pin",
                     .parent = "crank",
                     .child = "rod",
                     .type = JointType::revolute,
                     .on_parent = {.p = {r, 0, 0}}});
  builder.add_body({.name = "slider", .mass = 3, .inertia = ball_inertia(3, 0.05)});
  builder.add_joint({.name = "rail",
                     .child = "slider",
                     .type = JointType::prismatic,
                     .axis = {1, 0, 0}});
  builder.add_loop(
      {.name = "wrist", .body_a = "rod", .pose_a = {.p = {l, 0, 0}}, .body_b = "slider"});
  builder.add_motor({.name = "drive",
                     .joint = "axle",
                     .kind = MotorKind::prescribed,
                     .target = {.offset = 0.2, .slope = rate}});
  const Model model = built(builder);
  const auto kinetic = [&](double theta) {
    const double s = std::sin(theta), c = std::cos(theta);
    const double sine = -r / l * s, cosine = std::sqrt(1 - sine * sine);
    const double turn = -r / l * c * rate / cosine;  // of the rod
    const double slide = -r * s * rate - l * sine * turn;
    const double x = -r * s * rate - 0.5 * l * sine * turn;  // of the rod's middle
    const double y = r * c * rate + 0.5 * l * cosine * turn;
    return 0.5 * (r * r / 3) * rate * rate +
           0.5 * (2 * (x * x + y * y) + 2 * l * l / 12 * turn * turn) +
           0.5 * 3 * slide * slide;
  };
  State state = make_state(model);
  state.q[2] = 1;
  FixedStep clock(model, {.method = Method::runge_kutta_4, .step = 1e-3});
  for (int i = 0; i <= 1000; ++i) {
    ASSERT_EQ(clock.settle(state), StepStatus::ok);
    const double theta = 0.2 + rate * state.time;
    const double x =
        r * std::cos(theta) + std::sqrt(l * l - std::pow(r * std::sin(theta), 2));
    ASSERT_NEAR(state.q[2], x, 1e-10);
    // Simpson's rule on the motor's power, 5 rad/s in steps of 1 ms: (ω h)⁴ ≈ 6e-10.
    ASSERT_NEAR(state.works.motors + state.works.projection,
                kinetic(theta) - kinetic(0.2), 1e-8);
    ASSERT_EQ(clock.step(state), StepStatus::ok);
  }
  EXPECT_LT(std::fabs(state.works.projection), 1e-9);
}

TEST(Loops, AreAssembledFromARoughGuess) {
  const FourBar bars;
  for (const LoopKind kind : {LoopKind::point, LoopKind::hinge}) {
    const Model model = built(bars.builder({.name = "knuckle", .kind = kind}));
    // The last two are singular: all bars in one line.
    for (const auto& guess : {std::vector<double>{0.3, 0.2, 1.2},
                              {1, 1, 1},
                              {-2, 1, -1},
                              {0, 0, 0},
                              {0, 0, pi}}) {
      State state = make_state(model);
      state.q = guess;
      state.v = {1, -2, 0.5};
      FixedStep clock(model, {.method = Method::runge_kutta_4});
      ASSERT_EQ(clock.settle(state), StepStatus::ok);
      EXPECT_LT(gap_at(clock.system(), state).distance, 1e-11);
      EXPECT_EQ(state.works.projection, 0);  // the run has not begun
      loop_rates(clock.system().tree, clock.system().loops);
      for (const double u : clock.system().loops.error) EXPECT_LT(std::fabs(u), 1e-11);
      // A second look changes nothing.
      const State before = state;
      ASSERT_EQ(clock.settle(state), StepStatus::ok);
      EXPECT_EQ(state.q, before.q);
      EXPECT_EQ(state.v, before.v);
    }
  }
}

TEST(Loops, OnesThatCannotCloseAreReported) {
  FourBar bars;
  bars.coupler = 0.2;  // 0.4 + 0.2 + 0.7 … but the posts are 2 m apart
  bars.ground = 2;
  const Model model = built(bars.builder({.name = "knuckle", .kind = LoopKind::point}));
  State state = make_state(model);
  state.q = {0.3, 0.2, 1.2};
  const State before = state;
  FixedStep clock(model, {});
  EXPECT_EQ(clock.settle(state), StepStatus::loops_open);
  EXPECT_EQ(state.q, before.q);
  EXPECT_NE(explain(StepStatus::loops_open).find("cannot be closed"), std::string::npos);
  // The one that is open, and by how much.
  EXPECT_NE(clock.advice(state).find("The loop \"knuckle\" is open by "),
            std::string::npos)
      << clock.advice(state);
  Adaptive adaptive(model);
  EXPECT_EQ(adaptive.settle(state), StepStatus::loops_open);
  EXPECT_EQ(adaptive.advice(state), clock.advice(state));

  // Across the plane: nothing can move there, and 1 cm is no typing error.
  const FourBar fine;
  ModelBuilder builder = fine.builder({.name = "knuckle", .kind = LoopKind::point});
  builder.add_loop({.name = "askew",
                    .kind = LoopKind::hinge,
                    .body_a = "coupler",
                    .pose_a = {.p = {fine.coupler, 0, 0.01}},
                    .body_b = "rocker",
                    .pose_b = {.p = {fine.rocker, 0, 0}}});
  const Model jammed = built(builder);
  state = make_state(jammed);
  state.q = fine.closed(1);
  FixedStep other(jammed, {});
  EXPECT_EQ(other.settle(state), StepStatus::loops_open);
}

TEST(Loops, ADriveBeyondTheirReachEndsTheRun) {
  FourBar bars;
  bars.crank = 0.9;  // cannot turn through
  ModelBuilder builder = bars.builder({.name = "knuckle", .kind = LoopKind::hinge});
  builder.add_motor({.name = "drive",
                     .joint = "axle",
                     .kind = MotorKind::prescribed,
                     .target = {.offset = 1, .slope = 1}});
  const Model model = built(builder);
  for (const Method method : methods) {
    State state = make_state(model);
    state.q = {1, 5.5, 1.5};
    FixedStep clock(model, {.method = method, .step = 2e-3});
    StepStatus status = StepStatus::ok;
    int steps = 0;
    while (status == StepStatus::ok && steps < 2000) {
      status = clock.step(state);
      ++steps;
    }
    // At the limit coupler and rocker are in line: 0.9² + 1 − 1.8 cos θ = 1.6².
    const double limit = std::acos((0.81 + 1 - 1.6 * 1.6) / 1.8);
    EXPECT_NE(status, StepStatus::ok);
    EXPECT_NEAR(1 + state.time, limit, 0.02) << explain(status);
    for (const double x : state.q) EXPECT_TRUE(std::isfinite(x));
  }
}

// Dynamics.

TEST(Loops, AFreeFourBarConvergesAtFourthOrderAndKeepsItsEnergy) {
  const FourBar bars;
  const Model model = built(bars.builder({.name = "knuckle", .kind = LoopKind::point}));
  State start = make_state(model);
  start.q = bars.closed(1);
  start.v = {3, 0, 0};
  // All along the way: at a single moment the error may change its sign.
  const auto path = [&](double step) {
    std::vector<double> samples;
    State state = start;
    for (int i = 0; i < 20; ++i) {
      state = run(model, state, Method::runge_kutta_4, step, 0.05);
      samples.insert(samples.end(), state.q.begin(), state.q.end());
    }
    return samples;
  };
  const std::vector<double> exact = path(2.5e-4);
  const double coarse = far(path(5e-3), exact), fine = far(path(2.5e-3), exact);
  EXPECT_GT(std::log2(coarse / fine), 3.9) << coarse << " " << fine;

  State state = start;
  const RunSummary summary = simulate(
      model, state,
      {.clock = {.method = Method::runge_kutta_4, .step = 2.5e-4}, .duration = 2});
  ASSERT_EQ(summary.status, StepStatus::ok);
  EXPECT_LT(summary.audit.relative(), 1e-10);
  // What projection takes out: steps of 0.25 ms at below 10 rad/s leave (ω h)⁵ ≈ 1e-13.
  EXPECT_LT(std::fabs(state.works.projection), 1e-9 * summary.audit.scale());
}

TEST(Loops, EveryMethodConvergesAtItsOrder) {
  const FourBar bars;
  const Model model =
      built(bars.builder({.name = "knuckle", .kind = LoopKind::hinge}, 0.2));
  State start = make_state(model);
  start.q = bars.closed(1);
  const std::vector<double> exact = run(model, start, Method::runge_kutta_4, 1e-3, 0.4).q;
  const int orders[] = {1, 3, 4, 1};
  for (std::size_t i = 0; i < 4; ++i) {
    const double step = orders[i] == 1 ? 1e-3 : 1e-2;
    const double coarse = far(run(model, start, methods[i], step, 0.4).q, exact);
    const double fine = far(run(model, start, methods[i], step / 2, 0.4).q, exact);
    EXPECT_NEAR(std::log2(coarse / fine), orders[i], 0.3) << name_of(methods[i]);
  }
}

/// A body hung up at a point, by a loop and by a joint.
class Hung : public ::testing::Test {
 protected:
  static constexpr Vec3<double> pivot{0.1, -0.2, 0.3};  // in the world
  static constexpr Vec3<double> hook{0.2, 0.1, 0.4};    // on the body
  static BodySpec body() {
    return {
        .name = "bob", .mass = 2, .inertia = Sym3<double>::diagonal(0.03, 0.05, 0.04)};
  }
  static Model by_joint() {
    ModelBuilder b;
    b.add_body(body());
    b.add_joint({.name = "ball",
                 .child = "bob",
                 .type = JointType::spherical,
                 .on_parent = {.p = pivot},
                 .on_child = {.p = hook}});
    return built(b);
  }
  static Model by_loop(LoopSpec loop) {
    ModelBuilder b;
    b.add_body(body());
    b.add_joint({.name = "flight", .child = "bob", .type = JointType::free});
    loop.body_a = "world";
    loop.pose_a = {.p = pivot};
    loop.body_b = "bob";
    loop.pose_b = {.p = hook};
    b.add_loop(loop);
    return built(b);
  }
  static constexpr Vec3<double> spin{1, 2, 3};
  static State joint_state(const Model& model) {
    State state = make_state(model);
    store(spin, state.v.data());
    return state;
  }
  static State loop_state(const Model& model) {
    State state = make_state(model);
    store(pivot - hook, state.q.data());
    store(spin, state.v.data());
    store(-cross(spin, hook), state.v.data() + 3);
    return state;
  }
  static std::vector<double> turn_of(const State& state, std::size_t at) {
    return {state.q.begin() + static_cast<std::ptrdiff_t>(at),
            state.q.begin() + static_cast<std::ptrdiff_t>(at) + 4};
  }
};

TEST_F(Hung, APointLoopIsASphericalJoint) {
  const Model joint = by_joint();
  const Model loop = by_loop({.name = "ball", .kind = LoopKind::point});
  for (const Method method : methods) {
    const bool first_order = method == Method::semi_implicit_euler ||
                             method == Method::linearly_implicit_euler;
    const double h = first_order ? 2e-4 : 4e-3;
    const auto of_joint = [&](double step) {
      return turn_of(run(joint, joint_state(joint), method, step, 0.6), 0);
    };
    const auto of_loop = [&](double step) {
      return turn_of(run(loop, loop_state(loop), method, step, 0.6), 3);
    };
    const std::vector<double> one = of_joint(h / 2), two = of_loop(h / 2);
    EXPECT_LT(far(one, two), error_bound(of_joint(h), one) + error_bound(of_loop(h), two))
        << name_of(method);
  }
}

TEST_F(Hung, ItsReactionIsTheJoints) {
  const Model joint = by_joint();
  const Model loop = by_loop({.name = "ball", .kind = LoopKind::point});
  State hung = joint_state(joint);
  FixedStep joint_clock(joint, {});
  // m (a − g) of the centre of mass, from the joint's accelerations; axes are the
  // world's.
  const Vec3<double> alpha = load_vec3(evaluate(joint_clock, hung).acceleration.data());
  const Vec3<double> arm = -hook;
  const Vec3<double> a = cross(alpha, arm) + cross(spin, cross(spin, arm));
  const Vec3<double> expected = 2.0 * (a - Vec3<double>{0, 0, -9.81});
  State state = loop_state(loop);
  FixedStep clock(loop, {});
  const Force<double> found = evaluate(clock, state).loop_force(0);
  EXPECT_LT(norm(found.force - expected), 1e-12 * norm(expected));
  EXPECT_EQ(norm(found.torque), 0);
}

/// Hung on a spring it sags by m g/k, whatever the method.
TEST_F(Hung, ASpringSagsByTheWeightOverItsStiffness) {
  const double k = 4e3;
  const Model model =
      by_loop({.name = "ball", .kind = LoopKind::point, .stiffness = k, .damping = 60});
  for (const Method method : methods) {
    State state = make_state(model);
    // Hanging straight down: the hook above the centre of mass.
    const Vec3<double> up{0, 0, 1};
    const Vec3<double> axis = cross(hook, up);
    const double angle = std::atan2(norm(axis), dot(hook, up));
    store(rotation_exp((angle / norm(axis)) * axis), state.q.data() + 3);
    store(pivot - norm(hook) * up, state.q.data());
    state = run(model, state, method, 1e-3, 2);
    // Damped at 60/(2·2) = 15 1/s: exp(−30) ≈ 1e-13 is left of the sag.
    EXPECT_NEAR(state.q[2], pivot.z - norm(hook) - 2 * 9.81 / k, 1e-10)
        << name_of(method);
    FixedStep clock(model, {.method = method});
    EXPECT_NEAR(evaluate(clock, state).loop_force(0).force.z, 2 * 9.81, 1e-6);
  }
}

/// Stiffer and stiffer, damped alike: what is left of the difference falls as 1/k.
TEST_F(Hung, SpringsApproachRigidLoopsWithTheirStiffness) {
  const Model rigid = by_loop({.name = "ball", .kind = LoopKind::point});
  const double h = 5e-4;
  const std::vector<double> exact =
      turn_of(run(rigid, loop_state(rigid), Method::runge_kutta_4, h, 0.6), 3);
  double before = 0;
  for (const double k : {2.5e4, 1e5, 4e5}) {
    // About critical for the inertia at the hook, so that the start has died away.
    const Model model = by_loop({.name = "ball",
                                 .kind = LoopKind::point,
                                 .stiffness = k,
                                 .damping = 1.5 * std::sqrt(k)});
    const double error =
        far(turn_of(run(model, loop_state(model), Method::runge_kutta_4, h / 4, 0.6), 3),
            exact);
    // The next term is of order k^−3/2 (the damper's c/k): a few 1/√k more.
    if (before > 0) {
      EXPECT_NEAR(before / error, 4, 4 * 10 / std::sqrt(k)) << k << " " << error;
    }
    before = error;
  }
}

/// In space, from a body that tumbles: a revolute joint and a hinge loop.
TEST(Loops, AHingeIsARevoluteJoint) {
  const Transform<double> on_one{validation::about_y(0.4) * validation::about_x(0.3),
                                 {0.3, 0.1, 0}};
  const Transform<double> on_two{validation::about_x(0.7), {0, 0.2, 0.1}};
  const auto model_with = [&](bool loop) {
    ModelBuilder b;
    b.add_body({.name = "one",
                .mass = 2,
                .com = {0.1, 0, 0},
                .inertia = Sym3<double>::diagonal(0.03, 0.05, 0.04)});
    b.add_joint({.name = "ball", .child = "one", .type = JointType::spherical});
    b.add_body(
        {.name = "two", .mass = 1, .inertia = Sym3<double>::diagonal(0.02, 0.01, 0.02)});
    if (!loop) {
      b.add_joint({.name = "hinge",
                   .parent = "one",
                   .child = "two",
                   .type = JointType::revolute,
                   .on_parent = on_one,
                   .on_child = on_two});
      return built(b);
    }
    b.add_joint({.name = "flight", .child = "two", .type = JointType::free});
    b.add_loop({.name = "hinge",
                .kind = LoopKind::hinge,
                .body_a = "one",
                .pose_a = on_one,
                .body_b = "two",
                .pose_b = on_two});
    return built(b);
  };
  const Model joint = model_with(false), loop = model_with(true);
  const Vec3<double> w{2, 1, -3};
  const double rate = 4;
  const auto end = [&](const Model& model, double step) {
    State state = make_state(model);
    store(w, state.v.data());
    if (state.v.size() == 4) {
      state.v[3] = rate;
    } else {
      const Transform<double> pose = on_one * inverse(on_two);
      store(pose.p, state.q.data() + 4);
      store(from_matrix(pose.R), state.q.data() + 7);
      const Vec3<double> turning = w + rate * on_one.R.z;
      store(turning, state.v.data() + 3);
      store(cross(w, on_one.p) + cross(turning, pose.p - on_one.p), state.v.data() + 6);
    }
    std::vector<double> q = run(model, state, Method::runge_kutta_4, step, 0.5).q;
    q.resize(4);  // of the first body
    return q;
  };
  const double h = 5e-3;
  const std::vector<double> one = end(joint, h / 2), two = end(loop, h / 2);
  EXPECT_LT(far(one, two),
            error_bound(end(joint, h), one) + error_bound(end(loop, h), two));
}

TEST(Loops, AWeldMakesOneBodyOfTwo) {
  const auto bodies = [](ModelBuilder& b) {
    b.add_body({.name = "one",
                .mass = 2,
                .com = {0.1, 0, 0},
                .inertia = Sym3<double>::diagonal(0.03, 0.05, 0.04)});
    b.add_body(
        {.name = "two", .mass = 1, .inertia = Sym3<double>::diagonal(0.02, 0.01, 0.02)});
    b.add_joint({.name = "one flies", .child = "one", .type = JointType::free});
  };
  const Transform<double> on_one{validation::about_y(0.4), {0.3, 0.1, 0}};
  const Transform<double> on_two{validation::about_x(0.7), {0, 0.2, 0.1}};
  ModelBuilder whole;
  bodies(whole);
  whole.add_joint({.name = "glue",
                   .parent = "one",
                   .child = "two",
                   .on_parent = on_one,
                   .on_child = on_two});
  ModelBuilder pieces;
  bodies(pieces);
  pieces.add_joint({.name = "two flies", .child = "two", .type = JointType::free});
  pieces.add_loop({.name = "glue",
                   .kind = LoopKind::weld,
                   .body_a = "one",
                   .pose_a = on_one,
                   .body_b = "two",
                   .pose_b = on_two});
  const Model one = built(whole), two = built(pieces);
  const auto start = [&](const Model& model) {
    State state = make_state(model);
    store(Vec3<double>{2, 1, -3}, state.v.data());
    if (state.v.size() == 6) return state;
    const Transform<double> pose = on_one * inverse(on_two);
    store(pose.p, state.q.data() + 7);
    store(from_matrix(pose.R), state.q.data() + 10);
    store(Vec3<double>{2, 1, -3}, state.v.data() + 6);
    store(cross(Vec3<double>{2, 1, -3}, pose.p), state.v.data() + 9);
    return state;
  };
  const auto end = [&](const Model& model, double step) {
    std::vector<double> q = run(model, start(model), Method::runge_kutta_4, step, 1).q;
    q.resize(7);
    return q;
  };
  const double h = 1e-2;
  const std::vector<double> of_one = end(one, h / 2), of_two = end(two, h / 2);
  EXPECT_LT(far(of_one, of_two),
            error_bound(end(one, h), of_one) + error_bound(end(two, h), of_two));
  State state = run(two, start(two), Method::runge_kutta_4, h, 1);
  FixedStep clock(two, {});
  const LoopGap gap = gap_at(clock.system(), state);
  EXPECT_LT(gap.distance, 1e-11);
  EXPECT_LT(gap.angle, 1e-11);
}

/// The hinge's three rows across the plane say nothing new; they are left out, and the
/// motion is that of the point.
TEST(Loops, RowsThatSayNothingNewAreLeftOut) {
  const FourBar bars;
  const Model point = built(bars.builder({.name = "knuckle", .kind = LoopKind::point}));
  const Model hinge = built(bars.builder({.name = "knuckle", .kind = LoopKind::hinge}));
  const Model weld_too = [&] {
    // The same loop twice: all rows depend on others.
    ModelBuilder b = bars.builder({.name = "knuckle", .kind = LoopKind::hinge});
    b.add_loop({.name = "again",
                .kind = LoopKind::hinge,
                .body_a = "rocker",
                .pose_a = {validation::about_z(0.3), {bars.rocker, 0, 0}},
                .body_b = "coupler",
                .pose_b = {.p = {bars.coupler, 0, 0}}});
    return built(b);
  }();
  std::vector<double> ends[3];
  int i = 0;
  for (const Model* model : {&point, &hinge, &weld_too}) {
    State state = make_state(*model);
    state.q = bars.closed(1);
    state.v = {3, 0, 0};
    FixedStep clock(*model, {.method = Method::runge_kutta_4, .step = 1e-3});
    EXPECT_EQ(evaluate(clock, state).loops.rank, 2u);
    ends[i++] = run(*model, state, Method::runge_kutta_4, 1e-3, 1).q;
  }
  State coarse = make_state(point);
  coarse.q = bars.closed(1);
  coarse.v = {3, 0, 0};
  const std::vector<double> ends_coarse =
      run(point, coarse, Method::runge_kutta_4, 2e-3, 1).q;
  // Rounding only, grown over 1000 steps and a second of motion.
  EXPECT_LT(far(ends[0], ends[1]), 1e-10);
  // Which of two equal rows is taken matters within a step, where loops are open by the
  // method's error.
  EXPECT_LT(far(ends[0], ends[2]), error_bound(ends_coarse, ends[0]));
}

/// A mass at a distance, on a circle: tan α = ω² r/g, tension m g/cos α.
TEST(Loops, ADistanceIsASphericalPendulum) {
  const double length = 1.5, alpha = 0.6, mass = 0.7;
  ModelBuilder b;
  b.add_body({.name = "bob", .mass = mass, .inertia = ball_inertia(mass, 0.1)});
  b.add_joint({.name = "flight", .child = "bob", .type = JointType::free});
  b.add_loop({.name = "rod",
              .kind = LoopKind::distance,
              .pose_a = {.p = {0, 0, 2}},
              .body_b = "bob",
              .length = length});
  const Model model = built(b);
  const double radius = length * std::sin(alpha);
  const double omega = std::sqrt(9.81 / (length * std::cos(alpha)));
  const auto end = [&](double step) {
    State state = make_state(model);
    store(Vec3<double>{radius, 0, 2 - length * std::cos(alpha)}, state.q.data());
    state.v[4] = omega * radius;
    FixedStep clock(model, {});
    const Force<double> f = evaluate(clock, state).loop_force(0);
    EXPECT_NEAR(norm(f.force), mass * 9.81 / std::cos(alpha), 1e-12);
    state = run(model, state, Method::runge_kutta_4, step, 2);
    const double x = state.q[0] - radius * std::cos(2 * omega);
    const double y = state.q[1] - radius * std::sin(2 * omega);
    const double z = state.q[2] - (2 - length * std::cos(alpha));
    return std::sqrt(x * x + y * y + z * z);
  };
  // (ω h)⁴/120 per radian of 5.6, times the radius and a few.
  const double coarse = end(2e-2), fine = end(1e-2);
  EXPECT_LT(fine, std::pow(omega * 1e-2, 4) / 120 * 5.6 * radius * 5);
  EXPECT_GT(std::log2(coarse / fine), 3.9);
}

/// A stiff rod between two free masses stretches by its tension: ω² m r/k.
TEST(Loops, ADistanceSpringStretchesByItsTension) {
  const double k = 1e5, length = 1, omega = 3;
  ModelBuilder b;
  b.gravity({0, 0, 0});
  for (const char* name : {"one", "two"}) {
    b.add_body({.name = name, .mass = 2, .inertia = ball_inertia(2, 0.1)});
    b.add_joint(
        {.name = std::string(name) + " moves", .child = name, .type = JointType::free});
  }
  b.add_loop({.name = "rod",
              .kind = LoopKind::distance,
              .body_a = "one",
              .body_b = "two",
              .length = length,
              .stiffness = k,
              .damping = 100});
  const Model model = built(b);
  // Length l where k (l − l₀) = m ω² l/2.
  const double stretched = length / (1 - 2 * omega * omega / (2 * k));
  State state = make_state(model);
  put(model, state, "one", {-stretched / 2, 0, 0}, {0, -omega * stretched / 2, 0});
  put(model, state, "two", {stretched / 2, 0, 0}, {0, omega * stretched / 2, 0});
  FixedStep clock(model, {.method = Method::runge_kutta_4, .step = 2.5e-4});
  for (int i = 0; i < 4000; ++i) {
    ASSERT_EQ(clock.step(state), StepStatus::ok);
    const double apart = norm(load_vec3(state.q.data()) - load_vec3(state.q.data() + 7));
    ASSERT_NEAR(apart, stretched, 1e-9);
  }
  // It turns without stretching; within a step its stages stretch it at ω³ l h².
  EXPECT_LT(state.works.loops, 100 * std::pow(std::pow(omega, 3) * 2.5e-4 * 2.5e-4, 2));
}

TEST(Loops, TheLedgerBalancesWithSpringsAndDampers) {
  const FourBar bars;
  for (const LoopKind kind : {LoopKind::point, LoopKind::hinge, LoopKind::weld}) {
    LoopSpec loop{.name = "knuckle", .kind = kind, .stiffness = 2e4, .damping = 30};
    if (kind != LoopKind::point) {
      loop.rotational_stiffness = kind == LoopKind::weld ? 5 : 50;
      loop.rotational_damping = 0.4;
    }
    ModelBuilder builder = bars.builder(loop, 0.05);
    builder.add_load(
        {.name = "wind", .body = "rocker", .force = {3, 0, 0}, .point = {0.4, 0, 0}});
    const Model model = built(builder);
    for (const Method method : methods) {
      State state = make_state(model);
      state.q = bars.closed(1);
      state.v[0] = 3;
      const bool high =
          method == Method::bogacki_shampine || method == Method::runge_kutta_4;
      const auto residual = [&](double step) {
        State copy = state;
        const RunSummary summary = simulate(
            model, copy, {.clock = {.method = method, .step = step}, .duration = 0.2});
        EXPECT_EQ(summary.status, StepStatus::ok);
        EXPECT_GT(copy.works.loops, 1e-3);
        EXPECT_EQ(copy.works.projection, 0);
        return summary.audit.relative();
      };
      if (high) {
        EXPECT_LT(residual(2e-5), method == Method::runge_kutta_4 ? 1e-10 : 1e-7)
            << name_of(method);
      } else {
        // First order: halved with the step.
        const double coarse = residual(2e-5), fine = residual(1e-5);
        EXPECT_NEAR(coarse / fine, 2, 0.3) << name_of(method) << " " << coarse;
      }
    }
  }
}

/// In space, with everything turning: frames that are far from closed, power by formula
/// against the energy lost.
TEST(Loops, TheLedgerOfAWideOpenWeldBalance) {
  for (const LoopKind kind :
       {LoopKind::point, LoopKind::hinge, LoopKind::weld, LoopKind::distance}) {
    ModelBuilder b;
    add_free(b, "one", 2, Sym3<double>::diagonal(0.03, 0.05, 0.04), Sphere{0.1});
    add_free(b, "two", 1, Sym3<double>::diagonal(0.02, 0.01, 0.02), Sphere{0.1});
    const bool turns = kind == LoopKind::hinge || kind == LoopKind::weld;
    LoopSpec loop{.name = "rope",
                  .kind = kind,
                  .body_a = "one",
                  .pose_a = {validation::about_y(0.4), {0.3, 0.1, 0}},
                  .body_b = "two",
                  .pose_b = {validation::about_x(0.7), {0, 0.2, 0.1}},
                  .stiffness = 300,
                  .damping = 2};
    if (turns) {
      loop.rotational_stiffness = 4;
      loop.rotational_damping = 0.05;
    }
    b.add_loop(loop);
    const Model model = built(b);
    State state = make_state(model);
    put(model, state, "one", {0, 0, 0}, {1, 0, 0}, {2, 1, -3});
    put(model, state, "two", {0.4, 0.5, 0.2}, {0, -1, 1}, {-1, 3, 1});
    const RunSummary summary = simulate(
        model, state,
        {.clock = {.method = Method::runge_kutta_4, .step = 2e-4}, .duration = 1});
    ASSERT_EQ(summary.status, StepStatus::ok);
    EXPECT_LT(summary.audit.relative(), 1e-10) << static_cast<int>(kind);
    EXPECT_GT(state.works.loops, 0.1);
    // Nothing from outside: momentum and angular momentum are kept, gravity apart.
    const Vec3<double> momentum =
        2.0 * load_vec3(state.v.data() + 3) + 1.0 * load_vec3(state.v.data() + 9);
    EXPECT_NEAR(momentum.x, 2, 1e-11);
    EXPECT_NEAR(momentum.y, -1, 1e-11);
    EXPECT_NEAR(momentum.z, 1 - 3 * 9.81, 1e-9);
  }
}

/// What the motor of a driven four-bar did, with a rigid loop and with a stiff one.
TEST(Loops, TheLedgerOfADriveBalance) {
  const FourBar bars;
  for (const bool rigid : {true, false}) {
    LoopSpec loop{.name = "knuckle", .kind = LoopKind::point};
    if (!rigid) {
      loop.stiffness = 1e5;
      loop.damping = 100;
    }
    ModelBuilder builder = bars.builder(loop, 0.3);
    builder.add_motor(
        {.name = "drive",
         .joint = "axle",
         .kind = MotorKind::prescribed,
         .target = {.offset = 1, .slope = 2, .amplitude = 0.3, .frequency = 5}});
    const Model model = built(builder);
    for (const Method method : methods) {
      const auto residual = [&](double step) {
        State state = make_state(model);
        state.q = bars.closed(1);
        if (!rigid) {
          state.v = {2 + 1.5, 0, bars.rocker_rate(1, 3.5)};
          const double h = 1e-6;
          state.v[1] = 3.5 * (bars.closed(1 + h)[1] - bars.closed(1 - h)[1]) / (2 * h);
        }
        const RunSummary summary = simulate(
            model, state, {.clock = {.method = method, .step = step}, .duration = 0.5});
        EXPECT_EQ(summary.status, StepStatus::ok);
        // First order at worst: h times the rates of the motion, below 50 1/s.
        EXPECT_LT(std::fabs(state.works.projection), 50 * step * summary.audit.scale());
        return summary.audit.relative();
      };
      const double coarse = residual(2e-4), fine = residual(1e-4);
      if (method == Method::runge_kutta_4) {
        EXPECT_LT(fine, 1e-10);
      } else {
        const int order = method == Method::bogacki_shampine ? 3 : 1;
        EXPECT_GT(std::log2(coarse / fine), order - 0.3)
            << name_of(method) << " " << rigid << " " << coarse << " " << fine;
      }
    }
  }
}

TEST(Loops, NothingDriftsOverAHundredSeconds) {
  const FourBar bars;
  const Model model = built(bars.builder({.name = "knuckle", .kind = LoopKind::hinge}));
  for (const Method method : {Method::semi_implicit_euler, Method::runge_kutta_4}) {
    State state = make_state(model);
    state.q = bars.closed(1);
    state.v = {8, 0, 0};  // turns through, and goes on
    FixedStep clock(model, {.method = method, .step = 4e-3});
    Audit audit;
    double open = 0, moving = 0;
    for (int i = 0; i < 25000; ++i) {
      ASSERT_EQ(clock.step(state), StepStatus::ok);
      if (i % 100 != 0) continue;
      open = std::max(open, gap_at(clock.system(), state).distance);
      loop_rates(clock.system().tree, clock.system().loops);
      for (const double u : clock.system().loops.error) {
        moving = std::max(moving, std::fabs(u));
      }
      ASSERT_EQ(clock.settle(state), StepStatus::ok);
      audit.observe(make_ledger(clock.system(), state));
    }
    EXPECT_LT(open, 1e-10);
    EXPECT_LT(moving, 1e-9);
    if (method == Method::runge_kutta_4) {
      // (ω h)⁵/120 per step, at up to 20 rad/s, 25000 times.
      const double bound = 25000 * std::pow(20 * 4e-3, 5) / 120;
      EXPECT_LT(audit.relative(), bound);
      EXPECT_LT(std::fabs(state.works.projection), bound * audit.scale());
    }
  }
}

/// Four bars that float: whatever loops do is inside, and momentum is kept.
TEST(Loops, AFloatingFourBarKeepsItsMomentum) {
  const FourBar bars;
  ModelBuilder b;
  b.gravity({0, 0, 0});
  b.add_body({.name = "ground",
              .mass = 3,
              .com = {0.5, 0, 0},
              .inertia = Sym3<double>::diagonal(0.1, 0.3, 0.3)});
  b.add_joint({.name = "flight", .child = "ground", .type = JointType::free});
  b.add_body(bar("crank", 1, bars.crank));
  b.add_joint({.name = "axle",
               .parent = "ground",
               .child = "crank",
               .type = JointType::revolute});
  b.add_body(bar("coupler", 2, bars.coupler));
  b.add_joint({.name = "pin",
               .parent = "crank",
               .child = "coupler",
               .type = JointType::revolute,
               .on_parent = {.p = {bars.crank, 0, 0}}});
  b.add_body(bar("rocker", 1.5, bars.rocker));
  b.add_joint({.name = "post",
               .parent = "ground",
               .child = "rocker",
               .type = JointType::revolute,
               .on_parent = {.p = {bars.ground, 0, 0}}});
  b.add_loop({.name = "knuckle",
              .kind = LoopKind::hinge,
              .body_a = "coupler",
              .pose_a = {.p = {bars.coupler, 0, 0}},
              .body_b = "rocker",
              .pose_b = {.p = {bars.rocker, 0, 0}}});
  const Model model = built(b);
  State state = make_state(model);
  const std::vector<double> angles = bars.closed(1);
  std::copy(angles.begin(), angles.end(), state.q.begin() + 7);
  store(Vec3<double>{1, -2, 0.5}, state.v.data());
  store(Vec3<double>{0.3, 0, 1}, state.v.data() + 3);
  state.v[6] = 4;
  FixedStep clock(model, {.method = Method::runge_kutta_4, .step = 1e-3});
  // Momentum, and the moment of momentum about the world's origin.
  const auto momentum = [&] {
    Workspace<double>& ws = clock.system().tree;
    kinematics<double>(model.tree, state.q, state.v, ws);
    Force<double> sum = Force<double>::zero();
    for (int i = 1; i < model.tree.link_count(); ++i) {
      const auto k = static_cast<std::size_t>(i);
      const Inertia<double> inertia =
          rotated(ws.poses[k].R, model.tree.constants()[k].inertia);
      sum = sum + shifted_back(inertia * ws.velocities[k], ws.poses[k].p);
    }
    return sum;
  };
  EXPECT_EQ(evaluate(clock, state).loops.rank, 2u);
  const Force<double> before = momentum();
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(clock.step(state), StepStatus::ok);
  const Force<double> after = momentum();
  // About 8 kg m/s and 8 kg m²/s; (ω h)⁵/120 per step at 6 rad/s is 1e-13, 1000 times.
  EXPECT_LT(norm(after.force - before.force), 1e-9);
  EXPECT_LT(norm(after.torque - before.torque), 1e-9);
  EXPECT_LT(gap_at(clock.system(), state).distance, 1e-11);
}

/// A millionth of a radian, a micrometre: still a planar linkage.
TEST(Loops, FramesTypedWithFewDigitsDoNotJam) {
  const FourBar bars;
  const Model exact = built(bars.builder({.name = "knuckle", .kind = LoopKind::hinge}));
  ModelBuilder builder = bars.builder({.name = "knuckle", .kind = LoopKind::point});
  builder.add_loop({.name = "askew",
                    .kind = LoopKind::hinge,
                    .body_a = "rocker",
                    .pose_a = {validation::about_x(1e-6), {bars.rocker, 0, 1e-6}},
                    .body_b = "coupler",
                    .pose_b = {.p = {bars.coupler, 0, 0}}});
  const Model typed = built(builder);
  std::vector<double> ends[2];
  int i = 0;
  for (const Model* model : {&exact, &typed}) {
    State state = make_state(*model);
    state.q = bars.closed(1);
    FixedStep clock(*model, {.method = Method::runge_kutta_4, .step = 1e-3});
    for (int k = 0; k < 500; ++k) {
      ASSERT_EQ(clock.step(state), StepStatus::ok);
      if (k % 50 != 0) continue;
      State again = state;
      ASSERT_EQ(clock.settle(again), StepStatus::ok);
      EXPECT_EQ(again.q, state.q);
      EXPECT_EQ(again.v, state.v);
    }
    ends[i++] = state.q;
  }
  // In half a second nothing grows by more than ten.
  EXPECT_LT(far(ends[0], ends[1]), 1e-5);
}

/// A four-bar leg on a carriage that slides up and down.
Model leg() {
  ModelBuilder b;
  b.add_shape({.name = "ground", .shape = Plane{}});
  b.add_body({.name = "carriage", .mass = 4, .inertia = ball_inertia(4, 0.1)});
  b.add_joint({.name = "rail", .child = "carriage", .type = JointType::prismatic});
  const Mat3<double> down = validation::about_y(pi / 2);  // x points down
  const auto rod = [&](const char* name, double length) {
    return BodySpec{.name = name,
                    .mass = 1,
                    .com = {length / 2, 0, 0},
                    .inertia = Sym3<double>::diagonal(1e-4, 0.01, 0.01)};
  };
  b.add_body(rod("front", 0.4));
  b.add_joint({.name = "hip",
               .parent = "carriage",
               .child = "front",
               .type = JointType::revolute,
               .on_parent = {down, {0.1, 0, 0}},
               .axis = {0, 1, 0},
               .damping = 2,
               .stiffness = 200,
               .rest = 0.3});
  b.add_body(rod("back", 0.4));
  b.add_joint({.name = "tail",
               .parent = "carriage",
               .child = "back",
               .type = JointType::revolute,
               .on_parent = {down, {-0.1, 0, 0}},
               .axis = {0, 1, 0}});
  b.add_body(rod("shin", 0.5));
  b.add_joint({.name = "knee",
               .parent = "front",
               .child = "shin",
               .type = JointType::revolute,
               .on_parent = {.p = {0.4, 0, 0}},
               .axis = {0, 1, 0}});
  // The back bar holds the shin 0.2 m from the knee: a parallelogram.
  b.add_loop({.name = "ankle",
              .kind = LoopKind::hinge,
              .body_a = "back",
              .pose_a = {validation::about_x(-pi / 2), {0.4, 0, 0}},
              .body_b = "shin",
              .pose_b = {validation::about_x(-pi / 2), {-0.2, 0, 0}}});
  b.add_shape({.name = "foot",
               .body = "shin",
               .shape = Sphere{0.05},
               .pose = {.p = {0.3, 0, 0}}});
  b.add_contact({.normal = choose<HuntCrossley>(
                     {.stiffness = 1e6, .exponent = 1.5, .dissipation = 0.5}),
                 .friction = choose<Frictionless>()});
  return built(b);
}

State lifted(const Model& model) {
  State state = make_state(model);
  state.q = {0.55, 0.3, 0.3, -0.3 - pi / 2};
  return state;
}

/// It lands, and at rest the ground carries the whole weight.
TEST(Loops, AFourBarLegLandsOnItsFoot) {
  const double weight = (4 + 1 + 1 + 1) * 9.81;
  const Model model = leg();
  for (const Method method : methods) {
    State state = lifted(model);
    FixedStep clock(model, {.method = method, .step = 1e-3, .substeps = 2});
    for (int i = 0; i < 6000; ++i) {
      ASSERT_EQ(clock.step(state), StepStatus::ok) << name_of(method) << i;
    }
    EXPECT_GT(state.episodes, 0u);
    ASSERT_EQ(clock.settle(state), StepStatus::ok);
    EXPECT_LT(gap_at(clock.system(), state).distance, 1e-10);
    for (const double v : state.v) EXPECT_LT(std::fabs(v), 1e-5) << name_of(method);
    const auto& episodes = state.contacts.episode;
    const auto row = static_cast<std::size_t>(
        std::find_if(episodes.begin(), episodes.end(), [](auto e) { return e != 0; }) -
        episodes.begin());
    ASSERT_LT(row, episodes.size());
    EXPECT_NEAR(1e6 * std::pow(state.contacts.depth[row], 1.5), weight, 1e-3 * weight)
        << name_of(method);
  }
}

TEST(Loops, TheLedgerOfALandingCloseBetterWithShorterSteps) {
  const Model model = leg();
  for (const Method method : methods) {
    const auto residual = [&](double step) {
      State state = lifted(model);
      const RunSummary summary = simulate(
          model, state, {.clock = {.method = method, .step = step}, .duration = 0.3});
      EXPECT_EQ(summary.status, StepStatus::ok);
      EXPECT_GT(state.episodes, 0u);
      return summary.audit.relative();
    };
    EXPECT_LT(residual(2e-5), 0.3 * residual(2e-4)) << name_of(method);
  }
}

/// Springs that would need steps of 4 µs, in steps of 1 ms.
TEST(Loops, TheAdaptiveClockKeepsThemClosed) {
  const FourBar bars;
  const Model rigid = built(bars.builder({.name = "knuckle", .kind = LoopKind::hinge}));
  const Model springs = built(bars.builder({.name = "knuckle",
                                            .kind = LoopKind::hinge,
                                            .stiffness = 1e7,
                                            .damping = 1e3,
                                            .rotational_stiffness = 1e6,
                                            .rotational_damping = 1e2}));
  for (const Model* model : {&rigid, &springs}) {
    const auto end = [&](double rtol) {
      State state = make_state(*model);
      state.q = bars.closed(1);
      state.v = {3, 0, 0};
      Adaptive clock(*model, {.rtol = rtol});
      Audit audit;
      double open = 0;
      const StepStatus status = clock.advance_to(
          state, 2, {.on_event = {}, .on_sample = {}, .on_step = [&](const State& now) {
                       audit.observe(make_ledger(clock.system(), now));
                       open = std::max(open, loop_gap(clock.system()).distance);
                       return true;
                     }});
      EXPECT_EQ(status, StepStatus::ok) << explain(status);
      EXPECT_LT(audit.relative(), rtol);
      if (model == &rigid) {
        EXPECT_LT(open, 1e-10);
      }
      return state;
    };
    const State exact = end(1e-11), usual = end(1e-6);
    EXPECT_LT(far(usual.q, exact.q), 1e-6);
  }
}

TEST(Loops, ALegLandsUnderTheAdaptiveClock) {
  const Model model = leg();
  State state = lifted(model);
  Adaptive clock(model);
  Audit audit;
  const StepStatus status = clock.advance_to(
      state, 3, {.on_event = {}, .on_sample = {}, .on_step = [&](const State& now) {
                   audit.observe(make_ledger(clock.system(), now));
                   return clock.counts().steps < 100000;
                 }});
  ASSERT_EQ(status, StepStatus::ok) << explain(status);
  EXPECT_EQ(state.time, 3);
  EXPECT_GT(clock.counts().touches, 0u);
  EXPECT_LT(audit.relative(), 1e-6);
}

TEST(Loops, TheImplicitStepHoldsStiffSprings) {
  const FourBar bars;
  const Model stiff = built(bars.builder({.name = "knuckle",
                                          .kind = LoopKind::hinge,
                                          .stiffness = 1e10,
                                          .damping = 1e4,
                                          .rotational_stiffness = 1e9,
                                          .rotational_damping = 1e3}));
  const Model rigid = built(bars.builder({.name = "knuckle", .kind = LoopKind::hinge}));
  FixedStep first(rigid, {});
  State start = make_state(rigid);
  start.q = bars.closed(1);
  start.v[0] = 2;
  ASSERT_EQ(first.settle(start), StepStatus::ok);  // velocities that fit
  const auto end = [&](const Model& model, double step) {
    State state = make_state(model);
    state.q = start.q;
    state.v = start.v;
    return run(model, state, Method::linearly_implicit_euler, step, 0.5).q;
  };
  const std::vector<double> soft = end(stiff, 1e-3), hard = end(rigid, 1e-3);
  // First order: what half the step changes is half the error.
  EXPECT_LT(far(soft, hard),
            error_bound(soft, end(stiff, 5e-4)) + error_bound(hard, end(rigid, 5e-4)));
}

TEST(Loops, ASuggestedStepKnowsTheirSprings) {
  const double k = 1e6;
  ModelBuilder b;
  add_free(b, "one", 2, ball_inertia(2, 0.1), Sphere{0.1});
  add_free(b, "two", 3, ball_inertia(3, 0.1), Sphere{0.1});
  b.add_loop({.name = "bungee",
              .body_a = "one",
              .body_b = "two",
              .stiffness = k,
              .damping = 10});
  const Model model = built(b);
  State state = make_state(model);
  FixedStep clock(model, {});
  ASSERT_EQ(clock.settle(state), StepStatus::ok);
  const TimeScales scales = time_scales(clock.system(), state);
  const double reduced = 2.0 * 3 / (2 + 3);
  EXPECT_NEAR(scales.frequency, std::sqrt(k / reduced), 1e-3 * std::sqrt(k / reduced));
  EXPECT_NEAR(scales.decay, 10 / reduced, 1e-3 * 10 / reduced);
  const std::string warning = step_warning(
      clock.system(), state, {.method = Method::semi_implicit_euler, .step = 5e-3});
  EXPECT_NE(warning.find("loop \"bungee\""), std::string::npos) << warning;
}

/// Rigid loops slow down what they hold: a spring between bodies one of which is welded
/// to a third.
TEST(Loops, ASuggestedStepKnowsWhatRigidLoopsHold) {
  const double k = 1e6;
  ModelBuilder b;
  for (const char* name : {"one", "two", "three"}) {
    add_free(b, name, 2, ball_inertia(2, 0.1), Sphere{0.1});
  }
  b.add_loop({.name = "spring", .body_a = "one", .body_b = "two", .stiffness = k});
  b.add_loop(
      {.name = "glue", .kind = LoopKind::weld, .body_a = "two", .body_b = "three"});
  const Model model = built(b);
  State state = make_state(model);
  FixedStep clock(model, {});
  ASSERT_EQ(clock.settle(state), StepStatus::ok);
  const double exact = std::sqrt(k * (1.0 / 2 + 1.0 / 4));
  EXPECT_NEAR(time_scales(clock.system(), state).frequency, exact, 1e-3 * exact);
}

TEST(Loops, CheckpointsThreadsAndAllocations) {
  const FourBar bars;
  ModelBuilder builder = bars.builder({.name = "knuckle", .kind = LoopKind::hinge}, 0.1);
  builder.add_loop({.name = "spring",
                    .kind = LoopKind::distance,
                    .body_b = "coupler",
                    .length = 0.5,
                    .stiffness = 50,
                    .damping = 1});
  const Model model = built(builder);
  for (const Method method : methods) {
    State state = make_state(model);
    state.q = bars.closed(1);
    state.v[0] = 4;
    FixedStep clock(model, {.method = method, .step = 1e-3});
    FixedStep team(model, {.method = method, .step = 1e-3, .threads = 2});
    ASSERT_EQ(clock.step(state), StepStatus::ok);
    State copy = state;
    const contract::AllocationCount count;
    for (int i = 0; i < 300; ++i) ASSERT_EQ(clock.step(state), StepStatus::ok);
    EXPECT_EQ(count.since(), 0);
    for (int i = 0; i < 300; ++i) {
      if (i % 10 == 0) {
        ASSERT_EQ(team.settle(copy), StepStatus::ok);
      }
      if (i % 20 == 0) make_ledger(team.system(), copy);
      if (i % 50 == 0) time_scales(team.system(), copy);
      ASSERT_EQ(team.step(copy), StepStatus::ok);
    }
    EXPECT_EQ(state.q, copy.q);
    EXPECT_EQ(state.v, copy.v);
    EXPECT_EQ(to_fields<double>(state.works), to_fields<double>(copy.works));
  }
}

}  // namespace
}  // namespace bristle
