// Volumetric normal laws.

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>
#include <type_traits>

#include "bristle/core/dual.hpp"
#include "bristle/core/pack.hpp"
#include "bristle/laws/catalogue.hpp"
#include "bristle/laws/impact.hpp"
#include "bristle/laws/laws.hpp"

namespace bristle {
namespace {

using std::numbers::pi;

TEST(Volumetric, AnImpactAloneReturnsWhatWasTyped) {
  for (const Punch punch :
       {Punch{Punch::Kind::sphere, 9.52e-3}, Punch{Punch::Kind::flat, 5e-3}, Punch{}}) {
    for (const double e : {0.05, 0.1, 0.3, 0.5, 0.7, 0.9, 0.95}) {
      const Volumetric::Params<double> params{
          .stiffness = 3.82e13, .restitution = e, .impact_speed_floor = 1e-9};
      const auto report = impact<Volumetric>(params, 0.1, 5.8e-4, nullptr, 1e-13, punch);
      ASSERT_TRUE(report) << report.error();
      EXPECT_NEAR(report->restitution, e, 1e-8);
      EXPECT_NEAR(report->energy_residual, 0, 1e-8 * 0.05 * 5.8e-4 * 5.8e-4);
    }
  }
}

/// Without damping the peak follows from energy: k_v W = ½ m v².
TEST(Volumetric, AnElasticImpactStopsWhereItsEnergyIsStored) {
  const double m = 0.1, v = 0.3, k = 1e11;
  const Punch ball{Punch::Kind::sphere, 0.01};
  const auto report = impact<VolumetricDissipation>({.stiffness = k, .dissipation = 0}, m,
                                                    v, nullptr, 1e-13, ball);
  ASSERT_TRUE(report);
  EXPECT_NEAR(k * ball.at(report->peak_depth, 0).potential / (0.5 * m * v * v), 1, 1e-11);
  EXPECT_NEAR(report->restitution, 1, 1e-11);
  // A flat punch is a linear spring: half a period of √(m/(k A)).
  const Punch flat{Punch::Kind::flat, 0.005};
  const auto linear = impact<VolumetricDissipation>({.stiffness = k, .dissipation = 0}, m,
                                                    v, nullptr, 1e-13, flat);
  const double stiffness = k * pi * 0.005 * 0.005;
  EXPECT_NEAR(linear->contact_time / (pi * std::sqrt(m / stiffness)), 1, 1e-11);
}

/// Damping by dV/dt under a flat punch is Kelvin and Voigt's, k_v A and c A.
TEST(Volumetric, DampingByTheRateOfAFlatPunchIsLinear) {
  const double area = pi * 0.005 * 0.005, k = 1e11, c = 1e7, m = 0.1, v = 0.3;
  const auto found = impact<VolumetricRate>({.stiffness = k, .damping = c}, m, v, nullptr,
                                            1e-13, {Punch::Kind::flat, 0.005});
  const auto linear =
      impact<KelvinVoigt>({.stiffness = k * area, .damping = c * area, .clamp = 1}, m, v);
  ASSERT_TRUE(found && linear);
  EXPECT_NEAR(found->restitution, linear->restitution, 1e-10);
  EXPECT_NEAR(found->peak_force / linear->peak_force, 1, 1e-10);
}

/// V, W and A of a punch belong together: dW = V dδ, dV = A dδ.
TEST(Volumetric, PunchesAreConsistent) {
  for (const Punch punch :
       {Punch{Punch::Kind::sphere, 0.02}, Punch{Punch::Kind::flat, 0.02}, Punch{}}) {
    for (const double depth : {1e-6, 1e-3, 0.02, 0.039, 0.05}) {
      const double h = 1e-6 * depth;
      const auto low = punch.at(depth - h, 0), high = punch.at(depth + h, 0);
      const auto now = punch.at(depth, 2);
      EXPECT_NEAR((high.potential - low.potential) / (2 * h) / now.volume, 1, 1e-8);
      EXPECT_NEAR((high.volume - low.volume) / (2 * h), now.area,
                  1e-8 * (now.area + now.volume / depth));
      EXPECT_EQ(now.volume_rate, 2 * now.area);
    }
  }
}

TEST(Volumetric, LawsSayThatTheyAre) {
  int count = 0;
  for (const LawEntry& law : catalogue()) count += law.volumetric ? 1 : 0;
  EXPECT_EQ(count, 3);
  EXPECT_TRUE((*find_law("volumetric"))->volumetric);
  EXPECT_FALSE((*find_law("gonthier"))->volumetric);
}

// With a patch

/// A patch of numbers that only have to belong together.
struct RandomPatch {
  std::mt19937_64 engine{7};
  double log_uniform(double low, double high) {
    const double part = static_cast<double>(engine() >> 11) * 0x1p-53;
    return low * std::pow(high / low, part);
  }
  double sign() { return engine() % 2 == 0 ? 1 : -1; }
  PatchMotion<double> draw() {
    return {log_uniform(1e-12, 1e-3), log_uniform(1e-16, 1e-5), log_uniform(1e-8, 1e-1),
            sign() * log_uniform(1e-9, 1e-1)};
  }
};

template <class L, class Check>
void for_patches(const Check& check) {
  RandomPatch random;
  auto p = default_params<L>();
  for (int n = 0; n < 300; ++n) {
    const PatchMotion<double> patch = random.draw();
    p.stiffness = random.log_uniform(1e6, 1e13);
    auto kin = Kinematics<double>::at(random.log_uniform(1e-9, 1e-2),
                                      random.sign() * random.log_uniform(1e-6, 10));
    kin.patch = &patch;
    check(p, L::touch(p, random.log_uniform(1e-3, 1)), kin, patch);
    if (::testing::Test::HasFailure()) return;
  }
}

template <class L>
class VolumetricLaw : public ::testing::Test {};
using VolumetricLaws =
    ::testing::Types<Volumetric, VolumetricDissipation, VolumetricRate>;
TYPED_TEST_SUITE(VolumetricLaw, VolumetricLaws);

/// The work of f_n on v_cn is stored in k_v W, whose rate is k_v V v_cn, or lost; nothing
/// pulls; and at rest the force is that of the overlap.
TYPED_TEST(VolumetricLaw, NotesTheForceOfItsPatch) {
  using L = TypeParam;
  for_patches<L>([](const auto& p, const auto& state, const Kinematics<double>& kin,
                    const PatchMotion<double>& patch) {
    const auto f = L::evaluate(p, state, kin);
    EXPECT_GE(f.force, 0);
    EXPECT_EQ(f.stored, p.stiffness * patch.potential);
    const double spent = f.force * kin.rate;
    const double stored = p.stiffness * patch.volume * kin.rate;
    EXPECT_NEAR(spent, stored + f.powers.damping,
                1e-14 * (std::abs(spent) + std::abs(stored)));
    // The rate of the volume is that of another place once the bodies turn.
    if (!std::is_same_v<L, VolumetricRate> || patch.volume_rate * kin.rate > 0) {
      EXPECT_GE(f.powers.damping, -1e-14 * std::abs(stored));
    }
    EXPECT_EQ(L::linearise(p, state, kin).static_force, p.stiffness * patch.volume);
    EXPECT_EQ(L::linearise(p, state, kin).force, f.force);
  });
}

/// ∂f/∂δ with dV = A dδ, and ∂f/∂v_cn, against differences.
TYPED_TEST(VolumetricLaw, LinearisesTheOverlap) {
  using L = TypeParam;
  int seen = 0;
  for_patches<L>([&seen](const auto& p, const auto& state, const Kinematics<double>& kin,
                         const PatchMotion<double>& patch) {
    const auto force = [&](double deeper, double faster) {
      PatchMotion<double> moved = patch;
      moved.volume += patch.area * deeper;
      moved.volume_rate += patch.area * faster;
      auto at = Kinematics<double>::at(kin.depth, kin.rate + faster);
      at.patch = &moved;
      return L::evaluate(p, state, at).force;
    };
    const auto slopes = L::linearise(p, state, kin);
    if (!(slopes.force > 0)) return;
    const double h = 1e-5 * patch.volume / patch.area, v = 1e-5 * std::abs(kin.rate);
    if (!(force(-h, 0) > 0) || !(force(0, -v) > 0) || !(force(0, v) > 0)) return;
    ++seen;
    const double size = p.stiffness * patch.volume + slopes.force;
    EXPECT_NEAR((force(h, 0) - force(-h, 0)) / (2 * h), slopes.by_depth, 1e-9 * size / h);
    EXPECT_NEAR((force(0, v) - force(0, -v)) / (2 * v), slopes.by_rate, 1e-9 * size / v);
  });
  EXPECT_GT(seen, 100);
}

/// Packs give what single numbers give, floats and duals are finite.
TYPED_TEST(VolumetricLaw, ReadsItsPatchInEveryScalarKind) {
  using L = TypeParam;
  for_patches<L>([](const auto& p, const auto& state, const Kinematics<double>& kin,
                    const PatchMotion<double>& patch) {
    const auto in = [&]<class T>(T) {
      const auto there = cast_fields<PatchMotion, T, double>(patch);
      auto at = Kinematics<T>::at(T(static_cast<Value<T>>(kin.depth)),
                                  T(static_cast<Value<T>>(kin.rate)));
      at.patch = &there;
      return L::evaluate(cast_params<L, T, double>(p), cast_state<L, T, double>(state),
                         at)
          .force;
    };
    const double force = L::evaluate(p, state, kin).force;
    EXPECT_EQ(in(NativePack<double>(0.0))[1], force);
    EXPECT_EQ((in(Dual<double, 2>(0.0)).value), force);
    const double size = p.stiffness * patch.volume + force;
    EXPECT_NEAR(static_cast<double>(in(0.0F)), force, 1e-4 * size);
    EXPECT_EQ(in(NativePack<float>(0.0F))[1], in(0.0F));
  });
}

}  // namespace
}  // namespace bristle
