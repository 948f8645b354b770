#include "identify/restitution_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "bristle/laws/restitution.hpp"

namespace bristle::identify {

std::span<const ColumnWish> restitution_columns() {
  static constexpr ColumnWish wishes[] = {{"speed", Quantity::speed, true},
                                          {"restitution", Quantity::number, true}};
  return wishes;
}

Result<RestitutionData> restitution_data(const Table& table) {
  RestitutionData data{table["speed"], table["restitution"]};
  for (std::size_t i = 0; i < data.speed.size(); ++i) {
    if (!(data.speed[i] > 0 && data.speed[i] <= 1e5)) {
      return table.wrong(i, "speed_m_s", data.speed[i], "lie in (0, 1e5] m/s");
    }
    if (!(data.restitution[i] > 0 && data.restitution[i] <= 1)) {
      return table.wrong(i, "restitution", data.restitution[i], "lie in (0, 1]");
    }
  }
  return data;
}

RestitutionModel::RestitutionModel(const LawEntry* law, RestitutionData data,
                                   const Punch& punch)
    : law_(law), data_(std::move(data)), punch_(punch) {
  if (law_ == nullptr) {
    unknowns_.push_back({.name = "restitution",
                         .unit = "1",
                         .range = above(0, 1),
                         .value = 0.5,
                         .free = true,
                         .measure = Measure::share,
                         .meaning = "the same at every speed"});
    return;
  }
  for (const Parameter& p : law_->parameters) {
    Unknown u = unknown_of(p);
    u.free = p.name == law_->damping_parameter;
    unknowns_.push_back(std::move(u));
  }
  unknowns_.push_back({.name = "mass",
                       .unit = "kg",
                       .range = above(0, 1e9),
                       .value = 0.154,
                       .meaning = "mass that hits a fixed body"});
}

double RestitutionModel::at(std::span<const double> values, double speed) const {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  if (law_ == nullptr) return values[0];
  const std::span<const double> of_law = values.first(law_->parameters.size());
  const double mass = values[of_law.size()];
  const auto impact = law_->impact(of_law, mass, speed, nullptr, punch_);
  return impact ? impact->restitution : none;
}

/// The damping with which the law returns the middle one of the points.
void RestitutionModel::improve(std::vector<double>& values) const {
  const int place = law_ == nullptr ? -1 : find(law_->damping_parameter);
  if (place < 0) return;
  const auto at = static_cast<std::size_t>(place);
  if (!unknowns_[at].free || unknowns_[at].given) return;
  std::vector<std::size_t> order(points());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto middle = order.begin() + static_cast<std::ptrdiff_t>(order.size() / 2);
  std::nth_element(order.begin(), middle, order.end(), [&](std::size_t a, std::size_t b) {
    return data_.restitution[a] < data_.restitution[b];
  });
  const std::span<const double> all = values;
  const auto tuned = parameters_for_restitution(
      *law_, all.first(law_->parameters.size()), data_.restitution[*middle],
      all[law_->parameters.size()], data_.speed[*middle], punch_);
  if (!tuned || !unknowns_[at].range.contains((*tuned)[at])) return;
  values[at] = (*tuned)[at];
}

/// Impacts are computed to 1e-12, so that fourth-order differences over a step of 3e-3 of
/// the coordinate give slopes to 1e-9.
bool RestitutionModel::residuals(std::span<const double> values,
                                 std::span<const std::size_t> by, double* residuals,
                                 double* jacobian) const {
  std::vector<double> changed(values.begin(), values.end());
  for (std::size_t i = 0; i < points(); ++i) {
    const double v = data_.speed[i];
    residuals[i] = at(values, v) - data_.restitution[i];
    if (!std::isfinite(residuals[i])) return false;
    for (std::size_t k = 0; jacobian != nullptr && k < by.size(); ++k) {
      const Unknown& u = unknowns_[by[k]];
      const double value = values[by[k]];
      double h = 3e-3 * std::fabs(value);
      if (h == 0) h = 3e-3 * u.size;
      const auto off = [&](double steps) {
        changed[by[k]] = value + steps * h;
        const double e = at(changed, v);
        changed[by[k]] = value;
        return e;
      };
      double slope;
      if (value - 2 * h < u.range.low) {  // from one side, at the end of the range
        slope =
            (-25 * at(values, v) + 48 * off(1) - 36 * off(2) + 16 * off(3) - 3 * off(4)) /
            (12 * h);
      } else if (value + 2 * h > u.range.high) {
        slope = (25 * at(values, v) - 48 * off(-1) + 36 * off(-2) - 16 * off(-3) +
                 3 * off(-4)) /
                (12 * h);
      } else {
        slope = (8 * (off(1) - off(-1)) - (off(2) - off(-2))) / (12 * h);
      }
      if (!std::isfinite(slope)) return false;
      jacobian[i * by.size() + k] = slope;
    }
  }
  return true;
}

}  // namespace bristle::identify
