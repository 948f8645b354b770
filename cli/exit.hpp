#pragma once

namespace bristle::cli {

/// The program's exit status (docs/exit-status.md). 0 only when everything that was
/// promised has been computed and written: files, report and standard output included.
enum Exit : int {
  fine = 0,
  check_failed = 1,  // of a study
  bad_input = 2,     // a file, an argument or a setting; nothing was computed
  cannot_go_on = 3,  // something could not be computed or written
  interrupted_status = 130,
};

}  // namespace bristle::cli
