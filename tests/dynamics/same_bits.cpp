// Prints a number that depends on every bit of the results of a few trees; the test
// builds this file without optimisation and with all of it, and compares.

#include <bit>
#include <cstdint>
#include <cstdio>

#include "tests/dynamics/random_tree.hpp"

int main() {
  using namespace bristle;
  std::uint64_t hash = 14695981039346656037u;  // FNV-1a
  const auto add = [&](const std::vector<double>& x) {
    for (const double y : x) {
      for (int k = 0; k < 64; k += 8) {
        hash = (hash ^ ((std::bit_cast<std::uint64_t>(y) >> k) & 255)) * 1099511628211u;
      }
    }
  };
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const Tree tree = test::random_tree(seed, static_cast<int>(2 * seed)).tree;
    test::Dice dice(seed);
    test::RandomState s = test::random_state(dice, tree);
    Workspace<double> ws(tree);
    std::vector<double> a(s.v.size()), m(a.size() * a.size());
    kinematics(tree, s.q, s.v, ws);
    forward_dynamics(tree, s.v, s.tau, s.external, ws, a);
    add(a);
    solve_mass(tree, s.tau, s.external, ws, a);
    add(a);
    inverse_dynamics(tree, s.v, a, s.external, ws, s.tau);
    add(s.tau);
    mass_matrix(tree, ws, m);
    add(m);
    integrate<double>(tree, s.q, s.v, 0.01);
    add(s.q);
  }
  std::printf("%016llx\n", static_cast<unsigned long long>(hash));
}
