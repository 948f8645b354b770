#include <cmath>
#include <map>
#include <numbers>

#include "bristle/laws/choice.hpp"
#include "bristle/model/assembly.hpp"

namespace bristle::assembly {

namespace {

using checks::number;
using checks::quoted;

constexpr double limit_time = 0.02;        // a joint bounces off its limit in that [s]
constexpr double limit_restitution = 0.2;  // and so
constexpr double presliding_turn = 1e-3;   // of a joint's friction [rad] or [m]

/// The specs of one kind, by the link that their joints move.
template <class Spec>
using ByLink = std::map<int, const Spec*>;

Problem check_limits(std::span<const LimitSpec> specs, const Model& model,
                     ByLink<LimitSpec>& limits) {
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const LimitSpec& spec = specs[i];
    const Subject unknown(Element::limit, spec.joint, i, "limits");
    Problem problem;
    const Joint* joint = find_moving_joint(model, spec.joint, unknown, "joint", problem);
    if (joint == nullptr) return problem;
    const Subject who(Element::limit, spec.joint, i,
                      "limits of joint " + quoted(spec.joint));
    if (Problem p = check_laws(who, &spec.normal, nullptr)) return p;
    if (entry_of(spec.normal).volumetric) {
      return who.error("normal", std::string(entry_of(spec.normal).info.name) +
                                     " needs the volume of an overlap, which a joint "
                                     "does not have; take a law of the depth, such as "
                                     "gonthier");
    }
    limits[joint->link] = &spec;
  }
  return {};
}

Problem check_frictions(std::span<const JointFrictionSpec> specs, const Model& model,
                        ByLink<JointFrictionSpec>& frictions) {
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const JointFrictionSpec& spec = specs[i];
    const Subject unknown(Element::joint_friction, spec.joint, i, "friction");
    Problem problem;
    const Joint* joint = find_moving_joint(model, spec.joint, unknown, "joint", problem);
    if (joint == nullptr) return problem;
    const Subject who(Element::joint_friction, spec.joint, i,
                      "friction of joint " + quoted(spec.joint));
    if (Problem p = check_laws(who, nullptr, &spec.friction)) return p;
    if (!(spec.load > 0) || !std::isfinite(spec.load)) {
      return who.error("load", "load = " + number(spec.load) + " must be a number > 0");
    }
    frictions[joint->link] = &spec;
  }
  return {};
}

/// A row and its laws.
struct Entry {
  LawBlock laws;
  JointRow row;
};

/// Of what stops an inertia.
LawChoice default_limit(double inertia) {
  const double rate = std::numbers::pi / limit_time;
  return choose<GonthierNormal>({.stiffness = inertia * rate * rate,
                                 .exponent = 1,
                                 .restitution = limit_restitution,
                                 .impact_speed_floor = 0.01});
}

/// The rows of all velocities, under the laws given or the default ones.
std::vector<Entry> rows_of_joints(const Tree& tree, const ByLink<LimitSpec>& limits,
                                  const ByLink<JointFrictionSpec>& frictions) {
  std::vector<Entry> entries;
  const std::vector<double> inertia = moved_inertia(tree);
  for (int d = 0; d < tree.velocity_count(); ++d) {
    const Dof& dof = tree.dofs()[at(d)];
    if (dof.q >= 0 && (std::isfinite(dof.lower) || std::isfinite(dof.upper))) {
      const auto own = limits.find(dof.link);
      const LawChoice normal =
          own != limits.end() ? own->second->normal : default_limit(inertia[at(d)]);
      const LawBlock laws{normal, choose<Frictionless>(), false};
      if (std::isfinite(dof.lower)) {
        entries.push_back({laws, {d, true, -1, dof.lower, 0}});
      }
      if (std::isfinite(dof.upper)) {
        entries.push_back({laws, {d, true, 1, dof.upper, 0}});
      }
    }
    const auto own = frictions.find(dof.link);
    if (own != frictions.end()) {
      entries.push_back({{choose<Hertz>(), own->second->friction, true},
                         {d, false, 1, 0, own->second->load}});
    } else if (dof.friction > 0) {
      const LawChoice friction = choose<SpringSlider>(
          {.mu = 1, .stiffness = dof.friction / presliding_turn, .damping = 0});
      entries.push_back(
          {{choose<Hertz>(), friction, true}, {d, false, 1, 0, dof.friction}});
    }
  }
  return entries;
}

/// Blocks of rows: limits before friction, equal laws together.
void add_blocks(const std::vector<Entry>& entries, Model& model) {
  std::vector<bool> done(entries.size());
  for (const bool wants_limit : {true, false}) {
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (done[i] || entries[i].row.is_limit != wants_limit) continue;
      model.blocks.push_back(entries[i].laws);
      model.joint_block_rows.push_back(static_cast<int>(model.joint_rows.size()));
      for (std::size_t j = i; j < entries.size(); ++j) {
        const bool same = entries[j].row.is_limit == wants_limit &&
                          entries[j].laws.normal == entries[i].laws.normal &&
                          entries[j].laws.friction == entries[i].laws.friction;
        if (done[j] || !same) continue;
        done[j] = true;
        model.joint_rows.push_back(entries[j].row);
      }
    }
  }
  model.joint_block_rows.push_back(static_cast<int>(model.joint_rows.size()));
  model.joint_blocks = static_cast<int>(model.blocks.size());
}

}  // namespace

/// Revolute and prismatic joints move about z; the others in order x, y, z.
Vec3<double> axis_at(const Link& link, const Transform<double>& pose, int k) {
  if (velocity_count(link.type) == 1) return pose.R.z;
  return k % 3 == 0 ? pose.R.x : (k % 3 == 1 ? pose.R.y : pose.R.z);
}

std::vector<double> moved_inertia(const Tree& tree) {
  const std::vector<Transform<double>> poses = neutral_poses(tree);
  std::vector<Inertia<double>> composite(poses.size(), Inertia<double>::zero());
  for (int i = 1; i < tree.link_count(); ++i) {
    composite[at(i)] = rotated(poses[at(i)].R, tree.constants()[at(i)].inertia);
  }
  std::vector<double> inertia(at(tree.velocity_count()));
  for (int i = tree.link_count() - 1; i > 0; --i) {
    const Link& link = tree.link(i);
    const Inertia<double>& whole = composite[at(i)];
    for (int k = 0; k < velocity_count(link.type); ++k) {
      const Vec3<double> axis = axis_at(link, poses[at(i)], k);
      inertia[at(link.v + k)] =
          (is_linear(link.type, k) ? whole.mass : dot(axis, whole.rotational * axis)) +
          tree.armature()[at(link.v + k)];
    }
    if (link.parent == world_link) continue;
    const Vec3<double> arm = poses[at(i)].p - poses[at(link.parent)].p;
    composite[at(link.parent)] = composite[at(link.parent)] + shifted_back(whole, arm);
  }
  return inertia;
}

namespace {

/// The limits of couplings, under the default law, and springs with slack.
void add_coupling_limits(std::span<const CouplingSpec> specs, const Model& model,
                         std::vector<Entry>& entries) {
  if (specs.empty()) return;
  const std::vector<double> inertia = moved_inertia(model.tree);
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const CouplingSpec& spec = specs[i];
    const Coupling& coupling = model.couplings[i];
    const double compliance = compliance_of(coupling, inertia);
    const LawBlock laws{default_limit(1 / compliance), choose<Frictionless>(), false};
    const auto add = [&](const LawBlock& under, double sign, double bound) {
      if (!std::isfinite(bound)) return;
      entries.push_back({under, {-1, true, sign, bound, 0, static_cast<int>(i)}});
    };
    add(laws, -1, spec.lower);
    add(laws, 1, spec.upper);
    const double stiffness = spec.frequency > 0
                                 ? spec.frequency * spec.frequency / compliance
                                 : spec.stiffness;
    if (!(spec.slack > 0) || !(stiffness > 0)) continue;
    const LawBlock spring{
        choose<KelvinVoigt>({.stiffness = stiffness, .damping = 0, .clamp = 1}),
        choose<Frictionless>(), false};
    if (spec.path.empty() || spec.rest > 0) add(spring, -1, spec.rest);
    add(spring, 1, spec.rest + spec.slack);
  }
}

}  // namespace

Problem add_joint_rows(std::span<const LimitSpec> limits,
                       std::span<const JointFrictionSpec> frictions,
                       std::span<const CouplingSpec> couplings, Model& model) {
  ByLink<LimitSpec> limit_of;
  if (Problem p = check_limits(limits, model, limit_of)) return p;
  ByLink<JointFrictionSpec> friction_of;
  if (Problem p = check_frictions(frictions, model, friction_of)) return p;
  std::vector<Entry> entries = rows_of_joints(model.tree, limit_of, friction_of);
  add_coupling_limits(couplings, model, entries);
  add_blocks(entries, model);
  for (const Dof& dof : model.tree.dofs()) {
    if (dof.damping != 0 || dof.stiffness != 0) model.has_joint_forces = true;
  }
  return {};
}

}  // namespace bristle::assembly
