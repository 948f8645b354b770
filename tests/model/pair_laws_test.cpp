#include "bristle/model/pair_laws.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <vector>

#include "bristle/geometry/overlap.hpp"
#include "bristle/laws/choice.hpp"
#include "bristle/laws/materials.hpp"
#include "bristle/laws/restitution.hpp"
#include "bristle/run.hpp"

// Laws that follow from the pair: its rest depth, the restitution that was typed for its
// own mass, the floor of the impact speed, and the friction.

namespace bristle {
namespace {

constexpr double g = 9.81;

PairDefaults everything() {
  return {
      .stiffness = true, .restitution = 0.5, .impact_speed_floor = true, .friction = 0.4};
}

ContactSpec rule_of(const LawEntry& normal) {
  ContactSpec rule;
  rule.normal = *choose(normal.info.name, {});
  rule.from_pair = {.stiffness = true, .damping = true, .impact_speed_floor = true};
  return rule;
}

PairScale pair_of(double mass, double size) {
  return {.mass = mass, .size = size, .radius = size, .gravity = g};
}

double parameter(const LawChoice& law, std::string_view name) {
  return law.parameters[static_cast<std::size_t>(entry_of(law).find_parameter(name))];
}

/// Masses from a gram to 100 kg, sizes from a millimetre to a metre.
const std::vector<PairScale> pairs{pair_of(1e-3, 5e-3), pair_of(0.3, 0.033),
                                   pair_of(1, 0.05),    pair_of(100, 1),
                                   pair_of(1e-3, 1),    pair_of(100, 1e-3)};

TEST(PairLaws, EveryNormalLawCarriesTheWeightAtTheRestDepth) {
  for (const LawEntry* law : laws_of(LawFamily::normal)) {
    for (const PairScale& pair : pairs) {
      const auto laws = laws_of_pair(rule_of(*law), pair);
      ASSERT_TRUE(laws) << law->info.name << ": " << laws.error();
      const double depth = rest_depth_ratio * pair.size;
      const std::span parameters =
          std::span(laws->normal.parameters).first(law->parameters.size());
      EXPECT_NEAR(law->at_rest(parameters, depth, 1).static_force / (pair.mass * g), 1,
                  1e-12)
          << law->info.name;
      EXPECT_NEAR(rest_depth(laws->normal, pair.mass * g) / depth, 1, 1e-12)
          << law->info.name;
    }
  }
}

TEST(PairLaws, TheUnitOfTheStiffnessFollowsTheExponent) {
  for (const double exponent : {1.0, 1.5, 2.0, 3.0}) {
    ContactSpec rule = rule_of(entry_of(choose<Hertz>()));
    rule.normal = choose<Hertz>({.stiffness = 1e6, .exponent = exponent});
    const PairScale pair = pair_of(2, 0.1);
    const auto laws = laws_of_pair(rule, pair);
    ASSERT_TRUE(laws);
    const double expected = 2 * g / std::pow(rest_depth_ratio * 0.1, exponent);
    EXPECT_NEAR(parameter(laws->normal, "stiffness") / expected, 1, 1e-12) << exponent;
  }
}

TEST(PairLaws, TheFloorBoundsTheDampingAtRestByTheCriticalOne) {
  for (const double e : {0.05, 0.3, 0.5, 0.9}) {
    for (const PairScale& pair : pairs) {
      ContactSpec rule;
      rule.normal = choose<GonthierNormal>();
      rule.from_pair = everything();
      rule.from_pair.restitution = e;
      const auto laws = laws_of_pair(rule, pair);
      ASSERT_TRUE(laws) << laws.error();
      const double depth = rest_depth_ratio * pair.size;
      const double p = 1.5;
      const double floor = damping_factor(e) * std::sqrt(g * depth / p) / (2 * e);
      EXPECT_NEAR(parameter(laws->normal, "impact_speed_floor") / floor, 1, 1e-12);
      // The damping of the slowest touch-down is the critical one of the mass at rest.
      const auto slowest =
          GonthierNormal::touch(params_of<GonthierNormal>(laws->normal), 0.0);
      EXPECT_NEAR(slowest.dissipation / (2 * std::sqrt(p / (g * depth))), 1, 1e-12);
    }
  }
}

TEST(PairLaws, AGivenStiffnessHasAFloorAndAFrictionOfItsOwnRestDepth) {
  ContactSpec rule;
  rule.normal = choose<GonthierNormal>({.stiffness = 1e6,
                                        .exponent = 1.5,
                                        .restitution = 0.5,
                                        .impact_speed_floor = 1e-6});
  rule.from_pair = {.impact_speed_floor = true, .friction = 0.3};
  const PairScale pair = pair_of(2, 0.1);
  const auto laws = laws_of_pair(rule, pair);
  ASSERT_TRUE(laws);
  EXPECT_EQ(parameter(laws->normal, "stiffness"), 1e6);
  const double depth = std::pow(2 * g / 1e6, 2.0 / 3);
  EXPECT_NEAR(parameter(laws->normal, "impact_speed_floor") /
                  (damping_factor(0.5) * std::sqrt(g * depth / 1.5)),
              1, 1e-12);
  const double stiffness = 1.5 * 1e6 * std::sqrt(depth);
  EXPECT_NEAR(parameter(laws->friction, "stiffness") / stiffness, 1, 1e-12);
  EXPECT_NEAR(parameter(laws->friction, "damping") / std::sqrt(stiffness * 2), 1, 1e-12);
  EXPECT_EQ(parameter(laws->friction, "mu"), 0.3);
}

TEST(PairLaws, TypedRestitutionIsReturnedByEveryLawThatCan) {
  for (const char* name : {"gonthier", "flores", "kelvin-voigt", "hunt-crossley",
                           "azad-featherstone", "gearbox", "lee-wang"}) {
    const LawEntry& law = **find_law(name);
    for (const double e : {0.3, 0.5, 0.9}) {
      for (const PairScale& pair : pairs) {
        ContactSpec rule = rule_of(law);
        rule.from_pair.damping = false;
        rule.from_pair.restitution = e;
        rule.from_pair.impact_speed = 0.7;
        const auto laws = laws_of_pair(rule, pair);
        ASSERT_TRUE(laws) << name << ": " << laws.error();
        if (law.find_parameter("impact_speed_floor") >= 0 &&
            0.7 < 1.001 * parameter(laws->normal, "impact_speed_floor")) {
          continue;  // below the floor less comes back
        }
        const auto report =
            law.impact(std::span(laws->normal.parameters).first(law.parameters.size()),
                       pair.mass, 0.7, nullptr);
        ASSERT_TRUE(report) << name;
        EXPECT_NEAR(report->restitution, e, 1e-8) << name;
      }
    }
  }
}

TEST(PairLaws, RestitutionThatDependsOnTheSpeedNeedsOne) {
  ContactSpec rule = rule_of(**find_law("hunt-crossley"));
  rule.from_pair.restitution = 0.5;
  const auto refused = laws_of_pair(rule, pair_of(1, 0.05));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error_subject().field, "restitution");
  for (const char* word :
       {"hunt-crossley", "impact_speed_m_s", "dissipation", "gonthier"}) {
    EXPECT_NE(refused.error().find(word), std::string::npos) << refused.error();
  }
  for (const char* any_speed : {"kelvin-voigt", "gonthier", "flores"}) {
    rule.normal = *choose(any_speed, {});
    EXPECT_TRUE(laws_of_pair(rule, pair_of(1, 0.05))) << any_speed;
  }
  rule.normal = choose<Hertz>();
  EXPECT_FALSE(laws_of_pair(rule, pair_of(1, 0.05)));  // always returns 1
  rule.from_pair.restitution = 1;
  EXPECT_TRUE(laws_of_pair(rule, pair_of(1, 0.05)));
}

/// Two balls, or a ball and a plane, meet head-on without gravity: what comes back.
double measured_restitution(const char* law, double mass, bool against_plane) {
  ContactSpec rule;
  rule.normal = *choose(law, {});
  rule.from_pair = everything();
  ModelBuilder builder;
  builder.gravity({0, 0, 0});
  const double r = 0.05, inertia = 0.4 * mass * r * r;
  const Sym3<double> ball{inertia, inertia, inertia, 0, 0, 0};
  builder.add_body({.name = "one", .mass = mass, .inertia = ball});
  builder.add_shape({.name = "one", .body = "one", .shape = Sphere{r}});
  builder.add_joint({.name = "one", .child = "one", .type = JointType::free});
  if (against_plane) {
    builder.add_shape({.name = "floor", .shape = Plane{}});
  } else {
    builder.add_body({.name = "two", .mass = mass, .inertia = ball});
    builder.add_shape({.name = "two", .body = "two", .shape = Sphere{r}});
    builder.add_joint({.name = "two", .child = "two", .type = JointType::free});
  }
  builder.add_contact(rule);
  const Result<Model> model = builder.build();
  EXPECT_TRUE(model) << (model ? "" : model.error());
  State state = make_state(*model);
  const Joint& one = *model->tree.find_joint("one");
  const auto z = static_cast<std::size_t>(one.q + 2);
  const auto vz = static_cast<std::size_t>(one.v + 5);
  state.q[z] = r + 0.01;
  state.v[vz] = -1;
  if (!against_plane) {
    state.q[static_cast<std::size_t>(model->tree.find_joint("two")->q + 2)] = -r;
  }
  simulate(*model, state,
           SimulateAdaptiveOptions{.clock = {.rtol = 1e-9}, .duration = 0.2});
  const double other =
      against_plane
          ? 0
          : state.v[static_cast<std::size_t>(model->tree.find_joint("two")->v + 5)];
  return state.v[vz] - other;
}

TEST(PairLaws, TypedRestitutionIsMeasuredForEveryMassAndBothKindsOfPairs) {
  for (const char* law : {"gonthier", "kelvin-voigt"}) {
    for (const double mass : {1e-3, 0.01, 1.0, 100.0}) {
      for (const bool against_plane : {true, false}) {
        EXPECT_NEAR(measured_restitution(law, mass, against_plane), 0.5, 1e-6)
            << law << " " << mass << " " << against_plane;
      }
    }
  }
}

ModelBuilder on_a_floor(std::span<const std::pair<double, double>> masses_and_radii) {
  ModelBuilder builder;
  builder.add_shape({.name = "floor", .shape = Plane{}});
  int number = 0;
  for (const auto& [mass, radius] : masses_and_radii) {
    const std::string name = "ball " + std::to_string(number++);
    const double inertia = 0.4 * mass * radius * radius;
    builder.add_body(
        {.name = name, .mass = mass, .inertia = {inertia, inertia, inertia, 0, 0, 0}});
    builder.add_shape({.name = name, .body = name, .shape = Sphere{radius}});
    builder.add_joint({.name = name, .child = name, .type = JointType::free});
  }
  ContactSpec rule;
  rule.normal = choose<GonthierNormal>();
  rule.from_pair = everything();
  builder.add_contact(rule);
  return builder;
}

const LawChoice& normal_of(const Model& model, int a, int b) {
  const auto shape = [&](int i) {
    return model.shapes[static_cast<std::size_t>(i)].kind;
  };
  const int block = model.rule(shape(a), shape(b)).block;
  return model.blocks[static_cast<std::size_t>(block)].normal;
}

TEST(PairLaws, EachPairOfAMixedSceneHasItsOwnStiffness) {
  const std::vector<std::pair<double, double>> bodies{{1e-3, 5e-3}, {1000, 0.5}};
  const Result<Model> model = on_a_floor(bodies).build();
  ASSERT_TRUE(model);
  const auto k = [&](double mass, double size) {
    return mass * g / std::pow(rest_depth_ratio * size, 1.5);
  };
  EXPECT_NEAR(parameter(normal_of(*model, 0, 1), "stiffness") / k(1e-3, 5e-3), 1, 1e-12);
  EXPECT_NEAR(parameter(normal_of(*model, 0, 2), "stiffness") / k(1000, 0.5), 1, 1e-12);
  const double both = 1 / (1 / 1e-3 + 1 / 1000.0);
  EXPECT_NEAR(parameter(normal_of(*model, 1, 2), "stiffness") / k(both, 5e-3), 1, 1e-12);
}

TEST(PairLaws, EqualBodiesShareTheirLaws) {
  const std::vector<std::pair<double, double>> bodies(3000, {0.1, 0.02});
  const Result<Model> model = on_a_floor(bodies).build();
  ASSERT_TRUE(model);
  EXPECT_EQ(model->kinds, 2);
  EXPECT_EQ(model->blocks.size(), 2u);  // a ball on the floor, two balls
}

TEST(PairLaws, ManyDifferentBodiesHaveFewLawsNearTheirOwn) {
  std::vector<std::pair<double, double>> bodies;
  for (int i = 0; i < 1000; ++i) {
    const double radius = 2e-3 * std::pow(500.0, i / 999.0);
    bodies.emplace_back(4000 * radius * radius * radius, radius);
  }
  const Result<Model> model = on_a_floor(bodies).build();
  ASSERT_TRUE(model);
  EXPECT_LE(model->blocks.size(), 256u);
  EXPECT_LE(model->kinds, 256);
  // Scales are rounded by at most half a step of the grid, which is at most an octave.
  for (int i = 0; i < 1000; i += 37) {
    const auto& [mass, radius] = bodies[static_cast<std::size_t>(i)];
    const double depth = rest_depth(normal_of(*model, 0, i + 1), mass * g);
    EXPECT_LT(std::abs(std::log2(depth / (rest_depth_ratio * radius))), 1.0) << i;
  }
}

TEST(PairLaws, MaterialsTakeTheRadiusOfThePair) {
  ContactSpec rule;
  rule.normal = choose<Hertz>();
  rule.from_pair = {.contact_modulus = 1e9};
  const ShapeScale small{.mass = 1, .size = 0.01, .radius = 0.01};
  const ShapeScale large{.mass = 8, .size = 0.03, .radius = 0.03};
  const ShapeScale plane{};
  const auto stiffness = [&](const ShapeScale& a, const ShapeScale& b) {
    const auto laws = laws_of_pair(rule, scale_of(a, b, g));
    EXPECT_TRUE(laws);
    return laws ? parameter(laws->normal, "stiffness") : 0;
  };
  EXPECT_NEAR(stiffness(small, large) / (4e9 / 3 * std::sqrt(0.0075)), 1, 1e-12);
  EXPECT_NEAR(stiffness(small, plane) / (4e9 / 3 * std::sqrt(0.01)), 1, 1e-12);
  rule.from_pair.contact_radius = 0.002;
  EXPECT_NEAR(stiffness(small, plane) / (4e9 / 3 * std::sqrt(0.002)), 1, 1e-12);
  rule.from_pair.contact_radius = 0;
  const ShapeScale point{.mass = 1};
  const auto refused = laws_of_pair(rule, scale_of(point, plane, g));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error_subject().field, "materials");
}

TEST(PairLaws, RestitutionThatDependsOnTheNumberOfPointsIsRefused) {
  ContactSpec rule;
  rule.normal = choose<KelvinVoigt>();
  rule.from_pair = {.stiffness = true, .restitution = 0.5};
  const ShapeScale box{.mass = 1, .size = 0.1};
  const ShapeScale ball{.mass = 1, .size = 0.1, .radius = 0.1, .one_point = true};
  EXPECT_TRUE(laws_of_pair(rule, scale_of(ball, box, g)));
  const auto refused = laws_of_pair(rule, scale_of(box, ShapeScale{}, g));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error_subject().field, "restitution");
  EXPECT_NE(refused.error().find("how many points"), std::string::npos);
  rule.normal = choose<GonthierNormal>();
  EXPECT_TRUE(laws_of_pair(rule, scale_of(box, ShapeScale{}, g)));
  rule.normal = choose<Flores>();
  EXPECT_TRUE(laws_of_pair(rule, scale_of(box, ShapeScale{}, g)));
}

TEST(PairLaws, WithoutGravityTheReferenceTakesItsPlace) {
  const ShapeScale ball{.mass = 1, .size = 0.1, .radius = 0.1};
  EXPECT_EQ(scale_of(ball, ShapeScale{}, 0).gravity, reference_gravity);
  EXPECT_EQ(scale_of(ball, ShapeScale{}, 1.62).gravity, 1.62);
  EXPECT_EQ(scale_of(ball, ball, g).mass, 0.5);
  // A point on a plane: a ball of water of its mass.
  const ShapeScale point{.mass = 1};
  EXPECT_NEAR(scale_of(point, ShapeScale{}, g).size, std::cbrt(3 / (4000 * M_PI)), 1e-15);
}

// Volumetric laws

/// A body of a kilogram on a floor, under `volumetric` with what the pair leaves open.
Result<Model> patch_on_a_floor(const Shape& shape, const PairDefaults& open) {
  ModelBuilder builder;
  builder.add_shape({.name = "floor", .shape = Plane{}});
  builder.add_body(
      {.name = "body", .mass = 1, .inertia = Sym3<double>::diagonal(1e-3, 1e-3, 1e-3)});
  builder.add_joint({.name = "free", .child = "body", .type = JointType::free});
  builder.add_shape({.name = "body", .body = "body", .shape = shape});
  builder.add_contact({.normal = choose<Volumetric>(), .from_pair = open});
  return builder.build();
}

LawChoice patch_law(const Shape& shape, const PairDefaults& open) {
  const Result<Model> model = patch_on_a_floor(shape, open);
  EXPECT_TRUE(model) << model.error();
  return normal_of(*model, 0, 1);
}

/// Shapes that lie on their least extent as they are, and that extent's half.
struct Laid {
  Shape shape;
  double size;
};
std::vector<Laid> laid() {
  return {{Sphere{0.03}, 0.03},
          {Box{{0.05, 0.04, 0.02}}, 0.02},
          {Cylinder{0.05, 0.01}, 0.01},
          {Ellipsoid{{0.05, 0.04, 0.02}}, 0.02}};
}

Overlap<double> sunk(const Laid& body, double depth) {
  Transform<double> pose{};
  pose.p.z = body.size - depth;
  return overlap_function<double>(ShapeKind::plane, kind_of(body.shape))(
      Plane{}, Transform<double>{}, body.shape, pose);
}

TEST(PairLaws, AVolumetricLawIsAsDeepAtRestAsAPointLaw) {
  for (const Laid& body : laid()) {
    const double depth = rest_depth_ratio * body.size;
    const LawChoice law =
        patch_law(body.shape, {.stiffness = true, .impact_speed_floor = true});
    EXPECT_NEAR(parameter(law, "stiffness") * sunk(body, depth).volume / g, 1, 1e-12)
        << name_of(kind_of(body.shape));
  }
  // What lies on its side rests on it.
  const Laid rod{Cylinder{0.01, 0.1}, 0.01};
  const double depth = rest_depth_ratio * rod.size;
  const Transform<double> lying{{{0, 0, -1}, {0, 1, 0}, {1, 0, 0}},
                                {0, 0, rod.size - depth}};
  const auto o = overlap_function<double>(ShapeKind::plane, ShapeKind::cylinder)(
      Plane{}, Transform<double>{}, rod.shape, lying);
  EXPECT_NEAR(
      parameter(patch_law(rod.shape, {.stiffness = true}), "stiffness") * o.volume / g, 1,
      1e-12);
}

TEST(PairLaws, TheFloorOfAVolumetricLawMakesItsDampingCritical) {
  for (const Laid& body : laid()) {
    for (const double e : {0.1, 0.5, 0.9}) {
      const LawChoice law = patch_law(
          body.shape, {.stiffness = true, .restitution = e, .impact_speed_floor = true});
      EXPECT_EQ(parameter(law, "restitution"), e);
      const Overlap<double> o = sunk(body, rest_depth_ratio * body.size);
      const double k = parameter(law, "stiffness");
      const double a = Volumetric::touch(params_of<Volumetric>(law), 0.0).dissipation;
      // k_v a V of a mass of 1 kg on the spring k_v A; V grows by a power of δ about the
      // rest depth, which a sphere's does to δ/R.
      EXPECT_NEAR(k * a * o.volume / (2 * std::sqrt(k * o.area)), 1, 2 * rest_depth_ratio)
          << name_of(kind_of(body.shape));
    }
  }
}

TEST(PairLaws, TwoBallsUnderAVolumetricLawShareTheirOverlap) {
  ContactSpec rule;
  rule.normal = choose<Volumetric>();
  rule.from_pair = {.stiffness = true};
  const auto scale = [](double mass, double radius) {
    ShapeScale of{.mass = mass, .size = radius, .radius = radius, .one_point = true};
    add_section(Sphere{radius}, of);
    return of;
  };
  const auto laws = laws_of_pair(rule, scale_of(scale(1, 0.02), scale(3, 0.05), g));
  ASSERT_TRUE(laws) << laws.error();
  const double depth = rest_depth_ratio * 0.02;
  Transform<double> apart{};
  apart.p.z = 0.07 - depth;
  const auto o = overlap_function<double>(ShapeKind::sphere, ShapeKind::sphere)(
      Sphere{0.02}, Transform<double>{}, Sphere{0.05}, apart);
  // V = π R* δ² but for δ/R.
  EXPECT_NEAR(parameter(laws->normal, "stiffness") * o.volume / (0.75 * g), 1,
              rest_depth_ratio);
}

TEST(PairLaws, MaterialsUnderAVolumetricLaw) {
  const double modulus = 2e8, radius = 0.03;
  // A flat face: as stiff as a punch of its area, k_v A = 2 E* r.
  const double k_flat = parameter(
      patch_law(Cylinder{0.05, 0.01}, {.contact_modulus = modulus}), "stiffness");
  EXPECT_NEAR(k_flat * M_PI * 0.05 * 0.05 / (2 * modulus * 0.05), 1, 1e-12);
  // k_v is proportional to E*: of two bodies that yield, 1/k_v is the sum of theirs.
  const auto flat = [](double of) {
    return parameter(patch_law(Box{{0.05, 0.04, 0.02}}, {.contact_modulus = of}),
                     "stiffness");
  };
  const double both = 1 / (1 / modulus + 1 / (3 * modulus));
  EXPECT_NEAR(flat(both) * (1 / flat(modulus) + 1 / flat(3 * modulus)), 1, 1e-12);
  // A round one: as much work as Hertz at the depth under the weight, with V = π R δ².
  const double k_round =
      parameter(patch_law(Sphere{radius}, {.contact_modulus = modulus}), "stiffness");
  const double hertz = 4.0 / 3 * modulus * std::sqrt(radius);
  const double depth = std::pow(g / hertz, 2.0 / 3);
  EXPECT_NEAR(k_round * M_PI * radius * std::pow(depth, 3) / 3 /
                  (0.4 * hertz * std::pow(depth, 2.5)),
              1, 1e-12);
}

}  // namespace
}  // namespace bristle
