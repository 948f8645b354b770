#pragma once

#include <CLI/CLI.hpp>

namespace bristle::cli {

/// `bristle run SCENE`.
void add_run_commands(CLI::App& app, int& status);

}  // namespace bristle::cli
