#pragma once

#include <cstdint>
#include <string_view>

#include "bristle/laws/law_choice.hpp"
#include "bristle/model/state.hpp"

// Events of a contact or a joint row, under every stepper: decided where its episode
// begins or ends (episodes.cpp), or where a guard (GuardRole) changes its sign
// (switches.cpp). The adaptive stepper locates both (adaptive/event_location.cpp).

namespace bristle {

enum class EventKind : std::uint8_t {
  touch,     // the depth becomes positive, or a complementarity step closes the contact
  lift_off,  // it becomes zero again, or the impulse does
  clamp,     // a law begins or ceases to cut off tension: its guard of the role clamp
  stick,     // a friction law begins to stick: its guard of the role slip is negative
  slip,      // a friction law begins to slip: the same guard is positive
  branch,    // another switch of a law: a guard of the role branch changes its sign
};

constexpr std::string_view name_of(EventKind kind) {
  constexpr std::string_view names[] = {"touch", "lift-off", "clamp",
                                        "stick", "slip",     "branch"};
  return names[static_cast<std::size_t>(kind)];
}

/// The event of a guard of a law that changes its sign.
constexpr EventKind event_of(GuardRole role, bool rises) {
  switch (role) {
    case GuardRole::clamp:
      return EventKind::clamp;
    case GuardRole::slip:
      return rises ? EventKind::slip : EventKind::stick;
    case GuardRole::branch:
    case GuardRole::bound:
    case GuardRole::drift:
      return EventKind::branch;
  }
  return EventKind::branch;
}

/// What happened, when, and to which contact (or row of State::joints).
struct Event {
  EventKind kind;
  double time;                // located, or that of the accepted state after it [s]
  ContactKey contact{};       // empty: it is of a joint
  int joint_row = -1;         // in State::joints
  std::uint32_t episode = 0;  // the one that began, ended or goes on
  double speed = 0;           // of approach at a touch, else |δ̇| [m/s]
  LawFamily law = LawFamily::normal;  // whose guard it is, of clamp … branch
};

}  // namespace bristle
