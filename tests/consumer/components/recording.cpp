// A program outside the tree: a run that is recorded, read again and exported
// (docs/recording.md).
#include <bristle/model/model.hpp>
#include <bristle/run.hpp>
#include <cmath>
#include <cstdio>

#include "recording/export.hpp"
#include "recording/hdf5.hpp"
#include "recording/reader.hpp"
#include "recording/recorder.hpp"

namespace {

using namespace bristle;

Result<Model> falling_ball() {
  ModelBuilder builder;
  builder.add_body(
      {.name = "ball", .mass = 1, .inertia = Sym3<double>::diagonal(1, 1, 1)});
  builder.add_joint({.name = "ball", .child = "ball", .type = JointType::free});
  builder.add_shape({.name = "ball", .body = "ball", .shape = Sphere{0.1}});
  return builder.build();
}

bool record(const Model& model) {
  Result<recording::Recorder> recorder = recording::Recorder::create(
      "recording.log", model,
      {.scene = "", .source = "ball", .probes = {{"height", "m"}}});
  if (!recorder) return false;
  State state = make_state(model);
  SimulateOptions options;
  options.duration = 0.1;
  simulate(model, state, options, [&](const Observation& now) {
    const double probes[] = {now.state.q[2]};
    return recorder->sample(now, probes);
  });
  return recorder->finish({"ok", "{}"});
}

}  // namespace

int main() {
  const Result<Model> model = falling_ball();
  if (!model || !record(*model)) return 1;
  if (!recording::fold("recording.log", "recording.h5")) return 1;
  Result<recording::Reader> reader = recording::Reader::open("recording.h5");
  if (!reader) return 1;
  if (!recording::export_csv(*reader, "csv")) return 1;
  if (!recording::export_gltf(*reader, "recording.glb")) return 1;
  std::puts("recording: good");
  return 0;
}
