#include "bristle/laws/impact.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "bristle/laws/normal/azad_featherstone.hpp"
#include "bristle/laws/normal/gonthier.hpp"
#include "bristle/laws/normal/hunt_crossley.hpp"

// d(e) against its printed equation, and impacts against closed forms.

namespace bristle {
namespace {

/// d(e) from (1 + d/e)/(1 − d) = exp(d (1 + 1/e)) by bisection of its logarithm in long
/// double. The unknown is c = 1 − d, so that nothing is lost as d → 1.
long double one_minus_d(long double e) {
  // g(c) = ln(1 + d/e) − ln c − d (1 + 1/e): +∞ at c = 0, negative before the spurious
  // root c = 1 (d = 0).
  const auto g = [e](long double c) {
    const long double d = 1 - c;
    return std::log1p(d / e) - std::log(c) - d * (1 + 1 / e);
  };
  long double low = std::exp(-(2 + 1 / e));  // g > 0: −ln c outweighs d (1 + 1/e)
  // g is convex with a double-sided zero at c = 1 and one minimum in between; walk down
  // from d = 3/2 (1 − e), the limit for e → 1, to where g < 0.
  long double high = 1 - 0.75L * (1 - e);
  while (g(high) >= 0) high = 1 - (1 - high) / 2;
  for (int i = 0; i < 200; ++i) {
    const long double middle = (low + high) / 2;
    (g(middle) > 0 ? low : high) = middle;
  }
  return high;
}

double exact_d(double e) { return static_cast<double>(1 - one_minus_d(e)); }

TEST(DampingFactor, SolvesThePrintedEquation) {
  // Below e = 0.9 the long double residual resolves d to 1e-15; above, its terms cancel
  // to third order in 1 − e, and 1e-12 needs the series of the next test.
  for (double e = 0.03; e < 0.95; e += 0.0007) {
    EXPECT_NEAR(damping_factor(e), exact_d(e), 1e-12) << "e = " << e;
  }
}

/// d as a power series in x = 1 − e, by Newton's method on the well-conditioned form in
/// long double: (d/e)² and d² series of x − ln(1+x) to 60 terms.
long double d_by_series(long double e) {
  const auto defect = [](long double x) {  // (x − ln(1+x))/x² = ½ − x/3 + x²/4 − …
    long double sum = 0;
    long double power = 1;
    for (int n = 2; n < 80; ++n) {
      sum += power / n;
      power *= -x;
    }
    return sum;
  };
  const auto g = [&](long double d) { return e * e * defect(-d) - defect(d / e); };
  long double low = 0;
  long double high = 2 * (1 - e);
  for (int i = 0; i < 100; ++i) {
    const long double middle = (low + high) / 2;
    (g(middle) < 0 ? low : high) = middle;
  }
  return low;
}

TEST(DampingFactor, IsRightToTheLastDigitsTowardsElasticImpacts) {
  EXPECT_NEAR(static_cast<double>(d_by_series(0.8L)), exact_d(0.8), 1e-13);
  for (const double x : {0.2, 0.1, 0.05, 1e-2, 1e-3, 1e-4, 1e-6, 1e-9, 1e-12}) {
    const double e = 1 - x;
    const double d = damping_factor(e);
    EXPECT_NEAR(d, static_cast<double>(d_by_series(e)), 1e-12 * d + 1e-15) << "e = " << e;
  }
  EXPECT_EQ(damping_factor(1.0), 0);
}

TEST(DampingFactor, IsOneForVeryLowRestitution) {
  for (double e = 0.001; e <= 0.02; e += 0.0001) {
    EXPECT_NEAR(damping_factor(e), 1, 1e-15) << "e = " << e;
  }
}

TEST(DampingFactor, HasItsReferenceValues) {
  EXPECT_NEAR(damping_factor(0.1), 0.999815939749567, 1e-15);
  EXPECT_NEAR(damping_factor(0.5), 0.716375266635688, 1e-15);
  EXPECT_NEAR(damping_factor(0.9), 0.149833755616777, 1e-15);
  EXPECT_NEAR(damping_factor(0.5F), 0.716375266635688, 1e-6);
}

TEST(DampingFactor, HasADerivative) {
  using D = Dual<double, 1>;
  for (double e = 0.05; e < 0.995; e += 0.01) {
    const double h = 1e-4 * std::fmin(e, 1 - e);
    const auto d = [](double x) {
      return x > 0.8 ? static_cast<double>(d_by_series(x)) : exact_d(x);
    };
    const double wide = (d(e + h) - d(e - h)) / (2 * h);
    const D at = damping_factor(D::variable(e, 0));
    EXPECT_NEAR(at.by[0], wide, 1e-6 * (1 + std::fabs(wide))) << "e = " << e;
    EXPECT_NEAR(at.value, d(e), 1e-12) << "e = " << e;
  }
}

// Type e, get e.

using Gonthier = GonthierNormal::Params<double>;

TEST(GonthierImpact, ReturnsTheRestitutionThatWasTyped) {
  for (const double e :
       {0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0}) {
    for (const double p : {1.0, 1.5, 2.0, 3.0}) {
      const auto report = impact<GonthierNormal>(Gonthier{8.5e6, p, e, 1e-9}, 0.154, 1);
      ASSERT_TRUE(report) << report.error();
      EXPECT_NEAR(report->restitution, e, 1e-9) << "e = " << e << ", p = " << p;
    }
  }
}

TEST(GonthierImpact, ReturnsItForAnyStiffnessMassAndSpeed) {
  for (const double k : {1e2, 1e6, 1e12}) {
    for (const double m : {1e-6, 1.0, 1e4}) {
      for (const double v : {1e-4, 1.0, 1e2}) {
        for (const double e : {0.05, 0.5, 0.9}) {
          const auto report = impact<GonthierNormal>(Gonthier{k, 1.5, e, 1e-9}, m, v);
          ASSERT_TRUE(report) << report.error();
          EXPECT_NEAR(report->restitution, e, 1e-9)
              << "k = " << k << ", m = " << m << ", v = " << v << ", e = " << e;
        }
      }
    }
  }
}

// Azad–Featherstone: e(Λ), Λ = λ v^{1/5}/(m^{2/5} k^{3/5}).

AzadFeatherstone::Params<double> with_group(double group, double k, double m, double v,
                                            double clamp) {
  return {k, group * std::pow(m, 0.4) * std::pow(k, 0.6) / std::pow(v, 0.2), clamp};
}

TEST(AzadFeatherstoneImpact, RestitutionDependsOnOneGroup) {
  struct Reference {
    double group, clamp, restitution;
  };
  constexpr Reference references[]{{0.1, 1, 0.892858875507}, {0.5, 1, 0.595251501135},
                                   {1, 1, 0.393930603230},   {5, 1, 0.068899657679},
                                   {0.1, 0, 0.892147587290}, {0.5, 0, 0.573824628665}};
  struct Impactor {
    double stiffness, mass, speed;
  };
  constexpr Impactor impactors[]{{1, 1, 1},
                                 {8.5e6, 0.154, 1},
                                 {1e10, 0.066, 4.5},
                                 {1e3, 1e3, 1e-3},
                                 {1e12, 1e-6, 30}};
  for (const Reference& r : references) {
    for (const Impactor& i : impactors) {
      const auto report = impact<AzadFeatherstone>(
          with_group(r.group, i.stiffness, i.mass, i.speed, r.clamp), i.mass, i.speed);
      ASSERT_TRUE(report) << report.error();
      EXPECT_NEAR(report->restitution, r.restitution, 1e-9)
          << "Λ = " << r.group << ", clamp = " << r.clamp << ", k = " << i.stiffness;
    }
  }
}

// Hunt–Crossley: V − ln(1+V) = −eV − ln(1−eV), V = a v; e by bisection.

double hunt_crossley_restitution(long double V) {
  // x − ln(1+x) without cancellation for small x
  const auto defect = [](long double x) {
    if (std::fabs(x) > 0.1L) return x - std::log1p(x);
    long double sum = 0;
    long double power = x * x;
    for (int n = 2; n < 40; ++n) {
      sum += power / n;
      power *= -x;
    }
    return sum;
  };
  long double low = 0;
  long double high = std::fmin(1.0L, 1 / V);
  for (int i = 0; i < 100; ++i) {
    const long double e = (low + high) / 2;
    (defect(-e * V) < defect(V) ? low : high) = e;
  }
  return static_cast<double>(low);
}

TEST(HuntCrossleyImpact, FollowsTheExactRelationWhateverMassStiffnessAndExponent) {
  for (const double V : {1e-3, 0.01, 0.1, 0.5, 1.0, 2.0, 5.0}) {
    const double exact = hunt_crossley_restitution(V);
    for (const double p : {1.0, 1.5, 2.5}) {
      for (const double m : {1e-3, 10.0}) {
        const double v = 0.7;
        const auto report =
            impact<HuntCrossley>(HuntCrossley::Params<double>{1e7, p, V / v}, m, v);
        ASSERT_TRUE(report) << report.error();
        EXPECT_NEAR(report->restitution, exact, 1e-10) << "V = " << V << ", p = " << p;
      }
    }
  }
}

// They part at nearly 1/a, where the force vanishes: slower than that to the last digit
// of a double from V = 30 on, and yet in contact until the depth is zero. The way out
// alone takes longer than δ_max a; k δ_max^{p+1}/(p+1) = (m/a²) (V − ln(1+V)).
TEST(HuntCrossleyImpact, UnderStrongDampingLastsUntilTheDepthIsZero) {
  const double k = 1e7, m = 0.3;
  for (const double V : {20.0, 29.0, 31.0, 40.0, 100.0, 1000.0}) {
    for (const double p : {1.0, 1.5, 2.5}) {
      for (const double v : {0.01, 3.0}) {
        const double a = V / v;
        const auto report = impact<HuntCrossley>({k, p, a}, m, v);
        ASSERT_TRUE(report) << report.error();
        EXPECT_NEAR(report->restitution, hunt_crossley_restitution(V), 1e-11)
            << "V = " << V << ", p = " << p;
        EXPECT_EQ(report->depth_at_release, 0) << "V = " << V << ", p = " << p;
        const double deepest =
            std::pow((p + 1) * m / (a * a * k) * (V - std::log1p(V)), 1 / (p + 1));
        EXPECT_NEAR(report->peak_depth, deepest, 1e-9 * deepest);
        EXPECT_GT(report->contact_time, a * deepest);
        EXPECT_LT(report->contact_time, 1.5 * a * deepest);
        EXPECT_NEAR(report->energy_residual, 0, 1e-10 * m * v * v);
      }
    }
  }
}

// Hertz: δ_max = (5 m v²/4k)^{2/5}, contact time (4√π/5) Γ(2/5)/Γ(9/10) δ_max/v.
TEST(HertzImpact, HasItsClosedDepthAndTime) {
  const double factor = 4 * std::sqrt(M_PI) / 5 * std::tgamma(0.4) / std::tgamma(0.9);
  EXPECT_NEAR(factor, 2.943275, 1e-6);
  for (const double k : {1.0, 8.5e6, 1e12}) {
    for (const double v : {0.01, 1.0, 50.0}) {
      const double m = 0.3;
      const auto report =
          impact<HuntCrossley>(HuntCrossley::Params<double>{k, 1.5, 0}, m, v);
      ASSERT_TRUE(report) << report.error();
      const double depth = std::pow(5 * m * v * v / (4 * k), 0.4);
      EXPECT_NEAR(report->peak_depth / depth, 1, 1e-10);
      EXPECT_NEAR(report->contact_time / (factor * depth / v), 1, 1e-10);
      EXPECT_NEAR(report->peak_force / (k * std::pow(depth, 1.5)), 1, 1e-10);
      EXPECT_NEAR(report->restitution, 1, 1e-10);
      EXPECT_NEAR(report->loop_area / (0.5 * m * v * v), 0, 1e-10);
    }
  }
}

TEST(Impact, TheLoopHoldsTheEnergyThatWasLost) {
  const double m = 0.154;
  const double v = 1.3;
  const double energy = 0.5 * m * v * v;
  const auto check = [&](const Result<ImpactReport>& report) {
    ASSERT_TRUE(report) << report.error();
    const double e = report->restitution;
    EXPECT_NEAR(report->loop_area, energy * (1 - e * e), 1e-10 * energy);
    EXPECT_NEAR(report->energy_residual, 0, 1e-10 * energy);
  };
  for (const double e : {0.05, 0.3, 0.8, 1.0}) {
    check(impact<GonthierNormal>(Gonthier{8.5e6, 1.5, e, 1e-6}, m, v));
  }
  for (const double clamp : {0.0, 1.0}) {
    check(impact<AzadFeatherstone>(with_group(0.7, 1e7, m, v, clamp), m, v));
  }
  check(impact<HuntCrossley>(HuntCrossley::Params<double>{1e7, 2, 0.9}, m, v));
}

TEST(Impact, ATraceRunsFromTouchDownToRelease) {
  std::vector<ImpactSample> trace;
  const auto report =
      impact<GonthierNormal>(Gonthier{8.5e6, 1.5, 0.5, 1e-6}, 0.154, 1, &trace);
  ASSERT_TRUE(report) << report.error();
  ASSERT_GT(trace.size(), 10U);
  EXPECT_EQ(trace.front().time, 0);
  EXPECT_EQ(trace.front().rate, 1);
  EXPECT_EQ(trace.back().time, report->contact_time);
  EXPECT_NEAR(trace.back().rate, -0.5, 1e-9);
  double work = 0;
  for (std::size_t i = 1; i < trace.size(); ++i) {
    EXPECT_GT(trace[i].time, trace[i - 1].time);
    EXPECT_LE(trace[i].force, report->peak_force * (1 + 1e-12));
    EXPECT_LE(trace[i].depth, report->peak_depth * (1 + 1e-12));
    work += 0.5 * (trace[i].force + trace[i - 1].force) *
            (trace[i].depth - trace[i - 1].depth);
  }
  EXPECT_NEAR(work, report->loop_area, 0.02 * report->loop_area);
}

}  // namespace
}  // namespace bristle
