#include <algorithm>
#include <cstring>

#include "bench/everyday/driver.hpp"
#include "scene/scene.hpp"

namespace bristle::bench {

namespace {

void tell(Everyday& result, const std::string& trouble) {
  trouble.copy(result.trouble, sizeof result.trouble - 1);
}

}  // namespace

Everyday bristle_everyday(const std::filesystem::path& file,
                          const std::vector<std::string>& settings) {
  Everyday result;
  scene::Problems problems;
  auto scene = scene::read_scene(file.string(), settings, problems);
  if (!scene) {
    result.exit = 2;
    tell(result, problems.text());
    return result;
  }
  result.stands = scene->about == "stands";
  const auto stepper = scene->clock.stepper->make(scene->model, scene->clock.options);
  double rise = 0;  // [J]
  RunObserver observer;
  observer.on_sample = [&](const Observation& now) {
    rise = std::max(rise, now.audit.last().energy() - now.audit.first().energy());
    return true;
  };
  const double started = thread_seconds();
  const RunSummary run = bristle::run(*stepper, scene->start,
                                      {.end = scene->clock.duration,
                                       .every = scene->record.every,
                                       .interval = scene->record.interval},
                                      observer);
  result.cpu = thread_seconds() - started;
  result.exit = run.status == StepStatus::ok ? 0 : 3;
  if (run.status != StepStatus::ok) {
    tell(result, std::string(explain(run.status)));
  } else if (!run.warnings.empty()) {
    tell(result, run.warnings.front());
  }
  result.balance = run.audit.relative();
  result.rise = rise / std::max(run.audit.scale(), 1e-300);
  result.steps = run.counts.steps;
  for (const Motion<double>& link : stepper->system().tree.velocities) {
    result.speed = std::max(result.speed, norm(link.linear));
  }
  return result;
}

}  // namespace bristle::bench
