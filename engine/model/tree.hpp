#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bristle/core/result.hpp"
#include "bristle/model/joint.hpp"
#include "bristle/spatial/inertia.hpp"

// A tree of rigid bodies on joints. TreeBuilder takes bodies and joints by name in any
// order; build() checks them and lays them out as links:
//
// - A link is a moving body with all bodies welded to it. Link 0 is the world.
// - The frame of a link is the child-side frame of its joint, so that its origin lies on
//   the joint; the poses of the bodies in their links are in `bodies`.
// - Links are ordered by their distance from the world, so that a parent comes before its
//   children and neighbours in the loop seldom wait for each other. Positions and
//   velocities follow the order in which the joints were given.

namespace bristle {

inline constexpr int world_link = 0;
inline constexpr std::string_view world_name = "world";

struct BodySpec {
  std::string name;
  double mass = 0;                              // [kg]
  Vec3<double> com{0, 0, 0};                    // centre of mass in the body frame [m]
  Sym3<double> inertia = Sym3<double>::zero();  // about it, in body axes [kg m²]
};

struct JointSpec {
  std::string name;
  std::string parent{world_name};
  std::string child;
  JointType type = JointType::fixed;
  Transform<double> on_parent{};  // F in the parent body
  Transform<double> on_child{};   // M in the child body
  Vec3<double> axis{0, 0, 1};     // in F and in M; revolute and prismatic only

  // For every velocity of the joint alike.
  double damping = 0;    // [N m s/rad] or [N s/m]
  double stiffness = 0;  // of a spring towards `rest`; not for quaternion joints
  double rest = 0;
  double armature = 0;  // reflected inertia of a geared rotor; not for free
  double friction = 0;  // dry friction torque or force
  double effort_limit = std::numeric_limits<double>::infinity();
  double lower = -std::numeric_limits<double>::infinity();  // limits of the positions
  double upper = std::numeric_limits<double>::infinity();
};

/// The constants of a link, in the axes of its own or its parent's frame.
template <Scalar T>
struct LinkConstants {
  Transform<T> joint;  // F in the parent link
  Inertia<T> inertia;  // about the link's origin, in its axes
};

template <Scalar To>
LinkConstants<To> cast(const LinkConstants<double>& from) {
  const auto number = [](double x) { return To(static_cast<Value<To>>(x)); };
  const auto vector = [&](const Vec3<double>& v) {
    return Vec3<To>{number(v.x), number(v.y), number(v.z)};
  };
  const Transform<double>& x = from.joint;
  const Inertia<double>& i = from.inertia;
  const Sym3<double>& s = i.rotational;
  return {{{vector(x.R.x), vector(x.R.y), vector(x.R.z)}, vector(x.p)},
          {number(i.mass),
           vector(i.moment),
           {number(s.xx), number(s.yy), number(s.zz), number(s.xy), number(s.xz),
            number(s.yz)}}};
}

/// What the passes over links read first.
struct Link {
  int parent;      // a smaller link number
  int q;           // first position
  int v;           // first velocity
  int free;        // how many free joints come before this one
  JointType type;  // of the joint towards the parent
};

/// A body as it was given: its frame on a link.
struct Body {
  std::string name;
  int link;
  Transform<double> in_link;
  int parent;               // that its joint hangs from, in Tree::bodies(); −1: the world
  bool welded;              // by a fixed joint
  Inertia<double> inertia;  // its own, about the origin of its link, in the link's axes
};

/// A joint as it was given.
struct Joint {
  std::string name;
  JointType type;
  int link;  // that it moves; for a fixed joint, the one that its bodies are part of
  int q;     // first position, and velocity; −1 for a fixed joint
  int v;
  int body;  // that hangs from it, in Tree::bodies()
};

/// The numbers that belong to each velocity.
struct Dof {
  double damping;
  double stiffness;
  double rest;
  double armature;
  double friction;
  double effort_limit;
  double lower;
  double upper;
  int q;        // the position of spring and limits; −1 where there is none
  int link;     // that it moves
  bool linear;  // a movement along its axis, not a turn about it
};

/// A joint velocity with its weight in a sum of several.
struct DofWeight {
  int dof;
  double weight;
};

/// Bodies and joints, checked and laid out; nothing changes it any more.
class Tree {
 public:
  int link_count() const { return static_cast<int>(links_.size()); }  // with the world
  int position_count() const { return positions_; }
  int velocity_count() const { return static_cast<int>(dofs_.size()); }
  int free_count() const { return free_; }  // free joints

  const Link& link(int i) const { return links_[static_cast<std::size_t>(i)]; }
  std::span<const Link> links() const { return links_; }
  std::span<const LinkConstants<double>> constants() const { return constants_; }
  std::span<const Dof> dofs() const { return dofs_; }
  std::span<const double> armature() const { return armature_; }  // per velocity
  std::span<const Body> bodies() const { return bodies_; }
  std::span<const Joint> joints() const { return joints_; }
  const Vec3<double>& gravity() const { return gravity_; }  // [m/s²]

  /// By name; nullptr when there is none.
  const Body* find_body(std::string_view name) const;
  const Joint* find_joint(std::string_view name) const;

  /// The positions at which every M coincides with its F.
  std::vector<double> neutral() const;

 private:
  friend class TreeAssembly;
  std::vector<Link> links_;
  std::vector<LinkConstants<double>> constants_;
  std::vector<Dof> dofs_;
  std::vector<double> armature_;
  std::vector<Body> bodies_;
  std::vector<Joint> joints_;
  Vec3<double> gravity_{0, 0, -9.81};
  int positions_ = 0;
  int free_ = 0;
};

class TreeBuilder {
 public:
  TreeBuilder& add_body(BodySpec body);
  TreeBuilder& add_joint(JointSpec joint);
  TreeBuilder& gravity(const Vec3<double>& g);

  /// The tree, or the first thing that is wrong with what was added.
  Result<Tree> build() const;

 private:
  friend class TreeAssembly;
  std::vector<BodySpec> bodies_;
  std::vector<JointSpec> joints_;
  Vec3<double> gravity_{0, 0, -9.81};
};

}  // namespace bristle
