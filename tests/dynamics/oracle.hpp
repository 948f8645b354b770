#pragma once

#include <vector>

// A question to another simulator, in plain numbers: that simulator may want another
// language level than ours. Bodies are as the builder takes them, parents first, so that
// welding, links and turned axes are checked along with the dynamics.
//
// q and v follow the bodies in order, each joint in the layout of engine/model/joint.hpp;
// matrices are row by row.

namespace bristle::test {

struct OracleFrame {
  double R[3][3];  // R[row][column]
  double p[3];
};

struct OracleBody {
  int parent;  // −1 for the world
  int type;    // JointType
  OracleFrame on_parent, on_child;
  double axis[3];
  double mass;
  double com[3];
  double inertia[3][3];  // about com
  double armature;
  double torque[3], force[3];  // at the body's origin, in world axes
  int q, v;                    // first position and velocity
};

struct OracleProblem {
  std::vector<OracleBody> bodies;
  double gravity[3];
  std::vector<double> q, v, tau;
};

struct OracleAnswer {
  std::vector<double> mass_matrix;
  std::vector<double> bias;          // τ for v̇ = 0 without external forces
  std::vector<double> acceleration;  // with τ and external forces
};

OracleAnswer ask_mujoco(const OracleProblem& problem);
OracleAnswer ask_simbody(const OracleProblem& problem);

}  // namespace bristle::test
