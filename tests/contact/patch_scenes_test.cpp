#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>

#include "bristle/run.hpp"
#include "tests/geometry/common.hpp"
#include "tests/sanitizers.hpp"
#include "tests/validation/scenes.hpp"

// Seeded scenes of patches under every kind of stepper: any shape that has an overlap
// with a plane, at any tilt, dropped or laid down, under each volumetric law, each
// friction law and each kind of spin.

namespace bristle {
namespace {

using test::Random;
using test::some_of;
using test::V;
using validation::add_free;
using validation::ball_inertia;
using validation::box_inertia;
using validation::built;
using validation::place_of;
using validation::put;

struct Thing {
  Shape shape;
  double mass;
  Sym3<double> inertia;
};

Thing round_body(const Shape& shape, double volume, double radius, double half) {
  const double mass = 1000 * volume;
  const double across = mass / 12 * (3 * radius * radius + 4 * half * half);
  return {shape, mass,
          Sym3<double>::diagonal(across, across, 0.5 * mass * radius * radius)};
}

/// Sizes of bodies, powers of ten [m].
struct Sizes {
  double least = -2, largest = -0.7;  // a centimetre to 20 cm
};

/// Of water.
Thing random_thing(Random& random, int kind, const Sizes& sizes) {
  const double size = std::pow(10, random.uniform(sizes.least, sizes.largest));
  const auto part = [&] { return random.uniform(0.4, 1) * size; };
  const V half{part(), part(), part()};
  const double r = half.x, h = half.y, ball = 4.19 * r * r * r;
  const auto filled = [&](const Shape& shape, double share) {
    const double mass = 1000 * share * half.x * half.y * half.z;
    return Thing{shape, mass, box_inertia(mass, half)};
  };
  switch (kind) {
    case 0:
      return {Sphere{r}, 1000 * ball, ball_inertia(1000 * ball, r)};
    case 1:
      return round_body(Cylinder{r, h}, 6.28 * r * r * h, r, h);
    case 2:
      return round_body(Capsule{r, h}, 6.28 * r * r * h + ball, r, h + r);
    case 3:
      return filled(Ellipsoid{half}, 4.19);
    case 4:
      return filled(Box{half}, 8);
    default:
      static const ConvexHull hull =
          *make_hull(test::random_cloud(3, 20, {0.05, 0.04, 0.06}));
      return {Convex{&hull}, 0.5, box_inertia(0.5, {0.05, 0.04, 0.06})};
  }
}

/// Upright, lying, on an edge, on a corner, nearly so, or anyhow.
test::Pose random_turn(Random& random) {
  constexpr double pi = validation::pi;
  const double angle = random.uniform(0, 2 * pi);
  const V axis =
      random.below(2) == 0 ? V{0, 1, 0} : V{std::cos(angle), std::sin(angle), 0};
  switch (random.below(7)) {
    case 0:
      return test::at({0, 0, 0});
    case 1:
      return test::turned(axis, pi / 2);
    case 2:
      return test::turned(axis, 1e-6);
    case 3:
      return test::turned(axis, pi / 4);
    case 4:
      return test::after(test::turned({0, 1, 0}, std::atan(std::sqrt(0.5))),
                         test::turned({1, 0, 0}, pi / 4));
    case 5:
      return test::turned(axis, pi / 2 + 1e-7);
    default:
      return random.pose(0);
  }
}

void set(LawChoice& law, std::string_view name, double value) {
  const int place = entry_of(law).find_parameter(name);
  if (place >= 0) law.parameters[static_cast<std::size_t>(place)] = value;
}

/// Which friction a scene has: what a pair has by default, or any law of the library.
enum class Friction { of_pair, any };

/// As stiff as the contact at rest, half of critical.
LawChoice any_friction(Random& random, double stiffness, double mass, double size) {
  const auto laws = laws_of(LawFamily::friction);
  const LawEntry& law =
      *laws[static_cast<std::size_t>(random.below(static_cast<int>(laws.size())))];
  LawChoice friction = *choose(law.info.name, {});
  if (!law.spins.empty()) {
    friction.spin = law.spins[static_cast<std::size_t>(
        random.below(static_cast<int>(law.spins.size())))];
  }
  const bool by_depth = law.info.name == "azad-featherstone-clutch";
  const double per = by_depth ? std::sqrt(5e-4 * size) : 1;
  set(friction, "stiffness", stiffness / per);
  set(friction, "damping", std::sqrt(stiffness * mass) / per);
  return friction;
}

struct Scene {
  Model model;
  State state;
  std::string text;
};

/// `most_turning` bounds the angular velocity [rad/s].
Scene random_scene(unsigned seed, Friction kind, double most_turning,
                   const Sizes& sizes = {}) {
  Random random(seed);
  const bool small = sizes.largest < -2;  // and no hull, which is of 5 cm
  const Thing thing = random_thing(random, random.below(small ? 5 : 6), sizes);
  test::Pose pose = random_turn(random);
  const test::Pose ground =
      test::turned({0, 1, 0}, random.below(2) == 0 ? 0 : random.uniform(0, 1));
  const V n = geometry::axis(ground, 2);
  pose = test::after(ground, pose);
  const double size = bounds(thing.shape, Transform<double>{}).high.z;
  const double gap = random.below(3) == 0 ? -5e-4 * size : random.uniform(0, 0.1);
  const auto find = overlap_function<double>(ShapeKind::plane, kind_of(thing.shape));
  pose.p = pose.p + (find(Plane{}, ground, thing.shape, pose).depth + gap) * n;

  constexpr std::array<std::string_view, 3> normals{
      "volumetric", "volumetric-dissipation", "volumetric-rate"};
  const auto law = static_cast<std::size_t>(random.below(3));
  ContactSpec rule{.normal = *choose(normals[law], {})};
  rule.from_pair = {.stiffness = true,
                    .restitution = random.uniform(0.1, 0.95),
                    .impact_speed = 1,
                    .impact_speed_floor = true};
  if (kind == Friction::of_pair) {
    rule.friction = choose<SpringSlider>();
    rule.friction.spin = random.below(2) == 0 ? Spin::none : Spin::elliptic;
    rule.from_pair.friction = random.uniform(0.1, 1);
  } else {
    rule.friction =
        any_friction(random, thing.mass * 9.81 / (5e-4 * size), thing.mass, size);
  }
  if (random.below(4) == 0) rule.share_a = random.uniform(0, 1);

  ModelBuilder builder;
  builder.add_shape({.name = "ground", .shape = Plane{}, .pose = ground});
  add_free(builder, "body", thing.mass, thing.inertia, thing.shape);
  builder.add_contact(rule);
  Scene scene{built(builder), {}, ""};
  scene.state = make_state(scene.model);
  put(scene.model, scene.state, "body", pose.p, random.uniform(0, 2) * random.direction(),
      random.uniform(0, most_turning) * random.direction());
  const Quaternion<double> q = from_matrix(pose.R);
  double* to = scene.state.q.data() + place_of(scene.model, "body").q + 3;
  to[0] = q.w, to[1] = q.x, to[2] = q.y, to[3] = q.z;
  scene.text = "seed " + std::to_string(seed) + ", " +
               std::string(name_of(kind_of(thing.shape))) + ", " +
               std::string(normals[law]) + ", " +
               std::string(entry_of(rule.friction).info.name);
  return scene;
}

void expect_finite(const State& state) {
  for (const double v : state.v) EXPECT_TRUE(std::isfinite(v));
}

/// To the fifth digit at the default tolerance, any friction, any kind of spin.
TEST(PatchScenes, TheAdaptiveLedgerCloses) {
  const int scenes = some_of(60, 6);
  for (unsigned seed = 0; seed < static_cast<unsigned>(scenes); ++seed) {
    Scene scene = random_scene(seed, Friction::any, 30);
    SCOPED_TRACE(scene.text);
    const RunSummary run =
        simulate(scene.model, scene.state, SimulateAdaptiveOptions{.duration = 0.2});
    EXPECT_EQ(run.status, StepStatus::ok);
    EXPECT_LT(run.audit.relative(), 1e-5);
    expect_finite(scene.state);
  }
}

/// The clutch goes by √δ, and so patches with it need contact time: the worst of 800
/// scenes in plain time, which left 1e-4 open.
TEST(PatchScenes, ClutchesInPatchesHaveContactTime) {
  for (const unsigned seed : {114u, 227u, 433u, 444u, 702u}) {
    Scene scene = random_scene(seed, Friction::any, 30);
    SCOPED_TRACE(scene.text);
    EXPECT_NE(scene.text.find("clutch"), std::string::npos);
    const RunSummary run =
        simulate(scene.model, scene.state, SimulateAdaptiveOptions{.duration = 0.2});
    EXPECT_EQ(run.status, StepStatus::ok);
    EXPECT_LT(run.audit.relative(), 5e-6);
  }
}

/// To rounding at 1 kHz; with any friction, to what steps that were not solved leave.
TEST(PatchScenes, TheLedgerOfComplementarityStepsCloses) {
  const int scenes = some_of(200, 20);
  for (const Friction friction : {Friction::of_pair, Friction::any}) {
    for (unsigned seed = 0; seed < static_cast<unsigned>(scenes); ++seed) {
      Scene scene = random_scene(seed, friction, 30);
      SCOPED_TRACE(scene.text);
      const RunSummary run = simulate(
          scene.model, scene.state,
          {.clock = {.method = Method::complementarity, .step = 1e-3}, .duration = 0.2});
      EXPECT_EQ(run.status, StepStatus::ok);
      const double open = run.counts.solves.unconverged == 0 ? 1e-10 : 1e-4;
      EXPECT_LT(run.audit.relative(), open);
      EXPECT_LT(run.audit.relative_created(), open);
      expect_finite(scene.state);
    }
  }
}

/// What a step at 1 kHz does beside the laws is in the ledger, and patches that are hit
/// create nothing.
TEST(PatchScenes, LinearlyImplicitStepsCreateNoEnergy) {
  const int scenes = some_of(200, 20);
  int closed = 0, multiplied = 0;
  for (unsigned seed = 0; seed < static_cast<unsigned>(scenes); ++seed) {
    Scene scene = random_scene(seed, Friction::of_pair, 30);
    SCOPED_TRACE(scene.text);
    const RunSummary run =
        simulate(scene.model, scene.state,
                 {.clock = {.method = Method::linearly_implicit_euler, .step = 1e-3},
                  .duration = 0.2});
    EXPECT_EQ(run.status, StepStatus::ok);
    EXPECT_LT(run.audit.relative_created(), 1e-3);
    closed += run.audit.relative() < 1e-3 ? 1 : 0;
    multiplied += scene.state.works.numerical < -run.audit.scale() ? 1 : 0;
    expect_finite(scene.state);
  }
  EXPECT_GE(closed, scenes * 9 / 10);
  EXPECT_LE(multiplied, scenes / 100);
}

/// Bodies of 1 to 5 mm that move by their own size in a step: the run goes on, or it ends
/// before energy is multiplied, with the contact's name.
TEST(PatchScenes, LinearlyImplicitStepsThatAreFarTooLongNameTheContact) {
  const int scenes = some_of(300, 30);
  int ended = 0;
  for (unsigned seed = 0; seed < static_cast<unsigned>(scenes); ++seed) {
    Scene scene = random_scene(seed, Friction::any, 100, {-3, -2.3});
    SCOPED_TRACE(scene.text);
    const RunSummary run =
        simulate(scene.model, scene.state,
                 {.clock = {.method = Method::linearly_implicit_euler, .step = 1e-3},
                  .duration = 0.3});
    expect_finite(scene.state);
    if (run.status == StepStatus::ok) continue;
    EXPECT_EQ(run.status, StepStatus::energy_created);
    std::string all;
    for (const std::string& warning : run.warnings) all += warning;
    EXPECT_NE(all.find("\"ground\" with \"body\""), std::string::npos) << all;
    ++ended;
  }
  EXPECT_LT(ended, scenes / 10);
}

/// A corner that lands deeper within a step than its impact can drive it: the step damps,
/// and stores nothing that nobody gave.
TEST(PatchScenes, ACornerThatLandsAtSpeedGainsNothing) {
  const V half{0.05, 0.05, 0.05};
  for (const double speed : {1.0, 3.0, 10.0, 30.0}) {
    for (const double stiffness : {1e9, 1e12, 1e15}) {
      ModelBuilder builder;
      builder.add_shape({.name = "ground", .shape = Plane{}});
      add_free(builder, "body", 1, box_inertia(1, half), Box{half});
      builder.add_contact(
          {.normal = choose<Volumetric>(
               {.stiffness = stiffness, .restitution = 0.5, .impact_speed_floor = 0.05}),
           .friction =
               choose<SpringSlider>({.mu = 0.5, .stiffness = 1e5, .damping = 300})});
      const Model model = built(builder);
      State state = make_state(model);
      put(model, state, "body", {0, 0, 0.15}, {speed, 0, -speed});
      const Quaternion<double> q =
          from_matrix(validation::about_y(0.7) * validation::about_x(0.6));
      double* to = state.q.data() + place_of(model, "body").q + 3;
      to[0] = q.w, to[1] = q.x, to[2] = q.y, to[3] = q.z;
      const RunSummary run =
          simulate(model, state,
                   {.clock = {.method = Method::linearly_implicit_euler, .step = 1e-3},
                    .duration = 0.2});
      EXPECT_EQ(run.status, StepStatus::ok);
      EXPECT_GT(state.works.numerical, 0) << speed << " m/s, " << stiffness;
      EXPECT_LT(run.audit.relative(), 0.02);
      EXPECT_TRUE(run.warnings.empty()) << run.warnings.front();
    }
  }
}

/// Substeps see the overlap to come: corners get stiffer as they enter. A touch within a
/// substep begins late, by a third of the contact's fastest radian at most.
TEST(PatchScenes, SubstepsFollowPatches) {
  const int scenes = some_of(100, 10);
  for (unsigned seed = 0; seed < static_cast<unsigned>(scenes); ++seed) {
    Scene scene = random_scene(seed, Friction::of_pair, 30);
    SCOPED_TRACE(scene.text);
    const RunSummary run = simulate(scene.model, scene.state,
                                    {.clock = {.method = Method::runge_kutta_4,
                                               .step = 1e-3,
                                               .substeps = 0,
                                               .most_substeps = 10000},
                                     .duration = 0.2});
    EXPECT_EQ(run.status, StepStatus::ok);
    EXPECT_LT(run.audit.relative(), 1e-2);
    expect_finite(scene.state);
  }
}

/// A cube that begins wholly below the plane rises as fast as its damper lets it, 1/a but
/// for its weight, at a cost that does not depend on how deep it is.
TEST(PatchScenes, ACubeBelowThePlaneRisesAtTheSpeedOfItsDamper) {
  const V half{0.05, 0.05, 0.05};
  const double stiffness = 2e7, a = 30, mass = 1;
  const double push = stiffness * 8 * half.x * half.y * half.z;
  for (const double height : {-0.11, -0.3}) {
    for (const double turning : {0.0, 1.0}) {
      ModelBuilder builder;
      builder.add_shape({.name = "ground", .shape = Plane{}});
      add_free(builder, "body", mass, box_inertia(mass, half), Box{half});
      builder.add_contact({.normal = choose<VolumetricDissipation>(
                               {.stiffness = stiffness, .dissipation = a}),
                           .friction = choose<SpringSlider>(
                               {.mu = 0.5, .stiffness = 1e5, .damping = 300})});
      const Model model = built(builder);
      State state = make_state(model);
      put(model, state, "body", {0, 0, height}, {0, 0, 0}, {turning, 2 * turning, 0});
      const RunSummary run =
          simulate(model, state, SimulateAdaptiveOptions{.duration = 0.5});
      EXPECT_EQ(run.status, StepStatus::ok);
      EXPECT_NEAR(state.v[place_of(model, "body").v + 5], (1 - mass * 9.81 / push) / a,
                  1e-8);
      EXPECT_LT(run.audit.relative(), 1e-9);
      EXPECT_LT(run.counts.evaluations, 20000u);
    }
  }
}

}  // namespace
}  // namespace bristle
