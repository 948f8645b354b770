#pragma once

#include <functional>

#include "identify/fit.hpp"
#include "identify/force_model.hpp"
#include "studies/boos2013.hpp"

// The apparatus of Boos & McPhee, made up: a payload on a drive, a force transducer and a
// position encoder. And what their three fits share.

namespace bristle::studies::boos2013 {

inline constexpr double servo_count = 1.25e-6;          // [m]
inline constexpr double force_resolution = 0.1;         // [N]
inline constexpr double position_resolution = 1.22e-9;  // [m]
inline constexpr double most_force = 20;                // of a press [N]
inline constexpr double sampling = 1e-3;                // of an impact [s]

/// What tables 2 and 3 print of a plate.
struct PrintedStiffness {
  double hertz;        // N/m^1.5, measured with the sphere
  double volumetric;   // N/m³, measured with the sphere
  double cylinder;     // N/m³, theoretical
  double tilt_deg;     // of the cylinder
  double restitution;  // of the damping tests
};
const PrintedStiffness& printed(const Values& values);

/// drive_stiffness, noise, contact_point, seed, data; plate with this preset.
std::vector<Parameter> apparatus_parameters(double plate);
std::vector<Parameter> with_apparatus(std::vector<Parameter> own, double plate);

/// As the instruments show them.
class Instruments {
 public:
  Instruments(const Values& values, std::uint64_t stream)
      : random_(static_cast<std::uint64_t>(values["seed"]), stream),
        noise_(values["noise"]) {}
  double position(double x) const;
  double force(double f);
  double phase() { return random_.uniform(); }

 private:
  identify::Random random_;
  double noise_;
};

/// A press in steps of the drive to 20 N and back, with the force of a depth.
identify::ForceData press(const Values& values,
                          const std::function<double(double)>& force_at);

/// The file `data`, or the press.
Result<identify::ForceData> press_data(const Values& values,
                                       const std::function<double(double)>& force_at);

/// The best fit of one law; unknowns that are named are fixed or freed.
struct Wanted {
  std::string_view name;
  bool free;
  double value;  // fixed at, or where the search begins
};
struct PressFit {
  std::unique_ptr<identify::ForceModel> model;
  identify::Fit fit;

  const identify::Estimate& operator[](std::string_view name) const;
};
Result<PressFit> fit_press(std::string_view law, identify::ForceData data,
                           identify::PatchShape shape, double radius,
                           std::span<const Wanted> wanted = {});

/// Measured points and fitted curves, against position in micrometres.
report::Curve points_of(const identify::ForceData& data);
report::Curve curve_of(std::string label, const PressFit& fit);

}  // namespace bristle::studies::boos2013
