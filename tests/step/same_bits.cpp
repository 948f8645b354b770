#include <cinttypes>
#include <cstdio>
#include <cstring>

#include "tests/validation/scenes.hpp"

// Prints a number that depends on every bit of a run: shapes of all kinds, some of them
// held together, falling onto each other and a plane, under each method.

int main() {
  using namespace bristle;
  using namespace bristle::validation;
  ModelBuilder builder;
  builder.add_shape({.name = "ground", .shape = Plane{}});
  const Shape shapes[] = {
      Sphere{0.05},         Box{{0.05, 0.04, 0.06}},       Capsule{0.03, 0.05},
      Cylinder{0.04, 0.05}, Ellipsoid{{0.05, 0.04, 0.06}}, Sphere{0.04}};
  for (int i = 0; i < 6; ++i) {
    add_free(builder, numbered("b", i), 1, Sym3<double>::diagonal(2e-3, 1.5e-3, 1e-3),
             shapes[i]);
  }
  builder.add_contact({.normal = choose<GonthierNormal>({.stiffness = 1e6,
                                                         .exponent = 1.5,
                                                         .restitution = 0.5,
                                                         .impact_speed_floor = 0.1}),
                       .friction = choose<GonthierFriction>({.mu_static = 0.6,
                                                             .mu_coulomb = 0.5,
                                                             .stiffness = 1e4,
                                                             .damping = 10,
                                                             .viscous = 0,
                                                             .stribeck_speed = 0.02,
                                                             .dwell_time = 0.1,
                                                             .bound = 1})});
  builder.add_loop({.name = "ball",
                    .body_a = "b0",
                    .pose_a = {.p = {0.005, 0.01, 0.06}},
                    .body_b = "b1",
                    .pose_b = {.p = {-0.005, -0.01, -0.06}}});
  builder.add_loop({.name = "glue",
                    .kind = LoopKind::hinge,
                    .body_a = "b2",
                    .pose_a = {.p = {0, 0, 0.06}},
                    .body_b = "b3",
                    .pose_b = {.p = {0, 0, -0.06}},
                    .stiffness = 1e4,
                    .damping = 5,
                    .rotational_stiffness = 10,
                    .rotational_damping = 0.01});
  const Model model = built(builder);
  for (const Method method :
       {Method::semi_implicit_euler, Method::bogacki_shampine, Method::runge_kutta_4,
        Method::linearly_implicit_euler, Method::complementarity}) {
    State state = make_state(model);
    for (int i = 0; i < 6; ++i) {
      put(model, state, numbered("b", i), {0.01 * i, 0.02 * (i % 2), 0.08 + 0.12 * i},
          {0.1, 0, -1}, {1, 2, 3});
    }
    FixedStep clock(model, {.method = method, .step = 5e-4});
    for (int k = 0; k < 200; ++k) {
      if (clock.step(state) != StepStatus::ok) return 1;
    }
    std::uint64_t hash = state.episodes;
    const auto mix = [&](double x) {
      std::uint64_t bits = 0;
      std::memcpy(&bits, &x, sizeof bits);
      hash = (hash ^ bits) * 0x9e3779b97f4a7c15u;
      hash ^= hash >> 29;
    };
    for (const double x : state.q) mix(x);
    for (const double x : state.v) mix(x);
    for (std::size_t k = 0; k < work_lines; ++k) mix(field<double>(state.works, k));
    std::printf("%s %016" PRIx64 "\n", std::string(name_of(method)).c_str(), hash);
  }
  return 0;
}
