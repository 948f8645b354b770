#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "studies/study.hpp"

// "The entire simulation will be running on a real-time system operating at 1000 Hz"
// (Gonthier et al. 2004, § 1): into how many substeps must a step of 1 ms be divided, so
// that a study still passes its checks within 1 %?

namespace bristle::studies {

struct RealtimeRow {
  std::string_view study;
  std::string_view method;
  int substeps = 0;     // the fewest that do, and so do the next two that were tried
  int tried = 0;        // the most that were; where none did, substeps is 0
  double busy = 0;      // computing time over simulated time
  std::string fails{};  // with fewer: the first check that does
};

/// Every example of the paper that moves, under every method of the fixed-step
/// integrator. `tell` hears of each attempt.
std::vector<RealtimeRow> realtime_table(
    const std::function<void(std::string_view study, std::string_view method,
                             int substeps)>& tell = {});

}  // namespace bristle::studies
