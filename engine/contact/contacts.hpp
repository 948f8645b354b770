#pragma once

#include "bristle/contact/workspace.hpp"

// From where the links are to the forces between them:
//
//   find_contacts   candidates → narrow phase → the state's rows, with what they remember
//   follow_contacts the same rows somewhere within a step
//   contact_forces  normal pass → friction pass, over blocks of one pair of laws
//   add_forces      from rows to links and joints, in the order of the rows

namespace bristle {

/// What decides whether a contact is closed: its depth, or the events that a clock has
/// located (ContactRow::event), so that between them nothing changes.
enum class Episodes { by_depth, by_events };

/// Re-makes the rows for an accepted state: contacts are looked for as far as the bodies
/// may move within `horizon` [s]; what lasts keeps its memory, frames are carried along,
/// new contacts begin and old ones end. Done twice, it changes nothing the second time.
ContactStatus find_contacts(const Model& model, const LinkMotion& links, double horizon,
                            Episodes episodes, State& state,
                            ContactWorkspace& ws) noexcept;

/// Measures the rows found last at other positions and velocities within the step.
/// `memory` is the rows' memory there. Without `open`, pairs of which every contact was
/// open are left out.
void follow_contacts(const Model& model, std::span<const double> q,
                     std::span<const double> v, const LinkMotion& links,
                     const ContactRows& contacts, std::span<const double> memory,
                     bool open, ContactWorkspace& ws) noexcept;

/// Rates and slips of the rows at the same places for other velocities.
void measure_again(const Model& model, std::span<const double> v, const LinkMotion& links,
                   const ContactRows& contacts, ContactWorkspace& ws) noexcept;

/// The joint that a row of a joint block belongs to; padding has that of the last row.
const JointRow& joint_row(const Model& model, const ContactRows& contacts,
                          std::size_t row) noexcept;

/// What the laws store and lose, summed over rows [J, W].
struct ContactTotals {
  LawTotals normal, friction, limits, joint_friction;
};

/// What an integrator by events holds of all rows within a step, for Form::evaluate: as
/// ContactColumns has them.
struct HeldRows {
  const double* root_depth = nullptr;
  Columns<double> normal{};
  Columns<double> friction{};
};

/// The forces of all rows, and their memory a step h later (Form::advance) or its rates
/// (Form::evaluate), written to `next`. `memory` and `next` may be the same. The books of
/// single rows are kept by Form::advance, and where the model asks for them.
ContactTotals contact_forces(const Model& model, Form form, double h,
                             const ContactRows& contacts, std::vector<double>& memory,
                             std::vector<double>& next, ContactWorkspace& ws,
                             const HeldRows& held = {}) noexcept;

/// Notes the forces of a step in the rows, so that the next find_contacts() can correct
/// its books to the mean velocity. They were booked at the velocities of the step's
/// beginning (`at_end` false) or its end; after contact_forces() with Form::advance.
void note_forces(ContactRows& contacts, const ContactWorkspace& ws, bool at_end) noexcept;

/// The laws adjust their memory to an accepted state; what that releases is booked. Runs
/// the normal laws, for their force.
void commit_contacts(const Model& model, State& state, ContactWorkspace& ws) noexcept;

/// Adds what the rows exert to the forces on links, about their origins in world axes,
/// and on joint velocities.
void add_forces(const Model& model, const LinkMotion& links, const ContactRows& contacts,
                const ContactWorkspace& ws, std::span<Force<double>> on_links,
                std::span<double> on_joints) noexcept;

}  // namespace bristle
