#include "studies/gonthier2004_pendulum.hpp"

#include <cmath>

namespace bristle::studies::gonthier2004 {

Motion make_pendulum(const PendulumLink& upper, const PendulumLink& lower, double depth,
                     double gravity, const LawChoice& normal, const LawChoice& friction,
                     const Clock& clock) {
  ModelBuilder builder;
  builder.gravity({0, 0, -gravity});
  builder.add_shape({.name = "floor", .shape = Plane{}, .pose = {.p = {0, 0, -depth}}});
  const auto add = [&](const char* body, const char* joint, const char* parent,
                       const PendulumLink& link, double at) {
    BodySpec spec;
    spec.name = body;
    spec.mass = link.mass;
    spec.com = {0, 0, -link.to_mass};
    spec.inertia = Sym3<double>::diagonal(link.inertia, link.inertia, 0);
    builder.add_body(spec);
    JointSpec hinge;
    hinge.name = joint;
    hinge.parent = parent;
    hinge.child = body;
    hinge.type = JointType::revolute;
    hinge.axis = {0, -1, 0};
    hinge.on_parent.p = {0, 0, -at};
    builder.add_joint(hinge);
  };
  add("upper", "shoulder", "world", upper, 0);
  add("lower", "elbow", "upper", lower, upper.length);
  builder.add_shape({.name = "tip",
                     .body = "lower",
                     .shape = Sphere{0},
                     .pose = {.p = {0, 0, -lower.length}}});
  builder.add_contact({.a = "tip", .b = "floor", .normal = normal, .friction = friction});
  return {builder, clock};
}

Vec3<double> pendulum_tip(const PendulumLink& upper, const PendulumLink& lower,
                          double phi1, double phi2) {
  return {upper.length * std::sin(phi1) + lower.length * std::sin(phi1 + phi2), 0,
          -upper.length * std::cos(phi1) - lower.length * std::cos(phi1 + phi2)};
}

}  // namespace bristle::studies::gonthier2004
