// A capsule between two fingertips for a minute at steps of 1 ms, beside MuJoCo in one
// run:
//
//   bench_holding [--quick]
//
// Both hold the same bodies with the same forces and coefficient of friction. What is
// timed goes in turns, so that a change of the machine's mood hits all alike. The exit
// status is 1 when ours moves or creeps by more than a thousandth of MuJoCo's; times
// never decide it.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <string_view>
#include <vector>

#include "bench/holding/driver.hpp"

namespace bristle::bench {
namespace {

constexpr int batch = 500;  // steps that are timed in one go

struct Measured {
  Holding holding;
  std::vector<double> step_times;  // of batches [s]
  std::array<double, 3> middle{};  // where it was in the middle of the run
  double fastest = 0;  // of any body, at the ends of batches of the second half [m/s]
  double creep = 0;    // mean speed in the second half [m/s]
};

double thread_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

double median(std::vector<double> x) {
  std::nth_element(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(x.size() / 2),
                   x.end());
  return x[x.size() / 2];
}

void run(std::vector<Measured>& all, int batches) {
  for (int k = 0; k < batches; ++k) {
    for (Measured& one : all) {
      if (k == batches / 2) one.middle = one.holding.place();
      const double started = thread_seconds();
      for (int i = 0; i < batch; ++i) one.holding.step();
      one.step_times.push_back((thread_seconds() - started) / batch);
      if (k >= batches / 2) one.fastest = std::max(one.fastest, one.holding.speed());
    }
  }
  const double seconds = (batches - batches / 2) * batch * time_step;
  for (Measured& one : all) {
    const std::array<double, 3> end = one.holding.place();
    one.creep = std::hypot(end[0] - one.middle[0], end[1] - one.middle[1],
                           end[2] - one.middle[2]) /
                seconds;
  }
}

int compare(bool quick) {
  std::vector<Measured> all;
  all.push_back({bristle_holding(), {}});
  for (const double time_constant : {0.02, 0.002}) {
    all.push_back({mujoco_holding(time_constant), {}});
  }
  const int batches = quick ? 10 : 120;
  run(all, batches);
  fmt::print("A capsule held for {:g} s, steps of {:g} ms; ours with {:g} N/m\n\n",
             batches * batch * time_step, 1e3 * time_step, contact_stiffness);
  fmt::print("{:32} {:>16} {:>16} {:>14}\n", "", "creep [m/s]", "fastest [m/s]",
             "a step [µs]");
  for (const Measured& one : all) {
    fmt::print("{:32} {:16.3g} {:16.3g} {:13.2f}\n", one.holding.name, one.creep,
               one.fastest, 1e6 * median(one.step_times));
  }
  const Measured& ours = all.front();
  bool good = ours.fastest < 1e-9;
  for (std::size_t i = 1; i < all.size(); ++i) {
    good = good && 1000 * ours.creep <= all[i].creep;
  }
  fmt::print("\n{}\n", good ? "ours does not move" : "OURS MOVES");
  return good ? 0 : 1;
}

}  // namespace
}  // namespace bristle::bench

int main(int argc, char** argv) {
  const bool quick = argc > 1 && std::string_view(argv[1]) == "--quick";
  return bristle::bench::compare(quick);
}
