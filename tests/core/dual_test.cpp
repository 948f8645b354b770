#include "bristle/core/dual.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "bristle/core/vec.hpp"
#include "tests/core/random_bits.hpp"

namespace bristle {
namespace {

using core_test::samples;
using core_test::uniform;
using D = Dual<double, 2>;

D x_at(double x) { return D::variable(x, 0); }
D y_at(double y) { return D::variable(y, 1); }

void expect_close(double found, double expected) {
  EXPECT_NEAR(found, expected, 1e-13 * (1 + std::fabs(expected)));
}

TEST(DualTest, EveryOperationHasItsClosedDerivative) {
  std::mt19937_64 random(3);
  for (int i = 0; i < samples(1000); ++i) {
    const double x = uniform(random, 0.1, 3);
    const double y = uniform(random, 0.1, 3);
    const D a = x_at(x);
    const D b = y_at(y);
    const auto expect = [&](const D& f, double value, double by_x, double by_y) {
      expect_close(f.value, value);
      expect_close(f.by[0], by_x);
      expect_close(f.by[1], by_y);
    };
    expect(a + b, x + y, 1, 1);
    expect(a - b, x - y, 1, -1);
    expect(a * b, x * y, y, x);
    expect(a / b, x / y, 1 / y, -x / (y * y));
    expect(-a, -x, -1, 0);
    expect(2 * a + 1, 2 * x + 1, 2, 0);
    expect(1 / b, 1 / y, 0, -1 / (y * y));
    expect(sqrt(a), std::sqrt(x), 0.5 / std::sqrt(x), 0);
    expect(root(a), std::sqrt(x), 0.5 / std::sqrt(x), 0);
    expect(exp(a * b), std::exp(x * y), y * std::exp(x * y), x * std::exp(x * y));
    expect(log(a), std::log(x), 1 / x, 0);
    const double power = std::pow(x, y);
    expect(pow(a, b), power, y * std::pow(x, y - 1), power * std::log(x));
    expect(square(a), x * x, 2 * x, 0);
    expect(max(a, b), std::max(x, y), x > y ? 1 : 0, x > y ? 0 : 1);
    expect(min(a, b), std::min(x, y), x < y ? 1 : 0, x < y ? 0 : 1);
    expect(abs(a - 1.5), std::fabs(x - 1.5), x < 1.5 ? -1 : 1, 0);
    expect(select(a < b, a * a, b), x < y ? x * x : y, x < y ? 2 * x : 0, x < y ? 0 : 1);
    D c = a;
    c += b;
    c *= b;
    c -= a;
    c /= a;
    expect(c, ((x + y) * y - x) / x, -y * y / (x * x), (x + 2 * y) / x);
  }
}

TEST(DualTest, ACompositionAgreesWithCentralDifferences) {
  const auto f = [](const auto& x, const auto& y) {
    return exp(-square(x) / y) * pow(y, x) + sqrt(x * x + log(y + 1)) / (2 + x * y);
  };
  std::mt19937_64 random(4);
  for (int i = 0; i < samples(1000); ++i) {
    const double x = uniform(random, 0.1, 3);
    const double y = uniform(random, 0.1, 3);
    const D d = f(x_at(x), y_at(y));
    const double h = 1e-5;
    EXPECT_NEAR(d.by[0], (f(x + h, y) - f(x - h, y)) / (2 * h), 1e-8);
    EXPECT_NEAR(d.by[1], (f(x, y + h) - f(x, y - h)) / (2 * h), 1e-8);
    EXPECT_EQ(d.value, f(x, y));
  }
}

TEST(DualTest, TheRootOfAnOpenContactHasDerivativeZero) {
  for (const double x : {0.0, -0.0, -1.0, -1e-320}) {
    EXPECT_EQ(root(x_at(x)).value, 0);
    EXPECT_EQ(root(x_at(x)).by[0], 0);
    EXPECT_EQ(pow(x_at(x), y_at(1.5)).by[0], 0);
    EXPECT_EQ(pow(x_at(x), y_at(1.5)).by[1], 0);
  }
  EXPECT_GT(root(x_at(5e-324)).by[0], 1e161);
  EXPECT_EQ(norm(Vec2<D>{x_at(0), y_at(0)}).by[0], 0);
}

TEST(DualTest, ComparisonsLookAtTheValueAlone) {
  EXPECT_TRUE(x_at(1) == y_at(1));
  EXPECT_FALSE(x_at(1) != y_at(1));
  EXPECT_TRUE(x_at(1) < y_at(2));
  EXPECT_TRUE(x_at(1) <= y_at(1));
  EXPECT_TRUE(x_at(2) > y_at(1));
  EXPECT_TRUE(x_at(1) >= y_at(1));
  EXPECT_EQ(value_of(x_at(3)), 3);
  EXPECT_EQ(value_of(3.0), 3);
}

TEST(DualTest, ADualOfPacksIsAPackOfDuals) {
  using P = NativePack<double>;
  using DP = Dual<P, 2>;
  constexpr int width = ScalarTraits<P>::lanes;
  const auto f = [](const auto& x, const auto& y) {
    using T = std::remove_cvref_t<decltype(x)>;
    return select(x < y, exp(-square(x) / y) * pow(y, x), root(x - y) * log(x)) +
           max(x, T(1)) / abs(y);
  };
  std::mt19937_64 random(5);
  for (int i = 0; i < samples(500); ++i) {
    P x(0);
    P y(0);
    for (int lane = 0; lane < width; ++lane) {
      x.set(lane, uniform(random, 0.1, 3));
      y.set(lane, uniform(random, 0.1, 3));
    }
    const DP together = f(DP::variable(x, 0), DP::variable(y, 1));
    for (int lane = 0; lane < width; ++lane) {
      const D alone = f(x_at(x[lane]), y_at(y[lane]));
      EXPECT_EQ(together.value[lane], alone.value);
      EXPECT_EQ(together.by[0][lane], alone.by[0]);
      EXPECT_EQ(together.by[1][lane], alone.by[1]);
    }
  }
}

}  // namespace
}  // namespace bristle
