#include "identify/model.hpp"

#include <cmath>
#include <numbers>

namespace bristle::identify {

namespace {
constexpr double degree = std::numbers::pi / 180;
}

double Unknown::coordinate(double v) const {
  switch (measure) {
    case Measure::relative:
      return std::log(v);
    case Measure::tangent:
      return std::log(std::tan(degree * v));
    case Measure::share:
    case Measure::offset:
      break;
  }
  return v / size;
}

double Unknown::value_at(double u) const {
  switch (measure) {
    case Measure::relative:
      return std::exp(u);
    case Measure::tangent:
      return std::atan(std::exp(u)) / degree;
    case Measure::share:
    case Measure::offset:
      break;
  }
  return u * size;
}

double Unknown::slope(double v) const {
  switch (measure) {
    case Measure::relative:
      return v;
    case Measure::tangent:
      return 0.5 * std::sin(2 * degree * v) / degree;
    case Measure::share:
    case Measure::offset:
      break;
  }
  return size;
}

double Unknown::relative(double v) const {
  return measure == Measure::share && v != 0 ? size / std::fabs(v) : 1;
}

std::string Unknown::factor() const {
  return measure == Measure::tangent ? "tan(" + name + ")" : name;
}

Unknown unknown_of(const Parameter& p) {
  Unknown unknown{.name = std::string(p.name),
                  .unit = std::string(p.unit),
                  .range = p.range,
                  .value = p.preset,
                  .meaning = std::string(p.meaning)};
  const bool positive = p.range.open_low && p.range.low == 0;
  const bool wide = p.range.low > 0 && p.range.high > 1e4 * p.range.low;
  if (positive || wide) return unknown;
  unknown.measure = Measure::share;
  unknown.size = p.preset != 0 ? std::fabs(p.preset) : 1;
  return unknown;
}

int Model::find(std::string_view name) const {
  for (std::size_t i = 0; i < unknowns_.size(); ++i) {
    if (unknowns_[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

std::vector<std::size_t> Model::free() const {
  std::vector<std::size_t> list;
  for (std::size_t i = 0; i < unknowns_.size(); ++i) {
    if (unknowns_[i].free) list.push_back(i);
  }
  return list;
}

std::vector<double> Model::values() const {
  std::vector<double> list;
  list.reserve(unknowns_.size());
  for (const Unknown& u : unknowns_) list.push_back(u.value);
  return list;
}

}  // namespace bristle::identify
