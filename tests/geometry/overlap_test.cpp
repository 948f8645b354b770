// Overlaps against integrals that are computed in another way.

#include "bristle/geometry/overlap.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <vector>

#include "tests/geometry/common.hpp"
#include "tests/sanitizers.hpp"

namespace bristle::test {
namespace {

using Long = long double;
constexpr double pi = std::numbers::pi;

Overlap<double> overlap(const Shape& a, const Pose& pose_a, const Shape& b,
                        const Pose& pose_b) {
  return overlap_function<double>(kind_of(a), kind_of(b))(a, pose_a, b, pose_b);
}

/// ∫ f over [a, b] by the double-exponential rule: exact also where f starts like a
/// power.
template <class F>
auto integral(Long a, Long b, const F& f) {
  constexpr Long h = 1.0L / 9;
  auto sum = (0 * (b - a)) * f(a + (b - a) / 2);
  if (!(b > a)) return sum;
  for (int k = -40; k <= 40; ++k) {
    const Long t = h * k;
    const Long g = std::numbers::pi_v<Long> / 2 * std::sinh(t);
    const Long c = std::cosh(g);
    const Long part = 1 / (1 + std::exp(2 * std::fabs(g)));  // distance from the near end
    const Long x = g < 0 ? a + (b - a) * part : b - (b - a) * part;
    const Long weight =
        h * std::numbers::pi_v<Long> / 2 * std::cosh(t) / (c * c) * (b - a) / 2;
    if (weight > 0 && x > a && x < b) sum = sum + weight * f(x);
  }
  return sum;
}

/// 1, ξ, ξ², y² and depth, integrated.
struct Sums {
  Long one = 0, x = 0, xx = 0, yy = 0, depth = 0;
  friend Sums operator+(const Sums& a, const Sums& b) {
    return {a.one + b.one, a.x + b.x, a.xx + b.xx, a.yy + b.yy, a.depth + b.depth};
  }
  friend Sums operator*(Long k, const Sums& a) {
    return {k * a.one, k * a.x, k * a.xx, k * a.yy, k * a.depth};
  }
};

/// A body of revolution about a segment, tilted: everything that is symmetric about its
/// tilt plane (ξ along the plane, ζ up from the deepest point). Gives the interval of ξ
/// at a height, the half-width across at a point, and where they are not smooth.
struct Profile {
  std::function<std::pair<Long, Long>(Long)> range;
  std::function<Long(Long, Long)> half_width;
  std::vector<Long> heights;                           // breaks
  std::function<std::vector<Long>(Long)> breaks = {};  // of ξ at a height
};

Sums level(const Profile& body, Long height, Long depth) {
  const auto [low, high] = body.range(height);
  std::vector<Long> at{low};
  if (body.breaks) {
    for (const Long x : body.breaks(height)) {
      if (x > low && x < high) at.push_back(x);
    }
  }
  at.push_back(high);
  std::sort(at.begin(), at.end());
  Sums sum;
  for (std::size_t i = 0; i + 1 < at.size(); ++i) {
    sum = sum + integral(at[i], at[i + 1], [&](Long x) {
            const Long w = body.half_width(x, height);
            return Sums{2 * w, 2 * w * x, 2 * w * x * x, 2 * w * w * w / 3,
                        2 * w * (depth - height)};
          });
  }
  return sum;
}

Sums volume(const Profile& body, Long depth) {
  std::vector<Long> at{0, depth};
  for (const Long z : body.heights) {
    if (z > 0 && z < depth) at.push_back(z);
  }
  std::sort(at.begin(), at.end());
  Sums sum;
  for (std::size_t i = 0; i + 1 < at.size(); ++i) {
    sum = sum + integral(at[i], at[i + 1], [&](Long z) { return level(body, z, depth); });
  }
  return sum;
}

/// ξ and height of a point are c u − s z and s u + c z, u from the deepest line of the
/// mantle, z from the lower end.
Profile cylinder_profile(Long r, Long length, Long s, Long c) {
  Profile p;
  p.range = [=](Long h) {
    // ξ with u = s h + c ξ in [0, 2r], z = c h − s ξ in [0, length].
    Long low = -1e9L, high = 1e9L;
    if (c > 0)
      low = std::max(low, -s * h / c), high = std::min(high, (2 * r - s * h) / c);
    if (s > 0)
      low = std::max(low, (c * h - length) / s), high = std::min(high, c * h / s);
    return std::pair{low, high};
  };
  p.half_width = [=](Long x, Long h) {
    const Long u = s * h + c * x;
    return std::sqrt(std::max(0.0L, u * (2 * r - u)));
  };
  p.heights = {2 * r * s, length * c};
  return p;
}

/// From the deepest point of the lower ball.
Profile capsule_profile(Long r, Long length, Long s, Long c) {
  Profile p;
  const auto width = [=](Long x, Long h) {
    const Long up = h - r;  // from the lower centre
    const Long z = std::clamp(c * up - s * x, 0.0L, length);
    const Long dx = x + s * z, dh = up - c * z;
    return (r - dh) * (r + dh) - dx * dx;
  };
  p.half_width = [=](Long x, Long h) { return std::sqrt(std::max(0.0L, width(x, h))); };
  p.range = [=](Long h) {
    // Ends of the line inside the stadium: the balls' and the mantle's ends.
    Long low = 1e9L, high = -1e9L;
    const auto add = [&](Long x) { low = std::min(low, x), high = std::max(high, x); };
    for (const Long z : {0.0L, length}) {
      const Long dh = h - r - c * z;
      const Long w2 = (r - dh) * (r + dh);
      if (w2 < 0) continue;
      for (const Long sign : {-1.0L, 1.0L}) {
        const Long x = -s * z + sign * std::sqrt(w2);
        const Long along = c * (h - r) - s * x;
        if (z == 0 ? along <= 0 : along >= length) add(x);
        if (s == 0 && z == 0) add(x);
        if (s == 0 && z > 0) add(x);
      }
    }
    if (c > 0) {
      for (const Long side : {-r, r}) {
        const Long x = (side - s * (h - r)) / c;
        const Long along = c * (h - r) - s * x;
        if (along >= 0 && along <= length) add(x);
      }
    }
    return std::pair{low, high};
  };
  if (s > 0) {
    p.breaks = [=](Long h) {
      return std::vector<Long>{c * (h - r) / s, (c * (h - r) - length) / s};
    };
  }
  p.heights = {r - r * s, r + r * s,  r - r * s + length * c, r + r * s + length * c,
               r,         length * c, r + length * c,         length * c + 2 * r,
               2 * r};
  return p;
}

/// A body of revolution whose axis is tilted by `tilt` about y, entering the plane z = 0
/// to about `depth`.
Pose tilted(double tilt_deg, double half, double reach, double depth) {
  const double tilt = tilt_deg * pi / 180;
  const double c = tilt_deg == 90 ? 0 : std::cos(tilt);
  const double s = tilt_deg == 90 ? 1 : std::sin(tilt);
  return {{{c, 0, -s}, {0, 1, 0}, {s, 0, c}}, {0, 0, half * c + reach - depth}};
}

struct Expected {
  Long volume, depth, centroid, xx, yy;
  Long area, area_centroid, area_xx, area_yy;
};

Expected expected(const Profile& body, Long depth) {
  const Sums v = volume(body, depth);
  const Sums a = level(body, depth, depth);
  return {v.one, v.depth / v.one, v.x / v.one, v.xx - v.x * v.x / v.one,
          v.yy,  a.one,           a.x / a.one, a.xx - a.x * a.x / a.one,
          a.yy};
}

void expect_near(double value, Long reference, const char* what, Long scale = 0) {
  EXPECT_NEAR(value, static_cast<double>(reference),
              1e-8 * static_cast<double>(std::max(std::fabs(reference), scale)))
      << what;
}

/// The body's deepest point is at x = `deepest`; ξ runs against world x.
void expect_patch(const Overlap<double>& o, const Expected& e, double deepest) {
  const Long size = std::sqrt(e.xx / e.volume);
  expect_near(o.volume, e.volume, "volume");
  expect_near(o.centroid_depth, e.depth, "centroid depth");
  expect_near(o.potential, e.depth * e.volume, "potential");
  expect_near(deepest - o.centroid.x, e.centroid, "centroid", size);
  expect_near(o.moments.xx, e.xx, "moment along the tilt");
  expect_near(o.moments.yy, e.yy, "moment across");
  expect_near(o.area, e.area, "area");
  expect_near(deepest - o.area_centroid.x, e.area_centroid, "centroid of the section",
              std::sqrt(e.area_xx / e.area));
  expect_near(o.area_moments.xx, e.area_xx, "area moment along the tilt");
  expect_near(o.area_moments.yy, e.area_yy, "area moment across");
  EXPECT_EQ(o.moments.zz, 0);
  EXPECT_EQ(o.centroid.z, 0);
}

const std::vector<double> tilts{0,  1e-6, 1e-4, 0.01, 0.46, 2,    10,     30,
                                45, 60,   80,   88,   89.5, 89.9, 89.999, 90};

/// Sine and cosine of the pose of tilted(): the smaller one as it is there, and the other
/// one to it.
std::pair<Long, Long> turn_of(double tilt_deg) {
  const V axis = tilted(tilt_deg, 0, 0, 0).R.z;
  const Long s = axis.x, c = axis.z;
  if (c < s) return {std::sqrt((1 - c) * (1 + c)), c};
  return {s, std::sqrt((1 - s) * (1 + s))};
}

TEST(Overlap, OfATiltedCylinderIsThatOfIndependentQuadrature) {
  const Shape plane = Plane{};
  const double r = 5e-3, half = 0.025;
  for (const double tilt : tilts) {
    const double t = tilt * pi / 180;
    const double s = tilt == 90 ? 1 : std::sin(t), c = tilt == 90 ? 0 : std::cos(t);
    std::vector<double> depths{1e-9, 1e-7, 4e-6, 1e-4, 1e-3, r * s + half * c};
    for (const double near : {2 * r * s, 2 * half * c}) {
      for (const double part :
           {0.9, 0.999, 1 - 1e-9, 1 - 1e-12, 1.0, 1 + 1e-12, 1 + 1e-9, 1.001, 1.1}) {
        if (near * part > 1e-9 && near * part < r * s + half * c) {
          depths.push_back(near * part);
        }
      }
    }
    for (const double depth : depths) {
      const Pose pose = tilted(tilt, half, r * s, depth);
      const auto o = overlap(plane, at({0, 0, 0}), Cylinder{r, half}, pose);
      EXPECT_NEAR(o.depth, depth, 1e-16);
      // Rounding of the pose itself moves the depth: the reference takes what it became.
      const auto [sine, cosine] = turn_of(tilt);
      const Profile body = cylinder_profile(r, 2 * half, sine, cosine);
      expect_patch(o, expected(body, o.depth), pose.p.x - half * s + r * c);
      if (HasFailure()) {
        ADD_FAILURE() << "tilt " << tilt << "°, depth " << depth;
        return;
      }
    }
  }
}

TEST(Overlap, OfATiltedCapsuleIsThatOfIndependentQuadrature) {
  const Shape plane = Plane{};
  for (const double half : {0.025, 1e-6}) {
    const double r = 5e-3;
    std::vector<double> all = tilts;  // and where an end just dips in
    for (const double leans : {1e-5, 4.4e-5, 4.47e-5, 4.48e-5, 1e-4}) {
      all.push_back(90 - leans * 180 / pi);
    }
    for (const double tilt : all) {
      const double t = tilt * pi / 180;
      const double s = tilt == 90 ? 1 : std::sin(t), c = tilt == 90 ? 0 : std::cos(t);
      for (const double depth :
           {1e-10 * r, 1e-9 * r, 1e-9, 4e-6, 1e-3, 0.9 * r, r, 1.1 * r, r + half * c}) {
        if (depth > r + half * c) continue;
        const Pose pose = tilted(tilt, half, r, depth);
        const auto o = overlap(plane, at({0, 0, 0}), Capsule{r, half}, pose);
        EXPECT_NEAR(o.depth, depth, 1e-16);
        const auto [sine, cosine] = turn_of(tilt);
        const Profile body = capsule_profile(r, 2 * half, sine, cosine);
        expect_patch(o, expected(body, o.depth), pose.p.x - half * s);
        if (HasFailure()) {
          ADD_FAILURE() << "half-length " << half << ", tilt " << tilt << "°, depth "
                        << depth;
          return;
        }
      }
    }
  }
}

// Any convex body by its level polygons or ellipses, in its own orientation.

/// ∫ over the levels of a polyhedron: corners where edges cross, sorted about their
/// middle; between two vertices every integral is a polynomial of the height.
struct Level {
  Long area = 0, x = 0, y = 0, xx = 0, xy = 0, yy = 0;
  friend Level operator+(const Level& a, const Level& b) {
    return {a.area + b.area, a.x + b.x, a.y + b.y, a.xx + b.xx, a.xy + b.xy, a.yy + b.yy};
  }
  friend Level operator*(Long k, const Level& a) {
    return {k * a.area, k * a.x, k * a.y, k * a.xx, k * a.xy, k * a.yy};
  }
};

Level polygon(const ConvexHull& hull, const Pose& pose, Long height) {
  std::vector<std::array<Long, 2>> corners;
  for (const auto& edge : hull.edges) {
    const V a = geometry::place(pose, hull.vertices[edge.from]);
    const V b = geometry::place(pose, hull.vertices[edge.to]);
    if ((a.z < height) == (b.z < height)) continue;
    const Long t = (height - a.z) / (static_cast<Long>(b.z) - a.z);
    corners.push_back({a.x + t * (b.x - a.x), a.y + t * (b.y - a.y)});
  }
  if (corners.size() < 3) return {};
  std::array<Long, 2> middle{0, 0};
  for (const auto& c : corners) {
    middle[0] += c[0] / corners.size();
    middle[1] += c[1] / corners.size();
  }
  std::sort(corners.begin(), corners.end(), [&](const auto& a, const auto& b) {
    return std::atan2(a[1] - middle[1], a[0] - middle[0]) <
           std::atan2(b[1] - middle[1], b[0] - middle[0]);
  });
  Level l;
  for (std::size_t i = 0; i < corners.size(); ++i) {
    const auto& p = corners[i];
    const auto& q = corners[(i + 1) % corners.size()];
    const Long k = p[0] * q[1] - q[0] * p[1];
    l.area += k / 2;
    l.x += k * (p[0] + q[0]) / 6;
    l.y += k * (p[1] + q[1]) / 6;
    l.xx += k * (p[0] * p[0] + p[0] * q[0] + q[0] * q[0]) / 12;
    l.yy += k * (p[1] * p[1] + p[1] * q[1] + q[1] * q[1]) / 12;
    l.xy += k * (2 * p[0] * p[1] + p[0] * q[1] + q[0] * p[1] + 2 * q[0] * q[1]) / 24;
  }
  return l;
}

template <class At>
void expect_levels(const Overlap<double>& o, std::vector<Long> heights, const At& at,
                   double size) {
  std::sort(heights.begin(), heights.end());
  Level v;
  Long deep = 0;
  for (std::size_t i = 0; i + 1 < heights.size(); ++i) {
    for (const auto& g : geometry::gauss_pairs) {
      for (const Long part : {static_cast<Long>(g.low), static_cast<Long>(g.high)}) {
        const Long z = heights[i] + part * (heights[i + 1] - heights[i]);
        const Long w = g.weight * (heights[i + 1] - heights[i]);
        const Level l = at(z);
        v = v + w * l;
        deep -= w * z * l.area;
      }
    }
  }
  const Level a = at(0);
  expect_near(o.volume, v.area, "volume");
  expect_near(o.potential, deep, "potential");
  expect_near(o.centroid.x, v.x / v.area, "x of the centroid", size);
  expect_near(o.centroid.y, v.y / v.area, "y of the centroid", size);
  const Long whole = v.area * size * size;
  expect_near(o.moments.xx, v.xx - v.x * v.x / v.area, "xx", whole);
  expect_near(o.moments.yy, v.yy - v.y * v.y / v.area, "yy", whole);
  expect_near(o.moments.xy, v.xy - v.x * v.y / v.area, "xy", whole);
  expect_near(o.area, a.area, "area");
  expect_near(o.area_centroid.x, a.x / a.area, "x of the section", size);
  expect_near(o.area_centroid.y, a.y / a.area, "y of the section", size);
  expect_near(o.area_moments.xx, a.xx - a.x * a.x / a.area, "section xx",
              a.area * size * size);
  expect_near(o.area_moments.yy, a.yy - a.y * a.y / a.area, "section yy",
              a.area * size * size);
  expect_near(o.area_moments.xy, a.xy - a.x * a.y / a.area, "section xy",
              a.area * size * size);
}

double lowest(const ConvexHull& hull, const Pose& pose) {
  double z = HUGE_VAL;
  for (const V& v : hull.vertices) z = std::min(z, geometry::place(pose, v).z);
  return z;
}

TEST(Overlap, OfPolyhedraIsThatOfTheirLevels) {
  Random random(5);
  const ConvexHull box = *make_hull(box_corners({0.5, 0.4, 0.3}));
  for (int trial = 0; trial < 300; ++trial) {
    const bool is_box = trial % 2 == 0;
    const ConvexHull& hull = is_box ? box : trial % 4 == 1 ? cloud_hull() : large_hull();
    Pose pose = random.pose(0.2);
    if (trial % 6 == 0) pose = turned({0, 0, 1}, 0.3);                 // flat
    if (trial % 6 == 2) pose = turned({1, 0, 0}, 1e-6 * (trial % 5));  // nearly
    if (trial % 6 == 4) pose = turned({1, 0, 0}, pi / 4);              // on an edge
    const double depth = trial % 3 == 0 ? 1e-6 : random.uniform(1e-4, 0.45);
    pose.p.z -= lowest(hull, pose) + depth;
    const Shape shape = is_box ? Shape(Box{{0.5, 0.4, 0.3}}) : Shape(Convex{&hull});
    const auto o = overlap(Plane{}, at({0, 0, 0}), shape, pose);
    std::vector<Long> heights{-o.depth, 0};
    for (const V& v : hull.vertices) {
      const double z = geometry::place(pose, v).z;
      if (z < 0 && z > -o.depth) heights.push_back(z);
    }
    expect_levels(o, heights, [&](Long z) { return polygon(hull, pose, z); }, 0.1);
    if (HasFailure()) {
      ADD_FAILURE() << "trial " << trial << ", depth " << depth;
      return;
    }
  }
}

TEST(Overlap, OfEllipsoidsIsThatOfTheirLevels) {
  Random random(6);
  for (int trial = 0; trial < 200; ++trial) {
    const bool ball = trial % 4 == 0;
    const V d = ball ? V{0.4, 0.4, 0.4}
                     : V{random.uniform(0.1, 0.5), random.uniform(0.1, 0.5),
                         random.uniform(0.1, 0.5)};
    Pose pose = random.pose(0.2);
    // Xᵀ Q X ≤ 1; a level is the ellipse left when z is fixed.
    Long q[3][3];
    const V axes[3]{pose.R.x, pose.R.y, pose.R.z};
    const double semi[3]{d.x, d.y, d.z};
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        q[i][j] = 0;
        for (int k = 0; k < 3; ++k) {
          q[i][j] += static_cast<Long>(geometry::at(axes[k], i)) *
                     geometry::at(axes[k], j) / (static_cast<Long>(semi[k]) * semi[k]);
        }
      }
    }
    const Long det = q[0][0] * q[1][1] - q[0][1] * q[0][1];
    const Long cx =
        (-q[0][2] * q[1][1] + q[1][2] * q[0][1]) / det;  // of the centre, by z
    const Long cy = (-q[1][2] * q[0][0] + q[0][2] * q[0][1]) / det;
    const Long rest = q[2][2] + q[0][2] * cx + q[1][2] * cy;
    const double reach = static_cast<double>(1 / std::sqrt(rest));
    const double depth = trial % 3 == 0 ? 1e-6 : random.uniform(1e-3, 1.0) * 1.9 * reach;
    pose.p.z = reach - depth;
    const Shape shape = ball ? Shape(Sphere{0.4}) : Shape(Ellipsoid{d});
    const auto o = overlap(Plane{}, at({0, 0, 0}), shape, pose);
    EXPECT_NEAR(o.depth, depth, 1e-15);
    const auto ellipse = [&](Long height) {
      const Long z = height - pose.p.z;
      const Long scale = std::max(0.0L, 1 - rest * z * z);
      const Long x = pose.p.x + cx * z, y = pose.p.y + cy * z;
      const Long area = std::numbers::pi_v<Long> * scale / std::sqrt(det);
      const Long k = area * scale / 4 / det;
      return Level{area,
                   area * x,
                   area * y,
                   area * x * x + k * q[1][1],
                   area * x * y - k * q[0][1],
                   area * y * y + k * q[0][0]};
    };
    // The depth of the reference, 1 − rest z² at the lowest level, is what o says.
    expect_levels(o, {-o.depth, 0}, ellipse, 0.1);
    if (HasFailure()) {
      ADD_FAILURE() << "trial " << trial << ", depth " << depth;
      return;
    }
  }
}

TEST(Overlap, OfTwoSpheresIsThatOfTheirDiscs) {
  Random random(7);
  for (int trial = 0; trial < 200; ++trial) {
    const double ra = random.uniform(0.1, 1);
    const double rb = trial % 5 == 0   ? ra
                      : trial % 5 == 1 ? 1e-4 * ra
                                       : random.uniform(0.1, 1);
    const double depth =
        (trial % 3 == 0 ? 1e-6 : random.uniform(0, 2)) * std::min(ra, rb);
    const V n = random.direction();
    const V a{0.1, 0.2, -0.3};
    const auto o = overlap(Sphere{ra}, at(a), Sphere{rb}, at(a + (ra + rb - depth) * n));
    EXPECT_NEAR(o.depth, depth, 1e-15);
    // Discs of both balls between their poles and the disc where they meet.
    const auto lens = [&](Long delta) {
      const Long d = static_cast<Long>(ra) + rb - delta;
      const Long ha = delta * (2.0L * rb - delta) / (2 * d);
      const Long hb = delta - ha;
      Sums sum;
      for (const auto& [r, h] : {std::pair<Long, Long>{ra, ha}, {rb, hb}}) {
        sum = sum + integral(0, h, [&](Long u) {
                const Long w2 = u * (2 * r - u);
                const Long area = std::numbers::pi_v<Long> * w2;
                return Sums{area, 0, area * w2 / 4, 0, 0};
              });
      }
      return sum;
    };
    const Sums v = lens(o.depth);
    const Long potential = integral(0, o.depth, [&](Long x) { return lens(x).one; });
    expect_near(o.volume, v.one, "volume");
    expect_near(o.potential, potential, "potential");
    expect_near(trace(o.moments), 2 * v.xx, "moments");
    const Long d = static_cast<Long>(ra) + rb - o.depth;
    const Long ha = o.depth * (2.0L * rb - o.depth) / (2 * d);
    expect_near(o.area, std::numbers::pi_v<Long> * ha * (2 * ra - ha), "area");
    if (HasFailure()) {
      ADD_FAILURE() << "trial " << trial << ", radii " << ra << " and " << rb
                    << ", depth " << depth;
      return;
    }
  }
}

// Derivatives

/// A pose moved by small translations and rotations about the world's origin.
template <class D>
Transform<D> moving(const Pose& pose) {
  const Vec3<D> shift{D::variable(0, 0), D::variable(0, 1), D::variable(0, 2)};
  const Vec3<D> turn{D::variable(0, 3), D::variable(0, 4), D::variable(0, 5)};
  const auto moved = [&](const V& v) {
    const Vec3<D> x = geometry::constant<D>(v);
    return x + cross(turn, x);
  };
  return {{moved(pose.R.x), moved(pose.R.y), moved(pose.R.z)}, moved(pose.p) + shift};
}

/// dV is A times the approach of the section's centroid, dW is V times that of s_c, by
/// all six motions of B.
void expect_derivatives(const Shape& a, const Pose& pose_a, const Shape& b,
                        const Pose& pose_b) {
  using D = Dual<double, 6>;
  const Transform<D> fixed{
      {geometry::constant<D>(pose_a.R.x), geometry::constant<D>(pose_a.R.y),
       geometry::constant<D>(pose_a.R.z)},
      geometry::constant<D>(pose_a.p)};
  const Overlap<D> o =
      overlap_function<D>(kind_of(a), kind_of(b))(a, fixed, b, moving<D>(pose_b));
  const Overlap<double> plain = overlap(a, pose_a, b, pose_b);
  EXPECT_EQ(o.volume.value, plain.volume);
  const V n = plain.normal;
  const auto approach = [&](const V& point, int i) {
    V unit{0, 0, 0};
    geometry::at(unit, i % 3) = 1;
    return -dot(n, i < 3 ? unit : cross(unit, point));
  };
  for (int i = 0; i < 6; ++i) {
    EXPECT_NEAR(o.volume.by[i], plain.area * approach(plain.area_centroid, i),
                1e-10 * plain.area)
        << "dV by motion " << i;
    EXPECT_NEAR(o.potential.by[i], plain.volume * approach(plain.centroid, i),
                1e-10 * plain.volume)
        << "dW by motion " << i;
  }
}

TEST(Overlap, DerivativesByAllSixMotions) {
  Random random(8);
  for (const Shape& shape : bodies()) {
    for (int trial = 0; trial < 200; ++trial) {
      Pose pose = random.pose(0.2);
      const double tilt = tilts[static_cast<std::size_t>(trial) % tilts.size()];
      if (trial % 2 == 0) pose = tilted(tilt, 0, 0, 0);
      const bool sphere = std::holds_alternative<Sphere>(shape);
      const Pose ground =
          trial % 3 == 0 ? at({0, 0, 0}) : turned(random.direction(), 0.1, {0, 0, 0.1});
      const V n = geometry::axis(ground, 2);
      // Down until the overlap is as deep as wanted.
      const double apart = -overlap(Plane{}, ground, shape, pose).depth;
      const double depth = trial % 4 == 0 ? 1e-6 : random.uniform(1e-3, 0.3);
      pose.p = pose.p - (apart + depth) * n;
      expect_derivatives(Plane{}, ground, shape, pose);
      if (sphere) {
        const V centre = random.direction();
        expect_derivatives(Sphere{0.3}, at({0, 0, 0}), shape,
                           at((0.75 - random.uniform(0.01, 0.5)) * centre));
      }
      if (HasFailure()) {
        ADD_FAILURE() << describe(Plane{}, shape, trial) << ", tilt " << tilt
                      << ", depth " << depth;
        return;
      }
    }
  }
}

/// k_v V n at s_c is the gradient of k_v W: along closed paths in six dimensions its work
/// is nothing. Smooth periodic motion, so that the trapezium rule is exact to rounding.
TEST(Overlap, ElasticWorkOnClosedPathsIsNothing) {
  Random random(9);
  for (int path = 0; path < some_of(100, 8); ++path) {
    const Shape shape = bodies()[static_cast<std::size_t>(path % 8)];
    const V axes[3]{random.direction(), random.direction(), random.direction()};
    double amplitude[6], phase[6];
    for (int k = 0; k < 6; ++k) {
      amplitude[k] = k < 3 ? random.uniform(0.02, 0.1) : random.uniform(0.1, 0.6);
      phase[k] = random.uniform(0, 2 * pi);
    }
    constexpr int points = 8192;
    double work = 0, largest = 0;
    for (int i = 0; i < points; ++i) {
      const double t = 2 * pi * i / points;
      double q[6], rate[6];
      for (int k = 0; k < 6; ++k) {
        const int order = 1 + k % 2;
        q[k] = amplitude[k] * std::sin(order * t + phase[k]);
        rate[k] = amplitude[k] * order * std::cos(order * t + phase[k]);
      }
      const Pose first = turned(axes[0], q[3]), second = turned(axes[1], q[4]);
      Pose pose = after(first, after(second, turned(axes[2], q[5])));
      pose.p = {q[0], q[1], 0.1 + q[2]};  // always in the plane
      const V turning =
          rate[3] * axes[0] +
          geometry::turn(first,
                         rate[4] * axes[1] + geometry::turn(second, rate[5] * axes[2]));
      const auto o = overlap(Plane{}, at({0, 0, 0}), shape, pose);
      const V velocity =
          V{rate[0], rate[1], rate[2]} + cross(turning, o.centroid - pose.p);
      work -= o.volume * velocity.z * 2 * pi / points;
      largest = std::max(largest, o.potential);
    }
    EXPECT_GT(largest, 0);
    EXPECT_NEAR(work, 0, 1e-9 * largest) << describe(Plane{}, shape, path);
  }
}

TEST(Overlap, ShapesApartHaveNone) {
  for (const Shape& shape : bodies()) {
    const auto o = overlap(Plane{}, at({0, 0, 0}), shape, at({0.1, 0.2, 3}));
    EXPECT_LT(o.depth, 0);
    EXPECT_EQ(o.volume, 0);
    EXPECT_EQ(o.area, 0);
    const auto swapped = overlap(shape, at({0.1, 0.2, 3}), Plane{}, at({0, 0, 0}));
    EXPECT_EQ(swapped.normal.z, -1);
  }
}

/// Deeper than the shape: its whole volume, and a potential that goes on.
TEST(Overlap, BodiesBelowThePlaneKeepTheirWholeVolume) {
  const double volumes[]{4.0 / 3 * pi * std::pow(0.45, 3), 8 * 0.5 * 0.4 * 0.3,
                         pi * 0.35 * 0.35, pi * 0.09 * 0.8 + 4.0 / 3 * pi * 0.027,
                         4.0 / 3 * pi * 0.06};
  for (int i = 0; i < 5; ++i) {
    const Shape shape = bodies()[static_cast<std::size_t>(i)];
    for (const double tilt : tilts) {
      Pose pose = tilted(tilt, 0, 0, 0);
      pose.p = {0.1, 0.2, -2};
      const auto o = overlap(Plane{}, at({0, 0, 0}), shape, pose);
      EXPECT_NEAR(o.volume, volumes[i], 1e-13) << tilt;
      EXPECT_NEAR(o.centroid_depth, 2, 1e-13);
      EXPECT_NEAR(o.centroid.x, 0.1, 1e-13);
      EXPECT_NEAR(o.area, 0, 1e-13);
    }
  }
}

TEST(Overlap, PairsWithoutOverlapSayWhatIsAvailable) {
  EXPECT_EQ(missing_overlap_message(Plane{}, Box{{1, 1, 1}}), "");
  EXPECT_NE(missing_overlap_message(Box{{1, 1, 1}}, Sphere{1})
                .find("no overlap volume between box and sphere"),
            std::string::npos);
  EXPECT_NE(missing_overlap_message(Plane{}, Sphere{0}).find("radius 0"),
            std::string::npos);
}

}  // namespace
}  // namespace bristle::test
