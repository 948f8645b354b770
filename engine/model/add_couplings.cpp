#include <cmath>
#include <set>

#include "bristle/model/assembly.hpp"

namespace bristle::assembly {

namespace {

using checks::number;
using checks::quoted;

Problem check_numbers(const CouplingSpec& spec, const Subject& who) {
  struct Entry {
    const char* name;
    double value;
  };
  for (const Entry& e :
       {Entry{"stiffness", spec.stiffness}, Entry{"damping", spec.damping},
        Entry{"frequency", spec.frequency}}) {
    if (!std::isfinite(e.value) || e.value < 0) {
      return who.error(e.name, std::string(e.name) + " = " + number(e.value) +
                                   " must lie in [0, inf)");
    }
  }
  if (!std::isfinite(spec.rest)) return who.error("rest", "rest must be a number");
  return {};
}

}  // namespace

Problem add_couplings(std::span<const CouplingSpec> specs, Model& model) {
  std::set<std::string_view> names;
  const std::vector<double> inertia =
      specs.empty() ? std::vector<double>{} : moved_inertia(model.tree);
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const CouplingSpec& spec = specs[i];
    const Subject who(Element::coupling, spec.name, i);
    if (spec.name.empty()) return who.sentence("name", "a coupling has no name");
    if (!names.insert(spec.name).second) {
      return who.sentence("name", who.called() + " was added twice");
    }
    if (Problem p = check_numbers(spec, who)) return p;
    Coupling coupling{.name = spec.name,
                      .joints = {},
                      .positions = {},
                      .rest = spec.rest,
                      .stiffness = spec.stiffness,
                      .damping = spec.damping};
    double compliance = 0;  // J M⁻¹ Jᵀ, were each joint alone
    std::set<int> dofs;
    for (const CouplingSpec::Term& term : spec.terms) {
      Problem problem;
      const Joint* joint = find_moving_joint(model, term.joint, who, "joint", problem);
      if (joint == nullptr) return problem;
      if (velocity_count(joint->type) != 1) {
        return who.error("joint", quoted(term.joint) + " is " +
                                      std::string(joint_type_name(joint->type)) +
                                      "; a coupling joins revolute and prismatic joints");
      }
      if (!std::isfinite(term.weight) || term.weight == 0) {
        return who.error("weight", "weight = " + number(term.weight) + " of " +
                                       quoted(term.joint) + " must be a number, not 0");
      }
      if (!dofs.insert(joint->v).second) {
        return who.error("joint", quoted(term.joint) + " is named twice");
      }
      coupling.joints.push_back({joint->v, term.weight});
      coupling.positions.push_back({joint->q, term.weight});
      compliance += term.weight * term.weight / inertia[at(joint->v)];
    }
    if (coupling.joints.empty()) return who.error("joint", "it names no joint");
    if (spec.frequency > 0) {
      coupling.stiffness = spec.frequency * spec.frequency / compliance;
      coupling.damping = 2 * spec.frequency / compliance;
    }
    model.couplings.push_back(std::move(coupling));
  }
  return {};
}

}  // namespace bristle::assembly
