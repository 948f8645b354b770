#pragma once

#include <CLI/CLI.hpp>

namespace bristle::cli {

/// `bristle crosscheck SCENE`.
void add_crosscheck_command(CLI::App& app, int& status);

}  // namespace bristle::cli
