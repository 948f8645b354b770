// One contact alone, against oracles that know nothing of how it is solved.

#include <gtest/gtest.h>

#include "tests/complementarity/support.hpp"

namespace bristle {
namespace {

using test::Chance;

struct Random {
  LocalContact contact;
  double q[contact_lanes] = {};
};

/// A block B Bᵀ and a free motion that closes the contact or not.
Random random_contact(Chance& chance, int tangents, double friction) {
  Random made;
  LocalContact& c = made.contact;
  c = LocalContact{};
  c.tangents = tangents;
  c.friction = friction;
  double b[contact_lanes][4];
  for (auto& row : b) {
    for (double& x : row) x = chance.normal();
  }
  for (int i = 0; i <= tangents; ++i) {
    for (int j = 0; j <= tangents; ++j) {
      for (int k = 0; k < 4; ++k) c.mobility[i][j] += b[i][k] * b[j][k];
    }
    made.q[i] = chance.normal();
  }
  const double compliance[contact_lanes] = {0.01, 0.02, 0.02, 0.02};
  add_compliance(c, compliance);
  prepare(c);
  return made;
}

/// How far z is from solving the contact [m/s].
double residual(const LocalContact& c, bool held, const double* q, const double* z) {
  const int n = 1 + c.tangents;
  double w[contact_lanes] = {};
  for (int i = 0; i < n; ++i) {
    w[i] = q[i];
    for (int j = 0; j < n; ++j) w[i] += c.block[i][j] * z[j];
  }
  const double a = c.block[0][0];
  double off = a * std::abs(z[0] - std::max(z[0] - w[0] / a, 0.0));
  const double radius = held ? c.radius : c.friction * z[0];
  double length = 0, miss = 0;
  for (int j = 1; j < n; ++j) {
    const double t = z[j] - w[j] / c.largest_tangent;
    length += t * t;
  }
  length = std::sqrt(length);
  for (int j = 1; j < n; ++j) {
    const double t = z[j] - w[j] / c.largest_tangent;
    const double p = length > radius ? t * radius / length : t;
    miss += (z[j] - p) * (z[j] - p);
  }
  return std::max(off, c.largest_tangent * std::sqrt(miss));
}

/// All answers of a contact with two tangents and coupled bounds, by looking in every
/// direction: a contact that slides along −e has z_t = μ z_n e, w_n = 0 and w_t ∥ −e.
struct Answers {
  std::vector<double> normals;
  double margin = unbounded;  // how far from having more or fewer, about
};

Answers look_around(const LocalContact& c, const double* q) {
  Answers found;
  const auto& a = c.block;
  if (q[0] >= 0) found.normals.push_back(0);
  // Sticking: w = 0.
  std::vector<test::Long> m, r;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) m.push_back(a[i][j]);
    r.push_back(-q[i]);
  }
  const std::vector<test::Long> stick = test::linear_solve(m, r);
  const auto slack =
      static_cast<double>(c.friction * stick[0] - std::hypot(stick[1], stick[2]));
  if (slack >= 0) found.normals.push_back(static_cast<double>(stick[0]));
  found.margin = std::min(found.margin, std::abs(slack));
  const auto side = [&](double angle, double& normal, double& along) {
    const double e[2] = {std::cos(angle), std::sin(angle)};
    const double slope = a[0][0] + c.friction * (a[0][1] * e[0] + a[0][2] * e[1]);
    normal = -q[0] / slope;
    double w[2];
    for (int i = 0; i < 2; ++i) {
      w[i] = q[1 + i] + normal * (a[1 + i][0] +
                                  c.friction * (a[1 + i][1] * e[0] + a[1 + i][2] * e[1]));
    }
    along = w[0] * e[0] + w[1] * e[1];
    // Times the slope, so that the poles where it vanishes are no changes of sign.
    return slope * (w[1] * e[0] - w[0] * e[1]);
  };
  constexpr int directions = 4000;
  const double pi = 3.14159265358979323846;
  double normal = 0, along = 0;
  std::vector<double> angles;
  for (int k = 0; k < directions; ++k) {
    double low = 2 * pi * (k + 0.3) / directions;
    double high = 2 * pi * (k + 1.3) / directions;
    const bool rising = side(low, normal, along) < 0;
    if ((side(high, normal, along) < 0) == rising) continue;
    for (int i = 0; i < 60; ++i) {
      const double middle = 0.5 * (low + high);
      ((side(middle, normal, along) < 0) == rising ? low : high) = middle;
    }
    side(low, normal, along);
    if (!(normal >= 0)) continue;
    found.margin = std::min({found.margin, std::abs(along), normal});
    if (along > 0) continue;
    found.normals.push_back(normal);
    angles.push_back(low);
  }
  for (std::size_t i = 1; i < angles.size(); ++i) {
    found.margin = std::min(found.margin, angles[i] - angles[i - 1]);
  }
  std::sort(found.normals.begin(), found.normals.end());
  return found;
}

TEST(LocalContact, FindsAllAnswersAndTakesTheLeastNormalImpulse) {
  Chance chance(3);
  int several = 0, compared = 0;
  for (int round = 0; round < 600; ++round) {
    const Random made = random_contact(chance, 2, chance.uniform(0.1, 4));
    const Answers expected = look_around(made.contact, made.q);
    if (expected.margin < 1e-3) continue;
    ++compared;
    double z[contact_lanes] = {};
    const int answers = solve_coupled(made.contact, made.q, z);
    ASSERT_FALSE(expected.normals.empty());
    EXPECT_EQ(answers, static_cast<int>(expected.normals.size())) << round;
    EXPECT_NEAR(z[0], expected.normals.front(), 1e-9 * (1 + z[0])) << round;
    EXPECT_LE(residual(made.contact, false, made.q, z), 1e-12) << round;
    if (made.contact.one_answer) {
      EXPECT_EQ(expected.normals.size(), 1u) << round;
    }
    if (expected.normals.size() > 1) ++several;
  }
  EXPECT_GT(compared, 500);
  EXPECT_GT(several, 20);  // Painlevé's cases are among them
}

TEST(LocalContact, SolvesAnyNumberOfTangents) {
  Chance chance(4);
  for (int tangents = 1; tangents <= max_tangents; ++tangents) {
    for (int round = 0; round < 500; ++round) {
      const Random made = random_contact(chance, tangents, chance.uniform(0, 2));
      double z[contact_lanes] = {};
      EXPECT_GE(solve_coupled(made.contact, made.q, z), 1);
      EXPECT_LE(residual(made.contact, false, made.q, z), 1e-12);
      ContactLanes lanes = 0;
      EXPECT_GE(solve_coupled(made.contact, ContactLanes::load(made.q), lanes), 1);
      for (int i = 0; i <= tangents; ++i) EXPECT_NEAR(lanes[i], z[i], 1e-13 * (1 + z[0]));
    }
  }
}

TEST(LocalContact, HeldBoundsMinimiseEnergy) {
  // With R given, z minimises zᵀAz/2 + qᵀz over z_n ≥ 0, |z_t| ≤ R: projected gradients.
  Chance chance(5);
  for (int round = 0; round < 100; ++round) {
    Random made = random_contact(chance, 2, 0.5);
    made.contact.radius = chance.uniform(0, 1);
    const double step = 1 / (made.contact.block[0][0] + made.contact.block[1][1] +
                             made.contact.block[2][2]);
    double expected[3] = {};
    for (int k = 0; k < 20000; ++k) {
      double next[3];
      for (int i = 0; i < 3; ++i) {
        double w = made.q[i];
        for (int j = 0; j < 3; ++j) w += made.contact.block[i][j] * expected[j];
        next[i] = expected[i] - step * w;
      }
      const double length = std::hypot(next[1], next[2]);
      const double shrink = std::min(1.0, made.contact.radius / length);
      expected[0] = std::max(next[0], 0.0);
      for (int i = 1; i < 3; ++i) expected[i] = shrink * next[i];
    }
    double z[contact_lanes] = {};
    EXPECT_EQ(solve_held(made.contact, made.q, z), 1);
    EXPECT_LE(residual(made.contact, true, made.q, z), 1e-12);
    for (int i = 0; i < 3; ++i) EXPECT_NEAR(z[i], expected[i], 1e-9);
  }
}

/// A slender rod (mass 1, length 2) on its lower end, at an angle to the ground.
LocalContact rod(double angle, double friction) {
  LocalContact c{};
  c.tangents = 1;
  c.friction = friction;
  const double s = std::sin(angle), k = std::cos(angle);
  // The end is at (−cos, −sin) from the middle; I = 1/3.
  c.mobility[0][0] = 1 + 3 * k * k;
  c.mobility[1][1] = 1 + 3 * s * s;
  c.mobility[0][1] = c.mobility[1][0] = -3 * s * k;
  const double none[contact_lanes] = {};
  add_compliance(c, none);
  prepare(c);
  return c;
}

TEST(LocalContact, NamesPainlevesRod) {
  // μ |A_NT|/A_NN > 1 needs μ > 4/3; here it is 1.11 at 60°.
  const LocalContact c = rod(3.14159265358979323846 / 3, 1.5);
  EXPECT_GT(1.5 * std::abs(c.block[0][1]) / c.block[0][0], 1);
  EXPECT_FALSE(c.one_answer);
  // Friction towards +x presses the end into the ground, where A_NT < 0: the end slides
  // towards −x. It lifts off, or jams: two closed answers beside the open one.
  const double jams[contact_lanes] = {0.01, -1};
  double z[contact_lanes] = {};
  EXPECT_EQ(solve_coupled(c, jams, z), 3);
  EXPECT_EQ(z[0], 0);
  EXPECT_EQ(z[1], 0);
  // Closing, it has one answer in either direction, though the bound iteration diverges.
  for (const double slip : {-1.0, 1.0}) {
    const double closes[contact_lanes] = {-0.1, slip};
    EXPECT_EQ(solve_coupled(c, closes, z), 1);
    EXPECT_LE(residual(c, false, closes, z), 1e-12);
  }
  // Below the ratio of 1 nothing is ambiguous.
  const LocalContact rough = rod(3.14159265358979323846 / 3, 1.2);
  EXPECT_TRUE(rough.one_answer);
  EXPECT_EQ(solve_coupled(rough, jams, z), 1);
}

TEST(LocalContact, ClosesOnSomethingThatDoesNotGiveWay) {
  LocalContact c{};
  c.friction = 0.5;
  const double none[contact_lanes] = {};
  add_compliance(c, none);
  prepare(c);
  const double closes[contact_lanes] = {-1, 0, 0, 0}, opens[contact_lanes] = {1, 0, 0, 0};
  double z[contact_lanes] = {2, 0.5, 0, 0};
  EXPECT_EQ(solve_coupled(c, closes, z), 0);
  EXPECT_EQ(z[0], 2);
  EXPECT_EQ(solve_coupled(c, opens, z), 1);
  EXPECT_EQ(z[0], 0);
  EXPECT_EQ(z[1], 0);
}

TEST(LocalContact, OneDegreeOfFreedomBehindThreeRows) {
  // A = a aᵀ: only the sum a·z matters; an answer near the last one is taken.
  LocalContact c{};
  c.friction = 0.4;
  const double a[3] = {1, 0.1, 0.2};
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) c.mobility[i][j] = a[i] * a[j];
  }
  const double none[contact_lanes] = {};
  add_compliance(c, none);
  prepare(c);
  const double q[contact_lanes] = {-1, -0.1, -0.2, 0};
  double z[contact_lanes] = {};
  EXPECT_GE(solve_coupled(c, q, z), 1);
  EXPECT_LE(residual(c, false, q, z), 1e-9);
  EXPECT_NEAR(z[0] + 0.1 * z[1] + 0.2 * z[2], 1, 1e-9);
}

TEST(LocalContact, PrintedBoxGrantsRootTwoObliquely) {
  LocalContact c{};
  c.friction = 0.3;
  for (int i = 0; i < 3; ++i) c.mobility[i][i] = 1;
  const double none[contact_lanes] = {};
  add_compliance(c, none);
  prepare(c);
  const double q[contact_lanes] = {-1, -5, -5, 0};  // slides at 45° to the axes
  double z[contact_lanes] = {};
  EXPECT_EQ(solve_box(c, false, q, z), 1);
  EXPECT_NEAR(std::hypot(z[1], z[2]), std::sqrt(2) * 0.3 * z[0], 1e-15);
  EXPECT_EQ(solve_coupled(c, q, z), 1);
  EXPECT_NEAR(std::hypot(z[1], z[2]), 0.3 * z[0], 1e-15);
}

TEST(LocalContact, BoxesMeetTheirConditions) {
  Chance chance(6);
  for (const bool held : {false, true}) {
    for (int round = 0; round < 300; ++round) {
      Random made = random_contact(chance, 1 + round % 3, chance.uniform(0, 1));
      LocalContact& c = made.contact;
      c.radius = chance.uniform(0, 1);
      double z[contact_lanes] = {};
      EXPECT_GE(solve_box(c, held, made.q, z), 1);
      const double radius = held ? c.radius : c.friction * z[0];
      for (int i = 0; i <= c.tangents; ++i) {
        double w = made.q[i];
        for (int j = 0; j <= c.tangents; ++j) w += c.block[i][j] * z[j];
        const double low = i == 0 ? 0 : -radius, high = i == 0 ? unbounded : radius;
        const double next = std::clamp(z[i] - w / c.block[i][i], low, high);
        EXPECT_NEAR(z[i], next, 1e-11);
      }
    }
  }
}

}  // namespace
}  // namespace bristle
