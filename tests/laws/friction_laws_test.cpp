#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "bristle/laws/laws.hpp"

// Each friction law against closed forms and against re-implementations in one dimension
// that share nothing with it.

namespace bristle {
namespace {

constexpr double load = 10;  // f_n [N]

Kinematics<double> sliding(Vec2<double> slip) {
  return Kinematics<double>::at(1e-4, 0, slip);
}

Vec2<double> along(double speed, double angle = 0) {
  return {speed * std::cos(angle), speed * std::sin(angle)};
}

template <class L>
using ParamsOf = typename L::template Params<double>;
template <class L>
using StateOf = typename L::template State<double>;

/// A contact under a prescribed slip, and the account of its energy.
template <class L>
struct Bench {
  ParamsOf<L> params = default_params<L>();
  StateOf<L> state = L::touch(params);
  double normal_force = load;
  Vec2<double> force{0, 0};
  double spent = 0, damping = 0, slip = 0, viscous = 0, unsupplied = 0, stored = 0;

  explicit Bench(const ParamsOf<L>& p) : params(p) {}

  void step(Vec2<double> v, double h) {
    const auto s = L::advance(params, state, sliding(v), normal_force, h);
    state = s.state;
    force = s.force;
    stored = s.stored;
    spent -= h * dot(s.force, v);
    damping += h * s.powers.damping;
    slip += h * s.powers.slip;
    viscous += h * s.powers.viscous;
    unsupplied += h * s.powers.unsupplied;
  }
  void run(Vec2<double> v, double duration, int steps) {
    for (int i = 0; i < steps; ++i) step(v, duration / steps);
  }
  /// There and back over ±amplitude, starting in the middle.
  void reciprocate(Vec2<double> v, double amplitude, int steps) {
    const double quarter = amplitude / norm(v);
    run(v, quarter, steps);
    run(-v, 2 * quarter, 2 * steps);
    run(v, quarter, steps);
  }
};

/// z after a time at constant slip, from `evaluate` by Runge and Kutta's method.
template <class L>
StateOf<L> integrate(const ParamsOf<L>& p, StateOf<L> s, Vec2<double> v, double duration,
                     int steps) {
  const double h = duration / steps;
  const auto rate = [&](Vec2<double> z) {
    return L::evaluate(p, StateOf<L>{z}, sliding(v), load).rate.z;
  };
  for (int i = 0; i < steps; ++i) {
    const Vec2<double> k1 = rate(s.z);
    const Vec2<double> k2 = rate(s.z + (h / 2) * k1);
    const Vec2<double> k3 = rate(s.z + (h / 2) * k2);
    const Vec2<double> k4 = rate(s.z + h * k3);
    s.z = s.z + (h / 6) * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
  }
  return s;
}

/// A block of 1 kg with the friction of a law, pulled by a force; x, v, z by Runge and
/// Kutta's method. `element` gives the friction force and ż in one dimension.
struct Block {
  double x = 0, v = 0, z = 0, friction = 0;
};
using Element = std::function<std::array<double, 2>(double v, double z)>;

Block pull(const Element& element, const std::function<double(double)>& force,
           double duration, double h, const std::function<void(double, Block&)>& watch) {
  Block b;
  const auto rates = [&](double t, const std::array<double, 3>& y) {
    const auto [f, z_rate] = element(y[1], y[2]);
    return std::array<double, 3>{y[1], force(t) + f, z_rate};
  };
  const auto moved = [](const std::array<double, 3>& y, double step,
                        const std::array<double, 3>& k) {
    return std::array<double, 3>{y[0] + step * k[0], y[1] + step * k[1],
                                 y[2] + step * k[2]};
  };
  const long steps = std::lround(duration / h);
  std::array<double, 3> y{0, 0, 0};
  for (long n = 0; n < steps; ++n) {
    const double t = static_cast<double>(n) * h;
    const auto k1 = rates(t, y);
    const auto k2 = rates(t + h / 2, moved(y, h / 2, k1));
    const auto k3 = rates(t + h / 2, moved(y, h / 2, k2));
    const auto k4 = rates(t + h, moved(y, h, k3));
    y = moved(moved(moved(moved(y, h / 6, k1), h / 3, k2), h / 3, k3), h / 6, k4);
    b = {y[0], y[1], y[2], -element(y[1], y[2])[0]};
    watch(t + h, b);
  }
  return b;
}

template <class L>
Element element_of(const ParamsOf<L>& p) {
  return [p](double v, double z) {
    const auto f = L::evaluate(p, StateOf<L>{{z, 0}}, sliding({v, 0}), load);
    return std::array<double, 2>{f.force.x, f.rate.z.x};
  };
}

void ignore(double, Block&) {}

// LuGre

TEST(LuGreFriction, SteadySlidingFollowsTheStribeckCurve) {
  const auto p = default_params<LuGre>();
  for (const double speed : {1e-5, 1e-3, 2e-3, 0.1, 5.0}) {
    for (const double angle : {0.0, M_PI / 4, 2.0}) {
      Bench<LuGre> bench(p);
      bench.run(along(speed, angle), 0.01 / speed, 2000);  // 220 times z_ss
      const double g = load * (0.4 + 0.05 * std::exp(-std::pow(speed / 0.001, 2)));
      const double expected = g + 0.4 * speed;
      EXPECT_NEAR(norm(bench.force), expected, 1e-12 * expected) << speed;
      EXPECT_NEAR(dot(bench.force, along(1, angle)), -expected, 1e-12 * expected);
    }
  }
}

TEST(LuGreFriction, PreSlidingIsASpringThatYieldsExponentially) {
  auto p = default_params<LuGre>();
  p.damping = 0;
  p.viscous = 0;
  // So slow that g = μ_S f_n; then z = g/σ₀ (1 − exp(−σ₀ x/g)).
  const double g = 4.5, speed = 1e-9;
  for (const double x : {1e-9, 1e-6, 4.5e-5, 2e-4}) {
    const auto s = integrate<LuGre>(p, LuGre::touch(p), along(speed), x / speed, 500);
    const double force = -LuGre::evaluate(p, s, sliding(along(speed)), load).force.x;
    EXPECT_NEAR(force, -g * std::expm1(-1e5 * x / g), 1e-9 * force);
    if (x == 1e-9) {
      EXPECT_NEAR(force / x, 1e5, 2);  // σ₀, but for the yield of σ₀ x/2g
    }
  }
}

/// LuGre once more, in one dimension, as printed.
Element printed_lugre(const LuGre::Params<double>& p) {
  return [p](double v, double z) {
    const double s = v / p.stribeck_speed;
    const double g =
        load * (p.mu_coulomb + (p.mu_static - p.mu_coulomb) * std::exp(-s * s));
    const double z_rate = v - p.stiffness * std::fabs(v) / g * z;
    return std::array<double, 2>{-(p.stiffness * z + p.damping * z_rate + p.viscous * v),
                                 z_rate};
  };
}

TEST(LuGreFriction, BreaksAwayAtTheStaticLevelUnderASlowRamp) {
  auto p = default_params<LuGre>();
  p.passive = 0;
  p.stribeck_speed = 0.01;  // the bristles creep at up to a third of it before
  std::vector<double> peaks;
  for (const double rate : {2.0, 20.0}) {
    double peak = 0;
    const auto ramp = [rate](double t) { return rate * t; };
    const auto watch = [&peak](double, Block& b) { peak = std::max(peak, b.friction); };
    const double duration = 5 / rate;
    const Block ours = pull(element_of<LuGre>(p), ramp, duration, 2e-5, watch);
    const Block theirs = pull(printed_lugre(p), ramp, duration, 2e-5, ignore);
    EXPECT_GT(ours.v, 0.01);  // it broke away
    EXPECT_NEAR(ours.x, theirs.x, 1e-9 * theirs.x);
    EXPECT_NEAR(ours.z, theirs.z, 1e-9 * theirs.z);
    peaks.push_back(peak);
  }
  EXPECT_NEAR(peaks[0], 4.5, 0.01 * 4.5);
  EXPECT_LT(peaks[0], 4.5);
  EXPECT_LT(peaks[1], peaks[0]);  // the faster, the lower: varying break-away force
}

/// Slowly up to break-away, then away fast: z is still at the static level, g no longer.
template <class L>
Bench<L> break_away_fast(const ParamsOf<L>& p, double speed) {
  Bench<L> bench(p);
  bench.run(along(1e-6), 3000, 3000);  // 20 z_ss
  bench.run(along(speed), 1e-3 / speed, 20000);
  return bench;
}

template <class L>
void expect_balance(const Bench<L>& b) {
  EXPECT_NEAR(b.spent + b.unsupplied, b.stored + b.damping + b.slip + b.viscous,
              1e-11 * (std::fabs(b.spent) + b.unsupplied + b.slip));
}

LuGre::Params<double> with_stiction() {
  auto p = default_params<LuGre>();
  p.mu_static = 1.5;
  p.mu_coulomb = 1;
  return p;
}

TEST(LuGreFriction, AsPrintedGivesEnergyAway) {
  auto p = with_stiction();
  p.passive = 0;
  const auto printed = break_away_fast<LuGre>(p, 30);
  // σ₁ v (F_S − F_C)/σ₀ = 0.47 J, where loading took 0.04 J
  EXPECT_LT(printed.spent, -0.1);
  EXPECT_GT(printed.unsupplied, 0.1);
  EXPECT_TRUE(LuGre::passivity(p).unsupplied);
  expect_balance(printed);

  p.passive = 1;
  const auto passive = break_away_fast<LuGre>(p, 30);
  EXPECT_GT(passive.spent, passive.stored);
  EXPECT_EQ(passive.unsupplied, 0);
  EXPECT_FALSE(LuGre::passivity(p).unsupplied);
  expect_balance(passive);
}

TEST(LuGreFriction,
     ViscosityOrFadingDampingMakeThePrintedLawPassiveWhereTheMetadataSays) {
  auto p = with_stiction();
  p.passive = 0;
  p.viscous = 1.0001 * p.damping * (1.5 - 1) / 1;  // Barahanov & Ortega's condition
  EXPECT_EQ(break_away_fast<LuGre>(p, 30).unsupplied, 0);
  p.viscous = 0.9 * p.damping * (1.5 - 1) / 1;
  EXPECT_GT(break_away_fast<LuGre>(p, 30).unsupplied, 0);

  p.viscous = 0;
  const double limit = 4 * 1 * load * std::sqrt(2 * std::exp(1.0)) / p.damping;
  p.damping_speed = 0.999 * limit;
  for (const double speed : {0.01, 0.1, 0.2, 0.3, 1.0, 30.0}) {
    EXPECT_EQ(break_away_fast<LuGre>(p, speed).unsupplied, 0) << speed;
  }
  p.damping_speed = 3 * limit;
  // A deflection that makes it worst: z = 2 z_ss along v, |v| = v_d/√2
  const auto s = LuGre::State<double>{along(2 * load / p.stiffness)};
  const auto kin = sliding(along(p.damping_speed / std::sqrt(2)));
  EXPECT_GT(LuGre::evaluate(p, s, kin, load).powers.unsupplied, 0);
}

TEST(LuGreFriction, PassiveForAnyDeflectionAndLoad) {
  std::mt19937 random(1);
  const auto draw = [&random](double low, double high) {
    return std::exp(
        std::uniform_real_distribution(std::log(low), std::log(high))(random));
  };
  for (int i = 0; i < 20000; ++i) {
    auto p = with_stiction();
    p.damping = draw(1e-3, 1e9);
    const StateOf<LuGre> s{along(draw(1e-9, 1e-2), draw(0.1, 6))};
    const auto kin = sliding(along(draw(1e-9, 1e3)));
    const double f_n = draw(1e-12, 1e6);
    EXPECT_EQ(LuGre::evaluate(p, s, kin, f_n).powers.unsupplied, 0);
    EXPECT_EQ(LuGre::advance(p, s, kin, f_n, draw(1e-7, 1)).powers.unsupplied, 0);
  }
}

TEST(LuGreFriction, VanishesWithTheLoad) {
  const auto p = default_params<LuGre>();
  const StateOf<LuGre> s{along(1e-5)};
  double last = 1e300;
  for (const double f_n : {1e-3, 1e-6, 1e-9, 1e-15, 1e-300, 5e-324, 0.0}) {
    const auto step = LuGre::advance(p, s, sliding(along(0.1)), f_n, 1e-3);
    EXPECT_LT(norm(step.force), last);
    // σ₂ v stays until the load is exactly zero
    EXPECT_LE(norm(step.force) - 0.04, 1.01 * f_n + 1e-17);
    const auto f = LuGre::evaluate(p, s, sliding(along(0.1)), f_n);
    EXPECT_TRUE(std::isfinite(f.rate.z.x) && std::isfinite(f.powers.slip));
    last = norm(step.force) * (1 + 1e-9);
  }
  EXPECT_EQ(norm(LuGre::evaluate(p, s, sliding(along(0.1)), 0.0).force), 0);
}

// Dahl

TEST(DahlFriction, HysteresisIsExponential) {
  const auto p = default_params<Dahl>();
  const double limit = 0.4 * load, length = limit / 1e5;  // F_C, F_C/σ₀
  const auto force = [&](const StateOf<Dahl>& s) {
    return -Dahl::evaluate(p, s, sliding(along(0.01)), load).force.x;
  };
  // Load by 0.7 lengths, unload by 1.3, load by 3; any speed gives the same.
  double expected = 0;
  StateOf<Dahl> s = Dahl::touch(p);
  for (const double stroke : {0.7, -1.3, 3.0}) {
    const double sign = stroke > 0 ? 1 : -1;
    const double speed = 0.01 * std::fabs(stroke);
    s = integrate<Dahl>(p, s, along(sign * speed), std::fabs(stroke) * length / speed,
                        2000);
    expected = sign * limit + (expected - sign * limit) * std::exp(-std::fabs(stroke));
    EXPECT_NEAR(force(s), expected, 1e-11);
  }
}

TEST(DahlFriction, ClosedLoopsOnlyLose) {
  Bench<Dahl> bench(default_params<Dahl>());
  bench.reciprocate(along(1e-3, 0.3), 1e-4, 2000);
  const double before = bench.spent - bench.stored;
  bench.reciprocate(along(1e-3, 0.3), 1e-4, 2000);
  EXPECT_GT(bench.spent - bench.stored, before + 1e-4);
  EXPECT_EQ(bench.unsupplied, 0);
  expect_balance(bench);
  EXPECT_FALSE(Dahl::passivity(bench.params).unsupplied);
}

// Elasto-plastic

/// Where a block ends after n and 4n cycles of a load that stays below break-away.
std::array<double, 2> drift(const Element& element) {
  const double frequency = 20;
  const auto force = [](double t) { return 1.5 + 0.8 * std::sin(2 * M_PI * 20 * t); };
  std::array<double, 2> at{};
  const auto watch = [&](double t, Block& b) {
    if (std::fabs(t - 10 / frequency) < 1e-6) at[0] = b.x;
    if (std::fabs(t - 40 / frequency) < 1e-6) at[1] = b.x;
  };
  pull(element, force, 40 / frequency, 2e-5, watch);
  return at;
}

TEST(ElastoPlasticFriction, DoesNotDriftBelowBreakAwayWhereLuGreDoes) {
  // The load swings between 0.7 and 2.3 N; break-away at 0.7 · 4.5 N.
  const auto elastic = drift(element_of<ElastoPlastic>(default_params<ElastoPlastic>()));
  const auto lugre = drift(element_of<LuGre>(default_params<LuGre>()));
  EXPECT_LT(std::fabs(elastic[1] - elastic[0]), 1e-15);
  EXPECT_GT(lugre[1] - lugre[0], 1e-5);
}

TEST(ElastoPlasticFriction, OneDimensionIsThePaperAndSteadySlidingTheStribeckCurve) {
  auto p = default_params<ElastoPlastic>();
  p.passive = 0;
  const Element printed = [p](double v, double z) {
    const double s = v / p.stribeck_speed;
    const double g =
        load * (p.mu_coulomb + (p.mu_static - p.mu_coulomb) * std::exp(-s * s));
    const double z_max = g / p.stiffness, z_ba = p.breakaway * z_max;
    double alpha = 0;
    if (z * v > 0 && std::fabs(z) >= z_max) {
      alpha = 1;
    } else if (z * v > 0 && std::fabs(z) > z_ba) {
      alpha = 0.5 +
              0.5 * std::sin(M_PI * (std::fabs(z) - (z_max + z_ba) / 2) / (z_max - z_ba));
    }
    const double z_rate = v * (1 - alpha * z / (z_max * (v < 0 ? -1 : 1)));
    return std::array<double, 2>{-(p.stiffness * z + p.damping * z_rate + p.viscous * v),
                                 z_rate};
  };
  const Element ours = element_of<ElastoPlastic>(p);
  for (double v = -0.004; v < 0.0041; v += 0.0005) {
    for (double z = -6e-5; z < 6.1e-5; z += 1e-6) {
      const auto a = ours(v, z), b = printed(v, z);
      EXPECT_NEAR(a[0], b[0], 1e-10);
      EXPECT_NEAR(a[1], b[1], 1e-13);
    }
  }
  for (const double speed : {1e-5, 1e-3, 0.1, 5.0}) {
    Bench<ElastoPlastic> bench(default_params<ElastoPlastic>());
    bench.run(along(speed, 1), 0.01 / speed, 2000);
    const double expected =
        load * (0.4 + 0.05 * std::exp(-std::pow(speed / 0.001, 2))) + 0.4 * speed;
    EXPECT_NEAR(norm(bench.force), expected, 1e-9 * expected) << speed;
  }
}

TEST(ElastoPlasticFriction, AsPrintedGivesEnergyAwayAndPassiveDoesNot) {
  auto p = default_params<ElastoPlastic>();
  p.mu_static = 1.5;
  p.mu_coulomb = 1;
  p.passive = 0;
  const auto printed = break_away_fast<ElastoPlastic>(p, 30);
  EXPECT_LT(printed.spent, -0.1);
  EXPECT_GT(printed.unsupplied, 0.1);
  expect_balance(printed);
  p.passive = 1;
  const auto passive = break_away_fast<ElastoPlastic>(p, 30);
  EXPECT_GT(passive.spent, passive.stored);
  EXPECT_EQ(passive.unsupplied, 0);
}

// Coulomb

TEST(CoulombFriction, EachRegularisationHasItsValueAtTheRegularisationSpeed) {
  auto p = default_params<Coulomb>();
  p.mu_static = p.mu_coulomb = 0.4;
  const auto at = [&p](double ratio) {
    return norm(Coulomb::evaluate(p, {}, sliding(along(ratio * 1e-3, 0.6)), load).force) /
           (0.4 * load);
  };
  p.regularisation = 0;
  EXPECT_DOUBLE_EQ(at(1), 1);
  EXPECT_DOUBLE_EQ(at(0.5), 0.5);
  EXPECT_DOUBLE_EQ(at(7), 1);
  p.regularisation = 1;
  EXPECT_DOUBLE_EQ(at(1), 1);
  EXPECT_DOUBLE_EQ(at(0.5), 0.75 - 0.0625);
  EXPECT_DOUBLE_EQ(at(7), 1);
  p.regularisation = 2;
  for (const double x : {1e-12, 1e-3, 0.0499, 0.0501, 0.5, 1.0, 7.0, 400.0}) {
    EXPECT_NEAR(at(x), std::tanh(x), 4e-15 * std::tanh(x)) << x;
  }
}

TEST(CoulombFriction, CreepsDownASlope) {
  auto p = default_params<Coulomb>();
  p.mu_static = p.mu_coulomb = 0.4;
  p.regularisation = 0;
  const double slope = 10 * M_PI / 180;
  const Element element = [p](double v, double) {
    return std::array<double, 2>{Coulomb::evaluate(p, {}, sliding({v, 0}), load).force.x,
                                 0};
  };
  const double downhill = load * std::tan(slope);
  const Block b =
      pull(element, [downhill](double) { return downhill; }, 0.05, 1e-5, ignore);
  const double creep = 1e-3 * std::tan(slope) / 0.4;  // v_ε tan α/μ
  EXPECT_NEAR(b.v, creep, 1e-9 * creep);
}

TEST(CoulombFriction, StribeckAndViscosity) {
  auto p = default_params<Coulomb>();
  p.viscous = 3;
  const auto f = Coulomb::evaluate(p, {}, sliding(along(0.1)), load);
  EXPECT_NEAR(-f.force.x, load * (0.4 + 0.05 / std::exp(1.0)) + 3 * 0.1, 1e-14);
  EXPECT_NEAR(f.powers.slip + f.powers.viscous, -f.force.x * 0.1, 1e-15);
  EXPECT_NEAR(f.powers.viscous, 3 * 0.01, 1e-17);
}

// Spring and slider

TEST(SpringSliderFriction, OneStepIsTheRadialReturn) {
  const auto p = default_params<SpringSlider>();
  const double reach = 0.4 * load / 1e5;
  std::mt19937 random(2);
  std::uniform_real_distribution<double> number(-3, 3);
  for (int i = 0; i < 1000; ++i) {
    const Vec2<double> z = (reach / 3) * Vec2<double>{number(random), number(random)};
    const Vec2<double> d = reach * Vec2<double>{number(random), number(random)};
    const double h = std::exp(number(random));
    const auto step = SpringSlider::advance(p, {z}, sliding((1 / h) * d), load, h);
    const Vec2<double> trial = z + d;
    const Vec2<double> expected = std::min(1.0, reach / norm(trial)) * trial;
    EXPECT_NEAR(norm(step.state.z - expected), 0, 1e-14 * reach);
    EXPECT_NEAR(norm(step.force + 1e5 * expected), 0, 1e-13 * norm(step.force));
  }
}

TEST(SpringSliderFriction, TurningSlipTurnsTheForce) {
  // The angle θ between z and a new direction of slip: dθ/dx = −sin θ/reach.
  const auto p = default_params<SpringSlider>();
  const double reach = 0.4 * load / 1e5;
  for (const double x : {0.3, 1.0, 3.0}) {
    const double angle = 2 * std::atan(std::tan(M_PI / 4) * std::exp(-x));
    const Vec2<double> expected{reach * std::sin(angle), reach * std::cos(angle)};
    const auto s =
        integrate<SpringSlider>(p, {{reach, 0}}, {0, 0.1}, x * reach / 0.1, 2000);
    EXPECT_NEAR(norm(s.z - expected), 0, 1e-7 * reach);
    std::array<double, 2> error{};
    for (const int k : {0, 1}) {
      Bench<SpringSlider> bench(p);
      bench.state = {{reach, 0}};
      bench.run({0, 0.1}, x * reach / 0.1, 500 << k);
      error[static_cast<std::size_t>(k)] = norm(bench.state.z - expected);
    }
    EXPECT_LT(error[0], 2e-3 * reach);
    EXPECT_NEAR(error[1] / error[0], 0.5, 0.02);
  }
}

TEST(SpringSliderFriction, AClosedLoopLosesItsArea) {
  const auto p = default_params<SpringSlider>();
  const double amplitude = 3e-4;
  const double area = 4 * 0.4 * load * (amplitude - 0.4 * load / 1e5);
  for (const int steps : {75, 750}) {
    Bench<SpringSlider> bench(p);
    bench.reciprocate(along(0.01, 0.8), amplitude, steps);
    const auto before = bench;
    bench.reciprocate(along(0.01, 0.8), amplitude, steps);
    // The slip's line for any step; the rest is the step's own loss, first order.
    EXPECT_NEAR(bench.slip - before.slip, area, 1e-12 * area);
    EXPECT_NEAR(bench.spent - before.spent, area, 5 / static_cast<double>(steps) * area);
    EXPECT_NEAR(bench.stored, before.stored, 1e-12 * bench.stored);
    EXPECT_EQ(bench.unsupplied, 0);
    expect_balance(bench);
  }
}

TEST(SpringSliderFriction, AFallingLoadReleasesTheSpring) {
  Bench<SpringSlider> bench(default_params<SpringSlider>());
  bench.run(along(0.01), 1e-2, 100);
  EXPECT_NEAR(norm(bench.force), 4, 1e-12);
  bench.normal_force = load / 2;
  bench.step({0, 0}, 1e-3);
  EXPECT_NEAR(norm(bench.force), 2, 1e-12);
  EXPECT_NEAR(bench.stored, 0.5 * 2 * 2 / 1e5, 1e-18);
  expect_balance(bench);
}

// Liang

TEST(LiangFriction, SticksLikeASpringAndSlidesOnTheStribeckCurve) {
  auto p = default_params<Liang>();
  Bench<Liang> bench(p);
  bench.run(along(1e-7), 100, 1000);  // 1e-5 m, a quarter of the reach
  EXPECT_NEAR(norm(bench.force), 1e5 * 1e-5 + 316e-7, 1e-9);
  for (const double speed : {1e-4, 1e-3, 0.1}) {
    bench.run(along(speed, 1), 0.01 / speed + 0.2, 40000);
    const double expected = load * (0.4 + 0.05 * std::exp(-std::pow(speed / 0.001, 2)));
    EXPECT_NEAR(norm(bench.force), expected, 1e-9 * expected);
    EXPECT_NEAR(dot(bench.force, along(1, 1)), -expected, 1e-6 * expected);
  }
}

TEST(LiangFriction, OnlyLoses) {
  for (const double damping : {0.0, 316.0}) {
    auto p = default_params<Liang>();
    p.mu_static = 1.5;
    p.mu_coulomb = 1;
    p.damping = damping;
    const auto fast = break_away_fast<Liang>(p, 30);
    EXPECT_GT(fast.spent, fast.stored);
    EXPECT_EQ(fast.unsupplied, 0);
    EXPECT_FALSE(Liang::passivity(p).unsupplied);
    expect_balance(fast);
  }
}

// Wind-up

TEST(WindUp, GonthiersBristlesWindUpInSlowReciprocatingSlipUnlessBound) {
  auto p = default_params<GonthierFriction>();
  p.damping = 100;
  std::array<double, 2> peak{}, lost{};
  for (const int bound : {0, 1}) {
    p.bound = bound;
    const auto k = static_cast<std::size_t>(bound);
    Bench<GonthierFriction> bench(p);
    for (int cycle = 0; cycle < 2; ++cycle) {
      const double before = bench.spent;
      bench.run(along(0.002), 0.2, 1000);
      peak[k] = std::max(peak[k], norm(bench.state.z));
      bench.run(along(-0.002), 0.2, 1000);
      lost[k] = bench.spent - before;
    }
  }
  const double reach = 0.45 * load / 1e5;
  EXPECT_LE(peak[1], reach * (1 + 1e-12));
  EXPECT_GT(peak[0], 2 * reach);
  // A cycle of 0.8 mm at μ f_n, less twice the reach, is worth at least 2.8 mJ.
  EXPECT_GT(lost[1], 2.8e-3);
  EXPECT_LT(lost[0], 0.5 * lost[1]);
}

TEST(WindUp, LuGresDoNot) {
  auto p = default_params<LuGre>();
  std::array<double, 2> lost{}, at_rest{};
  for (const int bound : {0, 1}) {
    p.bound = bound;
    const auto k = static_cast<std::size_t>(bound);
    Bench<LuGre> bench(p);
    for (int cycle = 0; cycle < 2; ++cycle) {
      bench.reciprocate(along(2e-4), 2e-3, 1000);
      EXPECT_LE(norm(bench.state.z), 0.45 * load / 1e5);
    }
    lost[k] = bench.spent - bench.stored;
    // But a load that falls at rest leaves the force where it was, unless bound.
    bench.normal_force = load / 10;
    bench.run({0, 0}, 1e-3, 2);
    at_rest[k] = norm(bench.force);
  }
  EXPECT_EQ(lost[0], lost[1]);
  EXPECT_NEAR(at_rest[1], 0.45, 1e-9);
  EXPECT_GT(at_rest[0], 4);
}

// All

TEST(EveryFrictionLaw, IsTheSameAtFortyFiveDegrees) {
  for_each_law(FrictionLaws{}, []<class L>() {
    SCOPED_TRACE(std::string(L::info.name));
    Bench<L> straight(default_params<L>());
    Bench<L> oblique(default_params<L>());
    for (int i = 0; i < 3000; ++i) {
      const double speed = 0.02 * std::sin(0.01 * i) + 1e-4;
      straight.step(along(speed), 1e-4);
      oblique.step(along(speed, M_PI / 4), 1e-4);
      EXPECT_NEAR(norm(straight.force), norm(oblique.force), 1e-9);
      EXPECT_NEAR(straight.force.y, 0, 1e-15);
      EXPECT_NEAR(oblique.force.x, oblique.force.y, 1e-9);
    }
    EXPECT_NEAR(straight.spent, oblique.spent, 1e-10 * std::fabs(straight.spent));
  });
}

TEST(EveryFrictionLaw, HasFiniteComplementarityRows) {
  for_each_law(FrictionLaws{}, []<class L>() {
    const auto p = default_params<L>();
    for (const double f_n : {0.0, load}) {
      const auto rows =
          complementarity_rows(L::spring(p, L::touch(p), sliding(along(0.1)), f_n), 1e-3);
      EXPECT_TRUE(std::isfinite(rows.compliance) && std::isfinite(rows.bias.x));
      EXPECT_GT(rows.compliance, 0);
      EXPECT_GE(rows.bound, 0);
    }
  });
}

}  // namespace
}  // namespace bristle
