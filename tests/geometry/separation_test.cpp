// Distance and depth of convex shapes, proved by what a minimum must satisfy.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "tests/geometry/common.hpp"

namespace bristle::test {
namespace {

using geometry::Core;
using geometry::core_of;
using geometry::Separation;

/// h(n): how deep two shapes overlap along n.
double depth_along(const Core& a, const Core& b, const V& n) {
  return dot(support(a, n) - support(b, -n), n) + a.radius + b.radius;
}

/// The least depth along a few directions spread over the sphere.
double sampled_depth(const Core& a, const Core& b) {
  constexpr int count = 600;
  double least = HUGE_VAL;
  for (int i = 0; i < count; ++i) {
    const double z = 1 - (2 * i + 1.0) / count;
    const double r = std::sqrt(1 - z * z);
    const double angle = 2.399963229728653 * i;  // the golden angle
    least =
        std::min(least, depth_along(a, b, {r * std::cos(angle), r * std::sin(angle), z}));
  }
  return least;
}

/// How far a point lies outside of a shape.
double outside(const Shape& shape, const Pose& pose, const V& x) {
  return -deepest(contacts(Sphere{0}, at(x), shape, pose)).depth;
}

/// The depth is the least: it is that along the normal, with a point of each body at the
/// two ends, which for bodies apart is a proof. Where they overlap there may be a way out
/// that is shorter still, in another direction, but by no more than half a percent.
void expect_least(const Shape& a, const Pose& pa, const Shape& b, const Pose& pb,
                  const std::string& where) {
  const Core ca = core_of(a, pa);
  const Core cb = core_of(b, pb);
  const Separation s = separate(ca, cb, far_away);
  const double depth = s.depth + ca.radius + cb.radius;
  EXPECT_NEAR(norm(s.normal), 1, 1e-13) << where;
  EXPECT_NEAR(depth, depth_along(ca, cb, s.normal), 1e-12) << where;
  EXPECT_NEAR(norm(s.on_a - s.on_b - s.depth * s.normal), 0, 1e-7) << where;
  EXPECT_LT(outside(a, pa, s.on_a + ca.radius * s.normal), 1e-9) << where;
  EXPECT_LT(outside(b, pb, s.on_b - cb.radius * s.normal), 1e-9) << where;
  EXPECT_LT(depth, sampled_depth(ca, cb) + std::max(1e-12, 5e-3 * depth)) << where;
}

bool by_support(const Shape& a, const Shape& b) {
  return geometry::method(a.index(), b.index()) == PairMethod::support;
}

/// Poses from apart by half of the smaller size to `deepest_part` of it deep.
template <class Visit>
void about_touching(const std::vector<Shape>& all, int trials, double deepest_part,
                    Visit&& visit) {
  if (std::getenv("BRISTLE_SOAK") != nullptr) trials *= 20;
  unsigned seed = 1;
  for (const Shape& a : all) {
    for (const Shape& b : all) {
      if (!by_support(a, b)) continue;
      Random random(seed++);
      for (int trial = 0; trial < trials; ++trial) {
        const Pose pa = random.pose(0.1);
        Pose pb = random.pose(0);
        pb.p = 2.0 * random.direction();
        const auto c = deepest(contacts(a, pa, b, pb));
        const double size = std::min(core_of(a, pa).size, core_of(b, pb).size);
        const double depth =
            size * (trial % 4 == 0 ? random.uniform(-0.5, 0)
                                   : deepest_part * std::pow(random.uniform(0, 1), 3));
        pb.p = pb.p + (c.depth - depth) * c.normal;
        visit(a, pa, b, pb, describe(a, b, trial));
      }
    }
  }
}

TEST(Separation, DepthIsTheLeast) { about_touching(bodies(), 100, 0.2, expect_least); }

TEST(Separation, DepthIsTheLeastForNeedlesAndDiscs) {
  const std::vector<Shape> thin = {
      Ellipsoid{{0.5, 0.01, 0.01}}, Ellipsoid{{0.5, 0.5, 0.01}}, Cylinder{0.5, 0.01},
      Cylinder{0.01, 0.5},          Capsule{0.01, 0.5},          Box{{0.5, 0.4, 0.01}},
      Ellipsoid{{0.5, 0.3, 0.4}},
  };
  about_touching(thin, 40, 0.2, expect_least);
}

// |δ(x + dx) − δ(x)| ≤ |dx|: the least of functions that all do so. Between two ways out
// of about the same length the choice may be off by the half percent above.
TEST(Separation, DepthAndNormalAreContinuous) {
  double worst = 0;
  about_touching(bodies(), 40, 0.1,
                 [&](const Shape& a, const Pose& pa, const Shape& b, const Pose& pb,
                     const std::string& where) {
                   Random random(3);
                   const double step = 1e-7;
                   Pose moved = pb;
                   moved.p = pb.p + step * random.direction();
                   const Core core_a = core_of(a, pa);
                   const auto one = separate(core_a, core_of(b, pb), far_away);
                   const auto two = separate(core_a, core_of(b, moved), far_away);
                   EXPECT_LT(std::fabs(one.depth - two.depth),
                             step + std::max(1e-12, 5e-3 * one.depth))
                       << where;
                   const bool smooth = kind_of(a) == ShapeKind::ellipsoid ||
                                       kind_of(b) == ShapeKind::ellipsoid;
                   if (!smooth) return;
                   worst = std::max(worst, norm(one.normal - two.normal) / step);
                 });
  // The ellipsoid's radii of curvature are over 0.18 m.
  EXPECT_LT(worst, 1 / 0.1);
}

TEST(Separation, MarginChangesNothingButWhatIsReported) {
  const double margin = 0.02;
  about_touching(bodies(), 40, 0.1,
                 [&](const Shape& a, const Pose& pa, const Shape& b, const Pose& pb,
                     const std::string& where) {
                   const auto all = deepest(contacts(a, pa, b, pb));
                   const auto some = contacts(a, pa, b, pb, margin);
                   ASSERT_EQ(some.count > 0, all.depth >= -margin) << where;
                   if (some.count > 0) {
                     EXPECT_NEAR(deepest(some).depth, all.depth, 1e-12) << where;
                   }
                 });
}

TEST(Separation, OnPaper) {
  const auto depth = [](const Shape& a, const Shape& b, const Pose& pb) {
    return deepest(contacts(a, at({0, 0, 0}), b, pb)).depth;
  };
  const double quarter = std::numbers::pi / 2;
  for (const double d : {0.01, 1e-4, 1e-8, 0.0, -1e-8, -1e-4, -0.01}) {
    // Cylinders side by side, crossed, on top of each other, and rim on mantle.
    const Shape c = Cylinder{0.2, 0.5};
    EXPECT_NEAR(depth(c, c, at({0.4 - d, 0, 0.3})), d, 1e-12);
    EXPECT_NEAR(depth(c, c, turned({1, 0, 0}, quarter, {0.4 - d, 0, 0})), d, 1e-12);
    EXPECT_NEAR(depth(c, c, at({0.1, 0, 1 - d})), d, 1e-12);
    EXPECT_NEAR(depth(c, c, turned({0, 1, 0}, quarter, {0.7 - d, 0, 0})), d, 1e-12);
    // Needles along each other and across, tip on tip.
    const Shape needle = Ellipsoid{{0.5, 0.01, 0.01}};
    const double thin = std::min(d, 0.001);
    EXPECT_NEAR(depth(needle, needle, at({0, 0.02 - thin, 0})), thin, 1e-12);
    EXPECT_NEAR(depth(needle, needle, turned({0, 1, 0}, quarter, {0, 0.02 - thin, 0})),
                thin, 1e-12);
    const double tip = std::min(d, 1e-4);
    EXPECT_NEAR(depth(needle, needle, at({1 - tip, 0, 0})), tip, 1e-12);
    // A coin flat on a coin, and standing on one.
    const Shape coin = Cylinder{0.5, 0.01};
    EXPECT_NEAR(depth(coin, coin, at({0.3, 0, 0.02 - thin})), thin, 1e-12);
    EXPECT_NEAR(depth(coin, coin, turned({0, 1, 0}, quarter, {0.1, 0, 0.51 - thin})),
                thin, 1e-12);
    // An ellipsoid on a box, over its face and its edge.
    const Shape egg = Ellipsoid{{0.5, 0.3, 0.4}};
    const Shape box = Box{{0.5, 0.5, 0.5}};
    EXPECT_NEAR(depth(box, egg, at({0.2, 0.1, 0.9 - d})), d, 1e-12);
    EXPECT_NEAR(
        depth(egg, box, turned({0, 1, 0}, quarter / 2, {0, 0, 0.4 + std::sqrt(0.5) - d})),
        d, 1e-12);
  }
  // One in the middle of the other: the shortest way out.
  EXPECT_NEAR(
      depth(Ellipsoid{{0.5, 0.3, 0.4}}, Ellipsoid{{0.5, 0.3, 0.4}}, at({0, 0, 0})), 0.6,
      1e-9);
  EXPECT_NEAR(depth(Cylinder{0.2, 0.5}, Cylinder{0.3, 0.1}, at({0, 0, 0})), 0.5, 1e-9);
  EXPECT_NEAR(depth(Cylinder{0.5, 0.01}, Ellipsoid{{0.5, 0.3, 0.4}}, at({0, 0, 0})), 0.41,
              1e-9);
  EXPECT_NEAR(depth(Box{{0.5, 0.4, 0.3}}, Ellipsoid{{0.5, 0.5, 0.01}}, at({0, 0, 0})),
              0.31, 1e-9);
}

}  // namespace
}  // namespace bristle::test
