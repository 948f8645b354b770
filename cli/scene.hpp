#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "cli/settings.hpp"
#include "scene/scene.hpp"

namespace bristle::cli {

/// `bristle scene check | show | schema`.
void add_scene_commands(CLI::App& app, int& status);

/// The scene with what the command line says, or the problems on standard error.
std::optional<scene::Scene> load_scene(const std::string& file, const Settings& settings);

/// For real time: as many substeps as the scene needs as it begins, unless it says so.
void fix_substeps(scene::Scene& scene);

}  // namespace bristle::cli
