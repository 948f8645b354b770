#include <cmath>
#include <numbers>

#include "tests/contract/support.hpp"

// What friction owes to three components of slip: it is the law of two where nothing
// spins, it is the same in any direction of the three, a turned body is held without
// creep, and a radius of gyration that changes makes no energy.

namespace bristle::contract {
namespace {

template <class L>
class SpinFriction : public ::testing::Test {};
TYPED_TEST_SUITE(SpinFriction, FrictionTypes, LawName);

/// The law of two components that L extends; a disc's integrals have none.
template <class L>
struct PlaneLaw {};
template <class L>
struct PlaneLaw<WithSpin<L>> {
  using type = L;
};
template <class L>
concept Elliptic = requires { typename PlaneLaw<L>::type; };

TYPED_TEST(SpinFriction, WithoutSpinIsTheLawOfTwoComponents) {
  using L = TypeParam;
  if constexpr (Elliptic<L>) {
    using P = PlaneLaw<L>::type;
    for_friction_samples<L>(21, 500, [](Sample<L> s) {
      s.kin.slip.z = 0;
      s.state = map_vectors<L, double>(s.state, [](Vec3<double> v) {
        v.z = 0;
        return v;
      });
      // the same memory without its third component
      StateOf<P> state = touch<P>(s.params);
      for (std::size_t i = 0, k = 0; i < field_count<StateOf<P>, double>; ++i, ++k) {
        if (k == 2 && starts_vector<L>(0)) ++k;
        field<double>(state, i) = field<double>(s.state, k);
      }
      auto kin =
          Kinematics<double>::at(s.kin.depth, s.kin.rate, {s.kin.slip.x, s.kin.slip.y});
      const auto three = evaluate<L>(s.params, s.state, s.kin, s.normal_force);
      const auto two = evaluate<P>(s.params, state, kin, s.normal_force);
      const auto step_three =
          advance<L>(s.params, s.state, s.kin, s.normal_force, s.step);
      const auto step_two = advance<P>(s.params, state, kin, s.normal_force, s.step);
      // across() is another formula in three components.
      const double size = 1e-14 * norm(two.force);
      EXPECT_NEAR(three.force.x, two.force.x, size);
      EXPECT_NEAR(three.force.y, two.force.y, size);
      EXPECT_EQ(three.force.z, 0);
      EXPECT_EQ(three.stored, two.stored);
      EXPECT_EQ(step_three.force.x, step_two.force.x);
      EXPECT_EQ(step_three.force.y, step_two.force.y);
      EXPECT_EQ(step_three.force.z, 0);
    });
  }
}

/// Sliding along x in place of spinning: the closure by the radius of gyration does not
/// tell them apart.
TYPED_TEST(SpinFriction, SlidingAndSpinningAreOneSlip) {
  using L = TypeParam;
  if constexpr (Elliptic<L>) {
    for_friction_samples<L>(22, 500, [](const Sample<L>& s) {
      const auto turn = [](Vec3<double> v) { return Vec3<double>{v.z, v.x, v.y}; };
      auto kin = s.kin;
      kin.slip = turn(kin.slip);
      const auto state = map_vectors<L, double>(s.state, turn);
      const auto f = evaluate<L>(s.params, s.state, s.kin, s.normal_force);
      const auto g = evaluate<L>(s.params, state, kin, s.normal_force);
      const auto a = advance<L>(s.params, s.state, s.kin, s.normal_force, s.step);
      const auto b = advance<L>(s.params, state, kin, s.normal_force, s.step);
      // Sums of three squares in another order: near a switch that may decide.
      const auto now = guards<L>(s.params, s.state, s.kin, s.normal_force);
      const auto then = guards<L>(s.params, state, kin, s.normal_force);
      for (std::size_t k = 0; k < now.size(); ++k) {
        if (!(now[k] * then[k] > 0) ||
            std::fabs(now[k] - then[k]) > 1e-6 * std::fabs(now[k])) {
          return;
        }
      }
      const auto element = spring<L>(s.params, s.state, s.kin, s.normal_force);
      const double scale = element.bound + norm(element.elastic_force) +
                           element.damping * norm(s.kin.slip);
      EXPECT_LE(norm(turn(f.force) - g.force), 1e-9 * scale);
      EXPECT_LE(norm(turn(a.force) - b.force), 1e-9 * (norm(a.force) + scale));
      EXPECT_NEAR(f.stored, g.stored, 1e-12 * f.stored);
    });
  }
}

/// A load that turns a body about n with less than the bound, and pulls at it too: a law
/// with a bristle holds it where it is, for good.
TYPED_TEST(SpinFriction, ATurnedBodyIsHeldWithoutCreep) {
  using L = TypeParam;
  const auto p = default_params<L>();
  const double depth = 1e-4, load = 10, h = 1e-3;
  const auto rest = KinematicsOf<L>::at(depth, 0);
  const auto element = spring<L>(p, touch<L>(p), rest, load);
  // Laws without a spring creep; Dahl's and LuGre's yield at any slip but hold as it
  // ends.
  if (!(element.stiffness > 0)) return;
  // A light body under backward Euler: mass m for all three components of slip, r_g = 1.
  const Vec3<double> pull = element.bound * Vec3<double>{0.2, -0.1, 0.5};
  const double mass = 0.1;
  Vec3<double> v{0, 0, 0}, moved{0, 0, 0};
  StateOf<L> state = touch<L>(p);
  const auto step_to = [&](const Vec3<double>& start) {
    // m (v⁺ − v)/h = pull + f(v⁺): Newton's method with the step's own slopes
    Vec3<double> next = start;
    for (int i = 0; i < 60; ++i) {
      const auto kin = KinematicsOf<L>::at(depth, 0, next);
      const auto f = advance<L>(p, state, kin, load, h).force;
      const Vec3<double> wrong = mass / h * (next - start) - pull - f;
      next = next - 1 / (mass / h + element.damping + h * element.stiffness) * wrong;
    }
    return next;
  };
  Vec3<double> early{};
  for (int n = 0; n < 4000; ++n) {
    v = step_to(v);
    state = advance<L>(p, state, KinematicsOf<L>::at(depth, 0, v), load, h).state;
    moved = moved + h * v;
    if (n == 1999) early = moved;
  }
  EXPECT_LE(norm(v), 1e-12);
  EXPECT_LE(norm(moved - early), 1e-12) << "from 2 s to 4 s";
  EXPECT_GT(moved.z, 0);
}

/// Spin back and forth while r_g grows and shrinks. The work of the couple r_g f₃ on the
/// turning body is that of f₃ on r_g ω; over a path held in stick that comes back to
/// z = 0 it is zero. (A memory θ of stiffness k r_g² would have made ½ k θ² Δ(r_g²).)
TYPED_TEST(SpinFriction, AChangingRadiusMakesNoEnergy) {
  using L = TypeParam;
  auto p = default_params<L>();
  const double depth = 1e-4, load = 1e4;
  const auto element = spring<L>(p, touch<L>(p), KinematicsOf<L>::at(depth, 0), load);
  const double stroke =
      element.stiffness > 0 ? 0.02 * element.bound / element.stiffness : 1e-4;
  constexpr int steps = 20000;
  const double duration = 1, h = duration / steps, w = 2 * std::numbers::pi / duration;
  StateOf<L> state = touch<L>(p);
  double spent = 0, lost = 0, made = 0;
  for (int n = 0; n < steps; ++n) {
    const double t = (n + 0.5) * h;
    const double radius = 0.02 * (1 + 0.6 * std::sin(3 * w * t));      // r_g
    const double omega = stroke / 0.02 * w * std::cos(2 * w * t + 1);  // ω_n
    const Vec2<double> slide{0.3 * stroke * w * std::cos(w * t), 0};
    const auto kin = KinematicsOf<L>::at(depth, 0, {slide.x, slide.y, radius * omega});
    const auto step = advance<L>(p, state, kin, load, h);
    const double couple = radius * step.force.z;
    spent -= h * (step.force.x * slide.x + step.force.y * slide.y + couple * omega);
    lost += h * dissipated(step.powers);
    made += h * sources(step.powers);
    state = step.state;
  }
  const double stored = evaluate<L>(p, state, KinematicsOf<L>::at(depth, 0), load).stored;
  EXPECT_NEAR(spent + made, stored + lost, 1e-11 * (std::fabs(spent) + lost + stored));
  EXPECT_GE(spent + made, 0) << "energy came out of a contact that stored none before";
  if (!TypeParam::passivity(p).unsupplied) {
    EXPECT_LE(made, 0);
  }
}

}  // namespace
}  // namespace bristle::contract
