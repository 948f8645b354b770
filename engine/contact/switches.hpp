#pragma once

#include <vector>

#include "bristle/contact/event.hpp"
#include "bristle/contact/law_pool.hpp"

// Switches of laws at accepted states, for steppers that do not locate them:
// clamp, stick, slip and other branches, where a guard has another sign than at the
// accepted state before.

namespace bristle {

/// Compares the guards of all closed rows with LawRows::sides, adds the changes to
/// `events`, and keeps the signs. After forces() at the settled state; `keys` names the
/// contacts, and is empty for rows of joints.
void note_switches(LawPool& pool, std::span<const ContactKey> keys, double time,
                   LawRows& rows, std::vector<Event>& events);

}  // namespace bristle
