#include "bristle/adaptive/explicit_step.hpp"

#include <algorithm>
#include <cmath>

#include "bristle/core/dormand_prince_8.hpp"
#include "bristle/core/pack.hpp"

namespace bristle {

namespace {

namespace method = dormand_prince_8;

using Wide = Pack<double, 4>;
constexpr std::size_t wide = 4;  // entries at a time: vectors are padded to that

/// to = from + h Σ weights[j] k[j] for the first entries, from zero where there is no
/// `from`.
void combine(const double* from, double h, const double* weights, std::size_t count,
             const double* k, std::size_t stride, std::size_t size, double* to) noexcept {
  for (std::size_t i = 0; i < size; i += wide) {
    Wide sum(0);
    for (std::size_t j = 0; j < count; ++j) {
      if (weights[j] == 0) continue;
      sum += Wide(weights[j]) * Wide::load(k + j * stride + i);
    }
    sum = Wide(h) * sum;
    if (from != nullptr) sum = Wide::load(from + i) + sum;
    sum.store(to + i);
  }
}

}  // namespace

void ExplicitStep::stage(const MotionOde& ode, const Step& step, std::size_t s) {
  // Nothing depends on what comes after the core.
  combine(step.y.data(), step.h, method::a[s], s, k_.data(), stride_, ode.core(),
          at_stage_.data());
}

double ExplicitStep::attempt(MotionOde& ode, ErrorScales& scales, double rtol,
                             Step& step) {
  const std::size_t size = ode.size();
  stride_ = (size + 2 * wide - 1) / wide * wide;
  if (k_.size() < method::all_stages * stride_) k_.resize(method::all_stages * stride_);
  for (Vector* x : {&at_stage_, &last_stage_, &error_5_, &error_3_, &step.y, &step.end,
                    &step.rate, &step.end_rate}) {
    x->resize(stride_);
  }
  std::copy(step.rate.begin(), step.rate.end(), k_.begin());
  for (std::size_t s = 1; s < method::stages; ++s) {
    stage(ode, step, s);
    ode.rates(at_stage_, k_.data() + s * stride_);
  }
  std::copy_n(at_stage_.begin(), ode.core(), last_stage_.begin());
  combine(step.y.data(), step.h, method::a[method::stages], method::stages, k_.data(),
          stride_, size, step.end.data());
  combine(nullptr, step.h, method::error_5, method::stages, k_.data(), stride_, size,
          error_5_.data());
  combine(nullptr, step.h, method::error_3, method::stages, k_.data(), stride_, size,
          error_3_.data());
  scales.allowances(rtol, step.y, allowed_);
  // Both estimates together (Hairer, Nørsett & Wanner 1993, § II.10).
  const double e5 = worst_ratio(error_5_, allowed_), e3 = worst_ratio(error_3_, allowed_);
  const double both = std::sqrt(e5 * e5 + 0.01 * e3 * e3);
  return both > 0 ? e5 * (e5 / both) : both;
}

void ExplicitStep::complete(MotionOde& ode, Step& step) {
  ode.rates(step.end, step.end_rate.data(), true);
  std::copy(step.end_rate.begin(), step.end_rate.end(),
            k_.begin() + static_cast<std::ptrdiff_t>(method::stages * stride_));
}

void ExplicitStep::prepare(MotionOde& ode, const Step& step) {
  for (std::size_t s = method::stages + 1; s < method::all_stages; ++s) {
    stage(ode, step, s);
    ode.rates(at_stage_, k_.data() + s * stride_);
  }
  between_.resize(4 * stride_);
  for (std::size_t part = 0; part < 4; ++part) {
    combine(nullptr, step.h, method::between[part], method::all_stages, k_.data(),
            stride_, ode.size(), between_.data() + part * stride_);
  }
}

double ExplicitStep::interpolate(const Step& step, double place, std::size_t i) const {
  const double x = place, z = 1 - place;
  const double d = step.end[i] - step.y[i];
  const double e = step.h * step.rate[i] - d;
  const double f = d - step.h * step.end_rate[i] - e;
  const double* b = between_.data() + i;
  const double inner =
      b[0] + x * (b[stride_] + z * (b[2 * stride_] + x * b[3 * stride_]));
  return step.y[i] + x * (d + z * (e + x * (f + z * inner)));
}

void ExplicitStep::interpolate(const Step& step, double place, Vector& y) const {
  y.resize(stride_);
  for (std::size_t i = 0; i < stride_; ++i) y[i] = interpolate(step, place, i);
}

void ExplicitStep::polynomial(const Step& step, std::size_t i,
                              std::array<double, 8>& c) const {
  const double d = step.end[i] - step.y[i];
  const double e = step.h * step.rate[i] - d;
  const double f = d - step.h * step.end_rate[i] - e;
  const double* b = between_.data() + i;
  // The nested form of interpolate(), from the inside out: times x and 1 − x in turn.
  const double parts[] = {b[2 * stride_], b[stride_], b[0], f, e, d, step.y[i]};
  c = {b[3 * stride_]};
  bool by_x = true;
  for (const double part : parts) {
    for (std::size_t k = c.size() - 1; k > 0; --k) {
      c[k] = by_x ? c[k - 1] : c[k] - c[k - 1];
    }
    if (by_x) c[0] = 0;
    c[0] += part;
    by_x = !by_x;
  }
}

double ExplicitStep::largest_rate(std::size_t i) const {
  double largest = 0;
  for (std::size_t s = 0; s <= method::stages; ++s) {
    largest = std::max(largest, std::abs(k(s)[i]));
  }
  return largest;
}

Stiffness ExplicitStep::stiffness(const MotionOde& ode, const Step& step) const {
  const double* last = k(method::stages - 1);
  double top = 0, top_forces = 0, bottom = 0;
  for (std::size_t i = 0; i < ode.core(); ++i) {
    const double d = (step.end_rate[i] - last[i]) / allowed_[i];
    const double e = (step.end[i] - last_stage_[i]) / allowed_[i];
    top += d * d;
    if (i >= ode.position_count()) top_forces += d * d;
    bottom += e * e;
  }
  const auto size = [&](double t) {
    return bottom > 0 ? step.h * std::sqrt(t / bottom) : 0;
  };
  return {size(top), bottom > 1, size(top_forces)};
}

double ExplicitStep::moved(const MotionOde& ode, const Step& step) const {
  double farthest = 0;
  for (std::size_t i = 0; i < ode.core(); ++i) {
    farthest = std::max(farthest, std::abs(step.end[i] - step.y[i]) / allowed_[i]);
  }
  return farthest;
}

}  // namespace bristle
