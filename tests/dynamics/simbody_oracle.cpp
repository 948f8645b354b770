// Simbody as an oracle. It is C++17 and its headers do not compile as C++20, so this file
// sees none of ours. Its conventions: pins turn about z, sliders move along x, a planar
// joint counts (angle, x, y); universal, ball and free joints and all velocities are as
// ours. There is no armature.

#include <Simbody.h>

#include <cmath>
#include <stdexcept>
#include <vector>

#include "tests/dynamics/oracle.hpp"

namespace bristle::test {

namespace {

enum Type { fixed, revolute, prismatic, universal, spherical, planar, free_joint };

SimTK::Vec3 vec(const double (&x)[3]) { return {x[0], x[1], x[2]}; }

SimTK::Transform frame(const OracleFrame& f) {
  const SimTK::Mat33 m(f.R[0][0], f.R[0][1], f.R[0][2], f.R[1][0], f.R[1][1], f.R[1][2],
                       f.R[2][0], f.R[2][1], f.R[2][2]);
  return {SimTK::Rotation(m, true), vec(f.p)};  // as it is, not made orthonormal again
}

/// Our velocity k of a joint is its velocity there[k].
std::vector<int> order(int type) {
  switch (type) {
    case fixed:
      return {};
    case revolute:
    case prismatic:
      return {0};
    case universal:
      return {0, 1};
    case spherical:
      return {0, 1, 2};
    case planar:
      return {1, 2, 0};
    default:
      return {0, 1, 2, 3, 4, 5};
  }
}

}  // namespace

OracleAnswer ask_simbody(const OracleProblem& problem) {
  using SimTK::MobilizedBody;
  using SimTK::Transform;
  SimTK::MultibodySystem system;
  SimTK::SimbodyMatterSubsystem matter(system);
  SimTK::GeneralForceSubsystem forces(system);
  SimTK::Force::Gravity gravity(forces, matter, vec(problem.gravity));
  SimTK::Force::DiscreteForces applied(forces, matter);

  std::vector<SimTK::MobilizedBodyIndex> index;
  for (const OracleBody& b : problem.bodies) {
    MobilizedBody& parent =
        b.parent < 0 ? static_cast<MobilizedBody&>(matter.updGround())
                     : matter.updMobilizedBody(index[static_cast<std::size_t>(b.parent)]);
    const SimTK::Vec3 com = vec(b.com);
    const SimTK::Inertia central(b.inertia[0][0], b.inertia[1][1], b.inertia[2][2],
                                 b.inertia[0][1], b.inertia[0][2], b.inertia[1][2]);
    const SimTK::Body::Rigid body(
        SimTK::MassProperties(b.mass, com, central.shiftFromMassCenter(com, b.mass)));
    Transform f = frame(b.on_parent);
    Transform m = frame(b.on_child);
    if (b.type == revolute || b.type == prismatic) {
      const SimTK::UnitVec3 axis(vec(b.axis));
      const SimTK::Rotation align = b.type == revolute
                                        ? SimTK::Rotation(axis, SimTK::ZAxis)
                                        : SimTK::Rotation(axis, SimTK::XAxis);
      f = f * Transform(align);
      m = m * Transform(align);
    }
    switch (b.type) {
      case fixed:
        index.push_back(MobilizedBody::Weld(parent, f, body, m));
        break;
      case revolute:
        index.push_back(MobilizedBody::Pin(parent, f, body, m));
        break;
      case prismatic:
        index.push_back(MobilizedBody::Slider(parent, f, body, m));
        break;
      case universal:
        index.push_back(MobilizedBody::Universal(parent, f, body, m));
        break;
      case spherical:
        index.push_back(MobilizedBody::Ball(parent, f, body, m));
        break;
      case planar:
        index.push_back(MobilizedBody::Planar(parent, f, body, m));
        break;
      default:
        index.push_back(MobilizedBody::Free(parent, f, body, m));
    }
  }

  SimTK::State state = system.realizeTopology();
  system.realizeModel(state);
  const int n = state.getNU();
  if (static_cast<std::size_t>(n) != problem.v.size()) {
    throw std::runtime_error("other velocities");
  }
  std::vector<int> theirs(problem.v.size());  // by our velocity
  for (std::size_t i = 0; i < problem.bodies.size(); ++i) {
    const OracleBody& b = problem.bodies[i];
    const MobilizedBody& body = matter.getMobilizedBody(index[i]);
    const std::vector<int> there = order(b.type);
    if (there.empty()) continue;
    const double* q = problem.q.data() + b.q;
    SimTK::Vector positions(body.getNumQ(state));
    if (b.type == planar) {
      positions[0] = q[2];
      positions[1] = q[0];
      positions[2] = q[1];
    } else if (b.type == free_joint) {
      for (int k = 0; k < 4; ++k) positions[k] = q[3 + k];
      for (int k = 0; k < 3; ++k) positions[4 + k] = q[k];
    } else {
      for (int k = 0; k < positions.size(); ++k) positions[k] = q[k];
    }
    body.setQFromVector(state, positions);
    const int first = body.getFirstUIndex(state);
    for (std::size_t k = 0; k < there.size(); ++k) {
      theirs[static_cast<std::size_t>(b.v) + k] = first + there[k];
    }
  }
  SimTK::Vector u(n), tau(n);
  for (std::size_t i = 0; i < problem.v.size(); ++i) {
    u[theirs[i]] = problem.v[i];
    tau[theirs[i]] = problem.tau[i];
  }
  state.updU() = u;
  applied.setAllMobilityForces(state, tau);
  for (std::size_t i = 0; i < problem.bodies.size(); ++i) {
    const OracleBody& b = problem.bodies[i];
    applied.setOneBodyForce(state, matter.getMobilizedBody(index[i]),
                            SimTK::SpatialVec(vec(b.torque), vec(b.force)));
  }
  system.realize(state, SimTK::Stage::Acceleration);

  OracleAnswer answer;
  SimTK::Matrix mass;
  matter.calcM(state, mass);
  SimTK::Vector bias;
  matter.calcResidualForceIgnoringConstraints(state, SimTK::Vector(n, 0.0),
                                              gravity.getBodyForces(state),
                                              SimTK::Vector(n, 0.0), bias);
  for (const int i : theirs) {
    answer.bias.push_back(bias[i]);
    answer.acceleration.push_back(state.getUDot()[i]);
    for (const int j : theirs) answer.mass_matrix.push_back(mass(i, j));
  }
  return answer;
}

}  // namespace bristle::test
