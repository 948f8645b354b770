#include <gtest/gtest.h>

#include "bristle/run.hpp"
#include "tests/validation/scenes.hpp"

// Rolling and sliding under friction, against closed forms and an independent solution.

namespace bristle::validation {
namespace {

constexpr double g = 9.81;

class BallOnIncline : public ::testing::TestWithParam<Method> {};

/// Gonthier et al. 2004, § 4.1: a ball dropped on a plane of 20°, thrown across and up.
/// Once it rolls, it accelerates by 5/7 g sin 20°, and across it keeps 5/7 of 0.5 m/s.
TEST_P(BallOnIncline, RollsAsARigidBallAtOneKilohertz) {
  const double slope = 20 * pi / 180, radius = 0.1, mass = 2;
  const Mat3<double> axes = about_y(slope);
  ModelBuilder builder;
  builder.add_shape({.name = "plane", .shape = Plane{}, .pose = {.R = axes}});
  add_free(builder, "ball", mass, ball_inertia(mass, radius), Sphere{radius});
  builder.add_contact({.normal = choose<GonthierNormal>({.stiffness = 1e6,
                                                         .exponent = 1.5,
                                                         .restitution = 0.5,
                                                         .impact_speed_floor = 1e-3}),
                       .friction = choose<GonthierFriction>({.mu_static = 0.45,
                                                             .mu_coulomb = 0.4,
                                                             .stiffness = 1e5,
                                                             .damping = 1e4,
                                                             .viscous = 0,
                                                             .stribeck_speed = 0.1,
                                                             .dwell_time = 0.01,
                                                             .bound = 1})});
  const Model model = built(builder);
  // The height that it falls from is not given, and plays no part.
  for (const double height : {0.01, 0.05, 0.2}) {
    State state = make_state(model);
    put(model, state, "ball", (radius + height) * axes.z, {-1, 0.5, 0});
    FixedStep clock(model, {.method = GetParam(), .step = 1e-3, .substeps = 10});
    double early = 0;
    for (int k = 0; k < 3000; ++k) {
      ASSERT_EQ(clock.step(state), StepStatus::ok);
      if (k == 1999) early = dot(axes.x, load_vec3(state.v.data() + 3));
    }
    const Vec3<double> v = load_vec3(state.v.data() + 3);
    const double wanted = 5.0 / 7 * g * std::sin(slope);
    EXPECT_NEAR(dot(axes.x, v) - early, wanted, 1e-4 * wanted) << height;
    EXPECT_NEAR(v.y, 5.0 / 14, 1e-6) << height;
  }
}

INSTANTIATE_TEST_SUITE_P(Methods, BallOnIncline,
                         ::testing::Values(Method::semi_implicit_euler,
                                           Method::bogacki_shampine,
                                           Method::runge_kutta_4,
                                           Method::linearly_implicit_euler));

/// SimBenchmark's rolling test: 25 balls of 1 kg on a box of 10 kg on the ground, pushed
/// by 150 N; μ = 0.4 under the box, 0.8 under the balls. The balls roll on the box:
///   (F − μ (M + n m) g − n m a) = M A  with  a = 2/7 A
/// → A = (F − μ (M + n m) g)/(M + 2/7 n m) = 0.7385, a = 0.2110 m/s², in any direction.
TEST(Rolling, BallsOnAPushedBoxAlongTheAxisAndObliquely) {
  for (const double angle : {0.0, pi / 4, 1.0}) {
    ModelBuilder builder;
    builder.add_shape({.name = "ground", .shape = Plane{}});
    const Vec3<double> half{10, 10, 0.5};
    const double radius = 0.5;
    add_free(builder, "box", 10, box_inertia(10, half), Box{half});
    for (int i = 0; i < 25; ++i) {
      add_free(builder, numbered("ball", i), 1, ball_inertia(1, radius), Sphere{radius},
               "balls");
    }
    const auto friction = [](double mu) {
      return choose<GonthierFriction>({.mu_static = mu,
                                       .mu_coulomb = mu,
                                       .stiffness = 1e4,
                                       .damping = 100,
                                       .viscous = 0,
                                       .stribeck_speed = 0.01,
                                       .dwell_time = 0.1,
                                       .bound = 1});
    };
    const LawChoice normal =
        choose<HuntCrossley>({.stiffness = 1e6, .exponent = 1.5, .dissipation = 0.5});
    builder.add_contact(
        {.a = "ground", .b = "box", .normal = normal, .friction = friction(0.4)});
    builder.add_contact(
        {.a = "box", .b = "balls", .normal = normal, .friction = friction(0.8)});
    const Vec3<double> along{std::cos(angle), std::sin(angle), 0};
    builder.add_load({.name = "push", .body = "box", .force = 150.0 * along});
    const Model model = built(builder);
    State state = make_state(model);
    // As deep as the weights press: (f/k)^(2/3) under each corner and each ball.
    const double sunk = std::pow(35 * g / 4 / 1e6, 2.0 / 3);
    const double ball_sunk = std::pow(g / 1e6, 2.0 / 3);
    put(model, state, "box", {0, 0, 0.5 - sunk});
    for (int i = 0; i < 25; ++i) {
      put(model, state, numbered("ball", i),
          {(i % 5 - 2) * 2.0, (i / 5 - 2) * 2.0, 1.5 - sunk - ball_sunk});
    }
    const SimulateOptions options{
        .clock = {.method = Method::runge_kutta_4, .step = 1e-3, .substeps = 3},
        .duration = 4};
    const RunSummary summary = simulate(model, state, options);
    ASSERT_EQ(summary.status, StepStatus::ok);
    EXPECT_TRUE(summary.warnings.empty()) << summary.warnings[0];
    // Mean accelerations from rest.
    const auto speed = [&](const std::string& body) {
      return dot(along, load_vec3(state.v.data() + place_of(model, body).v + 3));
    };
    EXPECT_NEAR(speed("box") / 4, 0.7385, 0.005 * 0.7385) << angle;
    for (int i = 0; i < 25; ++i) {
      EXPECT_NEAR(speed(numbered("ball", i)) / 4, 0.2110, 0.005 * 0.2110)
          << angle << " ball " << i;
    }
    const Vec3<double> box = load_vec3(state.q.data() + place_of(model, "box").q);
    EXPECT_NEAR(dot(cross(along, box), {0, 0, 1}), 0, 1e-6) << "goes aside";
    EXPECT_LT(summary.audit.relative(), 1e-6);
  }
}

/// Azad & Featherstone's clutch with a slip that turns: a body that does not rotate,
/// flung along y over a plate that swings along x. The reference is the pair of laws
/// written out by hand (2010, eqs. 9, 27, 30, 31), in small steps.
TEST(Clutch, SlipThatTurnsFollowsATightReference) {
  const double mass = 1, k = 1e6, lambda = 2e3, mu = 0.3, mu_v = 0;
  const double stiffness = 1.5 * k, amplitude = 0.05, frequency = 12;
  const double rest = std::pow(mass * g / k, 2.0 / 3);

  struct Moving {
    double x, y, z, vx, vy, vz, ux, uy;
  };
  const auto rates = [&](const Moving& s, double t) {
    const double depth = -s.z;
    const double root = depth > 0 ? std::sqrt(depth) : 0;
    const double normal = std::max(0.0, root * (k * depth - lambda * s.vz));
    const double slip_x = s.vx - amplitude * frequency * std::cos(frequency * t);
    const double slip_y = s.vy;
    double fx = -root * (stiffness * s.ux + lambda * slip_x);
    double fy = -root * (stiffness * s.uy + lambda * slip_y);
    const double held = std::hypot(fx, fy);
    const double gap = held - mu * normal;
    double clutch_x = 0, clutch_y = 0;
    if (gap > 0) {
      const double speed = gap / (lambda * root + mu_v);
      clutch_x = -speed * fx / held;
      clutch_y = -speed * fy / held;
      fx += lambda * root * clutch_x;
      fy += lambda * root * clutch_y;
    }
    return Moving{s.vx,
                  s.vy,
                  s.vz,
                  fx / mass,
                  fy / mass,
                  normal / mass - g,
                  slip_x - clutch_x,
                  slip_y - clutch_y};
  };
  const auto moved = [](const Moving& s, const Moving& r, double h) {
    return Moving{s.x + h * r.x,   s.y + h * r.y,   s.z + h * r.z,   s.vx + h * r.vx,
                  s.vy + h * r.vy, s.vz + h * r.vz, s.ux + h * r.ux, s.uy + h * r.uy};
  };
  Moving s{0, 0, -rest, 0, 0.8, 0, 0, 0};
  const double fine = 1e-6;
  for (int i = 0; i < 500000; ++i) {
    const double t = i * fine;
    const Moving a = rates(s, t);
    const Moving b = rates(moved(s, a, fine / 2), t + fine / 2);
    const Moving c = rates(moved(s, b, fine / 2), t + fine / 2);
    const Moving d = rates(moved(s, c, fine), t + fine);
    s = moved(s, a, fine / 6);
    s = moved(s, b, fine / 3);
    s = moved(s, c, fine / 3);
    s = moved(s, d, fine / 6);
  }

  ModelBuilder builder;
  builder.add_body({.name = "plate", .mass = 1, .inertia = ball_inertia(1, 1)});
  builder.add_joint({.name = "swing",
                     .child = "plate",
                     .type = JointType::prismatic,
                     .axis = {1, 0, 0}});
  builder.add_shape({.name = "plate", .body = "plate", .shape = Plane{}});
  builder.add_motor({.name = "shaker",
                     .joint = "swing",
                     .kind = MotorKind::prescribed,
                     .target = {.amplitude = amplitude, .frequency = frequency}});
  add_free(builder, "slider", mass, Sym3<double>::diagonal(1e9, 1e9, 1e9), Sphere{0.1});
  builder.add_contact({.normal = choose<AzadFeatherstone>(
                           {.stiffness = k, .damping = lambda, .clamp = 1}),
                       .friction = choose<AzadFeatherstoneClutch>({.mu = mu,
                                                                   .stiffness = stiffness,
                                                                   .damping = lambda,
                                                                   .viscous = mu_v,
                                                                   .passive = 0})});
  const Model model = built(builder);
  const auto run = [&](int substeps) {
    State state = make_state(model);
    put(model, state, "slider", {0, 0, 0.1 - rest}, {0, 0.8, 0});
    FixedStep clock(model, {Method::runge_kutta_4, 1e-3, substeps, 1});
    for (int i = 0; i < 500; ++i) EXPECT_EQ(clock.step(state), StepStatus::ok);
    const std::size_t q = place_of(model, "slider").q;
    return std::hypot(state.q[q] - s.x, state.q[q + 1] - s.y);
  };
  // It went 0.1 m and turned: both directions count.
  EXPECT_GT(std::fabs(s.x), 0.01);
  EXPECT_GT(std::fabs(s.y), 0.05);
  EXPECT_LT(run(10), 1e-6);
  EXPECT_LT(run(40), 1e-7);
}

}  // namespace
}  // namespace bristle::validation
