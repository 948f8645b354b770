// What holds for every pair of shapes.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "tests/geometry/common.hpp"

namespace bristle::test {
namespace {

/// More of them where time allows.
int trials(int quick) {
  return std::getenv("BRISTLE_SOAK") != nullptr ? 20 * quick : quick;
}

void expect_sound(const Contacts<double>& all, const std::string& where) {
  std::set<std::uint32_t> features;
  for (const auto& c : all) {
    EXPECT_NEAR(norm(c.normal), 1, 1e-12) << where;
    EXPECT_TRUE(std::isfinite(c.depth)) << where;
    EXPECT_NEAR(dot(c.on_a - c.on_b, c.normal), c.depth, 1e-11) << where;
    // The points face each other along the normal.
    EXPECT_NEAR(norm(c.on_a - c.on_b - c.depth * c.normal), 0, 1e-6) << where;
    EXPECT_GE(c.radius, 0) << where;
    EXPECT_TRUE(features.insert(c.feature).second)
        << where << ": two contacts with feature " << c.feature;
  }
}

template <class Visit>
void for_each_pair(Visit&& visit) {
  std::vector<Shape> all = bodies();
  all.push_back(Plane{});
  unsigned seed = 1;
  for (const Shape& a : all) {
    for (const Shape& b : all) {
      if (pair_function<double>(kind_of(a), kind_of(b)) != nullptr) visit(a, b, seed++);
    }
  }
}

TEST(Pairs, ContactsAreSound) {
  for_each_pair([](const Shape& a, const Shape& b, unsigned seed) {
    Random random(seed);
    for (int trial = 0; trial < trials(40); ++trial) {
      const Pose pa = random.pose(0.3);
      const Pose pb = random.pose(1.5);
      const auto all = contacts(a, pa, b, pb);
      EXPECT_GE(all.count, 1) << describe(a, b, trial);
      expect_sound(all, describe(a, b, trial));
    }
  });
}

// Moving B along n by (δ + s) leaves the closest features where they are: the new depth
// is −s, through touching and on both sides of it. Where a vertex met a vertex or an
// edge, the normal is free at touching, and inside the shallowest way out is shorter than
// −s.
TEST(Pairs, DepthPassesSmoothlyThroughTouch) {
  double worst = 0;
  for_each_pair([&](const Shape& a, const Shape& b, unsigned seed) {
    Random random(seed);
    const bool plane = kind_of(a) == ShapeKind::plane || kind_of(b) == ShapeKind::plane;
    const auto smooth = [](const Shape& shape) {
      return kind_of(shape) == ShapeKind::sphere ||
             kind_of(shape) == ShapeKind::capsule ||
             kind_of(shape) == ShapeKind::ellipsoid;
    };
    for (int trial = 0; trial < trials(8); ++trial) {
      const Pose pa = random.pose(0.1);
      Pose pb = random.pose(0.1);
      pb.p = pb.p + 1.6 * random.direction();
      const auto before = contacts(a, pa, b, pb);
      ASSERT_GE(before.count, 1);
      const auto c = deepest(before);
      if (!plane && c.depth > 0) continue;
      for (const double s :
           {1e-2, 1e-3, 1e-4, 1e-6, 1e-8, 1e-10, 0.0, -1e-10, -1e-8, -1e-6, -1e-5}) {
        Pose moved = pb;
        moved.p = pb.p + (c.depth + s) * c.normal;
        const auto after = contacts(a, pa, b, moved);
        ASSERT_GE(after.count, 1) << describe(a, b, trial);
        const auto d = deepest(after);
        if (s >= 0 || plane || smooth(a) || smooth(b)) {
          worst = std::max(worst, std::fabs(d.depth + s));
          EXPECT_NEAR(d.depth, -s, 5e-8) << describe(a, b, trial) << " s " << s;
        } else {
          EXPECT_GT(d.depth, -5e-8) << describe(a, b, trial) << " s " << s;
          // Faces take the place of a pair of edges that is up to a third less deep.
          const bool faces = geometry::method(a.index(), b.index()) == PairMethod::faces;
          EXPECT_LT(d.depth, -s * (faces ? 1.5 : 1) + 5e-8)
              << describe(a, b, trial) << " s " << s;
        }
      }
    }
  });
  std::printf("worst depth error %.2e m\n", worst);
}

// dδ = −n·dx for a motion dx of B.
TEST(Pairs, DepthFallsAsBMovesAlongTheNormal) {
  double worst = 0;
  for_each_pair([&](const Shape& a, const Shape& b, unsigned seed) {
    Random random(seed + 100);
    int checked_trials = 0;
    for (int trial = 0; trial < trials(20); ++trial) {
      const Pose pa = random.pose(0.1);
      const Pose pb = random.pose(1.4);
      const auto here = contacts(a, pa, b, pb);
      const auto c = deepest(here);
      const double h = 1e-5;
      const V dx = h * random.direction();
      Pose plus = pb;
      Pose minus = pb;
      plus.p = pb.p + dx;
      minus.p = pb.p - dx;
      const auto cp = deepest(contacts(a, pa, b, plus));
      const auto cm = deepest(contacts(a, pa, b, minus));
      // A face clipped by another that leans too much: points there have the face's
      // normal, and slide. In a manifold of several normals this may be a corner too.
      const auto alike = std::count_if(here.begin(), here.end(), [&](const auto& point) {
        return norm(point.normal - c.normal) == 0;
      });
      const bool clipped =
          alike > 1 && ((c.feature & 0x80000000u) != 0 || alike < here.count);
      // Where the closest features change there is no derivative.
      if (clipped || norm(cp.normal - cm.normal) > 1e-3 ||
          std::fabs(cp.depth + cm.depth - 2 * c.depth) > 1e-9)
        continue;
      ++checked_trials;
      const double error =
          std::fabs((cp.depth - cm.depth) / (2 * h) + dot(c.normal, dx) / h);
      worst = std::max(worst, error);
      EXPECT_LT(error, 2e-4) << describe(a, b, trial);
    }
    EXPECT_GE(2 * checked_trials, trials(20)) << describe(a, b, 0);
  });
  std::printf("worst slope error %.2e\n", worst);
}

TEST(Pairs, SwappingBodiesMirrorsTheContact) {
  for_each_pair([](const Shape& a, const Shape& b, unsigned seed) {
    Random random(seed + 200);
    for (int trial = 0; trial < trials(15); ++trial) {
      const Pose pa = random.pose(0.1);
      const Pose pb = random.pose(1.4);
      const auto one = contacts(a, pa, b, pb);
      const auto two = contacts(b, pb, a, pa);
      EXPECT_NEAR(deepest(one).depth, deepest(two).depth, 1e-9) << describe(a, b, trial);
      if (kind_of(a) != kind_of(b)) {
        ASSERT_EQ(one.count, two.count) << describe(a, b, trial);
        for (int i = 0; i < one.count; ++i) {
          EXPECT_EQ(norm(one[i].normal + two[i].normal), 0);
          EXPECT_EQ(norm(one[i].on_a - two[i].on_b), 0);
          EXPECT_EQ(one[i].feature, two[i].feature);
        }
      }
    }
  });
}

TEST(Pairs, TurningTheWorldTurnsTheContact) {
  for_each_pair([](const Shape& a, const Shape& b, unsigned seed) {
    Random random(seed + 300);
    for (int trial = 0; trial < trials(15); ++trial) {
      const Pose pa = random.pose(0.1);
      const Pose pb = random.pose(1.4);
      const Pose world = random.pose(3);
      const auto c = deepest(contacts(a, pa, b, pb));
      const auto d = deepest(contacts(a, after(world, pa), b, after(world, pb)));
      EXPECT_NEAR(c.depth, d.depth, 1e-7) << describe(a, b, trial);
      // Deep inside, two directions may be as short; then either will do.
      if (c.depth < 0.05) {
        EXPECT_NEAR(norm(geometry::turn(world, c.normal) - d.normal), 0, 1e-4)
            << describe(a, b, trial);
      }
    }
  });
}

TEST(Pairs, FeaturesStayUnderSmallMotion) {
  for_each_pair([](const Shape& a, const Shape& b, unsigned seed) {
    Random random(seed + 400);
    int kept = 0;
    int total = 0;
    for (int trial = 0; trial < trials(25); ++trial) {
      const Pose pa = random.pose(0.1);
      const Pose pb = random.pose(1.2);
      const auto one = contacts(a, pa, b, pb, 0.01);
      const auto two =
          contacts(a, pa, b, after(turned(random.direction(), 1e-7), pb), 0.01);
      for (const auto& c : one) {
        ++total;
        for (const auto& d : two) kept += d.feature == c.feature ? 1 : 0;
      }
    }
    EXPECT_GE(kept, total - total / 50) << describe(a, b, 0);
  });
}

/// A ball of 400 random corners on a small foot, a regular polygon of 24 corners at
/// z = −0.601 whose corners and edges have numbers from all over the hull.
const ConvexHull& footed_ball() {
  static const ConvexHull hull = *make_hull([] {
    Random random(79);
    std::vector<V> points;
    for (int i = 0; i < 24; ++i) {
      const double angle = i * std::numbers::pi / 12;
      points.push_back({0.03 * std::cos(angle), 0.03 * std::sin(angle), -0.601});
    }
    for (int i = 0; i < 400; ++i) points.push_back(0.6 * random.direction());
    return points;
  }());
  return hull;
}

// The foot stands on a narrow beam that crosses any two of its edges: four contacts, each
// where an edge of the beam and one of the foot cross.
TEST(Pairs, FeaturesOfLargeHullsAreDifferent) {
  ASSERT_GT(footed_ball().vertices.size(), 400u);
  const double depth = 1e-4;
  const Box beam{{0.5, 1e-4, 0.1}};
  const auto middle_of_edge = [](int i) {
    const double angle = (i + 0.5) * std::numbers::pi / 12;
    const double r = 0.03 * std::cos(std::numbers::pi / 24);
    return V{r * std::cos(angle), r * std::sin(angle), 0};
  };
  for (int i = 0; i < 24; ++i) {
    for (int j = i + 4; j < i + 21 && j < 24; ++j) {
      const V from = middle_of_edge(i);
      const V to = middle_of_edge(j);
      const V centre = 0.5 * (from + to) + V{0, 0, -0.601 - 0.1 + depth};
      const Pose pose =
          turned({0, 0, 1}, std::atan2(to.y - from.y, to.x - from.x), centre);
      const Contacts<double> found =
          contacts(Convex{&footed_ball()}, at({0, 0, 0}), beam, pose, 0);
      EXPECT_EQ(found.count, 4) << "edges " << i << " and " << j;
      std::set<std::uint32_t> features;
      for (const auto& point : found) {
        features.insert(point.feature);
        EXPECT_NEAR(point.depth, depth, 1e-12);
      }
      EXPECT_EQ(features.size(), static_cast<std::size_t>(found.count));
    }
  }
}

// Recordings and tests of small shapes keep their numbers.
TEST(Pairs, FeaturesOfBoxesAreVerticesAndCrossingEdges) {
  const Box box{{0.5, 0.5, 0.5}};
  std::set<std::uint32_t> features;
  for (const auto& point : contacts(box, at({0, 0, 0}), box, at({0.2, 0.1, 0.999}), 0)) {
    features.insert(point.feature);
  }
  // Vertex 7 of A, vertex 0 of B, and where edges 5–7 and 6–7 of A cross 0–2 and 0–1 of
  // B.
  const auto crossing = [](std::uint32_t a, std::uint32_t b) {
    return (1u << 31) + (a << 15) + b;
  };
  EXPECT_EQ(features, (std::set<std::uint32_t>{7 + 1, (1u << 30) + 0 + 1,
                                               crossing(5 * 181 + 7, 0 * 181 + 1),
                                               crossing(6 * 181 + 7, 0 * 181 + 2)}));
}

TEST(Pairs, MissingPairsNameBothShapesAndWhatIsThere) {
  EXPECT_EQ(missing_pair_message(ShapeKind::mesh, ShapeKind::cylinder),
            "no contact between mesh and cylinder; mesh touches sphere; cylinder touches "
            "sphere, plane, box, cylinder, cavity, capsule, ellipsoid, convex");
  EXPECT_EQ(missing_pair_message(ShapeKind::box, ShapeKind::convex), "");
  for (int i = 0; i < shape_kinds; ++i) {
    EXPECT_EQ(missing_pair_message(ShapeKind::sphere, static_cast<ShapeKind>(i)), "");
    EXPECT_EQ(missing_pair_message(static_cast<ShapeKind>(i), ShapeKind::sphere), "");
  }
}

// Sphere pairs carry derivatives: dδ/dx of the sphere's centre is the normal (A moves:
// +n).
TEST(Pairs, DualNumbersGiveTheDerivatives) {
  using D = Dual<double, 3>;
  const auto lift = [](const V& v) { return geometry::constant<D>(v); };
  for (const Shape& b : bodies()) {
    Random random(5);
    for (int trial = 0; trial < 50; ++trial) {
      const Pose pa = random.pose(1.2);
      const Pose pb = random.pose(0.2);
      Transform<D> da{{lift(pa.R.x), lift(pa.R.y), lift(pa.R.z)}, lift(pa.p)};
      const Transform<D> db{{lift(pb.R.x), lift(pb.R.y), lift(pb.R.z)}, lift(pb.p)};
      da.p.x = D::variable(pa.p.x, 0);
      da.p.y = D::variable(pa.p.y, 1);
      da.p.z = D::variable(pa.p.z, 2);
      const Shape sphere = Sphere{0.2};
      Contacts<D> all;
      pair_function<D>(ShapeKind::sphere, kind_of(b))(sphere, da, b, db, far_away, all);
      const auto plain = contacts(sphere, pa, b, pb);
      ASSERT_EQ(all.count, plain.count);
      EXPECT_NEAR(all[0].depth.value, plain[0].depth, 1e-14);
      const V slope{all[0].depth.by[0], all[0].depth.by[1], all[0].depth.by[2]};
      EXPECT_NEAR(norm(slope - plain[0].normal), 0, 1e-9) << describe(sphere, b, trial);
    }
  }
}

TEST(Pairs, DegenerateCasesStayFinite) {
  const auto sound = [](const Shape& a, const Pose& pa, const Shape& b, const Pose& pb) {
    const auto all = contacts(a, pa, b, pb);
    EXPECT_GE(all.count, 1) << describe(a, b, 0);
    expect_sound(all, describe(a, b, 0));
    return all;
  };
  // Concentric, all against all: deep penetration.
  for_each_pair([&](const Shape& a, const Shape& b, unsigned) {
    sound(a, at({0, 0, 0}), b, at({0, 0, 0}));
    sound(a, at({0, 0, 0}), b, at({1e-13, 0, 0}));
    sound(a, at({0, 0, 0}), b, turned({0, 0, 1}, 0.3));
  });
  // A centre exactly on a face, an edge, a vertex of a box.
  const Shape box = Box{{1, 1, 1}};
  EXPECT_NEAR(sound(Sphere{0.1}, at({1, 0.2, 0.3}), box, at({0, 0, 0}))[0].depth, 0.1,
              1e-15);
  EXPECT_NEAR(sound(Sphere{0.1}, at({1, 1, 0.3}), box, at({0, 0, 0}))[0].depth, 0.1,
              1e-15);
  EXPECT_NEAR(sound(Sphere{0}, at({1, 1, 1}), box, at({0, 0, 0}))[0].depth, 0, 1e-15);
  // On the axis of a cylinder, of a cavity, in the middle of an ellipsoid.
  EXPECT_NEAR(
      sound(Sphere{0.1}, at({0, 0, 0.2}), Cylinder{0.5, 1}, at({0, 0, 0}))[0].depth, 0.6,
      1e-15);
  sound(Sphere{0.1}, at({0, 0, 0}), Cavity{0.5, HUGE_VAL}, at({0, 0, 0}));
  EXPECT_NEAR(
      sound(Sphere{0.1}, at({0, 0, 0}), Ellipsoid{{1, 2, 0.5}}, at({0, 0, 0}))[0].depth,
      0.6, 1e-9);
}

// Two boxes of the same size on each other, turned a little: their edges cross somewhere
// between the corners, which is no place to stand on.
TEST(Pairs, EdgesAlongEachOtherAddNoContacts) {
  const Box box{{0.5, 0.3, 0.2}};
  for (const double turn : {0.0, 1e-12, -1e-10, 1e-8, -1e-6, 1e-4, -1e-2, 0.05}) {
    for (const double aside : {0.0, 1e-11, -1e-7, 1e-4}) {
      Pose above = turned({0, 0, 1}, turn);
      above.p = {aside, -0.3 * aside, 0.4 - 1e-3};
      const auto all = contacts(box, at({0, 0, 0}), box, above);
      EXPECT_EQ(all.count, 4) << turn << ", " << aside;
      for (const auto& c : all) {
        EXPECT_NEAR(c.depth, 1e-3, 1e-12);
        EXPECT_NEAR(std::fabs(c.on_a.x), 0.5, 0.03) << turn << ", " << aside;
        EXPECT_NEAR(std::fabs(c.on_a.y), 0.3, 0.03) << turn << ", " << aside;
      }
    }
  }
}

// A capsule that leans over the edge of a box is deepest there, with a normal across
// both: as soon as its other end is off the face that point is the only one, and the
// same.
TEST(Pairs, WhatLeansOverAnEdgeRestsOnTheFaceAsWell) {
  const Box box{{0.1, 0.1, 0.1}};
  const Capsule capsule{0.03, 0.06};
  const double depth = 1e-4;
  for (const double lean : {0.0, 1e-6, 1e-4, 5e-4, 0.9e-3, 1.1e-3, 2e-3}) {
    Pose over = turned({0, 1, 0}, 0.5 * 3.14159265358979323846 + lean);
    // The axis passes over the edge at that depth; one end lies 0.1 m back over the face.
    const V along = over.R.z, up = turned({0, 1, 0}, lean).R.z;
    over.p = V{0.1, 0, 0.1} + (0.03 - depth) * up - 0.04 * along;
    const auto all = contacts(box, at({0, 0, 0}), capsule, over);
    int inside = 0;
    for (const auto& c : all) inside += c.depth > 0 ? 1 : 0;
    EXPECT_EQ(inside, lean < 1e-3 ? 2 : 1) << lean;
    const auto c = deepest(all);
    EXPECT_NEAR(c.depth, depth, 1e-9) << lean;
    EXPECT_NEAR(dot(c.normal, up), 1, 1e-9) << lean;
  }
}

// The same contacts however far they are looked for.
TEST(Pairs, AMarginAddsContactsAndChangesNone) {
  const Capsule capsule{0.03, 0.06};
  const Box box{{1, 1, 0.1}};
  Pose lying = turned({0, 1, 0}, 1.5);
  lying.p = {0, 0, 0.1 + 0.03 + 0.06 * std::cos(1.5) - 1e-4};
  Contacts<double> near, far;
  geometry::convex_against_convex(box, at({0, 0, 0}), capsule, lying, 1e-6, near);
  geometry::convex_against_convex(box, at({0, 0, 0}), capsule, lying, 1, far);
  ASSERT_EQ(near.count, 1);
  ASSERT_EQ(far.count, 2);
  EXPECT_EQ(near[0].feature, deepest(far).feature);
  EXPECT_EQ(near[0].depth, deepest(far).depth);
}

}  // namespace
}  // namespace bristle::test
