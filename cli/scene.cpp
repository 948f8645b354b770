#include "cli/scene.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>

#include "bristle/model/pair_laws.hpp"
#include "cli/text.hpp"
#include "files/read_file.hpp"
#include "scene/robot_scene.hpp"
#include "scene/start.hpp"

namespace bristle::cli {

using scene::Problems;
using scene::Scene;

std::optional<Scene> load_scene(const std::string& file, const Settings& settings) {
  Problems problems;
  auto scene = scene::read_scene(file, settings, problems);
  if (!scene) tell("{}\n", printable(problems.text()));
  return scene;
}

void fix_substeps(Scene& scene) {
  if (scene.clock.options.substeps > 0) return;
  scene.clock.options.substeps = 1;
  System system(scene.model);
  State state = scene.start;
  if (settle(system, 1e-9, state) != StepStatus::ok) return;
  const TimeScales scales = time_scales(system, state);
  scene.clock.options.substeps = std::clamp(
      scales.recommended_substeps(scene.clock.options.method, scene.clock.options.step),
      1, scene.clock.options.most_substeps);
}

namespace {

int check_scene(const std::string& file, const Settings& settings) {
  const auto scene = load_scene(file, settings);
  if (!scene) return bad_input;
  for (const std::string& warning : scene->warnings)
    fmt::print("warning: {}\n", printable(warning));
  fmt::print("{}: no errors; {} bodies, {} joints, {} loops, {} shapes\n",
             printable(file), scene->model.tree.bodies().size(),
             scene->model.tree.joints().size(), scene->model.loops.size(),
             scene->model.shapes.size());
  return fine;
}

void show_law(const LawChoice& law) {
  const LawEntry& entry = entry_of(law);
  std::string parameters;
  for (std::size_t i = 0; i < entry.parameters.size(); ++i) {
    parameters += fmt::format(" {} = {}", entry.parameters[i].name,
                              value_text(entry.parameters[i], law.parameters[i]));
  }
  fmt::print("    {}:{}\n", entry.info.name, parameters);
}

/// The pairs of shapes under one block of laws.
struct PairsOfBlock {
  std::size_t count = 0;
  const ModelShape* a = nullptr;  // one of them
  const ModelShape* b = nullptr;
  double least_load = HUGE_VAL, largest_load = 0;  // m g [N]
  Punch punch{};                                   // of that one
};

std::vector<PairsOfBlock> pairs_by_block(const Model& model) {
  std::vector<PairsOfBlock> blocks(model.blocks.size());
  std::vector<ShapeScale> scales;
  for (const ModelShape& shape : model.shapes) {
    scales.push_back(scale_of(model, shape));
    if (model.has_patches) add_section(shape.shape, scales.back());
  }
  const double gravity = norm(model.tree.gravity());
  for (std::size_t i = 0; i < scales.size(); ++i) {
    for (std::size_t j = i + 1; j < scales.size(); ++j) {
      const ModelShape& a = model.shapes[i];
      const ModelShape& b = model.shapes[j];
      const PairRule& rule = model.rule(a.kind, b.kind);
      if (rule.block < 0 || a.link == b.link ||
          (!rule.adjacent && model.adjacent(a.link, b.link))) {
        continue;
      }
      PairsOfBlock& block = blocks[static_cast<std::size_t>(rule.block)];
      const PairScale pair = scale_of(scales[i], scales[j], gravity);
      const double load = pair.mass * pair.gravity;
      if (block.count++ == 0) {
        const bool stands = a.link == world_link;
        block.a = stands ? &b : &a;
        block.b = stands ? &a : &b;
        block.punch = punch_of(pair);
      }
      block.least_load = std::min(block.least_load, load);
      block.largest_load = std::max(block.largest_load, load);
    }
  }
  return blocks;
}

/// "2.5e-05", or "2.5e-05 to 4e-05"
std::string range_text(double low, double high) {
  const std::string from = fmt::format("{:.4g}", low);
  const std::string to = fmt::format("{:.4g}", high);
  return from == to ? from : from + " to " + to;
}

void show_laws(const Model& model) {
  if (model.joint_blocks > 0) fmt::print("\nlaws of limits and friction of joints\n");
  for (const LawBlock& block : model.joint_law_blocks()) {
    if (!block.given_load) show_law(block.normal);
    show_law(block.friction);
  }
  if (!model.contact_law_blocks().empty()) fmt::print("\ncontacts\n");
  const std::vector<PairsOfBlock> pairs = pairs_by_block(model);
  for (std::size_t b = static_cast<std::size_t>(model.joint_blocks);
       b < model.blocks.size(); ++b) {
    const PairsOfBlock& of = pairs[b];
    if (of.count == 0) continue;
    const LawBlock& block = model.blocks[b];
    const std::string who =
        fmt::format("{} on {}{}", printable(of.a->name), printable(of.b->name),
                    of.count > 1 ? fmt::format(" and {} more pairs", of.count - 1) : "");
    if (block.rigid) {
      fmt::print("  {}: rigid, restitution = {:g}\n", who, block.restitution);
    } else {
      fmt::print("  {}: rest depth {} m under {} N\n", who,
                 range_text(rest_depth(block.normal, of.least_load, of.punch),
                            rest_depth(block.normal, of.largest_load, of.punch)),
                 range_text(of.least_load, of.largest_load));
      show_law(block.normal);
    }
    show_law(block.friction);
  }
}

/// What overlaps at the start, and which joints and couplings are beyond their limits.
void show_start(const Scene& scene) {
  const scene::StartReport start = scene::inspect_start(scene.model, scene.start);
  if (start.overlaps.empty() && start.limits.empty()) return;
  fmt::print("\nstart\n");
  for (const scene::StartOverlap& overlap : start.overlaps) {
    fmt::print("  {} and {} overlap by {:.4g} m{}\n",
               printable(scene.model.shapes[overlap.a].name),
               printable(scene.model.shapes[overlap.b].name), overlap.depth,
               overlap.rests() ? ": at rest"
                               : fmt::format(", and their rest depth is {:.4g} m",
                                             overlap.rest_depth));
  }
  for (const scene::StartLimit& limit : start.limits) {
    fmt::print("  {}\n", printable(text_of(limit, scene.model)));
  }
  fmt::print("  stored in contacts {:.4g} J, in limits {:.4g} J\n", start.contact_energy,
             start.limit_energy);
}

int show_scene(const std::string& file, const Settings& settings) {
  auto scene = load_scene(file, settings);
  if (!scene) return bad_input;
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
  show_laws(model);
  show_start(*scene);
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
    fmt::print("integrator: {}, rtol = {:g}, {:g} s\n", scene->clock.stepper->name,
               options.rtol, scene->clock.duration);
  } else {
    fmt::print(
        "integrator: {}, {:g} s in steps of {:g} s, {}\n", name_of(options.method),
        scene->clock.duration, options.step,
        options.substeps > 0
            ? fmt::format("{} substeps", options.substeps)
            : fmt::format("as many substeps as the present contacts need, at most {}",
                          options.most_substeps));
  }
  for (const std::string& warning : scene->warnings)
    fmt::print("warning: {}\n", printable(warning));
  return fine;
}

/// The scene of a robot's file, to go on from.
int new_scene(const std::string& file, const std::string& out) {
  namespace fs = std::filesystem;
  const auto text = files::read_file(file, std::size_t{1} << 26);
  if (!text)
    return fail(fmt::format("{}: cannot read this file: {}", file, text.error()));
  if (scene::robot_format(*text) == scene::RobotFormat::none) {
    return fail(
        fmt::format("{}: this is not a robot's file: it must begin with <robot> "
                    "(URDF) or <mujoco> (MJCF)",
                    file));
  }
  std::error_code error;
  const fs::path folder = fs::absolute(out.empty() ? "." : out, error).parent_path();
  std::string name = file;
  if (!out.empty()) {
    const fs::path relative = fs::relative(file, folder, error);
    name = error || relative.empty() ? fs::absolute(file).string() : relative.string();
  }
  Problems problems;
  const auto made = scene::robot_scene(*text, file, name,
                                       std::make_shared<scene::Geometry>(), problems);
  if (!made) return fail(problems.text());
  if (out.empty()) {
    fmt::print("{}", *made);
    return fine;
  }
  if (fs::exists(out, error)) {
    return fail(fmt::format("{}: this file exists already", out));
  }
  std::ofstream to(out, std::ios::binary);
  to << *made;
  to.close();
  if (!to) return fail(fmt::format("{}: cannot write this file", out), cannot_go_on);
  fmt::print("{}: run it with bristle run {}\n", printable(out), printable(out));
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
      "  bristle scene new robot.xml -o robot.toml\n"
      "  bristle scene schema > bristle.schema.json");
  const auto with_file = [&](CLI::App* command) {
    command->add_option("SCENE", *file, "A scene (TOML), or a robot (URDF or MJCF)")
        ->required();
    command->add_option("--set", *settings, "key=value of the scene")
        ->type_name("KEY=VALUE");
  };
  CLI::App* check =
      scene->add_subcommand("check", "All problems of a scene file at once");
  with_file(check);
  check->callback([file, settings, &status] { status = check_scene(*file, *settings); });
  CLI::App* show = scene->add_subcommand(
      "show", "Bodies, laws and all parameters of a scene, as it was read");
  with_file(show);
  show->callback([file, settings, &status] { status = show_scene(*file, *settings); });
  const auto out = std::make_shared<std::string>();
  CLI::App* fresh = scene->add_subcommand(
      "new", "Write the scene that `bristle run` makes of a robot's file");
  fresh->add_option("ROBOT", *file, "A robot's file (URDF or MJCF)")->required();
  fresh->add_option("-o,--out", *out, "The scene file; standard output when left out")
      ->check(empty_name);
  fresh->callback([file, out, &status] { status = new_scene(*file, *out); });
  CLI::App* schema =
      scene->add_subcommand("schema", "JSON Schema of scene files, for editors");
  schema->callback([&status] {
    fmt::print("{}\n", scene::scene_schema());
    status = fine;
  });
}

}  // namespace bristle::cli
