#include "bristle/contact/patch.hpp"

#include <gtest/gtest.h>

#include <random>

#include "bristle/run.hpp"
#include "tests/validation/scenes.hpp"

// Contacts under volumetric laws: the couple of a patch, its slopes, and what becomes of
// bodies on it under every kind of stepper.

namespace bristle {
namespace {

using validation::add_free;
using validation::ball_inertia;
using validation::box_inertia;
using validation::built;
using validation::pi;
using validation::place_of;
using validation::put;

class Numbers {
 public:
  explicit Numbers(unsigned seed) : random_(seed) {}
  double operator()(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random_);
  }

 private:
  std::mt19937 random_;
};

/// ½ uᵀ G u
double form(const PatchSlopes& g, double along, Vec2<double> turning) {
  const double x = turning.x, y = turning.y;
  return 0.5 * (g.nn * along * along + g.t11 * x * x + g.t22 * y * y) + g.n1 * along * x +
         g.n2 * along * y + g.t12 * x * y;
}

TEST(Patch, AxesSplitWhatResistsIntoThreeRows) {
  Numbers number(1);
  for (int trial = 0; trial < 200; ++trial) {
    PatchSlopes g;
    for (int k = 0; k < 3; ++k) {
      const double a = number(0.1, 2), b = number(0.1, 2), c = number(-0.9, 0.9);
      const double all = number(0.5, 3);
      g.add(number(0.1, 10), all, {number(-1, 1), number(-1, 1)},
            {all * a, all * c * std::sqrt(a * b), all * b});
    }
    const PatchAxes axes(g);
    const double along = number(-1, 1);
    const Vec2<double> turning{number(-1, 1), number(-1, 1)};
    const double at_centre =
        along + turning.x * axes.centre.y - turning.y * axes.centre.x;
    const double first = dot(turning, axes.axis[0]), second = dot(turning, axes.axis[1]);
    const double split =
        0.5 * (axes.slope[0] * at_centre * at_centre + axes.slope[1] * first * first +
               axes.slope[2] * second * second);
    EXPECT_NEAR(split, form(g, along, turning), 1e-13 * axes.slope[0]) << trial;
    // The same motion seen from another place.
    const Vec2<double> place{number(-1, 1), number(-1, 1)};
    const double there = along + turning.x * place.y - turning.y * place.x;
    EXPECT_NEAR(form(g.about(place), there, turning), form(g, along, turning),
                1e-12 * axes.slope[0])
        << trial;
  }
}

/// A disc of an upright cylinder's overlap.
PatchRow disc(double radius, double depth) {
  PatchRow patch;
  patch.area = pi * radius * radius;
  patch.volume = patch.area * depth;
  patch.potential = 0.5 * patch.volume * depth;
  const double second = 0.25 * patch.area * radius * radius;
  patch.area_moments = {second, 0, second};
  patch.moments = {second * depth, 0, second * depth};
  return patch;
}

TEST(Patch, TheCoupleIsThatOfTheIntegratedPressure) {
  const double radius = 0.03, depth = 2e-4, k = 1e9, a = 0.4;
  PatchRow patch = disc(radius, depth);
  patch.approach = 0.1;
  patch.turning = {4, -7};
  const double force = k * patch.volume * (1 + a * patch.approach);
  ASSERT_LT(patch.tension(a), 1);
  patch.roll({k * a, 0}, force);
  Vec2<double> sum{0, 0};
  // Gauss with three points on the radius is exact for r³, equal spokes for the rest.
  const int spokes = 64;
  const double node = std::sqrt(0.6);
  for (const auto& [place, weight] :
       {std::pair{-node, 5.0 / 18}, {0.0, 8.0 / 18}, {node, 5.0 / 18}}) {
    const double r = 0.5 * radius * (1 + place);
    for (int j = 0; j < spokes; ++j) {
      const double angle = 2 * pi * j / spokes;
      const Vec2<double> at{r * std::cos(angle), r * std::sin(angle)};
      const double cell = r * (radius * weight) * (2 * pi / spokes);
      const double pressure = k * depth * (1 + a * patch.approach_at(at));
      sum = sum + (pressure * cell) * Vec2<double>{at.y, -at.x};
    }
  }
  EXPECT_NEAR(patch.rolling.x, sum.x, 1e-12 * norm(sum));
  EXPECT_NEAR(patch.rolling.y, sum.y, 1e-12 * norm(sum));
  EXPECT_GT(patch.rolling_power, 0);
}

TEST(Patch, TheCoupleEndsWithTheForce) {
  PatchRow patch = disc(0.03, 2e-4);
  patch.turning = {40, 0};
  patch.roll({1e9, 0}, 1e-9);
  EXPECT_NEAR(norm(patch.rolling), 1e-9 * 0.03, 1e-18);
  patch.roll({1e9, 0}, 0);
  EXPECT_EQ(norm(patch.rolling), 0);
}

constexpr double cube_half = 0.05;

LawChoice soft(double k = 2e7, double restitution = 0.5) {
  return choose<Volumetric>(
      {.stiffness = k, .restitution = restitution, .impact_speed_floor = 0.05});
}

Model on_ground(const Shape& shape, double mass, const Sym3<double>& inertia,
                const LawChoice& normal, const LawChoice& friction, bool gravity = true) {
  ModelBuilder builder;
  if (!gravity) builder.gravity({0, 0, 0});
  builder.add_shape({.name = "ground", .shape = Plane{}});
  add_free(builder, "body", mass, inertia, shape);
  builder.add_contact({.normal = normal, .friction = friction});
  return built(builder);
}

Model cube(const LawChoice& friction) {
  const Vec3<double> half{cube_half, cube_half, cube_half};
  return on_ground(Box{half}, 1, box_inertia(1, half), soft(), friction);
}

const LawChoice sticks =
    choose<SpringSlider>({.mu = 0.5, .stiffness = 1e5, .damping = 300});

double speed_of(const Model& model, const State& state) {
  double fastest = 0;
  for (const double v : state.v) fastest = std::max(fastest, std::abs(v));
  EXPECT_EQ(state.v.size(), place_of(model, "body").v + 6);
  return fastest;
}

/// How far the cube's faces are from level [rad].
double tilt(const Model& model, const State& state) {
  const double* q = state.q.data() + place_of(model, "body").q + 3;
  double most = 0;
  // Quaternions near the identity: twice x and y are the tilt.
  for (int k = 0; k < 4; ++k) {
    if (std::abs(q[k]) < 0.5) most = std::max(most, 2 * std::abs(q[k]));
  }
  return most;
}

class DroppedFlat : public testing::TestWithParam<Method> {};

TEST_P(DroppedFlat, ACubeStandsStillAndLevel) {
  const Model model = cube(sticks);
  State state = make_state(model);
  put(model, state, "body", {0, 0, 2 * cube_half});
  const RunSummary run = simulate(
      model, state, {.clock = {.method = GetParam(), .step = 1e-3}, .duration = 2});
  ASSERT_EQ(run.status, StepStatus::ok);
  EXPECT_LT(speed_of(model, state), 1e-9);
  EXPECT_LT(tilt(model, state), 1e-9);
}

INSTANTIATE_TEST_SUITE_P(Patch, DroppedFlat,
                         testing::Values(Method::linearly_implicit_euler,
                                         Method::complementarity));

TEST(Patch, ACubeDroppedFlatUnderTheAdaptiveIntegrator) {
  const Model model = cube(sticks);
  State state = make_state(model);
  put(model, state, "body", {0, 0, 2 * cube_half});
  const RunSummary run = simulate(model, state, SimulateAdaptiveOptions{.duration = 2});
  ASSERT_EQ(run.status, StepStatus::ok);
  EXPECT_LT(speed_of(model, state), 1e-9);
  EXPECT_LT(tilt(model, state), 1e-9);
  EXPECT_LT(run.audit.relative(), 1e-5);
}

/// One impact without gravity, e as typed: the quotient of the speeds.
double rebound(const Shape& shape, const Sym3<double>& inertia, double lift, double e) {
  const Model model =
      on_ground(shape, 0.7, inertia, soft(2e9, e), choose<Frictionless>(), false);
  State state = make_state(model);
  const double speed = 0.3;
  put(model, state, "body", {0, 0, lift + 0.003}, {0, 0, -speed});
  const RunSummary run = simulate(
      model, state, SimulateAdaptiveOptions{.clock = {.rtol = 1e-11}, .duration = 0.1});
  EXPECT_EQ(run.status, StepStatus::ok);
  return state.v[place_of(model, "body").v + 5] / speed;
}

TEST(Patch, AnImpactReturnsWhatWasTyped) {
  for (const double e : {0.05, 0.3, 0.5, 0.8, 0.95}) {
    EXPECT_NEAR(rebound(Sphere{0.05}, ball_inertia(0.7, 0.05), 0.05, e), e, 1e-8);
    EXPECT_NEAR(
        rebound(Cylinder{0.03, 0.04}, Sym3<double>::diagonal(1e-3, 1e-3, 1e-3), 0.04, e),
        e, 1e-8);
  }
}

TEST(Patch, TheLedgerOfACylinderThatBouncesAndRollsCloses) {
  const double mass = 0.4, radius = 0.03, half = 0.05;
  const double across = mass / 12 * (3 * radius * radius + 4 * half * half);
  const Model model =
      on_ground(Cylinder{radius, half}, mass,
                Sym3<double>::diagonal(across, across, 0.5 * mass * radius * radius),
                soft(2e8, 0.6), sticks);
  State state = make_state(model);
  put(model, state, "body", {0, 0, 0.12}, {0.4, 0.1, 0}, {3, 6, 9});
  const RunSummary run = simulate(
      model, state, SimulateAdaptiveOptions{.clock = {.rtol = 1e-10}, .duration = 0.6});
  ASSERT_EQ(run.status, StepStatus::ok);
  EXPECT_LT(run.audit.relative(), 1e-8);
  EXPECT_GT(state.works.rolling, 0);
  EXPECT_EQ(state.works.regenerated, 0);
}

/// A disc whose mass lies in the plane of contact, so that its pressure stays uniform.
Model spinning_disc(const LawChoice& friction, double torque = 0) {
  const double radius = 0.1, half = 0.01;
  ModelBuilder builder;
  builder.add_shape({.name = "ground", .shape = Plane{}});
  builder.add_body({.name = "body",
                    .mass = 1,
                    .inertia = Sym3<double>::diagonal(0.0025, 0.0025, 0.005)});
  builder.add_joint({.name = "body moves", .child = "body", .type = JointType::free});
  Transform<double> pose{};
  pose.p = {0, 0, half};
  builder.add_shape(
      {.name = "disc", .body = "body", .shape = Cylinder{radius, half}, .pose = pose});
  builder.add_contact(
      {.normal = choose<VolumetricDissipation>({.stiffness = 1e9, .dissipation = 5}),
       .friction = friction});
  if (torque != 0) {
    builder.add_load({.name = "turns", .body = "body", .torque = {0, 0, torque}});
  }
  return built(builder);
}

LawChoice with_spin(LawChoice friction, Spin spin) {
  friction.spin = spin;
  return friction;
}

/// v/(ωR) where it is a millionth as fast as at the start, where it has this quotient: it
/// tends to its limit like ω^0.43.
double last_quotient(double quotient, Spin spin, double& relative, double& lost) {
  Coulomb::Params<double> law = default_params<Coulomb>();
  law.mu_static = law.mu_coulomb = 0.2;
  law.regularisation_speed = 1e-8;
  const Model model = spinning_disc(with_spin(choose<Coulomb>(law), spin));
  State state = make_state(model);
  const double rim = 2;
  put(model, state, "body", {0, 0, 0}, {quotient * rim, 0, 0}, {0, 0, rim / 0.1});
  double last = -1;
  const RunSummary run = simulate(
      model, state,
      SimulateAdaptiveOptions{.clock = {.rtol = 1e-8}, .duration = 3, .observe_every = 0},
      [&](const Observation& now) {
        const double* v = now.state.v.data() + place_of(model, "body").v;
        last = std::hypot(v[3], v[4]) / (std::abs(v[2]) * 0.1);
        return std::abs(v[2]) * 0.1 > 1e-6 * rim;
      });
  EXPECT_EQ(run.status, StepStatus::ok);
  relative = run.audit.relative();
  lost = state.works.spin;
  return last;
}

TEST(Patch, AUniformDiscStopsAtItsKnownQuotient) {
  double relative = 1, lost = 0;
  for (const double begin : {0.4, 1.0}) {
    EXPECT_NEAR(last_quotient(begin, Spin::uniform, relative, lost), 0.653, 1e-3)
        << begin;
    EXPECT_LT(relative, 1e-6);
    EXPECT_GT(lost, 0);
  }
  // The ellipse slows both alike, where the inertia is ½ m R².
  EXPECT_NEAR(last_quotient(0.8, Spin::elliptic, relative, lost), 0.8, 1e-3);
}

/// A torque below what friction holds turns a disc by what bristles yield, and no
/// further.
TEST(Patch, ATurnedDiscIsHeldWithoutCreep) {
  const LawChoice friction =
      with_spin(choose<SpringSlider>({.mu = 0.5, .stiffness = 1e5, .damping = 200}),
                Spin::elliptic);
  const double limit = 0.5 * 9.81 * 0.1 / std::sqrt(2.0);  // μ m g r_g
  const Model model = spinning_disc(friction, 0.5 * limit);
  for (const bool adaptive : {false, true}) {
    State state = make_state(model);
    put(model, state, "body", {0, 0, -9.81 / (1e9 * pi * 0.01)});
    const RunSummary run =
        adaptive ? simulate(model, state, SimulateAdaptiveOptions{.duration = 2})
                 : simulate(model, state,
                            {.clock = {.method = Method::complementarity, .step = 1e-3},
                             .duration = 2});
    ASSERT_EQ(run.status, StepStatus::ok);
    EXPECT_LT(std::abs(state.v[place_of(model, "body").v + 2]), 1e-9) << adaptive;
    // r_g θ k r_g = τ
    const double angle = 0.5 * limit / (1e5 * 0.005);
    const double* q = state.q.data() + place_of(model, "body").q + 3;
    double turned = 0;
    for (int k = 0; k < 4; ++k) {
      if (std::abs(q[k]) < 0.5) turned = std::max(turned, 2 * std::abs(q[k]));
    }
    EXPECT_NEAR(turned, angle, 1e-3 * angle) << adaptive;
    EXPECT_LT(run.audit.relative(), 1e-5) << adaptive;
  }
}

class Tumbling : public testing::TestWithParam<Method> {};

/// The ledger closes whatever the method; what methods of first order damp by themselves
/// is a line of it, or of the order of the step.
TEST_P(Tumbling, LedgerBalances) {
  const Model model = cube(with_spin(sticks, Spin::elliptic));
  State state = make_state(model);
  put(model, state, "body", {0, 0, 0.1}, {0.2, 0.1, 0}, {1, 2, 3});
  const bool impulses = GetParam() == Method(Method::complementarity);
  const RunSummary run = simulate(
      model, state,
      {.clock = {.method = GetParam(), .step = impulses ? 1e-3 : 2e-5}, .duration = 0.6});
  ASSERT_EQ(run.status, StepStatus::ok);
  EXPECT_LT(run.audit.relative(), impulses ? 1e-9 : 2e-3);
}

INSTANTIATE_TEST_SUITE_P(Patch, Tumbling,
                         testing::Values(Method::semi_implicit_euler,
                                         Method::runge_kutta_4, Method::complementarity));

}  // namespace
}  // namespace bristle
