#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>

#include "bristle/simulate.hpp"
#include "scene/mjcf.hpp"
#include "scene/urdf.hpp"
#include "tests/dynamics/random_tree.hpp"
#include "tests/scene/robot_oracle.hpp"

// Robot files as we read them against MuJoCo's reading of the same files: joints, where
// the geoms stand, mass matrices and bias forces.

namespace bristle {
namespace {

constexpr double closely = 1e-8;  // MuJoCo turns inertias to principal axes within 1e-6

std::string file(const std::string& name) {
  return std::string(BRISTLE_ROBOTS) + "/" + name;
}

std::size_t at(int i) { return static_cast<std::size_t>(i); }

scene::Parts read(const std::string& path, const scene::RobotOptions& options = {}) {
  scene::Parts parts;
  scene::Problems problems;
  const bool fine = path.ends_with(".urdf")
                        ? scene::read_urdf(path, options, parts, problems)
                        : scene::read_mjcf(path, options, parts, problems);
  EXPECT_TRUE(fine) << problems.text();
  return parts;
}

TreeBuilder tree_of(const scene::Parts& parts) {
  TreeBuilder builder;
  for (const BodySpec& body : parts.bodies) builder.add_body(body);
  for (const JointSpec& joint : parts.joints) builder.add_joint(joint);
  if (parts.gravity) builder.gravity(*parts.gravity);
  return builder;
}

Model model_of(const scene::Parts& parts) {
  ModelBuilder builder(tree_of(parts));
  for (const ShapeSpec& shape : parts.shapes) builder.add_shape(shape);
  for (const ContactSpec& contact : parts.contacts) builder.add_contact(contact);
  for (const MotorSpec& motor : parts.motors) builder.add_motor(motor);
  Result<Model> model = builder.build();
  EXPECT_TRUE(model) << model.error();
  return model ? std::move(*model) : Model{};
}

/// Velocities of theirs that one of ours is a sum of.
using Column = std::vector<std::pair<int, double>>;

struct Correspondence {
  std::vector<double> qpos, qvel;
  std::vector<Column> columns;  // theirs = Σ column · ours
};

/// Our state in MuJoCo's numbers: joints by name; angular velocities of balls and free
/// bodies in their own axes, and after the linear ones.
Correspondence correspond(const Tree& tree, const std::vector<double>& q,
                          const std::vector<double>& v, const test::RobotOracle& oracle) {
  std::map<std::string, const test::RobotJoint*> theirs;
  for (const test::RobotJoint& j : oracle.joints) theirs[j.name] = &j;
  Correspondence c;
  c.qpos.assign(at(oracle.positions), 0.0);
  c.qvel.assign(at(oracle.velocities), 0.0);
  c.columns.resize(v.size());
  const auto single = [&](const std::string& name, int our_q, int our_v) {
    const auto found = theirs.find(name);
    if (found == theirs.end()) {
      ADD_FAILURE() << "MuJoCo has no joint " << name;
      return;
    }
    c.qpos[at(found->second->q)] = q[at(our_q)] + found->second->ref;
    c.columns[at(our_v)] = {{found->second->v, 1.0}};
  };
  for (const Joint& joint : tree.joints()) {
    if (joint.v < 0) continue;
    if (joint.type == JointType::planar) {
      single(joint.name + "_TX", joint.q, joint.v);
      single(joint.name + "_TY", joint.q + 1, joint.v + 1);
      single(joint.name + "_RZ", joint.q + 2, joint.v + 2);
      continue;
    }
    if (quaternion_at(joint.type) < 0) {
      single(joint.name, joint.q, joint.v);
      continue;
    }
    const auto found = theirs.find(joint.name);
    if (found == theirs.end()) {
      ADD_FAILURE() << "MuJoCo has no joint " << joint.name;
      continue;
    }
    const test::RobotJoint& other = *found->second;
    const bool is_free = joint.type == JointType::free;
    for (int k = 0; k < position_count(joint.type); ++k) {
      c.qpos[at(other.q + k)] = q[at(joint.q + k)];
    }
    const Quaternion<double> turn =
        load_quaternion(q.data() + joint.q + quaternion_at(joint.type));
    const Mat3<double> r = to_matrix(turn);
    const double rows[3][3] = {
        {r.x.x, r.y.x, r.z.x}, {r.x.y, r.y.y, r.z.y}, {r.x.z, r.y.z, r.z.z}};
    for (int k = 0; k < 3; ++k) {  // ω in the body's axes: Rᵀ ω
      for (int i = 0; i < 3; ++i) {
        c.columns[at(joint.v + k)].emplace_back(other.v + (is_free ? 3 : 0) + i,
                                                rows[k][i]);
      }
      if (is_free) c.columns[at(joint.v + 3 + k)] = {{other.v + k, 1.0}};
    }
  }
  for (std::size_t i = 0; i < v.size(); ++i) {
    for (const auto& [row, x] : c.columns[i]) c.qvel[at(row)] += x * v[i];
  }
  return c;
}

void expect_same_joints(const scene::Parts& parts, const test::RobotOracle& oracle) {
  std::map<std::string, const JointSpec*> ours;
  for (const JointSpec& j : parts.joints) ours[j.name] = &j;
  for (const test::RobotJoint& j : oracle.joints) {
    const auto found = ours.find(j.name);
    if (found == ours.end()) continue;  // a planar joint's three
    const JointSpec& our = *found->second;
    EXPECT_NEAR(our.damping, j.damping, 1e-12) << j.name;
    EXPECT_NEAR(our.friction, j.friction, 1e-12) << j.name;
    if (j.kind == 'f' || j.kind == 'b') continue;
    EXPECT_NEAR(our.armature, j.armature, 1e-12) << j.name;
    EXPECT_NEAR(our.stiffness, j.stiffness, 1e-12) << j.name;
    if (j.stiffness > 0) {
      EXPECT_NEAR(our.rest, j.springref - j.ref, 1e-12) << j.name;
    }
    EXPECT_EQ(std::isfinite(our.lower), j.limited) << j.name;
    if (j.limited) {
      EXPECT_NEAR(our.lower, j.range[0] - j.ref, 1e-12) << j.name;
      EXPECT_NEAR(our.upper, j.range[1] - j.ref, 1e-12) << j.name;
    }
  }
}

/// Half of the sides of a box around a geom in its own axes.
Vec3<double> half_of(const test::RobotGeom& geom) {
  const double a = geom.size[0], b = geom.size[1];
  switch (geom.kind) {
    case 's':
      return {a, a, a};
    case 'c':
      return {a, a, a + b};
    case 'y':
      return {a, a, b};
    default:
      return load_vec3(geom.size);
  }
}

/// MuJoCo's geoms are shapes of ours, as large and in the same place; those that have a
/// name by that name.
int expect_same_shapes(const Model& model, const Workspace<double>& ws,
                       const test::RobotState& there) {
  int compared = 0;
  for (const test::RobotGeom& geom : there.geoms) {
    const double(&r)[3][3] = geom.rotation;
    double closest = 1;
    for (const ModelShape& shape : model.shapes) {
      if (!geom.name.empty() && shape.name != geom.name) continue;
      const Transform<double> pose = ws.poses[at(shape.link)] * shape.in_link;
      const Aabb box = bounds(shape.shape, Transform<double>{});
      const double size =
          geom.kind == 'p' ? 0 : norm(0.5 * (box.high - box.low) - half_of(geom));
      const double away = norm(pose.p - load_vec3(geom.position));
      const double turned = norm(pose.R.x - Vec3<double>{r[0][0], r[1][0], r[2][0]}) +
                            norm(pose.R.z - Vec3<double>{r[0][2], r[1][2], r[2][2]});
      if (geom.kind == 'm') {  // MuJoCo moves and turns meshes; the vertices stay
        const Aabb placed = bounds(shape.shape, pose);
        closest = std::min(closest, norm(placed.low - load_vec3(geom.low)) +
                                        norm(placed.high - load_vec3(geom.high)));
      } else {
        closest = std::min(closest, size + away + turned);
      }
    }
    EXPECT_LT(closest, geom.kind == 'm' ? 1e-6 : 1e-9)
        << geom.name << " of kind " << geom.kind;
    ++compared;
  }
  return compared;
}

/// At random states.
void expect_same_dynamics(const char* title, const scene::Parts& parts,
                          test::RobotOracle& oracle, double tolerance = closely) {
  constexpr int rounds = 50;
  const Model model = model_of(parts);
  const Tree& tree = model.tree;
  ASSERT_EQ(tree.velocity_count(), oracle.velocities);
  ASSERT_GT(oracle.velocities, 0);
  EXPECT_LT(norm(tree.gravity() - load_vec3(oracle.gravity)), 1e-15);
  expect_same_joints(parts, oracle);
  double worst_mass = 0, worst_bias = 0;
  int shapes = 0;
  test::Dice dice(7);
  for (int round = 0; round < rounds; ++round) {
    const test::RandomState s = test::random_state(dice, tree);
    Workspace<double> ws(tree);
    kinematics(tree, s.q, s.v, ws);
    const std::size_t n = s.v.size();
    std::vector<double> mass(n * n), bias(n);
    mass_matrix(tree, ws, mass);
    inverse_dynamics(tree, s.v, {}, {}, ws, bias);

    const Correspondence c = correspond(tree, s.q, s.v, oracle);
    const test::RobotState there = oracle.at(c.qpos, c.qvel);
    std::vector<double> mass_there(n * n), bias_there(n);  // Gᵀ M G, Gᵀ b
    for (std::size_t i = 0; i < n; ++i) {
      for (const auto& [row, x] : c.columns[i]) bias_there[i] += x * there.bias[at(row)];
      for (std::size_t j = 0; j < n; ++j) {
        for (const auto& [row, x] : c.columns[i]) {
          for (const auto& [column, y] : c.columns[j]) {
            mass_there[i * n + j] += x * y * there.mass_matrix[at(row) * n + at(column)];
          }
        }
      }
    }
    worst_mass = std::max(worst_mass, test::relative_difference(mass, mass_there));
    worst_bias = std::max(worst_bias, test::relative_difference(bias, bias_there));
    if (round < 3) shapes = expect_same_shapes(model, ws, there);
  }
  EXPECT_LT(worst_mass, tolerance);
  EXPECT_LT(worst_bias, tolerance);
  std::printf(
      "%s: %d velocities, %d shapes compared; largest relative differences in %d states: "
      "mass matrix %.1e, bias forces %.1e\n",
      title, oracle.velocities, shapes, rounds, worst_mass, worst_bias);
}

void expect_same(const std::string& name, double tolerance = closely) {
  const scene::Parts parts = read(file(name));
  test::RobotOracle oracle(file(name));
  expect_same_dynamics(name.c_str(), parts, oracle, tolerance);
}

TEST(RobotsAgainstMujoco, ArmOfSevenJoints) { expect_same("arm7.urdf"); }

TEST(RobotsAgainstMujoco, ChainOfSkewJoints) { expect_same("chain.urdf"); }

TEST(RobotsAgainstMujoco, QuadrupedWithAFreeBase) {
  scene::RobotOptions options;
  options.base = "free";
  const scene::Parts parts = read(file("quadruped.urdf"), options);
  // MuJoCo asks for a floating joint where we have an option.
  std::ifstream in(file("quadruped.urdf"));
  std::string text(std::istreambuf_iterator<char>(in), {});
  const std::string end = "</robot>";
  text.insert(text.rfind(end),
              "<link name='world'/><joint name='trunk.base' type='floating'>"
              "<parent link='world'/><child link='trunk'/></joint>");
  test::RobotOracle oracle(file("quadruped.urdf"), text);
  expect_same_dynamics("quadruped.urdf", parts, oracle);
}

TEST(RobotsAgainstMujoco, QuadrupedWithAFixedBase) { expect_same("quadruped.urdf"); }

TEST(RobotsAgainstMujoco, BallsAndBodiesWithSeveralJoints) { expect_same("joints.xml"); }

TEST(RobotsAgainstMujoco, WalkerOfDefaultClasses) { expect_same("walker.xml"); }

// MuJoCo has meshes in single precision: a box of exact corners weighs 2e-8 too little.
TEST(RobotsAgainstMujoco, MeshInertiaAndIncludedFiles) { expect_same("tool.xml", 1e-7); }

TEST(RobotsAgainstMujoco, FirstKeyframe) {
  const scene::Parts parts = read(file("walker.xml"));
  test::RobotOracle oracle(file("walker.xml"));
  const Model model = model_of(parts);
  std::vector<double> q = model.tree.neutral();
  std::vector<double> v(at(model.tree.velocity_count()), 0.0);
  for (const scene::InitialJoint& start : parts.start) {
    const Joint* joint = model.tree.find_joint(start.joint);
    ASSERT_NE(joint, nullptr) << start.joint;
    std::copy(start.q.begin(), start.q.end(), q.begin() + joint->q);
    std::copy(start.v.begin(), start.v.end(), v.begin() + joint->v);
  }
  const Correspondence c = correspond(model.tree, q, v, oracle);
  EXPECT_LT(test::relative_difference(c.qpos, oracle.key_qpos), 1e-15);
  EXPECT_LT(test::relative_difference(c.qvel, oracle.key_qvel), 1e-15);
}

}  // namespace
}  // namespace bristle
