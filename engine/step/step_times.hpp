#pragma once

#include <array>
#include <cstdint>

namespace bristle {

/// How long steps took: counts in bins that grow by an eighth of an octave, from 10 ns to
/// 40 s. Nothing is allocated.
class StepTimes {
 public:
  static constexpr int bins = 256;

  void add(double seconds) noexcept;

  std::uint64_t count() const noexcept { return count_; }
  double mean() const noexcept {
    return count_ > 0 ? sum_ / static_cast<double>(count_) : 0;
  }
  double longest() const noexcept { return longest_; }
  /// The time within which a share p of all steps ended, to the width of a bin.
  double quantile(double p) const noexcept;
  const std::array<std::uint64_t, bins>& counts() const noexcept { return counts_; }
  /// Where a bin begins [s].
  static double bin_start(int bin) noexcept;

 private:
  std::array<std::uint64_t, bins> counts_{};
  std::uint64_t count_ = 0;
  double sum_ = 0;
  double longest_ = 0;
};

}  // namespace bristle
