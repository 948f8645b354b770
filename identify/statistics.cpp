#include "identify/statistics.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <mutex>
#include <numbers>
#include <numeric>
#include <thread>
#include <utility>

namespace bristle::identify {

namespace {

/// ln Γ by Lanczos' series (g = 7), to 1e-15; std::lgamma writes to a global.
double log_gamma(double x) {
  constexpr double c[] = {
      0.99999999999980993,  676.5203681218851,     -1259.1392167224028,
      771.32342877765313,   -176.61502916214059,   12.507343278686905,
      -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7};
  double sum = c[0];
  for (int i = 1; i < 9; ++i) sum += c[i] / (x - 1 + i);
  const double t = x + 6.5;
  return 0.5 * std::log(2 * std::numbers::pi) + (x - 0.5) * std::log(t) - t +
         std::log(sum);
}

/// The regularised incomplete beta function, by its continued fraction (Lentz).
double incomplete_beta(double a, double b, double x) {
  if (!(x > 0)) return 0;
  if (!(x < 1)) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - incomplete_beta(b, a, 1 - x);
  const auto sound = [](double y) { return std::fabs(y) < 1e-300 ? 1e-300 : y; };
  double c = 1;
  double d = 1 / sound(1 - (a + b) * x / (a + 1));
  double f = d;
  for (int m = 1; m < 1000; ++m) {
    for (const double term :
         {m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
          -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))}) {
      d = 1 / sound(1 + term * d);
      c = sound(1 + term / c);
      f *= c * d;
    }
    if (std::fabs(c * d - 1) < 1e-15) break;
  }
  const double log_front = a * std::log(x) + b * std::log1p(-x) + log_gamma(a + b) -
                           log_gamma(a) - log_gamma(b);
  return std::exp(log_front) * f / a;
}

/// The share of Student's distribution in (−t, t).
double student_share(double t, double degrees) {
  if (degrees > 1e7) return std::erf(t / std::numbers::sqrt2);
  return 1 - incomplete_beta(0.5 * degrees, 0.5, degrees / (degrees + t * t));
}

/// R of a = Q R, by Householder's reflections.
Matrix triangle_of(Matrix a) {
  const std::size_t n = a.columns;
  for (std::size_t j = 0; j < n; ++j) {
    double norm2 = 0;
    for (std::size_t i = j; i < a.rows; ++i) norm2 += a(i, j) * a(i, j);
    if (!(norm2 > 0)) continue;
    const double alpha = a(j, j) > 0 ? -std::sqrt(norm2) : std::sqrt(norm2);
    const double head = a(j, j) - alpha;
    const double scale = -alpha * head;  // ½ |v|²
    for (std::size_t k = j + 1; k < n; ++k) {
      double product = head * a(j, k);
      for (std::size_t i = j + 1; i < a.rows; ++i) product += a(i, j) * a(i, k);
      product /= scale;
      a(j, k) -= product * head;
      for (std::size_t i = j + 1; i < a.rows; ++i) a(i, k) -= product * a(i, j);
    }
    a(j, j) = alpha;
  }
  Matrix r(n, n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i; j < n; ++j) r(i, j) = a(i, j);
  }
  return r;
}

}  // namespace

double student_t(double share, double degrees) {
  double low = 0, high = 1;
  while (student_share(high, degrees) < share && high < 1e12) high *= 2;
  for (int i = 0; i < 200 && high - low > 1e-15 * high; ++i) {
    const double middle = 0.5 * (low + high);
    (student_share(middle, degrees) < share ? low : high) = middle;
  }
  return high;
}

Random::Random(std::uint64_t seed, std::uint64_t stream) {
  std::seed_seq words{seed & 0xffffffff, seed >> 32, stream & 0xffffffff, stream >> 32};
  bits_.seed(words);
}

double Random::uniform() { return (static_cast<double>(bits_() >> 11) + 0.5) * 0x1p-53; }

double Random::normal() {
  const double radius = std::sqrt(-2 * std::log(uniform()));
  return radius * std::cos(2 * std::numbers::pi * uniform());
}

std::size_t Random::below(std::size_t count) {
  return std::min(count - 1,
                  static_cast<std::size_t>(uniform() * static_cast<double>(count)));
}

Singular singular_values(Matrix a) {
  const std::size_t n = a.columns;
  Matrix r = triangle_of(std::move(a));
  Matrix v(n, n);
  for (std::size_t i = 0; i < n; ++i) v(i, i) = 1;
  for (int sweep = 0; sweep < 60; ++sweep) {
    bool turned = false;
    for (std::size_t p = 0; p < n; ++p) {
      for (std::size_t q = p + 1; q < n; ++q) {
        double pp = 0, qq = 0, pq = 0;
        for (std::size_t i = 0; i < n; ++i) {
          pp += r(i, p) * r(i, p);
          qq += r(i, q) * r(i, q);
          pq += r(i, p) * r(i, q);
        }
        if (!(std::fabs(pq) > 1e-15 * std::sqrt(pp * qq))) continue;
        turned = true;
        const double zeta = (qq - pp) / (2 * pq);
        const double t =
            (zeta >= 0 ? 1.0 : -1.0) / (std::fabs(zeta) + std::sqrt(1 + zeta * zeta));
        const double c = 1 / std::sqrt(1 + t * t), s = c * t;
        for (Matrix* m : {&r, &v}) {
          for (std::size_t i = 0; i < n; ++i) {
            const double x = (*m)(i, p), y = (*m)(i, q);
            (*m)(i, p) = c * x - s * y;
            (*m)(i, q) = s * x + c * y;
          }
        }
      }
    }
    if (!turned) break;
  }
  std::vector<double> sizes(n);
  for (std::size_t j = 0; j < n; ++j) {
    double norm2 = 0;
    for (std::size_t i = 0; i < n; ++i) norm2 += r(i, j) * r(i, j);
    sizes[j] = std::sqrt(norm2);
  }
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) {
    return std::pair(-sizes[i], i) < std::pair(-sizes[j], j);
  });
  Singular result{std::vector<double>(n), Matrix(n, n)};
  for (std::size_t j = 0; j < n; ++j) {
    result.values[j] = sizes[order[j]];
    for (std::size_t i = 0; i < n; ++i) result.directions(i, j) = v(i, order[j]);
  }
  return result;
}

void for_each_task(std::size_t count, int threads,
                   const std::function<void(std::size_t)>& task) {
  const auto most = std::min(count, static_cast<std::size_t>(std::max(threads, 1)));
  if (most <= 1) {
    for (std::size_t i = 0; i < count; ++i) task(i);
    return;
  }
  std::atomic<std::size_t> next{0};
  std::exception_ptr trouble;
  std::mutex lock;
  const auto work = [&] {
    try {
      for (std::size_t i = next++; i < count; i = next++) task(i);
    } catch (...) {
      const std::lock_guard<std::mutex> held(lock);
      if (!trouble) trouble = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> team;
    for (std::size_t i = 1; i < most; ++i) team.emplace_back(work);
    work();
  }
  if (trouble) std::rethrow_exception(trouble);
}

double median(std::vector<double> numbers) {
  if (numbers.empty()) return 0;
  const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
  std::nth_element(numbers.begin(), middle, numbers.end());
  return *middle;
}

}  // namespace bristle::identify
