#pragma once

#include <string>
#include <vector>

#include "cli/runner.hpp"
#include "cli/text.hpp"

namespace bristle::cli {

const char* ending_text(Ending ending);

/// What `--json` prints, and what a recording keeps.
Json summary_json(const scene::Scene& scene, const RunReport& report);

/// Names of what is not a finite number in a summary: "ledger.kinetic_J".
std::vector<std::string> not_finite(const Json& summary);

/// The same as text. Deadlines are those of a run against the wall clock.
void print_summary(const scene::Scene& scene, const RunReport& report, bool realtime);

}  // namespace bristle::cli
