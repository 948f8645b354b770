// What recording costs: an arm of seven joints at 1 kHz, recorded every 10 ms, next to
// the same run with an observer that does nothing; and what becomes of the log.
//
//   bench_recording [SECONDS_SIMULATED [REPEATS [FOLDER]]]

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>

#include "recording/export.hpp"
#include "recording/hdf5.hpp"
#include "tests/recording/scenes.hpp"

namespace {

using namespace bristle;
using namespace bristle::recording;

double since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Of this program's own time, the operating system's share included, so that others on
/// the machine count less.
double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

double time_of(const Model& model, const SimulateOptions& options,
               const Observer& observer) {
  State state = make_state(model);
  const double start = cpu_seconds();
  simulate(model, state, options, observer);
  return cpu_seconds() - start;
}

/// The most memory that this process has had [MB].
double peak_memory() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1000;
}

void compare(const char* what, const Model& model, double duration, int repeats,
             const std::string& path) {
  const SimulateOptions options{
      .clock = {.step = 1e-3}, .duration = duration, .observe_every = 0.01};
  double plain = 1e300, recorded = 1e300;
  std::uint64_t samples = 0, bytes = 0;
  double memory = 0;
  for (int i = 0; i < repeats; ++i) {
    plain =
        std::min(plain, time_of(model, options, [](const Observation&) { return true; }));
    Result<Recorder> recorder = Recorder::create(path, model, {});
    if (!recorder) {
      fmt::print(stderr, "{}\n", recorder.error());
      std::exit(1);
    }
    const double before = peak_memory();
    recorded = std::min(recorded, time_of(model, options, [&](const Observation& now) {
                          return recorder->sample(now);
                        }));
    memory = peak_memory() - before;
    if (!recorder->finish({"ok", "{}"})) fmt::print(stderr, "{}\n", recorder->error());
    samples = recorder->samples();
    bytes = recorder->bytes();
  }
  const auto count = static_cast<double>(samples);
  fmt::print(
      "{:<22} {:6.2f} us per step  {:6.2f} us per sample  {:5.0f} bytes  cost {:5.1f} %  "
      "memory +{:.1f} MB\n",
      what, 1e6 * plain / (duration / 1e-3), 1e6 * (recorded - plain) / count,
      static_cast<double>(bytes) / count, 100 * (recorded / plain - 1), memory);
}

}  // namespace

int main(int argc, char** argv) {
  const double duration = argc > 1 ? std::strtod(argv[1], nullptr) : 200;
  const int repeats = argc > 2 ? std::max(1, std::atoi(argv[2])) : 7;
  const std::string folder =
      argc > 3 ? argv[3] : std::filesystem::temp_directory_path().string();
  const std::string stem = folder + "/bench-recording";
  const std::string log = stem + ".log";
  compare("arm, bare", bare_arm(), duration, repeats, log);
  compare("arm, driven", arm(), duration, repeats, log);

  const double megabytes = static_cast<double>(std::filesystem::file_size(log)) / 1e6;
  const double before = peak_memory();
  auto start = std::chrono::steady_clock::now();
  const Result<FoldReport> report = fold(log, stem + ".h5");
  if (!report) {
    fmt::print(stderr, "{}\n", report.error());
    return 1;
  }
  const double seconds = since(start);
  fmt::print(
      "fold {:.1f} MB in {:.2f} s ({:.0f} MB/s), HDF5 {:.1f} MB, memory +{:.1f} MB\n",
      megabytes, seconds, megabytes / seconds,
      static_cast<double>(std::filesystem::file_size(stem + ".h5")) / 1e6,
      peak_memory() - before);
  for (const char* ending : {".log", ".h5"}) {
    start = std::chrono::steady_clock::now();
    Result<Reader> reader = Reader::open(stem + ending);
    Sample sample;
    for (std::size_t i = 0; reader && i < reader->size(); ++i) reader->read(i, sample);
    fmt::print("read {:<5} {:.2f} s\n", ending, since(start));
  }
  Result<Reader> reader = Reader::open(log);
  start = std::chrono::steady_clock::now();
  if (!export_gltf(*reader, stem + ".glb")) return 1;
  fmt::print("glTF {:.2f} s, {:.1f} MB\n", since(start),
             static_cast<double>(std::filesystem::file_size(stem + ".glb")) / 1e6);
  start = std::chrono::steady_clock::now();
  if (!export_csv(*reader, stem + "-csv")) return 1;
  fmt::print("CSV {:.2f} s\n", since(start));
  for (const char* ending : {".log", ".h5", ".glb", "-csv"}) {
    std::filesystem::remove_all(stem + ending);
  }
  return 0;
}
