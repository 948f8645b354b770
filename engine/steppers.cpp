#include "bristle/steppers.hpp"

#include "bristle/adaptive/adaptive.hpp"
#include "bristle/step/fixed_step.hpp"

namespace bristle {

namespace {

std::deque<StepperInfo>& list() {
  static std::deque<StepperInfo> all{
      {.name = "adaptive",
       .title = "error-controlled steps, every event located",
       .locates_events = true,
       .make = [](const Model& model,
                  const StepperOptions& options) -> std::unique_ptr<Stepper> {
         return std::make_unique<Adaptive>(model, AdaptiveOptions{.rtol = options.rtol});
       }},
      {.name = "fixed",
       .title = "steps of a fixed length, in substeps of one of the methods",
       .fixed_step = true,
       .make = [](const Model& model,
                  const StepperOptions& options) -> std::unique_ptr<Stepper> {
         return std::make_unique<FixedStep>(model,
                                            FixedStepOptions{.method = options.method,
                                                             .step = options.step,
                                                             .substeps = options.substeps,
                                                             .threads = options.threads});
       }},
  };
  return all;
}

}  // namespace

const std::deque<StepperInfo>& steppers() { return list(); }

Result<const StepperInfo*> find_stepper(std::string_view name) {
  std::string names;
  for (const StepperInfo& info : list()) {
    if (info.name == name) return &info;
    names += (names.empty() ? "" : ", ") + std::string(info.name);
  }
  return Error{"there is no stepper \"" + std::string(name) +
               "\"; the steppers are: " + names};
}

Result<const StepperInfo*> register_stepper(StepperInfo info) {
  if (info.name.empty() || info.make == nullptr) {
    return Error{"a stepper needs a name and a function that makes it"};
  }
  if (find_stepper(info.name)) {
    return Error{"there is already a stepper \"" + std::string(info.name) + "\""};
  }
  for (const Parameter& p : info.parameters) {
    if (!p.range.contains(p.preset)) {
      return Error{std::string(info.name) + ": the default of " + std::string(p.name) +
                   " lies outside its range"};
    }
  }
  list().push_back(std::move(info));
  return &list().back();
}

}  // namespace bristle
