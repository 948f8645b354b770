#include "bristle/model/tree.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <ranges>
#include <tuple>
#include <utility>

#include "bristle/model/tree_checks.hpp"

namespace bristle {

namespace {

using checks::Problem;
using checks::quoted;
using checks::Subject;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// A rotation that takes z to the axis.
Mat3<double> aligned_with(const Vec3<double>& axis) {
  const Vec3<double> z = (1 / norm(axis)) * axis;
  if (z.x == 0 && z.y == 0 && z.z > 0) return Mat3<double>::identity();
  // The coordinate axis least parallel to z, made perpendicular to it.
  const double ax = std::abs(z.x), ay = std::abs(z.y), az = std::abs(z.z);
  Vec3<double> other{0, 0, 0};
  (ax <= ay && ax <= az ? other.x : ay <= az ? other.y : other.z) = 1;
  const Vec3<double> across = other - dot(other, z) * z;
  const Vec3<double> x = (1 / norm(across)) * across;
  return {x, cross(z, x), z};
}

/// The nearest rotation up to first order, so that typed digits do not scale bodies.
Transform<double> orthonormal(const Transform<double>& t) {
  const Vec3<double> x = (1 / norm(t.R.x)) * t.R.x;
  const Vec3<double> across = t.R.y - dot(t.R.y, x) * x;
  const Vec3<double> y = (1 / norm(across)) * across;
  return {{x, y, cross(x, y)}, t.p};
}

}  // namespace

const Body* Tree::find_body(std::string_view name) const {
  const auto found = std::find_if(bodies_.begin(), bodies_.end(),
                                  [&](const Body& b) { return b.name == name; });
  return found == bodies_.end() ? nullptr : &*found;
}

const Joint* Tree::find_joint(std::string_view name) const {
  const auto found = std::find_if(joints_.begin(), joints_.end(),
                                  [&](const Joint& j) { return j.name == name; });
  return found == joints_.end() ? nullptr : &*found;
}

std::vector<double> Tree::neutral() const {
  std::vector<double> q(at(positions_), 0.0);
  for (const Link& link : links_) {
    const int quaternion = quaternion_at(link.type);
    if (quaternion >= 0) q[at(link.q + quaternion)] = 1;
  }
  return q;
}

TreeBuilder& TreeBuilder::add_body(BodySpec body) {
  bodies_.push_back(std::move(body));
  return *this;
}

TreeBuilder& TreeBuilder::add_joint(JointSpec joint) {
  joints_.push_back(std::move(joint));
  return *this;
}

TreeBuilder& TreeBuilder::gravity(const Vec3<double>& g) {
  gravity_ = g;
  return *this;
}

/// The steps of build(). Bodies are numbered as they were added, from 1 on; 0 is the
/// world.
class TreeAssembly {
 public:
  explicit TreeAssembly(const TreeBuilder& from)
      : bodies_(from.bodies_),
        joints_(from.joints_),
        joint_of_(bodies_.size() + 1, none),
        parent_of_(bodies_.size() + 1, 0) {
    tree_.gravity_ = from.gravity_;
  }

  Result<Tree> run() {
    if (!checks::finite(tree_.gravity_)) return Error{"gravity is not a number"};
    if (Problem p = name_bodies()) return *std::move(p);
    if (Problem p = connect_joints()) return *std::move(p);
    if (Problem p = check_bodies()) return *std::move(p);
    if (Problem p = measure_depths()) return *std::move(p);
    number_positions();
    lay_out_links();
    list_bodies_and_joints();
    if (Problem p = checks::check_determinate(tree_)) return *std::move(p);
    return std::move(tree_);
  }

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  const BodySpec& body(std::size_t b) const { return bodies_[b - 1]; }
  const JointSpec& joint_above(std::size_t b) const { return joints_[joint_of_[b]]; }
  bool welded(std::size_t b) const { return joint_above(b).type == JointType::fixed; }
  Subject about_body(std::size_t b) const { return {Element::body, body(b).name, b - 1}; }

  Problem name_bodies() {
    numbers_.emplace(world_name, 0);
    for (std::size_t b = 1; b <= bodies_.size(); ++b) {
      const std::string& name = body(b).name;
      const Subject who = about_body(b);
      if (name.empty()) return who.sentence("name", "a body has no name");
      if (name == world_name) {
        return who.sentence("name", "no body may be called \"world\"");
      }
      if (!numbers_.emplace(name, b).second) {
        return who.sentence("name", "two bodies are called " + quoted(name));
      }
    }
    return {};
  }

  /// Which joint each body hangs from, and from which body.
  Problem connect_joints() {
    std::map<std::string, std::size_t, std::less<>> names;
    for (std::size_t j = 0; j < joints_.size(); ++j) {
      const JointSpec& joint = joints_[j];
      const Subject who(Element::joint, joint.name, j);
      if (joint.name.empty()) return who.sentence("name", "a joint has no name");
      if (!names.emplace(joint.name, j).second) {
        return who.sentence("name", "two joints are called " + quoted(joint.name));
      }
      const auto parent = numbers_.find(joint.parent);
      const auto child = numbers_.find(joint.child);
      if (parent == numbers_.end()) {
        return who.error("parent", "unknown parent body " + quoted(joint.parent));
      }
      if (child == numbers_.end()) {
        return who.error("child", "unknown child body " + quoted(joint.child));
      }
      const std::size_t b = child->second;
      if (b == 0) return who.error("child", "the world cannot be a child");
      if (joint_of_[b] != none) {
        return who.error("child",
                         "body " + quoted(joint.child) + " already hangs from joint " +
                             quoted(joint_above(b).name) + "; a body has one parent");
      }
      joint_of_[b] = j;
      parent_of_[b] = parent->second;
      if (Problem p = checks::check_joint(joint, j)) return p;
    }
    return {};
  }

  Problem check_bodies() const {
    std::vector<bool> carries(bodies_.size() + 1, false);
    for (const std::size_t parent : parent_of_) carries[parent] = true;
    for (std::size_t b = 1; b <= bodies_.size(); ++b) {
      if (joint_of_[b] == none) {
        return about_body(b).sentence(
            "", "body " + quoted(body(b).name) +
                    " hangs from no joint (give it a free joint to the world?)");
      }
      // Whether what a body without mass carries is enough is seen in the whole tree.
      const bool may_lack_mass = welded(b) || carries[b];
      if (Problem p = checks::check_body(body(b), b - 1, may_lack_mass)) return p;
    }
    return {};
  }

  /// Distance from the world in links; a path longer than the number of bodies is a
  /// cycle.
  Problem measure_depths() {
    depth_.assign(bodies_.size() + 1, -1);
    depth_[0] = 0;
    std::vector<std::size_t> path;
    for (std::size_t b = 1; b <= bodies_.size(); ++b) {
      path.clear();
      std::size_t walk = b;
      while (depth_[walk] < 0) {
        path.push_back(walk);
        if (path.size() > bodies_.size()) {
          return about_body(b).sentence(
              "", "body " + quoted(body(b).name) +
                      " does not hang from the world: its parents form a cycle");
        }
        walk = parent_of_[walk];
      }
      int d = depth_[walk];
      for (const std::size_t i : std::views::reverse(path)) {
        if (!welded(i)) ++d;
        depth_[i] = d;
      }
    }
    return {};
  }

  /// Bodies in an order in which parents come first: by depth, welded ones after those
  /// that they may be welded to.
  std::vector<std::size_t> parents_first() const {
    std::vector<std::size_t> order(bodies_.size());
    std::iota(order.begin(), order.end(), std::size_t{1});
    std::vector<int> welds(bodies_.size() + 1, 0);
    for (const std::size_t b : order) {
      std::size_t walk = b;
      while (walk != 0 && welded(walk)) {
        ++welds[b];
        walk = parent_of_[walk];
      }
    }
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return std::tuple(depth_[a], welds[a], a) < std::tuple(depth_[b], welds[b], b);
    });
    return order;
  }

  /// Where the numbers of each joint begin, in the order in which they were added.
  void number_positions() {
    int velocities = 0;
    for (const JointSpec& joint : joints_) {
      first_q_.push_back(tree_.positions_);
      first_v_.push_back(velocities);
      tree_.positions_ += position_count(joint.type);
      velocities += velocity_count(joint.type);
    }
    tree_.dofs_.resize(at(velocities));
    tree_.armature_.resize(at(velocities));
  }

  /// Links, and where each body stands in its link.
  void lay_out_links() {
    tree_.links_.push_back({0, 0, 0, 0, JointType::fixed});
    tree_.constants_.push_back({{}, Inertia<double>::zero()});
    places_.resize(bodies_.size() + 1);
    for (const std::size_t b : parents_first()) {
      const JointSpec& joint = joint_above(b);
      const BodyPose& parent = places_[parent_of_[b]];
      const Transform<double> on_parent = parent.in_link * orthonormal(joint.on_parent);
      const Transform<double> on_child = orthonormal(joint.on_child);
      if (joint.type == JointType::fixed) {
        places_[b] = {parent.link, on_parent * inverse(on_child)};
      } else {
        const bool along_axis =
            joint.type == JointType::revolute || joint.type == JointType::prismatic;
        const Transform<double> align{
            along_axis ? aligned_with(joint.axis) : Mat3<double>::identity(), {0, 0, 0}};
        places_[b] = {tree_.link_count(), inverse(on_child * align)};
        add_link(joint_of_[b], parent.link, on_parent * align);
      }
      add_inertia(body(b), places_[b]);
    }
  }

  /// The next link, on joint j.
  void add_link(std::size_t j, int parent, const Transform<double>& on_parent) {
    const JointSpec& joint = joints_[j];
    const int link = tree_.link_count();
    tree_.links_.push_back({parent, first_q_[j], first_v_[j], tree_.free_, joint.type});
    if (joint.type == JointType::free) ++tree_.free_;
    tree_.constants_.push_back({on_parent, Inertia<double>::zero()});
    const bool has_positions = quaternion_at(joint.type) < 0;
    for (int k = 0; k < velocity_count(joint.type); ++k) {
      tree_.dofs_[at(first_v_[j] + k)] = {.damping = joint.damping,
                                          .stiffness = joint.stiffness,
                                          .rest = joint.rest,
                                          .armature = joint.armature,
                                          .friction = joint.friction,
                                          .effort_limit = joint.effort_limit,
                                          .lower = joint.lower,
                                          .upper = joint.upper,
                                          .q = has_positions ? first_q_[j] + k : -1,
                                          .link = link,
                                          .linear = is_linear(joint.type, k)};
      tree_.armature_[at(first_v_[j] + k)] = joint.armature;
    }
  }

  /// Where a body stands: its frame on a link.
  struct BodyPose {
    int link = world_link;
    Transform<double> in_link{};
  };

  void add_inertia(const BodySpec& body, const BodyPose& place) {
    Inertia<double>& inertia = tree_.constants_[at(place.link)].inertia;
    inertia = inertia + in_link(body, place);
  }

  /// A body's inertia about the origin of its link.
  static Inertia<double> in_link(const BodySpec& body, const BodyPose& place) {
    const Vec3<double> com = place.in_link * body.com;
    const Sym3<double> central = rotated(place.in_link.R, body.inertia);
    return Inertia<double>::about_com(body.mass, com, central);
  }

  /// What was given, in the order in which it was given.
  void list_bodies_and_joints() {
    for (std::size_t b = 1; b <= bodies_.size(); ++b) {
      tree_.bodies_.push_back({body(b).name, places_[b].link, places_[b].in_link,
                               static_cast<int>(parent_of_[b]) - 1, welded(b),
                               in_link(body(b), places_[b])});
    }
    for (std::size_t j = 0; j < joints_.size(); ++j) {
      const JointSpec& joint = joints_[j];
      const bool fixed = joint.type == JointType::fixed;
      const std::size_t child = numbers_.find(joint.child)->second;
      tree_.joints_.push_back({joint.name, joint.type, places_[child].link,
                               fixed ? -1 : first_q_[j], fixed ? -1 : first_v_[j],
                               static_cast<int>(child) - 1});
    }
  }

  const std::vector<BodySpec>& bodies_;
  const std::vector<JointSpec>& joints_;
  std::map<std::string, std::size_t, std::less<>> numbers_;  // of bodies, by name
  std::vector<std::size_t> joint_of_;                        // by child body
  std::vector<std::size_t> parent_of_;
  std::vector<int> depth_;              // of bodies, in links
  std::vector<int> first_q_, first_v_;  // of joints
  std::vector<BodyPose> places_;        // of bodies
  Tree tree_;
};

Result<Tree> TreeBuilder::build() const { return TreeAssembly(*this).run(); }

}  // namespace bristle
