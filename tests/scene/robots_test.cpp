#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

#include "bristle/dynamics/motors.hpp"
#include "bristle/run.hpp"
#include "bristle/step/sensors.hpp"
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
  for (const CouplingSpec& coupling : parts.couplings) builder.add_coupling(coupling);
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
                       const test::RobotState& there, double tolerance) {
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
      // Up to half turns, which a shape does not show.
      const double turned =
          norm(cross(pose.R.x, Vec3<double>{r[0][0], r[1][0], r[2][0]})) +
          norm(cross(pose.R.z, Vec3<double>{r[0][2], r[1][2], r[2][2]}));
      if (geom.kind == 'm') {  // MuJoCo moves and turns meshes; the vertices stay
        const Aabb placed = bounds(shape.shape, pose);
        closest = std::min(closest, norm(placed.low - load_vec3(geom.low)) +
                                        norm(placed.high - load_vec3(geom.high)));
      } else {
        closest = std::min(closest, size + away + turned);
      }
    }
    EXPECT_LT(closest, geom.kind == 'm' ? 1e-6 : tolerance)
        << geom.name << " of kind " << geom.kind;
    ++compared;
  }
  return compared;
}

struct Difference {
  double mass = 0, bias = 0;  // relative to the largest number
  int shapes = 0;             // compared
};

/// At random states.
Difference expect_same_dynamics(const scene::Parts& parts, test::RobotOracle& oracle,
                                int rounds, double tolerance) {
  Difference worst;
  const Model model = model_of(parts);
  const Tree& tree = model.tree;
  EXPECT_EQ(tree.velocity_count(), oracle.velocities);
  EXPECT_GT(oracle.velocities, 0);
  if (testing::Test::HasFailure()) return worst;
  EXPECT_LT(norm(tree.gravity() - load_vec3(oracle.gravity)), 1e-15);
  expect_same_joints(parts, oracle);
  test::Dice dice(7);
  for (int round = 0; round < rounds; ++round) {
    const test::RandomState s = test::random_state(dice, tree);
    Workspace<double> ws(tree);
    kinematics(tree, s.q, s.v, ws);
    const std::size_t n = s.v.size();
    std::vector<double> mass(n * n), bias(n);
    mass_matrix(tree, ws, mass);
    inverse_dynamics(tree, s.v, {}, {}, ws, bias);

    // Forward dynamics agree with them, through bodies without mass as well: M v̇ + b = τ.
    std::vector<double> acceleration(n);
    forward_dynamics(tree, s.v, s.tau, {}, ws, acceleration);
    const std::vector<double> inertial = test::times(mass, acceleration);
    double scale = test::largest(bias) + test::largest(inertial);
    scale += test::largest(mass) * test::largest(acceleration);
    for (std::size_t i = 0; i < n; ++i) {
      EXPECT_LT(std::abs(inertial[i] + bias[i] - s.tau[i]), 1e-10 * scale);
    }

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
    worst.mass = std::max(worst.mass, test::relative_difference(mass, mass_there));
    worst.bias = std::max(worst.bias, test::relative_difference(bias, bias_there));
    if (round < 3) worst.shapes = expect_same_shapes(model, ws, there, 0.1 * tolerance);
  }
  EXPECT_LT(worst.mass, tolerance);
  EXPECT_LT(worst.bias, tolerance);
  return worst;
}

void report(const char* title, const test::RobotOracle& oracle, const Difference& d) {
  std::printf(
      "%s: %d velocities, %d shapes; largest differences: mass matrix %.1e, bias forces "
      "%.1e\n",
      title, oracle.velocities, d.shapes, d.mass, d.bias);
}

void expect_same(const std::string& name, double tolerance = closely) {
  const scene::Parts parts = read(file(name));
  test::RobotOracle oracle(file(name));
  report(name.c_str(), oracle, expect_same_dynamics(parts, oracle, 50, tolerance));
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
  report("quadruped.urdf", oracle, expect_same_dynamics(parts, oracle, 50, closely));
}

TEST(RobotsAgainstMujoco, QuadrupedWithAFixedBase) { expect_same("quadruped.urdf"); }

TEST(RobotsAgainstMujoco, BallsAndBodiesWithSeveralJoints) { expect_same("joints.xml"); }

TEST(RobotsAgainstMujoco, WalkerOfDefaultClasses) { expect_same("walker.xml"); }

// MuJoCo has meshes in single precision: a box of exact corners weighs 2e-8 too little.
TEST(RobotsAgainstMujoco, MeshInertiaAndIncludedFiles) { expect_same("tool.xml", 1e-7); }

// Its mass is given: this MuJoCo takes the volume of the box with the same inertia.
TEST(RobotsAgainstMujoco, MeshesThatAreNotConvexAndShapesFittedToThem) {
  expect_same("bracket.xml", 3e-7);
}

TEST(RobotsAgainstMujoco, ActuatorsPullAlikeAndTendonsAreAsLong) {
  const scene::Parts parts = read(file("driven.xml"));
  test::RobotOracle oracle(file("driven.xml"));
  const Model model = model_of(parts);
  ASSERT_EQ(model.motors.size(), 8u);
  ASSERT_EQ(model.couplings.size(), 2u);
  System system(model);
  State state = make_state(model);
  const Tree& tree = model.tree;
  test::Dice dice(11);
  double worst = 0, longest = 0;
  int at_limit = 0;
  for (int round = 0; round < 50; ++round) {
    for (double& q : state.q) q = dice.uniform(-2, 2);
    for (double& v : state.v) v = dice.uniform(-4, 4);
    ASSERT_EQ(settle(system, 1e-3, state), StepStatus::ok);
    apply_forces(system, {}, 0, state.q, state.v, state, memory_of(std::as_const(state)),
                 rates_of(system.pools), {});
    std::vector<double> tau(state.v.size());
    for (std::size_t i = 0; i < model.motors.size(); ++i) {
      const Motor& motor = model.motors[i];
      const double force = system.motor_forces[i];
      at_limit += force == motor.least_force || force == motor.largest_force;
      add_motor_force(system.drives.couplings, motor, force, tau);
    }
    const Correspondence c = correspond(tree, state.q, state.v, oracle);
    const test::RobotState there = oracle.at(c.qpos, c.qvel);
    std::vector<double> tau_there(tau.size());
    for (std::size_t i = 0; i < tau.size(); ++i) {
      for (const auto& [row, x] : c.columns[i]) {
        tau_there[i] += x * there.driven[at(row)];
      }
    }
    worst = std::max(worst, test::relative_difference(tau, tau_there));
    for (std::size_t t = 0; t < 2; ++t) {
      const double length = model.couplings[t].value(state.q);
      longest = std::max(longest, std::abs(length - there.tendons[t]));
    }
  }
  std::printf("driven.xml: forces of 8 actuators differ by %.1e, lengths by %.1e m\n",
              worst, longest);
  EXPECT_GT(at_limit, 10);
  EXPECT_LT(worst, 1e-12);
  EXPECT_LT(longest, 1e-14);
}

/// By how much the rates of lengths differ from differences along the motion.
double worst_arm(const Model& model, const State& state) {
  constexpr double small = 1e-6;
  CouplingMotion there(model);
  Workspace<double> ws(model.tree);
  const auto value_at = [&](std::size_t i, double time) {
    std::vector<double> q = state.q;
    integrate<double>(model.tree, q, state.v, time);
    kinematics<double>(model.tree, q, state.v, ws);
    there.update(i, ws);
    return there.value(i, q);
  };
  double worst = 0;
  for (std::size_t i = 0; i < model.couplings.size(); ++i) {
    if (model.couplings[i].path.empty()) continue;
    const double slope = (value_at(i, small) - value_at(i, -small)) / (2 * small);
    value_at(i, 0);
    worst = std::max(worst, std::abs(slope - there.rate(i, state.v)));
  }
  return worst;
}

/// Strings in random states: lengths, and the forces of their springs, of what pulls them
/// and of what pushes at sites, over moment arms that change with the state.
TEST(RobotsAgainstMujoco, StringsAreAsLongAndPullAlike) {
  const scene::Parts parts = read(file("strings.xml"));
  test::RobotOracle oracle(file("strings.xml"));
  const Model model = model_of(parts);
  ASSERT_EQ(model.motors.size(), 8u);
  System system(model);
  State state = make_state(model);
  const Tree& tree = model.tree;
  test::Dice dice(23);
  double worst = 0, longest = 0, steepest = 0;
  for (int round = 0; round < 400; ++round) {
    const test::RandomState s = test::random_state(dice, tree);
    state = make_state(model);
    state.q = s.q;
    state.v = s.v;
    ASSERT_EQ(settle(system, 1e-3, state), StepStatus::ok);
    apply_forces(system, {}, 0, state.q, state.v, state, memory_of(std::as_const(state)),
                 rates_of(system.pools), {});
    const Correspondence c = correspond(tree, state.q, state.v, oracle);
    const test::RobotState there = oracle.at(c.qpos, c.qvel);
    std::vector<double> tau_there(state.v.size());
    for (std::size_t i = 0; i < tau_there.size(); ++i) {
      for (const auto& [row, x] : c.columns[i]) {
        tau_there[i] += x * (there.driven[at(row)] + there.passive[at(row)]);
      }
    }
    worst = std::max(worst, test::relative_difference(system.tau, tau_there));
    for (std::size_t t = 0; t < there.lengths.size(); ++t) {
      // A sum counts from where our joints are at 0.
      const auto coupling = std::ranges::find_if(model.couplings, [&](const Coupling& k) {
        return k.name == oracle.tendon_names[t];
      });
      ASSERT_NE(coupling, model.couplings.end());
      const auto k = static_cast<std::size_t>(coupling - model.couplings.begin());
      const double length = system.drives.couplings.value(k, state.q);
      const double expected = coupling->moves() ? there.lengths[t] : there.tendons[t];
      longest = std::max(longest, std::abs(length - expected));
    }
    steepest = std::max(steepest, worst_arm(model, state));
  }
  std::printf(
      "strings.xml: forces of springs and actuators differ by %.1e, lengths by "
      "%.1e m\n",
      worst, longest);
  EXPECT_LT(longest, 1e-9);
  EXPECT_LT(worst, 1e-9);
  EXPECT_LT(steepest, 1e-7);
}

/// A random MJCF text: orientations, joints and geoms in every notation.
class RandomMjcf {
 public:
  explicit RandomMjcf(unsigned seed) : dice_(seed) {
    degrees_ = dice_.below(2) == 0;
    const char letters[] = "xyzXYZ";
    std::string sequence;
    for (int i = 0; i < 3; ++i) sequence += letters[dice_.below(6)];
    out_.precision(17);
    out_ << "<mujoco><compiler autolimits='true' angle='"
         << (degrees_ ? "degree" : "radian") << "' eulerseq='" << sequence
         << "'/><option gravity='" << three(9)
         << "'/><default><geom density='500'/><default class='stiff'>"
            "<joint armature='0.3' damping='2'/></default></default><worldbody>";
    bodies(2, 0);
    out_ << "</worldbody></mujoco>";
  }
  std::string text() const { return out_.str(); }

 private:
  double number(double size) { return dice_.uniform(-size, size); }
  std::string list(int count, double size) {
    std::ostringstream text;
    text.precision(17);
    for (int i = 0; i < count; ++i) text << number(size) << ' ';
    return text.str();
  }
  std::string three(double size) { return list(3, size); }

  void orientation() {
    const double angle = degrees_ ? 180 : 3;
    switch (dice_.below(6)) {
      case 0:
        out_ << " quat='" << list(4, 1) << "'";
        break;
      case 1:
        out_ << " euler='" << three(angle) << "'";
        break;
      case 2:
        out_ << " axisangle='" << three(1) << number(angle) << "'";
        break;
      case 3:
        out_ << " xyaxes='" << list(6, 1) << "'";
        break;
      case 4:
        out_ << " zaxis='" << three(1) << "'";
        break;
      default:
        break;
    }
  }

  void joints(bool on_world) {
    const int kind = dice_.below(on_world ? 6 : 5);
    const char* style = dice_.below(2) == 0 ? " class='stiff'" : "";
    const int name = joints_;
    if (kind == 0) return;
    if (kind == 5) {
      out_ << "<freejoint name='j" << joints_++ << "'/>";
      return;
    }
    for (int k = 0; k < kind && k < 3; ++k) {
      const bool ball = kind == 4 && k == 2;
      const bool hinge = dice_.below(2) == 0;
      out_ << "<joint name='j" << joints_++ << "'" << style << " pos='" << three(0.2)
           << "' type='"
           << (ball    ? "ball"
               : hinge ? "hinge"
                       : "slide")
           << "'";
      if (!ball) {
        out_ << " axis='" << three(1) << "' ref='" << number(hinge && degrees_ ? 90 : 1)
             << "'";
        if ((name + k) % 3 == 0)
          out_ << " range='-0.5 1.5' stiffness='2' springref='0.3'";
      }
      out_ << "/>";
    }
  }

  void geom() {
    const double a = dice_.uniform(0.05, 0.2), b = dice_.uniform(0.05, 0.2);
    const char* types[] = {"sphere", "capsule", "cylinder", "box", "ellipsoid"};
    const int type = dice_.below(5);
    out_ << "<geom name='g" << geoms_++ << "' type='" << types[type] << "'";
    if (type > 0 && dice_.below(2) == 0) {
      out_ << " fromto='" << list(6, 0.3) << "' size='" << a << "'";
    } else {
      out_ << " pos='" << three(0.2) << "' size='" << a << ' ' << b << ' ' << 0.1 << "'";
      orientation();
    }
    if (dice_.below(2) == 0) out_ << " mass='" << dice_.uniform(0.1, 3) << "'";
    out_ << "/>";
  }

  void bodies(int count, int depth) {
    for (int i = 0; i < count; ++i) {
      out_ << "<body pos='" << three(0.5) << "'";
      orientation();
      out_ << ">";
      joints(depth == 0);
      if (dice_.below(3) == 0) {
        out_ << "<inertial pos='" << three(0.1)
             << "' mass='1' diaginertia='0.1 0.2 0.25'";
        orientation();
        out_ << "/>";
      }
      geom();
      if (depth < 3) bodies(dice_.below(3), depth + 1);
      out_ << "</body>";
    }
  }

  test::Dice dice_;
  std::ostringstream out_;
  bool degrees_;
  int joints_ = 0;
  int geoms_ = 0;
};

TEST(RobotsAgainstMujoco, RandomModelsInEveryNotation) {
  double worst = 0;
  int velocities = 0;
  int models = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    const std::string text = RandomMjcf(seed).text();
    scene::Parts parts;
    scene::Problems problems;
    ASSERT_TRUE(scene::read_mjcf_text(text, "random.xml", {}, parts, problems))
        << problems.text() << text;
    test::RobotOracle oracle("random.xml", text);
    if (oracle.velocities == 0) continue;
    const Difference d = expect_same_dynamics(parts, oracle, 3, 1e-10);
    ASSERT_FALSE(HasFailure()) << text;
    worst = std::max({worst, d.mass, d.bias});
    velocities = std::max(velocities, oracle.velocities);
    ++models;
  }
  std::printf("%d random models of up to %d velocities: largest difference %.1e\n",
              models, velocities, worst);
  EXPECT_GT(models, 80);
}

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

/// Every sensor of the file, in states without contact.
TEST(RobotsAgainstMujoco, Sensors) {
  const scene::Parts parts = read(file("sensors.xml"));
  test::RobotOracle oracle(file("sensors.xml"));
  const Model model = model_of(parts);
  Result<Sensors> sensors = Sensors::make(model, parts.sensors);
  ASSERT_TRUE(sensors) << sensors.error();
  ASSERT_EQ(sensors->size(), 28u);
  test::Dice dice(3);
  System system(model);
  for (int round = 0; round < 20; ++round) {
    State state = make_state(model);
    for (double& q : state.q) q += dice.uniform(-0.3, 0.3);
    normalise<double>(model.tree, state.q);
    for (double& v : state.v) v = dice.uniform(-2, 2);
    const Correspondence c = correspond(model.tree, state.q, state.v, oracle);
    const test::RobotState there = oracle.at(c.qpos, c.qvel);
    ASSERT_EQ(settle(system, 1e-3, state), StepStatus::ok);
    settled_forces(system, state);
    sensors->measure(system, state);
    for (std::size_t i = 0; i < parts.sensors.size(); ++i) {
      const std::vector<double>& theirs = there.sensors.at(parts.sensors[i].name);
      const std::span<const double> ours = (*sensors)[i];
      ASSERT_EQ(theirs.size(), ours.size()) << parts.sensors[i].name;
      const bool turned = theirs.size() == 4 && theirs[0] < 0;
      for (std::size_t k = 0; k < ours.size(); ++k) {
        EXPECT_NEAR(ours[k], turned ? -theirs[k] : theirs[k],
                    closely * (1 + std::abs(theirs[k])))
            << parts.sensors[i].name << " " << k;
      }
    }
  }
}

}  // namespace
}  // namespace bristle
