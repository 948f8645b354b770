#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <string>
#include <vector>

#include "bristle/core/dormand_prince.hpp"
#include "bristle/core/result.hpp"
#include "bristle/laws/law.hpp"

// One central impact of a mass under a normal law alone: what coefficient of restitution,
// peak force, contact time does a law give? Tight enough to test laws with.

namespace bristle {

/// The shape that hits, under a volumetric law; other laws ignore it.
struct Punch {
  enum class Kind {
    unit,    // flat, one square metre
    sphere,  // of a radius
    flat,    // a disc of a radius
    power,   // V = section δ (δ/at_depth)^{growth − 1}
  };
  Kind kind = Kind::unit;
  double radius = 1;    // [m]
  double section = 1;   // [m²]
  double at_depth = 1;  // [m]
  double growth = 1;

  /// V, W, A and dV/dt at a depth and its rate. A sphere that is wholly inside keeps its
  /// volume.
  PatchMotion<double> at(double depth, double rate) const {
    const double d = std::fmax(depth, 0);
    if (kind == Kind::sphere) {
      const double h = std::fmin(d, 2 * radius);
      const double third = std::numbers::pi / 3 * h * h;
      const double volume = third * (3 * radius - h);
      const double area = std::numbers::pi * h * (2 * radius - h);
      return {volume, third * h * (radius - h / 4) + volume * (d - h), area, area * rate};
    }
    if (kind == Kind::power) {
      const double volume = section * d * std::pow(d / at_depth, growth - 1);
      const double area = d > 0 ? growth * volume / d : 0;
      return {volume, volume * d / (growth + 1), area, area * rate};
    }
    const double area = kind == Kind::flat ? std::numbers::pi * radius * radius : 1;
    return {area * d, 0.5 * area * d * d, area, area * rate};
  }
};

struct ImpactSample {
  double time;   // since touch-down [s]
  double depth;  // [m]
  double rate;   // [m/s]
  double force;  // [N]
};

struct ImpactReport {
  double restitution = 0;       // separation speed over impact speed
  double peak_force = 0;        // [N]
  double peak_depth = 0;        // [m]
  double depth_at_release = 0;  // where the force ends [m]
  double contact_time = 0;      // until the force ends [s]
  double loop_area = 0;         // ∮ f dδ, the energy lost [J]
  double energy_residual = 0;   // kinetic energy lost − loop area [J]
  long steps = 0;
};

namespace detail {

/// m δ̈ = −f in the contact time η, dt = 2σ dη with δ = σ², where laws like √δ are
/// smooth. y = (σ, δ̇, t, ∫f δ̇ dt, law memory …).
template <NormalLaw L>
class Impact {
 public:
  using Params = typename L::template Params<double>;
  using State = typename L::template State<double>;
  static constexpr std::size_t n = 4 + field_count<State, double>;
  using Vector = std::array<double, n>;

  Impact(const Params& params, double mass, double speed, const Punch& punch)
      : params_(params), mass_(mass), speed_(speed), punch_(punch) {
    y_ = {0, speed, 0, 0};
    const auto memory = to_fields<double>(L::touch(params, speed));
    for (std::size_t i = 0; i < memory.size(); ++i) y_[4 + i] = memory[i];
  }

  Result<ImpactReport> run(double tolerance, std::vector<ImpactSample>* trace) {
    ImpactReport report;
    const double rate_error = 100 * tolerance * speed_;
    double sigma_scale = root(stopping_depth());
    double h = 0.01 * sigma_scale / speed_;
    report.peak_force = force(first_instant(sigma_scale));
    if (trace) trace->push_back({0, 0, speed_, report.peak_force});
    double peak_before = 1;  // sign of df/dη
    for (report.steps = 1; report.steps <= max_steps; ++report.steps) {
      const Vector start = y_;
      Vector end;
      double error;
      while (true) {
        end = step(start, h, &error, sigma_scale, tolerance);
        if (error <= 1) break;
        h *= error < 1e10 ? std::fmax(0.1, 0.9 * std::pow(error, -0.2)) : 0.1;
        if (!(h > 0)) return Error{"the step size fell to zero"};
      }
      const auto along = [&](double part) { return step(start, part * h); };

      if (start[1] > 0 && end[1] <= 0) {
        const Vector turn = along(locate([&](double part) { return along(part)[1]; }));
        report.peak_depth = turn[0] * turn[0];
      }
      const double slope = force_slope(end);
      if (peak_before > 0 && slope <= 0 && report.steps > 1) {
        const Vector top =
            along(locate([&](double part) { return force_slope(along(part)); }));
        report.peak_force = std::fmax(report.peak_force, force(top));
      }
      report.peak_force = std::fmax(report.peak_force, force(end));
      peak_before = slope;

      if (end[1] < 0 && margin(end, rate_error) <= 0) {
        double part = locate([&](double p) { return margin(along(p), rate_error); });
        if (along(part)[0] > 0) {  // it is the force that ended, a trifle before
          part *= locate([&](double p) { return margin(along(part * p), 0); });
        }
        return finish(report, along(part), trace);
      }
      y_ = end;
      sigma_scale = std::fmax(sigma_scale, std::fabs(end[0]));
      if (trace) trace->push_back({end[2], end[0] * end[0], end[1], force(end)});
      h *= std::fmin(4.0, 0.9 * std::pow(std::fmax(error, 1e-10), -0.2));
    }
    return Error{"the bodies did not separate within " + std::to_string(max_steps) +
                 " steps: the damping is too strong to follow; lower it"};
  }

 private:
  static constexpr long max_steps = 5'000'000;

  /// The motion at one moment, with the patch that its kinematics point to.
  struct Moment {
    PatchMotion<double> patch;
    Kinematics<double> kin;

    Moment(const Punch& punch, double depth, double root_depth, double rate)
        : patch(punch.at(depth, rate)),
          kin{depth, root_depth, rate, {0, 0}, nullptr, &patch} {}
    Moment(const Moment&) = delete;
    Moment& operator=(const Moment&) = delete;
  };
  Moment moment(const Vector& y) const { return Moment(punch_, y[0] * y[0], y[0], y[1]); }
  static State memory(const Vector& y) {
    std::array<double, n - 4> fields{};
    for (std::size_t i = 0; i < fields.size(); ++i) fields[i] = y[4 + i];
    return from_fields<State>(fields);
  }
  double force(const Vector& y) const {
    return L::evaluate(params_, memory(y), moment(y).kin).force;
  }
  /// df/dη along the motion.
  double force_slope(const Vector& y) const {
    const auto f = L::linearise(params_, memory(y), moment(y).kin);
    return 2 * y[0] * (f.by_depth * y[1] - f.by_rate * f.force / mass_);
  }

  /// A depth beyond which the contact surely stops the mass: the scale of σ.
  double stopping_depth() const {
    double depth = 1e-24;
    const auto memory = L::touch(params_, speed_);
    while (depth < 1e6) {
      const Moment now(punch_, depth, root(depth), speed_);
      const auto f = L::evaluate(params_, memory, now.kin).force;
      if (f * depth > mass_ * speed_ * speed_) break;
      depth *= 2;
    }
    return depth;
  }
  Vector first_instant(double sigma_scale) const {
    Vector y = y_;
    y[0] = 1e-9 * sigma_scale;
    return y;
  }

  Vector slope(const Vector& y) const {
    const auto f = L::evaluate(params_, memory(y), moment(y).kin);
    const double two_sigma = 2 * y[0];
    Vector d{y[1], -two_sigma * f.force / mass_, two_sigma, two_sigma * f.force * y[1]};
    const auto rate = to_fields<double>(f.rate);
    for (std::size_t i = 0; i < rate.size(); ++i) d[4 + i] = two_sigma * rate[i];
    return d;
  }

  /// Positive until the contact ends: where a clamped force does, or at δ = 0. Not where
  /// an error of the rate alone may have taken the force: under strong damping the bodies
  /// part at the very speed at which it vanishes.
  double margin(const Vector& y, double rate_error) const {
    if (y[0] <= 0 || L::passivity(params_).tension) return y[0];
    constexpr std::size_t clamp = guard_of<L>(GuardRole::clamp);
    if constexpr (clamp == L::guard_list().size()) {
      return y[0];
    } else {
      const Moment now(punch_, y[0] * y[0], y[0], y[1] + rate_error);
      return L::guards(params_, memory(y), now.kin)[clamp] > 0 ? y[0] : -1.0;
    }
  }

  /// The part of the last step at which a function that changed sign in it is zero.
  template <class G>
  static double locate(const G& g) {
    double low = 0;
    double high = 1;
    const bool falling = g(1.0) <= 0;
    for (int i = 0; i < 60 && high - low > 1e-16; ++i) {
      const double middle = 0.5 * (low + high);
      ((g(middle) <= 0) == falling ? high : low) = middle;
    }
    return high;
  }

  Result<ImpactReport> finish(ImpactReport& report, const Vector& end,
                              std::vector<ImpactSample>* trace) const {
    report.restitution = -end[1] / speed_;
    report.depth_at_release = end[0] > 0 ? end[0] * end[0] : 0;
    report.contact_time = end[2];
    report.loop_area = end[3];
    report.energy_residual =
        0.5 * mass_ * (speed_ * speed_ - end[1] * end[1]) - report.loop_area;
    if (trace) trace->push_back({end[2], report.depth_at_release, end[1], 0});
    return report;
  }

  Vector step(const Vector& y, double h) const { return step(y, h, nullptr, 1, 1); }

  /// Dormand & Prince 1980, order 5(4).
  Vector step(const Vector& y, double h, double* error, double sigma_scale,
              double tolerance) const {
    using dormand_prince::a;
    using dormand_prince::defect;
    std::array<Vector, 7> k;
    k[0] = slope(y);
    Vector at = y;
    for (std::size_t stage = 0; stage < 6; ++stage) {
      for (std::size_t i = 0; i < n; ++i) {
        double sum = 0;
        for (std::size_t j = 0; j <= stage; ++j) sum += a[stage][j] * k[j][i];
        at[i] = y[i] + h * sum;
      }
      k[stage + 1] = slope(at);
    }
    if (error) {
      const std::array<double, 4> scale{sigma_scale, speed_,
                                        sigma_scale * sigma_scale / speed_,
                                        mass_ * speed_ * speed_};
      double worst = 0;
      for (std::size_t i = 0; i < n; ++i) {
        double sum = 0;
        for (std::size_t j = 0; j < 7; ++j) sum += defect[j] * k[j][i];
        const double size = i < 4 ? scale[i] : std::fabs(y[i]) + 1e-300;
        worst = std::fmax(worst, std::fabs(h * sum) / size);
      }
      *error = worst / tolerance;
      if (!(*error < 1e300)) *error = 1e300;
    }
    return at;
  }

  Params params_;
  double mass_;
  double speed_;
  Punch punch_;
  Vector y_;
};

}  // namespace detail

/// A mass that meets a fixed body at a speed, without gravity. Without a result when the
/// damping is too strong to follow.
template <NormalLaw L>
Result<ImpactReport> impact(const typename L::template Params<double>& params,
                            double mass, double speed,
                            std::vector<ImpactSample>* trace = nullptr,
                            double tolerance = 1e-13, const Punch& punch = {}) {
  return detail::Impact<L>(params, mass, speed, punch).run(tolerance, trace);
}

}  // namespace bristle
