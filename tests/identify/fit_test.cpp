#include "identify/fit.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "bristle/laws/catalogue.hpp"
#include "identify/force_model.hpp"
#include "identify/friction_model.hpp"
#include "identify/identifiability.hpp"
#include "identify/least_squares.hpp"
#include "identify/restitution_model.hpp"

namespace bristle::identify {
namespace {

// The small mathematics

TEST(Statistics, StudentsTIsThatOfTheTables) {
  EXPECT_NEAR(student_t(0.95, 1), 12.7062047362, 1e-9);
  EXPECT_NEAR(student_t(0.95, 10), 2.22813885196, 1e-10);
  EXPECT_NEAR(student_t(0.95, 1000), 1.96233908083, 1e-10);
  EXPECT_NEAR(student_t(0.95, HUGE_VAL), 1.95996398454, 1e-10);
  EXPECT_NEAR(student_t(0.99, 5), 4.03214298356, 1e-10);
}

TEST(Statistics, SingularValuesKeepTheirSmallDigits) {
  // Columns a, a + ε b, orthonormal a and b: σ₁ σ₂ = ε, σ₁² + σ₂² = 2 + ε².
  for (const double eps : {1e-2, 1e-6, 1e-11}) {
    Matrix m(4, 2);
    const double a[] = {0.5, 0.5, 0.5, 0.5}, b[] = {0.5, -0.5, 0.5, -0.5};
    for (std::size_t i = 0; i < 4; ++i) {
      m(i, 0) = a[i];
      m(i, 1) = a[i] + eps * b[i];
    }
    const Singular s = singular_values(m);
    EXPECT_NEAR(s.values[0] * s.values[1] / eps, 1, 1e-15 / eps + 1e-13);
    EXPECT_NEAR(std::fabs(s.directions(0, 1)), std::numbers::sqrt2 / 2, eps);
  }
}

TEST(Statistics, RandomNumbersAreTheSameEverywhere) {
  Random random(1, 2);
  EXPECT_EQ(random.uniform(), Random(1, 2).uniform());
  EXPECT_NE(random.uniform(), Random(1, 3).uniform());
  double sum = 0, squares = 0;
  constexpr int n = 20000;
  for (int i = 0; i < n; ++i) {
    const double x = random.normal();
    sum += x;
    squares += x * x;
  }
  EXPECT_NEAR(sum / n, 0, 5 / std::sqrt(n));
  EXPECT_NEAR(squares / n, 1, 5 * std::sqrt(2.0 / n));
}

TEST(Model, CoordinatesAndBack) {
  for (const Measure measure :
       {Measure::relative, Measure::tangent, Measure::share, Measure::offset}) {
    const Unknown u{
        .name = "x", .unit = "", .range = above(0, 45), .measure = measure, .size = 3};
    constexpr double v = 0.46, h = 1e-6;
    EXPECT_NEAR(u.value_at(u.coordinate(v)), v, 1e-15);
    const double slope = 2 * h / (u.coordinate(v + h) - u.coordinate(v - h));
    EXPECT_NEAR(slope / u.slope(v), 1, 1e-8);
  }
}

// The volume of a tilted cylinder

/// By slices across the tilt: segments of discs.
double volume_by_slices(double depth, double radius, double tangent) {
  constexpr int n = 20000;
  double sum = 0;
  for (int i = 0; i < n; ++i) {
    // u = r (1 − cos φ) from the deep side
    const double phi = std::numbers::pi * (i + 0.5) / n;
    const double u = radius * (1 - std::cos(phi));
    const double height = depth - u * tangent;
    const double chord = 2 * radius * std::sin(phi);
    if (height > 0) {
      sum += height * chord * radius * std::sin(phi) * std::numbers::pi / n;
    }
  }
  return sum;
}

TEST(TiltedVolume, IsThatOfItsSlices) {
  constexpr double r = 5e-3;
  for (const double tilt : {0.05, 0.32, 3.0}) {
    const double t = std::tan(tilt * std::numbers::pi / 180);
    for (const double part : {0.02, 0.3, 0.9, 1.0, 1.5}) {
      const double depth = part * 2 * r * t;
      const TiltedVolume v = tilted_volume(depth, r, t);
      EXPECT_NEAR(v.volume / volume_by_slices(depth, r, t), 1, 1e-5) << tilt << part;
      const double h = 1e-6 * depth;
      const double area = (tilted_volume(depth + h, r, t).volume -
                           tilted_volume(depth - h, r, t).volume) /
                          (2 * h);
      EXPECT_NEAR(area / v.area, 1, 1e-7);
      const double by = (tilted_volume(depth, r, t * 1.000001).volume -
                         tilted_volume(depth, r, t * 0.999999).volume) /
                        (2e-6 * t);
      EXPECT_NEAR(by / v.by_tangent, 1, 1e-7);
    }
  }
}

TEST(TiltedVolume, ItsSeriesMeetsTheBracket) {
  constexpr double r = 1, t = 1;
  const double b = 1 - std::cos(0.6);  // where the one takes over from the other
  const double below = tilted_volume(b * (1 - 1e-13), r, t).volume;
  const double above = tilted_volume(b * (1 + 1e-13), r, t).volume;
  EXPECT_NEAR(below / above, 1, 1e-11);
}

// Every law

/// Presses and releases a body, three times with different speeds.
ForceData motion() {
  ForceData data;
  double time = 0;
  for (const double speed : {0.3, 1.0, 2.0}) {
    constexpr int n = 60;
    for (int i = 0; i < n; ++i) {
      const double phase = std::numbers::pi * i / (n - 1);
      data.time.push_back(time);
      data.position.push_back(-1e-4 + 1.1e-3 * std::sin(phase));
      data.speed.push_back(speed * std::cos(phase) * (1 + 0.3 * std::sin(5 * phase)));
      data.force.push_back(0);
      data.begins.push_back(i == 0);
      time += 1e-4 / speed;
    }
  }
  return data;
}

struct Truth {
  const char* name;
  double value;
};

/// The parameters that such a motion determines, and values of them.
std::vector<Truth> truths_of(const LawEntry& law) {
  std::vector<Truth> list;
  for (const Parameter& p : law.parameters) {
    const std::string_view name = p.name;
    if (p.is_flag() || p.is_choice() || name == "impact_speed_floor" ||
        name == "damping_speed" || name == "regularisation_speed") {
      continue;
    }
    double value = 0.7 * p.preset;
    if (name == "stiffness" && p.unit == "N/m^3") value = 3e9;
    if (name == "exponent" || name == "damping_exponent") value = 1.4;
    if (name == "rate_exponent") value = 1.3;
    if (name == "gear_exponent") value = 0.3;
    if (name == "restitution") value = 0.6;
    if (law.volumetric && name == "damping") value = 5e8;
    if (law.info.name == "volumetric-dissipation" && name == "dissipation") value = 0.4;
    if (name == "dissipation") value = 0.4;
    if (name == "viscous") value = 3;
    if (name == "mu_static") value = 0.6;
    if (name == "mu_coulomb") value = 0.35;
    if (name == "stribeck_speed") value = 0.02;
    if (name == "dwell_time") value = 0.03;
    if (law.family == LawFamily::friction && name == "damping") value = 80;
    if (law.info.name == "azad-featherstone-clutch" && name == "stiffness") value = 5e6;
    if (law.info.name == "azad-featherstone-clutch" && name == "damping") value = 3e3;
    list.push_back({p.name.data(), value});
  }
  return list;
}

/// Frees the truths, each ten times off, fits, and expects them back.
void expect_back(Model& model, const std::vector<Truth>& truths, const char* law) {
  std::vector<double> values = model.values();
  int turn = 0;
  for (const Truth& truth : truths) {
    Unknown& u = model.unknowns()[static_cast<std::size_t>(model.find(truth.name))];
    u.free = true;
    u.given = true;
    const double off = ++turn % 2 == 0 ? 10 : 0.1;
    u.value = std::clamp(truth.value * off, u.range.low + 1e-12, u.range.high);
  }
  const auto found = fit(model, {});
  ASSERT_TRUE(found) << law << ": " << found.error();
  for (const Truth& truth : truths) {
    const auto at = static_cast<std::size_t>(model.find(truth.name));
    EXPECT_NEAR(found->values[at] / truth.value, 1, 1e-6) << law << ": " << truth.name;
  }
}

TEST(EveryLaw, NormalLawsComeBackFromNoiseFreeForces) {
  if (!can_minimise()) GTEST_SKIP() << no_ceres;
  for (const LawEntry* law : laws_of(LawFamily::normal)) {
    ForceData data = motion();
    const PatchShape shape = law->volumetric ? PatchShape::sphere : PatchShape::none;
    std::vector<Truth> truths = truths_of(*law);
    std::vector<double> values;
    {
      ForceModel model(*law, data, shape, 0.01);
      values = model.values();
      for (const Truth& truth : truths) {
        values[static_cast<std::size_t>(model.find(truth.name))] = truth.value;
      }
      values[static_cast<std::size_t>(model.find("contact_point_m"))] = 2e-5;
      std::vector<double> force(data.size());
      ASSERT_TRUE(model.residuals(values, {}, force.data(), nullptr));
      data.force = force;
    }
    ForceModel model(*law, data, shape, 0.01);
    for (std::size_t i = 0; i < model.unknowns().size(); ++i) {
      if (model.unknowns()[i].unit == "flag") model.unknowns()[i].value = values[i];
    }
    expect_back(model, truths, law->info.name.data());
  }
}

/// Slides to and fro: slowly, fast, and at rest in between.
FrictionData slides() {
  FrictionData data;
  for (int i = 0; i < 240; ++i) {
    const double t = 5e-3 * i;
    const double pause = std::fmod(t, 0.3) > 0.22 ? 0 : 1;
    data.time.push_back(t);
    data.speed.push_back(pause * (0.03 * std::sin(21 * t) + 0.05 * std::sin(5 * t)));
    data.normal_force.push_back(10 + 3 * std::sin(7 * t));
    data.force.push_back(0);
  }
  return data;
}

TEST(EveryLaw, FrictionLawsComeBackFromNoiseFreeForces) {
  if (!can_minimise()) GTEST_SKIP() << no_ceres;
  for (const LawEntry* law : laws_of(LawFamily::friction)) {
    if (law->parameters.empty()) continue;
    FrictionData data = slides();
    std::vector<Truth> truths = truths_of(*law);
    std::vector<double> values;
    {
      FrictionModel model(*law, data, 4);
      values = model.values();
      for (const Truth& truth : truths) {
        values[static_cast<std::size_t>(model.find(truth.name))] = truth.value;
      }
      std::vector<double> force(data.size());
      ASSERT_TRUE(model.residuals(values, {}, force.data(), nullptr));
      data.force = force;
    }
    FrictionModel model(*law, data, 4);
    expect_back(model, truths, law->info.name.data());
  }
}

TEST(EveryLaw, RestitutionComesBackFromItsCurve) {
  if (!can_minimise()) GTEST_SKIP() << no_ceres;
  for (const char* name : {"azad-featherstone", "hunt-crossley", "gonthier"}) {
    const LawEntry& law = **find_law(name);
    RestitutionData data{{0.3, 1, 2, 4}, {1, 1, 1, 1}};
    RestitutionModel model(&law, data);
    std::vector<double> values = model.values();
    const auto at = static_cast<std::size_t>(model.find(law.damping_parameter));
    values[at] = 0.6 * values[at];
    for (std::size_t i = 0; i < data.speed.size(); ++i) {
      data.restitution[i] = model.at(values, data.speed[i]);
    }
    RestitutionModel again(&law, data);
    const auto found = fit(again, {.starts = 2});
    ASSERT_TRUE(found) << found.error();
    EXPECT_NEAR(found->values[at] / values[at], 1, 1e-6) << name;
  }
}

// Derivatives

TEST(Derivatives, OfForcesAreThoseOfDifferences) {
  const LawEntry& law = **find_law("volumetric");
  ForceModel model(law, motion(), PatchShape::cylinder, 5e-3);
  std::vector<double> values = model.values();
  const auto at = [&](const char* name) {
    return static_cast<std::size_t>(model.find(name));
  };
  values[at("stiffness")] = 1e9;
  values[at("tilt_deg")] = 4;
  values[at("contact_point_m")] = 2.3e-5;
  std::vector<std::size_t> by{at("stiffness"), at("restitution"), at("contact_point_m"),
                              at("tilt_deg"), at("impact_speed_floor")};
  const std::size_t n = model.points();
  std::vector<double> r(n), j(n * by.size()), up(n), down(n);
  ASSERT_TRUE(model.residuals(values, by, r.data(), j.data()));
  for (std::size_t k = 0; k < by.size(); ++k) {
    const double h = 1e-6 * values[by[k]];
    std::vector<double> changed = values;
    changed[by[k]] += h;
    model.residuals(changed, {}, up.data(), nullptr);
    changed[by[k]] -= 2 * h;
    model.residuals(changed, {}, down.data(), nullptr);
    double size = 0;
    for (std::size_t i = 0; i < n; ++i) size = std::fmax(size, std::fabs(j[i * 5 + k]));
    for (std::size_t i = 0; i < n; ++i) {
      EXPECT_NEAR(j[i * 5 + k], (up[i] - down[i]) / (2 * h), 2e-5 * size + 1e-12) << k;
    }
  }
}

// How sure

/// y = a exp(−b x) + c at x = 0 … 1, a model that needs no law.
class Decay final : public Model {
 public:
  Decay(double a, double b, double noise, std::uint64_t seed, std::size_t n = 50) {
    Random random(seed, 3);
    for (std::size_t i = 0; i < n; ++i) {
      x_.push_back(static_cast<double>(i) / static_cast<double>(n - 1));
      y_.push_back(a * std::exp(-b * x_[i]) + noise * random.normal());
    }
    unknowns_ = {
        {.name = "a", .unit = "1", .range = above(0, 1e6), .value = 1, .free = true},
        {.name = "b", .unit = "1", .range = above(0, 1e6), .value = 1, .free = true},
        {.name = "idle", .unit = "1", .range = above(0, 1e6), .value = 1},
        {.name = "factor", .unit = "1", .range = above(0, 1e6), .value = 1}};
  }
  std::size_t points() const override { return x_.size(); }
  std::span<const double> measured() const override { return y_; }
  bool residuals(std::span<const double> v, std::span<const std::size_t> by, double* r,
                 double* jacobian) const override {
    for (std::size_t i = 0; i < x_.size(); ++i) {
      const double e = std::exp(-v[1] * x_[i]);
      r[i] = v[0] * v[3] * e - y_[i];
      const double slopes[] = {v[3] * e, -x_[i] * v[0] * v[3] * e, 0, v[0] * e};
      for (std::size_t k = 0; jacobian != nullptr && k < by.size(); ++k) {
        jacobian[i * by.size() + k] = slopes[by[k]];
      }
    }
    return true;
  }
  std::vector<double>& data() { return y_; }

 private:
  std::vector<double> x_, y_;
};

bool warned(const Fit& fit, std::string_view text) {
  for (const std::string& warning : fit.warnings) {
    if (warning.find(text) != std::string::npos) return true;
  }
  return false;
}

TEST(Fit, IntervalsHoldTheTruth) {
  if (!can_minimise()) GTEST_SKIP() << no_ceres;
  int held = 0;
  constexpr int n = 400;
  for (int seed = 0; seed < n; ++seed) {
    const Decay model(2, 1.5, 0.05, static_cast<std::uint64_t>(seed), 12);
    const auto found = fit(model, {.starts = 1});
    ASSERT_TRUE(found);
    held += found->estimates[1].low <= 1.5 && 1.5 <= found->estimates[1].high;
  }
  // four deviations of the binomial
  EXPECT_NEAR(held / static_cast<double>(n), 0.95, 4 * std::sqrt(0.95 * 0.05 / n));
}

TEST(Fit, ResamplingAgreesWithTheJacobian) {
  if (!can_minimise()) GTEST_SKIP() << no_ceres;
  const Decay model(2, 1.5, 0.05, 1, 200);
  const auto found = fit(model, {.starts = 2, .bootstrap = 300});
  ASSERT_TRUE(found);
  for (const Estimate& e : found->estimates) {
    EXPECT_NEAR(e.bootstrap_sd / e.sd, 1, 0.25);
  }
  EXPECT_TRUE(found->warnings.empty()) << found->warnings.front();
}

TEST(Fit, AProductIsAllThatIsDetermined) {
  if (!can_minimise()) GTEST_SKIP() << no_ceres;
  Decay model(2, 1.5, 0.01, 1);
  model.unknowns()[3].free = true;
  const auto found = fit(model, {});
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->estimates[0].identified);
  EXPECT_TRUE(found->estimates[1].identified);
  EXPECT_FALSE(found->estimates[2].identified);
  EXPECT_TRUE(std::isnan(found->estimates[0].low));
  EXPECT_TRUE(std::isfinite(found->estimates[1].sd));
  ASSERT_EQ(found->determined.size(), 1u);
  EXPECT_EQ(found->determined[0], "a · factor");
  EXPECT_TRUE(
      warned(*found, "do not determine a, factor; they determine only a · factor"));
}

TEST(Fit, AnUnknownWithoutEffectIsToldOf) {
  if (!can_minimise()) GTEST_SKIP() << no_ceres;
  Decay model(2, 1.5, 0.01, 1);
  model.unknowns()[2].free = true;
  const auto found = fit(model, {});
  ASSERT_TRUE(found);
  EXPECT_TRUE(warned(*found, "idle has no effect on these data"));
  EXPECT_FALSE(found->estimates[2].identified);
  EXPECT_TRUE(found->estimates[0].identified);
}

TEST(Fit, ABoundIsToldOf) {
  if (!can_minimise()) GTEST_SKIP() << no_ceres;
  Decay model(2, 1.5, 0.01, 1);
  model.unknowns()[1].range = above(0, 1);
  const auto found = fit(model, {});
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->estimates[1].at_bound);
  EXPECT_TRUE(warned(*found, "b = 1 lies at the bound of its range"));
  EXPECT_TRUE(warned(*found, "neighbouring residuals are correlated"));
}

TEST(Fit, HubersLossForgivesOutliers) {
  if (!can_minimise()) GTEST_SKIP() << no_ceres;
  Decay model(2, 1.5, 0.01, 1);
  for (const std::size_t i : {5, 17, 33}) model.data()[i] += 2;
  const auto plain = fit(model, {}), robust = fit(model, {.huber = true});
  ASSERT_TRUE(plain && robust);
  EXPECT_GT(std::fabs(plain->values[0] - 2), 0.05);
  EXPECT_NEAR(robust->values[0], 2, 4 * robust->estimates[0].sd);
  EXPECT_LT(robust->estimates[0].sd, 0.02);
}

TEST(Fit, KnownNoiseGivesNormalIntervals) {
  if (!can_minimise()) GTEST_SKIP() << no_ceres;
  const Decay model(2, 1.5, 0.05, 1, 10);
  const auto found = fit(model, {.sigma = 0.05});
  ASSERT_TRUE(found);
  const Estimate& e = found->estimates[0];
  EXPECT_NEAR(std::log(e.high / e.value) / (e.sd / e.value), 1.959964, 1e-5);
}

TEST(Fit, SameBitsForAnyNumberOfThreads) {
  if (!can_minimise()) GTEST_SKIP() << no_ceres;
  const Decay model(2, 1.5, 0.05, 1);
  const auto one = fit(model, {.seed = 5, .bootstrap = 20});
  const auto four = fit(model, {.seed = 5, .threads = 4, .bootstrap = 20});
  ASSERT_TRUE(one && four);
  EXPECT_EQ(one->values, four->values);
  EXPECT_EQ(one->estimates[0].bootstrap_sd, four->estimates[0].bootstrap_sd);
  EXPECT_EQ(held_out_rms(model, *one, {}), held_out_rms(model, *one, {.threads = 3}));
}

TEST(Fit, AProfileRisesByFourAtTwoDeviations) {
  if (!can_minimise()) GTEST_SKIP() << no_ceres;
  const Decay model(2, 1.5, 0.02, 1, 200);
  const auto found = fit(model, {});
  ASSERT_TRUE(found);
  const Profile p = profile(model, *found, 1, {});
  EXPECT_NEAR(p.increase[10], 0, 1e-6);
  // ±3 deviations at the ends: nearly 9, by how nearly linear the model is
  EXPECT_NEAR(p.increase.front(), 9, 0.5);
  EXPECT_NEAR(p.increase.back(), 9, 0.5);
}

TEST(Fit, TooFewPointsAreRefused) {
  if (!can_minimise()) GTEST_SKIP() << no_ceres;
  const Decay model(2, 1.5, 0, 1, 3);
  const auto found = fit(model, {});
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().find("3 points are too few for 2 free parameters"),
            std::string::npos);
}

TEST(Fit, ASearchThatIsCutShortSaysSo) {
  if (!can_minimise()) GTEST_SKIP() << no_ceres;
  Decay model(200, 15, 0.05, 1);
  model.unknowns()[0].given = model.unknowns()[1].given = true;
  const auto found = fit(model, {.starts = 1, .iterations = 1});
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->converged);
  EXPECT_TRUE(warned(*found, "the search did not converge"));
}

TEST(Cylinder, StiffnessAndTiltAreConfounded) {
  if (!can_minimise()) GTEST_SKIP() << no_ceres;
  constexpr double r = 5e-3, k = 8.82e12;
  for (const double tilt : {0.32, 0.46}) {
    const double t = std::tan(tilt * std::numbers::pi / 180);
    for (const double noise : {0.0, 0.1}) {
      Random random(1, 4);
      ForceData data;
      for (int i = 0; i < 200; ++i) {
        const double p = -2e-6 + 7e-6 * i / 199;
        data.position.push_back(p);
        data.force.push_back(k * tilted_volume(p, r, t).volume + noise * random.normal());
        data.begins.push_back(i == 0);
      }
      ForceModel model(**find_law("volumetric"), data, PatchShape::cylinder, r);
      Unknown& angle = model.unknowns()[static_cast<std::size_t>(model.find("tilt_deg"))];
      angle.free = true;
      angle.value = 0.3;
      const auto found = fit(model, {});
      ASSERT_TRUE(found);
      for (const Estimate& e : found->estimates) {
        const std::string& name = model.unknowns()[e.unknown].name;
        EXPECT_EQ(e.identified, name == "contact_point_m") << name;
      }
      ASSERT_EQ(found->determined.size(), 1u);
      const std::string& product = found->determined[0];
      const std::string head = "stiffness · tan(tilt_deg)^";
      ASSERT_EQ(product.substr(0, head.size()), head);
      EXPECT_NEAR(std::stod(product.substr(head.size())), -1.5, 0.1);
    }
  }
}

}  // namespace
}  // namespace bristle::identify
