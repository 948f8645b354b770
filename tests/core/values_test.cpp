#include <gtest/gtest.h>

#include <cmath>

#include "bristle/core/fields.hpp"
#include "bristle/core/pack.hpp"
#include "bristle/core/vec.hpp"
#include "bristle/spatial/frame.hpp"
#include "tests/core/random_bits.hpp"

// Small vectors, structs as rows of numbers, contact frames.

namespace bristle {
namespace {

using core_test::uniform;
using V2 = Vec2<double>;
using V3 = Vec3<double>;

TEST(VecTest, TwoComponents) {
  const V2 a{3, 4};
  const V2 b{-2, 5};
  EXPECT_EQ(norm(a), 5);
  EXPECT_EQ(norm2(b), 29);
  EXPECT_EQ(dot(a, b), 14);
  const V2 c = 2 * (a - b) + -a;
  EXPECT_EQ(c.x, 7);
  EXPECT_EQ(c.y, -6);
  EXPECT_EQ(select(true, a, b).x, 3);
  EXPECT_EQ(select(false, a, b).y, 5);
}

TEST(VecTest, ThreeComponents) {
  const V3 a{1, 2, 2};
  const V3 b{-1, 0, 3};
  EXPECT_EQ(norm(a), 3);
  const V3 c = cross(a, b);
  EXPECT_EQ(c.x, 6);
  EXPECT_EQ(c.y, -5);
  EXPECT_EQ(c.z, 2);
  EXPECT_EQ(dot(c, a), 0);
  EXPECT_EQ(dot(c, b), 0);
  const V3 d = 2 * (a - b) + -a;
  EXPECT_EQ(d.x, 3);
  EXPECT_EQ(d.y, 2);
  EXPECT_EQ(d.z, -4);
}

template <class T>
struct Row {
  T a;
  Vec2<T> b;
  T c;
};
template <class T>
struct Nothing {};

TEST(FieldsTest, AStructIsARowOfNumbers) {
  Row<double> s{1, {2, 3}, 4};
  static_assert(field_count<Row<double>, double> == 4);
  static_assert(field_count<Nothing<double>, double> == 0);
  EXPECT_EQ(to_fields<double>(s), (std::array<double, 4>{1, 2, 3, 4}));
  field<double>(s, 2) = 7;
  EXPECT_EQ(s.b.y, 7);
  const auto back = from_fields<Row<double>>(to_fields<double>(s));
  EXPECT_EQ(back.b.y, 7);
  EXPECT_EQ(back.c, 4);
  EXPECT_EQ(norm((zero_fields<Row<double>, double>()).b), 0);
  EXPECT_TRUE(to_fields<double>(Nothing<double>{}).empty());
}

TEST(FieldsTest, AStructChangesItsKindOfNumber) {
  const Row<double> s{1, {0.1, 3}, 4};
  const auto single = cast_fields<Row, float, double>(s);
  EXPECT_EQ(single.b.x, 0.1F);
  using D = Dual<double, 3>;
  const auto dual = cast_fields<Row, D, double>(s);
  EXPECT_EQ(dual.b.x.value, 0.1);
  EXPECT_EQ(dual.b.x.by[2], 0);
  using P = NativePack<float>;
  const auto pack = cast_fields<Row, P, double>(s);
  for (int i = 0; i < ScalarTraits<P>::lanes; ++i) EXPECT_EQ(pack.b.x[i], 0.1F);
  using DP = Dual<P, 2>;
  const auto both = cast_fields<Row, DP, P>(pack);
  EXPECT_EQ(both.b.x.value[0], 0.1F);
  EXPECT_EQ(both.b.x.by[1][0], 0);
}

// Frames

V3 direction(std::mt19937_64& random) {
  const double z = uniform(random, -1, 1);
  const double angle = uniform(random, -4, 4);
  const double r = std::sqrt(1 - z * z);
  return {r * std::cos(angle), r * std::sin(angle), z};
}

/// How far three vectors are from a right-handed orthonormal frame.
double defect(const Frame<double>& f) {
  const V3 right = cross(f.t1, f.t2) - f.n;
  return std::fabs(norm2(f.t1) - 1) + std::fabs(norm2(f.t2) - 1) + norm(right) +
         std::fabs(dot(f.t1, f.n)) + std::fabs(dot(f.t1, f.t2));
}

TEST(FrameTest, AnyNormalHasARightHandedFrame) {
  std::mt19937_64 random(6);
  const V3 axes[]{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {-1, 0, 0}, {0, -1, 0}, {0, 0, -1}};
  for (const V3& n : axes) EXPECT_LT(defect(frame_from_normal(n)), 1e-15);
  for (int i = 0; i < core_test::samples(1000); ++i) {
    const Frame<double> f = frame_from_normal(direction(random));
    EXPECT_LT(defect(f), 1e-14);
    const V2 v{uniform(random, -1, 1), uniform(random, -1, 1)};
    EXPECT_LT(norm(f.to_tangent(f.to_world(v)) - v), 1e-14);
  }
}

TEST(FrameTest, StaysOrthonormalHoweverLongItTravels) {
  std::mt19937_64 random(7);
  V3 n{0, 0, 1};
  Frame<double> f = frame_from_normal(n);
  for (int i = 0; i < core_test::samples(100'000); ++i) {
    const V3 step{uniform(random, -0.1, 0.1), uniform(random, -0.1, 0.1),
                  uniform(random, -0.1, 0.1)};
    const V3 moved = n + step;
    n = (1 / norm(moved)) * moved;
    f = transport(f, n, uniform(random, -0.1, 0.1));
  }
  EXPECT_LT(defect(f), 1e-14);
  EXPECT_EQ(norm(f.n - n), 0);
}

/// n once around the axis z at an angle of 60° from it, in equal steps.
Frame<double> around_a_circle(int steps, double colatitude, double turn) {
  const auto normal = [&](int i) {
    const double angle = 2 * M_PI * i / steps;
    return V3{std::sin(colatitude) * std::cos(angle),
              std::sin(colatitude) * std::sin(angle), std::cos(colatitude)};
  };
  Frame<double> f = frame_from_normal(normal(0));
  for (int i = 1; i <= steps; ++i) f = transport(f, normal(i % steps), turn);
  return f;
}

double angle_between(const Frame<double>& from, const Frame<double>& to) {
  return std::atan2(dot(to.t1, from.t2), dot(to.t1, from.t1));
}

// A frame carried around a closed path without spin of its own comes back turned by the
// solid angle it went around. Three corners of an octant are joined by great circles,
// along which the shortest turn is exact: the angle is π/2 in three steps.
TEST(FrameTest, AroundAnOctantItTurnsByTheSolidAngle) {
  const V3 corners[]{{0, 0, 1}, {1, 0, 0}, {0, 1, 0}};
  const Frame<double> start = frame_from_normal(corners[0]);
  Frame<double> f = start;
  for (const int i : {1, 2, 0}) f = transport(f, corners[i], 0.0);
  EXPECT_NEAR(angle_between(start, f), M_PI / 2, 1e-14);
}

TEST(FrameTest, AroundACircleItTurnsByTheSolidAngle) {
  const double colatitude = M_PI / 3;
  const double solid_angle = 2 * M_PI * (1 - std::cos(colatitude));
  const auto error = [&](int steps) {
    const Frame<double> start = around_a_circle(1, colatitude, 0);
    const double angle = angle_between(start, around_a_circle(steps, colatitude, 0));
    return std::fabs(std::remainder(angle - solid_angle, 2 * M_PI));
  };
  // The path is a polygon of great circles: second order in its sides.
  EXPECT_LT(error(1000), 1e-5);
  EXPECT_NEAR(error(100) / error(200), 4, 0.1);
}

TEST(FrameTest, SwappingTheBodiesChangesNothing) {
  std::mt19937_64 random(8);
  for (int i = 0; i < core_test::samples(1000); ++i) {
    const Frame<double> ab = frame_from_normal(direction(random));
    const Frame<double> ba{ab.t1, -ab.t2, -ab.n};
    const V3 moved = ab.n + 0.3 * direction(random);
    const V3 n = (1 / norm(moved)) * moved;
    const double turn = uniform(random, -0.2, 0.2);
    const Frame<double> next = transport(ab, n, turn);
    const Frame<double> swapped = transport(ba, -n, -turn);
    EXPECT_LT(norm(next.t1 - swapped.t1), 1e-15);
    EXPECT_LT(norm(next.t2 + swapped.t2), 1e-15);
  }
}

// The half-angle tangent is taken to third order: what is left is turn⁵/120 (1 + …).
TEST(FrameTest, TurnsAboutTheNormalToFifthOrder) {
  const V3 n{0, 0, 1};
  const Frame<double> start = frame_from_normal(n);
  for (const double turn : {1e-4, 0.01, 0.1, 0.3, -0.2}) {
    const double angle = angle_between(start, transport(start, n, turn));
    EXPECT_NEAR(angle, turn, std::pow(std::fabs(turn), 5) / 100 + 1e-16);
  }
  const double error = angle_between(start, transport(start, n, 0.2)) - 0.2;
  EXPECT_NEAR(error / std::pow(0.2, 5), -1.0 / 120, 1e-3);
}

TEST(FrameTest, PacksOfFramesMoveAsFramesDo) {
  using P = NativePack<double>;
  const Frame<double> f = frame_from_normal(V3{0, 0.6, 0.8});
  const V3 n{0.6, 0, 0.8};
  const Frame<double> moved = transport(f, n, 0.1);
  const Frame<P> packed = transport(cast_fields<Frame, P, double>(f),
                                    cast_fields<Vec3, P, double>(n), P(0.1));
  for (int i = 0; i < ScalarTraits<P>::lanes; ++i) {
    EXPECT_EQ(packed.t1.x[i], moved.t1.x);
    EXPECT_EQ(packed.t2.y[i], moved.t2.y);
  }
}

}  // namespace
}  // namespace bristle
