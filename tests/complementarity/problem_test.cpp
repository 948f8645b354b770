// The problem as it is laid out: islands, half rows, rates and residuals.

#include <gtest/gtest.h>

#include "bristle/complementarity/dense.hpp"
#include "bristle/complementarity/half_rows.hpp"
#include "tests/complementarity/support.hpp"
#include "tests/contract/allocations.hpp"
#include "tests/dynamics/random_tree.hpp"

namespace bristle {
namespace {

using test::Case;
using test::Chance;
using test::Dense;
using test::UnitCase;

/// Contacts and rows with bounds, mixed.
Case mixed_case(Chance& chance, int bodies, int count) {
  Case made = test::random_contacts(chance, bodies, count, 0.5, 0.1);
  for (UnitCase& unit : made.units) {
    if (chance.with(0.5)) continue;
    unit.contact = false;
    unit.halves.resize(unit.velocities.size());
    unit.lower = -1;
  }
  for (UnitCase& unit : made.units) {
    if (!unit.contact || chance.with(0.7)) continue;
    unit.rows.tangents = 1;
    unit.halves.resize(2 * unit.velocities.size());
  }
  return made;
}

TEST(ComplementarityProblem, RatesAndMatrixAreThoseOfTheHalfRows) {
  Chance chance(1);
  for (int round = 0; round < 20; ++round) {
    const Case made = mixed_case(chance, 5, 12);
    const Dense dense(made);
    ComplementarityProblem problem;
    made.give(problem);
    std::vector<double> z(static_cast<std::size_t>(made.rows()));
    for (double& x : z) x = chance.normal();
    const std::vector<test::Long> expected = dense.rates(z);
    int seen = 0;
    for (int i = 0; i < problem.island_count(); ++i) {
      const Island island = problem.island(i);
      const std::span<const int> rows = problem.rows_of(i);
      const std::size_t n = rows.size();
      std::vector<double> own, w(n), y(static_cast<std::size_t>(island.velocities)),
          a(n * n);
      for (const int row : rows) own.push_back(z[static_cast<std::size_t>(row)]);
      momentum(island, own.data(), y.data());
      rates(island, own.data(), y.data(), w.data());
      dense::form(island, y.data(), a.data());
      for (std::size_t k = 0; k < n; ++k) {
        const auto row = static_cast<std::size_t>(rows[k]);
        EXPECT_NEAR(w[k], static_cast<double>(expected[row]), 1e-12);
        EXPECT_NEAR(island.diagonal[k], static_cast<double>(dense.diagonal(row)), 1e-13);
        for (std::size_t l = 0; l < n; ++l) {
          const auto column = static_cast<std::size_t>(rows[l]);
          EXPECT_NEAR(a[k * n + l], static_cast<double>(dense.a[row * dense.n + column]),
                      1e-12);
        }
        ++seen;
      }
    }
    EXPECT_EQ(seen, made.rows());
  }
}

TEST(ComplementarityProblem, RowsThatShareNoVelocityAreApart) {
  ComplementarityProblem problem;
  problem.begin(9);
  const double one[] = {1}, two[] = {1, 2};
  const auto row = [&](std::vector<int> velocities) {
    return problem.add_row(velocities, std::span(two).first(velocities.size()), 1, 0);
  };
  EXPECT_EQ(row({7, 8}), 0);
  EXPECT_EQ(row({0, 2}), 1);
  EXPECT_EQ(row({4, 8}), 2);
  EXPECT_EQ(row({}), 3);  // nothing gives way to it
  EXPECT_EQ(row({1, 2}), 4);
  EXPECT_EQ(problem.add_row(std::vector{5}, one, 1, 0), 5);
  problem.finish();
  ASSERT_EQ(problem.island_count(), 4);
  const std::vector<std::vector<int>> expected = {{0, 2}, {1, 4}, {3}, {5}};
  for (int i = 0; i < 4; ++i) {
    const std::span<const int> rows = problem.rows_of(i);
    EXPECT_EQ(std::vector(rows.begin(), rows.end()),
              expected[static_cast<std::size_t>(i)]);
  }
}

TEST(ComplementarityProblem, HalfRowsOfATreeMakeItsInverseInertia) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const test::RandomTree random = test::random_tree(seed, 12);
    const Tree& tree = random.tree;
    test::Dice dice(seed);
    const test::RandomState state = test::random_state(dice, tree);
    Workspace<double> ws(tree);
    kinematics<double>(tree, state.q, state.v, ws);
    factorise(tree, ws);
    // Three pushes between each of a few pairs of links.
    constexpr std::size_t pairs = 4, per_pair = 3, m = pairs * per_pair;
    const auto nv = static_cast<std::size_t>(tree.velocity_count());
    std::vector<JacobianRow<double>> pushes;
    std::vector<double> sparse(m * nv);
    HalfRows half_rows(tree);
    for (std::size_t p = 0; p < pairs; ++p) {
      const int a = dice.below(tree.link_count()), b = dice.below(tree.link_count());
      const Vec3<double> point = dice.vector(1);
      for (std::size_t k = 0; k < per_pair; ++k) {
        pushes.push_back(row_at_point<double>(ws, a, b, point, dice.vector(1)));
      }
      const contract::AllocationCount taken;
      half_rows.find(tree, ws, std::span(pushes).last(per_pair));
      EXPECT_EQ(taken.since(), 0);
      const std::span<const int> touched = half_rows.velocities();
      EXPECT_TRUE(std::is_sorted(touched.begin(), touched.end()));
      EXPECT_EQ(std::adjacent_find(touched.begin(), touched.end()), touched.end());
      for (std::size_t k = 0; k < per_pair; ++k) {
        for (std::size_t e = 0; e < touched.size(); ++e) {
          sparse[(per_pair * p + k) * nv + static_cast<std::size_t>(touched[e])] =
              half_rows.values()[k * touched.size() + e];
        }
      }
    }
    std::vector<double> dense(m * nv), matrix(m * m);
    inverse_inertia<double>(tree, pushes, ws, dense, matrix);
    EXPECT_EQ(sparse, dense);
  }
}

TEST(ComplementarityProblem, ResidualMeasuresHowFarARowIsFromItsConditions) {
  // A = 4, b given by w; residuals in m/s.
  struct Check {
    double z, w, lower, upper, residual;
  };
  const Check checks[] = {
      {0, 3, 0, 1, 0},      // at its lower bound, moving away
      {0, -3, 0, 1, 3},     // at its lower bound, moving in
      {1, -3, 0, 1, 0},     // at its upper bound
      {0.5, 0, 0, 1, 0},    // between, at rest
      {0.5, 1, 0, 1, 1},    // between, moving: w itself
      {0.5, 100, 0, 1, 2},  // 4 times the way to the bound
      {-0.25, 0, 0, 1, 1},  // outside by 0.25
      {7, 0.5, -unbounded, unbounded, 0.5},
  };
  for (const Check& check : checks) {
    ComplementarityProblem problem;
    problem.begin(1);
    problem.add_row(std::vector{0}, std::vector{2.0}, check.w - 4 * check.z, 0,
                    check.lower, check.upper);
    problem.finish();
    const Island island = problem.island(0);
    std::vector<double> y(static_cast<std::size_t>(island.velocities));
    double w = 0;
    momentum(island, &check.z, y.data());
    rates(island, &check.z, y.data(), &w);
    EXPECT_DOUBLE_EQ(w, check.w);
    EXPECT_DOUBLE_EQ(natural_map(island, &check.z, &w).largest, check.residual);
  }
}

TEST(ComplementarityProblem, ResidualsAgreeWithTheOracle) {
  Chance chance(2);
  for (int round = 0; round < 50; ++round) {
    Case made = mixed_case(chance, 3, 6);
    made.shape = chance.with(0.5) ? ConeShape::box : ConeShape::isotropic;
    made.bounds = chance.with(0.5) ? ConeBounds::held : ConeBounds::coupled;
    for (UnitCase& unit : made.units) unit.rows.radius = chance.uniform(0, 1);
    const Dense dense(made);
    ComplementarityProblem problem;
    made.give(problem);
    std::vector<double> z(static_cast<std::size_t>(made.rows()));
    for (double& x : z) x = chance.normal();
    double largest = 0;
    for (int i = 0; i < problem.island_count(); ++i) {
      const Island island = problem.island(i);
      std::vector<double> own, w(island.b.size()),
          y(static_cast<std::size_t>(island.velocities));
      for (const int row : problem.rows_of(i)) {
        own.push_back(z[static_cast<std::size_t>(row)]);
      }
      momentum(island, own.data(), y.data());
      rates(island, own.data(), y.data(), w.data());
      largest = std::max(largest, natural_map(island, own.data(), w.data()).largest);
    }
    EXPECT_NEAR(largest, test::residual(made, dense, z), 1e-12 * largest);
  }
}

}  // namespace
}  // namespace bristle
