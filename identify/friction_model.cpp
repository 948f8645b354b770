#include "identify/friction_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace bristle::identify {

namespace {

/// The slope at point i of the parabola through it and its neighbours; at an end, that of
/// the parabola there.
double slope_at(const std::vector<double>& t, const std::vector<double>& x,
                std::size_t i) {
  const std::size_t n = t.size();
  if (n == 2) return (x[1] - x[0]) / (t[1] - t[0]);
  const std::size_t m = std::clamp<std::size_t>(i, 1, n - 2);
  const double before = (x[m] - x[m - 1]) / (t[m] - t[m - 1]);
  const double after = (x[m + 1] - x[m]) / (t[m + 1] - t[m]);
  const double bend = (after - before) / (t[m + 1] - t[m - 1]);
  return before + bend * (2 * t[i] - t[m] - t[m - 1]);
}

}  // namespace

std::span<const ColumnWish> friction_columns() {
  static constexpr ColumnWish wishes[] = {{"time", Quantity::time, true},
                                          {"force", Quantity::force, true},
                                          {"normal_force", Quantity::force, true},
                                          {"displacement", Quantity::length},
                                          {"velocity", Quantity::speed}};
  return wishes;
}

Result<FrictionData> friction_data(const Table& table) {
  if (!table.has("velocity") && !table.has("displacement")) {
    return Error{
        fmt::format("{}: a column displacement_m or velocity_m_s is needed", table.file)};
  }
  if (const auto rising = check_rising(table, "time"); !rising) {
    return Error{rising.error()};
  }
  FrictionData data{.time = table["time"],
                    .force = table["force"],
                    .normal_force = table["normal_force"]};
  if (data.size() < 2) return Error{fmt::format("{}: one row is no motion", table.file)};
  if (table.has("velocity")) {
    data.speed = table["velocity"];
  } else {
    for (std::size_t i = 0; i < data.size(); ++i) {
      data.speed.push_back(slope_at(data.time, table["displacement"], i));
    }
  }
  for (std::size_t i = 0; i < data.size(); ++i) {
    if (data.normal_force[i] >= 0) continue;
    return table.wrong(i, "normal_force_N", data.normal_force[i], "be at least 0");
  }
  const auto is_zero = [](double x) { return x == 0; };
  if (std::all_of(data.normal_force.begin(), data.normal_force.end(), is_zero)) {
    return Error{fmt::format("{}: no contact in the data: normal_force is 0 everywhere",
                             table.file)};
  }
  return data;
}

FrictionModel::FrictionModel(const LawEntry& law, FrictionData data, int substeps)
    : law_(law),
      data_(std::move(data)),
      substeps_(static_cast<std::size_t>(std::max(substeps, 1))) {
  for (const Parameter& p : law.parameters) {
    Unknown u = unknown_of(p);
    u.free = p.name.starts_with("mu") || p.name == "stiffness";
    unknowns_.push_back(std::move(u));
  }
  depth_ = unknowns_.size();
  unknowns_.push_back({.name = "depth_m",
                       .unit = "m",
                       .range = above(0, 1e3),
                       .value = 1e-4,
                       .meaning = "of the contact, where the law asks for it"});
}

std::vector<SlideMoment> FrictionModel::path_at(double depth) const {
  std::vector<SlideMoment> path;
  path.reserve(1 + (data_.size() - 1) * substeps_);
  path.push_back({data_.speed[0], data_.normal_force[0], depth, 1e-9});
  for (std::size_t i = 1; i < data_.size(); ++i) {
    const double duration =
        (data_.time[i] - data_.time[i - 1]) / static_cast<double>(substeps_);
    for (std::size_t s = 1; s <= substeps_; ++s) {
      const double part = static_cast<double>(s) / static_cast<double>(substeps_);
      const auto between = [&](const std::vector<double>& y) {
        return y[i - 1] + part * (y[i] - y[i - 1]);
      };
      path.push_back(
          {between(data_.speed), between(data_.normal_force), depth, duration});
    }
  }
  return path;
}

bool FrictionModel::residuals(std::span<const double> values,
                              std::span<const std::size_t> by, double* residuals,
                              double* jacobian) const {
  const std::size_t n = data_.size();
  const std::vector<SlideMoment> path = path_at(values[depth_]);
  const std::size_t parameters = law_.parameters.size();
  if (jacobian == nullptr || by.empty()) {
    std::vector<double> force(path.size());
    law_.slide_along(values.first(parameters), path, force);
    for (std::size_t i = 0; i < n; ++i) {
      residuals[i] = force[i * substeps_] - data_.force[i];
    }
    return true;
  }
  std::vector<Sensitive> force(path.size()), variables(parameters);
  for (std::size_t from = 0; from < by.size(); from += 4) {
    const std::size_t count = std::min<std::size_t>(4, by.size() - from);
    for (std::size_t u = 0; u < parameters; ++u) variables[u] = Sensitive(values[u]);
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t u = by[from + k];
      variables[u] = Sensitive::variable(values[u], static_cast<int>(k));
    }
    law_.slide_sensitive(variables, path, force);
    for (std::size_t i = 0; i < n; ++i) {
      const Sensitive& f = force[i * substeps_];
      residuals[i] = f.value - data_.force[i];
      for (std::size_t k = 0; k < count; ++k) {
        jacobian[i * by.size() + from + k] = f.by[k];
      }
    }
  }
  return true;
}

}  // namespace bristle::identify
