#include "cli/scene.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/text.hpp"

namespace bristle::cli {

using scene::Problems;
using scene::Scene;

std::optional<Scene> load_scene(const std::string& file, const Settings& settings) {
  Problems problems;
  auto scene = scene::read_scene(file, settings, problems);
  if (!scene) say(fmt::format("{}\n", printable(problems.text())));
  return scene;
}

void choose_substeps(Scene& scene) {
  if (scene.clock.substeps_chosen || !scene.clock.stepper->fixed_step) return;
  System system(scene.model);
  State state = scene.start;
  if (settle(system, 1e-9, state) != StepStatus::ok) return;
  const TimeScales scales = time_scales(system, state);
  scene.clock.options.substeps = std::clamp(
      scales.recommended_substeps(scene.clock.options.method, scene.clock.options.step),
      1, 1000);
}

namespace {

int check_scene(const std::string& file, const Settings& settings) {
  const auto scene = load_scene(file, settings);
  if (!scene) return bad_input;
  for (const std::string& warning : scene->warnings)
    fmt::print("warning: {}\n", printable(warning));
  fmt::print("{}: fine; {} bodies, {} joints, {} loops, {} shapes\n", printable(file),
             scene->model.tree.bodies().size(), scene->model.tree.joints().size(),
             scene->model.loops.size(), scene->model.shapes.size());
  return fine;
}

int show_scene(const std::string& file, const Settings& settings) {
  auto scene = load_scene(file, settings);
  if (!scene) return bad_input;
  choose_substeps(*scene);
  const Model& model = scene->model;
  fmt::print("{}\n", printable(scene->title.empty() ? file : scene->title));
  if (!scene->about.empty()) fmt::print("{}\n", printable(scene->about));
  fmt::print("\nbodies\n");
  const auto constants = model.tree.constants();
  for (const Body& body : model.tree.bodies()) {
    if (body.link == world_link) {
      fmt::print("  {:24} the world\n", printable(body.name));
      continue;
    }
    const Inertia<double>& inertia =
        constants[static_cast<std::size_t>(body.link)].inertia;
    fmt::print("  {:24} {:10.6g} kg\n", printable(body.name), inertia.mass);
  }
  fmt::print("\njoints\n");
  for (const Joint& joint : model.tree.joints()) {
    fmt::print("  {:24} {}\n", printable(joint.name), joint_type_name(joint.type));
  }
  if (!model.loops.empty()) fmt::print("\nloops\n");
  for (const Loop& loop : model.loops) {
    constexpr const char* types[] = {"point", "hinge", "weld", "distance"};
    fmt::print(
        "  {:24} {}, {}\n", printable(loop.name), types[static_cast<int>(loop.kind)],
        loop.rigid ? "rigid"
                   : fmt::format("{:g} N/m, {:g} N s/m", loop.stiffness, loop.damping));
  }
  fmt::print("\nlaws\n");
  for (const LawBlock& block : model.blocks) {
    for (const LawChoice* law : {&block.normal, &block.friction}) {
      const LawEntry& entry = entry_of(*law);
      std::string parameters;
      for (std::size_t i = 0; i < entry.parameters.size(); ++i) {
        parameters += fmt::format(" {} = {}", entry.parameters[i].name,
                                  value_text(entry.parameters[i], law->parameters[i]));
      }
      fmt::print("  {}:{}\n", entry.info.name, parameters);
    }
  }
  System system(model);
  State state = scene->start;
  if (settle(system, 1e-9, state) == StepStatus::ok) {
    const TimeScales scales = time_scales(system, state);
    fmt::print("\nfastest motion at the start: {:.4g} Hz, decay {:.4g} 1/s\n",
               scales.frequency / (2 * 3.14159265358979), scales.decay);
    if (!scales.fastest.empty()) fmt::print("  at {}\n", printable(scales.fastest));
  }
  const StepperOptions& options = scene->clock.options;
  if (!scene->clock.stepper->fixed_step) {
    fmt::print("clock: {}, rtol = {:g}, {:g} s\n", scene->clock.stepper->name,
               options.rtol, scene->clock.duration);
  } else {
    fmt::print("clock: {}, {:g} s in steps of {:g} s, {} substeps{}\n",
               name_of(options.method), scene->clock.duration, options.step,
               options.substeps, scene->clock.substeps_chosen ? "" : " (recommended)");
  }
  for (const std::string& warning : scene->warnings)
    fmt::print("warning: {}\n", printable(warning));
  return fine;
}

}  // namespace

void add_scene_commands(CLI::App& app, int& status) {
  const auto file = std::make_shared<std::string>();
  const auto settings = std::make_shared<Settings>();
  CLI::App* scene = app.add_subcommand("scene", "Check and explain scene files");
  scene->require_subcommand(1);
  scene->footer(
      "Examples:\n"
      "  bristle scene check scenes/steel-ball.toml\n"
      "  bristle scene show scenes/steel-ball.toml\n"
      "  bristle scene schema > bristle.schema.json");
  const auto with_file = [&](CLI::App* command) {
    command->add_option("SCENE", *file, "A scene file (TOML)")->required();
    command->add_option("--set", *settings, "key=value of the scene")
        ->type_name("KEY=VALUE");
  };
  CLI::App* check =
      scene->add_subcommand("check", "All problems of a scene file at once");
  with_file(check);
  check->callback([file, settings, &status] { status = check_scene(*file, *settings); });
  CLI::App* show = scene->add_subcommand("show", "What was understood of a scene file");
  with_file(show);
  show->callback([file, settings, &status] { status = show_scene(*file, *settings); });
  CLI::App* schema =
      scene->add_subcommand("schema", "JSON Schema of scene files, for editors");
  schema->callback([&status] {
    fmt::print("{}\n", scene::scene_schema());
    status = fine;
  });
}

}  // namespace bristle::cli
