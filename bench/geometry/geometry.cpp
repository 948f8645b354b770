// Time per pair in the narrow phase, and how the broad phase grows with the bodies.
//
//   bench_geometry [LARGEST_NUMBER_OF_BODIES [REPEATS]]

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <ctime>
#include <vector>

#include "bristle/geometry/broad_phase.hpp"
#include "bristle/geometry/pairs.hpp"
#include "tests/geometry/common.hpp"

namespace {

using namespace bristle;
using namespace bristle::test;

/// Of this program's own time, so that others on the machine count less.
double seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

void narrow_phase(int repeats) {
  fmt::print("narrow phase, poses about touching and up to half a radius deep\n");
  std::vector<Shape> all = bodies();
  all.insert(all.begin(), Plane{});
  for (const Shape& a : all) {
    for (const Shape& b : all) {
      const auto find = pair_function<double>(kind_of(a), kind_of(b));
      if (find == nullptr || a.index() > b.index()) continue;
      Random random(1);
      std::vector<std::pair<Pose, Pose>> poses;
      for (int i = 0; i < 200; ++i) {
        const Pose pa = random.pose(0);
        Pose pb = random.pose(0);
        pb.p = 1.5 * random.direction();
        const auto c = deepest(contacts(a, pa, b, pb));
        pb.p = pb.p + (c.depth - random.uniform(-0.05, 0.15)) * c.normal;
        poses.emplace_back(pa, pb);
      }
      int found = 0;
      const double start = seconds();
      for (int r = 0; r < repeats; ++r) {
        for (const auto& [pa, pb] : poses) {
          Contacts<double> out;
          find(a, pa, b, pb, 0.1, out);
          found += out.count;
        }
      }
      const double each =
          (seconds() - start) / (repeats * static_cast<double>(poses.size()));
      fmt::print(
          "  {:10} {:10} {:8.3f} us {:5.2f} contacts\n", name_of(kind_of(a)),
          name_of(kind_of(b)), 1e6 * each,
          static_cast<double>(found) / (repeats * static_cast<double>(poses.size())));
    }
  }
}

/// Balls of mixed size at a constant density: about six boxes touch each.
double broad_phase(std::size_t count, int repeats) {
  Random random(2);
  const double side = std::cbrt(static_cast<double>(count));
  std::vector<Aabb> boxes;
  for (std::size_t i = 0; i < count; ++i) {
    const V c{random.uniform(0, side), random.uniform(0, side), random.uniform(0, side)};
    boxes.push_back(bounds(Sphere{random.uniform(0.2, 0.6)}, at(c), 0.05));
  }
  BroadPhase broad(count, 16 * count);
  double best = HUGE_VAL;
  for (int r = 0; r < repeats; ++r) {
    const double start = seconds();
    const auto status =
        broad.find(boxes, [](std::uint32_t, std::uint32_t) { return true; });
    best = std::min(best, seconds() - start);
    if (status != BroadStatus::ok) fmt::print("  no room\n");
  }
  fmt::print("  {:8} bodies {:9} pairs {:10.3f} ms {:8.1f} ns per body\n", count,
             broad.pairs().size(), 1e3 * best, 1e9 * best / static_cast<double>(count));
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  const long largest = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 100000;
  const int repeats = argc > 2 ? static_cast<int>(std::strtol(argv[2], nullptr, 10)) : 5;
  narrow_phase(repeats);
  fmt::print("broad phase\n");
  double last = 0;
  for (long n = 1000; n <= largest; n *= 10) {
    const double time = broad_phase(static_cast<std::size_t>(n), repeats);
    if (last > 0)
      fmt::print("  10 times the bodies: {:.1f} times the time\n", time / last);
    last = time;
  }
  return 0;
}
