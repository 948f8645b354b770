#include "bristle/adaptive/implicit_step.hpp"

#include <algorithm>
#include <cmath>

namespace bristle {

namespace {

// RODAS, order 4 with an embedded 3, L-stable (Hairer & Wanner 1996, § IV.10, method of
// rodas.f), for an autonomous system.
constexpr std::size_t stages = 6;
constexpr double gamma = 0.25;
constexpr double a[stages][stages] = {
    {},
    {1.544000000000000},
    {0.9466785280815826, 0.2557011698983284},
    {3.314825187068521, 2.896124015972201, 0.9986419139977817},
    {1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950},
    {1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950, 1}};
constexpr double c[stages][stages] = {
    {},
    {-5.6688},
    {-2.430093356833875, -0.2063599157091915},
    {-0.1073529058151375, -9.594562251023355, -20.47028614809616},
    {7.496443313967647, -10.24680431464352, -33.99990352819905, 11.70890893206160},
    {8.083246795921522, -7.981132988064893, -31.52159432874371, 16.31930543123136,
     -6.058818238834054}};

}  // namespace

void ImplicitStep::differentiate(const MotionOde& ode, ErrorScales& scales,
                                 const Step& step) {
  unknown_.clear();
  for (std::size_t i = 0; i < ode.s_at(); ++i) unknown_.push_back(i);
  if (!ode.model().motors.empty()) unknown_.push_back(ode.t_at());
  const std::size_t n = unknown_.size(), size = ode.size();
  jacobian_.resize(size * n);
  scales.scales(step.y, scale_);
  for (std::size_t col = 0; col < n; ++col) {
    scales.differentiate(step.y, step.rate.data(), unknown_[col], scale_, slopes_);
    for (std::size_t r = 0; r < size; ++r) jacobian_[r * n + col] = slopes_[r];
  }
  known_ = true;
}

/// LU factors with row exchanges of 1/(hγ) − J.
bool ImplicitStep::factorise(double h) {
  const std::size_t n = unknown_.size();
  matrix_.resize(n * n);
  pivots_.resize(n);
  for (std::size_t r = 0; r < n; ++r) {
    for (std::size_t col = 0; col < n; ++col) {
      matrix_[r * n + col] = -jacobian_[unknown_[r] * n + col];
    }
    matrix_[r * n + r] += 1 / (h * gamma);
  }
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t best = k;
    for (std::size_t r = k + 1; r < n; ++r) {
      if (std::abs(matrix_[r * n + k]) > std::abs(matrix_[best * n + k])) best = r;
    }
    pivots_[k] = best;
    if (!(std::abs(matrix_[best * n + k]) > 0)) return false;
    if (best != k) {
      for (std::size_t col = 0; col < n; ++col) {
        std::swap(matrix_[k * n + col], matrix_[best * n + col]);
      }
    }
    for (std::size_t r = k + 1; r < n; ++r) {
      const double factor = matrix_[r * n + k] / matrix_[k * n + k];
      matrix_[r * n + k] = factor;
      if (factor == 0) continue;
      for (std::size_t col = k + 1; col < n; ++col) {
        matrix_[r * n + col] -= factor * matrix_[k * n + col];
      }
    }
  }
  return true;
}

void ImplicitStep::solve(Vector& x) const {
  const std::size_t n = unknown_.size();
  for (std::size_t k = 0; k < n; ++k) std::swap(x[k], x[pivots_[k]]);
  for (std::size_t r = 1; r < n; ++r) {
    for (std::size_t col = 0; col < r; ++col) x[r] -= matrix_[r * n + col] * x[col];
  }
  for (std::size_t r = n; r-- > 0;) {
    for (std::size_t col = r + 1; col < n; ++col) x[r] -= matrix_[r * n + col] * x[col];
    x[r] /= matrix_[r * n + r];
  }
}

double ImplicitStep::attempt(MotionOde& ode, ErrorScales& scales, double rtol,
                             Step& step) {
  const std::size_t size = ode.size();
  u_.resize(stages);
  for (Vector& x : u_) x.resize(size);
  for (Vector* x : {&at_stage_, &rate_, &error_}) x->resize(step.y.size());
  step.end.resize(step.y.size());
  step.end_rate.resize(step.y.size());
  if (!known_) differentiate(ode, scales, step);
  if (!factorise(step.h)) return HUGE_VAL;
  const std::size_t n = unknown_.size();
  x_.resize(n);
  for (std::size_t s = 0; s < stages; ++s) {
    for (std::size_t i = 0; i < size; ++i) {
      double sum = 0;
      for (std::size_t j = 0; j < s; ++j) sum += a[s][j] * u_[j][i];
      at_stage_[i] = step.y[i] + sum;
    }
    s == 0 ? static_cast<void>(rate_ = step.rate) : ode.rates(at_stage_, rate_.data());
    for (std::size_t i = 0; i < size; ++i) {
      double sum = 0;
      for (std::size_t j = 0; j < s; ++j) sum += c[s][j] * u_[j][i];
      rate_[i] += sum / step.h;
    }
    for (std::size_t k = 0; k < n; ++k) x_[k] = rate_[unknown_[k]];
    solve(x_);
    // What is not solved for follows, and nothing follows from it.
    for (std::size_t i = 0; i < size; ++i) {
      double sum = rate_[i];
      for (std::size_t k = 0; k < n; ++k) sum += jacobian_[i * n + k] * x_[k];
      u_[s][i] = step.h * gamma * sum;
    }
    for (std::size_t k = 0; k < n; ++k) u_[s][unknown_[k]] = x_[k];
  }
  for (std::size_t i = 0; i < size; ++i) {
    step.end[i] = at_stage_[i] + u_[stages - 1][i];
    error_[i] = u_[stages - 1][i];
  }
  scales.allowances(rtol, step.y, allowed_);
  return worst_ratio(error_, allowed_);
}

void ImplicitStep::complete(MotionOde& ode, Step& step) {
  ode.rates(step.end, step.end_rate.data(), true);
}

double ImplicitStep::interpolate(const Step& step, double place, std::size_t i) const {
  const double x = place, z = 1 - place;
  const double d = step.end[i] - step.y[i];
  const double e = step.h * step.rate[i] - d;
  const double f = d - step.h * step.end_rate[i] - e;
  return step.y[i] + x * (d + z * (e + x * f));
}

void ImplicitStep::polynomial(const Step& step, std::size_t i,
                              std::array<double, 8>& powers) const {
  const double d = step.end[i] - step.y[i];
  const double e = step.h * step.rate[i] - d;
  const double f = d - step.h * step.end_rate[i] - e;
  powers = {step.y[i], d + e, f - e, -f};
}

void ImplicitStep::interpolate(const Step& step, double place, Vector& y) const {
  y.resize(step.y.size());
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = interpolate(step, place, i);
}

}  // namespace bristle
