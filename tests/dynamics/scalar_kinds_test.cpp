// One text for every scalar kind: duals differentiate, lanes of packs equal scalar
// results.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "tests/dynamics/random_tree.hpp"

namespace bristle {
namespace {

using test::Dice;
using test::on_random_trees;
using test::random_state;
using test::random_tree;
using test::RandomState;

TEST(Derivatives, OfAccelerationsMatchCentralDifferences) {
  using D = Dual<double, 3>;
  on_random_trees(
      [](const Tree& tree, const RandomState& s, Workspace<double>& ws, Dice& dice) {
        const std::size_t n = s.v.size();
        if (n == 0 || n > 30) return;
        const auto k = static_cast<std::size_t>(dice.below(static_cast<int>(n)));
        // By velocity k as a displacement, by velocity k itself, by joint force k.
        std::vector<D> q(s.q.begin(), s.q.end()), v(s.v.begin(), s.v.end()),
            tau(s.tau.begin(), s.tau.end()), unit(n, D(0)), a(n);
        unit[k] = D(1);
        integrate<D>(tree, q, unit, D::variable(0, 0));
        v[k] = D::variable(s.v[k], 1);
        tau[k] = D::variable(s.tau[k], 2);
        Workspace<D> duals(tree);
        kinematics(tree, q, v, duals);
        forward_dynamics(tree, v, tau, {}, duals, a);
        for (int by = 0; by < 3; ++by) {
          const double h = 1e-5;
          std::vector<double> ends[2];
          for (const int side : {0, 1}) {
            const double step = side == 0 ? -h : h;
            std::vector<double> qs = s.q, vs = s.v, ts = s.tau, us(n, 0.0);
            us[k] = 1;
            if (by == 0) integrate<double>(tree, qs, us, step);
            if (by == 1) vs[k] += step;
            if (by == 2) ts[k] += step;
            ends[side].resize(n);
            kinematics(tree, qs, vs, ws);
            forward_dynamics(tree, vs, ts, {}, ws, ends[side]);
          }
          std::vector<double> slope(n), dual(n);
          for (std::size_t i = 0; i < n; ++i) {
            slope[i] = (ends[1][i] - ends[0][i]) / (2 * h);
            dual[i] = a[i].by[by];
          }
          // Truncation h² a‴ and cancellation ε a/h both stay far below this.
          const double size = test::largest(dual) + 1e-2 * test::largest(ends[0]) + 1e-3;
          for (std::size_t i = 0; i < n; ++i) {
            EXPECT_NEAR(dual[i], slope[i], 1e-5 * size) << "by " << by;
          }
        }
      });
}

TEST(Derivatives, ByAMassFollowFromTheWorkspace) {
  using D = Dual<double, 1>;
  const Tree tree = random_tree(3, 4).tree;
  Dice dice(9);
  const RandomState s = random_state(dice, tree);
  const std::size_t n = s.v.size();
  const auto accelerations = [&](auto mass) {
    using T = decltype(mass);
    Workspace<T> ws(tree);
    ws.constants.back().inertia.mass = mass;
    std::vector<T> q(s.q.begin(), s.q.end()), v(s.v.begin(), s.v.end()),
        tau(s.tau.begin(), s.tau.end()), a(n);
    kinematics(tree, q, v, ws);
    forward_dynamics(tree, v, tau, {}, ws, a);
    return a;
  };
  const double mass = tree.constants().back().inertia.mass;
  const double h = 1e-5;
  const auto dual = accelerations(D::variable(mass, 0));
  const auto low = accelerations(mass - h);
  const auto high = accelerations(mass + h);
  for (std::size_t i = 0; i < n; ++i) {
    EXPECT_NEAR(dual[i].by[0], (high[i] - low[i]) / (2 * h), 1e-6);
  }
}

/// Every function with T, on `lanes` states at once.
template <class T>
std::vector<T> everything(const Tree& tree, const std::vector<RandomState>& states) {
  const auto lane = [](T& to, int i, double x) {
    if constexpr (ScalarTraits<T>::lanes == 1) {
      to = static_cast<T>(x);
    } else {
      to.set(i, static_cast<Value<T>>(x));
    }
  };
  const std::size_t n = states[0].v.size();
  std::vector<T> q(states[0].q.size()), v(n), tau(n), a(n), b(n), m(n * n);
  std::vector<Force<T>> external(static_cast<std::size_t>(tree.link_count()));
  for (std::size_t s = 0; s < states.size(); ++s) {
    const int l = static_cast<int>(s);
    for (std::size_t i = 0; i < q.size(); ++i) lane(q[i], l, states[s].q[i]);
    for (std::size_t i = 0; i < n; ++i) lane(v[i], l, states[s].v[i]);
    for (std::size_t i = 0; i < n; ++i) lane(tau[i], l, states[s].tau[i]);
    for (std::size_t i = 0; i < external.size(); ++i) {
      const Force<double>& f = states[s].external[i];
      lane(external[i].torque.x, l, f.torque.x);
      lane(external[i].torque.y, l, f.torque.y);
      lane(external[i].torque.z, l, f.torque.z);
      lane(external[i].force.x, l, f.force.x);
      lane(external[i].force.y, l, f.force.y);
      lane(external[i].force.z, l, f.force.z);
    }
  }
  Workspace<T> ws(tree);
  std::vector<T> all;
  const auto keep = [&](const std::vector<T>& x) {
    all.insert(all.end(), x.begin(), x.end());
  };
  kinematics(tree, q, v, ws);
  forward_dynamics(tree, v, tau, external, ws, a);
  keep(a);
  std::vector<JacobianRow<T>> rows{row_at_point(ws, 0, tree.link_count() - 1,
                                                Vec3<T>{T(1), T(2), T(3)},
                                                Vec3<T>{T(0), T(1), T(0)})};
  std::vector<T> halves(n), k(1);
  inverse_inertia(tree, rows, ws, halves, k);
  keep(k);
  solve_mass(tree, tau, {}, ws, b);
  keep(b);
  inverse_dynamics(tree, v, a, external, ws, b);
  keep(b);
  mass_matrix(tree, ws, m);
  keep(m);
  std::vector<std::uint8_t> prescribed(static_cast<std::size_t>(tree.link_count()), 0);
  for (std::size_t i = 0; i < prescribed.size(); i += 2) prescribed[i] = 1;
  hybrid_dynamics(tree, v, prescribed, external, ws, tau, a);
  keep(tau);
  keep(a);
  keep({kinetic_energy(tree, v, ws), gravity_energy(tree, ws)});
  integrate<T>(tree, q, v, T(Value<T>(0.01)));
  keep(q);
  return all;
}

template <class Number, int N>
void expect_lanes_equal_scalar() {
  for (const unsigned seed : {11u, 12u, 13u, 14u}) {
    const Tree tree = random_tree(seed, 3 + static_cast<int>(seed)).tree;
    Dice dice(seed);
    std::vector<RandomState> states;
    for (int i = 0; i < N; ++i) states.push_back(random_state(dice, tree));
    const auto packs = everything<Pack<Number, N>>(tree, states);
    for (int i = 0; i < N; ++i) {
      const auto alone = everything<Number>(tree, {states[static_cast<std::size_t>(i)]});
      ASSERT_EQ(alone.size(), packs.size());
      for (std::size_t k = 0; k < alone.size(); ++k) {
        const Number lane = packs[k][i];
        EXPECT_EQ(std::memcmp(&lane, &alone[k], sizeof(Number)), 0)
            << "number " << k << ": " << lane << " and " << alone[k];
      }
    }
  }
}

TEST(Packs, LanesEqualScalarResultsToTheBit) { expect_lanes_equal_scalar<double, 4>(); }

TEST(Float, IsCloseToDouble) {
  const Tree tree = random_tree(21, 10).tree;
  Dice dice(3);
  const std::vector<RandomState> states{random_state(dice, tree)};
  const auto in_float = everything<float>(tree, states);
  const auto in_double = everything<double>(tree, states);
  for (std::size_t i = 0; i < in_float.size(); ++i) {
    EXPECT_NEAR(in_float[i], in_double[i], 2e-3 * (1 + std::abs(in_double[i])));
  }
}

}  // namespace
}  // namespace bristle
