#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "bristle/laws/choice.hpp"
#include "bristle/step/system.hpp"

// What a contact costs as a patch and as points: 256 bodies that rest on a plane, found
// (narrow phase, matching, motion) and evaluated (normal law, friction, couple), in one
// run. The point contact of a sphere is the yardstick.

namespace {

using namespace bristle;

constexpr int bodies = 256;

struct Case {
  const char* name;
  Shape shape;
  double lift;  // of the centre at rest [m]
  LawChoice normal;
  Spin spin;
};

Model make_model(const Case& what) {
  ModelBuilder builder;
  builder.add_shape({.name = "ground", .shape = Plane{}});
  for (int i = 0; i < bodies; ++i) {
    const std::string name = std::to_string(i);
    builder.add_body(
        {.name = name, .mass = 1, .inertia = Sym3<double>::diagonal(1e-3, 1e-3, 1e-3)});
    builder.add_joint({.name = name, .child = name, .type = JointType::free});
    builder.add_shape({.name = name, .body = name, .shape = what.shape});
  }
  LawChoice friction =
      choose<SpringSlider>({.mu = 0.5, .stiffness = 1e5, .damping = 300});
  friction.spin = what.spin;
  builder.add_contact({.a = "ground", .normal = what.normal, .friction = friction});
  Result<Model> model = builder.build();
  if (!model) {
    fmt::print(stderr, "{}\n", model.error());
    std::exit(1);
  }
  return *std::move(model);
}

/// The least time of some rounds, per body [ns].
double cost(const Case& what, int rounds) {
  const Model model = make_model(what);
  State state = make_state(model);
  for (std::size_t i = 0; i < bodies; ++i) {
    double* q = state.q.data() + 7 * i;
    q[0] = 0.5 * static_cast<double>(i % 16);
    q[1] = 0.5 * static_cast<double>(i / 16);
    q[2] = what.lift - 1e-5;
    for (std::size_t k = 0; k < 6; ++k)
      state.v[6 * i + k] = 1e-3 * (static_cast<double>(k) + 1);
  }
  System system(model);
  if (settle(system, 0, state) != StepStatus::ok) std::exit(1);
  const Placement place = system.placement(state.q, state.v);
  const RowMemory<const double> memory = memory_of(std::as_const(state));
  double least = 1e300;
  for (int round = 0; round < rounds; ++round) {
    constexpr int repeats = 20;
    const auto began = std::chrono::steady_clock::now();
    for (int i = 0; i < repeats; ++i) {
      system.pools.points.measure(place, state.contacts, state.contacts.memory, true);
      contact_forces(system, {}, state, memory, rates_of(system.pools));
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    least = std::min(least, 1e9 * took.count() / (repeats * bodies));
  }
  return least;
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 && std::strcmp(argv[1], "--quick") == 0 ? 3 : 200;
  const LawChoice point = choose<GonthierNormal>();
  const LawChoice patch = choose<Volumetric>();
  const Case cases[] = {
      {"sphere, a point", Sphere{0.1}, 0.1, point, Spin::none},
      {"sphere, a patch", Sphere{0.1}, 0.1, patch, Spin::none},
      {"sphere, a patch with spin", Sphere{0.1}, 0.1, patch, Spin::elliptic},
      {"ellipsoid, a patch", Ellipsoid{{0.1, 0.12, 0.1}}, 0.1, patch, Spin::none},
      {"upright cylinder, points", Cylinder{0.1, 0.1}, 0.1, point, Spin::none},
      {"upright cylinder, a patch", Cylinder{0.1, 0.1}, 0.1, patch, Spin::none},
      {"box, points", Box{{0.1, 0.1, 0.1}}, 0.1, point, Spin::none},
      {"box, a patch", Box{{0.1, 0.1, 0.1}}, 0.1, patch, Spin::none}};
  fmt::print("contacts with a plane, found and evaluated\n");
  const double yardstick = cost(cases[0], rounds);
  for (const Case& what : cases) {
    const double time = &what == cases ? yardstick : cost(what, rounds);
    fmt::print("{:28} {:8.1f} ns  {:6.2f}\n", what.name, time, time / yardstick);
  }
  return 0;
}
