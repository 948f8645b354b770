// Scenes with the robots and meshes that they name, read, run for a moment, and recorded.
// An input is several files, each after a line "=== NAME": scene.toml, robot.urdf,
// robot.xml, mesh.stl, mesh.obj, mesh.ply, mesh.dae, more.toml.

#include <algorithm>
#include <ctime>

#include "bristle/run.hpp"
#include "recording/hdf5.hpp"
#include "recording/reader.hpp"
#include "recording/recorder.hpp"
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

/// Whether there is processor time left for the run: a second, so that absurd steps and
/// intervals, which are allowed, end as a user would end them.
class Patience {
 public:
  bool left() const { return std::clock() - begin_ < CLOCKS_PER_SEC; }

 private:
  std::clock_t begin_ = std::clock();
};

/// A millisecond of simulated time, recorded as the program does it.
void run_a_moment(const scene::Scene& scene, const std::string& log) {
  constexpr double moment = 1e-3;
  State state = scene.start;
  StepperOptions options = scene.clock.options;
  options.threads = 1;
  const std::unique_ptr<Stepper> stepper =
      scene.clock.stepper->make(scene.model, options);
  Result<recording::Recorder> recorder =
      recording::Recorder::create(log, scene.model, {.scene = scene.text});
  if (!recorder) __builtin_trap();
  const Patience patience;
  const RunSummary done =
      run(*stepper, state,
          {.end = state.time + std::min(moment, scene.clock.duration),
           .every = scene.record.every,
           .interval = scene.record.interval,
           .steps = scene.record.steps && !scene.clock.stepper->fixed_step,
           .checkpoint = scene.record.checkpoint},
          {.on_sample =
               [&](const Observation& now) {
                 return recorder->sample(now) && patience.left();
               },
           .on_event = [&](const State&, const Event& e) { return recorder->event(e); },
           .on_step = [&](const State&) { return patience.left(); },
           .on_checkpoint = [&](const State& now) { return recorder->checkpoint(now); }});
  if (!recorder->finish({done.status == StepStatus::ok ? "finished" : "failed", "{}"})) {
    __builtin_trap();
  }
}

/// What was recorded is read back; of every eighth input from an HDF5 file.
void read_back(const std::string& log, const std::string& hdf5, bool folded) {
  if (folded && !recording::fold(log, hdf5)) __builtin_trap();
  Result<recording::Reader> reader = recording::Reader::open(folded ? hdf5 : log);
  if (!reader || !reader->complete()) __builtin_trap();
  recording::Sample sample;
  for (std::size_t i = 0; i < std::min<std::size_t>(reader->size(), 100); ++i) {
    if (!reader->read(i, sample)) __builtin_trap();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const test::FuzzFolder folder;
  write_files({reinterpret_cast<const char*>(data), size}, folder);
  scene::Problems problems;
  const auto scene = scene::read_scene(folder / "scene.toml", {}, problems);
  if (!scene && !problems.any()) __builtin_trap();
  if (scene) {
    run_a_moment(*scene, folder / "recording.log");
    read_back(folder / "recording.log", folder / "recording.h5", size % 8 == 0);
  }
  return 0;
}
