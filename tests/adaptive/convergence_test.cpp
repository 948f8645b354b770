#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>

#include "bristle/adaptive/adaptive.hpp"
#include "bristle/laws/laws.hpp"
#include "tests/validation/scenes.hpp"

// What the tolerance of the adaptive integrator buys: under every pair of a normal and a
// friction law, errors fall with it. A bound of a law that acted on accepted steps alone
// would leave errors of 1e-3 at any tolerance. By default every normal law is tried with
// one friction law and every friction law with one normal law; all pairs with
// BRISTLE_SOAK in the environment.

namespace bristle {
namespace {

using validation::add_free;
using validation::ball_inertia;
using validation::built;
using validation::put;

enum class Scene { oblique_impact, slip_to_roll, stick_slip };

double duration_of(Scene scene) {
  return scene == Scene::oblique_impact ? 0.02 : scene == Scene::slip_to_roll ? 0.3 : 0.6;
}

/// A ball of 1 kg above the ground or on it; or a foot on a plate that moves on, held
/// back by a spring.
Model model_of(Scene scene, const LawChoice& normal, const LawChoice& friction) {
  ModelBuilder builder;
  builder.gravity({0, 0, -9.81});
  if (scene != Scene::stick_slip) {
    builder.add_shape({.name = "ground", .shape = Plane{}});
    add_free(builder, "ball", 1, ball_inertia(1, 0.1), Sphere{0.1});
  } else {
    const auto slide = [&](const char* name, const char* parent, const char* body,
                           const Vec3<double>& axis, double mass, double stiffness) {
      builder.add_body(
          {.name = body, .mass = mass, .inertia = Sym3<double>::diagonal(1, 1, 1)});
      JointSpec joint;
      joint.name = name;
      if (parent != nullptr) joint.parent = parent;
      joint.child = body;
      joint.type = JointType::prismatic;
      joint.axis = axis;
      joint.stiffness = stiffness;
      builder.add_joint(joint);
    };
    slide("drive", nullptr, "plate", {1, 0, 0}, 1e6, 0);
    slide("spring", nullptr, "arm", {1, 0, 0}, 1e-3, 200);
    slide("up", "arm", "foot", {0, 0, 1}, 1, 0);
    builder.add_shape({.name = "top", .body = "plate", .shape = Plane{}});
    builder.add_shape({.name = "sole", .body = "foot", .shape = Sphere{0.05}});
  }
  builder.add_contact({.normal = normal, .friction = friction});
  return built(builder);
}

/// Laws that remember the speed of touch-down come down at 0.02 m/s: at rest they are
/// dampers without a bound.
State start_of(Scene scene, const Model& model, bool comes_down) {
  State state = make_state(model);
  const double depth = comes_down ? -1e-6 : 1e-4, speed = comes_down ? -0.02 : 0;
  const auto joint = [&](const char* name) { return model.tree.find_joint(name); };
  switch (scene) {
    case Scene::oblique_impact:
      put(model, state, "ball", {0, 0, 0.1005}, {1.5, 0.3, -1}, {0, 3, -2});
      break;
    case Scene::slip_to_roll:
      put(model, state, "ball", {0, 0, 0.1 - depth}, {0.7, 0.1, speed}, {0, 0, 1});
      break;
    case Scene::stick_slip:
      state.q[static_cast<std::size_t>(joint("up")->q)] = 0.05 - depth;
      state.v[static_cast<std::size_t>(joint("up")->v)] = speed;
      state.v[static_cast<std::size_t>(joint("drive")->v)] = 0.1;
      break;
  }
  return state;
}

/// Positions and velocities at the end, of the order of 1 in SI units.
std::vector<double> outcome(Scene scene, const LawChoice& normal,
                            const LawChoice& friction, double rtol) {
  const Model model = model_of(scene, normal, friction);
  const bool comes_down = !entry_of(normal).state.empty();
  State state = start_of(scene, model, comes_down);
  Adaptive stepper(model, {.rtol = rtol});
  EXPECT_EQ(stepper.settle(state), StepStatus::ok);
  EXPECT_EQ(stepper.advance_to(state, duration_of(scene)), StepStatus::ok)
      << "rtol " << rtol;
  std::vector<double> all(state.q);
  all.insert(all.end(), state.v.begin(), state.v.end());
  return all;
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    most = std::max(most, std::abs(a[i] - b[i]));
  }
  return most;
}

/// Errors against a reference, at tolerances from 1e-4 to 1e-10, fall by a factor of ten
/// to the `least_slope` per digit, by a line through their logarithms. What is as small
/// as the tolerance need not fall faster.
void expect_convergence(Scene scene, const LawChoice& normal, const LawChoice& friction,
                        double least_slope) {
  const std::vector<double> exact = outcome(scene, normal, friction, 1e-13);
  double n = 0, x = 0, y = 0, xx = 0, xy = 0, last = 0;
  std::string errors;
  for (int digits = 4; digits <= 10; ++digits) {
    const double rtol = std::pow(10.0, -digits);
    last = distance(outcome(scene, normal, friction, rtol), exact);
    errors += " " + std::to_string(std::log10(last));
    const double log_error = std::log10(std::max(last, rtol));
    n += 1;
    x += digits;
    y -= log_error;
    xx += digits * digits;
    xy -= digits * log_error;
  }
  EXPECT_GE((n * xy - x * y) / (n * xx - x * x), least_slope)
      << "log10 of errors" << errors;
  EXPECT_LE(last, 1e-7) << "log10 of errors" << errors;
}

void try_all_pairs(Scene scene) {
  const bool all = std::getenv("BRISTLE_SOAK") != nullptr;
  for_each_law(FrictionLaws{}, [&]<class F>() {
    for_each_law(NormalLaws{}, [&]<class N>() {
      if (volumetric_law<N>) return;  // its contacts are no points
      const bool some =
          std::is_same_v<N, AzadFeatherstone> || std::is_same_v<F, SpringSlider>;
      if (!all && !some) return;
      SCOPED_TRACE(std::string(N::info.name) + " with " + std::string(F::info.name));
      // Rates that have corners which no guard of the law locates: |v_t| where the slip
      // turns round, the limit of σ₁, and the ends of the elasto-plastic law's curve α.
      const bool corners = std::is_same_v<F, Dahl> || std::is_same_v<F, LuGre> ||
                           std::is_same_v<F, ElastoPlastic>;
      expect_convergence(scene, choose<N>(), choose<F>(), corners ? 0.6 : 0.8);
    });
  });
}

TEST(Convergence, ObliqueImpact) { try_all_pairs(Scene::oblique_impact); }
TEST(Convergence, SlipToRoll) { try_all_pairs(Scene::slip_to_roll); }
TEST(Convergence, StickSlip) { try_all_pairs(Scene::stick_slip); }

}  // namespace
}  // namespace bristle
