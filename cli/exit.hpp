#pragma once

namespace bristle::cli {

/// What the program's exit status means.
enum Exit : int {
  fine = 0,
  check_failed = 1,
  bad_input = 2,
  cannot_go_on = 3,
};

}  // namespace bristle::cli
