// A steel ball that bounces 38 times and comes to rest: error-controlled integrators side
// by side in one run.
//
//   bench_bounce [--quick] [--output DIR]
//
// Everybody takes their turn in every round, so that a change of the machine's mood hits
// all alike; the best time counts. The exit status is 1 when one of ours, or of SUNDIALS
// through our adapter at a tight tolerance, misses what it should find; times never
// decide it.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>

#include "bench/bounce/spec.hpp"
#include "report/figure.hpp"

namespace bristle::bench::bounce {
namespace {

struct Plan {
  int rounds = 5;
  std::vector<double> until{2.34, 5};
  std::vector<double> ours{1e-2, 1e-3, 1e-4,  1e-5,  1e-6, 1e-7,
                           1e-8, 1e-9, 1e-10, 1e-11, 1e-12};
  std::vector<double> sundials{1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10};
  std::vector<double> simbody{1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9};
  std::vector<double> others{1e-3, 1e-4, 1e-5, 1e-6};
  std::string output;
};

/// Time of this thread: does not run while another program has the core.
double thread_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

struct Row {
  const Contestant* who;
  double until;
  Outcome outcome;
  double seconds = HUGE_VAL;         // the best
  double error = HUGE_VAL;           // of the first touches [s]
  bool astray = false;               // it is not where the ball is, and did not say so
  std::size_t fewest = 0, most = 0;  // touches that the error explains

  bool good() const { return std::isfinite(error) && !astray; }
  bool is(std::string_view name) const {
    return std::string_view(who->name).starts_with(name);
  }
};

/// A ball that misses its height by this, or a touch, is somewhere else.
constexpr double lost = 0.01;  // [m]

void judge(Row& row, const Reference& reference) {
  const std::vector<double>& touches = row.outcome.touches;
  if (touches.size() >= compared) {
    row.error = 0;
    for (std::size_t i = 0; i < compared; ++i) {
      row.error = std::max(row.error, std::abs(touches[i] - reference.touches[i]));
    }
    row.error = std::max(row.error, 1e-16);
  }
  // Touches near the end may fall on its other side.
  const auto before = [&](double time) {
    return static_cast<std::size_t>(std::count_if(reference.touches.begin(),
                                                  reference.touches.end(),
                                                  [&](double t) { return t < time; }));
  };
  row.fewest = before(row.until - row.error);
  row.most = before(row.until + row.error);
  const double off = row.outcome.height - reference.height(row.outcome.time);
  row.astray = row.outcome.trouble.empty() && !(std::abs(off) < lost);
}

std::vector<Row> measure(const std::vector<Contestant>& contestants, double until,
                         int rounds, const Reference& reference) {
  std::vector<Row> rows;
  rows.reserve(contestants.size());
  for (const Contestant& who : contestants) rows.push_back({&who, until, {}});
  for (int round = 0; round < rounds; ++round) {
    for (Row& row : rows) {
      const double start = thread_seconds();
      row.outcome = row.who->run(until);
      row.seconds = std::min(row.seconds, thread_seconds() - start);
    }
  }
  for (Row& row : rows) judge(row, reference);
  return rows;
}

double per_impact(const Row& row) {
  const double touches = static_cast<double>(row.outcome.touches.size());
  return touches > 0 ? static_cast<double>(row.outcome.evaluations) / touches : 0;
}

std::string remark(const Row& row) {
  if (!row.outcome.trouble.empty()) return row.outcome.trouble.substr(0, 60);
  if (row.astray) {
    return fmt::format("NOT THERE, and no word of it: {:.3g} m high", row.outcome.height);
  }
  if (!std::isfinite(row.error)) return "misses touches, and no word of it";
  const std::size_t touches = row.outcome.touches.size();
  if (touches < row.fewest || touches > row.most) {
    return fmt::format("{} touches, not {}", touches, row.fewest);
  }
  return {};
}

void print_table(const std::vector<Row>& rows, double until) {
  fmt::print("\n{} s\n{:27} {:>6} {:>7} {:>8} {:>7} {:>8} {:>9} {:>9} {:>8} {:>11}\n",
             until, "", "rtol", "steps", "rhs", "looks", "rhs per", "CPU", "error of",
             "touches", "ends at");
  fmt::print("{:27} {:>6} {:>7} {:>8} {:>7} {:>8} {:>9} {:>9} {:>8} {:>11}\n", "", "", "",
             "", "", "impact", "ms", "10 touches", "", "m");
  std::string_view name;
  for (const Row& row : rows) {
    const Outcome& o = row.outcome;
    const bool again = name == row.who->name;
    name = row.who->name;
    fmt::print(
        "{:27} {:>6.0e} {:>7} {:>8} {:>7} {:>8.0f} {:>9.3f} {:>9} {:>8} {:>11.3e}  {}\n",
        again ? "" : row.who->name, row.who->tolerance, o.steps, o.evaluations,
        o.contact_evaluations, per_impact(row), 1e3 * row.seconds,
        std::isfinite(row.error) ? fmt::format("{:.1e}", row.error) : "-",
        o.touches.size(), o.height, remark(row));
  }
}

/// Rows of one method that stayed where they belong, from coarse to fine tolerances.
std::vector<const Row*> curve_of(const std::vector<Row>& rows, std::string_view name) {
  std::vector<const Row*> curve;
  for (const Row& row : rows) {
    if (row.who->name == name && row.good()) curve.push_back(&row);
  }
  return curve;
}

struct EqualError {
  double seconds;
  const Row *coarse, *fine;
};

/// What a method takes for an error: between its own rows, on logarithmic scales. Nothing
/// where none of them is as fine; the coarsest row where all are finer. A row that was
/// lucky counts as no better than those of tighter tolerances.
std::optional<EqualError> at_error(const std::vector<const Row*>& curve, double error) {
  std::vector<double> errors(curve.size());
  double most = 0;
  for (std::size_t i = curve.size(); i-- > 0;) {
    most = std::max(most, curve[i]->error);
    errors[i] = most;
  }
  if (curve.empty() || errors.back() > error) return {};
  std::size_t i = 0;
  while (errors[i] > error) ++i;
  const Row& fine = *curve[i];
  if (i == 0) return EqualError{fine.seconds, &fine, &fine};
  const Row& coarse = *curve[i - 1];
  const double part =
      std::log(error / errors[i - 1]) / std::log(errors[i] / errors[i - 1]);
  return EqualError{coarse.seconds * std::pow(fine.seconds / coarse.seconds, part),
                    &coarse, &fine};
}

void print_ratios(const std::vector<Row>& rows, double until) {
  const std::vector<const Row*> clock = curve_of(rows, "Bristle, contact time");
  fmt::print("\n{} s: CPU time at equal error, against ours in contact time\n", until);
  double least = HUGE_VAL, most = 0;
  for (const Row& row : rows) {
    if (row.is("Bristle") || !row.good()) continue;
    const auto equal = at_error(clock, row.error);
    if (!equal) {
      fmt::print("  {:27} {:.0e}: error {:.1e}, none of ours is as fine\n", row.who->name,
                 row.who->tolerance, row.error);
      continue;
    }
    fmt::print(
        "  {:27} {:.0e}: error {:.1e}, {:9.3f} ms; ours {:7.3f} ms ({}): {:6.1f} times\n",
        row.who->name, row.who->tolerance, row.error, 1e3 * row.seconds,
        1e3 * equal->seconds,
        equal->coarse == equal->fine
            ? fmt::format("rtol {:.0e}, error {:.1e}", equal->fine->who->tolerance,
                          equal->fine->error)
            : fmt::format("rtol {:.0e} … {:.0e}", equal->coarse->who->tolerance,
                          equal->fine->who->tolerance),
        row.seconds / equal->seconds);
    if (!row.is("Simbody")) continue;
    least = std::min(least, row.seconds / equal->seconds);
    most = std::max(most, row.seconds / equal->seconds);
  }
  fmt::print("  Simbody takes {:.0f} … {:.0f} times as long as ours in contact time.\n",
             least, most);
}

bool write_csv(const std::vector<std::vector<Row>>& tables, const std::string& path) {
  std::ofstream file(path);
  file << "method,rtol,until_s,steps,evaluations,looks,evaluations_per_impact,cpu_s,"
          "error_of_ten_touches_s,touches,end_s,height_m,astray,trouble\n";
  for (const std::vector<Row>& rows : tables) {
    for (const Row& row : rows) {
      const Outcome& o = row.outcome;
      std::string trouble = o.trouble;
      std::replace(trouble.begin(), trouble.end(), '"', '\'');
      std::replace(trouble.begin(), trouble.end(), '\n', ' ');
      file << fmt::format(
          "\"{}\",{:.0e},{},{},{},{},{:.1f},{:.6e},{},{},{:.9g},{:.9e},{},\"{}\"\n",
          row.who->name, row.who->tolerance, row.until, o.steps, o.evaluations,
          o.contact_evaluations, per_impact(row), row.seconds,
          std::isfinite(row.error) ? fmt::format("{:.3e}", row.error) : "",
          o.touches.size(), o.time, o.height, row.astray ? 1 : 0, trouble);
    }
  }
  file.close();
  return !file.fail();
}

bool write_plot(const std::vector<std::vector<Row>>& tables, const std::string& path) {
  report::Figure figure{.title = "A steel ball that bounces: work against precision",
                        .note =
                            "66 g from 1 m, k = 1e10 N/m^1.5, λ = 1e5 N s/m^1.5. "
                            "Methods that lost the ball are not drawn.",
                        .panels = {},
                        .columns = 2};
  for (const std::vector<Row>& rows : tables) {
    const std::string until = fmt::format("{} s, {} touches", rows.front().until,
                                          rows.front().until < 2.5 ? 10 : 38);
    report::Panel evaluations{.title = "Right-hand sides: " + until,
                              .x_label = "largest error of the first ten touches [s]",
                              .y_label = "right-hand sides",
                              .curves = {},
                              .log_x = true,
                              .log_y = true};
    report::Panel times = evaluations;
    times.title = "CPU time: " + until;
    times.y_label = "CPU time [ms]";
    std::vector<std::string_view> names;
    for (const Row& row : rows) {
      if (names.empty() || names.back() != row.who->name) names.push_back(row.who->name);
    }
    for (const std::string_view name : names) {
      report::Curve work{.label = std::string(name),
                         .x = {},
                         .y = {},
                         .dashed = name.starts_with("Simbody")};
      report::Curve time = work;
      for (const Row* row : curve_of(rows, name)) {
        work.x.push_back(row->error);
        work.y.push_back(static_cast<double>(row->outcome.evaluations));
        time.x.push_back(row->error);
        time.y.push_back(1e3 * row->seconds);
      }
      if (work.x.size() < 2) continue;
      evaluations.curves.push_back(std::move(work));
      times.curves.push_back(std::move(time));
    }
    figure.panels.push_back(std::move(evaluations));
    figure.panels.push_back(std::move(times));
  }
  return report::write_figure(figure, path);
}

/// What must hold on any machine: integration in contact time finds every touch and the
/// place of rest at every tolerance, and is as exact as it was asked to be; plain time
/// and SUNDIALS are, where that is tight.
bool check(const std::vector<Row>& rows) {
  bool good = true;
  for (const Row& row : rows) {
    const bool of_ours = row.is("Bristle");
    // Of order 8 it has Fehlberg's pair, whose estimate of the error is too good at
    // times.
    const bool of_sundials =
        (row.is("CVODE") || row.is("ARKODE")) && !row.is("ARKODE, ERK 8");
    if (!of_ours && !of_sundials) continue;
    const double rtol = row.who->tolerance;
    if (of_sundials && rtol > 1e-6) continue;
    if (row.is("Bristle, plain time") && rtol > 1e-4) continue;
    std::string failed;
    if (!row.outcome.trouble.empty()) failed += " " + row.outcome.trouble;
    if (const std::size_t touches = row.outcome.touches.size();
        touches < row.fewest || touches > row.most) {
      failed += fmt::format(" {} touches, not {}", touches, row.fewest);
    }
    // Every step of some tens per impact may err by rtol of a flight time.
    const double allowed = std::max(100 * rtol, 1e-13);
    if (!(row.error < allowed))
      failed += fmt::format(" error not within {:.0e}", allowed);
    if (row.astray) failed += " not where it belongs";
    if (failed.empty()) continue;
    good = false;
    fmt::print("FAILED: {} at {:.0e}:{}\n", row.who->name, rtol, failed);
  }
  return good;
}

void print_help() {
  fmt::print(
      "usage: bench_bounce [--quick] [--output DIR]\n\n"
      "Drops a steel ball under Bristle's adaptive integrator, SUNDIALS through its "
      "adapter, "
      "and\n"
      "Simbody's integrators, and compares work, time and error.\n\n"
      "  --quick        a short run: the times mean little, the checks hold\n"
      "  --output DIR   writes bounce.csv and bounce.svg there\n"
      "  --help         this text\n\n"
      "Exit status 1 when a check fails.\n");
}

bool run(const Plan& plan) {
  const Reference reference = solve_reference();
  std::vector<Contestant> contestants = ours(plan.ours);
  const auto add = [&](std::vector<Contestant> more) {
    for (Contestant& c : more) contestants.push_back(std::move(c));
  };
  add(sundials(plan.sundials));
  add(simbody(plan.simbody));
  add(simbody_others(plan.others));
  fmt::print(
      "A steel ball of {} kg dropped from {} m. All methods in turn, best of {} rounds, "
      "thread time.\n"
      "Reference in extended precision: {} touches, the tenth at {:.15f} s.\n",
      mass, drop, plan.rounds, reference.touches.size(), reference.touches[compared - 1]);
  bool good = reference.touches.size() == 38;
  std::vector<std::vector<Row>> tables;
  for (const double until : plan.until) {
    tables.push_back(measure(contestants, until, plan.rounds, reference));
    print_table(tables.back(), until);
  }
  for (std::size_t i = 0; i < tables.size(); ++i) print_ratios(tables[i], plan.until[i]);
  if (!plan.output.empty()) {
    const std::filesystem::path folder(plan.output);
    std::error_code ignored;
    std::filesystem::create_directories(folder, ignored);
    const bool written = write_plot(tables, (folder / "bounce.svg").string()) &&
                         write_csv(tables, (folder / "bounce.csv").string());
    fmt::print("\n{} {}\n",
               written ? "Wrote bounce.svg and bounce.csv to" : "FAILED: cannot write to",
               plan.output);
    good = good && written;
  }
  fmt::print("\n");
  for (const std::vector<Row>& rows : tables) good = check(rows) && good;
  fmt::print(
      "Checked: every touch and the end in contact time at every tolerance, of "
      "plain\ntime from 1e-4 and of SUNDIALS from 1e-6 on: {}\n",
      good ? "ok" : "FAILED");
  return good;
}

}  // namespace
}  // namespace bristle::bench::bounce

int main(int argc, char** argv) {
  bristle::bench::bounce::Plan plan;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument(argv[i]);
    if (argument == "--quick") {
      plan.rounds = 1;
      plan.ours = {1e-2, 1e-4, 1e-6, 1e-8, 1e-10};
      plan.sundials = {1e-4, 1e-7};
      plan.simbody = {1e-4, 1e-7};
      plan.others = {1e-3};
      plan.until = {2.34};
    } else if (argument == "--output" && i + 1 < argc) {
      plan.output = argv[++i];
    } else if (argument == "--help" || argument == "-h") {
      bristle::bench::bounce::print_help();
      return 0;
    } else {
      fmt::print(stderr, "bench_bounce: unknown argument '{}'\n", argument);
      return 2;
    }
  }
  return bristle::bench::bounce::run(plan) ? 0 : 1;
}
