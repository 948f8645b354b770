// Pairs whose answer is known on paper.

#include <gtest/gtest.h>

#include "tests/geometry/common.hpp"

namespace bristle::test {
namespace {

constexpr double pi = std::numbers::pi;

void expect_vector(const V& v, const V& expected, double tolerance = 1e-14) {
  EXPECT_NEAR(v.x, expected.x, tolerance);
  EXPECT_NEAR(v.y, expected.y, tolerance);
  EXPECT_NEAR(v.z, expected.z, tolerance);
}

TEST(ClosedForm, TwoSpheres) {
  const auto all = contacts(Sphere{1}, at({0, 0, 0}), Sphere{0.5}, at({0, 1.4, 0}));
  ASSERT_EQ(all.count, 1);
  EXPECT_NEAR(all[0].depth, 0.1, 1e-15);
  expect_vector(all[0].normal, {0, 1, 0});
  expect_vector(all[0].on_a, {0, 1, 0});
  expect_vector(all[0].on_b, {0, 0.9, 0});
  EXPECT_NEAR(all[0].radius, 1 / (1 / 1.0 + 1 / 0.5), 1e-15);
  EXPECT_EQ(all[0].patch, Patch::point);
}

TEST(ClosedForm, MarginDecidesWhatIsReported) {
  const Shape a = Sphere{1};
  EXPECT_EQ(contacts(a, at({0, 0, 0}), a, at({2.1, 0, 0}), 0.2).count, 1);
  EXPECT_EQ(contacts(a, at({0, 0, 0}), a, at({2.1, 0, 0}), 0.05).count, 0);
}

TEST(ClosedForm, SphereOnPlane) {
  const auto all = contacts(Plane{}, at({0, 0, 1}), Sphere{0.2}, at({3, 4, 1.15}));
  ASSERT_EQ(all.count, 1);
  EXPECT_NEAR(all[0].depth, 0.05, 1e-15);
  expect_vector(all[0].normal, {0, 0, 1});
  expect_vector(all[0].on_a, {3, 4, 1});
  EXPECT_NEAR(all[0].radius, 0.2, 1e-15);
}

TEST(ClosedForm, SphereInCavity) {
  // 1/R: across 1/r − 1/R_c, along 1/r.
  const double r = 0.3;
  const double wall = 1.0;
  const auto all =
      contacts(Sphere{r}, at({0.72, 0, 0.4}), Cavity{wall, 0.65}, at({0, 0, 0}), 0.1);
  ASSERT_EQ(all.count, 2);
  EXPECT_NEAR(all[0].depth, 0.02, 1e-15);
  expect_vector(all[0].normal, {1, 0, 0});
  expect_vector(all[0].on_b, {1, 0, 0.4});
  EXPECT_NEAR(all[0].radius, 1 / std::sqrt((1 / r - 1 / wall) / r), 1e-14);
  EXPECT_NEAR(all[1].depth, 0.05, 1e-15);
  expect_vector(all[1].normal, {0, 0, 1});
  EXPECT_NE(all[0].feature, all[1].feature);
}

TEST(ClosedForm, SphereAndCylinderFeatures) {
  const Shape c = Cylinder{0.5, 1};
  const Pose o = at({0, 0, 0});
  const auto depth = [&](const V& x) {
    return contacts(Sphere{0.1}, at(x), c, o)[0].depth;
  };
  EXPECT_NEAR(depth({0.7, 0, 0.2}), -0.1, 1e-15);       // mantle
  EXPECT_NEAR(depth({0.1, 0.1, 1.3}), -0.2, 1e-15);     // end
  EXPECT_NEAR(depth({0.8, 0, 1.4}), 0.1 - 0.5, 1e-15);  // rim, 3-4-5
  EXPECT_NEAR(depth({0.4, 0, 0.1}), 0.2, 1e-15);        // inside, mantle
  EXPECT_NEAR(depth({0.1, 0, 0.95}), 0.15, 1e-15);      // inside, end
  const auto side = contacts(Sphere{0.1}, at({0.6, 0, 0}), c, o)[0];
  EXPECT_NEAR(side.radius, 1 / std::sqrt(10.0 * (10.0 + 2.0)), 1e-15);
  EXPECT_EQ(contacts(Sphere{0.1}, at({0.6, 0, 1.1}), c, o)[0].patch, Patch::sharp);
}

TEST(ClosedForm, SphereAndEllipsoidOnTheAxes) {
  const Shape e = Ellipsoid{{1, 2, 3}};
  const auto c = contacts(Sphere{0.5}, at({0, 0, 3.4}), e, at({0, 0, 0}))[0];
  EXPECT_NEAR(c.depth, 0.1, 1e-14);
  expect_vector(c.normal, {0, 0, -1});
  // At the end of axis c the curvatures are c/a² and c/b².
  EXPECT_NEAR(c.radius, 1 / std::sqrt((2 + 3.0) * (2 + 0.75)), 1e-13);
}

TEST(ClosedForm, EllipsoidClosestPointIsThePerpendicularFoot) {
  Random random(2);
  const Ellipsoid e{{1, 0.2, 0.6}};
  for (int trial = 0; trial < 1000; ++trial) {
    const V x = random.uniform(0, 3) * random.direction();
    const auto s = geometry::closest(e, x);
    const V& q = s.point;
    EXPECT_NEAR(q.x * q.x + q.y * q.y / 0.04 + q.z * q.z / 0.36, 1, 1e-12);
    EXPECT_NEAR(norm(cross(x - q, s.normal)), 0, 1e-9);
    EXPECT_NEAR(norm(x - q), std::fabs(s.distance), 1e-10);
  }
}

TEST(ClosedForm, BoxFlatOnPlane) {
  const auto all =
      contacts(Plane{}, at({0, 0, 0}), Box{{1, 2, 3}}, at({5, 5, 2.99}), 0.01);
  ASSERT_EQ(all.count, 4);
  for (const auto& c : all) {
    EXPECT_NEAR(c.depth, 0.01, 1e-15);
    EXPECT_EQ(c.patch, Patch::flat);
    EXPECT_EQ(c.radius, HUGE_VAL);
    EXPECT_NEAR(c.on_b.z, -0.01, 1e-15);
  }
}

TEST(ClosedForm, BoxOnEdgeAndOnVertex) {
  const Shape box = Box{{1, 1, 1}};
  const auto edge =
      contacts(Plane{}, at({0, 0, 0}), box,
               turned({1, 0, 0}, pi / 4, {0, 0, std::sqrt(2.0) - 0.1}), 0.01);
  EXPECT_EQ(edge.count, 2);
  EXPECT_NEAR(deepest(edge).depth, 0.1, 1e-15);
  EXPECT_EQ(edge[0].patch, Patch::sharp);
  const auto vertex = contacts(
      Plane{}, at({0, 0, 0}), box,
      turned({1, -1, 0}, std::acos(1 / std::sqrt(3.0)), {0, 0, std::sqrt(3.0)}), 0.01);
  EXPECT_EQ(vertex.count, 1);
  EXPECT_NEAR(vertex[0].depth, 0, 1e-15);
}

TEST(ClosedForm, CapsuleLyingAndStanding) {
  const Shape capsule = Capsule{0.2, 0.5};
  const auto lying = contacts(Plane{}, at({0, 0, 0}), capsule,
                              turned({1, 0, 0}, pi / 2, {0, 0, 0.15}), 0.01);
  ASSERT_EQ(lying.count, 2);
  EXPECT_NEAR(lying[0].depth, 0.05, 1e-15);
  EXPECT_NEAR(lying[1].depth, 0.05, 1e-15);
  const auto standing = contacts(Plane{}, at({0, 0, 0}), capsule, at({0, 0, 0.69}), 0.01);
  ASSERT_EQ(standing.count, 1);
  EXPECT_NEAR(standing[0].depth, 0.01, 1e-15);
  EXPECT_NEAR(standing[0].radius, 0.2, 1e-15);
}

TEST(ClosedForm, CylinderLyingStandingAndOnItsRim) {
  const Shape cylinder = Cylinder{0.2, 0.5};
  const auto lying = contacts(Plane{}, at({0, 0, 0}), cylinder,
                              turned({1, 0, 0}, pi / 2, {0, 0, 0.19}), 0.01);
  ASSERT_EQ(lying.count, 2);
  EXPECT_EQ(lying[0].patch, Patch::line);
  EXPECT_NEAR(lying[0].radius, 0.2, 1e-15);  // across the line: the cylinder's own
  EXPECT_NEAR(lying[0].depth, 0.01, 1e-15);
  EXPECT_NEAR(lying[1].depth, 0.01, 1e-15);
  const auto standing =
      contacts(Plane{}, at({0, 0, 0}), cylinder, at({0, 0, 0.49}), 0.01);
  ASSERT_EQ(standing.count, 3);
  EXPECT_EQ(standing[0].patch, Patch::flat);
  const double tilt = 0.3;
  const double low = 0.5 * std::cos(tilt) + 0.2 * std::sin(tilt);
  const auto rim = contacts(Plane{}, at({0, 0, 0}), cylinder,
                            turned({1, 0, 0}, tilt, {0, 0, low}), 0.01);
  ASSERT_EQ(rim.count, 1);
  EXPECT_NEAR(rim[0].depth, 0, 1e-15);
}

TEST(ClosedForm, EllipsoidOnPlane) {
  // Lowest point of a turned ellipsoid: √(nᵀ S² n).
  Random random(3);
  for (int trial = 0; trial < 100; ++trial) {
    const Pose pose = random.pose(1);
    const auto c = contacts(Plane{}, at({0, 0, 0}), Ellipsoid{{1, 0.5, 0.25}}, pose)[0];
    const V n = geometry::turn_back(pose, V{0, 0, 1});
    EXPECT_NEAR(c.depth, std::sqrt(n.x * n.x + n.y * n.y / 4 + n.z * n.z / 16) - pose.p.z,
                1e-13);
  }
}

TEST(ClosedForm, PegInHole) {
  const Shape hole = Cavity{0.5, HUGE_VAL};
  const Shape peg = Cylinder{0.45, 1};
  const auto along = contacts(hole, at({0, 0, 0}), peg, at({0.06, 0, 0.2}), 0.02);
  ASSERT_EQ(along.count, 2);  // a line, at its two ends
  for (const auto& c : along) {
    EXPECT_NEAR(c.depth, 0.01, 1e-14);
    expect_vector(c.normal, {-1, 0, 0}, 1e-7);
    EXPECT_EQ(c.patch, Patch::line);
    EXPECT_NEAR(c.radius, 1 / (1 / 0.45 - 1 / 0.5), 1e-12);
  }
  // Leaning: the top rim on one side, the bottom rim on the other.
  const double lean = 0.04;
  const auto leaning = contacts(hole, at({0, 0, 0}), peg, turned({0, 1, 0}, lean), 0.02);
  ASSERT_EQ(leaning.count, 2);
  const double reach = 0.45 * std::cos(lean) + std::sin(lean);
  EXPECT_NEAR(leaning[0].depth, reach - 0.5, 1e-14);
  EXPECT_NEAR(leaning[1].depth, reach - 0.5, 1e-14);
  EXPECT_LT(dot(leaning[0].normal, leaning[1].normal), -0.99);
  // Standing on the bottom of a closed hole.
  const auto standing =
      contacts(Cavity{0.5, 1.2}, at({0, 0, 0}), peg, at({0, 0, -0.21}), 0.02);
  EXPECT_EQ(standing.count, 3);
  EXPECT_NEAR(deepest(standing).depth, 0.01, 1e-14);
}

TEST(ClosedForm, BoxInCavity) {
  const auto all = contacts(Cavity{1, HUGE_VAL}, at({0, 0, 0}), Box{{0.6, 0.6, 0.2}},
                            at({0.2, 0, 0}), 0.001);
  ASSERT_EQ(all.count, 4);
  for (const auto& c : all) EXPECT_NEAR(c.depth, std::hypot(0.8, 0.6) - 1, 1e-15);
}

TEST(ClosedForm, CrossedAndParallelCapsules) {
  const auto crossed = contacts(Capsule{0.2, 1}, at({0, 0, 0}), Capsule{0.3, 1},
                                turned({1, 0, 0}, pi / 2, {0.45, 0, 0}));
  ASSERT_EQ(crossed.count, 1);
  EXPECT_NEAR(crossed[0].depth, 0.05, 1e-15);
  expect_vector(crossed[0].normal, {1, 0, 0});
  // Crossed cylinders: curvatures 1/0.2 and 1/0.3 across each other.
  EXPECT_NEAR(crossed[0].radius, std::sqrt(0.2 * 0.3), 1e-14);
  const auto parallel =
      contacts(Capsule{0.2, 1}, at({0, 0, 0}), Capsule{0.3, 1}, at({0.45, 0, 0.5}));
  ASSERT_EQ(parallel.count, 2);
  EXPECT_NEAR(parallel[0].on_a.z, -0.5, 1e-14);
  EXPECT_NEAR(parallel[1].on_a.z, 1, 1e-14);
  EXPECT_EQ(parallel[0].patch, Patch::line);
  EXPECT_NEAR(parallel[0].radius, 1 / (1 / 0.2 + 1 / 0.3), 1e-14);
  const auto end_to_end =
      contacts(Capsule{0.2, 1}, at({0, 0, 0}), Capsule{0.3, 1}, at({0, 0, 2.45}));
  ASSERT_EQ(end_to_end.count, 1);
  EXPECT_NEAR(end_to_end[0].depth, 0.05, 1e-14);
}

TEST(ClosedForm, StackedBoxes) {
  const Shape box = Box{{0.5, 0.5, 0.5}};
  const auto aligned = contacts(box, at({0, 0, 0}), box, at({0.2, 0.1, 0.99}), 0.02);
  ASSERT_EQ(aligned.count, 4);
  for (const auto& c : aligned) {
    EXPECT_NEAR(c.depth, 0.01, 1e-14);
    expect_vector(c.normal, {0, 0, 1});
    EXPECT_EQ(c.patch, Patch::flat);
  }
  const auto octagon =
      contacts(box, at({0, 0, 0}), box, turned({0, 0, 1}, pi / 4, {0, 0, 1.001}), 0.02);
  ASSERT_EQ(octagon.count, 8);
  for (const auto& c : octagon) EXPECT_NEAR(c.depth, -0.001, 1e-14);
  // Ids survive a slide, and the choice of which face is clipped.
  const auto slid = contacts(box, at({0, 0, 0}), box,
                             turned({1, 1, 0}, 1e-9, {0.21, 0.11, 0.99}), 0.02);
  ASSERT_EQ(slid.count, 4);
  for (const auto& c : aligned) {
    bool there = false;
    for (const auto& d : slid) there = there || d.feature == c.feature;
    EXPECT_TRUE(there);
  }
}

TEST(ClosedForm, BoxEdgeOnBoxEdge) {
  const Shape box = Box{{0.5, 0.5, 0.5}};
  const double r = std::sqrt(0.5);
  const auto all = contacts(box, turned({1, 0, 0}, pi / 4), box,
                            turned({0, 1, 0}, pi / 4, {0, 0, 2 * r - 0.01}), 0.02);
  ASSERT_EQ(all.count, 1);
  EXPECT_NEAR(all[0].depth, 0.01, 1e-14);
  expect_vector(all[0].normal, {0, 0, 1});
  expect_vector(all[0].on_a, {0, 0, r});
  EXPECT_EQ(all[0].patch, Patch::sharp);
}

TEST(ClosedForm, CylinderAndCapsuleOnBox) {
  const Shape box = Box{{1, 1, 0.5}};
  const auto standing =
      contacts(box, at({0, 0, 0}), Cylinder{0.2, 0.3}, at({0, 0, 0.79}), 0.02);
  EXPECT_EQ(standing.count, 8);
  for (const auto& c : standing) EXPECT_NEAR(c.depth, 0.01, 1e-12);
  const auto lying = contacts(box, at({0, 0, 0}), Cylinder{0.2, 0.3},
                              turned({1, 0, 0}, pi / 2, {0, 0, 0.69}), 0.02);
  ASSERT_EQ(lying.count, 2);
  EXPECT_EQ(lying[0].patch, Patch::line);
  EXPECT_NEAR(lying[0].radius, 0.2, 1e-9);
  const auto over = contacts(box, at({0, 0, 0}), Capsule{0.2, 0.6},
                             turned({1, 0, 0}, pi / 2, {0, 0.8, 0.69}), 0.02);
  ASSERT_EQ(over.count, 2);  // from its one end to the edge of the box
  EXPECT_NEAR(over[0].depth, 0.01, 1e-12);
  EXPECT_NEAR(std::max(over[0].on_a.y, over[1].on_a.y), 1, 1e-9);
  EXPECT_NEAR(std::min(over[0].on_a.y, over[1].on_a.y), 0.2, 1e-9);
}

/// The direction of a slight tilt is noise: what stands on an end keeps its points.
TEST(ClosedForm, CylindersThatStandKeepTheirCornersHoweverTheyTilt) {
  const Shape can = Cylinder{0.2, 0.3};
  const auto features = [](const Contacts<double>& found) {
    std::set<std::uint32_t> all;
    for (const auto& point : found) all.insert(point.feature);
    return all;
  };
  const Shape box = Box{{1, 1, 0.3}};
  for (const Shape& below : {can, box}) {
    const auto straight = contacts(below, at({0, 0, 0}), can, at({0.05, 0.02, 0.597}));
    ASSERT_GE(straight.count, 8);
    for (int k = 0; k < 36; ++k) {
      const double direction = pi / 18 * k, tilt = 2e-3;
      const auto tilted = contacts(below, at({0, 0, 0}), can,
                                   turned({std::cos(direction), std::sin(direction), 0},
                                          tilt, {0.05, 0.02, 0.597}));
      EXPECT_EQ(features(tilted), features(straight)) << k;
      // The polygon holds a disc about the can's axis: the octagon below is its apothem
      // wide, less what the can stands off and moves as it tilts about its middle.
      const double inside = 0.2 * std::cos(pi / 8) - std::hypot(0.05, 0.02) - 0.3 * tilt;
      double deepest = 0;
      for (const auto& point : tilted) deepest = std::max(deepest, point.depth);
      EXPECT_GT(deepest, 0.003 + inside * tilt - 0.3 * tilt * tilt) << k;
      EXPECT_LT(deepest, 0.003 + 0.2 * tilt + 1e-9) << k;
    }
  }
}

/// A cylinder on its rim has a corner at the far point, and the same one as it rolls.
TEST(ClosedForm, ACylinderRollsOnItsRimWithOneCorner) {
  const Shape can = Cylinder{0.2, 0.3}, box = Box{{1, 1, 0.3}};
  const double tilt = 0.05;
  for (int k = 0; k < 36; ++k) {
    const double direction = pi / 18 * k;
    const auto tilted = contacts(
        box, at({0, 0, 0}), can,
        turned({std::cos(direction), std::sin(direction), 0}, tilt,
               {0, 0, 0.3 + 0.3 * std::cos(tilt) + 0.2 * std::sin(tilt) - 1e-3}));
    double deepest = 0;
    std::uint32_t feature = 0;
    for (const auto& point : tilted) {
      if (point.depth <= deepest) continue;
      deepest = point.depth;
      feature = point.feature;
    }
    EXPECT_NEAR(deepest, 1e-3, 1e-8) << k;
    if (tilted.count > 1) {
      EXPECT_EQ(feature, (1u << 30) + 1 + 16 + 8) << k;
    }
  }
}

TEST(ClosedForm, BadNumbersAreNamed) {
  EXPECT_EQ(checked(Sphere{-1}).error(), "sphere: radius = -1 must be ≥ 0 m and finite");
  EXPECT_EQ(checked(Box{{1, 0, 1}}).error(), "box: half.y = 0 must be > 0 m and finite");
  EXPECT_EQ(checked(Capsule{0, 1}).error(),
            "capsule: radius = 0 must be > 0 m and finite");
  EXPECT_EQ(checked(Ellipsoid{{1, 1, std::nan("")}}).error(),
            "ellipsoid: semi_axes.z = nan must be > 0 m and finite");
  EXPECT_EQ(checked(Convex{nullptr}).error(), "convex: there is no hull; see make_hull");
  EXPECT_TRUE(checked(Sphere{0}));
  EXPECT_TRUE(checked(Cavity{1, HUGE_VAL}));
}

}  // namespace
}  // namespace bristle::test
