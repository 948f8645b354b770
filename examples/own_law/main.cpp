// A law of one's own: registered at start-up, then used like any law of the library. A
// ball drops on a soft wall under the adaptive integrator and each fixed-step method.

#include <array>
#include <bristle/contact/register_law.hpp>
#include <bristle/run.hpp>
#include <cmath>
#include <cstdio>
#include <string_view>

#include "soft_wall.hpp"

namespace {

using namespace bristle;
using own_law::SoftWall;

constexpr SoftWall::Params<double> wall{.stiffness = 1e7, .damping = 1e4};
constexpr double mass = 1, radius = 0.1;  // [kg], [m]
constexpr double gravity = 9.81;          // [m/s²]
constexpr double height = 0.2;            // of the drop [m]

Result<Model> ball_over_wall() {
  ModelBuilder scene;
  scene.add_shape({.name = "wall", .shape = Plane{}});
  constexpr double inertia = 0.4 * mass * radius * radius;
  scene.add_body({.name = "ball",
                  .mass = mass,
                  .inertia = Sym3<double>::diagonal(inertia, inertia, inertia)});
  scene.add_joint({.name = "flight", .child = "ball", .type = JointType::free});
  scene.add_shape({.name = "skin", .body = "ball", .shape = Sphere{radius}});
  scene.add_contact({.normal = choose<SoftWall>(wall)});
  return scene.build();
}

/// Speed after over speed before the impact, from the energy of the flight after it.
double restitution(const State& state) {
  const double rise = state.q[2] - radius;  // x y z, quaternion
  const double speed = state.v[5];          // angular, then linear velocity
  return std::sqrt((speed * speed + 2 * gravity * rise) / (2 * gravity * height));
}

/// Prints a line; false where the run stopped or its results are off.
bool report(std::string_view method, const RunSummary& run, double e, double expected,
            double tolerance, double largest_residual) {
  std::printf("%-24.*s restitution %.9f   ledger residual %.1e\n",
              static_cast<int>(method.size()), method.data(), e, run.audit.relative());
  return run.status == StepStatus::ok && std::fabs(e - expected) < tolerance &&
         run.audit.relative() < largest_residual;
}

}  // namespace

int main() {
  const Result<const LawEntry*> law = register_law<SoftWall>();
  if (!law) return std::puts(law.error().c_str()), 2;
  const Result<Model> model = ball_over_wall();
  if (!model) return std::puts(model.error().c_str()), 2;

  // The same impact without gravity, as `bristle law impact` computes it. Weight changes
  // the energy of the impact by a part m g δ over ½ m v².
  const double speed = std::sqrt(2 * gravity * height);
  const std::array parameters{wall.stiffness, wall.damping};
  const auto impact = (*law)->impact(parameters, mass, speed, nullptr);
  if (!impact) return std::puts(impact.error().c_str()), 3;
  const double by_weight = 2 * gravity * impact->peak_depth / (speed * speed);
  std::printf("%-24s restitution %.9f\n", "impact without gravity", impact->restitution);

  State start = make_state(*model);
  start.q[2] = radius + height;
  constexpr double duration = 0.3;  // the ball flies again [s]
  State state = start;
  const RunSummary run =
      simulate(*model, state,
               SimulateAdaptiveOptions{.clock = {.rtol = 1e-9}, .duration = duration});
  const double located = restitution(state);
  bool good = report("adaptive", run, located, impact->restitution, by_weight, 1e-8);
  for (const Method method : {Method::semi_implicit_euler, Method::bogacki_shampine,
                              Method::runge_kutta_4, Method::linearly_implicit_euler}) {
    state = start;
    const RunSummary stepped = simulate(
        *model, state,
        SimulateOptions{.clock = {.method = method, .step = 1e-5}, .duration = duration});
    good &= report(name_of(method), stepped, restitution(state), located, 0.01, 0.01);
  }
  return good ? 0 : 1;
}
