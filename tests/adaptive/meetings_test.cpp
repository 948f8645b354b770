#include "tests/adaptive/meetings.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <tuple>

#include "bristle/contact/sweep.hpp"
#include "bristle/dynamics/kinematics.hpp"
#include "bristle/step/fixed_step.hpp"

// No meeting is stepped over: whatever the shapes, their motion and the length of the
// flight. What is looked at more often, or along more flights, with BRISTLE_SOAK. The
// meetings are others with another number in BRISTLE_SEED.

namespace bristle::meetings {
namespace {

bool soaks() { return std::getenv("BRISTLE_SOAK") != nullptr; }

/// The seed of the first meeting.
unsigned first_seed() {
  const char* text = std::getenv("BRISTLE_SEED");
  return text == nullptr ? 1 : static_cast<unsigned>(std::strtoul(text, nullptr, 10));
}

std::string name_of_pair(const Encounter& m) {
  return std::string(name_of(kind_of(m.a.solid.shape))) + "–" +
         std::string(name_of(kind_of(m.b.solid.shape)));
}

/// The time of the first touch, or infinity.
double first_touch(const Model& model, State& state, double until, double rtol,
                   StepStatus& status, StepCounts& counts) {
  Adaptive clock(model, {.rtol = rtol});
  double touch = HUGE_VAL;
  StepObserver observer;
  observer.on_event = [&](const State&, const Event& event) {
    if (event.kind == EventKind::touch) touch = std::min(touch, event.time);
  };
  observer.on_step = [&](const State&) { return touch == HUGE_VAL; };
  status = clock.advance_to(state, until, observer);
  counts = clock.counts();
  return touch;
}

TEST(Meetings, OfAllPairsOfShapesAreFound) {
  const unsigned cases = soaks() ? 24000 : 600;  // of which five in six meet
  int met = 0, missed = 0;
  std::map<std::string, std::pair<int, int>> of_pair;
  StepCounts all;
  const unsigned first = first_seed();
  for (unsigned seed = first; seed - first < cases; ++seed) {
    Draw draw(seed);
    const Encounter m = draw.meeting();
    const double depth = 1e-3 * std::min(m.size(), 0.1);
    const double truth = time_of_meeting(m, depth);
    if (std::isnan(truth)) continue;
    const Model model = model_of(m);
    State state = state_of(model, m);
    StepStatus status{};
    StepCounts counts;
    const double touch = first_touch(model, state, m.duration, 1e-6, status, counts);
    all = all + counts;
    EXPECT_EQ(status, StepStatus::ok) << "seed " << seed << ", " << name_of_pair(m);
    if (truth == HUGE_VAL) continue;
    ++met;
    auto& [of, lost] = of_pair[name_of_pair(m)];
    ++of;
    // At this tolerance what has turned by some hundred radians is a little late.
    if (touch <= truth + 2e-6 * truth) continue;
    ++missed;
    ++lost;
    if (missed <= 20) {
      ADD_FAILURE() << "seed " << seed << ", " << name_of_pair(m) << ", missed at "
                    << truth << " s";
    }
  }
  std::printf(
      "%u drawn, %d meet, %d missed; %llu steps, %llu contact evaluations, %llu "
      "distances\n",
      cases, met, missed, static_cast<unsigned long long>(all.steps),
      static_cast<unsigned long long>(all.contact_evaluations),
      static_cast<unsigned long long>(all.distances));
  for (const auto& [name, count] : of_pair) {
    if (count.second > 0)
      std::printf("  %-24s %d of %d\n", name.c_str(), count.second, count.first);
  }
  EXPECT_EQ(missed, 0);
  EXPECT_GT(met, static_cast<int>(cases) / 3);
}

/// Links of capsules, boxes and cylinders on hinges that swing, and a post in their way.
Model swinging_arm(unsigned seed, bool touches, State& state, double& size) {
  Draw draw(seed);
  ModelBuilder builder;
  builder.gravity({0, 0, draw.chance(0.5) ? -9.81 : 0});
  const int links = 1 + draw.below(4);
  std::string parent{world_name};
  double reach = 0;
  size = HUGE_VAL;
  for (int i = 0; i < links; ++i) {
    const std::string name = validation::numbered("link", i);
    const double length = draw.between(0.2, 0.6), thick = draw.between(0.01, 0.05);
    reach += length;
    size = std::min(size, thick);
    builder.add_body({.name = name,
                      .mass = draw.between(0.3, 2),
                      .com = {length / 2, 0, 0},
                      .inertia = Sym3<double>::diagonal(1e-3, 0.01, 0.01)});
    JointSpec joint;
    joint.name = name + " hinge";
    joint.parent = parent;
    joint.child = name;
    joint.type = JointType::revolute;
    joint.axis = {0, 0, 1};
    if (draw.chance(0.3)) joint.axis = draw.direction();
    if (i > 0) joint.on_parent.p = {reach - length, 0, 0};
    builder.add_joint(joint);
    parent = name;
    const Transform<double> middle{validation::about_y(validation::pi / 2),
                                   {length / 2, 0, 0}};
    Shape shape = Capsule{thick, 0.4 * length};
    if (draw.chance(0.3)) shape = Box{{thick, 2 * thick, 0.4 * length}};
    if (draw.chance(0.3)) shape = Cylinder{thick, 0.4 * length};
    builder.add_shape({.name = name, .body = name, .shape = shape, .pose = middle});
    reach = length;
  }
  const double angle = draw.between(1.5, 4.5),
               far = draw.between(0.1, 0.25) * (1 + links);
  const double thick = draw.log_between(0.005, 0.05);
  size = std::min(size, thick);
  builder.add_shape({.name = "post",
                     .shape = Capsule{thick, 0.5},
                     .pose = {.p = {far * std::cos(angle), far * std::sin(angle), 0}}});
  builder.add_contact({.a = "*",
                       .b = "*",
                       .normal = choose<Hertz>({.stiffness = 1e7, .exponent = 1.5}),
                       .friction = choose<Frictionless>(),
                       .touches = false});
  builder.add_contact({.a = "*",
                       .b = "post",
                       .normal = choose<Hertz>({.stiffness = 1e7, .exponent = 1.5}),
                       .friction = choose<Frictionless>(),
                       .touches = touches});
  Model model = validation::built(builder);
  state = make_state(model);
  const double speed = draw.log_between(1, 100);
  for (double& v : state.v) v = speed * draw.between(0.2, 1);
  return model;
}

TEST(Meetings, OfArmsWithPostsAreFound) {
  const unsigned cases = soaks() ? 2000 : 60;
  int met = 0;
  const unsigned first = first_seed();
  for (unsigned seed = first; seed - first < cases; ++seed) {
    State state;
    double size = 0;
    const Model free = swinging_arm(seed, false, state, size);
    const auto post = static_cast<std::size_t>(free.find_shape("post"));
    double fastest = 0;
    for (const double v : state.v) fastest += std::abs(v);
    const double duration = 6 / fastest;
    // Where the arm is without the post, ten times per thickness of what meets.
    Adaptive unhindered(free, {.rtol = 1e-9});
    Workspace<double> ws(free.tree);
    double truth = HUGE_VAL;
    bool begins_inside = false;
    StepObserver sampler;
    sampler.sample_interval = 0.1 * size / (fastest * 2);
    sampler.on_sample = [&](const State& now) {
      if (truth < HUGE_VAL) return;
      kinematics<double>(free.tree, now.q, now.v, ws);
      for (std::size_t i = 0; i < post; ++i) {
        const ModelShape& link = free.shapes[i];
        const auto found = test::contacts(
            link.shape, ws.poses[static_cast<std::size_t>(link.link)] * link.in_link,
            free.shapes[post].shape, free.shapes[post].in_link);
        if (!(test::deepest(found).depth > 0.02 * size)) continue;
        truth = now.time;
        begins_inside = now.time == 0;
      }
    };
    State alone = state;
    ASSERT_EQ(unhindered.advance_to(alone, duration, sampler), StepStatus::ok);
    if (begins_inside || truth == HUGE_VAL) continue;
    ++met;
    const Model model = swinging_arm(seed, true, state, size);
    StepStatus status{};
    StepCounts counts;
    EXPECT_LE(first_touch(model, state, duration, 1e-6, status, counts), truth)
        << "seed " << seed;
    EXPECT_EQ(status, StepStatus::ok) << "seed " << seed;
  }
  EXPECT_GT(met, static_cast<int>(cases) / 4);
}

/// A motion in closed form: both shapes at constant velocities.
struct Uniform {
  Transform<double> a, b;
  Motion<double> of_a, of_b;
  void at(double x, ShapeMotion& one, ShapeMotion& two) const {
    const auto moved = [&](const Transform<double>& from, const Motion<double>& m) {
      return Transform<double>{to_matrix(rotation_exp(x * m.angular)) * from.R,
                               from.p + x * m.linear};
    };
    one = {moved(a, of_a), of_a};
    two = {moved(b, of_b), of_b};
  }
  void bounds(double, double, MotionBounds& one, MotionBounds& two) const {
    one = {0, norm(of_a.angular), 0};
    two = {0, norm(of_b.angular), 0};
  }
};

SweptPair swept(const Shape& a, const Shape& b, double tolerance) {
  const auto radius = [](const Shape& shape) {
    return Flight{.solid = {shape, 0}}.radius();
  };
  return {
      &a,       &b, radius(a), radius(b), pair_function<double>(kind_of(a), kind_of(b)),
      tolerance};
}

TEST(Sweep, MotionAlongASurfaceTakesFewQueries) {
  const Shape plate = Box{{1, 1, 0.01}}, brick = Box{{0.05, 0.03, 0.02}};
  // A micrometre above the plate, along it and at an angle that closes the gap only just
  // behind its edge.
  for (const double sinks : {0.0, 0.9e-6}) {
    Uniform path{.a = {},
                 .b = {.p = {-1, 0, 0.030001}},
                 .of_a = Motion<double>::zero(),
                 .of_b = {{0, 0, 0}, {2, 0, -sinks}}};
    std::uint64_t queries = 0;
    EXPECT_FALSE(first_meeting(swept(plate, brick, 1e-9), path, 0, 1, queries).found());
    EXPECT_LE(queries, 4u);
  }
  // A rod that spins about its long axis at 1000 rad per unit, beside a wall.
  const Shape wall = Plane{}, rod = Cylinder{0.01, 0.5};
  Uniform spinning{
      .a = {},
      .b = {.R = validation::about_x(validation::pi / 2), .p = {0, 0, 0.0101}},
      .of_a = Motion<double>::zero(),
      .of_b = {{0, 1000, 0}, {3, 0, 0}}};
  std::uint64_t queries = 0;
  EXPECT_FALSE(first_meeting(swept(wall, rod, 1e-9), spinning, 0, 1, queries).found());
  EXPECT_LE(queries, 4u);
}

TEST(Sweep, FindsMeetingsDeeperThanItsTolerance) {
  test::Random random(5);
  const std::vector<Shape> shapes = test::bodies();
  int met = 0;
  for (int trial = 0; trial < (soaks() ? 20000 : 500); ++trial) {
    const Shape& a = shapes[static_cast<std::size_t>(random.below(8))];
    const Shape& b = shapes[static_cast<std::size_t>(random.below(8))];
    const double spin = std::exp(random.uniform(-1, 3));
    const test::V d = random.direction();
    Uniform path{random.pose(0),
                 random.pose(0),
                 {random.uniform(0, spin) * random.direction(), {0, 0, 0}},
                 {random.uniform(0, spin) * random.direction(), 4.0 * d}};
    path.b.p = -2.0 * d + random.uniform(0, 1) * random.direction();
    const double tolerance = 1e-6;
    std::uint64_t queries = 0;
    const Meeting found = first_meeting(swept(a, b, tolerance), path, 0, 1, queries);
    // Looked at densely: nothing before what was found, and nothing left out.
    for (int k = 1; k <= 400; ++k) {
      const double x = k / 400.0;
      ShapeMotion one, two;
      path.at(x, one, two);
      const double depth = test::deepest(test::contacts(a, one.pose, b, two.pose)).depth;
      if (x < found.at) {
        EXPECT_LE(depth, tolerance) << test::describe(a, b, trial) << " at " << x;
      }
    }
    if (!found.found()) continue;
    ++met;
    ShapeMotion one, two;
    path.at(found.at, one, two);
    EXPECT_GT(test::deepest(test::contacts(a, one.pose, b, two.pose)).depth, 0)
        << test::describe(a, b, trial);
  }
  EXPECT_GT(met, 200);
}

TEST(Meetings, AfterAThousandSecondsOfFlightAreFound) {
  Encounter m;
  m.a = {.solid = {Box{{0.05, 0.04, 0.001}}, 0.001},
         .mass = 1,
         .inertia = {1e-3, 1e-3, 2e-3}};
  m.b = {.solid = {Sphere{0.01}, 0.01},
         .mass = 0.1,
         .inertia = {4e-6, 4e-6, 4e-6},
         .p = {0, 0, 1000.011},
         .v = {0, 0, -1}};
  m.gravity = {0, 0, 0};
  const Model model = model_of(m);
  State state = state_of(model, m);
  StepStatus status{};
  StepCounts counts;
  EXPECT_NEAR(first_touch(model, state, 2000, 1e-6, status, counts), 1000, 1e-9);
  EXPECT_LT(counts.steps, 30u);
  EXPECT_LT(counts.distances, 100u);
}

TEST(Meetings, AFlightAlongAGroundTakesFewDistances) {
  // A brick glides a micrometre above the ground.
  Encounter m;
  m.a = {.solid = {Plane{}, HUGE_VAL}};
  m.b = {.solid = {Box{{0.05, 0.04, 0.02}}, 0.02},
         .mass = 1,
         .inertia = {1e-3, 1e-3, 2e-3},
         .p = {0, 0, 0.020001},
         .v = {100, 30, 0},
         .w = {0, 0, 5}};
  const Model model = model_of(m);
  State state = state_of(model, m);
  StepStatus status{};
  StepCounts counts;
  EXPECT_EQ(first_touch(model, state, 100, 1e-6, status, counts), HUGE_VAL);
  EXPECT_EQ(status, StepStatus::ok);
  EXPECT_LT(counts.distances, 4 * counts.steps);
}

TEST(Meetings, PointsThatJoinATouchingPairAreFoundByTheEndOfTheStep) {
  // Bricks that tumble onto a block: corners and edges join while others touch.
  for (unsigned seed = 1; seed <= (soaks() ? 300u : 20u); ++seed) {
    Draw draw(seed);
    Encounter m;
    m.gravity = {0, 0, -9.81};
    m.a = {.solid = {Box{{0.3, 0.3, 0.05}}, 0.05}};
    m.b = {.solid = {Box{{0.05, 0.04, 0.02}}, 0.02},
           .mass = 1,
           .inertia = {7e-4, 1e-3, 1.4e-3},
           .p = {0, 0, 0.15},
           .v = {draw.between(-1, 1), 0, -1},
           .w = draw.between(0, 20) * draw.direction(),
           .turn = draw.turn()};
    const Model model = model_of(m);
    State state = state_of(model, m);
    Adaptive clock(model, {.rtol = 1e-6});
    int most = 0;
    StepObserver observer;
    observer.on_step = [&](const State& now) {
      Workspace<double> ws(model.tree);
      kinematics<double>(model.tree, now.q, now.v, ws);
      const auto found = test::contacts(
          model.shapes[0].shape, model.shapes[0].in_link, model.shapes[1].shape,
          ws.poses[static_cast<std::size_t>(model.shapes[1].link)] *
              model.shapes[1].in_link);
      int inside = 0, acting = 0;
      for (const auto& point : found) inside += point.depth > 1e-6 * m.size();
      for (std::size_t i = 0; i < static_cast<std::size_t>(now.contacts.count); ++i) {
        acting += !now.contacts.key[i].empty() && now.contacts.episode[i] != 0;
      }
      EXPECT_LE(inside, acting) << "seed " << seed << " at " << now.time;
      most = std::max(most, acting);
      return !::testing::Test::HasFailure();
    };
    ASSERT_EQ(clock.advance_to(state, 0.3, observer), StepStatus::ok) << "seed " << seed;
    EXPECT_GT(most, 0);
  }
}

TEST(Meetings, OfFixedStepsAreFoundOrTold) {
  const unsigned cases = soaks() ? 5000 : 300;
  int met = 0, touched = 0, told = 0;
  for (unsigned seed = 1; seed <= cases; ++seed) {
    Draw draw(seed);
    Encounter m = draw.meeting();
    m.a.w = m.b.w = {0, 0, 0};  // the closed form holds for fixed steps as well
    m.gravity = {0, 0, 0};
    const double thin = std::min(m.size(), 0.1);
    const double truth = time_of_meeting(m, 0.3 * thin);
    if (!(truth < m.duration)) continue;
    ++met;
    const Model model = model_of(m);
    State state = state_of(model, m);
    FixedStep clock(model, {.method = Method::semi_implicit_euler, .step = 1e-3});
    bool touch = false;
    StepObserver observer;
    observer.on_event = [&](const State&, const Event& event) {
      touch = touch || event.kind == EventKind::touch;
    };
    observer.on_step = [&](const State&) { return !touch; };
    clock.advance_to(state, truth + 2e-3, observer);
    touched += touch;
    told += !touch && clock.counts().passages > 0;
    EXPECT_TRUE(touch || clock.counts().passages > 0)
        << "seed " << seed << ", " << name_of_pair(m);
    EXPECT_EQ(clock.warnings().empty(), clock.counts().passages == 0);
  }
  EXPECT_GT(touched, met / 4);
  EXPECT_GT(told, met / 100);
  std::printf("%d meet, %d touch, %d are told to have gone through\n", met, touched,
              told);
}

/// Touches and lift-offs of a run, by pair.
struct Happened {
  std::map<std::tuple<std::uint32_t, std::uint32_t, EventKind>, int> counts;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, bool> touching;
  bool in_turn = true;  // each contact touches, lifts off, touches …

  StepObserver observer() {
    StepObserver watch;
    watch.on_event = [this](const State&, const Event& event) {
      const bool touch = event.kind == EventKind::touch;
      if (!touch && event.kind != EventKind::lift_off) return;
      const ContactKey& key = event.contact;
      ++counts[{key.a, key.b, event.kind}];
      bool& now = touching[{key.a, key.b, key.feature}];
      in_turn = in_turn && now != touch;
      now = touch;
    };
    return watch;
  }
};

TEST(Events, OfThreeBouncingBallsAreThoseOfShortSteps) {
  for (unsigned seed = 1; seed <= (soaks() ? 50u : 4u); ++seed) {
    test::Random random(seed);
    ModelBuilder builder;
    builder.add_shape({.name = "ground", .shape = Plane{}});
    for (int i = 0; i < 3; ++i) {
      const double r = random.uniform(0.02, 0.06), mass = 4190 * r * r * r;
      validation::add_free(builder, validation::numbered("ball", i), mass,
                           validation::ball_inertia(mass, r), Sphere{r});
    }
    builder.add_contact({.normal = choose<HuntCrossley>(
                             {.stiffness = 1e5, .exponent = 1.5, .dissipation = 0.3}),
                         .friction = choose<Frictionless>()});
    const Model model = validation::built(builder);
    State state = make_state(model);
    for (int i = 0; i < 3; ++i) {
      validation::put(
          model, state, validation::numbered("ball", i),
          {random.uniform(-0.05, 0.05), random.uniform(-0.05, 0.05), 0.15 + 0.15 * i},
          {random.uniform(-0.5, 0.5), random.uniform(-0.5, 0.5), random.uniform(-1, 1)});
    }
    State same = state;
    Happened located, seen;
    Adaptive adaptive(model, {.rtol = 1e-9});
    ASSERT_EQ(adaptive.advance_to(state, 0.5, located.observer()), StepStatus::ok);
    FixedStep fixed(model, {.method = Method::runge_kutta_4, .step = 2e-6});
    ASSERT_EQ(fixed.advance_to(same, 0.5, seen.observer()), StepStatus::ok);
    EXPECT_TRUE(located.in_turn) << "seed " << seed;
    EXPECT_EQ(located.counts, seen.counts) << "seed " << seed;
    EXPECT_GT(located.counts.size(), 1u);
  }
}

}  // namespace
}  // namespace bristle::meetings
