#pragma once

#include "bristle/core/result.hpp"
#include "bristle/laws/catalogue.hpp"
#include "identify/model.hpp"
#include "identify/table.hpp"

// Restitution against impact speed: central impacts under a normal law.

namespace bristle::identify {

struct RestitutionData {
  std::vector<double> speed;        // [m/s]
  std::vector<double> restitution;  // separation speed over impact speed
};

std::span<const ColumnWish> restitution_columns();
Result<RestitutionData> restitution_data(const Table& table);

class RestitutionModel final : public Model {
 public:
  /// Unknowns: the law's parameters and the mass, of which the law's damping is free;
  /// without a law one restitution at all speeds.
  RestitutionModel(const LawEntry* law, RestitutionData data, const Punch& punch = {});

  std::size_t points() const override { return data_.speed.size(); }
  std::span<const double> measured() const override { return data_.restitution; }
  bool residuals(std::span<const double> values, std::span<const std::size_t> by,
                 double* residuals, double* jacobian) const override;

  void improve(std::vector<double>& values) const override;

  /// e at a speed; not a number where the law has none.
  double at(std::span<const double> values, double speed) const;
  const RestitutionData& data() const { return data_; }

 private:
  const LawEntry* law_;
  RestitutionData data_;
  Punch punch_;
};

}  // namespace bristle::identify
