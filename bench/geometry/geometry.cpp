// Time per pair in the narrow phase, and how the broad phase grows with the bodies.
//
//   bench_geometry [LARGEST_NUMBER_OF_BODIES [REPEATS]]

#include <fmt/format.h>

#include <algorithm>
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

/// Poses of two shapes with a depth drawn from a range, in parts of the smaller shape.
std::vector<std::pair<Pose, Pose>> poses_about(const Shape& a, const Shape& b, double low,
                                               double high) {
  Random random(1);
  std::vector<std::pair<Pose, Pose>> poses;
  for (int i = 0; i < 500; ++i) {
    const Pose pa = random.pose(0);
    Pose pb = random.pose(0);
    pb.p = 1.5 * random.direction();
    const auto c = deepest(contacts(a, pa, b, pb));
    pb.p = pb.p + (c.depth - 0.3 * random.uniform(low, high)) * c.normal;
    poses.emplace_back(pa, pb);
  }
  return poses;
}

/// Poses in which the boxes around the shapes overlap but the shapes are apart.
std::vector<std::pair<Pose, Pose>> near_misses(const Shape& a, const Shape& b,
                                               double margin) {
  Random random(2);
  std::vector<std::pair<Pose, Pose>> poses;
  for (int i = 0; i < 100000 && poses.size() < 500; ++i) {
    const Pose pa = random.pose(0);
    Pose pb = random.pose(0);
    pb.p = random.uniform(0.4, 1.6) * random.direction();
    const Aabb box_a = bounds(a, pa, margin / 2);
    const Aabb box_b = bounds(b, pb, margin / 2);
    if (!overlap(box_a, box_b) || contacts(a, pa, b, pb, margin).count > 0) continue;
    poses.emplace_back(pa, pb);
  }
  return poses;
}

/// Microseconds for each pair of poses.
double time_per_pair(const Shape& a, const Shape& b,
                     const std::vector<std::pair<Pose, Pose>>& poses, double margin,
                     int repeats, double& contacts_each) {
  const auto find = pair_function<double>(kind_of(a), kind_of(b));
  int found = 0;
  double best = HUGE_VAL;
  for (int r = 0; r < repeats; ++r) {
    const double start = seconds();
    found = 0;
    for (const auto& [pa, pb] : poses) {
      Contacts<double> out;
      find(a, pa, b, pb, margin, out);
      found += out.count;
    }
    best = std::min(best, seconds() - start);
  }
  const auto count = static_cast<double>(std::max<std::size_t>(poses.size(), 1));
  contacts_each = found / count;
  return 1e6 * best / count;
}

void narrow_phase(int repeats) {
  const double margin = 1e-3;
  fmt::print(
      "narrow phase [us per pair]: touching, 0.1 to 5 % deep; deep, to half a radius;\n"
      "missing, where the boxes around the shapes overlap and the shapes do not\n"
      "  {:10} {:10} {:>9} {:>9} {:>9} {:>9}\n",
      "", "", "touching", "contacts", "deep", "missing");
  std::vector<Shape> all = bodies();
  all.insert(all.begin(), Plane{});
  for (const Shape& a : all) {
    for (const Shape& b : all) {
      if (pair_function<double>(kind_of(a), kind_of(b)) == nullptr) continue;
      if (a.index() > b.index()) continue;
      double each = 0;
      double ignored = 0;
      const double touching =
          time_per_pair(a, b, poses_about(a, b, 0.001, 0.05), margin, repeats, each);
      const double deep =
          time_per_pair(a, b, poses_about(a, b, 0.05, 0.5), margin, repeats, ignored);
      const double missing =
          kind_of(a) == ShapeKind::plane
              ? 0
              : time_per_pair(a, b, near_misses(a, b, margin), margin, repeats, ignored);
      fmt::print("  {:10} {:10} {:9.3f} {:9.2f} {:9.3f} {:9.3f}\n", name_of(kind_of(a)),
                 name_of(kind_of(b)), touching, each, deep, missing);
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
