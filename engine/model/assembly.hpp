#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bristle/model/checks.hpp"
#include "bristle/model/model.hpp"

// The steps of ModelBuilder::build(), in order. Each one checks the specs of one kind of
// element and adds them to the model, or returns what is wrong with them.

namespace bristle::assembly {

using checks::Problem;
using checks::Subject;

Problem add_shapes(std::span<const ShapeSpec> specs, Model& model);
/// Sums of joint positions, paths and wrenches, with their springs.
Problem add_couplings(std::span<const CouplingSpec> specs, Model& model);
/// Limits and friction of the joints: blocks of one row per velocity; and the limits of
/// couplings.
Problem add_joint_rows(std::span<const LimitSpec> limits,
                       std::span<const JointFrictionSpec> frictions,
                       std::span<const CouplingSpec> couplings, Model& model);
Problem add_loops(std::span<const LoopSpec> specs, Model& model);
Problem add_constraints(std::span<const ConstraintSpec> specs, Model& model);
/// Which laws act between which shapes.
Problem add_rules(std::span<const ContactSpec> specs, Model& model);
/// All pairs, or the decision that there are too many to list.
Problem add_pairs(Model& model);
Problem add_motors(std::span<const MotorSpec> specs, Model& model);
Problem add_loads(std::span<const LoadSpec> specs, Model& model);
Problem add_capacity(const ModelOptions& options, Model& model);

// Used by several steps.

inline std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// Whether a pose is a rotation and a point.
bool is_pose(const Transform<double>& x);

/// "; did you mean \"ball\"?", or nothing where no word is close.
std::string did_you_mean(std::string_view word,
                         const std::vector<std::string_view>& words);

/// A body by name; nullptr, and the problem, where there is none.
const Body* find_body(const Model& model, const std::string& name, const Subject& who,
                      std::string_view field, Problem& problem);

/// A joint that moves, likewise.
const Joint* find_moving_joint(const Model& model, const std::string& name,
                               const Subject& who, std::string_view field,
                               Problem& problem);

/// Laws that are chosen, of the right family and with parameters in range; nullptr: not
/// asked for.
Problem check_laws(const Subject& who, const LawChoice* normal,
                   const LawChoice* friction);

/// The inertia about each velocity's axis of all that it moves, joints at neutral.
std::vector<double> moved_inertia(const Tree& tree);

/// J M⁻¹ Jᵀ of a coupling, were each of its joints alone, at neutral.
double compliance_of(const Coupling& coupling, std::span<const double> moved_inertia);

/// The axis of velocity k of a joint, where its link is so.
Vec3<double> axis_at(const Link& link, const Transform<double>& pose, int k);

/// Where the links are with every joint at neutral.
std::vector<Transform<double>> neutral_poses(const Tree& tree);

}  // namespace bristle::assembly
