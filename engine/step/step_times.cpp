#include "bristle/step/step_times.hpp"

#include <algorithm>
#include <cmath>

namespace bristle {

namespace {

constexpr double shortest = 1e-8;  // [s]
constexpr double per_octave = 8;

}  // namespace

double StepTimes::bin_start(int bin) noexcept {
  return bin == 0 ? 0 : shortest * std::exp2(bin / per_octave);
}

void StepTimes::add(double seconds) noexcept {
  const double place = per_octave * std::log2(std::max(seconds, shortest) / shortest);
  ++counts_[static_cast<std::size_t>(std::min(place, static_cast<double>(bins - 1)))];
  ++count_;
  sum_ += seconds;
  longest_ = std::max(longest_, seconds);
}

double StepTimes::quantile(double p) const noexcept {
  const double wanted = p * static_cast<double>(count_);
  double seen = 0;
  for (int bin = 0; bin < bins; ++bin) {
    seen += static_cast<double>(counts_[static_cast<std::size_t>(bin)]);
    if (seen >= wanted && seen > 0) return std::min(bin_start(bin + 1), longest_);
  }
  return longest_;
}

}  // namespace bristle
