// Scenes with the robots and meshes that they name, read and run for a moment. An input
// is several files, each after a line "=== NAME": scene.toml, robot.urdf, robot.xml,
// mesh.stl, mesh.obj, mesh.ply, mesh.dae, more.toml.

#include <algorithm>

#include "scene/scene.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/fuzz/scratch.hpp"

namespace {

using namespace bristle;

constexpr const char* names[] = {"scene.toml", "more.toml", "robot.urdf", "robot.xml",
                                 "mesh.stl",   "mesh.obj",  "mesh.ply",   "mesh.dae"};

void write_files(std::string_view input, const test::FuzzFolder& folder) {
  for (const char* name : names) {
    const std::string head = std::string("=== ") + name + "\n";
    const std::size_t at = input.find(head);
    if (at == std::string_view::npos) {
      std::filesystem::remove(folder / name);
      continue;
    }
    const std::string_view rest = input.substr(at + head.size());
    folder.put(name, rest.substr(0, rest.find("=== ")));
  }
}

/// A millisecond of simulated time, and not more steps than a fuzzer has time for.
void run_a_moment(const scene::Scene& scene) {
  if (scene.model.tree.bodies().size() > 40 || scene.model.shapes.size() > 40) return;
  State state = scene.start;
  constexpr double moment = 1e-3;
  int left = 200;
  StepperOptions options = scene.clock.options;
  options.substeps = std::min(options.substeps, 10);
  options.threads = 1;
  const std::unique_ptr<Stepper> stepper =
      scene.clock.stepper->make(scene.model, options);
  if (stepper->settle(state) != StepStatus::ok) return;
  StepObserver watch;
  watch.on_step = [&](const State&) { return --left > 0; };
  static_cast<void>(stepper->advance_to(state, moment, watch));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const test::FuzzFolder folder;
  write_files({reinterpret_cast<const char*>(data), size}, folder);
  scene::Problems problems;
  const auto scene = scene::read_scene(folder / "scene.toml", {}, problems);
  if (!scene && !problems.any()) __builtin_trap();
  if (scene) run_a_moment(*scene);
  return 0;
}
