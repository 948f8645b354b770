#include "bristle/model/tree_checks.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "bristle/spatial/articulated_inertia.hpp"

namespace bristle::checks {

namespace {

constexpr double frame_tolerance = 1e-6;      // of a rotation matrix as people type it
constexpr double inertia_tolerance = 1e-6;    // of the triangle inequality, likewise
constexpr double singular_tolerance = 1e-12;  // of an effective inertia

std::size_t at(int i) { return static_cast<std::size_t>(i); }

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

Problem check_frame(const Transform<double>& x, const Subject& who,
                    std::string_view field, const std::string& called) {
  if (!finite(x)) {
    return who.error(field, called + " is not a number");
  }
  const Mat3<double> e = transpose_times(x.R, x.R) - Mat3<double>::identity();
  const double error = std::sqrt(norm2(e.x) + norm2(e.y) + norm2(e.z));
  if (error > frame_tolerance || dot(x.R.x, cross(x.R.y, x.R.z)) < 0) {
    return who.error(field, called + ": the matrix is not a rotation");
  }
  return {};
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

}  // namespace

Problem check_body(const BodySpec& body, std::size_t index, bool may_lack_mass) {
  const Subject who(Element::body, body.name, index);
  if (!std::isfinite(body.mass)) return who.error("mass", "mass is not a number");
  if (!finite(body.com)) return who.error("com", "com is not a number");
  if (!finite(body.inertia)) return who.error("inertia", "inertia is not a number");
  if (body.mass < 0 || (body.mass == 0 && !may_lack_mass)) {
    return who.error("mass",
                     "mass = " + number(body.mass) +
                         " must be > 0 (only a body on a fixed joint, or one that "
                         "carries others, may have none)");
  }
  // A mass distribution ρ has I = ∫ρ(|x|² 1 − x xᵀ), so that ½ tr(I) 1 − I = ∫ρ x xᵀ has
  // no negative eigenvalue: each principal moment is at most the sum of the other two.
  const std::array<double, 3> moments = eigenvalues(body.inertia);
  const double allowed = inertia_tolerance * std::abs(moments[2]);
  const std::string about = " (principal moments " + number(moments[0]) + ", " +
                            number(moments[1]) + ", " + number(moments[2]) + " kg m^2)";
  if (moments[0] < -allowed) {
    return who.error("inertia",
                     "no body has this inertia: a principal moment is negative" + about);
  }
  if (moments[2] > moments[0] + moments[1] + allowed) {
    return who.error("inertia",
                     "no body has this inertia: a principal moment exceeds the sum of "
                     "the other two" +
                         about);
  }
  if (body.mass == 0 && moments[2] > 0) {
    return who.error("inertia", "inertia without mass" + about);
  }
  return {};
}

Problem check_joint(const JointSpec& joint, std::size_t index) {
  const Subject who(Element::joint, joint.name, index);
  if (Problem p = check_frame(joint.on_parent, who, "on_parent", "frame on the parent")) {
    return p;
  }
  if (Problem p = check_frame(joint.on_child, who, "on_child", "frame on the child")) {
    return p;
  }
  if (joint.type == JointType::revolute || joint.type == JointType::prismatic) {
    if (!finite(joint.axis)) return who.error("axis", "axis is not a number");
    if (norm2(joint.axis) < 1e-24) return who.error("axis", "axis has no length");
  }
  struct Entry {
    const char* name;
    double value;
  };
  for (const Entry& e :
       {Entry{"damping", joint.damping}, Entry{"stiffness", joint.stiffness},
        Entry{"armature", joint.armature}, Entry{"friction", joint.friction}}) {
    if (!std::isfinite(e.value) || e.value < 0) {
      return who.error(e.name, std::string(e.name) + " = " + number(e.value) +
                                   " must lie in [0, inf)");
    }
  }
  if (!std::isfinite(joint.rest)) return who.error("rest", "rest is not a number");
  if (!(joint.effort_limit >= 0)) {
    return who.error("effort_limit", "effort_limit = " + number(joint.effort_limit) +
                                         " must lie in [0, inf]");
  }
  if (!(joint.lower <= joint.upper)) {
    return who.error("lower", "lower = " + number(joint.lower) +
                                  " must not exceed upper = " + number(joint.upper));
  }
  const std::string kind(joint_type_name(joint.type));
  if (quaternion_at(joint.type) >= 0) {
    if (joint.stiffness > 0) {
      return who.error("stiffness", "a " + kind + " joint takes no spring");
    }
    if (std::isfinite(joint.lower) || std::isfinite(joint.upper)) {
      return who.error(std::isfinite(joint.lower) ? "lower" : "upper",
                       "a " + kind + " joint takes no position limits");
    }
  }
  if (joint.type == JointType::free && joint.armature > 0) {
    return who.error("armature", "a free joint takes no armature");
  }
  return {};
}

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
  for (std::size_t j = 0; j < tree.joints().size(); ++j) {
    const Joint& joint = tree.joints()[j];
    for (int k = 0; k < velocity_count(joint.type); ++k) {
      if (resists[at(joint.v + k)]) continue;
      const Subject who(Element::joint, joint.name, j,
                        "joint " + quoted(joint.name) + " (" +
                            std::string(joint_type_name(joint.type)) + ")");
      return who.error(
          "",
          "nothing resists its motion: the bodies that it moves have no inertia "
          "about or along its axis; give the bodies inertia, or the joint "
          "armature");
    }
  }
  return {};
}

}  // namespace bristle::checks
