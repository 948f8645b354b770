// Prints a number per solver that depends on every bit of its answers to problems of all
// kinds.

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "tests/complementarity/support.hpp"

int main() {
  using namespace bristle;
  for_each_solver(Solvers{}, []<class S>() {
    test::Chance chance(1);
    std::uint64_t hash = 1;
    const auto add = [&hash](const test::Case& made) {
      ComplementarityProblem problem;
      made.give(problem);
      SolveWorkspace workspace;
      std::vector<double> z(static_cast<std::size_t>(made.rows()));
      const SolveReport report = solve<S>(problem, SolveOptions{}, z, workspace);
      z.push_back(report.residual);
      z.push_back(report.iterations);
      for (const double x : z) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, &x, sizeof bits);
        hash = (hash ^ bits) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
      }
    };
    for (int k = 0; k < 10; ++k) {
      test::Case boxes = test::rows_with_spectrum(chance, {1, 0.1, 0.01, 1e-3, 1e-4}, 9);
      test::give_free_motion(chance, boxes);
      test::give_bounds(chance, boxes);
      add(boxes);
      add(test::random_contacts(chance, 5, 9, 0.2 * k, 1e-3, 1 + k % 3));
      test::Case balls = test::random_balls(chance, 5, 9, 0.5, 0);
      add(balls);
      balls.shape = ConeShape::box;
      add(balls);
      balls.bounds = ConeBounds::held;
      for (test::UnitCase& unit : balls.units) unit.rows.radius = 0.2;
      add(balls);
    }
    std::printf("%s %016" PRIx64 "\n", std::string(S::info.name).c_str(), hash);
  });
}
