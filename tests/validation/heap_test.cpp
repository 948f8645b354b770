#include <gtest/gtest.h>

#include <random>

#include "bristle/run.hpp"
#include "tests/validation/scenes.hpp"

// Two hundred mixed bodies, dropped into a bin.

namespace bristle::validation {
namespace {

constexpr int bodies = 200;

const ConvexHull& pebble() {
  static const ConvexHull hull = [] {
    std::vector<Vec3<double>> points;
    for (int i = 0; i < 12; ++i) {
      const double z = -1 + (2 * i + 1) / 12.0, angle = 2.4 * i;
      const double r = 0.03 * std::sqrt(1 - z * z);
      points.push_back({r * std::cos(angle), r * std::sin(angle), 0.03 * z});
    }
    return *make_hull(points);
  }();
  return hull;
}

/// Spheres, boxes, capsules, cylinders, ellipsoids and convex hulls of 2–6 cm.
Model heap() {
  constexpr double density = 1000, wall = 0.28;
  std::mt19937 random(7);
  ModelBuilder builder;
  builder.add_shape({.name = "floor", .shape = Plane{}});
  const Mat3<double> turns[] = {about_y(pi / 2), about_y(-pi / 2), about_x(-pi / 2),
                                about_x(pi / 2)};
  for (int i = 0; i < 4; ++i) {
    builder.add_shape({.name = numbered("wall", i),
                       .shape = Plane{},
                       .pose = {turns[i], -wall * turns[i].z}});
  }
  for (int i = 0; i < bodies; ++i) {
    const double s = 0.8 + 0.4 * (static_cast<double>(random()) / 4294967296.0);
    const std::string name = numbered("b", i);
    switch (i % 6) {
      case 0: {
        const double r = 0.03 * s, m = density * 4 / 3 * pi * r * r * r;
        add_free(builder, name, m, ball_inertia(m, r), Sphere{r});
        break;
      }
      case 1: {
        const Vec3<double> half{0.03 * s, 0.02 * s, 0.025 * s};
        const double m = density * 8 * half.x * half.y * half.z;
        add_free(builder, name, m, box_inertia(m, half), Box{half});
        break;
      }
      case 2:
      case 3: {
        const double r = (i % 6 == 2 ? 0.02 : 0.025) * s, l = 0.02 * s;
        const double m = density * pi * r * r * 2 * l;
        const double across = m * (l * l / 3 + r * r / 4);
        const Shape shape = i % 6 == 2 ? Shape(Capsule{r, l}) : Shape(Cylinder{r, l});
        add_free(builder, name, m, Sym3<double>::diagonal(across, across, m * r * r / 2),
                 shape);
        break;
      }
      case 4: {
        const Vec3<double> a{0.035 * s, 0.025 * s, 0.02 * s};
        const double m = density * 4 / 3 * pi * a.x * a.y * a.z;
        add_free(builder, name, m, (3.0 / 5) * box_inertia(m, a), Ellipsoid{a});
        break;
      }
      default: {
        const double m = density * 4 / 3 * pi * 0.028 * 0.028 * 0.028;
        add_free(builder, name, m, ball_inertia(m, 0.028), Convex{&pebble()});
      }
    }
  }
  builder.add_contact(
      {.normal = choose<GonthierNormal>({.stiffness = 1e6,
                                         .exponent = 1.5,
                                         .restitution = 0.3,
                                         .impact_speed_floor = 0.5}),
       .friction = choose<SpringSlider>({.mu = 0.5, .stiffness = 2e4, .damping = 10})});
  return built(builder);
}

State dropped(const Model& model) {
  std::mt19937 random(11);
  const auto uniform = [&](double low, double high) {
    return low + (high - low) * (static_cast<double>(random()) / 4294967296.0);
  };
  State state = make_state(model);
  for (int i = 0; i < bodies; ++i) {
    const int layer = i / 25, k = i % 25;
    const std::string name = numbered("b", i);
    put(model, state, name,
        {(k % 5 - 2) * 0.1 + uniform(-0.01, 0.01),
         (k / 5 - 2) * 0.1 + uniform(-0.01, 0.01), 0.06 + 0.095 * layer});
    const Vec3<double> axis{uniform(-1, 1), uniform(-1, 1), uniform(-1, 1)};
    const double half = uniform(0, 1.5), s = std::sin(half) / norm(axis);
    const std::size_t q = place_of(model, name).q;
    state.q[q + 3] = std::cos(half);
    store(s * axis, state.q.data() + q + 4);
  }
  return state;
}

struct Outcome {
  RunSummary summary;
  double kinetic;
};

Outcome fall(double step, Method method, double duration) {
  const Model model = heap();
  State state = dropped(model);
  const RunSummary summary = simulate(model, state,
                                      {.clock = {.method = method, .step = step},
                                       .duration = duration,
                                       .observe_every = 0.01});
  std::printf("%s at %g s: residual %.2e, %.2e J in motion, %u episodes, %.0f s\n",
              std::string(name_of(method)).c_str(), step, summary.audit.relative(),
              summary.audit.last().kinetic, state.episodes, summary.elapsed);
  return {summary, summary.audit.last().kinetic};
}

TEST(Heap, ComesToRestWithItsLedgerBalanced) {
  const Outcome run = fall(20e-6, Method::semi_implicit_euler, 1.25);
  ASSERT_EQ(run.summary.status, StepStatus::ok) << explain(run.summary.status);
  EXPECT_LT(run.summary.audit.relative(), 1e-3);
  // 200 bodies of 0.1 kg: less than 2 cm/s each, and less than 1e-4 of what was turned
  // over
  EXPECT_LT(run.kinetic, 1e-4 * run.summary.audit.scale());
  EXPECT_TRUE(run.summary.warnings.empty()) << run.summary.warnings[0];
}

TEST(Heap, TheResidualFallsAtTheMethodsOrder) {
  // While they fall and pile up. Later, runs of different steps are different heaps.
  const Outcome coarse = fall(160e-6, Method::semi_implicit_euler, 0.4);
  const Outcome fine = fall(20e-6, Method::semi_implicit_euler, 0.4);
  ASSERT_EQ(coarse.summary.status, StepStatus::ok);
  ASSERT_EQ(fine.summary.status, StepStatus::ok);
  EXPECT_LT(fine.summary.audit.relative(), 0.2 * coarse.summary.audit.relative());
  EXPECT_LT(fine.summary.audit.relative(), 1e-3);
}

}  // namespace
}  // namespace bristle::validation
