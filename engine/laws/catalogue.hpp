#pragma once

#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <typeindex>
#include <vector>

#include "bristle/core/parameter.hpp"
#include "bristle/core/result.hpp"
#include "bristle/laws/impact.hpp"
#include "bristle/laws/law.hpp"
#include "bristle/laws/law_choice.hpp"
#include "bristle/laws/measured_motion.hpp"
#include "bristle/laws/slide.hpp"

// The laws by name, for callers that learn at run time which one is wanted: the command
// line, scene files, bindings. The laws of laws.hpp come first; a program adds its own
// with register_law (contact/register_law.hpp). Stepping code uses a table of functions
// instead, by the same index (contact/law_table.hpp).

namespace bristle {

struct LawEntry {
  LawInfo info;
  LawFamily family;
  std::type_index type;  // the law's struct
  int index = 0;         // among the laws of its family, as in LawChoice
  std::vector<Parameter> parameters{};
  std::vector<StateField> state{};
  std::vector<GuardInfo> guards{};
  std::string_view damping_parameter =
      "";  // tuned to reach a restitution; "" when none is

  bool volumetric = false;               // a normal law of the overlap's volume
  std::vector<Spin> spins{};             // that a friction law offers
  std::vector<StateField> spin_state{};  // its memory in three components of slip

  /// One central impact, with the parameters in the order above; normal laws only.
  Result<ImpactReport> impact(std::span<const double> of_law, double mass, double speed,
                              std::vector<ImpactSample>* trace,
                              const Punch& punch = {}) const {
    return impact_function(of_law, mass, speed, trace, punch);
  }
  /// Force and slopes of a contact at rest at a depth [m], after a touch-down at this
  /// speed [m/s]; normal laws only.
  NormalSlopes<double> at_rest(std::span<const double> of_law, double depth,
                               double impact_speed, const Punch& punch = {}) const {
    return rest_function(of_law, depth, impact_speed, punch);
  }
  Result<ImpactReport> (*impact_function)(std::span<const double> of_law, double mass,
                                          double speed, std::vector<ImpactSample>* trace,
                                          const Punch& punch) = nullptr;
  NormalSlopes<double> (*rest_function)(std::span<const double> of_law, double depth,
                                        double impact_speed,
                                        const Punch& punch) = nullptr;

  /// Prescribed sliding, and the settled resistance at one speed; friction laws only.
  std::vector<SlideSample> (*slide)(std::span<const double> parameters,
                                    const SlideProgram& program) = nullptr;
  double (*steady_resistance)(std::span<const double> parameters, double speed,
                              double normal_force, double depth) = nullptr;

  /// The force along a measured motion, alone and with derivatives: of normal laws the
  /// first two, of friction laws the others.
  AlongMotion<NormalMoment<double>, double> normal_along = nullptr;
  AlongMotion<NormalMoment<Sensitive>, Sensitive> normal_sensitive = nullptr;
  AlongMotion<SlideMoment, double> slide_along = nullptr;
  AlongMotion<SlideMoment, Sensitive> slide_sensitive = nullptr;

  std::vector<double> defaults() const;
  /// The place of a parameter; −1 where the law has none of that name.
  int find_parameter(std::string_view name) const;
  /// The memory of the law in a contact whose friction resists spinning in this way.
  const std::vector<StateField>& state_with(Spin spin) const {
    return spin == Spin::none ? state : spin_state;
  }
};

/// All laws: those of laws.hpp, normal laws first, then the registered ones in the order
/// of their registration. An entry keeps its place when others are added.
const std::deque<LawEntry>& catalogue();

/// The laws of one family by their index.
std::span<const LawEntry* const> laws_of(LawFamily family);

/// The law of that name, or a message with the nearest name.
Result<const LawEntry*> find_law(std::string_view name);

/// The law of that type; null where it is not registered.
const LawEntry* find_law(std::type_index type);

namespace detail {
/// Gives the entry its index; an error where its name is taken. Only register_law calls
/// this, which also adds the functions that go with the index.
Result<const LawEntry*> add_to_catalogue(LawEntry entry);
}  // namespace detail

/// "stiffness = -3 must lie in (0, 1e+15] N/m^p", or nothing when the value is allowed.
std::string out_of_range(const Parameter& parameter, double value);

/// "linear, cubic or tanh"
std::string choice_names(const Parameter& parameter);

/// Text as a value of this parameter: a number, true or false, the name of a choice.
Result<double> parse_value(const Parameter& parameter, std::string_view text);

/// The closest of several words, or an empty word when none is close.
std::string_view nearest(std::string_view word, std::span<const std::string_view> words);

}  // namespace bristle
