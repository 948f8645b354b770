#include "studies/realtime.hpp"

#include <array>
#include <chrono>

namespace bristle::studies {

namespace {

constexpr std::array counts{1,  2,  3,  4,  5,  6,  7,  8,   9,   10,  12,  14, 16,
                            18, 20, 25, 30, 40, 50, 70, 100, 150, 200, 300, 500};
constexpr std::array<std::string_view, 4> methods{"semi-implicit-euler", "ode3", "rk4",
                                                  "linearly-implicit-euler"};
// One attempt may hold by chance: so must the next ones.
constexpr int in_a_row = 3;
// Examples that move, and how long they run [s].
struct Example {
  std::string_view name;
  double duration;
};
constexpr std::array<Example, 5> examples{{{"gonthier2004.stick-slip", 120},
                                           {"gonthier2004.inclined-plane", 3},
                                           {"gonthier2004.cylinder", 12},
                                           {"gonthier2004.double-pendulum", 10},
                                           {"gonthier2004.pendulum-impact", 0}}};

/// Empty, or the first check that does not hold.
std::string first_failure(const Outcome& outcome) {
  if (!outcome.trouble.empty()) return outcome.trouble;
  for (const Check& check : outcome.checks) {
    if (!check.passes()) return check.name;
  }
  return {};
}

}  // namespace

std::vector<RealtimeRow> realtime_table(
    const std::function<void(std::string_view, std::string_view, int)>& tell) {
  std::vector<RealtimeRow> rows;
  for (const Example& example : examples) {
    const Study& study = **find_study(example.name);
    std::vector<double> presets;
    presets.reserve(study.parameters.size());
    for (const Parameter& p : study.parameters) presets.push_back(p.preset);
    const Values published(study.parameters, presets);
    for (std::size_t m = 0; m < methods.size(); ++m) {
      RealtimeRow row{.study = study.name, .method = methods[m]};
      int held = 0;
      double first_took = 0;
      for (const int substeps : counts) {
        if (tell) tell(study.name, methods[m], substeps);
        Values values = published.with("clock", 1)
                            .with("step_s", 1e-3)
                            .with("method", static_cast<double>(m))
                            .with("substeps", substeps);
        const auto begin = std::chrono::steady_clock::now();
        const Result<Outcome> outcome = study.run(values, false);
        const double took =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
                .count();
        row.tried = substeps;
        const std::string failure = outcome ? first_failure(*outcome) : outcome.error();
        if (!failure.empty()) {
          row.fails = failure;
          row.substeps = held = 0;
          continue;
        }
        if (held++ == 0) {
          row.substeps = substeps;
          first_took = took;
        }
        if (held == in_a_row) break;
      }
      if (row.substeps > 0 && example.duration > 0) {
        row.busy = first_took / example.duration;
      }
      rows.push_back(row);
    }
  }
  return rows;
}

}  // namespace bristle::studies
