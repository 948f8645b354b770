// Everyday scenes under the fixed and the adaptive integrator at defaults, beside MuJoCo
// at its own, in one run:
//
//   generate.py --seeds 200 --out DIR && bench_everyday DIR [--kinds
//   fixed,adaptive,mujoco]
//               [--limit 20] [--set KEY=VALUE]... [--csv FILE]
//
// Each run is a process of its own, so that none disturbs another and one that takes more
// than the limit of processor time is ended. Timed is the stepping, without reading
// files. The exit status is 1 when one of our runs does not end as it should: with status
// ok, within the limit, with its energy balanced, and never above the energy it began
// with.

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "bench/everyday/driver.hpp"

namespace bristle::bench {
namespace {

struct Wish {
  std::filesystem::path folder;
  std::vector<std::string> kinds{"fixed", "adaptive", "mujoco"};
  std::vector<std::string> settings{};
  std::string csv{};
  double limit = 20;  // of processor time per run [s]
};

struct Row {
  std::string scene;
  std::string kind;
  Everyday result;
};

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == ',') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

std::optional<Wish> read(int count, char** arguments) {
  Wish wish;
  for (int i = 1; i < count; ++i) {
    const std::string word = arguments[i];
    if (!word.starts_with("--")) {
      wish.folder = word;
      continue;
    }
    if (i + 1 == count) return std::nullopt;
    const std::string value = arguments[++i];
    if (word == "--kinds") {
      wish.kinds = split(value);
    } else if (word == "--limit") {
      wish.limit = std::atof(value.c_str());
    } else if (word == "--set") {
      wish.settings.push_back(value);
    } else if (word == "--csv") {
      wish.csv = value;
    } else {
      return std::nullopt;
    }
  }
  if (wish.folder.empty()) return std::nullopt;
  return wish;
}

/// One run in a process of its own.
Everyday run_apart(const Wish& wish, const std::string& kind,
                   const std::filesystem::path& scene) {
  Everyday result;
  int ends[2];
  if (pipe(ends) != 0) return result;
  const pid_t child = fork();
  if (child == 0) {
    const auto seconds = static_cast<rlim_t>(std::ceil(wish.limit + 1));
    const rlimit limit{seconds, seconds + 1};
    setrlimit(RLIMIT_CPU, &limit);
    Everyday mine;
    if (kind == "mujoco") {
      std::filesystem::path xml = scene;
      mine = mujoco_everyday(xml.replace_extension(".xml"));
    } else {
      std::vector<std::string> settings = wish.settings;
      settings.push_back("clock.kind=" + kind);
      mine = bristle_everyday(scene, settings);
    }
    const bool written = ::write(ends[1], &mine, sizeof mine) == sizeof mine;
    _exit(written ? 0 : 1);
  }
  close(ends[1]);
  const bool told = ::read(ends[0], &result, sizeof result) == sizeof result;
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (!told) {
    result = {};
    result.exit = WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU ? 124 : 4;
    result.cpu = wish.limit;
    std::strcpy(result.trouble, result.exit == 124 ? "took too long" : "crashed");
  }
  return result;
}

/// What a run must be: see docs/stepping.md.
bool sound(const Row& row, double limit) {
  const Everyday& r = row.result;
  if (row.kind == "mujoco") return r.exit == 0;
  const double balance = row.kind == "adaptive" ? 1e-4 : 1e-3;
  return r.exit == 0 && r.cpu <= limit && r.balance < balance && r.rise <= balance;
}

void total(const std::vector<Row>& rows, const std::string& kind, double limit) {
  std::vector<double> times;
  double sum = 0, balance = 0, rise = 0, creep = 0;
  int good = 0, standing = 0, still = 0;
  for (const Row& row : rows) {
    if (row.kind != kind) continue;
    times.push_back(row.result.cpu);
    sum += row.result.cpu;
    balance = std::max(balance, row.result.balance);
    rise = std::max(rise, row.result.rise);
    good += sound(row, limit) ? 1 : 0;
    if (!row.result.stands) continue;
    ++standing;
    still += row.result.speed < 1e-6 ? 1 : 0;
    creep = std::max(creep, row.result.speed);
  }
  if (times.empty()) return;
  std::sort(times.begin(), times.end());
  fmt::print(
      "{:9} {} of {} sound; {:.2f} s of processor time, median {:.3g} s, longest {:.3g} "
      "s; "
      "balance error <= {:.1e}, energy rises <= {:.1e}; {} of {} that stand end below "
      "1e-6 "
      "m/s, fastest {:.1e} m/s\n",
      kind, good, times.size(), sum, times[times.size() / 2], times.back(), balance, rise,
      still, standing, creep);
}

void write_csv(const std::vector<Row>& rows, const std::string& file) {
  std::FILE* out = std::fopen(file.c_str(), "w");
  if (out == nullptr) return;
  fmt::print(out, "scene,kind,exit,cpu_s,balance,rise,speed_m_s,steps,stands,trouble\n");
  for (const Row& row : rows) {
    const Everyday& r = row.result;
    fmt::print(out, "{},{},{},{:.6g},{:.3g},{:.3g},{:.3g},{},{},\"{}\"\n", row.scene,
               row.kind, r.exit, r.cpu, r.balance, r.rise, r.speed, r.steps,
               r.stands ? 1 : 0, r.trouble);
  }
  std::fclose(out);
}

int run(const Wish& wish) {
  std::vector<std::filesystem::path> scenes;
  for (const auto& entry : std::filesystem::directory_iterator(wish.folder)) {
    if (entry.path().extension() == ".toml") scenes.push_back(entry.path());
  }
  std::sort(scenes.begin(), scenes.end());
  std::vector<Row> rows;
  bool all = true;
  fmt::print("{:26} {:9} {:>4} {:>8} {:>9} {:>9} {:>9} {:>8}\n", "scene", "kind", "exit",
             "cpu [s]", "balance", "rise", "speed", "steps");
  for (const std::filesystem::path& scene : scenes) {
    for (const std::string& kind : wish.kinds) {
      const Row row{scene.stem().string(), kind, run_apart(wish, kind, scene)};
      const Everyday& r = row.result;
      const bool fine = sound(row, wish.limit);
      fmt::print("{:26} {:9} {:4} {:8.4f} {:9.1e} {:9.1e} {:9.1e} {:8}{} {}\n", row.scene,
                 kind, r.exit, r.cpu, r.balance, r.rise, r.speed, r.steps,
                 fine ? "" : "  !", r.trouble);
      std::fflush(stdout);
      all = all && fine;
      rows.push_back(row);
    }
  }
  for (const std::string& kind : wish.kinds) total(rows, kind, wish.limit);
  if (!wish.csv.empty()) write_csv(rows, wish.csv);
  return all ? 0 : 1;
}

}  // namespace
}  // namespace bristle::bench

int main(int count, char** arguments) {
  const auto wish = bristle::bench::read(count, arguments);
  if (!wish) {
    std::fputs(
        "bench_everyday DIR [--kinds fixed,adaptive,mujoco] [--limit SECONDS] "
        "[--set KEY=VALUE]... [--csv FILE]\n",
        stderr);
    return 2;
  }
  return bristle::bench::run(*wish);
}
