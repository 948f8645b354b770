// Random poses against FCL (the Flexible Collision Library), an independent
// implementation.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "tests/geometry/common.hpp"
#include "tests/geometry/fcl_oracle.hpp"

namespace bristle::test {
namespace {

struct HullNumbers {
  std::vector<double> points;
  std::vector<int> faces;
};

HullNumbers numbers_of(const ConvexHull& hull) {
  HullNumbers numbers;
  for (const V& v : hull.vertices)
    numbers.points.insert(numbers.points.end(), {v.x, v.y, v.z});
  for (std::uint32_t f = 0; f < hull.face_count(); ++f) {
    numbers.faces.push_back(static_cast<int>(hull.face(f).size()));
    for (const std::uint32_t v : hull.face(f))
      numbers.faces.push_back(static_cast<int>(v));
  }
  return numbers;
}

OracleBody oracle(const Shape& shape, const Pose& pose, HullNumbers& hull) {
  OracleBody body{};
  if (const auto* s = std::get_if<Sphere>(&shape)) {
    body.shape = OracleShape::sphere;
    body.size[0] = s->radius;
  } else if (const auto* b = std::get_if<Box>(&shape)) {
    body.shape = OracleShape::box;
    body.size[0] = b->half.x, body.size[1] = b->half.y, body.size[2] = b->half.z;
  } else if (const auto* c = std::get_if<Cylinder>(&shape)) {
    body.shape = OracleShape::cylinder;
    body.size[0] = c->radius, body.size[1] = c->half_length;
  } else if (const auto* k = std::get_if<Capsule>(&shape)) {
    body.shape = OracleShape::capsule;
    body.size[0] = k->radius, body.size[1] = k->half_length;
  } else if (const auto* e = std::get_if<Ellipsoid>(&shape)) {
    body.shape = OracleShape::ellipsoid;
    body.size[0] = e->semi_axes.x, body.size[1] = e->semi_axes.y,
    body.size[2] = e->semi_axes.z;
  } else {
    const ConvexHull& h = *std::get<Convex>(shape).hull;
    body.shape = OracleShape::convex;
    hull = numbers_of(h);
    body.points = hull.points.data();
    body.point_count = static_cast<int>(h.vertices.size());
    body.faces = hull.faces.data();
    body.face_count = static_cast<int>(h.face_count());
    body.face_numbers = static_cast<int>(hull.faces.size());
  }
  int i = 0;
  for (const V& column : {pose.R.x, pose.R.y, pose.R.z}) {
    for (int k = 0; k < 3; ++k) body.columns[i++] = geometry::at(column, k);
  }
  for (int k = 0; k < 3; ++k) body.position[k] = geometry::at(pose.p, k);
  return body;
}

TEST(Fcl, AgreesOnDistanceAndDepth) {
  const int trials = std::getenv("BRISTLE_SOAK") != nullptr ? 2000 : 200;
  const std::vector<Shape> all = bodies();
  std::printf("%-20s %6s %9s %9s %6s %9s %9s\n", "pair", "apart", "median", "worst",
              "deep", "median", "ours-FCL");
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = i; j < all.size(); ++j) {
      const Shape& a = all[i];
      const Shape& b = all[j];
      Random random(static_cast<unsigned>(100 * i + j));
      std::vector<double> apart;
      std::vector<double> deep;
      double deeper = 0;
      int disagree = 0;
      int stuck = 0;
      for (int trial = 0; trial < trials; ++trial) {
        const Pose pa = random.pose(0.2);
        const Pose pb = random.pose(1.4);
        HullNumbers hull_a;
        HullNumbers hull_b;
        const OracleAnswer fcl = ask_fcl(oracle(a, pa, hull_a), oracle(b, pb, hull_b));
        const auto ours = deepest(contacts(a, pa, b, pb));
        if (fcl.overlap != (ours.depth > 0)) {
          if (std::fabs(ours.depth) > 1e-5) ++disagree;
          continue;
        }
        if (fcl.overlap) {
          deep.push_back(std::fabs(ours.depth - fcl.depth));
          // FCL's depth need not be the least. Ours is: never deeper than FCL's, and
          // moving B out by it parts the bodies. (Faces that lie on each other report
          // where they overlap, which may be less deep than the way out; and they take
          // the place of a pair of edges that is up to a third less deep.)
          const bool faces = geometry::method(a.index(), b.index()) == PairMethod::faces;
          deeper = std::max(deeper, ours.depth - (faces ? 1.5 : 1) * fcl.depth);
          Pose out = pb;
          out.p = pb.p + (ours.depth + 1e-5) * ours.normal;
          if (!faces && ask_fcl(oracle(a, pa, hull_a), oracle(b, out, hull_b)).overlap) {
            ++stuck;
          }
        } else {
          apart.push_back(std::fabs(-ours.depth - fcl.distance));
        }
      }
      std::sort(apart.begin(), apart.end());
      std::sort(deep.begin(), deep.end());
      const auto median = [](const std::vector<double>& v) {
        return v.empty() ? 0 : v[v.size() / 2];
      };
      const double worst = apart.empty() ? 0 : apart.back();
      const std::string pair =
          std::string(name_of(kind_of(a))) + "-" + std::string(name_of(kind_of(b)));
      std::printf("%-20s %6zu %9.1e %9.1e %6zu %9.1e %9.1e\n", pair.c_str(), apart.size(),
                  median(apart), worst, deep.size(), median(deep), deeper);
      EXPECT_EQ(disagree, 0) << pair;
      EXPECT_EQ(stuck, 0) << pair;
      EXPECT_LT(worst, 1e-5) << pair;  // FCL's own: it stops at a tolerance
      EXPECT_LT(deeper, 1e-7) << pair;
    }
  }
}

}  // namespace
}  // namespace bristle::test
