#include "studies/clock.hpp"

#include <algorithm>
#include <array>

namespace bristle::studies {

namespace {

constexpr std::array<std::string_view, 5> clock_names{"clock", "rtol", "step_s",
                                                      "substeps", "method"};

}  // namespace

Clock clock_of(const Values& values) {
  constexpr std::array methods{Method::semi_implicit_euler, Method::bogacki_shampine,
                               Method::runge_kutta_4, Method::linearly_implicit_euler};
  return {.adaptive = values.choice("clock") == "adaptive",
          .rtol = values["rtol"],
          .fixed = {.method = methods[static_cast<std::size_t>(values["method"])],
                    .step = values["step_s"],
                    .substeps = static_cast<int>(values["substeps"]),
                    .threads = 1}};
}

std::vector<Parameter> with_clock(std::vector<Parameter> own, double rtol, int substeps) {
  own.push_back({"clock",
                 "",
                 "choice",
                 choice_of(2),
                 0,
                 "adaptive: error-controlled, events located; fixed: real time",
                 {"adaptive", "fixed"}});
  own.push_back({"rtol", "", "1", between(1e-13, 1e-1), rtol,
                 "relative tolerance of the adaptive clock"});
  own.push_back({"step_s", "h", "s", above(0, 1), 1e-3, "step of the fixed clock"});
  own.push_back({"substeps", "", "1", between(1, 1e6), static_cast<double>(substeps),
                 "that a fixed step is divided into"});
  own.push_back({"method",
                 "",
                 "choice",
                 choice_of(4),
                 2,
                 "of the fixed clock",
                 {"semi-implicit-euler", "ode3", "rk4", "linearly-implicit-euler"}});
  return own;
}

bool is_of_clock(std::string_view name) {
  return std::find(clock_names.begin(), clock_names.end(), name) != clock_names.end();
}

double tolerance(const Clock& clock, double adaptive, double reference) {
  return clock.adaptive ? adaptive : std::max(adaptive, 0.01 * std::fabs(reference));
}

void Against::operator()(const char* name, double value, double reference, double within,
                         const char* source) const {
  outcome.checks.push_back(
      {name, value, reference, tolerance(clock, within, reference), source});
}

Check books_close(const Clock& clock, double residual, double scale) {
  return {"energy books, over their scale", residual / scale, 0,
          clock.adaptive ? std::max(1e-8, clock.rtol) : 0.01, "the ledger closes"};
}

}  // namespace bristle::studies
