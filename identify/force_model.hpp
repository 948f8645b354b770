#pragma once

#include <optional>
#include <vector>

#include "bristle/core/result.hpp"
#include "bristle/laws/catalogue.hpp"
#include "identify/model.hpp"
#include "identify/table.hpp"

// Force against position: a body that is pressed on another under a normal law.

namespace bristle::identify {

/// Measured presses, one after the other.
struct ForceData {
  std::vector<double> position;  // [m], growing as the bodies approach
  std::vector<double> force;     // [N]
  std::vector<double> time{};    // [s]; empty: at rest everywhere
  std::vector<double> speed{};   // [m/s], where there is a time
  std::vector<bool> begins{};    // the first point of a press

  std::size_t size() const { return position.size(); }
  bool timed() const { return !time.empty(); }
  /// The first and the last point, and one more, of each press.
  std::vector<std::pair<std::size_t, std::size_t>> presses() const;
  ForceData part(std::size_t first, std::size_t end) const;
};

/// Speeds by central differences (Boos & McPhee 2013, eq. 23).
void measure_speed(ForceData& data);

std::span<const ColumnWish> force_columns();

/// With speeds as they were measured, or by differences.
Result<ForceData> force_data(const Table& table);

/// Of each press the points from a distance before its first force, for a time.
struct Window {
  std::optional<double> lead;      // [m]
  std::optional<double> duration;  // [s]
};
Result<ForceData> windowed(const ForceData& data, const Window& window);

/// Where the force is first seen above its noise, the mean of all presses; an error where
/// there is none.
Result<double> first_force_position(const ForceData& data);

/// Shapes of the patch of a volumetric law.
enum class PatchShape { none, sphere, cylinder, flat };

class ForceModel final : public Model {
 public:
  /// Unknowns: the law's parameters, contact_point_m, and of a cylinder tilt_deg. The
  /// stiffness and the contact point are free, with times the law's damping too.
  ForceModel(const LawEntry& law, ForceData data, PatchShape shape, double radius);

  std::size_t points() const override { return data_.size(); }
  std::span<const double> measured() const override { return data_.force; }
  bool is_series() const override { return data_.timed(); }
  bool residuals(std::span<const double> values, std::span<const std::size_t> by,
                 double* residuals, double* jacobian) const override;
  /// The stiffness with which the forces have the right size.
  void improve(std::vector<double>& values) const override;
  std::unique_ptr<Model> thinned() const override;

  const ForceData& data() const { return data_; }
  /// The same unknowns over other points.
  ForceModel with_data(ForceData data) const;

 private:
  template <class T>
  void predict(std::span<const T> values, std::span<T> force) const;

  void set_data(ForceData data);

  const LawEntry& law_;
  ForceData data_;
  std::vector<NormalMoment<double>> motion_;  // of the data, but for depths and patches
  PatchShape shape_;
  double radius_;
  std::size_t contact_point_ = 0;  // among the unknowns
  std::size_t tilt_ = 0;           // of a cylinder
};

/// V and A of a cylinder tilted by γ whose edge is at a depth δ along its axis (eq. 32,
/// and π r² (δ − r tan γ) once the whole end is below), and by how much V grows with
/// tan γ.
struct TiltedVolume {
  double volume, area, by_tangent;
};
TiltedVolume tilted_volume(double depth, double radius, double tangent);

}  // namespace bristle::identify
