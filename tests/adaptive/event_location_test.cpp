#include "bristle/adaptive/event_location.hpp"

#include <gtest/gtest.h>

#include "tests/adaptive/falling_ball.hpp"

namespace bristle {
namespace {

using validation::ball_gravity;
using validation::ball_on_guide;
using validation::BallParts;

struct Awkward {
  const char* name;
  double (*f)(double);
  double root;
};

// Functions between 0 and 1 that change their sign once.
const Awkward awkward[] = {
    {"straight", [](double x) { return x - 0.3; }, 0.3},
    {"steep at its end", [](double x) { return std::exp(40 * (x - 1)) - 1e-6; },
     1 - std::log(1e6) / 40},
    {"falling", [](double x) { return 0.7 - std::sqrt(x); }, 0.49},
    {"flat at its root", [](double x) { return std::pow(x - 0.25, 5); }, 0.25},
    {"from round-off to high up", [](double x) { return 1e8 * x * x * x - 1e-9; },
     std::cbrt(1e-17)}};

TEST(FindRoot, IsAsGoodAsItsFunction) {
  for (const Awkward& now : awkward) {
    int evaluations = 0;
    const auto f = [&](double x) {
      ++evaluations;
      return now.f(x);
    };
    const double x = find_root(f, {0, now.f(0)}, {1, now.f(1)});
    // To rounding of the place, or where the function is rounding of its larger end.
    const double small = 1e-13 * std::max(std::abs(now.f(0)), std::abs(now.f(1)));
    EXPECT_TRUE(std::abs(x - now.root) < 1e-15 || std::abs(now.f(x)) <= small)
        << now.name << " " << x;
    EXPECT_LE(evaluations, 60) << now.name;
  }
}

TEST(FindRoot, WithASlopeTakesFewEvaluations) {
  for (const Awkward& now : awkward) {
    int evaluations = 0;
    const auto f = [&](double x) {
      ++evaluations;
      const double h = 1e-7;
      return SlopedValue{now.f(x), (now.f(x + h) - now.f(x - h)) / (2 * h)};
    };
    const double x = find_root_with_slope(f, {0, now.f(0)}, {1, now.f(1)}, 0);
    const bool flat = std::string_view(now.name).starts_with("flat");
    EXPECT_NEAR(x, now.root, flat ? 1e-3 : 1e-9) << now.name;
    EXPECT_LE(evaluations, 100) << now.name;
  }
  // A parabola with its slope at the lower end is met at once.
  int evaluations = 0;
  const auto fall = [&](double x) {
    ++evaluations;
    return SlopedValue{3 * x * x + x - 1, 6 * x + 1};
  };
  const double root = (std::sqrt(13.0) - 1) / 6;
  EXPECT_NEAR(find_root_with_slope(fall, {0, -1}, {1, 3}, 1), root, 1e-15);
  EXPECT_LE(evaluations, 2);
}

TEST(EventLocator, ATouchIsFoundWithinALongStep) {
  const Model model = ball_on_guide();
  BallParts parts(model);
  parts.begin(1, 0);
  const StepEvent event = parts.take(0.6);
  ASSERT_GE(event.guard, 0);
  EXPECT_TRUE(parts.ode.guards().is_depth(static_cast<std::size_t>(event.guard)));
  EXPECT_NEAR(event.where * 0.6, std::sqrt(2 / ball_gravity), 1e-15);
}

TEST(EventLocator, NothingHappensInFlight) {
  const Model model = ball_on_guide();
  BallParts parts(model);
  parts.begin(1, 0);
  const StepEvent event = parts.take(0.4);
  EXPECT_EQ(event.guard, -1);
  EXPECT_GT(event.where, 1);
}

// Thrown up, the ball reaches v²/2g: a trifle beyond the ceiling, or not quite. It is out
// at both ends of the step.
TEST(EventLocator, AContactThatComesAndGoesWithinAStepIsMet) {
  const double speed = 3, height = speed * speed / (2 * ball_gravity);
  for (const double beyond : {1e-3, 1e-6, 1e-9}) {
    const Model model = ball_on_guide(height - beyond);
    BallParts parts(model);
    parts.begin(1e-6, speed);
    const StepEvent event = parts.take(0.55);
    ASSERT_GE(event.guard, 0) << beyond;
    // 1e-6 + v t − g t²/2 = height − beyond
    const double rise = height - beyond - 1e-6;
    const double touch =
        (speed - std::sqrt(speed * speed - 2 * ball_gravity * rise)) / ball_gravity;
    EXPECT_NEAR(event.where * 0.55, touch, 1e-13 / std::sqrt(beyond)) << beyond;
  }
  for (const double short_of : {1e-3, 2e-6}) {
    const Model model = ball_on_guide(height + short_of);
    BallParts parts(model);
    parts.begin(1e-6, speed);
    const StepEvent event = parts.take(0.55);
    EXPECT_EQ(event.guard, -1) << short_of;
    EXPECT_GT(event.where, 1) << short_of;
  }
}

TEST(EventLocator, OfTwoContactsTheFirstOneIsTheEvent) {
  const Model model = ball_on_guide(0.1);
  BallParts parts(model);
  // Up to the ceiling, which it is inside of at the end of the step.
  parts.begin(0.05, 2);
  const StepEvent event = parts.take(0.03);
  ASSERT_GE(event.guard, 0);
  const double touch = (2 - std::sqrt(4 - 2 * ball_gravity * 0.05)) / ball_gravity;
  EXPECT_NEAR(event.where * 0.03, touch, 1e-14);
}

TEST(EventLocator, TheEndOfAContactIsLocated) {
  const Model model = ball_on_guide();
  BallParts parts(model, 1e-2);  // √δ is not smooth there: a loose step
  parts.begin(-1e-5, 0.5);
  ASSERT_TRUE(parts.ode.acts(0));
  const StepEvent event = parts.take(2.5e-5);
  ASSERT_GE(event.guard, 0);
  Step::Vector there;
  parts.step.interpolate(event.where, there);
  EXPECT_NEAR(there[0], 0, 1e-16);
}

TEST(EventLocator, ATimeIsFoundWithinAStep) {
  const Model model = ball_on_guide();
  BallParts parts(model);
  parts.begin(1, 0);
  parts.take(0.4);
  EXPECT_NEAR(parts.locator.place_of_time(0.1, 1), 0.25, 1e-15);
}

}  // namespace
}  // namespace bristle
