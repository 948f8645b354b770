#include <gtest/gtest.h>

#include <cstring>

#include "bristle/run.hpp"
#include "tests/validation/scenes.hpp"

// The life of contacts: identity, episodes, frames, memory.

namespace bristle {
namespace {

using validation::add_free;
using validation::ball_inertia;
using validation::box_inertia;
using validation::built;
using validation::place_of;
using validation::put;

const LawChoice sticky =
    choose<SpringSlider>({.mu = 0.8, .stiffness = 1e4, .damping = 5});

LawChoice bouncing(double restitution) {
  return choose<GonthierNormal>({.stiffness = 1e6,
                                 .exponent = 1.5,
                                 .restitution = restitution,
                                 .impact_speed_floor = 1e-3});
}

struct ClosedRow {
  std::uint32_t episode;
  double depth, approach;
  Frame<double> frame;
  Vec3<double> point;
};

std::vector<ClosedRow> closed(const State& state) {
  std::vector<ClosedRow> rows;
  const ContactRows& all = state.contacts;
  for (std::size_t i = 0; i < static_cast<std::size_t>(all.count); ++i) {
    if (all.key[i].empty() || all.episode[i] == 0) continue;
    rows.push_back(
        {all.episode[i], all.depth[i], all.approach[i], all.frame[i], all.point[i]});
  }
  return rows;
}

TEST(Rows, ABallThatBouncesBeginsAnEpisodeEachTime) {
  ModelBuilder builder;
  builder.add_shape({.name = "ground", .shape = Plane{}});
  add_free(builder, "ball", 1, ball_inertia(1, 0.1), Sphere{0.1});
  builder.add_contact({.normal = bouncing(0.8), .friction = sticky});
  const Model model = built(builder);
  State state = make_state(model);
  put(model, state, "ball", {0, 0, 0.6});
  FixedStep clock(model, {.method = Method::runge_kutta_4, .step = 1e-4});
  std::uint32_t episodes = 0;
  double before = 0;
  while (state.time < 2) {
    ASSERT_EQ(clock.step(state), StepStatus::ok);
    ASSERT_EQ(clock.settle(state), StepStatus::ok);
    if (state.episodes == episodes) continue;
    ASSERT_EQ(state.episodes, ++episodes);
    const double approach = closed(state)[0].approach;
    // The first from a height of 0.5 m, the others 0.8 of the one before, less what
    // gravity takes while the ground is soft. Known to the second order in the step.
    if (episodes == 1) {
      EXPECT_NEAR(approach, std::sqrt(2 * 9.81 * 0.5), 1e-5);
    } else {
      EXPECT_NEAR(approach, 0.8 * before, 0.03 * before);
    }
    before = approach;
  }
  EXPECT_GE(episodes, 4u);
}

TEST(Rows, ABoxKeepsItsContactsWhileItSlidesAndTurns) {
  ModelBuilder builder;
  builder.add_shape({.name = "ground", .shape = Plane{}});
  const Vec3<double> half{0.1, 0.1, 0.05};
  add_free(builder, "table", 20, box_inertia(20, {1, 1, 0.1}), Box{{1, 1, 0.1}});
  add_free(builder, "box", 1, box_inertia(1, half), Box{half});
  builder.add_contact({.normal = bouncing(0.3), .friction = choose<Coulomb>()});
  const Model model = built(builder);
  State state = make_state(model);
  put(model, state, "table", {0, 0, 0.1 - 1e-4});
  put(model, state, "box", {-0.2, 0, 0.25 - 1.5e-4}, {0.8, 0, 0}, {0, 0, 2});
  FixedStep clock(model, {.step = 1e-4});
  for (int i = 0; i < 500; ++i) ASSERT_EQ(clock.step(state), StepStatus::ok);
  const std::uint32_t early = state.episodes;
  std::vector<std::uint32_t> ids;
  for (const ClosedRow& row : closed(state)) ids.push_back(row.episode);
  EXPECT_EQ(ids.size(), 8u);  // four corners on each of the two
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(clock.step(state), StepStatus::ok);
  EXPECT_EQ(state.episodes, early);
  std::vector<std::uint32_t> later;
  for (const ClosedRow& row : closed(state)) later.push_back(row.episode);
  EXPECT_EQ(ids, later);
}

/// A ball that spins about the normal takes its bristles along by half of the turn.
TEST(Rows, FramesTurnWithTheMeanSpin) {
  ModelBuilder builder;
  builder.add_shape({.name = "ground", .shape = Plane{}});
  add_free(builder, "ball", 1, ball_inertia(1, 0.1), Sphere{0.1});
  builder.add_contact({.normal = choose<Hertz>(), .friction = choose<Frictionless>()});
  const Model model = built(builder);
  const double rest = std::pow(9.81 / default_params<Hertz>().stiffness, 2.0 / 3);
  for (const Method method : {Method::semi_implicit_euler, Method::runge_kutta_4}) {
    State state = make_state(model);
    put(model, state, "ball", {0, 0, 0.1 - rest}, {0, 0, 0}, {0, 0, 3});
    FixedStep clock(model, {.method = method, .step = 1e-4});
    ASSERT_EQ(clock.settle(state), StepStatus::ok);
    const Vec3<double> start = closed(state)[0].frame.t1;
    while (state.time < 0.5) ASSERT_EQ(clock.step(state), StepStatus::ok);
    ASSERT_EQ(clock.settle(state), StepStatus::ok);
    const Frame<double> frame = closed(state)[0].frame;
    const double turned =
        std::atan2(dot(cross(start, frame.t1), frame.n), dot(start, frame.t1));
    EXPECT_NEAR(turned, 0.5 * 3 * state.time, 1e-6);
    EXPECT_NEAR(norm(frame.t1), 1, 1e-14);
    EXPECT_NEAR(dot(frame.t1, frame.n), 0, 1e-14);
  }
}

/// A is the softer the more of the overlap it takes; with the ground all soft, a ball
/// keeps its arm.
TEST(Rows, TheForceActsWhereTheSharesSay) {
  for (const double share : {0.0, 0.3, 1.0}) {
    ModelBuilder builder;
    builder.add_shape({.name = "ground", .shape = Plane{}});
    add_free(builder, "ball", 1, ball_inertia(1, 0.1), Sphere{0.1});
    builder.add_contact({.a = "ground",
                         .b = "ball",
                         .normal = choose<Hertz>(),
                         .friction = sticky,
                         .share_a = share});
    const Model model = built(builder);
    State state = make_state(model);
    put(model, state, "ball", {0, 0, 0.09});
    FixedStep clock(model, {});
    ASSERT_EQ(clock.settle(state), StepStatus::ok);
    EXPECT_NEAR(closed(state)[0].depth, 0.01, 1e-15);
    EXPECT_NEAR(closed(state)[0].point.z, -0.01 * share, 1e-15);
  }
}

TEST(Rows, ToldWhenThereAreMoreContactsThanRoom) {
  ModelBuilder builder;
  builder.add_shape({.name = "ground", .shape = Plane{}});
  for (int i = 0; i < 12; ++i) {
    add_free(builder, validation::numbered("b", i), 1, ball_inertia(1, 0.1), Sphere{0.1});
  }
  builder.add_contact({.normal = choose<Hertz>(), .friction = sticky});
  builder.options({.contact_capacity = 4});
  const Model model = built(builder);
  State state = make_state(model);
  for (int i = 0; i < 12; ++i) {
    put(model, state, validation::numbered("b", i), {0.3 * i, 0, 0.099});
  }
  FixedStep clock(model, {});
  const State before = state;
  EXPECT_EQ(clock.step(state), StepStatus::too_many_contacts);
  EXPECT_EQ(state.q, before.q);
  EXPECT_NE(explain(StepStatus::too_many_contacts).find("contact_capacity"),
            std::string_view::npos);
}

/// A step that finds no room leaves the ledger as it was, however often it is tried.
TEST(Rows, AFailedStepChangesNothing) {
  ModelBuilder builder;
  builder.add_shape({.name = "ground", .shape = Plane{}});
  for (int i = 0; i < 12; ++i) {
    add_free(builder, validation::numbered("b", i), 1, ball_inertia(1, 0.1), Sphere{0.1});
  }
  builder.add_contact({.normal = bouncing(0.4), .friction = sticky});
  builder.options({.contact_capacity = 4});
  const Model model = built(builder);
  for (const int threads : {1, 2}) {
    State state = make_state(model);
    for (int i = 0; i < 12; ++i) {
      put(model, state, validation::numbered("b", i), {0.3 * i, 0, i < 4 ? 0.0999 : 0.2},
          {0.3, 0, 0});
    }
    FixedStep clock(model, {.step = 1e-4, .threads = threads});
    StepStatus status = StepStatus::ok;
    while (status == StepStatus::ok) status = clock.step(state);
    ASSERT_EQ(status, StepStatus::too_many_contacts);
    const State before = state;
    for (int k = 0; k < 10; ++k) EXPECT_NE(clock.step(state), StepStatus::ok);
    EXPECT_EQ(std::memcmp(&state.works, &before.works, sizeof(Works)), 0);
    EXPECT_EQ(state.episodes, before.episodes);
    EXPECT_EQ(state.q, before.q);
  }
}

/// Exchanging A and B changes nothing but signs.
TEST(Rows, TheOrderOfTheShapesDoesNotMatter) {
  const auto run = [](bool ground_first) {
    ModelBuilder builder;
    if (ground_first) builder.add_shape({.name = "ground", .shape = Plane{}});
    add_free(builder, "ball", 1, ball_inertia(1, 0.1), Sphere{0.1});
    if (!ground_first) builder.add_shape({.name = "ground", .shape = Plane{}});
    builder.add_contact({.normal = bouncing(0.5), .friction = sticky});
    const Model model = built(builder);
    State state = make_state(model);
    put(model, state, "ball", {0, 0, 0.12}, {1, 0.5, 0}, {0, 0, 8});
    FixedStep clock(model, {.method = Method::runge_kutta_4, .step = 2e-4});
    while (state.time < 0.5) EXPECT_EQ(clock.step(state), StepStatus::ok);
    return state;
  };
  const State one = run(true);
  const State two = run(false);
  for (std::size_t k = 0; k < one.q.size(); ++k) EXPECT_NEAR(one.q[k], two.q[k], 1e-10);
  for (std::size_t k = 0; k < one.v.size(); ++k) EXPECT_NEAR(one.v[k], two.v[k], 1e-9);
}

/// Few pairs are looked at one by one, many through the broad phase: the same motion.
TEST(Rows, TheBroadPhaseFindsWhatLookingAtAllPairsFinds) {
  const auto run = [](int spectators) {
    ModelBuilder builder;
    builder.add_shape({.name = "ground", .shape = Plane{}});
    for (int i = 0; i < 6 + spectators; ++i) {
      const std::string name = validation::numbered("b", i);
      i % 2 == 0 ? add_free(builder, name, 1, ball_inertia(1, 0.1), Sphere{0.1})
                 : add_free(builder, name, 1, box_inertia(1, {0.1, 0.1, 0.1}),
                            Box{{0.1, 0.1, 0.1}});
    }
    builder.add_contact({.normal = bouncing(0.4), .friction = sticky});
    const Model model = built(builder);
    EXPECT_EQ(model.broad_phase, spectators > 0);
    State state = make_state(model);
    for (int i = 0; i < 6; ++i) {
      put(model, state, validation::numbered("b", i),
          {0.02 * i, 0.03 * (i % 2), 0.15 + 0.25 * i});
    }
    for (int i = 6; i < 6 + spectators; ++i) {
      put(model, state, validation::numbered("b", i), {10.0 * i, 0, 100});
    }
    FixedStep clock(model, {.step = 1e-4});
    while (state.time < 0.6) EXPECT_EQ(clock.step(state), StepStatus::ok);
    return std::vector<double>(state.q.begin(), state.q.begin() + 42);
  };
  EXPECT_EQ(run(0), run(40));
}

/// Ground that recovers stores energy after the body has left; that contact is kept until
/// it is flat again, and the ledger stays balanced.
TEST(Rows, AGroundThatRecoversIsNotForgotten) {
  ModelBuilder builder;
  builder.add_shape({.name = "ground", .shape = Plane{}});
  add_free(builder, "ball", 1, ball_inertia(1, 0.1), Sphere{0.1});
  builder.add_contact(
      {.normal = choose<AzadFeatherstoneRecovery>({.stiffness = 1e6, .damping = 1e4}),
       .friction = choose<Frictionless>()});
  const Model model = built(builder);
  State state = make_state(model);
  put(model, state, "ball", {0, 0, 0.3});
  const RunSummary summary =
      simulate(model, state,
               {.clock = {.method = Method::runge_kutta_4, .step = 1e-5},
                .duration = 0.6,
                .observe_every = 1e-4},
               [](const Observation& seen) { return seen.state.episodes < 3; });
  EXPECT_EQ(summary.status, StepStatus::ok);
  EXPECT_LT(summary.audit.relative(), 1e-5);
}

TEST(Rows, LedgersOfSingleContactsAddUpToTheTotals) {
  ModelBuilder builder;
  builder.add_shape({.name = "ground", .shape = Plane{}});
  add_free(builder, "one", 1, ball_inertia(1, 0.1), Sphere{0.1});
  add_free(builder, "two", 1, ball_inertia(1, 0.1), Sphere{0.1});
  builder.add_contact({.normal = bouncing(0.2), .friction = sticky});
  builder.options({.contact_ledger = true});
  const Model model = built(builder);
  for (const Method method : {Method::semi_implicit_euler, Method::bogacki_shampine}) {
    State state = make_state(model);
    put(model, state, "one", {0, 0, 0.0999}, {0.4, 0, -0.1}, {0, 0, 0});
    put(model, state, "two", {1, 0, 0.0999}, {0, 0.2, -0.1}, {0, 0, 0});
    FixedStep clock(model, {.method = method, .step = 1e-4});
    for (int i = 0; i < 200; ++i) ASSERT_EQ(clock.step(state), StepStatus::ok);
    ASSERT_EQ(clock.settle(state), StepStatus::ok);
    const MemoryLayout layout(model);
    double normal = 0, slip = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(state.contacts.count); ++i) {
      const auto column = [&](int k) {
        return state.contacts
            .memory[static_cast<std::size_t>(k) * state.contacts.capacity() + i];
      };
      normal += column(layout.normal_ledger);
      slip += column(layout.friction_ledger + 1);
    }
    ASSERT_EQ(closed(state).size(), 2u);
    EXPECT_GT(normal, 0);
    EXPECT_GT(slip, 0);
    EXPECT_NEAR(normal, state.works.normal.damping, 1e-12);
    EXPECT_NEAR(slip, state.works.friction.slip, 1e-12);
  }
}

/// A body that comes down on another.
struct Meeting {
  const char* what;
  Shape below;  // fixed, with its top at z = 0
  Transform<double> below_at;
  Shape above;
  Vec3<double> half;  // of a box with its inertia [m]
  Vec3<double> at, velocity, turning;
  Mat3<double> turned;
};

// Where sides are clipped against each other contact points run along the surfaces, come
// and go; that adds to the stored energy and takes from it. It is counted as exactly as
// the rest.
TEST(Rows, LedgerBalancesWhileContactPointsMoveAlongTheSurfaces) {
  using validation::about_x;
  const Mat3<double> lying = about_x(std::acos(-1.0) / 2);
  const Box slab{{1, 1, 0.1}};
  const Transform<double> under{Mat3<double>::identity(), {0, 0, -0.1}};
  const Meeting meetings[] = {
      {"a cylinder rocks on a box",
       slab,
       under,
       Cylinder{0.05, 0.06},
       {0.05, 0.05, 0.06},
       {0, 0, 0.08},
       {0, 0, 0},
       {2, 1, 5},
       Mat3<double>::identity()},
      {"a cylinder rocks on a plane",
       Plane{},
       Transform<double>{},
       Cylinder{0.05, 0.06},
       {0.05, 0.05, 0.06},
       {0, 0, 0.08},
       {0, 0, 0},
       {2, 1, 5},
       Mat3<double>::identity()},
      {"a box turns on a box of its size",
       Box{{0.05, 0.05, 0.1}},
       under,
       Box{{0.05, 0.05, 0.03}},
       {0.05, 0.05, 0.03},
       {0.002, 0, 0.031},
       {0, 0, 0},
       {0.3, 0, 3},
       Mat3<double>::identity()},
      {"a capsule comes to lie along a capsule",
       Capsule{0.03, 0.06},
       {lying, {0, 0, -0.03}},
       Capsule{0.03, 0.06},
       {0.03, 0.09, 0.03},
       {0, 0.02, 0.031},
       {0, 0, -0.5},
       {0, 0, 0},
       about_x(std::acos(-1.0) / 2 + 0.02)},
  };
  for (const Meeting& meeting : meetings) {
    SCOPED_TRACE(meeting.what);
    ModelBuilder builder;
    builder.add_shape(
        {.name = "below", .shape = meeting.below, .pose = meeting.below_at});
    add_free(builder, "above", 1, box_inertia(1, meeting.half), meeting.above);
    builder.add_contact(
        {.normal = choose<HuntCrossley>(
             {.stiffness = 1e6, .exponent = 1.5, .dissipation = 0.5}),
         .friction = choose<SpringSlider>({.mu = 0.4, .stiffness = 2e4, .damping = 5})});
    const Model model = built(builder);
    State state = make_state(model);
    put(model, state, "above", meeting.at, meeting.velocity, meeting.turning);
    const Quaternion<double> q = from_matrix(meeting.turned);
    double* turned = state.q.data() + place_of(model, "above").q + 3;
    turned[0] = q.w, turned[1] = q.x, turned[2] = q.y, turned[3] = q.z;
    const RunSummary summary =
        simulate(model, state,
                 {.clock = {.method = Method::runge_kutta_4, .step = 2.5e-5},
                  .duration = 0.15,
                  .observe_every = 5e-5});
    EXPECT_EQ(summary.status, StepStatus::ok);
    EXPECT_LT(summary.audit.relative(), 1e-6);
  }
}

}  // namespace
}  // namespace bristle
