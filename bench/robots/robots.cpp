// Robots in contact at steps of 1 ms, side by side with others in one run:
//
//   bench_robots [--quick]
//
// What is timed is the same stretch of motion in every driver, in turns, so that a change
// of the machine's mood hits all alike. The exit status is 1 when a driver ends in
// another place than it should or stepping ours allocates; times never decide it.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <string_view>

#include "bench/robots/driver.hpp"
#include "bristle/model/joint.hpp"
#include "tests/contract/allocations.hpp"

namespace bristle::bench {
namespace {

struct Plan {
  int rounds = 15;
  int settle = 500;  // steps before the clock starts
  int steps = 2000;  // timed in every round, once one by one and once in batches
  int batch = 100;
  std::vector<int> checkpoints{200, 1000, 5000};  // steps
};

struct Robot {
  RobotSpec spec;
  std::vector<Driver> drivers;  // ours first
};

Robot arm() {
  const RobotSpec spec = arm_spec();
  return {spec,
          {bristle_arm(), plain_loop(spec), bristle_arm(OurStep::linearly_implicit),
           bristle_arm(OurStep::complementarity), mujoco(spec, "Newton"),
           mujoco(spec, "PGS"), mujoco(spec, "CG"), simbody(spec)}};
}

Robot quadruped() {
  const RobotSpec spec = quadruped_spec();
  return {spec,
          {bristle_quadruped(), plain_loop(spec),
           bristle_quadruped(OurStep::linearly_implicit),
           bristle_quadruped(OurStep::complementarity), mujoco(spec, "Newton"),
           mujoco(spec, "PGS"), mujoco(spec, "CG"), simbody(spec)}};
}

/// Time of this thread: does not run while another program has the core.
double thread_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

double wall_seconds() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

double quantile(std::vector<double> x, double part) {
  std::sort(x.begin(), x.end());
  return x[static_cast<std::size_t>(part * static_cast<double>(x.size() - 1))];
}

/// Of one measurement of nothing [s].
template <class Clock>
double cost(Clock clock) {
  std::vector<double> passed(1001);
  for (double& p : passed) {
    const double start = clock();
    p = clock() - start;
  }
  return quantile(passed, 0.5);
}

struct Times {
  std::vector<double> single, batches;  // seconds per step
  long allocations = 0;                 // in all batches
};

std::vector<Times> measure(const std::vector<Driver>& drivers, const Plan& plan) {
  std::vector<Times> times(drivers.size());
  for (int round = 0; round < plan.rounds; ++round) {
    for (std::size_t i = 0; i < drivers.size(); ++i) {
      const Driver& driver = drivers[i];
      driver.reset();
      driver.run(plan.settle);
      for (int k = 0; k < plan.steps; ++k) {
        const double start = wall_seconds();
        driver.run(1);
        times[i].single.push_back(wall_seconds() - start);
      }
      driver.reset();
      driver.run(plan.settle);
      for (int k = 0; k < plan.steps; k += plan.batch) {
        const contract::AllocationCount allocations;
        const double start = thread_seconds();
        driver.run(plan.batch);
        const double passed = thread_seconds() - start;
        times[i].allocations += allocations.since();
        times[i].batches.push_back(passed / plan.batch);
      }
    }
  }
  return times;
}

/// Whether ours did without allocations.
bool report_times(const Robot& robot, const Plan& plan) {
  const std::vector<Times> times = measure(robot.drivers, plan);
  std::vector<double> typical;
  double mujoco_best = 1e300, plain = 1e300;
  for (std::size_t i = 0; i < times.size(); ++i) {
    const std::string& name = robot.drivers[i].name;
    typical.push_back(quantile(times[i].batches, 0.5));
    if (name.starts_with("MuJoCo")) mujoco_best = std::min(mujoco_best, typical[i]);
    if (name == "plain loop") plain = typical[i];
  }
  fmt::print("  {:16} {:>9} {:>17} {:>26} {:>12}\n", "", "batches", "single steps",
             "batches relative to", "new");
  fmt::print("  {:16} {:>9} {:>8} {:>8} {:>15} {:>10} {:>12}\n", "µs per step", "median",
             "median", "p99", "fastest MuJoCo", "plain loop", "per step");
  for (std::size_t i = 0; i < times.size(); ++i) {
    const double steps = static_cast<double>(times[i].batches.size()) * plan.batch;
    fmt::print("  {:16} {:9.2f} {:8.2f} {:8.2f} {:15.2f} {:10.2f} {:12.2f}\n",
               robot.drivers[i].name, 1e6 * typical[i],
               1e6 * quantile(times[i].single, 0.5),
               1e6 * quantile(times[i].single, 0.99), typical[i] / mujoco_best,
               typical[i] / plain, static_cast<double>(times[i].allocations) / steps);
  }
  const long ours = times.front().allocations;
  if (ours != 0) fmt::print("  FAILED: stepping ours allocated {} times\n", ours);
  return ours == 0;
}

Transform<double> turned(const Vec3<double>& turn) {
  return {to_matrix(rotation_exp(turn)), {0, 0, 0}};
}

/// Centres of the feet in the world, one after the other.
std::vector<double> foot_positions(const RobotSpec& robot, const std::vector<double>& q) {
  Transform<double> base;
  if (robot.floating) base = {to_matrix(load_quaternion(&q[3])), load_vec3(&q[0])};
  const std::size_t first = q.size() - robot.links.size();
  std::vector<Transform<double>> poses;
  for (std::size_t i = 0; i < robot.links.size(); ++i) {
    const LinkSpec& l = robot.links[i];
    Vec3<double> turn{0, 0, 0};
    (l.axis == 0 ? turn.x : l.axis == 1 ? turn.y : turn.z) = q[first + i];
    const Transform<double> place{Mat3<double>::identity(), load_vec3(l.place)};
    poses.push_back((l.parent < 0 ? base : poses[static_cast<std::size_t>(l.parent)]) *
                    place * turned({l.roll, 0, 0}) * turned(turn));
  }
  std::vector<double> feet;
  for (const FootSpec& foot : robot.feet) {
    const Vec3<double> p =
        poses[static_cast<std::size_t>(foot.link)] * load_vec3(foot.centre);
    feet.insert(feet.end(), {p.x, p.y, p.z});
  }
  return feet;
}

double difference(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}

struct Place {
  double time;
  std::vector<double> q;     // a quaternion in it has length 1 and w ≥ 0
  std::vector<double> feet;  // [m]

  /// What is watched: the trunk where there is one, or else the tip.
  Vec3<double> mark(const RobotSpec& robot) const {
    return load_vec3(robot.floating ? q.data() : feet.data());
  }
};

Place place(const RobotSpec& robot, const Driver& driver) {
  std::vector<double> q = driver.positions();
  if (robot.floating) {
    const double length = std::hypot(std::hypot(q[3], q[4]), std::hypot(q[5], q[6]));
    for (std::size_t k = 7; k-- > 3;) q[k] /= q[3] < 0 ? -length : length;
  }
  return {driver.time(), q, foot_positions(robot, q)};
}

/// How far drivers with the same law and step may part.
///
/// The arm amplifies a disturbance by less than 1e3, so rounding stays below 1e-12. The
/// quadruped's friction is too stiff for an explicit step of 1 ms (h μf/(v_s m) > 2 at a
/// foot), which makes its motion chaotic: sixty runs of the plain loop whose starts
/// differ by up to 6e-12 rad part by 4e-9 in 200 steps, 0.024 in 1000 and 0.1 in 5000.
double tolerance(const RobotSpec& robot, int steps) {
  if (!robot.floating) return 1e-11;
  return steps <= 200 ? 1e-6 : steps <= 1000 ? 0.08 : 0.3;
}

/// Any contact law holds the trunk, or the tip, there within this [m].
constexpr double coarse = 0.01;

bool report_places(const Robot& robot, const Plan& plan) {
  const RobotSpec& spec = robot.spec;
  RobotSpec nudged = spec;
  nudged.links[1].start += 1e-13;
  std::vector<Driver> drivers = robot.drivers;
  drivers.push_back(plain_loop(nudged));
  drivers.back().name = "plain, nudged";
  drivers.push_back(plain_loop(spec, 100));
  drivers.back().name = "plain at 10 µs";

  for (const Driver& driver : drivers) driver.reset();
  bool good = true;
  int done = 0;
  for (const int steps : plan.checkpoints) {
    std::vector<Place> places;
    for (const Driver& driver : drivers) {
      driver.run(steps - done);
      places.push_back(place(spec, driver));
    }
    done = steps;
    const Place& simbody = places[robot.drivers.size() - 1];
    const Place& converged = places.back();
    const double within = tolerance(spec, steps);
    fmt::print("  {:16} {:>23} {:>29}\n", fmt::format("after {} steps", steps),
               "from Simbody: q, feet",
               spec.floating ? "trunk x, y, z [m]" : "tip x, y, z [m]");
    for (std::size_t i = 0; i < places.size(); ++i) {
      const std::string& name = drivers[i].name;
      const Place& p = places[i];
      const Vec3<double> mark = p.mark(spec);
      const double q = difference(p.q, simbody.q),
                   feet = difference(p.feet, simbody.feet);
      Vec3<double> off = mark - converged.mark(spec);
      if (spec.floating) off.x = off.y = 0;  // how far it walks depends on the law

      // A NaN fails as well.
      std::string failed;
      if (!(std::abs(p.time - steps * time_step) < 1e-9)) failed += " time";
      if (!(norm(off) < coarse)) failed += fmt::format(" not within {} m", coarse);
      if (i < 2 && !(std::max(q, feet) < within))
        failed += fmt::format(" not within {:.0e} of Simbody", within);
      good = good && failed.empty();
      fmt::print("  {:16} {:>12.1e} {:>10.1e} {:>11.5f} {:9.5f} {:9.5f}{}\n", name, q,
                 feet, mark.x, mark.y, mark.z,
                 failed.empty() ? "" : "  FAILED:" + failed);
    }
  }
  return good;
}

void print_help() {
  fmt::print(
      "usage: bench_robots [--quick]\n\n"
      "Steps two robots in contact in Bristle and in others, compares the cost of a "
      "step\n"
      "and where the robots end.\n\n"
      "  --quick   a short run: the times mean little, the checks hold\n"
      "  --help    this text\n\n"
      "Exit status 1 when a driver ends in the wrong place or stepping ours "
      "allocates.\n");
}

bool run(const Plan& plan) {
  fmt::print(
      "{} rounds of {} steps of {} ms after {} untimed ones, all drivers in turn; each\n"
      "round once in batches of {} steps (thread time, {:.2f} µs to read) and once step "
      "by\n"
      "step (wall clock, {:.2f} µs to read). The clocks' cost is not subtracted.\n",
      plan.rounds, plan.steps, 1e3 * time_step, plan.settle, plan.batch,
      1e6 * cost(thread_seconds), 1e6 * cost(wall_seconds));
  bool good = true;
  for (const Robot& robot : {arm(), quadruped()}) {
    fmt::print("\n{}: {} joints{}, feet: {}\n", robot.spec.name, robot.spec.links.size(),
               robot.spec.floating ? " and a free trunk" : "", robot.spec.feet.size());
    const bool frugal = report_times(robot, plan);
    fmt::print("\n");
    const bool placed = report_places(robot, plan);
    good = good && frugal && placed;
  }
  fmt::print(
      "\nNudged: started 1e-13 rad off. Checked: bristle and the plain loop against "
      "Simbody,"
      "\ntip or trunk height of all within {:.0f} mm of the plain loop at 10 µs, no new "
      "in "
      "bristle: {}\n",
      1e3 * coarse, good ? "ok" : "FAILED");
  return good;
}

}  // namespace
}  // namespace bristle::bench

int main(int argc, char** argv) {
  bristle::bench::Plan plan;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument(argv[i]);
    if (argument == "--quick") {
      plan = {1, 100, 200, 100, {200, 1000}};
    } else if (argument == "--help" || argument == "-h") {
      bristle::bench::print_help();
      return 0;
    } else {
      fmt::print(stderr, "bench_robots: unknown argument '{}'\n", argument);
      return 2;
    }
  }
  return bristle::bench::run(plan) ? 0 : 1;
}
