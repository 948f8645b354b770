#include <ceres/ceres.h>
#include <glog/logging.h>

#include <algorithm>
#include <cmath>
#include <mutex>

#include "identify/least_squares.hpp"

namespace bristle::identify {

namespace {

/// All residuals of a problem as one block.
class Residuals final : public ceres::CostFunction {
 public:
  explicit Residuals(const LeastSquares& problem) : problem_(problem) {
    set_num_residuals(static_cast<int>(problem.residuals));
    mutable_parameter_block_sizes()->push_back(static_cast<int>(problem.low.size()));
  }
  bool Evaluate(double const* const* x, double* residuals,
                double** jacobians) const override {
    return problem_.evaluate(x[0], residuals,
                             jacobians == nullptr ? nullptr : jacobians[0]);
  }

 private:
  const LeastSquares& problem_;
};

/// Ceres writes warnings of trials that fail to standard error; a fit says itself how it
/// ended.
void silence() {
  static std::once_flag once;
  std::call_once(once, [] {
    FLAGS_logtostderr = true;
    FLAGS_minloglevel = google::GLOG_FATAL;
  });
}

}  // namespace

bool can_minimise() { return true; }

Minimum minimise(const LeastSquares& problem, std::vector<double> start,
                 int most_iterations, Precision precision) {
  silence();
  Minimum minimum{.x = std::move(start)};
  const auto at = [&](std::size_t i) { return static_cast<int>(i); };
  for (std::size_t i = 0; i < minimum.x.size(); ++i) {
    minimum.x[i] = std::clamp(minimum.x[i], problem.low[i], problem.high[i]);
  }
  ceres::Problem ceres_problem;
  ceres_problem.AddResidualBlock(new Residuals(problem), nullptr, minimum.x.data());
  for (std::size_t i = 0; i < minimum.x.size(); ++i) {
    if (std::isfinite(problem.low[i])) {
      ceres_problem.SetParameterLowerBound(minimum.x.data(), at(i), problem.low[i]);
    }
    if (std::isfinite(problem.high[i])) {
      ceres_problem.SetParameterUpperBound(minimum.x.data(), at(i), problem.high[i]);
    }
  }
  ceres::Solver::Options options;
  options.linear_solver_type = ceres::DENSE_QR;
  options.logging_type = ceres::SILENT;
  options.num_threads = 1;
  options.max_num_iterations = most_iterations;
  options.max_num_consecutive_invalid_steps = 20;
  const bool fine = precision == Precision::fine;
  options.function_tolerance = fine ? 1e-14 : 1e-8;
  options.parameter_tolerance = fine ? 1e-12 : 1e-7;
  options.gradient_tolerance = 1e-30;  // of unknown units: the others decide
  ceres::Solver::Summary summary;
  ceres::Solve(options, &ceres_problem, &summary);
  minimum.squares = 2 * summary.final_cost;
  minimum.converged = summary.termination_type == ceres::CONVERGENCE;
  minimum.failed = summary.termination_type == ceres::FAILURE && summary.initial_cost < 0;
  minimum.iterations = static_cast<int>(summary.iterations.size()) - 1;
  minimum.reason = summary.message;
  return minimum;
}

}  // namespace bristle::identify
