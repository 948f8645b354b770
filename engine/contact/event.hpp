#pragma once

#include <cstdint>

#include "bristle/laws/law_choice.hpp"

namespace bristle {

enum class EventKind : std::uint8_t {
  touch,     // the depth becomes positive
  lift_off,  // it becomes zero again
  clamp,     // a guard of the role clamp changes its sign
  stick,     // a guard of the role slip becomes negative
  slip,      // it becomes positive
  branch,    // a guard of the role branch changes its sign
};

/// What happened, and to which row of the state; seen after the state was brought to it.
struct Event {
  EventKind kind;
  int row;
  double time;                        // [s]
  LawFamily law = LawFamily::normal;  // whose guard it is, of clamp … branch
};

}  // namespace bristle
