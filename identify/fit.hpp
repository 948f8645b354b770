#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "bristle/core/result.hpp"
#include "identify/model.hpp"
#include "identify/statistics.hpp"

// The values of a model's free unknowns that fit its measurements best, and how sure they
// are.

namespace bristle::identify {

struct FitOptions {
  int starts = 16;
  std::uint64_t seed = 1;
  int iterations = 200;  // of each start
  int threads = 1;       // the results do not depend on it
  double sigma = 0;      // the noise's standard deviation; 0: from the residuals
  bool huber = false;    // residuals beyond 1.345 deviations count by their size alone
  int bootstrap = 0;     // resamplings
  /// How much of the work is done, 0 to 1; from one thread at a time.
  std::function<void(double)> progress{};
};

inline constexpr double not_known = std::numeric_limits<double>::quiet_NaN();

/// One free unknown. What is not known is not a number: the interval of an unknown that
/// the data do not determine.
struct Estimate {
  std::size_t unknown = 0;  // its place in the model
  double value = 0;
  double sd = not_known;   // one standard deviation
  double low = not_known;  // of the 95 % interval
  double high = not_known;
  double bootstrap_sd = not_known;
  bool identified = true;
  bool at_bound = false;
};

struct Fit {
  std::vector<double> values;  // of all unknowns
  std::vector<Estimate> estimates;
  Matrix correlations;  // of the estimates; not numbers where there is no interval
  std::size_t points = 0;
  double rms = 0;
  double noise = 0;  // the deviation that the intervals go by
  double aicc = 0, bic = 0;
  int starts = 0, starts_at_best = 0;
  bool converged = false;
  std::string reason;  // how the search ended
  /// What the data determine in place of unknowns that they do not: products of powers.
  std::vector<std::string> determined;
  std::vector<std::string> warnings;
  std::vector<double> residuals;  // predicted less measured
  std::vector<double> band;       // half the width of the prediction's 95 % interval
};

/// The best fit; an error where there is nothing to fit.
Result<Fit> fit(const Model& model, const FitOptions& options);

/// The best fit with one unknown held at some values: Σ r² of each over the noise's
/// variance, less the least. 1 is one standard deviation off.
struct Profile {
  std::vector<double> values;
  std::vector<double> increase;
};
Profile profile(const Model& model, const Fit& best, std::size_t estimate,
                const FitOptions& options);

/// The root mean square of what a fit to the other parts of the data predicts of each
/// part, of `folds`.
double held_out_rms(const Model& model, const Fit& best, const FitOptions& options,
                    int folds = 5);

/// Too few points, an unknown that lies outside its range: what is wrong, or nothing.
std::string why_not(const Model& model);

}  // namespace bristle::identify
