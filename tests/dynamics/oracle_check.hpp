#pragma once

#include <gtest/gtest.h>

#include <cstdio>

#include "tests/dynamics/oracle.hpp"
#include "tests/dynamics/random_tree.hpp"

namespace bristle::test {

/// The builder's input as an oracle's question, with where each of our velocities is in
/// the oracle's order.
struct Question {
  OracleProblem problem;
  std::vector<std::size_t> ours;  // by the oracle's velocity
};

inline OracleFrame oracle_frame(const Transform<double>& x) {
  return {{{x.R.x.x, x.R.y.x, x.R.z.x},
           {x.R.x.y, x.R.y.y, x.R.z.y},
           {x.R.x.z, x.R.y.z, x.R.z.z}},
          {x.p.x, x.p.y, x.p.z}};
}

inline Question question(const RandomTree& random, const RandomState& state,
                         const std::vector<Force<double>>& body_forces) {
  Question result;
  OracleProblem& p = result.problem;
  for (std::size_t i = 0; i < random.bodies.size(); ++i) {
    const BodySpec& body = random.bodies[i];
    const JointSpec& joint = random.joints[i];
    const Joint& built = *random.tree.find_joint(joint.name);
    const Sym3<double>& s = body.inertia;
    const Force<double>& f = body_forces[i];
    OracleBody b{};
    b.parent = joint.parent == world_name ? -1 : std::stoi(joint.parent.substr(1));
    b.type = static_cast<int>(joint.type);
    b.on_parent = oracle_frame(joint.on_parent);
    b.on_child = oracle_frame(joint.on_child);
    store(joint.axis, b.axis);
    b.mass = body.mass;
    store(body.com, b.com);
    const double inertia[3][3] = {
        {s.xx, s.xy, s.xz}, {s.xy, s.yy, s.yz}, {s.xz, s.yz, s.zz}};
    std::copy(&inertia[0][0], &inertia[0][0] + 9, &b.inertia[0][0]);
    b.armature = joint.armature;
    store(f.torque, b.torque);
    store(f.force, b.force);
    b.q = static_cast<int>(p.q.size());
    b.v = static_cast<int>(p.v.size());
    for (int k = 0; k < position_count(joint.type); ++k) {
      p.q.push_back(state.q[static_cast<std::size_t>(built.q + k)]);
    }
    for (int k = 0; k < velocity_count(joint.type); ++k) {
      const auto v = static_cast<std::size_t>(built.v + k);
      p.v.push_back(state.v[v]);
      p.tau.push_back(state.tau[v]);
      result.ours.push_back(v);
    }
    p.bodies.push_back(b);
  }
  store(random.gravity, p.gravity);
  return result;
}

/// Mass matrix, bias forces and accelerations of random trees of 1 to 40 bodies against
/// an oracle's, each relative to its largest entry.
template <class Ask>
void expect_agreement(Ask ask, bool with_armature, double tolerance) {
  double worst_mass = 0, worst_bias = 0, worst_acceleration = 0;
  int velocities = 0;
  for (int size = 1; size <= 40; ++size) {
    for (unsigned round = 0; round < 3; ++round) {
      const unsigned seed = static_cast<unsigned>(size) * 10 + round;
      RandomTree random = random_tree(seed, size);
      if (!with_armature) {
        for (JointSpec& joint : random.joints) joint.armature = 0;
        random.tree = build(random, seed);
      }
      const Tree& tree = random.tree;
      if (tree.velocity_count() == 0) continue;
      Dice dice(seed);
      RandomState s = random_state(dice, tree);
      Workspace<double> ws(tree);
      kinematics(tree, s.q, s.v, ws);

      std::vector<Force<double>> body_forces;
      for (Force<double>& f : s.external) f = Force<double>::zero();
      for (const BodySpec& spec : random.bodies) {
        const Force<double> f{dice.vector(3), dice.vector(5)};
        const Body& body = *tree.find_body(spec.name);
        const auto link = static_cast<std::size_t>(body.link);
        add_force_at(ws, body.link, body_pose(ws, body).p, f.force, s.external);
        s.external[link].torque = s.external[link].torque + f.torque;
        body_forces.push_back(f);
      }
      const Question asked = question(random, s, body_forces);
      const OracleAnswer answer = ask(asked.problem);

      const std::size_t n = s.v.size();
      std::vector<double> mass(n * n), bias(n), acceleration(n);
      mass_matrix(tree, ws, mass);
      inverse_dynamics(tree, s.v, {}, {}, ws, bias);
      forward_dynamics(tree, s.v, s.tau, s.external, ws, acceleration);
      std::vector<double> mass_there(n * n), bias_there(n), acceleration_there(n);
      for (std::size_t i = 0; i < n; ++i) {
        bias_there[asked.ours[i]] = answer.bias[i];
        acceleration_there[asked.ours[i]] = answer.acceleration[i];
        for (std::size_t j = 0; j < n; ++j) {
          mass_there[asked.ours[i] * n + asked.ours[j]] = answer.mass_matrix[i * n + j];
        }
      }
      const double by_mass = relative_difference(mass, mass_there);
      const double by_bias = relative_difference(bias, bias_there);
      const double by_acceleration =
          relative_difference(acceleration, acceleration_there);
      EXPECT_LT(by_mass, tolerance) << size << " bodies, seed " << seed;
      EXPECT_LT(by_bias, tolerance) << size << " bodies, seed " << seed;
      EXPECT_LT(by_acceleration, tolerance) << size << " bodies, seed " << seed;
      worst_mass = std::max(worst_mass, by_mass);
      worst_bias = std::max(worst_bias, by_bias);
      worst_acceleration = std::max(worst_acceleration, by_acceleration);
      velocities = std::max(velocities, tree.velocity_count());
    }
  }
  std::printf(
      "largest relative differences, up to %d velocities: mass matrix %.1e, "
      "bias forces %.1e, accelerations %.1e\n",
      velocities, worst_mass, worst_bias, worst_acceleration);
}

}  // namespace bristle::test
