// Times the tree algorithms on two robots: bench_dynamics [ROUNDS]
//
// Each line is one call on a state that changes from call to call; the median and the
// tenth percentile over rounds of a hundred calls, in nanoseconds.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "bench/dynamics/robots.hpp"
#include "bristle/model/positions.hpp"

namespace bristle {
namespace {

constexpr int calls_per_round = 100;

template <class F>
void time(const char* name, int rounds, double per_call, F call) {
  std::vector<double> nanoseconds;
  for (int round = 0; round < rounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < calls_per_round; ++i) call();
    const std::chrono::duration<double, std::nano> passed =
        std::chrono::steady_clock::now() - start;
    nanoseconds.push_back(passed.count() / calls_per_round / per_call);
  }
  std::sort(nanoseconds.begin(), nanoseconds.end());
  fmt::print("  {:<44} {:8.0f} {:8.0f}\n", name, nanoseconds[nanoseconds.size() / 2],
             nanoseconds[nanoseconds.size() / 10]);
}

template <class T>
struct Robot {
  explicit Robot(const Tree& tree)
      : ws(tree),
        v(ws.dofs.size(), T(Value<T>(0.1))),
        tau(v.size(), T(Value<T>(0.3))),
        acceleration(v.size()),
        matrix(v.size() * v.size()) {
    for (const double x : tree.neutral()) q.push_back(T(static_cast<Value<T>>(x)));
  }

  /// The next state depends on the last result, as in a simulation.
  void move(const Tree& tree) {
    v[0] = v[0] + T(Value<T>(1e-9)) * acceleration[0];
    integrate<T>(tree, q, v, T(Value<T>(1e-7)));
  }

  Workspace<T> ws;
  std::vector<T> q, v, tau, acceleration, matrix;
};

void time_robot(const char* name, const Tree& tree, int rounds) {
  fmt::print("{}: {} velocities{:>32} {:>8}\n", name, tree.velocity_count(), "median",
             "10 %");
  Robot<double> one(tree);
  time("kinematics", rounds, 1, [&] {
    kinematics(tree, one.q, one.v, one.ws);
    one.move(tree);
  });
  time("kinematics + forward dynamics", rounds, 1, [&] {
    kinematics(tree, one.q, one.v, one.ws);
    forward_dynamics(tree, one.v, one.tau, {}, one.ws, one.acceleration);
    one.move(tree);
  });
  time("kinematics + inverse dynamics", rounds, 1, [&] {
    kinematics(tree, one.q, one.v, one.ws);
    inverse_dynamics(tree, one.v, one.acceleration, {}, one.ws, one.tau);
    one.move(tree);
  });
  time("kinematics + mass matrix", rounds, 1, [&] {
    kinematics(tree, one.q, one.v, one.ws);
    mass_matrix(tree, one.ws, one.matrix);
    one.move(tree);
  });
  factorise(tree, one.ws);
  time("M^-1 x, factorised before", rounds, 1,
       [&] { solve_mass(tree, one.tau, {}, one.ws, one.acceleration); });
  using P = NativePack<double>;
  Robot<P> several(tree);
  time("forward dynamics in packs, per robot", rounds, ScalarTraits<P>::lanes, [&] {
    kinematics(tree, several.q, several.v, several.ws);
    forward_dynamics(tree, several.v, several.tau, {}, several.ws, several.acceleration);
    several.move(tree);
  });
  using F = NativePack<float>;
  Robot<F> floats(tree);
  time("forward dynamics in float packs, per robot", rounds, ScalarTraits<F>::lanes, [&] {
    kinematics(tree, floats.q, floats.v, floats.ws);
    forward_dynamics(tree, floats.v, floats.tau, {}, floats.ws, floats.acceleration);
    floats.move(tree);
  });
}

}  // namespace
}  // namespace bristle

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 2000;
  bristle::time_robot("arm", bristle::bench::arm7(), rounds);
  bristle::time_robot("quadruped", bristle::bench::quadruped12(), rounds);
}
