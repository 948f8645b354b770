#include "bristle/laws/restitution.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "bristle/laws/laws.hpp"
#include "tests/sanitizers.hpp"

namespace bristle {
namespace {

// The Azad–Featherstone curve

TEST(AzadFeatherstoneCurve, AgreesWithIndependentValues) {
  EXPECT_NEAR(azad_featherstone_restitution(0.1, true), 0.892858875507, 1e-12);
  EXPECT_NEAR(azad_featherstone_restitution(0.5, true), 0.595251501135, 1e-12);
  EXPECT_NEAR(azad_featherstone_restitution(1, true), 0.393930603230, 1e-12);
  EXPECT_NEAR(azad_featherstone_restitution(5, true), 0.068899657679, 1e-12);
  EXPECT_NEAR(azad_featherstone_restitution(0.1, false), 0.892147587290, 1e-12);
  EXPECT_NEAR(azad_featherstone_restitution(0.5, false), 0.573824628665, 1e-12);
}

TEST(AzadFeatherstoneCurve, AgreesWithImpactsUnderTheLaw) {
  for (const double clamp : {1.0, 0.0}) {
    for (const double group : {1e-3, 0.03, 0.3, 0.8, 2.0, 8.0}) {
      const auto report = impact<AzadFeatherstone>({1, group, clamp}, 1, 1);
      ASSERT_TRUE(report);
      EXPECT_NEAR(azad_featherstone_restitution(group, clamp != 0), report->restitution,
                  2e-12)
          << group << ", clamp " << clamp;
    }
  }
}

TEST(AzadFeatherstoneCurve, FallsFromOneToItsAsymptote) {
  for (const bool clamped : {true, false}) {
    EXPECT_NEAR(azad_featherstone_restitution(0, clamped), 1, 1e-14);
    double before = 1;
    for (double group = 1e-4; group < (clamped ? 50 : 6); group *= 1.3) {
      const double e = azad_featherstone_restitution(group, clamped);
      EXPECT_GT(e, 0);
      EXPECT_LT(e, before) << group;
      before = e;
    }
  }
  // The damper alone stops the mass at x = (3/(2Λ))^{2/3}, which then leaves at x/Λ.
  for (const double group : {1e4, 1e6}) {
    const double leading = std::pow(1.5, 2.0 / 3) * std::pow(group, -5.0 / 3);
    EXPECT_NEAR(azad_featherstone_restitution(group, true) / leading, 1,
                20 * std::pow(group, -5.0 / 6));
  }
}

TEST(AzadFeatherstoneCurve, InverseReturnsTheGroup) {
  EXPECT_EQ(azad_featherstone_group(1, true), 0);
  for (const bool clamped : {true, false}) {
    for (const double e : {1 - 1e-9, 0.999, 0.9, 0.5, 0.1, 1e-3, 1e-5}) {
      const double group = azad_featherstone_group(e, clamped);
      EXPECT_NEAR(azad_featherstone_restitution(group, clamped) / e, 1, 1e-12) << e;
    }
  }
}

// Curves of speed

TEST(Restitution, ConstantIsTheSameAtEverySpeed) {
  const auto r = Restitution::constant(0.7);
  ASSERT_TRUE(r);
  for (const double v : {0.0, 1e-6, 1.0, -3.0, 1e3}) EXPECT_EQ(r->at(v), 0.7);
  for (const double bad : {0.0, -0.1, 1.1, std::nan("")}) {
    EXPECT_FALSE(Restitution::constant(bad));
  }
  EXPECT_EQ(Restitution::constant(1.4).error(), "restitution = 1.4 must lie in (0, 1]");
}

TEST(Restitution, LinearFallsToItsFloor) {
  const auto r = Restitution::linear(0.08, 0.2);
  ASSERT_TRUE(r);
  EXPECT_EQ(r->at(0), 1);
  EXPECT_NEAR(r->at(2), 0.84, 1e-15);
  EXPECT_EQ(r->at(100), 0.2);
  EXPECT_FALSE(Restitution::linear(-0.1));
  EXPECT_FALSE(Restitution::linear(0.1, 0));
}

TEST(Restitution, LogarithmicFallsByTheSameInEveryDecade) {
  const auto r = Restitution::logarithmic(0.6, 0.15, 0.05);
  ASSERT_TRUE(r);
  EXPECT_NEAR(r->at(1), 0.6, 1e-15);
  EXPECT_NEAR(r->at(10), 0.45, 1e-15);
  EXPECT_NEAR(r->at(0.1), 0.75, 1e-15);
  EXPECT_EQ(r->at(1e-9), 1);
  EXPECT_EQ(r->at(0), 1);
  EXPECT_EQ(r->at(1e9), 0.05);
  EXPECT_FALSE(Restitution::logarithmic(1.2, 0.1));
  EXPECT_FALSE(Restitution::logarithmic(0.6, -0.1));
}

TEST(Restitution, TableGoesThroughItsPointsAndStaysMonotoneBetween) {
  // A steep fall between two flat stretches, where a plain cubic would overshoot.
  const std::vector<double> v{0, 1, 1.1, 5, 9};
  const std::vector<double> e{0.95, 0.94, 0.3, 0.3, 0.29};
  const auto r = Restitution::table(v, e);
  ASSERT_TRUE(r);
  for (std::size_t i = 0; i < v.size(); ++i) EXPECT_NEAR(r->at(v[i]), e[i], 1e-15);
  EXPECT_EQ(r->at(100), 0.29);
  double before = 0.95;
  for (double x = 0; x <= 9; x += 1e-3) {
    EXPECT_LE(r->at(x), before + 1e-15) << x;
    before = r->at(x);
  }
  EXPECT_EQ(r->at(3), 0.3);  // flat data stay flat
}

TEST(Restitution, TableIsExactOnALineAndThirdOrderOnACurve) {
  const auto line = Restitution::table({1, 2, 4}, {0.9, 0.8, 0.6});
  ASSERT_TRUE(line);
  EXPECT_NEAR(line->at(2.7), 0.73, 1e-15);
  const auto error = [](std::size_t n) {
    std::vector<double> v;
    std::vector<double> e;
    for (std::size_t i = 0; i <= n; ++i) {
      v.push_back(1 + 3 * static_cast<double>(i) / static_cast<double>(n));
      e.push_back(std::exp(-0.3 * v.back()));
    }
    const auto r = Restitution::table(v, e);
    double worst = 0;
    for (double x = 2; x <= 3; x += 1e-3) {
      worst = std::fmax(worst, std::fabs(r->at(x) - std::exp(-0.3 * x)));
    }
    return worst;
  };
  EXPECT_LT(error(24), error(12) / 6);
}

TEST(Restitution, TableRefusesWhatIsNoTable) {
  const auto message = [](std::vector<double> v, std::vector<double> e) {
    const auto r = Restitution::table(std::move(v), std::move(e));
    return r ? std::string("accepted") : r.error();
  };
  EXPECT_EQ(message({1, 3, 2}, {0.9, 0.8, 0.7}),
            "restitution table, point 3: speed = 2 must be above 3, the one before it");
  EXPECT_EQ(message({1, 2}, {0.9, 1.2}),
            "restitution table, point 2: restitution = 1.2 must lie in (0, 1]");
  EXPECT_EQ(message({1, 2}, {0.0, 0.5}),
            "restitution table, point 1: restitution = 0 must lie in (0, 1]");
  EXPECT_EQ(message({-1, 2}, {0.9, 0.5}),
            "restitution table, point 1: speed = -1 must be at least 0");
  EXPECT_EQ(message({1, 2}, {0.9}), "restitution table: 2 speeds but 1 restitutions");
  EXPECT_EQ(message({1}, {0.9}), "restitution table: at least two points are needed");
  EXPECT_NE(message({1, std::nan("")}, {0.9, 0.8}), "accepted");
}

TEST(Restitution, CurveOfALawIsWhatItsImpactsReturn) {
  const double k = 8.5e6;
  const double damping = 3.1e3;
  const double mass = 0.154;
  const auto r = Restitution::azad_featherstone(k, damping, mass);
  ASSERT_TRUE(r);
  for (const double v : {0.01, 0.5, 4.0}) {
    const auto report = impact<AzadFeatherstone>({k, damping, 1}, mass, v);
    ASSERT_TRUE(report);
    EXPECT_NEAR(r->at(v), report->restitution, 1e-11);
  }
  EXPECT_FALSE(Restitution::azad_featherstone(0, 1, 1));
  EXPECT_FALSE(Restitution::azad_featherstone(1, 1, -1));
}

TEST(Restitution, IsLatchedAtTouchDown) {
  // Gonthier's law with e(v) returns e(v), whatever the speed.
  const auto curve = Restitution::logarithmic(0.6, 0.15);
  ASSERT_TRUE(curve);
  for (const double v : {0.05, 0.7, 6.0}) {
    auto params = default_params<GonthierNormal>();
    const auto memory = touch_with<GonthierNormal>(*curve, params, v);
    params.restitution = curve->at(v);
    EXPECT_EQ(memory.dissipation, GonthierNormal::touch(params, v).dissipation);
    const auto report = impact<GonthierNormal>(params, 0.3, v);
    ASSERT_TRUE(report);
    EXPECT_NEAR(report->restitution, curve->at(v), 1e-11);
  }
}

// Parameters for a restitution

struct Case {
  double e, mass, speed;
};
const std::vector<Case> cases{{1, 0.1, 1},      {0.999, 2, 0.3}, {0.9, 1e-3, 5},
                              {0.7, 0.0669, 1}, {0.5, 50, 0.01}, {0.3, 0.1, 20},
                              {0.1, 0.154, 1}};

TEST(ParametersForRestitution, EveryNormalLawReturnsWhatWasAskedOrSaysWhyNot) {
  for (const LawEntry& law : catalogue()) {
    if (law.impact_function == nullptr) continue;
    for (std::size_t k = test::under_sanitizers ? 3 : 0; k < cases.size();
         k += test::under_sanitizers ? 3 : 1) {
      const Case& c = cases[k];
      const auto tuned =
          parameters_for_restitution(law, law.defaults(), c.e, c.mass, c.speed);
      if (!tuned) {
        EXPECT_NE(tuned.error().find("cannot give restitution"), std::string::npos)
            << law.info.name << ": " << tuned.error();
        continue;
      }
      const auto report = law.impact(*tuned, c.mass, c.speed, nullptr);
      ASSERT_TRUE(report) << law.info.name;
      EXPECT_NEAR(report->restitution, c.e, 1e-9)
          << law.info.name << ", m = " << c.mass << ", v = " << c.speed;
      for (std::size_t i = 0; i < tuned->size(); ++i) {
        EXPECT_EQ(out_of_range(law.parameters[i], (*tuned)[i]), "") << law.info.name;
        if (law.parameters[i].name != law.damping_parameter) {
          EXPECT_EQ((*tuned)[i], law.parameters[i].preset) << "only one is tuned";
        }
      }
    }
  }
}

TEST(ParametersForRestitution, DampedLawsReachTheWholeGrid) {
  for (const char* name :
       {"kelvin-voigt", "hunt-crossley", "hunt-crossley-general", "flores", "gonthier",
        "lee-wang", "azad-featherstone", "azad-featherstone-recovery", "gearbox"}) {
    const auto law = find_law(name);
    ASSERT_TRUE(law);
    for (const Case& c : cases) {
      // A ground that recovers needs some damping.
      if (c.e == 1 && std::string_view(name) == "azad-featherstone-recovery") continue;
      const auto tuned =
          parameters_for_restitution(**law, (*law)->defaults(), c.e, c.mass, c.speed);
      EXPECT_TRUE(tuned) << name << ", e = " << c.e;
    }
  }
}

TEST(ParametersForRestitution, FormulaAndSearchAgree) {
  for (const std::string_view name : {"hunt-crossley", "gonthier", "flores",
                                      "lankarani-nikravesh", "azad-featherstone"}) {
    const auto law = find_law(name);
    ASSERT_TRUE(law);
    std::vector<double> parameters = (*law)->defaults();
    for (const bool clamp : {true, false}) {
      if (!clamp && name != "azad-featherstone") continue;
      if (!clamp) parameters.back() = 0;
      for (const Case& c : cases) {
        if (name == "lankarani-nikravesh" && c.e < 0.67) continue;  // out of its reach
        const auto formula =
            parameters_for_restitution(**law, parameters, c.e, c.mass, c.speed);
        const auto found =
            search_parameters_for_restitution(**law, parameters, c.e, c.mass, c.speed);
        ASSERT_TRUE(formula && found) << name << ", e = " << c.e;
        for (std::size_t i = 0; i < formula->size(); ++i) {
          // An error of 1e-12 in e, carried through the slope of the formula.
          EXPECT_NEAR((*found)[i], (*formula)[i],
                      1e-12 * std::fabs((*formula)[i]) / (1.001 - c.e) + 1e-9)
              << name << ", e = " << c.e;
        }
      }
    }
  }
}

TEST(ParametersForRestitution, KelvinVoigtFollowsItsClosedForm) {
  // δ ∝ e^{−ζτ} sin(√(1−ζ²) τ) until k δ + c δ̇ = 0, with ζ = c/(2√(k m)).
  const auto law = find_law("kelvin-voigt");
  ASSERT_TRUE(law);
  const double k = (*law)->parameters[0].preset;
  for (const double m : {0.1, 5.0}) {
    for (const double e : {0.95, 0.7, 0.4}) {
      const auto p = parameters_for_restitution(**law, (*law)->defaults(), e, m, 1);
      ASSERT_TRUE(p) << p.error();
      const double zeta = (*p)[1] / (2 * std::sqrt(k * m));
      const double root = std::sqrt(1 - zeta * zeta);
      EXPECT_NEAR(std::exp(-zeta / root * 2 * std::acos(zeta)), e, 1e-9);
    }
  }
}

TEST(ParametersForRestitution, LankaraniNikraveshSaysHowFarItReaches) {
  const auto law = find_law("lankarani-nikravesh");
  ASSERT_TRUE(law);
  const auto p = parameters_for_restitution(**law, (*law)->defaults(), 0.4, 0.1, 1);
  ASSERT_FALSE(p);
  EXPECT_EQ(p.error(),
            "lankarani-nikravesh reaches [0.662962, 1] in this impact; it cannot give "
            "restitution 0.4");
}

TEST(ParametersForRestitution, HertzAlwaysReturnsOne) {
  const auto law = find_law("hertz");
  ASSERT_TRUE(law);
  const auto p = parameters_for_restitution(**law, (*law)->defaults(), 0.5, 0.1, 1);
  ASSERT_FALSE(p);
  EXPECT_EQ(p.error(), "hertz always returns 1; it cannot give restitution 0.5");
  EXPECT_TRUE(parameters_for_restitution(**law, (*law)->defaults(), 1, 0.1, 1));
}

TEST(ParametersForRestitution, HuntCrossleyFollowsItsRelation) {
  // V − ln(1+V) = −eV − ln(1−eV) with V = a v.
  const auto law = find_law("hunt-crossley");
  ASSERT_TRUE(law);
  for (const Case& c : cases) {
    if (c.e == 1) continue;
    const auto p =
        parameters_for_restitution(**law, (*law)->defaults(), c.e, c.mass, c.speed);
    ASSERT_TRUE(p);
    const double V = (*p)[2] * c.speed;
    EXPECT_NEAR(V - std::log1p(V), -c.e * V - std::log1p(-c.e * V), 1e-13 * (1 + V));
  }
}

TEST(ParametersForRestitution, BelowTheSpeedFloorGonthierIsSearched) {
  const auto law = find_law("gonthier");
  ASSERT_TRUE(law);
  std::vector<double> parameters = (*law)->defaults();
  parameters[3] = 0.5;
  const auto tuned = parameters_for_restitution(**law, parameters, 0.8, 0.1, 0.2);
  ASSERT_TRUE(tuned) << tuned.error();
  EXPECT_LT((*tuned)[2], 0.79);  // slower than the floor: damped as if faster
  EXPECT_NEAR((*law)->impact(*tuned, 0.1, 0.2, nullptr)->restitution, 0.8, 1e-9);
}

TEST(ParametersForRestitution, OutOfReachTheMessageSaysWhatIsReached) {
  // e of the law itself cannot fall below the floor of its parameter.
  const auto law = find_law("gonthier");
  ASSERT_TRUE(law);
  const auto p = parameters_for_restitution(**law, (*law)->defaults(), 1e-4, 1, 1);
  ASSERT_FALSE(p);
  EXPECT_EQ(p.error(),
            "gonthier reaches [0.001, 1] in this impact; it cannot give restitution "
            "0.0001");
}

TEST(ParametersForRestitution, NonsenseIsRefused) {
  const LawEntry& law = **find_law("hunt-crossley");
  const auto message = [&law](double e, double m, double v) {
    const auto p = parameters_for_restitution(law, law.defaults(), e, m, v);
    return p ? std::string("accepted") : p.error();
  };
  EXPECT_EQ(message(1.4, 1, 1), "restitution = 1.4 must lie in (0, 1]");
  EXPECT_EQ(message(0, 1, 1), "restitution = 0 must lie in (0, 1]");
  EXPECT_EQ(message(0.5, 0, 1), "mass = 0 must be above 0 kg");
  EXPECT_EQ(message(0.5, 1, std::nan("")), "speed = nan must be above 0 m/s");
  EXPECT_FALSE(
      parameters_for_restitution(**find_law("gonthier-friction"), {}, 0.5, 1, 1));
  EXPECT_FALSE(parameters_for_restitution(law, std::vector<double>{1, 2}, 0.5, 1, 1));
}

}  // namespace
}  // namespace bristle
