#pragma once

#include <CLI/CLI.hpp>

namespace bristle::cli {

/// `bristle export FILE --csv | --vtk | --gltf`: recordings for other programs.
void add_export_command(CLI::App& app, int& status);

}  // namespace bristle::cli
