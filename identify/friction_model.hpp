#pragma once

#include "bristle/core/result.hpp"
#include "bristle/laws/catalogue.hpp"
#include "identify/model.hpp"
#include "identify/table.hpp"

// Friction along one line: the resistance of a law to a measured slip under a measured
// load.

namespace bristle::identify {

struct FrictionData {
  std::vector<double> time{};          // [s]
  std::vector<double> speed{};         // [m/s]
  std::vector<double> force{};         // against positive slip [N]
  std::vector<double> normal_force{};  // [N]

  std::size_t size() const { return time.size(); }
};

std::span<const ColumnWish> friction_columns();

/// Speeds as they were measured, or from the displacement: a parabola through three
/// points.
Result<FrictionData> friction_data(const Table& table);

class FrictionModel final : public Model {
 public:
  /// Unknowns: the law's parameters, of which coefficients and stiffness are free, and
  /// the depth of the contact, for laws that ask for it. The bristles begin relaxed. Each
  /// interval of the data is taken in steps of backward Euler, `substeps` of them, with
  /// speed and load in proportion to the time.
  FrictionModel(const LawEntry& law, FrictionData data, int substeps = 16);

  std::size_t points() const override { return data_.size(); }
  std::span<const double> measured() const override { return data_.force; }
  bool is_series() const override { return true; }
  bool residuals(std::span<const double> values, std::span<const std::size_t> by,
                 double* residuals, double* jacobian) const override;

  const FrictionData& data() const { return data_; }

 private:
  std::vector<SlideMoment> path_at(double depth) const;

  const LawEntry& law_;
  FrictionData data_;
  std::size_t substeps_;
  std::size_t depth_ = 0;  // among the unknowns
};

}  // namespace bristle::identify
