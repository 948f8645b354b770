#include "bristle/model/signal.hpp"

#include <algorithm>
#include <cmath>

namespace bristle {

namespace {

/// Solves the rows a x₋ + d x + c x₊ = b in place (Thomas): the solution is left in b.
void solve_tridiagonal(std::span<const double> a, std::vector<double> d,
                       std::span<const double> c, std::span<double> b) {
  const std::size_t n = b.size();
  for (std::size_t i = 1; i < n; ++i) {
    const double factor = a[i] / d[i - 1];
    d[i] -= factor * c[i - 1];
    b[i] -= factor * b[i - 1];
  }
  b[n - 1] /= d[n - 1];
  for (std::size_t i = n - 1; i-- > 0;) b[i] = (b[i] - c[i] * b[i + 1]) / d[i];
}

/// The rates of a cubic spline at its points: continuous curvature at every inner point,
/// at rest at both ends.
std::vector<double> rates_at_rest(std::span<const double> t, std::span<const double> y) {
  const std::size_t n = t.size();
  std::vector<double> rate(n, 0.0);
  if (n < 3) return rate;
  std::vector<double> a(n - 2), d(n - 2), c(n - 2), b(n - 2);
  for (std::size_t i = 1; i + 1 < n; ++i) {
    const double before = t[i] - t[i - 1], after = t[i + 1] - t[i];
    a[i - 1] = after;
    d[i - 1] = 2 * (before + after);
    c[i - 1] = before;
    b[i - 1] =
        3 * (after * (y[i] - y[i - 1]) / before + before * (y[i + 1] - y[i]) / after);
  }
  solve_tridiagonal(a, d, c, b);
  std::copy(b.begin(), b.end(), rate.begin() + 1);
  return rate;
}

/// The same of one that repeats: rows as above, the first point following the last one
/// but one. The cyclic corners are taken out by the formula of Sherman & Morrison.
std::vector<double> rates_repeating(std::span<const double> t,
                                    std::span<const double> y) {
  const std::size_t n = t.size() - 1;  // the last point is the first
  if (n < 2) return {0, 0};
  const auto span_after = [&](std::size_t i) { return t[i % n + 1] - t[i % n]; };
  const auto rise_after = [&](std::size_t i) { return y[i % n + 1] - y[i % n]; };
  std::vector<double> a(n), d(n), c(n), b(n);
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t previous = i + n - 1;
    const double before = span_after(previous), after = span_after(i);
    a[i] = after;
    d[i] = 2 * (before + after);
    c[i] = before;
    b[i] = 3 * (after * rise_after(previous) / before + before * rise_after(i) / after);
  }
  if (n == 2) {  // both neighbours are the same point
    const double off = a[0] + c[0], other = a[1] + c[1];
    const double det = d[0] * d[1] - off * other;
    const double first = (b[0] * d[1] - off * b[1]) / det;
    return {first, (d[0] * b[1] - other * b[0]) / det, first};
  }
  const double corner = a[0], end = c[n - 1], gamma = -d[0];
  d[0] -= gamma;
  d[n - 1] -= corner * end / gamma;
  std::vector<double> u(n, 0.0);
  u[0] = gamma;
  u[n - 1] = end;
  solve_tridiagonal(a, d, c, b);
  solve_tridiagonal(a, d, c, u);
  const double ratio = corner / gamma;
  const double factor = (b[0] + ratio * b[n - 1]) / (1 + u[0] + ratio * u[n - 1]);
  for (std::size_t i = 0; i < n; ++i) b[i] -= factor * u[i];
  b.push_back(b[0]);
  return b;
}

}  // namespace

SignalPiece Signal::at(double t) const noexcept {
  const double first = pieces.front().begin;
  if (t < first) return {t, pieces.front().value, 0, 0, 0};
  if (period > 0) t = first + std::fmod(t - first, period);
  const auto next = std::upper_bound(
      pieces.begin() + 1, pieces.end(), t,
      [](double time, const SignalPiece& piece) { return time < piece.begin; });
  const SignalPiece& p = *(next - 1);
  const double s = t - p.begin;
  return {t, p.value + s * (p.rate + s * (0.5 * p.curvature + s * p.jerk / 6)),
          p.rate + s * (p.curvature + 0.5 * s * p.jerk), p.curvature + s * p.jerk, 0};
}

std::vector<SignalPiece> pieces_through(std::span<const double> times,
                                        std::span<const double> values, Interpolation how,
                                        bool repeats) {
  const std::size_t n = times.size();
  std::vector<double> rate;
  if (how == Interpolation::spline) {
    rate = repeats ? rates_repeating(times, values) : rates_at_rest(times, values);
  }
  std::vector<SignalPiece> pieces;
  pieces.reserve(n);
  for (std::size_t i = 0; i + 1 < n; ++i) {
    const double h = times[i + 1] - times[i], rise = values[i + 1] - values[i];
    SignalPiece piece{times[i], values[i], 0, 0, 0};
    if (how == Interpolation::linear) piece.rate = rise / h;
    if (how == Interpolation::spline) {
      piece.rate = rate[i];
      piece.curvature = (6 * rise / h - 4 * rate[i] - 2 * rate[i + 1]) / h;
      piece.jerk = 6 * (rate[i] + rate[i + 1] - 2 * rise / h) / (h * h);
    }
    pieces.push_back(piece);
  }
  pieces.push_back({times[n - 1], values[n - 1], 0, 0, 0});
  return pieces;
}

}  // namespace bristle
