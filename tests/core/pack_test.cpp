#include "bristle/core/pack.hpp"

#include <gtest/gtest.h>

#include <array>

#include "bristle/core/math.hpp"
#include "tests/core/random_bits.hpp"

// Each lane is the scalar operation, bit for bit, whatever the bits.

namespace bristle {
namespace {

using core_test::any_number;
using core_test::same_bits_or_nan;
using core_test::samples;

template <class P>
struct PackTest : ::testing::Test {
  using Number = Value<P>;
  static constexpr int width = ScalarTraits<P>::lanes;
  std::mt19937_64 random{11};

  P random_pack() {
    P p(0);
    for (int i = 0; i < width; ++i) p.set(i, any_number<Number>(random));
    return p;
  }

  template <class F, class... A>
  void expect_lanes(const char* name, const F& f, const A&... a) {
    const P together = f(a...);
    for (int i = 0; i < width; ++i) {
      const Number alone = f(a[i]...);
      EXPECT_TRUE(same_bits_or_nan(together[i], alone))
          << name << ", lane " << i << ": " << together[i] << " in the pack, " << alone
          << " alone, of " << ::testing::PrintToString(std::array{a[i]...});
    }
  }

  template <class F>
  void expect_masks(const char* name, const F& f, const P& a, const P& b) {
    const auto together = f(a, b);
    bool any_lane = false;
    bool all_lanes = true;
    for (int i = 0; i < width; ++i) {
      const bool alone = f(a[i], b[i]);
      EXPECT_EQ(together[i], alone) << name << " of " << a[i] << " and " << b[i];
      EXPECT_EQ((!together)[i], !alone);
      any_lane = any_lane || alone;
      all_lanes = all_lanes && alone;
    }
    EXPECT_EQ(any(together), any_lane);
    EXPECT_EQ(all(together), all_lanes);
  }
};

using Packs = ::testing::Types<NativePack<double>, NativePack<float>, Pack<double, 2>,
                               Pack<float, 4>>;
TYPED_TEST_SUITE(PackTest, Packs);

TYPED_TEST(PackTest, ArithmeticIsThatOfEachLane) {
  for (int i = 0; i < samples(5000) && !this->HasFailure(); ++i) {
    const TypeParam a = this->random_pack();
    const TypeParam b = this->random_pack();
    const TypeParam c = this->random_pack();
    this->expect_lanes("+", [](auto x, auto y) { return x + y; }, a, b);
    this->expect_lanes("-", [](auto x, auto y) { return x - y; }, a, b);
    this->expect_lanes("*", [](auto x, auto y) { return x * y; }, a, b);
    this->expect_lanes("/", [](auto x, auto y) { return x / y; }, a, b);
    this->expect_lanes("negation", [](auto x) { return -x; }, a);
    this->expect_lanes(
        "x y + z", [](auto x, auto y, auto z) { return x * y + z; }, a, b, c);
    this->expect_lanes(
        "+=",
        [](auto x, auto y) {
          x += y;
          x *= y;
          x -= y;
          x /= y;
          return x;
        },
        a, b);
  }
}

TYPED_TEST(PackTest, FunctionsAreThoseOfEachLane) {
  for (int i = 0; i < samples(5000) && !this->HasFailure(); ++i) {
    const TypeParam a = this->random_pack();
    const TypeParam b = this->random_pack();
    this->expect_lanes("sqrt", [](auto x) { return sqrt(x); }, a);
    this->expect_lanes("root", [](auto x) { return root(x); }, a);
    this->expect_lanes("exp", [](auto x) { return exp(x); }, a);
    this->expect_lanes("log", [](auto x) { return log(x); }, a);
    this->expect_lanes("pow", [](auto x, auto y) { return pow(x, y); }, a, b);
    this->expect_lanes("max", [](auto x, auto y) { return max(x, y); }, a, b);
    this->expect_lanes("min", [](auto x, auto y) { return min(x, y); }, a, b);
    this->expect_lanes("abs", [](auto x) { return abs(x); }, a);
    this->expect_lanes("square", [](auto x) { return square(x); }, a);
  }
}

TYPED_TEST(PackTest, PowersInTheRangeOfLawsAreThoseOfEachLane) {
  using N = Value<TypeParam>;
  for (int i = 0; i < samples(5000) && !this->HasFailure(); ++i) {
    TypeParam x(0);
    TypeParam p(0);
    for (int lane = 0; lane < this->width; ++lane) {
      x.set(lane, static_cast<N>(std::exp(core_test::uniform(this->random, -90, 3))));
      p.set(lane, static_cast<N>(core_test::uniform(this->random, -1, 4)));
    }
    this->expect_lanes("pow", [](auto a, auto b) { return pow(a, b); }, x, p);
    this->expect_lanes("log", [](auto a) { return log(a); }, x);
    this->expect_lanes("exp", [](auto a, auto b) { return exp(a * b); }, x, p);
  }
}

TYPED_TEST(PackTest, ComparisonsAndSelectionAreThoseOfEachLane) {
  for (int i = 0; i < samples(5000) && !this->HasFailure(); ++i) {
    TypeParam a = this->random_pack();
    const TypeParam b = this->random_pack();
    if (i % 3 == 0) a.set(0, b[0]);
    this->expect_masks("<", [](auto x, auto y) { return x < y; }, a, b);
    this->expect_masks(">", [](auto x, auto y) { return x > y; }, a, b);
    this->expect_masks("<=", [](auto x, auto y) { return x <= y; }, a, b);
    this->expect_masks(">=", [](auto x, auto y) { return x >= y; }, a, b);
    this->expect_masks("==", [](auto x, auto y) { return x == y; }, a, b);
    this->expect_masks("!=", [](auto x, auto y) { return x != y; }, a, b);
    const auto zero = [](auto x) { return decltype(x)(0); };
    this->expect_masks(
        "&&", [&](auto x, auto y) { return x > zero(x) && y > zero(y); }, a, b);
    this->expect_masks(
        "||", [&](auto x, auto y) { return x > zero(x) || y > zero(y); }, a, b);
    this->expect_lanes(
        "select", [](auto x, auto y) { return select(x < y, x, y); }, a, b);
  }
}

TYPED_TEST(PackTest, LoadsStoresAndSums) {
  using N = Value<TypeParam>;
  std::array<N, 3 * 64> memory{};
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<N>(i);
  for (std::size_t start = 0; start < 9; ++start) {  // any alignment
    const TypeParam p = TypeParam::load(&memory[start]);
    N sum_of_lanes = 0;
    for (int i = 0; i < this->width; ++i) {
      EXPECT_EQ(p[i], static_cast<N>(start) + static_cast<N>(i));
      sum_of_lanes += p[i];
    }
    EXPECT_EQ(sum(p), sum_of_lanes);
    std::array<N, 64> out{};
    (p + TypeParam(1)).store(&out[start]);
    for (std::size_t i = 0; i < out.size(); ++i) {
      const bool inside = i >= start && i < start + static_cast<std::size_t>(this->width);
      EXPECT_EQ(out[i], inside ? static_cast<N>(i) + N(1) : N(0));
    }
  }
  const TypeParam minus_zero(N(-0.0));
  for (int i = 0; i < this->width; ++i) EXPECT_TRUE(std::signbit(minus_zero[i]));
}

}  // namespace
}  // namespace bristle
