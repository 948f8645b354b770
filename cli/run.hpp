#pragma once

#include <CLI/CLI.hpp>

namespace bristle::cli {

/// `bristle run SCENE` and `bristle scene check | show | schema`.
void add_run_commands(CLI::App& app, int& status);

}  // namespace bristle::cli
