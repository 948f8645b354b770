#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "bristle/core/result.hpp"

namespace bristle::files {

/// What work on a file may take; 0: as much as it wants.
struct GuardLimits {
  std::size_t memory = std::size_t{3} << 29;  // beyond what the process has [bytes]
  int seconds = 8;  // of the processor; sixty times that by the wall, if it waits
  std::size_t answer = std::size_t{1} << 30;  // that comes back [bytes]
};

inline constexpr GuardLimits no_limits{.memory = 0, .seconds = 0};

/// Does the work in a child process and returns what it answers, so that a library that a
/// damaged file leads astray cannot take the program with it. The error says what became
/// of the work: it ended by a signal, took too long, or asked for too much memory. An
/// exception that it throws becomes an error with its text. The child hears neither
/// Ctrl-C nor SIGTERM, and ends when its parent does.
Result<std::string> guarded(const std::function<std::string()>& work,
                            const GuardLimits& limits = {});

}  // namespace bristle::files
