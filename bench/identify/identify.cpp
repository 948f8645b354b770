// A fit of three parameters to many points from 16 starts on one core, next to SciPy's
// least_squares on the same residuals from the same starts, in one run.
//
//   bench_fit [POINTS [REPEATS]]
//
// SciPy is that of the first Python that has it; without it only our own time is told.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "bristle/laws/catalogue.hpp"
#include "identify/fit.hpp"
#include "identify/force_model.hpp"
#include "identify/least_squares.hpp"

namespace {

using namespace bristle;
using namespace bristle::identify;

constexpr double stiffness = 4e7, dissipation = 100, contact = 2e-5;
constexpr int starts = 16;

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

/// Presses under Hunt and Crossley's law with noise.
ForceData presses(std::size_t points) {
  const LawEntry& law = **find_law("hunt-crossley");
  ForceData data;
  for (std::size_t i = 0; i < points; ++i) {
    const double t = static_cast<double>(i) / static_cast<double>(points);
    data.time.push_back(t);
    data.position.push_back(1e-4 * std::sin(40 * t));
    data.speed.push_back(4e-3 * std::cos(40 * t) * (1 + std::sin(7 * t)));
    data.force.push_back(0);
    data.begins.push_back(i == 0);
  }
  ForceModel model(law, data, PatchShape::none, 0);
  std::vector<double> values = model.values();
  const auto set = [&](const char* name, double value) {
    values[static_cast<std::size_t>(model.find(name))] = value;
  };
  set("stiffness", stiffness);
  set("dissipation", dissipation);
  set("contact_point_m", contact);
  std::vector<double> force(points);
  model.residuals(values, {}, force.data(), nullptr);
  Random random(1, 1);
  for (std::size_t i = 0; i < points; ++i) {
    data.force[i] = force[i] + 0.05 * random.normal();
  }
  return data;
}

struct Ours {
  Fit fit;
  double seconds = 1e300;
};

Ours ours(const ForceModel& model, int repeats) {
  Ours best;
  for (int i = 0; i < repeats; ++i) {
    const double begin = cpu_seconds();
    auto found = fit(model, {.starts = starts});
    best.seconds = std::min(best.seconds, cpu_seconds() - begin);
    if (!found) {
      fmt::print(stderr, "{}\n", found.error());
      std::exit(1);
    }
    best.fit = std::move(*found);
  }
  return best;
}

/// The data, the exponent, and starts up to tenfold off the first guess, as ours are
/// drawn; ours are the best of twelve times as many, and the choice is a part of its
/// time.
void write_problem(const ForceModel& model, const std::string& path) {
  std::ofstream out(path);
  std::vector<double> first = model.values();
  model.improve(first);
  const auto place = [&](const char* name) {
    return static_cast<std::size_t>(model.find(name));
  };
  const Range& range = model.unknowns()[place("contact_point_m")].range;
  out << fmt::format("{:.17g}\n{}\n", first[place("exponent")], starts);
  Random random(1, 2);
  for (int i = 0; i < starts; ++i) {
    for (const char* name : {"stiffness", "dissipation"}) {
      out << fmt::format("{:.17g} ",
                         first[place(name)] * std::pow(10, random.uniform(-1, 1)));
    }
    out << fmt::format("{:.17g}\n", random.uniform(range.low, range.high));
  }
  const ForceData& data = model.data();
  for (std::size_t i = 0; i < data.size(); ++i) {
    out << fmt::format("{:.17g} {:.17g} {:.17g}\n", data.position[i], data.speed[i],
                       data.force[i]);
  }
}

/// The command that runs Python with SciPy; nothing where there is none.
std::string python_with_scipy() {
  for (const char* python : {"python3", "/usr/bin/python3"}) {
    const std::string test = fmt::format("{} -c 'import scipy' 2>/dev/null", python);
    if (std::system(test.c_str()) == 0) return python;
  }
  return {};
}

/// What the other program tells: "NAME SECONDS stiffness dissipation contact_point".
struct Theirs {
  std::string name;
  double seconds;
  std::array<double, 3> values;
};
std::vector<Theirs> theirs(const std::string& python, const std::string& problem,
                           int repeats) {
  const std::string command =
      fmt::format("OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 {} {} {} {}", python,
                  BRISTLE_BENCH_SCIPY, problem, repeats);
  std::vector<Theirs> list;
  std::FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return list;
  char name[32];
  Theirs t;
  while (std::fscanf(pipe, "%31s %lf %lf %lf %lf", name, &t.seconds, &t.values[0],
                     &t.values[1], &t.values[2]) == 5) {
    t.name = name;
    std::replace(t.name.begin(), t.name.end(), '_', ' ');
    list.push_back(t);
  }
  ::pclose(pipe);
  return list;
}

}  // namespace

int main(int argc, char** argv) {
  const auto points = static_cast<std::size_t>(argc > 1 ? std::atoi(argv[1]) : 10000);
  const int repeats = argc > 2 ? std::atoi(argv[2]) : 5;
  if (!can_minimise()) {
    fmt::print("{}\n", no_ceres);
    return 0;
  }
  const ForceModel model(**find_law("hunt-crossley"), presses(points), PatchShape::none,
                         0);
  const Ours mine = ours(model, repeats);
  fmt::print("{} points, {} parameters, {} starts, one core; {} starts at the best\n",
             points, mine.fit.estimates.size(), starts, mine.fit.starts_at_best);
  fmt::print("{:<34} {:8.3f} s", "bristle, the whole fit", mine.seconds);
  for (const Estimate& e : mine.fit.estimates) fmt::print("  {:.9g}", e.value);
  fmt::print("\n");
  const std::string python = python_with_scipy();
  if (python.empty()) {
    fmt::print("SciPy (python3-scipy) was not found: nothing to compare with\n");
    return 0;
  }
  const std::string problem =
      (std::filesystem::temp_directory_path() / fmt::format("bench_fit_{}", std::clock()))
          .string();
  write_problem(model, problem);
  bool same = true;
  const std::vector<Theirs> all = theirs(python, problem, repeats);
  for (const Theirs& t : all) {
    double off = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      off = std::max(off, std::fabs(t.values[k] / mine.fit.estimates[k].value - 1));
    }
    same = same && off < 1e-6;
    fmt::print("{:<34} {:8.3f} s  {:5.1f} times ours, the optimum within {:.1e}\n",
               "SciPy, " + t.name, t.seconds, t.seconds / mine.seconds, off);
  }
  std::filesystem::remove(problem);
  if (all.empty()) fmt::print("SciPy did not answer\n");
  return same && !all.empty() ? 0 : 1;
}
