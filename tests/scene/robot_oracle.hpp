#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

// MuJoCo's own reading of a robot file, in plain numbers.

namespace bristle::test {

struct RobotJoint {
  std::string name;
  char kind;  // free, ball, slide, hinge
  int q, v;   // first position and velocity
  double ref;
  bool limited;
  double range[2];
  double damping, friction, armature, stiffness, springref;
};

struct RobotGeom {
  std::string name;
  char kind;  // plane, height field, sphere, capsule, ellipsoid, cYlinder, box, mesh
  double size[3];
  double position[3];      // in the world
  double rotation[3][3];   // rotation[row][column]
  double low[3], high[3];  // of the vertices of a mesh in the world
};

struct RobotState {
  std::vector<double> mass_matrix;  // row by row
  std::vector<double> bias;         // τ for v̇ = 0
  std::vector<RobotGeom> geoms;
  std::vector<double> driven;   // τ of all actuators, as the first keyframe controls them
  std::vector<double> passive;  // τ of springs and dampers
  std::vector<double> tendons;  // lengths, less those at the reference
  std::vector<double> lengths;  // of tendons
  std::map<std::string, std::vector<double>> sensors;  // by name
};

class RobotOracle {
 public:
  /// Reads a file; or a text, as if it stood in that file's place.
  explicit RobotOracle(const std::string& path, const std::string& text = {});
  ~RobotOracle();
  RobotOracle(const RobotOracle&) = delete;
  RobotOracle& operator=(const RobotOracle&) = delete;

  std::vector<RobotJoint> joints;
  std::vector<std::string> tendon_names;
  int positions = 0;
  int velocities = 0;
  double gravity[3] = {0, 0, 0};
  double moving_mass = 0;        // of all bodies but the world
  std::vector<double> key_qpos;  // of the first keyframe
  std::vector<double> key_qvel;

  RobotState at(const std::vector<double>& qpos, const std::vector<double>& qvel);

 private:
  struct Inside;
  std::unique_ptr<Inside> inside_;
};

}  // namespace bristle::test
