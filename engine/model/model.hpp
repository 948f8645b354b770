#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bristle/geometry/overlap.hpp"
#include "bristle/geometry/pairs.hpp"
#include "bristle/laws/law_choice.hpp"
#include "bristle/model/path.hpp"
#include "bristle/model/signal.hpp"
#include "bristle/model/tree.hpp"

// Bodies, joints, loops, shapes, contact laws, motors and loads → a Model that never
// changes.
// ModelBuilder takes them by name in any order; build() checks them and lays them out
// for the loops that read them.

namespace bristle {

/// A shape on a body.
struct ShapeSpec {
  std::string name;
  std::string body{world_name};
  Shape shape = Sphere{0};
  Transform<double> pose{};  // in the body
  std::string surface{};     // a name that shapes share, for contact rules; may be empty
  /// > 0: the mass that resists a push on the shape, for laws that follow from a pair;
  /// else its link's [kg].
  double apparent_mass = 0;
};

/// The parameters of a rule's laws that follow from the pair, for each pair that the rule
/// covers (pair_laws.hpp says how); nothing unless asked for.
struct PairDefaults {
  bool stiffness = false;      // k of the normal law: the pair's rest depth
  double contact_modulus = 0;  // > 0: k from E* [Pa] and the contact's radius instead
  double contact_radius = 0;   // > 0: that radius; else R* of the pair [m]
  double restitution = 0;      // > 0: normal damping that returns this
  double impact_speed = 0;     // > 0: at this speed [m/s]; else at any
  bool damping = false;        // a damper's force keeps its preset ratio to the spring's
  bool impact_speed_floor = false;  // damping at rest at most critical
  double friction = -1;             // ≥ 0: a damped spring-slider with this coefficient
  /// > 0: k = m ω² of the pair's mass m [rad/s], and c = 2 ζ m ω, of a linear law.
  double frequency = 0;
  double damping_ratio = 1;

  bool any() const { return *this != PairDefaults{}; }
  friend bool operator==(const PairDefaults&, const PairDefaults&) = default;
};

/// Which law acts between which shapes. `a` and `b` name a shape, a body (all its shapes)
/// or a surface (all that have it); "*" is every shape. Where several rules fit a pair,
/// the last one counts. Shapes of one body never touch. Those of two moving bodies that a
/// joint or a loop connects touch only where a rule names both by shape or body; a free
/// joint and a distance connect nothing, and the world touches whatever a rule says.
struct ContactSpec {
  std::string a{"*"};
  std::string b{"*"};
  LawChoice normal{};
  LawChoice friction{LawFamily::friction, 0, {}};
  /// A's fraction of the penetration, its compliance over the sum. Left out, a fixed body
  /// takes all of it, and two moving bodies half each; under a volumetric law force and
  /// friction act in the plane.
  std::optional<double> share_a{};
  bool touches = true;  // false: these never touch
  /// No normal law: an impulse keeps the bodies apart, with a coefficient of restitution.
  /// Only a stepper that solves for impulses can do that.
  bool rigid = false;
  double restitution = 0;
  PairDefaults from_pair{};
};

enum class MotorKind : std::uint8_t {
  torque,      // applies the command's torque [N m] or force [N]
  position,    // kp (target − q) + kd (target rate − q̇) + torque
  prescribed,  // moves the joint exactly as the target, with whatever force that takes
};

enum class LagKind : std::uint8_t {
  none,
  filter,      // ċ = (f − c)/T
  integrator,  // ċ = f − base
};

/// What a motor is told, f = kp target + kd target rate + torque (or the torque alone of
/// a torque motor), acts with a lag: as c instead of f.
struct MotorLag {
  LagKind kind = LagKind::none;
  double time = 0;                                          // T of a filter [s]
  double base = 0;                                          // of an integrator
  double start = 0;                                         // c at the beginning
  double least = -std::numeric_limits<double>::infinity();  // of c
  double largest = std::numeric_limits<double>::infinity();
};

struct MotorSpec {
  std::string name{};
  std::string joint{};
  std::string coupling{};  // that it drives in place of a joint; else empty
  MotorKind kind = MotorKind::torque;
  int axis = 0;   // index of the joint's degree of freedom
  double kp = 0;  // [N m/rad] or [N/m]
  double kd = 0;  // [N m s/rad] or [N s/m]
  /// > 0: kp is I ω² of the inertia I that the motor moves with every joint at neutral
  /// [rad/s].
  double frequency = 0;
  /// > 0: kd is this part of what is critical for the same inertia.
  double damping_ratio = 0;
  Signal target{};    // unless commanded: the position, or the torque of a torque motor
  double torque = 0;  // of a position motor, besides [N m] or [N]
  /// A position motor on a joint also holds what the joint carries against gravity, as if
  /// nothing else touched that (gravity_torque.hpp).
  bool compensates_gravity = false;
  double least_force = -std::numeric_limits<double>::infinity();  // [N m] or [N]
  double largest_force = std::numeric_limits<double>::infinity();
  MotorLag lag{};
};

/// A place on a body that a string passes through or around (path.hpp).
struct PathSpec {
  PathPart part = PathPart::point;
  std::string body{world_name};
  Transform<double> pose{};  // in the body
  double radius = 0;         // of a sphere or cylinder [m]
  double divisor = 1;        // of a pulley
  std::string side_body{};   // empty: the string lies on no side in particular
  Vec3<double> side{0, 0, 0};
};

/// A force and torque on a body in a frame of it, for each unit that a motor gives: a
/// propeller, a thruster, a hand that pushes.
struct WrenchSpec {
  std::string body{};
  Transform<double> pose{};  // in the body
  Force<double> unit{};      // in its axes, about its origin
};

/// What joints, springs and motors move together, one number s of the positions:
///
///   a sum of joint positions with weights, s = Σ w q: a tendon over several joints, a
///   gear between two, a joint that imitates another;
///   the length of a string along a path [m];
///   or a wrench on a body, which has no length.
///
/// A spring and a damper hold it at `rest`, limits keep it within bounds, motors may pull
/// it.
struct CouplingSpec {
  struct Term {
    std::string joint;  // revolute or prismatic
    double weight;
  };
  std::string name{};
  std::vector<Term> terms{};  // one of these three
  std::vector<PathSpec> path{};
  std::optional<WrenchSpec> wrench{};
  double rest = 0;   // of s
  double slack = 0;  // the spring begins to pull so much above `rest`
  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();
  double stiffness = 0;  // [N m/rad] or [N/m], of s
  double damping = 0;
  /// > 0: the stiffness is the one with which the joints alone would oscillate at this
  /// frequency [rad/s], critically damped, in place of the two numbers above.
  double frequency = 0;
};

/// A constant force on a body, in world axes, at a point of the body.
struct LoadSpec {
  std::string name;
  std::string body;
  Vec3<double> force{0, 0, 0};   // [N]
  Vec3<double> torque{0, 0, 0};  // [N m]
  Vec3<double> point{0, 0, 0};   // in the body frame [m]
};

enum class LoopKind : std::uint8_t {
  point,     // the origins of both frames coincide: 3 rows
  hinge,     // so do their z axes: 5 rows
  weld,      // so do the frames: 6 rows
  distance,  // the origins stay at a length from each other: 1 row
};

/// A loop closure: two bodies held together, each by a frame on it. With
/// a stiffness it is a spring and a damper, the same in all directions; without one it is
/// rigid.
struct LoopSpec {
  std::string name;
  LoopKind kind = LoopKind::point;
  std::string body_a{world_name};
  Transform<double> pose_a{};  // in the body
  std::string body_b{world_name};
  Transform<double> pose_b{};
  std::optional<double> length{};     // distance only; left open: every joint at neutral
  std::optional<double> stiffness{};  // [N/m]; none: rigid
  double damping = 0;                 // [N s/m]
  std::optional<double> rotational_stiffness{};  // of hinge and weld [N m/rad]
  double rotational_damping = 0;                 // [N m s/rad]
};

/// A velocity that is kept at zero (non-holonomic): of body b against body a, at a place
/// that moves with b, along a direction. A skate: along its side. A wheel: along its
/// axle. Rolling without slipping: along both directions of the plane, at the point where
/// the body touches it. Only a stepper that solves for impulses can do that.
struct ConstraintSpec {
  std::string name;
  std::string body_a{world_name};
  std::string body_b{};
  Vec3<double> point{0, 0, 0};             // on body b, in its frame [m]
  Vec3<double> offset{0, 0, 0};            // from there, in the axes of body a [m]
  std::vector<Vec3<double>> directions{};  // one to three
  bool turns_with_b = false;  // the directions are fixed in body b, not in body a
  double damping = 0;         // > 0: it gives way with this resistance [N s/m]
};

/// The law of a joint's limits, or of its friction, where the defaults do not serve. Both
/// act on each velocity of the joint by itself.
struct LimitSpec {
  std::string joint;
  LawChoice normal{};
};
struct JointFrictionSpec {
  std::string joint;
  LawChoice friction{LawFamily::friction, 0, {}};
  double load = 0;  // > 0: the normal force that the law is given [N m] or [N]
};

struct ModelOptions {
  /// Room for contacts. 0: as many as can arise among few pairs; among many the room
  /// grows as states are settled. Else a fixed size, as a real-time loop may want it:
  /// nothing allocates while it steps, and too many contacts are a status.
  int contact_capacity = 0;
  /// Keeps the energy ledger of every contact, besides the totals.
  bool contact_ledger = false;
};

/// The command of a motor for a step.
struct MotorCommand {
  double target = 0;
  double target_rate = 0;
  double torque = 0;
  double target_acceleration = 0;  // prescribed motion only
};

struct ModelShape {
  std::string name;
  std::string surface;
  Shape shape;
  Transform<double> in_link;
  int link;
  int body;              // in Tree::bodies()
  int kind;              // its class of contact rules
  double radius;         // of a ball about its pose that holds it; infinite for planes
  double reach;          // farthest point from the link's origin
  bool centred;          // its frame is the link's
  double apparent_mass;  // 0: its link's
};

/// Two shapes that may touch, a < b, or two classes of shapes.
struct PairRule {
  int block = -1;         // the laws; −1: they never touch
  double share_a = -1;    // −1: by which of them moves
  bool adjacent = false;  // also where a joint connects them
};

/// Whether the depths of a pair are not the integral of their rate: clipped sides. (The
/// points of a rim that go round under a cylinder make up for each other.)
constexpr bool regenerates(ShapeKind a, ShapeKind b) {
  const PairMethod how =
      geometry::method(static_cast<std::size_t>(a), static_cast<std::size_t>(b));
  return how == PairMethod::faces || how == PairMethod::support ||
         how == PairMethod::axes;
}

struct ShapePair {
  std::uint32_t a, b;
  int block;
  double share_a;
  PairFunction<double> find;
  bool regenerates;
  /// Under a volumetric law: the pair has one contact, its overlap.
  OverlapFunction<double> overlap = nullptr;
};

/// Contacts, limits or joints under one pair of laws: a block of rows.
struct LawBlock {
  LawChoice normal;
  LawChoice friction;
  bool given_load = false;  // friction of joints: its normal force is JointRow::load
  bool rigid = false;       // no normal law: an impulse keeps the bodies apart
  double restitution = 0;   // of a rigid one
  bool volumetric = false;  // the normal law is one of the overlap's volume

  bool has_normal_law() const { return !given_load && !rigid; }
  /// Whether friction has three components of slip.
  bool spins() const { return friction.spin != Spin::none; }
  friend bool operator==(const LawBlock&, const LawBlock&) = default;
};

/// A limit or a friction of one joint velocity, or a limit of a coupling: a row that is
/// always there.
struct JointRow {
  int dof;  // −1: of a coupling
  bool is_limit;
  double sign;  // limit: depth = sign (q − bound)
  double bound;
  double load;  // friction: its given normal force
  int coupling = -1;
};

struct Motor {
  std::string name;
  MotorKind kind;
  int q, v;  // of its joint; −1 where it drives a coupling
  int link;
  int coupling;  // −1: none
  double kp, kd;
  double least_force, largest_force;
  double torque;  // of a position motor, besides
  bool compensates_gravity;
  Signal target;
  MotorLag lag{};
  int lagged = -1;  // in State::lagged; −1: it acts at once
};

/// A sum of joint positions with weights, a path or a wrench, with its spring and damper.
struct Coupling {
  std::string name;
  std::vector<DofWeight> joints;     // velocities; of a path or wrench, joints at neutral
  std::vector<DofWeight> positions;  // of a sum: the same, by position
  double rest, stiffness, damping;
  std::vector<PathElement> path{};
  int wrench_link = -1;
  Transform<double> wrench_pose{};
  Force<double> wrench{};
  int stem = world_link;  // the last link whose motion moves all of a path

  /// Whether its weights change as the bodies move (dynamics/coupling_motion.hpp).
  bool moves() const { return !path.empty() || wrench_link >= 0; }
  /// Of a sum.
  double value(std::span<const double> q) const noexcept {
    double s = 0;
    for (const DofWeight& p : positions)
      s += p.weight * q[static_cast<std::size_t>(p.dof)];
    return s;
  }
};

struct Load {
  std::string name;
  int link;
  int body;            // in Tree::bodies()
  Vec3<double> point;  // in the link
  Vec3<double> force, torque;
};

struct Loop {
  std::string name;
  LoopKind kind;
  bool rigid;
  int link_a, link_b;
  int body_a, body_b;            // in Tree::bodies(); −1: the world
  Transform<double> on_a, on_b;  // the frames in their links
  double length;                 // of a distance
  double stiffness, damping;
  double turn_stiffness, turn_damping;
  int row;      // the first of its rows among those of all rigid loops
  int rows;     // how many; 0 where it is a spring
  int meeting;  // the last link that moves both bodies
};

/// One direction of a constraint.
struct VelocityConstraint {
  std::string name;
  int link_a, link_b;
  Vec3<double> point;      // in link b
  Vec3<double> offset;     // in the axes of link a
  Vec3<double> direction;  // of unit length, in the axes of link a or b
  bool turns_with_b;
  double damping;
};

/// Bodies and the forces between them, checked and laid out; constant from here on.
struct Model {
  Tree tree;
  std::vector<ModelShape> shapes;
  std::vector<LawBlock> blocks;  // of joints first, then of contacts
  int joint_blocks = 0;
  std::vector<JointRow> joint_rows;   // block by block
  std::vector<int> joint_block_rows;  // where each block begins, and the end
  std::vector<PairRule> rules;        // by class of a and of b
  int kinds = 0;
  std::vector<ShapePair> pairs;      // all that may touch, by block; or
  bool broad_phase = false;          // too many: found anew each time
  std::vector<std::uint32_t> large;  // shapes outside the tree of boxes
  std::vector<std::uint32_t> planes;
  std::vector<Motor> motors;
  std::vector<Coupling> couplings;
  std::vector<std::uint8_t> prescribed;  // per link; empty: none
  std::vector<Load> loads;
  std::vector<Loop> loops;
  std::vector<VelocityConstraint> constraints;
  int loop_rows = 0;                 // of the rigid ones
  bool has_joint_forces = false;     // springs or dampers
  bool compensates_gravity = false;  // some motor does
  int lagged_motors = 0;
  int joint_row_capacity = 0;    // a multiple of the lanes
  int contact_row_capacity = 0;  // the same; to begin with where rooms grow
  int pair_capacity = 0;         // of the broad phase
  bool rooms_grow = false;       // those of contacts and of the broad phase
  int normal_fields = 0;         // the most numbers that a law of this model remembers
  int friction_fields = 0;
  bool contact_ledger = false;
  bool has_patches = false;     // some contacts are under volumetric laws
  bool needs_impulses = false;  // some contacts are rigid, or velocities constrained

  std::span<const LawBlock> joint_law_blocks() const {
    return std::span(blocks).first(static_cast<std::size_t>(joint_blocks));
  }
  std::span<const LawBlock> contact_law_blocks() const {
    return std::span(blocks).subspan(static_cast<std::size_t>(joint_blocks));
  }

  const PairRule& rule(int kind_a, int kind_b) const {
    const int place = kind_a * kinds + kind_b;
    return rules[static_cast<std::size_t>(place)];
  }
  /// Two shapes that may touch by their rule.
  ShapePair pair(std::uint32_t a, std::uint32_t b) const;
  /// Whether a joint other than a free one, or a loop other than a distance, connects two
  /// links, neither being the world.
  bool adjacent(int link_a, int link_b) const;

  /// By name; −1 when there is none.
  int find_shape(std::string_view name) const;
  int find_motor(std::string_view name) const;
  int find_loop(std::string_view name) const;
  int find_coupling(std::string_view name) const;
};

inline ShapePair Model::pair(std::uint32_t a, std::uint32_t b) const {
  const ModelShape& one = shapes[a];
  const ModelShape& two = shapes[b];
  const PairRule& rule = this->rule(one.kind, two.kind);
  const ShapeKind kind_a = kind_of(one.shape), kind_b = kind_of(two.shape);
  const bool volumetric = blocks[static_cast<std::size_t>(rule.block)].volumetric;
  double share = rule.share_a;
  if (share < 0 && volumetric) {
    share = kind_a == ShapeKind::plane ? 0 : 1;  // the force acts in the plane
  } else if (share < 0) {
    share = one.link == world_link ? 1 : (two.link == world_link ? 0 : 0.5);
  }
  return {a,
          b,
          rule.block,
          share,
          pair_function<double>(kind_a, kind_b),
          !volumetric && bristle::regenerates(kind_a, kind_b),
          volumetric ? overlap_function<double>(kind_a, kind_b) : nullptr};
}

class ModelBuilder {
 public:
  ModelBuilder() = default;
  /// Begins with the bodies and joints of a tree.
  explicit ModelBuilder(TreeBuilder tree) : tree_(std::move(tree)) {}

  ModelBuilder& add_body(BodySpec body);
  ModelBuilder& add_joint(JointSpec joint);
  ModelBuilder& gravity(const Vec3<double>& g);
  ModelBuilder& add_shape(ShapeSpec shape);
  ModelBuilder& add_contact(ContactSpec contact);
  ModelBuilder& add_motor(MotorSpec motor);
  ModelBuilder& add_load(LoadSpec load);
  ModelBuilder& add_loop(LoopSpec loop);
  ModelBuilder& add_constraint(ConstraintSpec constraint);
  ModelBuilder& add_coupling(CouplingSpec coupling);
  ModelBuilder& set_limits(LimitSpec limits);
  ModelBuilder& set_friction(JointFrictionSpec friction);
  ModelBuilder& options(const ModelOptions& options);

  /// The model, or the first thing that is wrong with what was added. The hulls, meshes
  /// and height fields of the shapes are referred to and must outlive it.
  Result<Model> build() const;

 private:
  TreeBuilder tree_;
  std::vector<ShapeSpec> shapes_;
  std::vector<ContactSpec> contacts_;
  std::vector<MotorSpec> motors_;
  std::vector<LoadSpec> loads_;
  std::vector<LoopSpec> loops_;
  std::vector<ConstraintSpec> constraints_;
  std::vector<CouplingSpec> couplings_;
  std::vector<LimitSpec> limits_;
  std::vector<JointFrictionSpec> frictions_;
  ModelOptions options_;
};

}  // namespace bristle
