#pragma once

#include "cli/fit_setup.hpp"
#include "scene/scene.hpp"

namespace bristle::cli {

/// A scene whose probes are to show what was measured. Its unknowns are numbers at paths
/// of the scene; each evaluation is a simulation, and derivatives are differences of
/// simulations. Those of contacts go on from the last moment before the first touch.
class SceneModel final : public identify::Model {
 public:
  struct Data {
    std::vector<double> time;                 // [s]
    std::vector<std::size_t> probes;          // of the scene
    std::vector<std::vector<double>> values;  // of each of these probes, SI
  };
  SceneModel(std::string file, Settings fixed, Data data);

  /// A number of the scene that is to be fitted; an error where it has none there and no
  /// start is given.
  Result<bool> free_path(const std::string& path, std::optional<double> start);

  std::size_t points() const override { return measured_.size(); }
  std::span<const double> measured() const override { return measured_; }
  bool is_series() const override { return true; }
  bool residuals(std::span<const double> values, std::span<const std::size_t> by,
                 double* residuals, double* jacobian) const override;

  /// Of the residuals: that of a single probe; several are compared in parts of each
  /// one's size.
  std::string unit() const;
  /// visit(name, unit, times, the first of its points, how many points apart, scale) of
  /// each probe that was measured.
  template <class Visit>
  auto for_each_probe(const Visit& visit) const {
    const auto scene = scene_with({});
    std::vector<decltype(visit("", "", data_.time, 0, 0, 0.0))> list;
    for (std::size_t k = 0; k < data_.probes.size(); ++k) {
      const scene::Probe& probe = scene->probes[data_.probes[k]];
      list.push_back(
          visit(probe.name, probe.unit, data_.time, k, data_.probes.size(), scales_[k]));
    }
    return list;
  }
  /// The scene with these values, or nothing where it cannot be so.
  std::optional<scene::Scene> scene_with(std::span<const double> values) const;

 private:
  struct Checkpoint;
  bool simulate(std::span<const double> values, const Checkpoint* from, Checkpoint* keep,
                double* predicted) const;
  bool is_of_contacts(std::size_t unknown) const;

  std::string file_;
  Settings fixed_;
  Data data_;
  std::vector<double> measured_;  // all probes at the first time, and so on, scaled
  std::vector<double> scales_;    // by which each probe is divided; 1 of a single one
};

/// Reads the scene and the data, and frees what is asked for.
Result<FitSetup> set_up_scene(const FitWish& wish);

}  // namespace bristle::cli
