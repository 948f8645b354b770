#include <gtest/gtest.h>

#include "bristle/run.hpp"
#include "tests/validation/scenes.hpp"

// What friction holds stays where it is, for as long as one likes to wait.

namespace bristle::validation {
namespace {

struct Case {
  std::string name;
  LawChoice friction;
};

/// The laws that stick, with μ_S = mu.
std::vector<Case> sticking_laws(double mu) {
  return {
      {"gonthier", choose<GonthierFriction>({.mu_static = mu,
                                             .mu_coulomb = 0.97 * mu,
                                             .stiffness = 1e5,
                                             .damping = 100,
                                             .viscous = 0,
                                             .stribeck_speed = 0.01,
                                             .dwell_time = 0.1,
                                             .bound = 1})},
      {"spring-slider",
       choose<SpringSlider>({.mu = mu, .stiffness = 1e5, .damping = 50})},
      {"clutch",
       choose<AzadFeatherstoneClutch>(
           {.mu = mu, .stiffness = 1.5e7, .damping = 1e4, .viscous = 0, .passive = 0})}};
}

/// A pen held between two fingertips that are pushed together.
Model pinched_pen(double force, const LawChoice& friction, const Shape& fingertip,
                  const LawChoice& normal) {
  const double radius = 0.004, mass = 0.045, half = 0.05;
  const double length = 2 * (half + radius);
  const double across = mass * (length * length + 3 * radius * radius) / 12;
  ModelBuilder builder;
  add_free(builder, "pen", mass,
           Sym3<double>::diagonal(across, across, 0.5 * mass * radius * radius),
           Capsule{radius, half});
  for (const int side : {-1, 1}) {
    const std::string name = side < 0 ? "left" : "right";
    builder.add_body(
        {.name = name, .mass = 0.1, .inertia = Sym3<double>::diagonal(1e-4, 1e-4, 1e-4)});
    builder.add_joint({.name = name + " slides",
                       .child = name,
                       .type = JointType::prismatic,
                       .on_parent = {.p = {side * (radius + 0.01), 0, 0}},
                       .axis = {static_cast<double>(-side), 0, 0},
                       .damping = 5});
    builder.add_shape({.name = name, .body = name, .shape = fingertip});
    builder.add_motor(
        {.name = name, .joint = name + " slides", .target = {.offset = force}});
  }
  builder.add_contact({.a = "pen", .b = "*", .normal = normal, .friction = friction});
  return built(builder);
}

/// How far a body goes per second in the second half of a run.
double drift(const Model& model, const std::string& body, State& state,
             const FixedStepOptions& options, double duration) {
  FixedStep clock(model, options);
  const auto steps = static_cast<int>(std::round(duration / options.step));
  Vec3<double> middle{};
  const std::size_t q = place_of(model, body).q;
  for (int k = 0; k < steps; ++k) {
    const StepStatus status = clock.step(state);
    EXPECT_EQ(status, StepStatus::ok) << explain(status);
    if (status != StepStatus::ok) return HUGE_VAL;
    if (k == steps / 2) middle = load_vec3(state.q.data() + q);
  }
  return norm(load_vec3(state.q.data() + q) - middle) / (duration / 2);
}

TEST(PinchHold, APenDoesNotCreepOutOfAGrip) {
  const LawChoice stiff = choose<GonthierNormal>({.stiffness = 1e8,
                                                  .exponent = 1.5,
                                                  .restitution = 0.3,
                                                  .impact_speed_floor = 1e-3});
  const LawChoice soft =
      choose<HuntCrossley>({.stiffness = 1e7, .exponent = 1.5, .dissipation = 1});
  for (const double force : {12.0, 25.0, 60.0}) {
    for (const Case& law : sticking_laws(0.7)) {
      for (const Shape& tip : {Shape(Sphere{0.01}), Shape(Box{{0.01, 0.01, 0.01}})}) {
        // The linearly implicit step holds even a stiff grip at 1 kHz.
        const Model model = pinched_pen(force, law.friction, tip, stiff);
        State state = make_state(model);
        EXPECT_LT(drift(model, "pen", state,
                        {.method = Method::linearly_implicit_euler, .step = 1e-3}, 100),
                  1e-9)
            << law.name << " " << force << " N " << name_of(kind_of(tip));
        EXPECT_LT(std::fabs(state.q[2]), 1e-3);  // and it did not fall first
      }
      // The explicit one a softer grip in substeps.
      const Model model = pinched_pen(force, law.friction, Sphere{0.01}, soft);
      State state = make_state(model);
      EXPECT_LT(drift(model, "pen", state, {.step = 1e-3, .substeps = 20}, 20), 1e-9)
          << law.name << " " << force << " N, explicit";
      EXPECT_LT(std::fabs(state.q[2]), 1e-3);
    }
  }
}

/// A block on a plane that may be shaken along its slope.
Model block_on_slope(double angle, const LawChoice& friction, double shaking,
                     double frequency) {
  ModelBuilder builder;
  const Mat3<double> axes = about_y(angle);
  builder.add_body({.name = "table", .mass = 10, .inertia = ball_inertia(10, 1)});
  builder.add_joint({.name = "shake",
                     .child = "table",
                     .type = JointType::prismatic,
                     .on_parent = {.R = axes},
                     .axis = {1, 0, 0}});
  builder.add_motor({.name = "shaker",
                     .joint = "shake",
                     .kind = MotorKind::prescribed,
                     .target = {.amplitude = shaking / (frequency * frequency),
                                .frequency = frequency}});
  builder.add_shape({.name = "table", .body = "table", .shape = Plane{}});
  const Vec3<double> half{0.1, 0.08, 0.05};
  add_free(builder, "block", 1, box_inertia(1, half), Box{half});
  builder.add_contact({.normal = choose<HuntCrossley>(
                           {.stiffness = 1e7, .exponent = 1.5, .dissipation = 1}),
                       .friction = friction});
  return built(builder);
}

void put_on_slope(const Model& model, State& state, double angle) {
  const Mat3<double> axes = about_y(angle);
  put(model, state, "block", 0.05 * axes.z);
  const std::size_t q = place_of(model, "block").q;
  state.q[q + 3] = std::cos(angle / 2);
  state.q[q + 5] = std::sin(angle / 2);
}

TEST(Block, RestsOnASlopeBelowTheFrictionAngle) {
  for (const double degrees : {10.0, 20.0, 25.0}) {  // tan 26.5° = 0.5
    for (const Case& law : sticking_laws(0.5)) {
      const double angle = degrees * pi / 180;
      const Model model = block_on_slope(angle, law.friction, 0, 1);
      for (const Method method : {Method::semi_implicit_euler, Method::runge_kutta_4,
                                  Method::linearly_implicit_euler}) {
        State state = make_state(model);
        put_on_slope(model, state, angle);
        EXPECT_LT(drift(model, "block", state,
                        {.method = method, .step = 1e-3, .substeps = 10}, 10),
                  1e-9)
            << law.name << " " << degrees << " " << name_of(method);
      }
    }
  }
}

/// Shaken below the limit, it comes back to the same place on the table in every period.
/// Not so with Gonthier's bristles: where they move, they also relax, by (v/v_S)² of the
/// way (2004, eqs. 15 and 16), so that the law itself creeps.
TEST(Block, StaysOnASlopeThatIsShakenBelowTheLimit) {
  const double angle = 10 * pi / 180, frequency = 2 * pi * 5;
  // Limit: |g sin 10° ± shaking| < 0.5 g cos 10°, thus shaking < 3.1 m/s²; 80 % of it.
  const double shaking = 0.8 * (0.5 * std::cos(angle) - std::sin(angle)) * 9.81;
  for (const Case& law : sticking_laws(0.5)) {
    if (law.name == "gonthier") continue;
    const Model model = block_on_slope(angle, law.friction, shaking, frequency);
    for (const Method method :
         {Method::semi_implicit_euler, Method::linearly_implicit_euler}) {
      State state = make_state(model);
      put_on_slope(model, state, angle);
      FixedStep clock(model, {.method = method, .step = 1e-3, .substeps = 10});
      const Mat3<double> axes = about_y(angle);
      const std::size_t q = place_of(model, "block").q;
      // One period is 200 steps.
      const auto on_table = [&] {
        return dot(axes.x, load_vec3(state.q.data() + q)) - state.q[0];
      };
      double first = 0;
      for (int k = 1; k <= 20000; ++k) {
        ASSERT_EQ(clock.step(state), StepStatus::ok);
        if (k == 10000) first = on_table();
      }
      EXPECT_LT(std::fabs(on_table() - first) / 10, 1e-9)
          << law.name << " " << name_of(method);
    }
  }
}

/// Beyond the limit it goes, as fast as Coulomb says.
TEST(Block, SlidesAboveTheFrictionAngle) {
  const double angle = 30 * pi / 180;
  const Model model = block_on_slope(
      angle, choose<SpringSlider>({.mu = 0.5, .stiffness = 1e5, .damping = 50}), 0, 1);
  State state = make_state(model);
  put_on_slope(model, state, angle);
  FixedStep clock(model, {.step = 1e-3, .substeps = 10});
  const std::size_t v = place_of(model, "block").v;
  double early = 0;
  for (int k = 0; k < 3000; ++k) {
    ASSERT_EQ(clock.step(state), StepStatus::ok);
    if (k == 999) early = norm(load_vec3(state.v.data() + v + 3));
  }
  const double wanted = 9.81 * (std::sin(angle) - 0.5 * std::cos(angle));
  EXPECT_NEAR((norm(load_vec3(state.v.data() + v + 3)) - early) / 2, wanted,
              1e-3 * wanted);
}

}  // namespace
}  // namespace bristle::validation
