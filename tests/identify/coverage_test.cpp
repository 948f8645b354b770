// Intervals hold the truth as often as they say. With BRISTLE_SOAK over many seeds;
// always over some.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <numbers>

#include "bristle/laws/choice.hpp"
#include "bristle/laws/restitution.hpp"
#include "cli/fit_scene.hpp"
#include "identify/friction_model.hpp"
#include "identify/least_squares.hpp"
#include "identify/restitution_model.hpp"
#include "studies/boos2013_apparatus.hpp"

namespace bristle::identify {
namespace {

using studies::Values;

int seeds(int many, int some) {
  return std::getenv("BRISTLE_SOAK") != nullptr ? many : some;
}

/// How often an interval held the truth.
struct Coverage {
  int held = 0, all = 0;

  void add(const Estimate& e, double truth) {
    ++all;
    if (e.identified && e.low <= truth && truth <= e.high) ++held;
  }
  /// 91 to 98 %; of n seeds, what chance makes of that: four deviations of the binomial
  /// of 0.95.
  void expect(const char* what) const {
    const double share = static_cast<double>(held) / all;
    const double chance = 4 * std::sqrt(0.95 * 0.05 / all);
    std::printf("%s: %d of %d intervals hold the truth, %.1f %%\n", what, held, all,
                100 * share);
    EXPECT_GE(share, all >= 500 ? 0.91 : 0.95 - chance) << what;
    EXPECT_LE(share, all >= 500 ? 0.98 : 1.0) << what;
  }
};

Values values_of(const char* study,
                 std::initializer_list<std::pair<const char*, double>> set) {
  const studies::Study& found = **studies::find_study(study);
  std::vector<double> presets;
  for (const Parameter& p : found.parameters) presets.push_back(p.preset);
  Values values(found.parameters, presets);
  for (const auto& [name, value] : set) values = values.with(name, value);
  return values;
}

const Estimate& estimate(const Model& model, const Fit& fit, std::string_view name) {
  for (const Estimate& e : fit.estimates) {
    if (model.unknowns()[e.unknown].name == name) return e;
  }
  std::abort();
}

TEST(Coverage, SphereTest) {
  if (!can_minimise()) GTEST_SKIP() << no_ceres;
  for (const double plate : {0.0, 1.0}) {
    Coverage stiffness, point;
    int within = 0;
    const int count = seeds(500, 60);
    for (int seed = 0; seed < count; ++seed) {
      const Values values =
          values_of("boos2013.sphere-test", {{"plate", plate}, {"seed", seed}});
      const double k = studies::boos2013::printed(values).volumetric;
      constexpr double r = studies::boos2013::sphere_radius;
      const ForceData data = studies::boos2013::press(values, [&](double depth) {
        const double d = std::fmax(depth, 0);
        return k * std::numbers::pi / 3 * d * d * (3 * r - d);
      });
      const auto fit =
          studies::boos2013::fit_press("volumetric", data, PatchShape::sphere, r);
      ASSERT_TRUE(fit) << fit.error();
      const Estimate &a = (*fit)["stiffness"], &b = (*fit)["contact_point_m"];
      stiffness.add(a, k);
      point.add(b, 1e-5);
      within += std::fabs(a.value / k - 1) < 0.03 && std::fabs(b.value - 1e-5) < 45e-9;
    }
    std::printf("k_v within 3 %% and p0 within 45 nm: %d of %d\n", within, count);
    EXPECT_GE(within, static_cast<int>(std::floor(0.99 * count)));
    stiffness.expect("k_v of the sphere");
    point.expect("contact point of the sphere");
  }
}

TEST(Coverage, CylinderTest) {
  if (!can_minimise()) GTEST_SKIP() << no_ceres;
  for (const double plate : {0.0, 1.0}) {
    Coverage tilt, point;
    int within = 0;
    const int count = seeds(500, 60);
    for (int seed = 0; seed < count; ++seed) {
      const Values values =
          values_of("boos2013.cylinder-test", {{"plate", plate}, {"seed", seed}});
      const auto& printed = studies::boos2013::printed(values);
      constexpr double r = studies::boos2013::cylinder_radius;
      const double t = std::tan(printed.tilt_deg * std::numbers::pi / 180);
      const ForceData data = studies::boos2013::press(values, [&](double depth) {
        return printed.cylinder * tilted_volume(depth, r, t).volume;
      });
      const studies::boos2013::Wanted wanted[] = {{"stiffness", false, printed.cylinder},
                                                  {"tilt_deg", true, 0.3}};
      const auto fit = studies::boos2013::fit_press("volumetric", data,
                                                    PatchShape::cylinder, r, wanted);
      ASSERT_TRUE(fit) << fit.error();
      const Estimate& a = (*fit)["tilt_deg"];
      tilt.add(a, printed.tilt_deg);
      point.add((*fit)["contact_point_m"], 1e-5);
      within += std::fabs(a.value - printed.tilt_deg) < 0.012;
    }
    std::printf("tilt within 0.012 deg: %d of %d\n", within, count);
    EXPECT_GE(within, static_cast<int>(std::floor(0.99 * count)));
    tilt.expect("tilt of the cylinder");
    point.expect("contact point of the cylinder");
  }
}

TEST(Coverage, DampingOfAzadAndFeatherstone) {
  if (!can_minimise()) GTEST_SKIP() << no_ceres;
  const LawEntry& law = **find_law("azad-featherstone");
  constexpr double stiffness = 1e10, damping = 3e4, mass = 0.15;
  const auto curve = Restitution::azad_featherstone(stiffness, damping, mass);
  Coverage coverage;
  const int count = seeds(500, 40);
  for (int seed = 0; seed < count; ++seed) {
    Random random(static_cast<std::uint64_t>(seed), 7);
    RestitutionData data;
    for (int i = 0; i < 12; ++i) {
      const double v = 0.2 * std::pow(20.0, i / 11.0);
      data.speed.push_back(v);
      data.restitution.push_back(curve->at(v) + 0.01 * random.normal());
    }
    RestitutionModel model(&law, data);
    for (const auto& [name, value] :
         {std::pair{"stiffness", stiffness}, std::pair{"mass", mass}}) {
      model.unknowns()[static_cast<std::size_t>(model.find(name))].value = value;
    }
    const auto found = fit(model, {.starts = 1});
    ASSERT_TRUE(found) << found.error();
    coverage.add(estimate(model, *found, "damping"), damping);
  }
  coverage.expect("damping of azad-featherstone");
}

/// A block is pulled to and fro, slowly through breakaway and fast beyond Stribeck's
/// speed.
FrictionData pulled(const LawEntry& law, const std::vector<double>& parameters,
                    double noise, Random& random) {
  FrictionData data;
  for (int i = 0; i < 400; ++i) {
    const double t = 5e-3 * i;
    data.time.push_back(t);
    data.speed.push_back(0.02 * std::sin(2 * std::numbers::pi * t) *
                         (1 + 0.5 * std::sin(9 * t)));
    data.normal_force.push_back(10 + 2 * std::sin(5 * t));
    data.force.push_back(0);
  }
  FrictionModel model(law, data);
  std::vector<double> values = parameters;
  values.push_back(1e-4);
  std::vector<double> force(data.size());
  model.residuals(values, {}, force.data(), nullptr);
  for (std::size_t i = 0; i < force.size(); ++i) {
    data.force[i] = force[i] + noise * random.normal();
  }
  return data;
}

TEST(Coverage, StaticFrictionOfLuGre) {
  if (!can_minimise()) GTEST_SKIP() << no_ceres;
  const LawEntry& law = **find_law("lugre");
  const std::vector<double> truth{0.5, 0.35, 1e5, 316, 0.4, 0.005, 1e6, 1, 1};
  Coverage coverage;
  const int count = seeds(500, 40);
  for (int seed = 0; seed < count; ++seed) {
    Random random(static_cast<std::uint64_t>(seed), 8);
    FrictionModel model(law, pulled(law, truth, 0.05, random));
    for (std::size_t i = 0; i < truth.size(); ++i) {
      Unknown& u = model.unknowns()[i];
      if (!u.free) u.value = truth[i];
      u.given = true;
    }
    const auto found = fit(model, {.starts = 1});
    ASSERT_TRUE(found) << found.error();
    coverage.add(estimate(model, *found, "mu_static"), truth[0]);
  }
  coverage.expect("static friction of lugre");
}

/// A ball's height every 10 ms over four bounces, with 1 mm of noise.
TEST(Coverage, RestitutionOfAScene) {
  if (!can_minimise()) GTEST_SKIP() << no_ceres;
  constexpr double truth = 0.78, noise = 1e-3;
  const std::string path = "contacts.0.restitution";
  const std::string file = BRISTLE_SCENES "/data/bounce.toml";
  cli::SceneModel::Data data{.time = {}, .probes = {0}, .values = {{}}};
  for (int i = 1; i <= 155; ++i) data.time.push_back(0.01 * i);
  data.values[0].assign(data.time.size(), 0.0);
  std::vector<double> height(data.time.size());
  {
    cli::SceneModel model(file, {}, data);
    ASSERT_TRUE(model.free_path(path, truth));
    ASSERT_TRUE(model.residuals(model.values(), {}, height.data(), nullptr));
  }
  Coverage coverage;
  int within = 0;
  const int count = seeds(500, 30);
  for (int seed = 0; seed < count; ++seed) {
    Random random(static_cast<std::uint64_t>(seed), 9);
    for (std::size_t i = 0; i < height.size(); ++i) {
      data.values[0][i] = height[i] + noise * random.normal();
    }
    cli::SceneModel model(file, {}, data);
    ASSERT_TRUE(model.free_path(path, 0.77));
    const auto found = fit(model, {.starts = 1});
    ASSERT_TRUE(found) << found.error();
    coverage.add(found->estimates[0], truth);
    within += std::fabs(found->estimates[0].value - truth) < 0.002;
  }
  std::printf("restitution of a scene within 0.002: %d of %d\n", within, count);
  EXPECT_EQ(within, count);
  coverage.expect("restitution of a scene");
}

TEST(Coverage, TheRightLawIsTold) {
  if (!can_minimise()) GTEST_SKIP() << no_ceres;
  for (const double truth : {0.0, 1.0}) {
    for (const double plate : {0.0, 1.0}) {
      int right = 0;
      const int count = seeds(200, 40);
      for (int seed = 0; seed < count; ++seed) {
        const Values values =
            values_of("boos2013.sphere-test", {{"plate", plate}, {"seed", seed}});
        const auto& printed = studies::boos2013::printed(values);
        constexpr double r = studies::boos2013::sphere_radius;
        const ForceData data = studies::boos2013::press(values, [&](double depth) {
          const double d = std::fmax(depth, 0);
          if (truth == 1) return printed.hertz * d * std::sqrt(d);
          return printed.volumetric * std::numbers::pi / 3 * d * d * (3 * r - d);
        });
        const auto volumetric =
            studies::boos2013::fit_press("volumetric", data, PatchShape::sphere, r);
        const auto hertz =
            studies::boos2013::fit_press("hertz", data, PatchShape::sphere, r);
        ASSERT_TRUE(volumetric && hertz);
        const bool by_volume = volumetric->fit.aicc < hertz->fit.aicc;
        right += by_volume == (truth == 0);
      }
      std::printf("truth %s, plate %g: right in %d of %d\n",
                  truth == 0 ? "volumetric" : "hertz", plate, right, count);
      EXPECT_GE(right, static_cast<int>(std::floor(0.95 * count)));
    }
  }
}

}  // namespace
}  // namespace bristle::identify
