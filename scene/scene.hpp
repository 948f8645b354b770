#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bristle/run.hpp"
#include "bristle/steppers.hpp"
#include "scene/parts.hpp"
#include "scene/problem.hpp"

// A scene: bodies and contacts, how they start, the integrator, and what is recorded.
// Read from a TOML file (docs/scenes.md), checked, and compiled to a Model and a State.

namespace bristle::scene {

struct ClockSpec {
  const StepperInfo* stepper = &steppers().front();  // by clock.kind
  double duration = 1;                               // [s]
  StepperOptions options{};
  bool substeps_chosen = false;  // else as many as the present contacts need
};

struct RecordSpec {
  Sampling every = Sampling::interval;
  double interval = 0.01;  // [s]
  bool steps = false;      // and at each step of the adaptive integrator
  double checkpoint = 0;   // simulated time between checkpoints; 0: none [s]
};

enum class ProbeKind {
  contact_force,  // between two shapes, bodies or surfaces: normal, friction or both
  contact_depth,
  contact_torque,  // of patches, beside their force: rolling and spinning couples
  contact_volume,
  point,  // of a body: x, y, z
  velocity,
  joint,  // position
  joint_rate,
  ledger,
  energy,
  sensor,  // Scene::sensors
};

/// A named signal.
struct Probe {
  std::string name;
  ProbeKind kind;
  int a = -1, b = -1;  // body, joint or sensor; of contacts: bodies, −1 for any
  std::vector<std::uint32_t> shapes_a{}, shapes_b{};  // of a fixed body, in place of it
  int component = 0;  // 0 magnitude or normal; x, y, z: 1, 2, 3; of a sensor: from 1 on
  Vec3<double> point{};  // in the body
  std::string line{};    // of the ledger
  std::string unit{};
  bool in_figure = true;  // false: of a sensor of a robot's file
};

struct Scene {
  std::string file;
  std::string title;
  std::string about;
  std::string text;  // as it was read, with settings applied
  Model model;
  State start;
  ClockSpec clock;
  RecordSpec record;
  std::vector<Probe> probes;
  std::vector<SensorSpec> sensors;  // that probes ask for
  std::vector<std::string> warnings;
  std::vector<ShapeLook> looks;  // of some shapes
  std::vector<Visual> visuals;
  std::shared_ptr<Geometry> geometry;  // that the model refers to
};

/// Reads, checks and compiles a scene; nothing where there are problems. `settings` are
/// key=value pairs that change the file's own values: clock.duration_s=2,
/// bodies.ball.mass_kg=3.
std::optional<Scene> read_scene(const std::string& file,
                                const std::vector<std::string>& settings,
                                Problems& problems);
/// The same from text that stands for a file of that name.
std::optional<Scene> read_scene_text(const std::string& text, const std::string& file,
                                     const std::vector<std::string>& settings,
                                     Problems& problems);

/// What may stand in a scene, as a JSON Schema (draft 2020-12) for editors.
std::string scene_schema();

}  // namespace bristle::scene
