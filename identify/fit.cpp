#include "identify/fit.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "identify/identifiability.hpp"
#include "identify/least_squares.hpp"
#include "identify/search.hpp"

namespace bristle::identify {

namespace {

constexpr double confidence = 0.95;
constexpr double huber_deviations = 1.345;  // 95 % efficient where the noise is normal

std::string text_of(const char* format, double x) {
  char text[48];
  std::snprintf(text, sizeof text, format, x);
  return text;
}

double squares_of(const std::vector<double>& r) {
  return std::inner_product(r.begin(), r.end(), r.begin(), 0.0);
}

/// The deviation of most residuals, whatever a few outliers do.
double robust_deviation(const std::vector<double>& residuals) {
  std::vector<double> sizes;
  for (const double r : residuals) sizes.push_back(std::fabs(r));
  return median(std::move(sizes)) / 0.6745;
}

/// (Σ w J Jᵀ)⁻¹ by singular values. Directions without any effect are left out.
Matrix inverse_of_products(Matrix j, const std::vector<double>& weights) {
  for (std::size_t i = 0; i < j.rows && !weights.empty(); ++i) {
    for (std::size_t a = 0; a < j.columns; ++a) j(i, a) *= std::sqrt(weights[i]);
  }
  const std::size_t n = j.columns;
  const Singular s = singular_values(std::move(j));
  Matrix inverse(n, n);
  for (std::size_t d = 0; d < n; ++d) {
    if (!(s.values[d] > 1e-10 * s.values[0])) continue;
    const double per = 1 / (s.values[d] * s.values[d]);
    for (std::size_t a = 0; a < n; ++a) {
      for (std::size_t b = 0; b < n; ++b) {
        inverse(a, b) += per * s.directions(a, d) * s.directions(b, d);
      }
    }
  }
  return inverse;
}

/// Σ w J Jᵀ over the points.
Matrix sum_of_products(const Matrix& j, const std::vector<double>& weights) {
  Matrix sum(j.columns, j.columns);
  for (std::size_t i = 0; i < j.rows; ++i) {
    const double w = weights.empty() ? 1 : weights[i];
    if (w == 0) continue;
    for (std::size_t a = 0; a < j.columns; ++a) {
      for (std::size_t b = 0; b <= a; ++b) sum(a, b) += w * j(i, a) * j(i, b);
    }
  }
  for (std::size_t a = 0; a < j.columns; ++a) {
    for (std::size_t b = 0; b < a; ++b) sum(b, a) = sum(a, b);
  }
  return sum;
}

/// A fit while it is made.
class Maker {
 public:
  Maker(const Model& model, const FitOptions& options)
      : model_(model),
        options_(options),
        free_(model.free()),
        search_(model, free_, model.values()) {}

  Result<Fit> make() {
    const Ends ends = find();
    if (ends.minima[ends.best].failed) {
      return Error{"the model has no prediction at any of the starts: " +
                   ends.minima[ends.best].reason};
    }
    const Minimum& best = ends.minima[ends.best];
    fit_.values = search_.values_at(best.x);
    fit_.starts = static_cast<int>(ends.minima.size());
    fit_.starts_at_best = ends.at_best;
    fit_.converged = best.converged;
    fit_.reason = best.reason;
    if (!search_.linearise(fit_.values, fit_.residuals, jacobian_)) {
      return Error{"the model has no prediction where its fit is best"};
    }
    score(best.squares);
    find_bounds(best.x);
    judge();
    estimate_covariance();
    bootstrap(best.x);
    warn_about_search(ends);
    warn_about_residuals();
    return std::move(fit_);
  }

 private:
  /// With Huber's loss, again with the limit that the residuals of the fit before ask
  /// for.
  Ends find() {
    Ends ends = search_from_starts(model_, search_, options_);
    if (!options_.huber) return ends;
    for (int round = 0; round < 3; ++round) {
      std::vector<double> residuals;
      Matrix unused;
      const std::vector<double> values = search_.values_at(ends.minima[ends.best].x);
      if (!search_.linearise(values, residuals, unused)) return ends;
      const double deviation =
          options_.sigma > 0 ? options_.sigma : robust_deviation(residuals);
      huber_limit_ = huber_deviations * deviation;
      search_.set_huber(huber_limit_);
      Minimum again = search_.from(values, options_.iterations);
      if (!again.failed) ends.minima[ends.best] = std::move(again);
      if (options_.sigma > 0) break;
    }
    return ends;
  }

  void score(double squares) {
    const auto n = static_cast<double>(model_.points());
    const auto p = static_cast<double>(free_.size());
    fit_.points = model_.points();
    const double all = squares_of(fit_.residuals);
    fit_.rms = std::sqrt(all / n);
    degrees_ = options_.sigma > 0 ? HUGE_VAL : n - p;
    fit_.noise = options_.sigma > 0 ? options_.sigma : std::sqrt(all / (n - p));
    t_ = student_t(confidence, degrees_);
    double scale = 0;
    for (const double y : model_.measured()) scale += y * y;
    const double least = std::max(squares, 1e-30 * scale + 1e-300);
    const double misfit = options_.sigma > 0 ? squares / (options_.sigma * options_.sigma)
                                             : n * std::log(least / n);
    const double k = options_.sigma > 0 ? p : p + 1;  // the noise is estimated too
    fit_.aicc = misfit + 2 * k + 2 * k * (k + 1) / std::max(n - k - 1, 1e-3);
    fit_.bic = misfit + k * std::log(n);
  }

  void find_bounds(const std::vector<double>& x) {
    for (std::size_t k = 0; k < free_.size(); ++k) {
      Estimate e{.unknown = free_[k], .value = fit_.values[free_[k]]};
      const double low = search_.low(k), high = search_.high(k);
      const double near = 1e-7 * std::max(1.0, std::fabs(x[k]));
      e.at_bound = x[k] <= low + near || x[k] >= high - near;
      fit_.estimates.push_back(e);
    }
  }

  const Unknown& unknown(std::size_t k) const { return model_.unknowns()[free_[k]]; }

  /// What the data determine, and what to say where they do not.
  void judge() {
    const Identifiability known =
        identifiability(model_, free_, fit_.values, jacobian_, t_ * fit_.noise);
    effect_ = known.effect;
    std::string open;
    for (std::size_t k = 0; k < free_.size(); ++k) {
      Estimate& e = fit_.estimates[k];
      e.identified = known.determined[k] && !e.at_bound;
      const std::string& name = unknown(k).name;
      if (!known.effect[k]) {
        fit_.warnings.push_back(name + " has no effect on these data");
      } else if (e.at_bound) {
        fit_.warnings.push_back(name + " = " + text_of("%.6g", e.value) +
                                " lies at the bound of its range: its interval is not "
                                "known");
      } else if (!known.determined[k]) {
        open += (open.empty() ? "" : ", ") + name;
      }
    }
    fit_.determined = known.products;
    if (open.empty()) return;
    std::string products;
    for (const std::string& p : known.products) {
      products += (products.empty() ? "; they determine only " : ", ") + p;
    }
    fit_.warnings.push_back("the data do not determine " + open + products);
  }

  /// Of all unknowns that have an effect and are not at a bound, those that are not
  /// determined included: what they leave open widens the intervals of the others.
  void estimate_covariance() {
    for (std::size_t k = 0; k < free_.size(); ++k) {
      if (effect_[k] && !fit_.estimates[k].at_bound) sure_.push_back(k);
    }
    const std::size_t n = free_.size();
    fit_.correlations = Matrix(n, n);
    std::fill(fit_.correlations.values.begin(), fit_.correlations.values.end(),
              not_known);
    fit_.band.assign(model_.points(), not_known);
    if (sure_.empty()) return;
    Matrix j(jacobian_.rows, sure_.size());
    std::vector<double> norms(sure_.size());
    for (std::size_t a = 0; a < sure_.size(); ++a) {
      double sum = 0;
      for (std::size_t i = 0; i < j.rows; ++i) {
        j(i, a) = jacobian_(i, sure_[a]);
        sum += j(i, a) * j(i, a);
      }
      norms[a] = std::sqrt(sum);
      for (std::size_t i = 0; i < j.rows; ++i) j(i, a) /= norms[a];
    }
    const Matrix covariance = scaled_covariance(j);
    for (std::size_t a = 0; a < sure_.size(); ++a) {
      if (fit_.estimates[sure_[a]].identified) {
        set_interval(sure_[a], std::sqrt(covariance(a, a)) / norms[a]);
      }
      for (std::size_t b = 0; b < sure_.size(); ++b) {
        fit_.correlations(sure_[a], sure_[b]) =
            a == b ? 1
                   : covariance(a, b) / std::sqrt(covariance(a, a) * covariance(b, b));
      }
    }
    for (std::size_t i = 0; i < j.rows; ++i) {
      double variance = 0;
      for (std::size_t a = 0; a < sure_.size(); ++a) {
        for (std::size_t b = 0; b < sure_.size(); ++b) {
          variance += j(i, a) * covariance(a, b) * j(i, b);
        }
      }
      fit_.band[i] = t_ * std::sqrt(std::max(variance, 0.0));
    }
  }

  /// s² (JᵀJ)⁻¹; under Huber's loss (Σψ′JJᵀ)⁻¹ Σψ²JJᵀ (Σψ′JJᵀ)⁻¹ (Huber 1964).
  Matrix scaled_covariance(const Matrix& j) const {
    const double s2 = fit_.noise * fit_.noise;
    if (huber_limit_ == 0) {
      Matrix inverse = inverse_of_products(j, {});
      for (double& x : inverse.values) x *= s2;
      return inverse;
    }
    std::vector<double> slopes, squares;
    for (const double r : fit_.residuals) {
      const double size = std::min(std::fabs(r), huber_limit_);
      slopes.push_back(std::fabs(r) <= huber_limit_ ? 1 : 0);
      squares.push_back(size * size);
    }
    const Matrix bread = inverse_of_products(j, slopes);
    const Matrix filling = sum_of_products(j, squares);
    const std::size_t n = bread.rows;
    const auto points = static_cast<double>(model_.points());
    const double correction = points / (points - static_cast<double>(free_.size()));
    Matrix half(n, n), whole(n, n);
    for (std::size_t a = 0; a < n; ++a) {
      for (std::size_t b = 0; b < n; ++b) {
        for (std::size_t c = 0; c < n; ++c) half(a, b) += bread(a, c) * filling(c, b);
      }
    }
    for (std::size_t a = 0; a < n; ++a) {
      for (std::size_t b = 0; b < n; ++b) {
        for (std::size_t c = 0; c < n; ++c) {
          whole(a, b) += correction * half(a, c) * bread(c, b);
        }
      }
    }
    return whole;
  }

  /// From the deviation of the coordinate; the interval is one in the coordinate.
  void set_interval(std::size_t k, double deviation) {
    Estimate& e = fit_.estimates[k];
    const Unknown& u = unknown(k);
    const double x = u.coordinate(e.value);
    e.sd = std::fabs(u.slope(e.value)) * deviation;
    const auto inside = [&](double y) {
      return std::clamp(u.value_at(y), u.range.low, u.range.high);
    };
    e.low = inside(x - t_ * deviation);
    e.high = inside(x + t_ * deviation);
  }

  /// Points drawn again: single ones, or blocks of neighbours where they are a series.
  /// A block is longer than residuals remember each other.
  std::vector<double> drawn_weights(Random& random) const {
    const std::size_t n = model_.points();
    std::vector<double> weights(n, 0.0);
    const std::size_t block =
        model_.is_series()
            ? static_cast<std::size_t>(std::ceil(1.5 * std::cbrt(double(n))))
            : 1;
    for (std::size_t done = 0; done < n;) {
      const std::size_t at = random.below(n);
      for (std::size_t i = 0; i < block && done < n; ++i, ++done)
        weights[(at + i) % n] += 1;
    }
    return weights;
  }

  void bootstrap(const std::vector<double>& best) {
    if (options_.bootstrap < 2 || sure_.empty()) return;
    const auto count = static_cast<std::size_t>(options_.bootstrap);
    const std::vector<double> values = search_.values_at(best);
    std::vector<std::vector<double>> found(count);
    for_each_task(count, options_.threads, [&](std::size_t i) {
      Random random(options_.seed, (std::uint64_t{1} << 32) + i);
      Search again(model_, free_, values);
      again.set_huber(huber_limit_);
      again.set_weights(drawn_weights(random));
      const Minimum m = again.from(values, options_.iterations);
      if (!m.failed) found[i] = again.values_at(m.x);
    });
    for (const std::size_t k : sure_) {
      if (!fit_.estimates[k].identified) continue;
      double count_of = 0, mean = 0, squares = 0;
      for (const auto& v : found) {
        if (v.empty()) continue;
        const double off = v[free_[k]] - mean;
        mean += off / ++count_of;
        squares += off * (v[free_[k]] - mean);
      }
      Estimate& e = fit_.estimates[k];
      if (count_of < 2) continue;
      e.bootstrap_sd = std::sqrt(squares / (count_of - 1));
      if (std::fabs(e.bootstrap_sd - e.sd) > 0.5 * e.sd) {
        fit_.warnings.push_back(
            unknown(k).name + ": by resampling its standard error is " +
            text_of("%.3g", e.bootstrap_sd) + ", not " + text_of("%.3g", e.sd) +
            ": the noise is not what the interval takes it for");
      }
    }
  }

  void warn_about_search(const Ends& ends) {
    if (!fit_.converged) {
      fit_.warnings.push_back("the search did not converge: " + fit_.reason);
    }
    const int elsewhere = ends.converged - ends.at_best;
    if (elsewhere <= 0) return;
    double next = HUGE_VAL;
    const double least = ends.minima[ends.best].squares;
    for (const Minimum& m : ends.minima) {
      if (m.converged && !m.failed && m.squares > least * (1 + 1e-6)) {
        next = std::min(next, m.squares);
      }
    }
    fit_.warnings.push_back(
        std::to_string(elsewhere) + " of " + std::to_string(fit_.starts) +
        " starts end in other minima, the best of them with an rms of " +
        text_of("%.4g", std::sqrt(next / static_cast<double>(model_.points()))) +
        " instead of " + text_of("%.4g", fit_.rms));
  }

  /// Neighbouring residuals that follow each other say less than as many independent
  /// ones.
  void warn_about_residuals() {
    const std::vector<double>& r = fit_.residuals;
    const std::size_t n = r.size();
    double scale = 0;
    for (const double y : model_.measured()) scale += y * y;
    const double all = squares_of(r);
    if (n < 10 || all <= 1e-16 * scale) return;
    double product = 0;
    for (std::size_t i = 1; i < n; ++i) product += r[i] * r[i - 1];
    const double correlation = product / all;
    const double significance = correlation * std::sqrt(static_cast<double>(n));
    if (correlation < 0.2 || significance < 3) return;
    fit_.warnings.push_back(
        "neighbouring residuals are correlated (" + text_of("%.2f", correlation) +
        "): the model misses something, or the noise is not white, and the intervals are "
        "too narrow");
  }

  const Model& model_;
  const FitOptions& options_;
  std::vector<std::size_t> free_;
  Search search_;
  Fit fit_;
  Matrix jacobian_;
  double degrees_ = 0, t_ = 0, huber_limit_ = 0;
  std::vector<bool> effect_;
  std::vector<std::size_t> sure_;  // that the covariance is of
};

}  // namespace

std::string why_not(const Model& model) {
  const std::size_t free = model.free().size();
  if (free == 0) return "no parameter is free: free one with --free";
  if (model.points() < free + 2) {
    return std::to_string(model.points()) + " points are too few for " +
           std::to_string(free) + " free parameters: at least " +
           std::to_string(free + 2) + " are needed, or fix a parameter with --set";
  }
  return {};
}

Result<Fit> fit(const Model& model, const FitOptions& options) {
  if (!can_minimise()) return Error{std::string(no_ceres)};
  if (std::string problem = why_not(model); !problem.empty()) return Error{problem};
  return Maker(model, options).make();
}

Profile profile(const Model& model, const Fit& best, std::size_t estimate,
                const FitOptions& options) {
  Profile result;
  const Estimate& e = best.estimates[estimate];
  const Unknown& u = model.unknowns()[e.unknown];
  const double x = u.coordinate(e.value);
  double width = 1;
  if (std::isfinite(e.sd)) width = 3 * e.sd / std::fabs(u.slope(e.value));
  std::vector<std::size_t> others;
  for (const Estimate& other : best.estimates) {
    if (other.unknown != e.unknown) others.push_back(other.unknown);
  }
  constexpr int half = 10;
  result.values.resize(2 * half + 1);
  result.increase.resize(2 * half + 1);
  const double least = Search(model, {}, best.values).squares(best.values);
  const double variance = best.noise * best.noise;
  for_each_task(result.values.size(), options.threads, [&](std::size_t i) {
    const double at = x + width * (static_cast<double>(i) - half) / half;
    std::vector<double> values = best.values;
    values[e.unknown] = std::clamp(u.value_at(at), u.range.low, u.range.high);
    result.values[i] = values[e.unknown];
    const Search search(model, others, values);
    double squares = search.squares(values);
    if (!others.empty()) {
      const Minimum m = search.from(values, options.iterations);
      if (!m.failed) squares = m.squares;
    }
    result.increase[i] = (squares - least) / variance;
  });
  return result;
}

double held_out_rms(const Model& model, const Fit& best, const FitOptions& options,
                    int folds) {
  const std::size_t n = model.points();
  const auto parts = static_cast<std::size_t>(folds);
  std::vector<double> squares(parts);
  // Parts of a series are blocks of neighbours, twenty in all.
  const std::size_t block =
      model.is_series() ? std::max<std::size_t>(1, n / (4 * parts)) : 1;
  for_each_task(parts, options.threads, [&](std::size_t part) {
    std::vector<double> weights(n);
    for (std::size_t i = 0; i < n; ++i) weights[i] = i / block % parts == part ? 0 : 1;
    Search search(model, model.free(), best.values);
    search.set_weights(weights);
    const Minimum m = search.from(best.values, options.iterations);
    std::vector<double> r(n);
    const std::vector<double> values = search.values_at(m.x);
    if (m.failed || !model.residuals(values, {}, r.data(), nullptr)) return;
    for (std::size_t i = 0; i < n; ++i) {
      if (weights[i] == 0) squares[part] += r[i] * r[i];
    }
  });
  const double sum = std::accumulate(squares.begin(), squares.end(), 0.0);
  return std::sqrt(sum / static_cast<double>(n));
}

}  // namespace bristle::identify
