#include "report/axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

namespace bristle::report {

namespace {

constexpr double vast = 1e300;
constexpr double minute = 1e-300;

int exponent_of(double x) { return static_cast<int>(std::floor(std::log10(x) + 1e-9)); }

/// 10⁻⁷ in one piece of text.
std::string power_of_ten(int exponent) {
  constexpr std::string_view digits[] = {"⁰", "¹", "²", "³", "⁴",
                                         "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text = "10";
  for (const char c : std::to_string(exponent)) {
    text += c == '-' ? "⁻" : digits[c - '0'];
  }
  return text;
}

/// Labels of evenly spaced ticks, with what they share taken out.
Ticks even_ticks(const std::vector<double>& values) {
  Ticks out;
  if (values.empty()) return out;
  const double step = values.size() > 1 ? values[1] - values[0] : 0;
  double largest = std::max(std::fabs(values.front()), std::fabs(values.back()));
  double offset = 0;
  // More than five digits: labels count from an offset.
  if (step > 0 && largest / step > 1e5) {
    const double grain = std::pow(10.0, exponent_of(values.back() - values.front()) + 1);
    offset = std::floor(values.front() / grain) * grain;
    largest = values.back() - offset;
  }
  const int exponent = largest > 0 ? exponent_of(largest) : 0;
  const bool plain = exponent >= -3 && exponent < 5;
  const double unit = plain ? 1 : std::pow(10.0, exponent);
  const int finest = step > 0 ? exponent_of(step) : exponent;
  const int digits = std::max({4, exponent - finest + 2, plain ? exponent + 1 : 0});
  for (const double value : values) {
    const double shown =
        std::fabs(value - offset) < 1e-6 * step ? 0 : (value - offset) / unit;
    out.ticks.push_back({value, fmt::format("{:.{}g}", shown, digits), ""});
  }
  if (!plain) out.scale = "×" + power_of_ten(exponent);
  if (offset != 0) {
    out.scale += fmt::format("{}{} {:.10g}", plain ? "" : " ", offset < 0 ? "−" : "+",
                             std::fabs(offset));
  }
  return out;
}

Tick log_tick(double mantissa, int exponent) {
  const double value = mantissa * std::pow(10.0, exponent);
  if (mantissa == 1) return {value, "10", std::to_string(exponent)};
  return {value, fmt::format("{:g}·10", mantissa), std::to_string(exponent)};
}

Ticks log_ticks(double low, double high) {
  const int first = static_cast<int>(std::ceil(std::log10(low) - 1e-9));
  const int last = static_cast<int>(std::floor(std::log10(high) + 1e-9));
  Ticks out;
  if (high < 10 * low) return even_ticks(nice_ticks(low, high, 6));
  if (last - first < 2) {
    for (int d = first - 1; d <= last; ++d) {
      for (const double mantissa : {1.0, 2.0, 5.0}) {
        const Tick tick = log_tick(mantissa, d);
        if (tick.value >= low * (1 - 1e-9) && tick.value <= high * (1 + 1e-9)) {
          out.ticks.push_back(tick);
        }
      }
    }
    return out;
  }
  const int step = std::max(1, (last - first + 7) / 8);
  for (int d = first; d <= last; d += step) out.ticks.push_back(log_tick(1, d));
  return out;
}

}  // namespace

double Axis::at(double value) const {
  const double part =
      log ? (std::log10(value) - std::log10(low)) / (std::log10(high) - std::log10(low))
          : (value - low) / (high - low);
  return std::clamp(from + part * (to - from), -1e7, 1e7);
}

bool can_show(double value, bool log) {
  return std::fabs(value) < vast && (!log || value > minute);
}

Range padded(Range data, bool log) {
  auto [low, high] = data;
  const double size = std::max(std::fabs(low), std::fabs(high));
  if (size < minute) {
    low = 0;
    high = 0;
  }
  // A constant with its rounding errors is a constant.
  if (high - low <= 1e-9 * size) {
    const double margin = low == 0 ? 1 : 0.1 * std::fabs(low);
    low = log ? low / 2 : low - margin;
    high = log ? high * 2 : high + margin;
  }
  if (!log) {
    // A little air, but an axis that starts at zero keeps its zero.
    const double air = 0.05 * (high - low);
    high += high == 0 ? 0 : air;
    low -= low == 0 ? 0 : air;
  }
  return {low, high};
}

std::vector<double> nice_ticks(double low, double high, int count) {
  const double raw = (high - low) / count;
  if (!(raw > 0) || !std::isfinite(raw)) return {low};
  const double magnitude = std::pow(10.0, std::floor(std::log10(raw)));
  double step = 10 * magnitude;
  for (const double candidate : {1.0, 2.0, 2.5, 5.0}) {
    if (candidate * magnitude >= raw) {
      step = candidate * magnitude;
      break;
    }
  }
  std::vector<double> ticks;
  const double first = std::ceil(low / step - 1e-9);
  for (int i = 0; i <= 10 * count && (first + i) * step <= high + 1e-9 * step; ++i) {
    ticks.push_back(first + i == 0 ? 0 : (first + i) * step);
  }
  return ticks;
}

Ticks ticks_of(const Axis& axis) {
  if (axis.log) return log_ticks(axis.low, axis.high);
  return even_ticks(nice_ticks(axis.low, axis.high, 6));
}

}  // namespace bristle::report
