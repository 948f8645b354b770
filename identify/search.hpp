#pragma once

#include <span>
#include <vector>

#include "identify/fit.hpp"
#include "identify/least_squares.hpp"

// The search behind a fit: from starts to minima, in the coordinates of the free
// unknowns.

namespace bristle::identify {

/// A model with some unknowns free and weights on its points.
class Search {
 public:
  /// `values` hold for the unknowns that are not free.
  Search(const Model& model, std::vector<std::size_t> free, std::vector<double> values);

  void set_weights(std::vector<double> weights) { weights_ = std::move(weights); }
  /// The size of residual from which on Huber's loss grows linearly; 0: never.
  void set_huber(double limit) { huber_ = limit; }

  Minimum from(std::span<const double> values, int iterations,
               Precision precision = Precision::fine) const;
  /// Σ r² as it is searched for; infinite where the model has no answer.
  double squares(std::span<const double> values) const;
  /// All values with the free ones from coordinates.
  std::vector<double> values_at(std::span<const double> coordinates) const;
  std::vector<double> coordinates_of(std::span<const double> values) const;
  /// Residuals and their derivatives by the coordinates, without weights and loss.
  bool linearise(std::span<const double> values, std::vector<double>& residuals,
                 Matrix& jacobian) const;
  double low(std::size_t k) const;
  double high(std::size_t k) const;
  std::span<const std::size_t> free() const { return free_; }

 private:
  bool evaluate(const double* x, double* residuals, double* jacobian) const;
  void apply_loss(double* residuals, double* jacobian) const;

  const Model& model_;
  std::vector<std::size_t> free_;
  std::vector<double> values_;
  std::vector<double> weights_;
  double huber_ = 0;
};

/// Where all starts end; the best one is searched for to its end.
struct Ends {
  std::vector<Minimum> minima;
  std::size_t best = 0;
  int at_best = 0;
  int converged = 0;
};

/// Starts from the values as they stand, and from the best of many drawn about them: up
/// to tenfold for what is searched for by its logarithm, else over its range.
Ends search_from_starts(const Model& model, const Search& search,
                        const FitOptions& options);

}  // namespace bristle::identify
