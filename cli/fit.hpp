#pragma once

#include <CLI/CLI.hpp>

namespace bristle::cli {

/// `bristle fit`.
void add_fit_command(CLI::App& app, int& status);

}  // namespace bristle::cli
