#include "cli/run.hpp"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <memory>

#include "bristle/core/version.hpp"
#include "cli/runner.hpp"
#include "cli/settings.hpp"
#include "cli/text.hpp"
#include "recording/export.hpp"
#include "recording/hdf5.hpp"
#include "recording/reader.hpp"
#include "report/page.hpp"
#include "report/run_page.hpp"

namespace bristle::cli {

namespace {

namespace fs = std::filesystem;
using scene::ClockKind;
using scene::Problems;
using scene::Scene;

constexpr int interrupted_status = 130;

struct RunWish {
  std::string scene;
  Settings settings;
  std::string out;
  std::string resume;
  bool json = false;
  bool realtime = false;
  bool no_recording = false;
  bool csv = false;
  int threads = 0;
  double checkpoint = 0;
};

std::string default_folder(const std::string& scene) {
  return (fs::path("out") / fs::path(scene).stem()).string();
}

/// The scene with what the command line says, or the problems on standard error.
std::optional<Scene> load(const std::string& file, const Settings& settings) {
  Problems problems;
  auto scene = scene::read_scene(file, settings, problems);
  if (!scene) fmt::print(stderr, "{}\n", problems.text());
  return scene;
}

/// As many substeps as the scene needs as it begins, unless the scene says.
void choose_substeps(Scene& scene) {
  if (scene.clock.substeps_chosen || scene.clock.kind != ClockKind::fixed) return;
  System system(scene.model);
  State state = scene.start;
  if (settle(system, 1e-9, state) != StepStatus::ok) return;
  const TimeScales scales = time_scales(system, state);
  scene.clock.fixed.substeps = std::clamp(
      scales.recommended_substeps(scene.clock.fixed.method, scene.clock.fixed.step), 1,
      1000);
}

Json ledger_json(const RunReport& report) {
  const Ledger& books = report.audit.last();
  return {
      {"kinetic_J", books.kinetic},      {"gravity_J", books.gravity},
      {"stored_J", books.stored()},      {"dissipated_J", books.dissipated()},
      {"supplied_J", books.supplied()},  {"residual_J", report.audit.residual()},
      {"scale_J", report.audit.scale()}, {"relative_residual", report.audit.relative()}};
}

/// Names of files may not be UTF-8; what is not is replaced.
std::string text_of(const Json& json, int indent = 2) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

const char* ending_text(Ending ending) {
  switch (ending) {
    case Ending::finished:
      return "finished";
    case Ending::interrupted:
      return "interrupted";
    case Ending::cannot_go_on:
      return "cannot go on";
    case Ending::cannot_write:
      return "cannot write";
  }
  return "";
}

/// Quantiles, and a histogram: where a bin begins, how many ticks.
void add_times(const std::string& name, const StepTimes& times, Json& json) {
  json[name + "_us"] = {{"median", 1e6 * times.quantile(0.5)},
                        {"p99", 1e6 * times.quantile(0.99)},
                        {"longest", 1e6 * times.longest()}};
  Json bins = Json::array();
  for (int i = 0; i < StepTimes::bins; ++i) {
    const std::uint64_t count = times.counts()[static_cast<std::size_t>(i)];
    if (count > 0) bins.push_back({1e6 * StepTimes::bin_start(i), count});
  }
  json[name + "_histogram_us"] = bins;
}

std::string times_text(const StepTimes& times) {
  return fmt::format("{:.2f} µs (median), {:.2f} µs (99 %), {:.2f} µs at most",
                     1e6 * times.quantile(0.5), 1e6 * times.quantile(0.99),
                     1e6 * times.longest());
}

Json summary_json(const Scene& scene, const RunReport& report) {
  Json json{
      {"scene", scene.file},
      {"title", scene.title},
      {"about", scene.about},
      {"version", version()},
      {"status", ending_text(report.ending)},
      {"clock", scene.clock.kind == ClockKind::adaptive ? "adaptive" : "fixed"},
      {"simulated_s", report.simulated},
      {"elapsed_s", report.elapsed},
      {"realtime_factor", report.elapsed > 0 ? report.simulated / report.elapsed : 0.0},
      {"steps", report.steps},
      {"evaluations", report.evaluations},
      {"events", report.events},
      {"touches", report.touches},
      {"ledger", ledger_json(report)},
      {"warnings", report.warnings}};
  if (scene.clock.kind == ClockKind::fixed) {
    add_times("step_time", report.times, json);
    if (report.lateness.count() > 0) add_times("wake_up_latency", report.lateness, json);
    json["missed_deadlines"] = report.missed;
  }
  Json probes = Json::object();
  for (std::size_t i = 0; i < report.probes.size(); ++i) {
    const ProbeRange& range = report.probes[i];
    probes[scene.probes[i].name] = {{"last", range.last},
                                    {"least", range.least},
                                    {"largest", range.largest},
                                    {"unit", scene.probes[i].unit}};
  }
  json["probes"] = probes;
  if (!report.trouble.empty()) json["trouble"] = report.trouble;
  return json;
}

void print_summary(const Scene& scene, const RunReport& report) {
  const double pace = report.elapsed > 0 ? report.simulated / report.elapsed : 0;
  fmt::print("{}: {:.6g} s simulated in {:.3g} s, {:.3g} × real time\n",
             scene.title.empty() ? scene.file : scene.title, report.simulated,
             report.elapsed, pace);
  fmt::print("{} steps, {} evaluations, {} events, {} of them touches\n", report.steps,
             report.evaluations, report.events, report.touches);
  const Ledger& books = report.audit.last();
  fmt::print(
      "energy [J]: kinetic {:.6g}, gravity {:.6g}, stored {:.6g}, dissipated {:.6g}, "
      "supplied {:.6g}\n",
      books.kinetic, books.gravity, books.stored(), books.dissipated(), books.supplied());
  fmt::print("unaccounted for: {:.2g} J, {:.2g} of the energy scale\n",
             report.audit.residual(), report.audit.relative());
  if (scene.clock.kind == ClockKind::fixed) {
    fmt::print("a step took {}\n", times_text(report.times));
    if (report.lateness.count() > 0) {
      fmt::print("it began {} after it was due\n", times_text(report.lateness));
    }
    fmt::print("{} of {} missed their deadline\n", report.missed, report.steps);
  }
}

int status_of(Ending ending) {
  switch (ending) {
    case Ending::finished:
      return fine;
    case Ending::interrupted:
      return interrupted_status;
    default:
      return cannot_go_on;
  }
}

/// The page to look at, beside the recording.
void write_report(const std::string& folder, Json& summary) {
  if (report::empty_page().empty()) return;
  auto reader = recording::Reader::open(folder);
  const std::string page = (fs::path(folder) / "report.html").string();
  const auto error = reader ? report::write_run_page(*reader, page)
                            : std::optional<Error>(Error{reader.error()});
  if (error) {
    fail(fmt::format("no report: {}", error->message));
  } else {
    summary["report"] = page;
  }
}

bool came_to_its_end(const recording::Reader& reader) {
  return reader.complete() && reader.end().status == ending_text(Ending::finished);
}

/// The summary of a run that is to go on but has finished: there is nothing left to do.
void print_finished(const recording::Reader& reader, const RunWish& wish) {
  if (!wish.json) {
    fmt::print("{}: this run had finished; its summary was\n", wish.resume);
  }
  const Json summary = Json::parse(reader.end().summary, nullptr, false);
  fmt::print("{}\n", summary.is_discarded() ? reader.end().summary : text_of(summary));
}

int run_command(const RunWish& wish) {
  std::optional<Scene> scene;
  std::string folder = wish.out;
  std::optional<recording::Checkpoint> from;
  std::string log;
  if (!wish.resume.empty()) {
    folder = wish.resume;
    log = (fs::path(folder) / recording::log_name).string();
    std::error_code missing;
    if (!fs::exists(log, missing)) {
      const auto done = recording::Reader::open(folder);
      if (!done) return fail(done.error());
      if (!came_to_its_end(*done)) {
        return fail(fmt::format("{} is not there, and the run did not finish", log));
      }
      print_finished(*done, wish);
      return fine;
    }
    auto reader = recording::Reader::open(log);
    if (!reader) return fail(reader.error());
    if (came_to_its_end(*reader)) {
      // Nothing is left but to fold it.
      const auto folded =
          recording::fold(log, (fs::path(folder) / recording::hdf5_name).string());
      if (!folded) return fail(folded.error(), cannot_go_on);
      fs::remove(log, missing);
      Json unused;
      write_report(folder, unused);
      print_finished(*reader, wish);
      return fine;
    }
    const recording::RunInfo& run = reader->header().run;
    Problems problems;
    scene = scene::read_scene_text(run.scene, run.source, {}, problems);
    if (!scene) return fail(problems.text());
    auto checkpoint = recording::last_checkpoint(log);
    if (checkpoint) from = std::move(*checkpoint);
  } else {
    Settings settings = wish.settings;
    if (wish.checkpoint > 0) {
      settings.push_back(fmt::format("record.checkpoint_s={}", wish.checkpoint));
    }
    if (wish.threads > 0)
      settings.push_back(fmt::format("clock.threads={}", wish.threads));
    if (wish.realtime) settings.emplace_back("clock.kind=\"fixed\"");
    scene = load(wish.scene, settings);
    if (!scene) return bad_input;
    if (folder.empty()) folder = default_folder(wish.scene);
    log = (fs::path(folder) / recording::log_name).string();
  }
  choose_substeps(*scene);
  for (const std::string& warning : scene->warnings) {
    fmt::print(stderr, "warning: {}\n", warning);
  }

  State state = scene->start;
  std::optional<recording::Recorder> recorder;
  if (!wish.no_recording) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) {
      return fail(fmt::format("cannot make the folder {}: {}", folder, error.message()));
    }
    recording::RunInfo info{.scene = scene->text, .source = scene->file, .probes = {}};
    for (const scene::Probe& probe : scene->probes) {
      info.probes.push_back({probe.name, probe.unit});
    }
    if (from) {
      auto restored = recording::deserialise(from->state, scene->model);
      if (!restored) return fail(restored.error());
      state = std::move(*restored);
    }
    auto made = from ? recording::Recorder::resume(log, scene->model, from->time)
                     : recording::Recorder::create(log, scene->model, info);
    if (!made) return fail(made.error());
    recorder.emplace(std::move(*made));
  }

  listen_for_interrupts();
  Runner runner(*scene, state, 0, recorder ? &*recorder : nullptr,
                {.realtime = wish.realtime, .quiet = wish.json});
  if (from && !runner.restore(from->extra)) {
    return fail(fmt::format("{}: its checkpoint was written by another version", folder));
  }
  const RunReport report = runner.run();
  Json summary = summary_json(*scene, report);
  if (!report.trouble.empty()) fail(report.trouble, status_of(report.ending));

  if (recorder) {
    summary["folder"] = folder;
    const bool closed =
        recorder->finish({ending_text(report.ending), text_of(summary, -1)});
    if (!closed && report.ending != Ending::cannot_write) fail(recorder->error());
    const std::string data = (fs::path(folder) / recording::hdf5_name).string();
    const auto folded = recording::fold(log, data);
    if (folded) {
      summary["recording"] = data;
      std::error_code ignored;
      if (report.ending == Ending::finished) fs::remove(log, ignored);
    } else {
      fail(folded.error());
    }
    if (wish.csv) {
      auto reader = recording::Reader::open(folder);
      const auto tables =
          reader ? recording::export_csv(*reader, (fs::path(folder) / "csv").string())
                 : Result<recording::ExportReport>(Error{reader.error()});
      if (!tables) fail(tables.error());
      if (tables) summary["csv"] = tables->files;
    }
    write_report(folder, summary);
    const std::string picture = (fs::path(folder) / "run.png").string();
    if (report::write_figure(report.figure, picture)) summary["picture"] = picture;
    report::write_figure(report.figure, (fs::path(folder) / "run.svg").string());
  }
  if (wish.json) {
    fmt::print("{}\n", text_of(summary));
  } else {
    print_summary(*scene, report);
    for (const std::string& warning : report.warnings)
      fmt::print("warning: {}\n", warning);
    if (recorder) {
      fmt::print("recording: {}, picture: {}\n", summary.value("recording", log),
                 summary.value("picture", ""));
      if (report::empty_page().empty()) {
        fmt::print("{}\n", report::no_pages);
      } else if (summary.contains("report")) {
        fmt::print("look at it: {}\n", summary.value("report", ""));
      }
    }
    if (report.ending == Ending::interrupted) {
      fmt::print("go on with: bristle run --resume {}\n", folder);
    }
  }
  return status_of(report.ending);
}

// scene

int check_scene(const std::string& file, const Settings& settings) {
  const auto scene = load(file, settings);
  if (!scene) return bad_input;
  for (const std::string& warning : scene->warnings) fmt::print("warning: {}\n", warning);
  fmt::print("{}: fine; {} bodies, {} joints, {} loops, {} shapes\n", file,
             scene->model.tree.bodies().size(), scene->model.tree.joints().size(),
             scene->model.loops.size(), scene->model.shapes.size());
  return fine;
}

int show_scene(const std::string& file, const Settings& settings) {
  auto scene = load(file, settings);
  if (!scene) return bad_input;
  choose_substeps(*scene);
  const Model& model = scene->model;
  fmt::print("{}\n", scene->title.empty() ? file : scene->title);
  if (!scene->about.empty()) fmt::print("{}\n", scene->about);
  fmt::print("\nbodies\n");
  const auto constants = model.tree.constants();
  for (const Body& body : model.tree.bodies()) {
    if (body.link == world_link) {
      fmt::print("  {:24} the world\n", body.name);
      continue;
    }
    const Inertia<double>& inertia =
        constants[static_cast<std::size_t>(body.link)].inertia;
    fmt::print("  {:24} {:10.6g} kg\n", body.name, inertia.mass);
  }
  fmt::print("\njoints\n");
  for (const Joint& joint : model.tree.joints()) {
    fmt::print("  {:24} {}\n", joint.name, joint_type_name(joint.type));
  }
  if (!model.loops.empty()) fmt::print("\nloops\n");
  for (const Loop& loop : model.loops) {
    constexpr const char* types[] = {"point", "hinge", "weld", "distance"};
    fmt::print("  {:24} {}, {}\n", loop.name, types[static_cast<int>(loop.kind)],
               loop.rigid
                   ? "rigid"
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
    if (scales.row >= 0) fmt::print("  at {}\n", row_name(model, state, scales.row));
  }
  if (scene->clock.kind == ClockKind::adaptive) {
    fmt::print("clock: adaptive, rtol = {:g}, {:g} s\n", scene->clock.adaptive.rtol,
               scene->clock.duration);
  } else {
    fmt::print("clock: {}, {:g} s in steps of {:g} s, {} substeps{}\n",
               name_of(scene->clock.fixed.method), scene->clock.duration,
               scene->clock.fixed.step, scene->clock.fixed.substeps,
               scene->clock.substeps_chosen ? "" : " (recommended)");
  }
  for (const std::string& warning : scene->warnings) fmt::print("warning: {}\n", warning);
  return fine;
}

}  // namespace

void add_run_commands(CLI::App& app, int& status) {
  const auto wish = std::make_shared<RunWish>();
  CLI::App* run = app.add_subcommand("run", "Simulate a scene and record it");
  run->add_option("SCENE", wish->scene, "A scene file (TOML)");
  run->add_option("--set", wish->settings,
                  "key=value of the scene: clock.duration_s=2, bodies.ball.mass_kg=3")
      ->type_name("KEY=VALUE");
  run->add_option("-o,--out", wish->out,
                  "Folder for the recording; out/SCENE when left out");
  run->add_option("--resume", wish->resume,
                  "Go on with the run in this folder from its last checkpoint")
      ->type_name("FOLDER");
  run->add_option("--checkpoint", wish->checkpoint,
                  "Simulated time between checkpoints [s]")
      ->check(CLI::PositiveNumber);
  run->add_option("--threads", wish->threads, "Of the fixed clock; results do not change")
      ->check(CLI::Range(1, 1024));
  run->add_flag("--realtime", wish->realtime, "The fixed clock against the wall clock");
  run->add_flag("--csv", wish->csv, "Tables of the recording as well, in FOLDER/csv");
  run->add_flag("--no-recording", wish->no_recording, "Write nothing");
  run->add_flag("--json", wish->json, "Print the summary as JSON and nothing else");
  run->footer(
      "Examples:\n"
      "  bristle run scenes/steel-ball.toml\n"
      "  bristle run scenes/steel-ball.toml --set clock.duration_s=2 --out out/short\n"
      "  bristle run scenes/arm.toml --checkpoint 1\n"
      "  bristle run --resume out/arm\n"
      "Exit status: 0 fine, 2 bad input, 3 the simulation could not go on, 130 "
      "interrupted.");
  run->callback([wish, &status] {
    if (wish->scene.empty() == wish->resume.empty()) {
      status = fail("give a scene, or --resume with a folder");
      return;
    }
    status = run_command(*wish);
  });

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
