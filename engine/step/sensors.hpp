#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bristle/contact/contact_view.hpp"
#include "bristle/geometry/shapes.hpp"
#include "bristle/model/checks.hpp"
#include "bristle/step/system.hpp"

// What sensors of a model measure at a settled state: observers and control loops read
// them.
//
//   sensors.measure(now.system, now.state);  // in an observer of run()
//   const std::span<const double> felt = sensors[0];
//
// Accelerations, and the forces through joints, follow from all forces at the state. Of
// contacts and limits those are the ones that observers see: under a stepper that solves
// for impulses, the means over the last step. All others, the motors' included, are taken
// at the state itself.

namespace bristle {

enum class SensorKind : std::uint8_t {
  joint_position,  // [rad] or [m]
  joint_velocity,
  joint_torque,      // what motors apply to the joint [N m] or [N]
  position,          // of the sensor's frame, in world axes [m]
  orientation,       // w, x, y, z
  velocity,          // in world axes [m/s]
  angular_velocity,  // in world axes [rad/s]
  acceleration,      // in world axes [m/s²]
  angular_acceleration,
  accelerometer,  // acceleration less gravity, in the sensor's axes [m/s²]
  gyro,           // angular velocity, in the sensor's axes [rad/s]
  velocimeter,    // velocity, in the sensor's axes [m/s]
  force,          // see below [N]
  torque,         // [N m]
  touch,          // sum of the normal forces on the body, or in the sensor's zone [N]
  range,  // along the sensor's z axis to the next shape; −1: none within reach [m]
  felt_acceleration,  // less gravity, in world axes [m/s²]
  coupling_position,  // the sum or length of a coupling
  coupling_velocity,
  motor_force,  // on what the motor drives [N m] or [N]
};

/// Force and torque are what the joint of the body takes: what its parent exerts on the
/// body through it, in the sensor's axes, the torque about the sensor's origin. The joint
/// may be fixed.
struct SensorSpec {
  std::string name{};
  SensorKind kind = SensorKind::position;
  std::string joint{};  // of joint_…, with the index of its degree of freedom
  int axis = 0;
  std::string coupling{};  // of coupling_…
  std::string motor{};     // of motor_force
  double scale = 1;        // of these two: scale · measured + offset
  double offset = 0;
  std::string body{world_name};  // of all others
  Transform<double> pose{};      // the sensor in the body
  /// Of touch: only contacts whose point lies in it, or whose force, prolonged outwards
  /// from the body, meets it; placed as the sensor.
  std::optional<Shape> zone{};
  double reach = std::numeric_limits<double>::infinity();  // of range [m]
  /// Of range: shapes that it does not see, besides those of its body.
  std::vector<std::string> unseen{};
};

/// How many numbers a sensor of a kind has.
int value_count(SensorKind kind) noexcept;

class Sensors {
 public:
  /// The sensors, or the first thing that is wrong with one. The model must outlive them.
  static Result<Sensors> make(const Model& model, std::span<const SensorSpec> specs);

  /// Measures all of them at a settled state, with the forces that make_ledger() or
  /// settled_forces() have computed for it, as run() has before its observers. Allocates
  /// nothing. `commands` as for the next step.
  void measure(const System& system, const State& state, Commands commands = {}) noexcept;

  std::size_t size() const { return sensors_.size(); }
  /// The numbers of one sensor, and of all in their order, as of the last measure().
  std::span<const double> operator[](std::size_t i) const {
    return std::span(values_).subspan(sensors_[i].first,
                                      static_cast<std::size_t>(sensors_[i].count));
  }
  std::span<const double> values() const { return values_; }

 private:
  struct Sensor {
    SensorKind kind;
    std::size_t first;  // of its values
    int count;
    int body;  // −1: the world
    int link;
    Transform<double> on_link{};
    std::size_t q = 0, v = 0;  // of a joint; q: the coupling or motor
    double scale = 1, offset = 0;
    std::optional<Shape> zone{};
    double reach = 0;
    std::vector<std::uint8_t> unseen{};  // per shape
    // Of force and torque through a fixed joint: the bodies beyond it, and the links that
    // hang from them; none where that is the whole link.
    std::vector<std::uint8_t> beyond{};
    std::vector<int> children{};
  };

  explicit Sensors(const Model& model);
  std::optional<Error> add(const SensorSpec& spec, std::size_t index);
  std::optional<Error> place(const SensorSpec& spec, const checks::Subject& who,
                             Sensor& sensor) const;
  void find_beyond(Sensor& sensor) const;
  void find_accelerations(const System& system, const State& state,
                          Commands commands) noexcept;
  void measure(const Sensor& sensor, const System& system, const State& state,
               double* to) const noexcept;
  Force<double> through_joint(const Sensor& sensor, const ContactView& contacts) const;
  Force<double> external_beyond(const Sensor& sensor, const ContactView& contacts) const;
  double touch_force(const Sensor& sensor, const Transform<double>& pose,
                     const ContactView& contacts) const;
  double range(const Sensor& sensor, const Transform<double>& pose) const noexcept;

  const Model* model_;
  std::vector<Sensor> sensors_;
  std::vector<double> values_;
  bool accelerations_ = false;  // some sensor needs them
  Workspace<double> tree_;
  SpringPools springs_;
  LoopWorkspace loops_;
  Drives drives_;
  std::vector<Force<double>> on_links_;
  std::vector<double> tau_, motor_tau_, motor_forces_, acceleration_, needed_;
};

}  // namespace bristle
