#include "bristle/model/tree.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>
#include <optional>
#include <ranges>
#include <tuple>
#include <utility>

#include "bristle/model/checks.hpp"
#include "bristle/spatial/articulated_inertia.hpp"

namespace bristle {

namespace {

using Names = std::map<std::string, std::size_t, std::less<>>;
using Problem = std::optional<std::string>;

constexpr double frame_tolerance = 1e-6;      // of a rotation matrix as people type it
constexpr double inertia_tolerance = 1e-6;    // of the triangle inequality, likewise
constexpr double singular_tolerance = 1e-12;  // of an effective inertia

std::size_t at(int i) { return static_cast<std::size_t>(i); }

using checks::finite;
using checks::number;
using checks::quoted;

bool finite(const Sym3<double>& s) {
  return finite(Vec3<double>{s.xx, s.yy, s.zz}) && finite(Vec3<double>{s.xy, s.xz, s.yz});
}

/// Eigenvalues of a symmetric matrix, smallest first, by the trigonometric solution of
/// its characteristic polynomial (Smith 1961, Comm. ACM 4, 168).
std::array<double, 3> eigenvalues(const Sym3<double>& s) {
  const double mean = trace(s) / 3;
  const Sym3<double> d = s - Sym3<double>::diagonal(mean, mean, mean);
  const double p2 = (d.xx * d.xx + d.yy * d.yy + d.zz * d.zz +
                     2 * (d.xy * d.xy + d.xz * d.xz + d.yz * d.yz)) /
                    6;
  if (p2 <= 0) return {mean, mean, mean};
  const double p = std::sqrt(p2);
  const Mat3<double> m = full((1 / p) * d);
  const double r = std::clamp(dot(m.x, cross(m.y, m.z)) / 2, -1.0, 1.0);
  const double phi = std::acos(r) / 3;
  const double largest = mean + 2 * p * std::cos(phi);
  const double smallest = mean + 2 * p * std::cos(phi + 2 * std::numbers::pi / 3);
  return {smallest, 3 * mean - largest - smallest, largest};
}

Problem check_body(const BodySpec& body, bool may_lack_mass) {
  const std::string who = "body " + quoted(body.name);
  if (!std::isfinite(body.mass)) return who + ": mass is not a number";
  if (!finite(body.com)) return who + ": com is not a number";
  if (!finite(body.inertia)) return who + ": inertia is not a number";
  if (body.mass < 0 || (body.mass == 0 && !may_lack_mass)) {
    return who + ": mass = " + number(body.mass) +
           " must be > 0 (only a body on a fixed joint, or one that carries others, may "
           "have none)";
  }
  // A mass distribution ρ has I = ∫ρ(|x|² 1 − x xᵀ), so that ½ tr(I) 1 − I = ∫ρ x xᵀ has
  // no negative eigenvalue: each principal moment is at most the sum of the other two.
  const std::array<double, 3> moments = eigenvalues(body.inertia);
  const double allowed = inertia_tolerance * std::abs(moments[2]);
  const std::string about = " (principal moments " + number(moments[0]) + ", " +
                            number(moments[1]) + ", " + number(moments[2]) + " kg m^2)";
  if (moments[0] < -allowed) {
    return who + ": no body has this inertia: a principal moment is negative" + about;
  }
  if (moments[2] > moments[0] + moments[1] + allowed) {
    return who +
           ": no body has this inertia: a principal moment exceeds the sum of the other "
           "two" +
           about;
  }
  if (body.mass == 0 && moments[2] > 0) {
    return who + ": inertia without mass" + about;
  }
  return {};
}

Problem check_frame(const Transform<double>& x, const std::string& who) {
  if (!finite(x.p) || !finite(x.R.x) || !finite(x.R.y) || !finite(x.R.z)) {
    return who + " is not a number";
  }
  const Mat3<double> e = transpose_times(x.R, x.R) - Mat3<double>::identity();
  const double error = std::sqrt(norm2(e.x) + norm2(e.y) + norm2(e.z));
  if (error > frame_tolerance || dot(x.R.x, cross(x.R.y, x.R.z)) < 0) {
    return who + ": the matrix is not a rotation";
  }
  return {};
}

Problem check_joint(const JointSpec& joint) {
  const std::string who = "joint " + quoted(joint.name);
  if (Problem p = check_frame(joint.on_parent, who + ": frame on the parent")) return p;
  if (Problem p = check_frame(joint.on_child, who + ": frame on the child")) return p;
  if (joint.type == JointType::revolute || joint.type == JointType::prismatic) {
    if (!finite(joint.axis)) return who + ": axis is not a number";
    if (norm2(joint.axis) < 1e-24) return who + ": axis has no length";
  }
  struct Entry {
    const char* name;
    double value;
  };
  for (const Entry& e :
       {Entry{"damping", joint.damping}, Entry{"stiffness", joint.stiffness},
        Entry{"armature", joint.armature}, Entry{"friction", joint.friction}}) {
    if (!std::isfinite(e.value) || e.value < 0) {
      return who + ": " + e.name + " = " + number(e.value) + " must lie in [0, inf)";
    }
  }
  if (!std::isfinite(joint.rest)) return who + ": rest is not a number";
  if (!(joint.effort_limit >= 0)) {
    return who + ": effort_limit = " + number(joint.effort_limit) +
           " must lie in [0, inf]";
  }
  if (!(joint.lower <= joint.upper)) {
    return who + ": lower = " + number(joint.lower) +
           " must not exceed upper = " + number(joint.upper);
  }
  const std::string kind(joint_type_name(joint.type));
  if (quaternion_at(joint.type) >= 0) {
    if (joint.stiffness > 0) return who + ": a " + kind + " joint takes no spring";
    if (std::isfinite(joint.lower) || std::isfinite(joint.upper)) {
      return who + ": a " + kind + " joint takes no position limits";
    }
  }
  if (joint.type == JointType::free && joint.armature > 0) {
    return who + ": a free joint takes no armature";
  }
  return {};
}

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

/// Which velocities have an effective inertia at these positions: the pivots of the
/// articulated-body recursion, with every joint taken as a chain of single turns and
/// movements.
std::vector<bool> resisting(const Tree& tree, const std::vector<double>& q) {
  const std::size_t n = at(tree.link_count());
  std::vector<Transform<double>> pose(n);
  std::vector<Transform<double>> frame(n);
  std::vector<ArticulatedInertia<double>> inertia(n, ArticulatedInertia<double>::zero());
  std::vector<Inertia<double>> whole(n, Inertia<double>::zero());
  std::vector<bool> resists(at(tree.velocity_count()), true);
  for (std::size_t i = 1; i < n; ++i) {
    const Link& link = tree.links()[i];
    const LinkConstants<double>& c = tree.constants()[i];
    frame[i] = pose[at(link.parent)] * c.joint;
    pose[i] = frame[i] * joint_transform(link.type, q.data() + link.q);
    whole[i] = rotated(pose[i].R, c.inertia);
    inertia[i] = ArticulatedInertia<double>::rigid(whole[i]);
  }
  for (std::size_t i = n - 1; i > 0; --i) {
    const Link& link = tree.links()[i];
    const Mat3<double>& f = frame[i].R;
    const double turning = trace(whole[i].rotational);
    for (int k = velocity_count(link.type) - 1; k >= 0; --k) {
      const std::size_t v = at(link.v + k);
      Vec3<double> axis = f.z;
      if (link.type == JointType::universal) axis = k == 0 ? f.x : pose[i].R.y;
      if (velocity_count(link.type) >= 3) {
        axis = k % 3 == 0 ? f.x : k % 3 == 1 ? f.y : f.z;
      }
      Motion<double> s = Motion<double>::zero();
      (is_linear(link.type, k) ? s.linear : s.angular) = axis;
      const Force<double> u = inertia[i] * s;
      const double armature = tree.armature()[v];
      const double d = dot(u, s) + armature;
      const double scale = (is_linear(link.type, k) ? whole[i].mass : turning) + armature;
      resists[v] = d > singular_tolerance * scale;
      if (resists[v]) inertia[i] = reduced(inertia[i], u, (1 / d) * u);
    }
    const Vec3<double> r = pose[i].p - pose[at(link.parent)].p;
    inertia[at(link.parent)] = inertia[at(link.parent)] + shifted_back(inertia[i], r);
    whole[at(link.parent)] = whole[at(link.parent)] + shifted_back(whole[i], r);
  }
  return resists;
}

/// The first joint whose motion nothing determines, whatever the positions.
Problem check_determinate(const Tree& tree) {
  std::vector<double> q = tree.neutral();
  std::vector<bool> resists;
  for (int trial = 0; trial < 3; ++trial) {
    if (trial > 0) {
      // Positions without symmetry, for trees that are singular only where all aligns.
      for (std::size_t i = 0; i < q.size(); ++i) {
        q[i] = 0.2 + std::fmod(0.6180339887498949 * static_cast<double>(i + 1) +
                                   0.3 * static_cast<double>(trial),
                               1.0);
      }
    }
    resists = resisting(tree, q);
    if (std::all_of(resists.begin(), resists.end(), [](bool r) { return r; })) return {};
  }
  for (const Joint& joint : tree.joints()) {
    for (int k = 0; k < velocity_count(joint.type); ++k) {
      if (!resists[at(joint.v + k)]) {
        return "joint " + quoted(joint.name) + " (" +
               std::string(joint_type_name(joint.type)) +
               "): nothing resists its motion: what hangs from it has no inertia about "
               "or "
               "along its axis; give the bodies inertia, or the joint armature";
      }
    }
  }
  return {};
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

Result<Tree> TreeBuilder::build() const {
  constexpr std::size_t none = static_cast<std::size_t>(-1);
  if (!finite(gravity_)) return Error{"gravity is not a number"};

  // Names.
  Names bodies;  // index + 1; the world is 0
  bodies.emplace(world_name, 0);
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    const std::string& name = bodies_[i].name;
    if (name.empty()) return Error{"a body has no name"};
    if (name == world_name) return Error{"no body may be called \"world\""};
    if (!bodies.emplace(name, i + 1).second) {
      return Error{"two bodies are called " + quoted(name)};
    }
  }
  Names joints;
  std::vector<std::size_t> joint_of(bodies_.size() + 1, none);  // by child body
  std::vector<std::size_t> parent_of(bodies_.size() + 1, 0);
  std::vector<bool> carries(bodies_.size() + 1, false);
  for (std::size_t j = 0; j < joints_.size(); ++j) {
    const JointSpec& joint = joints_[j];
    if (joint.name.empty()) return Error{"a joint has no name"};
    const std::string who = "joint " + quoted(joint.name);
    if (!joints.emplace(joint.name, j).second) {
      return Error{"two joints are called " + quoted(joint.name)};
    }
    const auto parent = bodies.find(joint.parent);
    const auto child = bodies.find(joint.child);
    if (parent == bodies.end()) {
      return Error{who + ": unknown parent body " + quoted(joint.parent)};
    }
    if (child == bodies.end()) {
      return Error{who + ": unknown child body " + quoted(joint.child)};
    }
    if (child->second == 0) return Error{who + ": the world cannot be a child"};
    if (joint_of[child->second] != none) {
      return Error{who + ": body " + quoted(joint.child) + " already hangs from joint " +
                   quoted(joints_[joint_of[child->second]].name) +
                   "; a body has one parent"};
    }
    joint_of[child->second] = j;
    parent_of[child->second] = parent->second;
    carries[parent->second] = true;
    if (Problem p = check_joint(joint)) return Error{*p};
  }
  for (std::size_t b = 1; b <= bodies_.size(); ++b) {
    if (joint_of[b] == none) {
      return Error{"body " + quoted(bodies_[b - 1].name) +
                   " hangs from no joint (give it a free joint to the world?)"};
    }
    const bool welded = joints_[joint_of[b]].type == JointType::fixed;
    // Whether what a body without mass carries is enough is seen below.
    if (Problem p = check_body(bodies_[b - 1], welded || carries[b])) return Error{*p};
  }

  // Distance from the world in links; a path longer than the number of bodies is a loop.
  std::vector<int> depth(bodies_.size() + 1, -1);
  depth[0] = 0;
  std::vector<std::size_t> path;
  for (std::size_t b = 1; b <= bodies_.size(); ++b) {
    path.clear();
    std::size_t walk = b;
    while (depth[walk] < 0) {
      path.push_back(walk);
      if (path.size() > bodies_.size()) {
        return Error{"body " + quoted(bodies_[b - 1].name) +
                     " does not hang from the world: its parents form a cycle"};
      }
      walk = parent_of[walk];
    }
    int d = depth[walk];
    for (const std::size_t i : std::views::reverse(path)) {
      if (joints_[joint_of[i]].type != JointType::fixed) ++d;
      depth[i] = d;
    }
  }

  // Bodies in an order in which parents come first: by depth, welded ones after those
  // that they may be welded to.
  std::vector<std::size_t> order(bodies_.size());
  std::iota(order.begin(), order.end(), std::size_t{1});
  std::vector<int> welds(bodies_.size() + 1, 0);
  for (const std::size_t b : order) {
    std::size_t walk = b;
    while (walk != 0 && joints_[joint_of[walk]].type == JointType::fixed) {
      ++welds[b];
      walk = parent_of[walk];
    }
  }
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::tuple(depth[a], welds[a], a) < std::tuple(depth[b], welds[b], b);
  });

  Tree tree;
  tree.gravity_ = gravity_;
  tree.links_.push_back({0, 0, 0, 0, JointType::fixed});
  tree.constants_.push_back({{}, Inertia<double>::zero()});

  // Where the numbers of each joint begin.
  std::vector<int> first_q(joints_.size());
  std::vector<int> first_v(joints_.size());
  int velocities = 0;
  for (std::size_t j = 0; j < joints_.size(); ++j) {
    first_q[j] = tree.positions_;
    first_v[j] = velocities;
    tree.positions_ += position_count(joints_[j].type);
    velocities += velocity_count(joints_[j].type);
  }
  tree.dofs_.resize(at(velocities));
  tree.armature_.resize(at(velocities));

  // Links, and where each body stands in its link.
  struct Place {
    int link = world_link;
    Transform<double> in_link{};
  };
  std::vector<Place> places(bodies_.size() + 1);
  for (const std::size_t b : order) {
    const BodySpec& body = bodies_[b - 1];
    const std::size_t j = joint_of[b];
    const JointSpec& joint = joints_[j];
    const Place& parent = places[parent_of[b]];
    const Transform<double> on_parent = parent.in_link * orthonormal(joint.on_parent);
    const Transform<double> on_child = orthonormal(joint.on_child);
    Place& place = places[b];
    if (joint.type == JointType::fixed) {
      place = {parent.link, on_parent * inverse(on_child)};
    } else {
      const bool along_axis =
          joint.type == JointType::revolute || joint.type == JointType::prismatic;
      const Transform<double> align{
          along_axis ? aligned_with(joint.axis) : Mat3<double>::identity(), {0, 0, 0}};
      place = {tree.link_count(), inverse(on_child * align)};
      tree.links_.push_back(
          {parent.link, first_q[j], first_v[j], tree.free_, joint.type});
      if (joint.type == JointType::free) ++tree.free_;
      tree.constants_.push_back({on_parent * align, Inertia<double>::zero()});
      for (int k = 0; k < velocity_count(joint.type); ++k) {
        const bool has_position = quaternion_at(joint.type) < 0;
        tree.dofs_[at(first_v[j] + k)] = {.damping = joint.damping,
                                          .stiffness = joint.stiffness,
                                          .rest = joint.rest,
                                          .armature = joint.armature,
                                          .friction = joint.friction,
                                          .effort_limit = joint.effort_limit,
                                          .lower = joint.lower,
                                          .upper = joint.upper,
                                          .q = has_position ? first_q[j] + k : -1,
                                          .link = place.link,
                                          .linear = is_linear(joint.type, k)};
        tree.armature_[at(first_v[j] + k)] = joint.armature;
      }
    }
    Inertia<double>& inertia = tree.constants_[at(place.link)].inertia;
    const Vec3<double> com = place.in_link * body.com;
    const Sym3<double> central = rotated(place.in_link.R, body.inertia);
    inertia = inertia + Inertia<double>::about_com(body.mass, com, central);
  }

  // What was given, in the order in which it was given.
  for (std::size_t b = 1; b <= bodies_.size(); ++b) {
    tree.bodies_.push_back({bodies_[b - 1].name, places[b].link, places[b].in_link});
  }
  for (std::size_t j = 0; j < joints_.size(); ++j) {
    const bool fixed = joints_[j].type == JointType::fixed;
    const std::size_t child = bodies.find(joints_[j].child)->second;
    tree.joints_.push_back({joints_[j].name, joints_[j].type, places[child].link,
                            fixed ? -1 : first_q[j], fixed ? -1 : first_v[j]});
  }

  if (Problem p = check_determinate(tree)) return Error{*p};
  return tree;
}

}  // namespace bristle
