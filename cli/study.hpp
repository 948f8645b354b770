#pragma once

#include <CLI/CLI.hpp>

namespace bristle::cli {

/// `bristle study list | show | run | all`: the papers' numerical results, computed.
void add_study_commands(CLI::App& app, int& status);

}  // namespace bristle::cli
