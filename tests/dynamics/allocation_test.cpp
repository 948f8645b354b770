// No algorithm allocates after its workspace is made.

#include <gtest/gtest.h>

#include "tests/contract/allocations.hpp"
#include "tests/dynamics/random_tree.hpp"

namespace bristle {
namespace {

template <class T>
void expect_no_allocation() {
  const Tree tree = test::random_tree(31, 20).tree;
  test::Dice dice(1);
  const test::RandomState s = test::random_state(dice, tree);
  const std::size_t n = s.v.size();
  std::vector<T> q, v, tau, a(n), m(n * n), rows(6 * n), halves(2 * n), k(4);
  for (const double x : s.q) q.push_back(T(static_cast<Value<T>>(x)));
  for (const double x : s.v) v.push_back(T(static_cast<Value<T>>(x)));
  for (const double x : s.tau) tau.push_back(T(static_cast<Value<T>>(x)));
  std::vector<Force<T>> external(static_cast<std::size_t>(tree.link_count()),
                                 Force<T>::zero());
  std::vector<std::uint8_t> prescribed(external.size(), 1);
  std::vector<JacobianRow<T>> pushes(2);
  Workspace<T> ws(tree);
  const contract::AllocationCount taken;
  kinematics(tree, q, v, ws);
  forward_dynamics(tree, v, tau, external, ws, a);
  pushes[0] = row_at_point(ws, 0, tree.link_count() - 1, Vec3<T>{T(1), T(0), T(0)},
                           Vec3<T>{T(0), T(1), T(0)});
  inverse_inertia(tree, pushes, ws, halves, k);
  solve_mass(tree, tau, external, ws, a);
  inverse_dynamics(tree, v, a, external, ws, tau);
  mass_matrix(tree, ws, m);
  factorise(tree, ws);
  hybrid_dynamics(tree, v, prescribed, external, ws, tau, a);
  jacobian(tree, ws, tree.link_count() - 1, Vec3<T>{T(0), T(0), T(0)}, rows);
  add_link_forces(tree, external, ws, tau);
  k[0] =
      kinetic_energy(tree, v, ws) + gravity_energy(tree, ws) + spring_energy<T>(tree, q);
  add_joint_springs<T>(tree, q, v, tau);
  integrate<T>(tree, q, v, T(Value<T>(0.01)));
  difference<T>(tree, q, q, a);
  normalise<T>(tree, q);
  EXPECT_EQ(taken.since(), 0);
}

TEST(Dynamics, DoesNotAllocate) {
  expect_no_allocation<double>();
  expect_no_allocation<Pack<double, 4>>();
}

}  // namespace
}  // namespace bristle
