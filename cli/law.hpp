#pragma once

#include <string>
#include <vector>

#include "cli/settings.hpp"

namespace CLI {
class App;
}

namespace bristle::cli {

/// Adds `bristle law …`; the exit status of what was run goes to `status`.
void add_law_commands(CLI::App& app, int& status);

}  // namespace bristle::cli
