#pragma once

#include <string>
#include <vector>

#include "report/figure.hpp"

namespace bristle::report {

/// One axis: data on [low, high] to pixels on [from, to].
struct Axis {
  double low;
  double high;
  double from;
  double to;
  bool log;

  /// Pixel of a value that can be shown; what is far outside stays within ten million.
  double at(double value) const;
  double length() const { return to < from ? from - to : to - from; }
};

/// Whether a value has a place on an axis at all.
bool can_show(double value, bool log);

/// What an axis shows of data between low and high: a constant gets room on both sides,
/// the rest a little air.
Range padded(Range data, bool log);

/// Round positions that cover [low, high] with about `count` of them.
std::vector<double> nice_ticks(double low, double high, int count);

struct Tick {
  double value;
  std::string label;
  std::string superscript;
};

struct Ticks {
  std::vector<Tick> ticks;
  std::string scale;  // what labels are to be multiplied with and added to: "×10⁻⁷ + 2"
};

Ticks ticks_of(const Axis& axis);

}  // namespace bristle::report
