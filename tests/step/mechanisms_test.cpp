#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>

#include "bristle/dynamics/kinematics.hpp"
#include "bristle/run.hpp"
#include "tests/validation/scenes.hpp"

// Random mechanisms under the complementarity stepper: chains and trees on any joints,
// with springs, dampers, friction, limits, motors, rigid and elastic loops and contacts,
// stiffness 1e4 … 1e12, steps of 0.1 … 20 ms. All stays finite, and kinetic + stored +
// gravitational energy never rises by 1 % above what it began with and what was done.
// 100 of each family, and 1000 with BRISTLE_SOAK in the environment.

namespace bristle {
namespace {

using validation::box_inertia;
using validation::built;
using validation::numbered;

class Draw {
 public:
  explicit Draw(unsigned seed) : engine_(seed) {}
  double between(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(engine_);
  }
  double log_between(double low, double high) {
    return std::exp(between(std::log(low), std::log(high)));
  }
  int below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(engine_); }
  bool chance(double p) { return between(0, 1) < p; }
  Vec3<double> direction() {
    for (;;) {
      const Vec3<double> v{between(-1, 1), between(-1, 1), between(-1, 1)};
      const double l = norm(v);
      if (l > 0.1 && l < 1) return (1 / l) * v;
    }
  }

 private:
  std::mt19937_64 engine_;
};

enum class Family : std::uint8_t { trees, contacts, rigid_loops, elastic_loops };
constexpr const char* names[] = {"trees", "contacts", "rigid loops", "elastic loops"};

struct Mechanism {
  Model model;
  State state;
  double step;
};

/// A joint of any type; springs and limits where it has positions that allow them.
JointSpec random_joint(Draw& draw, const std::string& parent, const std::string& child,
                       double mass) {
  constexpr JointType types[] = {JointType::revolute,  JointType::revolute,
                                 JointType::prismatic, JointType::universal,
                                 JointType::spherical, JointType::planar};
  JointSpec joint;
  joint.name = child + " joint";
  joint.parent = parent;
  joint.child = child;
  joint.type = types[draw.below(6)];
  const bool one =
      joint.type == JointType::revolute || joint.type == JointType::prismatic;
  if (one) joint.axis = draw.direction();
  joint.on_parent.p = draw.between(0.05, 0.4) * draw.direction();
  joint.on_parent.R = to_matrix(rotation_exp(draw.between(-1, 1) * draw.direction()));
  if (draw.chance(0.3)) joint.damping = draw.log_between(1e-3, 1) * mass;
  if (draw.chance(0.3) && joint.type != JointType::spherical) {
    joint.stiffness = draw.log_between(1e-1, 1e6) * mass;
  }
  if (draw.chance(0.2)) joint.friction = draw.log_between(1e-2, 1) * mass;
  if (draw.chance(0.2) && one) {
    joint.lower = draw.between(-2, -0.5);
    joint.upper = draw.between(0.5, 2);
  }
  if (draw.chance(0.2)) joint.armature = draw.log_between(1e-3, 1e-1) * mass;
  return joint;
}

ContactSpec random_contact(Draw& draw) {
  const double k = draw.log_between(1e4, 1e12), mu = draw.between(0, 1);
  ContactSpec contact;
  switch (draw.below(4)) {
    case 0:
      contact.normal = choose<KelvinVoigt>(
          {.stiffness = k, .damping = 1e-3 * k * draw.between(0, 2), .clamp = 1});
      break;
    case 1:
      contact.normal =
          choose<HuntCrossley>({.stiffness = k, .exponent = 1.5, .dissipation = 1});
      break;
    case 2:
      contact.normal = choose<GonthierNormal>({.stiffness = k,
                                               .exponent = 1.5,
                                               .restitution = 0.3,
                                               .impact_speed_floor = 1e-3});
      break;
    default:
      contact.rigid = true;
      contact.restitution = 0.3;
  }
  contact.friction = choose<SpringSlider>(
      {.mu = mu, .stiffness = draw.log_between(1e3, 1e10), .damping = 100});
  return contact;
}

/// Bodies on joints, from the world or from a free body.
struct Parts {
  ModelBuilder builder;
  std::vector<std::string> bodies;
  ContactSpec contact{};
};
Parts random_tree(Draw& draw) {
  Parts parts;
  const int count = 1 + draw.below(6);
  for (int i = 0; i < count; ++i) {
    const std::string name = numbered("b", i);
    const double mass = draw.log_between(0.05, 20);
    const Vec3<double> half{draw.between(0.02, 0.2), draw.between(0.02, 0.2),
                            draw.between(0.02, 0.2)};
    BodySpec body;
    body.name = name;
    body.mass = mass;
    body.com = draw.between(0, 0.2) * draw.direction();
    body.inertia = box_inertia(mass, half);
    parts.builder.add_body(body);
    if (i == 0 && draw.chance(0.4)) {
      parts.builder.add_joint(
          {.name = name + " joint", .child = name, .type = JointType::free});
    } else {
      const std::string parent = i == 0 ? std::string(world_name)
                                        : parts.bodies[static_cast<std::size_t>(
                                              draw.chance(0.6) ? i - 1 : draw.below(i))];
      parts.builder.add_joint(random_joint(draw, parent, name, mass));
    }
    parts.bodies.push_back(name);
  }
  return parts;
}

void add_shapes(Draw& draw, Parts& parts, double ground) {
  parts.builder.add_shape(
      {.name = "ground", .shape = Plane{}, .pose = {.p = {0, 0, ground}}});
  for (const std::string& body : parts.bodies) {
    const double r = draw.between(0.03, 0.1);
    Shape shape = Sphere{r};
    if (draw.chance(0.3)) shape = Capsule{r, draw.between(0.05, 0.2)};
    if (draw.chance(0.3)) shape = Box{{r, 1.5 * r, 2 * r}};
    parts.builder.add_shape({.name = body,
                             .body = body,
                             .shape = shape,
                             .pose = {.p = draw.between(0, 0.2) * draw.direction()}});
  }
  parts.contact = random_contact(draw);
  parts.builder.add_contact(parts.contact);
}

/// The lowest that a body can be in the tree's first positions [m].
double lowest_of(const Model& tree, const State& state) {
  Workspace<double> ws(tree.tree);
  kinematics<double>(tree.tree, state.q, state.v, ws);
  double lowest = 0;
  for (const Transform<double>& pose : ws.poses) lowest = std::min(lowest, pose.p.z);
  return lowest;
}

/// Torque and position motors on some joints.
void add_motors(Draw& draw, Parts& parts, const Model& tree) {
  for (const Joint& joint : tree.tree.joints()) {
    if (joint.type != JointType::revolute && joint.type != JointType::prismatic) continue;
    if (!draw.chance(0.3)) continue;
    MotorSpec motor;
    motor.name = joint.name + " motor";
    motor.joint = joint.name;
    if (draw.chance(0.3)) {
      motor.target = {.offset = draw.between(-5, 5)};
    } else {
      motor.kind = MotorKind::position;
      motor.kp = draw.log_between(1, 1e5);
      motor.kd = draw.chance(0.5) ? 0.05 * motor.kp * draw.between(0, 1) : 0;
      motor.target = {.offset = draw.between(-1, 1)};
      if (draw.chance(0.3)) {
        motor.largest_force = draw.log_between(1, 1e3);
        motor.least_force = -motor.largest_force;
      }
    }
    parts.builder.add_motor(motor);
  }
}

/// Loops that are closed where the tree is.
void add_loops(Draw& draw, Parts& parts, const Model& tree, const State& state,
               bool rigid) {
  Workspace<double> ws(tree.tree);
  kinematics<double>(tree.tree, state.q, state.v, ws);
  const auto pose_of = [&](const std::string& name) {
    for (const Body& body : tree.tree.bodies()) {
      if (body.name == name) {
        return ws.poses[static_cast<std::size_t>(body.link)] * body.in_link;
      }
    }
    return Transform<double>{};
  };
  const int count = 1 + draw.below(2);
  const double k = draw.log_between(1e4, 1e12);
  for (int i = 0; i < count; ++i) {
    LoopSpec loop;
    loop.name = numbered("loop", i);
    constexpr LoopKind kinds[] = {LoopKind::point, LoopKind::hinge, LoopKind::weld,
                                  LoopKind::distance};
    loop.kind = kinds[draw.below(rigid ? 4 : 3)];
    const auto n = static_cast<int>(parts.bodies.size());
    loop.body_b =
        parts.bodies[static_cast<std::size_t>(n - 1 - draw.below(n > 2 ? 2 : 1))];
    loop.body_a = n > 2 && draw.chance(0.5) ? parts.bodies[0] : std::string(world_name);
    const Transform<double> at =
        pose_of(loop.body_b) *
        Transform<double>{Mat3<double>::identity(), 0.2 * draw.direction()};
    loop.pose_b = inverse(pose_of(loop.body_b)) * at;
    loop.pose_a = inverse(pose_of(loop.body_a)) * at;
    if (loop.kind == LoopKind::distance) {
      const Vec3<double> apart = draw.between(0.2, 0.5) * draw.direction();
      loop.pose_a.p = inverse(pose_of(loop.body_a)) * (at.p + apart);
      loop.length = norm(apart);
    }
    if (!rigid) {
      loop.stiffness = k;
      loop.damping = draw.chance(0.5) ? 1e-3 * k * draw.between(0, 1) : 0;
      if (loop.kind != LoopKind::point) {
        loop.rotational_stiffness = 0.01 * k;
        loop.rotational_damping = 0.01 * loop.damping;
      }
    }
    parts.builder.add_loop(loop);
  }
}

bool touches(const Mechanism& made) {
  State state = made.state;
  FixedStep stepper(made.model, {});
  EXPECT_EQ(stepper.settle(state), StepStatus::ok);
  const auto& episodes = state.contacts.episode;
  return std::any_of(episodes.begin(), episodes.begin() + state.contacts.count,
                     [](std::uint32_t episode) { return episode != 0; });
}

/// The weight of all bodies times how far they may hang down, a micrometre at least [J].
double height_of(const Model& model) {
  double mass = 0, reach = 1e-6;
  for (const LinkConstants<double>& link : model.tree.constants()) {
    mass += link.inertia.mass;
    reach += norm(link.joint.p);
  }
  return mass * norm(model.tree.gravity()) * reach;
}

Mechanism random_mechanism(unsigned seed, Family family) {
  Draw draw(seed);
  Parts parts = random_tree(draw);
  const Model tree = built(parts.builder);
  State state = make_state(tree);
  const std::span<const Dof> dofs = tree.tree.dofs();
  for (std::size_t k = 0; k < dofs.size(); ++k) {
    if (dofs[k].q >= 0)
      state.q[static_cast<std::size_t>(dofs[k].q)] += draw.between(-0.4, 0.4);
    state.v[k] = (draw.chance(0.5) ? 1 : 10) * draw.between(-1, 1);
  }
  add_motors(draw, parts, tree);
  if (family == Family::contacts) {
    add_shapes(draw, parts, lowest_of(tree, state) - draw.between(0.6, 1));
  }
  if (family == Family::rigid_loops) add_loops(draw, parts, tree, state, true);
  if (family == Family::elastic_loops) add_loops(draw, parts, tree, state, false);
  Mechanism made{built(parts.builder), {}, draw.log_between(1e-4, 2e-2)};
  made.state = make_state(made.model);
  made.state.q = state.q;
  made.state.v = state.v;
  if (family == Family::contacts && touches(made)) {
    // What begins inside each other stays out of it.
    ContactSpec none = parts.contact;
    none.touches = false;
    parts.builder.add_contact(none);
    parts.contact.a = "ground";
    parts.builder.add_contact(parts.contact);
    made.model = built(parts.builder);
  }
  return made;
}

class Mechanisms : public ::testing::TestWithParam<Family> {};
INSTANTIATE_TEST_SUITE_P(Families, Mechanisms,
                         ::testing::Values(Family::trees, Family::contacts,
                                           Family::rigid_loops, Family::elastic_loops));

TEST_P(Mechanisms, StayFiniteAndPassive) {
  const bool soaks = std::getenv("BRISTLE_SOAK") != nullptr;
  const unsigned cases = soaks ? 1000 : 100;
  int above = 0, ended = 0;
  double worst = 0;
  std::uint64_t all = 0;
  for (unsigned seed = 1; seed <= cases; ++seed) {
    Mechanism made = random_mechanism(seed, GetParam());
    State& state = made.state;
    FixedStep stepper(made.model, {.method = Method::complementarity, .step = made.step});
    ASSERT_EQ(stepper.settle(state), StepStatus::ok) << "seed " << seed;
    Audit audit;
    audit.observe(make_ledger(stepper.system(), state));
    const Ledger first = audit.first();
    const int count = std::min(300, static_cast<int>(2 / made.step));
    // Energies are relative to the lowest place that the mechanism can hang in.
    const double height = height_of(made.model);
    double highest = 0;
    for (int i = 0; i < count; ++i) {
      const StepStatus status = stepper.step(state);
      if (status != StepStatus::ok) {
        ++ended;
        ADD_FAILURE() << "seed " << seed << ", step " << i << ": " << explain(status);
        break;
      }
      ASSERT_EQ(stepper.settle(state), StepStatus::ok) << "seed " << seed;
      const Ledger now = make_ledger(stepper.system(), state);
      audit.observe(now);
      const double done =
          now.works.motors + now.works.loads - first.works.motors - first.works.loads;
      const double risen = now.energy() - first.energy() - done;
      if (!std::isfinite(risen)) {
        ++ended;
        ADD_FAILURE() << "seed " << seed << ", step " << i << ": not finite";
        break;
      }
      highest = std::max(highest, risen / (audit.scale() + height));
    }
    all += static_cast<std::uint64_t>(count);
    worst = std::max(worst, highest);
    if (!(highest < 1e-2)) {
      ++above;
      ADD_FAILURE() << "seed " << seed << ": energy rises by " << highest << " of it, h "
                    << made.step;
    }
  }
  std::printf("%s: of %u, %d end early, %d rise by 1 %%, the worst by %.3g; %llu steps\n",
              names[static_cast<int>(GetParam())], cases, ended, above, worst,
              static_cast<unsigned long long>(all));
}

}  // namespace
}  // namespace bristle
