#pragma once

#include <string>
#include <vector>

#include "recording/header.hpp"
#include "scene/scene.hpp"

namespace bristle::cli {

/// Puts how a scene looks into what is recorded of it, with its visual meshes read from
/// their files. Returns lines about those that could not be.
std::vector<std::string> add_looks(const scene::Scene& scene, recording::RunInfo& to);

}  // namespace bristle::cli
