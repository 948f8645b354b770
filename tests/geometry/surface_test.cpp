// Hulls, meshes and height fields.

#include <gtest/gtest.h>

#include <set>

#include "tests/geometry/common.hpp"

namespace bristle::test {
namespace {

using Triangle = std::array<std::uint32_t, 3>;

TEST(Hull, BoxHasSixFacesTwelveEdges) {
  auto points = box_corners({1, 2, 3});
  for (int i = 0; i < 50; ++i)
    points.push_back({0.5, 0.08 * i - 2, 1});  // on it and inside
  points.push_back({1, 0, 0});
  points.push_back({1, 2, 0});  // on an edge
  const auto hull = make_hull(points);
  ASSERT_TRUE(hull);
  EXPECT_EQ(hull->vertices.size(), 8u);
  EXPECT_EQ(hull->face_count(), 6u);
  EXPECT_EQ(hull->edges.size(), 12u);
}

TEST(Hull, HoldsEveryPointAndCloses) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    auto points = random_cloud(seed, 200, {1, 0.5, 2});
    Random random(seed);
    for (int i = 0; i < 100; ++i)
      points.push_back(random.uniform(0, 0.5) * random.direction());
    for (int i = 0; i < 20; ++i) points.push_back(points[static_cast<std::size_t>(i)]);
    const auto made = make_hull(points);
    ASSERT_TRUE(made);
    const ConvexHull& hull = *made;
    for (const V& p : points) {
      for (std::uint32_t f = 0; f < hull.face_count(); ++f) {
        EXPECT_LE(dot(hull.normals[f], p), hull.offsets[f] + 1e-9);
      }
    }
    // Euler: V − E + F = 2.
    EXPECT_EQ(hull.vertices.size() + hull.face_count(), hull.edges.size() + 2) << seed;
    for (std::uint32_t f = 0; f < hull.face_count(); ++f) {
      EXPECT_NEAR(norm(hull.normals[f]), 1, 1e-12);
      EXPECT_LT(dot(hull.normals[f], hull.centre), hull.offsets[f]);
    }
  }
}

TEST(Hull, GridOfPointsAndRoundShapes) {
  std::vector<V> grid;
  for (int x = 0; x < 6; ++x) {
    for (int y = 0; y < 6; ++y) {
      for (int z = 0; z < 6; ++z) grid.push_back({0.1 * x, 0.1 * y, 0.1 * z});
    }
  }
  const auto cube = make_hull(grid);
  ASSERT_TRUE(cube);
  EXPECT_EQ(cube->face_count(), 6u);
  std::vector<V> prism;
  for (int i = 0; i < 64; ++i) {
    const double a = 2 * std::numbers::pi * i / 64;
    prism.push_back({std::cos(a), std::sin(a), -1});
    prism.push_back({std::cos(a), std::sin(a), 1});
  }
  const auto drum = make_hull(prism);
  ASSERT_TRUE(drum);
  EXPECT_EQ(drum->face_count(), 66u);
  EXPECT_EQ(drum->vertices.size(), 128u);
}

TEST(Hull, SaysWhyThereIsNone) {
  EXPECT_EQ(make_hull(std::vector<V>{{0, 0, 0}}).error(),
            "a convex hull needs at least 4 points, got 1");
  EXPECT_EQ(make_hull(std::vector<V>(5, V{1, 2, 3})).error(),
            "all points of the convex hull lie in one place");
  std::vector<V> flat{{0, 0, 1}, {1, 0, 1}, {0, 1, 1}, {1, 1, 1}, {0.3, 0.2, 1}};
  EXPECT_EQ(make_hull(flat).error(), "all points of the convex hull lie in one plane");
  std::vector<V> line{{0, 0, 0}, {1, 1, 1}, {2, 2, 2}, {3, 3, 3}};
  EXPECT_EQ(make_hull(line).error(), "all points of the convex hull lie on one line");
  flat[0].x = std::nan("");
  EXPECT_EQ(make_hull(flat).error(), "a point of the convex hull is not finite");
}

TEST(Hull, LimitOfEdgesIsSaid) {
  Random random(1);
  std::vector<V> points;
  for (int i = 0; i < 15449; ++i) points.push_back(random.direction());
  EXPECT_EQ(make_hull(points).error(),
            "a convex hull has at most 46340 edges, got 46341 (15449 vertices); take "
            "fewer points of the surface");
}

// The edge that leaves each corner of a face, whichever face it is seen from.
TEST(Hull, FacesNameTheirEdges) {
  for (const ConvexHull* hull : {&cube_hull(), &cloud_hull(), &large_hull()}) {
    ASSERT_EQ(hull->face_edges.size(), hull->face_vertices.size());
    for (std::uint32_t f = 0; f < hull->face_count(); ++f) {
      const auto face = hull->face(f);
      for (std::size_t i = 0; i < face.size(); ++i) {
        const ConvexHull::Edge& edge =
            hull->edges.at(hull->face_edges[hull->face_start[f] + i]);
        const bool left = edge.left == f;
        EXPECT_EQ(left ? edge.from : edge.to, face[i]);
        EXPECT_EQ(left ? edge.to : edge.from, face[(i + 1) % face.size()]);
        EXPECT_EQ(left ? edge.left : edge.right, f);
      }
    }
  }
}

struct Soup {
  std::vector<V> vertices;
  std::vector<Triangle> triangles;

  void add(const V& a, const V& b, const V& c) {
    const auto i = static_cast<std::uint32_t>(vertices.size());
    vertices.insert(vertices.end(), {a, b, c});
    triangles.push_back({i, i + 1, i + 2});
  }
  void quad(const V& a, const V& b, const V& c, const V& d) {
    add(a, b, c);
    add(a, c, d);
  }
};

/// A box as a soup of triangles, n × n squares per face.
Soup box_soup(const V& h, int n, bool inward = false) {
  Soup soup;
  const auto face = [&](const V& o, const V& u, const V& v) {
    const double k = 1.0 / n;
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) {
        const V p = o + (i * k) * u + (j * k) * v;
        if (inward) {
          soup.quad(p, p + k * v, p + k * u + k * v, p + k * u);
        } else {
          soup.quad(p, p + k * u, p + k * u + k * v, p + k * v);
        }
      }
    }
  };
  const V x{2 * h.x, 0, 0};
  const V y{0, 2 * h.y, 0};
  const V z{0, 0, 2 * h.z};
  face(-h, y, x);
  face(-h, x, z);
  face(-h, z, y);
  face(h, -x, -y);
  face(h, -z, -x);
  face(h, -y, -z);
  return soup;
}

TEST(Mesh, BoxMeshEqualsBoxOutside) {
  const V h{0.5, 0.5, 0.5};
  const Soup soup = box_soup(h, 4);
  const auto mesh = make_mesh(soup.vertices, soup.triangles);
  ASSERT_TRUE(mesh);
  EXPECT_EQ(mesh->surface.vertices.size(), 98u);  // welded
  const Shape shape = Mesh{&*mesh};
  Random random(1);
  for (int trial = 0; trial < 3000; ++trial) {
    const Pose pose = random.pose(1);
    const Pose ball = at(pose.p + random.uniform(0.3, 1.1) * random.direction());
    const auto on_mesh = contacts(Sphere{0.3}, ball, shape, pose, 0.05);
    const auto on_box = contacts(Sphere{0.3}, ball, Box{h}, pose, 0.05);
    ASSERT_EQ(on_mesh.count, on_box.count) << trial;
    if (on_box.count == 0) continue;
    EXPECT_NEAR(on_mesh[0].depth, on_box[0].depth, 1e-12) << trial;
    EXPECT_NEAR(norm(on_mesh[0].normal - on_box[0].normal), 0, 1e-6) << trial;
  }
}

// One contact, with one id, wherever a ball rests on a triangulated flat: over faces,
// edges and vertices.
TEST(Mesh, FlatGivesOneContactWithOneId) {
  const Soup soup = box_soup({1, 1, 1}, 4);
  const auto mesh = make_mesh(soup.vertices, soup.triangles);
  ASSERT_TRUE(mesh);
  std::set<std::uint32_t> ids;
  for (int i = -12; i <= 12; ++i) {
    for (int j = -12; j <= 12; ++j) {
      const auto all = contacts(Sphere{0.3}, at({0.0625 * i, 0.0625 * j, 1.29}),
                                Mesh{&*mesh}, at({0, 0, 0}), 0.05);
      ASSERT_EQ(all.count, 1);
      EXPECT_NEAR(all[0].depth, 0.01, 1e-14);
      EXPECT_NEAR(norm(all[0].normal - V{0, 0, -1}), 0, 1e-14);
      ids.insert(all[0].feature);
    }
  }
  EXPECT_EQ(ids.size(), 1u);
}

TEST(Mesh, CornerGivesThreeContacts) {
  const Soup room = box_soup({1, 1, 1}, 3, true);
  const auto mesh = make_mesh(room.vertices, room.triangles);
  ASSERT_TRUE(mesh);
  const auto all =
      contacts(Sphere{0.2}, at({-0.81, -0.82, -0.83}), Mesh{&*mesh}, at({0, 0, 0}), 0.02);
  ASSERT_EQ(all.count, 3);
  EXPECT_NEAR(all[0].depth, 0.03, 1e-14);
  EXPECT_NEAR(all[1].depth, 0.02, 1e-14);
  EXPECT_NEAR(all[2].depth, 0.01, 1e-14);
}

TEST(Mesh, DeepCentresAreFound) {
  const Soup soup = box_soup({0.5, 0.5, 0.5}, 2);
  const auto mesh = make_mesh(soup.vertices, soup.triangles);
  ASSERT_TRUE(mesh);
  for (const double r : {0.0, 0.1}) {
    for (const double z : {0.501, 0.4999, 0.4, 0.2, 0.01}) {
      const auto all =
          contacts(Sphere{r}, at({0.003, 0.002, z}), Mesh{&*mesh}, at({0, 0, 0}), 0.05);
      ASSERT_EQ(all.count, 1) << r << " " << z;
      EXPECT_NEAR(all[0].depth, r + 0.5 - z, 1e-14);
      EXPECT_NEAR(norm(all[0].normal - V{0, 0, -1}), 0, 1e-14);
    }
  }
}

/// Random hills as a mesh and as a height field.
std::vector<double> hills(int columns, int rows) {
  Random random(9);
  std::vector<double> heights;
  for (int j = 0; j < rows; ++j) {
    for (int i = 0; i < columns; ++i) {
      heights.push_back(0.2 * std::sin(0.9 * i) * std::cos(0.7 * j) +
                        random.uniform(0, 0.05));
    }
  }
  return heights;
}

TEST(Mesh, NearestFeatureEqualsBruteForce) {
  const auto heights = hills(20, 15);
  const auto field = make_height_field(20, 15, 0.2, 0.25, heights);
  ASSERT_TRUE(field);
  const TriangleSurface& s = field->surface;
  auto mesh = make_mesh(s.vertices, s.triangles);
  ASSERT_TRUE(mesh);
  mesh->surface.max_depth = s.max_depth;
  Random random(4);
  int touched = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    const V x{random.uniform(-2, 2), random.uniform(-1.8, 1.8),
              random.uniform(-0.1, 0.6)};
    const double r = random.uniform(0.02, 0.3);
    double nearest = HUGE_VAL;
    for (std::uint32_t f = 0; f < s.triangles.size(); ++f) {
      nearest = std::min(nearest, geometry::closest_on_triangle(s, f, x).distance);
    }
    const auto a = contacts(Sphere{r}, at(x), Mesh{&*mesh}, at({0, 0, 0}), 0.01);
    const auto b = contacts(Sphere{r}, at(x), Terrain{&*field}, at({0, 0, 0}), 0.01);
    ASSERT_EQ(a.count, b.count) << trial;
    for (int i = 0; i < a.count; ++i) {
      EXPECT_EQ(a[i].depth, b[i].depth);
      EXPECT_EQ(norm(a[i].normal - b[i].normal), 0);
    }
    if (a.count == 0) {
      EXPECT_GT(nearest, std::min(r + 0.01, s.max_depth) - 1e-12) << trial;
      continue;
    }
    ++touched;
    const auto c = deepest(a);
    EXPECT_NEAR(std::fabs(r - c.depth), nearest, 1e-12) << trial;
    EXPECT_NEAR(norm(c.normal), 1, 1e-12);
  }
  EXPECT_GT(touched, 500);
}

TEST(HeightField, FlatGroundIsAPlane) {
  const std::vector<double> heights(30, 0.7);
  const auto field = make_height_field(6, 5, 0.5, 0.5, heights);
  ASSERT_TRUE(field);
  Random random(8);
  std::set<std::uint32_t> ids;
  for (int trial = 0; trial < 200; ++trial) {
    const V x{random.uniform(-1, 1), random.uniform(-0.9, 0.9), random.uniform(0.3, 1.0)};
    const auto all = contacts(Sphere{0.25}, at(x), Terrain{&*field}, at({0, 0, 0}), 0.1);
    ASSERT_EQ(all.count, 1);
    EXPECT_NEAR(all[0].depth, 0.25 + 0.7 - x.z, 1e-14);
    ids.insert(all[0].feature);
  }
  EXPECT_EQ(ids.size(), 1u);
}

TEST(Mesh, SaysWhatIsWrong) {
  const std::vector<V> vertices{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  EXPECT_EQ(make_mesh(vertices, {}).error(),
            "a triangle mesh needs at least one triangle");
  EXPECT_EQ(make_mesh(vertices, std::vector<Triangle>{{0, 1, 3}}).error(),
            "mesh triangle 0 refers to vertex 3, but there are 3");
  EXPECT_EQ(make_mesh(vertices, std::vector<Triangle>{{0, 1, 1}}).error(),
            "no triangle of the mesh has an area");
  EXPECT_EQ(make_height_field(2, 2, 1, 1, std::vector<double>(3)).error(),
            "a height field of 2 × 2 points needs 4 heights, got 3");
  // Three triangles at one edge are no obstacle.
  const std::vector<V> fan{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}};
  EXPECT_TRUE(make_mesh(fan, std::vector<Triangle>{{0, 1, 2}, {1, 0, 3}, {0, 1, 4}}));
}

}  // namespace
}  // namespace bristle::test
