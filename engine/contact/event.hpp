#pragma once

#include <cstdint>
#include <string_view>

#include "bristle/model/state.hpp"

// What happens to a contact or a joint limit, under whatever stepper: decided where its
// episode begins or ends (episodes.cpp), or where a guard of its laws changes its sign.

namespace bristle {

enum class EventKind : std::uint8_t {
  touch,     // the surfaces meet
  lift_off,  // they part
  normal,    // the normal law switches: its clamp sets in or ends
  friction,  // the friction law switches: stick to slip and back
};

constexpr std::string_view name_of(EventKind kind) {
  constexpr std::string_view names[] = {"touch", "lift-off", "normal", "friction"};
  return names[static_cast<std::size_t>(kind)];
}

/// What happened, when, and to which contact (or row of State::joints).
struct Event {
  EventKind kind;
  double time;                // located, or that of the accepted state that shows it [s]
  ContactKey contact{};       // empty: it is of a joint
  int joint_row = -1;         // in State::joints
  std::uint32_t episode = 0;  // the one that began, ended or goes on
  double speed = 0;           // of approach at a touch, else |δ̇| [m/s]
};

}  // namespace bristle
