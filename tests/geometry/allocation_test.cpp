// The stepping path allocates nothing.

#include <gtest/gtest.h>

#include "bristle/geometry/broad_phase.hpp"
#include "tests/contract/allocations.hpp"
#include "tests/geometry/common.hpp"

namespace bristle::test {
namespace {

TEST(Allocation, NoneInTheNarrowPhase) {
  std::vector<Shape> all = bodies();
  all.push_back(Plane{});
  all.push_back(Cavity{2, 3});
  const auto field = make_height_field(8, 8, 0.3, 0.3, std::vector<double>(64, 0.1));
  const auto mesh = make_mesh(field->surface.vertices, field->surface.triangles);
  all.push_back(Terrain{&*field});
  all.push_back(Mesh{&*mesh});
  Random random(1);
  const contract::AllocationCount count;
  int found = 0;
  for (const Shape& a : all) {
    for (const Shape& b : all) {
      const auto find = pair_function<double>(kind_of(a), kind_of(b));
      if (find == nullptr) continue;
      for (int trial = 0; trial < 5; ++trial) {
        Contacts<double> out;
        find(a, random.pose(0.2), b, random.pose(1), 0.1, out);
        found += out.count;
      }
    }
  }
  EXPECT_EQ(count.since(), 0);
  EXPECT_GT(found, 100);
}

TEST(Allocation, NoneInTheBroadPhase) {
  Random random(2);
  std::vector<Aabb> boxes;
  for (int i = 0; i < 500; ++i) {
    boxes.push_back(bounds(Sphere{0.5}, random.pose(5), 0.1));
  }
  BroadPhase broad(500, 50000);
  const contract::AllocationCount count;
  const BroadStatus status =
      broad.find(boxes, [](std::uint32_t, std::uint32_t) { return true; });
  EXPECT_EQ(count.since(), 0);
  EXPECT_EQ(status, BroadStatus::ok);
  EXPECT_GT(broad.pairs().size(), 100u);
}

}  // namespace
}  // namespace bristle::test
