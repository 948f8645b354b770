// Friction of contacts that slide and spin at once.

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>
#include <string>

#include "bristle/contact/law_table.hpp"
#include "bristle/contact/register_law.hpp"
#include "bristle/laws/choice.hpp"
#include "bristle/laws/friction/spinning_disc.hpp"
#include "bristle/laws/laws.hpp"

namespace bristle {
namespace {

using std::numbers::pi;

// The integrals over a disc

constexpr std::array pressures{DiscPressure::uniform, DiscPressure::paraboloid,
                               DiscPressure::hertz};

/// In polar coordinates about the centre of rotation, at the distance u from the disc's:
/// along each ray the slip has one direction, and nothing is singular there. Points crowd
/// towards both ends of a ray, r = r₁ + (r₂ − r₁) t³ (10 − 15 t + 6 t²), so that the
/// midpoint rule is of fourth order, also under Hertz's pressure, which ends like a root.
SpinFriction about_the_centre(DiscPressure pressure, double u) {
  const auto ray = [&](double phi, double weight, SpinFriction& sum) {
    const double half =
        std::sqrt(std::fmax(1 - u * u * std::sin(phi) * std::sin(phi), 0));
    const double far = u * std::cos(phi) + half;
    const double near = u > 1 ? u * std::cos(phi) - half : 0;
    // The other end of the chord lies behind the centre where that is inside.
    const double back = u * std::cos(phi) - half;
    constexpr int points = 250;
    for (int i = 0; i < points; ++i) {
      const double t = (i + 0.5) / points;
      const double r = near + (far - near) * t * t * t * (10 - t * (15 - 6 * t));
      const double rest = std::fmax((far - r) * (r - back), 0);  // 1 − |x|²
      const double p = pressure == DiscPressure::uniform ? 1 / pi
                       : pressure == DiscPressure::paraboloid
                           ? 2 / pi * rest
                           : 1.5 / pi * std::sqrt(rest);
      const double along = (far - near) * 30 * t * t * (1 - t) * (1 - t) / points;
      const double area = r * along * weight;
      sum.force += p * std::cos(phi) * area;
      sum.torque += p * (r - u * std::cos(phi)) * area;
    }
  };
  SpinFriction sum{0, 0};
  constexpr int rays = 400;
  for (int i = 0; i < rays; ++i) {
    if (u < 1) {
      ray(2 * pi * i / rays, 2 * pi / rays, sum);
    } else {  // sin φ = sin s / u
      const double s = pi * ((i + 0.5) / rays - 0.5);
      const double phi = std::asin(std::sin(s) / u);
      ray(phi, std::cos(s) / (u * std::cos(phi)) * pi / rays, sum);
    }
  }
  return sum;
}

TEST(SpinningDisc, IsTheIntegralOverTheDisc) {
  for (const DiscPressure pressure : pressures) {
    for (const double u : {0.0, 0.1, 0.5, 0.9, 1.1, 1.5, 3.99, 4.01, 10.0}) {
      SCOPED_TRACE("u = " + std::to_string(u));
      const SpinFriction exact = spinning_disc(pressure, u);
      const SpinFriction sum = about_the_centre(pressure, u);
      EXPECT_NEAR(exact.force, sum.force, 2e-7);
      EXPECT_NEAR(exact.torque, sum.torque, 2e-7);
    }
  }
}

TEST(SpinningDisc, HasTheKnownLimits) {
  EXPECT_NEAR(spinning_disc(DiscPressure::uniform, 0).torque, 2.0 / 3, 1e-14);
  EXPECT_NEAR(spinning_disc(DiscPressure::paraboloid, 0).torque, 8.0 / 15, 1e-10);
  EXPECT_NEAR(spinning_disc(DiscPressure::hertz, 0).torque, 3 * pi / 16, 1e-10);
  EXPECT_NEAR(spinning_disc(DiscPressure::uniform, 1).force, 8 / (3 * pi), 1e-14);
  for (const DiscPressure pressure :
       {DiscPressure::uniform, DiscPressure::paraboloid, DiscPressure::hertz}) {
    // Far out T → r_g²/(2 u R²), half of the elliptic closure's.
    const SpinFriction far = spinning_disc(pressure, 1e5);
    EXPECT_NEAR(far.force, 1, 1e-9);
    EXPECT_NEAR(far.torque * 1e5, 0.5 * gyration_square(pressure), 1e-8);
    EXPECT_NEAR(elliptic_disc(pressure, 1e5).torque * 1e5, gyration_square(pressure),
                1e-8);
    for (const double u : {0.0, 0.2, 0.999999, 1.0, 1.000001, 3.0}) {
      const SpinFriction e = elliptic_disc(pressure, u);
      EXPECT_NEAR(e.force * e.force + e.torque * e.torque / gyration_square(pressure), 1,
                  1e-14);
      const SpinFriction below = spinning_disc(pressure, u * (1 - 1e-9));
      const SpinFriction above = spinning_disc(pressure, u * (1 + 1e-9));
      EXPECT_NEAR(below.force, above.force, 1e-7) << "continuous";
      EXPECT_NEAR(below.torque, above.torque, 1e-7);
    }
  }
}

/// The friction law takes force and couple from the integrals: μ N F and μ N R T with
/// R = r_g/g.
template <class Disc>
void expect_integrals(DiscPressure pressure) {
  const typename Disc::template Params<double> p{.mu_static = 0.3,
                                                 .mu_coulomb = 0.3,
                                                 .viscous = 0,
                                                 .stribeck_speed = 1,
                                                 .regularisation_speed = 1e-9,
                                                 .regularisation = 0};
  constexpr double load = 20, gyration = 0.03;
  const double radius = gyration / std::sqrt(gyration_square(pressure));
  for (const double u : {1e-9, 0.01, 0.3, 0.999, 1.0, 1.001, 3.0, 5.0, 1e4, 1e9}) {
    for (const double omega : {0.2, -3.0}) {
      SCOPED_TRACE("u = " + std::to_string(u));
      const double v = u * std::fabs(omega) * radius;
      const auto kin =
          Kinematics<double, 3>::at(1e-4, 0, {0.6 * v, -0.8 * v, gyration * omega});
      const auto f = Disc::evaluate(p, {}, kin, load);
      const SpinFriction disc = spinning_disc(pressure, u);
      EXPECT_NEAR(f.force.x, -0.6 * 0.3 * load * disc.force, 1e-12 * load);
      EXPECT_NEAR(f.force.y, 0.8 * 0.3 * load * disc.force, 1e-12 * load);
      EXPECT_NEAR(gyration * f.force.z,
                  std::copysign(0.3 * load * radius * disc.torque, -omega),
                  1e-12 * load * radius);
    }
  }
}
TEST(SpinningDisc, FrictionIsThatOfTheIntegrals) {
  expect_integrals<UniformDisc>(DiscPressure::uniform);
  expect_integrals<ParaboloidDisc>(DiscPressure::paraboloid);
  expect_integrals<HertzDisc>(DiscPressure::hertz);
}

/// A free disc of inertia ½ m R² with its centre of mass in the plane, sliding and
/// spinning: it stops doing both at once, with one v/(ω R) however it began (Farkas et
/// al. 2003: 0.653).
template <class Disc>
double stopping_ratio(double u) {
  auto p = default_params<Disc>();
  p.mu_static = p.mu_coulomb = 0.2;
  p.regularisation_speed = 1e-9;
  constexpr double mass = 2, radius = 0.1, g = 9.81;
  const double gyration = radius * std::sqrt(gyration_square(Disc::pressure));
  Vec2<double> y{u, 1};  // v and ω R [m/s]
  const auto rate = [&](Vec2<double> at) {
    const auto kin =
        Kinematics<double, 3>::at(1e-4, 0, {at.x, 0, gyration / radius * at.y});
    const Vec3<double> f = Disc::evaluate(p, {}, kin, mass * g).force;
    return Vec2<double>{f.x / mass, 2 * gyration * f.z / (mass * radius)};
  };
  while (norm(y) > 1e-8) {  // by Runge and Kutta's method
    const double h = 0.02 * norm(y) / (0.2 * g);
    const auto a = rate(y), b = rate(y + h / 2 * a), c = rate(y + h / 2 * b),
               d = rate(y + h * c);
    y = y + h / 6 * (a + 2.0 * b + 2.0 * c + d);
  }
  return y.x / y.y;
}
TEST(SpinningDisc, AUniformDiscStopsWithTheKnownRatio) {
  EXPECT_NEAR(stopping_ratio<UniformDisc>(0.3), 0.653, 1e-3);
  EXPECT_NEAR(stopping_ratio<UniformDisc>(1), 0.653, 1e-3);
  EXPECT_NEAR(stopping_ratio<UniformDisc>(4), 0.653, 1e-3);
}

// What laws offer

/// A drag of two components.
struct FlatDrag : FrictionBase<FlatDrag> {
  static constexpr LawInfo info{.name = "flat-drag",
                                .title = "Drag",
                                .formula = "f_t = −c v_t",
                                .source = "A law of two components of slip.",
                                .limits = "A test.",
                                .energy = "Passive."};
  template <class T>
  struct Params {
    T drag;  // c [N s/m]
  };
  static constexpr auto parameters() {
    using P = Params<double>;
    return std::array{
        ParameterField<P>{&P::drag, {"drag", "c", "N s/m", between(0, 1e3), 1, "drag"}}};
  }
  template <class T>
  using State = NoState<T>;
  static constexpr std::array<StateField, 0> state() { return {}; }
  static constexpr LedgerLines lines{.viscous = true};
  static constexpr std::array<GuardInfo, 0> guard_list() { return {}; }

  template <Scalar T>
  BRISTLE_INLINE static State<T> touch(const Params<T>&) noexcept {
    return {};
  }
  template <Scalar T>
  BRISTLE_INLINE static FrictionForce<T, State<T>> evaluate(const Params<T>& p,
                                                            const State<T>&,
                                                            const Kinematics<T>& kin,
                                                            T) noexcept {
    const T drag = select(kin.depth > T(0), p.drag, T(0));
    return {-drag * kin.slip, T(0), {T(0), T(0), drag * norm2(kin.slip), T(0), T(0)}, {}};
  }
  template <Scalar T>
  BRISTLE_INLINE static FrictionStep<T, State<T>> advance(const Params<T>& p,
                                                          const State<T>& state,
                                                          const Kinematics<T>& kin, T f_n,
                                                          T) noexcept {
    auto now = evaluate(p, state, kin, f_n);
    return {now.force, now.stored, now.powers, {}};
  }
  template <Scalar T>
  BRISTLE_INLINE static FrictionSpring<T> spring(const Params<T>& p, const State<T>&,
                                                 const Kinematics<T>&, T) noexcept {
    return {T(0), T(0), {T(0), T(0)}, T(0), p.drag};
  }
  template <Scalar T>
  BRISTLE_INLINE static std::array<T, 0> guards(const Params<T>&, const State<T>&,
                                                const Kinematics<T>&, T) noexcept {
    return {};
  }
  template <Scalar T>
  BRISTLE_INLINE static Commit<T, State<T>> commit(const Params<T>&, const State<T>&,
                                                   const Kinematics<T>&, T) noexcept {
    return {{}, T(0)};
  }
};
static_assert(FrictionLaw<FlatDrag> && !SpinFrictionLaw<FlatDrag>);

TEST(Spin, EveryListedLawIsWrittenForThreeComponents) {
  for_each_law(FrictionLaws{}, []<class L>() {
    static_assert(SpinFrictionLaw<L>);
    LawChoice choice = choose<L>();
    const LawEntry& entry = entry_of(choice);
    const std::size_t fields = entry.state.size();
    choice.spin = Spin::elliptic;
    EXPECT_EQ(out_of_range(choice), "");
    const FrictionLawTable& law = friction_law(choice);
    ASSERT_NE(law.advance, nullptr);
    EXPECT_EQ(law.fields, static_cast<int>(entry.state_with(choice.spin).size()));
    EXPECT_EQ(law.fields, static_cast<int>(fields == 0 ? 0 : fields + 1));
    choice.spin = Spin::uniform;
    EXPECT_EQ(out_of_range(choice).empty(), L::info.name == Coulomb::info.name);
    EXPECT_EQ(friction_law(choice).advance != nullptr,
              L::info.name == Coulomb::info.name);
  });
}

TEST(Spin, WhatALawDoesNotOfferIsNamed) {
  LawChoice dahl = choose<Dahl>();
  dahl.spin = Spin::hertz;
  EXPECT_EQ(out_of_range(dahl),
            "dahl has no spin = \"hertz\": it offers \"none\", \"elliptic\"; integrals "
            "over a disc exist for coulomb");
  ASSERT_TRUE(register_law<FlatDrag>());
  LawChoice flat = choose<FlatDrag>({.drag = 3});
  EXPECT_EQ(out_of_range(flat), "");
  flat.spin = Spin::elliptic;
  EXPECT_EQ(out_of_range(flat),
            "flat-drag has no spin = \"elliptic\": it offers \"none\"; it is written for "
            "two components of slip");
  EXPECT_EQ(friction_law(flat).advance, nullptr);
}

/// A row of a table sees what the law sees, and without spin does not read the third
/// component.
TEST(Spin, TheTablesRowFunctionsAreTheLaws) {
  LawChoice choice = choose<SpringSlider>();
  const auto p = default_params<SpringSlider>();
  const std::array<double, 3> memory{1e-5, -2e-5, 3e-5};
  const Columns<const double> state{memory.data(), 1};
  const auto kin = SpinKinematics::at(1e-4, 0, {0.01, 0.02, -0.03});
  const Kinematics<double> plane = Kinematics<double>::at(1e-4, 0, {0.01, 0.02});
  const auto flat = friction_law(choice).force(choice, state, 0, kin, 10, 1e-3);
  const auto two = SpringSlider::advance(p, {{1e-5, -2e-5}}, plane, 10.0, 1e-3).force;
  EXPECT_EQ(flat.x, two.x);
  EXPECT_EQ(flat.y, two.y);
  EXPECT_EQ(flat.z, 0);
  choice.spin = Spin::elliptic;
  const auto spun = friction_law(choice).force(choice, state, 0, kin, 10, 1e-3);
  const WithSpin<SpringSlider>::State<double> z{{1e-5, -2e-5, 3e-5}};
  const auto three = WithSpin<SpringSlider>::advance(p, z, kin, 10.0, 1e-3).force;
  EXPECT_EQ(norm(spun - three), 0);
  const auto slopes = friction_law(choice).slopes(choice, state, 0, kin, 10, 1e-3);
  const auto moved = [&](double by) {
    auto at = kin;
    at.slip.z += by;
    return friction_law(choice).force(choice, state, 0, at, 10, 1e-3);
  };
  const Vec3<double> difference = 1 / 2e-7 * (moved(1e-7) - moved(-1e-7));
  EXPECT_LE(norm(difference - slopes.by_slip_z), 1e-6 * norm(slopes.by_slip_z));
}

/// The share of the slip's loss that spinning takes is its share of the work.
TEST(Spin, APassNotesWhatSpinningLoses) {
  LawChoice choice = choose<Coulomb>();
  choice.spin = Spin::uniform;
  double depth = 1e-4, rate = 0, x = 0.3, y = 0, z = 0.4, load = 10;
  double fx = 0, fy = 0, fz = 0, loss = 0;
  std::array<double, book_columns> ledger{};
  LawColumns c{};
  c.depth = &depth;
  c.rate = &rate;
  c.slip_x = &x;
  c.slip_y = &y;
  c.slip_z = &z;
  c.normal_force = &load;
  c.friction_x = &fx;
  c.friction_y = &fy;
  c.friction_z = &fz;
  c.friction_ledger = {ledger.data(), 1};
  c.spin_loss = &loss;
  LawTotals totals;
  friction_law(choice).evaluate_columns(choice, c, {0, 1}, 0, totals);
  EXPECT_NEAR(loss, -fz * z, 1e-12 * loss);
  EXPECT_NEAR(ledger[2], -fx * x - fz * z, 1e-12 * ledger[2]);
  friction_law(choice).evaluate(choice, c, {0, 1}, 0, totals);
  EXPECT_EQ(totals.spin, loss);
  EXPECT_EQ(totals.powers.slip, ledger[2]);
}

}  // namespace
}  // namespace bristle
