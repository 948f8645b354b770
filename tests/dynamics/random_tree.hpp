#pragma once

#include <algorithm>
#include <cmath>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "bristle/dynamics/dynamics.hpp"
#include "bristle/model/positions.hpp"

// Trees, states and forces by chance, the same ones every time.

namespace bristle::test {

class Dice {
 public:
  explicit Dice(unsigned seed) : engine_(seed) {}

  double uniform(double low, double high) {
    // Not std::uniform_real_distribution: its numbers differ between libraries.
    return low + (high - low) * (static_cast<double>(engine_() >> 11) * 0x1p-53);
  }
  int below(int n) { return static_cast<int>(engine_() % static_cast<unsigned>(n)); }
  Vec3<double> vector(double size) {
    return {uniform(-size, size), uniform(-size, size), uniform(-size, size)};
  }
  Quaternion<double> turn() {
    Quaternion<double> q{};
    do {
      q = {uniform(-1, 1), uniform(-1, 1), uniform(-1, 1), uniform(-1, 1)};
    } while (norm2(q) < 0.1 || norm2(q) > 1);
    return normalised(q);
  }
  Transform<double> frame(double size) { return {to_matrix(turn()), vector(size)}; }

 private:
  std::mt19937_64 engine_;
};

/// "b3". (Not numbered("b", 3): g++ 12 warns about its own library.)
inline std::string numbered(const char* word, int i) {
  std::string name(word);
  name += std::to_string(i);
  return name;
}

struct RandomTree {
  std::vector<BodySpec> bodies;
  std::vector<JointSpec> joints;  // joint i carries body i
  Vec3<double> gravity;
  Tree tree;
};

inline constexpr JointType all_joint_types[] = {
    JointType::fixed,     JointType::revolute, JointType::prismatic, JointType::universal,
    JointType::spherical, JointType::planar,   JointType::free};

/// A body that exists: three point masses and a bit of a ball.
inline BodySpec random_body(Dice& dice, std::string name) {
  BodySpec body{.name = std::move(name)};
  body.mass = dice.uniform(0.2, 3);
  body.com = dice.vector(0.3);
  const double ball = dice.uniform(0.001, 0.01);
  body.inertia = Sym3<double>::diagonal(ball, ball, ball);
  for (int k = 0; k < 3; ++k) {
    body.inertia =
        body.inertia + (body.mass / 3) * point_inertia<double>(dice.vector(0.2));
  }
  return body;
}

/// The tree of what was rolled, its joints given in some order: it must not matter.
inline Tree build(const RandomTree& r, unsigned seed) {
  Dice dice(seed + 500);
  const int count = static_cast<int>(r.bodies.size());
  std::vector<int> order;
  for (int i = 0; i < count; ++i) order.push_back(i);
  for (int i = count - 1; i > 0; --i) {
    std::swap(order[static_cast<std::size_t>(i)],
              order[static_cast<std::size_t>(dice.below(i + 1))]);
  }
  TreeBuilder builder;
  builder.gravity(r.gravity);
  for (const int i : order) builder.add_joint(r.joints[static_cast<std::size_t>(i)]);
  for (const BodySpec& body : r.bodies) builder.add_body(body);
  Result<Tree> built = builder.build();
  if (!built) throw std::runtime_error(built.error());
  return *built;
}

inline RandomTree random_tree(unsigned seed, int count,
                              std::vector<JointType> types = {
                                  std::begin(all_joint_types),
                                  std::end(all_joint_types)}) {
  Dice dice(seed);
  RandomTree r;
  for (int i = 0; i < count; ++i) {
    r.bodies.push_back(random_body(dice, numbered("b", i)));
    JointSpec joint{.name = numbered("j", i), .child = r.bodies.back().name};
    // Mostly chains: the parent is often the last one.
    const int parent = dice.below(3) > 0 ? i - 1 : dice.below(i + 1) - 1;
    if (parent >= 0) joint.parent = numbered("b", parent);
    joint.type =
        types[static_cast<std::size_t>(dice.below(static_cast<int>(types.size())))];
    joint.on_parent = dice.frame(0.5);
    joint.on_child = dice.frame(0.5);
    joint.axis = dice.vector(1);
    joint.damping = dice.uniform(0, 0.1);
    if (joint.type != JointType::free && dice.below(2) == 0) {
      joint.armature = dice.uniform(0, 0.05);
    }
    if (quaternion_at(joint.type) < 0) joint.stiffness = dice.uniform(0, 2);
    r.joints.push_back(joint);
  }
  r.gravity = dice.vector(10);
  r.tree = build(r, seed);
  return r;
}

struct RandomState {
  std::vector<double> q, v, tau, acceleration;
  std::vector<Force<double>> external;
};

inline RandomState random_state(Dice& dice, const Tree& tree) {
  RandomState s;
  s.q = tree.neutral();
  for (double& x : s.q) x = dice.uniform(-1.5, 1.5);
  normalise<double>(tree, s.q);
  for (int i = 0; i < tree.velocity_count(); ++i) {
    s.v.push_back(dice.uniform(-2, 2));
    s.tau.push_back(dice.uniform(-5, 5));
    s.acceleration.push_back(dice.uniform(-5, 5));
  }
  for (int i = 0; i < tree.link_count(); ++i) {
    s.external.push_back({dice.vector(3), dice.vector(5)});
  }
  return s;
}

inline double largest(const std::vector<double>& x) {
  double m = 0;
  for (const double y : x) m = std::max(m, std::abs(y));
  return m;
}

/// The largest difference, relative to the largest number.
inline double relative_difference(const std::vector<double>& a,
                                  const std::vector<double>& b) {
  double d = 0;
  for (std::size_t i = 0; i < a.size(); ++i) d = std::max(d, std::abs(a[i] - b[i]));
  return d / std::max({largest(a), largest(b), 1e-300});
}

inline std::vector<double> times(const std::vector<double>& matrix,
                                 const std::vector<double>& x) {
  std::vector<double> y(x.size(), 0.0);
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t j = 0; j < x.size(); ++j) y[i] += matrix[i * x.size() + j] * x[j];
  }
  return y;
}

/// Cholesky, in place; false when the matrix is not positive.
inline bool cholesky(std::vector<double>& a, std::size_t n) {
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = j; i < n; ++i) {
      double sum = a[i * n + j];
      for (std::size_t k = 0; k < j; ++k) sum -= a[i * n + k] * a[j * n + k];
      if (i == j) {
        if (!(sum > 0)) return false;
        a[j * n + j] = std::sqrt(sum);
      } else {
        a[i * n + j] = sum / a[j * n + j];
      }
    }
  }
  return true;
}

inline std::vector<double> cholesky_solve(const std::vector<double>& factor,
                                          std::vector<double> x) {
  const std::size_t n = x.size();
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) x[i] -= factor[i * n + k] * x[k];
    x[i] /= factor[i * n + i];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) x[i] -= factor[k * n + i] * x[k];
    x[i] /= factor[i * n + i];
  }
  return x;
}

inline constexpr int tree_sizes[] = {1, 1, 2, 2, 3, 4, 5, 7, 10, 15, 20, 30, 40};

/// For every size: a tree, a state, and a workspace with the kinematics done.
template <class F>
void on_random_trees(F f) {
  unsigned seed = 1;
  for (const int size : tree_sizes) {
    for (int round = 0; round < 3; ++round) {
      RandomTree random = random_tree(seed, size);
      Dice dice(seed + 1000);
      RandomState state = random_state(dice, random.tree);
      Workspace<double> ws(random.tree);
      kinematics(random.tree, state.q, state.v, ws);
      f(random.tree, state, ws, dice);
      ++seed;
    }
  }
}

}  // namespace bristle::test
