#pragma once

#include <algorithm>
#include <span>
#include <variant>
#include <vector>

#include "bristle/core/result.hpp"
#include "bristle/laws/catalogue.hpp"

// The coefficient of restitution e, separation speed over impact speed of a central
// impact, independent of a law: how it falls with the speed, and which parameters of a
// law give it.

namespace bristle {

/// e of the Azad–Featherstone law f = √δ (k δ + λ δ̇) at Λ = λ v^{1/5}/(m^{2/5} k^{3/5}),
/// the one group it depends on. Falls from e(0) = 1; at large Λ like Λ^{−5/3} with the
/// clamp f ≥ 0 and like Λ^{−5} without. Computed afresh to about 1e-14, in about a tenth
/// of a millisecond, by Taylor series (order 24) in the time η, dt = 2√δ dη.
double azad_featherstone_restitution(double group, bool clamped);

/// The Λ that gives restitution e in (0, 1].
double azad_featherstone_group(double restitution, bool clamped);

/// e as a function of the impact speed, always in (0, 1]. Made by set-up code, which
/// checks its arguments; a contact calls `at` when two bodies touch.
class Restitution {
 public:
  /// The same e at every speed.
  static Result<Restitution> constant(double e);

  /// e = 1 − α v, never below the floor (Hunt & Crossley 1975 use it for small v).
  static Result<Restitution> linear(double alpha, double floor = 0.01);

  /// e = e₁ − b log₁₀(v / (1 m/s)), between the floor and 1: what measurements follow
  /// (Azad & Featherstone 2014, fig. 5).
  static Result<Restitution> logarithmic(double e_at_1_m_per_s, double per_decade,
                                         double floor = 0.01);

  /// Through measured points, speeds rising, by cubics that are monotone where the data
  /// are (Fritsch & Carlson 1980, Monotone piecewise cubic interpolation). Outside the
  /// measured speeds the nearest measured value holds.
  static Result<Restitution> table(std::vector<double> speeds,
                                   std::vector<double> restitutions);

  /// What the Azad–Featherstone law returns with these parameters.
  static Result<Restitution> azad_featherstone(double stiffness, double damping,
                                               double mass, bool clamped = true);

  /// e at an impact speed [m/s]; the sign of the speed does not matter.
  double at(double speed) const;

 private:
  struct Constant {
    double e;
  };
  struct Linear {
    double alpha;  // [s/m]
    double floor;
  };
  struct Logarithmic {
    double e_at_1_m_per_s;
    double per_decade;
    double floor;
  };
  struct Table {
    std::vector<double> speeds;
    std::vector<double> values;
    std::vector<double> slopes;  // de/dv at the points [s/m]
    double at(double speed) const;
  };
  struct Curve {
    double group_at_1_m_per_s;  // Λ there
    bool clamped;
  };
  using Kind = std::variant<Constant, Linear, Logarithmic, Table, Curve>;

  explicit Restitution(Kind kind) : kind_(std::move(kind)) {}

  Kind kind_;
};

/// The memory of a new contact under a law with a parameter `restitution`, with e taken
/// from the curve at this impact speed.
template <NormalLaw Law>
typename Law::template State<double> touch_with(
    const Restitution& restitution, typename Law::template Params<double> params,
    double impact_speed) {
  params.restitution = restitution.at(impact_speed);
  for (const auto& field : Law::parameters()) {
    if (field.about.name == "restitution") {
      params.restitution =
          std::clamp(params.restitution, field.about.range.low, field.about.range.high);
    }
  }
  return Law::touch(params, impact_speed);
}

/// The parameters with the law's damping parameter tuned so that a central impact of
/// this mass at this speed returns exactly this restitution; the others stay. By closed
/// form where there is one, else by search. The message of an impossible wish says what
/// the law can reach.
Result<std::vector<double>> parameters_for_restitution(const LawEntry& law,
                                                       std::span<const double> parameters,
                                                       double restitution, double mass,
                                                       double speed,
                                                       const Punch& punch = {});

/// The same by search alone, on impacts computed with the law itself.
Result<std::vector<double>> search_parameters_for_restitution(
    const LawEntry& law, std::span<const double> parameters, double restitution,
    double mass, double speed, const Punch& punch = {});

}  // namespace bristle
