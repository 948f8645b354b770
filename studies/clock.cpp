#include "studies/clock.hpp"

#include <algorithm>
#include <array>

namespace bristle::studies {

namespace {

constexpr std::array<std::string_view, 5> clock_names{"clock", "rtol", "step_s",
                                                      "substeps", "method"};

}  // namespace

Clock clock_of(const Values& values) {
  const auto stepper = static_cast<std::size_t>(values["clock"]);
  const auto method = static_cast<std::size_t>(values["method"]);
  return {.stepper = &steppers()[stepper],
          .options = {.rtol = values["rtol"],
                      .step = values["step_s"],
                      .substeps = static_cast<int>(values["substeps"]),
                      .method = fixed_methods()[method]}};
}

std::vector<Parameter> with_clock(std::vector<Parameter> own, double rtol, int substeps) {
  const auto choice = [](std::string_view name, const auto& list, double preset,
                         std::string_view meaning, const auto& name_of) {
    Parameter parameter{name, "", "choice", {}, preset, meaning, {}};
    std::size_t count = 0;
    for (const auto& one : list) {
      if (count < parameter.choices.size()) parameter.choices[count++] = name_of(one);
    }
    parameter.range = choice_of(static_cast<int>(count));
    return parameter;
  };
  own.push_back(choice(
      "clock", steppers(), 0,
      "adaptive: error-controlled, events located; fixed: real time; complementarity: "
      "fixed steps of order 1, stable for any stiffness",
      [](const StepperInfo& info) { return info.name; }));
  own.push_back({"rtol", "", "1", between(1e-13, 1e-1), rtol,
                 "relative tolerance of the adaptive integrator"});
  own.push_back({"step_s", "h", "s", above(0, 1), 1e-3, "fixed step"});
  own.push_back({"substeps", "", "1", between(1, 1e6), static_cast<double>(substeps),
                 "that a fixed step is divided into"});
  own.push_back(choice("method", fixed_methods(), 2, "of clock = fixed",
                       [](Method method) { return name_of(method); }));
  return own;
}

bool is_of_clock(std::string_view name) {
  return std::find(clock_names.begin(), clock_names.end(), name) != clock_names.end();
}

double tolerance(const Clock& clock, double adaptive, double reference) {
  return clock.locates_events() ? adaptive
                                : std::max(adaptive, 0.01 * std::fabs(reference));
}

void Against::operator()(const char* name, double value, double reference, double within,
                         const char* source) const {
  outcome.checks.push_back(
      {name, value, reference, tolerance(clock, within, reference), source});
}

Check ledger_balances(const Clock& clock, double residual, double scale) {
  return {"energy balance error, over the ledger's scale", residual / scale, 0,
          clock.locates_events() ? std::max(1e-8, clock.rtol()) : 0.01,
          "the ledger closes"};
}

}  // namespace bristle::studies
