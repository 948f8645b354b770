#include "cli/crosscheck_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>

#include "cli/progress.hpp"

namespace bristle::cli {

namespace {

using scene::Scene;

constexpr double most_samples = 200;
constexpr double finer = 16;  // steps of a reference that is not adaptive

double processor_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

const StepperInfo& stepper_named(std::string_view name) { return **find_stepper(name); }

/// Where the bodies that move are.
void add_places(const Observation& now, std::vector<Vec3<double>>& places) {
  const LinkMotion links = now.system.links();
  for (const Body& body : now.model.tree.bodies()) {
    if (body.link == world_link) continue;
    places.push_back(links.poses[static_cast<std::size_t>(body.link)] * body.in_link.p);
  }
}

ClockRun run_under(const StepperInfo& stepper, const StepperOptions& options,
                   const Scene& scene, const CrosscheckPlan& plan) {
  ClockRun run{.stepper = &stepper, .options = options};
  State state = scene.start;
  const double from = state.time, end = from + plan.until;
  Progress progress(from, end, plan.quiet);
  const std::unique_ptr<Stepper> clock = stepper.make(scene.model, options);
  // All clocks of fixed step have a step that ends where a sample is taken.
  const double longest = plan.steps.front();
  const double interval =
      longest * std::max(1.0, std::ceil(plan.until / (most_samples * longest) - 1e-9));
  const double started = processor_seconds();
  const RunSummary summary =
      bristle::run(*clock, state, {.end = end, .interval = interval},
                   {.on_sample =
                        [&](const Observation& now) {
                          run.times.push_back(now.state.time - from);
                          add_places(now, run.places);
                          return true;
                        },
                    .on_step =
                        [&](const State& now) {
                          progress.at(now.time);
                          return true;
                        }});
  run.cpu = processor_seconds() - started;
  progress.done();
  run.counts = summary.counts;
  run.balance_error = summary.audit.relative();
  if (summary.status != StepStatus::ok) {
    run.trouble = fmt::format("at {:.6g} s: {}", state.time, explain(summary.status));
  } else if (!std::isfinite(run.balance_error)) {
    run.trouble = "its energies are not finite numbers";
  }
  return run;
}

/// The largest distance of a body from where it is in the reference.
void compare(const Model& model, const ClockRun& reference, ClockRun& run) {
  if (!run.trouble.empty()) return;
  std::vector<int> moving;
  const auto bodies = model.tree.bodies();
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    if (bodies[i].link != world_link) moving.push_back(static_cast<int>(i));
  }
  run.difference = 0;
  const std::size_t samples = std::min(run.times.size(), reference.times.size());
  for (std::size_t k = 0; k < samples; ++k) {
    double largest = 0;
    for (std::size_t i = 0; i < moving.size(); ++i) {
      const std::size_t at = k * moving.size() + i;
      const double apart = norm(run.places[at] - reference.places[at]);
      largest = std::max(largest, apart);
      if (apart <= run.difference) continue;
      run.difference = apart;
      run.body = moving[i];
      run.time = run.times[k];
    }
    run.differences.push_back(largest);
  }
}

/// By how much the difference falls as the step does, under the same integrator.
void find_orders(std::vector<ClockRun>& runs) {
  for (std::size_t i = 1; i < runs.size(); ++i) {
    ClockRun& run = runs[i];
    const ClockRun& before = runs[i - 1];
    if (!run.fixed_step() || run.stepper != before.stepper) continue;
    if (!(run.difference > 0) || !(before.difference > 0)) continue;
    run.order = std::log(before.difference / run.difference) /
                std::log(before.options.step / run.options.step);
  }
}

/// As many substeps as the scene says, or needs as it begins with the longest step; the
/// same for all, so that orders mean something.
int substeps_of(const Scene& scene, const StepperOptions& options, double step) {
  if (scene.clock.substeps_chosen) return scene.clock.options.substeps;
  System system(scene.model);
  State state = scene.start;
  if (settle(system, 1e-9, state) != StepStatus::ok) return 1;
  return std::clamp(time_scales(system, state).recommended_substeps(options.method, step),
                    1, 1000);
}

}  // namespace

std::string ClockRun::name() const {
  if (!fixed_step() || stepper->method) return std::string(stepper->name);
  const std::string_view method = name_of(options.method);
  return options.substeps == 1 ? std::string(method)
                               : fmt::format("{} × {}", method, options.substeps);
}

Crosscheck crosscheck(const Scene& scene, const CrosscheckPlan& plan) {
  const StepperInfo& adaptive = stepper_named("adaptive");
  const StepperInfo& fixed = stepper_named("fixed");
  const StepperInfo& impulses = stepper_named("complementarity");

  StepperOptions by_error = scene.clock.options;
  StepperOptions by_method = scene.clock.options;
  StepperOptions by_impulses = scene.clock.options;
  // Steps by forces, to compare with.
  if (scene.clock.stepper != &fixed || by_method.method.info().impulses) {
    by_method.method = Method::semi_implicit_euler;
  }
  by_method.substeps = substeps_of(scene, by_method, plan.steps.front());
  by_impulses.method = *impulses.method;
  if (scene.clock.stepper != &impulses) {
    by_impulses.own.clear();
    by_impulses.substeps = 1;
  }

  Crosscheck all;
  by_error.rtol = plan.rtol;
  all.reference = run_under(adaptive, by_error, scene, plan);
  by_error.rtol = std::max(scene.clock.options.rtol, plan.rtol);
  if (!all.reference.trouble.empty()) {
    all.why_not_adaptive = all.reference.trouble;
    StepperOptions finest = by_impulses;
    finest.step = plan.steps.back() / finer;
    ClockRun failed = std::move(all.reference);
    all.reference = run_under(impulses, finest, scene, plan);
    all.runs.push_back(std::move(failed));
    if (!all.reference.trouble.empty()) return all;
  } else if (by_error.rtol > plan.rtol) {
    all.runs.push_back(run_under(adaptive, by_error, scene, plan));
  }
  for (const auto& [stepper, options] :
       {std::pair(&fixed, &by_method), std::pair(&impulses, &by_impulses)}) {
    for (const double step : plan.steps) {
      options->step = step;
      all.runs.push_back(run_under(*stepper, *options, scene, plan));
      // Shorter steps do not help where the integrator cannot solve for impulses.
      if (scene.model.needs_impulses && stepper == &fixed) break;
    }
  }
  for (ClockRun& run : all.runs) compare(scene.model, all.reference, run);
  find_orders(all.runs);
  return all;
}

}  // namespace bristle::cli
