#include "bristle/steppers.hpp"

#include "bristle/adaptive/adaptive.hpp"
#include "bristle/complementarity/solvers.hpp"
#include "bristle/step/fixed_step.hpp"

namespace bristle {

namespace {

std::vector<Parameter> complementarity_parameters() {
  const ComplementarityOptions preset;
  Parameter solver{"solver",     "", "choice",
                   choice_of(0), 0,  "solver of the complementarity problem"};
  std::size_t count = 0;
  for_each_solver(Solvers{}, [&]<class S>() {
    if (S::info.name == preset.solver) solver.preset = static_cast<double>(count);
    solver.choices[count++] = S::info.name;
  });
  solver.range = choice_of(static_cast<int>(count));
  return {
      {"cone",
       "",
       "choice",
       choice_of(2),
       0,
       "section of the friction cone; box: by components, up to √2 too strong obliquely",
       {"isotropic", "box"}},
      {"bounds",
       "",
       "choice",
       choice_of(3),
       0,
       "normal impulse that bounds friction: that of the same solution, of the previous "
       "iteration, or of the last step",
       {"coupled", "iterated", "lagged"}},
      solver,
      {"tolerance", "", "1", between(1e-14, 0.1), preset.tolerance,
       "residual of a step, relative to its free velocity"},
      {"iterations", "", "count", between(1, 1e6), static_cast<double>(preset.iterations),
       "largest number of iterations of the solver"},
      {"relinearisations", "", "count", between(0, 1000),
       static_cast<double>(preset.relinearisations),
       "how often at most the laws are linearised again within a step"},
      {"strict", "", "flag", yes_or_no, 0,
       "whether a step that is not solved to the tolerance ends the run"}};
}

std::unique_ptr<Stepper> make_complementarity(const Model& model,
                                              const StepperOptions& options) {
  ComplementarityOptions own;
  own.cone = options.own_or("cone", 0) == 0 ? ConeShape::isotropic : ConeShape::box;
  own.bounds = static_cast<FrictionBounds>(static_cast<int>(options.own_or("bounds", 0)));
  const std::vector<Parameter> known = complementarity_parameters();
  const Parameter& solver = known[2];
  own.solver =
      solver.choices[static_cast<std::size_t>(options.own_or("solver", solver.preset))];
  own.tolerance = options.own_or("tolerance", own.tolerance);
  own.iterations = static_cast<int>(options.own_or("iterations", own.iterations));
  own.relinearisations =
      static_cast<int>(options.own_or("relinearisations", own.relinearisations));
  own.strict = options.own_or("strict", 0) != 0;
  return std::make_unique<FixedStep>(model,
                                     FixedStepOptions{.method = Method::complementarity,
                                                      .step = options.step,
                                                      .substeps = options.substeps,
                                                      .threads = options.threads,
                                                      .complementarity = own});
}

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
         return std::make_unique<FixedStep>(
             model, FixedStepOptions{.method = options.method,
                                     .step = options.step,
                                     .substeps = options.substeps,
                                     .most_substeps = options.most_substeps,
                                     .threads = options.threads});
       }},
      {.name = "complementarity",
       .title = "impulses of a boxed complementarity problem, stable for any stiffness",
       .fixed_step = true,
       .method = Method::complementarity,
       .parameters = complementarity_parameters(),
       .make = make_complementarity},
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
