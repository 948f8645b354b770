#include "cli/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <stdexcept>

#include "cli/appearance.hpp"
#include "cli/run_files.hpp"
#include "cli/run_summary.hpp"
#include "cli/runner.hpp"
#include "cli/scene.hpp"
#include "cli/text.hpp"
#include "files/guarded.hpp"
#include "recording/reader.hpp"
#include "report/page.hpp"

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace bristle::cli {

namespace {

namespace fs = std::filesystem;
using scene::Problems;
using scene::Scene;

struct RunWish {
  std::string scene;
  Settings settings;
  std::string out;
  std::string resume;
  std::string key;
  bool json = false;
  bool realtime = false;
  bool priority = false;
  bool no_recording = false;
  bool csv = false;
  int threads = 0;
  double checkpoint = 0;
};

/// out/NAME for NAME.toml; nothing where the name is no name: "...toml".
std::optional<std::string> default_folder(const std::string& scene) {
  const std::string name = fs::path(scene).stem().string();
  if (name.empty() || name == "." || name == "..") return std::nullopt;
  return (fs::path("out") / name).string();
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

/// Where a run goes on from, or begins.
struct Beginning {
  Scene scene;
  std::optional<recording::Checkpoint> from{};
};

/// The recorder of a run, with the state that the run goes on from.
Result<recording::Recorder> open_recorder(const Beginning& begin,
                                          const files::OutputFolder& folder,
                                          State& state) {
  const std::string log = folder.inside(recording::log_name);
  const Scene& scene = begin.scene;
  if (begin.from) {
    auto restored = recording::deserialise(begin.from->state, scene.model);
    if (!restored) return Error{restored.error()};
    state = std::move(*restored);
    return recording::Recorder::resume(log, scene.model, begin.from->time);
  }
  recording::RunInfo info{.scene = scene.text, .source = scene.file, .probes = {}};
  for (const scene::Probe& probe : scene.probes) {
    info.probes.push_back({probe.name, probe.unit});
  }
  for (const std::string& note : add_looks(scene, info)) {
    tell("note: {}\n", printable(note));
  }
  return recording::Recorder::create(log, scene.model, std::move(info));
}

/// A run whose energies or probes are no numbers has not computed what it promised.
void judge(const Scene& scene, RunReport& report) {
  if (report.ending != Ending::finished) return;
  const std::vector<std::string> names = not_finite(summary_json(scene, report));
  if (names.empty()) return;
  report.ending = Ending::cannot_go_on;
  report.trouble = fmt::format(
      "the run ended with what is not a finite number: {}{}", names.front(),
      names.size() > 1 ? fmt::format(" and {} more", names.size() - 1) : std::string());
}

void print_end(const Scene& scene, const RunReport& report, const RunWish& wish,
               const Json& summary) {
  print_summary(scene, report, wish.realtime);
  for (const std::string& warning : report.warnings) {
    fmt::print("warning: {}\n", printable(warning));
  }
  if (!summary.contains("folder")) return;
  if (summary.contains("recording")) {
    fmt::print("recording: {}, picture: {}\n", summary.value("recording", ""),
               summary.value("picture", "none"));
  }
  if (report::empty_page().empty()) {
    fmt::print("{}\n", report::no_pages);
  } else if (summary.contains("report")) {
    fmt::print("look at it: {}\n", summary.value("report", ""));
  }
  if (report.ending == Ending::interrupted) {
    fmt::print("go on with: bristle run --resume {}\n", summary.value("folder", ""));
  }
}

/// Memory that a run of many bodies has given back is not carried along by the processes
/// that write its files.
void return_memory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

/// Runs from the start to the end, and writes all files that were asked for.
int simulate_and_record(Beginning begin, const files::OutputFolder* folder,
                        const RunWish& wish) {
  Scene& scene = begin.scene;
  if (wish.realtime) fix_substeps(scene);
  for (const std::string& warning : scene.warnings) {
    tell("warning: {}\n", printable(warning));
  }
  if (wish.realtime && !scene.clock.stepper->fixed_step) {
    return fail("--realtime needs the fixed-step integrator: clock.kind = \"fixed\"");
  }
  State state = scene.start;
  std::optional<recording::Recorder> recorder;
  if (folder != nullptr) {
    auto made = open_recorder(begin, *folder, state);
    if (!made) return fail(folder->shown_in(made.error()), cannot_go_on);
    recorder.emplace(std::move(*made));
  }
  listen_for_interrupts();
  std::optional<Runner> runner;
  runner.emplace(
      scene, state, 0, recorder ? &*recorder : nullptr,
      RunnerOptions{
          .realtime = wish.realtime, .priority = wish.priority, .quiet = wish.json});
  if (begin.from && !runner->restore(begin.from->extra)) {
    return fail(
        fmt::format("{}: its checkpoint was written by another version", folder->path()));
  }
  RunReport report = runner->run();
  runner.reset();
  state = {};
  return_memory();
  judge(scene, report);
  if (folder != nullptr) report.trouble = folder->shown_in(report.trouble);
  int status = status_of(report.ending);
  if (!report.trouble.empty()) fail(report.trouble);

  Json summary = summary_json(scene, report);
  if (recorder) {
    for (const std::string& what :
         write_run_files(*recorder, *folder, report, wish.csv, summary)) {
      fail(what);
      if (status == fine) status = cannot_go_on;
    }
  }
  if (wish.json) {
    fmt::print("{}\n", json_text(summary));
  } else {
    print_end(scene, report, wish, summary);
  }
  return status;
}

/// Locks the folder for this process; says what is wrong where it cannot.
std::optional<files::OutputFolder> take_folder(const std::string& path, bool quiet) {
  auto folder = files::OutputFolder::take(path);
  if (!folder) {
    fail(folder.error());
    return std::nullopt;
  }
  if (folder->taken_over_from() != 0 && !quiet) {
    tell("{}: process {}, which wrote here, was killed\n", printable(path),
         folder->taken_over_from());
  }
  return std::move(*folder);
}

int new_run(const RunWish& wish) {
  const std::optional<std::string> path =
      wish.out.empty() ? default_folder(wish.scene) : wish.out;
  if (!wish.no_recording && !path) {
    return fail(
        fmt::format("no folder name follows from {}; give one with --out", wish.scene));
  }
  Settings settings = wish.settings;
  if (!wish.key.empty()) {
    settings.push_back(fmt::format("robots.0.key={}", json_text(Json(wish.key))));
  }
  if (wish.checkpoint > 0) {
    settings.push_back(fmt::format("record.checkpoint_s={}", wish.checkpoint));
  }
  if (wish.threads > 0) {
    settings.push_back(fmt::format("clock.threads={}", wish.threads));
  }
  auto scene = load_scene(wish.scene, settings);
  if (scene && wish.realtime && !scene->clock.stepper->fixed_step) {
    settings.emplace_back("clock.kind=\"fixed\"");
    scene = load_scene(wish.scene, settings);
  }
  if (!scene) return bad_input;
  if (wish.no_recording) return simulate_and_record({std::move(*scene)}, nullptr, wish);
  const auto folder = take_folder(*path, wish.json);
  if (!folder) return cannot_go_on;
  return simulate_and_record({std::move(*scene)}, &*folder, wish);
}

bool came_to_its_end(const recording::Reader& reader) {
  return reader.complete() && reader.end().status == ending_text(Ending::finished);
}

/// The summary of a run that is to go on but has finished: there is nothing left to do.
void print_finished(const std::string& text, const RunWish& wish) {
  if (!wish.json) {
    fmt::print("{}: this run had finished; its summary was\n", printable(wish.resume));
  }
  const Json summary = Json::parse(text, nullptr, false);
  fmt::print("{}\n", summary.is_discarded() ? printable(text) : json_text(summary));
}

/// Of a folder without a log: it finished, or it cannot go on. Its HDF5 file is read in a
/// process of its own.
int resume_without_log(const files::OutputFolder& folder, const RunWish& wish) {
  const auto summary = files::guarded(
      [&] {
        const auto done = recording::Reader::open(folder.inside(""));
        if (!done) throw std::runtime_error(folder.shown_in(done.error()));
        if (!came_to_its_end(*done)) {
          throw std::runtime_error(
              fmt::format("{} is not there, and the run did not finish",
                          folder.shown(recording::log_name)));
        }
        return done->end().summary;
      },
      files::no_limits);
  if (!summary) return fail(summary.error());
  print_finished(*summary, wish);
  return fine;
}

int resume_run(const RunWish& wish) {
  std::error_code ignored;
  if (!fs::is_directory(wish.resume, ignored)) {
    return fail(fmt::format("{}: there is no such folder", wish.resume));
  }
  const auto folder = take_folder(wish.resume, wish.json);
  if (!folder) return cannot_go_on;
  const std::string log = folder->inside(recording::log_name);
  if (!fs::exists(log, ignored)) return resume_without_log(*folder, wish);
  auto reader = recording::Reader::open(log);
  if (!reader) return fail(folder->shown_in(reader.error()));
  if (came_to_its_end(*reader)) {
    int status = fine;
    for (const std::string& what : finish_run_files(*folder)) {
      status = fail(what, cannot_go_on);
    }
    print_finished(reader->end().summary, wish);
    return status;
  }
  const recording::RunInfo& run = reader->header().run;
  Problems problems;
  auto scene = scene::read_scene_text(run.scene, run.source, {}, problems);
  if (!scene) return fail(problems.text());
  Beginning begin{std::move(*scene)};
  if (auto checkpoint = recording::last_checkpoint(log)) {
    begin.from = std::move(*checkpoint);
  }
  return simulate_and_record(std::move(begin), &*folder, wish);
}

int run_command(const RunWish& wish) {
  if (wish.scene.empty() == wish.resume.empty()) {
    return fail("give a scene, or --resume with a folder");
  }
  return wish.resume.empty() ? new_run(wish) : resume_run(wish);
}

}  // namespace

void add_run_commands(CLI::App& app, int& status) {
  const auto wish = std::make_shared<RunWish>();
  CLI::App* run = app.add_subcommand(
      "run", "Simulate a scene or a robot file, and record the motion");
  run->add_option("SCENE", wish->scene, "A scene (TOML), or a robot (URDF or MJCF)");
  CLI::Option* set =
      run->add_option(
             "--set", wish->settings,
             "Change a value of the scene: clock.duration_s=2, bodies.ball.mass_kg=3")
          ->type_name("KEY=VALUE");
  CLI::Option* out = run->add_option("-o,--out", wish->out,
                                     "Folder for the recording; out/SCENE when left out")
                         ->check(empty_name);
  CLI::Option* key =
      run->add_option("--key", wish->key,
                      "Keyframe of an MJCF file that the robot starts from")
          ->type_name("NAME");
  CLI::Option* resume =
      run->add_option("--resume", wish->resume,
                      "Continue the run in this folder from its last checkpoint")
          ->type_name("FOLDER");
  CLI::Option* checkpoint = run->add_option("--checkpoint", wish->checkpoint,
                                            "Simulated time between checkpoints [s]")
                                ->check(time_above_zero);
  CLI::Option* threads =
      run->add_option("--threads", wish->threads,
                      "Threads of the fixed-step integrator; the results do not change")
          ->check(CLI::Range(1, 1024));
  CLI::Option* realtime =
      run->add_flag("--realtime", wish->realtime, "Fixed steps, paced by the wall clock");
  run->add_flag("--priority", wish->priority,
                "With real-time scheduling (SCHED_FIFO), memory locked, and a busy wait "
                "for the last 100 µs before each step")
      ->needs(realtime);
  CLI::Option* csv =
      run->add_flag("--csv", wish->csv, "Tables of the recording as well, in FOLDER/csv");
  CLI::Option* no_recording =
      run->add_flag("--no-recording", wish->no_recording, "Write no files");
  // A run that goes on does so as it was begun.
  for (CLI::Option* other : {set, out, key, checkpoint, threads, no_recording}) {
    resume->excludes(other);
  }
  for (CLI::Option* other : {out, csv}) no_recording->excludes(other);
  run->add_flag("--json", wish->json, "Print the summary as JSON and nothing else");
  run->footer(
      "Examples:\n"
      "  bristle run scenes/steel-ball.toml\n"
      "  bristle run scenes/steel-ball.toml --set clock.duration_s=2 --out out/short\n"
      "  bristle run scenes/arm.toml --checkpoint 1\n"
      "  bristle run robot.xml --key home --set clock.duration_s=2\n"
      "  bristle run --resume out/arm\n"
      "Exit status: 0 success, 2 bad input, 3 a result could not be computed or "
      "written,\n130 interrupted.");
  run->callback([wish, &status] { status = run_command(*wish); });
}

}  // namespace bristle::cli
