#pragma once

#include <vector>

#include "bristle/run.hpp"
#include "scene/scene.hpp"

namespace bristle::cli {

/// The values of a scene's probes, now. The laws have been evaluated (make_ledger).
void measure(const std::vector<scene::Probe>& probes, const Observation& now,
             std::vector<double>& values);

/// Whether a probe's value is a size: never below 0.
bool is_size(const scene::Probe& probe);

}  // namespace bristle::cli
