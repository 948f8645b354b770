#pragma once

#include <string>
#include <vector>

#include "bristle/dynamics/dynamics.hpp"

// Two robots of ordinary size: an arm with seven joints and a four-legged one with twelve
// joints on a free trunk. Masses and lengths are round figures of such machines.

namespace bristle::bench {

inline Transform<double> rolled(double roll, double x, double y, double z) {
  const SinCos<double> a = sincos(roll);
  return {{{1, 0, 0}, {0, a.cos, a.sin}, {0, -a.sin, a.cos}}, {x, y, z}};
}

inline TreeBuilder arm7_builder() {
  struct Row {
    double x, y, z, roll, mass;
    Vec3<double> com;
    double ixx, iyy, izz;
  };
  const double h = 1.5707963267948966;
  const Row rows[] = {
      {0, 0, 0.333, 0, 4.97, {0.004, 0.002, -0.17}, 0.05, 0.05, 0.01},
      {0, 0, 0, -h, 0.647, {-0.003, -0.029, 0.003}, 0.01, 0.01, 0.01},
      {0, -0.316, 0, h, 3.23, {0.028, 0.039, -0.067}, 0.04, 0.03, 0.02},
      {0.0825, 0, 0, h, 3.59, {-0.053, 0.104, -0.027}, 0.03, 0.02, 0.03},
      {-0.0825, 0.384, 0, -h, 1.23, {-0.012, 0.041, -0.038}, 0.03, 0.02, 0.01},
      {0, 0, 0, h, 1.67, {0.06, -0.014, -0.01}, 0.01, 0.01, 0.01},
      {0.088, 0, 0, h, 0.74, {0.01, -0.004, 0.06}, 0.01, 0.01, 0.01}};
  TreeBuilder builder;
  std::string parent{world_name};
  int number = 1;
  for (const Row& row : rows) {
    std::string name("link");
    name += std::to_string(number);
    builder.add_body({.name = name,
                      .mass = row.mass,
                      .com = row.com,
                      .inertia = Sym3<double>::diagonal(row.ixx, row.iyy, row.izz)});
    builder.add_joint({.name = "to " + name,
                       .parent = parent,
                       .child = name,
                       .type = JointType::revolute,
                       .on_parent = rolled(row.roll, row.x, row.y, row.z)});
    parent = name;
    ++number;
  }
  return builder;
}

inline TreeBuilder quadruped12_builder() {
  TreeBuilder builder;
  builder.add_body({.name = "trunk",
                    .mass = 8,
                    .inertia = Sym3<double>::diagonal(0.034, 0.113, 0.133)});
  builder.add_joint({.name = "float", .child = "trunk", .type = JointType::free});
  for (int leg = 0; leg < 4; ++leg) {
    const double sx = leg < 2 ? 1 : -1;
    const double sy = leg % 2 == 0 ? 1 : -1;
    const std::string n = std::to_string(leg);
    builder.add_body({.name = "hip" + n,
                      .mass = 0.7,
                      .com = {0, 0.03 * sy, 0},
                      .inertia = Sym3<double>::diagonal(0.001, 0.001, 0.001)});
    builder.add_body({.name = "thigh" + n,
                      .mass = 1.0,
                      .com = {0, 0, -0.08},
                      .inertia = Sym3<double>::diagonal(0.005, 0.005, 0.001)});
    builder.add_body({.name = "shank" + n,
                      .mass = 0.25,
                      .com = {0, 0, -0.1},
                      .inertia = Sym3<double>::diagonal(0.002, 0.002, 0.0005)});
    builder.add_joint({.name = "abduct" + n,
                       .parent = "trunk",
                       .child = "hip" + n,
                       .type = JointType::revolute,
                       .on_parent = rolled(0, 0.19 * sx, 0.06 * sy, 0),
                       .axis = {1, 0, 0}});
    builder.add_joint({.name = "flex" + n,
                       .parent = "hip" + n,
                       .child = "thigh" + n,
                       .type = JointType::revolute,
                       .on_parent = rolled(0, 0, 0.08 * sy, 0),
                       .axis = {0, 1, 0}});
    builder.add_joint({.name = "knee" + n,
                       .parent = "thigh" + n,
                       .child = "shank" + n,
                       .type = JointType::revolute,
                       .on_parent = rolled(0, 0, 0, -0.2),
                       .axis = {0, 1, 0}});
  }
  return builder;
}

inline Tree arm7() { return *arm7_builder().build(); }
inline Tree quadruped12() { return *quadruped12_builder().build(); }

}  // namespace bristle::bench
