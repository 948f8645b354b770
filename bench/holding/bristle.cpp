#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "bench/holding/driver.hpp"
#include "bristle/laws/choice.hpp"
#include "bristle/step/fixed_step.hpp"

namespace bristle::bench {

namespace {

/// A ball, about its centre.
Sym3<double> ball(double mass, double radius) {
  const double i = 0.4 * mass * radius * radius;
  return Sym3<double>::diagonal(i, i, i);
}

/// A capsule of even density along z.
Sym3<double> capsule() {
  const double r = capsule_radius, h = capsule_half;
  const double tube = 2 * h * r * r, ends = 4 * r * r * r / 3;  // volumes over π
  const double m_tube = capsule_mass * tube / (tube + ends);
  const double m_ends = capsule_mass - m_tube;
  const double along = 0.5 * m_tube * r * r + 0.4 * m_ends * r * r;
  const double across = m_tube * (3 * r * r + 4 * h * h) / 12 +
                        m_ends * (0.4 * r * r + h * h + 0.75 * h * r);
  return Sym3<double>::diagonal(across, across, along);
}

Model make_model() {
  ModelBuilder builder;
  builder.add_body({.name = "capsule", .mass = capsule_mass, .inertia = capsule()});
  builder.add_joint({.name = "free", .child = "capsule", .type = JointType::free});
  builder.add_shape({.name = "capsule",
                     .body = "capsule",
                     .shape = Capsule{capsule_radius, capsule_half}});
  const double apart = capsule_radius + finger_radius;
  for (const bool left : {true, false}) {
    const std::string name = left ? "left" : "right";
    builder.add_body(
        {.name = name, .mass = finger_mass, .inertia = ball(finger_mass, finger_radius)});
    builder.add_joint({.name = name + " slide",
                       .child = name,
                       .type = JointType::prismatic,
                       .on_parent = {.p = {left ? -apart : apart, 0, finger_height}},
                       .axis = {1, 0, 0},
                       .damping = left ? 0 : pressing_damping});
    builder.add_shape({.name = name, .body = name, .shape = Sphere{finger_radius}});
  }
  builder.add_motor({.name = "holds",
                     .joint = "left slide",
                     .kind = MotorKind::position,
                     .kp = holding_stiffness,
                     .kd = holding_damping});
  builder.add_motor(
      {.name = "presses", .joint = "right slide", .target = {.offset = -press}});
  builder.add_contact(
      {.a = "capsule",
       .b = "*",
       .normal = choose<KelvinVoigt>(
           {.stiffness = contact_stiffness, .damping = 1e3, .clamp = 1}),
       .friction = choose<SpringSlider>(
           {.mu = friction, .stiffness = bristle_stiffness, .damping = 1e3})});
  Result<Model> model = builder.build();
  if (!model) {
    std::fprintf(stderr, "%s\n", model.error().c_str());
    std::exit(1);
  }
  return *std::move(model);
}

struct Ours {
  Model model = make_model();
  FixedStep clock{model, {.method = Method::complementarity, .step = time_step}};
  State state = make_state(model);
};

}  // namespace

Holding bristle_holding() {
  const auto ours = std::make_shared<Ours>();
  return {"bristle, complementarity",
          [ours] {
            if (ours->clock.step(ours->state) != StepStatus::ok) std::abort();
          },
          [ours]() -> std::array<double, 3> {
            const Vec3<double> p = ours->clock.system().tree.poses[1].p;
            return {p.x, p.y, p.z};
          },
          [ours] {
            double largest = 0;
            for (const Motion<double>& link : ours->clock.system().tree.velocities) {
              largest = std::max(largest, norm(link.linear));
            }
            return largest;
          }};
}

}  // namespace bristle::bench
