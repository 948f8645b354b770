#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>

#include "bristle/laws/friction/azad_featherstone.hpp"
#include "bristle/laws/friction/gonthier.hpp"

// The two friction laws against their printed equations, written once more and plainly,
// and the stick-slip experiment of Bowden and Leben.

namespace bristle {
namespace {

using V2 = Vec2<double>;

double uniform(std::mt19937_64& random, double low, double high) {
  return low + (high - low) * (static_cast<double>(random() >> 11) * 0x1p-53);
}
double by_decades(std::mt19937_64& random, double low, double high) {
  return std::exp(uniform(random, std::log(low), std::log(high)));
}
V2 any_vector(std::mt19937_64& random, double length) {
  const double angle = uniform(random, -4, 4);
  return {length * std::cos(angle), length * std::sin(angle)};
}

struct Printed {
  V2 force, rate;
  double dwell_rate;
};

/// Gonthier et al. 2004, eqs. 15–26.
Printed gonthier(const GonthierFriction::Params<double>& p, const V2& z, double dwell,
                 const V2& v, double f_n) {
  const double speed = std::hypot(v.x, v.y);
  const double s = std::exp(-speed * speed / (p.stribeck_speed * p.stribeck_speed));
  const double v_eps = p.stribeck_speed / 100;
  V2 dir{0, 0};
  if (speed >= v_eps) {
    dir = {v.x / speed, v.y / speed};
  } else {
    const double ratio = speed / v_eps;
    const double factor = (1.5 - 0.5 * ratio * ratio) / v_eps;
    dir = {factor * v.x, factor * v.y};
  }
  const auto bristle = [&](double z_i, double v_i, double dir_i) {
    return s * (p.stiffness * z_i + p.damping * v_i) +
           (1 - s) * p.mu_coulomb * f_n * dir_i;
  };
  const double bx = bristle(z.x, v.x, dir.x);
  const double by = bristle(z.y, v.y, dir.y);
  const double f_max = f_n * (p.mu_coulomb + (p.mu_static - p.mu_coulomb) * dwell);
  const double size = std::hypot(bx, by);
  const double kept = size > f_max ? f_max / size : 1;
  const double tau = s >= dwell ? p.dwell_time : p.damping / p.stiffness;
  return {{-(kept * bx + p.viscous * v.x), -(kept * by + p.viscous * v.y)},
          {(bx - p.stiffness * z.x) / p.damping, (by - p.stiffness * z.y) / p.damping},
          (s - dwell) / tau};
}

TEST(GonthierFrictionLaw, IsThePrintedOne) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20'000; ++i) {
    const GonthierFriction::Params<double> p{
        uniform(random, 0, 1),         uniform(random, 0, 1),
        by_decades(random, 1e2, 1e7),  by_decades(random, 1, 1e5),
        by_decades(random, 1e-2, 1e2), by_decades(random, 1e-3, 1),
        by_decades(random, 1e-3, 10),  0};
    const double f_n = by_decades(random, 1e-2, 1e4);
    const V2 v = any_vector(random, p.stribeck_speed * by_decades(random, 1e-4, 30));
    const V2 z = any_vector(random, f_n / p.stiffness * by_decades(random, 1e-2, 3));
    const double dwell = uniform(random, 0, 1);
    const auto f = GonthierFriction::evaluate(
        p, {z, dwell}, Kinematics<double>::at(1e-5, uniform(random, -1, 1), v), f_n);
    const Printed e = gonthier(p, z, dwell, v, f_n);
    const double force = std::hypot(e.force.x, e.force.y);
    EXPECT_NEAR(f.force.x, e.force.x, 1e-12 * force);
    EXPECT_NEAR(f.force.y, e.force.y, 1e-12 * force);
    // The printed rate is a difference of forces of this size.
    const double scale = (p.stiffness * norm(z) + f_n) / p.damping + norm(v);
    EXPECT_NEAR(f.rate.z.x, e.rate.x, 1e-13 * scale);
    EXPECT_NEAR(f.rate.z.y, e.rate.y, 1e-13 * scale);
    EXPECT_NEAR(f.rate.dwell, e.dwell_rate, 1e-9 * std::fabs(e.dwell_rate));
    EXPECT_NEAR(f.stored, 0.5 * p.stiffness * (z.x * z.x + z.y * z.y), 1e-12 * f.stored);
  }
}

TEST(GonthierFrictionLaw, ActsOnlyUnderLoad) {
  const auto p = default_params<GonthierFriction>();
  const auto kin = Kinematics<double>::at(1e-5, 0, {0.1, 0});
  EXPECT_EQ(norm(GonthierFriction::evaluate(p, {{1e-4, 0}, 1}, kin, 0.0).force), 0);
}

TEST(GonthierFrictionLaw, KeepsTheDeflectionWithinTheBoundOnCommit) {
  auto p = default_params<GonthierFriction>();
  const auto kin = Kinematics<double>::at(1e-5, 0, {0.1, 0});
  const GonthierFriction::State<double> wound{{3, 4}, 0.5};
  const double f_n = 20;
  const double reach = f_n * 0.5 * (p.mu_static + p.mu_coulomb) / p.stiffness;
  const auto kept = GonthierFriction::commit(p, wound, kin, f_n);
  EXPECT_NEAR(kept.state.z.x, 0.6 * reach, 1e-15);
  EXPECT_NEAR(kept.state.z.y, 0.8 * reach, 1e-15);
  EXPECT_EQ(kept.state.dwell, 0.5);
  EXPECT_NEAR(kept.released, 0.5 * p.stiffness * (25 - reach * reach), 1e-6);
  p.bound = 0;
  EXPECT_EQ(GonthierFriction::commit(p, wound, kin, f_n).state.z.x, 3);
}

/// Azad & Featherstone 2010, eqs. 19–33, the implicit ones solved.
TEST(Clutch, IsThePrintedOne) {
  std::mt19937_64 random(2);
  int sticks = 0;
  int slips = 0;
  for (int i = 0; i < 20'000; ++i) {
    const AzadFeatherstoneClutch::Params<double> p{
        uniform(random, 0.01, 1), by_decades(random, 1e3, 1e9),
        by_decades(random, 1, 1e5), by_decades(random, 1e-3, 10), i % 2 == 0 ? 0.0 : 1.0};
    const double depth = by_decades(random, 1e-8, 1e-2);
    const double rate = uniform(random, -1, 1);
    const double s = std::sqrt(depth);
    const double f_n = by_decades(random, 1e-2, 1e4);
    const V2 u =
        any_vector(random, p.mu * f_n / (p.stiffness * s) * by_decades(random, 1e-2, 5));
    const V2 v = any_vector(random, by_decades(random, 1e-5, 1));

    const double fx = -s * (p.stiffness * u.x + p.damping * v.x);
    const double fy = -s * (p.stiffness * u.y + p.damping * v.y);
    const double locked = std::hypot(fx, fy);
    const double gap = locked - p.mu * f_n;
    double cx = 0;
    double cy = 0;  // V_c
    if (gap > 0) {
      const double speed = gap / (p.damping * s + p.viscous);
      cx = -speed * fx / locked;
      cy = -speed * fy / locked;
      ++slips;
    } else {
      ++sticks;
    }
    const V2 force{fx + p.damping * s * cx, fy + p.damping * s * cy};
    V2 u_rate{v.x - cx, v.y - cy};
    double parametric = 0.25 * p.stiffness / s * rate * (u.x * u.x + u.y * u.y);
    if (p.passive != 0 && rate > 0) {
      const double new_x = -rate / (2 * depth) * u.x;
      const double new_y = -rate / (2 * depth) * u.y;
      u_rate = {u_rate.x + new_x, u_rate.y + new_y};
      parametric += p.stiffness * s * (u.x * new_x + u.y * new_y);
    }

    const auto f = AzadFeatherstoneClutch::evaluate(
        p, {u}, Kinematics<double>::at(depth, rate, v), f_n);
    EXPECT_NEAR(f.force.x, force.x, 1e-12 * locked);
    EXPECT_NEAR(f.force.y, force.y, 1e-12 * locked);
    const double speed = norm(v) + std::hypot(cx, cy) + std::hypot(u_rate.x, u_rate.y);
    EXPECT_NEAR(f.rate.u.x, u_rate.x, 1e-12 * speed);
    EXPECT_NEAR(f.rate.u.y, u_rate.y, 1e-12 * speed);
    EXPECT_NEAR(f.stored, 0.5 * p.stiffness * s * (u.x * u.x + u.y * u.y),
                1e-12 * f.stored);
    EXPECT_NEAR(f.powers.parametric, parametric, 1e-12 * std::fabs(parametric));
    // The clutch dissipates −F_f·V_clutch (eq. 29 with its sign corrected).
    EXPECT_NEAR(f.powers.slip + f.powers.viscous, -(force.x * cx + force.y * cy),
                1e-11 * locked * std::hypot(cx, cy));
  }
  EXPECT_GT(sticks, 1000);
  EXPECT_GT(slips, 1000);
}

// Where the friction is far below what the locked clutch would carry, it keeps its
// digits, in float as well.
TEST(Clutch, KeepsItsDigitsInHardSlip) {
  const auto p = default_params<AzadFeatherstoneClutch>();
  const AzadFeatherstoneClutch::Params<float> q =
      cast_params<AzadFeatherstoneClutch, float, double>(p);
  const auto step = AzadFeatherstoneClutch::advance(
      q, {{0, 0}}, Kinematics<float>::at(0.0288F, 0, {49.4F, 15.1F}), 0.0746F, 0.0115F);
  // From rest, over a step: √δ (D_t + h K_t)|v_t| with the clutch locked.
  const double locked = std::sqrt(0.0288) * (p.damping + 0.0115 * p.stiffness);
  const double clutch_speed =
      (locked * std::hypot(49.4, 15.1) - p.mu * 0.0746) / (locked + p.viscous);
  EXPECT_NEAR(std::hypot(step.force.x, step.force.y),
              p.mu * 0.0746 + p.viscous * clutch_speed, 2e-6);
}

/// A block of 1 kg, held by a spring of 2 N/m, on a plate that moves at 0.1 m/s; it
/// starts with the plate, long at rest (Gonthier 2004, Table I; g = 10).
TEST(BowdenLeben, TheFirstSlipComesWhereItShould) {
  const GonthierFriction::Params<double> p{.mu_static = 0.15,
                                           .mu_coulomb = 0.1,
                                           .stiffness = 1e5,
                                           .damping = std::sqrt(1e5),
                                           .viscous = 0.1,
                                           .stribeck_speed = 0.001,
                                           .dwell_time = 2,
                                           .bound = 0};
  constexpr double spring = 2;
  constexpr double mass = 1;
  constexpr double weight = 10;
  constexpr double plate = 0.1;
  // x, ẋ, z, s_dw along one axis; B is the block, A the plate.
  using Y = std::array<double, 4>;
  const auto slope = [&](const Y& y) {
    const auto f = GonthierFriction::evaluate(
        p, {{y[2], 0}, y[3]}, Kinematics<double>::at(1e-6, 0, {y[1] - plate, 0}), weight);
    return Y{y[1], (f.force.x - spring * y[0]) / mass, f.rate.z.x, f.rate.dwell};
  };
  const auto moved = [](const Y& y, double h, const Y& k) {
    Y r = y;
    for (std::size_t i = 0; i < r.size(); ++i) r[i] += h * k[i];
    return r;
  };
  Y y{0, plate, 0, 1};
  constexpr double h = 5e-5;  // 1/60 of the bristle's √(m/σ₀)
  double peak = 0;
  double peak_time = 0;
  for (int n = 1; n <= 156'000; ++n) {  // 7.8 s
    const Y k1 = slope(y);
    const Y k2 = slope(moved(y, h / 2, k1));
    const Y k3 = slope(moved(y, h / 2, k2));
    const Y k4 = slope(moved(y, h, k3));
    y = moved(moved(moved(moved(y, h / 6, k1), h / 3, k2), h / 3, k3), h / 6, k4);
    const double friction = mass * slope(y)[1] + spring * y[0];
    if (friction > peak) {
      peak = friction;
      peak_time = n * h;
    }
  }
  EXPECT_NEAR(peak, 1.4999982, 2e-5);
  EXPECT_NEAR(peak_time, 7.50046, 1e-3);
}

}  // namespace
}  // namespace bristle
