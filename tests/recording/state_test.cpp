#include <gtest/gtest.h>

#include <random>

#include "bristle/adaptive/adaptive.hpp"
#include "recording/crc32c.hpp"
#include "tests/recording/scenes.hpp"

namespace bristle::recording {
namespace {

struct Case {
  std::string name;
  Model (*model)();
  State (*state)(const Model&);
};

class Resuming : public ::testing::TestWithParam<Case> {};

INSTANTIATE_TEST_SUITE_P(All, Resuming,
                         ::testing::Values(Case{"Tumbling", tumbling, thrown},
                                           Case{"EveryLaw", every_law, sliding},
                                           Case{"Arm", arm, make_state}),
                         [](const auto& which) { return which.param.name; });

TEST_P(Resuming, AStateSurvivesBitByBit) {
  const Model model = GetParam().model();
  State state = GetParam().state(model);
  FixedStep clock(model, {.step = 2e-4});
  int in_contact = 0;
  for (int i = 0; i < 2000; ++i) {
    ASSERT_EQ(clock.step(state), StepStatus::ok);
    if (i % 20 != 0) continue;
    const Bytes bytes = serialise(model, state);
    Result<State> again = deserialise(bytes, model);
    ASSERT_TRUE(again) << again.error();
    EXPECT_EQ(serialise(model, *again), bytes);
    EXPECT_EQ(again->time, state.time);
    EXPECT_EQ(again->q, state.q);
    EXPECT_EQ(again->contacts.begin, state.contacts.begin);
    EXPECT_EQ(again->contacts.memory.size(), state.contacts.memory.size());
    for (int k = 0; k < state.contacts.count; ++k) {
      in_contact += state.contacts.episode[static_cast<std::size_t>(k)] != 0;
    }
  }
  EXPECT_GT(in_contact, 0);
}

TEST_P(Resuming, ARunGoesOnWithTheSameBytes) {
  const Model model = GetParam().model();
  for (const Method method : {Method::semi_implicit_euler, Method::runge_kutta_4,
                              Method::linearly_implicit_euler}) {
    State whole = GetParam().state(model);
    FixedStep clock(model, {.method = method, .step = 2e-4});
    for (int i = 0; i < 1000; ++i) ASSERT_EQ(clock.step(whole), StepStatus::ok);
    Result<State> resumed = deserialise(serialise(model, whole), model);
    ASSERT_TRUE(resumed) << resumed.error();
    FixedStep other(model, {.method = method, .step = 2e-4});
    for (int i = 0; i < 1000; ++i) {
      ASSERT_EQ(clock.step(whole), StepStatus::ok);
      ASSERT_EQ(other.step(*resumed), StepStatus::ok);
    }
    EXPECT_EQ(serialise(model, whole), serialise(model, *resumed)) << name_of(method);
  }
}

TEST(StateBytes, TheAdaptiveClockGoesOnAsFromACopy) {
  const Model model = tumbling();
  State state = thrown(model);
  Adaptive clock(model, {.rtol = 1e-6});
  ASSERT_EQ(clock.advance_to(state, 0.4), StepStatus::ok);
  Result<State> resumed = deserialise(serialise(model, state), model);
  ASSERT_TRUE(resumed) << resumed.error();
  State copy = state;
  Adaptive one(model, {.rtol = 1e-6}), two(model, {.rtol = 1e-6});
  ASSERT_EQ(one.advance_to(copy, 0.6), StepStatus::ok);
  ASSERT_EQ(two.advance_to(*resumed, 0.6), StepStatus::ok);
  EXPECT_EQ(serialise(model, copy), serialise(model, *resumed));
}

TEST(StateBytes, OtherModelsAreRefused) {
  const Model model = tumbling();
  const Bytes bytes = serialise(model, thrown(model));
  const Result<State> other = deserialise(bytes, arm());
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().find("another model"), std::string::npos) << other.error();

  ModelBuilder builder;
  const auto ball = [](double mass) {
    ModelBuilder b;
    add_free(b, "ball", mass, ball_inertia(1, 0.1), Sphere{0.1});
    return built(b);
  };
  const Model light = ball(1), heavy = ball(2);
  const Bytes of_light = serialise(light, make_state(light));
  const Result<State> refused = deserialise(of_light, heavy);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().find("other numbers"), std::string::npos) << refused.error();
  EXPECT_TRUE(deserialise(of_light, heavy, Match::layout));
}

TEST(StateBytes, AnotherFormatIsRefusedByItsNumber) {
  const Model model = tumbling();
  Bytes bytes = serialise(model, thrown(model));
  ASSERT_EQ(bytes[7], std::byte{'4'});
  bytes[7] = std::byte{'3'};
  bytes.resize(bytes.size() - sizeof(std::uint32_t));
  ByteWriter(bytes).put(crc32c(bytes));
  const Result<State> refused = deserialise(bytes, model);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), "the state is of format 3; this program reads format 4");
}

TEST(StateBytes, DamageIsNoticed) {
  const Model model = tumbling();
  State state = thrown(model);
  FixedStep clock(model, {.step = 2e-4});
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(clock.step(state), StepStatus::ok);
  const Bytes bytes = serialise(model, state);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    ASSERT_FALSE(deserialise(std::span(bytes).first(length), model)) << length;
  }
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    Bytes wrong = bytes;
    wrong[i] ^= std::byte{0x10};
    ASSERT_FALSE(deserialise(wrong, model)) << i;
  }
}

}  // namespace
}  // namespace bristle::recording
