#pragma once

#include <optional>
#include <vector>

#include "bristle/run.hpp"
#include "bristle/step/sensors.hpp"
#include "scene/scene.hpp"

namespace bristle::cli {

/// Measures the probes of a scene, which must outlive it.
class ProbeMeter {
 public:
  explicit ProbeMeter(const scene::Scene& scene);

  /// The values of all probes, now. The laws have been evaluated (make_ledger). Without
  /// `sensors`, those of sensors are 0: they take the forces on the whole model.
  void measure(const Observation& now, std::vector<double>& values, bool sensors = true);

 private:
  const std::vector<scene::Probe>* probes_;
  std::optional<Sensors> sensors_;
};

/// Whether a probe's value is a size: never below 0.
bool is_size(const scene::Probe& probe);

}  // namespace bristle::cli
