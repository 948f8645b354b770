#pragma once

namespace CLI {
class App;
}

namespace bristle::cli {

/// Adds `bristle material …`; the exit status of what was run goes to `status`.
void add_material_commands(CLI::App& app, int& status);

}  // namespace bristle::cli
