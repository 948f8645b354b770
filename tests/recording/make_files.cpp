// Records a scene with a shape of every kind and with names that are hard to write, and
// exports it in every way: make_files FOLDER. files_test.py looks at what comes out.

#include <cstdio>

#include "recording/export.hpp"
#include "recording/hdf5.hpp"
#include "tests/recording/scenes.hpp"

namespace bristle::recording {
namespace {

template <class T>
T checked_value(Result<T> result) {
  if (!result) {
    std::fprintf(stderr, "%s\n", result.error().c_str());
    std::exit(1);
  }
  return std::move(*result);
}

int make(const std::string& folder) {
  const double heights[] = {0, 0, 0, 0, 0.02, 0, 0, 0, 0};
  const HeightField field = checked_value(make_height_field(3, 3, 2, 2, heights));
  const Vec3<double> corners[] = {
      {0.1, 0, -0.1}, {-0.1, 0.1, -0.1}, {-0.1, -0.1, -0.1}, {0, 0, 0.1}};
  const ConvexHull hull = checked_value(make_hull(corners));
  const std::array<std::uint32_t, 3> faces[] = {
      {0, 1, 3}, {1, 2, 3}, {2, 0, 3}, {0, 2, 1}};
  const TriangleMesh mesh = checked_value(make_mesh(corners, faces));

  ModelBuilder builder;
  const Sym3<double> inertia = ball_inertia(1, 0.1);
  builder.add_shape({.name = "ground", .shape = Plane{}, .pose = {.p = {0, 0, -0.05}}});
  builder.add_shape({.name = "terrain", .shape = Terrain{&field}});
  builder.add_shape({.name = "shaft", .shape = Cavity{50, 1e30}});
  builder.add_shape({.name = "can", .shape = Cavity{40, 40}});
  builder.add_shape({.name = "mesh", .shape = Mesh{&mesh}, .pose = {.p = {1, 1, 0.2}}});
  add_free(builder, "ball", 1, inertia, Sphere{0.1});
  add_free(builder, "a, \"b\"/ü\n%", 1, inertia, Box{{0.1, 0.05, 0.08}});
  add_free(builder, "drum", 1, inertia, Cylinder{0.1, 0.05});
  add_free(builder, "rod", 1, inertia, Capsule{0.05, 0.1});
  add_free(builder, "egg", 1, inertia, Ellipsoid{{0.1, 0.08, 0.06}});
  add_free(builder, "rock", 1, inertia, Convex{&hull});
  builder.add_body({.name = "bare", .mass = 1, .inertia = inertia});
  builder.add_joint({.name = "slide", .child = "bare", .type = JointType::prismatic});
  builder.add_shape({.name = "point", .body = "bare", .shape = Sphere{0}});
  builder.add_contact(
      {.a = "ground",
       .normal = choose<HuntCrossley>(default_params<HuntCrossley>()),
       .friction = choose<SpringSlider>({.mu = 0.6, .stiffness = 2e4, .damping = 20})});
  builder.add_contact({.a = "ball",
                       .b = "ground",
                       .normal = choose<GonthierNormal>(default_params<GonthierNormal>()),
                       .friction = choose<GonthierFriction>()});
  const Model model = built(builder);
  State state = make_state(model);
  double x = -0.9;
  for (const Body& body : model.tree.bodies()) {
    if (body.name == "bare") continue;
    put(model, state, body.name, {x, 0.1, 0.16}, {0.3, 0.5, -0.5}, {3, -2, 1});
    x += 0.35;
  }
  Recorder recorder =
      checked_value(Recorder::create(folder + "/recording.log", model,
                                     {.scene = "# scene ü\n",
                                      .source = "all.toml",
                                      .probes = {{"height", "m"}, {"x,y", "N"}}}));
  double last = 0;
  const RunSummary summary = simulate(
      model, state,
      SimulateOptions{.clock = {.step = 2e-4}, .duration = 0.5, .observe_every = 0.01},
      [&](const Observation& now) {
        const double probes[] = {now.state.q[2], 1.0 / 3 + last};
        last = now.state.time;
        return recorder.sample(now, probes);
      });
  recorder.event({EventKind::touch, state.time, state.contacts.key[0]});
  recorder.event({.kind = EventKind::slip,
                  .time = state.time,
                  .contact = state.contacts.key[1],
                  .law = LawFamily::friction});
  const std::string status(explain(summary.status));
  if (!recorder.finish(
          {summary.status == StepStatus::ok ? "ok" : status, "{\"n\": 1}"})) {
    std::fprintf(stderr, "%s\n", recorder.error().c_str());
    return 1;
  }
  checked_value(fold(folder + "/recording.log", folder + "/recording.h5"));
  Reader reader = checked_value(Reader::open(folder));
  checked_value(export_csv(reader, folder + "/csv"));
  checked_value(export_csv(reader, folder + "/wide", {.one_table = true}));
  checked_value(export_vtk(reader, folder + "/vtk", {.frames = {.interval = 0.05}}));
  checked_value(export_gltf(reader, folder + "/recording.glb"));
  checked_value(
      export_gltf(reader, folder + "/thin.glb", {.frames = {.interval = 0, .most = 7}}));
  return 0;
}

}  // namespace
}  // namespace bristle::recording

int main(int argc, char** argv) {
  return argc == 2 ? bristle::recording::make(argv[1]) : 2;
}
