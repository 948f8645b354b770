#pragma once

#include <string>
#include <vector>

#include "bristle/step/method.hpp"

// Substeps that follow the present contacts: as long as the stiffest motion allows.

namespace bristle {

class SubstepControl {
 public:
  /// Substeps of a step [s], of which there may be so many.
  SubstepControl(Method method, double step, int most);

  double shortest() const noexcept { return shortest_; }  // [s]
  /// The longest substep that is accurate from a settled state on, where contacts get as
  /// deep as they may within `ahead` [s]; no shorter than the shortest [s].
  double longest(System& system, const State& state, double ahead);
  /// Forgets the slopes that it has seen.
  void forget() noexcept { known_ = false; }

  /// A warning where more substeps were needed than are allowed.
  std::vector<std::string> warnings() const;

 private:
  /// The slopes that the time scales depend on.
  struct Slopes {
    int closed = 0;
    double stiffness = 0, damping = 0;  // sums over closed rows
  };
  static Slopes slopes_of(System& system, const State& state);
  double find_longest(System& system, const State& state);
  bool like(const Slopes& slopes) const noexcept;

  Method method_;
  double step_, shortest_;
  bool known_ = false;
  Slopes slopes_;       // that longest_ was found for
  double longest_ = 0;  // [s]

  std::vector<double> depths_;  // as they are
  std::vector<PatchRow> patches_;

  double needed_ = 0, needed_at_ = 0;  // the most substeps that were needed, and when [s]
  std::string needed_by_;
};

}  // namespace bristle
