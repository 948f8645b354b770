#pragma once

#include <chrono>

namespace bristle::cli {

/// How far a run has come: a bar on a terminal, a line every tenth otherwise, but not
/// more than one a second; on standard error.
class Progress {
 public:
  Progress(double begin, double end, bool quiet);

  void at(double time);
  /// Clears the bar.
  void done();

 private:
  using Clock = std::chrono::steady_clock;
  double begin_, end_;
  bool quiet_, terminal_;
  Clock::time_point started_, drawn_;
  int tenths_ = 0;
  bool bar_ = false;
};

}  // namespace bristle::cli
