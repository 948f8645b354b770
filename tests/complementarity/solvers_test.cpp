// What every solver of the list keeps.

#include <gtest/gtest.h>

#include "bristle/complementarity/bound_iteration.hpp"
#include "tests/complementarity/support.hpp"
#include "tests/contract/allocations.hpp"

namespace bristle {
namespace {

using test::Case;
using test::Chance;
using test::Dense;
using test::UnitCase;

template <class>
struct AsTypes;
template <class... S>
struct AsTypes<SolverList<S...>> {
  using type = testing::Types<S...>;
};

template <class S>
class ComplementaritySolvers : public testing::Test {};

class SolverNames {
 public:
  template <class S>
  static std::string GetName(int) {
    std::string name(S::info.name);
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
  }
};
TYPED_TEST_SUITE(ComplementaritySolvers, AsTypes<Solvers>::type, SolverNames);

struct Solved {
  std::vector<double> z;
  SolveReport report;
};

template <class S>
Solved solved(const Case& made, const SolveOptions& options,
              std::vector<double> guess = {}) {
  ComplementarityProblem problem;
  made.give(problem);
  SolveWorkspace workspace;
  Solved result{std::move(guess), {}};
  result.z.resize(static_cast<std::size_t>(made.rows()));
  result.report = solve<S>(problem, options, result.z, workspace);
  return result;
}

/// Relative residual by the oracle.
double relative(const Case& made, const Solved& result) {
  const Dense dense(made);
  return test::residual(made, dense, result.z) / test::free_velocity(dense);
}

double difference(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::abs(a[i] - b[i]));
  }
  return largest;
}

std::vector<double> random_guess(Chance& chance, const Case& made, double size) {
  std::vector<double> z(static_cast<std::size_t>(made.rows()));
  for (double& x : z) x = size * chance.normal();
  return z;
}

std::vector<double> spectrum(int n, double condition) {
  std::vector<double> eigenvalues;
  for (int i = 0; i < n; ++i) {
    eigenvalues.push_back(n == 1 ? 1 : std::pow(condition, -double(i) / (n - 1)));
  }
  return eigenvalues;
}

const SolveOptions exact{.tolerance = 1e-12, .iterations = 100000};

TYPED_TEST(ComplementaritySolvers, FindTheOneAnswerOfSmallBoxes) {
  Chance chance(1);
  for (int round = 0; round < 60; ++round) {
    const int n = 1 + chance.below(6);
    Case made = test::rows_with_spectrum(chance, spectrum(n, 100), n);
    test::give_free_motion(chance, made);
    test::give_bounds(chance, made);
    const auto answers = test::enumerate_boxes(made);
    ASSERT_GE(answers.size(), 1u);
    const Solved result = solved<TypeParam>(made, exact, random_guess(chance, made, 1));
    EXPECT_TRUE(result.report.converged);
    for (std::size_t i = 0; i < result.z.size(); ++i) {
      EXPECT_NEAR(result.z[i], static_cast<double>(answers.front()[i]), 1e-9) << round;
    }
  }
}

TYPED_TEST(ComplementaritySolvers, SolveRandomBoxes) {
  Chance chance(2);
  for (int round = 0; round < 40; ++round) {
    const int n = 5 + chance.below(56);
    const double condition = std::pow(10, chance.uniform(0, 4));
    const int rank = chance.with(0.3) ? std::max(1, n - 1 - chance.below(n / 2)) : n;
    Case made = test::rows_with_spectrum(chance, spectrum(rank, condition), n);
    test::give_free_motion(chance, made);
    test::give_bounds(chance, made);
    const SolveOptions options{.tolerance = 1e-10, .iterations = 100000};
    const Solved result = solved<TypeParam>(made, options);
    EXPECT_TRUE(result.report.converged);
    EXPECT_LE(result.report.relative, 1e-10);
    // The report's own residual is that of the oracle, whose scale has no bounds in it.
    EXPECT_NEAR(result.report.residual, test::residual(made, Dense(made), result.z),
                1e-13);
  }
}

TYPED_TEST(ComplementaritySolvers, SolveRandomContacts) {
  Chance chance(3);
  for (int round = 0; round < 60; ++round) {
    const int bodies = 1 + chance.below(8);
    const double friction = chance.uniform(0, 1);
    const double compliance = chance.with(0.3) ? 0 : std::pow(10, chance.uniform(-4, 0));
    const int contacts = 1 + chance.below(3 * bodies);
    const int tangents = 1 + chance.below(3);
    Case made = chance.with(0.5)
                    ? test::random_balls(chance, bodies, contacts, friction, compliance)
                    : test::random_contacts(chance, bodies, contacts, friction,
                                            compliance, tangents);
    made.bounds = chance.with(0.3) ? ConeBounds::held : ConeBounds::coupled;
    for (UnitCase& unit : made.units) unit.rows.radius = chance.uniform(0, 0.5);
    const SolveOptions options{.tolerance = 1e-10, .iterations = 100000};
    const Solved result = solved<TypeParam>(made, options);
    EXPECT_TRUE(result.report.converged) << round;
    EXPECT_LE(relative(made, result), 1e-10) << round;
    EXPECT_EQ(result.report.without_answer, 0);
    if (made.bounds == ConeBounds::held) continue;
    std::size_t row = 0;
    for (const UnitCase& unit : made.units) {
      double length2 = 0;
      for (int j = 1; j <= unit.rows.tangents; ++j) {
        const double t = result.z[row + static_cast<std::size_t>(j)];
        length2 += t * t;
      }
      EXPECT_GE(result.z[row], 0);
      EXPECT_LE(std::sqrt(length2), friction * result.z[row] * (1 + 1e-9) + 1e-10);
      row += static_cast<std::size_t>(unit.count());
    }
  }
}

TYPED_TEST(ComplementaritySolvers, SolveThePrintedBox) {
  Chance chance(4);
  for (int round = 0; round < 30; ++round) {
    Case made = test::random_balls(chance, 4, 6, 0.4, 0.01);
    made.shape = ConeShape::box;
    made.bounds = round % 2 == 0 ? ConeBounds::held : ConeBounds::coupled;
    for (UnitCase& unit : made.units) unit.rows.radius = chance.uniform(0, 0.5);
    const SolveOptions options{.tolerance = 1e-10, .iterations = 100000};
    const Solved result = solved<TypeParam>(made, options);
    EXPECT_TRUE(result.report.converged) << round;
    EXPECT_LE(relative(made, result), 1e-10) << round;
  }
}

TYPED_TEST(ComplementaritySolvers, AnswerIsTheSameFromAnyStartWithRedundantRows) {
  Chance chance(5);
  for (const ConeBounds bounds : {ConeBounds::held, ConeBounds::coupled}) {
    Case made = test::random_balls(chance, 3, 5, 0.5, 0.02);
    made.bounds = bounds;
    for (UnitCase& unit : made.units) unit.rows.radius = 0.3;
    // Each contact twice, and a bilateral row three times.
    const std::vector<UnitCase> once = made.units;
    made.units.insert(made.units.end(), once.begin(), once.end());
    UnitCase bilateral = once.front();
    bilateral.contact = false;
    bilateral.halves.resize(bilateral.velocities.size());
    made.units.insert(made.units.end(), 3, bilateral);
    const Solved first = solved<TypeParam>(made, exact);
    EXPECT_TRUE(first.report.converged);
    for (int start = 0; start < 20; ++start) {
      const Solved other = solved<TypeParam>(made, exact, random_guess(chance, made, 10));
      EXPECT_TRUE(other.report.converged);
      EXPECT_LE(difference(first.z, other.z), 1e-8);
    }
    // Equal rows share their load.
    for (std::size_t i = 0; i < 15; ++i) EXPECT_NEAR(first.z[i], first.z[15 + i], 1e-8);
    EXPECT_NEAR(first.z[30], first.z[31], 1e-8);
    EXPECT_NEAR(first.z[30], first.z[32], 1e-8);
  }
}

/// One sliding contact with two tangents, whose normal feels friction along x.
Case sliding_contact(double coupling, double friction, double slip) {
  Case made;
  made.velocities = 3;
  UnitCase unit;
  unit.contact = true;
  unit.velocities = {0, 1, 2};
  unit.rows.friction = friction;
  // A_NN = 1, A_NT = coupling, A_TT = 4.
  unit.halves = {1, 0, 0, coupling, std::sqrt(4 - coupling * coupling), 0, 0, 0, 2};
  unit.rows.b[0] = -1;
  unit.rows.b[1] = slip;
  made.units.push_back(unit);
  return made;
}

TYPED_TEST(ComplementaritySolvers, CoupledBoundsConvergeWhereTheirIterationDoesNot) {
  // Slides towards −x: friction +μ z_n along x and A_NT > 0 lift the contact off. The
  // iteration of bounds alternates with the ratio μ A_NT/A_NN.
  for (const double friction : {0.5, 0.9, 1.5, 2.5}) {
    const double coupling = 0.9;
    const double ratio = friction * coupling;
    const Case made = sliding_contact(coupling, friction, -50);
    const Solved result = solved<TypeParam>(made, exact);
    EXPECT_TRUE(result.report.converged);
    EXPECT_EQ(result.report.several_answers, 0);
    // z_n (A_NN + μ A_NT) = 1, by hand; to the tolerance, which is 5e-11 m/s here.
    EXPECT_NEAR(result.z[0], 1 / (1 + ratio), 1e-10);
    EXPECT_NEAR(result.z[1], friction * result.z[0], 1e-10);

    ComplementarityProblem problem;
    made.give(problem);
    SolveWorkspace workspace;
    std::vector<double> z(3), before(3);
    const BoundIterationReport iterated =
        iterate_bounds<TypeParam>(problem, exact, 1e-9, 12, z, before, workspace);
    if (ratio < 0.5) {
      EXPECT_NEAR(iterated.ratio, ratio, 1e-3);
    } else if (ratio > 1) {
      EXPECT_FALSE(iterated.converged);
    }
  }
}

TYPED_TEST(ComplementaritySolvers, BoundIterationContractsByTheCouplingOfNormalAndSlip) {
  // Friction that presses the contact in: z_n (A_NN − μ |A_NT|) = 1.
  for (const double friction : {0.2, 0.5, 0.8}) {
    const double coupling = 0.95;
    const Case made = sliding_contact(coupling, friction, 50);
    ComplementarityProblem problem;
    made.give(problem);
    SolveWorkspace workspace;
    std::vector<double> z(3), before(3);
    const BoundIterationReport few =
        iterate_bounds<TypeParam>(problem, exact, 1e-15, 6, z, before, workspace);
    EXPECT_EQ(few.iterations, 6);
    EXPECT_NEAR(few.ratio, friction * coupling, 1e-3);
    const BoundIterationReport all =
        iterate_bounds<TypeParam>(problem, exact, 1e-13, 1000, z, before, workspace);
    EXPECT_TRUE(all.converged);
    const Solved coupled = solved<TypeParam>(made, exact);
    EXPECT_NEAR(coupled.z[0], 1 / (1 - friction * coupling), 1e-10);
    EXPECT_LE(difference(coupled.z, z), 1e-10);
  }
}

TYPED_TEST(ComplementaritySolvers, LaggedBoundsAreOneIteration) {
  const Case made = sliding_contact(0.5, 0.5, 50);
  ComplementarityProblem problem;
  made.give(problem);
  SolveWorkspace workspace;
  std::vector<double> z(3), before(3);
  iterate_bounds<TypeParam>(problem, exact, 0, 1, z, before, workspace);
  EXPECT_NEAR(z[0], 1, 1e-12);  // no friction in the first step
  EXPECT_NEAR(z[1], 0, 1e-12);
  iterate_bounds<TypeParam>(problem, exact, 0, 1, z, before, workspace);
  EXPECT_NEAR(z[1], -0.5, 1e-12);  // μ times the last z_n
}

TYPED_TEST(ComplementaritySolvers, NameContactsWithSeveralAnswers) {
  // μ A_NT/A_NN > 1 and a free motion that opens: open, slides and jams are all answers.
  Case made = sliding_contact(1.5, 1.2, 5);
  made.units[0].rows.b[0] = 0.01;
  const Solved result = solved<TypeParam>(made, exact);
  EXPECT_EQ(result.report.several_answers, 1);
  EXPECT_TRUE(result.report.converged);
  EXPECT_EQ(result.z[0], 0);  // the least normal impulse
}

TYPED_TEST(ComplementaritySolvers, IslandsAreSolvedAsIfAlone) {
  Chance chance(6);
  Case together, apart[3];
  for (Case& one : apart) {
    one = test::random_balls(chance, 3, 5, 0.4, 0.01);
    for (UnitCase unit : one.units) {
      for (int& v : unit.velocities) v += together.velocities;
      together.units.push_back(unit);
    }
    together.velocities += one.velocities;
  }
  const SolveOptions options{.tolerance = 1e-8};
  const Solved all = solved<TypeParam>(together, options);
  int islands = 0;
  std::vector<double> one_by_one;
  for (const Case& one : apart) {
    const Solved result = solved<TypeParam>(one, options);
    islands += result.report.islands;
    one_by_one.insert(one_by_one.end(), result.z.begin(), result.z.end());
  }
  EXPECT_EQ(all.report.islands, islands);
  EXPECT_EQ(all.z, one_by_one);  // bit for bit
}

TYPED_TEST(ComplementaritySolvers, AreDoneAtOnceFromTheAnswer) {
  Chance chance(7);
  const Case made = test::random_balls(chance, 6, 14, 0.5, 0.001);
  const Solved cold = solved<TypeParam>(made, exact);
  ASSERT_TRUE(cold.report.converged);
  const Solved warm = solved<TypeParam>(made, SolveOptions{.tolerance = 1e-9}, cold.z);
  EXPECT_TRUE(warm.report.converged);
  EXPECT_LE(warm.report.iterations, 2);
  EXPECT_LT(warm.report.iterations, cold.report.iterations);
}

TYPED_TEST(ComplementaritySolvers, ContradictionsAreNamedAndFinite) {
  // Two bilateral rows ask the same velocity to be −1 and −2; a third is fine.
  Case made;
  made.velocities = 2;
  made.units.resize(3);
  for (std::size_t i = 0; i < 3; ++i) {
    made.units[i].velocities = {i < 2 ? 0 : 1};
    made.units[i].halves = {1};
    made.units[i].rows.b[0] = 1 + double(i);
  }
  const Solved result = solved<TypeParam>(made, SolveOptions{});
  EXPECT_FALSE(result.report.converged);
  EXPECT_EQ(result.report.islands, 2);
  EXPECT_EQ(result.report.unconverged, 1);
  EXPECT_TRUE(result.report.worst_row == 0 || result.report.worst_row == 1);
  EXPECT_GE(result.report.residual, 0.5 - 1e-9);  // no velocity is nearer to both
  for (const double z : result.z) EXPECT_LE(std::abs(z), 1e7);
  EXPECT_NEAR(result.z[2], -3, 1e-8);
}

TYPED_TEST(ComplementaritySolvers, NothingGivesWay) {
  Case made;
  made.velocities = 1;
  made.units.resize(2);
  made.units[0].rows.b[0] = -1;  // pushed against its upper bound
  made.units[0].lower = 0;
  made.units[0].upper = 2;
  made.units[1].contact = true;
  made.units[1].rows.b[0] = -1;  // closes for ever
  made.units[1].rows.friction = 0.5;
  const Solved result = solved<TypeParam>(made, SolveOptions{});
  EXPECT_EQ(result.z[0], 2);
  EXPECT_FALSE(result.report.converged);
  EXPECT_EQ(result.report.worst_row, 1);
  EXPECT_EQ(result.report.without_answer, 1);
}

TYPED_TEST(ComplementaritySolvers, NothingToDo) {
  Case made = sliding_contact(0.5, 0.5, 0);
  made.units[0].rows.b[0] = 0;
  const Solved result = solved<TypeParam>(made, SolveOptions{}, {1, 0.2, -0.1});
  EXPECT_TRUE(result.report.converged);
  EXPECT_EQ(result.report.residual, 0);
  EXPECT_EQ(result.z, std::vector<double>(3));
  ComplementarityProblem empty;
  empty.begin(0);
  empty.finish();
  SolveWorkspace workspace;
  const SolveReport report = solve<TypeParam>(empty, SolveOptions{}, {}, workspace);
  EXPECT_TRUE(report.converged);
  EXPECT_EQ(report.islands, 0);
}

TYPED_TEST(ComplementaritySolvers, UnitsDoNotMatter) {
  // Masses a million times smaller, velocities a thousand times larger: powers of two, so
  // that not a bit of the answer but its exponent differs.
  Chance chance(8);
  const Case made = test::random_balls(chance, 4, 8, 0.5, 0.01);
  Case other = made;
  for (UnitCase& unit : other.units) {
    for (double& x : unit.halves) x *= 1024;
    for (double& x : unit.rows.compliance) x *= 1024 * 1024;
    for (double& x : unit.rows.b) x *= 1024;
  }
  const Solved a = solved<TypeParam>(made, SolveOptions{});
  Solved b = solved<TypeParam>(other, SolveOptions{});
  for (double& x : b.z) x *= 1024;
  EXPECT_EQ(a.z, b.z);
  EXPECT_EQ(a.report.iterations, b.report.iterations);
}

TYPED_TEST(ComplementaritySolvers, DoNotAllocateAgain) {
  Chance chance(9);
  const Case large = test::random_contacts(chance, 5, 12, 0.8, 0.01);
  const Case small = test::random_balls(chance, 4, 7, 0.8, 0);
  ComplementarityProblem problem;
  SolveWorkspace workspace;
  std::vector<double> z(static_cast<std::size_t>(large.rows()));
  const auto go = [&](const Case& made) {
    made.give(problem);
    const auto rows = static_cast<std::size_t>(made.rows());
    solve<TypeParam>(problem, SolveOptions{}, std::span(z).first(rows), workspace);
  };
  go(large);
  go(small);  // more islands
  const contract::AllocationCount taken;
  go(small);
  go(large);
  EXPECT_EQ(taken.since(), 0);
}

TEST(ComplementarityPivoting, EndsOnIllConditionedAndSingularBoxes) {
  Chance chance(10);
  double worst = 0;
  for (int round = 0; round < 300; ++round) {
    const int n = 1 + chance.below(60);
    const double condition = std::pow(10, chance.uniform(0, 8));
    const int rank = chance.with(0.4) ? std::max(1, n - 1 - chance.below(n)) : n;
    Case made = test::rows_with_spectrum(chance, spectrum(rank, condition), n);
    test::give_free_motion(chance, made);
    test::give_bounds(chance, made);
    const Solved result = solved<Pivoting>(made, SolveOptions{});
    EXPECT_TRUE(result.report.converged);
    EXPECT_EQ(result.report.handed_over, 0) << round;
    EXPECT_LE(result.report.iterations, 100 + 20 * n);
    worst = std::max(worst, relative(made, result));
  }
  EXPECT_LE(worst, 1e-10);
}

TEST(ComplementarityPivoting, AgreesWithSweepsWhereTheAnswerIsUnique) {
  Chance chance(11);
  for (int round = 0; round < 30; ++round) {
    const int n = 2 + chance.below(59);
    Case made = test::rows_with_spectrum(
        chance, spectrum(n, std::pow(10, chance.uniform(0, 5))), n);
    test::give_free_motion(chance, made);
    test::give_bounds(chance, made);
    const Solved a = solved<Pivoting>(made, exact);
    // An error of w is one of z times the condition at most.
    const Solved b =
        solved<GaussSeidel>(made, SolveOptions{.tolerance = 1e-14, .iterations = 100000});
    EXPECT_LE(difference(a.z, b.z), 1e-8);
  }
}

TEST(ComplementarityGaussSeidel, ConjugateDirectionsHelpAndDoNotHarm) {
  Chance chance(12);
  long with = 0, without = 0;
  for (int round = 0; round < 60; ++round) {
    const Case made =
        round % 2 == 0 ? test::random_balls(chance, 6, 14, chance.uniform(0, 1), 1e-3)
                       : test::random_contacts(chance, 6, 14, chance.uniform(0, 1), 1e-3);
    SolveOptions options{.tolerance = 1e-9, .iterations = 20000};
    const int accelerated = solved<GaussSeidel>(made, options).report.iterations;
    options.accelerated = false;
    const int plain = solved<GaussSeidel>(made, options).report.iterations;
    EXPECT_LE(accelerated, 1.5 * plain + 2);
    with += accelerated;
    without += plain;
  }
  EXPECT_LT(with, without);
}

TEST(ComplementarityGaussSeidel, SymmetricSweepsReachTheSameAnswer) {
  Chance chance(13);
  const Case made = test::random_balls(chance, 5, 9, 0.5, 0.01);
  SolveOptions options = exact;
  const Solved forward = solved<GaussSeidel>(made, options);
  options.symmetric = true;
  const Solved both = solved<GaussSeidel>(made, options);
  EXPECT_TRUE(both.report.converged);
  EXPECT_LE(difference(forward.z, both.z), 1e-8);
}

TEST(ComplementaritySolverList, FindsSolversByName) {
  std::string_view found;
  EXPECT_TRUE(with_solver(Solvers{}, "gauss-seidel",
                          [&found]<class S>() { found = S::info.title; }));
  EXPECT_EQ(found, "Gauss–Seidel");
  EXPECT_FALSE(with_solver(Solvers{}, "jacobi", []<class S>() {}));
  for_each_solver(Solvers{}, []<class S>() {
    EXPECT_FALSE(S::info.method.empty());
    EXPECT_FALSE(S::info.source.empty());
    EXPECT_FALSE(S::info.limits.empty());
  });
}

TEST(ComplementaritySolverList, LargeIslandsGoToSweeps) {
  Chance chance(14);
  const Case made = test::random_balls(chance, 3, 8, 0.5, 0.01);
  SolveOptions options{.tolerance = 1e-10};
  options.most_dense_rows = 3;
  const Solved sweeps = solved<GaussSeidel>(made, options);
  // Whether a solver hands an island over or takes it as it is, it is solved.
  for_each_solver(Solvers{}, [&]<class S>() {
    const Solved result = solved<S>(made, options);
    EXPECT_TRUE(result.report.converged) << S::info.name;
    EXPECT_LE(relative(made, result), 1e-10) << S::info.name;
  });
  // The dense ones hand over what is too large for them.
  for_each_solver(SolverList<Pivoting, Newton>{}, [&]<class S>() {
    const Solved result = solved<S>(made, options);
    EXPECT_GE(result.report.handed_over, 1) << S::info.name;
    EXPECT_EQ(result.z, sweeps.z) << S::info.name;
  });
}

}  // namespace
}  // namespace bristle
