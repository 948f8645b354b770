#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bristle/core/parameter.hpp"
#include "bristle/core/result.hpp"
#include "bristle/laws/impact.hpp"
#include "bristle/laws/law.hpp"
#include "bristle/laws/law_choice.hpp"
#include "bristle/laws/slide.hpp"

// The registered laws by name, for callers that learn at run time which one is wanted:
// the command line, scene files, bindings. Stepping code uses the types of laws.hpp
// instead.

namespace bristle {

struct LawEntry {
  LawInfo info;
  LawFamily family;
  std::vector<Parameter> parameters;
  std::vector<StateField> state;
  std::vector<GuardInfo> guards;
  std::string_view damping_parameter =
      "";  // tuned to reach a restitution; "" when none is

  /// One central impact, with the parameters in the order above; normal laws only.
  Result<ImpactReport> (*impact)(std::span<const double> parameters, double mass,
                                 double speed,
                                 std::vector<ImpactSample>* trace) = nullptr;

  /// Prescribed sliding, and the settled resistance at one speed; friction laws only.
  std::vector<SlideSample> (*slide)(std::span<const double> parameters,
                                    const SlideProgram& program) = nullptr;
  double (*steady_resistance)(std::span<const double> parameters, double speed,
                              double normal_force, double depth) = nullptr;

  std::vector<double> defaults() const;
};

/// All laws, normal laws first.
std::span<const LawEntry> catalogue();

/// The law of that name, or a message with the nearest name.
Result<const LawEntry*> find_law(std::string_view name);

/// "stiffness = -3 must lie in (0, 1e+15] N/m^p", or nothing when the value is allowed.
std::string out_of_range(const Parameter& parameter, double value);

/// "linear, cubic or tanh"
std::string choice_names(const Parameter& parameter);

/// Text as a value of this parameter: a number, true or false, the name of a choice.
Result<double> parse_value(const Parameter& parameter, std::string_view text);

/// The closest of several words, or an empty word when none is close.
std::string_view nearest(std::string_view word, std::span<const std::string_view> words);

}  // namespace bristle
