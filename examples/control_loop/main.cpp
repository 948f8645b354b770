// A control loop of one's own: an arm on a hinge is held level by torques that the
// program computes itself, a thousand times a second, while its tip rests on a table.

#include <bristle/run.hpp>
#include <cmath>
#include <cstdio>

namespace {

using namespace bristle;

Result<Model> arm_over_table() {
  ModelBuilder builder;
  builder.add_shape({.name = "table",
                     .shape = Box{{0.2, 0.2, 0.05}},
                     .pose = {Mat3<double>::identity(), {1, 0, -0.15}}});
  builder.add_body({.name = "arm",
                    .mass = 2,
                    .com = {0.5, 0, 0},
                    .inertia = Sym3<double>::diagonal(0.01, 0.2, 0.2)});
  builder.add_joint({.name = "shoulder",
                     .child = "arm",
                     .type = JointType::revolute,
                     .axis = {0, 1, 0}});
  builder.add_shape({.name = "tip",
                     .body = "arm",
                     .shape = Sphere{0.05},
                     .pose = {Mat3<double>::identity(), {1, 0, 0}}});
  builder.add_motor({.name = "motor", .joint = "shoulder", .kind = MotorKind::torque});
  builder.add_contact({.normal = choose<HuntCrossley>(
                           {.stiffness = 1e6, .exponent = 1.5, .dissipation = 1})});
  // A loop in real time: room for contacts is fixed, and nothing allocates.
  builder.options({.contact_capacity = 16});
  return builder.build();
}

}  // namespace

int main() {
  const Result<Model> model = arm_over_table();
  if (!model) return std::puts(model.error().c_str()), 2;
  RealtimeLoop loop(*model, {.step = 1e-3, .substeps = 20});
  State state = make_state(*model);
  std::vector<MotorCommand> commands(model->motors.size());
  // It presses the tip on the table with 20 N: 20 N m at the shoulder, less the weight.
  for (int tick = 0; tick < 3000; ++tick) {
    const double weight = 2 * 9.81 * 0.5 * std::cos(state.q[0]);
    commands[0].torque = 20 - weight - 2 * state.v[0];
    const StepStatus status = loop.step(state, commands);
    if (status != StepStatus::ok) {
      std::printf("%s\n", std::string(explain(status)).c_str());
      return 1;
    }
  }
  if (loop.clock().settle(state) != StepStatus::ok) return 1;
  make_ledger(loop.clock().system(), state);  // evaluates forces at the state
  double force = 0;
  const ContactView contacts(*model, state, loop.clock().system().pools.points);
  contacts.for_each([&](const ContactInfo& contact) {
    std::printf("%s on %s: %.3f N, %.2f µm deep\n",
                std::string(contacts.shape_name(contact.key.b)).c_str(),
                std::string(contacts.shape_name(contact.key.a)).c_str(),
                contact.normal_force, 1e6 * contact.depth);
    force += contact.normal_force;
  });
  std::printf("a step took %.1f µs (median), %.1f µs (99 %%)\n",
              1e6 * loop.times().quantile(0.5), 1e6 * loop.times().quantile(0.99));
  return std::fabs(force - 20) < 0.5 ? 0 : 1;
}
