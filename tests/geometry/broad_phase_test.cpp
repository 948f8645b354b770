#include "bristle/geometry/broad_phase.hpp"

#include <gtest/gtest.h>

#include <set>

#include "tests/geometry/common.hpp"

namespace bristle::test {
namespace {

const auto everything = [](std::uint32_t, std::uint32_t) { return true; };

std::vector<BroadPair> brute_force(const std::vector<Aabb>& boxes) {
  std::vector<BroadPair> pairs;
  for (std::uint32_t i = 0; i < boxes.size(); ++i) {
    for (std::uint32_t j = i + 1; j < boxes.size(); ++j) {
      if (overlap(boxes[i], boxes[j])) pairs.push_back({i, j});
    }
  }
  return pairs;
}

std::vector<Aabb> cloud(Random& random, int count, double largest) {
  std::vector<Aabb> boxes;
  for (int i = 0; i < count; ++i) {
    const V c{random.uniform(-5, 5), random.uniform(-5, 5), random.uniform(-5, 5)};
    const V h{random.uniform(0, largest), random.uniform(0, largest),
              random.uniform(0, largest)};
    boxes.push_back({c - h, c + h});
  }
  return boxes;
}

std::vector<BroadPair> as_vector(std::span<const BroadPair> pairs) {
  return {pairs.begin(), pairs.end()};
}

TEST(BroadPhase, FindsWhatBruteForceFinds) {
  Random random(1);
  BroadPhase broad(1000, 100000);
  for (const int count : {0, 1, 2, 3, 4, 5, 7, 16, 17, 100, 1000}) {
    for (const double largest : {0.01, 0.3, 3.0}) {
      const auto boxes = cloud(random, count, largest);
      const auto expected = brute_force(boxes);
      const BroadStatus status = broad.find(boxes, everything);
      if (expected.size() <= 100000) {
        EXPECT_EQ(status, BroadStatus::ok);
        EXPECT_EQ(as_vector(broad.pairs()), expected) << count << " " << largest;
      }
    }
  }
}

TEST(BroadPhase, FollowsMovingBodies) {
  Random random(2);
  auto boxes = cloud(random, 300, 0.4);
  std::vector<V> velocity;
  for (int i = 0; i < 300; ++i) velocity.push_back(random.direction());
  BroadPhase broad(300, 20000);
  for (int step = 0; step < 50; ++step) {
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      boxes[i].low = boxes[i].low + 0.1 * velocity[i];
      boxes[i].high = boxes[i].high + 0.1 * velocity[i];
    }
    ASSERT_EQ(broad.find(boxes, everything), BroadStatus::ok);
    ASSERT_EQ(as_vector(broad.pairs()), brute_force(boxes)) << step;
  }
}

TEST(BroadPhase, AllInOnePlaceAndAllInALine) {
  BroadPhase broad(200, 20000);
  std::vector<Aabb> same(200, Aabb{{0, 0, 0}, {1, 1, 1}});
  ASSERT_EQ(broad.find(same, everything), BroadStatus::ok);
  EXPECT_EQ(as_vector(broad.pairs()), brute_force(same));
  std::vector<Aabb> row;
  for (int i = 0; i < 200; ++i) row.push_back({{0.9 * i, 0, 0}, {0.9 * i + 1, 0, 0}});
  ASSERT_EQ(broad.find(row, everything), BroadStatus::ok);
  EXPECT_EQ(as_vector(broad.pairs()), brute_force(row));
}

TEST(BroadPhase, FilterDecides) {
  Random random(3);
  const auto boxes = cloud(random, 200, 1.0);
  BroadPhase broad(200, 20000);
  ASSERT_EQ(broad.find(boxes,
                       [](std::uint32_t i, std::uint32_t j) { return (i + j) % 3 == 0; }),
            BroadStatus::ok);
  auto expected = brute_force(boxes);
  std::erase_if(expected,
                [](const BroadPair& p) { return (p.first + p.second) % 3 != 0; });
  EXPECT_EQ(as_vector(broad.pairs()), expected);
}

TEST(BroadPhase, LargeAndHalfSpacesAreKeptApart) {
  Random random(4);
  auto boxes = cloud(random, 200, 0.2);
  boxes[17] = bounds(Plane{}, at({0, 0, 0}));  // a floor at z = −1
  boxes[50] = {{-6, -6, -6}, {6, 6, 0}};       // static ground
  const std::vector<std::uint32_t> large{50};
  const std::vector<HalfSpace> half_spaces{{17, {0, 0, 1}, -1.0}};
  BroadPhase broad(200, 20000);
  ASSERT_EQ(broad.find(boxes, large, half_spaces, everything), BroadStatus::ok);
  std::vector<BroadPair> expected;
  for (std::uint32_t i = 0; i < 200; ++i) {
    for (std::uint32_t j = i + 1; j < 200; ++j) {
      const auto apart = [](std::uint32_t k) { return k == 17 || k == 50; };
      if (apart(i) && apart(j)) continue;
      bool touch = overlap(boxes[i], boxes[j]);
      if (i == 17) touch = boxes[j].low.z <= -1;
      if (j == 17) touch = boxes[i].low.z <= -1;
      if (touch) expected.push_back({i, j});
    }
  }
  EXPECT_EQ(as_vector(broad.pairs()), expected);
}

TEST(BroadPhase, SaysWhenThereIsNoRoom) {
  Random random(5);
  const auto boxes = cloud(random, 100, 2.0);
  BroadPhase few_pairs(100, 10);
  EXPECT_EQ(few_pairs.find(boxes, everything), BroadStatus::too_many_pairs);
  EXPECT_EQ(few_pairs.pairs().size(), 10u);
  EXPECT_EQ(few_pairs.found(), brute_force(boxes).size());
  BroadPhase few_boxes(99, 1000);
  EXPECT_EQ(few_boxes.find(boxes, everything), BroadStatus::too_many_boxes);
  auto bad = boxes;
  bad[33].low.y = std::nan("");
  BroadPhase enough(100, 10000);
  EXPECT_EQ(enough.find(bad, everything), BroadStatus::bad_box);
  EXPECT_EQ(enough.bad_box(), 33u);
}

TEST(BroadPhase, BoundsHoldTheShapes) {
  Random random(6);
  for (const Shape& shape : bodies()) {
    for (int trial = 0; trial < 50; ++trial) {
      const Pose pose = random.pose(2);
      const Aabb box = bounds(shape, pose, 0.01);
      // The farthest point along each axis lies on the border, less the margin.
      const auto core = geometry::core_of(shape, pose);
      for (int i = 0; i < 3; ++i) {
        V d{0, 0, 0};
        geometry::at(d, i) = 1;
        const double top = dot(geometry::support(core, d), d) + core.radius;
        const double bottom = dot(geometry::support(core, -d), d) - core.radius;
        EXPECT_NEAR(geometry::at(box.high, i), top + 0.01, 1e-12);
        EXPECT_NEAR(geometry::at(box.low, i), bottom - 0.01, 1e-12);
      }
    }
  }
}

}  // namespace
}  // namespace bristle::test
