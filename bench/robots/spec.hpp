#pragma once

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

// The two robots, their controllers and their contacts, as every driver builds them. SI
// units. Plain C++17: Simbody's headers do not compile as C++20.
//
//   arm7         tip sphere pressed on a table, first joint ±0.2 rad at 0.5 Hz
//   quadruped12  free trunk on four legs with spherical feet, trotting on the spot at 2
//   Hz
//
// Motors: τ = kp (q_ref(t) − q) − kd q̇, at the start of the step. A foot is a sphere on
// the plane z = ground, with the contact point at half depth, at rest in the link:
//
//   f = k δ^3/2 (1 + a δ̇)₊   (Hunt & Crossley 1975), k = 4/3 E √r
//   friction −μ f v / max(|v|, v_s), v the velocity of that point along the plane
//
// All of it explicit in v̇; then v ← v + h v̇ and q ← q ⊕ h v.

namespace bristle::bench {

constexpr double pi = 3.14159265358979323846;
constexpr double time_step = 1e-3;    // h [s]
constexpr double gravity = 9.81;      // [m/s²], along −z
constexpr double modulus = 1e7;       // E, the effective one [Pa]
constexpr double dissipation = 0.75;  // a [s/m]
constexpr double friction = 0.5;      // μ
constexpr double slip_speed = 0.02;   // v_s [m/s]

struct LinkSpec {
  int parent;         // −1: the world, or the trunk where there is one
  double place[3];    // of the joint in the parent's frame [m]
  double roll;        // of the joint's frame, about the parent's x [rad]
  int axis;           // of the joint: 0, 1, 2 for x, y, z
  double mass;        // [kg]
  double com[3];      // centre of mass in the link's frame [m]
  double inertia[3];  // diagonal, about it [kg m²]
  double start;       // position at time 0 [rad]
  double kp, kd;      // motor [N m/rad], [N m s/rad]
};

struct FootSpec {
  int link;
  double centre[3];  // in the link's frame [m]
  double radius;     // [m]
};

struct RobotSpec {
  std::string name;
  double ground;  // height of the plane [m]
  bool floating;  // on a trunk that moves freely
  double trunk_mass;
  double trunk_inertia[3];
  double trunk_height;  // at time 0
  std::vector<LinkSpec> links;
  std::vector<FootSpec> feet;
};

/// Where the motor of joint i shall be.
inline double reference(const RobotSpec& robot, std::size_t i, double t) {
  const double start = robot.links[i].start;
  if (!robot.floating) {
    if (i == 0) return start + 0.2 * std::sin(2 * pi * 0.5 * t);
    return i == 1 ? start + 0.05 : start;
  }
  const std::size_t leg = i / 3, joint = i % 3;
  if (joint == 0) return start;
  const double swing = std::sin(2 * pi * 2 * t + (leg == 0 || leg == 3 ? 0 : pi));
  return start + (joint == 1 ? 0.15 : -0.3) * swing;
}

inline double stiffness(const FootSpec& foot) {
  return 4.0 / 3 * modulus * std::sqrt(foot.radius);
}

inline RobotSpec arm_spec() {
  const double h = pi / 2, shoulder = 0.3, elbow = -2.0, radius = 0.03;
  // The tip touches the plane at the start: height of the wrist in the plane of the arm,
  // and the flange straight down from there.
  const double bend = shoulder - elbow;
  const double wrist = 0.333 + 0.316 * std::cos(shoulder) - 0.0825 * std::sin(shoulder) +
                       0.0825 * std::sin(bend) + 0.384 * std::cos(bend);
  // clang-format off
  return {"arm7", wrist - 0.14 - radius, false, 0, {0, 0, 0}, 0,
          {{-1, {0, 0, 0.333}, 0, 2, 4.97, {0.004, 0.002, -0.17}, {0.05, 0.05, 0.01}, 0, 600, 20},
           {0, {0, 0, 0}, -h, 2, 0.647, {-0.003, -0.029, 0.003}, {0.01, 0.01, 0.01}, shoulder, 600, 20},
           {1, {0, -0.316, 0}, h, 2, 3.23, {0.028, 0.039, -0.067}, {0.04, 0.03, 0.02}, 0, 600, 20},
           {2, {0.0825, 0, 0}, h, 2, 3.59, {-0.053, 0.104, -0.027}, {0.03, 0.02, 0.03}, elbow, 600, 20},
           {3, {-0.0825, 0.384, 0}, -h, 2, 1.23, {-0.012, 0.041, -0.038}, {0.03, 0.02, 0.01}, 0, 250, 4},
           {4, {0, 0, 0}, h, 2, 1.67, {0.06, -0.014, -0.01}, {0.01, 0.01, 0.01}, 2.3, 150, 3},
           {5, {0.088, 0, 0}, h, 2, 0.74, {0.01, -0.004, 0.06}, {0.01, 0.01, 0.01}, 0.785, 50, 1.5}},
          {{6, {0, 0, 0.14}, radius}}};
  // clang-format on
}

inline RobotSpec quadruped_spec() {
  const double bend = 0.7, radius = 0.02;
  RobotSpec robot{"quadruped12",
                  0,
                  true,
                  8,
                  {0.034, 0.113, 0.133},
                  2 * 0.2 * std::cos(bend) + radius,
                  {},
                  {}};
  for (int leg = 0; leg < 4; ++leg) {
    const double x = leg < 2 ? 1 : -1, y = leg % 2 == 0 ? 1 : -1;
    const int hip = 3 * leg;
    // clang-format off
    robot.links.push_back({-1, {0.19 * x, 0.06 * y, 0}, 0, 0, 0.7, {0, 0.03 * y, 0},
                           {0.001, 0.001, 0.001}, 0, 80, 2});
    robot.links.push_back({hip, {0, 0.08 * y, 0}, 0, 1, 1.0, {0, 0, -0.08},
                           {0.005, 0.005, 0.001}, bend, 80, 2});
    robot.links.push_back({hip + 1, {0, 0, -0.2}, 0, 1, 0.25, {0, 0, -0.1},
                           {0.002, 0.002, 0.0005}, -2 * bend, 80, 1.5});
    // clang-format on
    robot.feet.push_back({hip + 2, {0, 0, -0.2}, radius});
  }
  return robot;
}

}  // namespace bristle::bench
