#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "bristle/core/trigonometry.hpp"
#include "bristle/spatial/articulated_inertia.hpp"
#include "bristle/spatial/ldl3.hpp"
#include "bristle/spatial/quaternion.hpp"
#include "bristle/spatial/transform.hpp"
#include "tests/dynamics/random_tree.hpp"

namespace bristle {
namespace {

using test::Dice;

void expect_near(const Vec3<double>& a, const Vec3<double>& b, double tolerance = 1e-14) {
  EXPECT_NEAR(a.x, b.x, tolerance);
  EXPECT_NEAR(a.y, b.y, tolerance);
  EXPECT_NEAR(a.z, b.z, tolerance);
}
void expect_near(const Mat3<double>& a, const Mat3<double>& b, double tolerance = 1e-14) {
  expect_near(a.x, b.x, tolerance);
  expect_near(a.y, b.y, tolerance);
  expect_near(a.z, b.z, tolerance);
}
void expect_near(const Force<double>& a, const Force<double>& b,
                 double tolerance = 1e-13) {
  expect_near(a.torque, b.torque, tolerance);
  expect_near(a.force, b.force, tolerance);
}

TEST(SinCosine, IsWithinOneUnitInTheLastPlace) {
  Dice dice(1);
  double worst = 0;
  for (int i = 0; i < 200000; ++i) {
    const double size = std::pow(10.0, dice.uniform(-9, 6));
    const double x = dice.uniform(-size, size);
    const SinCos<double> found = sincos(x);
    const long double s = std::sin(static_cast<long double>(x));
    const long double c = std::cos(static_cast<long double>(x));
    worst = std::max({worst, static_cast<double>(std::abs(found.sin - s)),
                      static_cast<double>(std::abs(found.cos - c))});
  }
  EXPECT_LT(worst, 0x1p-52);
}

TEST(SinCosine, InFloatIsWithinOneUnitInTheLastPlace) {
  Dice dice(2);
  double worst = 0;
  for (int i = 0; i < 200000; ++i) {
    const auto x = static_cast<float>(dice.uniform(-1000, 1000));
    const SinCos<float> found = sincos(x);
    worst = std::max({worst, std::abs(found.sin - std::sin(static_cast<double>(x))),
                      std::abs(found.cos - std::cos(static_cast<double>(x)))});
  }
  EXPECT_LT(worst, 0x1p-23);
}

TEST(SinCosine, KnowsItsSpecialValues) {
  EXPECT_EQ(sincos(0.0).sin, 0);
  EXPECT_EQ(sincos(0.0).cos, 1);
  EXPECT_EQ(sincos(1e-300).sin, 1e-300);
  EXPECT_EQ(sincos(std::numbers::pi / 2).sin, 1);
  EXPECT_EQ(sincos(-std::numbers::pi / 2).sin, -1);
  EXPECT_EQ(sincos(std::numbers::pi).cos, -1);
  EXPECT_TRUE(std::isnan(sincos(std::numeric_limits<double>::infinity()).sin));
  EXPECT_TRUE(std::isnan(sincos(std::numeric_limits<double>::quiet_NaN()).cos));
  // An angle of many turns: right to the spacing of such numbers.
  EXPECT_NEAR(sincos(1e9).sin, std::sin(1e9), 1e-7);
}

TEST(SinCosine, LanesEqualScalarsAndDualsDifferentiate) {
  using P = Pack<double, 4>;
  P x;
  const double values[4] = {0.3, -200.7, 3e7, 1e-20};
  for (int i = 0; i < 4; ++i) x.set(i, values[i]);
  const SinCos<P> packs = sincos(x);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(packs.sin[i], sincos(values[i]).sin);
    EXPECT_EQ(packs.cos[i], sincos(values[i]).cos);
  }
  const auto dual = sincos(Dual<double, 1>::variable(0.4, 0));
  EXPECT_EQ(dual.sin.by[0], sincos(0.4).cos);
  EXPECT_EQ(dual.cos.by[0], -sincos(0.4).sin);
}

TEST(Quaternions, MultiplyAsTheirMatricesDo) {
  Dice dice(3);
  for (int i = 0; i < 100; ++i) {
    const Quaternion<double> a = dice.turn(), b = dice.turn();
    expect_near(to_matrix(a * b), to_matrix(a) * to_matrix(b), 1e-14);
    expect_near(to_matrix(conjugate(a)), transpose(to_matrix(a)), 1e-14);
    expect_near(to_matrix(from_matrix(to_matrix(a))), to_matrix(a), 1e-14);
    const Mat3<double> r = to_matrix(a);
    expect_near(transpose_times(r, r), Mat3<double>::identity(), 1e-14);
    expect_near(cross(r.x, r.y), r.z, 1e-14);
  }
}

TEST(Quaternions, AMatrixIsARotationAlsoOffUnitLength) {
  const Quaternion<double> q{0.5, 1.0, -2.0, 0.3};
  const Mat3<double> r = to_matrix(q);
  expect_near(transpose_times(r, r), Mat3<double>::identity(), 1e-14);
  expect_near(r, to_matrix(normalised(q)), 1e-14);
}

TEST(Quaternions, HalfTurnsAreRecognised) {
  for (const Vec3<double>& axis :
       {Vec3<double>{1, 0, 0}, Vec3<double>{0, 1, 0}, Vec3<double>{0, 0, 1},
        Vec3<double>{0.6, 0.8, 0}, Vec3<double>{0, -0.6, 0.8}}) {
    const Mat3<double> r = to_matrix(rotation_exp(std::numbers::pi * axis));
    expect_near(to_matrix(from_matrix(r)), r, 1e-14);
  }
}

TEST(Rotations, ExponentialAndLogarithmUndoEachOther) {
  Dice dice(4);
  for (const double size : {1e-12, 1e-6, 1e-3, 5e-3, 9e-3, 0.011, 0.1, 1.0, 1.8}) {
    for (int i = 0; i < 50; ++i) {
      const Vec3<double> phi = dice.vector(size);
      const Vec3<double> back = rotation_log(rotation_exp(phi));
      expect_near(back, phi, 4e-15 * (size + 1e-3) / 1e-3 * 1e-3 + 1e-15 * size);
      const Quaternion<double> q = rotation_exp(phi);
      EXPECT_NEAR(norm2(q), 1, 1e-15);
      // −q is the same turn.
      expect_near(rotation_log(Quaternion<double>{-q.w, -q.x, -q.y, -q.z}), back, 0);
    }
  }
  expect_near(rotation_log(Quaternion<double>{0, 1, 0, 0}), {std::numbers::pi, 0, 0});
}

TEST(Rotations, ExponentialHasItsDerivativeAtZero) {
  using D = Dual<double, 3>;
  const Vec3<D> phi{D::variable(0, 0), D::variable(0, 1), D::variable(0, 2)};
  const Quaternion<D> q = rotation_exp(phi);
  EXPECT_EQ(q.x.by[0], 0.5);
  EXPECT_EQ(q.y.by[1], 0.5);
  EXPECT_EQ(q.w.by[2], 0);
  const Vec3<D> back = rotation_log(q);
  EXPECT_NEAR(back.x.by[0], 1, 1e-15);
  EXPECT_NEAR(back.z.by[2], 1, 1e-15);
  EXPECT_EQ(back.y.by[0], 0);
}

TEST(Rotations, QuaternionRateIsTheDerivativeOfTheExponential) {
  using D = Dual<double, 1>;
  Dice dice(5);
  const Quaternion<double> q = dice.turn();
  const Vec3<double> w = dice.vector(2);
  const D h = D::variable(0, 0);
  const Vec3<D> step{h * D(w.x), h * D(w.y), h * D(w.z)};
  const Quaternion<D> moved =
      rotation_exp(step) * Quaternion<D>{D(q.w), D(q.x), D(q.y), D(q.z)};
  const Quaternion<double> rate = quaternion_rate(q, w);
  EXPECT_NEAR(moved.w.by[0], rate.w, 1e-15);
  EXPECT_NEAR(moved.x.by[0], rate.x, 1e-15);
  EXPECT_NEAR(moved.y.by[0], rate.y, 1e-15);
  EXPECT_NEAR(moved.z.by[0], rate.z, 1e-15);
}

TEST(Transforms, ComposeAndInvert) {
  Dice dice(6);
  const Transform<double> a = dice.frame(1), b = dice.frame(1);
  const Vec3<double> x = dice.vector(1);
  expect_near((a * b) * x, a * (b * x));
  expect_near(inverse(a) * (a * x), x);
  expect_near((inverse(a) * a).R, Mat3<double>::identity());
}

TEST(Inertias, RotateAndShiftAsTheirPointMasses) {
  Dice dice(7);
  const Mat3<double> r = to_matrix(dice.turn());
  const Vec3<double> arm = dice.vector(1);
  Inertia<double> whole = Inertia<double>::zero(), turned = whole, moved = whole;
  for (int i = 0; i < 5; ++i) {
    const double m = dice.uniform(0.1, 1);
    const Vec3<double> at = dice.vector(1);
    const Sym3<double> none = Sym3<double>::zero();
    whole = whole + Inertia<double>::about_com(m, at, none);
    turned = turned + Inertia<double>::about_com(m, r * at, none);
    moved = moved + Inertia<double>::about_com(m, at + arm, none);
  }
  const Inertia<double> a = rotated(r, whole), b = shifted_back(whole, arm);
  expect_near(full(a.rotational), full(turned.rotational));
  expect_near(a.moment, turned.moment);
  expect_near(full(b.rotational), full(moved.rotational));
  expect_near(b.moment, moved.moment);
}

ArticulatedInertia<double> some_articulated(Dice& dice) {
  const BodySpec body = test::random_body(dice, "b");
  ArticulatedInertia<double> i = ArticulatedInertia<double>::rigid(
      Inertia<double>::about_com(body.mass, body.com, body.inertia));
  const Motion<double> s{dice.vector(1), dice.vector(1)};
  const Force<double> u = i * s;
  return reduced(i, u, (0.5 / dot(u, s)) * u);
}

TEST(ArticulatedInertias, OfARigidBodyIsItsInertia) {
  Dice dice(8);
  const BodySpec body = test::random_body(dice, "b");
  const auto rigid = Inertia<double>::about_com(body.mass, body.com, body.inertia);
  const Motion<double> m{dice.vector(1), dice.vector(1)};
  expect_near(ArticulatedInertia<double>::rigid(rigid) * m, rigid * m);
  const Vec3<double> arm = dice.vector(1);
  expect_near(shifted_back(ArticulatedInertia<double>::rigid(rigid), arm) * m,
              shifted_back(rigid, arm) * m);
}

TEST(ArticulatedInertias, ShiftAsMotionAndForceDo) {
  Dice dice(9);
  for (int i = 0; i < 20; ++i) {
    const ArticulatedInertia<double> inertia = some_articulated(dice);
    const Vec3<double> arm = dice.vector(1);
    const Motion<double> m{dice.vector(1), dice.vector(1)};
    expect_near(shifted_back(inertia, arm) * m,
                shifted_back(inertia * shifted(m, arm), arm));
  }
}

TEST(ArticulatedInertias, ReducedGivesWayAlongItsAxis) {
  Dice dice(10);
  const ArticulatedInertia<double> inertia = some_articulated(dice);
  const Motion<double> s{dice.vector(1), dice.vector(1)};
  const Force<double> u = inertia * s;
  const ArticulatedInertia<double> left = reduced(inertia, u, (1 / dot(u, s)) * u);
  expect_near(left * s, Force<double>::zero());
}

TEST(Ldl3, SolvesAndHalves) {
  Dice dice(11);
  for (int i = 0; i < 20; ++i) {
    const BodySpec body = test::random_body(dice, "b");
    const Ldl3<double> factor = Ldl3<double>::of(body.inertia);
    const Vec3<double> b = dice.vector(1), c = dice.vector(1);
    expect_near(body.inertia * factor.solve(b), b, 1e-13);
    EXPECT_NEAR(dot(factor.half_solve(b), factor.half_solve(c)), dot(b, factor.solve(c)),
                1e-12 * norm(factor.solve(c)));
  }
}

}  // namespace
}  // namespace bristle
