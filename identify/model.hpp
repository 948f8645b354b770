#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bristle/core/parameter.hpp"

// What a fit asks of a model of measurements: its unknowns, and how far its prediction is
// from each measurement.

namespace bristle::identify {

/// How an unknown is searched for, and what a change of it is compared with.
enum class Measure {
  relative,  // by its logarithm: positive
  tangent,   // an angle in degrees, by the logarithm of its tangent
  share,     // as it is, in parts of its size
  offset,    // as it is: its zero is arbitrary
};

struct Unknown {
  std::string name;
  std::string unit;
  Range range;
  double value = 0;  // fixed at, or where the search begins
  bool free = false;
  bool given = false;  // by whoever asks for the fit: the search begins there
  Measure measure = Measure::relative;
  double size = 1;  // of share and offset: a change that matters
  std::string meaning{};

  /// The coordinate in which it is searched for, and back.
  double coordinate(double v) const;
  double value_at(double coordinate) const;
  double slope(double v) const;  // d value / d coordinate
  /// What a change of the coordinate by one is, relative to its value; of an offset to
  /// its size.
  double relative(double v) const;
  /// As it stands in a product of powers: "tan(tilt_deg)" of an angle.
  std::string factor() const;
};

/// An unknown of a law or another with this description, by the measure that suits it.
Unknown unknown_of(const Parameter& parameter);

class Model {
 public:
  virtual ~Model() = default;

  std::vector<Unknown>& unknowns() { return unknowns_; }
  const std::vector<Unknown>& unknowns() const { return unknowns_; }
  /// The place of an unknown; −1 where there is none of that name.
  int find(std::string_view name) const;
  std::vector<std::size_t> free() const;
  std::vector<double> values() const;  // as they stand

  virtual std::size_t points() const = 0;
  /// Predicted less measured at these values of all unknowns, and unless `jacobian` is
  /// null its derivatives by those listed in `by`, row by row. False where the model has
  /// no answer. Several threads may ask at once.
  virtual bool residuals(std::span<const double> values, std::span<const std::size_t> by,
                         double* residuals, double* jacobian) const = 0;
  /// The measured values, of which the residuals are parts.
  virtual std::span<const double> measured() const = 0;
  /// Whether neighbours among the points were measured one after the other.
  virtual bool is_series() const { return false; }
  /// Better values of the free unknowns that nobody gave, for the search to begin with.
  virtual void improve(std::vector<double>& values) const { (void)values; }
  /// The same over fewer points, enough to tell good starts from bad ones; nothing where
  /// there are few.
  virtual std::unique_ptr<Model> thinned() const { return nullptr; }

 protected:
  std::vector<Unknown> unknowns_;
};

}  // namespace bristle::identify
