#include "bristle/core/math.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

#include "tests/core/random_bits.hpp"

// exp, log and pow against the C library in long double, whose 64-bit mantissa leaves 11
// bits to judge double by and 40 to judge float by.

namespace bristle {
namespace {

using core_test::samples;
using core_test::ulps;
using core_test::uniform;

template <class N>
struct MathTest : ::testing::Test {
  std::mt19937_64 random{7};
};
using Numbers = ::testing::Types<double, float>;
TYPED_TEST_SUITE(MathTest, Numbers);

TYPED_TEST(MathTest, ExpIsWithinOneUnitInTheLastPlace) {
  using N = TypeParam;
  const double lowest = sizeof(N) == 8 ? -745.2 : -104.0;  // results down to subnormal
  const double highest = sizeof(N) == 8 ? 709.78 : 88.72;
  double worst = 0;
  N worst_at = 0;
  const auto check = [&](N x) {
    const double error = ulps(exp(x), std::exp(static_cast<long double>(x)));
    if (error > worst) {
      worst = error;
      worst_at = x;
    }
  };
  for (int i = 0; i < samples(200'000); ++i) {
    check(static_cast<N>(uniform(this->random, lowest, highest)));
    check(static_cast<N>(uniform(this->random, -1, 1)));
    check(static_cast<N>(std::exp(uniform(this->random, -80, 4)) *
                         (this->random() % 2 == 0 ? 1 : -1)));
  }
  EXPECT_LE(worst, 1.0) << "at " << worst_at;
  this->RecordProperty("worst_ulp", std::to_string(worst));
}

TYPED_TEST(MathTest, ExpAtTheEndsOfItsRange) {
  using N = TypeParam;
  using L = std::numeric_limits<N>;
  EXPECT_EQ(exp(N(0)), N(1));
  EXPECT_EQ(exp(N(-0.0)), N(1));
  EXPECT_EQ(exp(L::denorm_min()), N(1));
  EXPECT_EQ(exp(L::infinity()), L::infinity());
  EXPECT_EQ(exp(-L::infinity()), N(0));
  EXPECT_EQ(exp(L::max()), L::infinity());
  EXPECT_EQ(exp(L::lowest()), N(0));
  EXPECT_TRUE(std::isnan(exp(L::quiet_NaN())));
  // The last that is finite and the first that is not, the last that is not zero and the
  // first that is, by the library.
  const N overflow = static_cast<N>(std::log(static_cast<long double>(L::max())));
  for (N x = overflow - N(1e-4); x < overflow + N(1e-4);
       x = std::nextafter(x + (sizeof(N) == 8 ? N(1e-8) : N(0)), N(1000))) {
    EXPECT_EQ(std::isinf(exp(x)),
              std::isinf(static_cast<N>(std::exp(static_cast<long double>(x)))))
        << x;
  }
  EXPECT_GT(exp(N(sizeof(N) == 8 ? -745.13 : -103.97)), N(0));
  EXPECT_EQ(exp(N(sizeof(N) == 8 ? -745.14 : -103.98)), N(0));
}

TYPED_TEST(MathTest, LogIsWithinOneUnitInTheLastPlace) {
  using N = TypeParam;
  using L = std::numeric_limits<N>;
  double worst = 0;
  N worst_at = 0;
  const auto check = [&](N x) {
    const double error = ulps(log(x), std::log(static_cast<long double>(x)));
    if (error > worst) {
      worst = error;
      worst_at = x;
    }
  };
  for (int i = 0; i < samples(200'000); ++i) {
    N x = core_test::any_number<N>(this->random);
    x = std::fabs(x);
    if (x > 0 && std::isfinite(x)) check(x);
    check(static_cast<N>(uniform(this->random, 0.5, 2)));  // where ln x is near 0
  }
  EXPECT_LE(worst, 1.0) << "at " << worst_at;
  this->RecordProperty("worst_ulp", std::to_string(worst));
  EXPECT_EQ(log(N(1)), N(0));
  EXPECT_EQ(log(N(0)), -L::infinity());
  EXPECT_TRUE(std::isnan(log(N(-1))));
  EXPECT_TRUE(std::isnan(log(L::quiet_NaN())));
}

// The logarithm is carried in two parts, but for a remainder of about 2⁻⁵⁸ (2⁻²⁹) of ln x
// beyond the first: one unit for exp, and |p ln x| times that remainder.
TYPED_TEST(MathTest, PowersOfDepthsAreWithinTwoUnitsInTheLastPlace) {
  using N = TypeParam;
  using L = std::numeric_limits<N>;
  double worst = 0;
  N worst_at[2]{};
  for (int i = 0; i < samples(200'000); ++i) {
    // Depths from subnormal to kilometres, and exponents of contact laws.
    const double low = sizeof(N) == 8 ? -740 : -103;
    const N x =
        static_cast<N>(std::exp(uniform(this->random, i % 2 == 0 ? low : -30, 7)));
    const N exponents[]{N(1), N(1.5), N(2), N(3), N(0.5), N(0.25)};
    const N p = i % 3 == 0 ? exponents[this->random() % std::size(exponents)]
                           : static_cast<N>(uniform(this->random, -1, 4));
    const long double exact =
        std::pow(static_cast<long double>(x), static_cast<long double>(p));
    if (exact > static_cast<long double>(L::max()) || !(x > 0)) continue;
    const double error = ulps(pow(x, p), exact);
    if (error > worst) {
      worst = error;
      worst_at[0] = x;
      worst_at[1] = p;
    }
  }
  EXPECT_LE(worst, 2.0) << "at " << worst_at[0] << " to the power " << worst_at[1];
  this->RecordProperty("worst_ulp", std::to_string(worst));
}

TYPED_TEST(MathTest, PowersOfAnOpenContactAreZero) {
  using N = TypeParam;
  using L = std::numeric_limits<N>;
  for (const N x :
       {N(0), N(-0.0), N(-1), -L::denorm_min(), L::lowest(), -L::infinity()}) {
    for (const N p : {N(1), N(1.5), N(4), N(0), N(-1)}) EXPECT_EQ(pow(x, p), N(0));
  }
  EXPECT_EQ(pow(N(1), N(2.5)), N(1));
  EXPECT_EQ(pow(N(0.25), N(1)), N(0.25));
}

TYPED_TEST(MathTest, SmallWordsFollowTheirDefinitions) {
  using N = TypeParam;
  using L = std::numeric_limits<N>;
  for (int i = 0; i < samples(20'000); ++i) {
    const N a = core_test::any_number<N>(this->random);
    const N b = core_test::any_number<N>(this->random);
    if (a != a || b != b) continue;
    EXPECT_EQ(max(a, b), std::max(a, b));
    EXPECT_EQ(min(a, b), std::min(a, b));
    EXPECT_EQ(abs(a), std::fabs(a));
    EXPECT_EQ(root(a), a > 0 ? std::sqrt(a) : N(0));
    EXPECT_EQ(select(a < b, a, b), a < b ? a : b);
  }
  EXPECT_TRUE(std::isnan(sqrt(N(-1))));
  EXPECT_EQ(root(N(-1)), N(0));
  EXPECT_EQ(square(L::min()), N(0));
}

TYPED_TEST(MathTest, TwoToAndSplitAreExact) {
  using N = TypeParam;
  using L = std::numeric_limits<N>;
  for (int k = L::min_exponent - 1; k < L::max_exponent; ++k) {
    EXPECT_EQ(two_to(static_cast<N>(k)), std::ldexp(N(1), k));
  }
  for (int i = 0; i < 10'000; ++i) {
    const N x = std::fabs(core_test::any_number<N>(this->random));
    if (!std::isnormal(x)) continue;
    const Split<N> s = split(x);
    EXPECT_GE(s.mantissa, N(1));
    EXPECT_LT(s.mantissa, N(2));
    EXPECT_EQ(std::ldexp(s.mantissa, static_cast<int>(s.exponent)), x);
  }
}

}  // namespace
}  // namespace bristle
