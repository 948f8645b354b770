#include "identify/search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>
#include <utility>

namespace bristle::identify {

namespace {

constexpr int drawn_per_start = 12;

/// Bounds of a coordinate: a little inside an end that is not itself allowed.
double bound(const Unknown& u, double end) {
  if (u.measure == Measure::relative && end <= 0) return -600;
  if (u.measure == Measure::tangent) end = std::clamp(end, 1e-9, 89.9);
  return u.coordinate(end);
}

/// Whether a range says more about where a value may lie than the value does.
bool is_narrow(const Unknown& u) {
  if (u.measure == Measure::offset) return true;
  return u.measure == Measure::share && (u.range.low > 0 || u.range.high <= 1);
}

double drawn(const Unknown& u, double about, Random& random) {
  if (is_narrow(u)) return random.uniform(u.range.low, u.range.high);
  const double factor = std::pow(10.0, random.uniform(-1, 1));
  const double from = u.measure == Measure::share && about == 0 ? u.size : about;
  const double value = from * factor;
  if (u.measure == Measure::tangent) return std::min(value, 0.9 * u.range.high);
  return std::clamp(value, u.range.low, u.range.high);
}

}  // namespace

Search::Search(const Model& model, std::vector<std::size_t> free,
               std::vector<double> values)
    : model_(model), free_(std::move(free)), values_(std::move(values)) {}

double Search::low(std::size_t k) const {
  const Unknown& u = model_.unknowns()[free_[k]];
  return bound(u, u.range.low);
}

double Search::high(std::size_t k) const {
  const Unknown& u = model_.unknowns()[free_[k]];
  return bound(u, u.range.high);
}

std::vector<double> Search::values_at(std::span<const double> coordinates) const {
  std::vector<double> values = values_;
  for (std::size_t k = 0; k < free_.size(); ++k) {
    values[free_[k]] = model_.unknowns()[free_[k]].value_at(coordinates[k]);
  }
  return values;
}

std::vector<double> Search::coordinates_of(std::span<const double> values) const {
  std::vector<double> x;
  for (std::size_t k = 0; k < free_.size(); ++k) {
    const Unknown& u = model_.unknowns()[free_[k]];
    x.push_back(std::clamp(u.coordinate(values[free_[k]]), low(k), high(k)));
  }
  return x;
}

bool Search::linearise(std::span<const double> values, std::vector<double>& residuals,
                       Matrix& jacobian) const {
  residuals.assign(model_.points(), 0);
  jacobian = Matrix(model_.points(), free_.size());
  if (!model_.residuals(values, free_, residuals.data(), jacobian.values.data())) {
    return false;
  }
  for (std::size_t k = 0; k < free_.size(); ++k) {
    const double slope = model_.unknowns()[free_[k]].slope(values[free_[k]]);
    for (std::size_t i = 0; i < jacobian.rows; ++i) jacobian(i, k) *= slope;
  }
  return true;
}

/// A residual r becomes √ρ(r), so that squares add up to Huber's loss: r within the limit
/// c, else √(2 c |r| − c²).
void Search::apply_loss(double* residuals, double* jacobian) const {
  const std::size_t columns = free_.size();
  for (std::size_t i = 0; i < model_.points(); ++i) {
    double factor = weights_.empty() ? 1 : std::sqrt(weights_[i]);
    double slope = factor;
    const double size = std::fabs(residuals[i]);
    if (huber_ > 0 && size > huber_) {
      const double root = std::sqrt(huber_ * (2 * size - huber_));
      factor *= root / size;
      slope *= huber_ / root;
    }
    residuals[i] *= factor;
    if (jacobian == nullptr) continue;
    for (std::size_t k = 0; k < columns; ++k) jacobian[i * columns + k] *= slope;
  }
}

bool Search::evaluate(const double* x, double* residuals, double* jacobian) const {
  const std::vector<double> values = values_at({x, free_.size()});
  if (!model_.residuals(values, free_, residuals, jacobian)) return false;
  const std::size_t n = model_.points(), columns = free_.size();
  constexpr double largest = std::numeric_limits<double>::max();
  unsigned finite = 1;
  for (std::size_t i = 0; i < n; ++i) finite &= std::fabs(residuals[i]) <= largest;
  if (jacobian != nullptr) {
    std::vector<double> slopes;
    for (const std::size_t k : free_) {
      slopes.push_back(model_.unknowns()[k].slope(values[k]));
    }
    double* row = jacobian;
    for (std::size_t i = 0; i < n; ++i, row += columns) {
      for (std::size_t k = 0; k < columns; ++k) {
        row[k] *= slopes[k];
        finite &= std::fabs(row[k]) <= largest;
      }
    }
  }
  if (finite == 0) return false;
  if (huber_ > 0 || !weights_.empty()) apply_loss(residuals, jacobian);
  return true;
}

double Search::squares(std::span<const double> values) const {
  const std::vector<double> x = coordinates_of(values);
  std::vector<double> r(model_.points());
  if (!evaluate(x.data(), r.data(), nullptr)) return HUGE_VAL;
  return std::inner_product(r.begin(), r.end(), r.begin(), 0.0);
}

Minimum Search::from(std::span<const double> values, int iterations,
                     Precision precision) const {
  LeastSquares problem{.residuals = model_.points()};
  for (std::size_t k = 0; k < free_.size(); ++k) {
    problem.low.push_back(low(k));
    problem.high.push_back(high(k));
  }
  problem.evaluate = [this](const double* x, double* r, double* jacobian) {
    return evaluate(x, r, jacobian);
  };
  const std::vector<double> x = coordinates_of(values);
  if (!std::isfinite(squares(values))) {
    return {.x = x, .squares = HUGE_VAL, .failed = true, .reason = "no prediction there"};
  }
  return minimise(problem, x, iterations, precision);
}

namespace {

/// Tells how much is done of drawn points and of searches, which take about twenty
/// evaluations each.
class Progress {
 public:
  explicit Progress(const FitOptions& options)
      : tell_(options.progress),
        all_(options.starts + (options.starts - 1) * drawn_per_start / 20.0) {}

  void add(double searches) {
    if (!tell_) return;
    const std::lock_guard<std::mutex> held(lock_);
    done_ += searches;
    tell_(std::min(done_ / all_, 1.0));
  }

 private:
  const std::function<void(double)>& tell_;
  double all_, done_ = 0;
  std::mutex lock_;
};

/// The values that starts begin with: as they stand, improved where nobody gave them, and
/// drawn.
std::vector<std::vector<double>> starts_of(const Model& model, const Search& search,
                                           const FitOptions& options,
                                           Progress& progress) {
  std::vector<double> first = model.values();
  model.improve(first);
  std::vector<std::vector<double>> starts{first};
  if (options.starts <= 1) return starts;
  const auto count = static_cast<std::size_t>(options.starts - 1) * drawn_per_start;
  std::vector<std::vector<double>> all(count, first);
  Random random(options.seed, 0);
  for (std::vector<double>& values : all) {
    for (const std::size_t k : search.free()) {
      values[k] = drawn(model.unknowns()[k], first[k], random);
    }
  }
  const std::unique_ptr<Model> few = model.thinned();
  const Model& judge = few ? *few : model;
  const Search judged(judge, {search.free().begin(), search.free().end()}, first);
  std::vector<double> cost(count);
  for_each_task(count, options.threads, [&](std::size_t i) {
    if (i % 2 == 0) judge.improve(all[i]);
    cost[i] = judged.squares(all[i]);
    progress.add(0.05);
  });
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) {
    return std::pair(cost[i], i) < std::pair(cost[j], j);
  });
  for (std::size_t i = 0; i + 1 < static_cast<std::size_t>(options.starts); ++i) {
    starts.push_back(all[order[i]]);
  }
  return starts;
}

}  // namespace

Ends search_from_starts(const Model& model, const Search& search,
                        const FitOptions& options) {
  Progress progress(options);
  const auto starts = starts_of(model, search, options, progress);
  Ends ends;
  ends.minima.resize(starts.size());
  for_each_task(starts.size(), options.threads, [&](std::size_t i) {
    ends.minima[i] = search.from(starts[i], options.iterations, Precision::coarse);
    progress.add(1);
  });
  const auto better = [](const Minimum& a, const Minimum& b) {
    if (a.failed != b.failed) return b.failed;
    return a.squares < b.squares;
  };
  for (std::size_t i = 1; i < ends.minima.size(); ++i) {
    if (better(ends.minima[i], ends.minima[ends.best])) ends.best = i;
  }
  Minimum& best = ends.minima[ends.best];
  if (!best.failed) {
    const int left = std::max(options.iterations - best.iterations, 1);
    Minimum fine = search.from(search.values_at(best.x), left, Precision::fine);
    fine.iterations += best.iterations;
    if (!fine.failed && fine.squares <= best.squares) best = std::move(fine);
  }
  double scale = 0;
  for (const double y : model.measured()) scale += y * y;
  const double least = ends.minima[ends.best].squares;
  for (const Minimum& m : ends.minima) {
    if (m.failed || !m.converged) continue;
    ++ends.converged;
    if (m.squares <= least * (1 + 1e-6) + 1e-12 * scale) ++ends.at_best;
  }
  return ends;
}

}  // namespace bristle::identify
