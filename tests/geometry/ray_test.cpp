#include "bristle/geometry/ray.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "bristle/geometry/hull.hpp"

// Rays against shapes: closed forms, the same body as different shapes, and the distance
// of the point that is hit.

namespace bristle {
namespace {

using V = Vec3<double>;
constexpr double infinity = std::numeric_limits<double>::infinity();

double along(const Shape& shape, const V& from, const V& to) {
  return ray_distance(shape, {}, from, (1 / norm(to)) * to);
}

TEST(Ray, MeetsRoundShapesWhereTheyAre) {
  const Shape ball = Sphere{0.5};
  EXPECT_DOUBLE_EQ(along(ball, {2, 0, 0}, {-1, 0, 0}), 1.5);
  EXPECT_DOUBLE_EQ(along(ball, {0, 0, 0}, {1, 2, 3}), 0.5);  // from within
  EXPECT_EQ(along(ball, {2, 0, 0}, {1, 0, 0}), infinity);    // behind
  EXPECT_EQ(along(ball, {2, 0.51, 0}, {-1, 0, 0}), infinity);
  const Shape rod = Cylinder{0.2, 1};
  EXPECT_DOUBLE_EQ(along(rod, {1, 0, 0.99}, {-1, 0, 0}), 0.8);
  EXPECT_DOUBLE_EQ(along(rod, {0.1, 0.1, 3}, {0, 0, -1}), 2);
  EXPECT_EQ(along(rod, {0.21, 0, 3}, {0, 0, -1}), infinity);
  EXPECT_EQ(along(rod, {1, 0, 1.01}, {-1, 0, 0}), infinity);
  // Through the flat end although the side is farther: at 45° into the edge's inside.
  EXPECT_DOUBLE_EQ(along(rod, {-0.5, 0, 1.5}, {1, 0, -1}), 0.5 * std::sqrt(2.0));
  const Shape pill = Capsule{0.2, 1};
  EXPECT_DOUBLE_EQ(along(pill, {0, 0, 3}, {0, 0, -1}), 1.8);
  EXPECT_DOUBLE_EQ(along(pill, {1, 0, 0.5}, {-1, 0, 0}), 0.8);
  EXPECT_DOUBLE_EQ(along(pill, {1, 0, 1.1}, {-1, 0, 0}), 1 - std::sqrt(0.04 - 0.01));
  EXPECT_DOUBLE_EQ(along(pill, {0, 0, 0}, {0, 0, 1}), 1.2);
  const Shape egg = Ellipsoid{{1, 2, 3}};
  EXPECT_DOUBLE_EQ(along(egg, {0, 5, 0}, {0, -1, 0}), 3);
  EXPECT_DOUBLE_EQ(along(egg, {0, 0, 0}, {0, 0, 1}), 3);
}

TEST(Ray, MeetsFlatShapesWhereTheyAre) {
  EXPECT_DOUBLE_EQ(along(Plane{}, {0, 0, 2}, {0, 0, -1}), 2);
  EXPECT_DOUBLE_EQ(along(Plane{}, {0, 0, 2}, {3, 0, -4}), 2.5);
  EXPECT_EQ(along(Plane{}, {0, 0, 2}, {1, 0, 0}), infinity);
  EXPECT_EQ(along(Plane{}, {0, 0, 2}, {0, 0, 1}), infinity);
  EXPECT_DOUBLE_EQ(along(Box{{1, 2, 3}}, {5, 1.9, -2.9}, {-1, 0, 0}), 4);
  EXPECT_EQ(along(Box{{1, 2, 3}}, {5, 2.1, 0}, {-1, 0, 0}), infinity);
  EXPECT_DOUBLE_EQ(along(Box{{1, 2, 3}}, {0, 0, 0}, {0, 1, 0}), 2);
  // A cavity's wall, from within and through its ends.
  EXPECT_DOUBLE_EQ(along(Cavity{0.5, infinity}, {0.1, 0, 0}, {1, 0, 0}), 0.4);
  EXPECT_EQ(along(Cavity{0.5, infinity}, {0, 0, 0}, {0, 0, 1}), infinity);
  EXPECT_DOUBLE_EQ(along(Cavity{0.5, 2}, {0, 0, 1}, {0, 0, 1}), 1);
}

TEST(Ray, IsTakenInTheAxesOfTheShape) {
  const Transform<double> pose{{{0, 1, 0}, {-1, 0, 0}, {0, 0, 1}}, {1, 1, 0}};
  // x of the box lies along the world's y.
  EXPECT_DOUBLE_EQ(ray_distance(Box{{2, 0.5, 1}}, pose, {1, 10, 0}, {0, -1, 0}), 7);
  EXPECT_DOUBLE_EQ(ray_distance(Box{{2, 0.5, 1}}, pose, {10, 1, 0}, {-1, 0, 0}), 8.5);
}

/// The triangles of a box by its corners.
TriangleMesh box_mesh(const V& half) {
  std::vector<V> corners;
  for (int i = 0; i < 8; ++i) {
    corners.push_back({(i & 1) != 0 ? half.x : -half.x, (i & 2) != 0 ? half.y : -half.y,
                       (i & 4) != 0 ? half.z : -half.z});
  }
  const std::vector<std::array<std::uint32_t, 3>> triangles{
      {1, 3, 7}, {1, 7, 5}, {0, 4, 6}, {0, 6, 2}, {2, 6, 7}, {2, 7, 3},
      {0, 1, 5}, {0, 5, 4}, {4, 5, 7}, {4, 7, 6}, {0, 2, 3}, {0, 3, 1}};
  Result<TriangleMesh> mesh = make_mesh(corners, triangles);
  EXPECT_TRUE(mesh) << mesh.error();
  return std::move(*mesh);
}

TEST(Ray, MeetsABoxAHullAndAMeshAlike) {
  const V half{0.3, 0.7, 1.1};
  const TriangleMesh mesh = box_mesh(half);
  const Result<ConvexHull> hull = make_hull(mesh.surface.vertices);
  ASSERT_TRUE(hull) << hull.error();
  std::mt19937 random(7);
  std::uniform_real_distribution<double> place(-2, 2);
  int met = 0;
  for (int i = 0; i < 3000; ++i) {
    const V from{place(random), place(random), place(random)};
    const V to = 0.5 * V{place(random), place(random), place(random)};
    const double box = along(Box{half}, from, to - from);
    const double polyhedron = along(Convex{&*hull}, from, to - from);
    const double triangles = along(Mesh{&mesh}, from, to - from);
    if (!std::isfinite(box)) {
      EXPECT_EQ(polyhedron, infinity);
      EXPECT_EQ(triangles, infinity);
      continue;
    }
    ++met;
    EXPECT_NEAR(polyhedron, box, 1e-12);
    EXPECT_NEAR(triangles, box, 1e-12);
  }
  EXPECT_GT(met, 500);
}

TEST(Ray, FindsTheFirstHillOfAHeightField) {
  std::mt19937 random(11);
  std::uniform_real_distribution<double> height(0, 1);
  std::vector<double> heights(9 * 7);
  for (double& h : heights) h = height(random);
  const Result<HeightField> field = make_height_field(9, 7, 0.5, 0.4, heights);
  ASSERT_TRUE(field) << field.error();
  // The same triangles in a tree of boxes.
  const Result<TriangleMesh> mesh =
      make_mesh(field->surface.vertices, field->surface.triangles);
  ASSERT_TRUE(mesh) << mesh.error();
  std::uniform_real_distribution<double> place(-2.5, 2.5);
  int met = 0;
  for (int i = 0; i < 3000; ++i) {
    const V from{place(random), place(random), 1.5 + height(random)};
    const V to = V{place(random), place(random), 0} - from;
    const double by_cells = along(Terrain{&*field}, from, to);
    const double by_tree = along(Mesh{&*mesh}, from, to);
    if (std::isfinite(by_tree)) {
      EXPECT_NEAR(by_cells, by_tree, 1e-12);
      ++met;
    } else {
      EXPECT_EQ(by_cells, infinity);
    }
  }
  EXPECT_GT(met, 500);
}

/// The point that is met lies on the surface, and none before it does.
TEST(Ray, MeetsTheFirstPointOfTheSurface) {
  const auto height = [](const Shape& shape, const V& p) {  // above 0: outside
    if (const auto* e = std::get_if<Ellipsoid>(&shape)) {
      const V s{p.x / e->semi_axes.x, p.y / e->semi_axes.y, p.z / e->semi_axes.z};
      return dot(s, s) - 1;
    }
    const double side = std::hypot(p.x, p.y);
    if (const auto* c = std::get_if<Cylinder>(&shape)) {
      return std::max(side - c->radius, std::abs(p.z) - c->half_length);
    }
    const auto* c = std::get_if<Capsule>(&shape);
    const double beyond = std::max(std::abs(p.z) - c->half_length, 0.0);
    return std::hypot(side, beyond) - c->radius;
  };
  std::mt19937 random(3);
  std::uniform_real_distribution<double> place(-2, 2);
  for (const Shape& shape : {Shape{Ellipsoid{{0.5, 1, 0.8}}}, Shape{Cylinder{0.6, 0.9}},
                             Shape{Capsule{0.6, 0.5}}}) {
    int met = 0;
    for (int i = 0; i < 1000; ++i) {
      const V from{place(random), place(random), place(random)};
      const V to = 0.5 * V{place(random), place(random), place(random)} - from;
      const V unit = (1 / norm(to)) * to;
      const double first = along(shape, from, to);
      const bool outside = height(shape, from) > 0;
      const double end = std::isfinite(first) ? first : 8;
      for (int k = 1; k < 200; ++k) {
        const double h = height(shape, from + (end * k / 200) * unit);
        EXPECT_EQ(h > 0, outside) << "at " << end * k / 200 << " of " << first;
      }
      if (!std::isfinite(first)) continue;
      ++met;
      EXPECT_NEAR(height(shape, from + first * unit), 0, 1e-12);
    }
    EXPECT_GT(met, 200);
  }
}

}  // namespace
}  // namespace bristle
